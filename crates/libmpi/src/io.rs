//! I/O (MPI 5.0, chapter 14): the functions of the crate `io`, exported, with the error handlers of files (section 9.3.3).
//!
//! `io` finds MPI as any program does and would leave errors in handles to the error handler of another object, so
//! handles are checked here first.

use core::ffi::c_int;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use postrider_abi::*;
use postrider_engine::environment::Handler;
use postrider_engine::error::{Error, Result};
use postrider_io::arguments::{AnyDatatype, ExtraState, Memory, NameOut, Out, StatusOut, Text};
use postrider_io::transfer::Direction::{Read, Write};
use postrider_io::transfer::Manner::{Alone, Together};
use postrider_io::transfer::Position::{At, Individual, Shared};

use crate::errors::Object;
use crate::tables::tables;
use crate::{instance, parse};

/// Error handlers of open files, by their handles, and that of `MPI_FILE_NULL` if it was ever changed. This lock is taken
/// before that of the tables.
static HANDLERS: Mutex<BTreeMap<usize, Handler>> = Mutex::new(BTreeMap::new());

/// Does something with the error handler of a file. Errors of files are returned unless the program says otherwise.
///
/// # Errors
/// When the handle names no open file, and those of `action`.
pub fn with_handler<T>(handle: MPI_File, action: impl FnOnce(&mut Handler) -> Result<T>) -> Result<T> {
    if handle != MPI_FILE_NULL {
        postrider_io::file::find(handle).map_err(converted)?;
    }
    let mut handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner);
    action(handlers.entry(handle.0).or_insert(Handler::Return))
}

/// Gives a new file the error handler of `MPI_FILE_NULL`.
fn opened(handle: MPI_File) {
    let mut handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner);
    let default = handlers.get(&MPI_FILE_NULL.0).copied().unwrap_or(Handler::Return);
    if tables().retain(default).is_ok() {
        handlers.insert(handle.0, default);
    }
}

/// Lets go of the error handler of a file that has been closed.
fn closed(handle: MPI_File) {
    let handler = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).remove(&handle.0);
    let released = handler.map_or(Ok(()), |handler| tables().release(handler));
    debug_assert!(released.is_ok(), "what an object uses is there");
}

/// Has the error handler of a file get the errors of a request.
fn started(handle: MPI_File, request: MPI_Request) {
    let key = parse::request(request).ok().flatten();
    let noted = key.map_or(Ok(()), |key| instance().with(|state| state.note_file(key, handle.0)));
    debug_assert!(noted.is_ok(), "the request has just been made");
}

/// Threads of this library may always call it.
#[allow(clippy::unnecessary_wraps)]
fn threads_may_meet() -> postrider_io::error::Result<bool> {
    Ok(true)
}

/// From the first of them on as where the program has asked for `MPI_THREAD_MULTIPLE`.
fn let_threads_meet() {
    instance().let_threads_meet();
}

impl<T: Copy + Into<Object>> From<Out<T>> for Object {
    fn from(place: Out<T>) -> Self {
        place.get().map_or(Self::File(MPI_FILE_NULL), Into::into)
    }
}

fn converted(error: postrider_io::error::Error) -> Error {
    Error::new(error.class, error.detail)
}

/// An error of a call with this object.
fn named(error: postrider_io::error::Error, object: Object) -> Error {
    converted(match object {
        Object::File(handle) => postrider_io::file::named(error, handle),
        _ => error,
    })
}

/// What is checked of an argument before `io` sees it.
trait Argument {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Argument for MPI_Comm {
    fn check(&self) -> Result<()> {
        let key = parse::communicator(*self)?;
        instance().with(|state| state.communicators.get(key).map(drop))
    }
}

impl Argument for MPI_Datatype {
    fn check(&self) -> Result<()> {
        instance().with(|state| parse::committed(state, *self).map(drop))
    }
}

impl Argument for AnyDatatype {
    fn check(&self) -> Result<()> {
        instance().with(|state| parse::datatype(state, self.0).map(drop))
    }
}

impl Argument for MPI_Info {
    fn check(&self) -> Result<()> {
        let key = parse::info(*self)?;
        key.map_or(Ok(()), |key| tables().infos.get(key).map(drop))
    }
}

postrider_io::plain_arguments! { Argument }

/// Exports the functions.
macro_rules! export {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident $(/ $twin:ident)? ($($argument:ident : $type:ty),* $(,)?) on $object:ident $body:block
    )*) => {
        $(
            mpi! {
                $(#[doc = $doc])*
                $name $(/ $twin)? ($($argument: $type),*) on $object {
                    $(Argument::check(&$argument)?;)*
                    let run = || -> postrider_io::error::Result<()> { $body };
                    run().map_err(|error| named(error, Object::from($object)))
                }
            }
        )*
    };
}

postrider_io::file_functions! { export }
