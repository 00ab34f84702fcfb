//! Constants of the standard's chapter 7, "Groups, Contexts, Communicators, and Caching".

use crate::types::{MPI_Comm, MPI_Group};
use core::ffi::c_int;

// Predefined communicators and groups.
pub const MPI_COMM_NULL: MPI_Comm = MPI_Comm(0x0400_0000);
pub const MPI_COMM_WORLD: MPI_Comm = MPI_Comm(0x4400_0000);
pub const MPI_COMM_SELF: MPI_Comm = MPI_Comm(0x4400_0001);
pub const MPI_GROUP_NULL: MPI_Group = MPI_Group(0x0800_0000);
pub const MPI_GROUP_EMPTY: MPI_Group = MPI_Group(0x4800_0000);

// Answers of MPI_Comm_compare and MPI_Group_compare.
pub const MPI_IDENT: c_int = 0;
pub const MPI_CONGRUENT: c_int = 1;
pub const MPI_SIMILAR: c_int = 2;
pub const MPI_UNEQUAL: c_int = 3;

// How MPI_Comm_split_type splits.
pub const MPI_COMM_TYPE_SHARED: c_int = 1;
pub const MPI_COMM_TYPE_HW_UNGUIDED: c_int = 3;
pub const MPI_COMM_TYPE_HW_GUIDED: c_int = 2;
pub const MPI_COMM_TYPE_RESOURCE_GUIDED: c_int = 4;

// The key that no attribute has.
pub const MPI_KEYVAL_INVALID: c_int = 0x2400_0000;

// Attribute callbacks that MPI defines for communicators.
pub const MPI_COMM_NULL_COPY_FN: usize = 0;
pub const MPI_COMM_DUP_FN: usize = usize::MAX;
pub const MPI_COMM_NULL_DELETE_FN: usize = 0;

// Attribute callbacks that MPI defines for datatypes.
pub const MPI_TYPE_NULL_COPY_FN: usize = 0;
pub const MPI_TYPE_DUP_FN: usize = usize::MAX;
pub const MPI_TYPE_NULL_DELETE_FN: usize = 0;

// Attribute callbacks that MPI defines for windows.
pub const MPI_WIN_NULL_COPY_FN: usize = 0;
pub const MPI_WIN_DUP_FN: usize = usize::MAX;
pub const MPI_WIN_NULL_DELETE_FN: usize = 0;

// Those of communicators under their deprecated names, for MPI_Keyval_create.
pub const MPI_NULL_COPY_FN: usize = 0;
pub const MPI_DUP_FN: usize = usize::MAX;
pub const MPI_NULL_DELETE_FN: usize = 0;
