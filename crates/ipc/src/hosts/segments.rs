//! Segments that hosts share: what a server does for the pages of its host, and for those segments whose home it is.
//!
//! ```text
//! process ──want──▶ server ──Want──▶ home's directory ──Take──▶ whoever has the page ──Given──▶ home ──Grant──▶ server ──word──▶ process
//! ```
//!
//! The home treats its own host as any other, without packets. Pages that are read one after the other are wanted in ranges, ever longer ones, up to
//! [`RANGE_MAX`]. A host keeps what it was granted for [`HOLD`], so that it gets to use it. Taking waits for that and for processes, and so a thread of its own
//! does it, one after the other; all else is done at once by whoever receives.
//!
//! Nothing here knows MPI: packets come in and go out as values, and are sent in the order in which they were made. What another host says is looked at: only a segment's home grants and takes, and it is given only what
//! it has asked for.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::packet::{Pages, Range};
use crate::semantics::names;
use crate::semantics::pages::{Directory, Level, Order};
use crate::space::pages::{RANGE_MAX, Taking, UNIT, Want, Words};
use crate::space::{Kind, Space};

/// How long a host keeps a page that it was granted.
const HOLD: Duration = Duration::from_millis(1);
/// Bytes of the longest range.
pub const CONTENT_MAX: usize = RANGE_MAX as usize * UNIT;

/// What goes to a host, with contents.
pub type Packet = (u32, Pages, Vec<u8>);

/// The words and the memory of a segment on this host.
#[derive(Debug)]
struct Memory {
    file: File,
    words: Words,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.words.unmap();
    }
}

/// A segment that hosts share.
#[derive(Debug)]
struct Known {
    memory: Arc<Memory>,
    /// Where a thread goes on that reads one page after the other, and how many it got last.
    next: u32,
    unit: u32,
    granted: HashMap<u32, Instant>,
    /// At home: who has which pages.
    directory: Directory,
}

/// What is to be taken from the processes of this host.
type Job = (Range, Level, bool);

/// All of them.
#[derive(Debug)]
pub struct Segments {
    space: &'static Space,
    known: Mutex<HashMap<i32, Known>>,
    /// Hosts that have attached a segment of this one.
    guests: Mutex<HashSet<(i32, u32)>>,
    jobs: (Sender<Job>, Mutex<Receiver<Job>>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pages of a range.
fn pages(range: Range) -> std::ops::Range<u32> {
    range.first..range.first + range.count
}

impl Known {
    fn read(&self, range: Range) -> Vec<u8> {
        let mut content = vec![0; range.count as usize * UNIT];
        read(&self.memory.file, range, &mut content);
        content
    }

    fn write(&self, range: Range, content: &[u8]) {
        if let Err(error) = self.memory.file.write_all_at(content, range.first as u64 * UNIT as u64) {
            failed(&error);
        }
    }
}

fn read(file: &File, range: Range, content: &mut [u8]) {
    if let Err(error) = file.read_exact_at(content, range.first as u64 * UNIT as u64) {
        failed(&error);
    }
}

/// Without its memory a segment cannot go on, and so neither can the name space.
fn failed(error: &std::io::Error) -> ! {
    eprintln!("postrider ipc: the server of this host ends: memory of a segment: {error}");
    std::process::exit(1);
}

impl Segments {
    /// Those of a host, none yet.
    #[must_use]
    pub fn new(space: &'static Space) -> Self {
        let (sender, receiver) = channel();
        let jobs = (sender, Mutex::new(receiver));
        Self { space, known: Mutex::default(), guests: Mutex::default(), jobs }
    }

    fn own(&self) -> u32 {
        self.space.host().number
    }

    fn home(&self, identifier: i32) -> u32 {
        names::home(identifier, self.space.host().all)
    }

    /// Another host has attached a segment of this one.
    pub fn admit(&self, host: u32, identifier: i32) {
        lock(&self.guests).insert((identifier, host));
    }

    /// Does something with a segment, if this host has anything of it.
    fn with<T>(&self, identifier: i32, work: impl FnOnce(&mut Known) -> T) -> Option<T> {
        match lock(&self.known).entry(identifier) {
            Entry::Occupied(known) => Some(work(known.into_mut())),
            Entry::Vacant(place) => Some(work(place.insert(self.begin(identifier)?))),
        }
    }

    fn begin(&self, identifier: i32) -> Option<Known> {
        let words = self.space.words(identifier).ok()?;
        let memory = Arc::new(Memory { file: self.space.pages_file(identifier).ok()?, words });
        let directory = Directory::new(self.home(identifier), memory.words.count());
        Some(Known { memory, next: 0, unit: 1, granted: HashMap::new(), directory })
    }

    /// What processes here want, and what is no more.
    #[must_use]
    pub fn look(&self) -> Vec<Packet> {
        let mut packets = self.ended();
        for want in self.space.take_wants() {
            let range = self.with(want.identifier, |known| known.range(want)).flatten();
            let Some(range) = range else { continue };
            match self.home(want.identifier) {
                home if home == self.own() => packets.extend(self.wanted(home, range, want.level)),
                home => packets.push((home, Pages::Want(range, want.level), Vec::new())),
            }
        }
        packets
    }

    /// Tells other hosts of segments that were removed.
    fn ended(&self) -> Vec<Packet> {
        let mut guests = lock(&self.guests);
        let gone = |identifier| self.space.place_of(Kind::Segment, identifier).is_none();
        let told: Vec<(i32, u32)> = guests.extract_if(|(identifier, _)| gone(*identifier)).collect();
        told.iter().for_each(|(identifier, _)| drop(lock(&self.known).remove(identifier)));
        told.into_iter().map(|(identifier, host)| (host, Pages::Gone(identifier), Vec::new())).collect()
    }

    /// Acts on what another host has said. Nonsense is passed over.
    #[must_use]
    pub fn hear(&self, host: u32, said: Pages, content: &[u8]) -> Vec<Packet> {
        let (Pages::Want(Range { identifier, .. }, _)
        | Pages::Grant(Range { identifier, .. }, _)
        | Pages::Take(Range { identifier, .. }, ..)
        | Pages::Given(Range { identifier, .. })
        | Pages::Gone(identifier)) = said;
        let is_to_home = matches!(said, Pages::Want(..) | Pages::Given(_));
        let home = self.home(identifier);
        let is_right = if is_to_home {
            home == self.own() && lock(&self.guests).contains(&(identifier, host))
        } else {
            home == host && home != self.own()
        };
        if identifier < 0 || host == self.own() || !is_right {
            return Vec::new();
        }
        match said {
            Pages::Want(range, level) => return self.wanted(host, range, level),
            Pages::Given(range) => return self.given(host, range, content),
            Pages::Grant(range, level) => {
                self.with(identifier, |known| known.granted(range, level, content));
            }
            Pages::Take(_, Level::Write, _) => {}
            Pages::Take(range, level, with_content) => {
                // The receiver lives as long as this.
                let _taken = self.jobs.0.send((range, level, with_content));
            }
            Pages::Gone(_) => {
                lock(&self.known).remove(&identifier);
                self.space.forget_pages(identifier);
            }
        }
        Vec::new()
    }

    /// At home: a host wants pages.
    fn wanted(&self, host: u32, range: Range, level: Level) -> Vec<Packet> {
        let served = self.with(range.identifier, |known| {
            let mut orders = Vec::new();
            if known.has(range) {
                pages(range).for_each(|page| known.directory.want(host, page, level, &mut orders));
            }
            self.done(known, range.identifier, orders)
        });
        served.unwrap_or_default()
    }

    /// At home: a host has given pages that it was asked for.
    fn given(&self, host: u32, range: Range, content: &[u8]) -> Vec<Packet> {
        let served = self.with(range.identifier, |known| {
            let bytes = if known.has(range) { range.count as usize * UNIT } else { return Vec::new() };
            let asked = |page| known.directory.is_asked(host, page);
            let with_content = host != self.own() && asked(range.first) == Some(true);
            let is_told = |page| asked(page).is_some_and(|told| host == self.own() || told == with_content);
            if !pages(range).all(is_told) || content.len() != if with_content { bytes } else { 0 } {
                return Vec::new();
            }
            known.write(range, content);
            let mut orders = Vec::new();
            pages(range).for_each(|page| known.directory.given(host, page, &mut orders));
            self.done(known, range.identifier, orders)
        });
        served.unwrap_or_default()
    }

    /// Carries out what the directory orders, and says what is to be sent for it. A page is granted before it is taken again.
    fn done(&self, known: &mut Known, identifier: i32, orders: Vec<Order>) -> Vec<Packet> {
        let mut packets = Vec::new();
        for (host, range, level, content) in ranges(identifier, &orders, true) {
            if host == self.own() {
                known.granted(range, level, &[]);
                continue;
            }
            if level == Level::Write {
                pages(range).for_each(|page| known.memory.words.note_holder(page, host));
            }
            let content = if content { known.read(range) } else { Vec::new() };
            packets.push((host, Pages::Grant(range, level), content));
        }
        for (host, range, level, content) in ranges(identifier, &orders, false) {
            if host == self.own() {
                // The receiver lives as long as this.
                let _taken = self.jobs.0.send((range, level, content));
            } else {
                packets.push((host, Pages::Take(range, level, content), Vec::new()));
            }
        }
        packets
    }

    /// Waits for the next pages that are to be taken from the processes of this host, and takes them. With their contents, if those are to be told.
    #[must_use]
    pub fn take_next(&self) -> Option<(Range, Vec<u8>)> {
        let (range, level, with_content) = lock(&self.jobs.1).recv().ok()?;
        let found = self.with(range.identifier, |known| {
            known.has(range).then(|| {
                let granted = pages(range).filter_map(|page| known.granted.remove(&page));
                (Arc::clone(&known.memory), granted.max())
            })
        });
        let (memory, granted) = found.flatten()?;
        let held = granted.map_or(HOLD, |granted| granted.elapsed());
        std::thread::sleep(HOLD.saturating_sub(held));
        pages(range).for_each(|page| memory.words.set(page, level));
        let Range { identifier, first, count } = range;
        self.space.take_pages(Taking { identifier, first, count, level });
        let mut content = vec![0; if with_content { count as usize * UNIT } else { 0 }];
        read(&memory.file, range, &mut content);
        Some((range, content))
    }

    /// Says that they were taken.
    #[must_use]
    pub fn taken(&self, (range, content): (Range, Vec<u8>)) -> Vec<Packet> {
        match self.home(range.identifier) {
            home if home == self.own() => self.given(home, range, &content),
            home => vec![(home, Pages::Given(range), content)],
        }
    }
}

impl Known {
    /// Whether there are such pages.
    fn has(&self, range: Range) -> bool {
        let end = range.first.checked_add(range.count);
        (1..=RANGE_MAX).contains(&range.count) && end.is_some_and(|end| end <= self.memory.words.count())
    }

    /// What is asked for when somebody wants a page: more, where pages are wanted one after the other.
    fn range(&mut self, want: Want) -> Option<Range> {
        let words = &self.memory.words;
        let is_missing = |page: &u32| *page < words.count() && words.level(*page) < want.level;
        let unit = if want.page == self.next { (2 * self.unit).min(RANGE_MAX) } else { 1 };
        let count = (want.page..).take(unit as usize).take_while(is_missing).count() as u32;
        if count == 0 {
            if want.page < words.count() {
                words.settle(want.page);
            }
            return None;
        }
        (self.next, self.unit) = (want.page + count, unit);
        Some(Range { identifier: want.identifier, first: want.page, count })
    }

    /// This host has pages from now on.
    fn granted(&mut self, range: Range, level: Level, content: &[u8]) {
        if !self.has(range) || !(content.is_empty() || content.len() == range.count as usize * UNIT) {
            return;
        }
        self.write(range, content);
        let now = Instant::now();
        for page in pages(range) {
            self.granted.insert(page, now);
            self.memory.words.set(page, level);
        }
    }
}

/// Orders of one kind, grants or not, by host and as ranges. A host that is granted a page twice gets it once, with its content if that is told at all.
fn ranges(identifier: i32, orders: &[Order], grants: bool) -> Vec<(u32, Range, Level, bool)> {
    let mut all: BTreeMap<(u32, u32), (Level, bool)> = BTreeMap::new();
    for order in orders {
        let (host, page, level, content) = match *order {
            Order::Grant { host, page, level, content } if grants => (host, page, level, content),
            Order::Take { host, page, level, content } if !grants => (host, page, level, content),
            _ => continue,
        };
        let entry = all.entry((host, page)).or_insert((level, content));
        *entry = (entry.0.max(level), entry.1 || content);
    }
    let mut found: Vec<(u32, Range, Level, bool)> = Vec::new();
    for ((host, page), (level, content)) in all {
        match found.last_mut() {
            Some((its, range, other, told))
                if (*its, *other, *told) == (host, level, content)
                    && range.first + range.count == page
                    && range.count < RANGE_MAX =>
            {
                range.count += 1;
            }
            _ => found.push((host, Range { identifier, first: page, count: 1 }, level, content)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_granted_twice_is_granted_once_with_its_content() {
        let grant = |page, level, content| Order::Grant { host: 1, page, level, content };
        let orders = [
            grant(3, Level::Write, true),
            grant(3, Level::Write, false),
            grant(4, Level::Read, true),
            grant(4, Level::Write, false),
            Order::Take { host: 1, page: 4, level: Level::None, content: true },
        ];
        let range = |first, count| Range { identifier: 9, first, count };
        assert_eq!(ranges(9, &orders, true), [(1, range(3, 2), Level::Write, true)]);
        assert_eq!(ranges(9, &orders, false), [(1, range(4, 1), Level::None, true)]);
    }
}
