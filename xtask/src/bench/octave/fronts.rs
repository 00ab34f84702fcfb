//! The front ends that are compared, and how a program is started with each of them.
//!
//! A program is one of `bench/octave`, the same in every front end: the .m files take the words for their messages from
//! `bench/octave/fronts`, `front.py` has all of them in Python, and those in C are in `bench/src`. What is compared with, the files of
//! MatlabMPI, is not started by a launcher but by `bench/octave/several`, and its files are in memory where the task names no other
//! place, which is the best that can happen to it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::super::build::Workshop;
use super::super::engines::{self, Engine, Place};
use super::super::figures::Task;
use crate::environment;

/// What a program's messages are written in, and the way they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Front {
    /// C, with the standard ABI.
    C,
    /// mpi4py's lowercase methods.
    PythonValues,
    /// mpi4py's uppercase methods.
    PythonArrays,
    /// The native package with values of any kind.
    OctaveValues,
    /// The native package with numeric arrays.
    OctaveArrays,
    /// The names of MPI-TB.
    OctaveMpitb,
    /// The names of MatlabMPI, through shared memory.
    OctaveMatlabmpi,
    /// The names of MatlabMPI, through files.
    OctaveMatlabmpiFile,
    /// Distributed arrays with the interface of pMatlab.
    OctavePmatlab,
    /// MatlabMPI's own way of files, in Octave's binary format.
    FilesBinary,
    /// The same in Octave's text format, which is what it takes when nobody asks for another.
    FilesText,
    /// As many Octaves, without messages.
    OctaveAlone,
}

use Front::*;

/// All that send messages by name.
pub const MESSAGES: &[Front] = &[
    C,
    PythonValues,
    PythonArrays,
    OctaveValues,
    OctaveArrays,
    OctaveMpitb,
    OctaveMatlabmpi,
    OctaveMatlabmpiFile,
    FilesBinary,
    FilesText,
];
/// Those of them that are no slower than a large message can wait for: text is not.
pub const LARGE: &[Front] = MESSAGES.split_at(MESSAGES.len() - 1).0;
/// Those that send values of any kind, and Octave itself, which saves them.
pub const VALUES: &[Front] =
    &[PythonValues, OctaveValues, OctaveMatlabmpi, OctaveMatlabmpiFile, FilesBinary, FilesText, OctaveAlone];
/// Those whose messages are files.
pub const FILES: &[Front] = &[OctaveMatlabmpiFile, FilesBinary, FilesText];
/// Those whose start is timed.
pub const STARTS: &[Front] =
    &[C, PythonArrays, OctaveValues, OctaveMatlabmpi, OctaveMatlabmpiFile, FilesBinary, OctaveAlone];

impl Front {
    /// The name on the command line, in the results and in the tables.
    pub fn name(self) -> &'static str {
        match self {
            C => "c",
            PythonValues => "python-values",
            PythonArrays => "python-arrays",
            OctaveValues => "octave-values",
            OctaveArrays => "octave-arrays",
            OctaveMpitb => "octave-mpitb",
            OctaveMatlabmpi => "octave-matlabmpi",
            OctaveMatlabmpiFile => "octave-matlabmpi-file",
            OctavePmatlab => "octave-pmatlab",
            FilesBinary => "files-binary",
            FilesText => "files-text",
            OctaveAlone => "octave-alone",
        }
    }

    /// The first program that has to run; one with distributed arrays has to know what a map is.
    pub fn first_task(self) -> Task {
        let name = if self == OctavePmatlab { "first" } else { "start" };
        let fronts = MESSAGES;
        Task { limit_s: 30, ..Task::of_fronts(name, fronts, 2, (0, &[8])) }
    }

    /// The command that runs the program `name` of a task.
    pub fn command(self, workshop: &Workshop, task: &Task, name: &str) -> Result<Command> {
        let ranks = task.ranks;
        let mut command = match self {
            FilesBinary | FilesText | OctaveAlone => several(workshop, ranks),
            OctaveMatlabmpiFile => engines::postrider(workshop, ranks, "file")?,
            _ => engines::postrider(workshop, ranks, "shared-memory")?,
        };
        if FILES.contains(&self) || self == OctaveAlone {
            command.env("TMPDIR", Place::Tmpfs.directory().unwrap_or_default());
        }
        if self == FilesBinary || self == FilesText {
            command.env("FILES_FORMAT", if self == FilesText { "text" } else { "binary" });
        }
        // An Octave that is ended in its first moments leaves its variables in the working directory.
        command.current_dir(&workshop.work);
        command.args(self.program(workshop, name)?).args(self.arguments(task, name));
        Ok(command)
    }

    /// The program and the arguments that it takes before those of the task.
    pub fn program(self, workshop: &Workshop, name: &str) -> Result<Vec<PathBuf>> {
        let folder = workshop.root.join("bench/octave");
        let octave = |script: PathBuf| vec!["octave".into(), "-q".into(), script];
        Ok(match self {
            C => vec![workshop.binaries(Engine::Mpich).join(name_in_c(name))],
            PythonValues | PythonArrays => {
                let prefix = environment::of_packages(&workshop.work, "front", &["mpi4py", "numpy"])?;
                vec![prefix.join("bin/python"), folder.join("front.py"), name.into()]
            }
            OctavePmatlab => octave(folder.join("pmatlab").join(format!("{name}.m"))),
            _ => octave(folder.join(format!("{name}.m"))),
        })
    }

    /// What is on the command line after the program.
    pub fn arguments(self, task: &Task, name: &str) -> Vec<String> {
        let given = &task.arguments;
        let words = match self {
            C => {
                let mut words =
                    vec!["--budget-ms".to_owned(), given[0].clone(), "--sizes".into(), given[1].clone()];
                if name == "bcast" {
                    words.extend(["--operation".into(), "bcast".into()]);
                }
                return if name == "start" { Vec::new() } else { words };
            }
            OctavePmatlab => return given.clone(),
            PythonValues => "values",
            PythonArrays => "arrays",
            OctaveValues => "native_values",
            OctaveArrays => "native_arrays",
            OctaveMpitb => "mpitb",
            OctaveMatlabmpi | OctaveMatlabmpiFile => "matlabmpi",
            FilesBinary | FilesText => "files",
            OctaveAlone if name == "start" => "alone",
            OctaveAlone => "save",
        };
        std::iter::once(words.to_owned()).chain(given.iter().cloned()).collect()
    }
}

/// The program of that name in `bench/src`.
fn name_in_c(name: &str) -> &str {
    match name {
        "start" => "hello",
        "bcast" => "collective",
        other => other,
    }
}

/// Copies of a program without a launcher. Octave alone saves what it is asked to as one copy.
fn several(workshop: &Workshop, ranks: u32) -> Command {
    let mut command = Command::new(workshop.root.join("bench/octave/several"));
    command.arg(ranks.to_string());
    command
}
