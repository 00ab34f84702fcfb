//! Packets as files: written into the receiver's inbox, made visible by a rename, reported by the kernel.
//!
//! A file's name is `<sender>.<number>`, both decimal; numbers count the packets of that pair from 0, so that the receiver
//! restores the order whatever order the names are found in. Its bytes are a magic word, the packet's kind and body
//! length, the header, and the body. A message of any size is one file: sending never waits for the receiver. A short
//! file is read and removed as soon as it arrives; a long one stays on disk until its message is matched, and is then read
//! straight into the user's buffer ([`MessageFile`]).
//!
//! Nothing that stands in a name or a file is trusted: what is not a whole packet of a rank of this job is an error that
//! names the file.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::file::{Inbox, Outbox, ReceivedFile};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::wire::{ENVELOPE_BYTES, HEADER_BYTES_MAX, Header, Kind};
use super::{Body, Incoming, Limits};
use crate::error::{Error, Result};

/// `"PR"`, a version, and the packet's kind; then the length of the body.
const PREFIX_BYTES: usize = 12;
const MAGIC: [u8; 3] = *b"PR\x01";
/// What the first read of a file takes in: the whole packet, unless it is long.
const FIRST_READ_BYTES: usize = 64 << 10;

/// The inbox of one process, and the outboxes of its peers.
#[derive(Debug)]
pub struct FileTransport {
    inbox: Arc<Inbox>,
    directory: PathBuf,
    rank: u32,
    peers: Vec<Peer>,
    /// Names found but not yet taken, in the order of (sender, number).
    found: BTreeSet<Name>,
    buffer: OwnedMemory,
}

#[derive(Debug, Default)]
struct Peer {
    outbox: Option<Outbox>,
    sent: u64,
    received: u64,
}

/// A message file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The sending rank.
    pub sender: u32,
    /// How many packets that rank had sent here before.
    pub number: u64,
}

impl Name {
    /// The name as it stands in the directory.
    #[must_use]
    pub fn text(self) -> CString {
        let text = format!("{}.{}", self.sender, self.number);
        CString::new(text).unwrap_or_default()
    }

    /// Reads a name; none when it is not exactly what [`Name::text`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (sender, number) = text.split_once('.')?;
        let name = Self { sender: sender.parse().ok()?, number: number.parse().ok()? };
        (name.text().to_bytes() == text.as_bytes()).then_some(name)
    }
}

impl FileTransport {
    /// The transport of rank `rank` of `ranks`, with inboxes in `directory`.
    ///
    /// # Errors
    /// When the inbox cannot be made or watched.
    pub fn new(directory: PathBuf, rank: u32, ranks: u32) -> Result<Self> {
        let inbox = Inbox::create(&directory.join(rank.to_string())).map_err(refused)?;
        let peers = (0..ranks).map(|_| Peer::default()).collect();
        let buffer = OwnedMemory::new(FIRST_READ_BYTES);
        let mut transport =
            Self { inbox: Arc::new(inbox), directory, rank, peers, found: BTreeSet::new(), buffer };
        transport.scan()?;
        Ok(transport)
    }

    /// What the waiter sleeps on.
    #[must_use]
    pub fn inbox(&self) -> Arc<Inbox> {
        Arc::clone(&self.inbox)
    }

    pub(super) fn limits(&self) -> Limits {
        Limits { eager_bytes_max: u64::MAX, piece_bytes_max: 0, single_copy: false }
    }

    pub(super) fn send(
        &mut self,
        peer: u32,
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> Result<bool> {
        let entry = &mut self.peers[peer as usize];
        let outbox = match &mut entry.outbox {
            Some(outbox) => outbox,
            none => none.insert(Outbox::open(&self.directory.join(peer.to_string())).map_err(refused)?),
        };
        let mut head = [0; PREFIX_BYTES + HEADER_BYTES_MAX];
        head[..3].copy_from_slice(&MAGIC);
        head[3] = header.kind as u8;
        head[4..PREFIX_BYTES].copy_from_slice(&(bytes as u64).to_le_bytes());
        head[PREFIX_BYTES..].copy_from_slice(&header.encode());
        let name = Name { sender: self.rank, number: entry.sent };
        outbox.send(&name.text(), &head[..PREFIX_BYTES + header.bytes()], body, bytes).map_err(refused)?;
        entry.sent += 1;
        Ok(true)
    }

    /// Takes the next packet whose turn it is.
    pub(super) fn receive(&mut self) -> Result<Option<Incoming>> {
        let mut next = self.next();
        if next.is_none() {
            let (found, peers) = (&mut self.found, &self.peers);
            if !self.inbox.arrived(|text| note(found, peers, text)).map_err(refused)? {
                self.scan()?;
            }
            next = self.next();
        }
        next.map(|name| self.take(name)).transpose()
    }

    fn scan(&mut self) -> Result<()> {
        let (found, peers) = (&mut self.found, &self.peers);
        self.inbox.scan(|text| note(found, peers, text)).map_err(refused)
    }

    fn next(&mut self) -> Option<Name> {
        let first = *self.found.first()?;
        let in_turn = |name: &Name| self.peers[name.sender as usize].received == name.number;
        let name = if in_turn(&first) { first } else { *self.found.iter().find(|name| in_turn(name))? };
        self.found.remove(&name);
        self.peers[name.sender as usize].received += 1;
        Some(name)
    }

    fn take(&mut self, name: Name) -> Result<Incoming> {
        let text = name.text();
        let broken = |what: &str| {
            let place = self.directory.join(self.rank.to_string()).join(text.to_string_lossy().as_ref());
            Error::new(MPI_ERR_OTHER, format!("message file {}: {what}", place.display()))
        };
        let file = self.inbox.open(&text).map_err(refused)?;
        let mut prefix = [0; PREFIX_BYTES + HEADER_BYTES_MAX];
        let memory = UserMemory::of(&mut self.buffer);
        let read = file.read_start(memory, FIRST_READ_BYTES).map_err(|e| broken(&e.to_string()))?;
        let known = read.min(prefix.len());
        memory.read(&mut prefix[..known]);
        let (header, body_bytes) = parse(&prefix[..known]).ok_or_else(|| broken("it is no packet"))?;
        let start = PREFIX_BYTES + header.bytes();
        let body = if read - start == body_bytes {
            self.inbox.remove(&text).map_err(refused)?;
            Body::Memory(memory.offset(start as i64), body_bytes)
        } else {
            let bytes = file.bytes().map_err(|e| broken(&e.to_string()))?;
            if bytes != (start + body_bytes) as u64 {
                return Err(broken(&format!("it has {bytes} bytes and says {}", start + body_bytes)));
            }
            let inbox = Arc::clone(&self.inbox);
            Body::File(MessageFile {
                inbox,
                name: text,
                file: Some(file),
                start: start as u64,
                bytes: body_bytes,
            })
        };
        Ok(Incoming { peer: name.sender, header, body })
    }
}

/// Notes a name that was found, unless it is hidden, foreign, or its packet has been taken already.
fn note(found: &mut BTreeSet<Name>, peers: &[Peer], text: &str) {
    if let Some(name) = Name::parse(text)
        && let Some(peer) = peers.get(name.sender as usize)
        && name.number >= peer.received
    {
        found.insert(name);
    }
}

/// The header and the length of the body, from the beginning of a message file.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<(Header, usize)> {
    let (prefix, rest) = bytes.split_at_checked(PREFIX_BYTES)?;
    let kind = Kind::from_number(prefix[3]).filter(|_| prefix[..3] == MAGIC)?;
    let body_bytes = u64::from_le_bytes(prefix[4..].try_into().ok()?);
    let header = Header::decode(kind, rest.get(..ENVELOPE_BYTES + 8 * kind.words())?)?;
    Some((header, usize::try_from(body_bytes).ok().filter(|&bytes| bytes <= isize::MAX as usize / 2)?))
}

/// The body of a long packet, on disk. The file is removed when this is dropped.
#[derive(Debug)]
pub struct MessageFile {
    inbox: Arc<Inbox>,
    name: CString,
    file: Option<ReceivedFile>,
    start: u64,
    bytes: usize,
}

impl MessageFile {
    /// Length of the body in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Closes the file until it is read: thousands of unmatched messages must not use up the descriptors.
    pub fn park(&mut self) {
        self.file = None;
    }

    /// Reads `bytes` bytes from `offset` of the body on.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn read(&mut self, offset: u64, into: UserMemory, bytes: usize) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.inbox.open(&self.name).map_err(refused)?),
        };
        file.read_at(self.start + offset, into, bytes).map_err(|e| {
            Error::new(
                MPI_ERR_OTHER,
                format!("cannot read message file {}: {e}", self.name.to_string_lossy()),
            )
        })
    }
}

impl Drop for MessageFile {
    fn drop(&mut self) {
        // A file that is gone already has been removed with its directory: nothing is left behind.
        let _ = self.inbox.remove(&self.name);
    }
}

fn refused(error: postrider_os::error::Error) -> Error {
    let mut detail = error.to_string();
    if error.reason.kind() == std::io::ErrorKind::StorageFull {
        detail.push_str("; free some space there, or set TMPDIR to a directory with more");
    }
    Error::new(MPI_ERR_OTHER, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_survive_the_directory(sender: u32, number: u64) {
            let name = Name { sender, number };
            prop_assert_eq!(Name::parse(name.text().to_str().unwrap()), Some(name));
        }

        #[test]
        fn no_other_name_is_taken(text in "[0-9.+ -]{0,12}") {
            if let Some(name) = Name::parse(&text) {
                prop_assert!(name.text().to_bytes() == text.as_bytes());
            }
        }

        #[test]
        fn no_bytes_are_trusted(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some((header, _)) = parse(&bytes) {
                prop_assert!(bytes.starts_with(&MAGIC) && bytes.len() >= PREFIX_BYTES + header.bytes());
            }
        }
    }
}
