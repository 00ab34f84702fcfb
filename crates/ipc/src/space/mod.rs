//! A name space: a file in a private directory, mapped by all its processes, which do everything themselves.
//!
//! ```text
//! DIRECTORY/space       tables of processes, waiting threads, queues, sets and segments, and what belongs to each place in them
//! DIRECTORY/shm.7.2     the memory of the segment with place 7 that is the second there
//! ```
//!
//! Each object has a lock; *the registry* is the lock of what concerns several: keys, places, processes. It is taken before an object's. All locks
//! outlive their holders ([`lock`]), and whoever takes one whose holder has died repairs what it guards: lists are changed by one
//! store, and all else that a queue has follows from its list; a set has a journal. Nobody waits for another process with a lock held.
//!
//! Who has to wait says so in a place of his own ([`waiting`]); whoever makes it possible does for him what he waits for, as the kernel does,
//! and so a value that somebody waits for is never seen by another.

pub mod acting;
pub mod asking;
pub mod lock;
pub mod memory;
pub mod pages;
mod process;
mod queue;
mod registry;
mod segment;
mod served;
mod set;
pub mod system;
mod views;
mod waiting;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

use crate::semantics::limits::{Limits, OBJECTS_MAX, OPERATIONS_MAX, SEMAPHORES_MAX};
use crate::semantics::names;
use crate::semantics::permission::Permission;
pub use acting::{Actor, Call};
pub use asking::{Host, Left};
use lock::{Found, Lock};
use memory::{Memory, shared};
use process::{ENTRIES, Entry, Ledger, PROCESSES_MAX, Process};
pub use queue::{How, Message};
pub(crate) use registry::permit;
pub use registry::{Get, own_pid};
pub use segment::Attached;
pub use served::Mapping;
use waiting::{WAITERS_MAX, Waiter};

/// An error of the system, by its number.
pub type Errno = i32;
/// What a call comes to.
pub type Result<T> = std::result::Result<T, Errno>;

/// Memory of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// Where it starts.
    pub address: usize,
    /// How long it is.
    pub bytes: usize,
}

/// What the file begins with once it can be used.
const MAGIC: u32 = 0x5049_5633;
const PAGE: usize = 4096;

shared! {
    /// The first page.
    pub struct Header {
        /// [`MAGIC`].
        pub magic: AtomicU32,
        /// Queues.
        pub queues: AtomicU32,
        /// Sets.
        pub sets: AtomicU32,
        /// Segments.
        pub segments: AtomicU32,
        /// Bytes of a message.
        pub message_bytes: AtomicU64,
        /// Bytes of a queue.
        pub queue_bytes: AtomicU64,
        /// Whose numbers its processes have; see [`system::numbering`].
        pub numbering: AtomicU64,
        /// How many places of each table were ever taken.
        pub processes_used: AtomicU32,
        /// See above.
        pub waiters_used: AtomicU32,
        /// The number of this host.
        pub host: AtomicU32,
        /// Hosts.
        pub hosts: AtomicU32,
        /// The host on which new objects live, plus one.
        pub home: AtomicU32,
        /// Whether the name space is to be ended on all hosts.
        pub stop: AtomicU32,
        /// How often the server was told to look.
        pub bell: AtomicU32,
        /// Whether it sleeps.
        pub server_sleeps: AtomicU32,
        /// Who has something for it.
        pub requests: waiting::List,
        /// How many takings of pages there were, and what the last one is; see `pages`.
        pub take: AtomicU32,
        /// Of which segment.
        pub take_identifier: AtomicU32,
        /// The first page.
        pub take_first: AtomicU32,
        /// Pages.
        pub take_count: AtomicU32,
        /// What is left.
        pub take_level: AtomicU32,
        /// How often a process has done what was asked.
        pub taken: AtomicU32,
        /// How many children there were that will listen.
        pub forks: AtomicU32,
        /// What pages are wanted.
        pub wants: [AtomicU64; pages::WANTS],
        /// See the module's head.
        pub registry: Lock,
        /// Held by a launcher that looks after the dead.
        pub caretaker: Lock,
        /// Held by the server of this host.
        pub server: Lock,
        /// Guards the list of requests.
        pub post: Lock,
    }

    /// What queues, sets and segments have in common.
    pub struct Object {
        /// Guards the object.
        pub lock: Lock,
        /// 1 if it exists.
        pub exists: AtomicU32,
        /// Whether the lock was made.
        pub made: AtomicU32,
        /// How often the place had been taken before.
        pub round: AtomicU32,
        /// Its key.
        pub key: AtomicI32,
        /// Permissions.
        pub uid: AtomicU32,
        /// See above.
        pub gid: AtomicU32,
        /// See above.
        pub cuid: AtomicU32,
        /// See above.
        pub cgid: AtomicU32,
        /// See above.
        pub mode: AtomicU32,
        /// Unused.
        pub filler: AtomicU32,
        /// When it was changed.
        pub changed: AtomicI64,
    }
}

impl Object {
    pub(crate) fn permission(&self) -> Permission {
        let get = |word: &AtomicU32| word.load(Acquire);
        Permission {
            uid: get(&self.uid),
            gid: get(&self.gid),
            cuid: get(&self.cuid),
            cgid: get(&self.cgid),
            mode: get(&self.mode),
        }
    }

    pub(crate) fn identifier(&self, place: u32) -> i32 {
        names::identifier(place, self.round.load(Acquire))
    }
}

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Message queues.
    Queue,
    /// Semaphore sets.
    Set,
    /// Shared memory.
    Segment,
}

/// Bytes of a place in a table of objects.
const OBJECT_BYTES: usize = 256;

/// Where everything is.
#[derive(Clone, Copy, Debug)]
struct Layout {
    processes: usize,
    waiters: usize,
    objects: [usize; 3],
    ledgers: usize,
    operations: usize,
    sets: usize,
    queues: usize,
    queue: queue::Room,
    exchanges: usize,
    exchange_bytes: usize,
    bytes: usize,
}

impl Layout {
    fn new(limits: &Limits, host: Host) -> Self {
        let mut at = PAGE;
        let mut take = |bytes: usize, times: usize| {
            let start = at;
            at = (at + bytes * times).next_multiple_of(PAGE);
            start
        };
        let queue = queue::Room::new(limits);
        let objects = OBJECTS_MAX as usize;
        let processes = take(size_of::<Process>(), PROCESSES_MAX);
        let waiters = take(size_of::<Waiter>(), WAITERS_MAX);
        let tables = [0; 3].map(|_| take(OBJECT_BYTES, objects));
        let ledgers = take(2 * ENTRIES * size_of::<Entry>(), PROCESSES_MAX);
        let operations = take(PAGE, WAITERS_MAX);
        let sets = take(set::BODY_BYTES, objects);
        let queues = take(queue.bytes, objects);
        let exchange_bytes = Space::exchange_bytes(limits, host);
        let exchanges = take(exchange_bytes, WAITERS_MAX);
        let objects = tables;
        Self {
            processes,
            waiters,
            objects,
            ledgers,
            operations,
            sets,
            queues,
            queue,
            exchanges,
            exchange_bytes,
            bytes: at,
        }
    }
}

/// A name space that this process has joined.
pub struct Space {
    memory: Memory,
    file: File,
    directory: PathBuf,
    layout: Layout,
    limits: Limits,
    host: Host,
    cores: u32,
    attachments: Mutex<Vec<Attached>>,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Space({})", self.directory.display())
    }
}

/// The name of the file in a directory.
const FILE: &str = "space";

impl Space {
    /// Makes a name space in a directory, or the part of it that a host has.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(directory: &Path, limits: Limits, host: Host) -> io::Result<Self> {
        let path = directory.join(FILE);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        let layout = Layout::new(&limits, host);
        file.set_len(layout.bytes as u64)?;
        let header: &Header = Memory::map(&file, PAGE)?.at(0);
        header.queues.store(limits.queues, Release);
        header.sets.store(limits.sets, Release);
        header.segments.store(limits.segments, Release);
        header.message_bytes.store(limits.message_bytes, Release);
        header.queue_bytes.store(limits.queue_bytes, Release);
        header.numbering.store(system::numbering()?, Release);
        header.host.store(host.number, Release);
        header.hosts.store(host.all, Release);
        header.home.store(host.home.map_or(0, |home| home + 1), Release);
        for lock in [&header.registry, &header.caretaker, &header.server, &header.post] {
            lock.make();
        }
        header.magic.store(MAGIC, Release);
        Self::open(directory)
    }

    /// Opens the name space of a directory.
    ///
    /// # Errors
    /// What the system says, that it is none, and that its processes have numbers that mean nothing here.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(directory.join(FILE))?;
        let not_one = || io::Error::new(io::ErrorKind::InvalidData, "this is no name space of this version");
        let bytes = file.metadata()?.len();
        let mut start = [0; 4];
        file.read_exact_at(&mut start, 0).map_err(|_| not_one())?;
        if u32::from_ne_bytes(start) != MAGIC || bytes < PAGE as u64 {
            return Err(not_one());
        }
        let header: &Header = Memory::map(&file, PAGE)?.at(0);
        if header.numbering.load(Acquire) != system::numbering()? {
            let message = "its processes have numbers of another PID name space, which has to be shared, too";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let limits = Limits {
            message_bytes: header.message_bytes.load(Acquire),
            queue_bytes: header.queue_bytes.load(Acquire),
            queues: header.queues.load(Acquire),
            sets: header.sets.load(Acquire),
            segments: header.segments.load(Acquire),
        };
        let host = Host {
            number: header.host.load(Acquire),
            all: header.hosts.load(Acquire),
            home: header.home.load(Acquire).checked_sub(1),
        };
        let layout = Layout::new(&limits, host);
        if layout.bytes as u64 != bytes {
            return Err(not_one());
        }
        let memory = Memory::map(&file, layout.bytes)?;
        Ok(Self {
            memory,
            file,
            directory: directory.to_owned(),
            layout,
            limits,
            host,
            cores: system::cores(),
            attachments: Mutex::default(),
        })
    }

    /// Its limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn header(&self) -> &'static Header {
        self.memory.at(0)
    }

    fn processes(&self) -> &'static [Process] {
        let used = self.header().processes_used.load(Acquire) as usize;
        self.memory.all(self.layout.processes, used.min(PROCESSES_MAX))
    }

    /// The place of an object; all kinds begin with what they have in common.
    fn place<T: memory::Shared>(&self, kind: Kind, place: u32) -> &'static T {
        const { assert!(size_of::<T>() <= OBJECT_BYTES) };
        assert!(place < OBJECTS_MAX);
        self.memory.at(self.layout.objects[kind as usize] + place as usize * OBJECT_BYTES)
    }

    fn undo(&self, process: usize) -> Ledger {
        Ledger { entries: self.entries(process, 0), made: &self.one_process(process).undo_entries }
    }

    fn attached(&self, process: usize) -> Ledger {
        Ledger { entries: self.entries(process, 1), made: &self.one_process(process).attached_entries }
    }

    fn entries(&self, process: usize, which: usize) -> &'static [Entry] {
        let bytes = ENTRIES * size_of::<Entry>();
        self.memory.all(self.layout.ledgers + (process * 2 + which) * bytes, ENTRIES)
    }

    fn one_process(&self, process: usize) -> &'static Process {
        assert!(process < PROCESSES_MAX);
        self.memory.at(self.layout.processes + process * size_of::<Process>())
    }

    /// Gives pages back that are zeros from now on.
    fn forget(&self, at: usize, bytes: usize) {
        system::punch(&self.file, at, bytes);
    }
}

/// A lock that is held; it is given back at the end.
pub(crate) struct Held(&'static Lock);

impl Held {
    /// Takes it, and has what it guards repaired if its last holder has died.
    fn take(lock: &'static Lock, repair: impl FnOnce()) -> Self {
        let found = lock.take();
        let held = Self(lock);
        if found == Found::Orphaned {
            repair();
        }
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.give();
        waiting::wake_told();
    }
}

const _: () = assert!(OPERATIONS_MAX * 6 <= PAGE && SEMAPHORES_MAX <= 32000);
