//! `cargo xtask bench ipc`: System V IPC in user space beside the kernel's, on one host and between hosts, and molecular dynamics over it and over MPI.
//!
//! The paper is "The influence of efficient message passing mechanisms on high performance distributed scientific computing", whose tables 1 and 2 and figure 1
//! are measured anew with a program of the same kind (`bench/ipc/molecules.c`). Its forms differ in their messages only, and find the same energies: one that
//! does not has failed.
//!
//! - [`figures`]: what is run.
//! - [`ways`]: with which means, and how a program is started there.
//! - [`targets`] and [`report`]: what is to be reached, and `docs/BENCHMARKS_IPC.md`.

mod figures;
mod report;
mod targets;
mod ways;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

pub use ways::Means;

use super::Output;
use super::build::Workshop;
use super::engines::Engine;
use super::kind::Kind;
use super::process::{self, Finished, Outcome};
use super::record::{Failure, Run};
use figures::{Figure, Scale, Task};
use ways::Hosts;

/// Measure System V IPC beside the kernel's, and molecular dynamics over it and over MPI, as tables 1 and 2 and figure 1 of the paper do.
#[derive(clap::Args)]
pub struct Arguments {
    /// A short session of a minute: few processes, one repetition.
    #[arg(long)]
    quick: bool,
    /// Only these parts, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    figure: Vec<Figure>,
    /// MPI libraries, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "postrider,mpich,openmpi")]
    engines: Vec<Engine>,
    /// System V IPC of whom, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    ways: Vec<Means>,
    /// How often every task runs with all means (default: 5, quick: 1).
    #[arg(long)]
    repetitions: Option<u32>,
    /// Numbers of processes, separated by commas (default: 2,4,8,16, quick: 2,4).
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    #[command(flatten)]
    output: Output,
}

/// Measures and reports, or only reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    KIND.run(&arguments.output, arguments.quick, |workshop, directory| {
        Session::prepare(arguments, workshop)?.measure(directory)
    })
}

const KIND: Kind = Kind {
    suffix: "-ipc",
    plot: "plot_ipc.py",
    page: "docs/BENCHMARKS_IPC.md",
    markdown: report::markdown,
    targets: targets::targets,
};

/// The size of a quantity of molecular dynamics is a number of atoms.
pub fn size(figure: &str, bytes: u64) -> Option<String> {
    figure.starts_with("md-").then(|| bytes.to_string())
}

/// One session.
struct Session<'a> {
    workshop: &'a Workshop,
    hosts: Hosts<'a>,
    tasks: Vec<Task>,
    repetitions: u32,
    run: Run,
    /// The energies that were found first, for each number of processes with the same arguments.
    energies: Vec<((u32, Vec<String>), String)>,
}

impl<'a> Session<'a> {
    /// Brings the hosts up, and keeps the libraries on which a first program runs.
    fn prepare(arguments: &Arguments, workshop: &'a Workshop) -> Result<Self> {
        let scale = Scale::new(arguments.quick, &arguments.ranks);
        let repetitions = arguments.repetitions.unwrap_or(if arguments.quick { 1 } else { 5 }).max(1);
        let tasks = figures::tasks(&arguments.figure, &scale, &arguments.engines, &arguments.ways);
        workshop.compile(&arguments.engines)?;
        let most = tasks.iter().map(|task| task.site.hosts()).max().unwrap_or(1);
        let hosts = Hosts::start(workshop, most)?;
        let run = Run::new(arguments.quick, repetitions, scale.budget_ms, workshop);
        let mut session = Session { workshop, hosts, tasks, repetitions, run, energies: Vec::new() };
        for &engine in &arguments.engines {
            session.try_engine(engine);
        }
        session.tasks.retain(|task| !task.engines.is_empty());
        ensure!(!session.tasks.is_empty(), "nothing of what was chosen runs; the reasons stand above");
        Ok(session)
    }

    fn try_engine(&mut self, engine: Engine) {
        let hello = Task::hello(engine);
        let finished = self.start(&hello, engine);
        let library = finished.lines().find_map(|line| line.library);
        match library.filter(|library| library.contains(engine.library_name())) {
            Some(library) => drop(self.run.versions.insert(engine.name().into(), library)),
            None => {
                eprintln!("bench: {} is left out: {}", engine.name(), finished.reason());
                self.fail(&hello, engine, 0, finished.reason());
                self.tasks.iter_mut().for_each(|task| task.engines.retain(|other| *other != engine));
            }
        }
    }

    /// All tasks; the means take turns within each repetition of one. What has been found is saved after each, so that a session that is ended early is not
    /// lost.
    fn measure(mut self, directory: &Path) -> Result<Run> {
        let tasks = std::mem::take(&mut self.tasks);
        let bar = super::progress(tasks.len() as u64);
        for task in &tasks {
            for repetition in 1..=self.repetitions {
                for &engine in &task.engines {
                    let (figure, place) = (task.figure.name(), task.site.place().name());
                    let words = format!("{figure}, {place}, {} processes, {}", task.ranks, engine.name());
                    if bar.is_hidden() {
                        eprintln!("bench: {} of {}: {words}", bar.position() + 1, tasks.len());
                    }
                    bar.set_message(words);
                    self.measure_once(task, engine, repetition);
                }
            }
            bar.inc(1);
            self.run.finish(0);
            self.run.save(directory)?;
        }
        bar.finish_and_clear();
        Ok(self.run)
    }

    fn measure_once(&mut self, task: &Task, engine: Engine, repetition: u32) {
        let finished = self.start(task, engine);
        if finished.outcome != Outcome::Succeeded {
            return self.fail(task, engine, repetition, finished.reason());
        }
        if task.figure == Figure::Molecules {
            let found = finished.lines().find_map(|line| line.checksum()).map(|(_, energies)| energies);
            if let Err(reason) = self.compare(task, found.unwrap_or_default()) {
                return self.fail(task, engine, repetition, reason);
            }
        }
        for line in finished.lines() {
            self.run.add(engine, task.site.place(), &line);
        }
    }

    /// The first one to find energies says what they are.
    fn compare(&mut self, task: &Task, found: String) -> Result<(), String> {
        let asked = (task.ranks, task.arguments.clone());
        match self.energies.iter().find(|(other, _)| *other == asked) {
            Some((_, first)) if *first != found => {
                Err(format!("wrong contents: energies {found} in place of {first}"))
            }
            Some(_) => Ok(()),
            None => {
                self.energies.push((asked, found));
                Ok(())
            }
        }
    }

    fn start(&self, task: &Task, engine: Engine) -> Finished {
        let finished = match self.hosts.command(task, engine) {
            Ok(mut command) => {
                process::run(&mut command, Duration::from_secs(task.limit_s), &self.workshop.work)
            }
            Err(error) => Finished::not_started(&format!("{error:#}")),
        };
        if finished.outcome != Outcome::Succeeded {
            self.hosts.clear();
        }
        finished
    }

    fn fail(&mut self, task: &Task, engine: Engine, repetition: u32, reason: String) {
        let (figure, place, ranks) = (task.figure.name(), task.site.place(), task.ranks);
        self.run.failures.push(Failure { figure, engine, place, ranks, repetition, reason });
    }
}
