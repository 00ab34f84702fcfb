//! Constants of the standard's chapters 19 and 20, "Language Bindings and the Application Binary Interface".
//!
//! Handles convert to integers by their bits; only predefined handles have integers that the standard fixes.

use core::ffi::c_int;

// Classes of Fortran types, for MPI_Type_match_size.
pub const MPI_TYPECLASS_INTEGER: c_int = 2;
pub const MPI_TYPECLASS_REAL: c_int = 1;
pub const MPI_TYPECLASS_COMPLEX: c_int = 3;

// A status as Fortran sees it: its length, and the index of each field counted from zero.
pub const MPI_F_STATUS_SIZE: c_int = 5;
pub const MPI_F_SOURCE: c_int = 2;
pub const MPI_F_TAG: c_int = 3;
pub const MPI_F_ERROR: c_int = 4;
