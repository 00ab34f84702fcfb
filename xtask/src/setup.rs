//! `cargo xtask setup`: the Python environment, complete. What has to be there before this program can be compiled is the
//! business of `scripts/setup`.

use crate::environment::Environment;
use anyhow::Result;

/// Make the Python environment `.venv` of the project, with mpi4py built against `build/`.
#[derive(clap::Args)]
pub struct Arguments {}

/// Makes what is missing.
pub fn run(_: &Arguments) -> Result<()> {
    Environment::prepare().map(|_| ())
}
