//! Programs in a real Slurm over the hosts: a plain `srun` without PMI, one with, and the launcher in an allocation. Each node has a
//! /tmp of its own, and between hosts only port 22 and the ports of Slurm are open.
//!
//! For its PMI `srun` listens at any port that the system gives it, whatever `SrunPortRange` says, which the firewall closes. So a case
//! that wants it open has the system take ports from that range.

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
    let (launcher, octave) = (arguments.launcher(), examples.join("octave/ring.m").display().to_string());
    let in_allocation = arguments.launch(&[], None, &[&ring]).join(" ");
    let commands = [
        ("srun", format!("exec srun -n 6 {ring}")),
        ("srun over fewer nodes", format!("exec srun -N 2 -n 4 {ring}")),
        ("srun of Python", format!("exec srun -n 6 {python} {script}")),
        ("srun of Octave", format!("eval \"$({launcher} env)\" && exec srun -n 6 octave {octave}")),
        ("two steps in an allocation", format!("exec salloc -Q -n 6 sh -c 'srun {ring} && srun {ring}'")),
        ("the launcher in an allocation", format!("exec salloc -Q -n 6 {in_allocation}")),
        ("srun with PMI on one node", format!("exec srun --mpi=pmi2 -N 1 -n 2 {ring}")),
        ("srun with PMI, its port closed", format!("{CLOSED_PORTS} && exec srun --mpi=pmi2 -n 6 {ring}")),
        (
            "srun with PMI, no common directory",
            format!("cd / && {OPEN_PORTS} && exec srun --mpi=pmi2 -n 6 {ring}"),
        ),
    ];
    let case = |(name, command): (&'static str, String)| {
        let words = ["sh".to_owned(), "-c".to_owned(), command];
        Case::command(name, words.into(), move |ended| {
            let sum = match name {
                "srun over fewer nodes" => "0 to 3 is 6",
                "srun with PMI on one node" => "0 to 1 is 1",
                _ => "0 to 5 is 15",
            };
            let lines: Vec<&str> = ended.output.lines().collect();
            let wanted = if name.starts_with("two") { 2 } else { 1 };
            let right = ended.exited(0)
                && lines.len() == wanted
                && lines.iter().all(|line| *line == format!("The sum of the ranks {sum}"));
            (!right).then(|| ended.problem("expected exit code 0 and the sum"))
        })
    };
    let options = Options { firewall: Firewall::Slurm, slurm: true, ..Options::default() };
    let mut cases: Vec<Case> = commands.into_iter().map(case).collect();
    cases.push(apart("no common directory", &format!("exec srun -K -n 6 {ring}")));
    cases.push(apart(
        "no common directory, and PMI's port closed",
        &format!("exec srun -K --mpi=pmi2 -n 6 {ring}"),
    ));
    Ok((options, cases))
}

/// Has the system of h0 choose ports among those that the firewall leaves open.
const OPEN_PORTS: &str = "echo 60001 63000 >/proc/sys/net/ipv4/ip_local_port_range";
/// The opposite, as it is at first.
const CLOSED_PORTS: &str = "echo 32768 60000 >/proc/sys/net/ipv4/ip_local_port_range";

/// Hosts that cannot meet: one of them says for whom it waits, and later it is an error.
fn apart(name: &'static str, command: &str) -> Case {
    let script = format!("cd / && {CLOSED_PORTS} && export POSTRIDER_JOIN_TIMEOUT=4 && {command}");
    Case::command(name, ["sh".to_owned(), "-c".to_owned(), script].into(), |ended| {
        let lines = |text: &str| ended.error.lines().filter(|line| line.contains(text)).count();
        let right = !ended.exited(0)
            && lines("postrider: host h1 waits for hosts h2, h3") == 1
            && lines(" waits for ") == 1
            && lines("POSTRIDER_RENDEZVOUS") > 1
            && lines("has not met") > 0;
        (!right).then(|| ended.problem("expected one line on who is missing, and errors"))
    })
}
