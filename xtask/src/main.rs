//! All automation of the project. `cargo xtask --help` lists the subcommands; each has a file of its own, with its arguments
//! and a function `run`.

mod aarch64;
mod bench;
mod build;
mod check;
mod demo;
mod docs;
mod environment;
mod exports;
mod fortran;
mod functions;
mod hosts;
mod install;
mod link;
mod models;
mod mpi4py;
mod octave_package;
mod plant;
mod rotation;
mod sanitizer;
mod setup;
mod test;
mod tidy;
mod toolbox;
mod uninstall;
mod valgrind;
mod verify;
mod workspace;

use clap::{Parser, Subcommand};

/// Builds, installs, checks and measures the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Aarch64(aarch64::Arguments),
    Bench(bench::Arguments),
    Build(build::Arguments),
    Check(check::Arguments),
    Demo(demo::Arguments),
    Docs(docs::Arguments),
    Fortran(fortran::tests::Arguments),
    Functions(functions::Arguments),
    Hosts(hosts::Arguments),
    Install(install::Arguments),
    Models(models::Arguments),
    Mpi4py(mpi4py::Arguments),
    OctavePackage(octave_package::Arguments),
    Plant(plant::Arguments),
    Sanitizer(sanitizer::Arguments),
    Setup(setup::Arguments),
    Test(test::Arguments),
    Uninstall(uninstall::Arguments),
    Verify(verify::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Aarch64(arguments) => aarch64::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Build(arguments) => build::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::Fortran(arguments) => fortran::tests::run(&arguments),
        Command::Functions(arguments) => functions::run(&arguments),
        Command::Hosts(arguments) => hosts::run(&arguments),
        Command::Install(arguments) => install::run(&arguments),
        Command::Models(arguments) => models::run(&arguments),
        Command::Mpi4py(arguments) => mpi4py::run(&arguments),
        Command::OctavePackage(arguments) => octave_package::run(&arguments),
        Command::Plant(arguments) => plant::run(&arguments),
        Command::Sanitizer(arguments) => sanitizer::run(&arguments),
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Uninstall(arguments) => uninstall::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
    }
}
