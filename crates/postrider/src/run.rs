//! `postrider run`: makes a job, starts its ranks, watches over them and cleans up.
//!
//! The order matters: signals are received before the first rank exists, and the guard is posted right after the last one
//! was started, so that no moment is left in which ranks could outlive their launcher.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use clap::FromArgMatches;
use postrider_os::hosts::Placement;
use postrider_os::job::{self, Job, Shape};
use postrider_os::launch::{Inheritance, Signals, die_by, end_after, has_come};
use postrider_os::process::{cores, say_error};
use rustix::process::set_child_subreaper;

use crate::control::Messages;
use crate::directory::{self, JobDirectory};
use crate::flags::{HOST_RANKS_MAX, LaterSection, Run, Section, Transfer, Transport};
use crate::head::{self, Plan};
use crate::hosts::{self, Host};
use crate::launch::{Application, Input, Refusal, Started, Surroundings, pairs};
use crate::other_engine;
use crate::output::Sink;
use crate::overlap;
use crate::ranks::{LocalRanks, allow_descriptors, end, post_guard, programs, start_all};
use crate::report::{TIMED_OUT, not_started};
use crate::supervise::{ENDING_SIGNALS, Outcome, SIGNALS, Supervisor};
use crate::{installation, spawned};

/// How a job is to be watched over and spoken of.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Labels on lines of output.
    pub label: bool,
    /// The time that the job was given.
    pub timeout: Option<Duration>,
    /// When that is over.
    pub deadline: Option<Instant>,
    /// Time between being asked to end and being killed.
    pub grace: Duration,
    /// No word about failures.
    pub quiet: bool,
    /// No word about a rank that ends with a code after `MPI_Finalize`.
    pub codes_are_results: bool,
    /// After how long it is said that all ranks wait for each other; zero for never.
    pub stall: Duration,
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
            say_error(&format!("postrider run: {}", refusal.message));
            refusal.exit_code
        }
    }
}

fn try_run(options: Run, later: Vec<Vec<OsString>>) -> Result<Outcome, Refusal> {
    let Run { label, timeout, grace, quiet, codes_are_results, stall_warning, .. } = options;
    let stall = if quiet { Duration::ZERO } else { stall_warning };
    if options.engine != other_engine::OWN {
        let (section, variables) = (options.section.clone(), variables(&options));
        let applications = applications(section, later, &variables, cores());
        return Err(other_engine::run(&options.engine, &options, applications));
    }
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    let manner = Manner { label, timeout, deadline, grace, quiet, codes_are_results, stall };
    // Until the supervisor keeps the time.
    timeout.into_iter().for_each(|limit| end_after(limit, TIMED_OUT, not_started(limit, quiet)));
    match hosts(&options)? {
        Some(hosts) => head::run(plan(hosts, options, later)?, manner),
        None => {
            let variables = variables(&options);
            let Run { transport, verbose, section, .. } = options;
            let applications = applications(section, later, &variables, cores());
            run_here(HereJob { applications, transport, verbose, parent: None }, manner)
        }
    }
}

/// Variables of all ranks: what options stand for, and what the user sets.
fn variables(options: &Run) -> Vec<(OsString, OsString)> {
    overlap::variables(options).into_iter().chain(pairs(options.genv.clone())).collect()
}

/// The hosts that were asked for, if the job is not just for this one.
fn hosts(options: &Run) -> Result<Option<Vec<Host>>, Refusal> {
    let hosts = match (&options.hosts, &options.hostfile) {
        (Some(list), _) => hosts::parse_list(list).map(Some),
        (None, Some(file)) => hosts::read_file(file).map(Some),
        (None, None) => hosts::allocated(|name| std::env::var(name).ok()),
    };
    hosts.map_err(|error| Refusal::new(2, error))
}

/// What a job over `hosts` is to be.
fn plan(hosts: Vec<Host>, options: Run, later: Vec<Vec<OsString>>) -> Result<Plan, Refusal> {
    let (alone, variables) = (later.is_empty(), variables(&options));
    let Run { transport, transfer, scp, central, section, ssh, host_timeout, verbose, .. } = options;
    let first = section.ranks;
    let mut applications = applications(section, later, &variables, 0);
    if !alone && applications.iter().any(|application| application.ranks == 0) {
        let what = "several programs over several hosts need a number of ranks each (-n)";
        return Err(Refusal::new(2, what));
    }
    let ranks = applications.iter().map(|application| application.ranks).sum();
    let ranks = if alone { first } else { Some(ranks) };
    let (hosts, placement) = hosts::place(hosts, ranks).map_err(|error| Refusal::new(2, error))?;
    if alone {
        applications[0].ranks = placement.ranks();
    }
    let fullest = (0..placement.hosts()).map(|host| placement.ranks_on(host).len()).max();
    fits_one_host(fullest.unwrap_or(0) as i64)?;
    let messages = match (central, transfer, transport) {
        (Some(directory), ..) => Messages::Central(directory.into()),
        (None, Transfer::Scp, _) => Messages::CopiedFiles(words_of(&scp)?),
        (None, Transfer::Ssh, Transport::File) => Messages::Files,
        (None, Transfer::Ssh, Transport::SharedMemory) => Messages::Memory,
    };
    let (remote_shell, silence) = (ssh, host_timeout);
    let inheritance = Inheritance::of_this_process();
    Ok(Plan { hosts, placement, applications, remote_shell, messages, silence, inheritance, verbose })
}

fn words_of(command: &str) -> Result<Vec<String>, Refusal> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        Refusal::new(2, format!("--scp {command:?} is not a command: give a program, perhaps with options"))
    })
}

/// A job on this host.
pub struct HereJob {
    /// Its programs.
    pub applications: Vec<Application>,
    /// How messages travel.
    pub transport: Transport,
    /// Say where each rank runs.
    pub verbose: bool,
    /// The port at which those who spawned it wait, if it was spawned.
    pub parent: Option<String>,
}

/// Runs a job on this host.
pub fn run_here(job: HereJob, manner: Manner) -> Result<Outcome, Refusal> {
    let HereJob { applications, transport, verbose, parent } = job;
    let cores = cores();
    let ranks = fits_one_host(applications.iter().map(|application| i64::from(application.ranks)).sum())?;

    let temporary = std::env::temp_dir();
    directory::have_swept(&temporary);
    let directory = match transport {
        Transport::File => Some(JobDirectory::create(&temporary).map_err(|e| Refusal::new(1, e))?),
        Transport::SharedMemory => None,
    };
    let transport = match transport {
        Transport::File => job::Transport::File,
        Transport::SharedMemory => job::Transport::SharedMemory,
    };
    let ring_bytes = Shape::default_ring_bytes(ranks);
    let shape = Shape { cores, transport, ring_bytes };
    let job = Job::create(shape, &Placement::one_host(ranks), 0).map_err(|error| Refusal::new(1, error))?;

    let standard_input = match &parent {
        Some(_) => Input::Nothing,
        None if io::stdin().is_terminal() => Input::Fed,
        None => Input::Ours,
    };
    let surroundings = Surroundings {
        job: job.environment(),
        parent,
        directory: directory.as_ref().map(|directory| directory.path().to_owned()),
        central: None,
        threads: (cores / ranks).max(1),
        octave_path: installation::octave_path(),
        libraries: installation::libraries(),
        inheritance: Inheritance::of_this_process(),
    };
    let signals = Signals::receive(&SIGNALS).map_err(|error| Refusal::new(1, error))?;
    allow_descriptors(ranks, 0);
    set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| Refusal::new(1, error))?;
    let sinks = Sink::standard().map_err(|error| Refusal::new(1, error))?;
    let mut watched = LocalRanks::new(&job)?;
    watched.notice_stalls(manner.stall);
    let numbers = Vec::from_iter(0..ranks);
    let is_to_end = || has_come(&ENDING_SIGNALS);
    let (started, refusal) = start_all(&numbers, &applications, standard_input, &surroundings, is_to_end);
    // A signal ends those that have been started as it ends a whole job.
    if let Some(refusal) = refusal.filter(|_| !is_to_end()) {
        end(&started);
        return Err(refusal);
    }
    let processes: Vec<(u32, u32)> = (0..).zip(started.iter().map(|rank| rank.pid)).collect();
    let guarded = post_guard(surroundings.job.clone(), temporary);
    let watching = guarded.and_then(|guard| watched.watch(&processes, guard));
    watching.inspect_err(|_| end(&started))?;
    surroundings.parent.iter().for_each(|port| spawned::tell_started(port));
    let mut supervisor = Supervisor::new(watched, programs(&applications), manner, signals, sinks);
    if verbose {
        supervisor.say(&placement(&applications, &surroundings, &started, job.shape()));
    }
    for started in started {
        supervisor.add_streams(Some((started.output, started.error)));
        supervisor.feed(started.input);
    }
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

fn fits_one_host(ranks: i64) -> Result<u32, Refusal> {
    match u32::try_from(ranks) {
        Ok(number) if ranks <= HOST_RANKS_MAX => Ok(number),
        _ => {
            Err(Refusal::new(2, format!("{ranks} ranks are too many: one host has at most {HOST_RANKS_MAX}")))
        }
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
        job::Transport::File | job::Transport::Central => {
            format!("files in {}", surroundings.directory.clone().unwrap_or_default().display())
        }
    };
    let host = postrider_os::process::host_name();
    let (ranks, cores, threads) = (started.len(), shape.cores, surroundings.threads);
    let mut text = format!("postrider: {ranks} ranks on {cores} cores of {host}, messages through {how}\n");
    text += &format!("postrider: OMP_NUM_THREADS={threads} for each rank, unless it is set\n");
    for ((rank, program), started) in programs(applications).iter().enumerate().zip(started) {
        text += &format!("postrider: rank {rank} is process {}: {program}\n", started.pid);
    }
    text
}
