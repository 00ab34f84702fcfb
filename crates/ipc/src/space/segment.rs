//! Shared memory: a file for each segment, which is mapped by who attaches it.
//!
//! How often a segment is attached is the sum over the ledgers of all processes, so that nothing is wrong when one dies. The segment itself goes when it
//! was removed and that sum is 0.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};
use std::sync::{MutexGuard, PoisonError};

use super::memory::shared;
use super::process::{key, of_key};
use super::views::View;
use super::{Held, Kind, Object, Result, Space, registry, system};
use crate::semantics::pages::Level;
use crate::semantics::permission::{ALTER, READ};

/// Bit of the mode: it goes once nobody has it attached.
pub const GOES: u32 = 0o1000;
/// Bit of the mode: it is not to be swapped out.
pub const LOCKED: u32 = 0o2000;

/// The flags of `shmat`.
const READ_ONLY: i32 = 0o10000;
const ROUND: i32 = 0o20000;
const REMAP: i32 = 0o40000;
const EXECUTE: i32 = 0o100000;

shared! {
    /// A segment; see [`Object`] for how it begins.
    pub struct Segment {
        /// What all objects have.
        pub object: Object,
        /// How long it is.
        pub bytes: AtomicU64,
        /// When it was attached.
        pub attached: AtomicI64,
        /// When it was detached.
        pub detached: AtomicI64,
        /// Who has made it.
        pub creator: AtomicU32,
        /// Who has attached or detached it last.
        pub last: AtomicU32,
        /// Whether another host has ever attached it.
        pub shared: AtomicU32,
    }
}

/// What this process has attached.
#[derive(Clone, Copy, Debug)]
pub struct Attached {
    address: usize,
    bytes: usize,
    identifier: i32,
}

/// How often a process has one attached at most.
const ATTACHMENTS_MAX: i64 = 1 << 20;

/// The permissions that flags of `shmat` need.
pub(super) fn wanted(flags: i32) -> u32 {
    let writes = flags & READ_ONLY == 0;
    READ | if writes { ALTER } else { 0 } | if flags & EXECUTE != 0 { 0o111 } else { 0 }
}

/// What may be done with the memory, as protections of the system.
pub(super) fn access(flags: i32) -> i32 {
    let (writes, executes) = (flags & READ_ONLY == 0, flags & EXECUTE != 0);
    libc::PROT_READ | if writes { libc::PROT_WRITE } else { 0 } | if executes { libc::PROT_EXEC } else { 0 }
}

/// Where it is to be, and whether it may take the place of what is there.
pub(super) fn wanted_place(at: usize, flags: i32) -> Result<(usize, bool)> {
    let at = match (at % system::page_bytes(), flags & ROUND != 0) {
        (0, _) => at,
        (rest, true) => at - rest,
        (_, false) => return Err(libc::EINVAL),
    };
    let replaces = flags & REMAP != 0;
    if at == 0 && replaces { Err(libc::EINVAL) } else { Ok((at, replaces)) }
}

impl Space {
    pub(crate) fn segment(&self, place: u32) -> &'static Segment {
        self.place(Kind::Segment, place)
    }

    pub(crate) fn hold_segment(&self, place: u32) -> Held {
        Held::take(&self.segment(place).object.lock, || {})
    }

    /// Finds and locks a segment.
    pub(crate) fn find_segment(&self, identifier: i32) -> Result<(u32, Held)> {
        let place = self.place_of(Kind::Segment, identifier).ok_or(libc::EINVAL)?;
        let held = self.hold_segment(place);
        match self.place_of(Kind::Segment, identifier) {
            Some(_) => Ok((place, held)),
            None => Err(libc::EIDRM),
        }
    }

    pub(super) fn segment_file(&self, place: u32) -> PathBuf {
        let round = self.segment(place).object.round.load(Acquire);
        self.directory.join(format!("shm.{place}.{round}"))
    }

    pub(crate) fn begin_segment(&self, place: u32, bytes: u64) -> Result<()> {
        let number = |error: std::io::Error| match error.raw_os_error() {
            Some(libc::ENOSPC) => libc::ENOSPC,
            _ => libc::ENOMEM,
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(self.segment_file(place)).map_err(number)?;
        let whole = bytes.checked_next_multiple_of(system::page_bytes() as u64).ok_or(libc::ENOMEM)?;
        if let Err(error) = file.set_len(whole) {
            // An error here is unexpected only if there was room for it.
            let _gone = std::fs::remove_file(self.segment_file(place));
            return Err(number(error));
        }
        let segment = self.segment(place);
        segment.bytes.store(bytes, Relaxed);
        segment.attached.store(0, Relaxed);
        segment.detached.store(0, Relaxed);
        segment.last.store(0, Relaxed);
        segment.shared.store(0, Relaxed);
        segment.creator.store(registry::own_pid(), Relaxed);
        Ok(())
    }

    pub(crate) fn end_segment(&self, place: u32) {
        match std::fs::remove_file(self.segment_file(place)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                eprintln!("postrider: {}: {error}", self.segment_file(place).display());
            }
            _ => {}
        }
        let segment = self.segment(place);
        if segment.shared.load(Acquire) != 0 {
            self.forget_pages(segment.object.identifier(place));
            self.ring();
        }
    }

    /// How often it is attached.
    pub(crate) fn attachments(&self, place: u32) -> u64 {
        let key = key(self.segment(place).object.identifier(place), 0);
        let of_one = |process| self.attached(process).find(key).map_or(0, |entry| entry.amount.load(Acquire));
        (0..self.processes().len()).map(of_one).sum::<i64>().max(0) as u64
    }

    fn own_attachments(&self) -> MutexGuard<'_, Vec<Attached>> {
        self.attachments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work`, which forks, while no thread of this process attaches or detaches.
    pub fn while_nothing_is_attached<T>(&self, work: impl FnOnce() -> T) -> T {
        let _own = self.own_attachments();
        if self.shares_pages() { self.while_nothing_is_taken(work) } else { work() }
    }

    /// `shmat`.
    ///
    /// # Errors
    /// Those of the function.
    pub fn attach(&'static self, identifier: i32, at: usize, flags: i32) -> Result<usize> {
        let placed = wanted_place(at, flags)?;
        let process = self.own_process();
        if self.shares_pages() {
            self.listen(process);
        }
        let home = self.elsewhere(identifier);
        let counted = home.map(|home| self.attach_elsewhere(home, identifier, flags)).transpose()?;
        let attached = self.attach_counted(process, (identifier, counted), placed, flags);
        if let (Some(home), Err(_)) = (home, &attached) {
            self.detach_elsewhere(home, identifier, 1);
        }
        attached
    }

    /// Maps a segment: one of this host, or of another, where that is counted and told how long it is.
    fn attach_counted(
        &self,
        process: usize,
        (identifier, elsewhere): (i32, Option<u64>),
        (at, replaces): (usize, bool),
        flags: i32,
    ) -> Result<usize> {
        let access = access(flags);
        let mut own = self.own_attachments();
        let here = if elsewhere.is_none() { Some(self.find_segment(identifier)?) } else { None };
        let (bytes, is_shared) = match (&here, elsewhere) {
            (Some((place, _held)), _) => {
                let segment = self.segment(*place);
                registry::permit(&segment.object, wanted(flags))?;
                (segment.bytes.load(Relaxed), segment.shared.load(Acquire) != 0)
            }
            (None, bytes) => {
                let bytes = bytes.unwrap_or_default();
                let _registry = self.hold_registry();
                self.make_words(identifier, bytes, Level::None)?;
                (bytes, true)
            }
        };
        let number = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EACCES);
        let file = File::options()
            .read(true)
            .write(access & libc::PROT_WRITE != 0)
            .open(self.pages_path(identifier));
        let file = file.map_err(number)?;
        let words = if is_shared { Some(self.own_words(identifier).map_err(number)?) } else { None };
        let bytes = (bytes as usize).next_multiple_of(system::page_bytes());
        let gone = |identifier| self.place_of(Kind::Segment, identifier).is_none();
        let entry = self.attached(process).enter(key(identifier, 0), gone).ok_or(libc::ENOMEM)?;
        let opened = if is_shared { libc::PROT_NONE } else { access };
        let address = system::attach(&file, bytes, at, opened, replaces);
        let address = address.map_err(|error| if error == libc::EEXIST { libc::EINVAL } else { error })?;
        entry.amount.fetch_add(1, Release);
        if let Some((place, _held)) = &here {
            self.note_attached(*place);
        }
        if self.shares_pages() {
            self.change_views(|views| {
                views.remove(address, bytes);
                views.add(View { address, bytes, identifier, access, words });
            });
        }
        drop(here);
        let covered = |one: &Attached| one.address >= address && one.address + one.bytes <= address + bytes;
        let gone: Vec<Attached> = own.extract_if(.., |one| covered(one)).collect();
        own.push(Attached { address, bytes, identifier });
        drop(own);
        gone.iter().for_each(|one| self.note_detached(process, one.identifier));
        Ok(address)
    }

    pub(super) fn note_attached(&self, place: u32) {
        let segment = self.segment(place);
        segment.attached.store(system::now(), Relaxed);
        segment.last.store(registry::own_pid(), Relaxed);
    }

    /// A process of another host attaches a segment of this one, or a child does that has inherited it so often. Says how long it is.
    ///
    /// # Errors
    /// Those of `shmat`.
    pub fn attach_from_elsewhere(&self, identifier: i32, flags: i32, inherited: i64) -> Result<u64> {
        let (place, _held) = self.find_segment(identifier)?;
        let segment = self.segment(place);
        if inherited == 0 {
            registry::permit(&segment.object, wanted(flags))?;
        }
        let bytes = segment.bytes.load(Relaxed);
        self.make_words(identifier, bytes, Level::Write)?;
        segment.shared.store(1, Release);
        let gone = |identifier| self.place_of(Kind::Segment, identifier).is_none();
        let ledger = self.attached(self.own_process());
        let entry = ledger.enter(key(identifier, 0), gone).ok_or(libc::ENOMEM)?;
        entry.amount.fetch_add(inherited.clamp(1, ATTACHMENTS_MAX), Release);
        if inherited == 0 {
            self.note_attached(place);
        }
        Ok(bytes)
    }

    /// A process of another host detaches a segment of this one, so often.
    pub fn detach_from_elsewhere(&self, identifier: i32, times: i64) {
        self.take_off(self.own_process(), identifier, times);
    }

    /// `shmdt`.
    ///
    /// # Errors
    /// Those of the function.
    pub fn detach(&self, address: usize) -> Result<()> {
        let process = self.own_process();
        let mut own = self.own_attachments();
        let found = own.iter().rposition(|one| one.address == address).ok_or(libc::EINVAL)?;
        let Attached { address, bytes, identifier } = own.remove(found);
        if self.shares_pages() {
            self.change_views(|views| views.remove(address, bytes));
        }
        system::detach(address, bytes);
        drop(own);
        self.note_detached(process, identifier);
        Ok(())
    }

    fn note_detached(&self, process: usize, identifier: i32) {
        self.take_off(process, identifier, 1);
        if let Some(home) = self.elsewhere(identifier) {
            self.detach_elsewhere(home, identifier, 1);
        }
    }

    pub(super) fn take_off(&self, process: usize, identifier: i32, times: i64) {
        let _registry = self.hold_registry();
        if let Some(entry) = self.attached(process).find(key(identifier, 0)) {
            let less = |amount: i64| Some(amount - times.clamp(0, amount.max(0)));
            let _before = entry.amount.fetch_update(Release, Acquire, less);
        }
        self.is_detached(identifier);
    }

    /// What a process has attached that lives elsewhere: where, and how often.
    pub(super) fn attached_elsewhere(&self, process: usize) -> Vec<(u32, i32, i64)> {
        let all = self.attached(process).amounts();
        let all = all.map(|(key, entry)| (of_key(key).0, entry.amount.load(Acquire)));
        all.filter_map(|(identifier, amount)| Some((self.elsewhere(identifier)?, identifier, amount)))
            .collect()
    }

    /// A process has detached a segment, which may have to go. The registry is held.
    fn is_detached(&self, identifier: i32) {
        let Ok((place, _held)) = self.find_segment(identifier) else { return };
        let segment = self.segment(place);
        segment.detached.store(system::now(), Relaxed);
        segment.last.store(registry::own_pid(), Relaxed);
        if segment.object.mode.load(Acquire) & GOES != 0 && self.attachments(place) == 0 {
            self.remove_object(Kind::Segment, place);
        }
    }

    /// A process has nothing attached any more. The registry is held.
    pub(crate) fn detach_all(&self, process: usize) {
        let ledger = self.attached(process);
        let identifiers: Vec<i32> = ledger.amounts().map(|(key, _)| of_key(key).0).collect();
        ledger.clear();
        identifiers.into_iter().for_each(|identifier| self.is_detached(identifier));
    }

    /// A child has attached what its parent has. The registry is held.
    pub(crate) fn copy_attached(&self, parent: usize, child: usize) {
        for (key, entry) in self.attached(parent).amounts() {
            if let Some(copy) = self.attached(child).enter(key, |_| false) {
                copy.amount.store(entry.amount.load(Acquire), Release);
            }
        }
    }

    /// A child has attached what its memory says, although its parent could not leave it a place.
    pub(crate) fn enter_attached(&self, process: usize) {
        let own = self.own_attachments();
        let _registry = self.hold_registry();
        for one in own.iter() {
            if let Some(entry) = self.attached(process).enter(key(one.identifier, 0), |_| false) {
                entry.amount.fetch_add(1, Release);
            }
        }
    }

    /// `IPC_RMID`: it goes at once if nobody has it attached. The registry and the lock are held.
    pub(crate) fn remove_segment(&self, place: u32) {
        if self.attachments(place) == 0 {
            return self.remove_object(Kind::Segment, place);
        }
        let object = &self.segment(place).object;
        object.mode.fetch_or(GOES, Release);
        object.key.store(libc::IPC_PRIVATE, Release);
    }

    /// `SHM_LOCK` and `SHM_UNLOCK`. The lock is held.
    pub(crate) fn set_locked(&self, place: u32, locked: bool) {
        let mode = &self.segment(place).object.mode;
        if locked {
            mode.fetch_or(LOCKED, Release)
        } else {
            mode.fetch_and(!LOCKED, Release)
        };
    }
}
