//! One command on a host under a watchdog, and what a run must not leave behind on any host of its bed.
//!
//! Since every host has a PID namespace, /tmp and /dev/shm of its own, what a run leaves there is simply what was not there
//! before it: a [`Snapshot`] is taken before, and compared afterwards. sshd takes a moment to end its sessions after the other
//! side has gone, hence the grace.

use super::bed::Bed;
use crate::test::stacks;
use crate::workspace;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long something may take to disappear after the end of a run.
const GRACE: Duration = Duration::from_secs(20);

/// How many processes of a hanging run are looked at.
const STACKS_MAX: usize = 24;

/// How much of their command lines is shown.
const LETTERS_MAX: usize = 120;

/// The programs of the remote shell, whose stacks say nothing.
const REMOTE_SHELL: [&str; 4] = ["ssh", "sshd:", "sshd-session:", "sh"];

/// A command that runs on a host.
pub struct Running {
    child: Child,
    output: PathBuf,
    error: PathBuf,
    words: String,
}

/// How a command ended, and what it said.
pub struct Ended {
    /// Nothing if it was the watchdog that ended it.
    pub status: Option<ExitStatus>,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub error: String,
    words: String,
}

impl Running {
    /// Starts a command on a host.
    pub fn start(bed: &Bed, host: usize, directory: &Path, command: &[String]) -> Result<Self> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let [output, error] = ["output", "error"].map(|name| bed.scratch().join(format!("{run}.{name}")));
        let mut inside = bed.command(host, directory, command)?;
        inside.stdin(Stdio::null()).stdout(File::create(&output)?).stderr(File::create(&error)?);
        let child = inside.spawn().context("nsenter does not start")?;
        Ok(Self { child, output, error, words: format!("h{host}$ {}", command.join(" ")) })
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// What it has said so far on standard output.
    pub fn output(&self) -> String {
        text(&self.output)
    }

    /// What it has said so far on standard error.
    pub fn complaints(&self) -> String {
        text(&self.error)
    }

    /// Lets it go on after its program was stopped and continued: nsenter, which has started that, stops with it.
    pub fn go_on(&self) -> Result<()> {
        workspace::run(Command::new("kill").args(["-CONT", &self.child.id().to_string()]))
    }

    /// Waits for its end, and makes one when it has not come after `limit`. `before` is what may stay then.
    pub fn wait(mut self, bed: &Bed, before: &Snapshot, limit: Duration) -> Result<Ended> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(2);
        let mut hanging = None;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break Some(status);
            }
            if start.elapsed() > limit {
                hanging = Some(before.stacks(bed));
                before.clear(bed);
                let _ = self.child.kill();
                self.child.wait()?;
                break None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        };
        let (output, mut error) = (self.output(), self.complaints());
        for path in [&self.output, &self.error] {
            std::fs::remove_file(path)?;
        }
        if let Some(stacks) = hanging {
            error += &format!("\nhangs: no end after {} seconds\n{stacks}", limit.as_secs());
        }
        Ok(Ended { status, output, error, words: self.words })
    }
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

impl Ended {
    /// Whether it ended by itself with this exit code.
    pub fn exited(&self, code: i32) -> bool {
        self.status.and_then(|status| status.code()) == Some(code)
    }

    /// What is to be said when something about it is wrong.
    pub fn problem(&self, what: &str) -> String {
        let ended = self.status.map_or("ended by the watchdog".to_owned(), |status| status.to_string());
        format!("{what}\n{}\n{ended}\n--- output\n{}\n--- error\n{}", self.words, self.output, self.error)
    }

    /// What is wrong unless it ended with exit code 0 and said exactly this on standard output, and nothing on the other.
    pub fn said_only(&self, output: &str) -> Option<String> {
        let right = self.exited(0) && self.output.trim() == output.trim() && self.error.is_empty();
        (!right).then(|| self.problem(&format!("expected exit code 0 and {output:?}")))
    }
}

/// The processes and files of all hosts of a bed.
pub struct Snapshot {
    processes: BTreeSet<(usize, u32)>,
    files: BTreeSet<(usize, String)>,
}

impl Snapshot {
    /// What is there now.
    pub fn take(bed: &Bed) -> Self {
        let hosts = 0..=bed.options().hosts;
        let processes =
            hosts.clone().flat_map(|host| processes(bed, host).into_iter().map(move |pid| (host, pid)));
        let files = hosts.flat_map(|host| files(bed, host).into_iter().map(move |name| (host, name)));
        Self { processes: processes.collect(), files: files.collect() }
    }

    /// What is there beyond it, after some time to disappear: one line for each.
    pub fn left(&self, bed: &Bed) -> Vec<String> {
        let start = Instant::now();
        loop {
            let now = Self::take(bed);
            let processes = now.processes.difference(&self.processes);
            let files = now.files.difference(&self.files);
            let stays =
                |(host, pid): &(usize, u32)| format!("stays on h{host}: {}", describe(bed, *host, *pid));
            let lies = |(host, name): &(usize, String)| format!("lies about on h{host}: {name}");
            let left: Vec<String> = processes.map(stays).chain(files.map(lies)).collect();
            if left.is_empty() || start.elapsed() > GRACE {
                return left;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends all processes beyond it and removes the files, so that the next run is not judged by them.
    pub fn clear(&self, bed: &Bed) {
        let now = Self::take(bed);
        for (host, pid) in now.processes.difference(&self.processes) {
            let kill = ["kill", "-9", &pid.to_string()].map(str::to_owned);
            // It may have ended by itself meanwhile.
            let _ = bed.command(*host, Path::new("/"), &kill).and_then(|mut kill| Ok(kill.output()?));
        }
        for (host, name) in now.files.difference(&self.files) {
            let path = bed.root_of(*host).map(|root| root.join(name));
            let _ = path.map(|path| std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path)));
        }
    }

    /// What the processes beyond it are doing, those of ranks first.
    fn stacks(&self, bed: &Bed) -> String {
        let now = Self::take(bed);
        let beyond = now.processes.difference(&self.processes).map(|&(host, pid)| {
            let program = program(bed, host, pid);
            let is_shell = REMOTE_SHELL.contains(&program.as_str());
            (is_shell, program == "postrider", host, pid)
        });
        let beyond: BTreeSet<_> = beyond.collect();
        let mut text = String::new();
        for (number, (is_shell, _, host, pid)) in beyond.into_iter().enumerate() {
            let what = describe(bed, host, pid);
            text += &format!("h{host}: {}\n", what.chars().take(LETTERS_MAX).collect::<String>());
            if number < STACKS_MAX && !is_shell {
                text += &stack(bed, host, pid);
            }
        }
        text
    }
}

/// The processes of a host that run whether there is a job or not: those of `tests/hosts/host.sh`.
fn is_of_the_host(pid: u32, words: &str) -> bool {
    // Slurm's own process for a step goes on for a while where it cannot reach srun.
    let of_slurm = words.starts_with("slurmstepd:");
    let of_ssh = words.starts_with("sshd:") && words.contains("[listener]");
    pid == 1 || words == "sleep infinity" || of_ssh || of_slurm
}

/// The process ids of a host that is up, without those of the host itself and the dead that nobody has asked for yet.
fn processes(bed: &Bed, host: usize) -> Vec<u32> {
    processes_like(bed, host, "")
}

/// Those of its processes whose command line contains this.
pub fn processes_like(bed: &Bed, host: usize, like: &str) -> Vec<u32> {
    let Ok(root) = bed.root_of(host) else { return Vec::new() };
    let entries = std::fs::read_dir(root.join("proc")).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    // Without a command line it is dead, and waits for its parent to ask for it.
    pids.filter(|&pid| {
        let words = words(&root, pid);
        !words.is_empty() && words.contains(like) && !is_of_the_host(pid, &words)
    })
    .collect()
}

/// The command line of a process.
fn words(root: &Path, pid: u32) -> String {
    let line = std::fs::read(root.join(format!("proc/{pid}/cmdline"))).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ").trim_end().to_owned()
}

/// What lies in the directories of a host that jobs may use, by paths from its root.
fn files(bed: &Bed, host: usize) -> Vec<String> {
    let Ok(root) = bed.root_of(host) else { return Vec::new() };
    let in_folder = |folder: &'static str| {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        entries.map(move |entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
    };
    ["tmp", "dev/shm", "var/tmp", "central"].into_iter().flat_map(in_folder).collect()
}

fn describe(bed: &Bed, host: usize, pid: u32) -> String {
    let words = bed.root_of(host).map(|root| words(&root, pid)).unwrap_or_default();
    format!("process {pid} {words}")
}

/// The name of the program of a process.
fn program(bed: &Bed, host: usize, pid: u32) -> String {
    let words = bed.root_of(host).map(|root| words(&root, pid)).unwrap_or_default();
    let path = words.split(' ').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

fn stack(bed: &Bed, host: usize, pid: u32) -> String {
    let output = bed
        .command(host, Path::new("/"), &stacks::command(pid))
        .and_then(|mut gdb| gdb.output().context("gdb"));
    output.map_or_else(
        |error| format!("    no stack: {error}\n"),
        |output| stacks::brief(&String::from_utf8_lossy(&output.stdout), "    "),
    )
}
