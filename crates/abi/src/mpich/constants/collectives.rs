//! Constants of the standard's chapter 6, "Collective Communication".
//!
//! Names and properties of the operations are in [`crate::predefined`].

use crate::types::MPI_Op;

// Predefined reduction operations; MPI_REPLACE and MPI_NO_OP are for one-sided communication only.
pub const MPI_OP_NULL: MPI_Op = MPI_Op(0x1800_0000);
pub const MPI_SUM: MPI_Op = MPI_Op(0x5800_0003);
pub const MPI_MIN: MPI_Op = MPI_Op(0x5800_0002);
pub const MPI_MAX: MPI_Op = MPI_Op(0x5800_0001);
pub const MPI_PROD: MPI_Op = MPI_Op(0x5800_0004);
pub const MPI_BAND: MPI_Op = MPI_Op(0x5800_0006);
pub const MPI_BOR: MPI_Op = MPI_Op(0x5800_0008);
pub const MPI_BXOR: MPI_Op = MPI_Op(0x5800_000a);
pub const MPI_LAND: MPI_Op = MPI_Op(0x5800_0005);
pub const MPI_LOR: MPI_Op = MPI_Op(0x5800_0007);
pub const MPI_LXOR: MPI_Op = MPI_Op(0x5800_0009);
pub const MPI_MINLOC: MPI_Op = MPI_Op(0x5800_000b);
pub const MPI_MAXLOC: MPI_Op = MPI_Op(0x5800_000c);
pub const MPI_REPLACE: MPI_Op = MPI_Op(0x5800_000d);
pub const MPI_NO_OP: MPI_Op = MPI_Op(0x5800_000e);
