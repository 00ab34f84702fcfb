//! The locks of one window memory, at the process that owns it (MPI 5.0, section 12.5.3).
//!
//! Those who share the lock hold it together; otherwise requests are granted in the order in which they come. Were that all, processes
//! could wait in a circle: one shares the lock of memory A and wants that of B, where somebody waits to be alone until a second process
//! leaves, and that one wants A, where it is the same the other way round. So who shares the lock is joined at once by those
//! who hold or want other locks as well ([`Manner::Urgent`]), and they all come in together when it is free. Others may overtake those
//! who wait to be alone, too, but not without end: nobody starves.

use std::collections::VecDeque;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// `MPI_LOCK_SHARED`.
    Shared,
    /// `MPI_LOCK_EXCLUSIVE`.
    Exclusive,
}

/// How a lock is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By a process that needs nothing else meanwhile.
    Patient,
    /// By a process that holds or wants other locks as well.
    Urgent,
}

/// How often those who wait to be alone are overtaken by patient requests.
pub const OVERTAKEN_MAX: u32 = 1000;

/// Who holds the lock, and who waits for it. Processes are ranks of the window's group.
#[derive(Debug, Default)]
pub struct LockQueue {
    holders: Vec<u32>,
    exclusive: bool,
    waiting: VecDeque<(u32, LockKind)>,
    overtaken: u32,
}

impl LockQueue {
    /// `rank` wants the lock; true when it has it at once.
    pub fn request(&mut self, rank: u32, kind: LockKind, manner: Manner) -> bool {
        let is_free = self.holders.is_empty();
        let may_overtake =
            self.waiting.is_empty() || manner == Manner::Urgent || self.overtaken < OVERTAKEN_MAX;
        let joins = kind == LockKind::Shared && !self.exclusive && may_overtake;
        if !is_free && !joins {
            self.waiting.push_back((rank, kind));
            return false;
        }
        self.overtaken += u32::from(!self.waiting.is_empty() && manner == Manner::Patient);
        self.holders.push(rank);
        self.exclusive = kind == LockKind::Exclusive;
        true
    }

    /// `rank` gives the lock back; returns who has got it now. None when `rank` does not hold it.
    pub fn release(&mut self, rank: u32) -> Option<Vec<u32>> {
        let place = self.holders.iter().position(|holder| *holder == rank)?;
        self.holders.remove(place);
        if self.holders.is_empty() {
            self.grant();
            return Some(self.holders.clone());
        }
        Some(Vec::new())
    }

    /// The lock is free: whoever is first gets it, and everybody who shares it with that one.
    fn grant(&mut self) {
        let first = self.waiting.front().map(|&(_, kind)| kind);
        self.exclusive = first == Some(LockKind::Exclusive);
        if self.exclusive {
            self.overtaken = 0;
            self.holders.extend(self.waiting.pop_front().map(|(rank, _)| rank));
            return;
        }
        let is_shared = |&(_, kind): &(u32, LockKind)| kind == LockKind::Shared;
        self.holders.extend(self.waiting.iter().copied().filter(is_shared).map(|(rank, _)| rank));
        self.waiting.retain(|request| !is_shared(request));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(exclusive: bool) -> LockKind {
        if exclusive { LockKind::Exclusive } else { LockKind::Shared }
    }

    proptest! {
        #[test]
        fn whoever_must_be_alone_is_and_nobody_waits_for_nothing(steps in prop::collection::vec((0_u32..5, any::<bool>(), any::<bool>()), 0..60)) {
            let (mut queue, mut held, mut waiting) = (LockQueue::default(), Vec::new(), Vec::new());
            for (rank, exclusive, urgent) in steps {
                let manner = if urgent { Manner::Urgent } else { Manner::Patient };
                if let Some(place) = held.iter().position(|&(other, _)| other == rank) {
                    held.remove(place);
                    for granted in queue.release(rank).unwrap() {
                        let place = waiting.iter().position(|&(other, _)| other == granted).unwrap();
                        held.push(waiting.remove(place));
                    }
                } else if waiting.iter().any(|&(other, _)| other == rank) {
                    prop_assert_eq!(queue.release(rank), None);
                } else if queue.request(rank, kind(exclusive), manner) {
                    held.push((rank, kind(exclusive)));
                } else {
                    waiting.push((rank, kind(exclusive)));
                }
                let alone = held.iter().any(|&(_, kind)| kind == LockKind::Exclusive);
                prop_assert!(!alone || held.len() == 1);
                prop_assert!(waiting.is_empty() || !held.is_empty());
                prop_assert!(alone || waiting.iter().all(|&(_, kind)| kind == LockKind::Exclusive));
            }
        }
    }

    #[test]
    fn two_that_want_both_locks_do_not_wait_in_a_circle() {
        let [mut a, mut b] = [LockQueue::default(), LockQueue::default()];
        let urgent = |queue: &mut LockQueue, rank| queue.request(rank, LockKind::Shared, Manner::Urgent);
        assert!(urgent(&mut a, 0) && urgent(&mut b, 1));
        assert!(!a.request(2, LockKind::Exclusive, Manner::Patient));
        assert!(!b.request(3, LockKind::Exclusive, Manner::Patient));
        a.overtaken = OVERTAKEN_MAX;
        assert!(urgent(&mut a, 1) && urgent(&mut b, 0));
        assert_eq!((a.release(0), a.release(1)), (Some(vec![]), Some(vec![2])));
    }

    #[test]
    fn whoever_waits_to_be_alone_gets_its_turn() {
        let mut queue = LockQueue::default();
        let patient = |queue: &mut LockQueue, rank| queue.request(rank, LockKind::Shared, Manner::Patient);
        assert!(patient(&mut queue, 0) && !queue.request(9, LockKind::Exclusive, Manner::Patient));
        for _ in 0..OVERTAKEN_MAX {
            assert!(patient(&mut queue, 1));
            assert_eq!(queue.release(1), Some(vec![]));
        }
        assert!(!patient(&mut queue, 1) && !patient(&mut queue, 2));
        assert_eq!((queue.release(0), queue.release(9)), (Some(vec![9]), Some(vec![1, 2])));
    }
}
