//! The job's private directory, and the removal of those that dead jobs have left.
//!
//! `<TMPDIR or /tmp>/postrider-<uid>/job-<pid>-<random>`, both of mode 0700 and of this user; links are never followed. The
//! file `lock` in a job's directory is locked (`flock`) for as long as the launcher lives, and the kernel frees it however the
//! launcher dies: a directory whose lock is free is stale. The file `lock` beside the jobs' directories is held only while
//! somebody makes, sweeps or removes, so nobody ever sees a directory that is not locked yet.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use postrider_os::error::{Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::process::Signal;

use crate::processes;

const LOCK: &str = "lock";
const PREFIX: &str = "job-";

/// How often, and how many times, it is looked whether a job has ended.
const END_LOOK_EVERY: Duration = Duration::from_millis(20);
const END_LOOKS_MAX: u32 = 500;

/// The directory of this job. Removed when dropped.
#[derive(Debug)]
pub struct JobDirectory {
    parent: PathBuf,
    path: PathBuf,
    _held: File,
}

impl JobDirectory {
    /// Makes the directory under `temporary`.
    ///
    /// # Errors
    /// When that cannot be written, is full, or the directory there belongs to somebody else.
    pub fn create(temporary: &Path) -> Result<Self> {
        let parent = parent_in(temporary);
        let advice = "(TMPDIR chooses where job directories are made)";
        let failed = |error: Error| Error::new(format!("{} {advice}", error.what), error.reason);
        Self::create_in(parent).map_err(failed)
    }

    fn create_in(parent: PathBuf) -> Result<Self> {
        let _sole = enter(&parent, true)?;
        let path = parent.join(format!("{PREFIX}{}-{:08x}", std::process::id(), random()));
        let what = |path: &Path| format!("cannot create the job directory {}", path.display());
        private_directory(&path).map_err(|e| Error::new(what(&path), e))?;
        let held = open_lock(&path, true).and_then(|lock| lock_now(&lock).map(|_| lock));
        match held {
            Ok(held) => Ok(Self { parent, path, _held: held }),
            Err(error) => {
                let message = what(&path);
                let _the_first_error_counts = fs::remove_dir_all(&path);
                Err(Error::new(message, error))
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for JobDirectory {
    fn drop(&mut self) {
        // What cannot be removed now is stale from now on, and the next job tries again.
        let _stale = fs::remove_dir_all(&self.path);
        if let Ok(sole) = enter(&self.parent, false) {
            leave(&self.parent, sole);
        }
    }
}

/// Removes what dead jobs of this user have left under `temporary`. Whatever does not let itself be removed stays.
pub fn sweep(temporary: &Path) {
    let parent = parent_in(temporary);
    let Ok(sole) = enter(&parent, false) else { return };
    for entry in fs::read_dir(&parent).into_iter().flatten().flatten() {
        let job = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if job && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_stale(&entry.path()) {
            let _next_time = fs::remove_dir_all(entry.path());
        }
    }
    leave(&parent, sole);
}

/// Ends the job whose directory on this host is `job`, if its launcher still holds that, and waits until its guard has
/// removed the directory.
///
/// # Errors
/// When that is no job's directory, or is still there after a while.
pub fn end_job(job: &Path) -> io::Result<()> {
    let number = |name: &str| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok();
    let launcher: u32 = job
        .file_name()
        .and_then(|name| number(name.to_str()?))
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "this is no job's directory"))?;
    for _ in 0..END_LOOKS_MAX {
        match check_ours(job) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            checked => checked?,
        }
        if is_stale(job) {
            job.ancestors().nth(2).into_iter().for_each(sweep);
        } else {
            processes::send(launcher, Signal::KILL);
        }
        std::thread::sleep(END_LOOK_EVERY);
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "the job does not end"))
}

/// Where this user's job directories are.
fn parent_in(temporary: &Path) -> PathBuf {
    temporary.join(format!("postrider-{}", rustix::process::getuid().as_raw()))
}

/// Without a lock file the launcher died while it made or removed the directory.
fn is_stale(job: &Path) -> bool {
    match open_lock(job, false) {
        Ok(lock) => lock_now(&lock).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Locks the parent directory, and makes it first if `make` says so.
fn enter(parent: &Path, make: bool) -> Result<File> {
    let failed = |e| Error::new(format!("cannot use the directory {}", parent.display()), e);
    loop {
        match make.then(|| private_directory(parent)) {
            Some(Err(error)) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        match check_ours(parent) {
            // The last one out has just removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound && make => continue,
            checked => checked.map_err(failed)?,
        }
        let lock = match open_lock(parent, true) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && make => continue,
            lock => lock.map_err(failed)?,
        };
        flock(&lock, FlockOperation::LockExclusive).map_err(|e| failed(e.into()))?;
        // Whoever held it before may have removed it as the last one out.
        if lock.metadata().map_err(failed)?.nlink() > 0 {
            return Ok(lock);
        }
    }
}

/// Unlocks the parent directory, and removes it if nothing else is there.
fn leave(parent: &Path, sole: File) {
    let others = fs::read_dir(parent).into_iter().flatten().flatten().any(|entry| entry.file_name() != LOCK);
    if !others {
        let _stays = fs::remove_file(parent.join(LOCK));
        let _stays = fs::remove_dir(parent);
    }
    drop(sole);
}

/// Refuses a directory that is not this user's own, or that others may enter.
///
/// # Errors
/// What is wrong with it.
pub fn check_ours(directory: &Path) -> io::Result<()> {
    check(&fs::symlink_metadata(directory)?)
}

fn check(found: &fs::Metadata) -> io::Result<()> {
    let ours = found.is_dir() && found.uid() == rustix::process::getuid().as_raw();
    if ours && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    let what = "it is not a private directory of this user (mode 0700); remove it, or choose another TMPDIR";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
}

/// A private directory of this user that is held open. Where others may rename what is not theirs, something else can take its place at any
/// time; by [`Held::path`] it stays the same.
#[derive(Debug)]
pub struct Held {
    _open: File,
    path: PathBuf,
}

impl Held {
    /// Opens `directory`, which must not be a link.
    ///
    /// # Errors
    /// Those of [`check_ours`].
    pub fn new(directory: &Path) -> io::Result<Self> {
        check_ours(directory)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = File::from(rustix::fs::open(directory, flags, Mode::empty())?);
        check(&open.metadata()?)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        Ok(Self { _open: open, path })
    }

    /// A path that leads to it as long as this lives.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn open_lock(directory: &Path, make: bool) -> io::Result<File> {
    let make = if make { OFlags::CREATE } else { OFlags::empty() };
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | make;
    Ok(rustix::fs::open(directory.join(LOCK), flags, Mode::RUSR | Mode::WUSR)?.into())
}

fn lock_now(lock: &File) -> io::Result<()> {
    Ok(flock(lock, FlockOperation::NonBlockingLockExclusive)?)
}

/// Keeps names of jobs apart whose launcher had the same process number; secrecy comes from the mode.
fn random() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.subsec_nanos() ^ (now.as_secs() as u32).rotate_left(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("postrider-directory-{}-{name}", std::process::id()));
        fs::create_dir(&path).expect("a fresh directory");
        path
    }

    #[test]
    fn it_is_private_and_nothing_is_left() {
        let temporary = temporary("private");
        let job = JobDirectory::create(&temporary).expect("it is made");
        assert_eq!(fs::metadata(job.path()).expect("it is there").mode() & 0o777, 0o700);
        fs::write(job.path().join("message"), "x").expect("it can be written");
        drop(job);
        fs::remove_dir(&temporary).expect("nothing is left");
    }

    #[test]
    fn the_sweep_takes_the_dead_and_spares_the_living() {
        let temporary = temporary("sweep");
        let living = JobDirectory::create(&temporary).expect("it is made");
        let dead = parent_in(&temporary).join("job-1-00000000");
        private_directory(&dead).expect("it is made");
        fs::write(dead.join(LOCK), "").expect("its lock");
        fs::write(dead.join("message"), "x").expect("its message");
        sweep(&temporary);
        assert!(living.path().exists() && !dead.exists());
        drop(living);
        fs::remove_dir(&temporary).expect("nothing is left");
    }

    #[test]
    fn what_takes_the_place_of_a_directory_gets_nothing() {
        let temporary = temporary("held");
        let [place, aside, target] = ["place", "aside", "target"].map(|name| temporary.join(name));
        private_directory(&place).expect("it is made");
        private_directory(&target).expect("it is made");
        let held = Held::new(&place).expect("it is ours");
        fs::rename(&place, &aside).expect("it is moved");
        std::os::unix::fs::symlink(&target, &place).expect("a link");
        fs::write(held.path().join("file"), "x").expect("it can be written");
        assert!(aside.join("file").exists() && !target.join("file").exists());
        assert!(Held::new(&place).is_err(), "it is a link");
        fs::remove_dir_all(&temporary).expect("it goes");
    }

    #[test]
    fn a_directory_that_a_group_may_enter_is_not_used() {
        let temporary = temporary("group");
        for mode in [0o750, 0o770, 0o701, 0o1777] {
            let parent = parent_in(&temporary);
            fs::create_dir(&parent).expect("it is made");
            fs::set_permissions(&parent, std::os::unix::fs::PermissionsExt::from_mode(mode))
                .expect("it is ours");
            let error = JobDirectory::create(&temporary).expect_err("it is refused").to_string();
            assert!(error.contains("mode 0700"), "{mode:o}: {error}");
            fs::remove_dir(&parent).expect("nothing was put there");
        }
        fs::remove_dir_all(&temporary).expect("it goes");
    }

    #[test]
    fn a_lock_that_is_a_link_is_not_followed() {
        let temporary = temporary("lock");
        let (parent, target) = (parent_in(&temporary), temporary.join("target"));
        private_directory(&parent).expect("it is made");
        std::os::unix::fs::symlink(&target, parent.join(LOCK)).expect("a link");
        assert!(JobDirectory::create(&temporary).is_err());
        assert!(!target.exists());
        fs::remove_dir_all(&temporary).expect("it goes");
    }

    #[test]
    fn somebody_elses_link_is_not_followed() {
        let temporary = temporary("link");
        let target = temporary.join("target");
        fs::create_dir(&target).expect("a target");
        std::os::unix::fs::symlink(&target, parent_in(&temporary)).expect("a link");
        let error = JobDirectory::create(&temporary).expect_err("it is refused").to_string();
        assert!(error.contains("not a private directory") && error.contains("TMPDIR"), "{error}");
        assert_eq!(fs::read_dir(&target).expect("the target").count(), 0);
        fs::remove_dir_all(&temporary).expect("it goes");
    }
}
