//! How the bytes of a message move.
//!
//! - *Eager*: the message travels with its envelope; the send is complete as soon as the transport has taken it.
//! - *Rendezvous*, for messages longer than the transport's limit: the message is announced. Once it is matched, the
//!   receiver reads it from the sender's memory and says so (`Fetched`), or asks for it (`Clear`) and gets it in pieces, while both are in MPI and
//!   that is faster, or where the system allows nothing else. While the receiver computes a sender that waits writes it (`Placed`), where the receiver has
//!   invited it (`invitations`) or as the receiver's helper says once it has matched the message (`Place`).
//! - A synchronous send is complete when the receiver has said that the message is matched.
//! - Messages to oneself are copied once, or held like any message that came too early.
//!
//! What the transport has no room for waits in the peer's outgoing queue, and everything after it too, so that the order
//! of a pair is kept.

use postrider_abi::{MPI_ERR_COUNT, MPI_ERR_INTERN, MPI_ERR_REQUEST, MPI_ERR_TRUNCATE};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::buffer::Buffer;
use super::matching::{Envelope, Pattern};
use super::request::{Active, Completion, Receiving, Request, Sending, Status, Work};
use crate::State;
use crate::communicators::{Route, Space};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::one_sided::Parcel;
use crate::partitioned::Part;
use crate::progress::{BYTES_PER_LOOK, PATIENCE_MAX};
use crate::transports::file::MessageFile;
use crate::transports::wire::{Header, Kind};
use crate::transports::{Body, Incoming, SingleCopy};

/// A message that came before its receive.
#[derive(Debug)]
pub(crate) struct Arrived {
    /// The sending process.
    pub peer: u32,
    /// Length of the message.
    pub bytes: u64,
    /// Where it is.
    pub content: Content,
}

/// Where the bytes of an [`Arrived`] message are.
#[derive(Debug)]
pub(crate) enum Content {
    /// Here; a synchronous sender's request wants to know when it is matched.
    Whole { held: Held, synchronous: Option<u64> },
    /// Still with the sender: its request, and the address if it may be read.
    Announced { request: u64, address: u64 },
}

/// The bytes of a message that came before its receive.
#[derive(Debug)]
pub(crate) enum Held {
    Memory(OwnedMemory),
    File(MessageFile),
}

/// What waits until the transport has room.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A packet without a body.
    Control(Header),
    /// An eager message; its request completes when it is gone, unless it is synchronous.
    Message { header: Header, memory: UserMemory, bytes: usize, packed: Option<OwnedMemory>, request: Key },
    /// Part of a partitioned message.
    Part(Part),
    /// The rest of an announced message, from `offset` on, for the receiver's request.
    Pieces { request: Key, receiver: u64, offset: u64 },
    /// Something of a window.
    OneSided(Box<Parcel>),
}

fn lost(what: &str) -> Error {
    Error::new(MPI_ERR_INTERN, format!("{what}: a peer's packet names a request that is not there"))
}

/// Beside the address of an announced message: pieces are faster, as long as the sender waits.
const BETTER_IN_PIECES: u64 = 1 << 63;
/// Also there: the sender is in a call that waits for this message.
const SENDER_WAITS: u64 = 1 << 62;
/// For a message from this length on it pays to look more than once whether its sender begins to wait.
const PATIENT_BYTES_MIN: u64 = 256 << 10;

/// How often a receiver looks whether the sender of a long message waits, before it takes it for one that computes.
const SENDER_LOOKS: u32 = 64;

/// An announced message that is matched and has not moved yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    receive: Key,
    envelope: Envelope,
    peer: u32,
    /// The sender's request.
    request: u64,
    bytes: u64,
    /// Where it is, and which way its sender prefers.
    address: u64,
    /// How often it was looked what the sender does.
    looks: u32,
}

fn key_of(word: u64) -> Key {
    Key(word as u32)
}

impl State {
    /// Starts a send. None when it is complete at once.
    #[inline]
    pub(crate) fn post_send(
        &mut self,
        route: Route,
        tag: i32,
        buffer: &Buffer,
        synchronous: bool,
    ) -> Result<Option<Key>> {
        self.counters.sent(buffer.bytes());
        if route.peer == self.own {
            return self.send_to_self(route, tag, buffer, synchronous);
        }
        if self.announces(route.peer, buffer.bytes()) {
            return self.announce(route, tag, buffer).map(Some);
        }
        if synchronous || !self.outgoing[route.peer as usize].is_empty() || buffer.run().is_none() {
            return self.send_eager(route, tag, buffer, synchronous);
        }
        let header = Header { kind: Kind::Eager, ..route.header(tag) };
        let memory = buffer.run().unwrap_or_else(|| unreachable!("asked above"));
        if self.transport.send(route.peer, &header, memory, buffer.bytes() as usize)? {
            return Ok(None);
        }
        self.send_eager(route, tag, buffer, synchronous)
    }

    /// The general way of an eager message: packed if need be, queued if need be.
    #[inline(never)]
    fn send_eager(
        &mut self,
        route: Route,
        tag: i32,
        buffer: &Buffer,
        synchronous: bool,
    ) -> Result<Option<Key>> {
        let (memory, packed) = buffer.in_one_piece();
        let bytes = buffer.bytes() as usize;
        let mut header = Header { kind: Kind::Eager, ..route.header(tag) };
        let mut request = None;
        if synchronous {
            let key = self.insert_send(route, tag, memory, buffer.bytes(), None)?;
            header.kind = Kind::EagerSynchronous;
            header.words[0] = u64::from(key.0);
            request = Some(key);
        }
        let queue_is_empty = self.outgoing[route.peer as usize].is_empty();
        if queue_is_empty && self.transport.send(route.peer, &header, memory, bytes)? {
            return Ok(request);
        }
        let request = match request {
            Some(request) => request,
            None => self.insert_send(route, tag, memory, buffer.bytes(), None)?,
        };
        self.enqueue(route.peer, Outgoing::Message { header, memory, bytes, packed, request });
        Ok(Some(request))
    }

    fn insert_send(
        &mut self,
        route: Route,
        tag: i32,
        memory: UserMemory,
        bytes: u64,
        packed: Option<OwnedMemory>,
    ) -> Result<Key> {
        let sending = Sending {
            peer: route.peer,
            tag,
            context: route.context,
            memory,
            bytes,
            packed,
            announced_at: None,
            matched: false,
        };
        self.insert_request(route.communicator, Work::Send(sending))
    }

    pub(crate) fn insert_request(&mut self, communicator: Key, work: Work) -> Result<Key> {
        self.requests.insert(Request { work, communicator, orphan: false })
    }

    fn announce(&mut self, route: Route, tag: i32, buffer: &Buffer) -> Result<Key> {
        let (memory, packed) = buffer.in_one_piece();
        let address = memory.address() as u64;
        let address = match self.transport.limits(route.peer).single_copy {
            SingleCopy::Never => 0,
            SingleCopy::Crossing if !self.is_crossing(&route) => {
                address | BETTER_IN_PIECES | if self.transport.waits(self.own) { SENDER_WAITS } else { 0 }
            }
            SingleCopy::Crossing | SingleCopy::Always => address,
        };
        let request = self.insert_send(route, tag, memory, buffer.bytes(), packed)?;
        if self.transport.is_near(route.peer) {
            self.patience = (buffer.bytes() / BYTES_PER_LOOK).min(PATIENCE_MAX) as u32;
        }
        let words = [u64::from(request.0), buffer.bytes(), address];
        let position = self.transport.position_of_next(route.peer);
        self.send_control(route.peer, Header { kind: Kind::Announce, words, ..route.header(tag) })?;
        if let Some(position) = position
            && self.outgoing[route.peer as usize].is_empty()
        {
            self.note_announcement(request, position);
        }
        Ok(request)
    }

    /// Whether a message to a process has to be announced there first.
    #[inline]
    pub(crate) fn announces(&self, peer: u32, bytes: u64) -> bool {
        peer != self.own && bytes > self.transport.limits(peer).eager_bytes_max
    }

    /// Whether this process waits for a message itself while it announces one, or has just read one of a process that waits for this.
    fn is_crossing(&mut self, route: &Route) -> bool {
        let is_answer = self.awaited_by.take() == Some(route.peer);
        self.crossing || is_answer || self.landings.are_open() || self.matching.has_posted(route.context)
    }

    /// Starts sends of a process that is about to post a receive for what comes meanwhile. Announced before that, a message can
    /// be read there while this process reads the other one.
    pub(crate) fn crossing<T>(&mut self, sends: impl FnOnce(&mut Self) -> T) -> T {
        self.crossing = true;
        let sent = sends(self);
        self.crossing = false;
        sent
    }

    fn send_to_self(
        &mut self,
        route: Route,
        tag: i32,
        buffer: &Buffer,
        synchronous: bool,
    ) -> Result<Option<Key>> {
        let envelope = Envelope { source: route.source, tag };
        let (memory, packed) = buffer.in_one_piece();
        if let Some(receive) = self.matching.take_posted(route.context, envelope) {
            self.deliver(receive, envelope, &mut Body::Memory(memory, buffer.bytes() as usize))?;
            return Ok(None);
        }
        let request = match synchronous {
            true => Some(self.insert_send(route, tag, memory, buffer.bytes(), None)?),
            false => None,
        };
        let held = Held::Memory(packed.unwrap_or_else(|| buffer.pack()));
        let content = Content::Whole { held, synchronous: request.map(|key| u64::from(key.0)) };
        self.matching.hold(
            route.context,
            envelope,
            Arrived { peer: self.own, bytes: buffer.bytes(), content },
        );
        Ok(request)
    }

    /// Sends a packet without a body, or queues it.
    pub(crate) fn send_control(&mut self, peer: u32, header: Header) -> Result<()> {
        let queue_is_empty = self.outgoing[peer as usize].is_empty();
        if !queue_is_empty || !self.transport.send(peer, &header, self.nowhere, 0)? {
            self.enqueue(peer, Outgoing::Control(header));
        }
        Ok(())
    }

    pub(crate) fn enqueue(&mut self, peer: u32, outgoing: Outgoing) {
        self.outgoing[peer as usize].push_back(outgoing);
        self.backlog += 1;
    }

    /// Starts a receive: takes a message that is here already, or posts the receive.
    #[inline]
    pub(crate) fn post_receive(
        &mut self,
        communicator: Key,
        context: u64,
        pattern: Pattern,
        buffer: Buffer,
    ) -> Result<Key> {
        let receiving = Receiving { buffer, context, matched: None, arrived: 0, card: None };
        let key = self.insert_request(communicator, Work::Receive(receiving))?;
        match self.matching.take_unexpected(context, pattern) {
            Some((envelope, arrived)) => self.take_over(key, envelope, arrived)?,
            None => self.matching.post(context, pattern, key),
        }
        Ok(key)
    }

    /// Gives a message that came early to the receive that wants it.
    pub(crate) fn take_over(&mut self, receive: Key, envelope: Envelope, arrived: Arrived) -> Result<()> {
        match arrived.content {
            Content::Whole { held, synchronous } => {
                if let Some(request) = synchronous {
                    self.tell_matched(arrived.peer, request)?;
                }
                match held {
                    Held::Memory(mut memory) => {
                        let mut body = Body::Memory(UserMemory::of(&mut memory), arrived.bytes as usize);
                        let delivered = self.deliver(receive, envelope, &mut body);
                        self.pool.give(memory);
                        delivered
                    }
                    Held::File(file) => self.deliver(receive, envelope, &mut Body::File(file)),
                }
            }
            Content::Announced { request, address } => {
                self.fetch(receive, envelope, arrived.peer, request, arrived.bytes, address)
            }
        }
    }

    fn tell_matched(&mut self, peer: u32, request: u64) -> Result<()> {
        if peer == self.own {
            self.finish(key_of(request), Completion::good(Status::EMPTY));
            return Ok(());
        }
        self.send_control(peer, Header::control(Kind::Matched, [request, 0, 0]))
    }

    pub(super) fn receiving(&mut self, key: Key) -> Result<&mut Receiving> {
        match self.requests.get_mut(key).map(|request| &mut request.work) {
            Ok(Work::Receive(receiving)) => Ok(receiving),
            _ => Err(lost("receive")),
        }
    }

    /// A whole message is here, and this receive is for it.
    #[inline]
    fn deliver(&mut self, receive: Key, envelope: Envelope, body: &mut Body) -> Result<()> {
        let bytes = body.bytes() as u64;
        let mut receiving = self.receiving(receive)?;
        if receiving.card.is_some() {
            if !self.take_back(receive)? {
                return Err(lost("written message"));
            }
            receiving = self.receiving(receive)?;
        }
        let filled = receiving.buffer.fill_from(body, bytes.min(receiving.buffer.bytes()) as usize);
        let mut completion = receiving.ended(envelope, bytes);
        if let Err(error) = filled {
            completion.error = Some(error);
        }
        self.counters.received(completion.status.bytes);
        self.finish(receive, completion);
        Ok(())
    }

    /// An announced message is matched: reads it, or asks for it.
    fn fetch(
        &mut self,
        receive: Key,
        envelope: Envelope,
        peer: u32,
        request: u64,
        bytes: u64,
        address: u64,
    ) -> Result<()> {
        if self.is_partitioned(receive) {
            return self.meet_sender(receive, peer, request, bytes);
        }
        let is_written = !self.take_back(receive)?;
        let receiving = self.receiving(receive)?;
        receiving.matched = Some(Status { bytes, ..receiving.ended(envelope, bytes).status });
        if is_written {
            return Ok(());
        }
        self.choose_way(Announced { receive, envelope, peer, request, bytes, address, looks: 0 })
    }

    /// Has a matched message moved in the way that is best at this moment.
    fn choose_way(&mut self, announced: Announced) -> Result<()> {
        let Announced { receive, envelope, peer, request, bytes, address, looks } = announced;
        let prefers_pieces = address & BETTER_IN_PIECES != 0;
        let waits = prefers_pieces && (address & SENDER_WAITS != 0 || self.transport.waits(peer));
        let is_patient = bytes >= PATIENT_BYTES_MIN && looks < SENDER_LOOKS;
        if prefers_pieces && !waits && !self.beside && is_patient {
            // Who has just started a send often waits for it at once, or starts the next one.
            let step = if self.transport.is_in_mpi(peer) { 1 } else { SENDER_LOOKS / 4 };
            self.undecided.push_back(Announced { looks: looks + step, ..announced });
            return Ok(());
        }
        let receiving = self.receiving(receive)?;
        let wanted = bytes.min(receiving.buffer.bytes()) as usize;
        let completion = receiving.ended(envelope, bytes);
        let buffer = receiving.buffer.clone();
        if self.beside
            && waits
            && wanted as u64 == bytes
            && let Some(memory) = buffer.run()
        {
            let words = [request, u64::from(receive.0), memory.address() as u64];
            return self.send_control(peer, Header::control(Kind::Place, words));
        }
        let (address, in_pieces) = (address & !(BETTER_IN_PIECES | SENDER_WAITS), waits && !self.beside);
        if address != 0 && !in_pieces && self.read_remote(peer, address, &buffer, wanted) {
            self.send_control(peer, Header::control(Kind::Fetched, [request, 0, 0]))?;
            self.counters.received(completion.status.bytes);
            self.counters.bytes_copied_once += completion.status.bytes;
            self.awaited_by = Some(peer);
            self.finish(receive, completion);
            return Ok(());
        }
        self.send_control(peer, Header::control(Kind::Clear, [request, u64::from(receive.0), 0]))
    }

    /// Looks once more how the messages are to move of which that is not decided; `at_last` if there is no other look.
    #[cold]
    pub(crate) fn decide(&mut self, at_last: bool) -> Result<()> {
        for _ in 0..self.undecided.len() {
            let Some(announced) = self.undecided.pop_front() else { break };
            let looks = if at_last { SENDER_LOOKS } else { announced.looks };
            self.choose_way(Announced { looks, ..announced })?;
        }
        Ok(())
    }

    fn read_remote(&mut self, peer: u32, address: u64, buffer: &Buffer, bytes: usize) -> bool {
        match buffer.run() {
            Some(memory) => self.transport.fetch(peer, address, memory, bytes),
            None => {
                let mut packed = OwnedMemory::new(bytes);
                let memory = UserMemory::of(&mut packed);
                let done = self.transport.fetch(peer, address, memory, bytes);
                if done {
                    buffer.fill(0, memory, bytes);
                }
                done
            }
        }
    }

    /// A packet has arrived.
    #[inline]
    pub(crate) fn handle(&mut self, incoming: Incoming) -> Result<()> {
        let Incoming { peer, header, mut body } = incoming;
        if self.landings.are_open() && self.land(&header, &body) {
            return Ok(());
        }
        let envelope = Envelope { source: header.source, tag: header.tag };
        match header.kind {
            Kind::Eager => match self.matching.take_posted(header.context, envelope) {
                Some(receive) => self.deliver(receive, envelope, &mut body),
                None => {
                    self.hold(peer, &header, body, None);
                    Ok(())
                }
            },
            Kind::OneSided if self.take_plain(peer, &header, &body) => Ok(()),
            _ => self.handle_other(peer, &header, envelope, body),
        }
    }

    #[inline(never)]
    pub(crate) fn handle_other(
        &mut self,
        peer: u32,
        header: &Header,
        envelope: Envelope,
        mut body: Body,
    ) -> Result<()> {
        let [first, second, third] = header.words;
        match header.kind {
            Kind::Eager => unreachable!("handled by the caller"),
            Kind::EagerSynchronous => match self.matching.take_posted(header.context, envelope) {
                Some(receive) => {
                    self.tell_matched(peer, first)?;
                    self.deliver(receive, envelope, &mut body)
                }
                None => {
                    self.hold(peer, header, body, Some(first));
                    Ok(())
                }
            },
            Kind::Announce => match self.matching.take_posted(header.context, envelope) {
                Some(receive) => self.fetch(receive, envelope, peer, first, second, third),
                None => {
                    let content = Content::Announced { request: first, address: third };
                    self.matching.hold(header.context, envelope, Arrived { peer, bytes: second, content });
                    Ok(())
                }
            },
            Kind::Clear if self.is_partitioned(key_of(first)) => {
                self.way_is_clear(key_of(first), peer, second)
            }
            Kind::Clear => self.send_in_pieces(peer, key_of(first), second),
            Kind::Place => self.place(peer, key_of(first), second, third),
            Kind::OneSided => self.take_one_sided(peer, header, &mut body),
            Kind::Piece if self.is_partitioned(key_of(first)) => {
                self.take_part(key_of(first), peer, second, &mut body)
            }
            Kind::Piece => self.take_piece(key_of(first), second, &mut body),
            Kind::Placed => self.arrive(key_of(first), second),
            Kind::Fetched | Kind::Matched => {
                self.sending(key_of(first), peer)?;
                self.patience = 0;
                self.finish(key_of(first), Completion::good(Status::EMPTY));
                Ok(())
            }
            Kind::Cancel => {
                let revoked = self.matching.revoke(|arrived| arrived.is_from(peer, first));
                self.send_control(peer, Header::control(Kind::Cancelled, [first, u64::from(revoked), 0]))
            }
            Kind::Cancelled => {
                if second != 0 {
                    self.sending(key_of(first), peer)?;
                    self.finish(key_of(first), Completion::good(Status { cancelled: true, ..Status::EMPTY }));
                }
                Ok(())
            }
        }
    }

    fn send_in_pieces(&mut self, peer: u32, request: Key, receiver: u64) -> Result<()> {
        self.sending(request, peer)?.matched = true;
        self.enqueue(peer, Outgoing::Pieces { request, receiver, offset: 0 });
        self.flush(peer)
    }

    /// Writes an announced message to the receiver's memory.
    fn place(&mut self, peer: u32, request: Key, receiver: u64, address: u64) -> Result<()> {
        let sending = self.sending(request, peer)?;
        let (memory, bytes) = (sending.memory, sending.bytes);
        if !self.transport.store(peer, address, memory, bytes as usize) {
            return self.send_in_pieces(peer, request, receiver);
        }
        self.counters.bytes_copied_once += bytes;
        self.patience = 0;
        self.finish(request, Completion::good(Status::EMPTY));
        self.send_control(peer, Header::control(Kind::Placed, [receiver, bytes, 0]))
    }

    pub(super) fn sending(&mut self, key: Key, peer: u32) -> Result<&mut Sending> {
        match self.requests.get_mut(key).map(|request| &mut request.work) {
            Ok(Work::Send(sending)) if sending.peer == peer => Ok(sending),
            _ => Err(lost("send")),
        }
    }

    fn hold(&mut self, peer: u32, header: &Header, body: Body, synchronous: Option<u64>) {
        let bytes = body.bytes();
        let held = match body {
            Body::Memory(memory, bytes) => {
                let mut copy = self.pool.take(bytes);
                memory.copy_to(UserMemory::of(&mut copy), bytes);
                Held::Memory(copy)
            }
            Body::File(mut file) => {
                file.park();
                Held::File(file)
            }
        };
        let envelope = Envelope { source: header.source, tag: header.tag };
        let content = Content::Whole { held, synchronous };
        self.matching.hold(header.context, envelope, Arrived { peer, bytes: bytes as u64, content });
    }

    fn take_piece(&mut self, receive: Key, offset: u64, body: &mut Body) -> Result<()> {
        let bytes = body.bytes();
        let receiving = self.receiving(receive)?;
        if receiving.matched.is_none() {
            return Err(lost("piece"));
        }
        let room = receiving.buffer.bytes().saturating_sub(offset).min(bytes as u64) as usize;
        if room > 0 {
            receiving.buffer.fill_part(offset, body, room)?;
        }
        self.arrive(receive, bytes as u64)
    }

    /// So many bytes more of an announced message are where they belong.
    fn arrive(&mut self, receive: Key, bytes: u64) -> Result<()> {
        let receiving = self.receiving(receive)?;
        let Some(status) = receiving.matched else { return Err(lost("piece")) };
        receiving.arrived += bytes;
        if receiving.arrived >= status.bytes {
            let envelope = Envelope { source: status.source as u32, tag: status.tag };
            let completion = receiving.ended(envelope, status.bytes);
            if let Some(index) = receiving.card.take()
                && let Some(card) = self.transport.card(self.own, index)
            {
                card.clear();
            }
            self.counters.received(completion.status.bytes);
            self.finish(receive, completion);
        }
        Ok(())
    }

    /// Sends what waits for `peer`, as far as there is room.
    pub(crate) fn flush(&mut self, peer: u32) -> Result<()> {
        while let Some(next) = self.outgoing[peer as usize].pop_front() {
            self.backlog -= 1;
            if let Some(rest) = self.send_outgoing(peer, next)? {
                self.outgoing[peer as usize].push_front(rest);
                self.backlog += 1;
                break;
            }
        }
        Ok(())
    }

    /// Sends one of the things that waited; gives it back when there was no room for all of it.
    fn send_outgoing(&mut self, peer: u32, next: Outgoing) -> Result<Option<Outgoing>> {
        match next {
            Outgoing::Control(header) => {
                let sent = self.transport.send(peer, &header, self.nowhere, 0)?;
                Ok((!sent).then_some(Outgoing::Control(header)))
            }
            Outgoing::Message { header, memory, bytes, packed, request } => {
                match self.transport.send(peer, &header, memory, bytes) {
                    Ok(false) => {
                        return Ok(Some(Outgoing::Message { header, memory, bytes, packed, request }));
                    }
                    Ok(true) if header.kind == Kind::EagerSynchronous => {}
                    Ok(true) => self.finish(request, Completion::good(Status::EMPTY)),
                    Err(error) => {
                        self.finish(request, Completion { status: Status::EMPTY, error: Some(error) })
                    }
                }
                Ok(None)
            }
            Outgoing::Part(part) => Ok(self.send_part_pieces(peer, part)?.map(Outgoing::Part)),
            Outgoing::Pieces { request, receiver, offset } => {
                self.send_pieces(peer, request, receiver, offset)
            }
            Outgoing::OneSided(parcel) => Ok(self.send_parcel(peer, parcel)?.map(Outgoing::OneSided)),
        }
    }

    fn send_pieces(
        &mut self,
        peer: u32,
        request: Key,
        receiver: u64,
        offset: u64,
    ) -> Result<Option<Outgoing>> {
        let piece_bytes_max = self.transport.limits(peer).piece_bytes_max as u64;
        let sending = self.sending(request, peer)?;
        let (memory, total) = (sending.memory, sending.bytes);
        let mut offset = offset;
        while offset < total {
            let bytes = (total - offset).min(piece_bytes_max) as usize;
            let header = Header::control(Kind::Piece, [receiver, offset, 0]);
            if !self.transport.send(peer, &header, memory.offset(offset as i64), bytes)? {
                return Ok(Some(Outgoing::Pieces { request, receiver, offset }));
            }
            offset += bytes as u64;
        }
        self.patience = 0;
        self.finish(request, Completion::good(Status::EMPTY));
        Ok(None)
    }

    /// Ends an operation.
    #[inline]
    pub(crate) fn finish(&mut self, key: Key, completion: Completion) {
        let Ok(request) = self.requests.get_mut(key) else { return };
        request.work = Work::Done(completion);
        if request.orphan {
            let _ = self.requests.remove(key);
        }
        self.completions = self.completions.wrapping_add(1);
    }

    /// `MPI_Cancel`: takes the operation back if nobody has matched it yet.
    ///
    /// # Errors
    /// When there is no such request.
    pub fn cancel(&mut self, key: Key) -> Result<()> {
        let cancelled = Completion::good(Status { cancelled: true, ..Status::EMPTY });
        match &self.requests.get(key)?.work {
            // A generalized request is cancelled by the program.
            Work::Done(_) | Work::Flush(_) | Work::Both { .. } | Work::Generalized { .. } => {}
            Work::Access(_) => {
                return Err(Error::new(
                    MPI_ERR_REQUEST,
                    "one-sided operations cannot be cancelled (section 12.3)",
                ));
            }
            Work::Duplicate(_) | Work::Collective(_) => {
                let detail = "collective operations cannot be cancelled (section 6.12)";
                return Err(Error::new(MPI_ERR_REQUEST, detail));
            }
            Work::Partitioned(_) => {
                let detail = "partitioned operations cannot be cancelled (section 4.2)";
                return Err(Error::new(MPI_ERR_REQUEST, detail));
            }
            Work::Receive(receiving) => {
                let context = receiving.context;
                if self.take_back(key)? && self.matching.withdraw(context, key) {
                    self.finish(key, cancelled);
                }
            }
            Work::Send(sending) if sending.matched => {}
            Work::Send(sending) => {
                let (peer, own) = (sending.peer, self.own);
                if self.withdraw_outgoing(peer, key)
                    || peer == own && self.matching.revoke(|arrived| arrived.is_from(own, u64::from(key.0)))
                {
                    self.finish(key, cancelled);
                } else if peer != own {
                    self.send_control(peer, Header::control(Kind::Cancel, [u64::from(key.0), 0, 0]))?;
                }
            }
            Work::Persistent(persistent) => match persistent.active {
                Active::Under(inner) => self.cancel(inner)?,
                Active::Ended(_) => {}
                Active::No => {
                    let detail = "the request is inactive, so that there is nothing to cancel";
                    return Err(Error::new(MPI_ERR_REQUEST, detail));
                }
            },
        }
        Ok(())
    }

    fn withdraw_outgoing(&mut self, peer: u32, key: Key) -> bool {
        let queue = &mut self.outgoing[peer as usize];
        let is_it = |outgoing: &Outgoing| match outgoing {
            Outgoing::Message { request, .. } => *request == key,
            Outgoing::Control(header) => header.kind == Kind::Announce && header.words[0] == u64::from(key.0),
            Outgoing::Pieces { .. } | Outgoing::Part(_) | Outgoing::OneSided(_) => false,
        };
        let found = queue.iter().position(is_it);
        if let Some(index) = found {
            queue.remove(index);
            self.backlog -= 1;
        }
        found.is_some()
    }
}

impl Arrived {
    /// The sender's request of a message that is still with the sender.
    pub(crate) fn announced_by(&self) -> Option<u64> {
        match self.content {
            Content::Announced { request, .. } => Some(request),
            Content::Whole { .. } => None,
        }
    }

    fn is_from(&self, peer: u32, sender_request: u64) -> bool {
        self.peer == peer
            && match self.content {
                Content::Whole { synchronous, .. } => synchronous == Some(sender_request),
                Content::Announced { request, .. } => request == sender_request,
            }
    }
}

impl Receiving {
    /// How this receive ends with a message of `bytes` bytes. In collective operations no message is shorter than its
    /// receive, unless the processes do not agree about the amount of data.
    #[inline]
    fn ended(&self, envelope: Envelope, bytes: u64) -> Completion {
        let room = self.buffer.bytes();
        let mut completion = received(envelope, bytes, room);
        if bytes < room && Space::Collective.has(self.context) {
            completion.error = Some(too_short(envelope, bytes, room));
        }
        completion
    }
}

#[cold]
fn too_short(envelope: Envelope, bytes: u64, room: u64) -> Error {
    let detail = format!(
        "rank {} sent {bytes} bytes where {room} are to be received: the counts or datatypes of the processes differ",
        envelope.source
    );
    Error::new(MPI_ERR_COUNT, detail)
}

/// How a receive with room for `room` bytes ends that was matched with a message of `bytes` bytes.
#[inline]
pub(crate) fn received(envelope: Envelope, bytes: u64, room: u64) -> Completion {
    let status = Status {
        source: envelope.source as i32,
        tag: envelope.tag,
        bytes: bytes.min(room),
        cancelled: false,
    };
    let error = (bytes > room).then(|| {
        Error::new(
            MPI_ERR_TRUNCATE,
            format!(
                "the message from rank {} with tag {} has {bytes} bytes, the receive buffer only {room}",
                envelope.source, envelope.tag
            ),
        )
    });
    Completion { status, error }
}
