//! One-sided communication (MPI 5.0, chapter 12).
//!
//! [`window`] is the object, `create` makes and frees it. `epoch` and `lock_queue` know what is allowed when, and `operation` what
//! travels; they are pure. `origin` starts operations, or `plain`, which most are, `transfer` has them under way, `target` does them where the memory is, whenever that process makes
//! progress, and `synchronize` is everything that waits. [`helper`](crate::helper) makes progress where the program does not.
//!
//! Memory that a window has of its own is a segment that all its processes map, if they are on one host (`shared`); then the
//! origin does everything itself (`direct`), and there are neither packets nor a helper.

mod create;
mod direct;
mod epoch;
mod lock_queue;
mod operation;
mod origin;
mod plain;
mod shared;
mod synchronize;
mod target;
mod transfer;
pub mod window;

pub use create::NewWindow;
pub use lock_queue::LockKind;
pub use operation::Combination;
pub use origin::{Origin, Target};
pub use plain::Run;
pub(crate) use transfer::{Fetch, Parcel};
pub use window::{Fact, Flavor, Window};
