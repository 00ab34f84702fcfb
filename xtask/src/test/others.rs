//! What `cargo xtask test --all` runs after the C programs: they once more with MPICH's ABI, and mpi4py's suite with both ABIs, all at every
//! rank count and through each transport; all cases over hosts, all sanitizers, models and checks. Continuous integration runs a part of that only, since
//! it takes hours.

use super::job::Outcome;
use super::report::Report;
use crate::{environment, workspace};
use anyhow::Result;

/// Every rank count that mpi4py's suite has tests for.
const MPI4PY: &[&str] = &["mpi4py", "--ranks", "1,2,3,4", "--transport", "shared-memory,file"];

/// Runs them one after the other. They say themselves what is wrong, and each counts as one here.
pub fn run(report: &Report) -> Result<()> {
    let compiler = environment::mpich()?.join("bin/mpicc").display().to_string();
    let suites = [
        ("programs with MPICH's ABI", vec!["test", "--all", "--compiler", &compiler]),
        ("mpi4py", MPI4PY.to_vec()),
        ("mpi4py's wheel with MPICH's ABI", [MPI4PY, &["--wheel"]].concat()),
        ("hosts", vec!["hosts", "test", "--all"]),
        ("sanitizer", vec!["sanitizer"]),
        ("models", vec!["models", "--always"]),
        ("checks", vec!["check", "--all"]),
    ];
    for (name, arguments) in suites {
        println!("{name} …");
        let status = workspace::xtask(&arguments).status()?;
        let outcome = match status.success() {
            true => Outcome::Passed,
            false => Outcome::Failed(format!("{status}: see above, before the table")),
        };
        report.add("others", name, outcome);
    }
    Ok(())
}
