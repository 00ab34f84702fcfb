//! Everything unsafe about the system, behind safe calls: shared memory, futex, files, processes.
//!
//! This crate knows the operating system and nothing of MPI. See ARCHITECTURE.md, "The floors".

#[cfg(not(loom))]
pub mod bell;
#[cfg(not(loom))]
pub mod bridge;
pub mod clock;
pub mod error;
pub mod file;
pub mod gate;
pub mod hall;
pub mod handover;
pub mod hosts;
pub mod intake;
pub mod invitation;
#[cfg(not(loom))]
pub mod job;
pub mod launch;
pub mod link;
pub mod long_double;
#[cfg(not(loom))]
pub mod mapping;
pub mod memory;
pub mod mutex;
pub mod next;
pub mod packet;
pub mod parcel;
#[cfg(not(loom))]
pub mod port;
pub mod process;
#[cfg(not(loom))]
pub mod rest;
pub mod ring;
#[cfg(not(loom))]
pub mod shared_memory;
pub mod shelf;
pub mod standing;
pub mod sync;
#[cfg(target_arch = "x86_64")]
pub mod traced;
pub mod wait;
