//! `cargo xtask bench octave`: every front end beside the others and beside MatlabMPI's own way of files.
//!
//! The papers are "MPI over scripting languages", whose figures 1, 2, 3 and 5 and whose table 2 are measured anew, and
//! "File-based messaging with a local file system", from which aggregation comes. A session is one of the bench, in which front ends
//! take the place of engines: they run in turn, and what does not run yet is reported and left out.
//!
//! - [`fronts`]: the front ends, and how a program is started with each of them.
//! - [`figures`]: the tasks.
//! - [`hosts`]: aggregation over hosts of a bed.
//! - [`usability`]: table 2: what has to be learnt, and what there is.
//! - [`mod@tables`], [`targets`] and [`report`]: what follows from the times, what is to be reached, and the part of the page.

mod figures;
mod fronts;
mod hosts;
mod report;
mod tables;
mod targets;
mod usability;

use std::path::Path;

use anyhow::{Result, ensure};

pub use fronts::Front;
pub use tables::tables;

use super::Session;
use super::build::Workshop;
use super::engines::Engine;
use super::kind::{Kind, Output};
use super::record::Run;
use figures::{Figure, Scale};

/// Measure C, Python and Octave in each of its ways beside MatlabMPI's own way of files.
#[derive(clap::Args)]
pub struct Arguments {
    /// A short session of about a minute: few sizes, few ranks, one repetition.
    #[arg(long)]
    quick: bool,
    /// Only these figures, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    figure: Vec<Figure>,
    /// Front ends, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    fronts: Vec<Front>,
    /// How often every task runs with every front end (default: 3, quick: 1).
    #[arg(long)]
    repetitions: Option<u32>,
    /// Numbers of ranks, separated by commas (default: 2,4,8,16, quick: 2,4).
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    /// Aggregate an array of 1 GiB as well.
    #[arg(long)]
    large: bool,
    #[command(flatten)]
    output: Output,
}

/// Measures and reports, or only reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    KIND.run(&arguments.output, arguments.quick, |workshop, directory| {
        measure(arguments, workshop, directory)
    })
}

const KIND: Kind = Kind {
    suffix: "-octave",
    plot: "plot_octave.py",
    page: "docs/BENCHMARKS_OCTAVE.md",
    markdown: report::markdown,
    targets: targets::targets,
};

/// Keeps the front ends with which a first program runs, and runs all tasks with them.
fn measure(arguments: &Arguments, workshop: &Workshop, directory: &Path) -> Result<Run> {
    let scale = Scale::new(arguments.quick, &arguments.ranks);
    let repetitions = arguments.repetitions.unwrap_or(if arguments.quick { 1 } else { 3 }).max(1);
    let chosen: &[Front] = match arguments.fronts.is_empty() {
        true => clap::ValueEnum::value_variants(),
        false => &arguments.fronts,
    };
    workshop.compile(&[])?;
    let mut session = Session {
        workshop,
        engines: Vec::new(),
        tasks: figures::tasks(&arguments.figure, &scale),
        repetitions,
        run: Run::new(arguments.quick, repetitions, scale.budget_ms, workshop),
        failed: Vec::new(),
    };
    for &front in chosen {
        session.try_engine(Engine::Front(front), &front.first_task());
    }
    ensure!(
        !session.engines.is_empty(),
        "none of the chosen front ends runs a program; the reasons stand above"
    );
    let engines = session.engines.clone();
    let mut run = session.measure();
    // What comes next needs hosts; whatever becomes of them, this is kept.
    run.save(directory)?;
    let is_chosen = |figure| arguments.figure.is_empty() || arguments.figure.contains(&figure);
    if is_chosen(Figure::Agg) {
        hosts::measure(&mut run, workshop, &engines, arguments.large && !arguments.quick);
    }
    if is_chosen(Figure::Table2) {
        usability::measure(&mut run, workshop, &engines)?;
    }
    let cores = run.machine.cores;
    run.finish(cores);
    Ok(run)
}
