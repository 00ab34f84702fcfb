//! Starting this very build of Postrider on other hosts, through `ssh` or what the user has in its place.
//!
//! [`RemoteShell::open`] returns once the program runs on the far side, which [`bootstrap`] brings about: the build is found there, or
//! copied there once. From then on [`Remote`] has nothing but the program's own standard input and output; what the remote shell
//! and the program complain about goes to an anonymous file, from which messages are made, and which needs no thread to read it.
//!
//! Host keys are checked as the user's configuration of `ssh` says. Nothing is asked for (`BatchMode`), nothing is forwarded, and
//! a command line has no secret. Attempts that sshd drops because too many come at once are repeated after pauses that grow, and differ
//! from host to host so that they do not meet again.

mod bootstrap;
mod build;
pub mod pipes;
mod refusals;

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use bootstrap::{Arrived, Failed};
use refusals::Refusal;

pub use build::build_id;
pub use refusals::{harmless, quoted};

/// What `ssh` is told besides the host. Options of the user's own command stand before them, and `ssh` heeds the first.
const OPTIONS: [&str; 11] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=4",
    "ControlMaster=no",
    "ControlPath=none",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
];
/// Connections that are made at the same time; a stock sshd drops some beyond ten that are not yet authenticated.
const AT_ONCE: usize = 8;
/// Attempts at a host whose sshd drops connections, and for how long.
const ATTEMPTS_MAX: u32 = 8;
const ATTEMPTS_LIMIT: Duration = Duration::from_secs(60);
/// The first pause between attempts, and the longest.
const PAUSE: Duration = Duration::from_millis(400);
const PAUSE_MAX: Duration = Duration::from_secs(8);
/// Time that a remote shell has to end after its output has ended.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Bytes of complaints that are used for messages: the last ones.
const COMPLAINTS_BYTES_MAX: u64 = 16 << 10;
/// Bytes of complaints that are kept; a remote shell that says more finds its error output full.
const COMPLAINTS_KEPT_BYTES_MAX: u64 = 1 << 20;

/// How other hosts are reached.
#[derive(Clone, Debug)]
pub struct RemoteShell {
    words: Vec<String>,
    given: bool,
}

/// A program of this build that runs on another host. Whoever has it ends it, by closing its input, and waits for `child`.
#[derive(Debug)]
pub struct Remote {
    /// The remote shell, which ends when the program ends.
    pub child: Child,
    /// The far program's standard input.
    pub input: OwnedFd,
    /// The far program's standard output.
    pub output: OwnedFd,
    /// The build was not on that host and has been copied.
    pub copied: bool,
    /// Time from the start of the remote shell until the program ran.
    pub took: Duration,
    /// What the start-up files of the login shell there have printed.
    pub noise: String,
    complaints: Complaints,
}

impl Remote {
    /// What the remote shell and the far program have written to their error output so far, fit for a terminal.
    pub fn complaints(&self) -> String {
        self.complaints.text()
    }

    /// Closes the program's input, which tells it to end, and waits for that; it is killed if it does not end soon.
    pub fn close(self) {
        let Self { mut child, input, output, .. } = self;
        drop(input);
        end(&mut child, true);
        drop(output);
    }
}

/// The error output of a remote shell: an anonymous file, which cannot grow. Its offset, which the remote shell has as well, says how much was
/// written.
#[derive(Debug)]
struct Complaints(File);

impl Complaints {
    fn new() -> io::Result<Self> {
        let file = rustix::fs::memfd_create("complaints", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&file, COMPLAINTS_KEPT_BYTES_MAX)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK)?;
        Ok(Self(file.into()))
    }

    fn text(&self) -> String {
        let bytes = (&self.0).stream_position().unwrap_or(0).min(COMPLAINTS_KEPT_BYTES_MAX);
        let mut text = vec![0; bytes.min(COMPLAINTS_BYTES_MAX) as usize];
        let read = self.0.read_at(&mut text, bytes.saturating_sub(COMPLAINTS_BYTES_MAX)).unwrap_or(0);
        harmless(&text[..read])
    }
}

impl RemoteShell {
    /// The remote shell that `--ssh` names, or `ssh`. It has to understand the options of `ssh`.
    ///
    /// # Errors
    /// When the command is empty or its quotes are not closed.
    pub fn new(command: Option<&str>) -> Result<Self, String> {
        let words = shlex::split(command.unwrap_or("ssh")).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            format!(
                "--ssh {:?} is not a command: give a program, perhaps with options",
                command.unwrap_or("")
            )
        })?;
        Ok(Self { words, given: command.is_some() })
    }

    /// Runs this build with `arguments` on `host`, and returns once it runs there. This host itself needs no remote shell,
    /// unless the user has named one.
    ///
    /// # Errors
    /// What kept it from running on which host, and what to do about it.
    pub fn open(&self, host: &str, arguments: &[OsString]) -> Result<Remote, String> {
        let begun = Instant::now();
        let mut attempt = 1;
        loop {
            let refusal = match self.attempt(host, arguments) {
                Ok(remote) => return Ok(remote),
                Err(refusal) => refusal,
            };
            let pause = pause(attempt);
            if !refusal.again {
                return Err(refusal.message);
            }
            if attempt == ATTEMPTS_MAX || begun.elapsed() + pause > ATTEMPTS_LIMIT {
                return Err(format!("{}\n  | after {attempt} attempts", refusal.message));
            }
            std::thread::sleep(pause);
            attempt += 1;
        }
    }

    /// [`open`](Self::open) for many hosts, a few at a time, with results in their order. `tell` hears how many are done.
    pub fn open_all(
        &self,
        hosts: &[String],
        arguments: &[OsString],
        mut tell: impl FnMut(usize),
    ) -> Vec<Result<Remote, String>> {
        let mut results: Vec<Option<Result<Remote, String>>> = Vec::new();
        results.resize_with(hosts.len(), || None);
        let next = AtomicUsize::new(0);
        let (done, finished) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(hosts.len()) {
                let (done, next) = (done.clone(), &next);
                scope.spawn(move || {
                    while let Some((number, host)) = take(hosts, next) {
                        let _somebody_listens = done.send((number, self.open(host, arguments)));
                    }
                });
            }
            drop(done);
            for (count, (number, result)) in (1..).zip(finished) {
                results[number] = Some(result);
                tell(count);
            }
        });
        let lost = || Err("a thread has failed".to_owned());
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }

    fn attempt(&self, host: &str, arguments: &[OsString]) -> Result<Remote, Refusal> {
        let here = |what: String| Refusal::final_one(format!("host {host}: {what}"));
        let complaints = Complaints::new().map_err(|error| here(error.to_string()))?;
        let errors = complaints.0.try_clone().map_err(|error| here(error.to_string()))?;
        let mark = format!("{:016x}", random());
        let local = !self.given && is_here(host);
        let mut command = match local {
            true => Command::new(std::env::current_exe().map_err(|error| here(error.to_string()))?),
            false => self.command(host, bootstrap::command(&mark, arguments).map_err(here)?),
        };
        if local {
            command.args(arguments);
        }
        // A group of its own: what a terminal sends to this process is not for the remote shell.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let begun = Instant::now();
        let mut child = command.spawn().map_err(|error| {
            here(format!("{program} cannot be started: {error}; --ssh names the remote shell to use"))
        })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(here("its pipes are missing".to_owned()));
        };
        let mut input = File::from(OwnedFd::from(input));
        let mut output = File::from(OwnedFd::from(output));
        let arrived = match local {
            true => Ok(Arrived::default()),
            false => bootstrap::converse(&mark, &mut input, &mut output),
        };
        match arrived {
            Ok(Arrived { copied, noise }) => {
                let noise = harmless(&noise);
                let (input, output, took) = (input.into(), output.into(), begun.elapsed());
                Ok(Remote { child, input, output, copied, took, noise, complaints })
            }
            Err(failed) => {
                drop(input);
                Err(refusal(host, &failed, &mut child, &complaints))
            }
        }
    }

    /// The remote shell with its options.
    fn command(&self, host: &str, remote: String) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(["-T", "-a", "-x"]);
        for option in OPTIONS {
            command.args(["-o", option]);
        }
        // Brackets are for lists, where colons mean something.
        command.arg(host.replace(['[', ']'], "")).arg(remote);
        command
    }
}

/// The next host that nobody has taken.
fn take<'a>(hosts: &'a [String], next: &AtomicUsize) -> Option<(usize, &'a String)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    hosts.get(number).map(|host| (number, host))
}

/// Ends the remote shell and says why it did not get there.
fn refusal(host: &str, failed: &Failed, child: &mut Child, complaints: &Complaints) -> Refusal {
    let with_quote = |what: &str| {
        let what = harmless(what.as_bytes());
        Refusal::final_one(format!("host {host}: {what}{}", refusals::quoted(&complaints.text())))
    };
    let code = end(child, matches!(failed, Failed::Ended(_)));
    match failed {
        // A login shell may say on either output that it allows nothing.
        Failed::Ended(printed) => {
            let all = [harmless(printed), complaints.text()];
            refusals::explain(host, code, all.join("\n").trim())
        }
        Failed::Said(what) | Failed::Here(what) => with_quote(what),
    }
}

/// Collects the remote shell, which ends by itself or is killed.
fn end(child: &mut Child, by_itself: bool) -> Option<i32> {
    let process = Pid::from_raw(child.id() as i32).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let ended = by_itself
        && process.is_some_and(|process| pipes::ready(process, PollFlags::IN, Instant::now() + END_LIMIT));
    if !ended {
        let _gone_already = child.kill();
    }
    child.wait().ok().and_then(|status| status.code())
}

/// Whether `host` is this host, by a name that says so.
fn is_here(host: &str) -> bool {
    let own = postrider_os::process::host_name();
    let short = own.split('.').next().unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]", &own, short].contains(&host)
}

/// The pause after an attempt: twice the one before, and between half and one and a half of that.
fn pause(attempt: u32) -> Duration {
    let pause = PAUSE.saturating_mul(1 << (attempt - 1).min(16)).min(PAUSE_MAX);
    pause / 2 + pause * (random() % 1000) as u32 / 1000
}

/// Different at each call.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests;
