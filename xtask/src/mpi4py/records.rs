//! What the ranks of one run have written down, `tests/mpi4py/suite.py`, put together: a test has passed when it has on all
//! ranks, and a rank that began a test and says no more of it died or hung in there.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Line {
    test: String,
    outcome: Outcome,
    text: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Skipped,
    Passed,
    Started,
    Failed,
}

/// The tests of one run.
#[derive(Default)]
pub struct Records {
    tests: BTreeMap<String, Test>,
}

/// A test: the worst outcome of all ranks, and what they said about it.
struct Test {
    outcome: Outcome,
    /// Rank and text.
    said: Vec<(usize, String)>,
}

impl Records {
    /// Reads the records of all ranks.
    pub fn read(folder: &Path, ranks: usize) -> Result<Self> {
        let mut records = Self::default();
        for rank in 0..ranks {
            let path = folder.join(format!("{rank}.jsonl"));
            // Without a file the rank has not come as far as the first test.
            if path.exists() {
                let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                records.add(rank, &text).with_context(|| path.display().to_string())?;
            }
        }
        Ok(records)
    }

    fn add(&mut self, rank: usize, text: &str) -> Result<()> {
        let mut outcomes = BTreeMap::new();
        // The line at which a rank was killed may be incomplete.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let Line { test, outcome, text } = serde_json::from_str(line)?;
            let known = outcomes.entry(test.clone()).or_insert(outcome);
            *known = match (*known, outcome) {
                (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Failed,
                _ => outcome,
            };
            if !text.is_empty() {
                self.test(test).said.push((rank, text));
            }
        }
        for (test, outcome) in outcomes {
            let known = self.test(test);
            known.outcome = known.outcome.max(outcome);
        }
        Ok(())
    }

    fn test(&mut self, name: String) -> &mut Test {
        self.tests.entry(name).or_insert(Test { outcome: Outcome::Skipped, said: Vec::new() })
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.tests.values().filter(|test| test.outcome == outcome).count()
    }

    /// How many tests passed.
    pub fn passed(&self) -> usize {
        self.count(Outcome::Passed)
    }

    /// How many tests no rank ran.
    pub fn skipped(&self) -> usize {
        self.count(Outcome::Skipped)
    }

    /// The tests that failed or did not end, each with what is known about it.
    pub fn failures(&self) -> impl Iterator<Item = (&str, String)> {
        let failed = self.tests.iter().filter(|(_, test)| test.outcome >= Outcome::Started);
        failed.map(|(name, test)| (name.as_str(), test.explanation()))
    }

    /// Why tests were skipped, and which.
    pub fn skips(&self) -> BTreeMap<String, Vec<String>> {
        let mut reasons = BTreeMap::<String, Vec<String>>::new();
        for (name, test) in self.tests.iter().filter(|(_, test)| test.outcome == Outcome::Skipped) {
            let reason = test.said.first().map_or("no reason given", |(_, text)| text);
            reasons.entry(reason.to_owned()).or_default().push(name.clone());
        }
        reasons
    }
}

impl Test {
    fn explanation(&self) -> String {
        if self.outcome == Outcome::Started {
            return "it began and did not end".to_owned();
        }
        // Ranks usually say the same. The first of them is enough, with the others' numbers.
        let Some((_, text)) = self.said.first() else { return String::new() };
        let same = self.said.iter().filter(|(_, other)| other == text).map(|(rank, _)| rank.to_string());
        format!("on rank {}: {}", same.collect::<Vec<_>>().join(", "), text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(test: &str, outcome: &str, text: &str) -> String {
        format!("{{\"test\": \"{test}\", \"outcome\": \"{outcome}\", \"text\": \"{text}\"}}\n")
    }

    #[test]
    fn the_worst_outcome_of_all_ranks_counts() {
        let mut records = Records::default();
        let begun = |name| line(name, "started", "");
        let first = begun("a") + &line("a", "passed", "") + &begun("b") + &line("b", "skipped", "why");
        let second = begun("a") + &line("a", "failed", "x != y") + &begun("b") + &line("b", "skipped", "why");
        records.add(0, &(first + &begun("c") + &line("c", "passed", ""))).expect("records");
        records.add(1, &(second + &begun("c") + "{\"test\": \"c\", \"out")).expect("records");
        assert_eq!((records.passed(), records.skipped()), (0, 1));
        let failures = records.failures().collect::<Vec<_>>();
        let expected = [("a", "on rank 1: x != y".to_owned()), ("c", "it began and did not end".to_owned())];
        assert_eq!(failures, expected);
        assert_eq!(records.skips()["why"], ["b"]);
    }

    #[test]
    fn a_failed_part_fails_the_test() {
        let mut records = Records::default();
        let text = line("a", "started", "") + &line("a", "failed", "part 1") + &line("a", "passed", "");
        records.add(0, &text).expect("records");
        assert_eq!(records.failures().count(), 1);
    }
}
