//! Where errors go: the one place that applies error handlers (MPI 5.0, section 9.3) and makes return codes.

use core::ffi::c_int;

use postrider_abi::{MPI_COMM_SELF, MPI_Comm, MPI_ERR_OTHER, MPI_SUCCESS};
use postrider_engine::environment::{Handler, class_text};
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_os::job::CallName;

use crate::library::{self, Phase};
use crate::tables::tables;
use crate::{callbacks, parse};

/// The object whose error handler gets an error.
#[derive(Clone, Copy, Debug)]
pub struct Object(MPI_Comm);

impl Default for Object {
    /// Calls that belong to no object (section 9.3.1).
    fn default() -> Self {
        Self(MPI_COMM_SELF)
    }
}

impl From<MPI_Comm> for Object {
    fn from(communicator: MPI_Comm) -> Self {
        Self(communicator)
    }
}

/// Runs the body of an MPI function: notes on the board where this process is, and applies the error handler.
#[inline]
pub fn call(name: CallName, text: &'static str, object: Object, body: impl FnOnce() -> Result<()>) -> c_int {
    let Some(library) = library::active() else { return outside(text) };
    library.enter(name);
    let code = match body() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => raise(text, object, &error),
    };
    library.leave();
    code
}

/// Runs the body of a function that may be called at any time. Without an instance there is no error handler that could
/// be asked, and errors are fatal.
pub fn call_anytime(name: CallName, text: &'static str, body: impl FnOnce() -> Result<()>) -> c_int {
    if library::phase() == Phase::Active {
        return call(name, text, Object::default(), body);
    }
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => library::abort_with(1, &format!("{text}: {}", error.detail)),
    }
}

/// A call before initialization or after finalization: there is no handler that could be asked.
#[cold]
fn outside(name: &'static str) -> c_int {
    let when = match library::phase() {
        Phase::Before => "before MPI_Init",
        _ => "after MPI_Finalize",
    };
    library::abort_with(1, &format!("{name} was called {when}"));
}

/// Applies the object's error handler, and returns the error code.
#[cold]
pub fn raise(name: &str, object: Object, error: &Error) -> c_int {
    let object = error.communicator.map_or(object, |key| Object(parse::communicator_handle(key)));
    let handler = parse::communicator(object.0).and_then(handler_of).or_else(|_| handler_of(parse::OWN));
    match handler.unwrap_or(Handler::Fatal) {
        Handler::Fatal | Handler::Abort => fatal(name, error),
        Handler::Return => {}
        Handler::User(key) => callbacks::error_handler(key, object.0, error.class),
    }
    error.class
}

fn handler_of(key: Key) -> Result<Handler> {
    crate::instance().with(|state| Ok(state.communicators.get(key)?.handler))
}

/// Ends the job with a message that says what went wrong, and where.
pub fn fatal(name: &str, error: &Error) -> ! {
    let class = tables().error_codes.class_of(error.class).unwrap_or(MPI_ERR_OTHER);
    let class = class_text(class).unwrap_or("error of the program's own");
    library::abort_with(1, &format!("{name}: {class}: {}", error.detail));
}
