//! Removal of directories that may hold hundred thousands of files.
//!
//! Links are not followed, whoever puts one in the place of a directory meanwhile: everything goes by the open directory that it is
//! in. Whoever has something else to do gives a limit, and leaves the rest to a process of its own (`postrider sweep`), which is nobody's
//! child and for which nobody waits.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use postrider_os::launch::detach;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use crate::directory::check_ours;

/// How often, and how many times, it is tried to remove a directory into which others may still write.
const TRY_EVERY: Duration = Duration::from_millis(100);
const TRIES_MAX: u32 = 300;

/// Removes `directory` and all that is in it, until `due`. That it is gone already is no error.
///
/// # Errors
/// `TimedOut` when there was too much, or why something cannot be removed.
pub fn remove_until(directory: &Path, due: Option<Instant>) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(CWD, directory, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        opened => empty(&opened?, due, &[])?,
    }
    no_matter_if_gone(unlinkat(CWD, directory, AtFlags::REMOVEDIR))
}

/// Removes all that is in `directory`, except entries of these names.
///
/// # Errors
/// Those of [`remove_until`].
pub fn empty(directory: &OwnedFd, due: Option<Instant>, except: &[&CStr]) -> io::Result<()> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." || except.contains(&name) {
            continue;
        }
        if due.is_some_and(|due| due <= Instant::now()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match unlinkat(directory, name, AtFlags::empty()) {
            Err(Errno::ISDIR) => remove_below(directory, name, due)?,
            removed => no_matter_if_gone(removed)?,
        }
    }
    Ok(())
}

fn remove_below(parent: &OwnedFd, name: &CStr, due: Option<Instant>) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        opened => empty(&opened?, due, &[])?,
    }
    no_matter_if_gone(unlinkat(parent, name, AtFlags::REMOVEDIR))
}

fn no_matter_if_gone(removed: rustix::io::Result<()>) -> io::Result<()> {
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes a directory of this user into which dying processes of other hosts may still write, whoever else does so at the same time.
///
/// # Errors
/// Why it is still there after many tries.
pub fn remove_abandoned(directory: &Path) -> io::Result<()> {
    let attempt = || match check_ours(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        checked => checked.and_then(|()| remove_until(directory, None)),
    };
    let mut removed = attempt();
    for _ in 1..TRIES_MAX {
        if removed.is_ok() {
            break;
        }
        std::thread::sleep(TRY_EVERY);
        removed = attempt();
    }
    removed
}

/// Lets another process remove what dead jobs of this user have left under `temporary`. Should it not start, a later job tries again.
pub fn sweep_in_background(temporary: &Path) {
    let Ok(own) = std::env::current_exe() else { return };
    let mut command = Command::new(own);
    let _a_later_job = detach(command.arg("sweep").arg(temporary).current_dir("/"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_tree_goes_and_what_its_links_lead_to_stays() {
        let temporary = tempfile::tempdir().expect("a directory");
        let [tree, target] = ["tree", "target"].map(|name| temporary.path().join(name));
        fs::create_dir_all(tree.join("a/b")).expect("a tree");
        fs::create_dir(&target).expect("a target");
        fs::write(tree.join("a/b/file"), "x").expect("a file");
        fs::write(target.join("file"), "x").expect("a file");
        std::os::unix::fs::symlink(&target, tree.join("link")).expect("a link");
        std::os::unix::fs::symlink(&target, temporary.path().join("top")).expect("a link");
        remove_until(&tree, None).expect("it goes");
        remove_until(&tree, None).expect("it is gone");
        assert!(remove_until(&temporary.path().join("top"), None).is_err());
        assert!(!tree.exists() && target.join("file").exists());
    }

    #[test]
    fn whoever_has_no_time_leaves_the_rest() {
        let temporary = tempfile::tempdir().expect("a directory");
        let tree = temporary.path().join("tree");
        fs::create_dir(&tree).expect("a tree");
        fs::write(tree.join("file"), "x").expect("a file");
        let error = remove_until(&tree, Some(Instant::now())).expect_err("there is no time");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(tree.join("file").exists());
    }
}
