//! `tests/mpi4py/excluded.txt`: what of mpi4py's test suite is not run yet, and the chapter that it waits for.
//!
//! A line is `module: chapter`, `module.Class: chapter` or `module.Class.test: chapter`. A name that the suite does not have
//! is an error, so that the list cannot outlive what it is about.

use anyhow::{Context, Result, bail, ensure};
use std::path::Path;

/// The options of the suite's `main.py` that leave out what the list names.
pub fn options(list: &str, tests: &Path) -> Result<Vec<String>> {
    let mut options = Vec::new();
    for (number, line) in list.lines().enumerate() {
        let option = option(line, tests).with_context(|| format!("line {} of excluded.txt", number + 1))?;
        options.extend(option);
    }
    Ok(options)
}

fn option(line: &str, tests: &Path) -> Result<[String; 2]> {
    let (name, chapter) = line.split_once(": ").context("it has the form `name: chapter`")?;
    ensure!(!chapter.trim().is_empty(), "it names the chapter that {name} waits for");
    let parts = name.split('.').collect::<Vec<_>>();
    let source = tests.join(format!("{}.py", parts[0]));
    let text =
        std::fs::read_to_string(&source).with_context(|| format!("mpi4py has no {}", source.display()))?;
    for part in &parts[1..] {
        ensure!(text.contains(part), "mpi4py has no {part} in {}", parts[0]);
    }
    // A pattern with a star is taken as it is; one without would also match longer names.
    Ok(match parts.len() {
        1 => ["-e".to_owned(), module_pattern(name)],
        2 => ["-x".to_owned(), format!("*{name}.*")],
        3 => ["-x".to_owned(), format!("*{name}")],
        _ => bail!("{name} is not a module, a class or a test"),
    })
}

/// The regular expression for the file of exactly this module.
pub fn module_pattern(module: &str) -> String {
    format!("^{module}\\.py$")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options_of(list: &str) -> Result<Vec<String>> {
        let folder = std::env::temp_dir().join(format!("excluded-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("test_win.py"), "class TestWin:\n    def testLock(self): pass\n")?;
        options(list, &folder)
    }

    #[test]
    fn modules_classes_and_tests_are_left_out_by_exact_names() {
        let found =
            options_of("test_win: a\ntest_win.TestWin: b\ntest_win.TestWin.testLock: c\n").expect("valid");
        let expected =
            ["-e", "^test_win\\.py$", "-x", "*test_win.TestWin.*", "-x", "*test_win.TestWin.testLock"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_that_does_not_exist_is_refused() {
        for list in ["test_gone: a", "test_win.TestGone: a", "test_win", "test_win: "] {
            assert!(options_of(list).is_err(), "{list}");
        }
    }
}
