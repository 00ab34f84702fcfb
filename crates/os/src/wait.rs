//! Sleeping until somebody rings, without spinning and without losing a wake-up.
//!
//! A [`Doorbell`] is two words in shared memory: `word`, a count of rings that the sleeper's futex compares, and
//! `asleep`, how somebody sleeps or is about to, and 0 when nobody does. The protocol, in the order that makes it right:
//!
//! - The sleeper reads `word` and sets `asleep` ([`Doorbell::prepare`]), *then looks once more* for what it waits for, and only
//!   then sleeps, if `word` is still the same ([`Doorbell::sleep`]).
//! - Whoever brings something makes it visible first, then looks at `asleep` ([`Doorbell::ring`]). If set, it clears it, adds
//!   one to `word` and wakes everybody.
//!
//! A full fence on both sides between the two steps makes sure that at least one of them sees the other's. Clearing
//! `asleep` makes the first of several messages pay for the wake-up and the others nothing. So a message to a rank
//! that is awake costs a fence and a load, no system call.

use std::time::Duration;

use crate::sync::Ordering::{Relaxed, SeqCst};
use crate::sync::{AtomicU32, full_fence, futex_wait, futex_wake_all};

/// A thread sleeps at the futex.
const AT_FUTEX: u32 = 1;
/// A thread sleeps at the pipe of its [`BellTower`](crate::bell::BellTower), among other descriptors.
const AT_TOWER: u32 = 2;
/// A thread of the library sleeps at the futex while the program computes: the process is awake.
const BESIDE: u32 = 4;

/// What wakes one process; see the module's head.
#[derive(Clone, Copy, Debug)]
pub struct Doorbell<'a> {
    word: &'a AtomicU32,
    asleep: &'a AtomicU32,
    tower: Option<TowerPlace<'a>>,
    awake: Option<&'a AtomicU32>,
}

/// Where the pipe is that wakes a process which does not sleep at the futex: the process, and its descriptor.
#[derive(Clone, Copy, Debug)]
pub struct TowerPlace<'a> {
    /// The process.
    pub pid: &'a AtomicU32,
    /// The writing end of the pipe there.
    pub descriptor: &'a AtomicU32,
}

impl TowerPlace<'_> {
    /// Opened anew each time: who sleeps like this waits for another host, and is rarely woken from this one.
    #[cfg(not(loom))]
    fn ring(self) {
        let (pid, descriptor) = (self.pid.load(Relaxed), self.descriptor.load(Relaxed));
        crate::bell::ring_once(pid, descriptor);
    }

    #[cfg(loom)]
    fn ring(self) {
        self.descriptor.fetch_add(1, SeqCst);
    }
}

/// What [`Doorbell::prepare`] saw.
#[derive(Clone, Copy, Debug)]
pub struct Ticket(u32);

/// Whether somebody has to be woken for what was made visible before.
#[inline]
pub(crate) fn somebody_sleeps(asleep: &AtomicU32) -> bool {
    full_fence();
    asleep.load(Relaxed) != 0
}

impl<'a> Doorbell<'a> {
    /// A doorbell of two words that start as zero.
    #[must_use]
    pub fn new(word: &'a AtomicU32, asleep: &'a AtomicU32) -> Self {
        Self { word, asleep, tower: None, awake: None }
    }

    /// The same doorbell, of a process that may also sleep at a pipe.
    #[must_use]
    pub fn with_tower(self, tower: TowerPlace<'a>) -> Self {
        Self { tower: Some(tower), ..self }
    }

    /// The same doorbell, of a process that counts among those that `awake` counts as long as `asleep` is 0.
    #[must_use]
    pub fn counted_in(self, awake: &'a AtomicU32) -> Self {
        Self { awake: Some(awake), ..self }
    }

    /// Counts the process as awake or asleep, if `asleep` has changed from or to 0; whoever changes it calls this.
    fn count(&self, before: u32, now: u32) {
        let step = match (before & !BESIDE, now & !BESIDE) {
            (0, 1..) => 1_u32.wrapping_neg(),
            (1.., 0) => 1,
            _ => return,
        };
        if let Some(awake) = self.awake {
            awake.fetch_add(step, Relaxed);
        }
    }

    /// Wakes the sleeper if there is one. What it waits for must be visible already.
    #[inline]
    pub fn ring(&self) {
        if somebody_sleeps(self.asleep) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let asleep = self.asleep.swap(0, SeqCst);
        self.count(asleep, 0);
        if asleep & (AT_FUTEX | BESIDE) != 0 {
            self.word.fetch_add(1, SeqCst);
            futex_wake_all(self.word);
        }
        if let Some(tower) = self.tower.filter(|_| asleep & AT_TOWER != 0) {
            tower.ring();
        }
    }

    /// Announces the wish to sleep. Look once more for what you wait for, then [`Doorbell::sleep`] or [`Doorbell::stay_awake`].
    #[must_use]
    pub fn prepare(&self) -> Ticket {
        let ticket = Ticket(self.word.load(SeqCst));
        // It stands in one line with the swaps of those who ring.
        self.count(self.asleep.fetch_or(AT_FUTEX, SeqCst), AT_FUTEX);
        full_fence();
        ticket
    }

    /// The same for a thread of the library, while the program computes.
    #[must_use]
    pub fn prepare_beside(&self) -> Ticket {
        let ticket = Ticket(self.word.load(SeqCst));
        self.asleep.fetch_or(BESIDE, SeqCst);
        full_fence();
        ticket
    }

    /// Announces the wish to sleep at the pipe. Look once more, too, before that.
    pub fn prepare_tower(&self) {
        self.count(self.asleep.fetch_or(AT_TOWER, SeqCst), AT_TOWER);
        full_fence();
    }

    /// Nobody of this process sleeps at the pipe any more.
    pub fn leave_tower(&self) {
        let before = self.asleep.fetch_and(!AT_TOWER, SeqCst);
        self.count(before, before & !AT_TOWER);
    }

    /// Sleeps until somebody rings after `ticket` was drawn, or `limit` has passed, which is what true means. May wake without reason.
    pub fn sleep(&self, ticket: Ticket, limit: Option<Duration>) -> bool {
        futex_wait(self.word, ticket.0, limit)
    }

    /// Whether somebody sleeps, or is about to.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.asleep.load(Relaxed) != 0
    }

    /// Takes the announcement back, before a sleep or after it, when nobody else of this process is asleep.
    pub fn stay_awake(&self) {
        if self.asleep.load(Relaxed) != 0 {
            self.count(self.asleep.swap(0, SeqCst), 0);
        }
    }
}

/// The doorbell of a process that is in no job: its own threads ring it.
#[derive(Debug, Default)]
pub struct OwnBell(AtomicU32, AtomicU32);

impl OwnBell {
    /// The doorbell itself.
    #[must_use]
    pub fn doorbell(&self) -> Doorbell<'_> {
        Doorbell::new(&self.0, &self.1)
    }
}

#[cfg(all(test, loom))]
mod models;
