//! Where errors go: the one place that applies error handlers (MPI 5.0, section 9.3) and makes return codes.

use core::ffi::c_int;
use std::cell::RefCell;

use postrider_abi::{
    MPI_COMM_SELF, MPI_Comm, MPI_ERR_LASTCODE, MPI_ERR_OTHER, MPI_FILE_NULL, MPI_File, MPI_SUCCESS, MPI_Win,
};
use postrider_engine::environment::{Handler, HandlerKind, class_text};
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_os::job::CallName;

use crate::library::{self, Phase};
use crate::tables::tables;
use crate::{callbacks, instance, io, parse};

/// The object whose error handler gets an error.
#[derive(Clone, Copy, Debug)]
pub enum Object {
    /// A communicator.
    Communicator(MPI_Comm),
    /// A file.
    File(MPI_File),
    /// A window.
    Window(MPI_Win),
}

impl Default for Object {
    /// Calls that belong to no object (section 9.3.1).
    fn default() -> Self {
        Self::Communicator(MPI_COMM_SELF)
    }
}

impl From<MPI_Comm> for Object {
    fn from(communicator: MPI_Comm) -> Self {
        Self::Communicator(communicator)
    }
}

impl From<MPI_File> for Object {
    fn from(file: MPI_File) -> Self {
        Self::File(file)
    }
}

impl From<MPI_Win> for Object {
    fn from(window: MPI_Win) -> Self {
        Self::Window(window)
    }
}

impl Object {
    /// What the key of an error means: a communicator, or the window that has it for itself.
    fn of(key: Key) -> Self {
        let window = instance().with(|state| {
            let mut windows = state.windows.iter();
            Ok(windows.find(|(_, window)| window.communicator == key).map(|(window, _)| window))
        });
        match window {
            Ok(Some(window)) => Self::Window(parse::window_handle(window)),
            _ => Self::Communicator(parse::communicator_handle(key)),
        }
    }

    /// The bits of the handle, for the user's function.
    fn bits(self) -> usize {
        match self {
            Self::Communicator(handle) => handle.0,
            Self::File(handle) => handle.0,
            Self::Window(handle) => handle.0,
        }
    }

    /// What kind of error handler it takes.
    pub fn kind(self) -> HandlerKind {
        match self {
            Self::Communicator(_) => HandlerKind::Communicator,
            Self::File(_) => HandlerKind::File,
            Self::Window(_) => HandlerKind::Window,
        }
    }

    /// Does something with its error handler.
    ///
    /// # Errors
    /// When the handle is none, and those of `action`.
    pub fn with_handler<T>(self, action: impl FnOnce(&mut Handler) -> Result<T>) -> Result<T> {
        match self {
            Self::Communicator(handle) => instance().with(|state| {
                action(&mut state.communicators.get_mut(parse::communicator(handle)?)?.handler)
            }),
            Self::Window(handle) => {
                instance().with(|state| action(&mut state.windows.get_mut(parse::window(handle)?)?.handler))
            }
            Self::File(handle) => io::with_handler(handle, action),
        }
    }

    /// Its error handler; that of calls without an object where the handle is none.
    fn handler(self) -> Handler {
        let read = |object: Self| object.with_handler(|handler| Ok(*handler));
        let substitute = |_| match self {
            Self::File(_) => read(Self::File(MPI_FILE_NULL)),
            _ => read(Self::default()),
        };
        read(self).or_else(substitute).unwrap_or(Handler::Fatal)
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

thread_local! {
    /// Code and detail of this thread's latest error, for programs that handle errors themselves.
    static LATEST: RefCell<Option<(c_int, String)>> = const { RefCell::new(None) };
}

/// The text of an error code, with what the latest error of this thread says if it had this code: a program that asks
/// for the string of an error that it has just got learns what was wrong, and not only of which class it was.
pub fn with_latest_detail(code: c_int, text: String) -> String {
    LATEST.with_borrow(|latest| match latest {
        Some((latest, detail)) if *latest == code && code <= MPI_ERR_LASTCODE => format!("{text} ({detail})"),
        _ => text,
    })
}

/// Applies the object's error handler, and returns the error code.
#[cold]
pub fn raise(name: &str, object: Object, error: &Error) -> c_int {
    LATEST.with_borrow_mut(|latest| *latest = Some((error.class, format!("{name}: {}", error.detail))));
    let object = error.communicator.map_or(object, Object::of);
    match object.handler() {
        Handler::Fatal | Handler::Abort => fatal(name, error),
        Handler::Return => {}
        Handler::User(key) => callbacks::error_handler(key, object.bits(), error.class),
    }
    error.class
}

/// Ends the job with a message that says what went wrong, and where.
pub fn fatal(name: &str, error: &Error) -> ! {
    let class = tables().error_codes.class_of(error.class).unwrap_or(MPI_ERR_OTHER);
    let class = class_text(class).unwrap_or("error of the program's own");
    library::abort_with(1, &format!("{name}: {class}: {}", error.detail));
}
