//! `cargo xtask bench io`: files, beside ROMIO and OMPIO, and each of Postrider's ways of locking beside the others.
//!
//! The paper is "Implementing MPI-IO Atomic Mode and Shared File Pointers Using MPI One-Sided Communication", whose figures 8 to 10 are
//! measured anew; arrays and locks come in addition. Everything runs in memory, on a disk, and on a slow file system with locks and without.
//! A session is one of the bench. Its programs have several operations each, and check what is in the file: when one fails, it is
//! recorded as failed, and the program is started again with those after it.
//!
//! - [`figures`]: the tasks.
//! - [`ways`]: how programs are started with each way of locking, and on MPICH.
//! - [`sites`]: the directories, and the processes that disturb.
//! - [`simulation`]: locks with more ranks than a machine has room for.
//! - [`targets`] and [`report`]: what is to be reached, and `docs/BENCHMARKS_FILES.md`.

mod figures;
mod report;
mod simulation;
mod sites;
mod targets;
mod ways;

use anyhow::{Result, ensure};

pub use sites::Busy;
pub use ways::Way;

use super::Session;
use super::build::Workshop;
use super::engines::Engine;
use super::figures::Task;
use super::kind::{Kind, Output};
use super::process::Outcome;
use super::record::{Failure, Run};
use figures::{Figure, Scale};
use sites::{SLOW, Sites};

/// Measure files beside ROMIO and OMPIO: atomic mode, shared pointers as figures 8 to 10 of the paper do, and arrays.
#[derive(clap::Args)]
pub struct Arguments {
    /// A short session of a few minutes: few sizes, few ranks, one repetition.
    #[arg(long)]
    quick: bool,
    /// Only these figures of the paper, or these parts, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    figure: Vec<Figure>,
    /// Engines to compare, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "postrider,mpich,openmpi")]
    engines: Vec<Engine>,
    /// Ways of locking, and Postrider's files on MPICH, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    ways: Vec<Way>,
    /// How often every task runs with every engine and way (default: 3, quick: 1).
    #[arg(long)]
    repetitions: Option<u32>,
    /// Numbers of ranks, separated by commas (default: 2,4,8,16, quick: 2,4).
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    #[command(flatten)]
    output: Output,
}

/// Measures and reports, or only reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    KIND.run(&arguments.output, arguments.quick, |workshop, _| measure(arguments, workshop))
}

const KIND: Kind = Kind {
    suffix: "-io",
    plot: "plot_io.py",
    page: "docs/BENCHMARKS_FILES.md",
    markdown: report::markdown,
    targets: targets::targets,
};

/// Keeps the engines and ways with which a first program runs, and runs all tasks with them.
fn measure(arguments: &Arguments, workshop: &Workshop) -> Result<Run> {
    let scale = Scale::new(arguments.quick, &arguments.ranks);
    let repetitions = arguments.repetitions.unwrap_or(if arguments.quick { 1 } else { 3 }).max(1);
    let ways = if arguments.ways.is_empty() { ways::LOCKS } else { &arguments.ways };
    workshop.compile(&arguments.engines)?;
    let sites = Sites::start(workshop)?;
    let mut session = Session {
        workshop,
        engines: Vec::new(),
        tasks: figures::tasks(&arguments.figure, &scale, &sites),
        repetitions,
        run: Run::new(arguments.quick, repetitions, scale.budget_ms, workshop),
        failed: Vec::new(),
    };
    session.run.notes.push(format!("the slow file system is postrider-slowfs {}", SLOW.join(" ")));
    for engine in arguments.engines.iter().copied().chain(ways.iter().copied().map(Engine::Io)) {
        session.try_engine(engine, &Task::hello());
    }
    ensure!(
        !session.engines.is_empty(),
        "none of the chosen engines runs a program; the reasons stand above"
    );
    session.measure_all();
    let is_chosen = arguments.figure.is_empty() || arguments.figure.contains(&Figure::Simulation);
    if is_chosen && let Err(error) = simulation::measure(&mut session) {
        eprintln!("bench: locks with many ranks are not simulated: {error:#}");
        session.run.notes.push(format!("locks with many ranks were not simulated: {error:#}"));
    }
    let cores = session.run.machine.cores;
    session.run.finish(cores);
    Ok(session.run)
}

/// Runs the operations of a task. One that fails is recorded, and those after it run anew; with more ranks it is not tried again.
pub(super) fn measure_operations(session: &mut Session, task: &Task, engine: Engine, repetition: u32) {
    let place = task.place;
    let is_failed = |session: &Session, name| session.failed.contains(&(name, engine, place));
    let (failed, mut left): (Vec<_>, Vec<_>) =
        task.operations.iter().copied().partition(|name| is_failed(session, name));
    for name in failed.into_iter().filter(|_| repetition == 1) {
        let is_same = |f: &&Failure| (f.figure.as_str(), f.engine, f.place) == (name, engine, place);
        let word = session.run.failures.iter().find(is_same).map_or("fails", Failure::word);
        let reason = format!("not tried, since with fewer ranks: {word}");
        session.fail_for(name.to_owned(), (task, engine, repetition), reason);
    }
    while !left.is_empty() {
        let finished = session.start(&Task { operations: left.clone(), ..task.clone() }, engine);
        for line in finished.lines() {
            session.run.add(engine, place, &line);
            left.retain(|name| line.done.as_deref() != Some(name));
        }
        if finished.outcome == Outcome::Succeeded && left.is_empty() {
            return;
        }
        let name = if left.is_empty() { task.operations[task.operations.len() - 1] } else { left.remove(0) };
        session.fail_for(name.to_owned(), (task, engine, repetition), finished.reason());
        session.failed.push((name, engine, place));
    }
}
