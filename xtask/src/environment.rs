//! The Python environment of the project: `.venv`, with what the examples, the tests and the pictures need.
//!
//! mpi4py is built from its source distribution against `build/bin/mpicc`, and finds `build/lib` by the run path that this
//! compiler writes: `import mpi4py` needs no variable. It is built again when `mpi.h` changes, and not when only
//! the library does, because that is what an ABI is for. The package `postrider` is not copied: the environment refers to
//! `python/`.
//!
//! Each step leaves a file in the environment that says what it was made from, so that a second run does nothing.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the environment has beside mpi4py.
const PACKAGES: &[&str] = &["numpy", "scipy", "matplotlib", "pytest", "cffi", "dill", "pyyaml", "miss_hit"];

/// What tests of mpi4py want: they are skipped without it.
pub const TESTED_WITH: [&str; 4] = ["numpy", "cffi", "dill", "pyyaml"];

/// The version of mpi4py whose sources are built and whose tests are run.
pub const MPI4PY_VERSION: &str = "4.1.2";

/// The project's Python environment, complete.
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Makes what is missing of it. The library must have been built.
    pub fn prepare() -> Result<Self> {
        let folder = workspace::root().join(".venv");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let lock = File::open(&folder).with_context(|| folder.display().to_string())?;
        lock.lock().with_context(|| format!("locking {}", folder.display()))?;
        let environment = Self { folder };
        environment.step("python", &python_identity()?, |this| this.create())?;
        environment.step("packages", &PACKAGES.join("\n"), |this| this.install(PACKAGES, None))?;
        let root = workspace::root().display().to_string();
        environment.step("postrider", &root, |this| this.refer_to_package())?;
        environment.step("mpi4py", &mpi4py_identity()?, |this| this.install_mpi4py())?;
        Ok(environment)
    }

    /// Its interpreter.
    pub fn python(&self) -> PathBuf {
        self.programs().join("python")
    }

    /// The folder of its programs, for the front of PATH.
    pub fn programs(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// Does `make` unless it was done before from the same `origin`.
    fn step(&self, name: &str, origin: &str, make: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let record = self.folder.join(format!("{name}.origin"));
        if std::fs::read_to_string(&record).is_ok_and(|done| done == origin) {
            return Ok(());
        }
        eprintln!("setup: {name} in .venv");
        make(self).with_context(|| format!("setting up {name} in {}", self.folder.display()))?;
        std::fs::write(&record, origin).with_context(|| record.display().to_string())
    }

    /// Makes an empty environment in place of the one that may be there.
    fn create(&self) -> Result<()> {
        for name in ["packages", "postrider", "mpi4py"] {
            let record = self.folder.join(format!("{name}.origin"));
            if record.exists() {
                std::fs::remove_file(&record)?;
            }
        }
        let mut command = Command::new("python3");
        workspace::run(command.args(["-m", "venv", "--clear"]).arg(&self.folder))
    }

    /// Installs packages, with `compiler` as the MPI compiler for those that are built here.
    fn install(&self, packages: &[&str], compiler: Option<&Path>) -> Result<()> {
        let mut command = Command::new(self.python());
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        if let Some(compiler) = compiler {
            command.env("MPICC", compiler);
            // Its functions do nothing but call MPI, so a high level of optimization would only cost minutes.
            command.env("CFLAGS", "-O1 -g0");
            // A wheel that pip keeps from another time was built for another library.
            command.args(["--no-binary=mpi4py", "--no-cache-dir", "--force-reinstall", "--no-deps"]);
        }
        workspace::run(command.args(packages))
    }

    fn install_mpi4py(&self) -> Result<()> {
        let compiler = workspace::installation().join("bin/mpicc");
        ensure!(compiler.exists(), "there is no {}: run `make build` first", compiler.display());
        self.install(&[&format!("mpi4py=={MPI4PY_VERSION}")], Some(&compiler))
    }

    /// Has the interpreter find `python/`.
    fn refer_to_package(&self) -> Result<()> {
        let mut command = Command::new(self.python());
        let output =
            command.args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).output()?;
        ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let packages = PathBuf::from(String::from_utf8(output.stdout)?.trim());
        let line = format!("{}\n", workspace::root().join("python").display());
        Ok(std::fs::write(packages.join("postrider.pth"), line)?)
    }
}

/// The installation of MPICH, from its wheel.
pub fn mpich() -> Result<PathBuf> {
    of_packages(&workspace::target()?.join("engines"), "mpich", &["mpich"])
}

/// The Python environment `folder/name`, which has just these packages; it is made now if it is not there.
pub fn of_packages(folder: &Path, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let environment = folder.join(name);
    let (complete, wanted) = (environment.join("complete"), packages.join(" "));
    if !std::fs::read_to_string(&complete).is_ok_and(|found| found == wanted) {
        eprintln!("setup: {wanted} in {}", environment.display());
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        workspace::run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        // Not bin/pip: in a folder that was copied, that is about the first one.
        let mut pip = Command::new(environment.join("bin/python"));
        let pip = pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        workspace::run(pip.args(packages))?;
        std::fs::write(complete, wanted)?;
    }
    Ok(environment)
}

/// What the environment's interpreter is made from: another version needs another environment.
fn python_identity() -> Result<String> {
    let mut command = Command::new("python3");
    command.args(["-c", "import sys; print(sys.base_prefix, sys.version)"]);
    let output = command.output().context("there is no python3: run `scripts/setup` first")?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(format!("{} {}", workspace::root().display(), String::from_utf8(output.stdout)?))
}

/// What mpi4py is made from: its version, the place of the library, and the header.
fn mpi4py_identity() -> Result<String> {
    let header = workspace::root().join("include/mpi.h");
    let text = std::fs::read_to_string(&header).with_context(|| header.display().to_string())?;
    Ok(format!("{MPI4PY_VERSION} {}\n{text}", workspace::installation().display()))
}
