//! Whether every function of the ABI is called by some test program.
//!
//! A twin with large counts counts as called where its partner is, if
//! `tests/large_count.h` puts one in place of the other: such programs are built both ways.

use super::job::Outcome;
use super::programs;
use crate::workspace;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The functions that no test calls are a failure.
pub fn check() -> Outcome {
    match uncalled() {
        Ok(names) if names.is_empty() => Outcome::Passed,
        Ok(names) => Outcome::Failed(format!("no program in tests/ calls: {}", names.join(", "))),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

fn uncalled() -> Result<Vec<String>> {
    let called = callers()?;
    let uncalled = |name: &String| !called.contains_key(name);
    Ok(workspace::function_names()?.into_iter().filter(uncalled).collect())
}

/// For each function the programs that call it, as `chapter/program`.
pub fn callers() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let folder = programs::folder();
    let mut callers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // The header of all programs begins and ends them.
    for source in programs::sources(&folder)?.into_iter().chain([folder.join("check.h")]) {
        let program = source.strip_prefix(&folder)?.with_extension("").display().to_string();
        let mut text = read(&source)?;
        for header in headers_beside(&text) {
            text += &read(&source.with_file_name(header))?;
        }
        for name in identifiers(&text) {
            callers.entry(name).or_default().insert(program.clone());
        }
    }
    for line in read(&folder.join("large_count.h"))?.lines() {
        if let ["#define", partner, twin] = line.split_whitespace().collect::<Vec<_>>()[..]
            && let Some(programs) = callers.get(partner).cloned()
        {
            callers.entry(twin.to_owned()).or_default().extend(programs);
        }
    }
    Ok(callers)
}

/// The headers of its own folder that a program includes.
fn headers_beside(text: &str) -> Vec<String> {
    let included = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
    included.filter(|name| !name.contains('/')).map(str::to_owned).collect()
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// The identifiers in a text that begin with `MPI_`.
pub fn identifiers(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("MPI_")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_whole_words() {
        let text = "OK(MPI_Send_c(x)); PMPI_Recv MPI_Wait";
        let expected = ["MPI_Send_c", "MPI_Wait"];
        assert_eq!(identifiers(text).iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
}
