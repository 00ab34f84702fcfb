//! `cargo xtask build`: from the sources to a usable installation in `build/`.
//!
//! ```text
//! build/bin/postrider                 the command line
//! build/bin/mpicc, mpicxx, mpic++     links to it: it looks at the name it is called by
//! build/include/mpi.h
//! build/lib/libmpi_abi.so.1, libmpi_abi.so
//! build/share/postrider/octave        the Octave package
//! build/share/postrider/examples
//! ```
//!
//! The folder can be moved or copied as a whole: everything in it finds everything else by relative paths.

use crate::{exports, link, workspace};
use anyhow::{Context, Result};
use std::path::Path;

/// Build everything, and lay out an installation in build/.
#[derive(clap::Args)]
pub struct Arguments {
    /// Build with debug information and assertions, and without optimization across crates.
    #[arg(long)]
    debug: bool,
}

/// Names under which the command line is a compiler.
const COMPILER_NAMES: &[&str] = &["mpicc", "mpicxx", "mpic++"];

/// Folders of the repository that are installed as they are, with their place below share/postrider.
const SHARED: &[&str] = &["octave", "examples"];

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
    let names = workspace::function_names()?;
    let scratch = target.join("link");
    let library = link::link(&target.join("libmpi_abi.a"), &names, &scratch, &installation.join("lib"))?;
    exports::check(&library, &names)?;
    workspace::copy(&workspace::root().join("include/mpi.h"), &installation.join("include/mpi.h"))?;
    programs(&target, &installation.join("bin"))?;
    shared(&installation.join("share/postrider"))
}

/// Installs the command line and its other names.
fn programs(target: &Path, folder: &Path) -> Result<()> {
    workspace::copy(&target.join("postrider"), &folder.join("postrider"))?;
    for name in COMPILER_NAMES {
        workspace::replace(&folder.join(name), |new| Ok(std::os::unix::fs::symlink("postrider", new)?))?;
    }
    Ok(())
}

/// Installs what is neither compiled nor linked. A file that has left the repository leaves the installation, too.
fn shared(folder: &Path) -> Result<()> {
    for name in SHARED {
        let (from, to) = (workspace::root().join(name), folder.join(name));
        if to.exists() {
            std::fs::remove_dir_all(&to).with_context(|| to.display().to_string())?;
        }
        if from.exists() {
            workspace::copy(&from, &to)?;
        }
    }
    Ok(())
}
