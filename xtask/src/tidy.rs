//! The rules of the house that no compiler knows, as a test: `cargo xtask check` applies them to every file that is, or
//! could be, in the repository.
//!
//! - [`sizes`]: no file beyond 1000 lines, no function beyond 70; exceptions stand in `xtask/ratchet.txt` with the number
//!   that they must not exceed, and numbers there only ever go down.
//! - [`words`]: no marks of unfinished work, no private words of other libraries, no paths of somebody's machine.
//! - [`floors`]: which crate may use which, which rooms of the engine may use which, and where unsafe code may be.
//! - [`order`]: no source file that nothing compiles; decision pages numbered without a gap.
//!
//! Each rule returns one line for each violation, with the place first.

mod floors;
mod order;
mod sizes;
mod words;

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};

/// A text file of the repository.
struct Source {
    /// Path from the root, with slashes.
    path: String,
    text: String,
}

/// Applies all rules. With `tighten` the recorded exceptions are lowered to what they are now.
pub fn run(tighten: bool) -> Result<()> {
    let sources = sources()?;
    if tighten {
        sizes::tighten(&sources)?;
    }
    let mut violations = sizes::violations(&sources)?;
    violations.extend(words::violations(&sources));
    violations.extend(floors::violations(&sources));
    violations.extend(order::violations(&sources));
    if !violations.is_empty() {
        bail!("{} violations\n{}", violations.len(), violations.join("\n"));
    }
    Ok(())
}

/// All text files that Git knows, or would add.
fn sources() -> Result<Vec<Source>> {
    let mut command = std::process::Command::new("git");
    command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = command.current_dir(workspace::root()).output().context("git does not start")?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let mut sources = Vec::new();
    for path in String::from_utf8(output.stdout)?.split_terminator('\0') {
        // Git still lists what was deleted a moment ago, and what is no text has no lines.
        if let Ok(text) = std::fs::read_to_string(workspace::root().join(path)) {
            sources.push(Source { path: path.to_owned(), text });
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn long_functions_are_found_in_every_language() {
        let body = "    x();\n".repeat(sizes::FUNCTION_LINES_MAX);
        let rust = source("a.rs", &format!("pub fn long() {{\n{body}}}\n"));
        let c = source("a.c", &format!("static int\nlong_one(void)\n{{\n{body}}}\n"));
        let python = source("a.py", &format!("def long():\n{body}\n"));
        for (source, name) in [(rust, "long"), (c, "long_one"), (python, "long")] {
            let found = sizes::functions(&source);
            assert_eq!(found.len(), 1, "{}", source.path);
            assert_eq!(found[0].0, name);
            assert!(found[0].1 > sizes::FUNCTION_LINES_MAX);
        }
    }

    #[test]
    fn words_are_whole_words() {
        let good = source("a.rs", "let adiometer = vcard(); // a pmlike name");
        assert!(words::violations(&[good]).is_empty());
        let bad = source("a.rs", &format!("let {} = 1;", words::PRIVATE[0]));
        assert_eq!(words::violations(&[bad]).len(), 1);
    }

    #[test]
    fn a_transport_must_not_use_a_chapter() {
        let bad = source("crates/engine/src/transports/file.rs", "use crate::point_to_point::Request;");
        assert!(floors::violations(&[bad]).iter().any(|line| line.contains("point_to_point")));
        let group = source("crates/engine/src/progress.rs", "use crate::{Instance,\n    a::{b, c}, info};");
        assert_eq!(floors::violations(&[group]).len(), 2);
        let good = source("crates/engine/src/transports/file.rs", "use crate::error::Error;");
        assert!(!floors::violations(&[good]).iter().any(|line| line.contains("transports/file.rs")));
    }

    #[test]
    fn a_file_that_nothing_compiles_is_found() {
        let root = source("crates/a/src/lib.rs", "mod used;\n");
        let used = source("crates/a/src/used.rs", "");
        let dead = source("crates/a/src/dead.rs", "");
        let found = order::violations(&[root, used, dead]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/a/src/dead.rs"));
    }
}
