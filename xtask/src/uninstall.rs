//! `cargo xtask uninstall`: removes what `install` has put into a prefix, by the list that it has left there, and what `mpifort --make-modules` has
//! made in a folder of its own there; and nothing else.

use crate::install;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Remove what `install` has put into a prefix.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder that `install` was given.
    #[arg(long)]
    prefix: PathBuf,
}

/// Removes it.
pub fn run(arguments: &Arguments) -> Result<()> {
    all(&arguments.prefix)
}

/// Removes what the list of the prefix names, and the modules that were made there.
pub fn all(prefix: &Path) -> Result<()> {
    let Some(lines) = install::read(prefix)? else {
        bail!("nothing is installed in {}: there is no {}", prefix.display(), install::LIST);
    };
    let modules = prefix.join(MODULES);
    match std::fs::remove_dir_all(&modules) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing {}", modules.display()));
        }
        _ => {}
    }
    remove(prefix, &lines).map(|_| ())
}

/// Where `mpifort --make-modules` puts what it makes.
const MODULES: &str = "share/postrider/fortran/modules";

/// Removes these files, and then these folders where they are empty. Returns the folders that are not. The list goes last of the files, so
/// that who is interrupted can begin again.
pub fn remove(prefix: &Path, lines: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let (folders, files): (Vec<&String>, Vec<&String>) = lines.iter().partition(|line| line.ends_with('/'));
    let (list, others): (Vec<&String>, Vec<&String>) =
        files.into_iter().partition(|file| *file == install::LIST);
    for file in others.into_iter().chain(list) {
        let path = prefix.join(file);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("removing {}", path.display()));
            }
            _ => {}
        }
    }
    let mut kept = BTreeSet::new();
    // A folder comes after its parent in the order of names, and the prefix itself before all others.
    for folder in folders.into_iter().rev() {
        // Without the dot of the prefix itself, by which the system removes nothing.
        let path: PathBuf = prefix.join(folder).components().collect();
        match std::fs::remove_dir(&path) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => drop(kept.insert(folder.clone())),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("removing {}", path.display()));
            }
            _ => {}
        }
    }
    Ok(kept)
}
