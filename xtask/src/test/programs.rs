//! The C programs of `tests/`: finding and compiling them.
//!
//! Each folder is a chapter of the standard and each `.c` file in it a program. The folder `anomalies` holds programs too,
//! but what runs them is its own script, with its own expectations.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder whose programs are run by a script.
pub const ANOMALIES: &str = "anomalies";

/// One C file.
pub struct Program {
    /// The folder that it lies in.
    pub chapter: String,
    name: String,
    source: PathBuf,
}

/// One executable made from it.
pub struct Build {
    /// The folder of the program.
    pub chapter: String,
    /// The program, as it is called in reports.
    pub name: String,
    /// The C file.
    pub source: PathBuf,
    /// The executable.
    pub binary: PathBuf,
    /// Whether it calls the functions that take MPI_Count, and runs with several threads allowed.
    pub large_count: bool,
}

impl Program {
    /// Whether it is the one of this chapter with this name.
    pub fn is(&self, chapter: &str, name: &str) -> bool {
        self.chapter == chapter && self.name == name
    }

    /// The two builds of a program; an anomaly has one.
    pub fn builds(&self, folder: &Path) -> Vec<Build> {
        let widths: &[bool] = if self.chapter == ANOMALIES { &[false] } else { &[false, true] };
        widths.iter().map(|&large_count| self.build(folder, large_count)).collect()
    }

    fn build(&self, folder: &Path, large_count: bool) -> Build {
        let suffix = if large_count { "_c" } else { "" };
        let (chapter, name) = (self.chapter.clone(), format!("{}{suffix}", self.name));
        let binary = folder.join(&chapter).join(&name);
        Build { chapter, name, source: self.source.clone(), binary, large_count }
    }
}

/// The folder of all test programs.
pub fn folder() -> PathBuf {
    workspace::root().join("tests")
}

/// The programs of a chapter, or of all, whose name contains the filter; sorted by chapter and name.
pub fn find(chapter: Option<&str>, filter: Option<&str>) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for source in sources(&folder())? {
        let folder = source
            .parent()
            .and_then(Path::file_name)
            .context("a program lies in the folder of its chapter")?;
        let program_chapter = folder.to_string_lossy().into_owned();
        let name = source.file_stem().context("a file has a name")?.to_string_lossy().into_owned();
        let anomaly = program_chapter == ANOMALIES;
        let wanted = chapter.is_none_or(|chapter| chapter == program_chapter);
        // The anomalies' script needs all of its programs, whatever the filter.
        if wanted && (anomaly || filter.is_none_or(|filter| name.contains(filter))) {
            programs.push(Program { chapter: program_chapter, name, source });
        }
    }
    Ok(programs)
}

/// All C files in the folders of a folder.
pub fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            for entry in std::fs::read_dir(&path).with_context(|| path.display().to_string())? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "c") {
                    found.push(path);
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The executables that a compiler makes: one folder for each.
pub fn binaries(compiler: Option<&Path>) -> Result<PathBuf> {
    let name = compiler.and_then(Path::file_name).map(|name| format!("-{}", name.to_string_lossy()));
    Ok(workspace::target()?.join(format!("tests{}", name.unwrap_or_default())))
}

/// Compiles with all warnings as errors, so that the header is checked too. What is newer than all that it is made from stays: several suites
/// run the same executables, also at the same time.
pub fn compile(build: &Build, compiler: &Path) -> Result<()> {
    let folder = build.binary.parent().context("a binary lies in a folder")?;
    if is_current(build, compiler) {
        return Ok(());
    }
    // What cannot be compiled does not run.
    let _ = std::fs::remove_file(&build.binary);
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    workspace::replace(&build.binary, |new| {
        let mut command = Command::new(compiler);
        command.args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]);
        // In MPICH's ABI MPI_STATUSES_IGNORE is the address 1, which the compiler takes for an array that is too small.
        command.arg("-Wno-stringop-overflow");
        if build.large_count {
            command.arg("-DLARGE_COUNT");
        }
        command.arg(&build.source).arg("-o").arg(new).arg("-lm");
        let hint = "is the library built? cargo xtask build makes build/bin/mpicc, --prefix names another installation";
        let output =
            command.output().with_context(|| format!("{} does not start; {hint}", compiler.display()))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })
}

/// Whether an executable is newer than its source, what that includes, and the compiler.
fn is_current(build: &Build, compiler: &Path) -> bool {
    let time = |path: &Path| std::fs::metadata(path)?.modified();
    let Ok(made) = time(&build.binary) else { return false };
    let (tests, root) = (folder(), workspace::root());
    let from = [
        build.source.clone(),
        tests.join("check.h"),
        tests.join("large_count.h"),
        root.join("include/mpi.h"),
        compiler.to_owned(),
    ];
    from.iter().all(|path| time(path).is_ok_and(|changed| changed < made))
}
