//! Point-to-point communication (MPI 5.0, chapter 3).
//!
//! [`matching`] decides which receive gets which message, `protocol` moves the bytes, `invitations` where their receiver computes, [`request`] keeps what is under way,
//! `buffered` serves buffered sends, `multicast` gives one message to several, and `calls` are the operations themselves, as methods of the instance.

pub mod buffer;
mod buffered;
mod calls;
mod completion;
mod invitations;
pub mod matching;
mod multicast;
mod pool;
mod protocol;
pub mod request;
mod short;

pub use buffer::Buffer;
pub(crate) use buffered::Attached;
pub use buffered::BufferOwner;
pub(crate) use calls::no_such_rank;
pub use calls::{MatchedMessage, Mode, NullMessage, TAG_MAX};
pub use completion::{Found, Outcome, Want};
pub(crate) use invitations::Unmatched;
pub(crate) use pool::Pool;
pub(crate) use protocol::{Announced, Arrived, Outgoing, received};
pub(crate) use request::Work;
pub use request::{Completion, Request, Status, Template};
pub use short::{Exchanged, Short};
pub(crate) use short::{Landing, Landings};

use crate::objects::Key;

/// The arguments of a send or a receive.
#[derive(Clone, Debug)]
pub struct Message {
    /// The data.
    pub buffer: Buffer,
    /// The other side: a rank of the communicator, `MPI_PROC_NULL` or, to receive, `MPI_ANY_SOURCE`.
    pub peer: i32,
    /// The tag or, to receive, `MPI_ANY_TAG`.
    pub tag: i32,
    /// The communicator.
    pub communicator: Key,
}
