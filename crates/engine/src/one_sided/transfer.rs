//! Operations on their way: from the origin's call until their memory there is free again, or all has come back.
//!
//! A [`Transfer`] is cut into packets as the transport takes them; what finds no room waits in the target's outgoing queue, and
//! the user's data is read when it leaves. Memory without gaps needs no list of blocks, and its data goes into the packet straight
//! from where it is. An operation that brings something back is a request, [`Fetch`]; of those without a handle the
//! request is freed from the beginning.

use std::sync::Arc;

use postrider_abi::{MPI_ERR_INTERN, MPI_ERR_RMA_RANGE};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::operation::{Access, BLOCK_BYTES, BLOCKS_MAX, Block, Blocks, Combination, PART_BYTES_MAX, Verb};
use super::target::Reply;
use crate::State;
use crate::datatypes::{Datatype, Kind, segments};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::point_to_point::request::Work;
use crate::point_to_point::{Buffer, Completion, Outgoing, Status};
use crate::transports::wire::{Header, Kind as PacketKind};
use crate::transports::{Body, Limits};

/// What waits for room on the way to a process.
#[derive(Debug)]
pub(crate) enum Parcel {
    /// The rest of an operation of this process.
    Transfer(Transfer),
    /// The rest of an answer.
    Reply(Reply),
    /// A packet with these bytes.
    Packet(Header, OwnedMemory),
    /// A packet that has come, and waits for the answers before it to leave.
    Received(Header),
}

/// An operation that fetches something.
#[derive(Debug)]
pub(crate) struct Fetch {
    pub window: Key,
    pub rank: u32,
    pub result: Buffer,
    pub left: u64,
}

/// An operation as far as it has not left.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub window: Key,
    /// The target.
    pub rank: u32,
    pub header: Header,
    pub verb: Verb,
    pub combination: Option<Combination>,
    /// What is sent.
    pub data: Buffer,
    /// Keeps `data` alive when it is not the user's.
    pub kept: Option<OwnedMemory>,
    pub datatype: Arc<Datatype>,
    pub count: i64,
    /// Where the target's elements begin in its window.
    pub offset: i64,
    /// Bytes of the packed stream, and those that have left.
    pub total: u64,
    pub done: u64,
    /// How long the last part was: a good guess for the next.
    pub part: u64,
    /// What completes when all has left, or when all has been answered.
    pub request: Option<Key>,
}

impl Transfer {
    fn access(&self, position: u64, blocks: Blocks) -> Access {
        let (verb, combination) = (self.verb, self.combination);
        Access { verb, request: self.request.map_or(0, |key| key.0), combination, position, blocks }
    }

    /// The next part, at most `limit` bytes long, and how much of the stream it is.
    pub(super) fn next_part(&mut self, limit: u64) -> (Access, u64) {
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

impl State {
    pub(super) fn start_transfer(&mut self, mut transfer: Transfer) -> Result<()> {
        let peer = self.windows.get_mut(transfer.window)?.peer(transfer.rank);
        peer.unsent += 1;
        let process = peer.process;
        let straight = process == self.own || self.outgoing[process as usize].is_empty();
        if straight && self.send_transfer(process, &mut transfer)? {
            return Ok(());
        }
        self.enqueue(process, Outgoing::OneSided(Box::new(Parcel::Transfer(transfer))));
        Ok(())
    }

    /// All of an operation has left, or nothing more of it can.
    fn end_transfer(&mut self, transfer: &Transfer, error: Option<Error>) -> Result<()> {
        let peer = self.windows.get_mut(transfer.window)?.peer(transfer.rank);
        peer.unsent -= 1;
        peer.unanswered -= u32::from(error.is_some() && transfer.verb.is_answered());
        self.completions = self.completions.wrapping_add(1);
        let Some(request) = transfer.request else { return Ok(()) };
        if error.is_some() || !transfer.verb.is_answered() {
            self.finish(request, Completion { status: Status::EMPTY, error });
        }
        Ok(())
    }

    /// The longest body of a one-sided packet to `peer`: a piece, where the way there has such, so that both sides are busy.
    pub(super) fn part_bytes_max(&self, peer: u32) -> u64 {
        let Limits { eager_bytes_max, piece_bytes_max, .. } = self.transport.limits(peer);
        let limit = if piece_bytes_max > 0 { piece_bytes_max as u64 } else { eager_bytes_max };
        limit.min(PART_BYTES_MAX)
    }

    /// Sends parts as long as there is room; true when all has left, and the operation has ended for its memory here.
    fn send_transfer(&mut self, process: u32, transfer: &mut Transfer) -> Result<bool> {
        let sent = self.send_parts(process, transfer);
        match &sent {
            Ok(false) => {}
            Ok(true) => self.end_transfer(transfer, None)?,
            Err(error) => self.end_transfer(transfer, Some(error.clone()))?,
        }
        sent
    }

    fn send_parts(&mut self, process: u32, transfer: &mut Transfer) -> Result<bool> {
        let limit = self.part_bytes_max(process);
        while transfer.done < transfer.total {
            let (access, part) = transfer.next_part(limit);
            let header = Header { words: access.words(), ..transfer.header };
            let data_bytes = access.data_bytes() as usize;
            let bytes = access.block_bytes() + data_bytes;
            let sent = match transfer.data.run() {
                Some(memory) if access.block_bytes() == 0 => {
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
            Parcel::Transfer(transfer) => self.send_transfer(process, transfer)?,
            Parcel::Reply(reply) => self.send_reply(process, reply)?,
            Parcel::Packet(header, body) => {
                let bytes = body.len();
                self.transport.send(process, header, UserMemory::of(body), bytes)?
            }
            Parcel::Received(header) => {
                self.take_one_sided(process, header, &mut Body::Memory(self.nowhere, 0))?;
                true
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
        let taken = match (class, bytes) {
            (0, _) => bytes as u64,
            (_, 8) => u64::from_le(body.load()),
            _ => return Err(lost()),
        };
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
