//! Whose System V IPC it is, where programs run, and how one is started there.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::super::build::Workshop;
use super::super::engines::{Engine, Place};
use super::figures::{Figure, Task};
use crate::hosts::bed::{Bed, Firewall, Life, Options};
use crate::hosts::runner::remove_dead;
use crate::hosts::watch::Snapshot;

/// System V IPC: of whom, and how molecular dynamics uses it. Single calls are beside messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// Messages of the kernel, in a name space of its own.
    KernelMessages,
    /// Messages of Postrider's layer.
    LayerMessages,
    /// Shared memory and semaphores of the kernel.
    KernelMemory,
    /// Shared memory and semaphores of the layer.
    LayerMemory,
}

impl Means {
    /// The name on the command line, in the results and in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Means::KernelMessages => "kernel-messages",
            Means::LayerMessages => "layer-messages",
            Means::KernelMemory => "kernel-memory",
            Means::LayerMemory => "layer-memory",
        }
    }

    /// Whether messages go through memory.
    pub fn is_memory(self) -> bool {
        matches!(self, Means::KernelMemory | Means::LayerMemory)
    }

    fn is_kernel(self) -> bool {
        matches!(self, Means::KernelMessages | Means::KernelMemory)
    }
}

/// Where processes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// This machine.
    OneHost,
    /// One of its cores.
    OneCore,
    /// Two hosts of a bed, or four.
    TwoHosts,
    /// See above.
    FourHosts,
}

impl Site {
    /// How many hosts there are.
    pub fn hosts(self) -> u32 {
        match self {
            Site::OneHost | Site::OneCore => 1,
            Site::TwoHosts => 2,
            Site::FourHosts => 4,
        }
    }

    /// The place in the results.
    pub fn place(self) -> Place {
        match self {
            Site::OneHost => Place::OneHost,
            Site::OneCore => Place::OneCore,
            Site::TwoHosts => Place::TwoHosts,
            Site::FourHosts => Place::FourHosts,
        }
    }
}

/// A directory that every host sees.
const DIRECTORY: &str = "/shared";
/// Longer messages than the kernel's limit is at first, and queues with room for one.
const LIMITS: [&str; 2] = ["msgmax", "msgmnb"];
const BYTES_MAX: &str = "65536";

/// The hosts of a session, which end with it.
pub struct Hosts<'a> {
    workshop: &'a Workshop,
    bed: Option<(Bed, Snapshot)>,
}

impl<'a> Hosts<'a> {
    /// Brings them up, if more than this machine is needed.
    pub fn start(workshop: &'a Workshop, count: u32) -> Result<Self> {
        if count == 1 {
            return Ok(Hosts { workshop, bed: None });
        }
        eprintln!("bench: bringing up the hosts");
        remove_dead()?;
        let options = Options {
            hosts: count as usize,
            firewall: Firewall::No,
            visible: Some(workshop.prefix.clone()),
            ..Options::default()
        };
        let name = format!("bench-{}-ipc", std::process::id());
        let bed =
            Bed::start(&name, options, Life::Scoped).context("a bed is needed: see tests/hosts/README.md")?;
        let before = Snapshot::take(&bed);
        Ok(Hosts { workshop, bed: Some((bed, before)) })
    }

    /// The command that runs a task with some means.
    pub fn command(&self, task: &Task, engine: Engine) -> Result<Command> {
        let program = self.workshop.binaries(engine).join(task.program(engine));
        if task.site.hosts() > 1 {
            let (bed, _) = self.bed.as_ref().context("there are no hosts")?;
            return bed.command(0, Path::new(DIRECTORY), &self.words_between(task, engine, &text(&program))?);
        }
        let mut command = match engine {
            Engine::Ipc(means) if means.is_kernel() => kernel(),
            Engine::Ipc(_) => self.layer()?,
            other => other.launcher(self.workshop, task.ranks, &[])?,
        };
        command.arg(program);
        if task.site == Site::OneCore {
            command = on_one_core(&command);
        }
        if matches!(engine, Engine::Ipc(_)) && task.figure == Figure::Molecules {
            command.args(["--ranks", &task.ranks.to_string()]);
        }
        command.args(&task.arguments);
        Ok(command)
    }

    fn launcher(&self) -> Result<String> {
        let launcher = self.workshop.prefix.join("bin/postrider");
        ensure!(launcher.exists(), "there is no {}: run `cargo xtask build` first", launcher.display());
        Ok(text(&launcher))
    }

    fn layer(&self) -> Result<Command> {
        let mut command = Command::new(self.launcher()?);
        command.args(["ipc", "run"]);
        for limit in LIMITS {
            command.arg("--limit").arg(format!("{limit}={BYTES_MAX}"));
        }
        Ok(command)
    }

    /// The same between hosts, each with its share of the processes, which a program without MPI is told.
    fn words_between(&self, task: &Task, engine: Engine, program: &str) -> Result<Vec<String>> {
        let (hosts, here) = (task.site.hosts(), task.ranks / task.site.hosts());
        let list =
            |each: &str| (1..=hosts).map(|host| format!("h{host}{each}")).collect::<Vec<_>>().join(",");
        let mut words = vec!["env".to_owned()];
        let at = |folder: &Path| format!("LD_LIBRARY_PATH={}", folder.join("lib").display());
        match engine {
            Engine::Ipc(means) if !means.is_kernel() => {
                words.extend([self.launcher()?, "ipc".to_owned(), "run".to_owned()]);
                words.extend(LIMITS.map(|limit| format!("--limit={limit}={BYTES_MAX}")));
                let share = format!("host=$(hostname); exec \"$@\" --first $(({here} * (${{host#h}} - 1)))");
                words.extend(["--hosts", &list(""), "sh", "-c", &share, "sh"].map(str::to_owned));
            }
            Engine::Postrider => {
                words.extend([at(&self.workshop.prefix), self.launcher()?]);
                words.extend(["run", "--hosts", &list(&format!(":{here}"))].map(str::to_owned));
            }
            Engine::Mpich => {
                let prefix = self.workshop.environment("mpich", "mpich")?;
                words.extend([at(&prefix), text(&prefix.join("bin/mpiexec"))]);
                let (each, ranks) = (here.to_string(), task.ranks.to_string());
                let options = ["-launcher", "ssh", "-hosts", &list(""), "-ppn", &each, "-n", &ranks];
                words.extend(options.map(str::to_owned));
            }
            other => bail!("{} is not measured between hosts", other.name()),
        }
        words.push(program.to_owned());
        if matches!(engine, Engine::Ipc(_)) && task.figure == Figure::Molecules {
            words
                .extend(["--ranks", &task.ranks.to_string(), "--here", &here.to_string()].map(str::to_owned));
        }
        if !matches!((engine, task.figure), (Engine::Ipc(_), Figure::Between)) {
            words.extend(task.arguments.iter().cloned());
        }
        Ok(words)
    }

    /// Ends what a program may have left, and removes its files.
    pub fn clear(&self) {
        if let Some((bed, before)) = &self.bed {
            before.clear(bed);
        }
    }
}

/// The kernel's objects, in a name space of its own with limits of its own.
fn kernel() -> Command {
    let limits = LIMITS.map(|limit| format!("echo {BYTES_MAX} > /proc/sys/kernel/{limit}; ")).concat();
    let mut command = Command::new("unshare");
    command.args(["-Ur", "--ipc", "sh", "-c", &format!("{limits}exec \"$@\""), "sh"]);
    command
}

fn on_one_core(command: &Command) -> Command {
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", "0"]).arg(command.get_program()).args(command.get_args());
    pinned.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    pinned
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
