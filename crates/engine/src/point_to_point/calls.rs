//! The operations of point-to-point communication, as methods of the state and the instance.
//!
//! Ranks and tags are checked here. A message to or from `MPI_PROC_NULL` is complete at once (MPI 5.0, section 3.10).

use postrider_abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_RANK, MPI_ERR_TAG, MPI_PROC_NULL};

use postrider_os::memory::{OwnedMemory, UserMemory};

use super::completion::not_startable;
use super::matching::{Envelope, Pattern};
use super::protocol::Arrived;
use super::request::{Active, Completion, Persistent, Receiving, Status, Template, Work};
use super::{Buffer, Message};
use crate::error::{Error, RaisedOn, Result};
use crate::objects::Key;
use crate::transports::shared_memory::EAGER_BYTES_MAX;
use crate::{Instance, State};

/// The four send modes (section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Complete when the buffer may be used again.
    Standard,
    /// The receive is posted already. Here the same as standard.
    Ready,
    /// Complete when the receive has started.
    Synchronous,
    /// Complete at once: the message goes into the attached buffer.
    Buffered,
}

/// A message that a matched probe has taken out of the queues (section 3.8.2).
#[derive(Debug)]
pub struct MatchedMessage {
    communicator: Key,
    context: u64,
    envelope: Envelope,
    arrived: Arrived,
}

/// What a matched probe of `MPI_PROC_NULL` finds: `MPI_MESSAGE_NO_PROC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullMessage {
    /// A message of this key.
    Real(Key),
    /// The message that a receive from `MPI_PROC_NULL` would get.
    NoProcess,
}

/// The greatest tag (`MPI_TAG_UB`).
pub const TAG_MAX: i32 = i32::MAX;

fn check_send_tag(tag: i32) -> Result<()> {
    if tag < 0 {
        return Err(Error::new(MPI_ERR_TAG, format!("tag {tag} is not in 0..={TAG_MAX}")));
    }
    Ok(())
}

fn status_of(envelope: Envelope, arrived: &Arrived) -> Status {
    Status { source: envelope.source as i32, tag: envelope.tag, bytes: arrived.bytes, cancelled: false }
}

impl State {
    /// Starts a send; none when it is complete at once.
    ///
    /// # Errors
    /// Rank, tag or communicator wrong; no room in the attached buffer; refused by the transport.
    #[inline]
    pub fn start_send(&mut self, message: &Message, mode: Mode) -> Result<Option<Key>> {
        check_send_tag(message.tag)?;
        let Some(route) = self.route(message.communicator, message.peer)? else { return Ok(None) };
        match mode {
            Mode::Buffered => self.send_buffered(route, message).map(|()| None),
            _ => self.post_send(route, message.tag, &message.buffer, mode == Mode::Synchronous),
        }
    }

    /// Starts a send and returns its request, complete or not.
    ///
    /// # Errors
    /// As [`State::start_send`].
    pub fn isend(&mut self, message: &Message, mode: Mode) -> Result<Key> {
        Ok(self.start_send(message, mode)?.unwrap_or(Self::SENT))
    }

    /// What a receive or probe with this source and tag asks for; none for `MPI_PROC_NULL`.
    fn pattern(&self, communicator: Key, source: i32, tag: i32) -> Result<Option<(u64, Pattern)>> {
        let found = self.communicators.get(communicator)?;
        if tag < 0 && tag != MPI_ANY_TAG {
            return Err(Error::new(
                MPI_ERR_TAG,
                format!("tag {tag} is neither MPI_ANY_TAG nor in 0..={TAG_MAX}"),
            ));
        }
        let source = match source {
            MPI_PROC_NULL => return Ok(None),
            MPI_ANY_SOURCE => None,
            rank => {
                found.peer(rank)?;
                Some(rank as u32)
            }
        };
        Ok(Some((found.context(), Pattern { source, tag: (tag != MPI_ANY_TAG).then_some(tag) })))
    }

    /// Starts a receive and returns its request.
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    #[inline]
    pub fn irecv(&mut self, message: Message) -> Result<Key> {
        match self.pattern(message.communicator, message.peer, message.tag)? {
            Some((context, pattern)) => {
                let is_long = message.buffer.bytes() > EAGER_BYTES_MAX as u64;
                let key = self.post_receive(message.communicator, context, pattern, message.buffer)?;
                if is_long {
                    self.invite(key, message.communicator, context, pattern);
                }
                Ok(key)
            }
            None => {
                let done = Work::Done(Completion::good(Status::PROC_NULL));
                self.insert_request(message.communicator, done)
            }
        }
    }

    /// Looks for a message without receiving it (`MPI_Iprobe`, without progress).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn look_for_message(&self, communicator: Key, source: i32, tag: i32) -> Result<Option<Status>> {
        Ok(match self.pattern(communicator, source, tag)? {
            None => Some(Status::PROC_NULL),
            Some((context, pattern)) => {
                let found = self.matching.peek_unexpected(context, pattern);
                found.map(|(envelope, arrived)| status_of(envelope, arrived))
            }
        })
    }

    /// Remembers what a probe looks for that has not found it, for whoever asks for what this process waits.
    fn note_probe(&mut self, has_found: bool, communicator: Key, source: i32, tag: i32) {
        let sought = if has_found { None } else { self.pattern(communicator, source, tag).ok().flatten() };
        self.probed = sought;
    }

    /// Takes a message out of the queues without receiving it (`MPI_Improbe`, without progress).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn take_message(
        &mut self,
        communicator: Key,
        source: i32,
        tag: i32,
    ) -> Result<Option<(NullMessage, Status)>> {
        let Some((context, pattern)) = self.pattern(communicator, source, tag)? else {
            return Ok(Some((NullMessage::NoProcess, Status::PROC_NULL)));
        };
        // Once it is out of the queue it has to go somewhere.
        self.messages.check_room(1)?;
        let Some((envelope, arrived)) = self.matching.take_unexpected(context, pattern) else {
            return Ok(None);
        };
        let status = status_of(envelope, &arrived);
        let key = self.messages.insert(MatchedMessage { communicator, context, envelope, arrived })?;
        Ok(Some((NullMessage::Real(key), status)))
    }

    /// Receives a message that [`State::take_message`] took (`MPI_Imrecv`).
    ///
    /// # Errors
    /// When there is no such message.
    pub fn imrecv(&mut self, message: NullMessage, buffer: Buffer) -> Result<Key> {
        let NullMessage::Real(key) = message else {
            let done = Work::Done(Completion::good(Status::PROC_NULL));
            return self.insert_request(Self::WORLD, done);
        };
        self.requests.check_room(1)?;
        let MatchedMessage { communicator, context, envelope, arrived } = self.messages.remove(key)?;
        let receiving = Receiving { buffer, context, matched: None, arrived: 0, card: None };
        let key = self.insert_request(communicator, Work::Receive(receiving))?;
        self.take_over(key, envelope, arrived)?;
        Ok(key)
    }

    /// The communicator of a request, whose error handler an error goes to.
    ///
    /// # Errors
    /// When there is no such request.
    pub fn communicator_of(&self, key: Key) -> Result<Key> {
        Ok(self.requests.get(key)?.communicator)
    }

    /// The communicator of a message that [`State::take_message`] took, if there is one.
    #[must_use]
    pub fn communicator_of_message(&self, message: NullMessage) -> Option<Key> {
        match message {
            NullMessage::Real(key) => self.messages.get(key).ok().map(|message| message.communicator),
            NullMessage::NoProcess => None,
        }
    }

    /// Starts a send and a receive under one request (`MPI_Isendrecv`).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn isendrecv(&mut self, send: &Message, receive: Message) -> Result<Key> {
        self.start_both(send, receive, None)
    }

    /// The same with one buffer for both (`MPI_Isendrecv_replace`).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn isendrecv_replace(&mut self, send: &Message, receive: Message) -> Result<Key> {
        let mut memory = send.buffer.pack();
        let buffer = Buffer::dense(UserMemory::of(&mut memory), send.buffer.bytes());
        self.start_both(&Message { buffer, ..send.clone() }, receive, Some(memory))
    }

    fn start_both(&mut self, send: &Message, receive: Message, memory: Option<OwnedMemory>) -> Result<Key> {
        // All is checked first, so that a wrong rank or a full table leaves nothing behind.
        check_send_tag(send.tag)?;
        let route = self.route(send.communicator, send.peer)?;
        self.pattern(receive.communicator, receive.peer, receive.tag)?;
        self.requests.check_room(3)?;
        let communicator = receive.communicator;
        let (receive, send) = if route.is_some_and(|route| self.announces(route.peer, send.buffer.bytes())) {
            let send = self.crossing(|state| state.isend(send, Mode::Standard))?;
            (self.irecv(receive)?, send)
        } else {
            (self.irecv(receive)?, self.isend(send, Mode::Standard)?)
        };
        self.insert_request(communicator, Work::Both { receive, send, memory })
    }

    /// Makes a persistent request (section 3.9). Arguments are checked now.
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn persistent(&mut self, template: Template) -> Result<Key> {
        let communicator = match &template {
            Template::Send(message, _) => {
                check_send_tag(message.tag)?;
                self.route(message.communicator, message.peer)?;
                message.communicator
            }
            Template::Receive(message) => {
                self.pattern(message.communicator, message.peer, message.tag)?;
                message.communicator
            }
            Template::Collective(planned) => planned.communicator(),
        };
        let persistent = Persistent { template, active: Active::No };
        let request = self.insert_request(communicator, Work::Persistent(Box::new(persistent)))?;
        self.persistent += 1;
        Ok(request)
    }

    /// Starts a persistent request.
    fn start(&mut self, key: Key) -> Result<()> {
        let template = match &self.requests.get(key)?.work {
            Work::Persistent(persistent) => match persistent.active {
                Active::No => persistent.template.clone(),
                Active::Ended(_) | Active::Under(_) => return Err(not_startable("is active")),
            },
            Work::Partitioned(partitioned) if partitioned.is_active() => {
                return Err(not_startable("is active"));
            }
            Work::Partitioned(_) => return self.start_partitioned(key),
            _ => return Err(not_startable("is not persistent")),
        };
        let active = match template {
            Template::Send(message, mode) => match self.start_send(&message, mode)? {
                Some(inner) => Active::Under(inner),
                None => Active::Ended(Completion::good(Status::EMPTY)),
            },
            Template::Receive(message) => Active::Under(self.irecv(message)?),
            Template::Collective(planned) => Active::Under(self.start_collective(planned)?),
        };
        if let Work::Persistent(persistent) = &mut self.requests.get_mut(key)?.work {
            persistent.active = active;
        }
        Ok(())
    }
}

impl Instance {
    /// Starts persistent requests in order (`MPI_Start`, `MPI_Startall`).
    ///
    /// # Errors
    /// When one is not persistent, or is active; or what starting the operation finds wrong.
    pub fn start(&self, keys: impl IntoIterator<Item = Key>) -> Result<()> {
        let mut state = self.lock();
        let before = state.completions;
        let started = keys.into_iter().try_for_each(|key| {
            state.start(key).map_err(|error| match state.communicator_of(key) {
                Ok(communicator) => error.on(RaisedOn::Communicator(communicator)),
                Err(_) => error,
            })
        });
        state = self.advance(state);
        self.wake_others(&state, before);
        started
    }

    /// Waits until a message is there that fits, and leaves it there (`MPI_Probe`).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn probe(&self, communicator: Key, source: i32, tag: i32) -> Result<Status> {
        self.wait_until(self.lock(), |state| {
            let found = state.look_for_message(communicator, source, tag).transpose();
            state.note_probe(found.is_some(), communicator, source, tag);
            found
        })
    }

    /// Waits until a message is there that fits, and takes it out of the queues (`MPI_Mprobe`).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn mprobe(&self, communicator: Key, source: i32, tag: i32) -> Result<(NullMessage, Status)> {
        self.wait_until(self.lock(), |state| {
            let found = state.take_message(communicator, source, tag).transpose();
            state.note_probe(found.is_some(), communicator, source, tag);
            found
        })
    }

    /// Sends one message and receives another, whichever can go first (`MPI_Sendrecv`).
    ///
    /// # Errors
    /// What is wrong with the arguments, or when waiting fails.
    pub fn sendrecv(
        &self,
        parse: impl FnOnce(&mut State) -> Result<(Message, Message)>,
    ) -> Result<Completion> {
        self.blocking(|state| {
            let (send, receive) = parse(state)?;
            state.isendrecv(&send, receive).map(Some)
        })
    }

    /// The same with one buffer for both (`MPI_Sendrecv_replace`).
    ///
    /// # Errors
    /// As [`Instance::sendrecv`].
    pub fn sendrecv_replace(
        &self,
        parse: impl FnOnce(&mut State) -> Result<(Message, Message)>,
    ) -> Result<Completion> {
        self.blocking(|state| {
            let (send, receive) = parse(state)?;
            state.isendrecv_replace(&send, receive).map(Some)
        })
    }
}

/// The error for a rank that the communicator does not have.
pub(crate) fn no_such_rank(rank: i32, size: u32) -> Error {
    Error::new(
        MPI_ERR_RANK,
        format!("rank {rank} is not in the communicator, which has ranks 0 to {}", size - 1),
    )
}
