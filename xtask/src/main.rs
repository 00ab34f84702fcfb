//! All automation of the project. `cargo xtask --help` lists the subcommands; each has a file of its own.
fn main() {}
