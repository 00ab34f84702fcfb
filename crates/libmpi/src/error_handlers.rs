//! Error handlers, error classes, codes and strings (MPI 5.0, sections 9.3 to 9.5).
//!
//! An error handler lives as long as the user has a handle of it or an object uses it; both are counted.

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::environment::{ErrorHandler, Handler, HandlerKind};
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;

use crate::errors::{self, Object};
use crate::instance;
use crate::parse::{self, Memory, Out, Text, TextOut};
use crate::tables::tables;

/// The error handler of a handle.
///
/// # Errors
/// `MPI_ERR_ERRHANDLER` for `MPI_ERRHANDLER_NULL` and handles that are none.
pub fn handler(handle: MPI_Errhandler) -> Result<Handler> {
    match handle {
        MPI_ERRORS_ARE_FATAL => Ok(Handler::Fatal),
        MPI_ERRORS_ABORT => Ok(Handler::Abort),
        MPI_ERRORS_RETURN => Ok(Handler::Return),
        MPI_ERRHANDLER_NULL => {
            Err(Error::new(MPI_ERR_ERRHANDLER, "the error handler is MPI_ERRHANDLER_NULL"))
        }
        MPI_Errhandler(number) => match parse::key_of(number) {
            Some(key) => Ok(Handler::User(key)),
            None => Err(Error::new(MPI_ERR_ERRHANDLER, "the handle is no error handler")),
        },
    }
}

fn handle(handler: Handler) -> MPI_Errhandler {
    match handler {
        Handler::Fatal => MPI_ERRORS_ARE_FATAL,
        Handler::Abort => MPI_ERRORS_ABORT,
        Handler::Return => MPI_ERRORS_RETURN,
        Handler::User(key) => MPI_Errhandler(parse::handle_of(key)),
    }
}

fn create(kind: HandlerKind, function: Memory, made: Out<MPI_Errhandler>) -> Result<()> {
    if function.0 == 0 {
        return Err(Error::new(MPI_ERR_ARG, "the error handler's function is a null pointer"));
    }
    let key = tables().error_handlers.insert(ErrorHandler { kind, function: function.0, uses: 1 })?;
    made.set(handle(Handler::User(key)))
}

/// Makes a communicator with `make`, and gives it the error handler of `parent`, which is kept alive meanwhile,
/// and its session.
///
/// # Errors
/// Those of `make`.
pub fn inherit(parent: Key, make: impl FnOnce() -> Result<Option<Key>>) -> Result<Option<Key>> {
    let (inherited, session) = instance().with(|state| {
        let parent = state.communicators.get(parent)?;
        tables().retain(parent.handler).map(|()| (parent.handler, parent.session))
    })?;
    let made = make();
    match made {
        Ok(Some(key)) => instance().with(|state| {
            let made = state.communicators.get_mut(key)?;
            (made.handler, made.session) = (inherited, session);
            Ok(())
        })?,
        _ => tables().release(inherited)?,
    }
    made
}

fn set(object: Object, errhandler: MPI_Errhandler) -> Result<()> {
    let new = handler(errhandler)?;
    object.with_handler(|old| {
        check_kind(new, object.kind())?;
        let mut tables = tables();
        tables.retain(new)?;
        errors::note_handler(new);
        tables.self_has_handler |= matches!(object, Object::Communicator(MPI_COMM_SELF));
        tables.release(std::mem::replace(old, new))
    })
}

/// Whether this is a user's error handler for sessions.
pub fn is_for_sessions(handle: MPI_Errhandler) -> bool {
    let Ok(handler @ Handler::User(_)) = handler(handle) else { return false };
    check_kind(handler, HandlerKind::Session).is_ok()
}

/// Checks that an error handler is for this kind of objects.
///
/// # Errors
/// `MPI_ERR_ERRHANDLER`.
pub fn check_kind(handler: Handler, kind: HandlerKind) -> Result<()> {
    if let Handler::User(key) = handler
        && tables().error_handlers.get(key)?.kind != kind
    {
        return Err(Error::new(MPI_ERR_ERRHANDLER, format!("the error handler is not for a {kind:?}")));
    }
    Ok(())
}

/// The handle that the user gets is one more, to be freed as well.
fn get(object: Object, errhandler: Out<MPI_Errhandler>) -> Result<()> {
    let found = object.with_handler(|found| tables().retain(*found).map(|()| *found))?;
    errhandler.set(handle(found))
}

fn call(name: &str, object: Object, errorcode: c_int) -> Result<()> {
    object.with_handler(|_| Ok(()))?;
    let detail = format!("the program called the error handler ({name})");
    errors::raise(name, object, &Error::new(errorcode, detail));
    Ok(())
}

mpi! {
    /// Section 9.3.1.
    MPI_Comm_set_errhandler (comm: MPI_Comm, errhandler: MPI_Errhandler) on comm {
        set(Object::from(comm), errhandler)
    }

    /// Section 9.3.1.
    MPI_Comm_get_errhandler (comm: MPI_Comm, errhandler: Out<MPI_Errhandler>) on comm {
        get(Object::from(comm), errhandler)
    }

    /// Section 9.6.
    MPI_Comm_call_errhandler (comm: MPI_Comm, errorcode: c_int) on comm {
        call("MPI_Comm_call_errhandler", Object::from(comm), errorcode)
    }

    /// Section 9.3.4.
    MPI_Session_set_errhandler (session: MPI_Session, errhandler: MPI_Errhandler) on session {
        set(Object::from(session), errhandler)
    }

    /// Section 9.3.4.
    MPI_Session_get_errhandler (session: MPI_Session, errhandler: Out<MPI_Errhandler>) on session {
        get(Object::from(session), errhandler)
    }

    /// Section 9.6.
    MPI_Session_call_errhandler (session: MPI_Session, errorcode: c_int) on session {
        call("MPI_Session_call_errhandler", Object::from(session), errorcode)
    }

    /// Section 9.3.3: of `MPI_FILE_NULL` that of files that are opened from now on.
    MPI_File_set_errhandler (file: MPI_File, errhandler: MPI_Errhandler) on file {
        set(Object::from(file), errhandler)
    }

    /// Section 9.3.3.
    MPI_File_get_errhandler (file: MPI_File, errhandler: Out<MPI_Errhandler>) on file {
        get(Object::from(file), errhandler)
    }

    /// Section 9.6.
    MPI_File_call_errhandler (fh: MPI_File, errorcode: c_int) on fh {
        call("MPI_File_call_errhandler", Object::from(fh), errorcode)
    }

    /// Section 9.3.2.
    MPI_Win_set_errhandler (win: MPI_Win, errhandler: MPI_Errhandler) on win {
        set(Object::from(win), errhandler)
    }

    /// Section 9.3.2.
    MPI_Win_get_errhandler (win: MPI_Win, errhandler: Out<MPI_Errhandler>) on win {
        get(Object::from(win), errhandler)
    }

    /// Section 9.6.
    MPI_Win_call_errhandler (win: MPI_Win, errorcode: c_int) on win {
        call("MPI_Win_call_errhandler", Object::from(win), errorcode)
    }
}

anytime! {
    /// Section 9.3.1.
    MPI_Comm_create_errhandler (comm_errhandler_fn: Memory, errhandler: Out<MPI_Errhandler>) {
        create(HandlerKind::Communicator, comm_errhandler_fn, errhandler)
    }

    /// Section 9.3.2.
    MPI_Win_create_errhandler (win_errhandler_fn: Memory, errhandler: Out<MPI_Errhandler>) {
        create(HandlerKind::Window, win_errhandler_fn, errhandler)
    }

    /// Section 9.3.3.
    MPI_File_create_errhandler (file_errhandler_fn: Memory, errhandler: Out<MPI_Errhandler>) {
        create(HandlerKind::File, file_errhandler_fn, errhandler)
    }

    /// Section 9.3.4.
    MPI_Session_create_errhandler (session_errhandler_fn: Memory, errhandler: Out<MPI_Errhandler>) {
        create(HandlerKind::Session, session_errhandler_fn, errhandler)
    }

    /// Section 9.3.5: objects that use it keep it.
    MPI_Errhandler_free (errhandler: Out<MPI_Errhandler>) {
        let handler = handler(errhandler.get()?)?;
        tables().release(handler)?;
        errhandler.set(MPI_ERRHANDLER_NULL)
    }

    /// Section 9.3.6.
    MPI_Error_string (errorcode: c_int, string: TextOut, resultlen: Out<c_int>) {
        let text = tables().error_codes.text(errorcode)?;
        let text = errors::with_latest_detail(errorcode, text);
        resultlen.set(string.set(&text, MPI_MAX_ERROR_STRING)?)
    }

    /// Section 9.4.
    MPI_Error_class (errorcode: c_int, errorclass: Out<c_int>) {
        let class = tables().error_codes.class_of(errorcode)?;
        errorclass.set(class)
    }

    /// Section 9.5.
    MPI_Add_error_class (errorclass: Out<c_int>) {
        let class = tables().change_codes(|codes| Ok(codes.add_class()))?;
        errorclass.set(class)
    }

    /// Section 9.5.
    MPI_Add_error_code (errorclass: c_int, errorcode: Out<c_int>) {
        let code = tables().change_codes(|codes| codes.add_code(errorclass))?;
        errorcode.set(code)
    }

    /// Section 9.5.
    MPI_Add_error_string (errorcode: c_int, string: Text) {
        let text = string.get()?;
        tables().change_codes(|codes| codes.set_text(errorcode, &text))
    }

    /// Section 9.5.
    MPI_Remove_error_class (errorclass: c_int) {
        tables().change_codes(|codes| codes.remove_class(errorclass))
    }

    /// Section 9.5.
    MPI_Remove_error_code (errorcode: c_int) {
        tables().change_codes(|codes| codes.remove_code(errorcode))
    }

    /// Section 9.5.
    MPI_Remove_error_string (errorcode: c_int) {
        tables().change_codes(|codes| codes.remove_text(errorcode))
    }
}
