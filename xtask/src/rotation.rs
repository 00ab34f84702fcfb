//! Which of all combinations a run of the suites takes.
//!
//! Programs, numbers of ranks, transports and builds make thousands of combinations, which take hours. A run of `cargo xtask verify` takes a share of
//! them, so that it ends in minutes; a word chooses which, by default the commit's hash. So a run can be repeated as it was, each commit has another
//! share, and what fails with few combinations only is found within a few commits. `cargo xtask test --all` takes everything.

use std::collections::BTreeMap;
use std::process::Command;

use crate::workspace;

/// A choice among combinations. Two with the same word choose the same.
#[derive(Clone, Debug)]
pub struct Rotation(String);

impl Rotation {
    /// The choice of this word.
    pub fn of_word(word: impl Into<String>) -> Self {
        Self(word.into())
    }

    /// The choice of the commit that is checked out; of the version, outside of a clone.
    pub fn of_commit() -> Self {
        let output = Command::new("git")
            .args(["rev-parse", "--short=12", "HEAD"])
            .current_dir(workspace::root())
            .output();
        let hash = output.ok().filter(|output| output.status.success());
        let word = hash.map_or_else(
            || env!("CARGO_PKG_VERSION").to_owned(),
            |hash| String::from_utf8_lossy(&hash.stdout).trim().to_owned(),
        );
        Self(word)
    }

    /// The word, to repeat the choice.
    pub fn word(&self) -> &str {
        &self.0
    }

    /// So many of these, in their order; which ones depends on the word and on what they are for.
    pub fn share<T>(&self, what: &str, of: Vec<T>, most: usize) -> Vec<T> {
        // Those with the smallest hashes.
        let mut order: BTreeMap<u64, usize> = BTreeMap::new();
        (0..of.len()).for_each(|place| {
            order.insert(self.number(&format!("{what} {place}")), place);
        });
        let chosen: Vec<usize> = order.into_values().take(most).collect();
        of.into_iter().enumerate().filter(|(place, _)| chosen.contains(place)).map(|(_, item)| item).collect()
    }

    /// Whether this is among the one in so many that are chosen.
    pub fn has(&self, what: &str, one_in: u64) -> bool {
        self.number(what).is_multiple_of(one_in)
    }

    /// FNV-1a of the word and of what is to be chosen, mixed once more, since the last bytes reach only some bits.
    fn number(&self, what: &str) -> u64 {
        let bytes = self.0.bytes().chain([0]).chain(what.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mixed = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::Rotation;

    #[test]
    fn a_share_is_the_same_for_a_word_and_another_for_the_next() {
        let items = || (0..10).collect::<Vec<i32>>();
        let share = |word: &str, what: &str| Rotation::of_word(word).share(what, items(), 4);
        assert_eq!(share("a", "bcast"), share("a", "bcast"));
        assert_eq!(share("a", "bcast").len(), 4);
        assert!((0..20).any(|word| share(&word.to_string(), "bcast") != share("a", "bcast")));
        assert!((0..20).any(|what| share("a", &what.to_string()) != share("a", "bcast")));
        assert_eq!(Rotation::of_word("a").share("few", vec![1, 2], 4), [1, 2]);
    }

    #[test]
    fn everything_has_its_turn() {
        let mut turns = [0; 10];
        for word in 0..500 {
            let share = Rotation::of_word(word.to_string()).share("program", (0..10_usize).collect(), 4);
            share.into_iter().for_each(|place| turns[place] += 1);
        }
        assert!(turns.iter().all(|&turns| (150..250).contains(&turns)), "{turns:?}");
        let chosen = (0..1000).filter(|name| Rotation::of_word("a").has(&name.to_string(), 2)).count();
        assert!((400..600).contains(&chosen), "{chosen}");
    }
}
