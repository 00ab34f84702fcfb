//! Groups, contexts, communicators and caching (MPI 5.0, chapter 7).

pub mod group;
