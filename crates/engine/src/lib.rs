//! MPI semantics in safe Rust.
#![forbid(unsafe_code)]

pub mod error;
