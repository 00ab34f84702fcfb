//! The job's directory in one that all hosts see, when messages go through it.
//!
//! It is private and has an unpredictable name; nothing in it is locked, because not every shared file system has locks. The head makes it
//! and removes it. When the head is killed its guard does that, and so does each agent that has lost the head, for the guard may have died
//! with it. They try for a while, since ranks of other hosts may write until they are ended.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postrider_os::launch::Guard;

use crate::launch::Refusal;

/// How often, and how many times, a guard or an agent tries to remove the directory.
const TRY_EVERY: Duration = Duration::from_millis(100);
const TRIES_MAX: u32 = 300;

/// The directory, until it is dropped.
#[derive(Debug)]
pub struct CentralDirectory {
    path: PathBuf,
    _guard: Guard,
}

impl CentralDirectory {
    /// Makes the directory in `shared`, while this process has one thread.
    pub fn create(shared: &Path) -> Result<Self, Refusal> {
        let shared = std::path::absolute(shared).unwrap_or_else(|_| shared.to_owned());
        let name = format!("postrider-job-{:016x}", RandomState::new().hash_one(std::process::id()));
        let path = shared.join(name);
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| {
            Refusal::new(1, format!("--central: cannot create the directory {}: {error}", path.display()))
        })?;
        let doomed = path.clone();
        let guard = Guard::post(move || remove(&doomed));
        match guard {
            Ok(guard) => Ok(Self { path, _guard: guard }),
            Err(error) => {
                let _the_first_error_counts = fs::remove_dir(&path);
                Err(Refusal::new(1, error))
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for CentralDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            eprintln!("postrider run: cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Removes the directory of a job that has lost its head, whoever else does so at the same time.
pub fn remove(directory: &Path) {
    for _ in 0..TRIES_MAX {
        if is_removed(fs::remove_dir_all(directory)) {
            return;
        }
        std::thread::sleep(TRY_EVERY);
    }
}

fn is_removed(removed: io::Result<()>) -> bool {
    removed.map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |()| true)
}
