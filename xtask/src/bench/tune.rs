//! `cargo xtask bench tune`: every algorithm of every collective operation against the others, by ranks and size.
//!
//! The engine chooses by a table, `crates/engine/src/collectives/table.rs`. This makes its rows for the host at hand: each algorithm is forced
//! by its setting and timed with the same program as in every session of the bench, and of the times come the steps that lose the least. What
//! is measured is kept in one file and what is measured again replaces it, so that parts can be measured one after the other, while the
//! machine is quiet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::build::Workshop;
use super::engines::Engine;
use super::figures::{Figure, Program, Task, arguments};
use super::process::{self, Outcome};
use super::schedules::{self, Setting};
use super::{progress, table};
use crate::workspace;

/// Time every algorithm of the collective operations, and print the rows of the engine's table that follow.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these operations, by the names of their settings (bcast for POSTRIDER_BCAST), separated by commas.
    #[arg(long, value_delimiter = ',')]
    operation: Vec<String>,
    /// Numbers of ranks, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "2,4,8,16")]
    ranks: Vec<u32>,
    /// Sizes in bytes, separated by commas: of messages, blocks and vectors.
    #[arg(long, value_delimiter = ',', default_value = "8,64,256,1024,4096,16384,65536,262144,1048576")]
    sizes: Vec<u64>,
    /// Through shared memory or through files.
    #[arg(long, value_enum, default_value = "postrider")]
    engine: Engine,
    /// Time for each size.
    #[arg(long, default_value = "15")]
    budget_ms: u32,
    /// Measure nothing: print the rows of what was measured before.
    #[arg(long)]
    rows: bool,
    /// The file that keeps what was measured (default: target/bench/tune.json).
    #[arg(long)]
    out: Option<PathBuf>,
    /// Postrider's installation (default: what `cargo xtask build` has made).
    #[arg(long)]
    prefix: Option<PathBuf>,
}

/// Measures, keeps the times, and prints the rows.
pub fn run(arguments: &Arguments) -> Result<()> {
    let workshop = Workshop::new(workspace::root(), workspace::target()?, arguments.prefix.clone())?;
    let path = arguments.out.clone().unwrap_or_else(|| workshop.work.join("tune.json"));
    let mut times = Times::load(&path)?;
    if !arguments.rows {
        workshop.compile(&[])?;
        times.measure(arguments, &workshop, &path)?;
    }
    times.print();
    Ok(())
}

/// An operation that has algorithms.
struct Operation {
    /// The setting's name without what all of them begin with, in small letters.
    name: String,
    setting: Setting,
    /// Its name in the program that measures.
    program: &'static str,
}

impl Operation {
    fn all() -> Result<Vec<Self>> {
        let of = |setting: Setting| {
            let name = setting.name.trim_start_matches("POSTRIDER_").to_lowercase();
            let program = match name.as_str() {
                "reduce_scatter" => "reduce_scatter_block",
                _ => PROGRAMS.iter().find(|program| **program == name)?,
            };
            Some(Operation { name, setting, program })
        };
        Ok(schedules::settings()?.into_iter().filter_map(of).collect())
    }

    /// The algorithms that are different ones on one host.
    fn algorithms(&self) -> impl Iterator<Item = &str> {
        let all = self.setting.values.iter().map(String::as_str);
        all.filter(|name| !name.starts_with("node-aware"))
    }
}

const PROGRAMS: [&str; 9] =
    ["barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce", "scan"];

/// One operation on so many ranks, as the engine's table has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Case {
    operation: String,
    /// In the words of the table: files, crowded or cores.
    place: String,
    ranks: u32,
}

/// Microseconds of each algorithm by the size that the table goes by: of the best batch, so that what disturbs one of them hardly counts.
type Curves = BTreeMap<String, BTreeMap<u64, f64>>;

/// What was measured.
#[derive(Default)]
struct Times(BTreeMap<Case, Curves>);

impl Times {
    fn load(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let cases: Vec<(Case, Curves)> =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        Ok(Self(cases.into_iter().collect()))
    }

    fn save(&self, path: &Path) -> Result<()> {
        let cases: Vec<(&Case, &Curves)> = self.0.iter().collect();
        std::fs::write(path, serde_json::to_string(&cases)? + "\n")
            .with_context(|| path.display().to_string())
    }

    /// What is measured is saved at once: a session that is ended early has not been for nothing.
    fn measure(&mut self, arguments: &Arguments, workshop: &Workshop, path: &Path) -> Result<()> {
        let mut operations = Operation::all()?;
        for name in &arguments.operation {
            let known = operations.iter().any(|operation| operation.name == *name);
            ensure!(known, "there is no operation {name}: give the name of a setting, such as bcast");
        }
        operations.retain(|one| arguments.operation.is_empty() || arguments.operation.contains(&one.name));
        let bar = progress((operations.len() * arguments.ranks.len()) as u64);
        for operation in &operations {
            for &ranks in &arguments.ranks {
                bar.set_message(format!("{}, {ranks} ranks", operation.name));
                for algorithm in operation.algorithms() {
                    self.measure_one(arguments, workshop, (operation, ranks, algorithm))?;
                }
                self.save(path)?;
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn measure_one(
        &mut self,
        settings: &Arguments,
        workshop: &Workshop,
        (operation, ranks, algorithm): (&Operation, u32, &str),
    ) -> Result<()> {
        let cores = std::thread::available_parallelism()?.get();
        let place = match settings.engine {
            Engine::PostriderFile => "files",
            _ if ranks as usize > cores => "crowded",
            _ => "cores",
        };
        let given = arguments(settings.budget_ms, &settings.sizes, operation.program);
        let task = Task::new(Figure::Collectives, Program::Mpi("collective"), ranks, given);
        let mut command = settings.engine.command(workshop, &task)?;
        command.env(&operation.setting.name, algorithm);
        let finished = process::run(&mut command, Duration::from_secs(task.limit_s), &workshop.work);
        let what = format!("{} by {algorithm} on {ranks} ranks", operation.name);
        ensure!(finished.outcome == Outcome::Succeeded, "{what}: {}", finished.reason());
        let case = Case { operation: operation.name.clone(), place: place.into(), ranks };
        let curve = self.0.entry(case).or_default().entry(algorithm.to_owned()).or_default();
        for line in finished.lines() {
            if let Some((bytes, time)) = line.best() {
                curve.insert(bytes * of_all(&operation.name, ranks), time);
            }
        }
        Ok(())
    }

    /// The rows of each operation, and beside each how much the best single algorithm would lose.
    fn print(&self) {
        let mut before: Option<&Case> = None;
        for (case, curves) in &self.0 {
            if before.is_none_or(|before| before.operation != case.operation) {
                println!("\n{}", case.operation);
            }
            before = Some(case);
            print_times(case, curves);
            let same = |other: &&Case| (&other.operation, &other.place) == (&case.operation, &case.place);
            let next = self.0.keys().filter(same).map(|other| other.ranks).find(|ranks| *ranks > case.ranks);
            println!("    {}", row(case, next, &steps(curves)));
        }
    }
}

/// What the size of the program is to be multiplied by: the table goes by the blocks of all ranks together where a process knows no more.
fn of_all(operation: &str, ranks: u32) -> u64 {
    match operation {
        "allgather" | "reduce_scatter" => ranks.into(),
        _ => 1,
    }
}

fn print_times(case: &Case, curves: &Curves) {
    let sizes: Vec<u64> = curves.values().flat_map(|curve| curve.keys().copied()).collect();
    let sizes: std::collections::BTreeSet<u64> = sizes.into_iter().collect();
    let cells: String = sizes.iter().map(|bytes| format!(" {:>8}", table::size(*bytes))).collect();
    println!("  {:<24}{cells}", format!("{}, {} ranks [us]", case.place, case.ranks));
    for (algorithm, curve) in curves {
        let cell = |bytes| format!(" {:>8}", table::number(curve.get(bytes).copied()));
        println!("  {algorithm:<24}{}", sizes.iter().map(cell).collect::<String>());
    }
}

/// A change of algorithm costs as much as so large a part of one time: smaller differences are noise, and make the table hard to read.
const CHANGE: f64 = 0.15;

/// An algorithm, and up to which size; the last one has no end.
type Step = (String, Option<u64>);

/// The steps that lose the least against the best algorithm at each size.
fn steps(curves: &Curves) -> Vec<Step> {
    let names: Vec<&String> = curves.keys().collect();
    let Some(first) = curves.values().next() else { return Vec::new() };
    let sizes: Vec<u64> =
        first.keys().copied().filter(|b| curves.values().all(|c| c.contains_key(b))).collect();
    // For each algorithm: what has been lost when it is used at this size, and which were used before.
    let mut ways: Vec<(f64, Vec<usize>)> = vec![(0.0, Vec::new()); names.len()];
    for bytes in &sizes {
        let best = curves.values().map(|curve| curve[bytes]).fold(f64::INFINITY, f64::min);
        let extended = |now: usize| {
            let change = |before: usize, way: &(f64, Vec<usize>)| {
                way.0 + if before == now || way.1.is_empty() { 0.0 } else { CHANGE }
            };
            let costs = ways.iter().enumerate().map(|(before, way)| (change(before, way), way));
            let (cost, way) =
                costs.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((0.0, &ways[now]));
            let chosen = way.1.iter().copied().chain([now]).collect();
            (cost + (curves[names[now]][bytes] / best).ln(), chosen)
        };
        ways = (0..names.len()).map(extended).collect();
    }
    let least = ways.into_iter().min_by(|one, other| one.0.total_cmp(&other.0));
    let chosen = least.map(|(_, chosen)| chosen).unwrap_or_default();
    let mut steps: Vec<Step> = Vec::new();
    for (place, now) in chosen.iter().enumerate() {
        let next = chosen.get(place + 1);
        if next != Some(now) {
            // Between the sizes that were measured, in the middle of their logarithms.
            let end = next.map(|_| middle(sizes[place], sizes[place + 1]));
            steps.push((names[*now].clone(), end));
        }
    }
    steps
}

fn middle(one: u64, other: u64) -> u64 {
    ((one as f64 * other as f64).sqrt() as u64).next_power_of_two()
}

/// A row as it stands in the engine's table: it holds up to the middle between these ranks and the next that were measured.
fn row(case: &Case, next: Option<u32>, steps: &[Step]) -> String {
    let last = next.map(|next| (f64::from(case.ranks) * f64::from(next)).sqrt() as u32);
    let last = last.map_or("MANY".to_owned(), |last| last.to_string());
    let step = |(name, end): &Step| {
        let end = end.map_or("ANY".to_owned(), |end| match end.is_multiple_of(1024) {
            true => format!("{} * KIB", end / 1024),
            false => end.to_string(),
        });
        format!("({end}, {})", capitals(name))
    };
    let steps: Vec<String> = steps.iter().map(step).collect();
    format!("row({}, {last}, &[{}]),", capitals(&case.place), steps.join(", "))
}

/// The name of a setting's value as that of a variant.
fn capitals(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(times: &[(&str, [f64; 3])]) -> Curves {
        let curve = |times: [f64; 3]| [8, 1024, 65536].into_iter().zip(times).collect();
        times.iter().map(|(name, times)| ((*name).to_owned(), curve(*times))).collect()
    }

    #[test]
    fn a_step_ends_between_two_sizes_and_the_last_one_nowhere() {
        let found = steps(&curves(&[("flat", [1.0, 2.0, 90.0]), ("recursive-halving", [2.0, 3.0, 30.0])]));
        assert_eq!(found, [("flat".to_owned(), Some(8192)), ("recursive-halving".to_owned(), None)]);
        let case = Case { operation: "allreduce".into(), place: "crowded".into(), ranks: 4 };
        let expected = "row(Crowded, 5, &[(8 * KIB, Flat), (ANY, RecursiveHalving)]),";
        assert_eq!(row(&case, Some(8), &found), expected);
    }

    #[test]
    fn small_differences_change_nothing() {
        let found = steps(&curves(&[("flat", [1.0, 1.0, 1.0]), ("tree", [1.1, 0.95, 1.1])]));
        assert_eq!(found, [("flat".to_owned(), None)]);
        let case = Case { operation: "barrier".into(), place: "files".into(), ranks: 16 };
        assert_eq!(row(&case, None, &found), "row(Files, MANY, &[(ANY, Flat)]),");
    }
}
