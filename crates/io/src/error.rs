//! Errors: a class of the standard (section 14.7), and what was wrong.

use postrider_abi::*;
use postrider_client as client;
use std::fmt;
use std::path::Path;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The error class.
    pub class: i32,
    /// What, where, and what to do about it.
    pub detail: String,
}

/// What a call returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this class.
    pub fn new(class: i32, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into() }
    }

    /// What the system says of a file.
    pub fn system(what: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(class_of(error), format!("{what} {}: {error}", path.display()))
    }

    /// An access would end behind the last place that a file can have.
    pub fn too_far(offset: i64) -> Self {
        Self::argument(format!("offset {offset} in the view leads further than 2^63 bytes into the file"))
    }

    /// A collective call has failed at another process.
    pub fn at_another(rank: usize, class: i32) -> Self {
        Self::new(class, format!("it failed at rank {rank} of the file's group, and so at all others"))
    }

    /// An argument of the program is wrong.
    pub fn argument(detail: impl Into<String>) -> Self {
        Self::new(MPI_ERR_ARG, detail)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl From<client::Error> for Error {
    fn from(error: client::Error) -> Self {
        let class = match &error {
            client::Error::Code(_, code) => client::Mpi::find().and_then(|mpi| mpi.error_class(*code)),
            client::Error::NoLibrary(_) => Ok(MPI_ERR_INTERN),
        };
        Self::new(class.unwrap_or(MPI_ERR_INTERN), error.to_string())
    }
}

/// The error class of an error of the system.
fn class_of(error: &std::io::Error) -> i32 {
    match error.raw_os_error() {
        Some(libc::ENOENT) => MPI_ERR_NO_SUCH_FILE,
        Some(libc::EEXIST) => MPI_ERR_FILE_EXISTS,
        Some(libc::EACCES | libc::EPERM) => MPI_ERR_ACCESS,
        Some(libc::EROFS) => MPI_ERR_READ_ONLY,
        Some(libc::ENOSPC) => MPI_ERR_NO_SPACE,
        Some(libc::EDQUOT) => MPI_ERR_QUOTA,
        Some(libc::EBUSY | libc::ETXTBSY) => MPI_ERR_FILE_IN_USE,
        Some(libc::EISDIR | libc::ENOTDIR | libc::ENAMETOOLONG | libc::ELOOP | libc::EINVAL) => {
            MPI_ERR_BAD_FILE
        }
        _ => MPI_ERR_IO,
    }
}
