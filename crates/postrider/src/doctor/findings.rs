//! What facts mean: what is wrong, what is worth knowing, and what to do about it. Facts in, findings out.

use serde::Serialize;

use super::Patient;
use super::facts::Facts;

/// The oldest kernel that jobs run on.
const KERNEL: (u32, u32) = (5, 10);
/// Start-up files that take longer delay every job.
const START_UP_MS_MAX: u64 = 1000;
/// Clocks further apart make times of files misleading.
const CLOCK_SKEW_MS_MAX: f64 = 1000.0;
/// Less free space lets messages as files fail, or makes it likely.
const FREE_BYTES_MIN: u64 = 16 << 20;
const FREE_BYTES_FEW: u64 = 1 << 30;
/// A process with fewer files cannot serve many ranks.
const OPEN_FILES_FEW: u64 = 4096;
/// Each rank that receives files needs one instance.
const INOTIFY_INSTANCES_FEW: u64 = 64;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Jobs fail.
    Wrong,
    /// Some jobs fail, or are slow.
    Note,
}

/// One thing that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What it is.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// Something that makes jobs fail.
    pub fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Wrong, what: what.into(), remedy: remedy.into() }
    }

    fn note(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Note, what: what.into(), remedy: remedy.into() }
    }
}

/// What a host's own facts mean.
pub fn of_facts(facts: &Facts) -> Vec<Finding> {
    let mut findings = of_system(facts);
    findings.extend(of_temporary(facts));
    findings
}

fn of_system(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if release(&facts.kernel).is_some_and(|release| release < KERNEL) {
        let what =
            format!("its kernel is {}, and {}.{} is the oldest that works", facts.kernel, KERNEL.0, KERNEL.1);
        findings.push(Finding::wrong(what, "run jobs on other hosts, or give this one a newer kernel"));
    }
    if let Some(error) = &facts.shared_memory_error {
        let remedy = "ranks need memfd_create and /proc: see what a container or a security module denies";
        findings.push(Finding::wrong(format!("memory cannot be shared: {error}"), remedy));
    }
    if !facts.single_copies {
        let what = "processes may not copy from each other (process_vm_readv)";
        let remedy = "long messages are slower; a container needs a seccomp profile that allows it";
        findings.push(Finding::note(what, remedy));
    }
    if let Some(files) = facts.open_files_max.filter(|files| *files < OPEN_FILES_FEW) {
        let remedy = "raise `ulimit -Hn` (limits.conf) for jobs with many ranks on this host";
        findings.push(Finding::note(format!("a process may open only {files} files"), remedy));
    }
    if let Some(count) = facts.inotify_instances.filter(|count| *count < INOTIFY_INSTANCES_FEW) {
        let what = format!("only {count} processes of a user can wait for files (inotify)");
        let remedy = "for --transport file with more ranks: sysctl fs.inotify.max_user_instances=1024";
        findings.push(Finding::note(what, remedy));
    }
    findings
}

fn of_temporary(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    let temporary = &facts.temporary;
    let (path, kind) = (temporary.path.display(), &temporary.file_system);
    if let Some(error) = &temporary.error {
        findings.push(Finding::wrong(error, "point TMPDIR to a directory that this user can write"));
    }
    if temporary.is_shared {
        let what = format!("temporary files in {path} are on a file system of several hosts ({kind})");
        findings.push(Finding::note(what, "point TMPDIR to a directory of the host itself"));
    }
    match temporary.free_bytes {
        _ if temporary.error.is_some() => {}
        free if free < FREE_BYTES_MIN => {
            let what = format!("{path} is full: {} MiB are free", free >> 20);
            findings.push(Finding::wrong(what, "remove files, or point TMPDIR elsewhere"));
        }
        free if free < FREE_BYTES_FEW => {
            let what = format!("{path} has only {} MiB free", free >> 20);
            findings.push(Finding::note(what, "messages as files may need more; point TMPDIR elsewhere"));
        }
        _ => {}
    }
    findings
}

/// What else was seen of another host, beside `here`.
pub fn of_connection(patient: &Patient, here: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(facts) = &patient.facts else { return findings };
    if !patient.noise.is_empty() {
        let first = patient.noise.lines().next().unwrap_or_default();
        let what = format!("its shell prints at every start, though nobody is there to read it: {first:?}");
        findings
            .push(Finding::note(what, "scp fails by this; let ~/.bashrc print only when `$-` contains i"));
    }
    if let Some(ms) = facts.start_up_ms.filter(|ms| *ms > START_UP_MS_MAX && !patient.copied) {
        let what = format!("its shell takes {ms} ms to start");
        findings.push(Finding::note(what, "let ~/.bashrc return at once when `$-` contains no i"));
    }
    for (program, path) in &facts.programs {
        if path.is_none() && here.programs.get(program).is_some_and(Option::is_some) {
            let what = format!("{program} is found here and not there");
            let remedy =
                "if jobs need it, install it, or extend PATH in the part of ~/.bashrc that all shells read";
            findings.push(Finding::note(what, remedy));
        }
    }
    if let Some(pipe) = patient.pipe.as_ref().filter(|pipe| pipe.clock_skew_ms.abs() > CLOCK_SKEW_MS_MAX) {
        let (seconds, side) =
            (pipe.clock_skew_ms.abs() / 1000.0, if pipe.clock_skew_ms > 0.0 { "ahead" } else { "behind" });
        let what = format!("its clock is {seconds:.1} s {side} of the one here");
        findings.push(Finding::note(what, "let chrony or systemd-timesyncd set it"));
    }
    for reached in &patient.reached {
        if let Some(error) = &reached.error {
            let what = format!("it does not reach {}: {error}", reached.host);
            findings
                .push(Finding::note(what, "messages between the two go through this host, which is slower"));
        }
    }
    findings
}

/// The first two numbers of a kernel's release.
fn release(kernel: &str) -> Option<(u32, u32)> {
    let mut numbers = kernel.split_once(' ')?.1.split(['.', '-']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::probe::{Pipe, Reached};

    /// A host to which nothing can be objected.
    fn good() -> Facts {
        let mut facts = Facts::of_here();
        facts.kernel = "Linux 6.1.0-9".to_owned();
        facts.shared_memory_error = None;
        facts.single_copies = true;
        facts.open_files_max = None;
        facts.inotify_instances = None;
        facts.temporary.error = None;
        facts.temporary.is_shared = false;
        facts.temporary.free_bytes = 1 << 40;
        facts.start_up_ms = Some(1);
        facts
    }

    fn words(findings: &[Finding]) -> String {
        let text = |finding: &Finding| format!("{:?} {} {}", finding.level, finding.what, finding.remedy);
        findings.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn nothing_is_found_where_nothing_is_wrong() {
        assert_eq!(words(&of_facts(&good())), "");
        let patient = Patient { facts: Some(good()), ..Patient::new("h1") };
        assert_eq!(words(&of_connection(&patient, &good())), "");
    }

    #[test]
    fn each_fault_has_its_words() {
        type Fault = (fn(&mut Facts), &'static str);
        let found = |change: fn(&mut Facts)| {
            let mut facts = good();
            change(&mut facts);
            words(&of_facts(&facts))
        };
        let faults: [Fault; 8] = [
            (|facts| facts.kernel = "Linux 4.18.0-1".to_owned(), "Wrong its kernel"),
            (|facts| facts.shared_memory_error = Some("denied".to_owned()), "memfd_create"),
            (|facts| facts.single_copies = false, "Note processes may not copy"),
            (|facts| facts.open_files_max = Some(256), "ulimit"),
            (|facts| facts.inotify_instances = Some(8), "max_user_instances"),
            (|facts| facts.temporary.error = Some("no room".to_owned()), "Wrong no room"),
            (|facts| facts.temporary.is_shared = true, "several hosts"),
            (|facts| facts.temporary.free_bytes = 1, "is full"),
        ];
        for (change, word) in faults {
            assert!(found(change).contains(word), "{word}: {}", found(change));
        }
    }

    #[test]
    fn a_connection_tells_more() {
        let mut facts = good();
        facts.start_up_ms = Some(5000);
        facts.programs.insert("python3".to_owned(), None);
        let reached = vec![Reached { host: "h2".to_owned(), error: Some("refused".to_owned()) }];
        let mut here = good();
        here.programs.insert("python3".to_owned(), Some("/usr/bin/python3".into()));
        let pipe = Pipe { clock_skew_ms: -2500.0, ..Pipe::default() };
        let noise = "Welcome\nto h1".to_owned();
        let patient = Patient { facts: Some(facts), pipe: Some(pipe), noise, reached, ..Patient::new("h1") };
        let text = words(&of_connection(&patient, &here));
        for word in ["5000 ms", "python3", "h2: refused", "2.5 s behind", "\"Welcome\""] {
            assert!(text.contains(word), "no {word:?} in {text}");
        }
    }
}
