//! Groups, contexts, communicators (MPI 5.0, chapter 7); caching has a file of its own.

mod accessors;
mod constructors;
pub mod groups;

pub use accessors::read;
