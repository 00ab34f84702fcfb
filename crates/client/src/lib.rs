//! Safe calls to whatever MPI is in this process.
//!
//! Layers above MPI (I/O, overlap) are loaded into programs that run on any library with the ABI that they are compiled for. They call it
//! through here: by its `PMPI_` names, looked up in that library, so that the layers' own names are never called
//! by themselves. `call` has the C side; this file is what the layers see.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod call;
pub mod layout;
pub mod shape;

use std::fmt;

pub use call::{
    Buffer, Communicator, Contents, Datatype, Epochs, Handling, Numbers, Outcome, OwnedCommunicator,
    OwnedDatatype, Parts, Pending, Place, Received, Transfer, loaded_after,
};

use call::Library;
use postrider_abi::{
    ABI_NAME, MPI_COMM_WORLD, MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File_errhandler_function, MPI_Info,
    MPI_Status, MPI_THREAD_MULTIPLE,
};

/// An MPI library in this process.
#[derive(Clone, Copy, Debug)]
pub struct Mpi(&'static Library);

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no MPI library in this process, or an old one; this name is missing.
    NoLibrary(&'static str),
    /// This library cannot be loaded.
    NotLoaded(String),
    /// The MPI library in this process, which is this file, has another ABI than this code.
    OtherAbi(String),
    /// This function returned this error code.
    Code(&'static str, i32),
    /// A datatype was made by this constructor, which is not known here.
    Constructor(i32),
}

/// What a call returns.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLibrary(name) => {
                write!(f, "no MPI library with {ABI_NAME} is loaded in this process: {name} is missing")
            }
            Self::NotLoaded(library) => write!(f, "{library} cannot be loaded"),
            Self::OtherAbi(library) => write!(f, "{library} does not have {ABI_NAME}"),
            Self::Code(name, code) => write!(f, "{name} returned error code {code}"),
            Self::Constructor(made_by) => {
                write!(f, "a datatype was made by constructor {made_by}, which is not known here")
            }
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

    /// The library with this path, or with this name where the loader looks, which is loaded for as long as this process lives.
    ///
    /// # Errors
    /// When it cannot be loaded, or is no MPI library of this ABI.
    pub fn load(path: &std::ffi::CStr) -> Result<Self> {
        if !call::load(path) {
            return Err(Error::NotLoaded(path.to_string_lossy().into_owned()));
        }
        Self::find()
    }

    /// That the library in this process has another ABI than this code, if it has.
    #[must_use]
    pub fn other_abi() -> Option<String> {
        match Self::find() {
            Err(error @ Error::OtherAbi(_)) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Initializes it, unless that was done (MPI 5.0, section 11.2.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn initialize(self) -> Result<()> {
        if self.0.initialized()? { Ok(()) } else { self.0.init() }
    }

    /// The same, for calls of several threads at the same time (section 11.6.2). Whether they may be is to be asked: [`Mpi::threads_may_meet`].
    ///
    /// # Errors
    /// What MPI returns.
    pub fn initialize_for_threads(self) -> Result<()> {
        if self.0.initialized()? { Ok(()) } else { self.0.init_for_threads() }
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
        self.communicator(MPI_COMM_WORLD)
    }

    /// The communicator with this handle.
    #[must_use]
    pub fn communicator(self, handle: MPI_Comm) -> Communicator {
        Communicator { library: self.0, handle }
    }

    /// The datatype with this handle.
    #[must_use]
    pub fn datatype(self, handle: MPI_Datatype) -> Datatype {
        Datatype::new(self.0, handle)
    }

    /// Ends all processes (section 9.7).
    pub fn abort(self, code: i32) {
        self.0.abort(code);
    }

    /// What it says of itself, in its first line (section 9.1.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn version(self) -> Result<String> {
        let words = self.0.version()?;
        Ok(words.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// A handle of an error handler of files (section 9.3.3). What it does is the caller's to know.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new_file_error_handler(self, function: MPI_File_errhandler_function) -> Result<MPI_Errhandler> {
        self.0.new_file_error_handler(function)
    }

    /// Frees an error handler, and returns the null handle (section 9.3.5).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn free_error_handler(self, handle: MPI_Errhandler) -> Result<MPI_Errhandler> {
        self.0.free_error_handler(handle)
    }

    /// Whether several threads may call MPI at the same time (section 11.6.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn threads_may_meet(self) -> Result<bool> {
        Ok(self.0.thread_level()? == MPI_THREAD_MULTIPLE)
    }

    /// The class of an error code (section 9.4).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn error_class(self, code: i32) -> Result<i32> {
        self.0.error_class(code)
    }

    /// The text of an error code (section 9.4).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn error_string(self, code: i32) -> Result<String> {
        self.0.error_string(code)
    }

    /// An error code of this class for an error that this text describes. It is the class itself in a library that contains this code, and in
    /// one that has no code to give.
    #[must_use]
    pub fn error_code(self, class: i32, text: &str) -> i32 {
        self.0.error_code(class, text)
    }

    /// Fills a status with a number of bytes (section 13.3).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn set_status(self, status: &mut MPI_Status, bytes: i64) -> Result<()> {
        self.0.set_status(status, bytes)
    }

    /// The values that an info object has for these keys (section 10); none if it is `MPI_INFO_NULL`.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn info_values<'k>(self, info: MPI_Info, keys: &[&'k str]) -> Result<Vec<(&'k str, String)>> {
        call::info_values(self.0, info, keys)
    }

    /// A new info object with these keys and values.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new_info(self, values: &[(&str, String)]) -> Result<MPI_Info> {
        self.0.new_info(values)
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
