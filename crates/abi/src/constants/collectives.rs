//! Constants of the standard's chapter 6, "Collective Communication".
//!
//! Names and properties of the operations are in [`crate::predefined`].

use crate::types::MPI_Op;

// Predefined reduction operations; MPI_REPLACE and MPI_NO_OP are for one-sided communication only.
pub const MPI_OP_NULL: MPI_Op = MPI_Op(0x020);
pub const MPI_SUM: MPI_Op = MPI_Op(0x021);
pub const MPI_MIN: MPI_Op = MPI_Op(0x022);
pub const MPI_MAX: MPI_Op = MPI_Op(0x023);
pub const MPI_PROD: MPI_Op = MPI_Op(0x024);
pub const MPI_BAND: MPI_Op = MPI_Op(0x028);
pub const MPI_BOR: MPI_Op = MPI_Op(0x029);
pub const MPI_BXOR: MPI_Op = MPI_Op(0x02a);
pub const MPI_LAND: MPI_Op = MPI_Op(0x030);
pub const MPI_LOR: MPI_Op = MPI_Op(0x031);
pub const MPI_LXOR: MPI_Op = MPI_Op(0x032);
pub const MPI_MINLOC: MPI_Op = MPI_Op(0x038);
pub const MPI_MAXLOC: MPI_Op = MPI_Op(0x039);
pub const MPI_REPLACE: MPI_Op = MPI_Op(0x03c);
pub const MPI_NO_OP: MPI_Op = MPI_Op(0x03d);
