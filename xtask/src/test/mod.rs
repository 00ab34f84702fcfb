//! `cargo xtask test`: the C programs of `tests/` and the anomalies, over rank counts, transports and thread levels.
//!
//! A program is compiled twice: as it stands and, with `-DLARGE_COUNT`, against the functions that take `MPI_Count`. The
//! second build runs at `MPI_THREAD_MULTIPLE`; by default at three ranks only, with `--all` at every rank count. A run is
//! right when it exits with 0 and says nothing. What a run leaves behind, files or processes, is a failure too, and so is a
//! function of the library that no test calls. `--all` also runs what takes longest of other suites, see [`others`].
//!
//! With `--engine mpich` the same executables run on another library, by `postrider run --engine`: that checks the tests,
//! and the ABI. Where that library is known to deviate from the standard, `tests/deviations.txt` says so, and these programs
//! are expected to fail there. With `--engine mpich-io` and `mpich-preload` it has our I/O, by our launcher and by its own: that checks that
//! our I/O runs on any MPI, and with `--compiler` on any with MPICH's ABI.

pub mod job;
mod leftovers;
pub mod names;
mod others;
pub mod programs;
pub mod report;
pub mod stacks;

use crate::rotation::Rotation;
use crate::{environment, workspace};
use anyhow::{Result, ensure};
use clap::ValueEnum;
use job::{Case, Outcome};
use report::Report;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// Compiles and runs the C programs of tests/ and the anomalies.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run every build of every program at every rank count, with MPICH's ABI as well, and mpi4py's suite with both.
    #[arg(long)]
    all: bool,
    /// Only this folder of tests/: a chapter of the standard, or anomalies.
    #[arg(long)]
    chapter: Option<String>,
    /// The rank counts.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4, 7])]
    ranks: Vec<usize>,
    /// The transports.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Transport::SharedMemory, Transport::File])]
    transport: Vec<Transport>,
    /// The library to test.
    #[arg(long, value_enum, default_value_t = Engine::Postrider)]
    engine: Engine,
    /// Where that library is installed: the folder with bin/. Otherwise build/, or for MPICH its wheel, in target/.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// Compile with this wrapper of another library that has MPICH's ABI, and run on ours.
    #[arg(long, value_name = "COMMAND")]
    compiler: Option<PathBuf>,
    /// Make blocking calls asynchronous, completed by this method, touch or last, in this kind of memory.
    #[arg(long, value_name = "METHOD[:MEMORY]")]
    overlap: Option<String>,
    /// Only programs whose name contains this.
    #[arg(long)]
    filter: Option<String>,
    /// How many runs at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Run each program in a share of its combinations of ranks and transports only, which this word chooses; see `cargo xtask verify`.
    #[arg(long, value_name = "WORD", conflicts_with = "all")]
    rotation: Option<String>,
    /// After how many seconds a run counts as hanging.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    watchdog: u64,
}

/// A transport of the library.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Rings in shared memory, and single copies.
    SharedMemory,
    /// A file for each message.
    File,
}

impl Transport {
    /// The name on the command line of the launcher.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedMemory => "shared-memory",
            Self::File => "file",
        }
    }
}

/// The library under test.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// This project.
    Postrider,
    /// MPICH, from version 5 on.
    Mpich,
    /// The same with the I/O of this project: programs of the I/O chapter only.
    MpichIo,
    /// The same, started by MPICH's own launcher with our libraries loaded before it.
    MpichPreload,
}

/// Combinations of ranks and transports of a program in a share of them; there are ten.
const SHARE: usize = 4;
/// Of another library, or of the other ABI, one in so many programs is in a share.
const PROGRAMS_SHARE: usize = 3;

/// Runs what was asked for; ends with exit code 1 if anything failed.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut programs = programs::find(arguments.chapter.as_deref(), arguments.filter.as_deref())?;
    programs.retain(|program| match arguments.engine {
        Engine::MpichIo | Engine::MpichPreload => program.chapter == "io",
        _ => with_anomalies(arguments) || program.chapter != programs::ANOMALIES,
    });
    if let Some(word) = arguments.rotation.as_ref().filter(|_| !with_anomalies(arguments)) {
        let (what, share) = (subject(arguments), programs.len().div_ceil(PROGRAMS_SHARE));
        programs = Rotation::of_word(word).share(&what, programs, share);
    }
    let setup = job::Setup {
        engine: arguments.engine,
        installation: installation(arguments),
        other: other(arguments)?,
        compiler: arguments.compiler.clone(),
        overlap: arguments.overlap.clone(),
        watchdog: Duration::from_secs(arguments.watchdog),
        binaries: programs::binaries(arguments.compiler.as_deref())?,
    };
    let report = Report::new();
    let is_part = arguments.chapter.is_some() || arguments.filter.is_some() || arguments.overlap.is_some();
    let is_whole = arguments.engine == Engine::Postrider && !is_part;
    if is_whole {
        report.add("names", "every function is called by a test", names::check());
    }
    let builds = programs.iter().flat_map(|program| program.builds(&setup.binaries)).collect::<Vec<_>>();
    in_parallel(&builds, arguments.jobs, |build| {
        if let Err(error) = programs::compile(build, &setup.compiler()) {
            report.add(&build.chapter, &build.name, Outcome::Failed(format!("{error:#}")));
        }
    });
    let mut cases = program_cases(arguments, &builds);
    if with_anomalies(arguments) {
        cases.extend(anomaly_cases(arguments)?);
    }
    ensure!(
        !builds.is_empty() || !cases.is_empty(),
        "no test has this chapter and this name; see the folders of tests/"
    );
    let before = leftovers::shared_memory();
    let progress = report.progress(cases.len());
    in_parallel(&cases, arguments.jobs, |case| {
        progress.set_message(case.to_string());
        report.timed(&case.chapter, &case.to_string(), || job::run(case, &setup));
        progress.inc(1);
    });
    progress.finish_and_clear();
    report.add("leftovers", "nothing stays in /dev/shm", leftovers::check(&before));
    if arguments.all && is_whole && arguments.compiler.is_none() && arguments.prefix.is_none() {
        others::run(&report)?;
    }
    if report.finish() > 0 {
        // The closing line has said everything.
        std::process::exit(1);
    }
    Ok(())
}

/// Whether the anomalies are part of it: they are about our launcher, and start some programs without it.
fn with_anomalies(arguments: &Arguments) -> bool {
    arguments.engine == Engine::Postrider && arguments.compiler.is_none() && arguments.overlap.is_none()
}

/// The installation of Postrider.
fn installation(arguments: &Arguments) -> PathBuf {
    match (&arguments.prefix, arguments.engine) {
        (Some(prefix), Engine::Postrider) => prefix.clone(),
        _ => workspace::installation(),
    }
}

/// The installation of the other library, if one is under test.
fn other(arguments: &Arguments) -> Result<Option<PathBuf>> {
    Ok(match (&arguments.prefix, arguments.engine) {
        (_, Engine::Postrider) => None,
        (Some(prefix), _) => Some(prefix.clone()),
        (None, _) => Some(environment::mpich()?),
    })
}

/// Every build × rank count × transport. A build that did not compile has been reported and has no runs; anomalies are run by
/// their script.
fn program_cases(arguments: &Arguments, builds: &[programs::Build]) -> Vec<Case> {
    let transports = match arguments.engine {
        Engine::Postrider => arguments.transport.iter().copied().map(Some).collect(),
        _ => vec![None],
    };
    let rotation = arguments.rotation.as_ref().map(Rotation::of_word);
    let mut cases = Vec::new();
    let runs = |build: &&programs::Build| build.binary.exists() && build.chapter != programs::ANOMALIES;
    for build in builds.iter().filter(runs) {
        let usual = |ranks: usize| !build.large_count || arguments.all || rotation.is_some() || ranks == 3;
        let all = arguments.ranks.iter().filter(|&&ranks| usual(ranks));
        let all = all.flat_map(|&ranks| transports.iter().map(move |&way| Case::program(build, ranks, way)));
        cases.extend(match &rotation {
            None => all.collect(),
            Some(rotation) => share(rotation, arguments, build, all.collect()),
        });
    }
    cases
}

/// What is tested: the library and the compiler.
fn subject(arguments: &Arguments) -> String {
    // Not by its whole path: a word chooses the same in every clone.
    let compiler = arguments.compiler.as_ref().and_then(|path| path.file_name()).unwrap_or_default();
    let engine = arguments.engine.to_possible_value().expect("every library has a name");
    format!("{} {}", engine.get_name(), compiler.display())
}

/// What runs of the combinations of a program: some with our compiler as it stands, and one in every other way.
fn share(rotation: &Rotation, arguments: &Arguments, build: &programs::Build, all: Vec<Case>) -> Vec<Case> {
    let what = format!("{}/{}", build.chapter, build.name);
    let is_usual = with_anomalies(arguments) && !build.large_count;
    rotation.share(&what, all, if is_usual { SHARE } else { 1 })
}

fn anomaly_cases(arguments: &Arguments) -> Result<Vec<Case>> {
    if arguments.chapter.as_deref().is_some_and(|chapter| chapter != "anomalies") {
        return Ok(Vec::new());
    }
    let wanted = |name: &String| arguments.filter.as_ref().is_none_or(|filter| name.contains(filter));
    let names = job::anomaly_names()?.into_iter().filter(wanted).collect::<Vec<_>>();
    let each = |name: &String| {
        let all = arguments.transport.iter().map(|&transport| Case::anomaly(name, transport)).collect();
        match &arguments.rotation {
            None => all,
            Some(word) => Rotation::of_word(word).share(name, all, 1),
        }
    };
    Ok(names.iter().flat_map(each).collect())
}

/// Does the work for every item on `jobs` threads.
fn in_parallel<T: Sync>(items: &[T], jobs: usize, work: impl Fn(&T) + Sync) {
    let next = Mutex::new(items.iter());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let Some(item) = next.lock().expect("no worker panics with the lock").next() else {
                        break;
                    };
                    work(item);
                }
            });
        }
    });
}
