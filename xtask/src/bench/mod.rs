//! `cargo xtask bench`: Postrider beside MPICH, Open MPI and the floors of the system, in one session.
//!
//! The programs are C sources in `bench/src`, one for each figure. They are compiled once against the standard ABI, and
//! that binary runs on Postrider and on MPICH by changing the library path; Open MPI 5 has an ABI of its own, so the same
//! sources are compiled a second time for it. Both come from their PyPI wheels, into environments below `target/bench`.
//!
//! What counts is the ratio between engines, and on a shared machine the speed of a minute differs from that of the
//! next. So for every task the engines run in turn (A B C, A B C, …), and the best of the repetitions or their median is kept. A run
//! that fails or takes too long is ended, reported as such, and never holds up the rest.
//!
//! Results go to `bench/runs/<date>-<host>/bench.json` with the machine, the commit and the versions; `bench/plot.py`
//! draws one picture for each figure beside it, and `--report DIR` writes `docs/BENCHMARKS.md` from it. What it costs to have
//! several hosts is a session of its own: [`hosts`]. [`tune`] compares the engine's own algorithms with each other.

mod build;
mod engines;
mod figures;
mod hosts;
mod io;
mod ipc;
mod kind;
pub mod machine;
mod octave;
mod overlap;
mod overview;
mod process;
mod record;
mod report;
mod schedules;
mod summary;
mod table;
mod targets;
mod tune;

use std::time::Duration;

use anyhow::{Result, ensure};

use build::Workshop;
use engines::{Engine, Place};
use figures::{Figure, Scale, Task};
use kind::{Kind, Output};
use process::{Finished, Outcome};
use record::{Failure, Run, Sample};

/// Measure Postrider beside MPICH, Open MPI and the floors of the system.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    other: Option<Other>,
    /// A short session of about two minutes: few sizes, few ranks, one repetition.
    #[arg(long)]
    quick: bool,
    /// Only these figures (default: all).
    #[arg(long, value_enum, num_args = 1..)]
    figure: Vec<Figure>,
    /// Engines to compare, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "postrider,postrider-file,mpich,openmpi")]
    engines: Vec<Engine>,
    /// How often every task runs on every engine (default: 3, quick: 1).
    #[arg(long)]
    repetitions: Option<u32>,
    /// Numbers of ranks, separated by commas (default: 2,4,8,16, quick: 2,4,8).
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Subcommand)]
enum Other {
    /// Measure messages, broadcasts and aggregation between hosts, as figures 7 to 10 of the paper do.
    Hosts(hosts::Arguments),
    /// Measure files beside ROMIO and OMPIO: atomic mode, shared pointers as figures 8 to 10 of the paper do, and arrays.
    Io(io::Arguments),
    /// Measure System V IPC beside the kernel's, and molecular dynamics over it and over MPI, as tables 1 and 2 and figure 1 of the paper do.
    Ipc(ipc::Arguments),
    /// Measure C, Python and Octave in each of its ways beside MatlabMPI's own way of files, as figures 1 to 5 of the paper do.
    Octave(octave::Arguments),
    /// Measure programs whose calls are made asynchronous, as figures 2 to 6 of the paper do.
    Overlap(overlap::Arguments),
    /// Time every algorithm of the collective operations, and print the rows of the engine's table that follow.
    Tune(tune::Arguments),
}

/// Measures and reports, or only reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.other {
        Some(Other::Hosts(arguments)) => return hosts::run(arguments),
        Some(Other::Io(arguments)) => return io::run(arguments),
        Some(Other::Ipc(arguments)) => return ipc::run(arguments),
        Some(Other::Octave(arguments)) => return octave::run(arguments),
        Some(Other::Overlap(arguments)) => return overlap::run(arguments),
        Some(Other::Tune(arguments)) => return tune::run(arguments),
        None => {}
    }
    KIND.run(&arguments.output, arguments.quick, |workshop, _| {
        Ok(Session::prepare(arguments, workshop)?.measure())
    })
}

const KIND: Kind = Kind {
    suffix: "",
    plot: "plot.py",
    page: "docs/BENCHMARKS.md",
    markdown: report::markdown,
    targets: targets::targets,
};

/// What shows how far a session is.
fn progress(steps: u64) -> indicatif::ProgressBar {
    let style = indicatif::ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}");
    indicatif::ProgressBar::new(steps).with_style(style.expect("the template is a constant"))
}

/// One session: what is to be run, on what, and what has been found so far.
struct Session<'a> {
    workshop: &'a Workshop,
    engines: Vec<Engine>,
    tasks: Vec<Task>,
    repetitions: u32,
    run: Run,
    /// Operations that have failed, which are not tried again in the same place.
    failed: Vec<(&'static str, Engine, Place)>,
}

impl<'a> Session<'a> {
    /// Installs and compiles what is missing, and keeps the engines on which a first program runs.
    fn prepare(arguments: &Arguments, workshop: &'a Workshop) -> Result<Self> {
        let scale = Scale::new(arguments.quick, &arguments.ranks);
        let repetitions = arguments.repetitions.unwrap_or(if arguments.quick { 1 } else { 3 }).max(1);
        let mut session = Session {
            workshop,
            engines: Vec::new(),
            tasks: figures::tasks(&arguments.figure, &scale),
            repetitions,
            run: Run::new(arguments.quick, repetitions, scale.budget_ms, workshop),
            failed: Vec::new(),
        };
        workshop.compile(&arguments.engines)?;
        for &engine in &arguments.engines {
            session.try_engine(engine, &Task::hello());
        }
        ensure!(
            !session.engines.is_empty(),
            "none of the chosen engines runs a program; the reasons stand above"
        );
        Ok(session)
    }

    /// Starts a first program on the engine, which also tells its version, and reports an engine that cannot do it.
    fn try_engine(&mut self, engine: Engine, hello: &Task) {
        let finished = self.start(hello, engine);
        let library = finished.lines().find_map(|line| line.library);
        match library.filter(|library| library.contains(engine.library_name())) {
            Some(library) => {
                self.run.versions.insert(engine.name().into(), library);
                self.engines.push(engine);
            }
            None => {
                eprintln!("bench: {} is left out: {}", engine.name(), finished.reason());
                self.fail(hello, engine, 0, &finished);
            }
        }
    }

    /// All tasks, and what stands for their repetitions.
    fn measure(mut self) -> Run {
        self.measure_all();
        let cores = self.run.machine.cores;
        self.run.finish(cores);
        self.run
    }

    /// All tasks; the engines take turns within each repetition of a task.
    fn measure_all(&mut self) {
        let tasks = std::mem::take(&mut self.tasks);
        let bar = progress(tasks.iter().map(|task| u64::from(task.turns * self.repetitions)).sum());
        for task in &tasks {
            for repetition in 1..=task.turns * self.repetitions {
                for engine in task.engines(&self.engines) {
                    let words = format!("{}, {} ranks, {}", task.name(), task.ranks, engine.name());
                    if bar.is_hidden() {
                        eprintln!("bench: {} s: {words}", bar.elapsed().as_secs());
                    }
                    bar.set_message(words);
                    self.measure_once(task, engine, repetition);
                }
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
    }

    fn measure_once(&mut self, task: &Task, engine: Engine, repetition: u32) {
        if task.starts > 0 {
            return self.measure_starts(task, engine, repetition);
        }
        if !task.operations.is_empty() {
            return io::measure_operations(self, task, engine, repetition);
        }
        let finished = self.start(task, engine);
        for line in finished.lines() {
            self.run.add(engine, task.place, &line);
        }
        if finished.outcome != Outcome::Succeeded {
            self.fail(task, engine, repetition, &finished);
        }
    }

    /// Start-up is timed from outside; several starts make one sample.
    fn measure_starts(&mut self, task: &Task, engine: Engine, repetition: u32) {
        let mut times_ms = Vec::new();
        for _ in 0..task.starts {
            let finished = self.start(task, engine);
            if finished.outcome != Outcome::Succeeded {
                return self.fail(task, engine, repetition, &finished);
            }
            times_ms.push(1e3 * finished.elapsed.as_secs_f64());
        }
        let best = times_ms.iter().copied().reduce(f64::min);
        if let (Some(value), Some(best)) = (record::median(&times_ms), best) {
            self.run.add_value("startup", engine, task.place, (task.ranks, 0), "ms", Sample { value, best });
        }
    }

    fn start(&self, task: &Task, engine: Engine) -> Finished {
        let _busy = io::Busy::beside(task.place);
        match engine.command(self.workshop, task) {
            Ok(mut command) => {
                process::run(&mut command, Duration::from_secs(task.limit_s), &self.workshop.work)
            }
            Err(error) => Finished::not_started(&error.to_string()),
        }
    }

    fn fail(&mut self, task: &Task, engine: Engine, repetition: u32, finished: &Finished) {
        self.fail_for(task.name(), (task, engine, repetition), finished.reason());
    }

    fn fail_for(&mut self, figure: String, (task, engine, repetition): (&Task, Engine, u32), reason: String) {
        let Task { place, ranks, .. } = *task;
        self.run.failures.push(Failure { figure, engine, place, ranks, repetition, reason });
    }
}
