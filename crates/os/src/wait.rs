//! Sleeping until somebody rings, without spinning and without losing a wake-up.
//!
//! A [`Doorbell`] is two words in shared memory: `word`, a count of rings that the sleeper's futex compares, and
//! `asleep`, 1 while somebody sleeps or is about to. The protocol, in the order that makes it right:
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

/// What wakes one process; see the module's head.
#[derive(Clone, Copy, Debug)]
pub struct Doorbell<'a> {
    word: &'a AtomicU32,
    asleep: &'a AtomicU32,
}

/// What [`Doorbell::prepare`] saw.
#[derive(Clone, Copy, Debug)]
pub struct Ticket(u32);

impl<'a> Doorbell<'a> {
    /// A doorbell of two words that start as zero.
    #[must_use]
    pub fn new(word: &'a AtomicU32, asleep: &'a AtomicU32) -> Self {
        Self { word, asleep }
    }

    /// Wakes the sleeper if there is one. What it waits for must be visible already.
    #[inline]
    pub fn ring(&self) {
        full_fence();
        if self.asleep.load(Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.asleep.swap(0, SeqCst) != 0 {
            self.word.fetch_add(1, SeqCst);
            futex_wake_all(self.word);
        }
    }

    /// Announces the wish to sleep. Look once more for what you wait for, then [`Doorbell::sleep`] or [`Doorbell::stay_awake`].
    #[must_use]
    pub fn prepare(&self) -> Ticket {
        let ticket = Ticket(self.word.load(SeqCst));
        // A swap, which costs the same as a store of this order: it stands in one line with the swaps of those who ring.
        self.asleep.swap(1, SeqCst);
        full_fence();
        ticket
    }

    /// Sleeps until somebody rings after `ticket` was drawn, or `limit` has passed, which is what true means. May wake without reason.
    pub fn sleep(&self, ticket: Ticket, limit: Option<Duration>) -> bool {
        futex_wait(self.word, ticket.0, limit)
    }

    /// Takes the announcement back, when nobody else of this process is asleep.
    pub fn stay_awake(&self) {
        self.asleep.store(0, Relaxed);
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
