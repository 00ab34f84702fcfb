//! Arguments of the C functions, as types that look like them: what stands behind a pointer is the caller's promise, as in
//! every C interface. Null where the standard wants something is an error of class `MPI_ERR_ARG`.
//!
//! Unsafe code for the sake of C is here and where callbacks of the program are called.

use core::ffi::{CStr, c_char};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use postrider_abi::*;
use postrider_client::{Buffer, Mpi};

use crate::error::{Error, Result};

/// A buffer argument: `void *` or `const void *`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub usize);

/// A datatype that may not be committed yet.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyDatatype(pub MPI_Datatype);

/// A pointer that is given back to callbacks of the program.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraState(pub usize);

/// An output argument.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Out<T>(pub *mut T);

impl<T: Copy> Out<T> {
    /// Writes the value.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn set(self, value: T) -> Result<()> {
        self.check()?;
        // SAFETY: not null, and the caller promises that it points to a value of this type.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Reads the value: of an argument that goes both ways.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn get(self) -> Result<T> {
        self.check()?;
        // SAFETY: as above.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Whether a value can be written.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn check(self) -> Result<()> {
        if self.0.is_null() { Err(Error::argument("an output argument is a null pointer")) } else { Ok(()) }
    }
}

/// A C string argument.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(pub *const c_char);

impl Text {
    /// The bytes: strings of C have no encoding, and go back to the program as they came.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn get(self) -> Result<Vec<u8>> {
        Ok(self.bytes()?.to_bytes().to_owned())
    }

    /// The name of a file, which is bytes.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn path(self) -> Result<PathBuf> {
        Ok(OsStr::from_bytes(self.bytes()?.to_bytes()).into())
    }

    fn bytes(&self) -> Result<&CStr> {
        if self.0.is_null() {
            return Err(Error::argument("a string argument is a null pointer"));
        }
        // SAFETY: not null, and the caller promises a string with its final NUL.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }
}

/// An output string argument with room for the name of a data representation.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct NameOut(pub *mut c_char);

impl NameOut {
    /// Writes a name, which is shorter than `MPI_MAX_DATAREP_STRING`.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn set(self, name: &[u8]) -> Result<()> {
        if self.0.is_null() {
            return Err(Error::argument("an output string is a null pointer"));
        }
        // SAFETY: not null, and the caller promises room for any name.
        unsafe {
            self.0.copy_from(name.as_ptr().cast(), name.len());
            self.0.add(name.len()).write(0);
        }
        Ok(())
    }
}

/// A status argument, or `MPI_STATUS_IGNORE`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct StatusOut(pub *mut MPI_Status);

impl StatusOut {
    /// Writes how many bytes were moved.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn set(self, bytes: i64) -> Result<()> {
        if self.0 as usize != MPI_STATUS_IGNORE {
            // SAFETY: not `MPI_STATUS_IGNORE`, so the caller promises a status.
            Mpi::find()?.set_status(unsafe { &mut *self.0 }, bytes)?;
        }
        Ok(())
    }
}

/// The three arguments that name data.
pub type Data = (Memory, i64, MPI_Datatype);

/// The buffer that three arguments name.
///
/// # Errors
/// `MPI_ERR_BUFFER` for a null pointer with data.
pub fn buffer((memory, count, datatype): Data) -> Result<Buffer> {
    let mpi = Mpi::find()?;
    // SAFETY: the caller of the MPI function promises what the standard demands of a buffer argument.
    let made = unsafe { Buffer::new(mpi, memory.0, count, datatype) };
    // With MPI_BOTTOM, a null pointer too, the datatype is derived and holds the addresses.
    if memory.0 == MPI_BOTTOM && count > 0 && made.datatype().is_predefined()? && made.datatype().size()? > 0
    {
        return Err(Error::new(MPI_ERR_BUFFER, "the buffer is a null pointer"));
    }
    Ok(made)
}
