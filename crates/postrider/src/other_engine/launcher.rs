//! The launchers of other libraries: which one it is, and how it is told what a job is to be.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Job;
use crate::launch::Application;

/// A launcher, by its command line.
pub struct Launcher {
    program: PathBuf,
    kind: Kind,
    /// What it says of its version.
    pub version: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// MPICH's, and those of its descendants.
    Hydra,
    /// Open MPI's.
    OpenMpi,
}

impl Launcher {
    /// The launcher `program`, if it is one of those that are known.
    pub fn identify(program: &Path) -> Option<Self> {
        let output = Command::new(program).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let kind = match text {
            _ if text.contains("HYDRA") || text.contains("Intel(R) MPI Library") => Kind::Hydra,
            _ if text.contains("(Open MPI)") => Kind::OpenMpi,
            _ => return None,
        };
        let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
        let version = text.split_whitespace().find(is_number).map(str::to_owned);
        Some(Self { program: std::path::absolute(program).ok()?, kind, version })
    }

    /// The library that it belongs to.
    pub fn library(&self) -> &'static str {
        match self.kind {
            Kind::Hydra => "MPICH",
            Kind::OpenMpi => "Open MPI",
        }
    }

    /// The command that starts a job.
    pub fn command(&self, job: &Job) -> Command {
        let mut command = self.timed(job);
        match self.kind {
            Kind::Hydra => hydra(&mut command, job),
            Kind::OpenMpi => open_mpi(&mut command, job),
        }
        for (number, application) in job.applications.iter().enumerate() {
            if number > 0 {
                command.arg(":");
            }
            command.args(["-n", &application.ranks.to_string()]);
            if let Some(directory) = &application.wdir {
                command.arg("-wdir").arg(directory);
            }
            match self.kind {
                Kind::Hydra => {
                    for (name, value) in &application.variables {
                        command.arg("-env").arg(name).arg(value);
                    }
                }
                Kind::OpenMpi => {
                    for (name, value) in variables(application, job) {
                        command.arg("-x").arg(assignment(name, value));
                    }
                }
            }
            command.arg(&application.program).args(&application.arguments);
        }
        command
    }
}

impl Launcher {
    /// The launcher, ended by another program when the job's time is over: the exit code is 124 then as with Postrider, where
    /// Hydra's own limit would leave 0.
    fn timed(&self, job: &Job) -> Command {
        let Some(limit) = job.timeout else { return Command::new(&self.program) };
        let mut command = Command::new("timeout");
        let seconds = |time: Duration| format!("{:.3}", time.as_secs_f64());
        command.args(["--foreground", "--kill-after", &seconds(job.grace), &seconds(limit)]);
        command.arg(&self.program);
        command
    }
}

/// What Hydra is told about the whole job. Only what all programs have is there for those that are spawned later, too.
fn hydra(command: &mut Command, job: &Job) {
    if job.label {
        command.arg("-l");
    }
    if let Some(hosts) = &job.hosts {
        command.args(["-hosts", &hosts.join(",")]);
    }
    for (name, value) in &job.variables {
        command.arg("-genv").arg(name).arg(value);
    }
}

/// What Open MPI's launcher is told about the whole job. As with Postrider there may be more ranks than cores, and root may
/// run jobs.
fn open_mpi(command: &mut Command, job: &Job) {
    command.args(["--oversubscribe", "--allow-run-as-root"]);
    if job.label {
        command.arg("--tag-output");
    }
    if let Some(hosts) = &job.hosts {
        command.args(["--host", &hosts.join(",")]);
    }
}

/// The variables of one program: the job's unless the program has its own, each once.
fn variables<'a>(application: &'a Application, job: &'a Job) -> Vec<(&'a OsString, &'a OsString)> {
    let mut chosen: Vec<(&OsString, &OsString)> = Vec::new();
    for (name, value) in job.variables.iter().chain(&application.variables) {
        chosen.retain(|(set, _)| *set != name);
        chosen.push((name, value));
    }
    chosen
}

fn assignment(name: &OsStr, value: &OsStr) -> OsString {
    let mut text = name.to_owned();
    text.push("=");
    text.push(value);
    text
}
