//! Whether the ranks of all hosts wait for each other.
//!
//! Each agent says when nothing has come to the ranks of its host for the whole time, and takes that back when something comes. When all
//! of them have said so at once, and all packets have been taken that ranks have sent to other hosts, they are asked where their ranks are; what has been taken back by then comes before the answer.
//! Processes of other jobs that are guests of the posts have to wait as well, on all hosts of their jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::control::Rest;

/// What is known of the ranks of each host.
pub struct Standstill {
    /// For how long nothing has come to ranks that rest; zero if nobody wants to know.
    patience: Duration,
    /// What is known of each host whose ranks rest.
    rests: Vec<Option<Rest>>,
    /// Who has not yet said where its ranks are, while that is wanted.
    asked: Option<Vec<bool>>,
}

impl Standstill {
    /// Ranks on so many hosts, all of which do something.
    pub fn new(hosts: usize) -> Self {
        Self { patience: Duration::ZERO, rests: vec![None; hosts], asked: None }
    }

    /// The word is wanted when nothing has come for so long.
    pub fn wanted_after(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// The ranks of a host have come to rest, or no longer do.
    pub fn note(&mut self, host: usize, rest: Option<Rest>) {
        self.rests[host] = rest;
        self.asked = None;
    }

    /// Whether all hosts are to be asked where their ranks are, since the ranks of each rest, and no packet is on its way between them.
    pub fn is_to_ask(&mut self) -> bool {
        let all: Option<Vec<&Rest>> = self.rests.iter().map(Option::as_ref).collect();
        let is_still = all.is_some_and(|all| {
            let on_the_way = all.iter().fold(0_i64, |sum, rest| sum.wrapping_add(rest.balance));
            on_the_way == 0 && are_whole(&all)
        });
        let asks = is_still && self.asked.is_none() && !self.patience.is_zero();
        if asks {
            self.asked = Some(vec![true; self.rests.len()]);
        }
        asks
    }

    /// A host has said where its ranks are. When it was the last one, for how long they have waited for each other; that is said once.
    pub fn answered(&mut self, host: usize) -> Option<Duration> {
        let asked = self.asked.as_mut()?;
        asked[host] = false;
        (!asked.contains(&true)).then(|| {
            self.asked = None;
            std::mem::take(&mut self.patience)
        })
    }
}

/// Whether the jobs of all guests have been seen on each of their hosts.
fn are_whole(rests: &[&Rest]) -> bool {
    let mut seen: BTreeMap<u64, (BTreeSet<u32>, u32)> = BTreeMap::new();
    for guest in rests.iter().flat_map(|rest| &rest.guests) {
        let (hosts, count) = seen.entry(guest.job).or_default();
        hosts.insert(guest.host);
        *count = guest.hosts;
    }
    seen.values().all(|(hosts, count)| hosts.len() == *count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::control::Hosted;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn rest(balance: i64) -> Option<Rest> {
        Some(Rest { balance, guests: Vec::new() })
    }

    #[test]
    fn all_hosts_have_to_rest_at_once() {
        let mut all = Standstill::new(3);
        all.wanted_after(PATIENCE);
        all.note(0, rest(5));
        all.note(2, rest(-3));
        assert!(!all.is_to_ask());
        all.note(1, rest(-1));
        assert!(!all.is_to_ask());
        all.note(1, rest(-2));
        assert!(all.is_to_ask() && !all.is_to_ask());
        assert_eq!((all.answered(0), all.answered(2)), (None, None));
        all.note(1, None);
        assert_eq!((all.answered(1), all.is_to_ask()), (None, false));
        all.note(1, rest(-2));
        assert!(all.is_to_ask());
        assert_eq!([0, 1, 2].map(|host| all.answered(host)), [None, None, Some(PATIENCE)]);
        assert!(!all.is_to_ask());
    }

    #[test]
    fn guests_have_to_rest_on_all_hosts_of_their_jobs() {
        let mut all = Standstill::new(2);
        all.wanted_after(PATIENCE);
        let with = |balance, host| Some(Rest { balance, guests: vec![Hosted { job: 9, host, hosts: 2 }] });
        all.note(0, with(-1, 0));
        all.note(1, rest(1));
        assert!(!all.is_to_ask());
        all.note(1, with(1, 1));
        assert!(all.is_to_ask());
    }

    #[test]
    fn nobody_is_asked_if_nobody_wants_to_know() {
        let mut all = Standstill::new(1);
        all.note(0, rest(0));
        assert!(!all.is_to_ask());
    }
}
