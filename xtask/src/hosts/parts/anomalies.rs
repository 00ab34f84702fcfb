//! What goes wrong between hosts: agents, sessions of sshd, launchers and hosts that die or stop; hosts that cannot reach each
//! other; a disk that is full on one side. A job ends with an error that names the host, or goes on where it can. In
//! each case nothing may stay on any host.
//!
//! The victim is `tests/anomalies/victim.c` with ranks that wait for ever, four of them on h1 and h2.

use crate::hosts::bed::{self, Firewall, Options};
use crate::hosts::runner::{Arguments, Case, Stage, Way};
use crate::hosts::watch::{self, Ended, Running};
use crate::test::programs;
use crate::workspace;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Beds, each with its cases.
pub fn plans(arguments: &Arguments) -> Result<Vec<(Options, Vec<Case>)>> {
    let folder = programs::binaries(None)?;
    let found = programs::find(Some(programs::ANOMALIES), None)?;
    for build in found.iter().flat_map(|program| program.builds(&folder)) {
        programs::compile(&build, &arguments.prefix().join("bin/mpicc"))?;
    }
    let victim = folder.join(programs::ANOMALIES).join("victim").display().to_string();
    let deadlock = folder.join(programs::ANOMALIES).join("deadlock").display().to_string();
    let ring = folder.join(programs::ANOMALIES).join("ring");
    let mut compiler = Command::new(arguments.prefix().join("bin/mpicc"));
    workspace::run(compiler.arg(workspace::root().join("examples/c/ring.c")).arg("-o").arg(&ring))?;
    // Last those after which a host is back that is not found at once.
    let cases = [slept(arguments, &victim), deadlocks(arguments, &deadlock), deaths(arguments, &victim)];
    let cases = cases.into_iter().flatten().collect();
    let no_keys = Options { keys: false, ..Options::default() };
    let dropping = Options { firewall: Firewall::Peers, ..Options::default() };
    let small = Options { tmp: Some("16m".to_owned()), ..Options::default() };
    Ok(vec![
        (Options::default(), cases),
        (no_keys, vec![reaches(arguments, "hosts without keys among each other", &ring)]),
        (dropping, vec![reaches(arguments, "hosts that drop what others send", &ring)]),
        (small, vec![full_disk(arguments, &victim)]),
    ])
}

/// What is done to a job that runs.
type Harm = fn(&Stage<'_>) -> Result<()>;

fn deaths(arguments: &Arguments, victim: &str) -> Vec<Case> {
    let harms: [(&str, Harm, Harm); 11] = [
        ("an agent is killed", |stage| signal(stage, 2, "postrider agent", "-9"), nothing),
        ("a session of sshd is killed", |stage| signal(stage, 2, "sshd: ", "-9"), nothing),
        ("a link's remote shell is killed", |stage| signal(stage, 1, " h2 exec sh", "-9"), nothing),
        ("a link's far end is killed", |stage| signal(stage, 2, "postrider link", "-9"), nothing),
        ("the launcher is killed", |stage| signal(stage, 0, "postrider run", "-9"), nothing),
        (
            "an agent is stopped",
            |stage| signal(stage, 2, "postrider agent", "-STOP"),
            // It has been ended from outside, or finds out that it is not wanted any more.
            |stage| signal(stage, 2, "postrider agent", "-CONT").or(Ok(())),
        ),
        (
            "a host is taken from the network",
            |stage| stage.bed.plug(2, false),
            |stage| stage.bed.plug(2, true),
        ),
        (
            "a host does not get what others send",
            |stage| drop_what_comes(stage, 2, ""),
            |stage| take_what_comes(stage, 2),
        ),
        (
            "a host does not get what one other sends",
            |stage| drop_what_comes(stage, 2, "ip saddr 10.77.0.2"),
            |stage| take_what_comes(stage, 2),
        ),
        (
            "a link's remote shell is stopped",
            |stage| signal(stage, 1, " h2 exec sh", "-STOP"),
            |stage| signal(stage, 1, " h2 exec sh", "-CONT").or(Ok(())),
        ),
        ("a host dies", |stage| stage.bed.kill_host(2), |stage| stage.bed.start_host(2)),
    ];
    let case = |(name, harm, mend): (&str, Harm, Harm)| {
        let (arguments, victim) = (arguments.clone(), victim.to_owned());
        let killed = name == "the launcher is killed";
        // With files the ranks notice nothing by themselves.
        let way = name.starts_with("a host does not get").then_some(Way::FileSsh);
        Case::new(name, move |stage| {
            let running = start(&arguments, stage, &victim, way)?;
            harm(stage)?;
            let ended = running.wait(stage.bed, stage.before, stage.limit)?;
            mend(stage)?;
            Ok(if killed { None } else { names_host(&ended, "h2") })
        })
    };
    harms.into_iter().map(case).collect()
}

/// Ranks of two hosts that wait for each other are spoken of, whichever way their messages go, and so are jobs that wait for each other; but not
/// one that waits for another which computes.
fn deadlocks(arguments: &Arguments, deadlock: &str) -> Vec<Case> {
    let job = |&way: &Way| {
        let word = "rank 3 in MPI_Recv, for a message from rank 0, tag 7, on ring";
        stalls(arguments, deadlock, (way, "a deadlock", "recv", word))
    };
    let jobs = |&way: &Way| {
        let word = "rank 0 in MPI_Recv, for a message from rank 0, a process of another job, tag 7";
        stalls(arguments, deadlock, (way, "a deadlock between jobs", "spawn", word))
    };
    let silent = |&way: &Way| {
        let (arguments, deadlock) = (arguments.clone(), deadlock.to_owned());
        Case::new(format!("a job that computes and is waited for, {}", way.name()), move |stage| {
            let options = ["--hosts", "h1:2,h2:2", "--stall-warning", "0.5"];
            let running =
                stage.start(0, &arguments.launch(&options, Some(way), &[&deadlock, "elsewhere"]))?;
            let ended = running.wait(stage.bed, stage.before, stage.limit)?;
            let fine = ended.exited(0) && ended.error.is_empty();
            Ok((!fine).then(|| ended.problem("expected exit code 0 and no word")))
        })
    };
    Way::ALL.iter().flat_map(|way| [job(way), jobs(way), silent(way)]).collect()
}

/// A job that waits for ever, and what is said of it.
fn stalls(
    arguments: &Arguments,
    deadlock: &str,
    (way, name, what, word): (Way, &str, &'static str, &'static str),
) -> Case {
    let (arguments, deadlock) = (arguments.clone(), deadlock.to_owned());
    Case::new(format!("{name}, {}", way.name()), move |stage| {
        let options = ["--hosts", "h1:2,h2:2", "--stall-warning", "1"];
        let mut running = stage.start(0, &arguments.launch(&options, Some(way), &[&deadlock, what]))?;
        bed::wait_for("the word", || {
            anyhow::ensure!(running.runs()?, "the job ends: {}", running.complaints());
            Ok(running.complaints().contains("hint").then_some(()))
        })?;
        signal(stage, 0, "postrider run", "-TERM")?;
        let ended = running.wait(stage.bed, stage.before, stage.limit)?;
        let words = ["all ranks have waited", word, "by signal 15 (SIGTERM"];
        let missing = words.into_iter().find(|word| !ended.error.contains(word));
        Ok(missing.map(|word| ended.problem(&format!("nothing says {word:?}"))))
    })
}

/// A launcher that was stopped for longer than hosts wait for it, as a laptop that slept, says so when it goes on.
fn slept(arguments: &Arguments, victim: &str) -> Vec<Case> {
    let ways = [Way::SharedMemorySsh, Way::FileSsh, Way::Central];
    let case = |way: Way| {
        let (arguments, victim) = (arguments.clone(), victim.to_owned());
        Case::new(format!("the launcher is stopped for too long, {}", way.name()), move |stage| {
            let running = start(&arguments, stage, &victim, Some(way))?;
            signal(stage, 0, "postrider run", "-STOP")?;
            bed::wait_for("the end of the agents", || {
                let agents = |host| watch::processes_like(stage.bed, host, "postrider agent");
                Ok((agents(1).is_empty() && agents(2).is_empty()).then_some(()))
            })?;
            signal(stage, 0, "postrider run", "-CONT")?;
            running.go_on()?;
            let ended = running.wait(stage.bed, stage.before, stage.limit)?;
            let told = ["h1, h2", "this launcher was stopped"].iter().all(|word| ended.error.contains(word));
            Ok((!ended.exited(1) || !told).then(|| {
                ended.problem("expected exit code 1, both hosts, and that the launcher was stopped")
            }))
        })
    };
    ways.into_iter().map(case).collect()
}

/// Breaks the network in one direction: what comes to a host over it is dropped, or only what `from` selects.
fn drop_what_comes(stage: &Stage<'_>, host: usize, from: &str) -> Result<()> {
    let rules = format!(
        "add table inet broken\nadd chain inet broken inbound {{ type filter hook input priority -10; }}
         add rule inet broken inbound iifname eth0 {from} drop"
    );
    let words = ["ip", "netns", "exec", &format!("h{host}"), "nft", &rules].map(str::to_owned);
    workspace::run(stage.bed.inside().args(words))
}

/// Mends it.
fn take_what_comes(stage: &Stage<'_>, host: usize) -> Result<()> {
    let host = format!("h{host}");
    workspace::run(stage.bed.inside().args(["ip", "netns", "exec", &host, "nft", "delete table inet broken"]))
}

fn nothing(_: &Stage<'_>) -> Result<()> {
    Ok(())
}

/// Starts a job that waits for ever, and returns once its ranks have met, for which they need a link.
fn start(arguments: &Arguments, stage: &Stage<'_>, victim: &str, way: Option<Way>) -> Result<Running> {
    let options = ["--hosts", "h1:2,h2:2", "--host-timeout", "5"];
    let command = arguments.launch(&options, way, &[victim, "recv", "stay"]);
    let mut running = stage.start(0, &command)?;
    bed::wait_for("the ranks", || {
        anyhow::ensure!(
            running.runs()?,
            "the job ends before anything was done to it: {}",
            running.complaints()
        );
        Ok(running.output().contains("all have met").then_some(()))
    })?;
    Ok(running)
}

/// Sends a signal to the first process of a host whose command line contains this. A second one of the same name is there to clean
/// up after the first.
fn signal(stage: &Stage<'_>, host: usize, like: &str, signal: &str) -> Result<()> {
    let processes = watch::processes_like(stage.bed, host, like);
    let first = processes.iter().min().with_context(|| format!("h{host} has no process {like:?}"))?;
    let words = ["kill", signal, &first.to_string()].map(str::to_owned);
    workspace::run(&mut stage.bed.command(host, Path::new("/"), &words)?)
}

fn names_host(ended: &Ended, host: &str) -> Option<String> {
    let failed = ended.status.is_some_and(|status| !status.success());
    let named = ended.error.contains(host);
    (!failed || !named).then(|| ended.problem(&format!("expected an error that names {host}")))
}

/// A job over hosts that h0 can reach and that cannot reach each other is right all the same.
fn reaches(arguments: &Arguments, name: &str, ring: &Path) -> Case {
    let command = arguments.launch(&["--hosts", "h1,h2,h3"], None, &[&ring.display().to_string()]);
    Case::command(name, command, |ended| {
        let right = ended.exited(0) && ended.output.trim() == "The sum of the ranks 0 to 2 is 3";
        (!right).then(|| ended.problem("expected exit code 0 and the sum"))
    })
}

/// A message is larger than what is left on the disk of its host.
fn full_disk(arguments: &Arguments, victim: &str) -> Case {
    let options = ["--hosts", "h1,h2"];
    let command = arguments.launch(&options, Some(Way::FileSsh), &[victim, "large-send", "stay"]);
    Case::command("a full disk", command, |ended| {
        let failed = ended.status.is_some_and(|status| !status.success());
        let named = ["h1", "h2"].iter().any(|host| ended.error.contains(host));
        let told = ended.error.to_lowercase().contains("no space left");
        (!failed || !named || !told)
            .then(|| ended.problem("expected an error with the host and `no space left`"))
    })
}
