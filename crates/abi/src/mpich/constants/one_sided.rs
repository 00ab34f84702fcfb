//! Constants of the standard's chapter 12, "One-Sided Communications".

use crate::types::MPI_Win;
use core::ffi::c_int;

// The null window.
pub const MPI_WIN_NULL: MPI_Win = MPI_Win(0x2000_0000);

// Assertions about synchronization; they can be combined.
pub const MPI_MODE_NOCHECK: c_int = 1024;
pub const MPI_MODE_NOPRECEDE: c_int = 8192;
pub const MPI_MODE_NOPUT: c_int = 4096;
pub const MPI_MODE_NOSTORE: c_int = 2048;
pub const MPI_MODE_NOSUCCEED: c_int = 16384;

// Kinds of lock.
pub const MPI_LOCK_EXCLUSIVE: c_int = 234;
pub const MPI_LOCK_SHARED: c_int = 235;

// How a window was made, and its memory model.
pub const MPI_WIN_FLAVOR_CREATE: c_int = 1;
pub const MPI_WIN_FLAVOR_ALLOCATE: c_int = 2;
pub const MPI_WIN_FLAVOR_DYNAMIC: c_int = 3;
pub const MPI_WIN_FLAVOR_SHARED: c_int = 4;
pub const MPI_WIN_UNIFIED: c_int = 2;
pub const MPI_WIN_SEPARATE: c_int = 1;

// Attributes that every window has.
pub const MPI_WIN_BASE: c_int = 0x6600_0001;
pub const MPI_WIN_DISP_UNIT: c_int = 0x6600_0005;
pub const MPI_WIN_SIZE: c_int = 0x6600_0003;
pub const MPI_WIN_CREATE_FLAVOR: c_int = 0x6600_0007;
pub const MPI_WIN_MODEL: c_int = 0x6600_0009;
