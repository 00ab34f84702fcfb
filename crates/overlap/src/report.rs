//! What was made asynchronous, what it saved, and what stayed plain and why: at the end of each process.

use std::env;
use std::fmt::{Arguments, Write as _};

use serde_json::{Value, json};

use crate::files::{self, FileReport};
use crate::messages::{self, ChainReport, Counts};
use crate::settings;

/// In which a launcher tells a process its rank: ours, PMI's, PMIx's, Open MPI's.
const ENV_RANKS: [&str; 4] = ["POSTRIDER_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"];

/// Everything about a process.
#[derive(Debug, Default)]
struct Report {
    rank: Option<String>,
    process: u32,
    counts: Counts,
    chains: Vec<ChainReport>,
    files: Vec<FileReport>,
}

/// Writes it, if it is asked for and there is something to tell.
pub fn write() {
    let Some(place) = settings::report() else { return };
    let report = Report {
        rank: ENV_RANKS.iter().find_map(|name| env::var(name).ok()),
        process: std::process::id(),
        counts: messages::counts(),
        chains: messages::chains(),
        files: files::reports(),
    };
    if report.counts.is_empty() && report.files.is_empty() {
        return;
    }
    if place == "-" {
        eprint!("{}", report.text());
        return;
    }
    let who = report.rank.as_ref().map_or(String::new(), |rank| format!("{rank}."));
    let path = format!("{place}.{who}{}", report.process);
    if let Err(error) = std::fs::write(&path, format!("{:#}\n", report.json())) {
        eprintln!("postrider: the report of overlap cannot be written to {path}: {error}");
    }
}

impl Report {
    fn text(&self) -> String {
        let mut text = String::new();
        let who = self
            .rank
            .as_ref()
            .map_or_else(|| format!("process {}", self.process), |rank| format!("rank {rank}"));
        let mut line = |words: Arguments| writeln!(text, "overlap, {who}: {words}").expect("memory");
        let memory = settings::memory().name();
        if !self.counts.is_empty() {
            line(format_args!(
                "{} calls were made asynchronous, in memory {memory}",
                self.counts.asynchronous
            ));
        }
        for (why, count) in &self.counts.plain {
            line(format_args!("  {count} stayed plain: {why}"));
        }
        for (why, count) in &self.counts.completed {
            line(format_args!("  {count} times completed by: {why}"));
        }
        for chain in self.chains.iter().filter(|chain| chain.rounds() > 0) {
            let (took, plain) = (1e-3 * chain.took_us(), 1e-3 * chain.plain_us());
            line(format_args!(
                "  chain of {} calls, {} rounds, {}: {took:.1} ms, by plain calls about {plain:.1} ms",
                chain.calls,
                chain.rounds(),
                chain.method
            ));
        }
        let (told, others): (Vec<_>, Vec<_>) = self.files.iter().partition(|file| file.is_noteworthy());
        for file in told {
            line(format_args!("{file}"));
        }
        if !others.is_empty() {
            line(format_args!("{} files with nothing to gain", others.len()));
        }
        text
    }

    fn json(&self) -> Value {
        let list = |counts: &std::collections::BTreeMap<&str, u64>| -> Vec<Value> {
            counts.iter().map(|(reason, calls)| json!({"reason": reason, "calls": calls})).collect()
        };
        let chain = |chain: &ChainReport| {
            let by: Vec<Value> = chain
                .by
                .iter()
                .map(|(name, rounds, us)| json!({"method": name, "rounds": rounds, "us": us}))
                .collect();
            json!({
                "calls": chain.calls, "method": chain.method, "rounds": chain.rounds(), "took_us": chain.took_us(),
                "plain_us": chain.plain_us(), "by": by,
            })
        };
        let file = |file: &FileReport| {
            json!({
                "path": file.path, "calls": file.calls, "bytes": file.bytes, "deferred": file.deferred,
                "system_calls": file.system_calls, "merge_factor": file.merge_factor(), "ahead_bytes": file.ahead_bytes,
                "plain": file.plain,
            })
        };
        json!({
            "rank": self.rank, "process": self.process,
            "messages": {
                "memory": settings::memory().name(),
                "asynchronous": self.counts.asynchronous,
                "plain": list(&self.counts.plain),
                "completed": list(&self.counts.completed),
                "chains": self.chains.iter().map(chain).collect::<Vec<_>>(),
            },
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let chain = ChainReport {
            calls: 4,
            method: "at the first touch",
            by: vec![("plain", 2, 20.0), ("at the first touch", 8, 16.0)],
        };
        let file = FileReport {
            path: "a\"b\\c\nd".into(),
            calls: 64,
            deferred: 60,
            system_calls: 2,
            ..FileReport::default()
        };
        let counts = Counts { asynchronous: 32, plain: [("a long send", 3)].into(), ..Counts::default() };
        let report =
            Report { rank: Some("5".into()), process: 7, counts, chains: vec![chain], files: vec![file] };
        let text = report.text();
        assert!(
            text.lines().all(|line| line.starts_with("overlap, rank 5: ")
                || line == "d: 64 calls, 0 bytes; 60 deferred, in 2 system calls (30.0 each)"),
            "{text}"
        );
        assert!(
            text.contains(
                "chain of 4 calls, 10 rounds, at the first touch: 0.0 ms, by plain calls about 0.1 ms"
            ),
            "{text}"
        );
        let json = report.json();
        assert_eq!(json["messages"]["chains"][0]["plain_us"], 100.0);
        assert_eq!(
            (&json["files"][0]["path"], &json["files"][0]["merge_factor"]),
            (&json!("a\"b\\c\nd"), &json!(30.0))
        );
        assert_eq!(json["messages"]["plain"][0]["reason"], "a long send");
    }
}
