//! Safe calls to whatever MPI is in this process.
//!
//! Layers above MPI (I/O, overlap) are loaded into programs that run on any library with the standard ABI. They call it
//! through here: by its `PMPI_` names, looked up in the process, so that the layers' own `MPI_` names are never called
//! by themselves. `call` has the C side; this file is what the layers see.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod call;

use std::fmt;

use call::Library;
use postrider_abi::{MPI_COMM_WORLD, MPI_Comm};

/// An MPI library in this process.
#[derive(Clone, Copy, Debug)]
pub struct Mpi(&'static Library);

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no MPI library with the standard ABI in this process; this name is missing.
    NoLibrary(&'static str),
    /// This function returned this error code.
    Code(&'static str, i32),
}

/// What a call returns.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLibrary(name) => {
                write!(f, "no MPI library with the standard ABI is loaded in this process: {name} is missing")
            }
            Self::Code(name, code) => write!(f, "{name} returned error code {code}"),
        }
    }
}

impl std::error::Error for Error {}

impl Mpi {
    /// The library in this process.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> Result<Self> {
        Library::find().map(Self)
    }

    /// Initializes it, unless that was done (MPI 5.0, section 11.2.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn initialize(self) -> Result<()> {
        if self.0.initialized()? { Ok(()) } else { self.0.init() }
    }

    /// Finalizes it (section 11.2.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn finalize(self) -> Result<()> {
        self.0.finalize()
    }

    /// `MPI_COMM_WORLD`.
    #[must_use]
    pub fn world(self) -> Communicator {
        Communicator { library: self.0, handle: MPI_COMM_WORLD }
    }
}

/// A communicator.
#[derive(Clone, Copy, Debug)]
pub struct Communicator {
    library: &'static Library,
    handle: MPI_Comm,
}

impl Communicator {
    /// This process's rank (section 7.4.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn rank(self) -> Result<i32> {
        self.library.comm_rank(self.handle)
    }

    /// Number of processes (section 7.4.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn size(self) -> Result<i32> {
        self.library.comm_size(self.handle)
    }

    /// Sends bytes (section 3.2.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn send(self, bytes: &[u8], destination: i32, tag: i32) -> Result<()> {
        self.library.send(bytes, destination, tag, self.handle)
    }

    /// Receives bytes, and returns how many there were (section 3.2.4).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn receive(self, bytes: &mut [u8], source: i32, tag: i32) -> Result<usize> {
        self.library.receive(bytes, source, tag, self.handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_library_the_missing_name_is_told() {
        assert_eq!(Mpi::find().unwrap_err(), Error::NoLibrary("PMPI_Init"));
    }
}
