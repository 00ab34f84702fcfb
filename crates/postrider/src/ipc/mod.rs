//! `postrider ipc`: System V IPC in name spaces of one's own.
//!
//! A name space is a private directory in memory (`/dev/shm`, or else `TMPDIR`); the crate `ipc` says what is in it. Programs find it by the variable
//! `POSTRIDER_IPC`, and operate it by `libpostrider_ipc.so`, which is loaded before them. That of `ipc run` is a job's directory, and goes like one.

mod objects;
mod over_hosts;
mod programs;
#[cfg(target_arch = "x86_64")]
mod traced;

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use postrider_ipc::semantics::limits::Limits;
use postrider_ipc::space::{Host, Space};

use crate::directory::{self, JobDirectory};
use crate::flags::{Ipc, IpcCalls, IpcLimits, IpcPlace};
use crate::removal::remove_until;
use programs::{Calls, Programs};

/// Environment variable: the directory of the name space.
pub const ENV_DIRECTORY: &str = "POSTRIDER_IPC";
/// What is loaded before programs.
pub const LIBRARY: &str = "libpostrider_ipc.so";
/// Where memory is a file system.
const MEMORY: &str = "/dev/shm";

/// What could not be done, and the exit code.
type Failure = (i32, String);

/// Does what was asked for, and returns the exit code.
pub fn ipc(command: Ipc) -> i32 {
    let result = match command {
        Ipc::Run { hosts, limits, calls, command, .. } if hosts.hosts.is_some() => {
            calls.without_tracer().and_then(|()| over_hosts::run(&hosts, &limits, &command))
        }
        Ipc::Run { number, limits, calls, command, .. } => run((number, calls.chosen()), &limits, &command),
        Ipc::Start { name, hosts, limits } if hosts.hosts.is_some() => {
            over_hosts::start(&name, &hosts, &limits)
        }
        Ipc::Start { name, limits, .. } => start(&name, &limits),
        Ipc::Join { name, calls, command } => {
            let programs = directory_of(&name).and_then(|directory| Ok((directory, Programs::new()?)));
            programs.and_then(|(directory, programs)| programs.run(&directory, (1, calls.chosen()), &command))
        }
        Ipc::Stop { name } => stop(&name),
        Ipc::List { place } => opened(&place).map(|space| objects::list(&space)),
        Ipc::Remove { place, all, queues, sets, segments } => {
            let named = [queues, sets, segments];
            opened(&place).and_then(|space| objects::remove(&space, all, &named))
        }
        Ipc::Stat { place } => opened(&place).map(|space| objects::limits(&space)),
    };
    told(result)
}

/// `ipc-serve`.
pub fn serve(
    name: Option<&str>,
    numbers: &[u32],
    on: (Option<u32>, &[String]),
    limits: &IpcLimits,
    command: &[OsString],
) -> i32 {
    told(over_hosts::serve(name, numbers, on, limits, command))
}

/// `ipc-traced`.
#[cfg(target_arch = "x86_64")]
pub fn become_traced(command: &[OsString]) -> i32 {
    told(Err(traced::become_traced(command)))
}

/// The exit code; what has failed is said.
fn told(result: Result<i32, Failure>) -> i32 {
    result.unwrap_or_else(|(code, message)| {
        eprintln!("postrider ipc: {message}");
        code
    })
}

/// Where name spaces are made.
fn base() -> PathBuf {
    let writable = rustix::fs::access(MEMORY, rustix::fs::Access::WRITE_OK).is_ok();
    if writable { PathBuf::from(MEMORY) } else { std::env::temp_dir() }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    (1, format!("{}: {error}", path.display()))
}

fn chosen(limits: &IpcLimits) -> Result<Limits, Failure> {
    let mut chosen = Limits::default();
    for (name, value) in &limits.limits {
        chosen.set(name, *value).map_err(|message| (2, message))?;
    }
    Ok(chosen)
}

impl IpcCalls {
    fn chosen(&self) -> Calls {
        if self.raw_calls { Calls::All } else { Calls::OfLibrary }
    }

    /// Fails if there has to be one.
    fn without_tracer(&self) -> Result<(), Failure> {
        let refused = "--raw-calls: not in a name space of several hosts";
        if self.raw_calls { Err((2, refused.to_owned())) } else { Ok(()) }
    }
}

fn run(how: (u32, Calls), limits: &IpcLimits, command: &[OsString]) -> Result<i32, Failure> {
    let (limits, base) = (chosen(limits)?, base());
    directory::have_swept(&base);
    let job = JobDirectory::create(&base).map_err(|error| (1, error.to_string()))?;
    Space::create(job.path(), limits, Host::ALONE).map_err(|error| failed(job.path(), &error))?;
    Programs::new()?.run(job.path(), how, command)
}

/// The directory that a name stands for.
fn named(name: &str) -> Result<PathBuf, Failure> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || name.len() > 100 || !name.chars().all(is_plain) {
        return Err((2, format!("{name:?} is no name: letters, digits, and - _ . make one")));
    }
    let user = rustix::process::getuid().as_raw();
    Ok(base().join(format!("postrider-ipc-{user}-{name}")))
}

/// The same, of a name space that there is.
fn directory_of(name: &str) -> Result<PathBuf, Failure> {
    let directory = named(name)?;
    match directory::check_ours(&directory) {
        Ok(()) => Ok(directory),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err((1, format!("there is no name space {name}: postrider ipc start --name {name} makes it")))
        }
        Err(error) => Err(failed(&directory, &error)),
    }
}

fn start(name: &str, limits: &IpcLimits) -> Result<i32, Failure> {
    made(name, chosen(limits)?, Host::ALONE).map(|_| 0)
}

/// Makes a name space with a name, or the part of it that a host has.
fn made(name: &str, limits: Limits, host: Host) -> Result<Space, Failure> {
    let directory = new(name)?;
    DirBuilder::new().mode(0o700).create(&directory).map_err(|error| failed(&directory, &error))?;
    Space::create(&directory, limits, host).map_err(|error| {
        // Whoever tries again does not find half of one.
        let _gone = remove_until(&directory, None);
        failed(&directory, &error)
    })
}

/// The directory of a name that no name space has yet.
fn new(name: &str) -> Result<PathBuf, Failure> {
    let directory = named(name)?;
    match directory.exists() {
        true => {
            Err((1, format!("there is a name space {name} already: postrider ipc stop {name} removes it")))
        }
        false => Ok(directory),
    }
}

/// The names of this user's name spaces.
fn names() -> Vec<String> {
    let user = rustix::process::getuid().as_raw();
    let start = format!("postrider-ipc-{user}-");
    let all = std::fs::read_dir(base()).into_iter().flatten().flatten();
    let all = all.filter_map(|entry| Some(entry.file_name().to_str()?.strip_prefix(&start)?.to_owned()));
    let mut names: Vec<String> = all.collect();
    names.sort();
    names
}

/// Whoever waits there is told that what he waits for was removed.
fn stop(name: &str) -> Result<i32, Failure> {
    let directory = directory_of(name)?;
    if let Ok(space) = Space::open(&directory) {
        if space.is_served() {
            return over_hosts::stop(&space);
        }
        objects::remove_all_here(&space);
    }
    remove_until(&directory, None).map_err(|error| failed(&directory, &error))?;
    Ok(0)
}

/// The name space that is meant: by its name, or that of the environment.
fn opened(place: &IpcPlace) -> Result<Space, Failure> {
    let directory = match (&place.name, std::env::var_os(ENV_DIRECTORY)) {
        (Some(name), _) => directory_of(name)?,
        (None, Some(directory)) => directory.into(),
        (None, None) => {
            let there = match names().join(", ") {
                none if none.is_empty() => "there is none that was started".to_owned(),
                names => format!("there are: {names}"),
            };
            return Err((2, format!("which name space? --name says it, or {ENV_DIRECTORY}; {there}")));
        }
    };
    Space::open(&directory).map_err(|error| failed(&directory, &error))
}
