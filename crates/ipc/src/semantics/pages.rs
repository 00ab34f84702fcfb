//! Who has the pages of a segment that hosts share: many read a page, or one writes it.
//!
//! The segment's home keeps a *directory*. A host *wants* a page, to read or to write. The directory has it *taken* from whoever stands in the way, all at once, and
//! *grants* it once they have given. Whoever waits for a page gets it in the order of asking. What a writer gives comes back to the home, and so the home's
//! copy is right unless another host may write; grants are made of it.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

/// What a host may do with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// Nothing: the page is not there.
    None,
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// What is to be done about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A host has a page from now on; with its content, unless it had that before.
    Grant {
        /// To whom.
        host: u32,
        /// Which page.
        page: u32,
        /// To do what.
        level: Level,
        /// Whether its content is told.
        content: bool,
    },
    /// A host is to give a page, up to what it may do with it then, and tell its content if nobody else has that.
    Take {
        /// From whom.
        host: u32,
        /// Which page.
        page: u32,
        /// What it may still do.
        level: Level,
        /// Whether its content is told.
        content: bool,
    },
}

/// A page with which not only its home may do everything.
#[derive(Debug)]
struct Page {
    writer: Option<u32>,
    readers: BTreeSet<u32>,
    /// Who has been asked to give it, and what that host may do then.
    asked: HashMap<u32, Level>,
    waiting: VecDeque<(u32, Level)>,
}

/// The directory of a segment.
#[derive(Debug)]
pub struct Directory {
    home: u32,
    count: u32,
    pages: HashMap<u32, Page>,
}

impl Directory {
    /// That of a segment of so many pages, which are all its home's.
    #[must_use]
    pub fn new(home: u32, count: u32) -> Self {
        Self { home, count, pages: HashMap::new() }
    }

    /// Pages of the segment.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A host wants a page. Nonsense is passed over.
    pub fn want(&mut self, host: u32, page: u32, level: Level, orders: &mut Vec<Order>) {
        if page >= self.count || level == Level::None {
            return;
        }
        let home = self.home;
        let its = self.pages.entry(page).or_insert_with(|| Page {
            writer: Some(home),
            readers: BTreeSet::new(),
            asked: HashMap::new(),
            waiting: VecDeque::new(),
        });
        if !its.waiting.contains(&(host, level)) {
            its.waiting.push_back((host, level));
            self.advance(page, orders);
        }
    }

    /// Whether a host has been asked for a page, and whether for its content, too.
    #[must_use]
    pub fn is_asked(&self, host: u32, page: u32) -> Option<bool> {
        let page = self.pages.get(&page)?;
        page.asked.contains_key(&host).then_some(page.writer == Some(host))
    }

    /// A host has given a page that it was asked for; its content is in the home's copy.
    pub fn given(&mut self, host: u32, page: u32, orders: &mut Vec<Order>) {
        let Some(its) = self.pages.get_mut(&page) else { return };
        let Some(level) = its.asked.remove(&host) else { return };
        its.writer = its.writer.filter(|writer| *writer != host);
        its.readers.remove(&host);
        if level == Level::Read {
            its.readers.insert(host);
        }
        self.advance(page, orders);
    }

    /// Serves who waits for a page, as far as nobody stands in the way.
    fn advance(&mut self, number: u32, orders: &mut Vec<Order>) {
        let Some(page) = self.pages.get_mut(&number) else { return };
        while page.asked.is_empty() {
            let Some((host, level)) = page.waiting.front().copied() else { break };
            let leaves = if level == Level::Read { Level::Read } else { Level::None };
            let others = page.writer.into_iter().chain(page.readers.iter().copied());
            let in_the_way =
                |other: &u32| *other != host && (level == Level::Write || page.writer == Some(*other));
            page.asked = others.filter(in_the_way).map(|other| (other, leaves)).collect();
            if !page.asked.is_empty() {
                let content_of = |host| page.writer == Some(host) && host != self.home;
                orders.extend(page.asked.keys().map(|other| Order::Take {
                    host: *other,
                    page: number,
                    level: leaves,
                    content: content_of(*other),
                }));
                break;
            }
            page.waiting.pop_front();
            let had = page.writer == Some(host) || page.readers.contains(&host);
            let level = if page.writer == Some(host) { Level::Write } else { level };
            match level {
                Level::Write => {
                    page.readers.clear();
                    page.writer = Some(host);
                }
                _ => {
                    page.readers.insert(host);
                }
            }
            orders.push(Order::Grant { host, page: number, level, content: !had && host != self.home });
        }
        if page.writer == Some(self.home) && page.waiting.is_empty() && page.asked.is_empty() {
            self.pages.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOSTS: u32 = 4;
    const PAGES: u32 = 2;

    /// What a host has of a page: its level, its copy, and whether it has asked for more.
    #[derive(Clone, Copy, Debug)]
    struct Copy {
        level: Level,
        value: u64,
        wants: Level,
    }

    /// Hosts with memory, and messages under way in both directions, in order.
    struct World {
        directory: Directory,
        copies: Vec<Vec<Copy>>,
        to_hosts: Vec<VecDeque<(Order, u64)>>,
        to_home: Vec<VecDeque<Told>>,
        latest: Vec<u64>,
    }

    #[derive(Clone, Copy, Debug)]
    enum Told {
        Wants(u32, Level),
        Gives(u32, Option<u64>),
    }

    impl World {
        fn new() -> Self {
            let copy = |host| Copy {
                level: if host == 0 { Level::Write } else { Level::None },
                value: 0,
                wants: Level::None,
            };
            Self {
                directory: Directory::new(0, PAGES),
                copies: (0..HOSTS).map(|host| vec![copy(host); PAGES as usize]).collect(),
                to_hosts: vec![VecDeque::new(); HOSTS as usize],
                to_home: vec![VecDeque::new(); HOSTS as usize],
                latest: vec![0; PAGES as usize],
            }
        }

        /// A host reads or writes a page, or asks for it.
        fn access(&mut self, host: u32, page: u32, writes: bool) {
            let wanted = if writes { Level::Write } else { Level::Read };
            let copy = &mut self.copies[host as usize][page as usize];
            if copy.level < wanted {
                if copy.wants < wanted {
                    copy.wants = wanted;
                    self.to_home[host as usize].push_back(Told::Wants(page, wanted));
                }
                return;
            }
            assert_eq!(copy.value, self.latest[page as usize], "host {host} has an old page {page}");
            if writes {
                self.latest[page as usize] += 1;
                copy.value += 1;
                let others = (0..HOSTS).filter(|other| *other != host);
                let none = |other: u32| self.copies[other as usize][page as usize].level == Level::None;
                assert!(others.into_iter().all(none), "host {host} is not the only one");
            }
        }

        fn home_hears(&mut self, host: u32) -> bool {
            let Some(told) = self.to_home[host as usize].pop_front() else { return false };
            let mut orders = Vec::new();
            match told {
                Told::Wants(page, level) => self.directory.want(host, page, level, &mut orders),
                Told::Gives(page, value) => {
                    assert!(self.directory.is_asked(host, page).is_some());
                    if let Some(value) = value {
                        self.copies[0][page as usize].value = value;
                    }
                    self.directory.given(host, page, &mut orders);
                }
            }
            for order in orders {
                let (Order::Grant { host, page, .. } | Order::Take { host, page, .. }) = order;
                self.to_hosts[host as usize].push_back((order, self.copies[0][page as usize].value));
            }
            true
        }

        fn host_hears(&mut self, host: u32) -> bool {
            let Some((order, value)) = self.to_hosts[host as usize].pop_front() else { return false };
            match order {
                Order::Grant { page, level, content, .. } => {
                    let copy = &mut self.copies[host as usize][page as usize];
                    copy.value = if content { value } else { copy.value };
                    copy.level = level;
                    if copy.wants <= level {
                        copy.wants = Level::None;
                    }
                }
                Order::Take { page, level, content, .. } => {
                    let copy = &mut self.copies[host as usize][page as usize];
                    assert!(copy.level > level, "host {host} is asked for what it has not");
                    copy.level = level;
                    let value = content.then_some(copy.value);
                    self.to_home[host as usize].push_back(Told::Gives(page, value));
                }
            }
            true
        }

        fn settle(&mut self) {
            while (0..HOSTS).any(|host| self.home_hears(host) || self.host_hears(host)) {}
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn every_read_sees_the_last_write(steps in prop::collection::vec((0..4_u8, 0..HOSTS, 0..PAGES), 0..200)) {
            let mut world = World::new();
            for (what, host, page) in steps {
                match what {
                    0 => { world.home_hears(host); }
                    1 => { world.host_hears(host); }
                    _ => world.access(host, page, what == 3),
                }
            }
            world.settle();
            for host in 0..HOSTS {
                for page in 0..PAGES {
                    world.access(host, page, true);
                    world.settle();
                    let copy = world.copies[host as usize][page as usize];
                    prop_assert_eq!((copy.level, copy.wants), (Level::Write, Level::None));
                    world.access(host, page, true);
                }
            }
        }

        #[test]
        fn nonsense_is_passed_over(said in prop::collection::vec((any::<bool>(), 0..9_u32, 0..5_u32, 0..3_u8), 0..100)) {
            let (mut directory, mut orders) = (Directory::new(1, 3), Vec::new());
            for (wants, host, page, level) in said {
                let level = [Level::None, Level::Read, Level::Write][level as usize];
                match wants {
                    true => directory.want(host, page, level, &mut orders),
                    false => directory.given(host, page, &mut orders),
                }
            }
            let granted = |order: &Order| matches!(order, Order::Grant { page, .. } | Order::Take { page, .. } if *page < 3);
            prop_assert!(orders.iter().all(granted));
        }
    }
}
