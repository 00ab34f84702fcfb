//! The tests of the crates with unsafe code under AddressSanitizer: no access to memory that is freed, foreign or beyond its end. It takes an option of the
//! compiler that is not stable yet, and a build of everything for it.

use std::process::Command;

use anyhow::{Context, Result};

use crate::rotation::Rotation;
use crate::workspace;

/// Run unit tests under AddressSanitizer.
#[derive(clap::Args)]
pub struct Arguments {
    /// Those of one crate only, which this word chooses; see `cargo xtask verify`.
    #[arg(long, value_name = "WORD")]
    rotation: Option<String>,
}

const PACKAGES: &[&str] = &["postrider-os", "postrider-engine", "postrider-io"];

/// Runs them.
pub fn run(arguments: &Arguments) -> Result<()> {
    let packages = match &arguments.rotation {
        None => PACKAGES.to_vec(),
        Some(word) => Rotation::of_word(word).share("sanitizer", PACKAGES.to_vec(), 1),
    };
    let mut command = workspace::cargo();
    command.args(["test", "--quiet", "--lib", "--target", &host()?]);
    for package in packages {
        command.args(["--package", package]);
    }
    command.env("CARGO_TARGET_DIR", workspace::target()?.join("sanitizer"));
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
    // Damaged inputs by the thousand are for the tests without it.
    workspace::run(command.env("PROPTEST_CASES", "32"))
}

/// The kind of machine that this is, as Rust calls it. A sanitizer is only for what is built for a named one.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").current_dir(workspace::root()).output().context("rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
