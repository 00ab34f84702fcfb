//! Message files between hosts: parcels that ranks have put into the post's directory are sent in pieces, and written into the
//! receiver's inbox on the other side, under a hidden name until they are whole.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use postrider_os::error::{Error, Result};
use postrider_os::file::{Begun, Inbox, ReceivedFile, write_all};
use postrider_os::hosts::Placement;
use postrider_os::memory::UserMemory;
use postrider_os::packet::{Class, Head};
use postrider_os::parcel::{Name, Parcel};

use super::doors::Doors;
use super::link::Outgoing;

/// Bytes of a file that are sent at once.
const PIECE_BYTES: u64 = 256 << 10;
/// Number of the file, offset of the piece, length of the file.
const PREFIX_BYTES: usize = 24;

/// The message files of one host on their way.
#[derive(Debug)]
pub struct Files {
    local: PathBuf,
    inbox: Inbox,
    /// Parcels that lie in the post's directory, by the receiver's host.
    parcels: BTreeMap<u32, VecDeque<Parcel>>,
    /// The parcel that is being sent to a host.
    open: BTreeMap<u32, Open>,
    /// Files from elsewhere that are not whole yet.
    begun: BTreeMap<Parcel, Arriving>,
}

#[derive(Debug)]
struct Open {
    parcel: Parcel,
    file: ReceivedFile,
    offset: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Arriving {
    begun: Begun,
    offset: u64,
    bytes: u64,
}

impl Files {
    /// Watches the directory `post` of the job's directory `local`.
    pub fn new(local: &Path, post: &str) -> Result<Self> {
        let inbox = Inbox::create(&local.join(post))?;
        Ok(Self {
            local: local.to_owned(),
            inbox,
            parcels: BTreeMap::new(),
            open: BTreeMap::new(),
            begun: BTreeMap::new(),
        })
    }

    /// What becomes readable when there are new parcels.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Notes the parcels that have been put into the directory, and hands those over that are from or for a guest and stay here.
    pub fn look(&mut self, placement: &Placement, here: u32, doors: &mut Doors) -> Result<()> {
        let (parcels, mut staying) = (&mut self.parcels, Vec::new());
        let mut note = |text: &str| {
            let Some(parcel) = Parcel::parse(text) else { return };
            match placement.host_of_number(parcel.receiver) {
                host if host == here => staying.push(parcel),
                host => parcels.entry(host).or_default().push_back(parcel),
            }
        };
        if !self.inbox.arrived(&mut note)? {
            // The kernel has lost count: whatever lies there is noted again, and what is noted twice is sent once.
            self.inbox.scan(note)?;
        }
        for parcel in staying {
            let handed_over = match doors.of(parcel)? {
                Some((outbox, name)) => self.inbox.pass_on(&parcel.text(), outbox, &name),
                None => self.inbox.remove(&parcel.text()),
            };
            match handed_over {
                Err(error) if error.reason.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Hosts that parcels wait for.
    pub fn hosts(&self) -> Vec<u32> {
        let waiting = self.parcels.iter().filter(|(_, parcels)| !parcels.is_empty());
        waiting.map(|(&host, _)| host).chain(self.open.keys().copied()).collect()
    }

    /// All parcels that lie there, for whoever sends them in another way.
    pub fn take(&mut self) -> Vec<(u32, Parcel)> {
        let of_host = |(&host, parcels): (&u32, &mut VecDeque<Parcel>)| {
            std::mem::take(parcels).into_iter().map(move |parcel| (host, parcel))
        };
        self.parcels.iter_mut().flat_map(of_host).collect()
    }

    /// Sends pieces to a host until its link has enough. True when something was sent.
    pub fn send(&mut self, host: u32, link: &mut Outgoing) -> Result<bool> {
        let mut sent = false;
        while !link.is_full() {
            let Some(open) = self.next(host)? else { break };
            let bytes = (open.bytes - open.offset).min(PIECE_BYTES);
            let Parcel { receiver, name } = open.parcel;
            let head = Head {
                class: Class::File,
                kind: 0,
                sender: name.sender,
                receiver,
                bytes: PREFIX_BYTES as u32 + bytes as u32,
            };
            let filled = link.send_filled(&head, |body| {
                for (place, word) in body.chunks_exact_mut(8).zip([name.number, open.offset, open.bytes]) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
                read_exactly(&open.file, open.offset, &mut body[PREFIX_BYTES..])
            });
            let (parcel, whole) = (open.parcel, open.offset + bytes == open.bytes);
            open.offset += bytes;
            filled.map_err(|error| failed("read", &self.local, parcel, error))?;
            if whole {
                self.open.remove(&host);
                self.inbox.remove(&parcel.text())?;
            }
            sent = true;
        }
        Ok(sent)
    }

    /// The parcel for a host whose turn it is.
    fn next(&mut self, host: u32) -> Result<Option<&mut Open>> {
        while !self.open.contains_key(&host) {
            let Some(parcel) = self.parcels.get_mut(&host).and_then(VecDeque::pop_front) else {
                return Ok(None);
            };
            let file = match self.inbox.open(&parcel.text()) {
                Ok(file) => file,
                Err(error) if error.reason.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let bytes = file.bytes().map_err(|error| failed("read", &self.local, parcel, error))?;
            self.open.insert(host, Open { parcel, file, offset: 0, bytes });
        }
        Ok(self.open.get_mut(&host))
    }

    /// Takes a piece of a file from another host.
    pub fn receive(&mut self, head: &Head, body: UserMemory, doors: &mut Doors) -> Result<()> {
        let Some(piece_bytes) = (head.bytes as usize).checked_sub(PREFIX_BYTES) else {
            return Err(nonsense(head));
        };
        let [number, offset, bytes] = body.load::<[u64; 3]>().map(u64::from_le);
        let piece = body.offset(PREFIX_BYTES as i64);
        let parcel = Parcel { receiver: head.receiver, name: Name { sender: head.sender, number } };
        let Some((outbox, name)) = doors.of(parcel)? else {
            // A guest that has left.
            self.begun.remove(&parcel);
            return Ok(());
        };
        let mut arriving = match self.begun.remove(&parcel) {
            Some(arriving) => arriving,
            None => Arriving { begun: outbox.begin(&name)?, offset: 0, bytes },
        };
        let fits = offset == arriving.offset
            && bytes == arriving.bytes
            && offset.checked_add(piece_bytes as u64).is_some_and(|end| end <= bytes);
        if !fits {
            return Err(nonsense(head));
        }
        let written = write_all(&mut arriving.begun.file, &[], piece, piece_bytes);
        written.map_err(|error| failed("write", &self.local, parcel, error))?;
        arriving.offset += piece_bytes as u64;
        if arriving.offset == bytes {
            return outbox.finish(arriving.begun);
        }
        self.begun.insert(parcel, arriving);
        Ok(())
    }
}

fn read_exactly(file: &ReceivedFile, offset: u64, into: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < into.len() {
        match file.read_some(offset + done as u64, &mut into[done..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => done += n,
        }
    }
    Ok(())
}

fn failed(verb: &str, local: &Path, parcel: Parcel, error: io::Error) -> Error {
    let Parcel { receiver, name: Name { sender, .. } } = parcel;
    let hint = match error.kind() {
        io::ErrorKind::StorageFull => "; free some space there, or set TMPDIR to a directory with more",
        _ => "",
    };
    let reason = io::Error::new(error.kind(), format!("{error}{hint}"));
    let free = fs::canonicalize(local).unwrap_or_else(|_| local.to_owned());
    Error::new(
        format!("cannot {verb} a message of rank {sender} to rank {receiver} in {}", free.display()),
        reason,
    )
}

fn nonsense(head: &Head) -> Error {
    let reason = io::Error::from(io::ErrorKind::InvalidData);
    Error::new(
        format!("what came as a message file of rank {} to rank {} is none", head.sender, head.receiver),
        reason,
    )
}
