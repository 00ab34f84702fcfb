//! `cargo xtask fortran`: the programs of `tests/fortran`, compiled by `mpifort` once, run on Postrider and on MPICH.
//!
//! A run is right when it exits with 0 and says nothing, as with the programs in C. What a program has in C lies in the folder `parts`.

use crate::rotation::Rotation;
use crate::{environment, workspace};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
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
    for source in programs(&folder, &binaries)? {
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
            match outcome(&way, &[&program]) {
                Ok(()) => right += 1,
                Err(error) => {
                    wrong += 1;
                    println!("{name} {}: {error:#}", way.join(" "));
                }
            }
        }
    }
    if arguments.filter.is_none() {
        let others: [(&str, Result<()>); 4] = [
            ("mpifort", compiler(&binaries.join("cache"))),
            ("all functions", all_are_called(&folder)),
            ("build systems", by_build_systems(&folder, &binaries)),
            ("mpi4py", with_python(&folder, &binaries, &mpich)),
        ];
        for (what, outcome) in others {
            match outcome {
                Ok(()) => right += 1,
                Err(error) => {
                    wrong += 1;
                    println!("{what}: {error:#}");
                }
            }
        }
    }
    println!("{right} passed, {wrong} failed");
    ensure!(wrong == 0 && right > 0, "{wrong} runs fail");
    Ok(())
}

/// Combinations of a program in a share of them; there are fifteen.
const SHARE: usize = 5;

/// The sources of the programs.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut found: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    found.retain(|path| path.is_file() && path.file_stem().is_some_and(|stem| stem != "check"));
    found.sort();
    Ok(found)
}

/// The programs: one is there twice, with the module mpi, and with mpif.h in its place, which knows the same names.
fn programs(folder: &Path, binaries: &Path) -> Result<Vec<PathBuf>> {
    let text = std::fs::read_to_string(folder.join("old_forms.f90")).context("old_forms.f90")?;
    let text = text.replace("  use mpi\n  implicit none\n", "  implicit none\n  include 'mpif.h'\n");
    ensure!(
        !text.contains("use mpi"),
        "old_forms.f90 uses a module otherwise than by two lines of their own"
    );
    let twin = binaries.join("old_forms_included.f90");
    std::fs::write(&twin, text).with_context(|| twin.display().to_string())?;
    let mut found = sources(folder)?;
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
    let script = cache.join("cannot_read");
    std::fs::write(&script, "#!/bin/sh\ncase $* in *reader*) exit 1 ;; esac\n")?;
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let other = driver(&["-c", &source]).env("POSTRIDER_FC", &script).output()?;
    let said = String::from_utf8_lossy(&other.stderr);
    ensure!(!other.status.success() && said.contains("does not read the modules that it has made"), "{said}");
    Ok(())
}

/// Functions that no program here calls: one ends the job, and one needs a socket.
const UNCALLED: [&str; 2] = ["mpi_abort", "mpi_comm_join"];

/// Each function of `mpi_f08` is called in a program here.
fn all_are_called(folder: &Path) -> Result<()> {
    let module = workspace::installation().join("share/postrider/fortran/mpi_f08.f90");
    let module = std::fs::read_to_string(&module).with_context(|| module.display().to_string())?;
    let mut words = BTreeSet::new();
    for source in sources(folder)? {
        let text = std::fs::read_to_string(&source).with_context(|| source.display().to_string())?;
        let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
        words.extend(text.to_lowercase().split(is_end).map(str::to_owned));
    }
    let names = module.lines().filter_map(|line| line.strip_prefix("  interface MPI_"));
    let names = names.map(|name| format!("mpi_{}", name.to_lowercase()));
    let uncalled: Vec<String> =
        names.filter(|name| !words.contains(name) && !UNCALLED.contains(&name.as_str())).collect();
    ensure!(uncalled.is_empty(), "no program calls {}", uncalled.join(", "));
    Ok(())
}

/// A library in Fortran that Python calls: communicators of mpi4py there, and those of Fortran in mpi4py.
fn with_python(folder: &Path, binaries: &Path, mpich: &str) -> Result<()> {
    let (library, parts) = (binaries.join("with_python.so"), folder.join("parts"));
    let mut compile = Command::new(workspace::installation().join("bin/mpifort"));
    compile.args(["-shared", "-fPIC", "-g", "-Wall"]).arg(parts.join("with_python.f90"));
    workspace::run(compile.arg("-o").arg(&library).current_dir(binaries))?;
    let python = environment::Environment::prepare()?.python();
    for how in [&["--transport", "shared-memory"][..], &["--engine", mpich]] {
        let way: Way = [&["run", "-n", "3"], how].concat().into_iter().map(str::to_owned).collect();
        outcome(&way, &[&python, &parts.join("with_python.py"), &library])?;
    }
    Ok(())
}

/// CMake, Meson and Autoconf find compilers and libraries, and what they build runs.
fn by_build_systems(folder: &Path, binaries: &Path) -> Result<()> {
    const WAYS: [(&str, &str); 3] = [
        ("cmake", "cmake -S . -B cmake && cmake --build cmake"),
        ("meson", "meson setup meson && ninja -C meson"),
        ("autoconf", "autoreconf --install && mkdir autoconf && cd autoconf && ../configure && make"),
    ];
    let scratch = binaries.join("build-systems");
    workspace::clear(&scratch)?;
    std::fs::create_dir_all(&scratch)?;
    for entry in std::fs::read_dir(folder.join("parts/build-systems"))? {
        let entry = entry?;
        std::fs::copy(entry.path(), scratch.join(entry.file_name()))?;
    }
    let programs = workspace::installation().join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    for (name, commands) in WAYS {
        let mut build = Command::new("sh");
        build.args(["-c", commands]).current_dir(&scratch);
        build.env("PATH", format!("{}:{path}", programs.display()));
        let output = build.output().context("there is no sh")?;
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{commands}\n{said}");
        let way: Way = ["run", "-n", "2"].map(str::to_owned).into();
        outcome(&way, &[&scratch.join(name).join("both")])?;
    }
    Ok(())
}

fn outcome(way: &Way, program: &[&Path]) -> Result<()> {
    let mut command = Command::new("timeout");
    command.arg(SECONDS_MAX).arg(workspace::installation().join("bin/postrider")).args(way).args(program);
    command.env("UCX_LOG_LEVEL", "fatal");
    let output = command.stdin(Stdio::null()).output().context("timeout does not start")?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    ensure!(output.status.success() && said.is_empty(), "{}\n{said}", output.status);
    Ok(())
}
