//! The application binary interface (ABI) of the MPI 5.0 standard, as facts: types, constants, and the tables of
//! predefined datatypes and operations. Nothing here runs, allocates or calls anything.
//!
//! Chapter 20 of the standard fixes the representation of handles, of `MPI_Status` and of every constant, so that a
//! program compiled once runs with any library that has this ABI. This crate is the only place of the project that
//! knows that representation: everything above speaks of handles and constants by name. The feature `mpich` chooses
//! another representation, that of `libmpi.so.12`: the files in `mpich/`. With it `libmpi` is built a second time.
//!
//! The names are those of the C header, `include/mpi.h`, on purpose: whoever knows MPI finds them by the standard's
//! index. A test compiles a C program against that header and compares every value with the one here.
//!
//! Addresses with a special meaning (`MPI_BOTTOM`, `MPI_STATUS_IGNORE`, `MPI_COMM_DUP_FN` and the like) are `usize`
//! here and not pointers: they are only ever compared with an argument's address, and never followed.

#![no_std]
#![forbid(unsafe_code)]
#![allow(non_camel_case_types)]

#[cfg(not(feature = "mpich"))]
pub mod constants;
#[cfg(feature = "mpich")]
mod mpich;
pub mod predefined;
#[cfg(not(feature = "mpich"))]
mod standard;
pub mod types;

#[cfg(feature = "mpich")]
use mpich::representation;
#[cfg(not(feature = "mpich"))]
use standard as representation;

pub use constants::*;
#[cfg(feature = "mpich")]
pub use mpich::constants;
pub use types::*;
