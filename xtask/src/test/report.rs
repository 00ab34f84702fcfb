//! Collects outcomes from all threads, shows progress on a terminal, and ends with a table and the closing line.

use super::job::Outcome;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How much of the output of a failed run is shown, in lines.
const LINES_MAX: usize = 80;

/// How many of the runs that took longest are named.
const LONGEST: usize = 10;

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    deviated: usize,
}

/// The outcomes so far.
pub struct Report {
    chapters: Mutex<BTreeMap<String, Counts>>,
    /// What each run took, for those that were timed.
    times: Mutex<Vec<(Duration, String)>>,
    bar: ProgressBar,
}

impl Report {
    /// An empty report.
    pub fn new() -> Self {
        let style = ProgressStyle::with_template("{pos}/{len} {wide_bar} {elapsed} {msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { chapters: Mutex::default(), times: Mutex::default(), bar }
    }

    /// The progress bar for so many runs; it draws nothing unless on a terminal.
    pub fn progress(&self, runs: usize) -> &ProgressBar {
        self.bar.set_length(runs as u64);
        &self.bar
    }

    /// Takes one outcome; a failure is printed at once.
    pub fn add(&self, chapter: &str, name: &str, outcome: Outcome) {
        let mut chapters = self.chapters.lock().expect("no thread panics with the lock");
        let counts = chapters.entry(chapter.to_owned()).or_default();
        match outcome {
            Outcome::Passed => counts.passed += 1,
            Outcome::Failed(text) => {
                counts.failed += 1;
                self.bar.suspend(|| println!("FAILED {name}\n{}", shortened(&text)));
            }
            Outcome::Deviated(reason) => {
                counts.deviated += 1;
                self.bar.suspend(|| println!("deviates from the standard: {name}: {reason}"));
            }
        }
    }

    /// Takes the outcome of a run, and how long it took.
    pub fn timed(&self, chapter: &str, name: &str, run: impl FnOnce() -> Outcome) {
        let started = Instant::now();
        self.add(chapter, name, run());
        let mut times = self.times.lock().expect("no thread panics with the lock");
        times.push((started.elapsed(), name.to_owned()));
    }

    /// Prints the table and the closing line; returns how many failed.
    pub fn finish(self) -> usize {
        let chapters = self.chapters.into_inner().expect("no thread panics with the lock");
        let sum = |count: fn(&Counts) -> usize| chapters.values().map(count).sum::<usize>();
        let (passed, failed, deviated) = (sum(|c| c.passed), sum(|c| c.failed), sum(|c| c.deviated));
        println!("{:<20} {:>7} {:>7}", "chapter", "passed", "failed");
        for (chapter, counts) in &chapters {
            println!("{chapter:<20} {:>7} {:>7}", counts.passed, counts.failed);
        }
        let mut times = self.times.into_inner().expect("no thread panics with the lock");
        times.sort_unstable_by(|one, other| other.cmp(one));
        for (time, name) in times.iter().take(LONGEST).filter(|(time, _)| time.as_secs() > 0) {
            println!("{:>6.1} s  {name}", time.as_secs_f64());
        }
        if deviated > 0 {
            println!("{deviated} runs failed as tests/deviations.txt expects of this engine");
        }
        println!("{passed} passed, {failed} failed");
        failed
    }
}

/// The first lines of a long text, indented.
fn shortened(text: &str) -> String {
    let mut lines = text.lines().take(LINES_MAX).map(|line| format!("  {line}\n")).collect::<String>();
    let all = text.lines().count();
    if all > LINES_MAX {
        lines += &format!("  … {} more lines\n", all - LINES_MAX);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shortened("a\nb"), "  a\n  b\n");
        let long = "x\n".repeat(LINES_MAX + 5);
        assert!(shortened(&long).ends_with("… 5 more lines\n"));
    }

    #[test]
    fn failures_are_counted_and_deviations_are_not() {
        let report = Report::new();
        report.add("datatypes", "one", Outcome::Passed);
        report.add("datatypes", "two", Outcome::Failed("wrong".into()));
        report.add("info", "three", Outcome::Deviated("known".into()));
        assert_eq!(report.finish(), 1);
    }
}
