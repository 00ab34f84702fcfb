//! The command line of Postrider: `postrider run`, `cc`, `c++`, `env`, `completions`.
//!
//! One executable serves all names: called as `mpiexec` or `mpirun` it is `postrider run`, called as `mpicc`, `mpicxx` or
//! `mpic++` it is the compiler driver. So an installation is this file and a few links to it.
//! Exit codes of its own: 2 for wrong arguments, 126 and 127 as in a shell for programs that cannot be started.
#![deny(unsafe_code)]

mod agent;
mod arguments;
mod compile;
mod control;
mod directory;
mod doctor;
mod environment;
mod flags;
#[cfg(test)]
mod fuzz;
mod head;
mod hosts;
mod installation;
mod launch;
mod links;
mod other_engine;
mod output;
mod post;
mod processes;
mod pulse;
mod ranks;
mod remote_shell;
mod removal;
mod report;
mod run;
mod spawned;
mod stall;
mod standing;
mod supervise;
mod terminal;

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, FromArgMatches};
use flags::{Cli, Subcommand};
use postrider_os::process::say_error;

fn main() {
    let given: Vec<OsString> = std::env::args_os().collect();
    let line = by_name(given);
    if let Some((driver, rest)) = compile::asked_for(&line) {
        std::process::exit(compile::drive(driver, rest));
    }
    let (line, later) = arguments::normalize(line);
    let matches = match Cli::command().try_get_matches_from(line) {
        Ok(matches) => matches,
        Err(error) => error.exit(),
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match cli.command {
        Subcommand::Run(options) => std::process::exit(run::run(*options, later)),
        Subcommand::End { directory } => {
            if let Err(error) = directory::end_job(&directory) {
                say_error(&format!("postrider end: {}: {error}", directory.display()));
                std::process::exit(1);
            }
        }
        Subcommand::Sweep { directory } => directory::sweep(&directory),
        Subcommand::Spawned { port, transport } => std::process::exit(spawned::run(port, transport)),
        Subcommand::Stand(stand) => std::process::exit(standing::stand(stand)),
        Subcommand::Link { directory, from } => std::process::exit(links::link(&directory, from)),
        Subcommand::Agent => std::process::exit(agent::agent()),
        Subcommand::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "postrider", &mut std::io::stdout());
        }
        Subcommand::Env(options) => std::process::exit(environment::print(&options)),
        Subcommand::Doctor(options) => std::process::exit(doctor::run(&options)),
        Subcommand::Examine => std::process::exit(doctor::examine()),
        Subcommand::Build => println!("{}", remote_shell::build_id()),
        // Handled before, because every argument is the compiler's own.
        Subcommand::Cc { .. } | Subcommand::Cxx { .. } => std::process::exit(2),
    }
}

/// Spells the command line out when the executable was called by one of its other names.
fn by_name(mut line: Vec<OsString>) -> Vec<OsString> {
    let called = line.first().and_then(|name| Path::new(name).file_name()?.to_str().map(str::to_owned));
    let subcommand = match called.as_deref() {
        Some("mpiexec" | "mpirun") => "run",
        Some("mpicc") => "cc",
        Some("mpicxx" | "mpic++" | "mpiCC") => "c++",
        _ => return line,
    };
    let asks_version = subcommand == "run" && line.get(1).is_some_and(|a| a == "--version" || a == "-V");
    if !asks_version {
        line.insert(1, subcommand.into());
    }
    line
}
