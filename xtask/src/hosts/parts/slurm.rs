//! Programs in a real Slurm over the hosts: a plain `srun` without PMI, and the launcher in an allocation. Each node has a
//! /tmp of its own, and between hosts only port 22 and the ports of Slurm are open.

use crate::environment::Environment;
use crate::hosts::bed::{Firewall, Options};
use crate::hosts::runner::{Arguments, Case};
use crate::workspace;
use anyhow::Result;
use std::process::Command;

/// The bed and the cases.
pub fn plan(arguments: &Arguments) -> Result<(Options, Vec<Case>)> {
    let examples = workspace::root().join("examples");
    let ring = workspace::target()?.join("hosts-programs/ring-slurm");
    std::fs::create_dir_all(ring.parent().expect("it is in a folder"))?;
    let mut compiler = Command::new(arguments.prefix().join("bin/mpicc"));
    workspace::run(compiler.arg(examples.join("c/ring.c")).arg("-o").arg(&ring))?;
    let python = Environment::prepare()?.python().display().to_string();
    let (ring, script) = (ring.display().to_string(), examples.join("python/ring.py").display().to_string());
    let in_allocation = arguments.launch(&[], None, &[&ring]).join(" ");
    let commands = [
        ("srun", format!("exec srun -n 6 {ring}")),
        ("srun over fewer nodes", format!("exec srun -N 2 -n 4 {ring}")),
        ("srun of Python", format!("exec srun -n 6 {python} {script}")),
        ("two steps in an allocation", format!("exec salloc -Q -n 6 sh -c 'srun {ring} && srun {ring}'")),
        ("the launcher in an allocation", format!("exec salloc -Q -n 6 {in_allocation}")),
    ];
    let case = |(name, command): (&'static str, String)| {
        let words = ["sh".to_owned(), "-c".to_owned(), command];
        Case::command(name, words.into(), move |ended| {
            let sum = if name == "srun over fewer nodes" { "0 to 3 is 6" } else { "0 to 5 is 15" };
            let lines: Vec<&str> = ended.output.lines().collect();
            let wanted = if name.starts_with("two") { 2 } else { 1 };
            let right = ended.exited(0)
                && lines.len() == wanted
                && lines.iter().all(|line| *line == format!("The sum of the ranks {sum}"));
            (!right).then(|| ended.problem("expected exit code 0 and the sum"))
        })
    };
    let options = Options { firewall: Firewall::Slurm, slurm: true, ..Options::default() };
    Ok((options, commands.into_iter().map(case).collect()))
}
