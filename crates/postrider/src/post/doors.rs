//! Where message files for the processes of this host go: the inboxes of its ranks, and of guests.
//!
//! In a rank's inbox a file has its plain name. A guest's inbox belongs to its own job, where a number stands before the name that
//! tells this job and this guest from all others.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::CString;
use std::path::PathBuf;

use postrider_os::error::Result;
use postrider_os::file::{Address, Outbox};
use postrider_os::hall::key_of_files;
use postrider_os::parcel::{Foreign, Parcel};

use super::Places;

/// The inboxes of one host.
#[derive(Debug)]
pub struct Doors {
    key: u64,
    ranks: u32,
    places: Option<Places>,
    guests: BTreeMap<u32, PathBuf>,
    outboxes: BTreeMap<u32, Outbox>,
}

impl Doors {
    /// Those of the job `key` with `ranks` ranks.
    pub fn new(key: u64, ranks: u32, places: Option<Places>) -> Self {
        Self { key, ranks, places, guests: BTreeMap::new(), outboxes: BTreeMap::new() }
    }

    /// The job's directory on this host, and the one that all hosts see.
    pub fn places(&self) -> (Option<PathBuf>, Option<PathBuf>) {
        let places = self.places.as_ref();
        (places.map(|places| places.local.clone()), places.and_then(|places| places.central.clone()))
    }

    /// Guest `number` has its inbox at `inbox`.
    pub fn open_to_guest(&mut self, number: u32, inbox: PathBuf) {
        self.guests.insert(number, inbox);
    }

    /// Guest `number` has left.
    pub fn close(&mut self, number: u32) {
        self.guests.remove(&number);
        self.outboxes.remove(&number);
    }

    /// Where a parcel goes, and how it is called there; none for a guest that has left.
    ///
    /// # Errors
    /// When the inbox cannot be opened.
    pub fn of(&mut self, parcel: Parcel) -> Result<Option<Address<'_>>> {
        let Parcel { receiver, name } = parcel;
        let (path, text): (PathBuf, CString) = match (&self.places, self.guests.get(&receiver)) {
            (Some(places), None) if receiver < self.ranks => {
                (places.local.join(receiver.to_string()), name.text())
            }
            (_, Some(inbox)) => {
                (inbox.clone(), Foreign { job: key_of_files(self.key, receiver), name }.text())
            }
            _ => return Ok(None),
        };
        let outbox = match self.outboxes.entry(receiver) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Outbox::open(&path)?),
        };
        Ok(Some((outbox, text)))
    }
}
