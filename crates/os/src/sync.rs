//! Atomics and fences, from the core library or from loom: the lock-free rooms of this crate take theirs from here,
//! so that `cargo test --cfg loom` explores every interleaving of the very same code.

pub use std::sync::atomic::fence;
