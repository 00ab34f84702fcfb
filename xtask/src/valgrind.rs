//! C programs of `tests/` under valgrind, with the suppressions that are installed: no access to memory that is not there or says nothing yet, no block
//! that is lost. Each takes seconds, so that a run takes some of them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::rotation::Rotation;
use crate::test::programs;
use crate::workspace;

/// The programs: of every chapter those that touch most of the library.
const PROGRAMS: &[(&str, &str)] = &[
    ("point-to-point", "ordering"),
    ("point-to-point", "persistent"),
    ("collectives", "bcast"),
    ("collectives", "nonblocking"),
    ("partitioned", "exchange"),
    ("communicators", "arguments"),
    ("datatypes", "pack"),
    ("datatypes", "array_arguments"),
    ("info", "objects"),
    ("io", "views"),
    ("io", "collective"),
    ("one-sided", "locks"),
    ("one-sided", "passive"),
    ("processes", "spawn"),
    ("tools", "events"),
    ("topologies", "neighborhood"),
];
/// How many of them run.
const SHARE: usize = 5;

/// The suppressions, in the repository.
pub fn suppressions() -> PathBuf {
    programs::folder().join("valgrind/postrider.supp")
}

/// Runs of some of the programs, or of all without a word that chooses.
pub fn commands(rotation: Option<&Rotation>) -> Result<Vec<Command>> {
    let installation = workspace::installation();
    let folder = workspace::target()?.join("verify/valgrind");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let found = programs::find(None, None)?;
    let mut commands = Vec::new();
    let all = PROGRAMS.to_vec();
    let chosen = rotation.map_or(all.clone(), |rotation| rotation.share("valgrind", all, SHARE));
    for (chapter, name) in chosen {
        let program = found.iter().find(|program| program.is(chapter, name));
        let program = program.with_context(|| format!("there is no program {chapter}/{name}"))?;
        let builds = program.builds(&programs::binaries(None)?);
        programs::compile(&builds[0], &installation.join("bin/mpicc"))?;
        let mut command = Command::new(installation.join("bin/postrider"));
        command.args(["run", "-n", "2", "--timeout", "300", "valgrind", "--quiet", "--error-exitcode=99"]);
        command.args(["--leak-check=full", "--show-leak-kinds=definite,possible"]);
        command.arg("--errors-for-leak-kinds=definite,possible");
        command.arg(format!("--suppressions={}", suppressions().display()));
        command.arg(&builds[0].binary).env("TMPDIR", &folder);
        commands.push(command);
    }
    Ok(commands)
}
