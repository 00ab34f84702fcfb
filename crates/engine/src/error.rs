//! What can go wrong in an MPI call, as the standard classifies it (MPI 5.0, section 9.4).

use std::fmt;

use crate::objects::Key;

/// An error class of the standard, with a sentence that says what, where and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The error class, or a code made by `MPI_Add_error_code`; never `MPI_SUCCESS`.
    pub class: i32,
    /// What is wrong, where, and what to do about it.
    pub detail: String,
    /// Whose error handler it goes to, when that is not the object of the call: a request's.
    pub raised_on: Option<RaisedOn>,
}

/// The object whose error handler an error goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaisedOn {
    /// A communicator, or the window that has it for itself.
    Communicator(Key),
    /// A file: the number of its handle, which means nothing here.
    File(usize),
}

/// What an engine call returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of class `class` (a constant of `postrider_abi`).
    pub fn new(class: i32, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), raised_on: None }
    }

    /// The same error, for the error handler of `object`.
    #[must_use]
    pub fn on(self, object: RaisedOn) -> Self {
        Self { raised_on: Some(object), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Error {}
