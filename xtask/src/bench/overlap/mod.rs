//! `cargo xtask bench overlap`: programs that nobody changes, plain, by hand, and under the layer that makes their calls asynchronous.
//!
//! The paper is "Run-time optimization of sends, receives and file I/O", whose figures 2 to 6 are measured anew, with its own
//! program, on MPICH over TCP and on Postrider over ssh: hosts of a bed whose links are slow, and one host, where there is nothing to
//! gain. The manners of a point take turns. What a solver computes has to be the same in all of them: a checksum that differs is a failure.
//!
//! - [`figures`]: what is run.
//! - [`ways`]: the manners, the sites, and how a program is started there.
//! - [`mod@tables`]: how many times as fast as plain.
//! - [`targets`] and [`report`]: what is to be reached, and `docs/BENCHMARKS_OVERLAP.md`.

mod figures;
mod report;
mod tables;
mod targets;
mod ways;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::ValueEnum;

pub use tables::{size, tables};
pub use ways::{Manner, Site};

use super::build::Workshop;
use super::engines::{Engine, Place};
use super::kind::{Kind, Output};
use super::process::{self, Finished, Outcome};
use super::record::{Failure, Run};
use figures::{Figure, Point, Scale};
use ways::{Hosts, LINK, SLOW};

/// Measure programs whose calls are made asynchronous, as figures 2 to 6 of the paper do.
#[derive(clap::Args)]
pub struct Arguments {
    /// A short session of a few minutes: few sizes, few ranks, one repetition.
    #[arg(long)]
    quick: bool,
    /// Only these figures of the paper, or these parts, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    figure: Vec<Figure>,
    /// Libraries, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mpich,postrider")]
    engines: Vec<Engine>,
    /// Manners to carry calls out, separated by commas (default: all).
    #[arg(long, value_enum, value_delimiter = ',')]
    ways: Vec<Manner>,
    /// How often every program runs in each manner (default: 3, quick: 1).
    #[arg(long)]
    repetitions: Option<u32>,
    /// Numbers of ranks, separated by commas (default: 2,4,9, quick: 2).
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
    suffix: "-asynchronous",
    plot: "plot_overlap.py",
    page: "docs/BENCHMARKS_OVERLAP.md",
    markdown: report::markdown,
    targets: targets::targets,
};

/// One session.
struct Session<'a> {
    workshop: &'a Workshop,
    hosts: Hosts<'a>,
    points: Vec<Point>,
    repetitions: u32,
    run: Run,
    /// What solvers have found, for each label, number of ranks and size.
    checksums: Vec<((Figure, u32, u64), String)>,
}

impl<'a> Session<'a> {
    /// Brings the hosts up, and keeps the manners in which a first program runs.
    fn prepare(arguments: &Arguments, workshop: &'a Workshop) -> Result<Self> {
        let scale = Scale::new(arguments.quick, &arguments.ranks);
        let repetitions = arguments.repetitions.unwrap_or(if arguments.quick { 1 } else { 3 }).max(1);
        let points = figures::points(&arguments.figure, &scale, &arguments.engines, &arguments.ways);
        let most = points.iter().map(|point| point.ranks).max().unwrap_or(1).max(2);
        workshop.compile(&[])?;
        let mut run = Run::new(arguments.quick, repetitions, scale.budget_ms, workshop);
        let (delay_us, mbit_s) = (LINK.delay_us, LINK.mbit_s);
        run.notes.push(format!(
            "links: {delay_us} us one way, {mbit_s} Mbit/s; slow files: postrider-slowfs {SLOW}"
        ));
        eprintln!("bench: bringing up the hosts");
        let hosts = Hosts::start(workshop, most)?;
        let mut session = Session { workshop, hosts, points, repetitions, run, checksums: Vec::new() };
        for &engine in &arguments.engines {
            session.try_engine(engine);
        }
        session.points.retain(|point| !point.runs.is_empty());
        ensure!(!session.points.is_empty(), "nothing of what was chosen runs; the reasons stand above");
        Ok(session)
    }

    /// Starts first programs: one that tells the version of the library, and one for each manner of the layer, in which it has to show
    /// that it works.
    fn try_engine(&mut self, engine: Engine) {
        let sites = Site::value_variants().iter().copied();
        let Some(site) = sites.filter(|site| site.engine() == engine).min() else { return };
        let hello = self.start((site, 2, Manner::Plain), ("messages", &["hello".to_owned()]), 60, &[]);
        let library = hello.lines().find_map(|line| line.library);
        match library.filter(|library| library.contains(engine.library_name())) {
            Some(library) => drop(self.run.versions.insert(engine.name().into(), library)),
            None => {
                eprintln!("bench: {} is left out: {}", engine.name(), hello.reason());
                return self.points.retain(|point| point.site.engine() != engine);
            }
        }
        let runs =
            self.points.iter().filter(|point| point.site.engine() == engine).flat_map(|point| &point.runs);
        let wanted: BTreeSet<Manner> = runs.map(|run| run.0).filter(|manner| manner.is_layer()).collect();
        for manner in wanted {
            let words = ["border", "--operation", "border", "--sizes", "256", "--budget-ms", "20"];
            let words = words.map(str::to_owned);
            let asked = ["POSTRIDER_OVERLAP_REPORT=-"];
            let finished = self.start((site, 2, manner), ("messages", &words), 60, &asked);
            if finished.outcome == Outcome::Succeeded && manner.is_shown_by(&finished.said) {
                continue;
            }
            let reason = match finished.outcome {
                Outcome::Succeeded => "the layer does not say that it works in this way".to_owned(),
                _ => finished.reason(),
            };
            eprintln!("bench: {}, {}, is left out: {reason}", engine.name(), manner.name());
            self.fail((Figure::Border, site, 2), manner, 0, reason);
            for point in self.points.iter_mut().filter(|point| point.site.engine() == engine) {
                point.runs.retain(|(other, _)| *other != manner);
            }
        }
    }

    /// All points. What has been found is saved after each, so that a session that is ended early is not lost.
    fn measure(mut self, directory: &Path) -> Result<Run> {
        let points = std::mem::take(&mut self.points);
        let bar = super::progress(points.len() as u64);
        for point in &points {
            for repetition in 1..=self.repetitions {
                for (manner, words) in &point.runs {
                    let (name, site) = (point.figure.name(), point.site.name());
                    let words_shown = format!("{name}, {site}, {} ranks, {}", point.ranks, manner.name());
                    if bar.is_hidden() {
                        eprintln!("bench: {} of {}: {words_shown}", bar.position() + 1, points.len());
                    }
                    bar.set_message(words_shown);
                    self.measure_once(point, *manner, words, repetition);
                }
            }
            bar.inc(1);
            self.run.finish(0);
            self.run.save(directory)?;
        }
        bar.finish_and_clear();
        Ok(self.run)
    }

    fn measure_once(&mut self, point: &Point, manner: Manner, words: &[String], repetition: u32) {
        let key = (point.figure, point.site, point.ranks);
        let finished = self.start((point.site, point.ranks, manner), (point.part, words), point.limit_s, &[]);
        if finished.outcome != Outcome::Succeeded {
            return self.fail(key, manner, repetition, finished.reason());
        }
        let found = finished.lines().find_map(|line| line.checksum());
        if let Some((bytes, checksum)) = found
            && let Err(reason) = self.compare((point.figure, point.ranks, bytes), checksum)
        {
            return self.fail(key, manner, repetition, reason);
        }
        for line in finished.lines() {
            self.run.add(Engine::Overlap(manner), Place::Overlap(point.site), &line);
        }
    }

    /// The first one to compute something says what it is.
    fn compare(&mut self, key: (Figure, u32, u64), found: String) -> Result<(), String> {
        match self.checksums.iter().find(|(other, _)| *other == key) {
            Some((_, first)) if *first != found => {
                Err(format!("wrong contents: checksum {found} in place of {first}"))
            }
            Some(_) => Ok(()),
            None => {
                self.checksums.push((key, found));
                Ok(())
            }
        }
    }

    fn start(
        &self,
        whom: (Site, u32, Manner),
        (part, words): (&str, &[String]),
        limit_s: u64,
        settings: &[&str],
    ) -> Finished {
        let finished = match self.hosts.command(whom, part, words, settings) {
            Ok(mut command) => process::run(&mut command, Duration::from_secs(limit_s), &self.workshop.work),
            Err(error) => Finished::not_started(&format!("{error:#}")),
        };
        if finished.outcome != Outcome::Succeeded {
            self.hosts.clear();
        }
        finished
    }

    fn fail(
        &mut self,
        (figure, site, ranks): (Figure, Site, u32),
        manner: Manner,
        repetition: u32,
        reason: String,
    ) {
        let (engine, place) = (Engine::Overlap(manner), Place::Overlap(site));
        self.run.failures.push(Failure { figure: figure.name(), engine, place, ranks, repetition, reason });
    }
}
