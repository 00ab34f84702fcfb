//! One run of a test: start it, watch it, judge it.
//!
//! Every run has a temporary directory of its own, which must be empty afterwards, and a token in its environment by which
//! all of its processes can be found, whoever their parent is by then: those that hang, to print their stacks, and those
//! that outlive the launcher, which is a failure.

use super::programs::{self, Build};
use super::{Engine, Transport, leftovers};
use crate::{build, workspace};
use anyhow::{Context, Result, ensure};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What all runs have in common.
pub struct Setup {
    /// The library under test.
    pub engine: Engine,
    /// The installation of Postrider, whose compiler and launcher serve both.
    pub installation: PathBuf,
    /// The installation of the other library, if that is under test.
    pub other: Option<PathBuf>,
    /// The compiler, if it is not that of the installation.
    pub compiler: Option<PathBuf>,
    /// How calls that are made asynchronous are completed, if they are.
    pub overlap: Option<String>,
    /// After how long a run hangs.
    pub watchdog: Duration,
    /// Where the compiled programs are.
    pub binaries: PathBuf,
}

impl Setup {
    /// The compiler.
    pub fn compiler(&self) -> PathBuf {
        self.compiler.clone().unwrap_or_else(|| self.program("mpicc"))
    }

    /// What starts a job, without the job.
    fn launcher(&self) -> Command {
        if let (Engine::MpichPreload, Some(other)) = (self.engine, &self.other) {
            let libraries = build::PRELOADED
                .map(|name| workspace::installation().join("lib").join(name).display().to_string());
            let mut command = Command::new(other.join("bin/mpiexec"));
            // Programs of ours have a run path to our library, which would come first.
            command.args(["-genv", "LD_PRELOAD", &libraries.join(":")]);
            command.env("LD_LIBRARY_PATH", other.join("lib"));
            return command;
        }
        let mut command = Command::new(self.program("postrider"));
        command.arg("run");
        if let Some(other) = &self.other {
            command.arg("--engine").arg(other);
        }
        if self.engine == Engine::MpichIo {
            command.args(["--io", "postrider"]);
        }
        if let Some(how) = &self.overlap {
            let (method, memory) = how.split_once(':').unwrap_or((how, "huge"));
            command.args(["--overlap=messages", "--genv", "POSTRIDER_OVERLAP_METHOD", method]);
            command.args(["--genv", "POSTRIDER_OVERLAP_MEMORY", memory]);
        }
        command
    }

    fn program(&self, name: &str) -> PathBuf {
        self.installation.join("bin").join(name)
    }
}

/// One test run.
pub struct Case {
    /// The folder of the test.
    pub chapter: String,
    name: String,
    transport: Option<Transport>,
    kind: Kind,
}

enum Kind {
    Program { binary: PathBuf, ranks: usize, threads: bool },
    Anomaly,
}

impl Case {
    /// A program on so many ranks.
    pub fn program(build: &Build, ranks: usize, transport: Option<Transport>) -> Self {
        let kind = Kind::Program { binary: build.binary.clone(), ranks, threads: build.large_count };
        Self { chapter: build.chapter.clone(), name: build.name.clone(), transport, kind }
    }

    /// A case of the anomalies' script.
    pub fn anomaly(name: &str, transport: Transport) -> Self {
        Self {
            chapter: programs::ANOMALIES.into(),
            name: name.into(),
            transport: Some(transport),
            kind: Kind::Anomaly,
        }
    }

    fn command(&self, setup: &Setup) -> Command {
        let mut command;
        match &self.kind {
            Kind::Program { binary, ranks, threads } => {
                command = setup.launcher();
                command.args(["-n", &ranks.to_string()]);
                if let Some(transport) = self.transport {
                    command.args(["--transport", transport.name()]);
                }
                command.arg(binary).env("TEST_THREAD_LEVEL", if *threads { "multiple" } else { "single" });
            }
            Kind::Anomaly => {
                command = Command::new("python3");
                command.arg("-B").arg(anomaly_script()).arg(&self.name);
                command.arg(setup.program("postrider")).arg(setup.binaries.join(programs::ANOMALIES));
                command.arg(self.transport.map_or("", Transport::name));
            }
        }
        command
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.chapter, self.name)?;
        if let Kind::Program { ranks, .. } = self.kind {
            write!(f, " ranks {ranks}")?;
        }
        self.transport.map_or(Ok(()), |transport| write!(f, " {}", transport.name()))
    }
}

/// How a test ended.
pub enum Outcome {
    /// As it should.
    Passed,
    /// Not as it should, with what is to be said about it.
    Failed(String),
    /// It failed on an engine that is known to deviate here from the standard, for this reason.
    Deviated(String),
}

fn anomaly_script() -> PathBuf {
    programs::folder().join(programs::ANOMALIES).join("anomalies.py")
}

/// The cases of the anomalies' script.
pub fn anomaly_names() -> Result<Vec<String>> {
    let output =
        Command::new("python3").arg("-B").arg(anomaly_script()).arg("--list").output().context("python3")?;
    ensure!(output.status.success(), "the anomalies: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Runs one case and judges it.
pub fn run(case: &Case, setup: &Setup) -> Outcome {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    // The path is short, since sockets may be made in it.
    let folder = std::env::temp_dir().join(format!("prt-{}-{run}", std::process::id()));
    let found = judge(case, setup, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let failure = match found {
        Ok(None) => return Outcome::Passed,
        Ok(Some(failure)) => failure,
        Err(error) => format!("{error:#}"),
    };
    match deviation(setup.engine, case) {
        Some(reason) => Outcome::Deviated(reason),
        None => Outcome::Failed(failure),
    }
}

/// What is wrong with the run, if anything.
fn judge(case: &Case, setup: &Setup, folder: &Path) -> Result<Option<String>> {
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).with_context(|| temporary.display().to_string())?;
    let log = folder.join("log");
    let output = File::create(&log)?;
    let token = folder.display().to_string();
    let mut command = case.command(setup);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    command.env("TMPDIR", &temporary).env(leftovers::TOKEN, &token);
    let mut child =
        command.spawn().with_context(|| format!("{} does not start", command.get_program().display()))?;
    let ended = wait(&mut child, setup.watchdog)?;
    let mut problems = Vec::new();
    match ended {
        None => {
            problems.push(format!("hangs: no end after {} seconds", setup.watchdog.as_secs()));
            problems.extend(leftovers::processes(&token).into_iter().map(leftovers::stack));
        }
        Some(status) if !status.success() => problems.push(status.to_string()),
        Some(_) => problems.extend(leftovers::files(&temporary)),
    }
    // Processes may take a moment to disappear after the launcher has.
    if ended.is_some() {
        problems.extend(leftovers::survivors(&token));
    }
    leftovers::kill(&leftovers::processes(&token));
    child.wait()?;
    let text = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    if problems.is_empty() && text.is_empty() {
        return Ok(None);
    }
    problems.push(text);
    Ok(Some(problems.join("\n")))
}

fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Why this program is expected to fail on another engine: `tests/deviations.txt`, one line for each.
fn deviation(engine: Engine, case: &Case) -> Option<String> {
    let engine = match engine {
        Engine::Postrider => return None,
        Engine::Mpich => "mpich",
        Engine::MpichIo | Engine::MpichPreload => "mpich-io",
    };
    let text = std::fs::read_to_string(programs::folder().join("deviations.txt")).ok()?;
    let name = format!("{}/{}", case.chapter, case.name.trim_end_matches("_c"));
    text.lines().find_map(|line| line.strip_prefix(&format!("{engine} {name}: "))).map(str::to_owned)
}
