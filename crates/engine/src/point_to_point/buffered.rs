//! Buffered sends (MPI 5.0, section 3.6): the buffer that the user attaches to the process, to a session or to a communicator.
//!
//! A send uses the buffer of its communicator, else that of the session which the communicator comes from, else the process's.
//!
//! Messages are kept in memory of our own; the attached buffer only says how much of it there may be, each message
//! counted with `MPI_BSEND_OVERHEAD`. So a program that attached enough never fails, and one that did not is told.

use std::collections::VecDeque;

use postrider_abi::{MPI_BOTTOM, MPI_BSEND_OVERHEAD, MPI_ERR_ARG, MPI_ERR_BUFFER};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::Message;
use super::buffer::Buffer;
use super::request::Work;
use crate::communicators::Route;
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::{Instance, State};

/// What a buffer is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferOwner {
    /// The process.
    Process,
    /// A session.
    Session(Key),
    /// A communicator.
    Communicator(Key),
}

/// An attached buffer.
#[derive(Debug)]
pub(crate) struct Attached {
    /// What the user attached: given back at detach. Address and size in bytes.
    pub address: usize,
    pub bytes: i64,
    /// Whether we provide as much as it takes (`MPI_BUFFER_AUTOMATIC`).
    pub automatic: bool,
    /// Messages that are not gone yet, oldest first, with the memory they lie in.
    pending: VecDeque<(Key, OwnedMemory)>,
}

impl Attached {
    fn used(&self) -> i64 {
        self.pending.iter().map(|(_, memory)| charge(memory.len())).sum()
    }
}

fn charge(bytes: usize) -> i64 {
    bytes as i64 + i64::from(MPI_BSEND_OVERHEAD)
}

impl State {
    fn attached(&mut self, owner: BufferOwner) -> Result<&mut Option<Attached>> {
        Ok(match owner {
            BufferOwner::Process => &mut self.attached,
            BufferOwner::Session(session) => &mut self.sessions.get_mut(session)?.attached,
            BufferOwner::Communicator(communicator) => {
                &mut self.communicators.get_mut(communicator)?.attached
            }
        })
    }

    /// Whose buffer the sends of a communicator use.
    fn buffer_owner(&self, communicator: Key) -> Result<BufferOwner> {
        let found = self.communicators.get(communicator)?;
        if found.attached.is_some() {
            return Ok(BufferOwner::Communicator(communicator));
        }
        let has_buffer = |key: &Key| self.sessions.get(*key).is_ok_and(|session| session.attached.is_some());
        Ok(found.session.filter(has_buffer).map_or(BufferOwner::Process, BufferOwner::Session))
    }

    /// Attaches a buffer (`MPI_Buffer_attach`, `MPI_Comm_attach_buffer`).
    ///
    /// # Errors
    /// When one is attached already, the size is negative, or a null pointer has a size.
    pub fn attach_buffer(
        &mut self,
        owner: BufferOwner,
        address: usize,
        bytes: i64,
        automatic: bool,
    ) -> Result<()> {
        if bytes < 0 {
            return Err(Error::new(MPI_ERR_ARG, format!("a buffer of {bytes} bytes cannot be attached")));
        }
        if address == MPI_BOTTOM && bytes > 0 {
            return Err(Error::new(MPI_ERR_BUFFER, "the buffer to be attached is a null pointer"));
        }
        let attached = self.attached(owner)?;
        if attached.is_some() {
            return Err(Error::new(MPI_ERR_BUFFER, "a buffer is attached already; detach it first"));
        }
        *attached = Some(Attached { address, bytes, automatic, pending: VecDeque::new() });
        Ok(())
    }

    pub(super) fn send_buffered(&mut self, route: Route, message: &Message) -> Result<()> {
        let owner = self.buffer_owner(route.communicator)?;
        self.drop_sent(owner)?;
        let needed = charge(message.buffer.bytes() as usize);
        let Some(attached) = self.attached(owner)? else {
            return Err(Error::new(
                MPI_ERR_BUFFER,
                "a buffered send needs an attached buffer (MPI_Buffer_attach)",
            ));
        };
        let free = attached.bytes - attached.used();
        if !attached.automatic && needed > free {
            let detail = format!(
                "the buffered send needs {needed} bytes (MPI_BSEND_OVERHEAD included), the attached buffer of {} has {free} free",
                attached.bytes
            );
            return Err(Error::new(MPI_ERR_BUFFER, detail));
        }
        let mut memory = message.buffer.pack();
        let packed = Buffer::dense(UserMemory::of(&mut memory), message.buffer.bytes());
        if let Some(request) = self.post_send(route, message.tag, &packed, false)?
            && let Some(attached) = self.attached(owner)?
        {
            attached.pending.push_back((request, memory));
        }
        Ok(())
    }

    /// Forgets the messages that are gone.
    fn drop_sent(&mut self, owner: BufferOwner) -> Result<()> {
        let Some(attached) = self.attached(owner)? else { return Ok(()) };
        let mut pending = std::mem::take(&mut attached.pending);
        let mut failed = None;
        pending.retain(|(request, _)| match self.is_complete(*request) {
            Ok(true) => {
                failed = self.retrieve(0, *request).ok().and_then(|outcome| outcome.completion.error);
                false
            }
            Ok(false) => true,
            Err(_) => false,
        });
        if let Some(attached) = self.attached(owner)? {
            attached.pending = pending;
        }
        failed.map_or(Ok(()), Err)
    }

    pub(super) fn buffer_is_flushed(&self, owner: BufferOwner) -> bool {
        let attached = match owner {
            BufferOwner::Process => self.attached.as_ref(),
            BufferOwner::Session(key) => self.sessions.get(key).ok().and_then(|s| s.attached.as_ref()),
            BufferOwner::Communicator(key) => {
                self.communicators.get(key).ok().and_then(|c| c.attached.as_ref())
            }
        };
        let sent = |(request, _): &(Key, OwnedMemory)| self.is_complete(*request).unwrap_or(true);
        attached.is_none_or(|attached| attached.pending.iter().all(sent))
    }

    /// A request that completes when all messages of the buffer are gone (`MPI_Buffer_iflush`).
    ///
    /// # Errors
    /// When there is no such communicator.
    pub fn iflush_buffer(&mut self, owner: BufferOwner) -> Result<Key> {
        self.attached(owner)?;
        let communicator = match owner {
            BufferOwner::Communicator(key) => key,
            BufferOwner::Process | BufferOwner::Session(_) => Self::SELF,
        };
        self.insert_request(communicator, Work::Flush(owner))
    }

    pub(crate) fn has_buffered_messages(&self) -> bool {
        let communicators = self.communicators.iter().map(|(key, _)| BufferOwner::Communicator(key));
        let sessions = self.sessions.iter().map(|(key, _)| BufferOwner::Session(key));
        let mut owners = std::iter::once(BufferOwner::Process).chain(communicators).chain(sessions);
        owners.any(|owner| !self.buffer_is_flushed(owner))
    }
}

impl Instance {
    /// Waits until all messages of the buffer are gone (`MPI_Buffer_flush`).
    ///
    /// # Errors
    /// When there is no such communicator.
    pub fn flush_buffer(&self, owner: BufferOwner) -> Result<()> {
        let mut state = self.lock();
        state.attached(owner)?;
        self.wait_until(state, |state| state.buffer_is_flushed(owner).then(|| state.drop_sent(owner)))
    }

    /// Waits until all messages of the buffer are gone and detaches it: address and size as they were attached; none when
    /// no buffer was attached.
    ///
    /// # Errors
    /// When there is no such communicator.
    pub fn detach_buffer(&self, owner: BufferOwner) -> Result<Option<(usize, i64, bool)>> {
        self.flush_buffer(owner)?;
        self.with(|state| {
            let attached = state.attached(owner)?.take();
            Ok(attached.map(|attached| (attached.address, attached.bytes, attached.automatic)))
        })
    }
}
