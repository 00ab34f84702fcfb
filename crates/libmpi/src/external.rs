//! External interfaces (MPI 5.0, chapter 13): generalized requests. What they say of their status is in `statuses`.
//!
//! The callbacks of a request are called here, when the engine has been left: query and then free by the call that takes the
//! end of the request, query alone by one that only asks for its status. Where both fail, the code of free counts, as
//! section 13.2 says; the code of query is not lost where free succeeds.

use core::ffi::c_int;

use postrider_abi::{MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_Request, MPI_SUCCESS};
use postrider_engine::error::{Error, RaisedOn, Result};
use postrider_engine::external::Generalized;
use postrider_engine::point_to_point::{Outcome, Status};

use crate::callbacks;
use crate::instance;
use crate::parse::{self, Memory, Out};

/// The error that the code of a callback stands for.
fn failed(what: &str, code: c_int) -> Option<Error> {
    let detail = || format!("the {what} callback of a generalized request returned code {code}");
    (code != MPI_SUCCESS).then(|| Error::new(code, detail()))
}

/// The end of a request, after the callbacks of a generalized one.
#[inline]
pub fn ended(mut outcome: Outcome) -> Outcome {
    if let Some(callbacks) = outcome.generalized.take() {
        let (status, code) = callbacks::query(&callbacks);
        outcome.completion.status = status;
        let freed = failed("free", callbacks::free(&callbacks));
        outcome.completion.error = freed.or_else(|| failed("query", code));
    }
    outcome
}

/// The status of a complete generalized request.
///
/// # Errors
/// What the query callback returns.
pub fn status(callbacks: &Generalized) -> Result<Status> {
    let (status, code) = callbacks::query(callbacks);
    let error = failed("query", code);
    let raised = |error: Error| {
        Err(match callbacks.file {
            Some(file) => error.on(RaisedOn::File(file)),
            None => error,
        })
    };
    error.map_or(Ok(status), raised)
}

/// Frees what the program keeps for a request that is gone.
///
/// # Errors
/// What the free callback returns.
pub fn free(callbacks: &Generalized) -> Result<()> {
    failed("free", callbacks::free(callbacks)).map_or(Ok(()), Err)
}

/// Has the program cancel its operation.
///
/// # Errors
/// What the cancel callback returns.
pub fn cancel(callbacks: &Generalized, complete: bool) -> Result<()> {
    failed("cancel", callbacks::cancel(callbacks, complete)).map_or(Ok(()), Err)
}

mpi! {
    /// Section 13.2.
    MPI_Grequest_start (
        query_fn: Memory, free_fn: Memory, cancel_fn: Memory, extra_state: Memory, request: Out<MPI_Request>
    ) {
        if [query_fn, free_fn, cancel_fn].iter().any(|function| function.0 == 0) {
            return Err(Error::new(MPI_ERR_ARG, "a callback of the generalized request is a null pointer"));
        }
        let (query, free, cancel, extra_state) = (query_fn.0, free_fn.0, cancel_fn.0, extra_state.0);
        let callbacks = Generalized { query, free, cancel, extra_state, fortran: false, file: None };
        let key = instance().with(|state| state.start_generalized(callbacks))?;
        request.set(parse::request_handle(key))
    }

    /// Section 13.2.
    MPI_Grequest_complete (request: MPI_Request) {
        let Some(key) = parse::request(request)? else {
            return Err(Error::new(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL"));
        };
        match instance().with(|state| state.complete_generalized(key))? {
            Some(callbacks) => self::free(&callbacks),
            None => Ok(()),
        }
    }
}
