//! The short way of operations on plain elements.
//!
//! Most operations move the elements of one predefined datatype between one run of memory here and one in a window. The
//! origin needs no description of the target for them. Where the window is mapped they are done at once; elsewhere short puts and gets
//! are one packet, and so is what answers them. They are tried here first, at both ends; whatever is unusual about a call, its arguments,
//! a packet or the moment is left to the general way, which also says what is wrong with it.

use postrider_os::memory::UserMemory;

use super::direct::ACCUMULATE_BYTES_MAX;
use super::operation::{Block, Combination, Verb};
use super::transfer::Fetch;
use super::window::{Peer, Window};
use crate::datatypes::Kind;
use crate::objects::Key;
use crate::operations::Operator;
use crate::point_to_point::Buffer;
use crate::point_to_point::request::{Request, Work};
use crate::transports::Body;
use crate::transports::wire::{Header, Kind as PacketKind};
use crate::{Instance, State};

/// A run of memory of a window.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The window.
    pub window: Key,
    /// The rank in its group.
    pub rank: i32,
    /// In displacement units.
    pub displacement: i64,
    /// How long it is.
    pub bytes: u64,
}

impl Combination {
    /// How `operator` combines elements of `kind`, which have no gaps, if the standard allows it.
    #[inline]
    #[must_use]
    pub fn plain(operator: Operator, kind: Kind) -> Option<Self> {
        operator.is_allowed(kind).then_some(Self { operator, kind })
    }
}

/// The 4 or 8 bytes at `memory`, as the low ones of a word.
#[inline(always)]
fn bits(memory: UserMemory, bytes: u64) -> u64 {
    if bytes == 8 { memory.load() } else { u64::from(memory.load::<u32>()) }
}

#[inline(always)]
fn set_bits(memory: UserMemory, bytes: u64, bits: u64) {
    if bytes == 8 { memory.store(bits) } else { memory.store(bits as u32) }
}

impl Window {
    /// Whose memory a run is in, and where it begins there.
    #[inline(always)]
    fn find(&mut self, run: &Run) -> Option<(u32, i64)> {
        let rank = u32::try_from(run.rank).ok()?;
        let peer = self.peers.get(rank as usize)?;
        let offset = run.displacement.checked_mul(peer.unit).filter(|offset| *offset >= 0)?;
        let is_inside = run.displacement >= 0 && run.bytes as i64 <= peer.size - offset;
        (is_inside && self.epoch.allows(rank)).then_some((rank, offset))
    }

    /// Changes one element of 4 or 8 bytes at `there`, which is `rank`'s, if `change` says so; `result` gets what was there before.
    /// False when nothing has happened.
    #[inline(always)]
    fn change_one(
        &self,
        (rank, bytes): (u32, u64),
        there: UserMemory,
        result: Option<UserMemory>,
        change: impl FnOnce(u64) -> Option<u64>,
    ) -> bool {
        let Some(shared) = &self.shared else { return false };
        let Ok(_alone) = shared.accumulating(rank) else { return false };
        let before = bits(there, bytes);
        if let Some(after) = change(before) {
            set_bits(there, bytes, after);
        }
        if let Some(result) = result {
            set_bits(result, bytes, before);
        }
        true
    }
}

impl State {
    /// The window, whose memory a run is in, and where it is mapped.
    #[inline(always)]
    fn reach(&mut self, run: &Run) -> Option<(&mut Window, u32, UserMemory)> {
        let window = self.windows.get_mut(run.window).ok()?;
        let (rank, offset) = window.find(run)?;
        let base = window.peers[rank as usize].mapped?;
        Some((window, rank, base.offset(offset)))
    }

    /// Sends an operation on memory that is not mapped, if it fits in one packet, which leaves at once.
    fn send_access(&mut self, run: &Run, verb: Verb, request: Key, data: UserMemory) -> Option<&mut Peer> {
        let window = self.windows.get_mut(run.window).ok()?;
        let (rank, offset) = window.find(run)?;
        let process = window.peers[rank as usize].process;
        let is_short = run.bytes > 0 && run.bytes < window.copied_bytes_min && process != self.own;
        let (context, source, tag) = (window.context, window.rank, verb as i32);
        let (bytes, third) = if verb == Verb::Get { (0, run.bytes) } else { (run.bytes, 0) };
        let words = [u64::from(request.0), offset as u64, third];
        let header = Header { kind: PacketKind::OneSided, context, source, tag, words };
        if is_short && self.send_at_once(process, &header, data, bytes) {
            Some(self.windows.get_mut(run.window).ok()?.peer(rank))
        } else {
            None
        }
    }

    /// Sends a packet that is not kept waiting by others, if there is room.
    #[inline(always)]
    fn send_at_once(&mut self, process: u32, header: &Header, body: UserMemory, bytes: u64) -> bool {
        self.outgoing[process as usize].is_empty()
            && bytes <= self.part_bytes_max(process)
            && self.transport.send(process, header, body, bytes as usize).is_ok_and(|sent| sent)
    }

    /// A packet of a window has come: does what it says, if that is usual. False when that has to be done the general way; a put may
    /// have been written then, and is written again.
    #[inline(never)]
    pub(crate) fn take_plain(&mut self, process: u32, header: &Header, body: &Body) -> bool {
        let is_done = self.take_usual(process, header, body).is_some();
        self.completions = self.completions.wrapping_add(u64::from(is_done));
        is_done
    }

    #[inline(always)]
    fn take_usual(&mut self, process: u32, header: &Header, body: &Body) -> Option<()> {
        let Body::Memory(data, bytes) = *body else { return None };
        let key = *self.window_contexts.get(&header.context)?;
        let window = self.windows.get_mut(key).ok()?;
        let [first, offset, third] = header.words;
        let peer = window.peers.get_mut(header.source as usize)?;
        let is_usual = peer.process == process && peer.fault.is_none() && first >> 32 == 0;
        let verb = Verb::from_number(header.tag).filter(|_| is_usual)?;
        let (answer, request, place, length) = match verb {
            Verb::Marked if first == 0 => {
                peer.marks = peer.marks.checked_sub(1)?;
                return Some(());
            }
            Verb::Put | Verb::PutAndMark => {
                let block = Block { offset: offset as i64, length: bytes as u64 };
                data.copy_to(window.place(&block, block.length)?, bytes);
                if verb == Verb::Put {
                    return Some(());
                }
                (Verb::Marked, 0, self.nowhere, 0)
            }
            Verb::Get if bytes == 0 => {
                let block = Block { offset: offset as i64, length: third };
                (Verb::Answer, first, window.place(&block, third)?, third)
            }
            _ => return None,
        };
        let (context, source, tag) = (window.context, window.rank, answer as i32);
        let header = Header { kind: PacketKind::OneSided, context, source, tag, words: [request, 0, 0] };
        self.send_at_once(process, &header, place, length).then_some(())
    }

    #[inline(never)]
    fn put_by_packet(&mut self, run: &Run, data: UserMemory) -> bool {
        let window = self.windows.get_mut(run.window).ok();
        let peer = window.and_then(|window| window.peers.get_mut(run.rank as usize));
        // A put that has not been waited for was not alone.
        let asks = peer.is_some_and(|peer| {
            peer.asks &= peer.marks == 0;
            peer.asks
        });
        let verb = if asks { Verb::PutAndMark } else { Verb::Put };
        let Some(peer) = self.send_access(run, verb, Key(0), data) else { return false };
        if asks {
            (peer.silent, peer.marks) = (0, peer.marks + 1);
        } else {
            peer.silent += 1;
        }
        true
    }

    #[inline(never)]
    fn get_by_packet(&mut self, run: &Run, result: UserMemory) -> bool {
        let (window, rank) = (run.window, run.rank as u32);
        let Ok(found) = self.windows.get(window) else { return false };
        // Where it will be copied, no request is needed.
        if run.bytes >= found.copied_bytes_min {
            return false;
        }
        let communicator = found.communicator;
        let fetch = Fetch { window, rank, result: Buffer::dense(result, run.bytes), left: run.bytes };
        let work = Work::Access(Some(Box::new(fetch)));
        let Ok(request) = self.requests.insert(Request { work, communicator, orphan: true }) else {
            return false;
        };
        let sent = self.send_access(run, Verb::Get, request, self.nowhere);
        let sent = sent.map(|peer| peer.unanswered += 1).is_some();
        if !sent {
            let _ = self.requests.remove(request);
        }
        sent
    }
}

impl Instance {
    /// `MPI_Put`; false when nothing has happened.
    #[inline(always)]
    pub fn put_plain(&self, run: &Run, data: UserMemory) -> bool {
        let mut state = self.lock();
        let Some((window, _, there)) = state.reach(run) else { return state.put_by_packet(run, data) };
        window.has_written = true;
        data.copy_to(there, run.bytes as usize);
        true
    }

    /// `MPI_Get`; false when nothing has happened.
    #[inline(always)]
    pub fn get_plain(&self, run: &Run, result: UserMemory) -> bool {
        let mut state = self.lock();
        let Some((_, _, there)) = state.reach(run) else { return state.get_by_packet(run, result) };
        there.copy_to(result, run.bytes as usize);
        true
    }

    /// `MPI_Accumulate`, or with a place for what was there before `MPI_Get_accumulate`; false when nothing has happened.
    #[inline]
    pub fn combine_plain(
        &self,
        run: &Run,
        combination: Combination,
        data: UserMemory,
        result: Option<UserMemory>,
    ) -> bool {
        let mut state = self.lock();
        let Some((window, rank, there)) = state.reach(run) else { return false };
        let (Combination { operator, kind }, bytes) = (combination, run.bytes);
        match operator.of_bits(kind) {
            Some(of_bits) if bytes == kind.size() as u64 => {
                // Who only looks does not write: the owner may, meanwhile.
                let writes = operator != Operator::NoOp;
                window.change_one((rank, bytes), there, result, |before| {
                    writes.then(|| of_bits(bits(data, bytes), before))
                })
            }
            _ if bytes > ACCUMULATE_BYTES_MAX => false,
            _ => window.combine_part(rank, combination, bytes, (data, there), result).is_ok(),
        }
    }

    /// `MPI_Compare_and_swap`; false when nothing has happened.
    #[inline]
    pub fn swap_plain(
        &self,
        run: &Run,
        (compare, new): (UserMemory, UserMemory),
        result: UserMemory,
    ) -> bool {
        let mut state = self.lock();
        let Some((window, rank, there)) = state.reach(run) else { return false };
        match run.bytes {
            bytes @ (4 | 8) => window.change_one((rank, bytes), there, Some(result), |before| {
                (before == bits(compare, bytes)).then(|| bits(new, bytes))
            }),
            bytes => window.swap(rank, bytes as usize, (compare, new), (result, there)).is_ok(),
        }
    }
}
