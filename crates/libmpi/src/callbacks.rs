//! Calls back into the user's program. Never made with a lock held.

use core::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use postrider_abi::{MPI_Datatype, MPI_SUCCESS, MPI_Status, MPI_User_function, MPI_User_function_c};
use postrider_engine::communicators::caching::{Callers, Keyval, Value};
use postrider_engine::error::{Error, Result};
use postrider_engine::external::Generalized;
use postrider_engine::objects::Key;
use postrider_engine::operations::UserFunction;
use postrider_engine::point_to_point::Status;

use crate::parse::{self, StatusOut};
use crate::tables::tables;

/// Calls a user's error handler with a code, for the object with this handle.
pub fn error_handler(key: Key, object: usize, code: c_int) {
    let Ok(function) = tables().error_handlers.get(key).map(|handler| handler.function) else {
        return;
    };
    let (mut object, mut code) = (object, code);
    // SAFETY: the user gave this address as an error handler. Its named parameters are these for all kinds of objects: handles
    // are as wide as a `usize`, or its lower half on machines that begin with that.
    unsafe {
        let function: unsafe extern "C" fn(*mut usize, *mut c_int, ...) = core::mem::transmute(function);
        function(&raw mut object, &raw mut code);
    }
}

/// A user's reduction operation with an `int` count, made callable. More elements than an `int` can count are passed on
/// in parts, since the operation works on each element by itself.
pub fn operation(function: MPI_User_function) -> Option<UserFunction> {
    let function = function?;
    Some(Arc::new(move |input, inout, count, datatype| {
        for_each_part(count, datatype, &mut |offset, count| {
            let (mut count, mut datatype) = (count, datatype);
            // SAFETY: the user gave this function for such operands; they are those of the reduction.
            unsafe {
                let (input, inout) = (input.offset(offset).address(), inout.offset(offset).address());
                function(input as *mut c_void, inout as *mut c_void, &raw mut count, &raw mut datatype);
            }
        });
    }))
}

/// A user's reduction operation with a large count, made callable.
pub fn operation_c(function: MPI_User_function_c) -> Option<UserFunction> {
    let function = function?;
    Some(Arc::new(move |input, inout, count, datatype| {
        let (mut count, mut datatype) = (count, datatype);
        let (input, inout) = (input.address() as *mut c_void, inout.address() as *mut c_void);
        // SAFETY: the user gave this function for such operands; they are those of the reduction.
        unsafe { function(input, inout, &raw mut count, &raw mut datatype) };
    }))
}

/// Calls `part(offset in bytes, count)` for parts of `count` elements that an `int` can count.
fn for_each_part(count: i64, handle: MPI_Datatype, part: &mut dyn FnMut(i64, c_int)) {
    if let Ok(count) = c_int::try_from(count) {
        return part(0, count);
    }
    let extent = crate::instance().with(|state| Ok(parse::datatype(state, handle)?.extent()));
    let Ok(extent) = extent else { unreachable!("the datatype of a reduction is there while it runs") };
    let mut done = 0;
    while done < count {
        let next = c_int::try_from(count - done).unwrap_or(c_int::MAX);
        part(done * extent, next);
        done += i64::from(next);
    }
}

/// Turns what an attribute callback returned into a result: its code is what the MPI function returns (section 7.7).
fn returned(what: &str, code: c_int) -> Result<()> {
    match code {
        MPI_SUCCESS => Ok(()),
        code => Err(Error::new(code, format!("the {what} callback of an attribute returned code {code}"))),
    }
}

/// Calls the copy callback of an attribute of the object with this handle; none when the copy is not to have it.
///
/// # Errors
/// What the callback returns.
pub fn copy_attribute(keyval: &Keyval, object: usize, number: c_int, value: &Value) -> Result<Option<Value>> {
    type Copy = unsafe extern "C" fn(usize, c_int, usize, usize, *mut usize, *mut c_int) -> c_int;
    if let Some(callers) = &keyval.callers {
        return copy_by(callers, keyval, object, number, value);
    }
    let (mut copied, mut flag) = (0, 0);
    // SAFETY: the user gave this address as a copy callback. Its parameters are these for all kinds of objects: handles
    // and pointers are as wide as a `usize`.
    let code = unsafe {
        let function: Copy = core::mem::transmute(keyval.copy);
        function(object, number, keyval.extra_state, value.pointer(), &raw mut copied, &raw mut flag)
    };
    returned("copy", code)?;
    Ok((flag != 0).then_some(Value::Pointer(copied)))
}

/// How a caller of another language's callbacks is told that a value is an integer as wide as an address. It is told so of
/// a pointer, too, since its language knows no pointers.
const WIDE_INTEGER: c_int = 1;

/// A value as another language gets it.
fn integer(value: &Value) -> isize {
    match value {
        Value::Pointer(bits) => *bits as isize,
        Value::Integer(place) => place.load(Ordering::Relaxed),
    }
}

fn copy_by(
    callers: &Callers,
    keyval: &Keyval,
    object: usize,
    number: c_int,
    value: &Value,
) -> Result<Option<Value>> {
    type Copy =
        unsafe extern "C" fn(usize, c_int, c_int, usize, c_int, isize, *mut isize, *mut c_int) -> c_int;
    let (mut copied, mut flag) = (0, 0);
    // SAFETY: whoever gave this address calls callbacks of this kind with it: callback, object, key, extra state, kind of
    // value, value, and where the copy and its flag go.
    let code = unsafe {
        let function: Copy = core::mem::transmute(callers.copy);
        let (state, value) = (keyval.extra_state, integer(value));
        function(
            keyval.copy,
            object as c_int,
            number,
            state,
            WIDE_INTEGER,
            value,
            &raw mut copied,
            &raw mut flag,
        )
    };
    returned("copy", code)?;
    let made = match value {
        Value::Pointer(_) => Value::Pointer(copied as usize),
        Value::Integer(_) => Value::integer(copied),
    };
    Ok((flag != 0).then_some(made))
}

/// Calls the delete callback of an attribute of the object with this handle.
///
/// # Errors
/// What the callback returns.
pub fn delete_attribute(keyval: &Keyval, object: usize, number: c_int, value: &Value) -> Result<()> {
    type Delete = unsafe extern "C" fn(usize, c_int, usize, usize) -> c_int;
    type DeleteBy = unsafe extern "C" fn(usize, c_int, c_int, c_int, isize, usize) -> c_int;
    // SAFETY: as for the copy callback.
    let code = unsafe {
        match &keyval.callers {
            None => {
                let function: Delete = core::mem::transmute(keyval.delete);
                function(object, number, value.pointer(), keyval.extra_state)
            }
            Some(callers) => {
                let function: DeleteBy = core::mem::transmute(callers.delete);
                let (object, value, state) = (object as c_int, integer(value), keyval.extra_state);
                function(keyval.delete, object, number, WIDE_INTEGER, value, state)
            }
        }
    };
    returned("delete", code)
}

/// Calls the query callback of a generalized request: the status that it tells, and its code.
pub fn query(callbacks: &Generalized) -> (Status, c_int) {
    type Query = unsafe extern "C" fn(usize, *mut MPI_Status, *mut c_int) -> c_int;
    let mut status = MPI_Status::default();
    StatusOut(&raw mut status).set_empty();
    let code = called(callbacks, |code| {
        // SAFETY: the user gave this address as a query callback, with these parameters; one in C ignores the last.
        unsafe {
            let function: Query = core::mem::transmute(callbacks.query);
            function(callbacks.extra_state, &raw mut status, code)
        }
    });
    (parse::status(&status), code)
}

/// Calls the free callback of a generalized request, and returns its code.
pub fn free(callbacks: &Generalized) -> c_int {
    type Free = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
    called(callbacks, |code| {
        // SAFETY: the user gave this address as a free callback, with these parameters; one in C ignores the last.
        unsafe {
            let function: Free = core::mem::transmute(callbacks.free);
            function(callbacks.extra_state, code)
        }
    })
}

/// Calls the cancel callback of a generalized request, and returns its code.
pub fn cancel(callbacks: &Generalized, complete: bool) -> c_int {
    let mut complete = c_int::from(complete);
    if callbacks.fortran {
        type Cancel = unsafe extern "C" fn(usize, *mut c_int, *mut c_int);
        return called(callbacks, |code| {
            // SAFETY: the user gave this address as a cancel callback in Fortran, with these parameters.
            unsafe {
                let function: Cancel = core::mem::transmute(callbacks.cancel);
                function(callbacks.extra_state, &raw mut complete, code);
            }
            MPI_SUCCESS
        });
    }
    // SAFETY: the user gave this address as a cancel callback, with these parameters.
    unsafe {
        let function: unsafe extern "C" fn(usize, c_int) -> c_int = core::mem::transmute(callbacks.cancel);
        function(callbacks.extra_state, complete)
    }
}

/// The code of a callback of a generalized request: a subroutine of Fortran stores it in its last argument, and returns nothing.
fn called(callbacks: &Generalized, call: impl FnOnce(*mut c_int) -> c_int) -> c_int {
    let mut stored = MPI_SUCCESS;
    let returned = call(&raw mut stored);
    if callbacks.fortran { stored } else { returned }
}
