//! The names of the executable, and the command line that each of them has.
//!
//! Manual pages and completions are made from the commands here: what is hidden is in neither.

use std::ffi::OsString;
use std::path::Path;

use clap::{Command, CommandFactory};

use crate::flags::{Cli, RUN_USAGE};

/// The executable's own name.
pub const OWN: &str = "postrider";
/// Names of the launcher that the MPI standard and users know.
pub const LAUNCHERS: [&str; 2] = ["mpiexec", "mpirun"];
/// Names of the C compiler.
pub const C_COMPILERS: [&str; 1] = ["mpicc"];
/// Names of the C++ compiler.
pub const CXX_COMPILERS: [&str; 2] = ["mpicxx", "mpic++"];
/// Names of the Fortran compiler.
pub const FORTRAN_COMPILERS: [&str; 3] = ["mpifort", "mpif90", "mpif77"];
/// A name that Open MPI has; it is understood and not installed, since some file systems take it for `mpicc`.
const CXX_COMPILER_OF_OTHERS: &str = "mpiCC";

/// All of them.
pub fn all() -> impl Iterator<Item = &'static str> {
    [OWN].into_iter().chain(LAUNCHERS).chain(C_COMPILERS).chain(CXX_COMPILERS).chain(FORTRAN_COMPILERS)
}

/// Spells the command line out when the executable was called by one of its other names.
pub fn spelled_out(mut line: Vec<OsString>) -> Vec<OsString> {
    let called = line.first().and_then(|name| Path::new(name).file_name()?.to_str());
    let Some(subcommand) = called.and_then(subcommand_of) else { return line };
    let asks_version = subcommand == "run" && line.get(1).is_some_and(|a| a == "--version" || a == "-V");
    if !asks_version {
        line.insert(1, subcommand.into());
    }
    line
}

fn subcommand_of(name: &str) -> Option<&'static str> {
    let all = [
        (&LAUNCHERS[..], "run"),
        (&C_COMPILERS, "cc"),
        (&CXX_COMPILERS, "c++"),
        (&FORTRAN_COMPILERS, "fortran"),
        (&[CXX_COMPILER_OF_OTHERS], "c++"),
    ];
    all.into_iter().find(|(names, _)| names.contains(&name)).map(|(_, subcommand)| subcommand)
}

/// The command line of a name, without what only Postrider itself calls.
pub fn command(name: &'static str) -> Command {
    let all = Cli::command();
    let command = match subcommand_of(name).and_then(|subcommand| all.find_subcommand(subcommand)) {
        Some(subcommand) => subcommand.clone().name(name).bin_name(name),
        None => visible(&all),
    };
    let command = command.version(env!("CARGO_PKG_VERSION"));
    match LAUNCHERS.contains(&name) {
        true => command.override_usage(RUN_USAGE.replace("postrider run", name)),
        false => command,
    }
}

fn visible(all: &Command) -> Command {
    let about = all.get_about().cloned().unwrap_or_default();
    let subcommands = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Command::new(OWN)
        .propagate_version(true)
        .about(about)
        .disable_help_subcommand(true)
        .subcommands(subcommands)
}
