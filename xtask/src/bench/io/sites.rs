//! The directories of a session: in memory, on the disk, and two slow file systems, which are mounted as long as it lasts.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::super::build::Workshop;
use super::super::engines::Place;
use crate::hosts::bed::slowfs;

/// What the slow file systems are like, as options of postrider-slowfs.
pub const SLOW: [&str; 4] = ["--delay-us", "500", "--requests-per-second", "2000"];

/// A slow file system, which ends with its input.
struct Mounted {
    program: Child,
    mountpoint: PathBuf,
}

impl Mounted {
    fn new(folder: &Path, name: &str, options: &[&str]) -> Result<Self> {
        let (source, mountpoint) = (folder.join(format!("{name}-source")), folder.join(name));
        std::fs::create_dir_all(&source)?;
        std::fs::create_dir_all(&mountpoint).with_context(|| mountpoint.display().to_string())?;
        let mut command = Command::new(slowfs()?);
        command.arg(source).arg(&mountpoint).arg("--until-input-ends").args(SLOW).args(options);
        let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = program.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        ensure!(line.contains("is seen at"), "the slow file system is not mounted: it takes /dev/fuse");
        Ok(Mounted { program, mountpoint })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(self.program.stdin.take());
        let _ = self.program.wait();
    }
}

/// Where files are in each place.
pub struct Sites {
    disk: PathBuf,
    slow: Result<Mounted>,
    slow_no_locks: Result<Mounted>,
}

impl Sites {
    /// Makes the directories, and mounts what is to be mounted.
    pub fn start(workshop: &Workshop) -> Result<Self> {
        let disk = workshop.work.join("disk");
        std::fs::create_dir_all(&disk)?;
        let slow = Mounted::new(&workshop.work, "slow", &[]);
        let slow_no_locks = Mounted::new(&workshop.work, "slow-no-locks", &["--no-locks"]);
        for error in [&slow, &slow_no_locks].into_iter().filter_map(|mounted| mounted.as_ref().err()) {
            eprintln!("bench: a place is left out: {error:#}");
        }
        Ok(Sites { disk, slow, slow_no_locks })
    }

    /// The directory of a place that is there.
    pub fn directory(&self, place: Place) -> Option<PathBuf> {
        match place {
            Place::Disk => Some(self.disk.clone()),
            Place::Slow => Some(self.slow.as_ref().ok()?.mountpoint.clone()),
            Place::SlowNoLocks => Some(self.slow_no_locks.as_ref().ok()?.mountpoint.clone()),
            _ => place.directory(),
        }
    }
}

/// Two processes that compute while a program runs, in the place that wants them.
pub struct Busy(Vec<Child>);

impl Busy {
    /// Starts them.
    pub fn beside(place: Place) -> Self {
        let count = if place == Place::TmpfsBusy { 2 } else { 0 };
        let start = |_| Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        Busy((0..count).filter_map(|number| start(number).ok()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
