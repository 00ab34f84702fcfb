//! What the lock-free rooms of this crate, `ring` and `wait`, stand on: atomics, fences and the futex.
//!
//! They take all of these from here and from nowhere else (clippy.toml bans the others), so that the very same code runs
//! on the machine and, compiled with `--cfg loom`, under a model checker that explores every interleaving and every value
//! which the memory model allows a load to see:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p postrider-os --release loom
//! ```
//!
//! Under loom the rooms that need real shared memory are left out.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod system;

#[cfg(loom)]
pub use model::*;
#[cfg(not(loom))]
pub use system::*;
