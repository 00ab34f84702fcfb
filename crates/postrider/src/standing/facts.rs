//! What the hosts of a job tell each other before it begins, as texts: first about themselves, then how they reach each other.

use std::path::{Path, PathBuf};

use postrider_os::hosts::Placement;

/// Round 0: a host about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its name for a remote shell.
    pub name: String,
    /// Cores that its ranks may use.
    pub cores: u32,
    /// Its ranks, in ascending order.
    pub ranks: Vec<u32>,
    /// The job's directory there.
    pub directory: String,
    /// Host 0: the number by which the directories of the meeting are known.
    pub call: String,
    /// Host 0: these directories.
    pub places: Vec<PathBuf>,
}

/// Longest text of directories; a launcher's key-value space takes little.
const PLACES_BYTES_MAX: usize = 256;

impl Facts {
    /// The text.
    pub fn text(&self) -> String {
        let Self { name, cores, ranks, directory, call, places } = self;
        let mut text = format!("{name}\n{cores}\n{}\n{directory}\n{call}", ranges(ranks));
        let mut room = PLACES_BYTES_MAX;
        for place in places.iter().filter_map(|place| place.to_str()) {
            if !place.contains('\n') && place.len() < room {
                room -= place.len();
                text += &format!("\n{place}");
            }
        }
        text
    }

    /// The facts of a text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        let mut line = || lines.next();
        let (name, cores, ranks) = (line()?, line()?, line()?);
        let (directory, call) = (line()?.to_owned(), line()?.to_owned());
        let places = lines.map(PathBuf::from).collect();
        let (name, cores, ranks) = (name.to_owned(), cores.parse().ok()?, listed(ranks)?);
        Some(Self { name, cores, ranks, directory, call, places })
    }
}

/// Round 1: whether a host reaches host 0, and which of its directories it sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Why a remote shell does not reach it; nothing if one does.
    pub refusal: Option<String>,
    /// Places of the directories in the list.
    pub sees: Vec<u32>,
}

impl Reach {
    /// The text.
    pub fn text(&self) -> String {
        let refusal: String = self.refusal.as_deref().unwrap_or("-").chars().take(160).collect();
        format!("{}\n{refusal}", ranges(&self.sees))
    }

    /// What a text says.
    pub fn parse(text: &str) -> Option<Self> {
        let (sees, refusal) = text.split_once('\n')?;
        Some(Self { refusal: (refusal != "-").then(|| refusal.to_owned()), sees: listed(sees)? })
    }
}

/// How messages get from host to host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through remote shells.
    Links,
    /// Through this directory.
    Central(PathBuf),
}

/// The way that all hosts can go, decided in the same manner by each of them.
///
/// # Errors
/// When there is none.
pub fn decide(all: &[Facts], reaches: &[Reach], central: bool) -> Result<Way, String> {
    let refused = reaches.iter().zip(all).find_map(|(reach, facts)| {
        let why = reach.refusal.as_ref()?;
        Some(format!("host {} does not reach host {}: {why}", facts.name, all[0].name))
    });
    let none = "there is no directory that all hosts see";
    match (refused, central) {
        (None, false) => Ok(Way::Links),
        (_, true) => common(all, reaches).ok_or_else(|| format!("{none} as POSTRIDER_CENTRAL names it")),
        (Some(why), false) => common(all, reaches)
            .ok_or_else(|| format!("{why}; and {none}, which POSTRIDER_RENDEZVOUS may name")),
    }
}

/// The first directory that all hosts see.
fn common(all: &[Facts], reaches: &[Reach]) -> Option<Way> {
    let everywhere = |place: &u32| reaches.iter().all(|reach| reach.sees.contains(place));
    let place = (0..all[0].places.len() as u32).find(everywhere)?;
    Some(Way::Central(all[0].places[place as usize].clone()))
}

/// The host-to-rank map of all hosts. None when they contradict each other.
pub fn placement(all: &[Facts], ranks: u32) -> Option<Placement> {
    let mut host_of = vec![None; ranks as usize];
    for (host, facts) in (0..).zip(all) {
        for &rank in &facts.ranks {
            let place = host_of.get_mut(rank as usize)?;
            if place.replace(host).is_some() {
                return None;
            }
        }
    }
    Placement::new(host_of.into_iter().collect::<Option<_>>()?)
}

/// The map for a person: rank, host and job directory.
pub fn map(all: &[Facts], placement: &Placement) -> String {
    let line = |(rank, &host): (usize, &u32)| {
        let Facts { name, directory, .. } = &all[host as usize];
        format!("{rank} {name} {}\n", Path::new(directory).display())
    };
    placement.host_of_each().iter().enumerate().map(line).collect()
}

/// Numbers as a list of `first-last:step`, or `-` when there are none.
pub fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < numbers.len() {
        let step = numbers.get(at + 1).map_or(1, |next| next - numbers[at]);
        let run = numbers[at..].windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        let (first, last) = (numbers[at], numbers[at + run]);
        parts.push(match (run, step) {
            (0, _) => first.to_string(),
            (_, 1) => format!("{first}-{last}"),
            _ => format!("{first}-{last}:{step}"),
        });
        at += run + 1;
    }
    if parts.is_empty() { "-".to_owned() } else { parts.join(",") }
}

/// Longest list that is believed.
const NUMBERS_MAX: usize = 1 << 20;

fn listed(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|_| text != "-") {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last, step) =
            (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?, step.parse::<usize>().ok()?);
        if step == 0 || (last.saturating_sub(first) as usize) / step + numbers.len() > NUMBERS_MAX {
            return None;
        }
        numbers.extend((first..=last).step_by(step));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn lists_come_back(numbers: BTreeSet<u16>) {
            let numbers: Vec<u32> = numbers.into_iter().map(u32::from).collect();
            prop_assert_eq!(listed(&ranges(&numbers)), Some(numbers));
        }

    }

    #[test]
    fn no_text_is_trusted() {
        let reach = Reach { refusal: Some("no key".to_owned()), sees: vec![0, 2, 4] };
        let samples = [facts("a", vec![0, 1, 2, 9]).text(), facts("b", vec![]).text(), reach.text()];
        let cases = (postrider_fuzz::text(samples.clone()), postrider_fuzz::text(samples));
        postrider_fuzz::survives_within(8 << 20, cases, |(first, second)| {
            let reaches: Option<Vec<Reach>> =
                [&first, &second].map(|text| Reach::parse(text)).into_iter().collect();
            let all: Option<Vec<Facts>> =
                [first, second].map(|text| Facts::parse(&text)).into_iter().collect();
            let Some(all) = all else { return Ok(()) };
            let _way = reaches.map(|reaches| decide(&all, &reaches, false));
            if let Some(placement) = placement(&all, 4) {
                drop(map(&all, &placement));
            }
            Ok(())
        });
    }

    fn facts(name: &str, ranks: Vec<u32>) -> Facts {
        let places = if name == "a" { vec!["/x".into(), "/y".into()] } else { Vec::new() };
        Facts {
            name: name.to_owned(),
            cores: 2,
            ranks,
            directory: "/tmp/j".to_owned(),
            call: "7".to_owned(),
            places,
        }
    }

    #[test]
    fn facts_come_back_and_cyclic_ranks_are_short() {
        let cyclic = facts("a", (0..1000).map(|n| 3 * n).collect());
        assert!(cyclic.text().len() < 64);
        assert_eq!(Facts::parse(&cyclic.text()), Some(cyclic));
    }

    #[test]
    fn ranks_have_one_host_each() {
        let both = |first: Vec<u32>, second: Vec<u32>| placement(&[facts("a", first), facts("b", second)], 3);
        assert_eq!(both(vec![0, 2], vec![1]), Placement::new(vec![0, 1, 0]));
        assert_eq!(both(vec![0, 1], vec![1, 2]), None);
        assert_eq!(both(vec![0], vec![1]), None);
        assert_eq!(both(vec![0, 1, 2], vec![3]), None);
    }

    #[test]
    fn all_hosts_go_the_same_way() {
        let all = [facts("a", vec![0]), facts("b", vec![1])];
        let reach = |refusal: Option<&str>, sees: &[u32]| Reach {
            refusal: refusal.map(str::to_owned),
            sees: sees.to_vec(),
        };
        let host_0 = reach(None, &[0, 1]);
        let way = |other: Reach, central| decide(&all, &[host_0.clone(), other], central);
        assert_eq!(way(reach(None, &[]), false), Ok(Way::Links));
        assert_eq!(way(reach(None, &[0]), true), Ok(Way::Central("/x".into())));
        assert_eq!(way(reach(Some("no key"), &[1]), false), Ok(Way::Central("/y".into())));
        let error = way(reach(Some("no key"), &[]), false).expect_err("no way");
        assert!(error.contains("host b") && error.contains("no key"), "{error}");
        assert!(way(reach(None, &[]), true).is_err());
        let text = reach(Some("no key"), &[0]).text();
        assert_eq!(Reach::parse(&text), Some(reach(Some("no key"), &[0])));
    }
}
