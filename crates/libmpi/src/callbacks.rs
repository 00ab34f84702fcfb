//! Calls back into the user's program. Never made with the engine's lock held.

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use postrider_abi::{MPI_Comm, MPI_Datatype, MPI_User_function, MPI_User_function_c};
use postrider_engine::objects::Key;
use postrider_engine::operations::UserFunction;

use crate::parse;

/// Calls a user's error handler of a communicator with a code.
pub fn error_handler(key: Key, communicator: MPI_Comm, code: c_int) {
    let Ok(function) = crate::instance().with(|state| Ok(state.error_handlers.get(key)?.function)) else {
        return;
    };
    let (mut communicator, mut code) = (communicator, code);
    // SAFETY: the user gave this address as an `MPI_Comm_errhandler_function`, whose named parameters these are.
    unsafe {
        let function: unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...) = core::mem::transmute(function);
        function(&raw mut communicator, &raw mut code);
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
