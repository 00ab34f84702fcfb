//! Calls back into the user's program. Never made with the engine's lock held.

use core::ffi::c_int;

use postrider_abi::MPI_Comm;
use postrider_engine::objects::Key;

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
