//! Packets as files: written into the receiver's inbox, made visible by a rename, reported by the kernel.
//!
//! In a job over several hosts the inboxes are local directories of each host. What goes to another host is put into the inbox of
//! this host's post, with the receiver's rank before its name, and the posts carry it from there. With a central directory,
//! which all hosts see, every message is a file in that of the receiver's host, followed by a lock file that says it is
//! whole; the post there looks for lock files, and announces each message by an empty file of its name in the local inbox.
//!
//! What goes to a process of another job is put into that one's inbox, with the key of this job before its name. Where jobs have several
//! hosts, the posts of one of them carry such files: its own processes write to guests as to ranks of other hosts, and a guest puts
//! files into the inbox of the post whose guest it is, or into the central directory.
//!
//! A file's name is `<sender>.<number>`, both decimal; numbers count the packets of that pair from 0, so that the receiver
//! restores the order whatever order the names are found in. Its bytes are a magic word, the packet's kind and body
//! length, the header, and the body. A message of any size is one file, as long as its receiver keeps up: how far a sender may run ahead is
//! bounded for each pair, by credits that are files of their own ([`window`]). A short
//! file is read as soon as it arrives, and kept to be sent again or removed; a long one stays on disk until its message is matched, and is then read
//! straight into the user's buffer ([`MessageFile`]).
//!
//! Nothing that stands in a name or a file is trusted: what is not a whole packet of a rank of this job is an error that
//! names the file.

mod window;

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::ffi::{CStr, CString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::file::{Address, Inbox, Outbox, ReceivedFile, Spare};
use postrider_os::hall::{Welcome, key_of_files};
use postrider_os::hosts::Placement;
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::packet::CREDIT;
use postrider_os::parcel::{Foreign, Name, POST, Parcel};

use super::wire::{ENVELOPE_BYTES, HEADER_BYTES_MAX, Header, Identity, Kind};
use super::{Balance, Body, Incoming, Limits, Multicast, SingleCopy};
use crate::error::{Error, Result};
use window::{Credit, SHORT_BYTES_MAX, Window};

/// `"PR"`, a version, and the packet's kind; then the length of the body.
const PREFIX_BYTES: usize = 12;
const MAGIC: [u8; 3] = *b"PR\x01";
/// A piece of an announced message, which is read while the next one is written.
const PIECE_BYTES_MAX: usize = 16 << 20;
/// The shortest message of which several receivers get links to one file.
const MULTICAST_BYTES_MIN: u64 = 16 << 10;
/// The most files that are kept to be sent again.
const SPARES_MAX: usize = 8;

/// The inbox of one process, and the outboxes of its peers.
#[derive(Debug)]
pub struct FileTransport {
    inbox: Arc<Inbox>,
    directories: Directories,
    rank: u32,
    /// The key of this process's job, by which those of other jobs know its files.
    key: u64,
    /// Numbers of processes of other jobs, by what their files are called.
    strangers: BTreeMap<Identity, u32>,
    /// The posts of other jobs whose guest this process is, by the keys of these.
    visits: BTreeMap<u64, Visited>,
    placement: Placement,
    /// Of what the own posts carry.
    balance: Balance,
    peers: Vec<Peer>,
    /// The inbox of the post, or with a central directory those of all hosts, as far as they are open.
    hosts: Vec<Option<Outbox>>,
    /// Names found but not yet taken, in the order of (sender, number).
    found: BTreeSet<Name>,
    /// Files that have been taken, for what is sent next.
    spares: Vec<Spare>,
    /// Tells of long messages that are not held any more.
    let_go: (Sender<LetGo>, Receiver<LetGo>),
    buffer: OwnedMemory,
}

/// Where message files are.
#[derive(Clone, Debug)]
pub struct Directories {
    /// The job's directory on this host.
    pub local: PathBuf,
    /// The job's directory that all hosts see, if messages go through it.
    pub central: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct Peer {
    outbox: Option<Outbox>,
    sent: u64,
    received: u64,
    window: Window,
    /// If it is of another job: how its files here are called, and where files for it go.
    stranger: Option<(Identity, Way)>,
}

/// Where files for a process of another job go.
#[derive(Debug)]
enum Way {
    /// To its inbox in this directory of its job.
    Inbox(PathBuf),
    /// Where those for a rank of another host go: it is a guest of this job, with this number.
    Guest(u32),
    /// Through the post of the job with this key, where it has this number.
    Post(u64, u32),
}

/// What a guest knows of the job whose guest it is.
#[derive(Debug)]
struct Visited {
    welcome: Welcome,
    placement: Placement,
    balance: Balance,
    /// The inbox of the post, or with a central directory those of all hosts, as far as they are open.
    hosts: BTreeMap<u32, Outbox>,
}

impl FileTransport {
    /// The transport of rank `rank`, with inboxes in `directories`.
    ///
    /// # Errors
    /// When the inbox cannot be made or watched.
    pub fn new(directories: Directories, rank: u32, key: u64, placement: Placement) -> Result<Self> {
        let local = directories.local.join(rank.to_string());
        let inbox = match &directories.central {
            None => Inbox::create(&local),
            Some(central) => {
                let host = central.join(placement.host_of(rank).to_string());
                Inbox::create_announced(&local, &host, rank)
            }
        };
        let peers = (0..placement.ranks()).map(|_| Peer::default()).collect();
        let hosts = (0..placement.hosts()).map(|_| None).collect();
        let (inbox, buffer) = (Arc::new(inbox.map_err(refused)?), OwnedMemory::new(SHORT_BYTES_MAX));
        let mut transport = Self {
            inbox,
            directories,
            rank,
            key,
            strangers: BTreeMap::new(),
            visits: BTreeMap::new(),
            placement,
            balance: Balance::default(),
            peers,
            hosts,
            found: BTreeSet::new(),
            spares: Vec::new(),
            let_go: channel(),
            buffer,
        };
        transport.scan()?;
        Ok(transport)
    }

    /// What the waiter sleeps on.
    #[must_use]
    pub fn inbox(&self) -> Arc<Inbox> {
        Arc::clone(&self.inbox)
    }

    /// The job's directory on this host.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        Some(self.directories.local.clone())
    }

    /// From now on process `number` is one of another job, which has `directory`. The counts of one that is met again go on.
    pub(crate) fn join(&mut self, number: u32, identity: Identity, directory: &Path) -> Result<()> {
        self.meet(number, identity, Way::Inbox(directory.to_owned()))
    }

    /// Whether messages go through a directory that all hosts see.
    pub(crate) fn is_central(&self) -> bool {
        self.directories.central.is_some()
    }

    /// This process is a guest of the post of another job.
    pub(crate) fn visit(&mut self, carrier: u64, welcome: Welcome, placement: Placement) {
        let (balance, hosts) = (Balance::default(), BTreeMap::new());
        self.visits.insert(carrier, Visited { welcome, placement, balance, hosts });
    }

    /// The post of another job is not needed any more. Returns the packets sent through it, less those taken from there.
    pub(crate) fn leave(&mut self, carrier: u64) -> i64 {
        self.visits.remove(&carrier).map_or(0, |visited| visited.balance.0)
    }

    /// Packets sent through all posts, less those taken from there.
    pub(super) fn balance(&self) -> i64 {
        self.visits.values().fold(self.balance.0, |sum, visited| sum.wrapping_add(visited.balance.0))
    }

    /// Counts a packet for or from `peer`, if it goes through a post.
    pub(super) fn count(&mut self, peer: u32, what: impl FnOnce(&mut Balance)) {
        let balance = match &self.peers[peer as usize].stranger {
            Some((_, Way::Inbox(_))) => None,
            Some((_, Way::Guest(_))) => Some(&mut self.balance),
            Some((_, Way::Post(carrier, _))) => {
                self.visits.get_mut(carrier).map(|visited| &mut visited.balance)
            }
            None => self.is_far(peer).then_some(&mut self.balance),
        };
        if let Some(balance) = balance {
            what(balance);
        }
    }

    /// Process `number` of another job is reached through the own post, or that of another job: there it is number `there`.
    pub(crate) fn carry(&mut self, number: u32, carrier: Option<u64>, there: u32) -> Result<()> {
        let visited = carrier.and_then(|carrier| Some((carrier, self.visits.get(&carrier)?)));
        let (job, way) = match visited {
            None => (self.key, Way::Guest(there)),
            Some((key, visited)) => (key_of_files(key, visited.welcome.number), Way::Post(key, there)),
        };
        self.meet(number, Identity { job, rank: there }, way)
    }

    fn meet(&mut self, number: u32, called: Identity, way: Way) -> Result<()> {
        let index = number as usize;
        if self.peers.len() <= index {
            self.peers.resize_with(index + 1, Peer::default);
        }
        let peer = &mut self.peers[index];
        if peer.stranger.as_ref().is_some_and(|(before, _)| *before != called) {
            // Its files are called otherwise now, and counted anew.
            *peer = Peer::default();
        }
        peer.stranger = Some((called, way));
        self.strangers.insert(called, number);
        self.open(number).map_err(refused)?;
        // What it has sent already was not reported as a message.
        self.scan()
    }

    /// Process `number` of another job is not needed any more.
    pub(crate) fn part(&mut self, number: u32) {
        if let Some(peer) = self.peers.get_mut(number as usize) {
            peer.outbox = None;
        }
    }

    pub(super) fn limits(&self, peer: u32) -> Limits {
        let file_bytes_max = self.peers[peer as usize].window.eager_file_bytes_max();
        let eager_bytes_max = file_bytes_max - (PREFIX_BYTES + HEADER_BYTES_MAX) as u64;
        Limits { eager_bytes_max, piece_bytes_max: PIECE_BYTES_MAX, single_copy: SingleCopy::Never }
    }

    pub(super) fn send(
        &mut self,
        peer: u32,
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> Result<bool> {
        let (head, length) = head(header, bytes);
        if !self.peers[peer as usize].window.has_room((length + bytes) as u64) {
            return Ok(false);
        }
        self.put(peer, &head[..length], body, bytes).map_err(refused)?;
        self.peers[peer as usize].count_sent(header, (length + bytes) as u64);
        Ok(true)
    }

    /// Writes the next file for `peer` where it belongs.
    fn put(
        &mut self,
        peer: u32,
        head: &[u8],
        body: UserMemory,
        bytes: usize,
    ) -> postrider_os::error::Result<()> {
        self.open(peer)?;
        let is_locked = self.is_locked(peer);
        let spare = if is_locked { None } else { self.spares.pop() };
        match (self.address(peer), spare) {
            (Some((outbox, name)), _) if is_locked => outbox.send_locked(&name, head, body, bytes),
            (Some((outbox, name)), None) => outbox.send(&name, head, body, bytes),
            (Some((outbox, name)), Some(spare)) => {
                outbox.send_again((&self.inbox, spare), &name, head, body, bytes)
            }
            (None, _) => unreachable!("it has just been opened"),
        }
    }

    /// Whether files for `peer` go through a central directory, where a lock file says that they are whole.
    fn is_locked(&self, peer: u32) -> bool {
        match &self.peers[peer as usize].stranger {
            Some((_, Way::Inbox(_))) => false,
            Some((_, Way::Post(carrier, _))) => {
                self.visits.get(carrier).is_some_and(|visited| visited.welcome.central.is_some())
            }
            Some((_, Way::Guest(_))) | None => self.directories.central.is_some(),
        }
    }

    /// Whether `peer` is a rank of another host.
    fn is_far(&self, peer: u32) -> bool {
        let ours = peer < self.placement.ranks();
        ours && self.placement.host_of(peer) != self.placement.host_of(self.rank)
    }

    /// Whether files for `peer` can be links to those for others.
    pub(super) fn links_to(&self, peer: u32) -> bool {
        let ours = peer < self.placement.ranks();
        ours && (self.directories.central.is_some()
            || self.placement.host_of(peer) == self.placement.host_of(self.rank))
    }

    /// The messages that [`FileTransport::multicast`] is for. A short one costs less as a file for each receiver, since files that were
    /// taken can be sent again and links to one file cannot; in a central directory no file can.
    pub(super) fn multicast_lengths(&self) -> Multicast {
        let bytes_min = if self.is_central() { 0 } else { MULTICAST_BYTES_MIN };
        Multicast { bytes_min, ..Multicast::ALL }
    }

    /// Sends one file to several for which [`FileTransport::links_to`] holds, and returns how many of them, from the first
    /// on, have got it: none from the first on that is too far behind.
    pub(super) fn multicast(
        &mut self,
        peers: &[u32],
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> Result<usize> {
        let (head, length) = head(header, bytes);
        let file_bytes = (length + bytes) as u64;
        let keeps_up = |peer: &&u32| {
            let window = self.peers[**peer as usize].window;
            window.has_room(file_bytes) && file_bytes <= window.eager_file_bytes_max()
        };
        let peers = &peers[..peers.iter().take_while(keeps_up).count()];
        if peers.is_empty() {
            return Ok(0);
        }
        for peer in peers {
            self.open(*peer).map_err(refused)?;
        }
        let addresses: Vec<Address> = peers.iter().filter_map(|peer| self.address(*peer)).collect();
        let sent = match self.directories.central {
            Some(_) => Outbox::send_locked_to_all(&addresses, &head[..length], body, bytes),
            None => Outbox::send_to_all(&addresses, &head[..length], body, bytes),
        };
        let sent = sent.map_err(refused)?;
        for peer in &peers[..sent] {
            self.peers[*peer as usize].count_sent(header, file_bytes);
        }
        Ok(sent)
    }

    /// The number by which this job's post, or its central directory, knows `peer`.
    fn number(&self, peer: u32) -> u32 {
        match self.peers[peer as usize].stranger {
            Some((_, Way::Guest(number))) => number,
            _ => peer,
        }
    }

    /// Opens the directory in which files for `peer` are put.
    fn open(&mut self, peer: u32) -> postrider_os::error::Result<()> {
        match &mut self.peers[peer as usize] {
            Peer { outbox, stranger: Some((identity, Way::Inbox(directory))), .. } => {
                return opened(outbox, || directory.join(identity.rank.to_string())).map(drop);
            }
            Peer { stranger: Some((_, Way::Post(carrier, there))), .. } => {
                let gone = || io::Error::new(io::ErrorKind::NotFound, "its job was parted from");
                let visited = self.visits.get_mut(carrier);
                let visited = visited
                    .ok_or_else(|| postrider_os::error::Error::new("cannot send a message", gone()))?;
                return visited.open(*there);
            }
            _ => {}
        }
        let (host, local) = (self.placement.host_of_number(self.number(peer)), &self.directories.local);
        let near = peer < self.placement.ranks() && host == self.placement.host_of(self.rank);
        let opened = match &self.directories.central {
            Some(central) => opened(&mut self.hosts[host as usize], || central.join(host.to_string())),
            None if near => opened(&mut self.peers[peer as usize].outbox, || local.join(peer.to_string())),
            None => opened(&mut self.hosts[0], || local.join(POST)),
        };
        opened.map(drop)
    }

    /// That directory, if it is open, and the name of the next file for `peer` in it.
    fn address(&self, peer: u32) -> Option<Address<'_>> {
        let entry = &self.peers[peer as usize];
        let name = Name { sender: self.rank, number: entry.sent };
        match &entry.stranger {
            Some((_, Way::Inbox(_))) => {
                let text = Foreign { job: self.key, name }.text();
                return entry.outbox.as_ref().map(|outbox| (outbox, text));
            }
            Some((_, Way::Post(carrier, there))) => {
                return self.visits.get(carrier)?.address(*there, entry.sent);
            }
            Some((_, Way::Guest(_))) | None => {}
        }
        let receiver = self.number(peer);
        let host = self.placement.host_of_number(receiver);
        let near = peer < self.placement.ranks() && host == self.placement.host_of(self.rank);
        let parcel = Parcel { receiver, name };
        let (outbox, name) = match &self.directories.central {
            Some(_) => (&self.hosts[host as usize], parcel.text()),
            None if near => (&entry.outbox, name.text()),
            None => (&self.hosts[0], parcel.text()),
        };
        outbox.as_ref().map(|outbox| (outbox, name))
    }

    /// Takes the next packet whose turn it is.
    pub(super) fn receive(&mut self) -> Result<Option<Incoming>> {
        while let Ok(LetGo { sender, file_bytes }) = self.let_go.1.try_recv() {
            self.peers[sender as usize].window.let_go(file_bytes);
            self.give_credit(sender)?;
        }
        loop {
            let mut next = self.next();
            if next.is_none() {
                let (found, names) = (
                    &mut self.found,
                    Names { key: self.key, peers: &self.peers, strangers: &self.strangers },
                );
                if !self.inbox.arrived(|text| found.extend(names.read(text))).map_err(refused)? {
                    self.scan()?;
                }
                next = self.next();
            }
            let Some(name) = next else { return Ok(None) };
            if let Some(incoming) = self.take(name)? {
                return Ok(Some(incoming));
            }
        }
    }

    /// Gives back to a process what this one is done with, if that is enough.
    fn give_credit(&mut self, peer: u32) -> Result<()> {
        let Some(credit) = self.peers[peer as usize].window.due() else { return Ok(()) };
        let head = [&prefix(CREDIT, Credit::BYTES)[..], &credit.encode()].concat();
        let nothing = UserMemory::of(&mut self.buffer);
        match self.put(peer, &head, nothing, 0) {
            Ok(()) => self.peers[peer as usize].sent += 1,
            // The other process has ended, or the job that it is of: it wants no room any more.
            Err(error) if error.reason.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(refused(error)),
        }
        Ok(())
    }

    fn scan(&mut self) -> Result<()> {
        let (found, names) =
            (&mut self.found, Names { key: self.key, peers: &self.peers, strangers: &self.strangers });
        self.inbox.scan(|text| found.extend(names.read(text))).map_err(refused)
    }

    fn next(&mut self) -> Option<Name> {
        let first = *self.found.first()?;
        let in_turn = |name: &Name| self.peers[name.sender as usize].received == name.number;
        let name = if in_turn(&first) { first } else { *self.found.iter().find(|name| in_turn(name))? };
        self.found.remove(&name);
        self.peers[name.sender as usize].received += 1;
        Some(name)
    }

    /// The file's name, for a name with this process's number of the sender.
    fn text_of(&self, name: Name) -> CString {
        match &self.peers[name.sender as usize].stranger {
            None => name.text(),
            Some((called, way)) => {
                let name = Name { sender: called.rank, ..name };
                let plain = matches!(way, Way::Guest(_));
                if plain { name.text() } else { Foreign { job: called.job, name }.text() }
            }
        }
    }

    /// Takes a packet; none when it was about this process's window only.
    fn take(&mut self, name: Name) -> Result<Option<Incoming>> {
        let text = self.text_of(name);
        let broken = |what: &str| {
            let place =
                self.directories.local.join(self.rank.to_string()).join(text.to_string_lossy().as_ref());
            Error::new(MPI_ERR_OTHER, format!("message file {}: {what}", place.display()))
        };
        let file = self.inbox.open(&text).map_err(refused)?;
        let mut start = [0; PREFIX_BYTES + HEADER_BYTES_MAX];
        let memory = UserMemory::of(&mut self.buffer);
        let read = file.read_start(memory, SHORT_BYTES_MAX).map_err(|e| broken(&e.to_string()))?;
        let known = read.min(start.len());
        memory.read(&mut start[..known]);
        if let Some(credit) = credit(&start[..known]) {
            self.done_with(name, &text, file, read)?;
            self.peers[name.sender as usize].window.redeem(credit);
            return Ok(None);
        }
        let (header, body_bytes) = parse(&start[..known]).ok_or_else(|| broken("it is no packet"))?;
        let start = PREFIX_BYTES + header.bytes();
        let body = if read - start == body_bytes {
            self.done_with(name, &text, file, read)?;
            self.peers[name.sender as usize].window.take(read as u64);
            Body::Memory(memory.offset(start as i64), body_bytes)
        } else {
            let bytes = file.bytes().map_err(|e| broken(&e.to_string()))?;
            if bytes != (start + body_bytes) as u64 {
                return Err(broken(&format!("it has {bytes} bytes and says {}", start + body_bytes)));
            }
            self.peers[name.sender as usize].window.take(bytes);
            Body::File(MessageFile {
                inbox: Arc::clone(&self.inbox),
                name: text,
                file: Some(file),
                start: start as u64,
                bytes: body_bytes,
                let_go: header.kind.is_whole().then(|| (self.let_go.0.clone(), name.sender)),
            })
        };
        self.give_credit(name.sender)?;
        Ok(Some(Incoming { peer: name.sender, header, body }))
    }

    /// Keeps a file that was read to be sent again, or removes it.
    fn done_with(&mut self, name: Name, text: &CStr, file: ReceivedFile, bytes: usize) -> Result<()> {
        // The names of ranks' files never come back, and are known to be taken when the directory is read.
        let own = self.spares.len() < SPARES_MAX && self.peers[name.sender as usize].stranger.is_none();
        match own.then(|| self.inbox.keep(text, file, bytes)).flatten() {
            Some(spare) => self.spares.push(spare),
            None => self.inbox.remove(text).map_err(refused)?,
        }
        Ok(())
    }
}

impl Peer {
    fn count_sent(&mut self, header: &Header, file_bytes: u64) {
        self.sent += 1;
        self.window.charge(file_bytes, header.kind.is_whole());
    }
}

impl Drop for FileTransport {
    fn drop(&mut self) {
        for spare in self.spares.drain(..) {
            // A job that is over may have lost its directory.
            let _gone = self.inbox.give_up(spare);
        }
    }
}

fn opened(
    outbox: &mut Option<Outbox>,
    path: impl FnOnce() -> PathBuf,
) -> postrider_os::error::Result<&mut Outbox> {
    match outbox {
        Some(outbox) => Ok(outbox),
        none => Ok(none.insert(Outbox::open(&path())?)),
    }
}

/// What stands before the body of a packet's file, and its length.
fn head(header: &Header, body_bytes: usize) -> ([u8; PREFIX_BYTES + HEADER_BYTES_MAX], usize) {
    let mut head = [0; PREFIX_BYTES + HEADER_BYTES_MAX];
    head[..PREFIX_BYTES].copy_from_slice(&prefix(header.kind as u8, body_bytes));
    head[PREFIX_BYTES..].copy_from_slice(&header.encode());
    (head, PREFIX_BYTES + header.bytes())
}

fn prefix(kind: u8, body_bytes: usize) -> [u8; PREFIX_BYTES] {
    let mut prefix = [0; PREFIX_BYTES];
    prefix[..3].copy_from_slice(&MAGIC);
    prefix[3] = kind;
    prefix[4..].copy_from_slice(&(body_bytes as u64).to_le_bytes());
    prefix
}

/// What a file gives back to this process's window, if that is what it is for.
fn credit(bytes: &[u8]) -> Option<Credit> {
    Credit::decode(bytes.strip_prefix(&prefix(CREDIT, Credit::BYTES))?)
}

impl Visited {
    /// Opens the directory in which files for number `there` are put.
    fn open(&mut self, there: u32) -> postrider_os::error::Result<()> {
        let Some(local) = &self.welcome.local else {
            let reason = io::Error::new(io::ErrorKind::NotFound, "the other job has no directory");
            return Err(postrider_os::error::Error::new("cannot send a message", reason));
        };
        let (place, path) = match &self.welcome.central {
            Some(central) => {
                let host = self.placement.host_of_number(there);
                (host, central.join(host.to_string()))
            }
            None => (0, local.join(POST)),
        };
        if let Entry::Vacant(entry) = self.hosts.entry(place) {
            entry.insert(Outbox::open(&path)?);
        }
        Ok(())
    }

    /// That directory, if it is open, and the name of file `number` in it.
    fn address(&self, there: u32, number: u64) -> Option<Address<'_>> {
        let place = self.welcome.central.as_ref().map_or(0, |_| self.placement.host_of_number(there));
        let name = Name { sender: self.welcome.number, number };
        Some((self.hosts.get(&place)?, Parcel { receiver: there, name }.text()))
    }
}

/// What is needed to read the names of files.
struct Names<'a> {
    key: u64,
    peers: &'a [Peer],
    strangers: &'a BTreeMap<Identity, u32>,
}

impl Names<'_> {
    /// Reads a name that was found, with this process's number of the sender; none if it is hidden, foreign, or its packet has been taken
    /// already.
    fn read(&self, text: &str) -> Option<Name> {
        let stranger = |job, name: Name| {
            let sender = *self.strangers.get(&Identity { job, rank: name.sender })?;
            Some(Name { sender, ..name })
        };
        let of_rank =
            |name: &Name| self.peers.get(name.sender as usize).is_some_and(|peer| peer.stranger.is_none());
        let name = match Name::parse(text) {
            Some(name) if of_rank(&name) => name,
            // A guest of this job, or nobody.
            Some(name) => stranger(self.key, name)?,
            None => {
                let Foreign { job, name } = Foreign::parse(text)?;
                stranger(job, name)?
            }
        };
        (name.number >= self.peers.get(name.sender as usize)?.received).then_some(name)
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
    /// Whom to tell when it is not held any more, and who sent it, if it is a message that its sender has not announced.
    let_go: Option<(Sender<LetGo>, u32)>,
}

/// A long message is not held any more.
#[derive(Clone, Copy, Debug)]
struct LetGo {
    sender: u32,
    file_bytes: u64,
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
        if let Some((let_go, sender)) = &self.let_go {
            // Without its transport nobody wants to know.
            let _ = let_go.send(LetGo { sender: *sender, file_bytes: self.start + self.bytes as u64 });
        }
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
        fn no_bytes_are_trusted(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some((header, _)) = parse(&bytes) {
                prop_assert!(bytes.starts_with(&MAGIC) && bytes.len() >= PREFIX_BYTES + header.bytes());
            }
        }
    }
}
