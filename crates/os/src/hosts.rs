//! Which rank runs on which host: the host-to-rank map of a job.
//!
//! Hosts are numbered from 0 in the order in which the job names them, ranks of one host need not follow one another.
//! The ranks of a host share memory, or a local directory; its leader is the one with the lowest number. See "File-based
//! messaging with a local file system", where the map gives each rank the directory that it receives in.
//!
//! A *guest* is a process of another job that the post of a host serves like its own ranks. Its number is above all ranks, and says
//! which host that is, so that nobody has to be told: guest `i` of host `h` is number `ranks + i * hosts + h`.

use std::sync::Arc;

/// A job's map from ranks to hosts. Copies share one map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement(Arc<Map>);

#[derive(Debug, PartialEq, Eq)]
struct Map {
    host_of: Vec<u32>,
    ranks_on: Vec<Vec<u32>>,
    place_of: Vec<u32>,
}

impl Placement {
    /// The map in which rank `r` runs on host `host_of[r]`. None when there is no rank, or a host has no rank.
    #[must_use]
    pub fn new(host_of: Vec<u32>) -> Option<Self> {
        let hosts = *host_of.iter().max()? as usize + 1;
        if hosts > host_of.len() {
            return None;
        }
        let mut ranks_on = vec![Vec::new(); hosts];
        let mut place_of = Vec::with_capacity(host_of.len());
        for (rank, &host) in (0..).zip(&host_of) {
            place_of.push(ranks_on[host as usize].len() as u32);
            ranks_on[host as usize].push(rank);
        }
        let whole = ranks_on.iter().all(|ranks: &Vec<u32>| !ranks.is_empty());
        whole.then(|| Self(Arc::new(Map { host_of, ranks_on, place_of })))
    }

    /// All ranks on one host.
    ///
    /// # Panics
    /// When there is no rank.
    #[must_use]
    pub fn one_host(ranks: u32) -> Self {
        Self::blocks(ranks, ranks)
    }

    /// As many ranks on each host, one host after the other; the last host may have fewer.
    ///
    /// # Panics
    /// When there is no rank.
    #[must_use]
    pub fn blocks(ranks: u32, ranks_per_host: u32) -> Self {
        let map = Self::new((0..ranks).map(|rank| rank / ranks_per_host.max(1)).collect());
        map.unwrap_or_else(|| panic!("a job has at least one rank"))
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.0.host_of.len() as u32
    }

    /// Number of hosts.
    #[must_use]
    pub fn hosts(&self) -> u32 {
        self.0.ranks_on.len() as u32
    }

    /// The host of rank `rank`.
    #[inline]
    #[must_use]
    pub fn host_of(&self, rank: u32) -> u32 {
        self.0.host_of[rank as usize]
    }

    /// The number of guest `index` of host `host`.
    #[must_use]
    pub fn guest(&self, host: u32, index: u32) -> Option<u32> {
        index.checked_mul(self.hosts())?.checked_add(host)?.checked_add(self.ranks())
    }

    /// The host of a rank or a guest.
    #[must_use]
    pub fn host_of_number(&self, number: u32) -> u32 {
        match number.checked_sub(self.ranks()) {
            None => self.host_of(number),
            Some(guest) => guest % self.hosts(),
        }
    }

    /// The most ranks that one host has.
    #[must_use]
    pub fn most_on_a_host(&self) -> u32 {
        (0..self.hosts()).map(|host| self.ranks_on(host).len()).max().unwrap_or_default() as u32
    }

    /// The ranks on host `host`, in ascending order; the first is its leader.
    #[must_use]
    pub fn ranks_on(&self, host: u32) -> &[u32] {
        &self.0.ranks_on[host as usize]
    }

    /// Which of its host's ranks rank `rank` is, counted from 0.
    #[inline]
    #[must_use]
    pub fn place_of(&self, rank: u32) -> u32 {
        self.0.place_of[rank as usize]
    }

    /// The hosts of all ranks, in the order of the ranks.
    #[must_use]
    pub fn host_of_each(&self) -> &[u32] {
        &self.0.host_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_hosts_are_found_both_ways() {
        let map = Placement::new(vec![0, 1, 0, 2, 1]).unwrap();
        assert_eq!((map.ranks(), map.hosts()), (5, 3));
        assert_eq!(map.ranks_on(0), [0, 2]);
        assert_eq!((map.host_of(4), map.place_of(4), map.place_of(3)), (1, 1, 0));
        assert_eq!(Placement::blocks(5, 2).host_of_each(), [0, 0, 1, 1, 2]);
        assert_eq!(Placement::one_host(3).hosts(), 1);
    }

    #[test]
    fn guests_have_numbers_of_their_own_that_say_where_they_are() {
        let map = Placement::new(vec![0, 1, 0, 2, 1]).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for (host, index) in (0..3).flat_map(|host| (0..4).map(move |index| (host, index))) {
            let number = map.guest(host, index).unwrap();
            assert!(number >= 5 && seen.insert(number));
            assert_eq!(map.host_of_number(number), host);
        }
        assert_eq!(map.host_of_number(3), 2);
        assert_eq!(map.guest(0, u32::MAX), None);
    }

    #[test]
    fn a_host_without_ranks_is_refused() {
        assert_eq!(Placement::new(vec![0, 2]), None);
        assert_eq!(Placement::new(vec![]), None);
        assert_eq!(Placement::new(vec![u32::MAX]), None);
    }
}
