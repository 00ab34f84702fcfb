//! Constants of the standard's chapter 2, "Terms and Conventions".
//!
//! Named addresses are compared with the address of an argument, and never followed.

use core::ffi::c_int;

// Special addresses: absolute address zero, in-place buffers, and buffers that MPI sizes itself.
pub const MPI_BOTTOM: usize = 0;
pub const MPI_IN_PLACE: usize = usize::MAX;
pub const MPI_BUFFER_AUTOMATIC: usize = usize::MAX - 1;

// The answer that means "no value", for counts, ranks, colours and indices alike.
pub const MPI_UNDEFINED: c_int = -32766;
