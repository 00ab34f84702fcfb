//! System V IPC over hosts: what `tests/ipc` says of one, with the object on another host, and with the two ends on different ones; on our library and on
//! MPICH. And what is left when a server, a host, or all of it dies.

use crate::environment;
use crate::hosts::bed::{self, Firewall, Options};
use crate::hosts::runner::{Arguments, Case, Stage};
use crate::hosts::watch::{self, Ended};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of `tests/ipc` that are run.
const PROGRAMS: [&str; 6] = ["messages", "semaphores", "memory", "killed", "hosts", "pages"];

/// The bed and the cases. MPICH needs ports.
pub fn plan(arguments: &Arguments) -> Result<(Options, Vec<Case>)> {
    let folder = workspace::target()?.join("verify/ipc-hosts");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for program in PROGRAMS {
        let source = sources().join(format!("programs/{program}.c"));
        let mut compiler = Command::new("cc");
        workspace::run(compiler.arg(source).arg("-pthread").arg("-o").arg(folder.join(program)))?;
    }
    let bench = workspace::root().join("bench");
    let parts = ["ipc/molecules.c", "ipc/processes.c", "ipc/molecules_messages.c", "src/record.c"];
    let mut compiler = Command::new("cc");
    compiler.args(parts.map(|part| bench.join(part))).arg("-o").arg(folder.join("molecules")).arg("-lm");
    workspace::run(&mut compiler)?;
    let mut cases = Vec::new();
    for engine in [None, Some(environment::mpich()?)] {
        cases.extend(semantics(arguments, &folder, engine.as_deref())?);
    }
    cases.extend([2, 3].map(|hosts| molecules(arguments, &folder, hosts)));
    let fails = words(arguments, &["run", "--hosts", "h1,h2", "sh", "-c", "[ $(hostname) != h2 ] || exit 3"]);
    cases.push(Case::command("a program that fails on one of them", fails, |ended| {
        let is_right = ended.exited(3) && ended.output.is_empty() && ended.error.is_empty();
        (!is_right).then(|| ended.problem("expected exit code 3, and no word"))
    }));
    cases.push(names(arguments));
    cases.extend(ends(arguments));
    Ok((Options { firewall: Firewall::No, ..Options::default() }, cases))
}

fn sources() -> PathBuf {
    workspace::root().join("tests/ipc")
}

/// The lines of a file in `expected`, in order.
fn expected(name: &str) -> Result<Vec<String>> {
    let path = sources().join("expected").join(name);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(sorted(&text))
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// What the calls mean does not depend on where an object lives.
fn semantics(arguments: &Arguments, folder: &Path, engine: Option<&Path>) -> Result<Vec<Case>> {
    let on = if engine.is_some() { "MPICH" } else { "Postrider" };
    let engine = engine.map(|path| path.display().to_string());
    let options = engine.as_deref().map_or(Vec::new(), |path| vec!["--engine", path]);
    let case = |name: String, hosts: &[&str], program: String, right: Vec<String>| {
        let command = words(arguments, &[&["run"], &options[..], hosts, &["sh", "-c", &program]].concat());
        Case::command(name, command, move |ended| says(ended, &right))
    };
    let mut cases = Vec::new();
    for program in ["messages", "semaphores", "memory", "killed"] {
        let path = folder.join(program).display().to_string();
        let only_on_h1 = format!("[ $(hostname) != h1 ] || exec {path}");
        let name = format!("{program} of another host, {on}");
        cases.push(case(name, &["--hosts", "h1,h2", "--home", "h2"], only_on_h1, expected(program)?));
    }
    for (hosts, all, file) in [("h1,h2", 2, "hosts"), ("h1,h2,h3", 3, "hosts-3")] {
        let path = folder.join("hosts").display().to_string();
        let its_end = format!("host=$(hostname); exec {path} $((${{host#h}}-1)) {all}");
        let name = format!("ends on {all} hosts, {on}");
        cases.push(case(name, &["--hosts", hosts], its_end, expected(file)?));
    }
    for (hosts, all) in [("h1", 1), ("h1,h2", 2), ("h1,h2,h3", 3), ("h1:2,h2:2", 4)] {
        let path = folder.join("pages").display().to_string();
        let name = format!("memory of {hosts}, {on}");
        let right = expected(&if all == 1 { "pages".to_owned() } else { format!("pages-{all}") })?;
        cases.push(case(name, &["--hosts", hosts], format!("exec {path} {all}"), right));
    }
    Ok(cases)
}

/// Molecular dynamics with two processes on each host finds what a single one finds.
fn molecules(arguments: &Arguments, folder: &Path, hosts: u32) -> Case {
    let (arguments, program) = (arguments.clone(), folder.join("molecules").display().to_string());
    Case::new(format!("molecules on {hosts} hosts"), move |stage| {
        let all = 2 * hosts;
        let list: Vec<String> = (1..=hosts).map(|host| format!("h{host}")).collect();
        let its_part = format!(
            "host=$(hostname); exec {program} --ranks {all} --here 2 --first $((2 * (${{host#h}} - 1)))"
        );
        let run = words(&arguments, &["run", "--hosts", &list.join(","), "sh", "-c", &its_part]);
        let (one, several) = (stage.run(0, std::slice::from_ref(&program))?, stage.run(0, &run)?);
        let right = energies(&one).filter(|_| one.exited(0) && several.exited(0));
        let is_right = right.is_some() && energies(&several) == right;
        Ok((!is_right).then(|| several.problem(&format!("expected {right:?}"))))
    })
}

fn energies(ended: &Ended) -> Option<String> {
    let line = ended.output.lines().find(|line| line.contains("checksum"))?;
    line.split('"').nth(3).map(str::to_owned)
}

fn words(arguments: &Arguments, command: &[&str]) -> Vec<String> {
    let ipc = [arguments.launcher(), "ipc".to_owned()];
    ipc.into_iter().chain(command.iter().map(|&word| word.to_owned())).collect()
}

fn says(ended: &Ended, right: &[String]) -> Option<String> {
    let said = sorted(&ended.output);
    let other = said.iter().zip(right).find(|(said, right)| said != right);
    let what = format!("expected {} lines, and {other:?} of {}", right.len(), said.len());
    (!ended.exited(0) || said != right).then(|| ended.problem(&what))
}

/// A name space of two hosts that outlives programs.
fn names(arguments: &Arguments) -> Case {
    let arguments = arguments.clone();
    Case::new("a name space that is started, joined and stopped", move |stage| {
        let ipc = |host, command: &[&str]| stage.run(host, &words(&arguments, command));
        let steps: [(usize, &[&str], &str); 6] = [
            (0, &["start", "--name", "lab", "--hosts", "h1,h2"], ""),
            (1, &["join", "lab", "sh", "-c", "ipcmk -S 2 >/dev/null; ipcmk -Q >/dev/null"], ""),
            (2, &["join", "lab", "sh", "-c", "ipcs -s -q | grep -c 0x"], "2\n"),
            (2, &["remove", "--name", "lab", "--all"], ""),
            (1, &["join", "lab", "sh", "-c", "ipcs -s -q | grep -c 0x || true"], "0\n"),
            (2, &["stop", "lab"], ""),
        ];
        for (host, command, output) in steps {
            let ended = ipc(host, command)?;
            if !ended.exited(0) || ended.output != output {
                return Ok(Some(ended.problem(&format!("expected {output:?}"))));
            }
        }
        let gone = ipc(1, &["join", "lab", "true"])?;
        Ok((!gone.exited(1)).then(|| gone.problem("expected that there is no name space any more")))
    })
}

/// What is done while processes of h1 and h2 wait for each other's semaphores, and what mends it.
type Harm = fn(&Stage<'_>) -> Result<()>;

/// What lives elsewhere is as if it were removed when its host or its server dies; what lives here goes on. Nothing is left of what all is killed of.
fn ends(arguments: &Arguments) -> Vec<Case> {
    let harms: [(&str, Harm, Harm, &[usize]); 2] = [
        ("a server dies", |stage| kill(stage, 2), |_| Ok(()), &[1, 2]),
        ("a host dies", |stage| stage.bed.kill_host(2), |stage| stage.bed.start_host(2), &[1]),
    ];
    let case = |(name, harm, mend, left): (&str, Harm, Harm, &'static [usize])| {
        let arguments = arguments.clone();
        Case::new(name, move |stage| {
            let problem = deserted(&arguments, stage, harm, left);
            mend(stage)?;
            problem
        })
    };
    let mut cases: Vec<Case> = harms.into_iter().map(case).collect();
    let arguments = arguments.clone();
    cases.push(Case::new("all is killed", move |stage| {
        let run =
            words(&arguments, &["run", "--hosts", "h1:2,h2:2", "sh", "-c", "ipcmk -Q; exec sleep 1000"]);
        let mut running = stage.start(0, &run)?;
        bed::wait_for("four queues", || {
            ensure!(running.runs()?, "it ends: {}", running.complaints());
            Ok((running.output().lines().count() == 4).then_some(()))
        })?;
        for host in [0, 1, 2] {
            // Where the others have been killed, it may have ended by itself.
            let all = ["sh", "-c", "pkill -9 -x postrider || true"].map(str::to_owned);
            workspace::run(&mut stage.bed.command(host, Path::new("/"), &all)?)?;
        }
        running.wait(stage.bed, stage.before, stage.limit)?;
        // The next one removes what a launcher that was killed has left.
        let next = stage.run(0, &words(&arguments, &["run", "--hosts", "h1,h2", "true"]))?;
        Ok((!next.exited(0)).then(|| next.problem("expected that another can be started")))
    }));
    cases
}

/// Kills the server of a host, which has the lowest number of all processes that look like it.
fn kill(stage: &Stage<'_>, host: usize) -> Result<()> {
    let server = watch::processes_like(stage.bed, host, "ipc-serve").into_iter().min();
    let server = server.with_context(|| format!("h{host} has no server"))?.to_string();
    let words = ["kill".to_owned(), "-9".to_owned(), server];
    workspace::run(&mut stage.bed.command(host, Path::new("/"), &words)?)
}

fn deserted(arguments: &Arguments, stage: &Stage<'_>, harm: Harm, left: &[usize]) -> Result<Option<String>> {
    let start = ["env".to_owned(), "POSTRIDER_HOST_TIMEOUT=5".to_owned()].into_iter();
    let start =
        start.chain(words(arguments, &["start", "--name", "lab", "--hosts", "h1,h2"])).collect::<Vec<_>>();
    let started = stage.run(0, &start)?;
    if !started.exited(0) {
        return Ok(Some(started.problem("expected that it starts")));
    }
    let program = sources().join("programs/deserted.py").display().to_string();
    let join = words(arguments, &["join", "lab", "python3", "-B", &program]);
    let running = [1, 2].map(|host| stage.start(host, &join));
    let waits = [1, 2].map(|host| stage.bed.shared().join(format!("waits{host}")));
    bed::wait_for("both", || Ok(waits.iter().all(|path| path.exists()).then_some(())))?;
    harm(stage)?;
    let mut problem = None;
    for (host, running) in [1, 2].into_iter().zip(running) {
        let ended = running?.wait(stage.bed, stage.before, stage.limit)?;
        let right = "elsewhere EIDRM\nelsewhere later EIDRM\nhere done\nnew done\na copy 7\nwritten 8\n\
                     not here SIGBUS True\nonly there SIGBUS True\nmine 8 0 8\n";
        if left.contains(&host) {
            problem = problem.or_else(|| ended.said_only(right.trim_end()));
            stage.run(host, &words(arguments, &["stop", "lab"]))?;
        }
    }
    for path in waits {
        std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    Ok(problem)
}
