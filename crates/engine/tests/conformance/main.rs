//! One suite over every transport: what MPI promises of messages does not depend on how they travel.
//!
//! Each test is a program for N processes, which live in N threads of this one. [`worlds`] brings them to life on each
//! transport in turn, ends a hang with a dump of what every process waits for, and makes sure that nothing is left
//! behind. [`simulation`] runs random programs over a network that follows from a seed.

mod collectives;
mod completion;
mod kills;
mod multicast;
mod one_sided;
mod order;
mod partitioned;
mod post;
mod protocols;
mod simulation;
mod worlds;
