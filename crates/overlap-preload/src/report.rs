//! What was made asynchronous and what was not, at the end of the process.

use std::env;
use std::fmt::Write as _;

use postrider_overlap::messages;

/// Asks for it: `-` for the standard error stream, else the beginning of the names of files, one for each rank.
const ENV_REPORT: &str = "POSTRIDER_OVERLAP_REPORT";

/// In which a launcher tells a process its rank: ours, PMI's, PMIx's, Open MPI's.
const ENV_RANKS: [&str; 4] = ["POSTRIDER_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"];

/// Writes it, if the environment asks for it.
pub fn write() {
    let Ok(place) = env::var(ENV_REPORT) else { return };
    let rank = ENV_RANKS.iter().find_map(|name| env::var(name).ok());
    let who = rank
        .as_ref()
        .map_or_else(|| format!("process {}", std::process::id()), |rank| format!("rank {rank}"));
    let text = text(&who);
    if place == "-" {
        eprint!("{text}");
        return;
    }
    let path = format!("{place}.{}", rank.unwrap_or_else(|| std::process::id().to_string()));
    if let Err(error) = std::fs::write(&path, text) {
        eprintln!("postrider: the report of overlap cannot be written to {path}: {error}");
    }
}

fn text(who: &str) -> String {
    let counts = messages::counts();
    let mut text = format!("overlap, {who}: {} calls were made asynchronous\n", counts.asynchronous);
    for (why, count) in &counts.plain {
        writeln!(text, "  stayed plain, {count} x: {why}").expect("memory");
    }
    for (why, count) in &counts.completed {
        writeln!(text, "  completed, {count} x: {why}").expect("memory");
    }
    for chain in messages::chains() {
        writeln!(text, "  chain of {chain}").expect("memory");
    }
    text
}
