//! A lock that costs nothing where only one thread calls at a time.
//!
//! MPI says at initialization how many threads call it (MPI 5.0, section 11.6): up to `MPI_THREAD_SERIALIZED` the program
//! promises that calls never overlap, and a [`Gate`] takes it at its word: entering is a load and a store, no atomic
//! read-modify-write. A program that breaks its promise is stopped where the gate notices it. With
//! `MPI_THREAD_MULTIPLE` the gate is a mutex.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value that one thread at a time may use.
#[derive(Debug)]
pub struct Gate<T> {
    /// Whether threads may meet here.
    shared: bool,
    lock: Mutex<()>,
    busy: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard only. Shared gates give out one guard at a time by their mutex; the others
// rely on the promise of `Threads::never_meet`.
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
        let lock = Mutex::new(());
        Self { shared: threads.meet, lock, busy: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until nobody else uses the value.
    ///
    /// # Panics
    /// When the promise of [`Threads::never_meet`] is seen to be broken.
    #[inline]
    pub fn enter(&self) -> GateGuard<'_, T> {
        let lock = self.shared.then(|| self.lock.lock().unwrap_or_else(PoisonError::into_inner));
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
    #[should_panic(expected = "MPI_THREAD_MULTIPLE")]
    fn overlapping_calls_are_noticed() {
        // SAFETY: one thread.
        let gate = Gate::new(0, unsafe { Threads::never_meet() });
        let _first = gate.enter();
        let _second = gate.enter();
    }
}
