//! Constants of the standard's chapter 10, "The Info Object".

use crate::types::MPI_Info;

// Info handles.
pub const MPI_INFO_NULL: MPI_Info = MPI_Info(0x1c00_0000);
pub const MPI_INFO_ENV: MPI_Info = MPI_Info(0x5c00_0001);

// Lengths of keys and values, including the terminating zero.
pub const MPI_MAX_INFO_KEY: usize = 255;
pub const MPI_MAX_INFO_VAL: usize = 1024;
