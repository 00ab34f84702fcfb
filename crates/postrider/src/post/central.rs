//! Messages through a directory that all hosts see: one poller for each host.
//!
//! Ranks write a message file and then its lock file into the central directory of the receiver's host. No kernel
//! reports what other hosts do there, so that somebody has to look again and again. That is the post, once for all ranks of its host:
//! it reads the directory, and announces each message whose lock file it sees by an empty file in the receiver's local
//! inbox, which the kernel does report. While messages come it looks often; when none do, it waits longer from look to look, and the longer
//! the slower the directory answers: a server that is loaded is not loaded more by those who wait.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postrider_os::error::{Error, Result};
use postrider_os::file::Outbox;
use postrider_os::hosts::Placement;
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::parcel::{LOCK, Parcel};

use super::doors::Doors;

/// From a look that has found something to the next.
const PAUSE_MIN: Duration = Duration::from_micros(100);
/// From one look to the next when nothing has come for long.
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// The same, in times of a look, where that is longer.
const PAUSE_MAX_LOOKS: u32 = 20;

/// The poller of one host.
#[derive(Debug)]
pub struct Central {
    directory: PathBuf,
    /// What lay there at the last look and had been announced.
    announced: BTreeSet<Parcel>,
    pause: Duration,
}

impl Central {
    /// Makes the part of host `host` in the directory `central`.
    pub fn new(central: &Path, host: u32) -> Result<Self> {
        let directory = central.join(host.to_string());
        drop(Outbox::open(&directory)?);
        Ok(Self { directory, announced: BTreeSet::new(), pause: PAUSE_MIN })
    }

    /// How long to sleep until the next look.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Looks for lock files, and announces the messages of ranks of this host.
    pub fn look(&mut self, placement: &Placement, here: u32, doors: &mut Doors) -> Result<()> {
        let failed =
            |error| Error::new(format!("cannot read the directory {}", self.directory.display()), error);
        let begun = Instant::now();
        let mut present = BTreeSet::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let parcel = name.to_str().and_then(|name| Parcel::parse(name.strip_suffix(LOCK)?));
            let known = |parcel: &Parcel| placement.host_of_number(parcel.receiver) == here;
            present.extend(parcel.filter(known));
        }
        let fresh: Vec<Parcel> = present.difference(&self.announced).copied().collect();
        let took = begun.elapsed();
        self.pause = match fresh.is_empty() {
            true => (self.pause * 3 / 2).min(PAUSE_MAX.max(took * PAUSE_MAX_LOOKS)),
            false => PAUSE_MIN.max(took),
        };
        for parcel in fresh {
            match doors.of(parcel)? {
                Some((outbox, name)) if parcel.receiver < placement.ranks() => {
                    outbox.send(&name, &[], UserMemory::of(&mut OwnedMemory::new(1)), 0)?;
                }
                Some((outbox, name)) => self.copy(parcel, outbox, &name)?,
                // A guest that has left wants nothing any more.
                None => {}
            }
        }
        self.announced = present;
        Ok(())
    }

    /// Moves the message to a guest's inbox: its own job may have no part in this directory.
    fn copy(&self, parcel: Parcel, outbox: &Outbox, name: &CStr) -> Result<()> {
        let text = parcel.text().to_string_lossy().into_owned();
        let path = self.directory.join(&text);
        let failed = |error| Error::new(format!("cannot hand over {}", path.display()), error);
        let mut begun = outbox.begin(name)?;
        fs::File::open(&path).and_then(|mut file| io::copy(&mut file, &mut begun.file)).map_err(failed)?;
        outbox.finish(begun)?;
        let lock = self.directory.join(format!("{text}{LOCK}"));
        fs::remove_file(lock).and_then(|()| fs::remove_file(&path)).map_err(failed)
    }
}
