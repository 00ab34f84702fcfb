//! The lock-free parts under loom, which tries every interleaving. That takes a build of its own and a minute, and what it finds depends on the
//! sources alone: so a green run writes down of which sources it was, in `crates/os/models.green`, and a run whose sources are the same has nothing to do.
//! Change one of them, and `cargo xtask verify --only models` writes the new line, to be committed with the change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// Run the models, unless they were green with these sources.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run them in any case.
    #[arg(long)]
    always: bool,
}

/// Runs the models, and writes down that they were green.
pub fn run(arguments: &Arguments) -> Result<()> {
    let record = workspace::root().join("crates/os/models.green");
    let sources = digest()?;
    let is_known = std::fs::read_to_string(&record).is_ok_and(|text| text.trim() == sources);
    if is_known && !arguments.always {
        println!("the models were green with these sources\n1 passed, 0 failed");
        return Ok(());
    }
    let mut cargo = workspace::cargo();
    cargo.args(["test", "-p", "postrider-os", "--release", "--quiet", "loom"]);
    cargo.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", workspace::target()?.join("loom"));
    workspace::run(&mut cargo)?;
    std::fs::write(&record, format!("{sources}\n")).with_context(|| record.display().to_string())
}

/// The hash that Git would give to everything that the models are made of: the sources of the crate, and the versions of what it depends on,
/// which are not all that the project depends on.
fn digest() -> Result<String> {
    let root = workspace::root();
    let mut files = vec![root.join("crates/os/Cargo.toml")];
    add_sources(&root.join("crates/os/src"), &mut files)?;
    let mut git = Command::new("git");
    git.current_dir(root).args(["hash-object", "--"]).args(&files);
    let output = git.output().context("git does not start")?;
    ensure!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
    // One hash for all, by the same means.
    let all = root.join("target/models.txt");
    let names =
        files.iter().filter_map(|file| file.strip_prefix(root).ok()).map(|file| file.display().to_string());
    let hashes = String::from_utf8_lossy(&output.stdout).into_owned();
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?;
    std::fs::write(&all, names.collect::<Vec<_>>().join("\n") + &hashes + &locked("postrider-os", &lock))?;
    let output = Command::new("git").current_dir(root).args(["hash-object", "--"]).arg(&all).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What `Cargo.lock` says of a package and of all that it depends on.
fn locked(package: &str, lock: &str) -> String {
    let (mut found, mut names) = (BTreeSet::new(), vec![format!("\"{package}\"")]);
    while let Some(next) = names.pop() {
        let named = format!("name = {next}");
        for block in lock.split("\n\n").filter(|block| block.lines().any(|line| line == named)) {
            if found.insert(block) {
                // A line such as ` "libc",`, or ` "syn 2.0.1",` where there are two versions.
                let lines = block.lines().filter_map(|line| line.strip_prefix(" \""));
                names.extend(
                    lines.filter_map(|line| line.split([' ', '"']).next()).map(|word| format!("\"{word}\"")),
                );
            }
        }
    }
    found.into_iter().collect::<Vec<_>>().join("\n\n")
}

fn add_sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            add_sources(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::locked;

    #[test]
    fn only_what_a_package_depends_on_counts() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\ndependencies = [\n \"b\",\n \"c 1.0.0\",\n]\n\n\
                    [[package]]\nname = \"b\"\nversion = \"2.0.0\"\n\n[[package]]\nname = \"c\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"d\"\nversion = \"3.0.0\"\n";
        let of_a = locked("a", lock);
        assert!(of_a.contains("2.0.0") && of_a.contains("\nversion = \"1.0.0\"") && !of_a.contains("3.0.0"));
        assert_eq!(locked("b", lock).lines().count(), 3);
    }
}
