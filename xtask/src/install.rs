//! `cargo xtask install`: copies the installation in `build/` somewhere else.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;

/// Copy the installation that `build` has made to another prefix.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folder that gets bin, include, lib and share; it is made if it does not exist.
    #[arg(long)]
    prefix: PathBuf,
}

/// Parts of an installation.
const PARTS: &[&str] = &["bin", "include", "lib", "share"];

/// Copies `build/` to the prefix. Files of the same names are replaced, others are left alone.
pub fn run(arguments: &Arguments) -> Result<()> {
    let installation = workspace::installation();
    let present = installation.join("lib").join(crate::link::SONAME).exists();
    ensure!(present, "there is nothing in {} yet: run `cargo xtask build` first", installation.display());
    for part in PARTS {
        let from = installation.join(part);
        if from.exists() {
            let to = arguments.prefix.join(part);
            workspace::copy(&from, &to).with_context(|| format!("installing to {}", to.display()))?;
        }
    }
    Ok(())
}
