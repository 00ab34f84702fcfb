//! `cargo xtask fortran`: the programs of `tests/fortran`, compiled by `mpifort` once, run on Postrider and on MPICH.
//!
//! A run is right when it exits with 0 and says nothing, as with the programs in C. What a program has in C lies in the folder `parts`.

use crate::rotation::Rotation;
use crate::{environment, workspace};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compile and run the programs in Fortran.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only programs whose name contains this.
    #[arg(long)]
    filter: Option<String>,
    /// The rank counts.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4, 7])]
    ranks: Vec<usize>,
    /// Run each program in a share of its combinations only, which this word chooses; see `cargo xtask verify`.
    #[arg(long, value_name = "WORD")]
    rotation: Option<String>,
}

/// After how long the launcher ends a run.
const SECONDS_MAX: &str = "120";

/// How a program is run: arguments of the launcher.
type Way = Vec<String>;

/// Runs all of it; the last line says how many runs were right.
pub fn run(arguments: &Arguments) -> Result<()> {
    let folder = workspace::root().join("tests/fortran");
    let binaries = workspace::target()?.join("fortran");
    std::fs::create_dir_all(&binaries).with_context(|| binaries.display().to_string())?;
    let mut all_ways = vec![];
    let mpich = environment::mpich()?.display().to_string();
    for ranks in arguments.ranks.iter().map(usize::to_string) {
        for how in [&["--transport", "shared-memory"][..], &["--transport", "file"], &["--engine", &mpich]] {
            all_ways
                .push([&["run", "-n", &ranks], how].concat().into_iter().map(str::to_owned).collect::<Way>());
        }
    }
    let (mut right, mut wrong) = (0, 0);
    for source in sources(&folder, &binaries)? {
        let name = source.file_stem().context("a file has a name")?.to_string_lossy().into_owned();
        if arguments.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let program = compile(&source, &folder, &binaries.join(&name))?;
        let ways = match &arguments.rotation {
            Some(word) => Rotation::of_word(word).share(&name, all_ways.clone(), SHARE),
            None => all_ways.clone(),
        };
        for way in ways {
            match outcome(&way, &program) {
                Ok(()) => right += 1,
                Err(error) => {
                    wrong += 1;
                    println!("{name} {}: {error:#}", way.join(" "));
                }
            }
        }
    }
    if arguments.filter.is_none() {
        match compiler(&binaries.join("cache")) {
            Ok(()) => right += 1,
            Err(error) => {
                wrong += 1;
                println!("mpifort: {error:#}");
            }
        }
    }
    println!("{right} passed, {wrong} failed");
    ensure!(wrong == 0 && right > 0, "{wrong} runs fail");
    Ok(())
}

/// Combinations of a program in a share of them; there are fifteen.
const SHARE: usize = 5;

/// The programs. One is there twice: with the module mpi, and with mpif.h in its place, which knows the same names.
fn sources(folder: &Path, binaries: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut found: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    found.retain(|path| path.is_file() && path.file_stem().is_some_and(|stem| stem != "check"));
    found.sort();
    let text = std::fs::read_to_string(folder.join("old_forms.f90")).context("old_forms.f90")?;
    let twin = binaries.join("old_forms_included.f90");
    let text = text.replace("  use mpi\n  implicit none\n", "  implicit none\n  include 'mpif.h'\n");
    ensure!(!text.contains("use mpi"), "old_forms.f90 uses a module otherwise than by two lines of their own");
    std::fs::write(&twin, text).with_context(|| twin.display().to_string())?;
    found.push(twin);
    Ok(found)
}

/// Compiles a program with what it has in C, and links it.
fn compile(source: &Path, folder: &Path, program: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(program).with_context(|| program.display().to_string())?;
    let compilers = workspace::installation().join("bin");
    let stem = source.file_stem().context("a file has a name")?.to_string_lossy();
    let part = folder.join(format!("parts/{stem}_part.c"));
    let binary = program.join("program");
    let mut link = Command::new(compilers.join("mpifort"));
    link.current_dir(program).args(["-g", "-Wall", "-Werror=line-truncation"]);
    link.arg(source).arg(folder.join("check.f90"));
    if part.exists() {
        let object = program.join("part.o");
        let mut compile = Command::new(compilers.join("mpicc"));
        workspace::run(compile.args(["-g", "-Wall", "-Werror", "-c"]).arg(part).arg("-o").arg(&object))?;
        link.arg(object);
    }
    workspace::run(link.arg("-o").arg(&binary).stderr(Stdio::null()))?;
    Ok(binary)
}

/// `mpifort` without modules yet: compilations at the same time make them once, questions are answered with what is there then, and a compiler
/// that cannot make them is told from one that can.
fn compiler(cache: &Path) -> Result<()> {
    workspace::clear(cache)?;
    let driver = |arguments: &[&str]| {
        let mut command = Command::new(workspace::installation().join("bin/mpifort"));
        command.args(arguments).env("XDG_CACHE_HOME", cache).env_remove("POSTRIDER_FC");
        command
    };
    let source = workspace::root().join("examples/fortran/ring.f90").display().to_string();
    let compilations: Vec<_> = (0..3).map(|_| driver(&["-fsyntax-only", &source]).spawn()).collect();
    for compilation in compilations {
        ensure!(compilation?.wait()?.success(), "one of three compilations at the same time fails");
    }
    let made =
        std::fs::read_dir(cache.join("postrider/fortran"))?.filter_map(|entry| Some(entry.ok()?.path()));
    let made: Vec<PathBuf> = made.filter(|path| path.is_dir()).collect();
    ensure!(made.len() == 1 && made[0].join("mpi_f08.mod").exists(), "the cache has {made:?}");
    let answer = |question: &str| -> Result<String> {
        Ok(String::from_utf8(driver(&[question]).output().context("mpifort")?.stdout)?)
    };
    let (compiling, linking, both) = (answer("-showme:compile")?, answer("-link_info")?, answer("-show")?);
    ensure!(compiling.contains(&format!("-I{}", made[0].display())), "{compiling}");
    ensure!(linking.contains("-lmpifort_abi -lmpi_abi") && !linking.contains("-I"), "{linking}");
    ensure!(both.starts_with("gfortran ") && both.trim_end().ends_with(linking.trim_end()), "{both}");
    let other = driver(&["-c", &source]).env("POSTRIDER_FC", "false").output()?;
    let said = String::from_utf8_lossy(&other.stderr);
    ensure!(!other.status.success() && said.contains("descriptors of Fortran 2018"), "{said}");
    Ok(())
}

fn outcome(way: &Way, program: &Path) -> Result<()> {
    let mut command = Command::new("timeout");
    command.arg(SECONDS_MAX).arg(workspace::installation().join("bin/postrider")).args(way).arg(program);
    let output = command.stdin(Stdio::null()).output().context("timeout does not start")?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    ensure!(output.status.success() && said.is_empty(), "{}\n{said}", output.status);
    Ok(())
}
