//! One-sided communication (MPI 5.0, chapter 12).
//!
//! [`window`] is the object, `create` makes and frees it. `epoch` and `lock_queue` know what is allowed when, and `operation` what
//! travels; they are pure. `origin` starts operations, `target` does them where the memory is, whenever that process makes
//! progress, and `synchronize` is everything that waits. `helper` makes progress where the program does not.

mod create;
mod epoch;
mod helper;
mod lock_queue;
mod operation;
mod origin;
mod synchronize;
mod target;
pub mod window;

pub use create::NewWindow;
pub use lock_queue::LockKind;
pub(crate) use origin::{Fetch, Parcel};
pub use origin::{Origin, Target};
pub use window::{Fact, Flavor, Window};
