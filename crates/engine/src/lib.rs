//! MPI semantics in safe Rust.
#![forbid(unsafe_code)]

pub mod datatypes;
pub mod error;
pub mod operations;
