//! The job's private directory, and the removal of those that dead jobs have left.
//!
//! `<TMPDIR or /tmp>/postrider-<uid>-<pid>-<random>`, of mode 0700 and of this user; links are never followed. There is no directory
//! above it that all jobs of a user share: its name could be guessed, and another user could be there first. Nor do jobs share a lock: no
//! job ever waits for another one.
//!
//! The file `lock` in the directory is locked (`flock`) for as long as the launcher lives, and the kernel frees it however the launcher
//! dies. So whoever gets that lock may remove the directory, and everybody who looks under `temporary` finds those of dead jobs by the
//! beginning of their names. A directory is there before its lock is held; a sweep that comes in between takes it for a dead job's, and the
//! launcher, which then has no lock, makes another.
//!
//! The file `elsewhere` names a directory that was made for the job in another place, and that goes with this one.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postrider_os::error::{Error, Result};
use postrider_os::process;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::processes;
use crate::removal::{empty, remove_abandoned, remove_until, sweep_in_background};

/// Environment variable: where job directories are made.
pub const ENV_TEMPORARY: &str = "TMPDIR";

const LOCK: &CStr = c"lock";
const ELSEWHERE: &CStr = c"elsewhere";

/// How often a name is chosen before it is said that somebody removes whatever is made.
const ATTEMPTS_MAX: u32 = 100;
/// How long a launcher removes what its own job has left, before it leaves the rest to another process.
const REMOVAL_LIMIT: Duration = Duration::from_secs(1);
/// How often, and how many times, it is looked whether a job has ended.
const END_LOOK_EVERY: Duration = Duration::from_millis(20);
const END_LOOKS_MAX: u32 = 500;

/// The directory of this job. Removed when dropped.
#[derive(Debug)]
pub struct JobDirectory {
    path: PathBuf,
    /// Until it is removed.
    held: Option<File>,
}

impl JobDirectory {
    /// Makes the directory under `temporary`.
    ///
    /// # Errors
    /// When that cannot be written, or is full.
    pub fn create(temporary: &Path) -> Result<Self> {
        let failed = |path: &Path, error| {
            let advice = "(TMPDIR chooses where job directories are made)";
            Error::new(format!("cannot create the job directory {} {advice}", path.display()), error)
        };
        let mut path = PathBuf::new();
        for _ in 0..ATTEMPTS_MAX {
            path = temporary.join(format!("{}{}-{:016x}", prefix(), std::process::id(), process::random()?));
            private_directory(&path).map_err(|error| failed(&path, error))?;
            match hold(&path) {
                Ok(Some(held)) => return Ok(Self { path, held: Some(held) }),
                held => {
                    let _the_first_error_counts = remove_until(&path, None);
                    held.map_err(|error| failed(&path, error))?;
                }
            }
        }
        Err(failed(&path, io::Error::other("somebody removes it as soon as it is there")))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that `directory`, which is yet to be made, goes with this one.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn note_elsewhere(&self, directory: &Path) -> Result<()> {
        let note = self.path.join(name(ELSEWHERE));
        let written = fs::write(&note, directory.as_os_str().as_bytes());
        written.map_err(|error| Error::new(format!("cannot write {}", note.display()), error))
    }
}

impl Drop for JobDirectory {
    fn drop(&mut self) {
        if remove(&self.path, Some(Instant::now() + REMOVAL_LIMIT)).is_err() {
            self.held = None;
            self.path.parent().into_iter().for_each(sweep_in_background);
        }
    }
}

/// Has what dead jobs of this user have left under `temporary` removed, if there is anything, while this process goes on.
pub fn have_swept(temporary: &Path) {
    if jobs_under(temporary).any(|job| is_left(&job)) {
        sweep_in_background(temporary);
    }
}

/// Removes what dead jobs of this user have left under `temporary`. Whatever does not let itself be removed stays.
pub fn sweep(temporary: &Path) {
    for job in jobs_under(temporary) {
        if let Ok(Some(_held)) = hold(&job) {
            let _a_later_job = remove(&job, None);
        }
    }
}

/// Ends the job whose directory on this host is `job`, if its launcher still holds that, and waits until the directory is removed, or somebody
/// is about it.
///
/// # Errors
/// When that is no job's directory, or the job does not end within a while.
pub fn end_job(job: &Path) -> io::Result<()> {
    let launcher = launcher_of(job);
    let launcher =
        launcher.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "this is no job's directory"))?;
    for _ in 0..END_LOOKS_MAX {
        match check_ours(job) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            checked => checked?,
        }
        if let Some(_held) = hold(job)? {
            return remove(job, None);
        }
        if holds(launcher, job) {
            processes::send(launcher, Signal::KILL);
        }
        std::thread::sleep(END_LOOK_EVERY);
    }
    match holds(launcher, job) {
        true => Err(io::Error::new(io::ErrorKind::TimedOut, "the job does not end")),
        false => Ok(()),
    }
}

/// How the names of this user's job directories begin.
fn prefix() -> String {
    format!("postrider-{}-", rustix::process::getuid().as_raw())
}

/// The process whose job has this directory, by its name.
fn launcher_of(job: &Path) -> Option<u32> {
    let (pid, random) = job.file_name()?.to_str()?.strip_prefix(&prefix())?.split_once('-')?;
    random.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    pid.parse().ok()
}

/// Whether process `pid` has the lock of `job` open. Its number alone says nothing: another process may have it by now.
fn holds(pid: u32, job: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let Ok(lock) = fs::symlink_metadata(job.join(name(LOCK))).map(identity) else { return false };
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.into_iter().any(|entry| fs::metadata(entry.path()).is_ok_and(|found| identity(found) == lock))
}

/// The private directories of this user's jobs under `temporary`.
fn jobs_under(temporary: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    let named = entries.map(|entry| entry.path()).filter(|path| launcher_of(path).is_some());
    named.filter(|path| check_ours(path).is_ok())
}

/// Without a lock file the launcher died while it made the directory, or is about to make it.
fn is_left(job: &Path) -> bool {
    match open_lock(job, false) {
        Ok(lock) => lock_now(&lock).is_ok_and(|locked| locked),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Locks a job's directory; none if somebody else has, or has removed it.
fn hold(job: &Path) -> io::Result<Option<File>> {
    let lock = match open_lock(job, true) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        lock => lock?,
    };
    // Whoever held it before may have removed it.
    let locked = lock_now(&lock)? && lock.metadata()?.nlink() > 0;
    Ok(locked.then_some(lock))
}

/// Removes a job's directory, whose lock this process holds, and what goes with it. The lock goes last, so that nobody else begins with the
/// rest.
fn remove(job: &Path, due: Option<Instant>) -> io::Result<()> {
    if let Some(elsewhere) = elsewhere(job) {
        match due {
            Some(_) => remove_until(&elsewhere, due)?,
            None => remove_abandoned(&elsewhere)?,
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open: OwnedFd = rustix::fs::open(job, flags, Mode::empty())?;
    empty(&open, due, &[LOCK])?;
    remove_until(job, due)
}

/// The directory that goes with that of a job.
fn elsewhere(job: &Path) -> Option<PathBuf> {
    let noted = fs::read(job.join(name(ELSEWHERE))).ok()?;
    let directory = PathBuf::from(OsString::from_vec(noted));
    directory.is_absolute().then_some(directory)
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
    let what = "it is not a private directory of this user (mode 0700)";
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
    Ok(rustix::fs::open(directory.join(name(LOCK)), flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// False when somebody else holds the lock.
fn lock_now(lock: &File) -> io::Result<bool> {
    match flock(lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        locked => Ok(locked.map(|()| true)?),
    }
}

fn name(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job's directory without a launcher, with a message in it.
    fn dead(temporary: &Path) -> PathBuf {
        let job = temporary.join(format!("{}1-{:016x}", prefix(), process::random().expect("a number")));
        private_directory(&job).expect("it is made");
        fs::create_dir(job.join("0")).expect("an inbox");
        fs::write(job.join("0/message"), "x").expect("a message");
        job
    }

    #[test]
    fn it_is_private_and_nothing_is_left() {
        let temporary = tempfile::tempdir().expect("a directory");
        let job = JobDirectory::create(temporary.path()).expect("it is made");
        assert_eq!(fs::metadata(job.path()).expect("it is there").mode() & 0o777, 0o700);
        fs::write(job.path().join("message"), "x").expect("it can be written");
        drop(job);
        assert_eq!(fs::read_dir(temporary.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn the_sweep_takes_the_dead_and_spares_the_living() {
        let temporary = tempfile::tempdir().expect("a directory");
        let living = JobDirectory::create(temporary.path()).expect("it is made");
        let (unlocked, locked) = (dead(temporary.path()), dead(temporary.path()));
        fs::write(locked.join("lock"), "").expect("its lock");
        let others = temporary.path().join(format!("{}builds", prefix()));
        private_directory(&others).expect("it is made");
        assert!(is_left(&unlocked) && is_left(&locked) && !is_left(living.path()));
        sweep(temporary.path());
        assert!(living.path().exists() && others.exists());
        assert!(!unlocked.exists() && !locked.exists());
    }

    #[test]
    fn no_job_waits_while_the_directory_of_a_dead_one_is_removed() {
        let temporary = tempfile::tempdir().expect("a directory");
        let slow = dead(temporary.path());
        let _who_removes_it = hold(&slow).expect("it can be locked").expect("nobody else has");
        assert!(!is_left(&slow), "somebody is about it");
        let job = JobDirectory::create(temporary.path()).expect("it is made");
        sweep(temporary.path());
        assert!(slow.exists() && job.path().exists());
        drop(job);
        assert!(slow.exists());
    }

    #[test]
    fn a_directory_elsewhere_goes_with_that_of_a_dead_job() {
        let temporary = tempfile::tempdir().expect("a directory");
        let central = temporary.path().join("central");
        let job = JobDirectory::create(temporary.path()).expect("it is made");
        job.note_elsewhere(&central).expect("it can be written");
        private_directory(&central).expect("it is made");
        fs::write(central.join("message"), "x").expect("a message");
        sweep(temporary.path());
        assert!(central.exists(), "its job lives");
        drop(job);
        assert!(!central.exists());
        let left = dead(temporary.path());
        fs::write(left.join("elsewhere"), central.as_os_str().as_bytes()).expect("its note");
        private_directory(&central).expect("it is made");
        sweep(temporary.path());
        assert!(!left.exists() && !central.exists());
    }

    #[test]
    fn what_takes_the_place_of_a_directory_gets_nothing() {
        let temporary = tempfile::tempdir().expect("a directory");
        let [place, aside, target] = ["place", "aside", "target"].map(|name| temporary.path().join(name));
        private_directory(&place).expect("it is made");
        private_directory(&target).expect("it is made");
        let held = Held::new(&place).expect("it is ours");
        fs::rename(&place, &aside).expect("it is moved");
        std::os::unix::fs::symlink(&target, &place).expect("a link");
        fs::write(held.path().join("file"), "x").expect("it can be written");
        assert!(aside.join("file").exists() && !target.join("file").exists());
        assert!(Held::new(&place).is_err(), "it is a link");
    }

    #[test]
    fn what_others_may_enter_or_have_linked_is_no_jobs_directory() {
        let temporary = tempfile::tempdir().expect("a directory");
        let (open, link) = (dead(temporary.path()), temporary.path().join(format!("{}2-0", prefix())));
        fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o750)).expect("it is ours");
        let target = temporary.path().join("target");
        private_directory(&target).expect("a target");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert_eq!(jobs_under(temporary.path()).count(), 0);
        assert!(end_job(&link).is_err() && end_job(&target).is_err());
    }

    #[test]
    fn who_ends_a_job_kills_nobody_but_its_launcher() {
        let temporary = tempfile::tempdir().expect("a directory");
        let job = JobDirectory::create(temporary.path()).expect("it is made");
        assert!(holds(std::process::id(), job.path()) && !holds(1, job.path()));
        let left = dead(temporary.path());
        assert!(!holds(std::process::id(), &left));
        end_job(&left).expect("it goes");
        assert!(!left.exists());
        end_job(&left).expect("it is gone");
    }

    #[test]
    fn a_lock_that_is_a_link_is_not_followed() {
        let temporary = tempfile::tempdir().expect("a directory");
        let (job, target) = (dead(temporary.path()), temporary.path().join("target"));
        std::os::unix::fs::symlink(&target, job.join("lock")).expect("a link");
        assert!(hold(&job).is_err() && !target.exists());
    }
}
