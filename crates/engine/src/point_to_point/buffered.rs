//! Buffered sends (MPI 5.0, section 3.6): the buffer that the user attaches to the process or to a communicator.
//!
//! Messages are kept in memory of our own; the attached buffer only says how much of it there may be, each message
//! counted with `MPI_BSEND_OVERHEAD`. So a program that attached enough never fails, and one that did not is told.

use std::collections::VecDeque;

use postrider_abi::{MPI_BSEND_OVERHEAD, MPI_ERR_BUFFER};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::Message;
use super::buffer::Buffer;
use super::request::Work;
use crate::communicators::Route;
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::{Instance, State};

/// What a buffer is attached to: the process (none) or a communicator.
pub type BufferOwner = Option<Key>;

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
            None => &mut self.attached,
            Some(communicator) => &mut self.communicators.get_mut(communicator)?.attached,
        })
    }

    /// Attaches a buffer (`MPI_Buffer_attach`, `MPI_Comm_attach_buffer`).
    ///
    /// # Errors
    /// When one is attached already, or the size is negative.
    pub fn attach_buffer(
        &mut self,
        owner: BufferOwner,
        address: usize,
        bytes: i64,
        automatic: bool,
    ) -> Result<()> {
        if bytes < 0 {
            return Err(Error::new(MPI_ERR_BUFFER, format!("a buffer of {bytes} bytes cannot be attached")));
        }
        let attached = self.attached(owner)?;
        if attached.is_some() {
            return Err(Error::new(MPI_ERR_BUFFER, "a buffer is attached already; detach it first"));
        }
        *attached = Some(Attached { address, bytes, automatic, pending: VecDeque::new() });
        Ok(())
    }

    pub(super) fn send_buffered(&mut self, route: Route, message: &Message) -> Result<()> {
        let owner =
            self.communicators.get(route.communicator)?.attached.is_some().then_some(route.communicator);
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
            None => self.attached.as_ref(),
            Some(communicator) => self.communicators.get(communicator).ok().and_then(|c| c.attached.as_ref()),
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
        Ok(self.insert_request(owner.unwrap_or(Self::WORLD), Work::Flush(owner)))
    }

    pub(crate) fn has_buffered_messages(&self) -> bool {
        let keys: Vec<Key> = self.communicators.iter().map(|(key, _)| key).collect();
        !self.buffer_is_flushed(None) || keys.into_iter().any(|key| !self.buffer_is_flushed(Some(key)))
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
