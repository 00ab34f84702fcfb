//! The headline's C program on a bed that was made without the rights of root: a user namespace stands in for them.

use super::programs;
use crate::hosts::bed::Options;
use crate::hosts::runner::{Arguments, Case, Way};
use crate::workspace;
use anyhow::Result;
use std::process::Command;

/// The bed and the cases.
pub fn plan(arguments: &Arguments) -> Result<(Options, Vec<Case>)> {
    let ring = workspace::target()?.join("hosts-programs/ring-rootless");
    std::fs::create_dir_all(ring.parent().expect("it is in a folder"))?;
    let mut compiler = Command::new(arguments.prefix().join("bin/mpicc"));
    workspace::run(compiler.arg(workspace::root().join("examples/c/ring.c")).arg("-o").arg(&ring))?;
    let ring = ring.display().to_string();
    let case = |way: Way| {
        let command = arguments.launch(&["--hosts", &programs::hosts(6)], Some(way), &[&ring]);
        Case::command(format!("ring {}", way.name()), command, |ended| {
            ended.said_only("The sum of the ranks 0 to 5 is 15")
        })
    };
    let options = Options { rootless: true, ..Options::default() };
    Ok((options, arguments.ways.iter().copied().map(case).collect()))
}
