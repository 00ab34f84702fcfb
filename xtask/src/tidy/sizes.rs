//! How long files and functions are.

use super::Source;
use crate::workspace;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// The end of a file.
pub const FILE_LINES_MAX: usize = 1000;
/// The end of a function.
pub const FUNCTION_LINES_MAX: usize = 70;

/// The file with the exceptions: lines of a number and a name.
const RATCHET: &str = "xtask/ratchet.txt";

/// Kinds of files whose length is not somebody's choice.
const GENERATED: &[&str] = &[
    ".lock",
    ".json",
    ".txt",
    ".svg",
    "docs/BENCHMARKS.md",
    "docs/BENCHMARKS_FILES.md",
    "docs/BENCHMARKS_OVERLAP.md",
    "docs/BENCHMARKS_IPC.md",
    "docs/BENCHMARKS_HOSTS.md",
    "docs/BENCHMARKS_OCTAVE.md",
];

/// Everything that has grown beyond its limit, or beyond its recorded exception.
pub fn violations(sources: &[Source]) -> Result<Vec<String>> {
    let recorded = recorded()?;
    let found = measured(sources);
    let mut violations = Vec::new();
    for (name, (count, limit)) in &found {
        let allowed = recorded.get(name).copied().unwrap_or(0).max(*limit);
        if *count > allowed {
            violations.push(format!("{name}: {count}, and at most {allowed} are allowed"));
        }
    }
    for name in recorded.keys() {
        if found.get(name).is_none_or(|(count, limit)| count <= limit) {
            violations.push(format!("{RATCHET}: {name} needs no exception any more"));
        }
    }
    Ok(violations)
}

/// Lowers the recorded exceptions to what they are now, and drops those that are needed no more.
pub fn tighten(sources: &[Source]) -> Result<()> {
    let found = measured(sources);
    let mut text = String::new();
    for (name, number) in recorded()? {
        if let Some((count, limit)) = found.get(&name)
            && count > limit
        {
            text += &format!("{} {name}\n", number.min(*count));
        }
    }
    let path = workspace::root().join(RATCHET);
    std::fs::write(&path, text).with_context(|| path.display().to_string())
}

/// The recorded exceptions.
fn recorded() -> Result<BTreeMap<String, usize>> {
    let path = workspace::root().join(RATCHET);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let line = |line: &str| {
        let (number, name) = line.split_once(' ').with_context(|| format!("{RATCHET}: {line:?}"))?;
        Ok((name.to_owned(), number.parse().with_context(|| format!("{RATCHET}: {line:?}"))?))
    };
    text.lines().map(line).collect()
}

/// Everything that has a limit: its name, its size and that limit.
fn measured(sources: &[Source]) -> BTreeMap<String, (usize, usize)> {
    let mut found = BTreeMap::new();
    for source in sources {
        if !GENERATED.iter().any(|ending| source.path.ends_with(ending)) {
            found.insert(source.path.clone(), (source.text.lines().count(), FILE_LINES_MAX));
        }
        for (name, lines) in functions(source) {
            found.insert(format!("{}::{name}", source.path), (lines, FUNCTION_LINES_MAX));
        }
    }
    found
}

/// The name of the function that begins in a line, if one does.
type Begins = fn(&[&str], usize) -> Option<String>;

/// The functions of a file with their lines. All code is formatted, so that a function ends where the indentation of its
/// beginning comes back.
pub fn functions(source: &Source) -> Vec<(String, usize)> {
    let lines: Vec<&str> = source.text.lines().collect();
    let begins: Begins = match source.path.rsplit_once('.') {
        Some((_, "rs")) => rust_function,
        Some((_, "c" | "h")) => c_function,
        Some((_, "py")) => python_function,
        _ => return Vec::new(),
    };
    let ends = if source.path.ends_with(".py") { dedent } else { brace };
    let mut found = Vec::new();
    for start in 0..lines.len() {
        let Some(name) = begins(&lines, start) else { continue };
        let indent = indentation(lines[start]);
        let length = lines[start + 1..].iter().position(|line| ends(line, indent));
        found.push((name, length.map_or(lines.len() - start, |length| length + 2)));
    }
    found
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn dedent(line: &str, indent: usize) -> bool {
    !line.is_empty() && indentation(line) <= indent && !line.trim_start().starts_with(')')
}

fn brace(line: &str, indent: usize) -> bool {
    indentation(line) == indent && line.trim_start().starts_with('}')
}

/// The letters, digits and underscores that a text begins with.
fn name(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

fn rust_function(lines: &[&str], at: usize) -> Option<String> {
    let line = lines[at].trim_start();
    let (before, after) =
        if let Some(rest) = line.strip_prefix("fn ") { ("", rest) } else { line.split_once(" fn ")? };
    let words = ["pub", "const", "unsafe", "extern", "async", "\"C\""];
    let declares =
        before.split([' ', '(']).all(|word| words.contains(&word) || word.ends_with(')') || word.is_empty());
    let whole_line = line.ends_with('}') || line.ends_with(';');
    (declares && !whole_line).then(|| name(after))
}

/// A function in C has its opening brace at the beginning of a line, below its name.
fn c_function(lines: &[&str], at: usize) -> Option<String> {
    if !lines[at].starts_with('{') {
        return None;
    }
    let head = lines[..at].iter().rev().find(|line| !line.starts_with([' ', '\t']))?;
    let (before, _) = head.split_once('(')?;
    Some(before.trim_end().rsplit([' ', '*']).next()?.to_owned())
}

fn python_function(lines: &[&str], at: usize) -> Option<String> {
    lines[at].trim_start().strip_prefix("def ").map(name)
}
