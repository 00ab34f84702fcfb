//! Messages through a directory that all hosts see: one poller for each host.
//!
//! Ranks write a message file and then its lock file into the central directory of the receiver's host. No kernel
//! reports what other hosts do there, so that somebody has to look again and again. That is the post, once for all ranks of its host:
//! it reads the directory, and announces each message whose lock file it sees by an empty file in the receiver's local
//! inbox, which the kernel does report. While messages come it looks often; when none do, it waits longer from look to look, and the longer
//! the slower the directory answers: a server that is loaded is not loaded more by those who wait.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postrider_os::error::{Error, Result};
use postrider_os::file::Outbox;
use postrider_os::hosts::Placement;
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::parcel::{LOCK, Parcel};

/// From a look that has found something to the next.
const PAUSE_MIN: Duration = Duration::from_micros(100);
/// From one look to the next when nothing has come for long.
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// The same, in times of a look, where that is longer.
const PAUSE_MAX_LOOKS: u32 = 20;

/// The poller of one host.
#[derive(Debug)]
pub struct Central {
    local: PathBuf,
    directory: PathBuf,
    outboxes: BTreeMap<u32, Outbox>,
    /// What lay there at the last look and had been announced.
    announced: BTreeSet<Parcel>,
    pause: Duration,
}

impl Central {
    /// Makes the part of host `host` in the directory `central`.
    pub fn new(local: PathBuf, central: &Path, host: u32) -> Result<Self> {
        let directory = central.join(host.to_string());
        drop(Outbox::open(&directory)?);
        let (outboxes, announced) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { local, directory, outboxes, announced, pause: PAUSE_MIN })
    }

    /// How long to sleep until the next look.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Looks for lock files, and announces the messages of ranks of this host.
    pub fn look(&mut self, placement: &Placement, here: u32) -> Result<()> {
        let failed =
            |error| Error::new(format!("cannot read the directory {}", self.directory.display()), error);
        let begun = Instant::now();
        let mut present = BTreeSet::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let parcel = name.to_str().and_then(|name| Parcel::parse(name.strip_suffix(LOCK)?));
            let known = |parcel: &Parcel| {
                let ranks = placement.ranks();
                parcel.name.sender < ranks
                    && parcel.receiver < ranks
                    && placement.host_of(parcel.receiver) == here
            };
            present.extend(parcel.filter(known));
        }
        let fresh: Vec<Parcel> = present.difference(&self.announced).copied().collect();
        let took = begun.elapsed();
        self.pause = match fresh.is_empty() {
            true => (self.pause * 3 / 2).min(PAUSE_MAX.max(took * PAUSE_MAX_LOOKS)),
            false => PAUSE_MIN.max(took),
        };
        for parcel in fresh {
            self.announce(parcel)?;
        }
        self.announced = present;
        Ok(())
    }

    fn announce(&mut self, parcel: Parcel) -> Result<()> {
        let outbox = match self.outboxes.entry(parcel.receiver) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(Outbox::open(&self.local.join(parcel.receiver.to_string()))?)
            }
        };
        let nothing = UserMemory::of(&mut OwnedMemory::new(1));
        outbox.send(&parcel.name.text(), &[], nothing, 0)
    }
}
