//! Requests: operations under way, and persistent ones (MPI 5.0, sections 3.7 and 3.9).

use postrider_os::memory::{OwnedMemory, UserMemory};

use super::Message;
use super::buffer::Buffer;
use super::buffered::BufferOwner;
use crate::collectives::{Planned, UnderWay};
use crate::communicators::Pending;
use crate::error::{Error, Result};
use crate::external::Generalized;
use crate::objects::Key;
use crate::one_sided::Fetch;
use crate::partitioned::Partitioned;

/// What a completed operation says of the message (`MPI_Status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The sender's rank, `MPI_PROC_NULL` or `MPI_ANY_SOURCE`.
    pub source: i32,
    /// The message's tag, or `MPI_ANY_TAG`.
    pub tag: i32,
    /// Bytes received.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
}

impl Status {
    /// The empty status (section 3.7.3): of a send, or of an inactive or null request.
    pub const EMPTY: Self = Self {
        source: postrider_abi::MPI_ANY_SOURCE,
        tag: postrider_abi::MPI_ANY_TAG,
        bytes: 0,
        cancelled: false,
    };
    /// The status of a receive from `MPI_PROC_NULL` (section 3.10).
    pub const PROC_NULL: Self = Self { source: postrider_abi::MPI_PROC_NULL, ..Self::EMPTY };
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What is known of the message.
    pub status: Status,
    /// What went wrong, if anything.
    pub error: Option<Error>,
}

impl Completion {
    /// A good end.
    #[must_use]
    pub fn good(status: Status) -> Self {
        Self { status, error: None }
    }

    /// The status, or the error.
    ///
    /// # Errors
    /// What went wrong with the operation.
    pub fn into_result(self) -> Result<Status> {
        self.error.map_or(Ok(self.status), Err)
    }
}

/// A request.
#[derive(Debug)]
pub struct Request {
    /// What is under way.
    pub(crate) work: Work,
    /// The communicator whose error handler an error goes to.
    pub(crate) communicator: Key,
    /// The user has freed the request: it goes away when it completes.
    pub(crate) orphan: bool,
}

impl Request {
    /// The request of sends that were complete when they were started.
    pub(crate) fn sent() -> Self {
        let work = Work::Done(Completion::good(Status::EMPTY));
        Self { work, communicator: crate::State::WORLD, orphan: false }
    }
}

/// What a request stands for.
#[derive(Debug)]
pub(crate) enum Work {
    /// It has ended.
    Done(Completion),
    /// A send whose message, or part of it, is still here.
    Send(Sending),
    /// A receive.
    Receive(Receiving),
    /// Messages in an attached buffer that are to be gone (`MPI_Comm_iflush_buffer`).
    Flush(BufferOwner),
    /// A receive and a send that complete together, with the memory of a send from a buffer that is replaced.
    Both { receive: Key, send: Key, memory: Option<OwnedMemory> },
    /// A duplicate of a communicator, which can be used when this completes (`MPI_Comm_idup`).
    Duplicate(Box<Pending>),
    /// A collective operation; none while a thread lets it go on.
    Collective(Option<Box<UnderWay>>),
    /// An operation of the program's own (section 13.2).
    Generalized { callbacks: Box<Generalized>, complete: bool },
    /// A partitioned send or receive (chapter 4).
    Partitioned(Box<Partitioned>),
    /// A one-sided operation; none if it brings nothing back.
    Access(Option<Box<Fetch>>),
    /// A persistent operation, which starts others.
    Persistent(Box<Persistent>),
}

/// A send under way.
#[derive(Debug)]
pub(crate) struct Sending {
    pub peer: u32,
    pub tag: i32,
    pub context: u64,
    /// The whole message, packed, if it was announced.
    pub memory: UserMemory,
    pub bytes: u64,
    /// Keeps `memory` alive when the message had to be packed.
    pub packed: Option<OwnedMemory>,
    /// Where in the ring its announcement begins.
    pub announced_at: Option<u64>,
    /// Whether the receiver has agreed to take it: too late to cancel.
    pub matched: bool,
}

/// A receive under way.
#[derive(Debug)]
pub(crate) struct Receiving {
    pub buffer: Buffer,
    pub context: u64,
    /// Envelope and length, once matched.
    pub matched: Option<Status>,
    /// Bytes of an announced message that are there, in pieces or written by the sender.
    pub arrived: u64,
    /// The card that invites its sender to write it.
    pub card: Option<usize>,
}

/// A persistent request (section 3.9).
#[derive(Debug)]
pub(crate) struct Persistent {
    pub template: Template,
    pub active: Active,
}

/// Where a persistent request is.
#[derive(Debug)]
pub(crate) enum Active {
    No,
    Ended(Completion),
    Under(Key),
}

/// What a persistent request starts.
#[derive(Clone, Debug)]
pub enum Template {
    /// `MPI_Send_init` and its modes.
    Send(Message, super::Mode),
    /// `MPI_Recv_init`.
    Receive(Message),
    /// `MPI_Barrier_init` and the like.
    Collective(Planned),
}
