//! The short way of short messages.
//!
//! A blocking send of bytes to a rank whose ring has room, and a blocking receive of bytes that nobody else waits for, need
//! no request, no queue and no search; nor do both at once (`MPI_Sendrecv`), or the one receive in a round of a collective operation. They
//! are tried here first; whatever is unusual about a call, its arguments or the moment is left to the general way, which
//! also says what is wrong with it.
//!
//! A short receive leaves a [`Landing`] in the state, where the protocol puts the first fitting message if it comes
//! whole. Order is kept: a landing is made only while its context has no posted receive and no held message, and it is
//! taken away as soon as any other packet for the context arrives.

use postrider_abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use postrider_os::memory::UserMemory;

use super::matching::{Envelope, Pattern};
use super::request::Status;
use crate::communicators::Space;
use crate::objects::Key;
use crate::transports::Body;
use crate::transports::wire::{Header, Kind};
use crate::{Instance, State};

/// Where the message of a short receive is to land.
#[derive(Debug)]
pub(crate) struct Landing {
    context: u64,
    pattern: Pattern,
    memory: UserMemory,
    room: usize,
    landed: Option<Status>,
}

/// A send or a receive of plain bytes.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    /// The bytes.
    pub memory: UserMemory,
    /// How many.
    pub bytes: u64,
    /// The other side's rank.
    pub peer: i32,
    /// The tag.
    pub tag: i32,
    /// The communicator.
    pub communicator: Key,
}

impl State {
    #[inline]
    fn send_short(&mut self, short: &Short) -> bool {
        let Ok(found) = self.communicators.get(short.communicator) else { return false };
        let Some(process) = u32::try_from(short.peer).ok().and_then(|rank| found.peers().process(rank))
        else {
            return false;
        };
        let peer = process.0;
        let header = Header {
            kind: Kind::Eager,
            context: found.context(),
            source: found.rank,
            tag: short.tag,
            words: [0; 3],
        };
        let sent = short.tag >= 0
            && peer != self.own
            && self.outgoing[peer as usize].is_empty()
            && self.transport.send_short(peer, &header, short.memory, short.bytes);
        if sent {
            self.counters.sent(short.bytes);
        }
        sent
    }

    #[inline]
    fn prepare_landing(&mut self, short: &Short) -> bool {
        let Ok(found) = self.communicators.get(short.communicator) else { return false };
        let (wild, context) = (short.peer == MPI_ANY_SOURCE, found.context());
        if !wild && (short.peer < 0 || short.peer as u32 >= found.peers().size()) {
            return false;
        }
        if short.tag < 0 && short.tag != MPI_ANY_TAG {
            return false;
        }
        let pattern = Pattern {
            source: (!wild).then_some(short.peer as u32),
            tag: (short.tag != MPI_ANY_TAG).then_some(short.tag),
        };
        self.expect(context, pattern, short.memory, short.bytes as usize)
    }

    /// Makes a landing, unless something is in the context's queues already.
    #[inline]
    pub(crate) fn expect(&mut self, context: u64, pattern: Pattern, memory: UserMemory, room: usize) -> bool {
        let possible = self.collectives.is_empty() && self.matching.is_idle(context);
        if possible {
            self.landing = Some(Landing { context, pattern, memory, room, landed: None });
        }
        possible
    }

    /// Makes progress until the expected message has landed, for so many looks. Afterwards there is no landing.
    #[inline]
    pub(crate) fn await_landing(&mut self, looks: u32) -> Option<Status> {
        for _ in 0..looks {
            // What goes wrong here goes wrong again, and is told, on the general way.
            let failed = self.progress().is_err();
            match &self.landing {
                Some(Landing { landed: None, .. }) if !failed => {}
                Some(Landing { landed, .. }) => {
                    let landed = *landed;
                    self.landing = None;
                    return landed;
                }
                None => return None,
            }
        }
        self.landing = None;
        None
    }

    /// A packet has arrived while a short receive waits: true when it was its message.
    #[inline]
    pub(crate) fn land(&mut self, header: &Header, body: &Body) -> bool {
        let Some(landing) = &mut self.landing else { return false };
        if landing.context != header.context || landing.landed.is_some() {
            return false;
        }
        let envelope = Envelope { source: header.source, tag: header.tag };
        if let Body::Memory(from, bytes) = *body
            && header.kind == Kind::Eager
            && (bytes == landing.room || bytes < landing.room && !Space::Collective.has(landing.context))
            && landing.pattern.fits(envelope)
        {
            from.copy_to(landing.memory, bytes);
            let (source, tag) = (envelope.source as i32, envelope.tag);
            landing.landed = Some(Status { source, tag, bytes: bytes as u64, cancelled: false });
            self.counters.received(bytes as u64);
            return true;
        }
        self.landing = None;
        false
    }
}

impl Instance {
    /// Sends at once if nothing stands against it; else nothing has happened.
    #[inline]
    pub fn send_short(&self, short: &Short) -> bool {
        self.lock().send_short(short)
    }

    /// Whether receives may take the short way: the thread keeps the lock while it looks.
    #[inline]
    pub(crate) fn expects(&self) -> bool {
        !self.facts.threads.meet() && self.spins()
    }

    /// Receives if the message comes within the time of a few looks; else nothing has happened.
    #[inline]
    pub fn receive_short(&self, short: &Short) -> Option<Status> {
        if !self.expects() {
            return None;
        }
        let mut state = self.lock();
        if state.prepare_landing(short) { state.await_landing(self.looks()) } else { None }
    }

    /// Sends and receives.
    #[inline]
    pub fn exchange_short(&self, send: &Short, receive: &Short) -> Exchanged {
        if !self.expects() {
            return Exchanged::Nothing;
        }
        let mut state = self.lock();
        if !state.prepare_landing(receive) {
            return Exchanged::Nothing;
        }
        if !state.send_short(send) {
            state.landing = None;
            return Exchanged::Nothing;
        }
        state.await_landing(self.looks()).map_or(Exchanged::Sent, Exchanged::Both)
    }
}

/// What [`Instance::exchange_short`] has done.
#[derive(Clone, Copy, Debug)]
pub enum Exchanged {
    /// Neither.
    Nothing,
    /// The message is sent; the one to receive has not come yet.
    Sent,
    /// Both, and this came.
    Both(Status),
}
