//! `cargo xtask verify`, which is `make test`: all suites.
//!
//! Each stage is a few commands whose output goes to `target/verify/<stage>.log`. After the build the stages run in two rows at the same time: those
//! that compute, and those that mostly wait for processes, networks and watchdogs. The first stage that fails ends the run once the other row has ended its
//! stage, and its output is shown. The last line is always the sum over all suites, `N passed, N failed`: the counts that each suite prints
//! itself, and one for each command that prints none.
//!
//! Suites with thousands of combinations run a share of them, which the commit chooses ([`Rotation`]).

use crate::environment::{self, Environment};
use crate::rotation::Rotation;
use crate::valgrind;
use crate::workspace::{self, xtask};
use anyhow::{Context, Result, bail};
use clap::builder::PossibleValuesParser;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// Run all suites: the rules of the house, unit tests, models, C programs, anomalies, Python, Octave, hosts, an installation.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these stages.
    #[arg(long, value_name = "STAGE", value_delimiter = ',', value_parser = PossibleValuesParser::new(stages()))]
    only: Vec<String>,
    /// The word that chooses which combinations run, where not all do [default: the commit's hash].
    #[arg(long, value_name = "WORD")]
    rotation: Option<String>,
}

/// Passed and failed tests.
#[derive(Clone, Copy, Default)]
struct Count {
    passed: usize,
    failed: usize,
}

/// A stage: its name, and what makes its commands once the stages before it in its row have run.
type Stage = (&'static str, fn(&Rotation) -> Result<Vec<Command>>);

/// What all others need.
const FIRST: &[Stage] = &[("build", |_| Ok(vec![xtask(&["build"])]))];

/// The row of those that compute.
const COMPUTING: &[Stage] = &[
    ("check", |rotation| Ok(vec![xtask(&["check", "--rotation", rotation.word()])])),
    ("rust", rust),
    ("models", |_| Ok(vec![xtask(&["models"])])),
    ("sanitizer", |rotation| Ok(vec![xtask(&["sanitizer", "--rotation", rotation.word()])])),
    ("programs", |rotation| Ok(vec![xtask(&["test", "--rotation", rotation.word()])])),
    ("valgrind", |rotation| valgrind::commands(Some(rotation))),
    ("client", client),
    ("binaries", binaries),
    ("mpi4py", |rotation| Ok(vec![xtask(&["mpi4py", "--rotation", rotation.word()])])),
    ("wheel", wheel),
    ("octave-files", |rotation| octave(rotation, "file", "launcher")),
    ("overlap", overlap),
    ("fortran", fortran),
    ("python", python),
    ("installation", installation),
];

/// The row of those that wait, and of what makes it as long as the other. Whoever else needs the environment of Python waits until it is made.
const WAITING: &[Stage] = &[
    ("environment", |_| Ok(vec![xtask(&["setup"])])),
    ("hosts", hosts),
    ("engine", engine),
    ("ipc", ipc),
    ("mpich-io", mpich_io),
    ("mpich-abi", mpich_abi),
    ("octave", |rotation| octave(rotation, "shared-memory", "all")),
    ("docs", |_| Ok(vec![xtask(&["docs"])])),
];

/// The names of all stages.
pub fn stages() -> Vec<&'static str> {
    [FIRST, COMPUTING, WAITING].concat().into_iter().map(|(name, _)| name).collect()
}

/// Runs the stages and prints a line for each.
pub fn run(arguments: &Arguments) -> Result<()> {
    let logs = workspace::root().join("target/verify");
    std::fs::create_dir_all(&logs).with_context(|| logs.display().to_string())?;
    let rotation = arguments.rotation.as_ref().map_or_else(Rotation::of_commit, Rotation::of_word);
    println!("rotation {}; the same again: cargo xtask verify --rotation {0}", rotation.word());
    let run = Run { only: arguments.only.clone(), rotation, logs, so_far: Mutex::default() };
    run.row(FIRST);
    std::thread::scope(|scope| {
        scope.spawn(|| run.row(WAITING));
        run.row(COMPUTING);
    });
    let (total, failure) = run.so_far.into_inner().expect("no stage panics with the lock");
    if let Some(text) = &failure {
        println!("\n{text}\n");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    // What went wrong has been said, and the last line is for programs that read it.
    std::process::exit(i32::from(failure.is_some() || total.failed > 0))
}

/// One run of all stages.
struct Run {
    only: Vec<String>,
    rotation: Rotation,
    logs: PathBuf,
    /// The sum, and what the first stage that failed has to say.
    so_far: Mutex<(Count, Option<String>)>,
}

impl Run {
    /// Runs stages one after the other, until one of this or of another row has failed.
    fn row(&self, stages: &[Stage]) {
        for &(name, commands) in stages {
            if !self.only.is_empty() && !self.only.iter().any(|one| one == name) {
                continue;
            }
            if self.so_far.lock().expect("no stage panics with the lock").1.is_some() {
                return;
            }
            let started = Instant::now();
            eprintln!("{name} …");
            let (count, result) = self.stage(name, commands);
            let Count { passed, failed } = count;
            let seconds = started.elapsed().as_secs_f64();
            println!("{name:<14} {passed:>6} passed {failed:>4} failed {seconds:>8.1} s");
            let (total, failure) = &mut *self.so_far.lock().expect("no stage panics with the lock");
            *total = Count { passed: total.passed + passed, failed: total.failed + failed };
            if let Err(error) = result {
                failure.get_or_insert(format!("{name}: {error:#}"));
            }
        }
    }

    /// Runs the commands of a stage, up to the first that fails. Its output is part of the error.
    fn stage(&self, name: &str, commands: fn(&Rotation) -> Result<Vec<Command>>) -> (Count, Result<()>) {
        let log = self.logs.join(format!("{name}.log"));
        let mut total = Count::default();
        let mut all = || {
            std::fs::write(&log, "")?;
            for mut command in commands(&self.rotation)? {
                let (count, result) = logged(&mut command, &log)?;
                total = Count { passed: total.passed + count.passed, failed: total.failed + count.failed };
                result?;
            }
            Ok(())
        };
        let result = all();
        if result.is_err() {
            total.failed = total.failed.max(1);
        }
        (total, result)
    }
}

/// Runs one command with its output appended to the log, and counts what that output says.
fn logged(command: &mut Command, log: &Path) -> Result<(Count, Result<()>)> {
    let before = std::fs::metadata(log)?.len() as usize;
    let file = File::options().append(true).open(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let status = command.status().with_context(|| format!("{command:?} does not start"))?;
    let bytes = std::fs::read(log)?;
    let output = String::from_utf8_lossy(&bytes[before..]);
    let printed = counted(&output);
    if status.success() {
        return Ok((printed.unwrap_or(Count { passed: 1, failed: 0 }), Ok(())));
    }
    let lines: Vec<&str> = output.lines().collect();
    let end = lines[lines.len().saturating_sub(200)..].join("\n");
    let error = anyhow::anyhow!("{command:?} fails: {status}; all of it is in {}\n{end}", log.display());
    Ok((printed.unwrap_or_default(), Err(error)))
}

/// The tests that an output speaks of: lines of our own suites, of Cargo and of pytest.
fn counted(output: &str) -> Option<Count> {
    let mut total = None;
    for line in output.lines() {
        let summary = line.contains("test result:")
            || line.starts_with(|first: char| first.is_ascii_digit()) && line.contains(" passed");
        if !summary {
            continue;
        }
        let words: Vec<&str> = line.split([' ', ',', ';', '.']).filter(|word| !word.is_empty()).collect();
        let before = |what: &str| {
            let place = words.iter().position(|word| *word == what)?;
            words[place.checked_sub(1)?].parse::<usize>().ok()
        };
        let Count { passed, failed } = total.unwrap_or_default();
        total = Some(Count {
            passed: passed + before("passed").unwrap_or(0),
            failed: failed + before("failed").unwrap_or(0),
        });
    }
    total
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = workspace::cargo();
    command.args(arguments);
    command
}

/// The tests of all crates.
fn rust(rotation: &Rotation) -> Result<Vec<Command>> {
    let mut tests = cargo(&["test", "--workspace", "--quiet"]);
    tests.env("TEST_ROTATION", rotation.word());
    Ok(vec![tests])
}

/// The same programs on MPICH: that checks them, and the ABI.
fn engine(rotation: &Rotation) -> Result<Vec<Command>> {
    let mpich = ["test", "--engine", "mpich", "--ranks", "2", "--watchdog", "20"];
    Ok(vec![xtask(&[&mpich[..], &["--rotation", rotation.word()]].concat())])
}

/// Our I/O on MPICH, by our launcher and by MPICH's, with programs of both ABIs; and how users load it.
fn mpich_io(rotation: &Rotation) -> Result<Vec<Command>> {
    let mpich = environment::mpich()?;
    let compiler = mpich.join("bin/mpicc").display().to_string();
    let test = |engine: &str, compiler: &[&str]| {
        let how = ["test", "--engine", engine, "--watchdog", "60", "--rotation", rotation.word()];
        xtask(&[&how[..], compiler].concat())
    };
    let of_mpich = ["--compiler", &compiler];
    let mut layer = Command::new("python3");
    layer.arg("-B").arg(workspace::root().join("tests/layer/layer.py"));
    layer.arg(workspace::installation()).arg(&mpich).arg(workspace::target()?.join("verify/layer"));
    Ok(vec![
        test("mpich-io", &[]),
        test("mpich-preload", &[]),
        test("mpich-io", &of_mpich),
        test("mpich-preload", &of_mpich),
        layer,
    ])
}

/// Programs under the layer that makes their calls asynchronous: messages on two engines, some of the ways to close memory and to complete, files,
/// and a solver that has both.
fn overlap(rotation: &Rotation) -> Result<Vec<Command>> {
    let slow = cargo(&["build", "--quiet", "--package", "postrider-slowfs"]);
    let target = workspace::target()?;
    let script = |name: &str, folder: &str| {
        let mut script = Command::new("python3");
        script.arg("-B").arg(workspace::root().join("tests/overlap").join(name));
        script.arg(workspace::installation()).arg(target.join("debug/postrider-slowfs"));
        script.arg(target.join("verify").join(folder));
        script
    };
    let patterns = |(engine, how): (&str, String)| {
        let of = ["--chapter", "point-to-point", "--filter", "blocking_", "--watchdog", "60"];
        xtask(&[&["test", "--engine", engine, "--overlap", &how][..], &of].concat())
    };
    let all = |engine: &'static str| {
        let ways = ["huge", "one-view", "two-views", "pre-emptive"];
        let all = ways.iter().flat_map(|memory| ["touch", "last"].map(|method| format!("{method}:{memory}")));
        rotation.share(engine, all.map(|how| (engine, how)).collect(), 3)
    };
    let whole = ["--chapter", "point-to-point", "--ranks", "3", "--transport", "shared-memory"];
    let (interpreter, mpich) = (Environment::prepare()?.python(), environment::mpich()?);
    let python = |engine: &str| {
        let mut run = Command::new(launcher());
        run.args([
            "run",
            "--engine",
            engine,
            "--overlap=messages",
            "--genv",
            "POSTRIDER_OVERLAP_METHOD",
            "touch",
        ]);
        run.args(["-n", "3"]).arg(&interpreter).arg("-B");
        run.arg(workspace::root().join("tests/overlap/exchange.py"));
        run
    };
    let mut commands = vec![
        python("postrider"),
        python(&mpich.display().to_string()),
        xtask(&[&["test", "--overlap", "touch"][..], &whole].concat()),
        slow,
        script("files.py", "overlap"),
        script("solver.py", "overlap-solver"),
    ];
    commands.extend(all("postrider").into_iter().chain(all("mpich")).map(patterns));
    Ok(commands)
}

fn launcher() -> PathBuf {
    workspace::installation().join("bin/postrider")
}

/// The library with MPICH's ABI: its constants, the C programs compiled by MPICH's compiler. And programs that
/// MPICH's compiler makes for the standard ABI, with its header; the stage `engine` runs ours on MPICH.
fn mpich_abi(rotation: &Rotation) -> Result<Vec<Command>> {
    let mpich = environment::mpich()?;
    let compiler = mpich.join("bin/mpicc").display().to_string();
    let mut constants =
        cargo(&["test", "-p", "postrider-abi", "--features", "mpich", "--test", "mpich", "--quiet"]);
    constants.env("POSTRIDER_TEST_MPICC", &compiler);
    let programs = ["test", "--compiler", &compiler, "--rotation", rotation.word()];
    let standard = mpich.join("bin/mpicc_abi").display().to_string();
    let of_standard =
        ["test", "--compiler", &standard, "--rotation", rotation.word(), "--chapter", "communicators"];
    Ok(vec![constants, xtask(&programs), xtask(&of_standard)])
}

/// Programs that Debian has built for MPICH. There are none where there are no packages of Debian.
fn binaries(_: &Rotation) -> Result<Vec<Command>> {
    if Command::new("apt-get").arg("--version").output().is_err() {
        return Ok(Vec::new());
    }
    let mut setup = Command::new(workspace::root().join("scripts/setup"));
    setup.arg("binaries");
    let mut run = Command::new("python3");
    run.arg(workspace::root().join("tests/binaries/binaries.py")).arg(launcher());
    run.arg(workspace::target()?.join("verify/binaries"));
    Ok(vec![setup, run])
}

/// Programs in Fortran, on our library and on MPICH; and whether all that the standard has is there.
fn fortran(rotation: &Rotation) -> Result<Vec<Command>> {
    let mut setup = Command::new(workspace::root().join("scripts/setup"));
    setup.arg("builders");
    let packages = environment::of_packages(
        &workspace::target()?.join("engines"),
        "pympistandard",
        &["pympistandard==0.2.0"],
    )?;
    let mut standard = Command::new(packages.join("bin/python"));
    standard.arg("-B").arg(workspace::root().join("tests/fortran/parts/standard.py"));
    standard.arg(workspace::installation());
    Ok(vec![setup, xtask(&["fortran", "--rotation", rotation.word()]), standard])
}

/// The Octave package through a transport, and once what depends on none.
fn octave(rotation: &Rotation, transport: &str, part: &str) -> Result<Vec<Command>> {
    let mut run = Command::new(workspace::root().join("octave/tests/run"));
    run.arg(launcher()).args(["run", "--transport", transport]);
    run.env("PYTHON", Environment::prepare()?.python()).env("PART", part).env("ROTATION", rotation.word());
    Ok(vec![run])
}

/// Several hosts, and the file system that stands for a loaded central one; both take the rights of root.
fn hosts(rotation: &Rotation) -> Result<Vec<Command>> {
    let slow = cargo(&["test", "--quiet", "--package", "postrider-slowfs", "--test", "passthrough"]);
    Ok(vec![slow, xtask(&["hosts", "test", "--rotation", rotation.word()])])
}

/// System V IPC, beside the kernel's, and programs that Debian has for it. Elsewhere those are taken that are there.
fn ipc(_: &Rotation) -> Result<Vec<Command>> {
    let mut all = Vec::new();
    if Command::new("apt-get").arg("--version").output().is_ok() {
        let mut setup = Command::new(workspace::root().join("scripts/setup"));
        setup.arg("ipc");
        all.push(setup);
    }
    let mut run = Command::new("python3");
    run.arg("-B").arg(workspace::root().join("tests/ipc/ipc.py"));
    run.arg(workspace::installation()).arg(workspace::target()?.join("verify/ipc"));
    all.push(run);
    Ok(all)
}

/// The Python package.
fn python(_: &Rotation) -> Result<Vec<Command>> {
    let mut command = Command::new(Environment::prepare()?.python());
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "python/tests"]);
    command.current_dir(workspace::root());
    Ok(vec![command])
}

/// A program that knows MPI by the crate `client` only, on the library that was built.
fn client(_: &Rotation) -> Result<Vec<Command>> {
    let build = cargo(&["build", "--quiet", "--package", "postrider-client", "--example", "ring"]);
    let installation = workspace::installation();
    let library = installation.join("lib/libmpi_abi.so.1");
    let mut run = Command::new(installation.join("bin/postrider"));
    run.args(["run", "-n", "3", "env"]).arg(format!("LD_PRELOAD={}", library.display()));
    run.arg(workspace::target()?.join("debug/examples/ring"));
    Ok(vec![build, run])
}

/// An installation elsewhere, moved after it was made: its compiler, its launcher, and its Octave package.
fn installation(_: &Rotation) -> Result<Vec<Command>> {
    let folder = workspace::target()?.join("verify");
    let (first, moved) = (folder.join("first"), folder.join("moved place"));
    for place in [&first, &moved] {
        if place.exists() {
            std::fs::remove_dir_all(place).with_context(|| place.display().to_string())?;
        }
    }
    let installed = xtask(&["install", "--prefix", &first.display().to_string()]).output()?;
    if !installed.status.success() {
        bail!("install: {}", String::from_utf8_lossy(&installed.stderr));
    }
    std::fs::rename(&first, &moved).with_context(|| moved.display().to_string())?;
    let at = |program: &str| {
        let mut command = Command::new(moved.join("bin").join(program));
        command.current_dir(&moved);
        command
    };
    let mut compiler = at("mpicc");
    compiler.args(["share/postrider/examples/c/ring.c", "-o", "ring"]);
    let mut ring = at("postrider");
    ring.args(["run", "-n", "3", "./ring"]);
    let mut in_octave = at("postrider");
    in_octave.args(["run", "-n", "2", "octave", "share/postrider/examples/octave/ring.m"]);
    let mut by_another_launcher = Command::new("sh");
    by_another_launcher.current_dir(&moved).env_remove("OCTAVE_PATH");
    by_another_launcher.args([
        "-c",
        "eval \"$(bin/postrider env)\" && exec octave --quiet --eval \"MPI_Init; MPI_Finalize;\"",
    ]);
    Ok(vec![compiler, ring, in_octave, by_another_launcher])
}

/// A program that wants all libraries that `postrider info` names to be there.
const INFO: &str = "import json, os, subprocess, sys
info = subprocess.check_output([os.path.dirname(sys.executable) + '/postrider', 'info', '--json'])
assert all(one['is_installed'] for one in json.loads(info)['libraries']), info";

/// `pip install .` into a fresh environment, and what is in it then: compiler, launcher, libraries for C and for mpi4py's
/// wheel, Python package. Nothing else leads to the library.
fn wheel(_: &Rotation) -> Result<Vec<Command>> {
    let folder = workspace::target()?.join("verify/wheel");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "env"]).current_dir(&folder);
    let of_environment = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(folder.join("env/bin").join(program));
        command.args(arguments).current_dir(&folder).env_remove("LD_LIBRARY_PATH");
        command
    };
    let root = workspace::root().display().to_string();
    let ring = |language: &str, extension: &str| format!("{root}/examples/{language}/ring.{extension}");
    let python = folder.join("env/bin/python").display().to_string();
    Ok(vec![
        make,
        of_environment("pip", &["install", "--quiet", "--disable-pip-version-check", &root, "mpi4py"]),
        of_environment("mpicc", &[&ring("c", "c"), "-o", "ring"]),
        of_environment("postrider", &["run", "-n", "3", "./ring"]),
        of_environment("python", &["-c", INFO]),
        of_environment("mpiexec", &["-n", "3", &python, &ring("python", "py")]),
        of_environment(
            "python",
            &["-c", "import postrider.values; from mpi4py import MPI; MPI.COMM_WORLD.Barrier()"],
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_every_suite() {
        let output =
            "test result: ok. 7 passed; 0 failed; 1 ignored\n12 passed, 2 failed\n3 passed in 0.2s\n";
        let Count { passed, failed } = counted(output).expect("three summaries");
        assert_eq!((passed, failed), (22, 2));
        assert!(counted("all is well").is_none());
    }
}
