//! `cargo xtask build`: from the sources to a usable installation in `build/`.
//!
//! ```text
//! build/bin/postrider                 the command line
//! build/bin/mpicc, mpicxx, mpic++,    links to it: it looks at the name it is called by
//!           mpifort, mpif90, mpif77,
//!           mpiexec, mpirun
//! build/include/mpi.h, mpi_other_names.h
//! build/lib/libmpi_abi.so.1, libmpi_abi.so
//! build/lib/libmpifort_abi.so.1, libmpifort_abi.so
//! build/lib/libmpi.so.12, libmpich.so.12    the same with MPICH's ABI
//! build/lib/libpostrider_io.so        our I/O for programs on another MPI library, to be preloaded
//! build/lib/libpostrider_overlap.so   calls of unchanged programs made asynchronous, to be preloaded
//! build/lib/libpostrider_io_mpich.so  the same with MPICH's ABI
//! build/lib/libpostrider_ipc.so       System V IPC of a name space, to be preloaded
//! build/lib/pkgconfig, share/modulefiles, share/man, and shells' folders of completions: see `toolbox`
//! build/share/postrider/fortran       modules as source, and mpif.h
//! build/share/postrider/octave        the Octave package
//! build/share/postrider/python        the Python package
//! build/share/postrider/examples
//! ```
//!
//! The folder can be moved or copied as a whole: everything in it finds everything else by relative paths.

use crate::link::{COMPILER, Names};
use crate::{exports, fortran, link, toolbox, valgrind, workspace};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Build everything, and lay out an installation in build/.
#[derive(clap::Args)]
pub struct Arguments {
    /// Build with debug information and assertions, and without optimization across crates.
    #[arg(long)]
    debug: bool,
}

/// Names of the executable: its own, those under which it is a compiler, and the launcher under those of other libraries.
const NAMES: &[&str] =
    &["postrider", "mpicc", "mpicxx", "mpic++", "mpifort", "mpif90", "mpif77", "mpiexec", "mpirun"];

/// Folders of the repository that are installed as they are, with their places below share/postrider.
const SHARED: &[(&str, &str)] = &[("python/postrider", "python/postrider"), ("examples", "examples")];

/// The libraries that are loaded before another MPI library, in the installation: for the standard ABI, and for MPICH's.
pub const PRELOADED: [&str; 2] = ["libpostrider_io.so", "libpostrider_io_mpich.so"];

/// The libraries that make calls asynchronous, for the two ABIs.
pub const OVERLAP: [&str; 2] = ["libpostrider_overlap.so", "libpostrider_overlap_mpich.so"];

/// The library with System V IPC.
pub const IPC_LIBRARY: &str = "libpostrider_ipc.so";

/// Builds the workspace and fills `build/`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let places = compile(arguments.debug)?;
    let installation = workspace::installation();
    let libraries = installation.join("lib");
    let abis = [
        (Names::standard()?, &places.libraries, 0, link::link as Link),
        (Names::mpich()?, &places.mpich, 1, link::link_mpich),
    ];
    for (names, folder, abi, link) in abis {
        let scratch = folder.join("link");
        let library = link(COMPILER, &folder.join("libmpi_abi.a"), &names, &scratch, &libraries)?;
        exports::check(&library, &names)?;
        let (names, archive) = (names.of_io(), folder.join("libpostrider_io.a"));
        let library =
            link::link_as(PRELOADED[abi], COMPILER, &archive, &names, &scratch.join("io"), &libraries)?;
        exports::check(&library, &names)?;
        let (names, archive) = (Names::of_overlap()?, folder.join("libpostrider_overlap_preload.a"));
        let library =
            link::link_as(OVERLAP[abi], COMPILER, &archive, &names, &scratch.join("overlap"), &libraries)?;
        exports::check(&library, &names)?;
    }
    fortran::build(&installation, &places.libraries.join("fortran"))?;
    let (names, archive) = (Names::ipc(), places.libraries.join("libpostrider_ipc.a"));
    let scratch = places.libraries.join("link/ipc");
    let library = link::link_as(IPC_LIBRARY, COMPILER, &archive, &names, &scratch, &libraries)?;
    exports::check(&library, &names)?;
    for header in ["include/mpi.h", "include/mpi_other_names.h"] {
        workspace::copy(&workspace::root().join(header), &installation.join(header))?;
    }
    programs(&places.launcher, &installation.join("bin"))?;
    shared(&installation.join("share/postrider"))?;
    workspace::copy(&valgrind::suppressions(), &installation.join("share/postrider/postrider.supp"))?;
    toolbox::write(&installation, NAMES)?;
    octave(&installation)
}

/// How a library is linked: its archive, its names, a folder for the linker, and where it goes.
type Link = fn(&str, &Path, &Names, &Path, &Path) -> Result<PathBuf>;

/// Where Cargo has put what is installed.
struct Places {
    launcher: PathBuf,
    libraries: PathBuf,
    mpich: PathBuf,
}

/// Compiles what is installed and nothing else, in three builds at the same time, since the last crate of each takes one core for long. The
/// library with MPICH's ABI is made from the same source, but nothing can be shared from the handles upwards; the launcher needs no
/// optimization across crates, which would take longer than all the rest of it.
fn compile(debug: bool) -> Result<Places> {
    let target = workspace::target()?;
    let of_mpich = target.join("mpich");
    let all = ["postrider-libmpi", "postrider-preload", "postrider-overlap-preload"];
    let both: Vec<&str> = all.iter().flat_map(|package| ["--package", *package]).collect();
    let with_mpich = [
        &both[..],
        &["--features", "postrider-libmpi/mpich,postrider-preload/mpich,postrider-overlap-preload/mpich"],
    ]
    .concat();
    let with_ipc = [&both[..], &["--package", "postrider-ipc-preload"]].concat();
    let (tools, release) = if debug { ("dev", "dev") } else { ("tools", "release") };
    let builds = [
        (tools, &target, &["--package", "postrider"][..]),
        (release, &target, &with_ipc),
        (release, &of_mpich, &with_mpich),
    ];
    let mut running = Vec::new();
    for (profile, folder, packages) in builds {
        let mut cargo = workspace::cargo();
        cargo.args(["build", "--profile", profile, "--target-dir"]).arg(folder).args(packages);
        cargo.env("CARGO_TERM_PROGRESS_WHEN", "never");
        let child = cargo.spawn().with_context(|| format!("{cargo:?} does not start"))?;
        running.push((cargo, child));
    }
    // All of them end before an error is told: none goes on beside what comes next.
    let ended: Vec<_> = running.into_iter().map(|(cargo, mut child)| (cargo, child.wait())).collect();
    for (cargo, status) in ended {
        let status = status?;
        ensure!(status.success(), "{cargo:?} fails: {status}");
    }
    let folder = |profile| if profile == "dev" { "debug" } else { profile };
    Ok(Places {
        launcher: target.join(folder(tools)),
        libraries: target.join(folder(release)),
        mpich: of_mpich.join(folder(release)),
    })
}

/// Installs the command line and its other names.
fn programs(target: &Path, folder: &Path) -> Result<()> {
    workspace::copy(&target.join("postrider"), &folder.join("postrider"))?;
    for name in &NAMES[1..] {
        workspace::replace(&folder.join(name), |new| Ok(std::os::unix::fs::symlink("postrider", new)?))?;
    }
    Ok(())
}

/// Installs what is neither compiled nor linked.
fn shared(folder: &Path) -> Result<()> {
    for (from, to) in SHARED {
        let to = folder.join(to);
        workspace::clear(&to)?;
        workspace::copy(&workspace::root().join(from), &to)?;
    }
    Ok(())
}

/// Builds the Octave package, where there is an Octave to build it with.
fn octave(installation: &Path) -> Result<()> {
    if Command::new("mkoctfile").arg("--version").output().is_err() {
        eprintln!(
            "build: without the Octave package, since there is no mkoctfile (scripts/setup installs it)"
        );
        return Ok(());
    }
    let folder = installation.join("share/postrider/octave");
    // Whoever uses it meanwhile, a test beside this build, finds it whole.
    if is_newer(
        &folder.join("postrider_call.mex"),
        &["octave/build", "octave/inst", "octave/src", "include"],
    )? {
        return Ok(());
    }
    workspace::clear(&folder)?;
    workspace::run(Command::new(workspace::root().join("octave/build")).arg(folder).arg(installation))
}

/// Whether a file is newer than all that is in these places of the project, and than when anything was taken out of them.
fn is_newer(file: &Path, places: &[&str]) -> Result<bool> {
    let Ok(made) = std::fs::metadata(file).and_then(|metadata| metadata.modified()) else { return Ok(false) };
    let mut waiting: Vec<PathBuf> = places.iter().map(|place| workspace::root().join(place)).collect();
    while let Some(path) = waiting.pop() {
        let metadata = std::fs::metadata(&path).with_context(|| path.display().to_string())?;
        if metadata.modified()? >= made {
            return Ok(false);
        }
        if metadata.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        }
    }
    Ok(true)
}
