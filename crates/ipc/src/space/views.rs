//! Where this process has segments attached whose pages may be taken away.
//!
//! A handler of `SIGSEGV` looks here, so the lock is waited for by yielding, and whoever holds it touches no such page and has no signals whose handlers may.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::pages::{UNIT, Words};
use super::{Result, system};
use crate::semantics::pages::Level;

/// A segment that is attached.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Where.
    pub address: usize,
    /// How long.
    pub bytes: usize,
    /// Which.
    pub identifier: i32,
    /// What the attachment allows, as protections of the system.
    pub access: i32,
    /// Its pages' words, if hosts share it; all is open else.
    pub words: Option<Words>,
}

impl View {
    /// Whether it may be written.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.access & libc::PROT_WRITE != 0
    }

    /// The page of an address in it.
    #[must_use]
    pub fn page(&self, address: usize) -> u32 {
        ((address - self.address) / UNIT) as u32
    }

    /// Opens or closes pages.
    ///
    /// # Errors
    /// What the system says.
    pub fn protect(&self, first: u32, count: u32, level: Level) -> Result<()> {
        let allowed = match level {
            Level::None => libc::PROT_NONE,
            Level::Read => self.access & !libc::PROT_WRITE,
            Level::Write => self.access,
        };
        let all = (self.bytes / UNIT) as u32;
        let last = first.saturating_add(count).min(all);
        match last.checked_sub(first) {
            None | Some(0) => Ok(()),
            Some(count) => {
                let address = self.address + first as usize * UNIT;
                system::protect(address, count as usize * UNIT, allowed)
            }
        }
    }

    fn meets(&self, address: usize, bytes: usize) -> bool {
        address < self.address + self.bytes && self.address < address.saturating_add(bytes)
    }
}

static VIEWS: Mutex<Vec<View>> = Mutex::new(Vec::new());
/// No view is outside of these addresses.
static BOUNDS: [AtomicUsize; 2] = [AtomicUsize::new(usize::MAX), AtomicUsize::new(0)];

/// The views, for whoever holds this.
pub struct Views(MutexGuard<'static, Vec<View>>);

/// Takes the lock.
pub fn lock() -> Views {
    loop {
        match VIEWS.try_lock() {
            Ok(views) => return Views(views),
            Err(TryLockError::Poisoned(views)) => return Views(views.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}

/// Whether some of these bytes may be in a view: a look without the lock.
#[must_use]
pub fn may_meet(address: usize, bytes: usize) -> bool {
    address < BOUNDS[1].load(Acquire) && BOUNDS[0].load(Acquire) < address.saturating_add(bytes)
}

impl Views {
    /// That of an address.
    #[must_use]
    pub fn of(&self, address: usize) -> Option<View> {
        self.0.iter().find(|view| view.meets(address, 1)).copied()
    }

    /// Whether one has some of these bytes.
    #[must_use]
    pub fn meet(&self, address: usize, bytes: usize) -> bool {
        self.0.iter().any(|view| view.meets(address, bytes))
    }

    /// Of which segments.
    #[must_use]
    pub fn identifiers(&self) -> BTreeSet<i32> {
        self.0.iter().map(|view| view.identifier).collect()
    }

    /// All of a segment.
    pub fn of_segment(&mut self, identifier: i32) -> impl Iterator<Item = &mut View> {
        self.0.iter_mut().filter(move |view| view.identifier == identifier)
    }

    /// The words of all.
    #[must_use]
    pub fn words(&self) -> Vec<Words> {
        self.0.iter().filter_map(|view| view.words).collect()
    }

    /// One more.
    pub fn add(&mut self, view: View) {
        BOUNDS[0].fetch_min(view.address, Release);
        BOUNDS[1].fetch_max(view.address + view.bytes, Release);
        self.0.push(view);
    }

    /// No view begins there any more.
    pub fn remove(&mut self, address: usize, bytes: usize) {
        self.0.retain(|view| view.address < address || view.address + view.bytes > address + bytes);
    }
}
