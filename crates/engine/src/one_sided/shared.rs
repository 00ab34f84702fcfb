//! The memory of a window whose processes are all on one host, as one segment that all of them map.
//!
//! ```text
//! 0         control: for each process the locks of its memory, and from the next cache line on what it is told
//!             +0   mutex of accumulates       +4   mutex of the words below
//!             +8   who holds the lock: how many share it, or `EXCLUSIVE`; and `CONTENDED`
//!             +12  head and tail of the queue, which count on
//!             +20  how often those who wait to be alone have been overtaken
//!             +24  the queue: a word for each process at least, with a rank and a kind of lock
//!             +0   for each process: how often it has exposed its memory to this one, and completed its accesses here
//! memory    the processes' memory: one after the other without gaps, or each from a page of its own
//! ```
//!
//! Locks are taken by their processes themselves, and granted as in [`LockQueue`](super::lock_queue): with one atomic operation
//! as long as nobody has to wait, and else under the mutex. Whoever gives a lock back tells those who have it now by a packet, so that they wait like
//! for anything else, and make progress meanwhile. Of the two mutexes, that of accumulates is held as long as a part of one takes.
//!
//! What `MPI_Win_post` and `MPI_Win_complete` tell another process is a count that nobody else changes, and its doorbell.

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::job::RankBell;
use postrider_os::memory::UserMemory;
use postrider_os::mutex::SharedMutex;
use postrider_os::shared_memory::Segment;
use postrider_os::sync::AtomicU32;
use postrider_os::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::lock_queue::{LockKind, Manner, OVERTAKEN_MAX};
use super::operation::Verb;
use crate::error::{Error, Result};
use crate::transports::Waiter;

/// Of the word that says who holds a lock: one process holds it alone.
const EXCLUSIVE: u32 = 1 << 30;
/// And: processes wait in line, or one changes the lock under its mutex. Then all others go there too.
const CONTENDED: u32 = 1 << 31;

/// Where everything is in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Bytes of each process's control, and where in it is what it is told.
    control: usize,
    told: usize,
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
        let told = (24 + 4 * count.next_power_of_two()).next_multiple_of(64);
        let control = (told + 8 * count).next_multiple_of(64);
        let mut end = (control * count).next_multiple_of(alignment);
        let mut starts = Vec::with_capacity(count);
        for size in sizes {
            starts.push(end);
            end = end.checked_add(usize::try_from(size).ok()?)?;
            end = if apart { end.checked_next_multiple_of(alignment)? } else { end };
        }
        let bytes = end.max(1);
        isize::try_from(bytes).ok()?;
        Some(Self { control, told, starts, bytes })
    }
}

/// The segment of a window, mapped.
#[derive(Debug)]
pub(crate) struct Shared {
    segment: Segment,
    plan: Plan,
    waiter: Waiter,
    /// What wakes each process; empty where packets do that.
    bells: Vec<RankBell>,
}

impl Shared {
    /// The segment, if it is as long as the plan says, of a window of these processes.
    pub fn new(segment: Segment, plan: Plan, waiter: Waiter, processes: &[u32]) -> Option<Self> {
        let bells = match &waiter {
            Waiter::Doorbell(job, _) => processes.iter().map(|&process| job.bell_of(process)).collect(),
            _ => Vec::new(),
        };
        (segment.bytes() >= plan.bytes).then_some(Self { segment, plan, waiter, bells })
    }

    /// Everybody has mapped it.
    pub fn close(&mut self) {
        self.segment.close();
    }

    /// Where `rank`'s memory begins here.
    pub fn base(&self, rank: u32) -> UserMemory {
        self.segment.place(self.plan.starts[rank as usize], 0)
    }

    #[inline]
    fn word(&self, rank: u32, offset: usize) -> &AtomicU32 {
        self.segment.word32(rank as usize * self.plan.control + offset)
    }

    /// What process `to` is told by `from`.
    #[inline]
    fn told(&self, to: u32, from: u32, news: Verb) -> &AtomicU32 {
        let kind = usize::from(news == Verb::Complete);
        self.word(to, self.plan.told + 8 * from as usize + 4 * kind)
    }

    /// Tells process `to` that `own` has posted or completed; false when only packets wake it.
    #[inline]
    pub fn tell(&self, own: u32, to: u32, news: Verb) -> bool {
        let Some(bell) = self.bells.get(to as usize) else { return false };
        let count = self.told(to, own, news);
        count.store(count.load(Relaxed).wrapping_add(1), Release);
        bell.ring();
        true
    }

    /// How often `from` has told `own` so; none when packets do that.
    #[inline]
    pub fn heard(&self, own: u32, from: u32, news: Verb) -> Option<u32> {
        (!self.bells.is_empty()).then(|| self.told(own, from, news).load(Acquire))
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
    #[inline]
    pub fn request(
        &self,
        rank: u32,
        own: u32,
        kind: LockKind,
        manner: impl FnOnce() -> Manner,
    ) -> Result<bool> {
        if self.take_at_once(rank, kind) { Ok(true) } else { self.request_in_line(rank, own, kind, manner()) }
    }

    /// Takes the lock of `rank`'s memory if it is free and nobody waits for it.
    #[inline(always)]
    pub fn take_at_once(&self, rank: u32, kind: LockKind) -> bool {
        let holders = self.word(rank, 8);
        let (before, after) = match kind {
            LockKind::Exclusive => (0, EXCLUSIVE),
            LockKind::Shared => {
                let sharing = holders.load(Relaxed);
                (sharing, sharing.wrapping_add(1))
            }
        };
        before < EXCLUSIVE && holders.compare_exchange(before, after, Acquire, Relaxed).is_ok()
    }

    #[cold]
    fn request_in_line(&self, rank: u32, own: u32, kind: LockKind, manner: Manner) -> Result<bool> {
        let _alone = self.alone(rank, 4)?;
        let queue = self.queue(rank);
        let overtakes = !queue.is_empty();
        let may_overtake = manner == Manner::Urgent || queue.get(20) < OVERTAKEN_MAX;
        let at_once = (!overtakes || kind == LockKind::Shared && may_overtake) && queue.take(kind);
        if !at_once {
            queue.push(own, kind);
        } else if overtakes && manner == Manner::Patient {
            queue.set(20, queue.get(20) + 1);
        }
        Ok(at_once)
    }

    /// A lock of `kind` on `rank`'s memory is given back; returns who has got it now.
    #[inline]
    pub fn release(&self, rank: u32, kind: LockKind) -> Result<Vec<u32>> {
        if self.give_back_at_once(rank, kind) { Ok(Vec::new()) } else { self.release_in_line(rank, kind) }
    }

    /// Gives the lock of `rank`'s memory back if nobody waits for it.
    #[inline(always)]
    pub fn give_back_at_once(&self, rank: u32, kind: LockKind) -> bool {
        let holders = self.word(rank, 8);
        let (before, after) = match kind {
            LockKind::Exclusive => (EXCLUSIVE, 0),
            LockKind::Shared => {
                let sharing = holders.load(Relaxed);
                (sharing, sharing.saturating_sub(1))
            }
        };
        before < CONTENDED && holders.compare_exchange(before, after, Release, Relaxed).is_ok()
    }

    #[cold]
    fn release_in_line(&self, rank: u32, kind: LockKind) -> Result<Vec<u32>> {
        let _alone = self.alone(rank, 4)?;
        let queue = self.queue(rank);
        queue.give_back(kind);
        Ok(if queue.is_free() { queue.grant() } else { Vec::new() })
    }

    /// The lock of `rank`'s memory, whose mutex is held: nobody else changes it until what is returned is dropped.
    fn queue(&self, rank: u32) -> Queue<'_> {
        self.word(rank, 8).fetch_or(CONTENDED, AcqRel);
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

/// The lock of one process's memory, while the mutex is held and everybody goes there: its words can be read and written one by one.
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
        self.get(12) == self.get(16)
    }

    fn place(&self, number: u32) -> usize {
        24 + 4 * (number as usize & (self.shared.plan.starts.len().next_power_of_two() - 1))
    }

    fn holders(&self) -> u32 {
        self.get(8) & !CONTENDED
    }

    fn set_holders(&self, holders: u32) {
        self.set(8, holders | CONTENDED);
    }

    fn is_free(&self) -> bool {
        self.holders() == 0
    }

    fn push(&self, rank: u32, kind: LockKind) {
        let tail = self.get(16);
        self.set(self.place(tail), rank << 1 | u32::from(kind == LockKind::Exclusive));
        self.set(16, tail.wrapping_add(1));
    }

    /// Takes the oldest request out.
    fn pop(&self) -> Option<(u32, LockKind)> {
        if self.is_empty() {
            return None;
        }
        let head = self.get(12);
        let entry = self.get(self.place(head));
        self.set(12, head.wrapping_add(1));
        let kind = if entry & 1 == 0 { LockKind::Shared } else { LockKind::Exclusive };
        Some((entry >> 1, kind))
    }

    /// The lock is free: whoever is first gets it, and everybody who shares it with that one.
    fn grant(&self) -> Vec<u32> {
        let Some((first, kind)) = self.pop() else { return Vec::new() };
        self.take(kind);
        let mut granted = vec![first];
        if kind == LockKind::Exclusive {
            self.set(20, 0);
            return granted;
        }
        for _ in 0..self.get(16).wrapping_sub(self.get(12)) {
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
        match (kind, self.holders()) {
            (LockKind::Shared, sharing) if sharing < EXCLUSIVE => self.set_holders(sharing + 1),
            (LockKind::Exclusive, 0) => self.set_holders(EXCLUSIVE),
            _ => return false,
        }
        true
    }

    fn give_back(&self, kind: LockKind) {
        match kind {
            LockKind::Shared => self.set_holders(self.holders().saturating_sub(1)),
            LockKind::Exclusive => self.set_holders(0),
        }
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        if self.is_empty() {
            self.shared.word(self.rank, 8).fetch_and(!CONTENDED, Release);
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
        Shared::new(segment, plan, Waiter::Alone(Arc::default()), &[]).unwrap()
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
                    let at_once = shared.request(3, rank, kind, || manner).unwrap();
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
    fn holders_exclude_each_other_and_all_get_their_turn() {
        const TURNS: u32 = 5_000;
        let shared = Arc::new(shared(&[8; RANKS as usize], false));
        let granted: Arc<Vec<AtomicU32>> = Arc::new((0..RANKS).map(|_| AtomicU32::default()).collect());
        let counts = Arc::new([AtomicU32::default(), AtomicU32::default()]);
        let run = |rank: u32| {
            let (shared, granted, counts) = (Arc::clone(&shared), Arc::clone(&granted), Arc::clone(&counts));
            std::thread::spawn(move || {
                for turn in 0..TURNS {
                    let kind =
                        if (turn + rank).is_multiple_of(3) { LockKind::Shared } else { LockKind::Exclusive };
                    if !shared.request(3, rank, kind, || Manner::Patient).unwrap() {
                        while granted[rank as usize].swap(0, Acquire) == 0 {
                            std::thread::yield_now();
                        }
                    }
                    if kind == LockKind::Exclusive {
                        // Both are changed by whoever is alone, and nobody sees them differ.
                        counts[0].store(counts[0].load(Relaxed) + 1, Relaxed);
                        counts[1].store(counts[1].load(Relaxed) + 1, Relaxed);
                    } else {
                        assert_eq!(counts[0].load(Relaxed), counts[1].load(Relaxed));
                    }
                    for rank in shared.release(3, kind).unwrap() {
                        granted[rank as usize].store(1, Release);
                    }
                }
            })
        };
        let threads: Vec<_> = (0..RANKS).map(run).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let alone = |rank: u32| (0..TURNS).filter(|turn| !(turn + rank).is_multiple_of(3)).count() as u32;
        assert_eq!(counts[0].load(Relaxed), (0..RANKS).map(alone).sum());
        assert_eq!(shared.word(3, 8).load(Relaxed), 0);
    }

    #[test]
    fn too_much_memory_is_no_plan() {
        assert_eq!(Plan::new([u64::MAX, 1].into_iter(), true, 64), None);
        assert_eq!(Plan::new([1 << 62, 1 << 62].into_iter(), false, 64), None);
    }
}
