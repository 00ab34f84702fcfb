//! Collective communication (MPI 5.0, chapter 6).
//!
//! A collective operation is a [`schedule::Schedule`] for each process: a pure function of its rank, the size
//! and the call's counts, which the executor then runs over point-to-point messages. The files are named by
//! the families of the standard; each offers its algorithms as an enum and builds schedules for intra- and
//! inter-communicators.

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod arguments;
pub mod barrier;
pub mod broadcast;
pub mod calls;
pub mod cost;
mod data;
mod execute;
pub mod gather;
mod kept;
mod neighborhood;
pub mod nodes;
pub mod reduce;
pub mod reduce_scatter;
pub mod reduction;
pub mod report;
pub mod scan;
pub mod scatter;
pub mod schedule;
mod script;
pub mod select;
pub mod spreading;
pub mod table;
pub mod tree;
mod under_way;

pub use calls::{Calls, Form, Planned, Rooted};
pub use data::{Data, Many, Operands};
pub use kept::Arguments;
pub(crate) use kept::Plans;
pub use script::{Call, Side, Types};
pub(crate) use under_way::UnderWay;

#[cfg(test)]
mod tests;
