//! `cargo xtask install`: copies the installation in `build/` somewhere else.
//!
//! The prefix may be one that others use as well, such as /usr/local. So the installation has a list of what it brought
//! ([`LIST`]): a line for each file and link, and one that ends with a slash for each folder that was not there before. By this list
//! `cargo xtask uninstall` removes it, and installing again removes what a newer version no longer has.

use crate::{uninstall, workspace};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Copy the installation that `build` has made to another prefix.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folder that gets bin, include, lib and share; it is made if it does not exist.
    #[arg(long)]
    prefix: PathBuf,
}

/// Parts of an installation.
const PARTS: &[&str] = &["bin", "include", "lib", "share"];

/// The list of what was installed, below the prefix.
pub const LIST: &str = "share/postrider/installed.txt";

/// Copies `build/` to the prefix.
pub fn run(arguments: &Arguments) -> Result<()> {
    let installation = workspace::installation();
    let present = installation.join("lib").join(crate::link::SONAME).exists();
    ensure!(present, "there is nothing in {} yet: run `cargo xtask build` first", installation.display());
    install(&installation, &arguments.prefix)
}

/// Copies an installation to a prefix. Files of the same names are replaced, others are left alone.
fn install(installation: &Path, prefix: &Path) -> Result<()> {
    let before = read(prefix)?.unwrap_or_default();
    let mut files = BTreeSet::from([LIST.to_owned()]);
    for part in PARTS {
        names(installation, Path::new(part), &mut files)?;
    }
    let mut all = files.clone();
    all.extend(new_folders(prefix, &files));
    all.extend(before.iter().filter(|line| line.ends_with('/')).cloned());
    // What is only in one of the two lists is found again if this is interrupted.
    let either: BTreeSet<String> = all.union(&before).cloned().collect();
    write(prefix, &either)?;
    for file in files.iter().filter(|file| *file != LIST) {
        let (from, to) = (installation.join(file), prefix.join(file));
        workspace::copy(&from, &to).with_context(|| format!("installing {}", to.display()))?;
    }
    let gone: BTreeSet<String> = before.difference(&files).cloned().collect();
    let kept = uninstall::remove(prefix, &gone)?;
    all.retain(|line| !line.ends_with('/') || kept.contains(line) || !gone.contains(line));
    write(prefix, &all)
}

/// The files and links below a folder of the installation. Hidden ones stay behind.
fn names(installation: &Path, folder: &Path, into: &mut BTreeSet<String>) -> Result<()> {
    let at = installation.join(folder);
    if !at.exists() {
        return Ok(());
    }
    for entry in std::fs::read_dir(&at).with_context(|| at.display().to_string())? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            names(installation, &path, into)?;
        } else {
            into.insert(path.to_str().with_context(|| format!("{} is no text", path.display()))?.to_owned());
        }
    }
    Ok(())
}

/// The folders that installing these files makes, as lines of the list; the prefix itself is `./`.
fn new_folders(prefix: &Path, files: &BTreeSet<String>) -> BTreeSet<String> {
    let folders = files.iter().flat_map(|file| Path::new(file).ancestors().skip(1));
    let new = folders.filter(|folder| !prefix.join(folder).exists());
    new.map(|folder| if folder == Path::new("") { "./".into() } else { format!("{}/", folder.display()) })
        .collect()
}

/// The list of a prefix, if something is installed there.
pub fn read(prefix: &Path) -> Result<Option<BTreeSet<String>>> {
    let list = prefix.join(LIST);
    if !list.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    let lines: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    for line in &lines {
        let leads_out = |part| !matches!(part, Component::Normal(_) | Component::CurDir);
        if line.is_empty() || Path::new(line).components().any(leads_out) {
            bail!("{} names {line:?}, which is not below the prefix", list.display());
        }
    }
    Ok(Some(lines))
}

fn write(prefix: &Path, lines: &BTreeSet<String>) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    workspace::replace(&prefix.join(LIST), |new| Ok(std::fs::write(new, text)?))
}

#[cfg(test)]
mod tests;
