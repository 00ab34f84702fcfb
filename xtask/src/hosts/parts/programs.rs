//! The C programs of `tests/` over h1, h2 and h3, by chapter, each way of transfer. They are right when they say nothing.
//!
//! By default a program runs as it stands, with a rank on each host, and those that have most to do with hosts also with 7 ranks. With
//! `--all` every program runs with 7 ranks too, as it is built against the functions that take MPI_Count, and by scp, which otherwise only
//! a few do, since it takes a process for each message.

use crate::hosts::bed::Options;
use crate::hosts::runner::{Arguments, Case, Way};
use crate::rotation::Rotation;
use crate::test::programs::{self, Build};
use anyhow::Result;

/// What goes by scp without `--all`.
const BY_SCP: &[&str] = &["probe", "status", "synchronous"];
/// What also runs with several ranks on each host without `--all`: each kind of collective, neighbours, windows, and much traffic at once.
const WITH_SEVERAL_ON_A_HOST: &[&str] = &[
    "allgather",
    "alltoall",
    "barrier",
    "bcast",
    "gather_scatter",
    "locks",
    "neighborhood",
    "passive",
    "random_traffic",
    "reduce",
    "threads",
];
/// Ranks of these.
const SEVERAL: usize = 7;
/// What also runs through the central directory with all ranks on one host, where no other host asks for its post.
const ON_ONE_HOST: &[&str] = &["send_modes", "bcast"];

/// How much longer a program may take by scp, where each message takes a process: seven ranks send thousands.
const SCP_PATIENCE: u32 = 5;

/// With `--rotation` one in so many cases runs.
const SHARE: usize = 5;

/// The chapter of files.
const IO: &str = "io";
/// A program whose ranks speak to each other through files while they call no MPI.
const SIGNALS: &str = "progress";

/// What runs, with several ranks on each host, through a central directory that caches names and attributes and refuses locks. The
/// programs of the I/O chapter have their files there, and no messages.
const THROUGH_A_CACHE: &[&str] = &["bcast", "random_traffic", "send_modes"];
/// What that directory is like, as options of postrider-slowfs.
const CACHE: &str = "--cache-ms 1000 --no-locks";

/// The beds, each with its cases.
pub fn plans(arguments: &Arguments) -> Result<Vec<(Options, Vec<Case>)>> {
    let found = programs::find(None, None)?;
    let folder = programs::binaries(None)?;
    let (mut cases, mut through_a_cache) = (Vec::new(), Vec::new());
    for program in found.iter().filter(|program| program.chapter != programs::ANOMALIES) {
        for build in program.builds(&folder) {
            if build.large_count && !arguments.all {
                continue;
            }
            programs::compile(&build, &arguments.prefix().join("bin/mpicc"))?;
            let name = build.name.as_str();
            for &way in &arguments.ways {
                let files_there = way == Way::SharedMemorySsh && build.chapter == IO;
                if files_there || way == Way::Central && THROUGH_A_CACHE.contains(&name) {
                    let place = Place { files: "/central", ..Place::over(SEVERAL) };
                    through_a_cache.push(case(arguments, &build, way, &place));
                }
                let mut ranks = arguments.ranks.clone();
                if arguments.all || way != Way::FileScp && WITH_SEVERAL_ON_A_HOST.contains(&name) {
                    ranks.push(SEVERAL);
                }
                if way != Way::FileScp || arguments.all || BY_SCP.contains(&name) {
                    cases
                        .extend(ranks.iter().map(|&ranks| case(arguments, &build, way, &Place::over(ranks))));
                }
                if way == Way::Central && ON_ONE_HOST.contains(&name) {
                    let on_one = |&ranks: &usize| {
                        let hosts = format!("h1:{ranks}");
                        case(arguments, &build, way, &Place { hosts, ..Place::over(ranks) })
                    };
                    cases.extend(ranks.iter().map(on_one));
                }
            }
        }
    }
    if let Some(word) = &arguments.rotation {
        let rotation = Rotation::of_word(word);
        for (what, all) in [("hosts", &mut cases), ("a cache", &mut through_a_cache)] {
            let share = all.len().div_ceil(SHARE);
            *all = rotation.share(what, std::mem::take(all), share);
        }
    }
    let caching = Options { slow: Some(CACHE.to_owned()), ..Options::default() };
    Ok(vec![(Options::default(), cases), (caching, through_a_cache)])
}

/// Where a program runs.
struct Place {
    ranks: usize,
    hosts: String,
    /// The directory for the files of programs.
    files: &'static str,
}

impl Place {
    /// So many ranks over h1 to h3.
    fn over(ranks: usize) -> Self {
        Self { ranks, hosts: hosts(ranks), files: "/shared" }
    }
}

fn case(arguments: &Arguments, build: &Build, way: Way, place: &Place) -> Case {
    let Place { ranks, hosts, files } = place;
    let level = if build.large_count { "multiple" } else { "single" };
    let level = format!("TEST_THREAD_LEVEL={level}");
    let mut options = vec!["--hosts", hosts, "-x", &level];
    let directory = format!("TMPDIR={files}");
    if build.chapter == IO || build.name == SIGNALS {
        options.extend(["-x", &directory]);
    }
    let command = arguments.launch(&options, Some(way), &[&build.binary.display().to_string()]);
    let one = if hosts.contains(',') { "" } else { " on one host" };
    let name = format!("{}/{} ranks {ranks}{one} {}", build.chapter, build.name, way.name());
    let patience = if way == Way::FileScp { SCP_PATIENCE } else { 1 };
    Case::new(name, move |stage| Ok(stage.run_within(0, &command, stage.limit * patience)?.said_only("")))
}

/// So many ranks on h1 to h3, as evenly as can be.
pub fn hosts(ranks: usize) -> String {
    let on = |host: usize| (ranks + 3 - host) / 3;
    let places = (1..=3).filter(|&host| on(host) > 0).map(|host| format!("h{host}:{}", on(host)));
    places.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::hosts;

    #[test]
    fn ranks_are_spread() {
        assert_eq!(hosts(1), "h1:1");
        assert_eq!(hosts(3), "h1:1,h2:1,h3:1");
        assert_eq!(hosts(7), "h1:3,h2:2,h3:2");
    }
}
