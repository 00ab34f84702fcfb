//! The short way of short messages.
//!
//! A blocking send of bytes to a rank whose ring has room, and a blocking receive of bytes that nobody else waits for, need
//! no request, no queue and no search; nor do both at once (`MPI_Sendrecv`), or the receives in a round of a collective operation. They
//! are tried here first; whatever is unusual about a call, its arguments or the moment is left to the general way, which
//! also says what is wrong with it.
//!
//! A short receive leaves a [`Landing`] in the state, where the protocol puts the first fitting message if it comes
//! whole. Order is kept: a landing is made only while its context has no posted receive and no held message that fits, and when a
//! fitting message comes that cannot land, none lands any more.

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing {
    /// The context of the message.
    pub context: u64,
    /// What fits.
    pub pattern: Pattern,
    /// Where it goes.
    pub memory: UserMemory,
    /// The bytes that there is room for.
    pub room: usize,
    landed: Option<Status>,
}

/// The landings of the receives that are awaited at once, in the order in which they would be posted.
#[derive(Debug, Default)]
pub(crate) struct Landings {
    all: Vec<Landing>,
    /// How many of them still wait for their message.
    open: usize,
}

impl Landings {
    /// Whether a message may land.
    #[inline]
    pub fn are_open(&self) -> bool {
        self.open > 0
    }

    /// Forgets those of earlier receives.
    #[inline]
    pub fn clear(&mut self) {
        self.all.clear();
        self.open = 0;
    }

    /// The first one from number `from` on whose message has not come, and its number.
    #[inline]
    pub fn missed(&self, from: usize) -> Option<(usize, Landing)> {
        let mut numbered = self.all.iter().enumerate().skip(from);
        numbered.find(|(_, landing)| landing.landed.is_none()).map(|(number, landing)| (number, *landing))
    }

    /// The status of the first one's message, if it has come.
    #[inline]
    fn first(&self) -> Option<Status> {
        self.all.first()?.landed
    }
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
        self.landings.clear();
        self.expect(context, pattern, short.memory, short.bytes as usize)
    }

    /// Makes one more landing, unless a receive is posted in the context or a message is held that fits.
    #[inline]
    pub(crate) fn expect(&mut self, context: u64, pattern: Pattern, memory: UserMemory, room: usize) -> bool {
        let possible = self.collectives.is_empty() && self.matching.is_next(context, pattern);
        if possible {
            self.landings.all.push(Landing { context, pattern, memory, room, landed: None });
            self.landings.open += 1;
        }
        possible
    }

    /// Makes progress until all that is expected has landed, for so many looks. Nothing lands afterwards.
    #[inline]
    pub(crate) fn await_landings(&mut self, looks: u32) {
        for _ in 0..looks {
            // What goes wrong here goes wrong again, and is told, on the general way.
            if !self.landings.are_open() || self.progress().is_err() {
                break;
            }
        }
        self.landings.open = 0;
    }

    /// A packet has arrived while short receives wait: true when it was the message of one.
    #[inline]
    pub(crate) fn land(&mut self, header: &Header, body: &Body) -> bool {
        let envelope = Envelope { source: header.source, tag: header.tag };
        let is_for = |landing: &&mut Landing| {
            landing.landed.is_none() && landing.context == header.context && landing.pattern.fits(envelope)
        };
        let Some(landing) = self.landings.all.iter_mut().find(is_for) else { return false };
        if let Body::Memory(from, bytes) = *body
            && header.kind == Kind::Eager
            && (bytes == landing.room || bytes < landing.room && !Space::Collective.has(landing.context))
        {
            from.copy_to(landing.memory, bytes);
            let (source, tag) = (envelope.source as i32, envelope.tag);
            landing.landed = Some(Status { source, tag, bytes: bytes as u64, cancelled: false });
            self.landings.open -= 1;
            self.counters.received(bytes as u64);
            return true;
        }
        self.landings.open = 0;
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
        !self.threads_meet() && self.spins()
    }

    /// Receives if the message comes within the time of a few looks; else nothing has happened.
    #[inline]
    pub fn receive_short(&self, short: &Short) -> Option<Status> {
        if !self.expects() {
            return None;
        }
        let mut state = self.lock();
        if !state.prepare_landing(short) {
            return None;
        }
        state.await_landings(self.looks());
        state.landings.first()
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
            state.landings.clear();
            return Exchanged::Nothing;
        }
        state.await_landings(self.looks());
        state.landings.first().map_or(Exchanged::Sent, Exchanged::Both)
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
