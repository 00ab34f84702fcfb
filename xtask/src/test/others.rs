//! What `cargo xtask test --all` runs after the C programs: they once more with MPICH's ABI, and mpi4py's suite with both ABIs, all at every
//! rank count and through each transport; all of them on MPICH; all tests of the crates, all cases over hosts, all programs under valgrind, programs for
//! AArch64 under qemu, all sanitizers, models and checks. Continuous integration runs a part of that only, since it takes hours.

use super::job::Outcome;
use super::report::Report;
use crate::workspace::{self, xtask};
use crate::{environment, valgrind};
use anyhow::Result;

/// Every rank count that mpi4py's suite has tests for.
const MPI4PY: &[&str] = &["mpi4py", "--ranks", "1,2,3,4", "--transport", "shared-memory,file"];

/// Runs them one after the other. They say themselves what is wrong, and each counts as one here.
pub fn run(report: &Report) -> Result<()> {
    let mpich = environment::mpich()?;
    let compiler = |name: &str| mpich.join("bin").join(name).display().to_string();
    let (other, standard) = (compiler("mpicc"), compiler("mpicc_abi"));
    let mut tests = workspace::cargo();
    tests.args(["test", "--workspace", "--quiet"]);
    let suites = [
        ("tests of all crates", vec![tests]),
        ("programs with MPICH's ABI", vec![xtask(&["test", "--all", "--compiler", &other])]),
        (
            "programs compiled with MPICH's header",
            vec![xtask(&["test", "--compiler", &standard, "--chapter", "communicators"])],
        ),
        (
            "programs on MPICH",
            vec![xtask(&["test", "--engine", "mpich", "--ranks", "2", "--watchdog", "20"])],
        ),
        (
            "our I/O on MPICH",
            ["mpich-io", "mpich-preload"]
                .iter()
                .flat_map(|engine| {
                    let standard = xtask(&["test", "--engine", engine, "--watchdog", "60"]);
                    [standard, xtask(&["test", "--engine", engine, "--watchdog", "60", "--compiler", &other])]
                })
                .collect(),
        ),
        ("mpi4py", vec![xtask(MPI4PY)]),
        ("mpi4py's wheel with MPICH's ABI", vec![xtask(&[MPI4PY, &["--wheel"]].concat())]),
        ("hosts", vec![xtask(&["hosts", "test", "--all"])]),
        ("valgrind", valgrind::commands(None)?),
        ("AArch64 under qemu", vec![xtask(&["aarch64"])]),
        ("sanitizer", vec![xtask(&["sanitizer"])]),
        ("models", vec![xtask(&["models", "--always"])]),
        ("checks", vec![xtask(&["check", "--all"])]),
        ("site of the documentation", vec![xtask(&["docs", "--site"])]),
    ];
    for (name, commands) in suites {
        println!("{name} …");
        let all = commands.into_iter().map(|mut command| workspace::run(&mut command));
        let problems: Vec<String> = all.filter_map(Result::err).map(|error| format!("{error:#}")).collect();
        let outcome = match problems.is_empty() {
            true => Outcome::Passed,
            false => Outcome::Failed(format!("{}: see above, before the table", problems.join("; "))),
        };
        report.add("others", name, outcome);
    }
    Ok(())
}
