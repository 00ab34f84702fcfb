//! Windows (MPI 5.0, section 12.2): memory of each process of a group that the others access.
//!
//! A window has a private duplicate of its communicator, whose contexts keep its packets and its collective calls apart from
//! everything else. Sizes and displacement units of all processes are known everywhere, so that an access outside of a
//! window is refused where it is started. Only of dynamic windows the target alone knows what is attached; it tells the
//! origin with the answer, or with the next confirmation.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use postrider_abi::{
    MPI_ERR_DISP, MPI_ERR_RANK, MPI_ERR_RMA_ATTACH, MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_RANGE,
    MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED,
    MPI_WIN_UNIFIED,
};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::epoch::Epoch;
use super::lock_queue::LockQueue;
use super::operation::Block;
use super::shared::Shared;
use crate::communicators::Group;
use crate::communicators::caching::Attributes;
use crate::datatypes::Datatype;
use crate::environment::Handler;
use crate::error::{Error, Result};
use crate::info::Info;
use crate::objects::Key;

/// Ranks of a window's group.
pub(crate) type Ranks = Arc<[u32]>;

/// The most groups whose ranks a window keeps.
pub(crate) const GROUPS_MAX: usize = 4;
/// How many calls that have nothing to wait for look once.
const CALLS_PER_LOOK: u32 = 128;

/// How a window was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// Of memory of the program.
    Create,
    /// With memory of its own.
    Allocate,
    /// Without memory, which is attached later.
    Dynamic,
    /// With memory that its processes share.
    Shared,
}

impl Flavor {
    fn number(self) -> i32 {
        match self {
            Self::Create => MPI_WIN_FLAVOR_CREATE,
            Self::Allocate => MPI_WIN_FLAVOR_ALLOCATE,
            Self::Dynamic => MPI_WIN_FLAVOR_DYNAMIC,
            Self::Shared => MPI_WIN_FLAVOR_SHARED,
        }
    }
}

/// A predefined attribute of a window (section 12.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Where the memory begins.
    Base,
    /// Its size.
    Size,
    /// The displacement unit.
    DisplacementUnit,
    /// How the window was made.
    Flavor,
    /// Its memory model.
    Model,
}

/// A window, as one of its processes sees it.
#[derive(Debug)]
pub struct Window {
    /// The private communicator.
    pub communicator: Key,
    /// The context of the window's packets.
    pub(crate) context: u64,
    /// This process's rank.
    pub rank: u32,
    /// How it was made.
    pub flavor: Flavor,
    /// Where this process's memory begins.
    pub(crate) base: UserMemory,
    /// The name (`MPI_Win_set_name`).
    pub name: Vec<u8>,
    /// The hints.
    pub info: Info,
    /// Attributes, by key.
    pub attributes: Attributes,
    /// Where errors go.
    pub handler: Handler,
    /// Whether locks are never taken, as the hint `no_locks` promises; the first that is taken all the same ends that.
    pub has_no_locks: bool,
    /// Whether this process has written to memory of others since the last flush, in a way that does not order what follows.
    pub(crate) has_written: bool,
    /// The epochs of this process.
    pub(crate) epoch: Epoch,
    /// The locks of this process's memory.
    pub(crate) locks: LockQueue,
    /// All processes, this one too, by rank.
    pub(crate) peers: Vec<Peer>,
    /// The groups that were used last with `MPI_Win_start` and `MPI_Win_post`, and their ranks here.
    pub(crate) groups: VecDeque<(Arc<Group>, Ranks)>,
    /// Calls that found nothing to wait for, and went on without a look at what has come.
    unlooked: u32,
    /// What is attached to a dynamic window: lengths by address.
    attached: BTreeMap<usize, usize>,
    /// The predefined attributes' values, which programs read by address.
    facts: OwnedMemory,
    /// The memory of an allocated window, if it is this process's alone.
    pub(crate) memory: Option<OwnedMemory>,
    /// The memory of an allocated window that all its processes map.
    pub(crate) shared: Option<Shared>,
    /// The shortest gets and puts that are copied from and to memory of another process of this host, in bytes.
    pub(crate) copied_bytes_min: u64,
}

/// A process of a window, and what is under way between it and this one.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    /// Its number.
    pub process: u32,
    /// Bytes of its memory.
    pub size: i64,
    /// Its displacement unit.
    pub unit: i64,
    /// Where its memory begins here, if this process has mapped it.
    pub mapped: Option<UserMemory>,
    /// Where its memory begins in its own address space, if this process may copy from and to there.
    pub address: Option<u64>,
    /// Operations that are answered, and have not been.
    pub unanswered: u32,
    /// Operations whose data has not left this process.
    pub unsent: u32,
    /// How much was sent since the last mark of which it will not say by itself when it is done.
    pub silent: u32,
    /// The last flush waited for one such thing: a short put is a mark as well, and saves the flush a packet.
    pub asks: bool,
    /// Marks that were sent, and have not come back.
    pub marks: u32,
    /// It has granted this process a lock.
    pub granted: bool,
    /// How often it has said by packets that it has posted, and completed.
    pub posts: u32,
    pub completes: u32,
    /// How many of its `MPI_Win_post`s a `MPI_Win_start` of this process has answered.
    pub started: u32,
    /// How many of its `MPI_Win_complete`s a `MPI_Win_wait` of this process has answered.
    pub waited: u32,
    /// What went wrong with this process's operations there.
    pub failed: Option<i32>,
    /// What went wrong with its operations here, and has not been told.
    pub fault: Option<i32>,
}

/// What a process says of its part of a new window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Bytes of memory.
    pub size: i64,
    /// The displacement unit.
    pub unit: i64,
    /// How the window's own memory is to be aligned.
    pub alignment: u64,
    /// Whether shared memory need not be in one piece.
    pub apart: bool,
}

#[cold]
fn no_such_rank(rank: i32, ranks: usize) -> Error {
    let last = ranks - 1;
    Error::new(MPI_ERR_RANK, format!("rank {rank} is not in the window's group, which has ranks 0 to {last}"))
}

#[cold]
fn negative(displacement: i64) -> Error {
    Error::new(MPI_ERR_DISP, format!("the displacement is {displacement}; it must not be negative"))
}

#[cold]
fn leaves(displacement: i64, rank: u32, peer: &Peer) -> Error {
    let detail = format!(
        "an access at displacement {displacement} leaves the window, which has {} bytes at rank {rank}, with a \
         displacement unit of {}",
        peer.size, peer.unit
    );
    Error::new(MPI_ERR_RMA_RANGE, detail)
}

impl Window {
    pub(crate) fn new(communicator: Key, flavor: Flavor, base: UserMemory, own: Part) -> Self {
        let mut facts = OwnedMemory::new(24);
        let place = UserMemory::of(&mut facts);
        place.store(own.size);
        place.offset(8).store(own.unit as i32);
        place.offset(12).store(flavor.number());
        place.offset(16).store(MPI_WIN_UNIFIED);
        Self {
            communicator,
            context: 0,
            rank: 0,
            flavor,
            base,
            name: Vec::new(),
            info: Info::default(),
            attributes: Attributes::default(),
            handler: Handler::Fatal,
            has_no_locks: false,
            has_written: false,
            epoch: Epoch::default(),
            locks: LockQueue::default(),
            peers: Vec::new(),
            groups: VecDeque::new(),
            unlooked: 0,
            attached: BTreeMap::new(),
            facts,
            memory: None,
            shared: None,
            copied_bytes_min: u64::MAX,
        }
    }

    /// The value of a predefined attribute: the address of the number, or of the memory.
    pub fn fact(&mut self, fact: Fact) -> usize {
        let place = UserMemory::of(&mut self.facts);
        match fact {
            Fact::Base => self.base.address(),
            Fact::Size => place.address(),
            Fact::DisplacementUnit => place.offset(8).address(),
            Fact::Flavor => place.offset(12).address(),
            Fact::Model => place.offset(16).address(),
        }
    }

    /// Bytes of this process's memory.
    #[must_use]
    pub fn size(&self) -> i64 {
        self.peers.get(self.rank as usize).map_or(0, |peer| peer.size)
    }

    /// Where this process's memory begins.
    #[must_use]
    pub fn address(&self) -> usize {
        self.base.address()
    }

    /// The rank that an argument means.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`.
    #[inline]
    pub fn rank_of(&self, rank: i32) -> Result<u32> {
        match u32::try_from(rank) {
            Ok(found) if (found as usize) < self.peers.len() => Ok(found),
            _ => Err(no_such_rank(rank, self.peers.len())),
        }
    }

    /// Whether a call that has nothing to wait for is to look at what has come all the same: a program that locks or flushes again
    /// and again may wait for what others do.
    #[inline]
    pub(crate) fn looks_now(&mut self) -> bool {
        self.unlooked += 1;
        self.unlooked >= CALLS_PER_LOOK
    }

    /// A call looks at what has come.
    pub(crate) fn note_look(&mut self) {
        self.unlooked = 0;
    }

    pub(crate) fn peer(&mut self, rank: u32) -> &mut Peer {
        &mut self.peers[rank as usize]
    }

    /// Where an access at `displacement` begins, in bytes from the beginning of `rank`'s memory; it touches the bytes of
    /// `span` around there.
    ///
    /// # Errors
    /// When that is not in the window.
    #[inline]
    pub(crate) fn offset_of(&self, rank: u32, displacement: i64, span: Option<(i64, i64)>) -> Result<i64> {
        let peer = &self.peers[rank as usize];
        if self.flavor == Flavor::Dynamic {
            return Ok(displacement);
        }
        if displacement < 0 {
            return Err(negative(displacement));
        }
        let outside = || leaves(displacement, rank, peer);
        let offset = displacement.checked_mul(peer.unit).ok_or_else(outside)?;
        if let Some((first, end)) = span {
            let inside = offset.checked_add(first).is_some_and(|first| first >= 0)
                && offset.checked_add(end).is_some_and(|end| end <= peer.size);
            if !inside {
                return Err(outside());
            }
        }
        Ok(offset)
    }

    /// Whether all `bytes` bytes at `offset` belong to `rank`'s memory; of a dynamic window, this process's.
    fn contains(&self, rank: u32, offset: i64, bytes: u64) -> bool {
        let Ok(start) = u64::try_from(offset) else { return bytes == 0 };
        let Some(end) = start.checked_add(bytes) else { return false };
        if self.flavor != Flavor::Dynamic {
            return end <= self.peers[rank as usize].size as u64;
        }
        // Memory that was attached in parts, one after the other, is memory like any other.
        let mut reached = start;
        while reached < end {
            let before = self.attached.range(..=reached as usize).rfind(|(_, length)| **length > 0);
            match before.map(|(&address, &length)| address.saturating_add(length) as u64) {
                Some(next) if next > reached => reached = next,
                _ => return false,
            }
        }
        true
    }

    /// Where a block of this process's memory is, if all `bytes` bytes of it are in the window.
    pub(crate) fn place(&self, block: &Block, bytes: u64) -> Option<UserMemory> {
        self.contains(self.rank, block.offset, bytes).then(|| self.base.offset(block.offset))
    }

    /// The same in the memory of `rank`, which this process has mapped.
    pub(crate) fn place_at(&self, rank: u32, block: &Block, bytes: u64) -> Option<UserMemory> {
        let base = self.peers[rank as usize].mapped?;
        self.contains(rank, block.offset, bytes).then(|| base.offset(block.offset))
    }

    /// Where elements begin in the memory of `rank`, if that is mapped here and they lie in one run.
    #[inline]
    pub(crate) fn run_at(
        &self,
        rank: u32,
        offset: i64,
        datatype: &Datatype,
        count: i64,
    ) -> Option<UserMemory> {
        let base = self.peers[rank as usize].mapped.filter(|_| datatype.is_dense_for(count))?;
        Some(base.offset(offset + datatype.true_lb()))
    }

    /// What this process can reach of `rank`'s memory: bytes, displacement unit and address. None stands for the first process that
    /// has some (`MPI_PROC_NULL`).
    ///
    /// # Errors
    /// When the window is dynamic.
    pub fn reachable(&self, rank: Option<u32>) -> Result<(i64, i64, usize)> {
        if self.flavor == Flavor::Dynamic {
            let detail = "the memory of a dynamic window cannot be shared; use MPI_Win_allocate_shared";
            return Err(Error::new(MPI_ERR_RMA_FLAVOR, detail));
        }
        let is_some = |rank: &u32| self.peers[*rank as usize].size > 0;
        let Some(rank) = rank.or_else(|| (0..self.peers.len() as u32).find(is_some)) else {
            return Ok((0, 1, 0));
        };
        let peer = &self.peers[rank as usize];
        let base = peer.mapped.or((rank == self.rank).then_some(self.base));
        Ok(base.map_or((0, peer.unit, 0), |place| (peer.size, peer.unit, place.address())))
    }

    /// Attaches memory (`MPI_Win_attach`).
    ///
    /// # Errors
    /// When the window is not dynamic, or part of the memory is attached already.
    pub fn attach(&mut self, address: usize, bytes: usize) -> Result<()> {
        self.check_dynamic("MPI_Win_attach")?;
        let end = address.saturating_add(bytes);
        let before = self.attached.range(..end).rfind(|(_, length)| **length > 0);
        if bytes > 0 && before.is_some_and(|(&other, &length)| other.saturating_add(length) > address) {
            return Err(Error::new(
                MPI_ERR_RMA_ATTACH,
                "part of this memory is attached to the window already",
            ));
        }
        if bytes > 0 && address == 0 {
            return Err(Error::new(MPI_ERR_RMA_ATTACH, "the memory is a null pointer"));
        }
        // Memory without bytes may be attached at the address of another; there is nothing to be found in it.
        let length = self.attached.entry(address).or_default();
        *length = bytes.max(*length);
        Ok(())
    }

    /// Detaches memory (`MPI_Win_detach`).
    ///
    /// # Errors
    /// When no attached memory begins there.
    pub fn detach(&mut self, address: usize) -> Result<()> {
        self.check_dynamic("MPI_Win_detach")?;
        match self.attached.remove(&address) {
            Some(_) => Ok(()),
            None => Err(Error::new(MPI_ERR_RMA_ATTACH, "no memory that begins at this address is attached")),
        }
    }

    fn check_dynamic(&self, call: &str) -> Result<()> {
        match self.flavor {
            Flavor::Dynamic => Ok(()),
            _ => Err(Error::new(
                MPI_ERR_RMA_FLAVOR,
                format!("{call} needs a window of MPI_Win_create_dynamic"),
            )),
        }
    }
}

/// The hints that a window heeds, with what holds without them.
const HINTS: [(&str, &str); 5] = [
    ("no_locks", "false"),
    ("accumulate_ordering", "rar,raw,war,waw"),
    ("accumulate_ops", "same_op_no_op"),
    ("same_size", "false"),
    ("same_disp_unit", "false"),
];
/// The hint of windows that have memory of their own.
const NONCONTIGUOUS: (&str, &str) = ("alloc_shared_noncontig", "false");

impl Window {
    /// Takes over the hints that windows know.
    ///
    /// # Errors
    /// When a value is too long.
    pub fn heed(&mut self, given: &Info) -> Result<()> {
        for (key, value) in self.hints() {
            let value = given.value(key).or(self.info.value(key)).unwrap_or(value.as_bytes()).to_owned();
            self.info.set(key, value)?;
        }
        self.has_no_locks = self.info.get("no_locks") == Some("true");
        Ok(())
    }

    fn hints(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let shared = matches!(self.flavor, Flavor::Shared | Flavor::Allocate);
        HINTS.into_iter().chain(shared.then_some(NONCONTIGUOUS))
    }

    /// Whether another process may need this one while the program computes.
    pub(crate) fn needs_helper(&self) -> bool {
        self.peers.len() > 1 && self.shared.is_none() && !self.has_no_locks
    }
}
