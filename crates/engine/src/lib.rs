//! MPI semantics in safe Rust.
#![forbid(unsafe_code)]

pub mod collectives;
pub mod communicators;
pub mod error;
