//! `postrider doctor`: what keeps jobs from running here, or on other hosts, and what to do about it.
//!
//! Other hosts are reached exactly as a job reaches them, so that what works here works there. The far end is
//! `postrider examine` of the same build; this machine's own facts come from the same code. Hosts are reached a few at a time, and their
//! pipes are measured one after the other, so that none is in the way of another.

pub mod facts;
mod findings;
mod probe;
mod report;

use std::io::{IsTerminal, Write};

use serde::Serialize;

use crate::flags::Doctor;
use crate::hosts::{self, Host};
use crate::ranks::allow_descriptors;
use crate::remote_shell::{Remote, RemoteShell};
use facts::Facts;
use findings::{Finding, Level};
use probe::{Pipe, Reached};

/// Descriptors for each host: its pipes, their copies while they are measured, and what the remote shell complains of.
const DESCRIPTORS_PER_HOST: u64 = 8;

/// A host that is examined, and what has been found.
#[derive(Debug, Serialize)]
struct Patient {
    host: String,
    facts: Option<Facts>,
    /// From the start of the remote shell until Postrider ran there.
    connect_ms: Option<u64>,
    /// Whether the build had to be copied.
    copied: bool,
    /// What start-up files print.
    noise: String,
    pipe: Option<Pipe>,
    reached: Vec<Reached>,
    findings: Vec<Finding>,
}

impl Patient {
    fn new(host: &str) -> Self {
        let (copied, noise, reached, findings) = (false, String::new(), Vec::new(), Vec::new());
        Self {
            host: host.to_owned(),
            facts: None,
            connect_ms: None,
            copied,
            noise,
            pipe: None,
            reached,
            findings,
        }
    }

    /// Notes that the connection did not hold.
    fn lose(&mut self, doing: &str, error: &str, remote: &Remote) {
        let complaints = remote.complaints();
        let last = complaints.lines().last().map_or(String::new(), |line| format!(" ({line})"));
        let what = format!("while {doing}: {error}{last}");
        self.findings.push(Finding::wrong(what, format!("see whether `ssh {}` stays connected", self.host)));
    }

    fn is_well(&self) -> bool {
        self.findings.iter().all(|finding| finding.level != Level::Wrong)
    }
}

/// `postrider doctor`: returns the exit code.
pub fn run(options: &Doctor) -> i32 {
    match try_run(options) {
        Ok(well) => i32::from(!well),
        Err(message) => {
            eprintln!("postrider doctor: {message}");
            2
        }
    }
}

/// `postrider examine`: returns the exit code.
pub fn examine() -> i32 {
    match probe::serve() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("postrider examine: {error}");
            1
        }
    }
}

fn try_run(options: &Doctor) -> Result<bool, String> {
    let shell = RemoteShell::new(options.ssh.as_deref())?;
    let here = Facts::of_here();
    let patients = match hosts_of(options)? {
        None => {
            let findings = findings::of_facts(&here);
            vec![Patient { facts: Some(here), findings, ..Patient::new("localhost") }]
        }
        Some(hosts) => examine_all(&shell, hosts, options, &here),
    };
    let text = match options.json {
        true => report::json(&patients)?,
        false if options.hosts.is_none() && options.hostfile.is_none() => report::of_here(&patients[0]),
        false => report::table(&patients, options.mesh),
    };
    // Whoever reads no further does not want to know more.
    let _read_or_not = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(patients.iter().all(Patient::is_well))
}

fn hosts_of(options: &Doctor) -> Result<Option<Vec<String>>, String> {
    let hosts = match (&options.hosts, &options.hostfile) {
        (Some(list), _) => hosts::parse_list(list)?,
        (None, Some(file)) => hosts::read_file(file)?,
        (None, None) => return Ok(None),
    };
    let once: Vec<Host> = hosts::merged(hosts);
    Ok(Some(once.into_iter().map(|host| host.name).collect()))
}

fn examine_all(shell: &RemoteShell, hosts: Vec<String>, options: &Doctor, here: &Facts) -> Vec<Patient> {
    let progress = std::io::stderr().is_terminal();
    let tell = |done: usize| {
        if progress {
            let end = if done == hosts.len() { "\r\x1b[K" } else { "" };
            eprint!("\rpostrider doctor: {done} of {} hosts{end}", hosts.len());
        }
    };
    allow_descriptors(0, hosts.len() as u64 * DESCRIPTORS_PER_HOST);
    let results = shell.open_all(&hosts, &["examine".into()], tell);
    let mut patients: Vec<Patient> = hosts.iter().map(|host| Patient::new(host)).collect();
    let mut remotes: Vec<Option<Remote>> = Vec::new();
    for (patient, result) in patients.iter_mut().zip(results) {
        remotes.push(result.map_err(|error| patient.findings.push(Finding::wrong(error, ""))).ok());
    }
    each(&mut patients, &mut remotes, "examining it", |patient, remote| {
        patient.connect_ms = Some(remote.took.as_millis() as u64);
        patient.copied = remote.copied;
        patient.noise.clone_from(&remote.noise);
        patient.facts = Some(probe::facts(remote)?);
        Ok(())
    });
    if options.mesh {
        // All hosts are asked before the first answer is read, so that they work at the same time.
        each(&mut patients, &mut remotes, "asking it to reach others", |patient, remote| {
            let others = hosts.iter().filter(|host| **host != patient.host).cloned().collect();
            probe::send_to(remote, others, options.ssh.as_deref()).map_err(|error| error.to_string())
        });
        each(&mut patients, &mut remotes, "it reached others", |patient, remote| {
            patient.reached = probe::reached(remote)?;
            Ok(())
        });
    }
    each(&mut patients, &mut remotes, "measuring the connection", |patient, remote| {
        patient.pipe = Some(probe::measure(remote).map_err(|error| error.to_string())?);
        Ok(())
    });
    remotes.into_iter().flatten().for_each(Remote::close);
    for patient in &mut patients {
        let own = patient.facts.as_ref().map(findings::of_facts).unwrap_or_default();
        let more = findings::of_connection(patient, here);
        patient.findings.extend(own.into_iter().chain(more));
        patient.findings.sort_by_key(|finding| finding.level);
    }
    patients
}

/// Takes one step with each host that is still there. One with which it fails is given up.
fn each(
    patients: &mut [Patient],
    remotes: &mut [Option<Remote>],
    doing: &str,
    step: impl Fn(&mut Patient, &mut Remote) -> Result<(), String>,
) {
    for (patient, slot) in patients.iter_mut().zip(remotes) {
        let Some(remote) = slot else { continue };
        if let Err(error) = step(patient, remote) {
            patient.lose(doing, &error, remote);
            slot.take().into_iter().for_each(Remote::close);
        }
    }
}
