//! Everything unsafe about the system, behind safe calls: shared memory, futex, files, processes.
//!
//! This crate knows the operating system and nothing of MPI. See ARCHITECTURE.md, "The floors".

pub mod long_double;
pub mod memory;
