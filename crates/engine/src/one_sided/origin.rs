//! The side that starts operations (MPI 5.0, section 12.3).
//!
//! An operation becomes a [`Transfer`], which is cut into packets as the transport takes them; what finds no room waits in the
//! target's outgoing queue, and the user's data is read when it leaves. Memory without gaps needs no list of blocks, and its data goes
//! into the packet straight from where it is. An operation that brings something back is a request, [`Fetch`]; of those
//! without a handle the request is freed from the beginning.

use std::sync::Arc;

use postrider_abi::{
    MPI_ERR_INTERN, MPI_ERR_OP, MPI_ERR_RMA_RANGE, MPI_ERR_TRUNCATE, MPI_ERR_TYPE, MPI_PROC_NULL,
};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::operation::{Access, BLOCK_BYTES, BLOCKS_MAX, Block, Blocks, Combination, Verb};
use super::target::Reply;
use crate::State;
use crate::datatypes::{Datatype, Kind, pack_size, segments};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::operations::{Operation, Operator};
use crate::point_to_point::request::Work;
use crate::point_to_point::{Buffer, Completion, Outgoing, Status};
use crate::transports::wire::{Header, Kind as PacketKind};
use crate::transports::{Body, Limits};

/// The longest part of an operation where the transport sets no limit.
const PART_BYTES_MAX: u64 = 1 << 20;

/// The origin's side of an operation.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The data.
    pub buffer: Buffer,
    /// The one kind of all its elements, if they have one.
    pub kind: Option<Kind>,
}

/// The target's side of an operation.
#[derive(Clone, Debug)]
pub struct Target {
    /// The rank in the window's group.
    pub rank: i32,
    /// In displacement units.
    pub displacement: i64,
    /// How many elements.
    pub count: i64,
    /// Of what type.
    pub datatype: Arc<Datatype>,
}

/// What waits for room on the way to a process.
#[derive(Debug)]
pub(crate) enum Parcel {
    /// The rest of an operation of this process.
    Transfer(Transfer),
    /// The rest of an answer.
    Reply(Reply),
    /// A packet with these bytes.
    Packet(Header, OwnedMemory),
}

/// An operation that fetches something.
#[derive(Debug)]
pub(crate) struct Fetch {
    window: Key,
    rank: u32,
    result: Buffer,
    left: u64,
}

/// An operation as far as it has not left.
#[derive(Debug)]
pub(crate) struct Transfer {
    window: Key,
    /// The target.
    rank: u32,
    header: Header,
    verb: Verb,
    combination: Option<Combination>,
    /// What is sent.
    data: Buffer,
    /// Keeps `data` alive when it is not the user's.
    _kept: Option<OwnedMemory>,
    datatype: Arc<Datatype>,
    count: i64,
    /// Where the target's elements begin in its window.
    offset: i64,
    /// Bytes of the packed stream, and those that have left.
    total: u64,
    done: u64,
    /// How long the last part was: a good guess for the next.
    part: u64,
    /// What completes when all has left, or when all has been answered.
    request: Option<Key>,
}

impl Target {
    fn bytes(&self) -> u64 {
        pack_size(&self.datatype, self.count)
    }

    /// First and last byte that is touched, from the beginning of the first element.
    fn span(&self) -> Option<(i64, i64)> {
        if self.bytes() == 0 {
            return None;
        }
        let last = self.datatype.extent().saturating_mul(self.count - 1);
        let (low, length) = (self.datatype.true_lb(), self.datatype.true_extent());
        Some((low.saturating_add(last.min(0)), low.saturating_add(length).saturating_add(last.max(0))))
    }
}

impl Transfer {
    fn access(&self, position: u64, blocks: Blocks) -> Access {
        let (verb, combination) = (self.verb, self.combination);
        Access { verb, request: self.request.map_or(0, |key| key.0), combination, position, blocks }
    }

    /// The next part, at most `limit` bytes long, and how much of the stream it is.
    fn next_part(&mut self, limit: u64) -> (Access, u64) {
        let unit = self.combination.map_or(1, |combination| combination.kind.size() as u64);
        let left = self.total - self.done;
        if self.verb == Verb::CompareAndSwap || self.is_run() {
            let offset = self.offset + self.datatype.true_lb() + self.done as i64;
            // What is only read needs no cutting here: the answer comes in parts.
            let part = if self.verb == Verb::Get { left } else { left.min((limit / unit * unit).max(unit)) };
            let block = Block { offset, length: part / unit };
            let access = self.access(self.done, Blocks::One(block));
            if access.data_bytes() > 0 || self.done == 0 {
                return (access, part);
            }
            return (self.access(self.done, Blocks::Many(vec![block])), part);
        }
        let mut part = (left.min(self.part).min(limit) / unit * unit).max(unit);
        loop {
            let blocks = self.blocks(part, unit);
            let room = limit.saturating_sub(BLOCK_BYTES as u64 * blocks.len() as u64);
            if part <= unit || part <= room && blocks.len() <= BLOCKS_MAX {
                self.part = part.saturating_mul(2).min(limit);
                return (self.access(self.done, Blocks::Many(blocks)), part);
            }
            part = (part / 2 / unit * unit).max(unit);
        }
    }

    /// Whether all elements of the target lie in one run, so that a part of them is one block.
    fn is_run(&self) -> bool {
        let gaps = self.combination.is_some_and(|combination| has_gaps(combination.kind));
        self.datatype.is_dense_for(self.count) && (!gaps || self.count <= 1)
    }

    /// The blocks of the next `part` bytes of the stream. Elements with gaps inside are named by where they begin.
    fn blocks(&self, part: u64, unit: u64) -> Vec<Block> {
        let mut found: Vec<Block> = Vec::new();
        let gaps = self.combination.map(|combination| combination.kind).filter(|kind| has_gaps(*kind));
        let Some(kind) = gaps else {
            segments(&self.datatype, self.count, self.done, part as usize, &mut |offset, bytes| {
                found.push(Block { offset: self.offset + offset, length: bytes as u64 / unit });
            });
            return found;
        };
        for element in 0..part / unit {
            let mut first = None;
            let at = self.done + element * unit;
            segments(&self.datatype, self.count, at, unit as usize, &mut |offset, _| {
                first.get_or_insert(offset);
            });
            let offset = self.offset + first.unwrap_or(0);
            match found.last_mut() {
                Some(last) if last.offset + last.length as i64 * kind.row().extent as i64 == offset => {
                    last.length += 1
                }
                _ => found.push(Block { offset, length: 1 }),
            }
        }
        found
    }
}

/// Whether elements of a kind have bytes that are no data.
pub(super) fn has_gaps(kind: Kind) -> bool {
    kind.size() != kind.row().extent
}

/// How `operation` combines elements of the target's type, which the origin's must be like.
fn combination(operation: &Operation, target: &Target, others: &[Option<Kind>]) -> Result<Combination> {
    let Operation::Predefined(operator) = *operation else {
        let detail = "one-sided operations take predefined operations only, not those of MPI_Op_create";
        return Err(Error::new(MPI_ERR_OP, detail));
    };
    let mixed = || Error::new(MPI_ERR_TYPE, "the elements of a datatype are not all of one predefined type");
    let kind = target.datatype.signature().single_kind().ok_or_else(mixed)?;
    for other in others {
        if other.ok_or_else(mixed)?.size() != kind.size() {
            return Err(Error::new(
                MPI_ERR_TYPE,
                "the datatypes of the two sides have elements of different sizes",
            ));
        }
    }
    if !operator.is_allowed(kind) {
        return Err(Error::new(MPI_ERR_OP, format!("{operator} is not defined for {kind:?}")));
    }
    Ok(Combination { operator, kind })
}

fn check_fits(data: u64, room: u64) -> Result<()> {
    if data <= room {
        return Ok(());
    }
    let detail =
        format!("{data} bytes of data for {room} bytes of memory: the two sides of the operation do not fit");
    Err(Error::new(MPI_ERR_TRUNCATE, detail))
}

/// What [`State::begin`] found: the target, and where its elements begin.
struct Begun {
    rank: u32,
    offset: i64,
}

impl State {
    /// Checks the target of an operation; none for `MPI_PROC_NULL`.
    fn begin(&mut self, window: Key, target: &Target, with_request: bool) -> Result<Option<Begun>> {
        let window = self.windows.get_mut(window)?;
        if target.rank == MPI_PROC_NULL {
            return Ok(None);
        }
        let rank = window.rank_of(target.rank)?;
        if with_request {
            window.epoch.passive(rank)?;
        }
        window.epoch.access(rank)?;
        let offset = window.offset_of(rank, target.displacement, target.span())?;
        Ok(Some(Begun { rank, offset }))
    }

    /// `MPI_Put`, `MPI_Rput`: the request, if one was wanted.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn put(&mut self, window: Key, origin: Origin, target: Target, with_request: bool) -> Result<Key> {
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        check_fits(origin.buffer.bytes(), target.bytes())?;
        let total = origin.buffer.bytes();
        self.silent(window, (Verb::Put, None), origin.buffer, (target, begun), total, with_request)
    }

    /// `MPI_Accumulate`, `MPI_Raccumulate`.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn accumulate(
        &mut self,
        window: Key,
        origin: Origin,
        target: Target,
        operation: &Operation,
        with_request: bool,
    ) -> Result<Key> {
        if matches!(operation, Operation::Predefined(Operator::NoOp)) {
            return Err(Error::new(MPI_ERR_OP, "MPI_NO_OP is only for operations that fetch something"));
        }
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        if origin.buffer.bytes() == 0 {
            return Ok(Self::SENT);
        }
        let combination = combination(operation, &target, &[origin.kind])?;
        check_fits(origin.buffer.bytes(), target.bytes())?;
        let total = origin.buffer.bytes();
        let what = (Verb::Accumulate, Some(combination));
        self.silent(window, what, origin.buffer, (target, begun), total, with_request)
    }

    /// Starts an operation that brings nothing back.
    fn silent(
        &mut self,
        window: Key,
        (verb, combination): (Verb, Option<Combination>),
        data: Buffer,
        to: (Target, Begun),
        total: u64,
        with_request: bool,
    ) -> Result<Key> {
        if total == 0 {
            return Ok(Self::SENT);
        }
        let communicator = self.windows.get(window)?.communicator;
        let request = with_request.then(|| self.insert_request(communicator, Work::Access(None)));
        let mut transfer = self.transfer(window, (verb, combination), data, to, request)?;
        transfer.total = total;
        self.windows.get_mut(window)?.peer(transfer.rank).silent = true;
        self.start_transfer(transfer)?;
        Ok(request.unwrap_or(Self::SENT))
    }

    /// `MPI_Get`, `MPI_Rget`.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn get(&mut self, window: Key, result: Buffer, target: Target, with_request: bool) -> Result<Key> {
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        check_fits(target.bytes(), result.bytes())?;
        let nothing = Buffer::dense(self.nowhere, 0);
        self.fetching(window, (Verb::Get, None), (nothing, None), result, (target, begun), with_request)
    }

    /// `MPI_Get_accumulate`, `MPI_Rget_accumulate` and `MPI_Fetch_and_op`. With `MPI_NO_OP` the origin does not count.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn get_accumulate(
        &mut self,
        window: Key,
        origin: Option<Origin>,
        result: Origin,
        target: Target,
        operation: &Operation,
        with_request: bool,
    ) -> Result<Key> {
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        if target.bytes() == 0 {
            return Ok(Self::SENT);
        }
        let kinds = [result.kind, origin.as_ref().map_or(result.kind, |origin| origin.kind)];
        let combination = combination(operation, &target, &kinds)?;
        check_fits(target.bytes(), result.buffer.bytes())?;
        let data = origin.map_or(Buffer::dense(self.nowhere, 0), |origin| origin.buffer);
        if combination.operator != Operator::NoOp && data.bytes() != target.bytes() {
            check_fits(data.bytes(), target.bytes())?;
            check_fits(target.bytes(), data.bytes())?;
        }
        let what = (Verb::FetchAndOperate, Some(combination));
        self.fetching(window, what, (data, None), result.buffer, (target, begun), with_request)
    }

    /// `MPI_Compare_and_swap`: all three are one element of the target's type.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn compare_and_swap(
        &mut self,
        window: Key,
        (compare, new): (UserMemory, UserMemory),
        result: UserMemory,
        target: Target,
    ) -> Result<()> {
        let Some(begun) = self.begin(window, &target, false)? else { return Ok(()) };
        let combination = combination(&Operation::Predefined(Operator::Replace), &target, &[])?;
        let bytes = combination.kind.size();
        let mut both = OwnedMemory::new(2 * bytes);
        let place = UserMemory::of(&mut both);
        compare.copy_to(place, bytes);
        new.copy_to(place.offset(bytes as i64), bytes);
        let data = (Buffer::dense(place, 2 * bytes as u64), Some(both));
        let result = Buffer::dense(result, bytes as u64);
        let what = (Verb::CompareAndSwap, Some(combination));
        self.fetching(window, what, data, result, (target, begun), false).map(drop)
    }

    /// Starts an operation that brings something back.
    fn fetching(
        &mut self,
        window: Key,
        what: (Verb, Option<Combination>),
        (data, kept): (Buffer, Option<OwnedMemory>),
        result: Buffer,
        to: (Target, Begun),
        with_request: bool,
    ) -> Result<Key> {
        let left = to.0.bytes();
        if left == 0 {
            return Ok(Self::SENT);
        }
        let communicator = self.windows.get(window)?.communicator;
        let fetch = Fetch { window, rank: to.1.rank, result, left };
        let request = self.insert_request(communicator, Work::Access(Some(Box::new(fetch))));
        self.requests.get_mut(request)?.orphan = !with_request;
        let mut transfer = self.transfer(window, what, data, to, Some(request))?;
        transfer._kept = kept;
        self.windows.get_mut(window)?.peer(transfer.rank).unanswered += 1;
        self.start_transfer(transfer)?;
        Ok(request)
    }

    fn transfer(
        &self,
        window: Key,
        (verb, combination): (Verb, Option<Combination>),
        data: Buffer,
        (target, begun): (Target, Begun),
        request: Option<Key>,
    ) -> Result<Transfer> {
        let found = self.windows.get(window)?;
        let words = [0; 3];
        let header = Header {
            kind: PacketKind::OneSided,
            context: found.context,
            source: found.rank,
            tag: verb as i32,
            words,
        };
        let (total, rank, offset) = (target.bytes(), begun.rank, begun.offset);
        let Target { count, datatype, .. } = target;
        let (done, part) = (0, u64::MAX);
        let _kept = None;
        Ok(Transfer {
            window,
            rank,
            header,
            verb,
            combination,
            data,
            _kept,
            datatype,
            count,
            offset,
            total,
            done,
            part,
            request,
        })
    }

    fn start_transfer(&mut self, mut transfer: Transfer) -> Result<()> {
        let peer = self.windows.get_mut(transfer.window)?.peer(transfer.rank);
        peer.unsent += 1;
        let process = peer.process;
        if process == self.own || self.outgoing[process as usize].is_empty() {
            if self.send_transfer(process, &mut transfer)? {
                return self.end_transfer(&transfer);
            }
        }
        self.enqueue(process, Outgoing::OneSided(Box::new(Parcel::Transfer(transfer))));
        Ok(())
    }

    fn end_transfer(&mut self, transfer: &Transfer) -> Result<()> {
        self.windows.get_mut(transfer.window)?.peer(transfer.rank).unsent -= 1;
        self.completions = self.completions.wrapping_add(1);
        if let (false, Some(request)) = (transfer.verb.is_answered(), transfer.request) {
            self.finish(request, Completion::good(Status::EMPTY));
        }
        Ok(())
    }

    /// The longest body of a one-sided packet to `peer`.
    pub(super) fn part_bytes_max(&self, peer: u32) -> u64 {
        let Limits { eager_bytes_max, .. } = self.transport.limits(peer);
        eager_bytes_max.min(PART_BYTES_MAX)
    }

    /// Sends parts as long as there is room; true when all has left.
    fn send_transfer(&mut self, process: u32, transfer: &mut Transfer) -> Result<bool> {
        let limit = self.part_bytes_max(process);
        while transfer.done < transfer.total {
            let (access, part) = transfer.next_part(limit);
            let header = Header { words: access.words(), ..transfer.header };
            let data_bytes = access.data_bytes() as usize;
            let bytes = access.block_bytes() + data_bytes;
            let straight = access.block_bytes() == 0;
            let sent = match transfer.data.run() {
                Some(memory) if straight => {
                    self.send_one_sided(process, &header, memory.offset(transfer.done as i64), bytes)?
                }
                _ => {
                    let mut packed = OwnedMemory::new(bytes);
                    let place = UserMemory::of(&mut packed);
                    let data = access.write_blocks(place);
                    transfer.data.take(transfer.done, data, data_bytes);
                    self.send_one_sided(process, &header, place, bytes)?
                }
            };
            if !sent {
                return Ok(false);
            }
            transfer.done += part;
        }
        Ok(true)
    }

    /// Sends a packet, or does what it says if it is for this process; false when there is no room.
    pub(super) fn send_one_sided(
        &mut self,
        process: u32,
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> Result<bool> {
        if process == self.own {
            self.take_one_sided(process, header, &mut Body::Memory(body, bytes))?;
            return Ok(true);
        }
        self.transport.send(process, header, body, bytes)
    }

    /// Sends a packet without a body that is no operation, or queues it.
    pub(super) fn say(&mut self, window: Key, rank: u32, verb: Verb, words: [u64; 3]) -> Result<()> {
        let found = self.windows.get(window)?;
        let process = found.peers[rank as usize].process;
        let (context, source) = (found.context, found.rank);
        let header = Header { kind: PacketKind::OneSided, context, source, tag: verb as i32, words };
        if process == self.own {
            return self.take_one_sided(process, &header, &mut Body::Memory(self.nowhere, 0));
        }
        self.send_control(process, header)
    }

    /// Sends one of the one-sided things that waited; gives it back when there was no room for all of it.
    pub(crate) fn send_parcel(
        &mut self,
        process: u32,
        mut parcel: Box<Parcel>,
    ) -> Result<Option<Box<Parcel>>> {
        let sent = match &mut *parcel {
            Parcel::Transfer(transfer) => {
                let sent = self.send_transfer(process, transfer)?;
                if sent {
                    self.end_transfer(transfer)?;
                }
                sent
            }
            Parcel::Reply(reply) => self.send_reply(process, reply)?,
            Parcel::Packet(header, body) => {
                let bytes = body.len();
                self.transport.send(process, header, UserMemory::of(body), bytes)?
            }
        };
        Ok((!sent).then_some(parcel))
    }

    /// Data has come that an operation of this process wants.
    pub(super) fn take_answer(&mut self, words: [u64; 3], body: UserMemory, bytes: usize) -> Result<()> {
        let [request, position, class] = words;
        let lost = || Error::new(MPI_ERR_INTERN, "an answer names an operation that is not there");
        let key = Key(request as u32);
        let Ok(Work::Access(Some(fetch))) = self.requests.get_mut(key).map(|request| &mut request.work)
        else {
            return Err(lost());
        };
        let (window, rank) = (fetch.window, fetch.rank);
        let taken = if class == 0 { bytes as u64 } else { u64::from_le(body.load()) };
        fetch.left = fetch.left.checked_sub(taken).ok_or_else(lost)?;
        let over = fetch.left == 0;
        if class == 0 {
            position.checked_add(taken).filter(|&end| end <= fetch.result.bytes()).ok_or_else(lost)?;
            fetch.result.fill(position, body, bytes);
        }
        let peer = self.windows.get_mut(window)?.peer(rank);
        if class != 0 {
            peer.failed = Some(class as i32);
        }
        if over {
            peer.unanswered -= 1;
            self.end_fetch(key, window, rank)?;
        }
        Ok(())
    }

    fn end_fetch(&mut self, key: Key, window: Key, rank: u32) -> Result<()> {
        let orphan = self.requests.get(key)?.orphan;
        let failed = &mut self.windows.get_mut(window)?.peer(rank).failed;
        // Whoever has no request learns of it at the next synchronization.
        let class = if orphan { None } else { failed.take() };
        self.finish(
            key,
            Completion { status: Status::EMPTY, error: class.map(|class| refused(class, rank)) },
        );
        Ok(())
    }
}

/// The error for an operation that the target has refused.
pub(super) fn refused(class: i32, rank: u32) -> Error {
    let what = if class == MPI_ERR_RMA_RANGE { ": its memory is not in the window there" } else { "" };
    Error::new(class, format!("rank {rank} has refused an operation{what}"))
}
