//! `cargo xtask check`: everything about the code that can be judged without running a test.

use crate::link::Names;
use crate::{exports, functions, link, tidy, workspace};
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};

/// Check formatting, lints, the rules of the house, the header, and the exported names.
#[derive(clap::Args)]
pub struct Arguments {
    /// Lower the recorded exceptions to what they are now. They are never raised.
    #[arg(long)]
    tighten: bool,
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
];

/// Makes all checks, also after one has failed: who mends something wants to know all of it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut failed = 0;
    let rules = tidy::run(arguments.tighten);
    for (name, result) in
        std::iter::once(("rules", rules)).chain(CHECKS.iter().map(|(name, check)| (*name, check())))
    {
        match result {
            Ok(()) => println!("{name}: right"),
            Err(error) => {
                failed += 1;
                println!("{name}: {error:#}");
            }
        }
    }
    println!("{} passed, {failed} failed", CHECKS.len() + 1 - failed);
    ensure!(failed == 0, "{failed} checks fail");
    Ok(())
}

fn lints() -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    workspace::run(workspace::cargo().args(arguments))?;
    // The other ABI is another build of the same source.
    let arguments =
        ["clippy", "--package", "postrider-libmpi", "--features", "mpich", "--quiet", "--", "-D", "warnings"];
    workspace::run(workspace::cargo().args(arguments))
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
