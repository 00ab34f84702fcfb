//! `cargo xtask hosts test`: brings beds up, runs the cases of the parts on them, and takes them down.
//!
//! A part is a list of cases and what the bed is like that they need. Cases run one after the other on a bed, since what a
//! run leaves behind is found by what was not there before; to use the machine, a part has several beds at once, and several parts go on at
//! once, since most cases wait: for time-outs, for daemons, for processes that are stopped. A case is right when nothing is said against it, neither by itself nor by what lies about afterwards.

use super::bed::{Bed, Life, Options};
use super::parts;
use super::watch::{Ended, Running, Snapshot};
use crate::test::Transport;
use crate::test::job::Outcome;
use crate::test::report::Report;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// What is tested, and how.
#[derive(Clone, clap::Args)]
pub struct Arguments {
    /// The parts; by default those that continuous integration runs.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = parts::DEFAULT.to_vec())]
    pub part: Vec<parts::Part>,
    /// How many ranks the C programs have.
    #[arg(long, value_delimiter = ',', default_values_t = [3])]
    pub ranks: Vec<usize>,
    /// The ways of transfer between hosts.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = Way::ALL.to_vec())]
    pub ways: Vec<Way>,
    /// Every program each way, and with 7 ranks too.
    #[arg(long)]
    pub all: bool,
    /// Run a share only of the C programs' cases and of mpi4py's modules, which this word chooses; see `cargo xtask verify`.
    #[arg(long, value_name = "WORD", conflicts_with = "all")]
    pub rotation: Option<String>,
    /// Only cases whose names contain this.
    #[arg(long)]
    pub filter: Option<String>,
    /// How many beds at once, for each kind of bed of a part.
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// How many kinds of beds at once.
    #[arg(long, default_value_t = 3)]
    pub kinds: usize,
    /// Where the library is installed: the folder with bin/; otherwise build/.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
    /// After how many seconds a run counts as hanging.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub watchdog: u64,
}

/// A way of transfer inside hosts and between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Way {
    /// Shared memory inside, an ssh pipe between.
    SharedMemorySsh,
    /// Files inside, an ssh pipe between.
    FileSsh,
    /// Files inside, and sent by scp one by one.
    FileScp,
    /// All messages in a directory that all hosts see.
    Central,
}

impl Way {
    /// All ways.
    pub const ALL: [Self; 4] = [Self::SharedMemorySsh, Self::FileSsh, Self::FileScp, Self::Central];

    /// Its name in reports, and on the command line of this program.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedMemorySsh => "shared-memory-ssh",
            Self::FileSsh => "file-ssh",
            Self::FileScp => "file-scp",
            Self::Central => "central",
        }
    }

    /// The options of the launcher, beyond what it does by itself.
    pub fn options(self) -> Vec<String> {
        let (memory, file) = (Transport::SharedMemory.name(), Transport::File.name());
        let options: &[&str] = match self {
            Self::SharedMemorySsh => &["--transport", memory],
            Self::FileSsh => &["--transport", file],
            Self::FileScp => &["--transport", file, "--transfer", "scp"],
            Self::Central => &["--central", "/central"],
        };
        options.iter().map(|&option| option.to_owned()).collect()
    }
}

/// What a case does: it says what is wrong, if anything.
pub type Work = Box<dyn Fn(&Stage<'_>) -> Result<Option<String>> + Send + Sync>;

/// One test.
pub struct Case {
    name: String,
    work: Work,
}

impl Case {
    /// A case with its name in reports.
    pub fn new(
        name: impl Into<String>,
        work: impl Fn(&Stage<'_>) -> Result<Option<String>> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }

    /// A case that is one command on h0, and what is to be said about its end.
    pub fn command(
        name: impl Into<String>,
        command: Vec<String>,
        judge: impl Fn(&Ended) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, move |stage| Ok(judge(&stage.run(0, &command)?)))
    }
}

/// What a case acts on.
pub struct Stage<'a> {
    /// The hosts.
    pub bed: &'a Bed,
    /// What was there before the case.
    pub before: &'a Snapshot,
    /// After how long a command counts as hanging.
    pub limit: Duration,
}

impl Stage<'_> {
    /// Starts a command on a host, in a directory that jobs may write to.
    pub fn start(&self, host: usize, command: &[String]) -> Result<Running> {
        Running::start(self.bed, host, Path::new("/shared"), command)
    }

    /// Runs a command on a host to its end.
    pub fn run(&self, host: usize, command: &[String]) -> Result<Ended> {
        self.run_within(host, command, self.limit)
    }

    /// The same, for what takes long without hanging.
    pub fn run_within(&self, host: usize, command: &[String], limit: Duration) -> Result<Ended> {
        self.start(host, command)?.wait(self.bed, self.before, limit)
    }
}

impl Arguments {
    /// The installation under test.
    pub fn prefix(&self) -> PathBuf {
        self.prefix.clone().unwrap_or_else(workspace::installation)
    }

    /// Its launcher.
    pub fn launcher(&self) -> String {
        self.prefix().join("bin/postrider").display().to_string()
    }

    /// The launcher with options and a program, as words.
    pub fn launch(&self, options: &[&str], way: Option<Way>, program: &[&str]) -> Vec<String> {
        let mut words = vec![self.launcher(), "run".to_owned()];
        words.extend(options.iter().map(|&option| option.to_owned()));
        words.extend(way.map(Way::options).unwrap_or_default());
        words.extend(program.iter().map(|&word| word.to_owned()));
        words
    }
}

/// Runs the parts; ends with exit code 1 if anything failed.
pub fn run(arguments: &Arguments) -> Result<()> {
    let report = Report::new();
    remove_dead()?;
    let launcher = arguments.launcher();
    ensure!(Path::new(&launcher).exists(), "there is no {launcher}: run `cargo xtask build` first");
    let wanted =
        |case: &Case| arguments.filter.as_ref().is_none_or(|filter| case.name.contains(filter.as_str()));
    let mut plans = Vec::new();
    for part in &arguments.part {
        for (mut options, mut cases) in part.plans(arguments)? {
            options.visible.clone_from(&arguments.prefix);
            cases.retain(wanted);
            if !cases.is_empty() {
                plans.push(Plan { part: part.name(), number: plans.len(), options, cases });
            }
        }
    }
    let next = Mutex::new(plans.iter());
    let work = || -> Result<()> {
        loop {
            let Some(plan) = next.lock().expect("nobody panics with the lock").next() else { return Ok(()) };
            plan.run(arguments, &report)?;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.kinds.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("nobody panics"))
    })?;
    let failed = report.finish();
    if failed > 0 {
        // The closing line has said everything.
        std::process::exit(1);
    }
    Ok(())
}

/// The cases of a part that need beds of one kind.
struct Plan {
    part: &'static str,
    /// Its place among all plans: beds of two of them may be up at the same time.
    number: usize,
    options: Options,
    cases: Vec<Case>,
}

impl Plan {
    /// Runs the cases on as many beds as are useful.
    fn run(&self, arguments: &Arguments, report: &Report) -> Result<()> {
        let next = Mutex::new(self.cases.iter());
        let beds = arguments.jobs.clamp(1, self.cases.len());
        let on_bed = |bed: usize| -> Result<()> {
            let name = format!("test-{}-{}-{}-{bed}", std::process::id(), self.part, self.number);
            let bed = Bed::start(&name, self.options.clone(), Life::Scoped).context(
                "a bed is needed: network, mount and PID namespaces, and the programs of scripts/setup",
            )?;
            loop {
                let Some(case) = next.lock().expect("no bed panics with the lock").next() else {
                    return Ok(());
                };
                let judge = || judged(case, &bed, Duration::from_secs(arguments.watchdog));
                report.timed(self.part, &format!("{}/{}", self.part, case.name), judge);
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..beds).map(|number| scope.spawn(move || on_bed(number))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("a bed does not panic"))
        })
    }
}

fn judged(case: &Case, bed: &Bed, limit: Duration) -> Outcome {
    let before = Snapshot::take(bed);
    let stage = Stage { bed, before: &before, limit };
    let mut problems: Vec<String> = match (case.work)(&stage) {
        Ok(problem) => problem.into_iter().collect(),
        Err(error) => vec![format!("{error:#}")],
    };
    let left = before.left(bed);
    if !left.is_empty() {
        before.clear(bed);
    }
    problems.extend(left);
    if problems.is_empty() { Outcome::Passed } else { Outcome::Failed(problems.join("\n")) }
}

/// Removes what beds of this program, or of the bench, have left that was killed.
pub fn remove_dead() -> Result<()> {
    for name in super::bed::names()? {
        let rest = name.strip_prefix("test-").or_else(|| name.strip_prefix("bench-"));
        let owner = rest.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|owner| !Path::new(&format!("/proc/{owner}")).exists()) {
            super::bed::end(&super::bed::state(&name)?)?;
        }
    }
    Ok(())
}
