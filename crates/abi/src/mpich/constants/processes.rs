//! Constants of the standard's chapter 11, "Process Initialization, Creation, and Management".

use crate::types::MPI_Session;
use core::ffi::c_int;

// Thread levels, in increasing order.
pub const MPI_THREAD_SINGLE: c_int = 0;
pub const MPI_THREAD_FUNNELED: c_int = 1;
pub const MPI_THREAD_SERIALIZED: c_int = 2;
pub const MPI_THREAD_MULTIPLE: c_int = 3;

// The null session, and lengths of session strings.
pub const MPI_SESSION_NULL: MPI_Session = MPI_Session(0x3800_0000);
pub const MPI_MAX_STRINGTAG_LEN: usize = 256;
pub const MPI_MAX_PSET_NAME_LEN: usize = 256;

// Arguments of MPI_Comm_spawn that stand for "none" or "not wanted".
pub const MPI_ARGV_NULL: usize = 0;
pub const MPI_ARGVS_NULL: usize = 0;
pub const MPI_ERRCODES_IGNORE: usize = 0;

// Length of a port name, including the terminating zero.
pub const MPI_MAX_PORT_NAME: usize = 256;
