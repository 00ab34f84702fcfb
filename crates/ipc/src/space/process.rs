//! The processes of a name space, and what they will have to give back.
//!
//! A process has a place from its first call on. It is known by its number and the time when it started, so that it is the same one after `exec`. Two ledgers
//! belong to it: what its operations on semaphores have to take back, and which segments it has attached. Both are in shared memory, and so
//! whoever notices that a process has died can do for it what was to be done ([`super::Space::bury`]).
//!
//! In a ledger a key is found by probing. Only its process enters keys; amounts are changed by whoever holds the lock of the object that they belong to.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

use super::memory::shared;

/// Processes at the same time.
pub const PROCESSES_MAX: usize = 4096;
/// Entries of a ledger.
pub const ENTRIES: usize = 8192;

/// Nobody has this place.
pub const FREE: u32 = 0;
/// A process has it.
pub const TAKEN: u32 = 1;
/// A process of another host has it.
pub const REMOTE: u32 = 2;
/// A process had it whose end the server will tell other hosts.
pub const GONE: u32 = 3;
/// A child that is being forked has it: until the child or its parent has said its number, the place has the parent's, and the forking thread's in place of
/// the time.
pub const UNBORN: u32 = 4;

shared! {
    /// A process.
    pub struct Process {
        /// [`FREE`], [`TAKEN`], [`REMOTE`], [`GONE`] or [`UNBORN`].
        pub state: AtomicU32,
        /// Its number.
        pub pid: AtomicU32,
        /// When it started.
        pub started: AtomicU64,
        /// Threads of it that sleep.
        pub sleeping: AtomicU32,
        /// Entries of the two ledgers that were ever made: nothing is looked for in an empty one.
        pub undo_entries: AtomicU32,
        /// See above.
        pub attached_entries: AtomicU32,
        /// Whether it has ever asked another host.
        pub asked: AtomicU32,
        /// The number of the process that makes its calls, if another one does: nobody else buries it while that lives. See `served`.
        pub tracer: AtomicU32,
        /// Whether a thread of it hears that pages are taken; see `pages`.
        pub listens: AtomicU32,
        /// Up to which taking it has done what was asked.
        pub taken: AtomicU32,
        /// Held by that thread.
        pub listener: super::lock::Lock,
    }

    /// An entry of a ledger.
    pub struct Entry {
        /// What it is about; 0 is nothing.
        pub key: AtomicU64,
        /// How much.
        pub amount: AtomicI64,
    }
}

/// The key of a semaphore, or of a segment as its semaphore 0. Never 0.
#[must_use]
pub fn key(identifier: i32, semaphore: u16) -> u64 {
    (identifier as u64) << 17 | u64::from(semaphore) << 1 | 1
}

/// The identifier and the semaphore of a key.
#[must_use]
pub fn of_key(key: u64) -> (i32, u16) {
    ((key >> 17) as i32, (key >> 1) as u16)
}

/// A ledger.
#[derive(Clone, Copy)]
pub struct Ledger {
    /// Its entries.
    pub entries: &'static [Entry],
    /// How many were ever made.
    pub made: &'static AtomicU32,
}

impl Ledger {
    fn probe(self, key: u64) -> impl Iterator<Item = &'static Entry> {
        let start = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        (0..ENTRIES).map(move |step| &self.entries[(start + step) % ENTRIES])
    }

    /// The number of an entry.
    #[must_use]
    pub fn number(self, entry: &'static Entry) -> u32 {
        let bytes = std::ptr::from_ref(entry) as usize - self.entries.as_ptr() as usize;
        (bytes / size_of::<Entry>()) as u32
    }

    /// The entry of a key, if there is one.
    #[must_use]
    pub fn find(self, key: u64) -> Option<&'static Entry> {
        if self.made.load(Acquire) == 0 {
            return None;
        }
        let found = self
            .probe(key)
            .find(|entry| matches!(entry.key.load(Acquire), 0) || entry.key.load(Acquire) == key)?;
        (found.key.load(Acquire) == key).then_some(found)
    }

    /// The entry of a key, which is made if there is none; nothing if the ledger is full. Entries of objects that are `gone` are used again. The
    /// caller holds the lock of the key's object.
    #[must_use]
    pub fn enter(self, key: u64, gone: impl Fn(i32) -> bool) -> Option<&'static Entry> {
        let mut reusable = None;
        for entry in self.probe(key) {
            let there = entry.key.load(Acquire);
            if there == key {
                return Some(entry);
            }
            if there == 0 {
                let made = entry.key.compare_exchange(0, key, AcqRel, Acquire).is_ok();
                self.made.fetch_add(u32::from(made), AcqRel);
                return if made { Some(entry) } else { self.enter(key, gone) };
            }
            if reusable.is_none() && entry.amount.load(Acquire) == 0 && gone(of_key(there).0) {
                reusable = Some((entry, there));
            }
        }
        let (entry, there) = reusable?;
        match entry.key.compare_exchange(there, key, AcqRel, Acquire) {
            Ok(_) => Some(entry),
            Err(_) => self.enter(key, gone),
        }
    }

    /// All that has an amount.
    pub fn amounts(self) -> impl Iterator<Item = (u64, &'static Entry)> {
        let entries = if self.made.load(Acquire) == 0 { &[] } else { self.entries };
        entries
            .iter()
            .map(|entry| (entry.key.load(Acquire), entry))
            .filter(|(key, entry)| *key != 0 && entry.amount.load(Acquire) != 0)
    }

    /// Empties it.
    pub fn clear(self) {
        if self.made.load(Acquire) == 0 {
            return;
        }
        for entry in self.entries {
            if entry.key.load(Relaxed) != 0 {
                entry.amount.store(0, Relaxed);
                entry.key.store(0, Release);
            }
        }
        self.made.store(0, Release);
    }
}
