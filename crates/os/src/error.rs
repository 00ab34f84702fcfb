//! What the operating system refused, in words that name the thing it was asked for.

use std::fmt;
use std::io;

/// A refused system call: what was tried, on what, and the system's own reason.
#[derive(Debug)]
pub struct Error {
    /// What was tried, on what (a path, a pid): the beginning of a sentence, as in "cannot create /tmp/x".
    pub what: String,
    /// The system's reason.
    pub reason: io::Error,
}

/// What a call into the system returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The error of the system call that has just failed on this thread.
    pub fn last(what: impl Into<String>) -> Self {
        Self { what: what.into(), reason: io::Error::last_os_error() }
    }

    /// An error with a reason that is already at hand.
    pub fn new(what: impl Into<String>, reason: io::Error) -> Self {
        Self { what: what.into(), reason }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.reason)
    }
}

impl std::error::Error for Error {}
