//! The head of a job over several hosts: `postrider run` with `--hosts`, `--hostfile` or a scheduler's allocation.
//!
//! The head starts an agent on each host ([`remote_shell`](crate::remote_shell)), tells each its part of the job, and from
//! then on is the supervisor of ranks that happen to be elsewhere ([`RemoteRanks`]): output, input, signals, time limits and
//! reports are those of a job on one host. No rank runs under the head itself, not even on its own host.

mod agents;
mod central;
mod cleaners;
mod input;
mod ranks;
mod relays;
mod standstill;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use postrider_os::hosts::Placement;
use postrider_os::job::{ENV_APPLICATION, ENV_CENTRAL, ENV_DIRECTORY, ENV_JOB, ENV_RANK};
use postrider_os::launch::{Inheritance, Signals};
use postrider_os::process::random;

use crate::control::{Assignment, Messages};
use crate::directory::ENV_TEMPORARY;
use crate::hosts::Host;
use crate::launch::{Application, Refusal};
use crate::output::Sink;
use crate::ranks::{allow_descriptors, programs};
use crate::remote_shell::{Remote, RemoteShell};
use crate::run::Manner;
use crate::supervise::{Outcome, SIGNALS, Supervisor};
use agents::Agents;
use central::CentralDirectory;
use cleaners::Cleaners;
use ranks::{Map, RemoteRanks};
use relays::Relays;

/// Descriptors of the head for each host: both pipes of its remote shell, what that complains of, and room for links.
const DESCRIPTORS_PER_HOST: u64 = 8;
/// Connecting to so many hosts takes long enough to say how far it has come.
const HOSTS_WITH_PROGRESS: usize = 8;

/// Variables of the head's environment that are lists of directories, and mean the same on hosts that have these.
const PATHS: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "OCTAVE_PATH"];
/// Further variables that ranks of all hosts have from the head. What follows is the locale, of which each part is a variable.
const VARIABLES: [&str; 5] = ["OMP_NUM_THREADS", "VIRTUAL_ENV", "LANG", "LANGUAGE", "TZ"];
const LOCALE: &str = "LC_";
/// Settings of Postrider are passed on, except what tells one job, host or rank from another.
const SETTINGS: &str = "POSTRIDER_";
const NOT_PASSED: [&str; 5] = [ENV_JOB, ENV_RANK, ENV_DIRECTORY, ENV_CENTRAL, ENV_APPLICATION];

/// A job over several hosts, as the command line wants it.
pub struct Plan {
    /// The hosts, in the order of their numbers.
    pub hosts: Vec<Host>,
    /// The host of each rank.
    pub placement: Placement,
    /// The programs.
    pub applications: Vec<Application>,
    /// The remote shell that was given.
    pub remote_shell: Option<String>,
    /// How messages travel.
    pub messages: Messages,
    /// How long a host may be silent.
    pub silence: Duration,
    /// What all ranks have from whoever has started the job.
    pub inheritance: Inheritance,
    /// Say where each rank runs.
    pub verbose: bool,
}

/// Runs the job.
pub fn run(mut plan: Plan, manner: Manner) -> Result<Outcome, Refusal> {
    let shell = RemoteShell::new(plan.remote_shell.as_deref())
        .map_err(|error| Refusal::new(2, format!("--ssh: {error}")))?;
    allow_descriptors(0, plan.hosts.len() as u64 * DESCRIPTORS_PER_HOST);
    let central = central_directory(&mut plan.messages)?;
    // Until all agents run, a signal simply ends the head, and with it the agents.
    let remotes = connect(&shell, &plan.hosts, manner.quiet)?;
    let signals = Signals::receive(&SIGNALS).map_err(|error| Refusal::new(1, error))?;
    let sinks = Sink::standard().map_err(|error| Refusal::new(1, error))?;
    let programs = programs(&plan.applications);
    let agents = Agents::new(remotes, &plan.hosts, &plan.placement, plan.silence)?;
    let ranks = plan.placement.ranks();
    let mut remote =
        RemoteRanks::new(agents, Relays::new(shell.clone())?, Cleaners::new(shell)?, plan.placement.clone());
    if plan.verbose {
        remote.tell_map(Map { programs: programs.clone(), how: plan.messages.text() });
    }
    remote.notice_stalls(manner.stall);
    remote.prepare(assignment(plan, manner.stall)?);
    let mut supervisor = Supervisor::new(remote, programs, manner, signals, sinks);
    (0..ranks).for_each(|_| supervisor.add_streams(None));
    let outcome = supervisor.supervise();
    drop(central);
    Ok(outcome)
}

/// Makes the directory through which messages go, if they go through one.
fn central_directory(messages: &mut Messages) -> Result<Option<CentralDirectory>, Refusal> {
    let Messages::Central(directory) = messages else { return Ok(None) };
    let central = CentralDirectory::create(Path::new(directory))?;
    *directory = central.path().as_os_str().to_owned();
    Ok(Some(central))
}

/// Starts an agent on every host.
fn connect(shell: &RemoteShell, hosts: &[Host], quiet: bool) -> Result<Vec<Remote>, Refusal> {
    let names: Vec<String> = hosts.iter().map(|host| host.name.clone()).collect();
    let shown = std::io::stderr().is_terminal() && !quiet && names.len() > HOSTS_WITH_PROGRESS;
    let results = shell.open_all(&names, &[OsString::from("agent")], |done| {
        if shown {
            eprint!("\rpostrider: {done} of {} hosts are ready", names.len());
        }
    });
    if shown {
        eprint!("\r\x1b[K");
    }
    let mut failures = Vec::new();
    let mut remotes = Vec::with_capacity(names.len());
    for result in results {
        match result {
            Ok(remote) => remotes.push(remote),
            Err(failure) => failures.push(failure),
        }
    }
    match failures.is_empty() {
        true => Ok(remotes),
        false => Err(Refusal::new(1, failures.join("\n"))),
    }
}

/// The part of the plan that all agents have in common.
fn assignment(plan: Plan, stall: Duration) -> Result<Assignment, Refusal> {
    let directory = std::env::current_dir()
        .map_err(|error| Refusal::new(1, format!("the working directory is gone: {error}")))?;
    let value = |name: &str| Some((OsString::from(name), std::env::var_os(name)?));
    let settings = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with(LOCALE) || name.starts_with(SETTINGS) && !NOT_PASSED.contains(&&*name)
    });
    let paths = PATHS.map(|name| (OsString::from(name), path(name).unwrap_or_default()));
    Ok(Assignment {
        key: random().map_err(|error| Refusal::new(1, error))?,
        host: 0,
        hosts: plan.hosts.into_iter().map(|host| host.name).collect(),
        host_of: plan.placement.host_of_each().to_vec(),
        applications: plan.applications,
        working_directory: directory.into(),
        temporary: std::env::var_os(ENV_TEMPORARY),
        variables: VARIABLES.into_iter().filter_map(value).chain(settings).collect(),
        paths: paths.into(),
        messages: plan.messages,
        remote_shell: plan.remote_shell,
        silence: plan.silence,
        inheritance: plan.inheritance,
        stall,
    })
}

fn path(name: &str) -> Option<OsString> {
    let functions = || crate::installation::octave_path();
    if name == "OCTAVE_PATH" { functions().or(std::env::var_os(name)) } else { std::env::var_os(name) }
}
