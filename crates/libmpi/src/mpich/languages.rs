//! What MPICH's libraries for Fortran, `libmpichfort.so.12` and its like, ask of the library for C besides functions of the standard
//! (MPI 5.0, section 19.3): attributes as Fortran sees them, and callbacks that are subroutines.
//!
//! Those libraries turn each call of Fortran into one of C, with the same handles and statuses. Only where an object remembers
//! something of Fortran's must this library know: a value's language decides what the other language gets, a key's callbacks
//! are called by functions that those libraries name, and a generalized request's callbacks take everything by reference.

use core::ffi::c_int;
use std::sync::atomic::Ordering;

use postrider_abi::*;
use postrider_engine::communicators::caching::{Callers, Value};
use postrider_engine::error::Result;

use crate::caching::{self, Owner, PREDEFINED};
use crate::instance;
use crate::parse::{self, In, Memory, Out};

/// How an attribute's value is passed: a pointer of C, an integer as wide as an address, or an `INTEGER`.
const POINTER: c_int = 0;
const INTEGER: c_int = 3;

/// Sets an attribute to a value of this kind.
fn set(owner: Owner, keyval: c_int, value: Memory, kind: c_int) -> Result<()> {
    let value = match kind {
        POINTER => Value::Pointer(value.0),
        INTEGER => Value::integer(value.0 as c_int as isize),
        _ => Value::integer(value.0 as isize),
    };
    caching::set_value(owner, keyval, value)
}

/// Gets an attribute as a value of this kind. The key of a predefined attribute is one more than C's in Fortran.
fn get(owner: Owner, keyval: c_int, value: Out<isize>, flag: Out<c_int>, kind: c_int) -> Result<()> {
    let keyval = PREDEFINED.iter().copied().find(|key| key + 1 == keyval).unwrap_or(keyval);
    let found = caching::get_value(owner, keyval)?;
    if let Some(found) = &found {
        match kind {
            POINTER => value.set(found.pointer() as isize)?,
            // An INTEGER has no room for more.
            INTEGER => Out(value.0.cast::<c_int>()).set(integer(keyval, found)? as c_int)?,
            _ => value.set(integer(keyval, found)?)?,
        }
    }
    flag.set(c_int::from(found.is_some()))
}

/// A value as Fortran sees it. Predefined attributes are integers, to which C has pointers, except that a window's base is
/// an address in both.
fn integer(keyval: c_int, value: &Value) -> Result<isize> {
    match value {
        Value::Integer(place) => Ok(place.load(Ordering::Relaxed)),
        Value::Pointer(bits) if keyval == MPI_WIN_SIZE => Ok(In(*bits as *const isize).all(1)?[0]),
        Value::Pointer(bits) if PREDEFINED.contains(&keyval) && keyval != MPI_WIN_BASE => {
            Ok(In(*bits as *const c_int).all(1)?[0] as isize)
        }
        Value::Pointer(bits) => Ok(*bits as isize),
    }
}

mpi! {
    /// Section 7.7.2, for Fortran.
    MPII_Comm_set_attr (comm: MPI_Comm, comm_keyval: c_int, attribute_val: Memory, kind: c_int) on comm {
        set(Owner::Communicator(comm), comm_keyval, attribute_val, kind)
    }

    /// Section 7.7.2, for Fortran.
    MPII_Comm_get_attr (
        comm: MPI_Comm, comm_keyval: c_int, attribute_val: Out<isize>, flag: Out<c_int>, kind: c_int
    ) on comm {
        get(Owner::Communicator(comm), comm_keyval, attribute_val, flag, kind)
    }

    /// Section 7.7.4, for Fortran.
    MPII_Type_set_attr (datatype: MPI_Datatype, type_keyval: c_int, attribute_val: Memory, kind: c_int) {
        set(Owner::Datatype(datatype), type_keyval, attribute_val, kind)
    }

    /// Section 7.7.4, for Fortran.
    MPII_Type_get_attr (
        datatype: MPI_Datatype, type_keyval: c_int, attribute_val: Out<isize>, flag: Out<c_int>, kind: c_int
    ) {
        get(Owner::Datatype(datatype), type_keyval, attribute_val, flag, kind)
    }

    /// Section 7.7.3, for Fortran.
    MPII_Win_set_attr (win: MPI_Win, win_keyval: c_int, attribute_val: Memory, kind: c_int) on win {
        set(Owner::Window(win), win_keyval, attribute_val, kind)
    }

    /// Section 7.7.3, for Fortran.
    MPII_Win_get_attr (
        win: MPI_Win, win_keyval: c_int, attribute_val: Out<isize>, flag: Out<c_int>, kind: c_int
    ) on win {
        get(Owner::Window(win), win_keyval, attribute_val, flag, kind)
    }

    /// Says what calls the callbacks of a key that Fortran has made.
    MPII_Keyval_set_proxy (keyval: c_int, copy_proxy: Memory, delete_proxy: Memory) {
        let key = caching::key(keyval)?;
        let callers = Callers { copy: copy_proxy.0, delete: delete_proxy.0 };
        instance().with(|state| state.caching.set_callers(key, callers))
    }

    /// Says that the callbacks of a generalized request are subroutines of Fortran.
    MPII_Grequest_set_lang_f77 (request: MPI_Request) {
        match parse::request(request)? {
            Some(key) => instance().with(|state| state.set_fortran(key)),
            None => Ok(()),
        }
    }
}
