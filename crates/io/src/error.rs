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
        Self::new(class_of(error), format!("{what} {}: {error}{}", path.display(), advice(what, error)))
    }

    /// The same error with the path of the file that it concerns, unless it says that already.
    #[must_use]
    pub fn on(mut self, path: &Path) -> Self {
        let path = path.display().to_string();
        if !self.detail.contains(&path) {
            self.detail = format!("{} (file {path})", self.detail);
        }
        self
    }

    /// The error code for the program: in a library that knows nothing of this error, one that has its text.
    pub fn code(&self) -> i32 {
        client::Mpi::find().map_or(self.class, |mpi| mpi.error_code(self.class, &self.detail))
    }

    /// An access would end behind the last place that a file can have.
    pub fn too_far(offset: i64) -> Self {
        Self::argument(format!("offset {offset} in the view leads further than 2^63 bytes into the file"))
    }

    /// A collective call has failed at another process.
    pub fn at_another(rank: usize, class: i32) -> Self {
        let why = meaning(class);
        Self::new(class, format!("it failed at rank {rank} of the file's group, and so at all others: {why}"))
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
        let client::Error::Code(name, code) = error else {
            let constructor = matches!(error, client::Error::Constructor(_));
            return Self::new(if constructor { MPI_ERR_TYPE } else { MPI_ERR_INTERN }, error.to_string());
        };
        let asked = client::Mpi::find().and_then(|mpi| Ok((mpi.error_class(code)?, mpi.error_string(code)?)));
        match asked {
            Ok((class, text)) => Self::new(class, format!("{name}: {text}")),
            Err(_) => Self::new(MPI_ERR_INTERN, error.to_string()),
        }
    }
}

/// What to do about an error of the system.
fn advice(what: &str, error: &std::io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOENT) if what == "opening" => {
            "; MPI_MODE_CREATE makes a new file, in a folder that is there on this host"
        }
        Some(libc::EEXIST) => "; MPI_MODE_EXCL asks for a new file",
        Some(libc::EROFS) => "; the file system is mounted for reading only on this host",
        Some(libc::ENOSPC) => "; make room there, or write to another file system",
        Some(libc::EDQUOT) => "; remove files of yours there, or write to another file system",
        _ => "",
    }
}

/// What an error class means, for processes that have not met the error themselves.
fn meaning(class: i32) -> &'static str {
    match class {
        MPI_ERR_NO_SUCH_FILE => "there is no such file",
        MPI_ERR_FILE_EXISTS => "the file exists already",
        MPI_ERR_ACCESS => "permission denied",
        MPI_ERR_READ_ONLY => "the file or its file system is for reading only",
        MPI_ERR_NO_SPACE => "no space is left",
        MPI_ERR_QUOTA => "the quota is used up",
        MPI_ERR_FILE_IN_USE => "the file is in use",
        MPI_ERR_BAD_FILE => "the name is not that of a file",
        MPI_ERR_AMODE => "the access mode is invalid",
        MPI_ERR_ARG | MPI_ERR_COUNT | MPI_ERR_TYPE => "an argument is invalid there",
        MPI_ERR_IO => "input or output failed",
        _ => "it says why",
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
