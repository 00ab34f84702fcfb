//! A lock that costs nothing where only one thread calls at a time.
//!
//! MPI says at initialization how many threads call it (MPI 5.0, section 11.6): up to `MPI_THREAD_SERIALIZED` the program
//! promises that calls never overlap, and a [`Gate`] takes it at its word: entering is a load and a store, no atomic
//! read-modify-write. A program that breaks its promise is stopped where the gate notices it. With
//! `MPI_THREAD_MULTIPLE` the gate is a mutex; and so it is as long as a thread of the library itself comes here as well
//! ([`Gate::share`]).

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sync::AtomicU64;

/// A value that one thread at a time may use.
#[derive(Debug)]
pub struct Gate<T> {
    /// Whether the program's threads may meet here.
    threads: Threads,
    /// Whether threads may meet here now.
    shared: AtomicBool,
    /// How often the program has come here.
    entries: AtomicU64,
    lock: Mutex<()>,
    busy: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard only. Shared gates give out one guard at a time by their mutex; the others
// rely on the promise of `Threads::never_meet`. A thread of the library starts after `share` and has ended before it is undone.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The right to use the value, until it is dropped.
#[derive(Debug)]
pub struct GateGuard<'a, T> {
    gate: &'a Gate<T>,
    _lock: Option<MutexGuard<'a, ()>>,
}

/// Whether threads may meet at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    meet: bool,
}

impl Threads {
    /// Threads may meet.
    pub const MEET: Self = Self { meet: true };

    /// Threads never meet.
    ///
    /// # Safety
    /// No two threads may be between [`Gate::enter`] and the drop of its guard at the same time, at any gate made with this.
    #[must_use]
    pub const unsafe fn never_meet() -> Self {
        Self { meet: false }
    }

    /// Whether threads may meet.
    #[must_use]
    pub const fn meet(self) -> bool {
        self.meet
    }
}

impl<T> Gate<T> {
    /// A gate for these threads.
    #[must_use]
    pub fn new(value: T, threads: Threads) -> Self {
        Self {
            threads,
            shared: AtomicBool::new(threads.meet),
            entries: AtomicU64::new(0),
            lock: Mutex::new(()),
            busy: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// From now on, a thread of the library comes here as well; or, with false, no longer: it has ended. Called by the program's
    /// thread while it holds no guard. Where threads may meet, that makes no difference.
    ///
    /// # Panics
    /// When somebody is inside.
    pub fn share(&self, shared: bool) {
        if self.threads.meet {
            return;
        }
        assert!(!self.busy.load(Relaxed), "the gate is changed while a thread is inside");
        self.shared.store(shared, Relaxed);
    }

    /// How often the program has come here: whoever finds the same number twice knows that it was elsewhere in between, or
    /// is still inside.
    pub fn entries(&self) -> u64 {
        self.entries.load(Relaxed)
    }

    /// Waits until nobody else uses the value.
    ///
    /// # Panics
    /// When the promise of [`Threads::never_meet`] is seen to be broken.
    #[inline]
    pub fn enter(&self) -> GateGuard<'_, T> {
        let guard = self.enter_uncounted();
        self.entries.store(self.entries.load(Relaxed).wrapping_add(1), Relaxed);
        guard
    }

    /// The same, for a thread of the library.
    ///
    /// # Panics
    /// As [`Gate::enter`].
    #[inline]
    pub fn enter_uncounted(&self) -> GateGuard<'_, T> {
        let shared = self.shared.load(Relaxed);
        let lock = shared.then(|| self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        assert!(
            !self.busy.load(Relaxed),
            "two calls of MPI overlap, but MPI was not initialized with MPI_THREAD_MULTIPLE: use MPI_Init_thread"
        );
        self.busy.store(true, Relaxed);
        GateGuard { gate: self, _lock: lock }
    }
}

impl<T> Drop for GateGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.gate.busy.store(false, Relaxed);
    }
}

impl<T> Deref for GateGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for GateGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one.
        unsafe { &mut *self.gate.value.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns() {
        let gate = Gate::new(0_u64, Threads::MEET);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| *gate.enter() += 1));
            }
        });
        assert_eq!(*gate.enter(), 40_000);
    }

    #[test]
    fn a_thread_of_the_library_takes_turns_with_the_program() {
        // SAFETY: one thread of the program.
        let gate = Gate::new(0_u64, unsafe { Threads::never_meet() });
        gate.share(true);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10_000).for_each(|_| *gate.enter_uncounted() += 1));
            (0..10_000).for_each(|_| *gate.enter() += 1);
        });
        gate.share(false);
        assert_eq!((*gate.enter(), gate.entries()), (20_000, 10_001));
    }

    #[test]
    fn where_threads_meet_one_may_be_inside_when_another_shares() {
        let gate = Gate::new(0, Threads::MEET);
        let inside = gate.enter();
        gate.share(true);
        gate.share(false);
        drop(inside);
        assert_eq!(*gate.enter(), 0);
    }

    #[test]
    #[should_panic(expected = "MPI_THREAD_MULTIPLE")]
    fn overlapping_calls_are_noticed() {
        // SAFETY: one thread.
        let gate = Gate::new(0, unsafe { Threads::never_meet() });
        let _first = gate.enter();
        let _second = gate.enter();
    }
}
