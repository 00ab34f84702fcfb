//! Pages of segments that hosts share, as the processes of one host see them.
//!
//! ```text
//! DIRECTORY/shm.7.2         the memory of a segment that lives here
//! DIRECTORY/far.98311       this host's copy of one that lives elsewhere
//! DIRECTORY/pages.98311     a word for each page of either: what this host may do with it
//! ```
//!
//! All processes of a host have the same memory mapped, each with protections of its own, which never allow more than the words. A thread that may not do what it
//! does gets a signal, and has its page opened if the word allows that, or says in the word what it wants, and waits for the word to change. The server hears of it
//! through a table of *wants*, in which one store says all, so that it does not matter when somebody dies.
//!
//! To take a page away, the server changes the word and says so in the header (`take`); each process has a thread that listens there, closes its
//! mappings, and says that it has. It holds a lock as long as it lives, by which is seen that it never will. What waits for another process holds no lock here.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::Duration;

use super::memory::Memory;
use super::process::{TAKEN, UNBORN};
use super::views::{self, View};
use super::{Result, Space, system};
use crate::semantics::names;
use crate::semantics::pages::Level;

/// Bytes of a page.
pub const UNIT: usize = 4096;
/// Pages that are granted or taken at once.
pub const RANGE_MAX: u32 = 256;
/// Places in the table of wants.
pub const WANTS: usize = 256;

/// Nobody listens in a process, one that was forked will, one does, and other hosts know of all that it has attached.
pub(super) const LISTENS: [u32; 4] = [0, 1, 2, 3];

/// Bits of a page's word: what this host may do.
const LEVEL: u32 = 3;
/// Somebody waits to read, or to write.
const WANTS_READ: u32 = 4;
const WANTS_WRITE: u32 = 8;
/// Where the number of the host begins that may write, plus one.
const HOLDER: u32 = 8;

/// How long a sleep is at most, after which is looked who lives.
const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3600);

/// The words of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    memory: Memory,
    count: u32,
}

impl Words {
    fn word(&self, page: u32) -> &'static AtomicU32 {
        self.memory.at(page as usize * size_of::<u32>())
    }

    /// Pages.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Nobody looks at them any more.
    pub fn unmap(self) {
        self.memory.unmap();
    }

    /// What this host may do with a page.
    #[must_use]
    pub fn level(&self, page: u32) -> Level {
        level(self.word(page).load(SeqCst))
    }

    /// Changes that. Who waits for it is woken.
    pub fn set(&self, page: u32, level: Level) {
        let served = match level {
            Level::None => 0,
            Level::Read => WANTS_READ,
            Level::Write => WANTS_READ | WANTS_WRITE,
        };
        let word = self.word(page);
        let change = |old: u32| Some(old & !(LEVEL | served) | level as u32);
        let old = word.fetch_update(SeqCst, SeqCst, change).unwrap_or_default();
        if old & served != 0 {
            system::wake(word);
        }
    }

    /// Nobody has to wait for what this host may do with a page.
    pub fn settle(&self, page: u32) {
        let word = self.word(page);
        let served = |old: u32| match level(old) {
            Level::None => None,
            Level::Read => Some(old & !WANTS_READ),
            Level::Write => Some(old & !(WANTS_READ | WANTS_WRITE)),
        };
        if word.fetch_update(SeqCst, SeqCst, served).is_ok() {
            system::wake(word);
        }
    }

    /// Another host may write a page.
    pub fn note_holder(&self, page: u32, host: u32) {
        let change = |old: u32| Some(old & ((1 << HOLDER) - 1) | (host + 1) << HOLDER);
        let _old = self.word(page).fetch_update(SeqCst, SeqCst, change);
    }

    /// How many pages from one on, of so many, this host may do with what it was seen that it may with the first. What is taken after that is closed after that, too.
    fn run(&self, first: u32, most: u32, seen: Level) -> u32 {
        let last = self.count.min(first.saturating_add(most));
        (first + 1..last).find(|page| self.level(*page) != seen).unwrap_or(last) - first
    }
}

fn level(word: u32) -> Level {
    [Level::None, Level::Read, Level::Write][(word & LEVEL).min(2) as usize]
}

/// What has come of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is none of ours.
    Foreign,
    /// The page is there.
    Served,
    /// It was on this host, which cannot be reached any more.
    Lost(i32, u32),
    /// The system opens no more of it.
    Refused(i32),
}

/// What a thread wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// Of which segment.
    pub identifier: i32,
    /// Which page.
    pub page: u32,
    /// To do what.
    pub level: Level,
}

/// What the server has taken away: pages of a segment, and what may still be done with them.
#[derive(Clone, Copy, Debug)]
pub struct Taking {
    /// Of which segment.
    pub identifier: i32,
    /// From which page on.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// What is left.
    pub level: Level,
}

/// Whether a part of these bytes is in a segment whose pages may be taken away.
#[must_use]
#[inline]
pub fn may_be_taken(address: usize, bytes: usize) -> bool {
    views::may_meet(address, bytes) && system::without_signals(|| views::lock().meet(address, bytes))
}

impl Space {
    /// Whether segments are shared with other hosts.
    #[must_use]
    pub fn shares_pages(&self) -> bool {
        self.host.all > 1
    }

    fn words_path(&self, identifier: i32) -> PathBuf {
        self.directory.join(format!("pages.{identifier}"))
    }

    /// The memory of a segment on this host.
    pub(super) fn pages_path(&self, identifier: i32) -> PathBuf {
        match self.elsewhere(identifier) {
            Some(_) => self.directory.join(format!("far.{identifier}")),
            None => self.segment_file(names::place_and_round(identifier).map_or(0, |(place, _)| place)),
        }
    }

    /// The memory of a segment, for the server.
    ///
    /// # Errors
    /// What the system says.
    pub fn pages_file(&self, identifier: i32) -> std::io::Result<File> {
        File::options().read(true).write(true).open(self.pages_path(identifier))
    }

    /// The words of a segment that hosts share.
    ///
    /// # Errors
    /// What the system says.
    pub fn words(&self, identifier: i32) -> std::io::Result<Words> {
        let file = File::options().read(true).write(true).open(self.words_path(identifier))?;
        let bytes = file.metadata()?.len() as usize;
        Ok(Words { memory: Memory::map(&file, bytes)?, count: (bytes / size_of::<u32>()) as u32 })
    }

    /// Makes them, if they are not there; this host may do the same with all pages.
    pub(super) fn make_words(&self, identifier: i32, bytes: u64, level: Level) -> Result<()> {
        if system::page_bytes() != UNIT {
            return Err(libc::ENOSYS);
        }
        let path = self.words_path(identifier);
        if path.exists() {
            return Ok(());
        }
        let number = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::ENOMEM);
        let count = u32::try_from(bytes.div_ceil(UNIT as u64))
            .ok()
            .filter(|count| *count < 1 << 29)
            .ok_or(libc::ENOMEM)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        // Nobody sees them before they are right.
        let new = path.with_extension(format!("{identifier}.new"));
        let file = options.open(&new).map_err(number)?;
        let all = u64::from(count) * size_of::<u32>() as u64;
        match level {
            Level::None => file.set_len(all).map_err(number)?,
            level => {
                std::fs::write(&new, (level as u32).to_ne_bytes().repeat(count as usize)).map_err(number)?
            }
        }
        if self.elsewhere(identifier).is_some() {
            let copy = options.open(self.pages_path(identifier)).map_err(number)?;
            copy.set_len(u64::from(count) * UNIT as u64).map_err(number)?;
        }
        std::fs::rename(new, path).map_err(number)
    }

    /// A segment is no more: neither is what this host had of it.
    pub fn forget_pages(&self, identifier: i32) {
        let copy = self.elsewhere(identifier).map(|_| self.pages_path(identifier));
        for path in [Some(self.words_path(identifier)), copy].into_iter().flatten() {
            // It may never have been there.
            let _gone = std::fs::remove_file(path);
        }
    }

    /// Opens a page for a thread that may not do what it does, and waits until it is there. May be called by a handler of a signal.
    pub fn fault(&self, address: usize, writes: bool) -> Fault {
        let wanted = if writes { Level::Write } else { Level::Read };
        loop {
            let views = views::lock();
            let Some(view) = views.of(address).filter(|view| !writes || view.writes()) else {
                return Fault::Foreign;
            };
            let Some(words) = view.words else { return Fault::Foreign };
            let page = view.page(address);
            let (word, identifier) = (words.word(page), view.identifier);
            let seen = word.load(SeqCst);
            if level(seen) >= wanted {
                let opened = view.protect(page, words.run(page, RANGE_MAX, level(seen)), level(seen));
                return opened.map_or_else(Fault::Refused, |()| Fault::Served);
            }
            drop(views);
            if !self.has_server() {
                if let Some(host) = self.is_lost(identifier, word, seen) {
                    return Fault::Lost(identifier, host);
                }
                continue;
            }
            let bit = if writes { WANTS_WRITE } else { WANTS_READ };
            let before = word.fetch_or(bit, SeqCst);
            if before & bit == 0 {
                self.say_want(Want { identifier, page, level: wanted });
            }
            if level(before) < wanted && system::sleep(word, before | bit, SHORT) == system::Slept::TimedOut {
                // Who has set the bit first may have died before it said so.
                self.say_want(Want { identifier, page, level: wanted });
            }
        }
    }

    /// Without other hosts: the host that has a page, unless this one can go on with it.
    fn is_lost(&self, identifier: i32, word: &AtomicU32, seen: u32) -> Option<u32> {
        if let Some(home) = self.elsewhere(identifier) {
            return Some(home);
        }
        if level(seen) == Level::None {
            return Some((seen >> HOLDER).saturating_sub(1));
        }
        // Nobody else reads what is written here.
        let _old = word.fetch_or(Level::Write as u32, SeqCst);
        let _old = word.fetch_and(!(Level::Read as u32), SeqCst);
        None
    }

    fn say_want(&self, want: Want) {
        let said = 1 | (want.level as u64) << 1 | u64::from(want.page) << 3;
        // An identifier is below 2^31, and a page below 2^29.
        let said = said | (want.identifier as u64) << 32;
        let wants = &self.header().wants;
        loop {
            let is_free = |place: &&std::sync::atomic::AtomicU64| {
                place.load(Relaxed) == 0 && place.compare_exchange(0, said, SeqCst, Relaxed).is_ok()
            };
            if wants.iter().any(|place| is_free(&place)) {
                return self.ring();
            }
            std::thread::yield_now();
        }
    }

    /// What is wanted, for the server.
    pub fn take_wants(&self) -> Vec<Want> {
        let all = self.header().wants.iter().filter(|place| place.load(Relaxed) != 0);
        let said = all.map(|place| place.swap(0, SeqCst)).filter(|said| *said != 0);
        said.map(|said| Want {
            identifier: (said >> 32) as i32,
            page: (said as u32) >> 3,
            level: if said >> 1 & 3 == Level::Write as u64 { Level::Write } else { Level::Read },
        })
        .collect()
    }

    /// Takes pages away from all processes of this host, whose words the server has changed; returns once nobody can do more with them.
    pub fn take_pages(&self, taking: Taking) {
        let header = self.header();
        header.take_identifier.store(taking.identifier as u32, Relaxed);
        header.take_first.store(taking.first, Relaxed);
        header.take_count.store(taking.count, Relaxed);
        header.take_level.store(taking.level as u32, Relaxed);
        let said = header.take.fetch_add(1, SeqCst) + 1;
        system::wake(&header.take);
        loop {
            let (done, forks) = (header.taken.load(SeqCst), header.forks.load(SeqCst));
            let has_not = |process: &super::process::Process| {
                matches!(process.state.load(SeqCst), TAKEN | UNBORN)
                    && process.listens.load(SeqCst) != LISTENS[0]
                    && process.taken.load(SeqCst) != said
                    && !process.listener.is_orphaned()
            };
            if !self.processes().iter().any(has_not) {
                if header.forks.load(SeqCst) == forks {
                    return;
                }
            } else if system::sleep(&header.taken, done, SHORT) == system::Slept::TimedOut {
                self.sweep();
            }
        }
    }

    /// Begins to listen, if this process does not, and returns when it does.
    pub(super) fn listen(&'static self, process: usize) {
        let own = self.one_process(process);
        if own.listens.load(Acquire) >= LISTENS[2] {
            return;
        }
        let has_inherited = own.listens.load(Acquire) == LISTENS[1];
        if !has_inherited {
            own.taken.store(self.header().take.load(SeqCst), SeqCst);
        }
        let begun = system::without_signals(|| {
            std::thread::Builder::new().stack_size(1 << 16).spawn(move || self.hear(process))
        });
        if let Err(error) = begun {
            eprintln!("postrider: no thread for the pages of other hosts: {error}");
            std::process::exit(126);
        }
        while own.listens.load(SeqCst) < LISTENS[2] {
            let listens = own.listens.load(SeqCst);
            if listens < LISTENS[2] {
                system::sleep(&own.listens, listens, SHORT);
            }
        }
        // Who has forked this process may ask only now, and waits for one that has inherited something.
        if !has_inherited {
            own.listens.store(LISTENS[3], SeqCst);
            system::wake(&own.listens);
        }
    }

    /// The listener.
    fn hear(&self, process: usize) {
        let (header, own) = (self.header(), self.one_process(process));
        own.listener.take();
        own.listens.store(LISTENS[2], SeqCst);
        system::wake(&own.listens);
        loop {
            let (said, last) = (header.take.load(SeqCst), own.taken.load(SeqCst));
            if own.listens.load(SeqCst) < LISTENS[2] {
                return;
            }
            if said == last {
                system::sleep(&header.take, said, LONG);
                continue;
            }
            let taking = Taking {
                identifier: header.take_identifier.load(Relaxed) as i32,
                first: header.take_first.load(Relaxed),
                count: header.take_count.load(Relaxed),
                level: [Level::None, Level::Read][(header.take_level.load(Relaxed) & 1) as usize],
            };
            self.close(taking.identifier, taking.first, taking.count, taking.level);
            own.taken.store(said, SeqCst);
            header.taken.fetch_add(1, SeqCst);
            system::wake(&header.taken);
        }
    }

    /// Closes pages of a segment, if hosts share it, or ends the process, which would see old ones.
    fn close(&self, identifier: i32, first: u32, count: u32, left: Level) {
        let is_open = |view: &mut View| view.words.is_none();
        let unknown = views::lock().of_segment(identifier).any(is_open);
        let words = if unknown { self.words(identifier).ok() } else { None };
        for view in views::lock().of_segment(identifier) {
            view.words = view.words.or(words);
            if view.words.is_some()
                && let Err(error) = view.protect(first, count, left)
            {
                let error = std::io::Error::from_raw_os_error(error);
                eprintln!("postrider: a page cannot be closed: {error}");
                std::process::exit(126);
            }
        }
    }

    /// The words of a segment that this process may have attached already.
    pub(super) fn own_words(&self, identifier: i32) -> std::io::Result<Words> {
        let known =
            system::without_signals(|| views::lock().of_segment(identifier).find_map(|view| view.words));
        known.map_or_else(|| self.words(identifier), Ok)
    }

    /// Changes what is attached. Words that nobody needs any more go.
    pub(super) fn change_views(&self, change: impl FnOnce(&mut views::Views)) {
        let unused = system::without_signals(|| {
            let mut views = views::lock();
            let before = views.words();
            change(&mut views);
            let after = views.words();
            before.into_iter().filter(|words| !after.contains(words)).collect::<Vec<_>>()
        });
        unused.into_iter().for_each(Words::unmap);
    }

    /// Runs `work`, which forks, while no mapping changes.
    pub(super) fn while_nothing_is_taken<T>(&self, work: impl FnOnce() -> T) -> T {
        system::without_signals(|| {
            let _views = views::lock();
            work()
        })
    }

    /// A child of this process is about to be: it will listen, and has not done what this process has not.
    pub(super) fn child_will_listen(&self, own: usize, child: usize) {
        let (parent, child) = (self.one_process(own), self.one_process(child));
        if parent.listens.load(Acquire) != LISTENS[0] {
            child.taken.store(parent.taken.load(SeqCst), SeqCst);
            child.listens.store(LISTENS[1], SeqCst);
            self.header().forks.fetch_add(1, SeqCst);
        }
    }

    /// In the child: it listens, and says at home what it has attached.
    pub fn share_as_child(&'static self) {
        if !self.shares_pages() {
            return;
        }
        let place = self.own_process();
        let own = self.one_process(place);
        let has_place = own.listens.load(Acquire) == LISTENS[1];
        let inherited = system::without_signals(|| views::lock().identifiers());
        if has_place || !inherited.is_empty() {
            self.listen(place);
            if !has_place {
                // What was taken since the fork, nobody has told it.
                system::without_signals(|| {
                    inherited
                        .into_iter()
                        .for_each(|identifier| self.close(identifier, 0, u32::MAX, Level::None));
                });
            }
            self.inherit_elsewhere(place);
            own.listens.store(LISTENS[3], SeqCst);
            system::wake(&own.listens);
        }
    }

    /// In the parent: returns once other hosts know what the child has attached.
    pub(super) fn await_child(&self, place: usize, pid: u32) {
        let child = self.one_process(place);
        loop {
            let listens = child.listens.load(SeqCst);
            let is_it = child.state.load(Acquire) == TAKEN && child.pid.load(Acquire) == pid;
            if !is_it || !LISTENS[1..3].contains(&listens) {
                return;
            }
            system::sleep(&child.listens, listens, SHORT);
            self.has_ended(pid);
        }
    }

    /// Names of the hosts, in the order of their numbers, one a line.
    fn names_path(&self) -> PathBuf {
        self.directory.join("hosts")
    }

    /// Notes them, before a process is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn name_hosts(&self, names: &[String]) -> std::io::Result<()> {
        std::fs::write(self.names_path(), names.join("\n"))
    }

    /// The name of a host.
    #[must_use]
    pub fn host_name(&self, number: u32) -> String {
        let text = std::fs::read_to_string(self.names_path()).unwrap_or_default();
        text.lines().nth(number as usize).map_or_else(|| format!("number {number}"), str::to_owned)
    }
}
