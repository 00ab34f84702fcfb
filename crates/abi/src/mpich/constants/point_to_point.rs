//! Constants of the standard's chapter 3, "Point-to-Point Communication".

use crate::types::{MPI_Message, MPI_Request};
use core::ffi::c_int;

// Ranks and tags with a meaning of their own; all are negative, so none is a rank or a tag.
pub const MPI_ANY_SOURCE: c_int = -2;
pub const MPI_ANY_TAG: c_int = -1;
pub const MPI_PROC_NULL: c_int = -1;
pub const MPI_ROOT: c_int = -3;

// Request and message handles.
pub const MPI_REQUEST_NULL: MPI_Request = MPI_Request(0x2c00_0000);
pub const MPI_MESSAGE_NULL: MPI_Message = MPI_Message(0x2c00_0000);
pub const MPI_MESSAGE_NO_PROC: MPI_Message = MPI_Message(0x6c00_0000);

// A status, or an array of them, that nobody wants.
pub const MPI_STATUS_IGNORE: usize = 1;
pub const MPI_STATUSES_IGNORE: usize = 1;

// Bytes that a buffered send takes from the attached buffer in addition to the packed message.
pub const MPI_BSEND_OVERHEAD: c_int = 96;
