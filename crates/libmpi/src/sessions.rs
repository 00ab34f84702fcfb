//! Sessions (MPI 5.0, section 11.3), and the buffers attached to them (section 3.6).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::environment::{Handler, HandlerKind};
use postrider_engine::error::{Error, Result};
use postrider_engine::info::Info;
use postrider_engine::objects::Key;
use postrider_engine::point_to_point::BufferOwner;
use postrider_engine::sessions::{PROCESS_SETS, Session};
use postrider_os::job::CallName;

use crate::communicators::groups::handle_with_session;
use crate::errors::{self, Object};
use crate::parse::{self, Memory, Out, Text, TextOut};
use crate::point_to_point::{attach, detach};
use crate::tables::tables;
use crate::{error_handlers, info, instance, library};

/// The hint that asks for a level of thread support, and the names of the levels.
const THREAD_LEVEL: &str = "thread_level";
const THREAD_LEVELS: [(&str, c_int); 4] = [
    ("MPI_THREAD_SINGLE", MPI_THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE),
];

/// What a session has of its hints: the level that it provides.
fn info_of(given: &Info, provided: c_int) -> Result<Info> {
    if let Some(wanted) = given.get(THREAD_LEVEL)
        && !THREAD_LEVELS.iter().any(|(name, _)| *name == wanted)
    {
        return Err(Error::new(
            MPI_ERR_INFO_VALUE,
            format!("{THREAD_LEVEL} is \"{wanted}\", which is no level"),
        ));
    }
    let mut own = Info::default();
    for (name, _) in THREAD_LEVELS.iter().filter(|(_, level)| *level == provided) {
        own.set(THREAD_LEVEL, name)?;
    }
    Ok(own)
}

fn begin(hints: MPI_Info, handler: Handler) -> Result<MPI_Session> {
    let hints = info::hints(hints)?;
    error_handlers::check_kind(handler, HandlerKind::Session)?;
    info_of(&hints, MPI_THREAD_SINGLE)?;
    let provided = library::begin_session()?;
    let own = info_of(&hints, provided)?;
    let key = instance().with(|state| {
        tables().retain(handler)?;
        state.sessions.insert(Session::new(handler, own))
    })?;
    Ok(MPI_Session(parse::handle_of(key)))
}

fn end(session: Key) -> Result<()> {
    instance().detach_buffer(BufferOwner::Session(session))?;
    instance().with(|state| {
        let session = state.sessions.remove(session)?;
        tables().release(session.handler)
    })?;
    library::end_session()
}

/// Checks that there is such a session.
fn check(session: MPI_Session) -> Result<Key> {
    let key = parse::session(session)?;
    instance().with(|state| state.sessions.get(key).map(|_| key))
}

fn owner(session: MPI_Session) -> Result<BufferOwner> {
    check(session).map(BufferOwner::Session)
}

anytime! {
    /// Section 11.3.1: errors go to the error handler that the session is to have.
    MPI_Session_init (info: MPI_Info, errhandler: MPI_Errhandler, session: Out<MPI_Session>) -> c_int {
        const CALL: CallName = CallName::new("MPI_Session_init");
        errors::call_anytime_on(CALL, "MPI_Session_init", Object::from(errhandler), || {
            session.set(begin(info, error_handlers::handler(errhandler)?)?)
        })
    }
}

mpi! {
    /// Section 11.3.1: what was sent leaves this process. It does not wait for others.
    MPI_Session_finalize (session: Out<MPI_Session>) {
        end(check(session.get()?)?)?;
        session.set(MPI_SESSION_NULL)
    }

    /// Section 11.3.2: the sets are the same whatever the hints.
    MPI_Session_get_num_psets (session: MPI_Session, info: MPI_Info, npset_names: Out<c_int>) on session {
        check(session)?;
        info::hints(info)?;
        npset_names.set(PROCESS_SETS.len() as c_int)
    }

    /// Section 11.3.2: the length counts the final NUL, and says afterwards how much the whole name needs.
    MPI_Session_get_nth_pset (
        session: MPI_Session, info: MPI_Info, n: c_int, pset_len: Out<c_int>, pset_name: TextOut
    ) on session {
        check(session)?;
        info::hints(info)?;
        let Some(name) = usize::try_from(n).ok().and_then(|n| PROCESS_SETS.get(n)) else {
            let detail = format!("there is no process set {n}; there are {}", PROCESS_SETS.len());
            return Err(Error::new(MPI_ERR_ARG, detail));
        };
        let room = parse::length(pset_len.get()?.into(), "the length of the name")?;
        if room > 0 {
            pset_name.set(name, room)?;
        }
        pset_len.set(name.len() as c_int + 1)
    }

    /// Section 11.3.2.
    MPI_Session_get_info (session: MPI_Session, info_used: Out<MPI_Info>) on session {
        let key = parse::session(session)?;
        let found = instance().with(|state| Ok(state.sessions.get(key)?.info.clone()))?;
        info_used.set(info::new_handle_of_object(found)?)
    }

    /// Section 11.3.2.
    MPI_Session_get_pset_info (session: MPI_Session, pset_name: Text, info: Out<MPI_Info>) on session {
        check(session)?;
        let name = pset_name.shown()?;
        let size = instance().with(|state| Ok(state.process_set(&name)?.size()))?;
        let mut found = Info::default();
        found.set("mpi_size", size.to_string())?;
        info.set(info::new_handle(found)?)
    }

    /// Section 7.3.2.
    MPI_Group_from_session_pset (session: MPI_Session, pset_name: Text, newgroup: Out<MPI_Group>) on session {
        let key = check(session)?;
        let name = pset_name.shown()?;
        newgroup.set(instance().with(|state| {
            let group = state.process_set(&name)?;
            handle_with_session(state, group, Some(key))
        })?)
    }

    /// Section 3.6.
    MPI_Session_attach_buffer / MPI_Session_attach_buffer_c (
        session: MPI_Session, buffer: Memory, size: Int
    ) on session {
        attach(owner(session)?, buffer, i64::from(size))
    }

    /// Section 3.6.
    MPI_Session_detach_buffer / MPI_Session_detach_buffer_c (
        session: MPI_Session, buffer_addr: Out<usize>, size: Out<Int>
    ) on session {
        detach(owner(session)?, buffer_addr, size)
    }

    /// Section 3.6.
    MPI_Session_flush_buffer (session: MPI_Session) on session {
        instance().flush_buffer(owner(session)?)
    }

    /// Section 3.6.
    MPI_Session_iflush_buffer (session: MPI_Session, request: Out<MPI_Request>) on session {
        let owner = owner(session)?;
        let key = instance().with(|state| state.iflush_buffer(owner))?;
        library::leave_behind(request, key)
    }
}
