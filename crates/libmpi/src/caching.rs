//! Attribute caching (MPI 5.0, section 7.7), with the callbacks of the user.
//!
//! Callbacks run without the lock, so each step looks anew at what is there. Addresses 0 and 1 stand for the callbacks that
//! the standard defines itself, and are never called. An integer key is the key's handle as a number.

use core::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::communicators::caching::{Attributes, Keyval, Kind, Value};
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_engine::one_sided::Fact;
use postrider_engine::point_to_point::TAG_MAX;

use crate::parse::{self, Memory, Out};
use crate::tables::LAST_USED_CODE;
use crate::{callbacks, datatypes, instance};

/// An object that can have attributes.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// A communicator.
    Communicator(MPI_Comm),
    /// A datatype.
    Datatype(MPI_Datatype),
    /// A window.
    Window(MPI_Win),
}

impl Owner {
    fn kind(self) -> Kind {
        match self {
            Self::Communicator(_) => Kind::Communicator,
            Self::Datatype(_) => Kind::Datatype,
            Self::Window(_) => Kind::Window,
        }
    }

    /// The bits of the handle, for callbacks.
    fn bits(self) -> usize {
        match self {
            Self::Communicator(handle) => handle.0.to_word(),
            Self::Datatype(handle) => handle.0.to_word(),
            Self::Window(handle) => handle.0.to_word(),
        }
    }

    fn attributes(self, state: &mut State) -> Result<&mut Attributes> {
        match self {
            Self::Communicator(handle) => {
                Ok(&mut state.communicators.get_mut(parse::communicator(handle)?)?.attributes)
            }
            Self::Datatype(handle) => Ok(&mut datatypes::object(state, handle)?.attributes),
            Self::Window(handle) => Ok(&mut state.windows.get_mut(parse::window(handle)?)?.attributes),
        }
    }
}

fn number(key: Key) -> c_int {
    parse::handle_of(key)
}

/// The key that an integer means.
///
/// # Errors
/// `MPI_ERR_KEYVAL` when it is none that the user has made.
pub fn key(keyval: c_int) -> Result<Key> {
    parse::key_of(keyval).ok_or_else(|| {
        let detail = match keyval {
            MPI_KEYVAL_INVALID => "the attribute key is MPI_KEYVAL_INVALID".to_owned(),
            _ if PREDEFINED.contains(&keyval) => "a predefined attribute cannot be changed".to_owned(),
            _ => format!("{keyval} is no attribute key"),
        };
        Error::new(MPI_ERR_KEYVAL, detail)
    })
}

fn create(
    kind: Kind,
    (copy, delete, extra_state): (Memory, Memory, Memory),
    keyval: Out<c_int>,
) -> Result<()> {
    let made = Keyval { kind, copy: copy.0, delete: delete.0, extra_state: extra_state.0, callers: None };
    keyval.set(number(instance().with(|state| state.caching.create(made))?))
}

fn free(kind: Kind, keyval: Out<c_int>) -> Result<()> {
    let key = key(keyval.get()?)?;
    instance().with(|state| state.caching.free(key, kind))?;
    keyval.set(MPI_KEYVAL_INVALID)
}

/// The value under a key, with the key's facts.
fn find(owner: Owner, key: Key) -> Result<(Keyval, Option<Value>)> {
    instance().with(|state| {
        let value = owner.attributes(state)?.get(key);
        Ok((state.caching.get(key, owner.kind())?, value))
    })
}

/// Puts a value under a key, with no callback.
fn put(owner: Owner, key: Key, value: Value) -> Result<()> {
    instance().with(|state| {
        state.caching.get(key, owner.kind())?;
        if owner.attributes(state)?.set(key, value).is_none() {
            state.caching.retain(key)?;
        }
        Ok(())
    })
}

/// Calls the delete callback, if there is one.
fn call_delete(owner: Owner, key: Key, keyval: &Keyval, value: &Value) -> Result<()> {
    if keyval.delete == MPI_COMM_NULL_DELETE_FN {
        return Ok(());
    }
    callbacks::delete_attribute(keyval, owner.bits(), number(key), value)
}

fn set(owner: Owner, keyval: c_int, value: Memory) -> Result<()> {
    set_value(owner, keyval, Value::Pointer(value.0))
}

/// Sets an attribute, as a language sees its value.
///
/// # Errors
/// When the key is none for such an object, and what a callback returns.
pub fn set_value(owner: Owner, keyval: c_int, value: Value) -> Result<()> {
    let key = key(keyval)?;
    let (keyval, old) = find(owner, key)?;
    if let Some(old) = old {
        call_delete(owner, key, &keyval, &old)?;
    }
    put(owner, key, value)
}

fn get(owner: Owner, keyval: c_int, value: Out<usize>, flag: Out<c_int>) -> Result<()> {
    let found = get_value(owner, keyval)?;
    if let Some(found) = &found {
        value.set(found.pointer())?;
    }
    flag.set(c_int::from(found.is_some()))
}

/// The value of an attribute, if the object has it. That of a predefined one is a pointer, as C gets it.
///
/// # Errors
/// When the key is none for such an object.
pub fn get_value(owner: Owner, keyval: c_int) -> Result<Option<Value>> {
    match (owner, fact(keyval)) {
        (Owner::Communicator(handle), _) if PREDEFINED.contains(&keyval) => {
            let key = parse::communicator(handle)?;
            instance().with(|state| state.communicators.get(key).map(drop))?;
            Ok(predefined(keyval).map(Value::Pointer))
        }
        (Owner::Window(handle), Some(fact)) => {
            let key = parse::window(handle)?;
            let place = instance().with(|state| Ok(state.windows.get_mut(key)?.fact(fact)))?;
            Ok(Some(Value::Pointer(place)))
        }
        _ => Ok(find(owner, key(keyval)?)?.1),
    }
}

fn delete(owner: Owner, keyval: c_int) -> Result<()> {
    let key = key(keyval)?;
    let (keyval, value) = find(owner, key)?;
    let Some(value) = value else {
        return Err(Error::new(MPI_ERR_KEYVAL, "the object has no attribute under this key"));
    };
    delete_one(owner, key, &keyval, &value)
}

fn delete_one(owner: Owner, key: Key, keyval: &Keyval, value: &Value) -> Result<()> {
    call_delete(owner, key, keyval, value)?;
    instance().with(|state| match owner.attributes(state)?.remove(key) {
        Some(_) => state.caching.release(key),
        None => Ok(()),
    })
}

/// Deletes all attributes of an object that is to be freed, the last one first. It keeps those that are left when a
/// callback fails.
///
/// # Errors
/// What a callback returns.
pub fn delete_all(owner: Owner) -> Result<()> {
    loop {
        let last = instance().with(|state| {
            let Some((key, value)) = owner.attributes(state)?.iter().next_back() else { return Ok(None) };
            Ok(Some((key, state.caching.get(key, owner.kind())?, value)))
        })?;
        let Some((key, keyval, value)) = last else { return Ok(()) };
        delete_one(owner, key, &keyval, &value)?;
    }
}

/// Gives `copy`, a duplicate, the attributes of `original`, as their copy callbacks say. When one fails, those that `copy`
/// has got are deleted again.
///
/// # Errors
/// What a callback returns.
pub fn copy_all(original: Owner, copy: Owner) -> Result<()> {
    let all = instance().with(|state| {
        let all: Vec<(Key, Value)> = owner_pairs(original, state)?;
        let facts = |(key, value)| Ok((key, state.caching.get(key, original.kind())?, value));
        all.into_iter().map(facts).collect::<Result<Vec<_>>>()
    })?;
    for (key, keyval, value) in all {
        let copied = match keyval.copy {
            MPI_COMM_NULL_COPY_FN => Ok(None),
            MPI_COMM_DUP_FN => Ok(Some(duplicate(&value))),
            _ => callbacks::copy_attribute(&keyval, original.bits(), number(key), &value),
        };
        match copied.and_then(|copied| copied.map_or(Ok(()), |copied| put(copy, key, copied))) {
            Ok(()) => {}
            Err(error) => {
                delete_all(copy)?;
                return Err(error);
            }
        }
    }
    Ok(())
}

/// The same value in a place of its own.
fn duplicate(value: &Value) -> Value {
    match value {
        Value::Pointer(bits) => Value::Pointer(*bits),
        Value::Integer(place) => Value::integer(place.load(Ordering::Relaxed)),
    }
}

fn owner_pairs(owner: Owner, state: &mut State) -> Result<Vec<(Key, Value)>> {
    Ok(owner.attributes(state)?.iter().collect())
}

/// A predefined attribute of windows (section 12.2.6).
fn fact(keyval: c_int) -> Option<Fact> {
    Some(match keyval {
        MPI_WIN_BASE => Fact::Base,
        MPI_WIN_SIZE => Fact::Size,
        MPI_WIN_DISP_UNIT => Fact::DisplacementUnit,
        MPI_WIN_CREATE_FLAVOR => Fact::Flavor,
        MPI_WIN_MODEL => Fact::Model,
        _ => return None,
    })
}

/// The attributes that every communicator has, and those of windows.
pub const PREDEFINED: [c_int; 12] = [
    MPI_TAG_UB,
    MPI_HOST,
    MPI_IO,
    MPI_WTIME_IS_GLOBAL,
    MPI_LASTUSEDCODE,
    MPI_APPNUM,
    MPI_UNIVERSE_SIZE,
    MPI_WIN_BASE,
    MPI_WIN_SIZE,
    MPI_WIN_DISP_UNIT,
    MPI_WIN_CREATE_FLAVOR,
    MPI_WIN_MODEL,
];

/// The address of a predefined attribute's value (section 9.1.2); they are the same for all communicators.
fn predefined(keyval: c_int) -> Option<usize> {
    static TAG_UB: AtomicI32 = AtomicI32::new(TAG_MAX);
    static HOST: AtomicI32 = AtomicI32::new(MPI_PROC_NULL);
    static IO: AtomicI32 = AtomicI32::new(MPI_ANY_SOURCE);
    static WTIME_IS_GLOBAL: AtomicI32 = AtomicI32::new(1);
    static APPNUM: AtomicI32 = AtomicI32::new(0);
    static UNIVERSE_SIZE: AtomicI32 = AtomicI32::new(0);
    let facts = instance().facts();
    let place = match keyval {
        MPI_TAG_UB => &TAG_UB,
        MPI_HOST => &HOST,
        MPI_IO => &IO,
        MPI_WTIME_IS_GLOBAL => {
            // Clocks of different hosts are different clocks.
            WTIME_IS_GLOBAL.store(i32::from(facts.placement.hosts() == 1), Ordering::Relaxed);
            &WTIME_IS_GLOBAL
        }
        MPI_LASTUSEDCODE => &LAST_USED_CODE,
        MPI_APPNUM => {
            APPNUM.store(facts.application?, Ordering::Relaxed);
            &APPNUM
        }
        MPI_UNIVERSE_SIZE => {
            UNIVERSE_SIZE.store(facts.size as i32, Ordering::Relaxed);
            &UNIVERSE_SIZE
        }
        _ => return None,
    };
    Some(place.as_ptr() as usize)
}

mpi! {
    /// Section 7.7.2.
    MPI_Comm_create_keyval (
        comm_copy_attr_fn: Memory, comm_delete_attr_fn: Memory, comm_keyval: Out<c_int>, extra_state: Memory
    ) {
        create(Kind::Communicator, (comm_copy_attr_fn, comm_delete_attr_fn, extra_state), comm_keyval)
    }

    /// Section 7.7.2.
    MPI_Comm_free_keyval (comm_keyval: Out<c_int>) {
        free(Kind::Communicator, comm_keyval)
    }

    /// Section 7.7.2.
    MPI_Comm_set_attr (comm: MPI_Comm, comm_keyval: c_int, attribute_val: Memory) on comm {
        set(Owner::Communicator(comm), comm_keyval, attribute_val)
    }

    /// Section 7.7.2.
    MPI_Comm_get_attr (comm: MPI_Comm, comm_keyval: c_int, attribute_val: Out<usize>, flag: Out<c_int>) on comm {
        get(Owner::Communicator(comm), comm_keyval, attribute_val, flag)
    }

    /// Section 7.7.2.
    MPI_Comm_delete_attr (comm: MPI_Comm, comm_keyval: c_int) on comm {
        delete(Owner::Communicator(comm), comm_keyval)
    }

    /// Section 16.1: the deprecated name of `MPI_Comm_create_keyval`.
    MPI_Keyval_create (copy_fn: Memory, delete_fn: Memory, keyval: Out<c_int>, extra_state: Memory) {
        create(Kind::Communicator, (copy_fn, delete_fn, extra_state), keyval)
    }

    /// Section 16.1: the deprecated name of `MPI_Comm_free_keyval`.
    MPI_Keyval_free (keyval: Out<c_int>) {
        free(Kind::Communicator, keyval)
    }

    /// Section 16.1: the deprecated name of `MPI_Comm_set_attr`.
    MPI_Attr_put (comm: MPI_Comm, keyval: c_int, attribute_val: Memory) on comm {
        set(Owner::Communicator(comm), keyval, attribute_val)
    }

    /// Section 16.1: the deprecated name of `MPI_Comm_get_attr`.
    MPI_Attr_get (comm: MPI_Comm, keyval: c_int, attribute_val: Out<usize>, flag: Out<c_int>) on comm {
        get(Owner::Communicator(comm), keyval, attribute_val, flag)
    }

    /// Section 16.1: the deprecated name of `MPI_Comm_delete_attr`.
    MPI_Attr_delete (comm: MPI_Comm, keyval: c_int) on comm {
        delete(Owner::Communicator(comm), keyval)
    }

    /// Section 7.7.4.
    MPI_Type_create_keyval (
        type_copy_attr_fn: Memory, type_delete_attr_fn: Memory, type_keyval: Out<c_int>, extra_state: Memory
    ) {
        create(Kind::Datatype, (type_copy_attr_fn, type_delete_attr_fn, extra_state), type_keyval)
    }

    /// Section 7.7.4.
    MPI_Type_free_keyval (type_keyval: Out<c_int>) {
        free(Kind::Datatype, type_keyval)
    }

    /// Section 7.7.4.
    MPI_Type_set_attr (datatype: MPI_Datatype, type_keyval: c_int, attribute_val: Memory) {
        set(Owner::Datatype(datatype), type_keyval, attribute_val)
    }

    /// Section 7.7.4.
    MPI_Type_get_attr (datatype: MPI_Datatype, type_keyval: c_int, attribute_val: Out<usize>, flag: Out<c_int>) {
        get(Owner::Datatype(datatype), type_keyval, attribute_val, flag)
    }

    /// Section 7.7.4.
    MPI_Type_delete_attr (datatype: MPI_Datatype, type_keyval: c_int) {
        delete(Owner::Datatype(datatype), type_keyval)
    }

    /// Section 7.7.3.
    MPI_Win_create_keyval (
        win_copy_attr_fn: Memory, win_delete_attr_fn: Memory, win_keyval: Out<c_int>, extra_state: Memory
    ) {
        create(Kind::Window, (win_copy_attr_fn, win_delete_attr_fn, extra_state), win_keyval)
    }

    /// Section 7.7.3.
    MPI_Win_free_keyval (win_keyval: Out<c_int>) {
        free(Kind::Window, win_keyval)
    }

    /// Section 7.7.3.
    MPI_Win_set_attr (win: MPI_Win, win_keyval: c_int, attribute_val: Memory) on win {
        set(Owner::Window(win), win_keyval, attribute_val)
    }

    /// Section 7.7.3.
    MPI_Win_get_attr (win: MPI_Win, win_keyval: c_int, attribute_val: Out<usize>, flag: Out<c_int>) on win {
        get(Owner::Window(win), win_keyval, attribute_val, flag)
    }

    /// Section 7.7.3.
    MPI_Win_delete_attr (win: MPI_Win, win_keyval: c_int) on win {
        delete(Owner::Window(win), win_keyval)
    }
}
