//! Aggregation of an array that is distributed over hosts, with one rank on each: pMatlab's `agg` beside C's `MPI_Gather`.
//!
//! The hosts are those of a bed (`tests/hosts`), so that what lies between them is ssh over a virtual network. Their aggregation is
//! compared with that in C on the same hosts, which sends each byte over one link once.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::super::build::Workshop;
use super::super::engines::{Engine, Place};
use super::super::figures::Task;
use super::super::process::{self, Finished, Outcome};
use super::super::record::{Failure, Run};
use super::fronts::Front;
use crate::hosts::bed::{Bed, Life, Options};
use crate::hosts::runner::remove_dead;

/// How many hosts share an array.
const HOSTS: [u32; 4] = [1, 2, 4, 8];
/// The size of the array.
pub const ARRAY_BYTES: u64 = 1 << 20;
/// The size of the large one.
pub const LARGE_ARRAY_BYTES: u64 = 1 << 30;
const FRONTS: &[Front] = &[Front::C, Front::OctavePmatlab];

/// Adds the times to the session. Without a bed that is noted, and the rest of the session stands.
pub fn measure(run: &mut Run, workshop: &Workshop, engines: &[Engine], large: bool) {
    let fronts: Vec<Front> =
        FRONTS.iter().copied().filter(|&f| engines.contains(&Engine::Front(f))).collect();
    if fronts.is_empty() {
        return;
    }
    let bed = match bed(workshop) {
        Ok(bed) => bed,
        Err(error) => {
            eprintln!("bench: no hosts: {error:#}");
            return run
                .notes
                .push(format!("aggregation was not measured, for there was no bed of hosts: {error:#}"));
        }
    };
    let sizes: &[u64] = if large { &[ARRAY_BYTES, LARGE_ARRAY_BYTES] } else { &[ARRAY_BYTES] };
    let repetitions = run.repetitions;
    for (hosts, &size) in HOSTS.into_iter().flat_map(|hosts| sizes.iter().map(move |size| (hosts, size))) {
        for repetition in 1..=if size == LARGE_ARRAY_BYTES { 1 } else { repetitions } {
            for &front in &fronts {
                let task = Task::of_fronts("aggregation", FRONTS, hosts, (0, &[size]));
                eprintln!("bench: agg of {size} bytes over {hosts} hosts, {}", front.name());
                let finished = start(&bed, workshop, &task, front);
                finished.lines().for_each(|line| run.add(Engine::Front(front), Place::Hosts, &line));
                if finished.outcome != Outcome::Succeeded {
                    run.failures.push(Failure {
                        figure: "agg".into(),
                        engine: Engine::Front(front),
                        place: Place::Hosts,
                        ranks: hosts,
                        repetition,
                        reason: finished.reason(),
                    });
                }
            }
        }
    }
}

fn bed(workshop: &Workshop) -> Result<Bed> {
    remove_dead()?;
    let hosts = HOSTS.into_iter().max().unwrap_or(1) as usize;
    let options = Options { hosts, visible: Some(workshop.prefix.clone()), ..Options::default() };
    let name = format!("bench-{}-octave", std::process::id());
    Bed::start(&name, options, Life::Scoped).context("a bed is needed: see tests/hosts/README.md")
}

fn start(bed: &Bed, workshop: &Workshop, task: &Task, front: Front) -> Finished {
    match command(bed, workshop, task, front) {
        Ok(mut command) => process::run(&mut command, Duration::from_secs(task.limit_s), &workshop.work),
        Err(error) => Finished::not_started(&format!("{error:#}")),
    }
}

fn command(bed: &Bed, workshop: &Workshop, task: &Task, front: Front) -> Result<Command> {
    let list: Vec<String> = (1..=task.ranks).map(|host| format!("h{host}:1")).collect();
    let mut words =
        vec!["env".to_owned(), format!("LD_LIBRARY_PATH={}", workshop.prefix.join("lib").display())];
    words.push(workshop.prefix.join("bin/postrider").display().to_string());
    words.extend(["run".to_owned(), "--hosts".to_owned(), list.join(",")]);
    words.extend(front.program(workshop, "aggregation")?.iter().map(|word| word.display().to_string()));
    if front == Front::C {
        words.extend([
            "--iterations-max".to_owned(),
            "3".to_owned(),
            "--sizes".to_owned(),
            task.arguments[1].clone(),
        ]);
    } else {
        words.extend(front.arguments(task, "aggregation"));
    }
    bed.command(0, Path::new("/shared"), &words)
}
