//! The memory of a window whose processes are all on one host, as one segment that all of them map.
//!
//! ```text
//! 0         control: for each process the locks of its memory
//!             +0   mutex of accumulates       +4   mutex of the words below
//!             +8   how many hold the lock shared
//!             +12  1 if it is held exclusively
//!             +16  head and tail of the queue, which count on
//!             +24  how often those who wait to be alone have been overtaken
//!             +28  the queue: a word for each process at least, with a rank and a kind of lock
//! memory    the processes' memory: one after the other without gaps, or each from a page of its own
//! ```
//!
//! Locks are taken under the mutex by their processes themselves, and granted as in
//! [`LockQueue`](super::lock_queue). Whoever gives a lock back tells those who have it now by a packet, so that they wait like
//! for anything else, and make progress meanwhile. Of the two mutexes, that of accumulates is held as long as a part of one takes.

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::memory::UserMemory;
use postrider_os::mutex::SharedMutex;
use postrider_os::shared_memory::Segment;
use postrider_os::sync::AtomicU32;
use postrider_os::sync::Ordering::Relaxed;

use super::lock_queue::{LockKind, Manner, OVERTAKEN_MAX};
use crate::error::{Error, Result};
use crate::transports::Waiter;

/// Where everything is in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Bytes of each process's control.
    control: usize,
    /// Where each process's memory begins.
    pub starts: Vec<usize>,
    /// Bytes of the whole segment.
    pub bytes: usize,
}

impl Plan {
    /// The plan for memories of these sizes; `alignment`, a power of two, is that of each if they are apart, and else that of the first.
    /// None when there cannot be so much memory.
    pub fn new(sizes: impl Iterator<Item = u64> + Clone, apart: bool, alignment: usize) -> Option<Self> {
        let count = sizes.clone().count();
        let control = (28 + 4 * count.next_power_of_two()).next_multiple_of(64);
        let mut end = (control * count).next_multiple_of(alignment);
        let mut starts = Vec::with_capacity(count);
        for size in sizes {
            starts.push(end);
            end = end.checked_add(usize::try_from(size).ok()?)?;
            end = if apart { end.checked_next_multiple_of(alignment)? } else { end };
        }
        let bytes = end.max(1);
        isize::try_from(bytes).ok()?;
        Some(Self { control, starts, bytes })
    }
}

/// The segment of a window, mapped.
#[derive(Debug)]
pub(crate) struct Shared {
    segment: Segment,
    plan: Plan,
    waiter: Waiter,
}

impl Shared {
    /// The segment, if it is as long as the plan says.
    pub fn new(segment: Segment, plan: Plan, waiter: Waiter) -> Option<Self> {
        (segment.bytes() >= plan.bytes).then_some(Self { segment, plan, waiter })
    }

    /// Everybody has mapped it.
    pub fn close(&mut self) {
        self.segment.close();
    }

    /// Where `rank`'s memory begins here.
    pub fn base(&self, rank: u32) -> UserMemory {
        self.segment.place(self.plan.starts[rank as usize], 0)
    }

    fn word(&self, rank: u32, offset: usize) -> &AtomicU32 {
        self.segment.word32(rank as usize * self.plan.control + offset)
    }

    /// Keeps all other processes from the same mutex until what is returned is dropped.
    #[inline]
    fn alone(&self, rank: u32, mutex: usize) -> Result<Alone<'_>> {
        let mutex = SharedMutex::new(self.word(rank, mutex));
        if mutex.lock(|| self.waiter.check().is_ok()) { Ok(Alone(mutex)) } else { Err(held_for_ever(rank)) }
    }

    /// A part of an accumulate on `rank`'s memory is done until what is returned is dropped.
    #[inline]
    pub fn accumulating(&self, rank: u32) -> Result<Alone<'_>> {
        self.alone(rank, 0)
    }

    /// `own` wants the lock of `rank`'s memory; true when it has it at once.
    pub fn request(&self, rank: u32, own: u32, kind: LockKind, manner: Manner) -> Result<bool> {
        let _alone = self.alone(rank, 4)?;
        let queue = self.queue(rank);
        let overtakes = !queue.is_empty();
        let may_overtake = manner == Manner::Urgent || queue.get(24) < OVERTAKEN_MAX;
        let at_once = (!overtakes || kind == LockKind::Shared && may_overtake) && queue.take(kind);
        if !at_once {
            queue.push(own, kind);
        } else if overtakes && manner == Manner::Patient {
            queue.set(24, queue.get(24) + 1);
        }
        Ok(at_once)
    }

    /// A lock of `kind` on `rank`'s memory is given back; returns who has got it now.
    pub fn release(&self, rank: u32, kind: LockKind) -> Result<Vec<u32>> {
        let _alone = self.alone(rank, 4)?;
        let queue = self.queue(rank);
        queue.give_back(kind);
        Ok(if queue.is_free() { queue.grant() } else { Vec::new() })
    }

    fn queue(&self, rank: u32) -> Queue<'_> {
        Queue { shared: self, rank }
    }
}

/// A mutex that is held.
pub(crate) struct Alone<'a>(SharedMutex<'a>);

impl Drop for Alone<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unlock();
    }
}

#[cold]
fn held_for_ever(rank: u32) -> Error {
    let detail =
        format!("a lock on the memory of rank {rank} is held for ever: a process of the window has died");
    Error::new(MPI_ERR_OTHER, detail)
}

/// The lock of one process's memory, while the mutex is held: its words can be read and written one by one.
struct Queue<'a> {
    shared: &'a Shared,
    rank: u32,
}

impl Queue<'_> {
    fn get(&self, offset: usize) -> u32 {
        self.shared.word(self.rank, offset).load(Relaxed)
    }

    fn set(&self, offset: usize, value: u32) {
        self.shared.word(self.rank, offset).store(value, Relaxed);
    }

    fn is_empty(&self) -> bool {
        self.get(16) == self.get(20)
    }

    fn place(&self, number: u32) -> usize {
        28 + 4 * (number as usize & (self.shared.plan.starts.len().next_power_of_two() - 1))
    }

    fn is_free(&self) -> bool {
        self.get(8) == 0 && self.get(12) == 0
    }

    fn push(&self, rank: u32, kind: LockKind) {
        let tail = self.get(20);
        self.set(self.place(tail), rank << 1 | u32::from(kind == LockKind::Exclusive));
        self.set(20, tail.wrapping_add(1));
    }

    /// Takes the oldest request out.
    fn pop(&self) -> Option<(u32, LockKind)> {
        if self.is_empty() {
            return None;
        }
        let head = self.get(16);
        let entry = self.get(self.place(head));
        self.set(16, head.wrapping_add(1));
        let kind = if entry & 1 == 0 { LockKind::Shared } else { LockKind::Exclusive };
        Some((entry >> 1, kind))
    }

    /// The lock is free: whoever is first gets it, and everybody who shares it with that one.
    fn grant(&self) -> Vec<u32> {
        let Some((first, kind)) = self.pop() else { return Vec::new() };
        self.take(kind);
        let mut granted = vec![first];
        if kind == LockKind::Exclusive {
            self.set(24, 0);
            return granted;
        }
        for _ in 0..self.get(20).wrapping_sub(self.get(16)) {
            match self.pop() {
                Some((rank, LockKind::Shared)) => {
                    self.take(LockKind::Shared);
                    granted.push(rank);
                }
                Some((rank, kind)) => self.push(rank, kind),
                None => break,
            }
        }
        granted
    }

    /// Takes the lock if those who hold it allow that.
    fn take(&self, kind: LockKind) -> bool {
        let (shared, exclusive) = (self.get(8), self.get(12));
        match kind {
            LockKind::Shared if exclusive == 0 => self.set(8, shared + 1),
            LockKind::Exclusive if exclusive == 0 && shared == 0 => self.set(12, 1),
            _ => return false,
        }
        true
    }

    fn give_back(&self, kind: LockKind) {
        match kind {
            LockKind::Shared => self.set(8, self.get(8).saturating_sub(1)),
            LockKind::Exclusive => self.set(12, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lock_queue::LockQueue;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    const RANKS: u32 = 5;

    fn shared(sizes: &[u64], apart: bool) -> Shared {
        let plan = Plan::new(sizes.iter().copied(), apart, 4096).unwrap();
        let segment = Segment::create(plan.bytes).unwrap();
        Shared::new(segment, plan, Waiter::Alone(Arc::default())).unwrap()
    }

    proptest! {
        #[test]
        fn it_grants_as_the_queue_of_messages_does(steps in prop::collection::vec((0..RANKS, any::<bool>(), any::<bool>()), 0..80)) {
            let shared = shared(&[8; RANKS as usize], false);
            let (mut model, mut held, mut waiting) = (LockQueue::default(), BTreeMap::new(), BTreeMap::new());
            for (rank, exclusive, urgent) in steps {
                let kind = if exclusive { LockKind::Exclusive } else { LockKind::Shared };
                let manner = if urgent { Manner::Urgent } else { Manner::Patient };
                let in_line = waiting.contains_key(&rank);
                if let Some(kind) = held.remove(&rank) {
                    let granted = shared.release(3, kind).unwrap();
                    prop_assert_eq!(Some(granted.clone()), model.release(rank));
                    held.extend(granted.iter().map(|rank| (*rank, waiting.remove(rank).unwrap())));
                } else if !in_line {
                    let at_once = shared.request(3, rank, kind, manner).unwrap();
                    prop_assert_eq!(at_once, model.request(rank, kind, manner));
                    if at_once { held.insert(rank, kind) } else { waiting.insert(rank, kind) };
                }
            }
        }

        #[test]
        fn memories_do_not_overlap(sizes in prop::collection::vec(0_u64..10_000, 1..9), apart: bool) {
            let plan = Plan::new(sizes.iter().copied(), apart, 4096).unwrap();
            let mut end = plan.control * sizes.len();
            for (rank, (&start, &size)) in plan.starts.iter().zip(&sizes).enumerate() {
                prop_assert!(start >= end && (start % 4096 == 0 || !apart && rank > 0));
                prop_assert!(apart || rank == 0 || start == end);
                end = start + size as usize;
            }
            prop_assert!(plan.bytes >= end);
        }
    }

    #[test]
    fn too_much_memory_is_no_plan() {
        assert_eq!(Plan::new([u64::MAX, 1].into_iter(), true, 64), None);
        assert_eq!(Plan::new([1 << 62, 1 << 62].into_iter(), false, 64), None);
    }
}
