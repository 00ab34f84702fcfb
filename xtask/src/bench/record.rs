//! The results of a session: what the programs print, what is kept, and what stands for it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::build::Workshop;
use super::engines::{Engine, Place};
use super::machine::{self, Machine};

/// One line of JSON from a program: a measurement, or the name of the library that it runs on.
#[derive(Debug, Deserialize)]
pub struct Line {
    #[serde(default)]
    figure: String,
    #[serde(default)]
    ranks: u32,
    #[serde(default)]
    bytes: u64,
    value: Option<f64>,
    best: Option<f64>,
    #[serde(default)]
    unit: String,
    /// The version string of the MPI library.
    pub library: Option<String>,
    /// An operation that is over, in a program that has several.
    pub done: Option<String>,
    /// Of what a solver has computed.
    checksum: Option<String>,
}

impl Line {
    /// The size of a measurement, and the best of its batches: what the machine gives when nobody interferes.
    pub fn best(&self) -> Option<(u64, f64)> {
        self.best.map(|best| (self.bytes, best))
    }

    /// The size of a problem and the checksum of what was computed.
    pub fn checksum(self) -> Option<(u64, String)> {
        self.checksum.map(|checksum| (self.bytes, checksum))
    }
}

/// All samples of one quantity on one engine, one from each repetition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// What was measured, in the words of the program that printed it.
    pub figure: String,
    /// On which engine.
    pub engine: Engine,
    /// The directory for messages in files.
    pub place: Place,
    /// Number of ranks.
    pub ranks: u32,
    /// Size of a message.
    pub bytes: u64,
    /// us, ms, MB/s (10^6 bytes), million/s, MiB (2^20 bytes), or % of a time that is hidden.
    pub unit: String,
    /// One value from each repetition, itself a median of batches.
    pub samples: Vec<f64>,
    /// What stands for the samples: their median, or the best of them where every rank has a core (see [`Run::finish`]).
    pub value: f64,
    /// The best batch of all repetitions: what the machine gives when nobody interferes.
    pub best: f64,
}

impl Cell {
    /// Whether more of it is better.
    pub fn is_rate(&self) -> bool {
        self.unit.ends_with("/s") || self.unit == "%"
    }
}

/// What one run of a program says of one quantity.
pub struct Sample {
    /// The median of its batches.
    pub value: f64,
    /// The best of them.
    pub best: f64,
}

/// A run without a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The figure that it was for.
    pub figure: String,
    /// On which engine.
    pub engine: Engine,
    /// The directory for messages in files.
    pub place: Place,
    /// Number of ranks.
    pub ranks: u32,
    /// In which repetition; 0 is the trial before the first.
    pub repetition: u32,
    /// What happened.
    pub reason: String,
}

impl Failure {
    /// Whether a quantity is missing because of this: it has the name of the operation that failed, or one that begins with it.
    pub fn is_of(&self, figure: &str) -> bool {
        figure.strip_prefix(&self.figure).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// What stands in place of a number.
    pub fn word(&self) -> &'static str {
        match &self.reason {
            reason if reason.contains("wrong contents") => "wrong",
            reason if reason.starts_with("ended after") || reason.ends_with("too slow") => "too slow",
            _ => "fails",
        }
    }
}

/// One session with everything that has to be known about it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// When it began.
    pub date: String,
    /// The commit of Postrider's source.
    pub commit: String,
    /// Whether it was the short session.
    pub quick: bool,
    /// How often every task ran on every engine.
    pub repetitions: u32,
    /// Time for each size.
    pub budget_ms: u32,
    /// Where it ran.
    pub machine: Machine,
    /// The version string of each engine's library.
    pub versions: BTreeMap<String, String>,
    /// What else has to be known, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What was measured.
    pub cells: Vec<Cell>,
    /// What could not be measured.
    pub failures: Vec<Failure>,
}

impl Run {
    /// A session that begins now.
    pub fn new(quick: bool, repetitions: u32, budget_ms: u32, workshop: &Workshop) -> Self {
        Run {
            date: machine::date_and_time(),
            commit: machine::commit(&workshop.root),
            quick,
            repetitions,
            budget_ms,
            machine: Machine::here(),
            versions: BTreeMap::new(),
            notes: Vec::new(),
            cells: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Keeps what a program printed.
    pub fn add(&mut self, engine: Engine, place: Place, line: &Line) {
        if let Some(value) = line.value {
            let (key, best) = ((line.ranks, line.bytes), line.best.unwrap_or(value));
            self.add_value(&line.figure, engine, place, key, &line.unit, Sample { value, best });
        }
    }

    /// Keeps one sample of a quantity on (ranks, bytes).
    pub fn add_value(
        &mut self,
        figure: &str,
        engine: Engine,
        place: Place,
        (ranks, bytes): (u32, u64),
        unit: &str,
        sample: Sample,
    ) {
        let same = |cell: &&mut Cell| {
            (cell.figure.as_str(), cell.engine, cell.place, cell.ranks, cell.bytes)
                == (figure, engine, place, ranks, bytes)
        };
        if let Some(cell) = self.cells.iter_mut().find(same) {
            cell.samples.push(sample.value);
            let better = if cell.is_rate() { f64::max } else { f64::min };
            cell.best = better(cell.best, sample.best);
            return;
        }
        let (figure, unit, samples) = (figure.to_string(), unit.to_string(), vec![sample.value]);
        let Sample { value, best } = sample;
        self.cells.push(Cell { figure, engine, place, ranks, bytes, unit, samples, value, best });
    }

    /// All repetitions are done. The best of them stands for cells of at most `undisturbed` ranks, which have a core each: what makes
    /// them differ is the machine, above all which cores are near each other just then, and that must not fall to one engine alone. The
    /// median stands for all others.
    pub fn finish(&mut self, undisturbed: usize) {
        for cell in &mut self.cells {
            let better = if cell.is_rate() { f64::max } else { f64::min };
            let best = || cell.samples.iter().copied().reduce(better);
            let found = if cell.ranks as usize <= undisturbed { best() } else { median(&cell.samples) };
            cell.value = found.unwrap_or(cell.value);
        }
        self.machine.load_at_end = machine::load();
    }

    /// A quantity on (ranks, bytes), where it was measured.
    pub fn value(
        &self,
        figure: &str,
        engine: Engine,
        place: Place,
        (ranks, bytes): (u32, u64),
    ) -> Option<f64> {
        let same = |cell: &&Cell| {
            (cell.figure.as_str(), cell.engine, cell.place, cell.ranks, cell.bytes)
                == (figure, engine, place, ranks, bytes)
        };
        self.cells.iter().find(same).map(|cell| cell.value)
    }

    /// Reads a session from its directory.
    pub fn load(directory: &Path) -> Result<Self> {
        let path = directory.join("bench.json");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Writes the session into its directory.
    pub fn save(&self, directory: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        Ok(std::fs::write(directory.join("bench.json"), text + "\n")?)
    }
}

/// The median; the mean of the middle two where there is no middle one.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some((sorted[last / 2] + sorted[sorted.len() / 2]) / 2.0)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A session with these values: (figure, engine, ranks, bytes, unit, value).
    pub fn session(values: &[(&str, Engine, u32, u64, &str, f64)]) -> Run {
        let root = std::env::temp_dir();
        let workshop = Workshop { root: root.clone(), work: root.clone(), prefix: root };
        let mut run = Run::new(true, 1, 1, &workshop);
        for &(figure, engine, ranks, bytes, unit, value) in values {
            run.add_value(figure, engine, Place::Usual, (ranks, bytes), unit, Sample { value, best: value });
        }
        run.finish(0);
        run
    }

    #[test]
    fn repetitions_become_one_cell() {
        let mut run = session(&[
            ("latency", Engine::Mpich, 2, 8, "us", 5.0),
            ("latency", Engine::Mpich, 2, 8, "us", 1.0),
            ("latency", Engine::Mpich, 2, 8, "us", 2.0),
        ]);
        assert_eq!(run.cells.len(), 1);
        assert_eq!((run.cells[0].value, run.cells[0].best), (2.0, 1.0));
        assert_eq!(run.value("latency", Engine::Mpich, Place::Usual, (2, 8)), Some(2.0));
        assert_eq!(run.value("latency", Engine::Mpich, Place::Tmpfs, (2, 8)), None);
        run.finish(2);
        assert_eq!(run.value("latency", Engine::Mpich, Place::Usual, (2, 8)), Some(1.0));
        run.cells[0].unit = "MB/s".into();
        run.finish(2);
        assert_eq!(run.value("latency", Engine::Mpich, Place::Usual, (2, 8)), Some(5.0));
    }

    #[test]
    fn median_of_few_samples() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn a_line_is_a_measurement_or_a_library() {
        let line: Line =
            serde_json::from_str(r#"{"figure":"latency","ranks":2,"bytes":8,"value":0.5,"unit":"us"}"#)
                .expect("a measurement");
        assert_eq!((line.figure.as_str(), line.value), ("latency", Some(0.5)));
        let line: Line = serde_json::from_str(r#"{"library":"Postrider 0.1","ranks":2}"#).expect("a library");
        assert_eq!((line.library.as_deref(), line.value), (Some("Postrider 0.1"), None));
    }
}
