//! The command line of Postrider: `postrider run`, `cc`, `c++`, `fortran`, `ipc`, `doctor`, `info`, `env`, `completions`.
//!
//! One executable serves all names (`names`): called as `mpiexec` or `mpirun` it is `postrider run`, called as `mpicc`, `mpicxx` or
//! `mpic++`, or `mpifort`, it is the compiler driver. So an installation is this file and a few links to it.
//! Exit codes of its own: 2 for wrong arguments, 126 and 127 as in a shell for programs that cannot be started.
#![deny(unsafe_code)]

mod agent;
mod arguments;
mod colours;
mod compile;
mod completions;
mod control;
mod directory;
mod doctor;
mod environment;
mod flags;
#[cfg(test)]
mod fuzz;
mod head;
mod hosts;
mod info;
mod installation;
mod ipc;
mod launch;
mod links;
mod manual;
mod modules;
mod names;
mod other_engine;
mod output;
mod overlap;
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

use clap::{CommandFactory, FromArgMatches};
use flags::{Cli, Subcommand};
use postrider_os::process::say_error;

fn main() {
    let given: Vec<OsString> = std::env::args_os().collect();
    let line = names::spelled_out(given);
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
        Subcommand::Ipc(command) => std::process::exit(ipc::ipc(command)),
        Subcommand::IpcServe { name, numbers, home, names, limits, command } => {
            let code = ipc::serve(name.as_deref(), &numbers, (home, &names), &limits, &command);
            std::process::exit(code)
        }
        #[cfg(target_arch = "x86_64")]
        Subcommand::IpcTraced { command } => std::process::exit(ipc::become_traced(&command)),
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
        Subcommand::Completions { shell, names } => std::process::exit(completions::print(shell, &names)),
        Subcommand::Manual { directory } => std::process::exit(manual::write(&directory)),
        Subcommand::Info(options) => std::process::exit(info::print(&options)),
        Subcommand::Env(options) => std::process::exit(environment::print(&options)),
        Subcommand::Doctor(options) => std::process::exit(doctor::run(&options)),
        Subcommand::Examine => std::process::exit(doctor::examine()),
        Subcommand::Build => println!("{}", remote_shell::build_id()),
        // Handled before, because every argument is the compiler's own.
        Subcommand::Cc { .. } | Subcommand::Cxx { .. } | Subcommand::Fortran { .. } => std::process::exit(2),
    }
}
