//! The programs of a name space: started, given the signals that the launcher gets, and waited for.
//!
//! Each dies with the launcher, and all are in its process group: what the terminal sends reaches them by itself. A thread of the launcher does for those that
//! were killed what they could not do themselves.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use postrider_ipc::space::Space;
use postrider_os::launch::{self, Ended, Inheritance, Signals};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, getpgrp, kill_process};

use super::{ENV_DIRECTORY, Failure, LIBRARY};
use crate::installation;

/// What is handed on. The terminal sends the first three to all by itself.
const SIGNALS: [i32; 6] =
    [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];
const OF_TERMINAL: usize = 3;

/// Environment variable of the loader: what it loads first.
pub const LD_PRELOAD: &str = "LD_PRELOAD";

/// How often it is tried to look after the dead, if another launcher does.
const CARE: Duration = Duration::from_millis(200);

/// How a command's system calls come to the name space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// By our library, which is loaded into it; those of a static command by a tracer.
    OfLibrary,
    /// Those that are not made by the library come by a tracer.
    All,
}

/// What is loaded before programs.
pub fn library() -> Result<PathBuf, Failure> {
    let library = installation::libraries().map(|folder| folder.join(LIBRARY));
    let library = library.filter(|library| library.exists());
    library.ok_or_else(|| (1, format!("{LIBRARY} is not in this installation")))
}

/// The loader's variable with it.
pub fn preloaded(library: &Path) -> OsString {
    let mut preloaded = library.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(LD_PRELOAD).filter(|others| !others.is_empty()) {
        preloaded.push(":");
        preloaded.push(others);
    }
    preloaded
}

/// What programs are run with. It is made while the process has one thread: signals are received from then on.
pub struct Programs {
    library: PathBuf,
    inheritance: Inheritance,
    signals: Signals,
}

impl Programs {
    /// See above.
    pub fn new() -> Result<Self, Failure> {
        let library = library()?;
        let inheritance = Inheritance::of_this_process();
        let received: Vec<i32> = SIGNALS.into_iter().chain([libc::SIGCHLD]).collect();
        let signals = Signals::receive(&received).map_err(|error| (1, error.to_string()))?;
        Ok(Self { library, inheritance, signals })
    }

    /// Runs a command so many times at once in the name space of a directory, and returns the exit code: that of the first that has failed.
    pub fn run(
        &self,
        directory: &Path,
        (number, calls): (u32, Calls),
        command: &[OsString],
    ) -> Result<i32, Failure> {
        let space = Space::open(directory).map_err(|error| super::failed(directory, &error))?;
        let is_traced = is_traced(&space, calls, &command[0])?;
        care_for(space);
        let start = || match is_traced {
            true => traced_command(command),
            false => Ok(command_with(&self.library, command)),
        };
        let children = started(directory, number, start, &self.inheritance)?;
        Ok(wait_for(children, &self.signals))
    }
}

/// Looks after the dead of a name space, as long as this process lives.
pub fn care_for(space: Space) {
    std::thread::spawn(move || {
        loop {
            space.take_care();
            std::thread::sleep(CARE);
        }
    });
}

/// Whether a command gets a tracer.
#[cfg(target_arch = "x86_64")]
fn is_traced(space: &Space, calls: Calls, program: &OsStr) -> Result<bool, Failure> {
    let is_alone = space.host() == postrider_ipc::space::Host::ALONE;
    match calls {
        Calls::All if !is_alone => Err((2, "--raw-calls: not in a name space of several hosts".to_owned())),
        Calls::All => Ok(true),
        Calls::OfLibrary => Ok(is_alone && super::traced::is_needed(program)),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn is_traced(_: &Space, calls: Calls, _: &OsStr) -> Result<bool, Failure> {
    match calls {
        Calls::All => Err((2, "--raw-calls: not on this processor".to_owned())),
        Calls::OfLibrary => Ok(false),
    }
}

/// This program, which gets a tracer and becomes the command.
fn traced_command(command: &[OsString]) -> Result<Command, Failure> {
    let this = std::env::current_exe().map_err(|error| (1, error.to_string()))?;
    let mut traced = Command::new(this);
    traced.args(["ipc-traced", "--"]).args(command);
    Ok(traced)
}

fn command_with(library: &Path, command: &[OsString]) -> Command {
    let mut with = Command::new(&command[0]);
    with.args(&command[1..]).env(LD_PRELOAD, preloaded(library));
    with
}

fn started(
    directory: &Path,
    number: u32,
    start: impl Fn() -> Result<Command, Failure>,
    inheritance: &Inheritance,
) -> Result<Vec<u32>, Failure> {
    let mut children = Vec::new();
    for _ in 0..number {
        let mut child = start()?;
        child.env(ENV_DIRECTORY, directory);
        if number > 1 {
            child.stdin(Stdio::null());
        }
        launch::tie(&mut child, inheritance.clone());
        child.process_group(getpgrp().as_raw_pid());
        match child.spawn() {
            Ok(child) => children.push(child.id()),
            Err(error) => {
                children.iter().for_each(|pid| send(*pid, libc::SIGKILL));
                return Err(not_started(child.get_program(), &error));
            }
        }
    }
    Ok(children)
}

/// Why a program does not start, with the exit code of a shell.
pub fn not_started(program: &OsStr, error: &std::io::Error) -> Failure {
    let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    (code, format!("cannot start {}: {error}", program.display()))
}

fn send(pid: u32, signal: i32) {
    if let (Some(pid), Some(signal)) = (Pid::from_raw(pid as i32), Signal::from_named_raw(signal)) {
        // Who has just ended needs no signal.
        let _ended = kill_process(pid, signal);
    }
}

fn wait_for(mut children: Vec<u32>, signals: &Signals) -> i32 {
    let by_terminal = if std::io::stdin().is_terminal() { &SIGNALS[..OF_TERMINAL] } else { &[] };
    let mut code = 0;
    loop {
        children.retain(|pid| {
            let Some(ended) = launch::ended(*pid) else { return true };
            let its = match ended {
                Ended::Exited(code) => code,
                Ended::Killed { signal, .. } => 128 + signal,
            };
            code = if code == 0 { its } else { code };
            false
        });
        if children.is_empty() {
            return code;
        }
        let _interrupted = poll(&mut [PollFd::new(signals, PollFlags::IN)], None);
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD && !by_terminal.contains(&signal) {
                children.iter().for_each(|pid| send(*pid, signal));
            }
        }
    }
}
