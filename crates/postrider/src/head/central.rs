//! The job's directory in one that all hosts see, when messages go through it.
//!
//! It is private and has an unpredictable name; nothing in it is locked, because not every shared file system has locks. The head makes it
//! and removes it. On its own host the head has a job directory that says where this one is, so that whoever removes that of a dead job,
//! its guard or a later job of the same user, removes this one, too. So does each agent that has lost the head. They try for a while, since
//! ranks of other hosts may write until they are ended.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postrider_os::launch::Guard;
use postrider_os::process::{random, say_error};

use crate::directory::{self, JobDirectory};
use crate::launch::Refusal;
use crate::removal::remove_until;

/// How long the head removes the directory, before it leaves the rest to another process.
const REMOVAL_LIMIT: Duration = Duration::from_secs(5);

/// The directory, until it is dropped.
#[derive(Debug)]
pub struct CentralDirectory {
    path: PathBuf,
    _guard: Guard,
    /// Goes last.
    _here: JobDirectory,
}

impl CentralDirectory {
    /// Makes the directory in `shared`, while this process has one thread.
    pub fn create(shared: &Path) -> Result<Self, Refusal> {
        let failed = |error: postrider_os::error::Error| Refusal::new(1, format!("--central: {error}"));
        let shared = std::path::absolute(shared).unwrap_or_else(|_| shared.to_owned());
        let path = shared.join(format!("postrider-job-{:016x}", random().map_err(failed)?));
        let temporary = std::env::temp_dir();
        directory::have_swept(&temporary);
        let here = JobDirectory::create(&temporary).map_err(failed)?;
        here.note_elsewhere(&path).map_err(failed)?;
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| {
            Refusal::new(1, format!("--central: cannot create the directory {}: {error}", path.display()))
        })?;
        let guard = Guard::post(move || directory::sweep(&temporary)).map_err(failed)?;
        Ok(Self { path, _guard: guard, _here: here })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for CentralDirectory {
    fn drop(&mut self) {
        match remove_until(&self.path, Some(Instant::now() + REMOVAL_LIMIT)) {
            Err(error) if error.kind() != io::ErrorKind::TimedOut => {
                let what = format!("cannot remove {}: {error}", self.path.display());
                say_error(&format!(
                    "postrider run: {what}; it is tried again in the background, and by later jobs"
                ));
            }
            _ => {}
        }
    }
}
