//! Programs with much traffic while the processes of their job are stopped for moments, at random, on all hosts: whoever relies on the
//! speed of another, or forgets to look again, is found out.

use std::path::Path;
use std::process::{Child, Stdio};

use super::programs;
use crate::hosts::bed::{self, Bed, Options};
use crate::hosts::runner::{Arguments, Case, Stage, Way};
use crate::hosts::watch::Ended;
use crate::test::programs::{Build, binaries, compile, find};
use anyhow::{Context, Result};

/// The programs, and how often each runs.
const PROGRAMS: &[&str] = &["ordering", "random_traffic"];
const ROUNDS: usize = 2;
/// With `--all`.
const ALL_ROUNDS: usize = 100;
/// The ways on which nobody has to be started for each message.
const WAYS: [Way; 3] = [Way::SharedMemorySsh, Way::FileSsh, Way::Central];

/// The bed, and its cases.
pub fn plan(arguments: &Arguments) -> Result<(Options, Vec<Case>)> {
    let folder = binaries(None)?;
    let mut cases = Vec::new();
    for program in find(None, None)? {
        let is_wanted = |build: &Build| !build.large_count && PROGRAMS.contains(&build.name.as_str());
        for build in program.builds(&folder).into_iter().filter(is_wanted) {
            compile(&build, &arguments.prefix().join("bin/mpicc"))?;
            let binary = build.binary.display().to_string();
            let rounds = if arguments.all { ALL_ROUNDS } else { ROUNDS };
            for (way, &ranks) in
                WAYS.into_iter().flat_map(|way| arguments.ranks.iter().map(move |n| (way, n)))
            {
                let command = arguments.launch(&["--hosts", &programs::hosts(ranks)], Some(way), &[&binary]);
                let binary = binary.clone();
                let name = format!("{} ranks {ranks} {}", build.name, way.name());
                cases.push(Case::new(name, move |stage| {
                    for _ in 0..rounds {
                        if let Some(problem) = paused(stage, &command, &binary)?.said_only("") {
                            return Ok(Some(problem));
                        }
                    }
                    Ok(None)
                }));
            }
        }
    }
    Ok((Options::default(), cases))
}

/// Runs a command on h0 while processes of its job are stopped on all other hosts.
fn paused(stage: &Stage<'_>, command: &[String], program: &str) -> Result<Ended> {
    let hosts = 1..=stage.bed.options().hosts;
    let pauses = hosts.map(|host| Pauses::begin(stage.bed, host, program)).collect::<Result<Vec<_>>>()?;
    let ended = stage.run(0, command);
    drop(pauses);
    ended
}

/// The process that stops others on one host. When dropped it lets all of them go on.
struct Pauses(Child);

impl Pauses {
    fn begin(bed: &Bed, host: usize, program: &str) -> Result<Self> {
        let words = [bed::scripts().join("pauses.sh").display().to_string(), program.to_owned()];
        let mut command = bed.command(host, Path::new("/"), &words)?;
        command.stdin(Stdio::piped());
        Ok(Self(command.spawn().context("nsenter does not start")?))
    }
}

impl Drop for Pauses {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // The watchdog may have ended it with a job that hangs.
        let _ = self.0.wait();
    }
}
