//! Processes to run a test's program, on every transport.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use postrider_engine::objects::Key;
use postrider_engine::point_to_point::{Buffer, Message, Mode, Status};
use postrider_engine::settings::Settings;
use postrider_engine::transports::file::Directories;
use postrider_engine::transports::simulated::Network;
use postrider_engine::transports::{Limits, SingleCopy, shared_memory};
use postrider_engine::{Instance, State, World};
use postrider_os::gate::Threads;
use postrider_os::hosts::Placement;
use postrider_os::job::{Job, Shape, Transport};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::post::{self, Carrier};

/// Numbers of processes that a program is run with.
pub const RANKS: [u32; 5] = [1, 2, 3, 4, 7];
/// When a program has made no end by then, it hangs.
const WATCHDOG: Duration = Duration::from_secs(120);

/// Ways for messages to travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The simulated network, which follows from this seed.
    Simulated { seed: u64, single_copy: SingleCopy },
    /// Rings; long messages by single copy.
    SharedMemory,
    /// Rings; the system refuses single copies.
    SingleCopyRefused,
    /// Rings; the user does not want single copies.
    PiecesOnly,
    /// A file per message.
    File,
    /// Rings to the processes of this host, and the post to others; two hosts have ranks in turn.
    HostsByRings,
    /// A file per message, which the post carries to other hosts; two ranks on each.
    HostsByFiles,
    /// A file per message in a directory that all hosts see; two hosts have ranks in turn.
    HostsByCentralFiles,
}

pub const WAYS: [Way; 10] = [
    Way::Simulated { seed: 1, single_copy: SingleCopy::Always },
    Way::Simulated { seed: 2, single_copy: SingleCopy::Never },
    Way::Simulated { seed: 3, single_copy: SingleCopy::Crossing },
    Way::SharedMemory,
    Way::SingleCopyRefused,
    Way::PiecesOnly,
    Way::File,
    Way::HostsByRings,
    Way::HostsByFiles,
    Way::HostsByCentralFiles,
];

/// One process, as a test's program sees it.
#[derive(Clone, Copy, Debug)]
pub struct Rank<'a> {
    pub instance: &'a Instance,
    pub rank: i32,
    pub ranks: i32,
    /// A communicator of its own for [`Rank::meet`], whose messages no wildcard of a program takes.
    meeting: Key,
}

/// An operation under way, with its memory.
#[derive(Debug)]
pub struct Pending {
    key: Option<Key>,
    memory: OwnedMemory,
}

impl Rank<'_> {
    pub fn state<T>(&self, action: impl FnOnce(&mut State) -> postrider_engine::error::Result<T>) -> T {
        self.instance.with(action).unwrap_or_else(|error| panic!("rank {}: {error:?}", self.rank))
    }

    pub fn isend_in(&self, communicator: Key, mode: Mode, peer: i32, tag: i32, data: &[u8]) -> Pending {
        let mut memory = OwnedMemory::new(data.len());
        UserMemory::of(&mut memory).write(data);
        let buffer = Buffer::dense(UserMemory::of(&mut memory), data.len() as u64);
        let message = Message { buffer, peer, tag, communicator };
        let key = self.state(|state| state.isend(&message, mode));
        Pending { key: Some(key), memory }
    }

    pub fn isend(&self, mode: Mode, peer: i32, tag: i32, data: &[u8]) -> Pending {
        self.isend_in(State::WORLD, mode, peer, tag, data)
    }

    pub fn irecv_in(&self, communicator: Key, peer: i32, tag: i32, bytes: usize) -> Pending {
        let mut memory = OwnedMemory::new(bytes);
        let buffer = Buffer::dense(UserMemory::of(&mut memory), bytes as u64);
        let key = self.state(|state| state.irecv(Message { buffer, peer, tag, communicator }));
        Pending { key: Some(key), memory }
    }

    pub fn irecv(&self, peer: i32, tag: i32, bytes: usize) -> Pending {
        self.irecv_in(State::WORLD, peer, tag, bytes)
    }

    /// Waits, whatever the end is.
    pub fn finish(&self, pending: &mut Pending) -> postrider_engine::error::Result<Status> {
        let key = pending.key.take().expect("an operation ends once");
        self.instance.wait(key)?.completion.into_result()
    }

    /// Waits for a good end; the status and, of a receive, the data.
    pub fn wait(&self, mut pending: Pending) -> (Status, Vec<u8>) {
        let status =
            self.finish(&mut pending).unwrap_or_else(|error| panic!("rank {}: {error:?}", self.rank));
        let bytes = (status.bytes as usize).min(pending.memory.len());
        (status, pending.memory.as_slice()[..bytes].to_vec())
    }

    pub fn is_complete(&self, pending: &Pending) -> bool {
        self.state(|state| state.is_complete(pending.key.expect("an operation under way")))
    }

    pub fn cancel(&self, pending: &Pending) {
        self.state(|state| state.cancel(pending.key.expect("an operation under way")));
    }

    pub fn send(&self, peer: i32, tag: i32, data: &[u8]) {
        self.wait(self.isend(Mode::Standard, peer, tag, data));
    }

    pub fn recv(&self, peer: i32, tag: i32, bytes: usize) -> (Status, Vec<u8>) {
        self.wait(self.irecv(peer, tag, bytes))
    }

    /// Every process has come here.
    pub fn meet(&self) {
        let send = |peer| drop(self.wait(self.isend_in(self.meeting, Mode::Standard, peer, 0, &[])));
        let receive = |peer| drop(self.wait(self.irecv_in(self.meeting, peer, 0, 0)));
        if self.rank == 0 {
            (1..self.ranks).for_each(receive);
            (1..self.ranks).for_each(send);
        } else {
            send(0);
            receive(0);
        }
    }
}

impl Pending {
    /// All of the memory.
    pub fn data(&self) -> &[u8] {
        self.memory.as_slice()
    }
}

/// Bytes that tell one message from another.
pub fn pattern(bytes: usize, salt: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at.wrapping_mul(31) ^ at >> 8 ^ salt.wrapping_mul(167)) as u8).collect()
}

/// What the processes of one run share, to be looked at afterwards.
enum Ground {
    Network(Arc<Network>),
    Rings,
    Files(PathBuf),
    Hosts(Carrier, Option<PathBuf>),
}

/// Runs `program` on every transport, by each number of processes of `ranks`.
#[track_caller]
pub fn everywhere(ranks: &[u32], program: impl Fn(Rank<'_>) + Sync) {
    let test = Location::caller();
    for way in WAYS {
        for &ranks in ranks {
            if has_turn(test, way, ranks) {
                run(way, ranks, &program);
            }
        }
    }
}

/// With a word in `TEST_ROTATION` one in so many combinations runs.
const SHARE: u64 = 3;

/// Whether a combination runs: which ones do depends on that word and on the test. `cargo xtask verify` gives it.
fn has_turn(test: &Location<'_>, way: Way, ranks: u32) -> bool {
    let Ok(word) = std::env::var("TEST_ROTATION") else { return true };
    let mut hasher = DefaultHasher::new();
    (word, test.file(), test.line(), format!("{way:?}"), ranks).hash(&mut hasher);
    hasher.finish().is_multiple_of(SHARE)
}

/// Runs `program` by `ranks` processes.
pub fn run(way: Way, ranks: u32, program: &(impl Fn(Rank<'_>) + Sync)) {
    let (ground, worlds) = build(way, ranks);
    let instances: Vec<Instance> = worlds.into_iter().map(Instance::new).collect();
    let what = format!("{way:?}, {ranks} ranks");
    watched(&what, &instances, || {
        std::thread::scope(|scope| {
            for (rank, instance) in instances.iter().enumerate() {
                let live = move || live(instance, rank as i32, ranks as i32, program);
                let (what, instances) = (&what, &instances);
                scope.spawn(move || {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(live)) {
                        // The others may wait for this one for ever.
                        let why = panic.downcast_ref::<String>().map_or("", String::as_str);
                        give_up(&format!("{what}: rank {rank} has panicked: {why}"), instances);
                    }
                });
            }
        });
    });
    for (rank, instance) in instances.iter().enumerate() {
        let left = instance.with(|state| Ok(state.under_way()));
        assert_eq!(left, Ok(0), "{way:?}: rank {rank} of {ranks} has something under way: {instance:#?}");
    }
    drop(instances);
    match ground {
        Ground::Network(network) => assert_eq!(network.under_way(), 0, "{way:?}: packets that nobody took"),
        Ground::Rings => {}
        Ground::Files(directory) => expect_empty(&directory),
        Ground::Hosts(carrier, directory) => {
            drop(carrier);
            directory.iter().for_each(|directory| expect_empty(directory));
        }
    }
}

/// Removes a directory in which no file is left, at any depth.
fn expect_empty(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        assert!(entry.file_type().unwrap().is_dir(), "{:?} was left behind", entry.path());
        expect_empty(&entry.path());
    }
    std::fs::remove_dir(directory).unwrap();
}

/// The life of one process.
fn live(instance: &Instance, rank: i32, ranks: i32, program: &impl Fn(Rank<'_>)) {
    let meeting = instance.split(State::WORLD, Some(0), 0).unwrap().expect("everybody has the same colour");
    let rank = Rank { instance, rank, ranks, meeting };
    program(rank);
    rank.meet();
    rank.state(|state| state.free_communicator(meeting));
    instance.drain().expect("what was sent leaves the process");
}

/// Says what every process is doing, past the test runner's capture, and ends everything.
fn give_up(what: &str, instances: &[Instance]) -> ! {
    let _ = writeln!(std::io::stderr(), "{what}. The processes:\n{instances:#?}");
    std::process::abort();
}

/// Runs `action`; when it does not end, says what every process is doing and ends everything.
pub fn watched(what: &str, instances: &[Instance], action: impl FnOnce()) {
    let (done, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if ended.recv_timeout(WATCHDOG) == Err(mpsc::RecvTimeoutError::Timeout) {
                give_up(&format!("{what}: no end in sight"), instances);
            }
        });
        // Dropped when the action ends, by a panic too, which the watchdog takes for an end.
        let _done = done;
        action();
    });
}

fn build(way: Way, ranks: u32) -> (Ground, Vec<World>) {
    match way {
        Way::Simulated { seed, single_copy } => {
            let limits = Limits { eager_bytes_max: 512, piece_bytes_max: 300, single_copy };
            let network = Network::new(ranks, seed, limits, 4);
            let worlds = (0..ranks)
                .map(|rank| World::simulated(&network, rank, &Placement::one_host(ranks)))
                .collect();
            (Ground::Network(network), worlds)
        }
        Way::SharedMemory | Way::SingleCopyRefused | Way::PiecesOnly => {
            let job = job(ranks, Transport::SharedMemory);
            let world = |rank| {
                // A rank that has not said which process it is cannot be read: the same as a refusal.
                assert!(way == Way::SingleCopyRefused || job.slot(rank).claim());
                let world = World::in_job(&job, rank, None, Threads::MEET).unwrap();
                let pieces = way == Way::PiecesOnly;
                let way = if pieces {
                    shared_memory::Algorithm::Pieces
                } else {
                    shared_memory::Algorithm::SingleCopy
                };
                world.with(Settings { long_messages: Some(way), ..Settings::default() })
            };
            (Ground::Rings, (0..ranks).map(world).collect())
        }
        Way::File => {
            let directory = scratch();
            let job = job(ranks, Transport::File);
            let directories = Directories { local: directory.clone(), central: None };
            let world = |rank| World::in_job(&job, rank, Some(directories.clone()), Threads::MEET).unwrap();
            let worlds = (0..ranks).map(world).collect();
            (Ground::Files(directory), worlds)
        }
        Way::HostsByRings => {
            let (carrier, worlds) = post::rings(&in_turn(ranks));
            (Ground::Hosts(carrier, None), worlds)
        }
        Way::HostsByFiles => {
            let directory = scratch();
            let (carrier, worlds) = post::files(&Placement::blocks(ranks, 2), &directory);
            (Ground::Hosts(carrier, Some(directory)), worlds)
        }
        Way::HostsByCentralFiles => {
            let directory = scratch();
            let (carrier, worlds) = post::central(&in_turn(ranks), &directory);
            (Ground::Hosts(carrier, Some(directory)), worlds)
        }
    }
}

/// Two hosts that have ranks in turn.
fn in_turn(ranks: u32) -> Placement {
    Placement::new((0..ranks).map(|rank| rank % 2).collect()).unwrap()
}

fn scratch() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("postrider-conformance-{}-{number}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir(&directory).unwrap();
    directory
}

/// A job with short rings, so that they fill up.
fn job(ranks: u32, transport: Transport) -> Arc<Job> {
    let shape = Shape { cores: 1, transport, ring_bytes: 4096 };
    Arc::new(Job::create(shape, &Placement::one_host(ranks), 0).unwrap())
}
