//! `cargo xtask octave-package`: the package for Octave, for `pkg install`.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::workspace;

/// Makes, of the installation in build/, target/octave/postrider-VERSION.tar.gz, for `pkg install` in Octave.
#[derive(Args)]
pub struct Arguments {}

pub fn run(_: &Arguments) -> Result<()> {
    let (root, out) = (workspace::root(), workspace::root().join("target/octave"));
    workspace::run(Command::new(root.join("octave/package")).arg(out).arg(root.join("build")))
}
