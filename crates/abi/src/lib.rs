//! The application binary interface (ABI) of the MPI 5.0 standard, as facts: types, constants, and the tables of
//! predefined datatypes and operations. Nothing here runs, allocates or calls anything.
//!
//! Chapter 20 of the standard fixes the representation of handles, of `MPI_Status` and of every constant, so that a
//! program compiled once runs with any library that has this ABI. This crate is the only place of the project that
//! knows that representation: everything above speaks of handles and constants by name. Another representation (say,
//! the one of `libmpi.so.12`) would be another set of files here, and another build of `libmpi`.
//!
//! The names are those of the C header, `include/mpi.h`, on purpose: whoever knows MPI finds them by the standard's
//! index. A test compiles a C program against that header and compares every value with the one here.
//!
//! Addresses with a special meaning (`MPI_BOTTOM`, `MPI_STATUS_IGNORE`, `MPI_COMM_DUP_FN` and the like) are `usize`
//! here and not pointers: they are only ever compared with an argument's address, and never followed.

#![no_std]
#![forbid(unsafe_code)]
#![allow(non_camel_case_types)]

pub mod constants;
pub mod predefined;
pub mod types;

pub use constants::*;
pub use types::*;
