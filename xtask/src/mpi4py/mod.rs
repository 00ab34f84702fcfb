//! `cargo xtask mpi4py`: mpi4py's own test suite on our library.
//!
//! mpi4py is in the project's Python environment, built from the source distribution; the suite comes from the same
//! distribution, unchanged. `tests/mpi4py/suite.py` runs it on each rank and writes down what becomes of every test. mpi4py knows by the
//! name of a library which of its tests to leave out there. It has no entry for ours, so nothing is left out but what a
//! test itself finds missing; `--skips` lists that.

pub mod records;

use crate::environment::{Environment, MPI4PY_VERSION, TESTED_WITH};
use crate::rotation::Rotation;
use crate::test::Transport;
use crate::{environment, link, workspace};
use anyhow::{Context, Result, ensure};
use records::Records;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// How much of a failed test is shown, in lines.
const LINES_MAX: usize = 40;

/// Run mpi4py's tests on the library in build/.
#[derive(clap::Args)]
pub struct Arguments {
    /// mpi4py's prebuilt wheel, on the library with MPICH's ABI, and not the one that is built here.
    #[arg(long)]
    wheel: bool,
    /// The rank counts.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4])]
    ranks: Vec<usize>,
    /// The transports. By default shared memory with every rank count, and files with 2 and 3 ranks.
    #[arg(long, value_delimiter = ',', value_enum)]
    transport: Vec<Transport>,
    /// Run a share of the suite's modules in one of these configurations, with the wheel or without, all of which this word chooses; see
    /// `cargo xtask verify`.
    #[arg(long, value_name = "WORD")]
    rotation: Option<String>,
    /// Only these modules of the suite.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    module: Vec<String>,
    /// List the tests that were skipped, by reason.
    #[arg(long)]
    skips: bool,
    /// How many runs there are at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// After how many seconds a single test counts as hanging.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    watchdog: u32,
    /// After how many seconds a whole run is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    timeout: u32,
}

/// Rank counts that run through files, too, unless transports are asked for.
const FILE_RANKS: &[usize] = &[2, 3];

/// With `--rotation` one in so many modules of the suite runs.
const SHARE: usize = 3;

/// Runs what was asked for; ends with exit code 1 if anything failed.
pub fn run(arguments: &Arguments) -> Result<()> {
    let is_turn_of_wheel =
        arguments.rotation.as_ref().is_some_and(|word| Rotation::of_word(word).has("mpi4py's wheel", 3));
    let suite = if arguments.wheel || is_turn_of_wheel { Suite::of_wheel()? } else { Suite::prepare()? };
    let options = suite.options(&modules(arguments, &suite)?)?;
    // From the end: what takes longest, files and many ranks, begins first.
    let waiting = Mutex::new(configurations(arguments));
    let next = || waiting.lock().expect("nobody panics with the lock").pop();
    let work = || -> Result<(usize, usize)> {
        let (mut passed, mut failed) = (0, 0);
        while let Some((ranks, transport)) = next() {
            let ended = Job { ranks, transport, suite: &suite }.run(arguments, &options)?;
            passed += ended.0;
            failed += ended.1;
        }
        Ok((passed, failed))
    };
    let (mut passed, mut failed) = (0, 0);
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..arguments.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let ended = worker.join().expect("a worker does not panic")?;
            passed += ended.0;
            failed += ended.1;
        }
        Ok(())
    })?;
    println!("{passed} passed, {failed} failed");
    if failed > 0 {
        // The closing line has said everything.
        std::process::exit(1);
    }
    Ok(())
}

/// The modules that are to run; all, if none is named.
fn modules(arguments: &Arguments, suite: &Suite) -> Result<Vec<String>> {
    let Some(word) = arguments.rotation.as_ref().filter(|_| arguments.module.is_empty()) else {
        return Ok(arguments.module.clone());
    };
    let all = suite.modules()?;
    let share = all.len().div_ceil(SHARE);
    let chosen = Rotation::of_word(word).share("mpi4py's modules", all, share);
    println!("modules: {}", chosen.join(" "));
    Ok(chosen)
}

fn configurations(arguments: &Arguments) -> Vec<(usize, Transport)> {
    let asked = |&transport: &Transport| arguments.ranks.iter().map(move |&ranks| (ranks, transport));
    let all = if arguments.transport.is_empty() {
        let files = asked(&Transport::File).filter(|(ranks, _)| FILE_RANKS.contains(ranks));
        asked(&Transport::SharedMemory).chain(files).collect()
    } else {
        arguments.transport.iter().flat_map(asked).collect()
    };
    match &arguments.rotation {
        None => all,
        Some(word) => Rotation::of_word(word).share("mpi4py", all, 1),
    }
}

/// mpi4py's suite, and what runs it.
pub struct Suite {
    /// The interpreter that has mpi4py.
    pub python: PathBuf,
    /// The folder of the tests.
    pub tests: PathBuf,
    /// The folder for what we keep about it.
    folder: PathBuf,
}

impl Suite {
    /// Makes what is missing of it.
    pub fn prepare() -> Result<Self> {
        let environment = Environment::prepare()?;
        let folder = workspace::target()?.join("mpi4py");
        let python = environment.python();
        let tests = sources(&python, &folder)?;
        check_import(&python, &[])?;
        Ok(Self { python, tests, folder })
    }

    /// The same with mpi4py's wheel, in an environment that has no MPI: the wheel finds the library that the launcher leads it to.
    pub fn of_wheel() -> Result<Self> {
        let target = workspace::target()?;
        let package = format!("mpi4py=={MPI4PY_VERSION}");
        let packages = [&[package.as_str()][..], &TESTED_WITH].concat();
        let environment = environment::of_packages(&target.join("engines"), "mpi4py", &packages)?;
        let (python, folder) = (environment.join("bin/python"), target.join("mpi4py"));
        let tests = sources(&python, &folder)?;
        let library = workspace::installation().join("lib").join(link::MPICH_SONAME);
        let path = library.with_file_name("").display().to_string();
        check_import(
            &python,
            &[("MPI4PY_LIBMPI", &library.display().to_string()), ("LD_LIBRARY_PATH", &path)],
        )?;
        Ok(Self { python, tests, folder: folder.join("wheel") })
    }

    /// The names of its modules, in their order.
    fn modules(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.tests).with_context(|| self.tests.display().to_string())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            names
                .extend(name.strip_suffix(".py").filter(|name| name.starts_with("test_")).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// The options of the suite's program: which modules are to run if not all.
    pub fn options(&self, modules: &[String]) -> Result<Vec<String>> {
        let mut options = vec!["--quiet".to_owned(), "--no-builddir".to_owned()];
        for module in modules {
            let source = self.tests.join(format!("{module}.py"));
            ensure!(source.exists(), "mpi4py's suite has no module {module}");
            options.extend(["-i".to_owned(), format!("^{module}\\.py$")]);
        }
        Ok(options)
    }
}

/// The folder with the suite, from the source distribution of mpi4py.
fn sources(python: &Path, folder: &Path) -> Result<PathBuf> {
    let name = format!("mpi4py-{MPI4PY_VERSION}");
    let sources = folder.join(&name);
    if !sources.exists() {
        let unpacked = folder.join("unpacked");
        std::fs::create_dir_all(&unpacked).with_context(|| unpacked.display().to_string())?;
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        pip.args(["--no-binary=mpi4py", "--dest"]).arg(folder).arg(format!("mpi4py=={MPI4PY_VERSION}"));
        workspace::run(&mut pip)?;
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(folder.join(format!("{name}.tar.gz"))).arg("-C").arg(&unpacked);
        workspace::run(&mut tar)?;
        std::fs::rename(unpacked.join(&name), &sources).with_context(|| sources.display().to_string())?;
    }
    Ok(sources.join("test"))
}

/// `import mpi4py.MPI` finds our library with nothing but this in the environment.
fn check_import(python: &Path, variables: &[(&str, &str)]) -> Result<()> {
    let mut command = Command::new(python);
    command
        .env_clear()
        .envs(variables.iter().copied())
        .args(["-c", "from mpi4py import MPI; print(MPI.Get_library_version())"]);
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let version = String::from_utf8_lossy(&output.stdout);
    ensure!(version.starts_with("Postrider"), "mpi4py has found another library: {version}");
    println!("mpi4py {MPI4PY_VERSION} on {}", version.trim_end());
    Ok(())
}

/// One run of the suite.
struct Job<'a> {
    ranks: usize,
    transport: Transport,
    suite: &'a Suite,
}

impl Job<'_> {
    /// Runs it, says how it was, and returns how many tests passed and failed. A run that does not come to its end is
    /// a failure beside those of its tests.
    fn run(&self, arguments: &Arguments, options: &[String]) -> Result<(usize, usize)> {
        let name = format!("ranks {} {}", self.ranks, self.transport.name());
        let folder = self.suite.folder.join(format!("{}-{}", self.ranks, self.transport.name()));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let start = Instant::now();
        let log = folder.join("log");
        let status = self.launch(arguments, options, &folder, &log)?;
        let records = Records::read(&folder, self.ranks)?;
        let mut failed = 0;
        for (test, explanation) in records.failures() {
            failed += 1;
            println!("FAILED {test} {name}\n{}", last_lines(&explanation));
        }
        if !status.success() {
            failed += 1;
            let log = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
            println!("FAILED {name} has not come to its end: {status}\n{}", last_lines(&log));
        }
        if arguments.skips {
            for (reason, tests) in records.skips() {
                println!("skipped, {reason}: {}", tests.join(" "));
            }
        }
        let (passed, skipped) = (records.passed(), records.skipped());
        ensure!(passed + failed > 0, "{name}: no test has run; see {}", log.display());
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {passed} passed, {failed} failed, {skipped} skipped in {seconds:.0} s");
        Ok((passed, failed))
    }

    fn launch(
        &self,
        arguments: &Arguments,
        options: &[String],
        records: &Path,
        log: &Path,
    ) -> Result<ExitStatus> {
        let output = File::create(log).with_context(|| log.display().to_string())?;
        let mut command = Command::new(workspace::installation().join("bin/postrider"));
        command.args(["run", "--label", "-n", &self.ranks.to_string()]);
        command.args(["--transport", self.transport.name()]);
        command.args(["--timeout", &arguments.timeout.to_string()]);
        command.arg(&self.suite.python).arg(workspace::root().join("tests/mpi4py/suite.py"));
        // Processes that a test spawns read its functions from its module.
        command.env("PYTHONPATH", &self.suite.tests);
        command.arg(&self.suite.tests).arg(records).arg(arguments.watchdog.to_string()).args(options);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        command.status().with_context(|| format!("{} does not start", command.get_program().display()))
    }
}

/// The end of a long text, indented: there the cause is, in a traceback as in a log.
pub fn last_lines(text: &str) -> String {
    let lines = text.lines().collect::<Vec<_>>();
    let shown = &lines[lines.len().saturating_sub(LINES_MAX)..];
    shown.iter().map(|line| format!("  {line}\n")).collect()
}
