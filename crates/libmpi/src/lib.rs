//! `libmpi_abi.so.1`: the C names of the MPI standard, one file per chapter.
//!
//! Every function is the same three steps: parse the C arguments (`parse`, where all validation of pointers and handles
//! lives), call the engine, and turn its result into a return code (`errors`, where error handlers are applied). The
//! `mpi!` macro writes the rest: the exported names, the large-count twins, and the note on the job's board that says
//! which call this process is in. `library` is this process's one instance, its beginning and its end.
//!
//! Unsafe code is in `mpi_macro`, `parse` and `callbacks` only.
#![deny(unsafe_code)]

#[macro_use]
mod mpi_macro;

mod caching;
#[allow(unsafe_code)]
mod callbacks;
mod collectives;
mod communicators;
mod datatypes;
mod environment;
mod error_handlers;
mod errors;
mod external;
mod info;
mod io;
mod joining;
#[allow(unsafe_code)]
mod language_bindings;
mod library;
#[cfg(feature = "mpich")]
#[allow(unsafe_code)]
mod mpich;
mod one_sided;
mod operations;
#[allow(unsafe_code)]
mod parse;
mod partitioned;
mod point_to_point;
mod processes;
mod sessions;
mod statuses;
mod tables;
mod tools;
mod topologies;
use library::instance;
