//! Whether the messages of `docs/ERRORS.md` are still those of the sources.
//!
//! The first cell of each row has the message in backquotes, with `…` where names and numbers stand; each part between them has to be in a
//! source file of `crates/`, letter by letter.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::process::Command;

const PAGE: &str = "docs/ERRORS.md";

/// The parts of messages that no source has.
pub fn unknown() -> Result<Vec<String>> {
    let root = workspace::root();
    let page = std::fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let mut list = Command::new("git");
    list.args(["ls-files", "--", "crates/*.rs"]).current_dir(root);
    let output = list.output().context("git does not start")?;
    ensure!(output.status.success(), "{list:?}: {}", String::from_utf8_lossy(&output.stderr));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let sources: Vec<String> = String::from_utf8(output.stdout)?.lines().map(read).collect();
    let is_there = |part: &&str| sources.iter().any(|source| source.contains(*part));
    Ok(parts(&page)
        .filter(|part| !is_there(part))
        .map(|part| format!("{PAGE}: {part:?} is in no source"))
        .collect())
}

/// The parts of all messages.
fn parts(page: &str) -> impl Iterator<Item = &str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let texts = cells.flat_map(|(cell, _)| cell.split('`').step_by(2));
    texts.flat_map(|text| text.split('…')).map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_between_backquotes_and_dots() {
        let page = "# `no`\n| `a … b` | `c` |\n| `d` … `e` | f |\n| message | |\n";
        assert_eq!(parts(page).collect::<Vec<_>>(), ["a", "b", "d", "e"]);
    }
}
