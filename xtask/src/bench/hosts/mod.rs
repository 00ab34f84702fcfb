//! `cargo xtask bench hosts`: what messages, broadcasts and aggregation cost between hosts, as in the paper's figures 7 to 10.
//!
//! The hosts are those of a bed of `cargo xtask hosts`. Messages go the ways that Postrider offers, beside MPICH over TCP and a bare
//! connection of ssh; broadcasts and aggregation run on up to 2048 processes in nodes of 32 that share this machine. As in every
//! session of the bench the ways take turns, a run that fails is recorded as such, and the rest goes on.
//!
//! - [`figures`]: the tasks.
//! - [`ways`]: the beds, and how a program is started on them.
//! - [`simulation`]: the broadcast on more processes than fit.
//! - [`targets`] and [`report`]: what is to be reached, and `docs/BENCHMARKS_HOSTS.md`.

mod figures;
mod report;
mod simulation;
mod targets;
mod ways;

use std::time::Duration;

use anyhow::{Result, ensure};

use super::build::Workshop;
use super::engines::{Engine, Place};
use super::kind::{Kind, Output};
use super::process::{self, Finished, Outcome};
use super::record::{Failure, Run, Sample};
use figures::{Figure, NODE_RANKS, Scale, Task};
use ways::{SLOW, Sites, Watches};

/// After so many runs of a figure that took too long, a way is left out of the rest of it.
const LATE_MAX: usize = 2;

/// Measure messages, broadcasts and aggregation between hosts, as figures 7 to 10 of the paper do.
#[derive(clap::Args)]
pub struct Arguments {
    /// A short session of a few minutes: few sizes up to 1 MiB, few ranks, one repetition.
    #[arg(long)]
    quick: bool,
    /// Only these figures of the paper, or these parts (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    figure: Vec<Figure>,
    /// Ways that messages travel, separated by commas.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "postrider,postrider-file,postrider-scp,postrider-central,postrider-central-slow,mpich"
    )]
    ways: Vec<Engine>,
    /// How often every task runs, but for those that take long (default: 3, quick: 1).
    #[arg(long)]
    repetitions: Option<u32>,
    /// Numbers of ranks in nodes of 32 (default: the powers of two from 2 to 2048, quick: 2,32,128).
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    #[command(flatten)]
    output: Output,
}

/// Measures and reports, or only reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    for &ranks in &arguments.ranks {
        let whole = ranks > 1 && (ranks <= NODE_RANKS || ranks.is_multiple_of(NODE_RANKS));
        ensure!(whole, "{ranks} ranks: at least 2, and whole nodes of {NODE_RANKS} from the second on");
    }
    KIND.run(&arguments.output, arguments.quick, |workshop, directory| {
        Session::prepare(arguments, workshop)?.measure(arguments, directory)
    })
}

const KIND: Kind = Kind {
    suffix: "-hosts",
    plot: "plot_hosts.py",
    page: "docs/BENCHMARKS_HOSTS.md",
    markdown: report::markdown,
    targets: targets::targets,
};

/// One session between hosts.
struct Session<'a> {
    workshop: &'a Workshop,
    sites: Sites<'a>,
    scale: Scale,
    /// The ways on which a first program runs.
    ways: Vec<Engine>,
    repetitions: u32,
    run: Run,
    /// Runs that took too long.
    late: Vec<(Figure, Engine)>,
    _watches: Watches,
}

impl<'a> Session<'a> {
    /// Brings the hosts up, and keeps the ways on which a first program runs.
    fn prepare(arguments: &Arguments, workshop: &'a Workshop) -> Result<Self> {
        let scale = Scale::new(arguments.quick, &arguments.ranks);
        let repetitions = arguments.repetitions.unwrap_or(if arguments.quick { 1 } else { 3 }).max(1);
        let most = scale.ranks.iter().copied().max().unwrap_or(NODE_RANKS);
        let mut run = Run::new(arguments.quick, repetitions, scale.budget_ms, workshop);
        run.notes.push(format!("the slow central file system is postrider-slowfs {SLOW}"));
        workshop.compile(&[])?;
        eprintln!("bench: bringing up the hosts");
        let sites = Sites::start(workshop, &arguments.ways)?;
        let watches = Watches::for_ranks(most)?;
        let mut session = Session {
            workshop,
            sites,
            scale,
            ways: Vec::new(),
            repetitions,
            run,
            late: Vec::new(),
            _watches: watches,
        };
        for &way in &arguments.ways {
            session.try_way(way);
        }
        ensure!(!session.ways.is_empty(), "none of the chosen ways runs a program; the reasons stand above");
        Ok(session)
    }

    /// Starts a first program, which also tells the version of the library.
    fn try_way(&mut self, way: Engine) {
        let hello = Task::hello(way);
        let finished = self.start(&hello);
        let library = finished.lines().find_map(|line| line.library);
        match library.filter(|library| library.contains(way.library_name())) {
            Some(library) => {
                self.run.versions.insert(way.name().into(), library);
                self.ways.push(way);
            }
            None => {
                eprintln!("bench: {} is left out: {}", way.name(), finished.reason());
                self.fail(&hello, 0, finished.reason());
            }
        }
    }

    /// All tasks, those of one point in turn, as often as they are to run. What has been found is saved after each, so that
    /// a session that is ended early is not lost.
    fn measure(mut self, arguments: &Arguments, directory: &std::path::Path) -> Result<Run> {
        let tasks = figures::tasks(&arguments.figure, &self.scale, &self.ways);
        let (bar, repetitions) = (super::progress(tasks.len() as u64), self.repetitions);
        for point in tasks.chunk_by(Task::is_beside) {
            let most = point.iter().map(|task| task.times(repetitions)).max().unwrap_or(0);
            for repetition in 1..=most {
                for task in point.iter().filter(|task| repetition <= task.times(repetitions)) {
                    let (figure, place, way) = (task.figure.name(), task.place.name(), task.engine.name());
                    let words = format!("{figure}, {place}, {} ranks, {way}", task.ranks);
                    if bar.is_hidden() {
                        eprintln!("bench: {} of {}: {words}", bar.position() + 1, tasks.len());
                    }
                    bar.set_message(words);
                    self.measure_once(task, repetition);
                }
            }
            bar.inc(point.len() as u64);
            self.run.finish(0);
            self.run.save(directory)?;
        }
        bar.finish_and_clear();
        if arguments.figure.is_empty() || arguments.figure.contains(&Figure::Simulation) {
            self.simulate();
        }
        self.run.finish(0);
        self.run.save(directory)?;
        Ok(self.run)
    }

    fn measure_once(&mut self, task: &Task, repetition: u32) {
        let late = self.late.iter().filter(|late| **late == (task.figure, task.engine)).count();
        if late >= LATE_MAX {
            return self.fail(
                task,
                repetition,
                format!("not tried: {late} runs of this figure took too long"),
            );
        }
        let finished = self.start(task);
        for line in finished.lines() {
            self.run.add(task.engine, task.place, &line);
        }
        if let Outcome::TimedOut(_) = finished.outcome {
            self.late.push((task.figure, task.engine));
        }
        if finished.outcome != Outcome::Succeeded {
            self.fail(task, repetition, finished.reason());
        } else if let Some(figure) = task.start {
            let value = 1e3 * finished.elapsed.as_secs_f64();
            let sample = Sample { value, best: value };
            self.run.add_value(figure, task.engine, task.place, (task.ranks, 0), "ms", sample);
        }
    }

    fn simulate(&mut self) {
        for (engine, reason) in simulation::simulate(&mut self.run, &self.ways) {
            let figure = Figure::Simulation.name();
            let failure = Failure { figure, engine, place: Place::Nodes, ranks: 0, repetition: 1, reason };
            self.run.failures.push(failure);
        }
    }

    fn start(&self, task: &Task) -> Finished {
        let finished = match self.sites.command(task) {
            Ok(mut command) => {
                process::run(&mut command, Duration::from_secs(task.limit_s), &self.workshop.work)
            }
            Err(error) => Finished::not_started(&format!("{error:#}")),
        };
        if finished.outcome != Outcome::Succeeded {
            self.sites.clear(task.engine);
        }
        finished
    }

    fn fail(&mut self, task: &Task, repetition: u32, reason: String) {
        let figure = task.figure.name();
        let Task { engine, place, ranks, .. } = *task;
        self.run.failures.push(Failure { figure, engine, place, ranks, repetition, reason });
    }
}
