//! A lock that costs nothing where only one thread calls at a time.
//!
//! MPI says at initialization how many threads call it (MPI 5.0, section 11.6): up to `MPI_THREAD_SERIALIZED` the program
//! promises that calls never overlap, and a [`Gate`] takes it at its word: entering is a store and a few loads, no atomic
//! read-modify-write and no fence. A program that breaks its promise is stopped where the gate notices it. With
//! `MPI_THREAD_MULTIPLE` the gate is a mutex; and it becomes one ([`Gate::let_meet`]) when the library starts threads that call it as
//! often as the program.
//!
//! A thread of the library may come here beside the program ([`Gate::enter_beside`]), seldom, and pays for both:
//!
//! - The program's thread says that it is inside (`busy`), *then* looks whether somebody has claimed the gate (`claimed`).
//! - The library's thread takes the mutex, claims the gate, and *then* looks whether the program is inside. Between the two it has every
//!   core that runs a thread of this process pass a full fence ([`process::fence_everywhere`]), so that the program's thread needs none: either
//!   its store is seen, or its load comes after the claim. Where the system has no such fence, the program's thread has its own.
//! - A program's thread that finds the gate claimed takes its word back and waits at the mutex.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::compiler_fence;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crate::process;
use crate::sync::{AtomicU64, full_fence};

/// How long the library's thread waits at first until the program has gone, and at most between two looks.
const BESIDE_PAUSE: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// A value that one thread at a time may use.
#[derive(Debug)]
pub struct Gate<T> {
    /// Whether the program's threads may meet here.
    meet: AtomicBool,
    /// How often the program has come here.
    entries: AtomicU64,
    lock: Mutex<()>,
    /// Somebody is inside: a thread of the program, or anybody where threads meet.
    busy: AtomicBool,
    /// A thread of the library is inside, or waits until the program is not; only changed by whoever has the mutex.
    claimed: AtomicBool,
    /// Whether the program's thread needs a fence of its own.
    fenced: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard only. Where threads meet, the mutex gives out one guard at a time. Elsewhere the program
// has one at a time by the promise of `Threads::never_meet`, and one of the library excludes it by the protocol of the module's head.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The right to use the value, until it is dropped.
#[derive(Debug)]
pub struct GateGuard<'a, T> {
    gate: &'a Gate<T>,
    /// What says that somebody is inside.
    word: &'a AtomicBool,
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
            meet: AtomicBool::new(threads.meet),
            entries: AtomicU64::new(0),
            lock: Mutex::new(()),
            busy: AtomicBool::new(false),
            claimed: AtomicBool::new(false),
            fenced: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Whether threads may meet here.
    #[inline]
    pub fn meet(&self) -> bool {
        self.meet.load(Relaxed)
    }

    /// From now on threads may meet here: called by the program's thread, outside, before there is another one that may come.
    pub fn let_meet(&self) {
        self.meet.store(true, SeqCst);
    }

    /// From now on a thread of the library may come here: called by the program's thread before that starts.
    pub fn share(&self) {
        self.share_by(process::allow_fences());
    }

    fn share_by(&self, fences: bool) {
        self.fenced.store(!fences, SeqCst);
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
        let guard = if self.meet() { self.enter_by_turns() } else { self.enter_alone() };
        self.entries.store(self.entries.load(Relaxed).wrapping_add(1), Relaxed);
        guard
    }

    #[inline]
    fn enter_alone(&self) -> GateGuard<'_, T> {
        assert!(
            !self.busy.load(Relaxed),
            "two calls of MPI overlap, but MPI was not initialized with MPI_THREAD_MULTIPLE: use MPI_Init_thread"
        );
        self.busy.store(true, Relaxed);
        if self.fenced.load(Relaxed) {
            full_fence();
        } else {
            compiler_fence(SeqCst);
        }
        if self.claimed.load(Acquire) {
            return self.enter_after();
        }
        GateGuard { gate: self, word: &self.busy, _lock: None }
    }

    /// Enters when the library's thread has left.
    #[cold]
    fn enter_after(&self) -> GateGuard<'_, T> {
        self.busy.store(false, Release);
        self.enter_by_turns()
    }

    #[inline]
    fn enter_by_turns(&self) -> GateGuard<'_, T> {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.busy.store(true, Relaxed);
        GateGuard { gate: self, word: &self.busy, _lock: Some(lock) }
    }

    /// Waits until nobody else uses the value, for a thread of the library. The gate has been [shared](Gate::share).
    pub fn enter_beside(&self) -> GateGuard<'_, T> {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut pause, longest) = BESIDE_PAUSE;
        while !self.claim() {
            std::thread::sleep(pause);
            pause = (2 * pause).min(longest);
        }
        self.beside(lock)
    }

    /// The same, if nobody uses the value.
    pub fn try_enter_beside(&self) -> Option<GateGuard<'_, T>> {
        let lock = match self.lock.try_lock() {
            Ok(lock) => lock,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if self.claim() {
            return Some(self.beside(lock));
        }
        self.claimed.store(false, Release);
        None
    }

    /// Claims the gate, with the mutex; false while the program is inside.
    fn claim(&self) -> bool {
        if self.meet() {
            return true;
        }
        if !self.claimed.swap(true, SeqCst) && !self.fenced.load(Relaxed) {
            process::fence_everywhere();
        }
        !self.busy.load(Acquire)
    }

    fn beside<'a>(&'a self, lock: MutexGuard<'a, ()>) -> GateGuard<'a, T> {
        let word = if self.meet() { &self.busy } else { &self.claimed };
        word.store(true, Relaxed);
        GateGuard { gate: self, word, _lock: Some(lock) }
    }
}

impl<T> Drop for GateGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.word.store(false, Release);
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

    /// A program's thread and one of the library, each with many turns.
    fn take_turns_beside(fences: bool, threads: Threads) {
        let gate = Gate::new(0_u64, threads);
        gate.share_by(fences);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 0..2_000 {
                    let inside =
                        if turn % 2 == 0 { Some(gate.enter_beside()) } else { gate.try_enter_beside() };
                    inside.into_iter().for_each(|mut value| *value += 1_000_000);
                }
            });
            (0..200_000).for_each(|_| *gate.enter() += 1);
        });
        let total = *gate.enter();
        assert_eq!((total % 1_000_000, gate.entries()), (200_000, 200_001));
        assert!((1_000..=2_000).contains(&(total / 1_000_000)));
    }

    #[test]
    fn a_thread_of_the_library_takes_turns_with_the_program() {
        // SAFETY: one thread of the program.
        let alone = unsafe { Threads::never_meet() };
        for threads in [alone, Threads::MEET] {
            take_turns_beside(process::allow_fences(), threads);
        }
    }

    #[test]
    fn a_thread_of_the_library_takes_turns_where_fences_are_refused() {
        // SAFETY: one thread of the program.
        take_turns_beside(false, unsafe { Threads::never_meet() });
    }

    #[test]
    fn threads_may_meet_from_some_time_on() {
        // SAFETY: one thread, until they may meet.
        let gate = Gate::new(0_u64, unsafe { Threads::never_meet() });
        gate.share();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..1_000).for_each(|_| *gate.enter_beside() += 1));
            (0..1_000).for_each(|_| *gate.enter() += 1);
            gate.let_meet();
            for _ in 0..2 {
                scope.spawn(|| (0..10_000).for_each(|_| *gate.enter() += 1));
            }
        });
        assert_eq!((*gate.enter(), gate.meet()), (22_000, true));
    }

    #[test]
    fn who_finds_the_program_inside_leaves_it_there() {
        // SAFETY: one thread of the program.
        let gate = Gate::new(0, unsafe { Threads::never_meet() });
        gate.share();
        let inside = gate.enter();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(gate.try_enter_beside().is_none()));
        });
        drop(inside);
        assert!(gate.try_enter_beside().is_some());
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
