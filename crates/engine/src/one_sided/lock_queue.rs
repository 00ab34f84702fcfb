//! The locks of one window memory, at the process that owns it (MPI 5.0, section 12.5.3).
//!
//! Requests are granted in the order in which they come: neither readers nor writers starve. Those who share the lock hold it
//! together; a request that has to wait keeps all later ones waiting, also those that could be granted.

use std::collections::VecDeque;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// `MPI_LOCK_SHARED`.
    Shared,
    /// `MPI_LOCK_EXCLUSIVE`.
    Exclusive,
}

/// Who holds the lock, and who waits for it. Processes are ranks of the window's group.
#[derive(Debug, Default)]
pub struct LockQueue {
    holders: Vec<u32>,
    exclusive: bool,
    waiting: VecDeque<(u32, LockKind)>,
}

impl LockQueue {
    /// `rank` wants the lock; true when it has it at once.
    pub fn request(&mut self, rank: u32, kind: LockKind) -> bool {
        self.waiting.push_back((rank, kind));
        self.grant() > 0
    }

    /// `rank` gives the lock back; returns who has got it now. None when `rank` does not hold it.
    pub fn release(&mut self, rank: u32) -> Option<Vec<u32>> {
        let place = self.holders.iter().position(|holder| *holder == rank)?;
        self.holders.remove(place);
        let granted = self.grant();
        Some(self.holders[self.holders.len() - granted..].to_vec())
    }

    /// Grants what can be granted, and returns to how many; these are the last holders.
    fn grant(&mut self) -> usize {
        let mut granted = 0;
        while let Some(&(rank, kind)) = self.waiting.front() {
            let exclusive = kind == LockKind::Exclusive;
            if !self.holders.is_empty() && (exclusive || self.exclusive) {
                break;
            }
            self.waiting.pop_front();
            self.holders.push(rank);
            self.exclusive = exclusive;
            granted += 1;
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same as a list of requests in order: those that hold are found anew each time.
    #[derive(Default)]
    struct Model(Vec<(u32, LockKind)>);

    impl Model {
        fn holders(&self) -> Vec<u32> {
            let shared = self.0.iter().take_while(|(_, kind)| *kind == LockKind::Shared).count();
            let held = if shared == 0 { self.0.len().min(1) } else { shared };
            self.0[..held].iter().map(|(rank, _)| *rank).collect()
        }
    }

    proptest! {
        #[test]
        fn it_is_a_fair_queue(steps in prop::collection::vec((0_u32..5, any::<bool>()), 0..60)) {
            let (mut queue, mut model) = (LockQueue::default(), Model::default());
            for (rank, exclusive) in steps {
                let before = model.holders();
                if before.contains(&rank) {
                    let place = model.0.iter().position(|(other, _)| *other == rank).unwrap();
                    model.0.remove(place);
                    let new: Vec<u32> = model.holders().into_iter().filter(|r| !before.contains(r)).collect();
                    prop_assert_eq!(queue.release(rank), Some(new));
                } else if !model.0.iter().any(|(other, _)| *other == rank) {
                    let kind = if exclusive { LockKind::Exclusive } else { LockKind::Shared };
                    model.0.push((rank, kind));
                    prop_assert_eq!(queue.request(rank, kind), model.holders().contains(&rank));
                } else {
                    prop_assert_eq!(queue.release(rank), None);
                }
            }
        }
    }
}
