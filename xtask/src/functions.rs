//! `cargo xtask functions`: docs/FUNCTIONS.md, the list of every function of the ABI with its section and who calls it.
//!
//! Nothing in it is written by hand. Each function is defined in a file of its chapter, and its section of the standard stands in the comment above
//! it. The programs that call it are found by their text.

use crate::test::names::{callers, identifiers};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const DOCUMENT: &str = "docs/FUNCTIONS.md";
const SOURCES: &[&str] = &["crates/libmpi/src", "crates/io/src"];

/// Chapters of the standard in which functions are defined.
const CHAPTERS: &[(u32, &str)] = &[
    (2, "Terms and Conventions"),
    (3, "Point-to-Point Communication"),
    (4, "Partitioned Point-to-Point Communication"),
    (5, "Datatypes"),
    (6, "Collective Communication"),
    (7, "Groups, Contexts, Communicators, and Caching"),
    (8, "Virtual Topologies for MPI Processes"),
    (9, "MPI Environmental Management"),
    (10, "The Info Object"),
    (11, "Process Initialization, Creation, and Management"),
    (12, "One-Sided Communications"),
    (13, "External Interfaces"),
    (14, "I/O"),
    (15, "Tool Support"),
    (16, "Deprecated Interfaces"),
    (19, "Language Bindings"),
    (20, "Application Binary Interface"),
];

const HEAD: &str = "# Functions

Every function of the MPI 5.0 standard ABI, by chapter: the section that describes it, in which interfaces [Fortran](FORTRAN.md) has it, and the
programs in C in [tests/](../tests) that call it. A twin with large counts (`_c`) stands beside its partner; programs are built and run with both.
`PMPI_` names are at the same addresses. `cargo xtask functions` writes this page, and `cargo xtask check` compares it.

In Fortran, `all` means the modules `mpi_f08` and `mpi`, and `mpif.h`. A function with large counts has its partner's name in `mpi_f08` only, and the
kind of an integer decides; where no call could tell the two apart, its name has `_c`.
";

/// Write docs/FUNCTIONS.md.
#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(_: &Arguments) -> Result<()> {
    std::fs::write(workspace::root().join(DOCUMENT), document()?).context(DOCUMENT)
}

/// Whether the page is what the sources say.
pub fn check() -> Result<()> {
    let text = std::fs::read_to_string(workspace::root().join(DOCUMENT)).context(DOCUMENT)?;
    ensure!(text == document()?, "{DOCUMENT} is not up to date: run `cargo xtask functions`");
    Ok(())
}

fn document() -> Result<String> {
    let names: BTreeSet<String> = workspace::function_names()?.into_iter().collect();
    let defined = definitions(&names)?;
    let unknown: Vec<&String> = names.iter().filter(|name| !defined.contains_key(*name)).collect();
    ensure!(unknown.is_empty(), "no comment names the section of the standard of {unknown:?}");
    let callers = callers()?;
    let forms = crate::fortran::forms()?;
    let mut text = HEAD.to_owned();
    for (chapter, title) in CHAPTERS {
        let of_chapter = defined.iter().filter(|(_, section)| chapter_of(section) == *chapter);
        let rows: Vec<String> = of_chapter
            .filter(|(name, _)| !names.contains(partner(name)) || partner(name) == *name)
            .map(|(name, section)| row(name, section, &names, forms.get(name).unwrap_or(&""), &callers))
            .collect();
        if !rows.is_empty() {
            let _ = writeln!(
                text,
                "\n## {chapter}. {title}\n\n| function | section | Fortran | called in |\n|---|---|---|---|"
            );
            text.extend(rows);
        }
    }
    Ok(text)
}

fn row(
    name: &str,
    section: &str,
    names: &BTreeSet<String>,
    form: &str,
    callers: &BTreeMap<String, BTreeSet<String>>,
) -> String {
    let twin = format!("{name}_c");
    let function = if names.contains(&twin) { format!("`{name}`, `_c`") } else { format!("`{name}`") };
    let programs = callers.get(name).into_iter().chain(callers.get(&twin)).flatten();
    let programs: Vec<&str> = programs.map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect();
    let more = if programs.len() > 3 { format!(" and {} more", programs.len() - 3) } else { String::new() };
    format!("| {function} | {section} | {form} | {}{more} |\n", programs[..programs.len().min(3)].join(", "))
}

/// The name without `_c`.
fn partner(name: &str) -> &str {
    name.strip_suffix("_c").unwrap_or(name)
}

fn chapter_of(section: &str) -> u32 {
    section.split('.').next().and_then(|chapter| chapter.parse().ok()).unwrap_or(0)
}

/// The functions that the library defines, with their sections.
fn definitions(names: &BTreeSet<String>) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for folder in SOURCES {
        for path in rust_files(&workspace::root().join(folder))? {
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            definitions_in(&text, names, &mut found);
        }
    }
    Ok(found)
}

/// A comment with a section is followed by functions, each where a line begins or as argument of a macro.
fn definitions_in(text: &str, names: &BTreeSet<String>, found: &mut BTreeMap<String, String>) {
    let mut section = None;
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("//") {
            section = section_in(comment).or(section);
        } else if let Some(section) = &section
            && (line.starts_with("MPI_") || line.contains("extern \"C\" fn MPI_") || line.contains("! {"))
        {
            let signature = line.split('(').next().unwrap_or(line);
            for name in identifiers(signature).into_iter().filter(|name| names.contains(name)) {
                found.entry(name).or_insert_with(|| section.clone());
            }
        }
        if line.is_empty() || line.starts_with('}') {
            section = None;
        }
    }
}

/// The number that follows the word section, as in `Section 3.2.1.`
fn section_in(comment: &str) -> Option<String> {
    let (_, after) = comment.split_once("Section")?;
    let after = after.trim_start_matches('s').trim_start();
    let number: String =
        after.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    let number = number.trim_end_matches('.').to_owned();
    number.starts_with(|letter: char| letter.is_ascii_digit()).then_some(number)
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_the_section_above_it() {
        let text = "/// Section 6.4. Says more.\nMPI_Bcast / MPI_Bcast_c,\nMPI_Ibcast (\n  comm: MPI_Comm\n) {\n}\n\nMPI_Send(x);\n";
        let names = ["MPI_Bcast", "MPI_Bcast_c", "MPI_Ibcast", "MPI_Send"].map(str::to_owned).into();
        let mut found = BTreeMap::new();
        definitions_in(text, &names, &mut found);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["MPI_Bcast", "MPI_Bcast_c", "MPI_Ibcast"]);
        assert!(found.values().all(|section| section == "6.4" && chapter_of(section) == 6));
    }
}
