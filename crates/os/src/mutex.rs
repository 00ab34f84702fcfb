//! A lock in memory that several processes see, for a moment at a time.
//!
//! One word: 0 is free, 1 held, 2 held while others may sleep. Whoever finds it held sets 2 and sleeps until it changes, so that
//! a holder that has lost its core costs the others no time of theirs; giving back costs a system call only if
//! somebody may sleep. Whoever takes it after a sleep leaves it at 2, since more may sleep. Nothing may be done under it that
//! waits for another process.

use std::time::Duration;

use crate::sync::Ordering::{AcqRel, Acquire, Relaxed};
use crate::sync::{AtomicU32, futex_wait, futex_wake_all};

/// How long a sleep may last until the caller is asked whether waiting still makes sense.
const SLEEP_MAX: Duration = Duration::from_millis(500);

/// A lock; see the module's head.
#[derive(Clone, Copy, Debug)]
pub struct SharedMutex<'a>(&'a AtomicU32);

impl<'a> SharedMutex<'a> {
    /// A lock of a word that starts as zero.
    #[must_use]
    pub fn new(word: &'a AtomicU32) -> Self {
        Self(word)
    }

    /// Takes the lock. False when it is still held by another and `patient` says no: its holder may have died.
    #[inline]
    #[must_use]
    pub fn lock(&self, patient: impl Fn() -> bool) -> bool {
        self.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok() || self.lock_slowly(patient)
    }

    #[cold]
    fn lock_slowly(&self, patient: impl Fn() -> bool) -> bool {
        while self.0.swap(2, Acquire) != 0 {
            if futex_wait(self.0, 2, Some(SLEEP_MAX)) && !patient() {
                return false;
            }
        }
        true
    }

    /// Gives the lock back.
    #[inline]
    pub fn unlock(&self) {
        if self.0.swap(0, AcqRel) == 2 {
            futex_wake_all(self.0);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::AtomicU64;

    #[test]
    fn one_at_a_time() {
        let (word, count) = (AtomicU32::default(), AtomicU64::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let mutex = SharedMutex::new(&word);
                        assert!(mutex.lock(|| true));
                        count.store(count.load(Relaxed) + 1, Relaxed);
                        mutex.unlock();
                    }
                });
            }
        });
        assert_eq!((count.load(Relaxed), word.load(Relaxed)), (20_000, 0));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[derive(Debug, Default)]
    struct Shared {
        word: AtomicU32,
        /// Changed by the holder only, in two steps.
        value: AtomicU32,
    }

    fn add(shared: &Shared) {
        let mutex = SharedMutex::new(&shared.word);
        assert!(mutex.lock(|| true));
        let value = shared.value.load(Relaxed);
        shared.value.store(value + 1, Relaxed);
        mutex.unlock();
    }

    #[test]
    fn loom_holders_exclude_each_other_and_nobody_sleeps_for_ever() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let shared = Arc::new(Shared::default());
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || add(&shared))
                })
                .collect();
            add(&shared);
            for other in others {
                other.join().unwrap();
            }
            assert_eq!(shared.value.load(Relaxed), 3);
        });
    }
}
