//! Performance variables (MPI 5.0, section 15.3.7): what the engine counts.
//!
//! Sums are counters: each handle counts by itself what is added while it is started. Levels are there at all times, and can only be
//! read. Before there is an instance everything is zero.

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::counters::{ALL, Counted};
use postrider_engine::objects::Key;

use super::{Outcome, Tools, at, call, find, give, give_text};
use crate::library;
use crate::parse::{self, Memory, Out, Text, TextOut};

/// A handle of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    session: Key,
    variable: &'static Counted,
    /// What was counted until the last stop.
    counted: u64,
    /// What the sum was at the start, while the handle is started.
    since: Option<u64>,
}

/// What a variable is now.
fn now(variable: &Counted) -> u64 {
    match library::made() {
        Some(instance) => instance.with(|state| Ok(variable.read(state))).unwrap_or(0),
        None => 0,
    }
}

fn class(variable: &Counted) -> c_int {
    if variable.sum { MPI_T_PVAR_CLASS_COUNTER } else { MPI_T_PVAR_CLASS_LEVEL }
}

impl Handle {
    fn value(&self) -> u64 {
        if !self.variable.sum {
            return now(self.variable);
        }
        self.counted.wrapping_add(self.since.map_or(0, |since| now(self.variable).wrapping_sub(since)))
    }

    fn start(&mut self) -> Outcome {
        self.check(MPI_T_ERR_PVAR_NO_STARTSTOP)?;
        self.since.get_or_insert_with(|| now(self.variable));
        Ok(())
    }

    fn stop(&mut self) -> Outcome {
        self.check(MPI_T_ERR_PVAR_NO_STARTSTOP)?;
        (self.counted, self.since) = (self.value(), None);
        Ok(())
    }

    fn write(&mut self, value: u64) -> Outcome {
        self.check(MPI_T_ERR_PVAR_NO_WRITE)?;
        self.counted = value;
        self.since = self.since.map(|_| now(self.variable));
        Ok(())
    }

    /// What was counted, which is zero again from this moment on.
    fn take(&mut self) -> u64 {
        let current = now(self.variable);
        let (counted, since) = (std::mem::take(&mut self.counted), self.since);
        self.since = since.map(|_| current);
        counted.wrapping_add(since.map_or(0, |since| current.wrapping_sub(since)))
    }

    /// Only sums can be started, stopped and written.
    fn check(&self, code: c_int) -> Outcome {
        if self.variable.sum { Ok(()) } else { Err(code) }
    }
}

fn session(tools: &mut Tools, handle: MPI_T_pvar_session) -> Result<Key, c_int> {
    let key = parse::key_of(handle.0).ok_or(MPI_T_ERR_INVALID_SESSION)?;
    tools.sessions().get(key).map_err(|error| error.class)?;
    Ok(key)
}

fn handle_key(handle: MPI_T_pvar_handle) -> Result<Key, c_int> {
    parse::key_of(handle.0).ok_or(MPI_T_ERR_INVALID_HANDLE)
}

/// The variable of a handle, which must belong to the session.
fn one(tools: &mut Tools, on: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> Result<&mut Handle, c_int> {
    let session = session(tools, on)?;
    let found = tools.performance().get_mut(handle_key(handle)?).map_err(|error| error.class)?;
    if found.session == session { Ok(found) } else { Err(MPI_T_ERR_INVALID_HANDLE) }
}

/// Does something with one handle, or with all of the session that it is possible with.
fn each(
    tools: &mut Tools,
    on: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
    action: impl Fn(&mut Handle) -> Outcome,
) -> Outcome {
    if handle != MPI_T_PVAR_ALL_HANDLES {
        return action(one(tools, on, handle)?);
    }
    let session = session(tools, on)?;
    let of_session = |(key, found): (Key, &Handle)| (found.session == session).then_some(key);
    let keys: Vec<Key> = tools.performance().iter().filter_map(of_session).collect();
    for key in keys {
        let found = tools.performance().get_mut(key).map_err(|error| error.class)?;
        if found.variable.sum {
            action(found)?;
        }
    }
    Ok(())
}

anytime! {
    /// Section 15.3.7.
    MPI_T_pvar_get_num (num_pvar: Out<c_int>) -> c_int {
        call(|_| num_pvar.set(ALL.len() as c_int).map_err(|_| MPI_T_ERR_INVALID))
    }

    /// Section 15.3.7.
    MPI_T_pvar_get_info (
        pvar_index: c_int, name: TextOut, name_len: Out<c_int>, verbosity: Out<c_int>, var_class: Out<c_int>,
        datatype: Out<MPI_Datatype>, enumtype: Out<MPI_T_enum>, desc: TextOut, desc_len: Out<c_int>,
        bind: Out<c_int>, readonly: Out<c_int>, continuous: Out<c_int>, atomic: Out<c_int>
    ) -> c_int {
        call(|_| {
            let variable = at(&ALL, pvar_index)?;
            give_text(name, name_len, variable.name);
            give_text(desc, desc_len, variable.meaning);
            give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
            give(var_class, class(variable));
            give(datatype, MPI_UNSIGNED_LONG_LONG);
            give(enumtype, MPI_T_ENUM_NULL);
            give(bind, MPI_T_BIND_NO_OBJECT);
            give(readonly, c_int::from(!variable.sum));
            give(continuous, c_int::from(!variable.sum));
            give(atomic, c_int::from(variable.sum));
            Ok(())
        })
    }

    /// Section 15.3.7: a name and a class together name a variable.
    MPI_T_pvar_get_index (name: Text, var_class: c_int, pvar_index: Out<c_int>) -> c_int {
        call(|_| {
            if !(MPI_T_PVAR_CLASS_STATE..=MPI_T_PVAR_CLASS_GENERIC).contains(&var_class) {
                return Err(MPI_T_ERR_INVALID);
            }
            find(name, pvar_index, |name| {
                ALL.iter().position(|variable| variable.name == name && class(variable) == var_class)
            })
        })
    }

    /// Section 15.3.7.
    MPI_T_pvar_session_create (session: Out<MPI_T_pvar_session>) -> c_int {
        call(|tools| {
            if session.0.is_null() {
                return Err(MPI_T_ERR_INVALID);
            }
            let key = tools.sessions().insert(()).map_err(|_| MPI_T_ERR_OUT_OF_SESSIONS)?;
            give(session, MPI_T_pvar_session(parse::handle_of(key)));
            Ok(())
        })
    }

    /// Section 15.3.7: its handles go with it.
    MPI_T_pvar_session_free (session: Out<MPI_T_pvar_session>) -> c_int {
        call(|tools| {
            let key = self::session(tools, session.get().map_err(|_| MPI_T_ERR_INVALID)?)?;
            let of_session = |(handle, found): (Key, &Handle)| (found.session == key).then_some(handle);
            let handles: Vec<Key> = tools.performance().iter().filter_map(of_session).collect();
            for handle in handles {
                tools.performance().remove(handle).map_err(|error| error.class)?;
            }
            tools.sessions().remove(key).map_err(|error| error.class)?;
            give(session, MPI_T_PVAR_SESSION_NULL);
            Ok(())
        })
    }

    /// Section 15.3.7: variables are bound to no object. Levels count from the beginning.
    MPI_T_pvar_handle_alloc (
        session: MPI_T_pvar_session, pvar_index: c_int, _obj_handle: Memory, handle: Out<MPI_T_pvar_handle>,
        count: Out<c_int>
    ) -> c_int {
        call(|tools| {
            let session = self::session(tools, session)?;
            let variable = at(&ALL, pvar_index)?;
            if handle.0.is_null() || count.0.is_null() {
                return Err(MPI_T_ERR_INVALID);
            }
            let made = Handle { session, variable, counted: 0, since: None };
            let key = tools.performance().insert(made).map_err(|_| MPI_T_ERR_OUT_OF_HANDLES)?;
            give(handle, MPI_T_pvar_handle(parse::handle_of(key)));
            give(count, 1);
            Ok(())
        })
    }

    /// Section 15.3.7.
    MPI_T_pvar_handle_free (session: MPI_T_pvar_session, handle: Out<MPI_T_pvar_handle>) -> c_int {
        call(|tools| {
            let given = handle.get().map_err(|_| MPI_T_ERR_INVALID)?;
            one(tools, session, given)?;
            tools.performance().remove(handle_key(given)?).map_err(|error| error.class)?;
            give(handle, MPI_T_PVAR_HANDLE_NULL);
            Ok(())
        })
    }

    /// Section 15.3.7.
    MPI_T_pvar_start (session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> c_int {
        call(|tools| each(tools, session, handle, Handle::start))
    }

    /// Section 15.3.7.
    MPI_T_pvar_stop (session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> c_int {
        call(|tools| each(tools, session, handle, Handle::stop))
    }

    /// Section 15.3.7.
    MPI_T_pvar_read (session: MPI_T_pvar_session, handle: MPI_T_pvar_handle, buf: Out<u64>) -> c_int {
        call(|tools| {
            let value = one(tools, session, handle)?.value();
            buf.set(value).map_err(|_| MPI_T_ERR_INVALID)
        })
    }

    /// Section 15.3.7.
    MPI_T_pvar_write (session: MPI_T_pvar_session, handle: MPI_T_pvar_handle, buf: Out<u64>) -> c_int {
        call(|tools| {
            let found = one(tools, session, handle)?;
            found.write(buf.get().map_err(|_| MPI_T_ERR_INVALID)?)
        })
    }

    /// Section 15.3.7.
    MPI_T_pvar_reset (session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> c_int {
        call(|tools| each(tools, session, handle, |found| found.write(0)))
    }

    /// Section 15.3.7.
    MPI_T_pvar_readreset (session: MPI_T_pvar_session, handle: MPI_T_pvar_handle, buf: Out<u64>) -> c_int {
        call(|tools| {
            let found = one(tools, session, handle)?;
            found.check(MPI_T_ERR_PVAR_NO_ATOMIC)?;
            buf.set(found.take()).map_err(|_| MPI_T_ERR_INVALID)
        })
    }
}
