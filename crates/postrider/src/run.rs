//! `postrider run`: makes a job, starts its ranks, watches over them and cleans up.
//!
//! The order matters: signals are received before the first rank exists, and the guard is posted right after the last one
//! was started, so that no moment is left in which ranks could outlive their launcher.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::FromArgMatches;
use postrider_os::job::{self, ENV_JOB, Job, Shape};
use postrider_os::launch::{Guard, Signals, die_by, ended};
use postrider_os::process::cores;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_child_subreaper, setrlimit};

use crate::directory::{self, JobDirectory};
use crate::flags::{LaterSection, RANKS_MAX, Run, Section, Transport};
use crate::installation;
use crate::launch::{Application, Input, Refusal, Started, Surroundings, pairs, start};
use crate::output::Sink;
use crate::processes;
use crate::supervise::{Outcome, Supervisor};

/// Descriptors of the launcher for each rank: two pipes and the process.
const DESCRIPTORS_PER_RANK: u64 = 3;

/// How a job is to be watched over and spoken of.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Labels on lines of output.
    pub label: bool,
    /// When the job is over at the latest.
    pub timeout: Option<Duration>,
    /// Time between being asked to end and being killed.
    pub grace: Duration,
    /// No word about failures.
    pub quiet: bool,
}

/// Runs the job and returns the exit code.
pub fn run(options: Run, later: Vec<Vec<OsString>>) -> i32 {
    match try_run(options, later) {
        Ok(Outcome::Code(code)) => code,
        Ok(Outcome::Signal(signal)) => {
            die_by(signal);
            128 + signal
        }
        Err(refusal) => {
            eprintln!("postrider run: {}", refusal.message);
            refusal.exit_code
        }
    }
}

fn try_run(options: Run, later: Vec<Vec<OsString>>) -> Result<Outcome, Refusal> {
    let Run { transport, label, timeout, grace, quiet, verbose, genv, section, .. } = options;
    let manner = Manner { label, timeout, grace, quiet };
    let cores = cores();
    let applications = applications(section, later, &pairs(genv), cores);
    let ranks = total(&applications)?;

    let temporary = std::env::temp_dir();
    directory::sweep(&temporary);
    let directory = match transport {
        Transport::File => Some(JobDirectory::create(&temporary).map_err(|e| Refusal::new(1, e))?),
        Transport::SharedMemory => None,
    };
    let transport = match transport {
        Transport::File => job::Transport::File,
        Transport::SharedMemory => job::Transport::SharedMemory,
    };
    let ring_bytes = Shape::default_ring_bytes(ranks);
    let job =
        Job::create(Shape { ranks, cores, transport, ring_bytes }).map_err(|error| Refusal::new(1, error))?;

    let surroundings = Surroundings {
        job: job.environment(),
        directory: directory.as_ref().map(|directory| directory.path().to_owned()),
        threads: (cores / ranks).max(1),
        octave_path: installation::octave_path(),
    };
    let signals = Signals::receive(&crate::supervise::SIGNALS).map_err(|error| Refusal::new(1, error))?;
    allow_descriptors(ranks);
    set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| Refusal::new(1, error))?;
    let sinks = Sink::standard().map_err(|error| Refusal::new(1, error))?;
    let mut supervisor = Supervisor::new(&job, manner, signals, sinks)?;
    let started = start_all(&applications, &surroundings)?;
    if verbose {
        supervisor.say(&placement(&applications, &surroundings, &started, job.shape()));
    }
    let pids: Vec<u32> = started.iter().map(|rank| rank.pid).collect();
    let value = surroundings.job;
    let guard = Guard::post(move || {
        processes::end_all_with(ENV_JOB, &value);
        directory::sweep(&temporary);
    });
    let guarded = guard.map_err(|error| Refusal::new(1, error));
    let watched = guarded.and_then(|guard| supervisor.watch(started, programs(&applications), guard));
    watched.inspect_err(|_| end(&pids))?;
    Ok(supervisor.supervise())
}

/// The programs of the command line.
fn applications(
    first: Section,
    later: Vec<Vec<OsString>>,
    variables: &[(OsString, OsString)],
    cores: u32,
) -> Vec<Application> {
    let mut applications = vec![Application::new(first, cores, variables)];
    for line in later {
        let matches = <LaterSection as clap::CommandFactory>::command().try_get_matches_from(line);
        let parsed = matches.and_then(|matches| LaterSection::from_arg_matches(&matches));
        let section = parsed.unwrap_or_else(|error| error.exit()).section;
        applications.push(Application::new(section, cores, variables));
    }
    applications
}

fn total(applications: &[Application]) -> Result<u32, Refusal> {
    let total: i64 = applications.iter().map(|application| i64::from(application.ranks)).sum();
    match u32::try_from(total) {
        Ok(ranks) if total <= RANKS_MAX => Ok(ranks),
        _ => Err(Refusal::new(2, format!("{total} ranks are too many: one host has at most {RANKS_MAX}"))),
    }
}

/// The program of each rank.
fn programs(applications: &[Application]) -> Vec<String> {
    let of = |application: &Application| vec![application.program(); application.ranks as usize];
    applications.iter().flat_map(of).collect()
}

fn start_all(applications: &[Application], surroundings: &Surroundings) -> Result<Vec<Started>, Refusal> {
    let mut started = Vec::new();
    let first_input = if io::stdin().is_terminal() { Input::Fed } else { Input::Ours };
    for (number, application) in applications.iter().enumerate() {
        for _ in 0..application.ranks {
            let rank = started.len() as u32;
            let input = if rank == 0 { first_input } else { Input::Nothing };
            match start(application, number, rank, input, surroundings) {
                Ok(rank) => started.push(rank),
                Err(refusal) => {
                    end(&started.iter().map(|rank| rank.pid).collect::<Vec<_>>());
                    return Err(refusal);
                }
            }
        }
    }
    Ok(started)
}

/// Ends ranks of a job that could not be started as a whole, and all that they have started themselves.
fn end(ranks: &[u32]) {
    for &rank in ranks {
        processes::send_to_group(rank, Signal::KILL);
    }
    while postrider_os::launch::has_children() {
        for child in processes::children_of(std::process::id()) {
            processes::send(child, Signal::KILL);
            let _collected_or_later = ended(child);
        }
    }
}

/// Raises the limit of open files if the job needs more; each rank takes a few.
fn allow_descriptors(ranks: u32) {
    let limit = getrlimit(Resource::Nofile);
    let needed = u64::from(ranks) * DESCRIPTORS_PER_RANK + 64;
    if limit.current.is_some_and(|current| current < needed) {
        let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
        let raised = Rlimit { current: Some(raised), maximum: limit.maximum };
        let _pipes_will_say_so = setrlimit(Resource::Nofile, raised);
    }
}

fn placement(
    applications: &[Application],
    surroundings: &Surroundings,
    started: &[Started],
    shape: Shape,
) -> String {
    let how = match shape.transport {
        job::Transport::SharedMemory => "shared memory".to_owned(),
        job::Transport::File => {
            format!("files in {}", surroundings.directory.clone().unwrap_or_default().display())
        }
    };
    let host = postrider_os::process::host_name();
    let (ranks, cores, threads) = (shape.ranks, shape.cores, surroundings.threads);
    let mut text = format!("postrider: {ranks} ranks on {cores} cores of {host}, messages through {how}\n");
    text += &format!("postrider: OMP_NUM_THREADS={threads} for each rank, unless it is set\n");
    for ((rank, program), started) in programs(applications).iter().enumerate().zip(started) {
        text += &format!("postrider: rank {rank} is process {}: {program}\n", started.pid);
    }
    text
}
