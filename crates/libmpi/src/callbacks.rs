//! Calls back into the user's program. Never made with a lock held.

use core::ffi::c_int;

use postrider_abi::{MPI_Comm, MPI_SUCCESS};
use postrider_engine::communicators::caching::Keyval;
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;

use crate::tables::tables;

/// Calls a user's error handler of a communicator with a code.
pub fn error_handler(key: Key, communicator: MPI_Comm, code: c_int) {
    let Ok(function) = tables().error_handlers.get(key).map(|handler| handler.function) else {
        return;
    };
    let (mut communicator, mut code) = (communicator, code);
    // SAFETY: the user gave this address as an `MPI_Comm_errhandler_function`, whose named parameters these are.
    unsafe {
        let function: unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...) = core::mem::transmute(function);
        function(&raw mut communicator, &raw mut code);
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
pub fn copy_attribute(keyval: &Keyval, object: usize, number: c_int, value: usize) -> Result<Option<usize>> {
    type Copy = unsafe extern "C" fn(usize, c_int, usize, usize, *mut usize, *mut c_int) -> c_int;
    let (mut copied, mut flag) = (0, 0);
    // SAFETY: the user gave this address as a copy callback. Its parameters are these for all kinds of objects: handles
    // and pointers are as wide as a `usize`.
    let code = unsafe {
        let function: Copy = core::mem::transmute(keyval.copy);
        function(object, number, keyval.extra_state, value, &raw mut copied, &raw mut flag)
    };
    returned("copy", code)?;
    Ok((flag != 0).then_some(copied))
}

/// Calls the delete callback of an attribute of the object with this handle.
///
/// # Errors
/// What the callback returns.
pub fn delete_attribute(keyval: &Keyval, object: usize, number: c_int, value: usize) -> Result<()> {
    type Delete = unsafe extern "C" fn(usize, c_int, usize, usize) -> c_int;
    // SAFETY: as for the copy callback.
    let code = unsafe {
        let function: Delete = core::mem::transmute(keyval.delete);
        function(object, number, value, keyval.extra_state)
    };
    returned("delete", code)
}
