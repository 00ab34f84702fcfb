//! Table 2 of the paper, with numbers where it had words: how many steps an installation has, how long a whole small program is, how many
//! names it needs, and how many functions there are.
//!
//! The small program sends a vector once round all ranks. `bench/octave/ring` has it in every front end, as a user would write it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::super::build::Workshop;
use super::super::engines::{Engine, Place};
use super::super::record::{Run, Sample};
use super::fronts::Front;
use crate::workspace;

/// The quantities of the table, as the session keeps them, without ranks and sizes.
pub const SETUP: &str = "setup";
/// Lines of the small program that are neither empty nor comments.
pub const LINES: &str = "program-lines";
/// Different names of the interface in it.
pub const NAMES: &str = "names";
/// Functions of the interface.
pub const COVERAGE: &str = "coverage";

/// MatlabMPI 1.2: Run, Init, Finalize, Abort, Comm_size, Comm_rank, Send, Recv, Bcast, Mcast, Probe and cc.
const FUNCTIONS_OF_MATLABMPI: usize = 12;

/// Adds what can be counted. Python's functions are counted by a program of the session.
pub fn measure(run: &mut Run, workshop: &Workshop, engines: &[Engine]) -> Result<()> {
    for engine in engines {
        let Engine::Front(front) = *engine else { continue };
        let mut add = |figure, count: usize, unit| {
            let sample = Sample { value: count as f64, best: count as f64 };
            run.add_value(figure, *engine, Place::Usual, (0, 0), unit, sample);
        };
        if let Some(file) = ring(front) {
            let path = workshop.root.join("bench/octave/ring").join(file);
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            add(SETUP, steps(front), "steps");
            add(LINES, lines(&text), "lines");
            add(NAMES, names(&text), "names");
        }
        if let Some(count) = functions(front, workshop)? {
            add(COVERAGE, count, "functions");
        }
    }
    Ok(())
}

/// The file with the small program.
fn ring(front: Front) -> Option<&'static str> {
    match front {
        Front::C => Some("ring.c"),
        Front::PythonValues => Some("ring_values.py"),
        Front::PythonArrays => Some("ring_arrays.py"),
        Front::OctaveValues => Some("ring_values.m"),
        Front::OctaveArrays => Some("ring_arrays.m"),
        Front::OctaveMpitb => Some("ring_mpitb.m"),
        Front::OctaveMatlabmpi | Front::OctaveMatlabmpiFile | Front::FilesBinary | Front::FilesText => {
            Some("ring_matlabmpi.m")
        }
        Front::OctavePmatlab | Front::OctaveAlone => None,
    }
}

/// What a user does once on one machine that has the language, up to the first program: install and run; in C also compile, and for
/// MatlabMPI unpack, put its directory and that of its jobs on the path, let oneself in by ssh, and run.
fn steps(front: Front) -> usize {
    match front {
        Front::C => 3,
        Front::FilesBinary | Front::FilesText => 5,
        _ => 2,
    }
}

fn lines(text: &str) -> usize {
    let is_code = |line: &&str| {
        let line = line.trim();
        !(line.is_empty() || ["%", "#!", "# ", "/*", "*"].iter().any(|mark| line.starts_with(mark)))
    };
    text.lines().filter(is_code).count()
}

fn names(text: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let is_name =
        |word: &&str| ["MPI_", "MPI.", "mpi.", "comm.", "postrider."].iter().any(|p| word.starts_with(p));
    let code = text.lines().filter(|line| lines(line) == 1 && !line.starts_with("#include"));
    let words: BTreeSet<&str> = code
        .flat_map(|line| line.split(|c| !is_part(c)))
        .filter(is_name)
        .map(|word| word.trim_end_matches('.'))
        .collect();
    words.len()
}

fn functions(front: Front, workshop: &Workshop) -> Result<Option<usize>> {
    let toolbox = workshop.prefix.join("share/postrider/octave");
    let starting = |folder: &Path, starts: &[&str]| -> Result<usize> {
        let names = names_in(folder)?;
        Ok(names.iter().filter(|name| starts.iter().any(|start| name.starts_with(start))).count())
    };
    Ok(match front {
        Front::C => Some(workspace::function_names()?.iter().filter(|name| name.starts_with("MPI_")).count()),
        Front::OctaveMatlabmpi | Front::OctaveMatlabmpiFile => {
            Some(starting(&toolbox, &["MPI_", "MatMPI_", "MatlabMPI_"])?)
        }
        Front::OctaveMpitb => Some(starting(&toolbox.join("mpitb"), &["MPI_"])?),
        Front::OctaveValues | Front::OctaveArrays => Some(native(&toolbox.join("+mpi"))?),
        Front::FilesBinary | Front::FilesText => Some(FUNCTIONS_OF_MATLABMPI),
        _ => None,
    })
}

/// Functions of the native package, and methods of its classes.
fn native(package: &Path) -> Result<usize> {
    let mut count = names_in(package)?.len();
    for entry in std::fs::read_dir(package).with_context(|| package.display().to_string())? {
        let entry = entry?;
        if let Some(class) = entry.file_name().to_string_lossy().strip_prefix('@') {
            count += names_in(&entry.path())?.iter().filter(|name| *name != class).count();
        }
    }
    Ok(count)
}

/// Names of the functions in a folder of the toolbox, each once, whether a file in the language is beside the compiled one or not.
/// Constants are not counted: they have capitals only. There are none where there is no such folder.
fn names_in(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.exists() {
        return Ok(BTreeSet::new());
    }
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let functions = names.filter_map(|name| {
        let stem = name.strip_suffix(".mex").or_else(|| name.strip_suffix(".m"))?;
        let own = stem.strip_prefix("MPI_").unwrap_or(stem);
        own.contains(|c: char| c.is_ascii_lowercase()).then(|| stem.to_owned())
    });
    Ok(functions.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_needs_is_counted_once() {
        let text = "% MPI_Bcast is not called\ncomm = MPI_COMM_WORLD;\n\nMPI_Send(1, 2, comm, x);\nMPI_Send(comm.rank, 2, comm, x);\n";
        assert_eq!((lines(text), names(text)), (3, 3));
    }
}
