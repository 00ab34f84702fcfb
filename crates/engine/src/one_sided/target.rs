//! The side where the memory is: what packets of a window do when they arrive.
//!
//! Everything is applied at once, under the engine's lock, whenever this process makes progress: so accumulates are atomic,
//! and those of one origin stay in order. Only what a get wants is read when there is room for it; what ends an epoch waits until
//! then, since others may write afterwards. An access outside of the window does nothing; its origin is told.

use postrider_abi::{MPI_ERR_INTERN, MPI_ERR_RMA_RANGE};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::lock_queue::{LockKind, Manner};
use super::operation::{Access, Block, Combination, Verb};
use super::transfer::{Parcel, has_gaps};
use crate::State;
use crate::datatypes::{Datatype, pack_to, unpack_from};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::operations::Operator;
use crate::point_to_point::Outgoing;
use crate::transports::Body;
use crate::transports::wire::{Header, Kind as PacketKind};

/// The rest of an answer.
#[derive(Debug)]
pub(crate) struct Reply {
    header: Header,
    content: Content,
    request: u64,
    /// Where the answer begins in the packed stream of the operation.
    position: u64,
    done: u64,
    total: u64,
}

/// Where the bytes of an answer are.
#[derive(Debug)]
enum Content {
    /// In the window: places with lengths.
    Window(Vec<(UserMemory, usize)>),
    /// Read already.
    Copy(OwnedMemory),
}

impl Reply {
    /// The next bytes, at most `limit`, in one piece.
    fn next(&mut self, limit: usize) -> (UserMemory, usize, Option<OwnedMemory>) {
        let left = ((self.total - self.done) as usize).min(limit);
        let places = match &mut self.content {
            Content::Copy(memory) => return (UserMemory::of(memory).offset(self.done as i64), left, None),
            Content::Window(places) => places,
        };
        let mut skip = self.done as usize;
        let mut gathered: Option<OwnedMemory> = None;
        let mut filled = 0;
        for &(place, bytes) in places.iter() {
            if skip >= bytes {
                skip -= bytes;
                continue;
            }
            let part = (bytes - skip).min(left - filled);
            if part == left {
                return (place.offset(skip as i64), left, None);
            }
            let gathered = gathered.get_or_insert_with(|| OwnedMemory::new(left));
            place.offset(skip as i64).copy_to(UserMemory::of(gathered).offset(filled as i64), part);
            (skip, filled) = (0, filled + part);
            if filled == left {
                break;
            }
        }
        let place = gathered.as_mut().map(UserMemory::of);
        (place.unwrap_or_else(|| unreachable!("the places hold the whole answer")), left, gathered)
    }
}

fn lost(what: &str) -> Error {
    Error::new(MPI_ERR_INTERN, format!("a packet of a window {what}"))
}

impl State {
    /// A packet of a window has come.
    pub(crate) fn take_one_sided(&mut self, peer: u32, header: &Header, body: &mut Body) -> Result<()> {
        let verb = Verb::from_number(header.tag).ok_or_else(|| lost("says nothing known"))?;
        let Some(&key) = self.window_contexts.get(&header.context) else {
            return Err(lost("is for a window that is not there"));
        };
        let source = header.source;
        let known = self.windows.get(key)?.peers.get(source as usize);
        if known.is_none_or(|known| known.process != peer) {
            return Err(lost("comes from a process that is not in its group"));
        }
        if matches!(verb, Verb::Unlock | Verb::Complete) && self.has_answers(peer, header.context) {
            self.enqueue(peer, Outgoing::OneSided(Box::new(Parcel::Received(*header))));
            return Ok(());
        }
        self.completions = self.completions.wrapping_add(1);
        let [first, second, _] = header.words;
        match verb {
            Verb::Put | Verb::Accumulate | Verb::Get | Verb::FetchAndOperate | Verb::CompareAndSwap => {
                self.take_access(key, source, verb, header.words, body)?;
            }
            Verb::PutAndMark => {
                self.take_access(key, source, Verb::Put, header.words, body)?;
                self.confirm(key, source)?;
            }
            Verb::Answer => {
                let _copy = whole(body)?;
                let Body::Memory(place, bytes) = *body else { return Err(lost("is cut short")) };
                self.take_answer(header.words, place, bytes)?;
            }
            Verb::Mark => self.confirm(key, source)?,
            Verb::Marked => {
                let peer = self.windows.get_mut(key)?.peer(source);
                peer.marks =
                    peer.marks.checked_sub(1).ok_or_else(|| lost("confirms what was not asked for"))?;
                peer.failed = if first == 0 { peer.failed } else { Some(first as i32) };
            }
            Verb::Lock => {
                let kind = if first == 0 { LockKind::Shared } else { LockKind::Exclusive };
                let manner = if second == 0 { Manner::Patient } else { Manner::Urgent };
                let window = self.windows.get_mut(key)?;
                window.has_no_locks = false;
                let own = window.rank;
                if window.locks.request(source, kind, manner) {
                    self.grant(key, own, &[source])?;
                }
            }
            Verb::Granted => {
                let peer = self.windows.get_mut(key)?.peers.get_mut(first as usize);
                peer.ok_or_else(|| lost("grants a lock on memory that is not there"))?.granted = true;
            }
            Verb::Unlock => {
                let window = self.windows.get_mut(key)?;
                let (own, granted) = (window.rank, window.locks.release(source));
                let granted = granted.ok_or_else(|| lost("gives back a lock that is not held"))?;
                self.confirm(key, source)?;
                self.grant(key, own, &granted)?;
            }
            Verb::Post => self.windows.get_mut(key)?.peer(source).posts += 1,
            Verb::Complete => self.windows.get_mut(key)?.peer(source).completes += 1,
        }
        Ok(())
    }

    fn take_access(
        &mut self,
        key: Key,
        source: u32,
        verb: Verb,
        words: [u64; 3],
        body: &mut Body,
    ) -> Result<()> {
        let _copy = whole(body)?;
        let Body::Memory(place, bytes) = *body else { return Err(lost("is cut short")) };
        let access = Access::decode(verb, words, place, bytes).ok_or_else(|| lost("contradicts itself"))?;
        self.apply(key, source, &access, place.offset(access.block_bytes() as i64))
    }

    /// Whether answers to what a process has asked of a window have not left.
    fn has_answers(&self, process: u32, context: u64) -> bool {
        let is_answer = |waiting: &Outgoing| match waiting {
            Outgoing::OneSided(parcel) => {
                matches!(&**parcel, Parcel::Reply(reply) if reply.header.context == context)
            }
            _ => false,
        };
        self.outgoing[process as usize].iter().any(is_answer)
    }

    /// Tells processes that they have the lock of `rank`'s memory now.
    pub(super) fn grant(&mut self, key: Key, rank: u32, to: &[u32]) -> Result<()> {
        to.iter().try_for_each(|&to| self.say(key, to, Verb::Granted, [u64::from(rank), 0, 0]))
    }

    fn confirm(&mut self, key: Key, source: u32) -> Result<()> {
        let fault = self.windows.get_mut(key)?.peer(source).fault.take();
        self.say(key, source, Verb::Marked, [fault.unwrap_or(0) as u64, 0, 0])
    }

    /// Does what an access asks for, if all of its memory is in the window.
    fn apply(&mut self, key: Key, source: u32, access: &Access, data: UserMemory) -> Result<()> {
        let window = self.windows.get_mut(key)?;
        let place = |block: &Block| window.place(block, span(access.combination, block.length));
        let places: Option<Vec<UserMemory>> = access.blocks.as_slice().iter().map(place).collect();
        let Some(places) = places else {
            return self.refuse(key, source, access);
        };
        if access.verb == Verb::Get {
            let lengths = access.blocks.as_slice().iter().map(|block| block.length as usize);
            return self.reply(
                key,
                source,
                access,
                Content::Window(places.into_iter().zip(lengths).collect()),
            );
        }
        match perform(access, &places, data)? {
            Some(old) => self.reply(key, source, access, Content::Copy(old)),
            None => Ok(()),
        }
    }

    /// Tells the origin that an access was outside of the window: at once if it waits for an answer, else with the next confirmation.
    fn refuse(&mut self, key: Key, source: u32, access: &Access) -> Result<()> {
        let window = self.windows.get_mut(key)?;
        if !access.verb.is_answered() {
            window.peer(source).fault = Some(MPI_ERR_RMA_RANGE);
            return Ok(());
        }
        let process = window.peer(source).process;
        let words = [u64::from(access.request), access.position, MPI_ERR_RMA_RANGE as u64];
        let header = self.answer(key, words)?;
        let mut body = OwnedMemory::new(8);
        UserMemory::of(&mut body).store(access.bytes().to_le());
        let is_empty = process == self.own || self.outgoing[process as usize].is_empty();
        if !is_empty || !self.send_one_sided(process, &header, UserMemory::of(&mut body), 8)? {
            self.enqueue(process, Outgoing::OneSided(Box::new(Parcel::Packet(header, body))));
        }
        Ok(())
    }

    fn answer(&self, key: Key, words: [u64; 3]) -> Result<Header> {
        let window = self.windows.get(key)?;
        let (context, source, tag) = (window.context, window.rank, Verb::Answer as i32);
        Ok(Header { kind: PacketKind::OneSided, context, source, tag, words })
    }

    fn reply(&mut self, key: Key, source: u32, access: &Access, content: Content) -> Result<()> {
        let header = self.answer(key, [0; 3])?;
        let process = self.windows.get_mut(key)?.peer(source).process;
        let (request, position, total) = (u64::from(access.request), access.position, access.bytes());
        let mut reply = Reply { header, content, request, position, done: 0, total };
        let is_empty = process == self.own || self.outgoing[process as usize].is_empty();
        if !is_empty || !self.send_reply(process, &mut reply)? {
            self.enqueue(process, Outgoing::OneSided(Box::new(Parcel::Reply(reply))));
        }
        Ok(())
    }

    /// Sends an answer as far as there is room; true when all has left.
    pub(super) fn send_reply(&mut self, process: u32, reply: &mut Reply) -> Result<bool> {
        let limit = self.part_bytes_max(process) as usize;
        while reply.done < reply.total {
            let words = [reply.request, reply.position.wrapping_add(reply.done), 0];
            let header = Header { words, ..reply.header };
            let (place, bytes, _gathered) = reply.next(limit);
            if !self.send_one_sided(process, &header, place, bytes)? {
                return Ok(false);
            }
            reply.done += bytes as u64;
        }
        Ok(true)
    }
}

/// Brings a body that is in a file into memory, which lives as long as what is returned.
fn whole(body: &mut Body) -> Result<Option<OwnedMemory>> {
    let Body::File(file) = body else { return Ok(None) };
    let mut copy = OwnedMemory::new(file.bytes());
    let (place, bytes) = (UserMemory::of(&mut copy), file.bytes());
    file.read(0, place, bytes)?;
    *body = Body::Memory(place, bytes);
    Ok(Some(copy))
}

/// Does what an access asks for, but a get, to its blocks' places; returns what was there before if that is wanted.
pub(super) fn perform(
    access: &Access,
    places: &[UserMemory],
    data: UserMemory,
) -> Result<Option<OwnedMemory>> {
    let found = places.iter().copied().zip(access.blocks.as_slice().iter().map(|block| block.length));
    match (access.verb, access.combination) {
        (Verb::CompareAndSwap, Some(Combination { kind, .. })) => {
            let (bytes, place) = (kind.size(), places[0]);
            let mut old = OwnedMemory::new(bytes);
            place.copy_to(UserMemory::of(&mut old), bytes);
            let mut compare = vec![0; bytes];
            data.read(&mut compare);
            if old.as_slice() == compare {
                data.offset(bytes as i64).copy_to(place, bytes);
            }
            Ok(Some(old))
        }
        (Verb::FetchAndOperate, Some(combination)) => {
            let mut old = OwnedMemory::new(access.bytes() as usize);
            let mut to = UserMemory::of(&mut old);
            for (place, length) in found.clone() {
                to = read_elements(combination, place, length, to);
            }
            combine_all(combination, found, data)?;
            Ok(Some(old))
        }
        (_, Some(combination)) => combine_all(combination, found, data).map(|()| None),
        (_, None) => {
            let mut data = data;
            for (place, length) in found {
                data.copy_to(place, length as usize);
                data = data.offset(length as i64);
            }
            Ok(None)
        }
    }
}

/// From the first byte of a block to its last.
pub(super) fn span(combination: Option<Combination>, length: u64) -> u64 {
    let Some(Combination { kind, .. }) = combination else { return length };
    let between = length.saturating_sub(1).saturating_mul(kind.row().extent as u64);
    if length == 0 { 0 } else { between.saturating_add(Datatype::of_kind(kind).true_extent() as u64) }
}

/// Copies elements of a window to packed memory, and returns where that goes on.
fn read_elements(combination: Combination, place: UserMemory, length: u64, to: UserMemory) -> UserMemory {
    let bytes = length as usize * combination.kind.size();
    if has_gaps(combination.kind) {
        pack_to(Datatype::of_kind(combination.kind), length as i64, place, 0, to, bytes);
    } else {
        place.copy_to(to, bytes);
    }
    to.offset(bytes as i64)
}

/// Combines packed data with elements of a window.
fn combine_all(
    Combination { operator, kind }: Combination,
    found: impl Iterator<Item = (UserMemory, u64)>,
    data: UserMemory,
) -> Result<()> {
    if operator == Operator::NoOp {
        return Ok(());
    }
    let mut data = data;
    for (place, length) in found {
        let (count, bytes) = (length as i64, length as usize * kind.size());
        if has_gaps(kind) {
            let mut spread = OwnedMemory::new(length as usize * kind.row().extent);
            let input = UserMemory::of(&mut spread);
            unpack_from(Datatype::of_kind(kind), count, input, 0, data, bytes);
            operator.apply(kind, input, place, count)?;
        } else {
            operator.apply(kind, data, place, count)?;
        }
        data = data.offset(bytes as i64);
    }
    Ok(())
}
