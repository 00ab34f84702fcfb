//! MPI-IO (MPI 5.0, chapter 14) over any MPI library with the ABI that it is compiled for.
//!
//! Everything that concerns MPI goes through `client`: nothing here knows which library that is. Files are the system's,
//! without any lock of a file system; what processes share lives in a window of one-sided communication
//! ([0019](../../../docs/design/0019-io-over-any-mpi.md)).
//!
//! From above: `functions` lists the C functions, `calls` parses their arguments, `file` has open files, `transfer` moves
//! data, through `access` alone or through `collective` together. `view` says where bytes are, `shape` describes many of
//! them shortly, `layout` says how a datatype lies, `representation` what values look like, `pointer` is the shared file
//! pointer, `locks` says who may access which bytes in atomic mode, `disk` is the file itself.
//!
//! Error handlers are not here: they belong to whoever exports the functions.
#![deny(unsafe_code)]

mod access;
mod agreement;
#[allow(unsafe_code)]
pub mod arguments;
pub mod calls;
mod collective;
mod disk;
pub mod error;
pub mod file;
mod functions;
mod helpers;
mod hints;
mod line;
mod locks;
mod pointer;
mod report;
pub mod representation;
pub mod transfer;
mod view;

pub use postrider_client::{Mpi, loaded_after};

/// The library below.
///
/// # Errors
/// When there is none.
pub fn mpi() -> error::Result<Mpi> {
    Ok(Mpi::find()?)
}
