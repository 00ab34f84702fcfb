//! `cargo xtask build`: from the sources to a usable installation in `build/`.
//!
//! ```text
//! build/bin/postrider                 the command line
//! build/bin/mpicc, mpicxx, mpic++,    links to it: it looks at the name it is called by
//!           mpiexec, mpirun
//! build/include/mpi.h, mpi_other_names.h
//! build/lib/libmpi_abi.so.1, libmpi_abi.so
//! build/lib/libmpi.so.12, libmpich.so.12    the same with MPICH's ABI
//! build/lib/libpostrider_io.so        our I/O for programs on another MPI library, to be preloaded
//! build/share/postrider/octave        the Octave package
//! build/share/postrider/python        the Python package
//! build/share/postrider/examples
//! ```
//!
//! The folder can be moved or copied as a whole: everything in it finds everything else by relative paths.

use crate::link::Names;
use crate::{exports, link, workspace};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Build everything, and lay out an installation in build/.
#[derive(clap::Args)]
pub struct Arguments {
    /// Build with debug information and assertions, and without optimization across crates.
    #[arg(long)]
    debug: bool,
}

/// Names under which the command line is a compiler, and the launcher under those of other libraries.
const OTHER_NAMES: &[&str] = &["mpicc", "mpicxx", "mpic++", "mpiexec", "mpirun"];

/// Folders of the repository that are installed as they are, with their places below share/postrider.
const SHARED: &[(&str, &str)] = &[("python/postrider", "python/postrider"), ("examples", "examples")];

/// The library that is loaded before another MPI library, in the installation.
pub const PRELOADED: &str = "lib/libpostrider_io.so";

/// Builds the workspace and fills `build/`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--workspace", "--exclude", "xtask"]);
    if !arguments.debug {
        cargo.arg("--release");
    }
    workspace::run(&mut cargo)?;

    let target = workspace::target()?.join(if arguments.debug { "debug" } else { "release" });
    let installation = workspace::installation();
    let names = Names::standard()?;
    let scratch = target.join("link");
    let library = link::link(&target.join("libmpi_abi.a"), &names, &scratch, &installation.join("lib"))?;
    exports::check(&library, &names)?;
    mpich(arguments, &installation.join("lib"))?;
    for header in ["include/mpi.h", "include/mpi_other_names.h"] {
        workspace::copy(&workspace::root().join(header), &installation.join(header))?;
    }
    workspace::copy(&target.join("libpostrider_io.so"), &installation.join(PRELOADED))?;
    programs(&target, &installation.join("bin"))?;
    shared(&installation.join("share/postrider"))?;
    octave(&installation)
}

/// Builds and installs the library with MPICH's ABI, from the same source. Its objects are kept apart, since nothing can be
/// shared from the handles upwards.
fn mpich(arguments: &Arguments, folder: &Path) -> Result<()> {
    let target = workspace::target()?.join("mpich");
    let mut cargo = workspace::cargo();
    cargo
        .args(["build", "--package", "postrider-libmpi", "--features", "mpich", "--target-dir"])
        .arg(&target);
    if !arguments.debug {
        cargo.arg("--release");
    }
    workspace::run(&mut cargo)?;
    let target = target.join(if arguments.debug { "debug" } else { "release" });
    let names = Names::mpich()?;
    let library = link::link_mpich(&target.join("libmpi_abi.a"), &names, &target.join("link"), folder)?;
    exports::check(&library, &names)
}

/// Installs the command line and its other names.
fn programs(target: &Path, folder: &Path) -> Result<()> {
    workspace::copy(&target.join("postrider"), &folder.join("postrider"))?;
    for name in OTHER_NAMES {
        workspace::replace(&folder.join(name), |new| Ok(std::os::unix::fs::symlink("postrider", new)?))?;
    }
    Ok(())
}

/// Installs what is neither compiled nor linked.
fn shared(folder: &Path) -> Result<()> {
    for (from, to) in SHARED {
        let to = folder.join(to);
        clear(&to)?;
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
    clear(&folder)?;
    workspace::run(Command::new(workspace::root().join("octave/build")).arg(folder).arg(installation))
}

/// Removes a folder: a file that has left the repository leaves the installation, too.
fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}
