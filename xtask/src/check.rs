//! `cargo xtask check`: everything about the code that can be judged without running a test.

use crate::link::Names;
use crate::rotation::Rotation;
use crate::{exports, functions, link, tidy, workspace};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Check formatting, lints, the rules of the house, the header, and the exported names.
#[derive(clap::Args)]
pub struct Arguments {
    /// Lower the recorded exceptions to what they are now. They are never raised.
    #[arg(long)]
    tighten: bool,
    /// Also compile the documentation, and everything with the oldest Rust that is enough.
    #[arg(long)]
    all: bool,
    /// Make each of these two only when it has its turn, which this word chooses; see `cargo xtask verify`.
    #[arg(long, value_name = "WORD", conflicts_with = "all")]
    rotation: Option<String>,
}

/// Compilers and language versions in which the header has to be clean.
const LANGUAGES: &[(&str, &[&str])] =
    &[("cc", &["c89", "c11", "c17"]), ("c++", &["c++98", "c++11", "c++20"])];

type Check = (&'static str, fn() -> Result<()>);

const CHECKS: &[Check] = &[
    ("formatting", || workspace::run(workspace::cargo().args(["fmt", "--all", "--", "--check"]))),
    ("header", header),
    ("exported names", exported_names),
    ("list of functions", functions::check),
    ("lints", lints),
    ("dependencies", dependencies),
];

/// What compiles everything once more.
const SLOW_CHECKS: &[Check] =
    &[("documentation", documentation), ("declared Rust version", declared_version)];
/// With `--rotation` each of these has its turn once in so many times.
const TURNS: u64 = 4;

/// The version of Rust whose lints count, so that a newer one does not turn a right state wrong.
const LINTS_OF: &str = "1.95.0";

/// Licences that a dependency may be used under, one of them for each part of it.
const LICENCES: &[&str] = &["MIT", "Apache-2.0", "Unicode-3.0"];

/// What there is in two versions, since others ask for them.
const TWICE: &[&str] = &["embedded-io", "syn", "windows-link"];

/// Makes all checks, also after one has failed: who mends something wants to know all of it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut failed = 0;
    let rules = tidy::run(arguments.tighten);
    let rotation = arguments.rotation.as_ref().map(Rotation::of_word);
    let has_turn = |name: &str| arguments.all || rotation.as_ref().is_some_and(|word| word.has(name, TURNS));
    let slow = SLOW_CHECKS.iter().filter(|(name, _)| has_turn(name));
    let checks: Vec<&Check> = CHECKS.iter().chain(slow).collect();
    let all = checks.len() + 1;
    let checks = checks.into_iter().map(|(name, check)| (*name, check()));
    for (name, result) in std::iter::once(("rules", rules)).chain(checks) {
        match result {
            Ok(()) => println!("{name}: right"),
            Err(error) => {
                failed += 1;
                println!("{name}: {error:#}");
            }
        }
    }
    println!("{} passed, {failed} failed", all - failed);
    ensure!(failed == 0, "{failed} checks fail");
    Ok(())
}

fn lints() -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    workspace::run(cargo_of(LINTS_OF)?.args(arguments))?;
    // The other ABI is another build of the same source.
    let arguments =
        ["clippy", "--package", "postrider-libmpi", "--features", "mpich", "--quiet", "--", "-D", "warnings"];
    workspace::run(cargo_of(LINTS_OF)?.args(arguments))
}

/// The Cargo of a version of Rust, which is installed where it is missing; the one at hand where rustup does not manage what there is.
fn cargo_of(version: &str) -> Result<Command> {
    let Ok(rustup) = Command::new("rustup").arg("--version").output() else {
        println!("  with the Rust that is installed, not {version}, since there is no rustup");
        return Ok(workspace::cargo());
    };
    ensure!(rustup.status.success(), "rustup --version fails");
    let mut place = Command::new("rustup");
    place.args(["which", "--toolchain", version, "cargo-clippy"]);
    let mut found = place.output()?;
    if !found.status.success() {
        let mut install = Command::new("rustup");
        install.args(["toolchain", "install", version, "--no-self-update", "--profile", "minimal"]);
        workspace::run(install.args(["--component", "clippy"]))?;
        found = place.output()?;
    }
    let program = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
    let folder = program.parent().context("rustup which names no file")?;
    let mut command = Command::new(folder.join("cargo"));
    // Otherwise the Cargo that runs this program would decide which compiler there is.
    let path = std::env::var("PATH").unwrap_or_default();
    command.current_dir(workspace::root()).env("PATH", format!("{}:{path}", folder.display()));
    command.env("CARGO", folder.join("cargo")).env("RUSTUP_TOOLCHAIN", version);
    Ok(command)
}

/// Every link of the documentation leads somewhere.
fn documentation() -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["doc", "--workspace", "--exclude", "postrider-preload", "--no-deps", "--quiet"]);
    command.arg("--document-private-items");
    workspace::run(command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
}

/// Compiles everything with the oldest Rust that Cargo.toml says is enough.
fn declared_version() -> Result<()> {
    let version = concat!(env!("CARGO_PKG_RUST_VERSION"), ".0");
    let mut command = cargo_of(version)?;
    command.args(["check", "--workspace", "--quiet", "--target-dir"]);
    workspace::run(command.arg(workspace::target()?.join("declared-version")))
}

/// What the project depends on comes from crates.io, under a licence that allows it, and in one version.
fn dependencies() -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["metadata", "--format-version=1", "--locked"]);
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let mut names = BTreeSet::new();
    let mut problems = Vec::new();
    for package in packages {
        let word = |what: &str| package[what].as_str().unwrap_or_default();
        let (name, licence, source) = (word("name"), word("license"), word("source"));
        if !is_allowed(licence) {
            problems.push(format!("{name} has the licence {licence:?}"));
        }
        // Without a source it is part of the project.
        if !source.is_empty() && !source.contains("crates.io-index") {
            problems.push(format!("{name} comes from {source}"));
        }
        if !names.insert(name) && !TWICE.contains(&name) {
            problems.push(format!("{name} is there in several versions: cargo tree --duplicates"));
        }
    }
    ensure!(problems.is_empty(), "{}", problems.join("; "));
    Ok(())
}

/// Whether each part of an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` has an alternative that is allowed.
fn is_allowed(licence: &str) -> bool {
    let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|name| LICENCES.contains(&name.trim())))
}

/// Compiles `mpi.h` alone, without a warning, in each language.
fn header() -> Result<()> {
    for (compiler, versions) in LANGUAGES {
        let language = if *compiler == "cc" { "c" } else { "c++" };
        for version in *versions {
            let mut command = Command::new(compiler);
            command.args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]);
            command.arg(format!("-std={version}")).args(["-x", language, "-include"]);
            command.arg(workspace::root().join("include/mpi.h")).arg("/dev/null").stdin(Stdio::null());
            workspace::run(&mut command)?;
        }
    }
    Ok(())
}

/// Compares the names that the built libraries export with those of their ABIs, one by one.
fn exported_names() -> Result<()> {
    for (name, names) in [(link::SONAME, Names::standard()?), (link::MPICH_SONAME, Names::mpich()?)] {
        let library = workspace::installation().join("lib").join(name);
        ensure!(library.exists(), "there is no {}: run `make build` first", library.display());
        exports::check(&library, &names).context("exported names")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn every_part_of_a_licence_counts() {
        assert!(is_allowed("MIT"));
        assert!(is_allowed("Unlicense OR MIT"));
        assert!(is_allowed("MIT/Apache-2.0"));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!is_allowed("GPL-3.0-only"));
        assert!(!is_allowed("MIT AND GPL-3.0-only"));
        assert!(!is_allowed(""));
    }
}
