//! Generalized requests (section 13.2): what a layer does beside the program, as a request that the program waits for.

use core::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use postrider_abi::*;

use super::{Library, check};
use crate::{Mpi, Result};

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Number of bytes, for the status.
    pub bytes: i64,
    /// An error code, or `MPI_SUCCESS`.
    pub code: c_int,
}

/// A request that has been started and is to be completed.
#[derive(Debug)]
pub struct Pending {
    library: &'static Library,
    handle: MPI_Request,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    library: &'static Library,
    outcome: Mutex<Outcome>,
}

impl Pending {
    /// Starts a request.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn start(mpi: Mpi) -> Result<Self> {
        let (library, mut handle) = (mpi.0, MPI_REQUEST_NULL);
        let outcome = Mutex::new(Outcome { bytes: 0, code: MPI_SUCCESS });
        let state = Arc::new(State { library, outcome });
        let extra = Arc::into_raw(Arc::clone(&state)).cast_mut().cast::<c_void>();
        // SAFETY: the callbacks get this pointer only; `free` is called once, as the last of them.
        let code = unsafe {
            (library.grequest_start)(Some(query), Some(free), Some(cancel), extra, &raw mut handle)
        };
        if code != MPI_SUCCESS {
            // SAFETY: no request was made, so the callbacks will not be called.
            drop(unsafe { Arc::from_raw(extra.cast::<State>()) });
        }
        check("MPI_Grequest_start", code)?;
        Ok(Self { library, handle, state })
    }

    /// The request, for the program.
    #[must_use]
    pub fn handle(&self) -> MPI_Request {
        self.handle
    }

    /// Completes the request.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn complete(self, outcome: Outcome) -> Result<()> {
        *self.state.outcome.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
        // SAFETY: a handle of a request that has not been completed.
        check("MPI_Grequest_complete", unsafe { (self.library.grequest_complete)(self.handle) })
    }
}

unsafe extern "C" fn query(extra: *mut c_void, status: *mut MPI_Status) -> c_int {
    // SAFETY: the pointer that the request was started with, and a status that can be written.
    let (state, status) = unsafe { (&*extra.cast::<State>(), &mut *status) };
    let outcome = *state.outcome.lock().unwrap_or_else(PoisonError::into_inner);
    match state.library.set_status(status, outcome.bytes) {
        Ok(()) => outcome.code,
        Err(_) => MPI_ERR_INTERN,
    }
}

unsafe extern "C" fn free(extra: *mut c_void) -> c_int {
    // SAFETY: the pointer that the request was started with, and this is its last use.
    drop(unsafe { Arc::from_raw(extra.cast::<State>()) });
    MPI_SUCCESS
}

/// What has begun goes on to its end.
unsafe extern "C" fn cancel(_extra: *mut c_void, _complete: c_int) -> c_int {
    MPI_SUCCESS
}
