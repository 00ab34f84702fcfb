//! Constants of the standard's chapter 14, "I/O".

use crate::types::{MPI_File, MPI_Offset};
use core::ffi::c_int;

// The null file.
pub const MPI_FILE_NULL: MPI_File = MPI_File(0);

// Access modes; they can be combined.
pub const MPI_MODE_APPEND: c_int = 128;
pub const MPI_MODE_CREATE: c_int = 1;
pub const MPI_MODE_DELETE_ON_CLOSE: c_int = 16;
pub const MPI_MODE_EXCL: c_int = 64;
pub const MPI_MODE_RDONLY: c_int = 2;
pub const MPI_MODE_RDWR: c_int = 8;
pub const MPI_MODE_SEQUENTIAL: c_int = 256;
pub const MPI_MODE_UNIQUE_OPEN: c_int = 32;
pub const MPI_MODE_WRONLY: c_int = 4;

// Where a file pointer is moved from.
pub const MPI_SEEK_CUR: c_int = 602;
pub const MPI_SEEK_END: c_int = 604;
pub const MPI_SEEK_SET: c_int = 600;

// The displacement that leaves a view where it is, for files opened with MPI_MODE_SEQUENTIAL.
pub const MPI_DISPLACEMENT_CURRENT: MPI_Offset = -54278278;

// Length of the name of a data representation, including the terminating zero.
pub const MPI_MAX_DATAREP_STRING: usize = 128;

// Conversion functions of a data representation that needs no conversion.
pub const MPI_CONVERSION_FN_NULL: usize = 0;
pub const MPI_CONVERSION_FN_NULL_C: usize = 0;
