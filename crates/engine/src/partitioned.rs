//! Partitioned point-to-point communication (MPI 5.0, chapter 4).
//!
//! The two sides meet once, when their requests are made: the sender announces itself in a message space of its own
//! ([`Space::Partitioned`]), in which the usual matching pairs the requests in the order in which they were made, by
//! communicator, rank and tag. From then on nothing is matched any more:
//!
//! - Each time the receiver starts, it clears the sender's way for one round (`Clear`) and names its request.
//! - Each partition goes as soon as it is ready and the way is clear, as byte ranges of the whole packed message (`Piece`)
//!   straight to where it belongs. A round without bytes has one empty piece, which says that it has been sent.
//!
//! So the sides need not have the same partitions: the receiver counts which bytes of its own have come. No data ever arrives
//! before its receive, hence nothing is kept, and rounds cannot be confused. See `docs/design/0020`.

use std::collections::VecDeque;

use postrider_abi::{MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_ERR_TAG, MPI_PROC_NULL};
use postrider_os::memory::{OwnedMemory, UserMemory};

use crate::State;
use crate::communicators::{Route, Space};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::point_to_point::matching::{Envelope, Pattern};
use crate::point_to_point::{Arrived, Buffer, Completion, Message, Outgoing, Status, Work, received};
use crate::transports::Body;
use crate::transports::wire::{Header, Kind};

/// A partitioned send or receive.
#[derive(Debug)]
pub(crate) struct Partitioned {
    /// All partitions.
    buffer: Buffer,
    /// Bytes of one partition, packed.
    partition_bytes: u64,
    round: Round,
    side: Side,
}

/// Where a request is between its start and its end.
#[derive(Debug)]
enum Round {
    Inactive,
    Active,
    Ended(Completion),
}

#[derive(Debug)]
enum Side {
    /// `MPI_PROC_NULL`: every round ends as it begins, for a receive with its special status.
    Nobody {
        partitions: usize,
        status: Status,
    },
    Send(Sending),
    Receive(Receiving),
}

#[derive(Debug)]
struct Sending {
    peer: u32,
    /// Which partitions are ready in this round.
    ready: Vec<bool>,
    /// Those that are ready and have not been given to the transport.
    waiting: VecDeque<usize>,
    /// How many are not ready.
    unready: usize,
    /// How many have left.
    sent: usize,
    /// The receiver's request, from when it clears the way until the end of the round.
    receiver: Option<u64>,
}

#[derive(Debug)]
struct Receiving {
    /// The sender's rank and the tag.
    envelope: Envelope,
    /// The sender once it has been met: process, request and bytes of a round.
    sender: Option<(u32, u64, u64)>,
    /// Bytes of each partition that have come in this round.
    arrived: Vec<u64>,
    /// Bytes that have come in this round, with those for which there is no room.
    bytes: u64,
}

/// A range of a partitioned message on its way: in the user's buffer, or packed.
#[derive(Debug)]
pub(crate) struct Part {
    request: Key,
    receiver: u64,
    offset: u64,
    memory: UserMemory,
    bytes: u64,
    _packed: Option<OwnedMemory>,
}

/// The error for a call that is for partitioned requests of the other kind, or for another moment.
fn wrong(what: &str) -> Error {
    Error::new(MPI_ERR_REQUEST, format!("the request {what}"))
}

/// The error for a packet that fits nothing here.
fn lost() -> Error {
    Error::new(postrider_abi::MPI_ERR_INTERN, "a peer's packet names a partitioned request that is not there")
}

impl Partitioned {
    pub(crate) fn is_active(&self) -> bool {
        !matches!(self.round, Round::Inactive)
    }

    pub(crate) fn is_complete(&self) -> bool {
        !matches!(self.round, Round::Active)
    }

    /// The status of a round that has ended.
    pub(crate) fn status(&self) -> Status {
        match &self.round {
            Round::Ended(completion) => completion.status,
            Round::Inactive | Round::Active => Status::EMPTY,
        }
    }

    /// Takes the end of the round.
    pub(crate) fn take(&mut self) -> Completion {
        match std::mem::replace(&mut self.round, Round::Inactive) {
            Round::Ended(completion) => completion,
            Round::Inactive | Round::Active => Completion::good(Status::EMPTY),
        }
    }

    fn send(&mut self) -> Result<&mut Sending> {
        match &mut self.side {
            Side::Send(sending) => Ok(sending),
            _ => Err(lost()),
        }
    }

    fn receive(&mut self) -> Result<&mut Receiving> {
        match &mut self.side {
            Side::Receive(receiving) => Ok(receiving),
            _ => Err(lost()),
        }
    }
}

impl Receiving {
    /// Notes that `bytes` bytes from `offset` on have come.
    fn note(&mut self, offset: u64, bytes: u64, partition_bytes: u64) {
        self.bytes += bytes;
        let (mut at, end) = (offset, offset + bytes);
        while at < end && partition_bytes > 0 {
            let index = at / partition_bytes;
            let next = end.min((index + 1).saturating_mul(partition_bytes));
            let Some(arrived) = self.arrived.get_mut(index as usize) else { return };
            *arrived += next - at;
            at = next;
        }
    }
}

impl State {
    /// Makes a request to send `message` in `partitions` equal parts (`MPI_Psend_init`).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong.
    pub fn partitioned_send(&mut self, message: Message, partitions: usize) -> Result<Key> {
        let (communicator, tag, bytes) = (message.communicator, message.tag, message.buffer.bytes());
        let route = self.partitioned_route(&message)?;
        let side = match route {
            None => Side::Nobody { partitions, status: Status::EMPTY },
            Some(Route { peer, .. }) => Side::Send(Sending {
                peer,
                ready: vec![false; partitions],
                waiting: VecDeque::new(),
                unready: partitions,
                sent: 0,
                receiver: None,
            }),
        };
        let key = self.insert_partitioned(communicator, message.buffer, partitions, side)?;
        if let Some(route) = route {
            let words = [u64::from(key.0), bytes, 0];
            self.say_part(route.peer, Header { kind: Kind::Announce, words, ..route.header(tag) })?;
        }
        Ok(key)
    }

    /// Makes a request to receive `message` in `partitions` equal parts (`MPI_Precv_init`).
    ///
    /// # Errors
    /// Rank, tag or communicator wrong; there are no wildcards.
    pub fn partitioned_receive(&mut self, message: Message, partitions: usize) -> Result<Key> {
        let communicator = message.communicator;
        let Some(route) = self.partitioned_route(&message)? else {
            let side = Side::Nobody { partitions, status: Status::PROC_NULL };
            return self.insert_partitioned(communicator, message.buffer, partitions, side);
        };
        let envelope = Envelope { source: message.peer as u32, tag: message.tag };
        let arrived = vec![0; partitions];
        let side = Side::Receive(Receiving { envelope, sender: None, arrived, bytes: 0 });
        let key = self.insert_partitioned(communicator, message.buffer, partitions, side)?;
        let pattern = Pattern { source: Some(envelope.source), tag: Some(envelope.tag) };
        match self.matching.take_unexpected(route.context, pattern) {
            Some((_, arrived)) => self.meet_announced(key, &arrived)?,
            None => self.matching.post(route.context, pattern, key),
        }
        Ok(key)
    }

    fn partitioned_route(&self, message: &Message) -> Result<Option<Route>> {
        if message.tag < 0 {
            let detail =
                format!("tag {} is negative; partitioned communication has no wildcard", message.tag);
            return Err(Error::new(MPI_ERR_TAG, detail));
        }
        let found = self.communicators.get(message.communicator)?;
        if message.peer == MPI_PROC_NULL {
            return Ok(None);
        }
        let (peer, context) = (found.peer(message.peer)?, found.context_of(Space::Partitioned, false));
        Ok(Some(Route { communicator: message.communicator, peer, context, source: found.rank }))
    }

    fn insert_partitioned(
        &mut self,
        communicator: Key,
        buffer: Buffer,
        partitions: usize,
        side: Side,
    ) -> Result<Key> {
        let partition_bytes = buffer.bytes().checked_div(partitions as u64).unwrap_or(0);
        let partitioned = Partitioned { buffer, partition_bytes, round: Round::Inactive, side };
        self.insert_request(communicator, Work::Partitioned(Box::new(partitioned)))
    }

    fn partitioned(&mut self, key: Key) -> Result<&mut Partitioned> {
        match &mut self.requests.get_mut(key)?.work {
            Work::Partitioned(partitioned) => Ok(partitioned),
            _ => Err(wrong("is not one of partitioned communication")),
        }
    }

    /// Sends a packet without a body, also to this process itself.
    fn say_part(&mut self, peer: u32, header: Header) -> Result<()> {
        if peer != self.own {
            return self.send_control(peer, header);
        }
        let envelope = Envelope { source: header.source, tag: header.tag };
        let body = Body::Memory(self.nowhere, 0);
        self.handle_other(peer, &header, envelope, body)
    }

    /// Begins a round.
    pub(crate) fn start_partitioned(&mut self, key: Key) -> Result<()> {
        let partitioned = self.partitioned(key)?;
        partitioned.round = Round::Active;
        match &mut partitioned.side {
            Side::Nobody { status, .. } => {
                partitioned.round = Round::Ended(Completion::good(*status));
                Ok(())
            }
            Side::Send(sending) => {
                sending.ready.fill(false);
                sending.unready = sending.ready.len();
                sending.sent = 0;
                self.send_ready(key)
            }
            Side::Receive(receiving) => {
                receiving.arrived.fill(0);
                receiving.bytes = 0;
                self.clear_way(key)
            }
        }
    }

    /// Says that partitions of a started send may go (`MPI_Pready` and its relatives).
    ///
    /// # Errors
    /// When the request is not that of a started partitioned send, or a partition is none of it or ready already.
    pub fn partitions_ready(
        &mut self,
        key: Key,
        partitions: impl IntoIterator<Item = i32> + Clone,
    ) -> Result<()> {
        let partitioned = self.partitioned(key)?;
        if !partitioned.is_active() {
            return Err(wrong("is not started: MPI_Start comes before MPI_Pready"));
        }
        let count = match &partitioned.side {
            Side::Receive(_) => return Err(wrong("receives: partitions of a send are made ready")),
            Side::Nobody { status: Status::PROC_NULL, .. } => {
                return Err(wrong("receives: partitions of a send are made ready"));
            }
            Side::Nobody { partitions, .. } => *partitions,
            Side::Send(sending) => sending.ready.len(),
        };
        let exists = |partition: i32| usize::try_from(partition).is_ok_and(|partition| partition < count);
        if let Some(wrong) = partitions.clone().into_iter().find(|&partition| !exists(partition)) {
            return Err(Error::new(MPI_ERR_ARG, format!("there is no partition {wrong}; there are {count}")));
        }
        let Side::Send(sending) = &mut partitioned.side else { return Ok(()) };
        for partition in partitions {
            let ready = &mut sending.ready[partition as usize];
            if *ready {
                return Err(Error::new(MPI_ERR_ARG, format!("partition {partition} is ready already")));
            }
            *ready = true;
            sending.unready -= 1;
            sending.waiting.push_back(partition as usize);
        }
        self.send_ready(key)
    }

    /// Gives the transport what is ready, if the way is clear.
    fn send_ready(&mut self, key: Key) -> Result<()> {
        let partitioned = self.partitioned(key)?;
        // The way may be clear for the next round already.
        if partitioned.is_complete() {
            return Ok(());
        }
        let (buffer, bytes) = (partitioned.buffer.clone(), partitioned.partition_bytes);
        let empty = buffer.bytes() == 0;
        let sending = partitioned.send()?;
        let (peer, Some(receiver)) = (sending.peer, sending.receiver) else { return Ok(()) };
        let waiting = if !empty {
            std::mem::take(&mut sending.waiting)
        } else if sending.unready == 0 {
            // One empty piece stands for all partitions.
            sending.waiting.clear();
            sending.sent = sending.ready.len().saturating_sub(1);
            VecDeque::from([0])
        } else {
            return Ok(());
        };
        for partition in waiting {
            let offset = partition as u64 * bytes;
            let (memory, packed) = buffer.part_in_one_piece(offset, bytes);
            let part = Part { request: key, receiver, offset, memory, bytes, _packed: packed };
            self.send_part(peer, part)?;
        }
        Ok(())
    }

    fn send_part(&mut self, peer: u32, part: Part) -> Result<()> {
        if peer == self.own {
            let header = Header::control(Kind::Piece, [part.receiver, part.offset, 0]);
            let body = Body::Memory(part.memory, part.bytes as usize);
            let envelope = Envelope { source: 0, tag: 0 };
            // The sender is done before the receiver may begin its next round.
            self.part_sent(part.request)?;
            return self.handle_other(peer, &header, envelope, body);
        }
        self.enqueue(peer, Outgoing::Part(part));
        self.flush(peer)
    }

    /// Sends a part, as far as there is room; gives back what is left.
    pub(crate) fn send_part_pieces(&mut self, peer: u32, mut part: Part) -> Result<Option<Part>> {
        let piece_bytes_max = match self.transport.limits(peer).piece_bytes_max as u64 {
            0 => u64::MAX,
            bytes => bytes,
        };
        loop {
            let bytes = part.bytes.min(piece_bytes_max);
            let header = Header::control(Kind::Piece, [part.receiver, part.offset, 0]);
            if !self.transport.send(peer, &header, part.memory, bytes as usize)? {
                return Ok(Some(part));
            }
            part.offset += bytes;
            part.bytes -= bytes;
            part.memory = part.memory.offset(bytes as i64);
            if part.bytes == 0 {
                self.part_sent(part.request)?;
                return Ok(None);
            }
        }
    }

    /// A partition has left; with the last one the round ends.
    fn part_sent(&mut self, key: Key) -> Result<()> {
        let partitioned = self.partitioned(key)?;
        let sending = partitioned.send()?;
        sending.sent += 1;
        if sending.sent >= sending.ready.len() {
            sending.receiver = None;
            partitioned.round = Round::Ended(Completion::good(Status::EMPTY));
            let bytes = partitioned.buffer.bytes();
            self.counters.sent(bytes);
            self.completions = self.completions.wrapping_add(1);
        }
        Ok(())
    }

    /// Whether a request is one of partitioned communication.
    pub(crate) fn is_partitioned(&self, key: Key) -> bool {
        matches!(self.requests.get(key).map(|request| &request.work), Ok(Work::Partitioned(_)))
    }

    fn meet_announced(&mut self, key: Key, arrived: &Arrived) -> Result<()> {
        let Some(request) = arrived.announced_by() else { return Err(lost()) };
        self.meet_sender(key, arrived.peer, request, arrived.bytes)
    }

    /// The sender of a partitioned receive has come.
    pub(crate) fn meet_sender(&mut self, key: Key, peer: u32, request: u64, bytes: u64) -> Result<()> {
        if self.requests.get(key)?.orphan {
            return self.requests.remove(key).map(drop);
        }
        let partitioned = self.partitioned(key)?;
        let active = partitioned.is_active();
        partitioned.receive()?.sender = Some((peer, request, bytes));
        if active { self.clear_way(key) } else { Ok(()) }
    }

    /// Tells the sender that this round's data may come, if the sender is known.
    fn clear_way(&mut self, key: Key) -> Result<()> {
        let Some((peer, request, _)) = self.partitioned(key)?.receive()?.sender else { return Ok(()) };
        self.say_part(peer, Header::control(Kind::Clear, [request, u64::from(key.0), 0]))
    }

    /// The receiver wants the data of its round.
    pub(crate) fn way_is_clear(&mut self, key: Key, peer: u32, receiver: u64) -> Result<()> {
        let sending = self.partitioned(key)?.send()?;
        if sending.peer != peer {
            return Err(lost());
        }
        sending.receiver = Some(receiver);
        self.send_ready(key)
    }

    /// Data of a partitioned receive has come: `offset` counts in the whole message.
    pub(crate) fn take_part(&mut self, key: Key, peer: u32, offset: u64, body: &mut Body) -> Result<()> {
        let partitioned = self.partitioned(key)?;
        let (room, partition_bytes) = (partitioned.buffer.bytes(), partitioned.partition_bytes);
        let bytes = body.bytes() as u64;
        let sender = partitioned.receive()?.sender.filter(|(sender, ..)| *sender == peer);
        let total = sender.map(|(_, _, total)| total);
        // A part is one of the message that its sender has announced.
        let within = |total: &u64| offset.checked_add(bytes).is_some_and(|end| end <= *total);
        let Some(total) = total.filter(within) else { return Err(lost()) };
        let fits = room.saturating_sub(offset).min(bytes) as usize;
        let filled = partitioned.buffer.fill_part(offset, body, fits);
        let receiving = partitioned.receive()?;
        receiving.note(offset, bytes, partition_bytes);
        if receiving.bytes >= total {
            let mut completion = received(receiving.envelope, total, room);
            completion.error = filled.err().or(completion.error);
            let bytes = completion.status.bytes;
            partitioned.round = Round::Ended(completion);
            self.counters.received(bytes);
            self.completions = self.completions.wrapping_add(1);
            return Ok(());
        }
        filled
    }

    /// Whether a partition of a receive is here (`MPI_Parrived`); those of an inactive request are.
    ///
    /// # Errors
    /// When the request is not that of a partitioned receive, or has no such partition.
    pub fn partition_arrived(&mut self, key: Key, partition: i32) -> Result<bool> {
        let partitioned = self.partitioned(key)?;
        let (complete, partition_bytes) = (partitioned.is_complete(), partitioned.partition_bytes);
        let (count, arrived) = match &partitioned.side {
            Side::Nobody { partitions, status: Status::PROC_NULL } => (*partitions, None),
            Side::Receive(receiving) => {
                let arrived = usize::try_from(partition).ok().and_then(|at| receiving.arrived.get(at));
                (receiving.arrived.len(), arrived.copied())
            }
            _ => return Err(wrong("sends: partitions of a receive arrive")),
        };
        if partition < 0 || partition as usize >= count {
            return Err(Error::new(
                MPI_ERR_ARG,
                format!("there is no partition {partition}; there are {count}"),
            ));
        }
        Ok(complete || partition_bytes > 0 && arrived == Some(partition_bytes))
    }

    /// `MPI_Request_free` of a partitioned request: only between rounds. A receive that has met no sender stays until one
    /// comes, since a later receive must not get that sender.
    pub(crate) fn free_partitioned(&mut self, key: Key) -> Result<()> {
        let partitioned = self.partitioned(key)?;
        if !partitioned.is_complete() {
            return Err(wrong(
                "of a partitioned operation cannot be freed while it is under way (section 4.2)",
            ));
        }
        if matches!(&partitioned.side, Side::Receive(receiving) if receiving.sender.is_none()) {
            self.requests.get_mut(key)?.orphan = true;
            return Ok(());
        }
        self.requests.remove(key).map(drop)
    }
}
