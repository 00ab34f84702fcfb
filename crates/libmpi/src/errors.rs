//! Where errors go: the one place that applies error handlers (MPI 5.0, section 9.3) and makes return codes.

use core::ffi::c_int;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use postrider_abi::{
    Bits, MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_Comm, MPI_ERR_LASTCODE, MPI_ERR_OTHER,
    MPI_Errhandler, MPI_FILE_NULL, MPI_File, MPI_SESSION_NULL, MPI_SUCCESS, MPI_Session, MPI_Win,
};
use postrider_engine::environment::{Handler, HandlerKind, class_text};
use postrider_engine::error::{Error, RaisedOn, Result};
use postrider_os::job::CallName;

use crate::library::{self, Phase};
use crate::tables::tables;
use crate::{callbacks, error_handlers, instance, io, parse};

/// The object whose error handler gets an error.
#[derive(Clone, Copy, Debug, Default)]
pub enum Object {
    /// A communicator.
    Communicator(MPI_Comm),
    /// A session.
    Session(MPI_Session),
    /// A file.
    File(MPI_File),
    /// A window.
    Window(MPI_Win),
    /// None yet: the error handler is that of an object that the call is to make.
    Making(MPI_Errhandler),
    /// None.
    #[default]
    Nothing,
}

/// The communicator whose error handler gets the errors of calls that belong to no object: `MPI_COMM_SELF` (section 9.3.1).
/// Before MPI 4.0 it was `MPI_COMM_WORLD`, so that there are programs that set only that one's; theirs counts as long as
/// `MPI_COMM_SELF` has none of the program's.
fn of_no_object() -> MPI_Comm {
    if tables().self_has_handler { MPI_COMM_SELF } else { MPI_COMM_WORLD }
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

impl From<MPI_Session> for Object {
    fn from(session: MPI_Session) -> Self {
        Self::Session(session)
    }
}

impl From<MPI_Win> for Object {
    fn from(window: MPI_Win) -> Self {
        Self::Window(window)
    }
}

impl From<MPI_Errhandler> for Object {
    fn from(handler: MPI_Errhandler) -> Self {
        Self::Making(handler)
    }
}

impl Object {
    /// What an error names: a file, a communicator, or the window that has that for itself.
    fn of(raised_on: RaisedOn) -> Self {
        let key = match raised_on {
            RaisedOn::File(handle) => return Self::File(MPI_File(handle)),
            RaisedOn::Communicator(key) => key,
        };
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
            Self::Communicator(handle) => handle.0.to_word(),
            Self::Session(handle) => handle.0.to_word(),
            Self::File(handle) => handle.0.to_word(),
            Self::Window(handle) => handle.0.to_word(),
            Self::Making(handler) if error_handlers::is_for_sessions(handler) => MPI_SESSION_NULL.0.to_word(),
            Self::Making(_) => MPI_COMM_NULL.0.to_word(),
            Self::Nothing => of_no_object().0.to_word(),
        }
    }

    /// What kind of error handler it takes.
    pub fn kind(self) -> HandlerKind {
        match self {
            Self::Communicator(_) | Self::Nothing => HandlerKind::Communicator,
            Self::Session(_) | Self::Making(_) => HandlerKind::Session,
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
            Self::Communicator(handle) => {
                let key = parse::communicator(handle)?;
                instance().with(|state| action(&mut state.communicators.get_mut(key)?.handler))
            }
            Self::Session(handle) => {
                let key = parse::session(handle)?;
                instance().with(|state| action(&mut state.sessions.get_mut(key)?.handler))
            }
            Self::File(handle) => io::with_handler(handle, action),
            Self::Window(handle) => {
                let key = parse::window(handle)?;
                instance().with(|state| action(&mut state.windows.get_mut(key)?.handler))
            }
            Self::Making(handle) => action(&mut error_handlers::handler(handle)?),
            Self::Nothing => Self::Communicator(of_no_object()).with_handler(action),
        }
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
    call_anytime_on(name, text, Object::default(), body)
}

/// The same for a call that makes an object, whose error handler gets its errors.
pub fn call_anytime_on(
    name: CallName,
    text: &'static str,
    object: Object,
    body: impl FnOnce() -> Result<()>,
) -> c_int {
    if library::active().is_some() {
        return call(name, text, object, body);
    }
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(error) if matches!(object, Object::Making(_)) => raise(text, object, &error),
        Err(error) => library::abort_with(1, &format!("{text}: {}", error.detail)),
    }
}

/// A call before initialization or after finalization: there is no handler that could be asked.
#[cold]
fn outside(name: &'static str) -> c_int {
    if library::is_forked() {
        return in_forked_process(name);
    }
    let when = match library::phase() {
        Phase::Before => "before MPI_Init",
        _ => "after MPI_Finalize",
    };
    library::abort_with(1, &format!("{name} was called {when}"));
}

/// Whether the program has said of any object that it handles errors itself.
static HANDLES_ERRORS: AtomicBool = AtomicBool::new(false);

/// The program has given an object this error handler.
pub fn note_handler(handler: Handler) {
    if !matches!(handler, Handler::Fatal | Handler::Abort) {
        HANDLES_ERRORS.store(true, Ordering::Relaxed);
    }
}

/// A call in a process that a rank has forked. No error handler can be asked, as the objects are behind a lock which another thread may have
/// held when this process came to be: so a program that handles errors anywhere gets a code, and all others end here.
fn in_forked_process(name: &'static str) -> c_int {
    let error = library::forked();
    if !HANDLES_ERRORS.load(Ordering::Relaxed) {
        fatal(name, &error);
    }
    LATEST.with_borrow_mut(|latest| *latest = Some((error.class, format!("{name}: {}", error.detail))));
    error.class
}

thread_local! {
    /// Code and detail of this thread's latest error, for programs that handle errors themselves.
    static LATEST: RefCell<Option<(c_int, String)>> = const { RefCell::new(None) };
}

/// The text of an error code, with what the latest error of this thread says if it had this code: a program that asks
/// for the string of an error that it has just got learns what was wrong, and not only of which class it was.
pub fn with_latest_detail(code: c_int, mut text: Vec<u8>) -> Vec<u8> {
    LATEST.with_borrow(|latest| {
        if let Some((latest, detail)) = latest
            && *latest == code
            && code <= MPI_ERR_LASTCODE
        {
            text.extend_from_slice(format!(" ({detail})").as_bytes());
        }
    });
    text
}

/// Applies the object's error handler, and returns the error code.
#[cold]
pub fn raise(name: &str, object: Object, error: &Error) -> c_int {
    LATEST.with_borrow_mut(|latest| *latest = Some((error.class, format!("{name}: {}", error.detail))));
    let object = error.raised_on.map_or(object, Object::of);
    // A handle that is none has no error handler: its errors are those of no object, or of no file.
    let substitute =
        if matches!(object, Object::File(_)) { Object::File(MPI_FILE_NULL) } else { Object::default() };
    let (object, handler) = match object.with_handler(|handler| Ok(*handler)) {
        Err(_) if library::active().is_some() => {
            (substitute, substitute.with_handler(|handler| Ok(*handler)))
        }
        handler => (object, handler),
    };
    match handler.unwrap_or(Handler::Fatal) {
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
