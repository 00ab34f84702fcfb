//! The hosts of a job: who they are, how many ranks each can take, and which rank goes where.
//!
//! Names come from the command line, from host files ([`lists`]) or from a scheduler's allocation ([`schedulers`]). They end up
//! on the command line of a remote shell, so a name is accepted only if it can be nothing but a name.
//! [`place`] makes the host-to-rank map.

mod lists;
mod schedulers;

use postrider_os::hosts::Placement;

pub use lists::{parse_list, read_file};
pub use schedulers::allocated;

/// A host as the user or the scheduler named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What the remote shell is told: `host`, `user@host` or `[::1]`.
    pub name: String,
    /// How many ranks it takes before the next host gets some; one if nobody said.
    pub slots: Option<u32>,
}

/// Ranks that a job can have on all hosts together.
const RANKS_MAX: u64 = 1 << 20;

/// Gives `ranks` ranks to `hosts`, block by block: the first host gets as many as it has slots, then the next, and round
/// again when there are more ranks than slots. Without `ranks` each slot gets one. Hosts that get none are left out, and
/// a host that is named twice is one with the sum of its slots.
///
/// # Errors
/// When there is no host, no rank, or more ranks than a job can have.
pub fn place(hosts: Vec<Host>, ranks: Option<u32>) -> Result<(Vec<Host>, Placement), String> {
    let mut hosts = merged(hosts);
    let slots: u64 = hosts.iter().map(slots_of).sum();
    let ranks = ranks.map_or(slots, u64::from);
    if hosts.is_empty() {
        return Err("no host is named".to_owned());
    }
    if ranks > RANKS_MAX {
        return Err(format!("{ranks} ranks are too many: a job has at most {RANKS_MAX}"));
    }
    let mut host_of = Vec::with_capacity(ranks as usize);
    let turn = (0..).zip(&hosts).cycle().flat_map(|(number, host)| {
        std::iter::repeat_n(number, usize::try_from(slots_of(host)).unwrap_or(usize::MAX))
    });
    host_of.extend(turn.take(ranks as usize));
    let placement = Placement::new(host_of).ok_or("a job needs at least one rank")?;
    hosts.truncate(placement.hosts() as usize);
    Ok((hosts, placement))
}

fn slots_of(host: &Host) -> u64 {
    u64::from(host.slots.unwrap_or(1).max(1))
}

/// Each name once, where it stood first.
pub fn merged(hosts: Vec<Host>) -> Vec<Host> {
    let mut merged: Vec<Host> = Vec::new();
    let mut place_of = std::collections::HashMap::new();
    for host in hosts {
        match place_of.get(&host.name) {
            Some(&place) => {
                let first: &mut Host = &mut merged[place];
                let sum = slots_of(first) + slots_of(&host);
                first.slots = Some(u32::try_from(sum).unwrap_or(u32::MAX));
            }
            None => {
                place_of.insert(host.name.clone(), merged.len());
                merged.push(host);
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn placed(list: &str, ranks: Option<u32>) -> (Vec<String>, Vec<u32>) {
        let hosts = parse_list(list).expect("a good list");
        let (hosts, placement) = place(hosts, ranks).expect("it can be placed");
        (hosts.into_iter().map(|host| host.name).collect(), placement.host_of_each().to_vec())
    }

    #[test]
    fn slots_are_filled_host_by_host_and_round_again() {
        assert_eq!(placed("a:2,b", None), (vec!["a".into(), "b".into()], vec![0, 0, 1]));
        assert_eq!(placed("a:2,b", Some(7)).1, [0, 0, 1, 0, 0, 1, 0]);
        assert_eq!(placed("a:2,b", Some(2)), (vec!["a".into()], vec![0, 0]));
        assert_eq!(placed("a,b,a:2", None).1, [0, 0, 0, 1]);
    }

    #[test]
    fn impossible_jobs_are_refused() {
        let hosts = || parse_list("a,b:2").expect("a good list");
        assert!(place(Vec::new(), None).is_err());
        assert!(place(hosts(), Some(0)).is_err());
        assert!(place(hosts(), Some(u32::MAX)).is_err());
    }

    proptest! {
        #[test]
        fn every_host_has_its_share(slots in proptest::collection::vec(1_u32..5, 1..8), ranks in 1_u32..60) {
            let host = |(number, &slots)| Host { name: format!("n{number}"), slots: Some(slots) };
            let hosts: Vec<Host> = slots.iter().enumerate().map(host).collect();
            let (kept, placement) = place(hosts, Some(ranks)).expect("it can be placed");
            prop_assert_eq!(placement.ranks(), ranks);
            prop_assert_eq!(placement.hosts() as usize, kept.len());
            let rounds = ranks / slots.iter().sum::<u32>();
            for (number, host) in (0..).zip(&kept) {
                let count = placement.ranks_on(number).len() as u32;
                let slots = host.slots.unwrap_or(1);
                prop_assert!((rounds * slots..=(rounds + 1) * slots).contains(&count));
            }
        }
    }
}
