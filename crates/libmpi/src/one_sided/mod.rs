//! One-sided communication (MPI 5.0, chapter 12).

mod operations;
mod synchronization;
mod windows;
