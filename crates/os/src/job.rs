//! The job segment: what the launcher and the ranks of one host know of each other.
//!
//! The launcher of a host makes one [`Segment`] and tells each rank, in its environment, where it is
//! (`POSTRIDER_JOB=<launcher pid>:<descriptor>`) and which rank it is (`POSTRIDER_RANK`). In a job over several hosts the agent of a
//! host is its launcher, and its post carries packets to the ranks of other hosts. Layout, in bytes:
//!
//! ```text
//! 0        magic, version, shape, number of this host, single copies   written once, by the launcher
//! 40       key: a random number that no other job has
//! 64       the post's doorbell: asleep flag, descriptor of its pipe    see `bell`
//! 72       whether the job has ended as it should                      written by the launcher
//! 76       how many ranks of this host are awake                       written by whoever falls asleep or wakes one, see `wait`
//! 80       how often the launcher has asked ranks for what they wait    written by the launcher
//! 84       how many ranks of this host have a helper                   written by the ranks
//! 128      guests that have ended in the middle of MPI: how many, and the number of each   written by the post
//! 4096     board: one slot of 192 bytes per rank of the job, of which those of this host are used
//!            +0   pid, state, exit code of MPI_Abort                  written by the rank, read by the launcher
//!            +12  whether it was said that processes of the rank are jobs of their own   written by those
//!            +16  calls of MPI so far, and those that only asked in vain  see `rest`
//!            +32  name of the MPI call the rank is in (32 bytes, NUL-padded; empty outside MPI)
//!            +64  doorbell (see `wait`): futex word, sleeping flag     written by everybody
//!            +72  descriptor of the pipe at which the rank may sleep  written by the rank
//!            +80  the bell of the rank's helper: futex word, sleeping flag   written by everybody
//!            +88  whether nobody may send it packets between hosts     written by the post, see `packet`
//!            +128 the rank's rest                                      see `rest`
//!            +176 number of the last call of MPI that left nothing behind  written by the rank
//! map      4 bytes per rank of the job: the number of its host
//! links    32 bytes per host: the token of the link to it and the words of its intake     see `link` and `intake`
//! rings    one ring per ordered pair (receiver, sender) of this host   only when the transport is shared memory, see `ring`
//! post     for each rank of this host a ring to the post and one from it   if the job has other hosts as well
//! intakes  for each host what has come from it and was not taken          if the job has other hosts as well
//! shelves  one for each rank of this host                                 with the rings, see `shelf`
//! cards    for the invitations of each rank of this host                   with the rings, see `invitation`
//! notes    for what each rank of this host waits, in words                 see `rest`
//! ```
//!
//! The board costs a rank a few plain stores per call and lets the launcher say which rank failed first and in which
//! MPI call, however the rank died.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::bell::{Bell, BellPipe};
use crate::error::Result;
use crate::hosts::Placement;
use crate::intake::{INTAKE_BYTES, INTAKE_WORDS, Intake, LinkSource};
use crate::invitation::{CARD_WORDS, CARDS, Card};
use crate::link::{LinkPipe, Token};
use crate::memory::UserMemory;
use crate::process::{self, Watched, can_copy_between_processes};
use crate::rest::{self, NOTE_BYTES, Rest};
use crate::ring::{Consumer, Producer, RING_HEADER_BYTES, is_ring};
use crate::shared_memory::{Segment, malformed};
use crate::shelf::layout::{self, SHELF_BYTES};
use crate::shelf::{TRAY_BYTES, TRAYS, Tray};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU32, AtomicU64};
use crate::wait::{Doorbell, TowerPlace, somebody_sleeps};

/// Environment variable: `<launcher pid>:<descriptor>` of the job segment.
pub const ENV_JOB: &str = "POSTRIDER_JOB";
/// Environment variable: this process's rank in `MPI_COMM_WORLD`.
pub const ENV_RANK: &str = "POSTRIDER_RANK";
/// Environment variable: the job's private directory (mode 0700), where the file transport keeps its messages.
pub const ENV_DIRECTORY: &str = "POSTRIDER_DIRECTORY";
/// Environment variable: the job's private directory that all hosts see, when messages go through it.
pub const ENV_CENTRAL: &str = "POSTRIDER_CENTRAL_DIRECTORY";
/// Environment variable: which part of an MPMD command line this rank belongs to (`MPI_APPNUM`), from 0.
pub const ENV_APPLICATION: &str = "POSTRIDER_APPLICATION";
/// Environment variable: the prefix of another MPI library, on which the processes of a job are to run.
pub const ENV_ENGINE: &str = "POSTRIDER_ENGINE";

/// Environment variable: the port at which the processes wait that have spawned this job (`MPI_Comm_spawn`).
pub const ENV_PARENT: &str = "POSTRIDER_PARENT";

const MAGIC: u64 = u64::from_le_bytes(*b"postride");
const VERSION: u32 = 8;
const KEY: usize = 40;
const POST_BELL: usize = 64;
const ENDED_WELL: usize = 72;
const AWAKE: usize = 76;
const ASKED: usize = 80;
const HELPERS: usize = 84;
const GONE: usize = 128;
const BOARD: usize = 4096;
/// As many as there is room for: more need not be known.
const GONE_MAX: u32 = ((BOARD - GONE) / 4 - 1) as u32;
const SLOT_BYTES: usize = 192;
const LINK_BYTES: usize = 32;
const CARD_BYTES: usize = 8 * CARD_WORDS;

const _: () = assert!(8 + 4 * INTAKE_WORDS <= LINK_BYTES);
const LEFT_NOTHING: usize = 176;
const NAME_WORDS: usize = 4;

/// How the names of calls begin that return whether messages have moved or not: nonblocking and buffered ones, starts and tests.
const RETURNING: [&[u8]; 7] =
    [b"MPI_I", b"MPI_Star", b"MPI_Test", b"MPI_Requ", b"MPI_Canc", b"MPI_Prea", b"MPI_Bsen"];

/// How messages travel between the ranks of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Rings in the job segment, and single-copy for long messages.
    SharedMemory,
    /// One file per message in a directory of this host.
    File,
    /// One file per message in a directory that all hosts see.
    Central,
}

impl Transport {
    const ALL: [Self; 3] = [Self::SharedMemory, Self::File, Self::Central];
}

/// What the launcher decides once for all ranks of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Cores that the ranks of this host may use together; with more ranks than cores nobody spins.
    pub cores: u32,
    /// How messages travel.
    pub transport: Transport,
    /// Bytes of each ring, a power of two; see [`Shape::default_ring_bytes`].
    pub ring_bytes: u32,
}

impl Shape {
    /// A ring large enough to stream through, and small enough that all rings of a host stay reasonable.
    #[must_use]
    pub fn default_ring_bytes(ranks: u32) -> u32 {
        match ranks {
            0..=8 => 256 << 10,
            9..=32 => 64 << 10,
            _ => 16 << 10,
        }
    }

    /// Bytes of each ring between a rank and the post: as much as four local ones.
    fn post_ring_bytes(self) -> u32 {
        4 * self.ring_bytes
    }
}

/// Where a rank is in its life, as the launcher sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `MPI_Init` has not been called (perhaps it is no MPI program).
    Unborn,
    /// Between `MPI_Init` and `MPI_Finalize`.
    Initialized,
    /// After `MPI_Finalize`.
    Finalized,
    /// Called `MPI_Abort` or met an error whose handler is `MPI_ERRORS_ARE_FATAL`.
    Aborted,
}

/// The mapped job segment.
#[derive(Debug)]
pub struct Job {
    segment: Segment,
    shape: Shape,
    placement: Placement,
    host: u32,
    layout: Layout,
    /// The process that made it, and its descriptor there.
    place: (u32, u32),
    launcher: Option<Watched>,
}

impl Job {
    /// Makes the segment of host `host` for a new job (the launcher of that host).
    ///
    /// # Errors
    /// When the system has no memory or descriptor left.
    pub fn create(shape: Shape, placement: &Placement, host: u32) -> Result<Self> {
        let layout = Layout::of(shape, placement, host);
        let segment = Segment::create(layout.bytes)?;
        let single_copies = u32::from(can_copy_between_processes());
        let transport = shape.transport as u32;
        let facts =
            [VERSION, placement.ranks(), shape.cores, transport, shape.ring_bytes, host, single_copies];
        for (i, fact) in facts.into_iter().enumerate() {
            segment.word32(8 + 4 * i).store(fact, Relaxed);
        }
        for (rank, &host) in placement.host_of_each().iter().enumerate() {
            segment.word32(layout.map + 4 * rank).store(host, Relaxed);
        }
        segment.word64(KEY).store(process::random()?, Relaxed);
        segment.word64(0).store(MAGIC, Release);
        let place = (std::process::id(), segment.descriptor());
        Ok(Self { segment, shape, placement: placement.clone(), host, layout, place, launcher: None })
    }

    /// Maps the segment of the job that `POSTRIDER_JOB` names (a rank).
    ///
    /// # Errors
    /// When the text is malformed, the launcher is gone, or it is of another version.
    pub fn open(environment: &str) -> Result<Self> {
        let numbers =
            environment.split_once(':').and_then(|(pid, fd)| Some((pid.parse().ok()?, fd.parse().ok()?)));
        let Some((pid, descriptor)) = numbers else {
            return Err(malformed(&format!("{ENV_JOB}={environment} is not <pid>:<descriptor>")));
        };
        let segment = Segment::open(pid, descriptor)?;
        let fits = segment.bytes() > BOARD && segment.word64(0).load(Acquire) == MAGIC;
        if !fits || segment.word32(8).load(Relaxed) != VERSION {
            return Err(malformed("the job's shared memory was made by another version of postrider"));
        }
        let broken = || malformed("the job's shared memory was overwritten");
        let word = |i: usize| segment.word32(8 + 4 * i).load(Relaxed);
        let (ranks, host) = (word(1) as usize, word(5));
        let transport = *Transport::ALL.get(word(3) as usize).ok_or_else(broken)?;
        let shape = Shape { cores: word(2), transport, ring_bytes: word(4) };
        let map = BOARD + ranks * SLOT_BYTES;
        if map + 4 * ranks > segment.bytes()
            || ![1, 4].iter().all(|times| is_ring(times * shape.ring_bytes as usize))
        {
            return Err(broken());
        }
        let hosts = (0..ranks).map(|rank| segment.word32(map + 4 * rank).load(Relaxed)).collect();
        let placement = Placement::new(hosts).filter(|map| host < map.hosts()).ok_or_else(broken)?;
        let layout = Layout::of(shape, &placement, host);
        if layout.bytes > segment.bytes() {
            return Err(broken());
        }
        let place = (pid, descriptor);
        Ok(Self { segment, shape, placement, host, layout, place, launcher: Watched::new(pid) })
    }

    /// Whether the launcher still runs. Ranks that outlive it have nobody to end them.
    #[must_use]
    pub fn launcher_runs(&self) -> bool {
        self.launcher.as_ref().is_none_or(Watched::runs)
    }

    /// The value of `POSTRIDER_JOB` for the ranks of this job.
    #[must_use]
    pub fn environment(&self) -> String {
        format!("{}:{}", self.place.0, self.place.1)
    }

    /// What tells the job from every other: a random number.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.segment.word64(KEY).load(Relaxed)
    }

    /// Gives the job the key that all its hosts share (the launcher, before a rank starts).
    #[must_use]
    pub fn with_key(self, key: u64) -> Self {
        self.segment.word64(KEY).store(key, Relaxed);
        self
    }

    /// Notes that a guest is gone without having said goodbye (the post).
    pub fn note_gone(&self, guest: u32) {
        let known = self.segment.word32(GONE).load(Relaxed);
        if known < GONE_MAX {
            self.segment.word32(GONE + 4 + 4 * known as usize).store(guest, Relaxed);
            self.segment.word32(GONE).store(known + 1, Release);
        }
    }

    /// Whether a guest is gone without having said goodbye.
    #[must_use]
    pub fn is_gone(&self, guest: u32) -> bool {
        let known = self.segment.word32(GONE).load(Acquire).min(GONE_MAX) as usize;
        (0..known).any(|index| self.segment.word32(GONE + 4 + 4 * index).load(Relaxed) == guest)
    }

    /// Says that all ranks of the job have ended as they should (the launcher).
    pub fn set_ended_well(&self) {
        self.segment.word32(ENDED_WELL).store(1, Release);
    }

    /// Whether the launcher is gone although the job has not come to its end.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.launcher_runs() && self.segment.word32(ENDED_WELL).load(Acquire) == 0
    }

    /// The process that made the segment: the launcher, or the agent of this host.
    #[must_use]
    pub fn launcher(&self) -> u32 {
        self.place.0
    }

    /// What the launcher decided.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Which rank of the job runs on which host.
    #[must_use]
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The number of this host.
    #[must_use]
    pub fn host(&self) -> u32 {
        self.host
    }

    /// Whether the system lets the launcher copy from one process's memory to another's. Ranks find out what it lets
    /// them do; this is what all of them know.
    #[must_use]
    pub fn has_single_copies(&self) -> bool {
        self.segment.word32(8 + 4 * 6).load(Relaxed) != 0
    }

    /// The ranks of this host.
    #[must_use]
    pub fn local_ranks(&self) -> &[u32] {
        self.placement.ranks_on(self.host)
    }

    /// Whether ranks of this host reach those of other hosts through rings of a post.
    #[must_use]
    pub fn has_post(&self) -> bool {
        has_post(self.shape, &self.placement)
    }

    /// The post's doorbell.
    #[must_use]
    pub fn post_bell(&self) -> Bell<'_> {
        Bell::new(self.segment.word32(POST_BELL))
    }

    /// Tells ranks by which descriptor of this process they ring the post (the post, before a rank starts).
    pub fn set_post_pipe(&self, descriptor: u32) {
        self.segment.word32(POST_BELL + 4).store(descriptor, Release);
    }

    /// What a rank rings the post with.
    ///
    /// # Errors
    /// When the post is gone.
    pub fn open_post_pipe(&self) -> Result<BellPipe> {
        BellPipe::open(self.post_pid(), self.segment.word32(POST_BELL + 4).load(Acquire))
    }

    /// The right to write to the link to host `host`.
    #[must_use]
    pub fn link_token(&self, host: u32) -> Token<'_> {
        let words = self.link_words(host);
        Token::new(self.segment.word32(words), self.segment.word32(words + 4))
    }

    /// Opens the link to host `host` for a rank that holds its token; none when only the post can write to it.
    #[must_use]
    pub fn open_link(&self, host: u32) -> Option<LinkPipe> {
        LinkPipe::open(self.post_pid(), self.link_token(host).descriptor())
    }

    /// What has come through the link from host `host`.
    #[must_use]
    pub fn intake(&self, host: u32) -> Intake<'_> {
        let words = self.link_words(host) + 8;
        let words: [_; INTAKE_WORDS] = std::array::from_fn(|i| self.segment.word32(words + 4 * i));
        let bytes = self.layout.intakes + INTAKE_BYTES * self.known_host(host);
        Intake::new(words, self.segment.place(bytes, INTAKE_BYTES))
    }

    /// Opens the link from host `host` for a rank that has its intake; none when only the post can read it.
    #[must_use]
    pub fn open_link_source(&self, host: u32) -> Option<LinkSource> {
        LinkSource::open(self.post_pid(), self.intake(host).descriptor())
    }

    fn known_host(&self, host: u32) -> usize {
        host.min(self.placement.hosts() - 1) as usize
    }

    fn link_words(&self, host: u32) -> usize {
        self.layout.links + LINK_BYTES * self.known_host(host)
    }

    /// The process that has the post of this host.
    fn post_pid(&self) -> u32 {
        self.launcher.as_ref().map_or_else(std::process::id, Watched::pid)
    }

    /// How many ranks of this host use MPI and do not sleep in it.
    #[inline]
    #[must_use]
    pub fn awake(&self) -> u32 {
        self.segment.word32(AWAKE).load(Relaxed)
    }

    /// Asks the ranks of this host that do not sleep for what they wait (the launcher).
    pub fn ask(&self) {
        self.segment.word32(ASKED).fetch_add(1, Relaxed);
    }

    /// How often they were asked.
    #[inline]
    #[must_use]
    pub fn asked(&self) -> u32 {
        self.segment.word32(ASKED).load(Relaxed)
    }

    /// Where rank `rank` says that it waits.
    ///
    /// # Panics
    /// When there is no such rank.
    #[inline]
    #[must_use]
    pub fn rest(&self, rank: u32) -> Rest<'_> {
        assert!(rank < self.placement.ranks(), "rank {rank} of {}", self.placement.ranks());
        Rest::new(self, rank)
    }

    /// A word of a rank's slot.
    #[inline]
    pub(crate) fn slot_word(&self, rank: u32, offset: usize) -> &AtomicU64 {
        self.segment.word64(BOARD + rank as usize * SLOT_BYTES + offset)
    }

    /// Where a rank of this host writes for what it waits.
    pub(crate) fn note_place(&self, rank: u32) -> Option<UserMemory> {
        let place = self.layout.notes + self.placement.place_of(rank) as usize * NOTE_BYTES;
        (self.placement.host_of(rank) == self.host).then(|| self.segment.place(place, NOTE_BYTES))
    }

    /// A rank of this host begins to use MPI.
    pub fn count_in(&self) {
        self.segment.word32(AWAKE).fetch_add(1, Relaxed);
    }

    /// A rank of this host does not use MPI any more.
    pub fn count_out(&self) {
        self.segment.word32(AWAKE).fetch_add(1_u32.wrapping_neg(), Relaxed);
    }

    /// Rank `rank`'s place on the board.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn slot(&self, rank: u32) -> Slot<'_> {
        assert!(rank < self.placement.ranks(), "rank {rank} of {}", self.placement.ranks());
        Slot { segment: &self.segment, base: BOARD + rank as usize * SLOT_BYTES }
    }

    /// Something in the segment, for whoever looks at it again and again.
    fn hold<T: Sync>(self: &Arc<Self>, choose: impl for<'a> FnOnce(&'a Self) -> &'a T) -> Held<T> {
        Held { place: NonNull::from(choose(self)), job: Arc::clone(self) }
    }

    /// Where this process, which is rank `rank`, says in which call it is.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn nameplate(self: &Arc<Self>, rank: u32) -> Nameplate {
        Nameplate {
            name: self.hold(|job| job.segment.words64(job.slot(rank).base + 32)),
            calls: self.hold(|job| job.segment.word64(job.slot(rank).base + rest::CALLS)),
        }
    }

    /// The doorbell of rank `rank`, for whoever rings it with every message.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn bell_of(self: &Arc<Self>, rank: u32) -> RankBell {
        RankBell { asleep: self.hold(|job| job.segment.word32(job.slot(rank).base + 68)), rank }
    }

    /// The doorbell that wakes rank `rank`.
    #[must_use]
    pub fn doorbell(&self, rank: u32) -> Doorbell<'_> {
        let base = self.slot(rank).base + 64;
        let tower =
            TowerPlace { pid: self.segment.word32(base - 64), descriptor: self.segment.word32(base + 8) };
        Doorbell::new(self.segment.word32(base), self.segment.word32(base + 4))
            .with_tower(tower)
            .counted_in(self.segment.word32(AWAKE))
    }

    /// What wakes the helper of rank `rank`: the thread that makes progress while the rank computes.
    #[must_use]
    pub fn helper_bell(&self, rank: u32) -> Doorbell<'_> {
        let base = self.slot(rank).base + 80;
        Doorbell::new(self.segment.word32(base), self.segment.word32(base + 4))
    }

    /// One rank more of this host has a helper, or one less.
    pub fn count_helper(&self, comes: bool) {
        let step = if comes { 1 } else { 1_u32.wrapping_neg() };
        self.segment.word32(HELPERS).fetch_add(step, Relaxed);
    }

    /// Whether a rank of this host has a helper.
    #[must_use]
    pub fn has_helpers(&self) -> bool {
        self.segment.word32(HELPERS).load(Relaxed) != 0
    }

    /// Wakes the helper of rank `rank`, if that computes, has one, and has left something behind that may need it.
    pub fn call_helper(&self, rank: u32) {
        let slot = self.slot(rank);
        if !slot.is_in_mpi() && !slot.has_left_nothing() {
            self.helper_bell(rank).ring();
        }
    }

    /// Tells everybody at which descriptor of this process rank `rank` may sleep (the rank).
    pub fn set_tower(&self, rank: u32, descriptor: u32) {
        self.segment.word32(self.slot(rank).base + 64 + 8).store(descriptor, Relaxed);
    }

    /// The sending end of the ring from `sender` to `receiver`. Only `sender` may have it, and only once.
    #[must_use]
    pub fn producer(&self, receiver: u32, sender: u32) -> Producer {
        Producer::new(&self.segment, self.ring_offset(receiver, sender), self.shape.ring_bytes as usize)
    }

    /// The receiving end of the ring from `sender` to `receiver`. Only `receiver` may have it, and only once.
    #[must_use]
    pub fn consumer(&self, receiver: u32, sender: u32) -> Consumer {
        Consumer::new(&self.segment, self.ring_offset(receiver, sender), self.shape.ring_bytes as usize)
    }

    /// Tray `index` of the shelf of rank `owner`, and its bytes: [`TRAY_BYTES`] of them.
    ///
    /// # Panics
    /// When there is no such tray, or the rank is on another host.
    #[must_use]
    pub fn tray(&self, owner: u32, index: usize) -> (Tray<'_>, UserMemory) {
        assert!(index < TRAYS, "tray {index} of {TRAYS}");
        let shelf = self.layout.shelves + self.local_place(owner) * SHELF_BYTES;
        let readers = self.segment.word32(shelf + layout::readers(index));
        (Tray::new(readers), self.segment.place(shelf + layout::bytes(index), TRAY_BYTES))
    }

    /// The cards on which rank `owner` invites.
    ///
    /// # Panics
    /// When the rank is on another host.
    #[must_use]
    pub fn cards(&self, owner: u32) -> [Card<'_>; CARDS] {
        let cards = self.layout.cards + self.local_place(owner) * CARDS * CARD_BYTES;
        std::array::from_fn(|index| Card::new(self.segment.words64(cards + index * CARD_BYTES)))
    }

    /// Which of the ranks of this host `rank` is.
    fn local_place(&self, rank: u32) -> usize {
        assert!(self.placement.host_of(rank) == self.host, "rank {rank} is on another host");
        self.placement.place_of(rank) as usize
    }

    /// Where the ring from `sender` to `receiver` is, both ranks of this host.
    fn ring_offset(&self, receiver: u32, sender: u32) -> usize {
        let pair = self.local_place(receiver) * self.local_ranks().len() + self.local_place(sender);
        self.layout.rings + pair * (RING_HEADER_BYTES + self.shape.ring_bytes as usize)
    }

    /// The two rings between rank `rank` and the post: the offset of the one to the post, that of the other, and their bytes.
    fn post_rings(&self, rank: u32) -> (usize, usize, usize) {
        assert!(self.has_post() && self.placement.host_of(rank) == self.host, "rank {rank} has no post");
        let bytes = self.shape.post_ring_bytes() as usize;
        let to_post =
            self.layout.post + self.placement.place_of(rank) as usize * 2 * (RING_HEADER_BYTES + bytes);
        (to_post, to_post + RING_HEADER_BYTES + bytes, bytes)
    }

    /// The rank's ends of its rings to and from the post. Only `rank` may have them, and only once.
    #[must_use]
    pub fn post_ends(&self, rank: u32) -> (Producer, Consumer) {
        let (to_post, from_post, bytes) = self.post_rings(rank);
        (Producer::new(&self.segment, to_post, bytes), Consumer::new(&self.segment, from_post, bytes))
    }

    /// The post's ends of the rings from and to rank `rank`. Only the post may have them, and only once.
    #[must_use]
    pub fn rank_ends(&self, rank: u32) -> (Consumer, Producer) {
        let (to_post, from_post, bytes) = self.post_rings(rank);
        (Consumer::new(&self.segment, to_post, bytes), Producer::new(&self.segment, from_post, bytes))
    }
}

fn has_post(shape: Shape, placement: &Placement) -> bool {
    shape.transport == Transport::SharedMemory && placement.hosts() > 1
}

/// Where the parts of a segment begin.
#[derive(Clone, Copy, Debug)]
struct Layout {
    map: usize,
    links: usize,
    rings: usize,
    post: usize,
    intakes: usize,
    shelves: usize,
    cards: usize,
    notes: usize,
    bytes: usize,
}

impl Layout {
    fn of(shape: Shape, placement: &Placement, host: u32) -> Self {
        let (ranks, local) = (placement.ranks() as usize, placement.ranks_on(host).len());
        let pairs = if shape.transport == Transport::SharedMemory { local * local } else { 0 };
        let to_post = if has_post(shape, placement) { 2 * local } else { 0 };
        let map = BOARD + ranks * SLOT_BYTES;
        let links = (map + 4 * ranks).next_multiple_of(8);
        let rings = (links + LINK_BYTES * placement.hosts() as usize).next_multiple_of(4096);
        let post = rings + pairs * (RING_HEADER_BYTES + shape.ring_bytes as usize);
        let end = post + to_post * (RING_HEADER_BYTES + shape.post_ring_bytes() as usize);
        let intakes = end.next_multiple_of(4096);
        let others = if placement.hosts() > 1 { placement.hosts() as usize } else { 0 };
        let shelves = intakes + others * INTAKE_BYTES;
        let owners = if shape.transport == Transport::SharedMemory { local } else { 0 };
        let cards = shelves + owners * SHELF_BYTES;
        let notes = cards + owners * CARDS * CARD_BYTES;
        let bytes = notes + local * NOTE_BYTES;
        Self { map, links, rings, post, intakes, shelves, cards, notes, bytes }
    }
}

/// One rank's place on the board.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a> {
    segment: &'a Segment,
    base: usize,
}

/// The name of an MPI call in the board's form; made at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallName([u64; NAME_WORDS]);

impl CallName {
    /// The first 32 bytes of `name`.
    #[must_use]
    pub const fn new(name: &str) -> Self {
        let (bytes, mut words, mut i) = (name.as_bytes(), [0; NAME_WORDS], 0);
        while i < bytes.len() && i < 8 * NAME_WORDS {
            words[i / 8] |= (bytes[i] as u64) << (8 * (i % 8));
            i += 1;
        }
        Self(words)
    }
}

/// Words of a job's segment, which is there as long as this is.
#[derive(Debug)]
struct Held<T> {
    place: NonNull<T>,
    job: Arc<Job>,
}

// SAFETY: no more than references to what threads may share.
unsafe impl<T: Sync> Send for Held<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Held<T> {}

impl<T> Deref for Held<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it was a reference into the job, which is still there and is not changed while it is shared.
        unsafe { self.place.as_ref() }
    }
}

/// Where a rank says in which call it is.
#[derive(Debug)]
pub struct Nameplate {
    name: Held<[AtomicU64; NAME_WORDS]>,
    calls: Held<AtomicU64>,
}

impl Nameplate {
    /// The rank has entered the call `name`.
    #[inline]
    pub fn enter(&self, name: CallName) {
        self.calls.store(self.calls.load(Relaxed).wrapping_add(1), Relaxed);
        self.name.iter().zip(name.0).for_each(|(word, name)| word.store(name, Relaxed));
    }

    /// The rank is in the user's code again.
    #[inline]
    pub fn leave(&self) {
        self.name[0].store(0, Relaxed);
    }
}

/// A rank's [`Doorbell`], where it has been found once.
#[derive(Debug)]
pub struct RankBell {
    asleep: Held<AtomicU32>,
    rank: u32,
}

impl RankBell {
    /// As [`Doorbell::ring`].
    #[inline]
    pub fn ring(&self) {
        if somebody_sleeps(&self.asleep) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.asleep.job.doorbell(self.rank).ring();
    }
}

impl Slot<'_> {
    /// The MPI call the rank is in, or was in when it died.
    #[must_use]
    pub fn call(&self) -> Option<String> {
        let words = (0..NAME_WORDS).map(|i| self.segment.word64(self.base + 32 + 8 * i).load(Relaxed));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take_while(|&byte| byte != 0).collect();
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether the rank is in an MPI call.
    #[must_use]
    pub fn is_in_mpi(&self) -> bool {
        self.segment.word64(self.base + 32).load(Relaxed) != 0
    }

    /// Whether the rank is in an MPI call from which it does not return before its messages have moved, as far as the call's name tells.
    #[must_use]
    pub fn waits(&self) -> bool {
        let name = self.segment.word64(self.base + 32).load(Relaxed).to_le_bytes();
        name[0] != 0 && !RETURNING.iter().any(|prefix| name.starts_with(prefix))
    }

    /// How many calls of MPI the rank has made.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.segment.word64(self.base + rest::CALLS).load(Relaxed)
    }

    /// Says that the call of MPI in which the rank is leaves nothing behind for which others may need the rank while it computes.
    pub fn leave_nothing(&self) {
        if self.is_in_mpi() {
            let call = self.segment.word64(self.base + rest::CALLS).load(Relaxed);
            self.segment.word64(self.base + LEFT_NOTHING).store(call, Relaxed);
        }
    }

    /// Takes that back.
    pub fn leave_something(&self) {
        self.segment.word64(self.base + LEFT_NOTHING).store(0, Relaxed);
    }

    /// Whether the rank's last call of MPI said that it leaves nothing behind.
    #[must_use]
    pub fn has_left_nothing(&self) -> bool {
        let call = self.segment.word64(self.base + LEFT_NOTHING).load(Relaxed);
        call != 0 && call == self.segment.word64(self.base + rest::CALLS).load(Relaxed)
    }

    /// The process that called `MPI_Init` as this rank; 0 before that. (It may be a descendant of the one launched.)
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.segment.word32(self.base).load(Acquire)
    }

    /// Takes the rank for this process. False when another process has already called `MPI_Init` as this rank.
    #[must_use]
    pub fn claim(&self) -> bool {
        self.segment.word32(self.base).compare_exchange(0, std::process::id(), Release, Relaxed).is_ok()
    }

    /// Whether this is the first process which says that it was started by the rank's and is none itself.
    #[must_use]
    pub fn is_first_offspring(&self) -> bool {
        self.segment.word32(self.base + 12).swap(1, Relaxed) == 0
    }

    /// Where the rank is in its life.
    #[must_use]
    pub fn state(&self) -> State {
        match self.segment.word32(self.base + 4).load(Acquire) {
            0 => State::Unborn,
            1 => State::Initialized,
            2 => State::Finalized,
            _ => State::Aborted,
        }
    }

    /// Says where the rank is in its life.
    pub fn set_state(&self, state: State) {
        self.segment.word32(self.base + 4).store(state as u32, Release);
    }

    /// Says that the rank ends the job with exit code `code`.
    pub fn abort(&self, code: i32) {
        self.segment.word32(self.base + 8).store(code as u32, Relaxed);
        self.set_state(State::Aborted);
    }

    /// Whether packets for this rank are to wait where they are, since its post keeps enough of them.
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.segment.word32(self.base + 88).load(Relaxed) != 0
    }

    /// Says whether packets for this rank are to wait (the post). Ring those who may wait for them afterwards.
    pub fn set_stopped(&self, stopped: bool) {
        self.segment.word32(self.base + 88).store(u32::from(stopped), Relaxed);
    }

    /// The exit code that the rank asked for by [`Slot::abort`].
    #[must_use]
    pub fn abort_code(&self) -> i32 {
        self.segment.word32(self.base + 8).load(Relaxed) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::Outside;
    use proptest::prelude::*;

    const SHAPE: Shape = Shape { cores: 2, transport: Transport::SharedMemory, ring_bytes: 4096 };

    proptest! {
        #[test]
        fn no_text_is_trusted(text in "[0-9:x -]{0,16}") {
            // Process 0 does not exist, and no number names a segment by chance: everything is refused, nothing crashes.
            let nobody = format!("0:{text}");
            prop_assert!(Job::open(&nobody).is_err());
            let no_pair = text.replace(':', "");
            prop_assert!(Job::open(&no_pair).is_err());
        }
    }

    #[test]
    fn a_rank_finds_what_the_launcher_made() {
        let placement = Placement::new(vec![1, 0, 0, 1]).unwrap();
        let made = Job::create(SHAPE, &placement, 0).unwrap();
        let opened = Arc::new(Job::open(&made.environment()).unwrap());
        assert_eq!((opened.shape(), opened.placement(), opened.host()), (SHAPE, &placement, 0));
        assert_eq!((opened.key(), opened.environment()), (made.key(), made.environment()));
        assert_eq!(opened.local_ranks(), [1, 2]);
        assert!(opened.launcher_runs());
        assert!(opened.slot(1).claim() && !made.slot(1).claim());
        assert_eq!(made.slot(1).pid(), std::process::id());
        assert!(made.slot(1).is_first_offspring() && !opened.slot(1).is_first_offspring());
        let nameplate = opened.nameplate(1);
        nameplate.enter(CallName::new("MPI_Sendrecv_replace"));
        opened.slot(1).set_state(State::Initialized);
        assert_eq!(made.slot(1).call().as_deref(), Some("MPI_Sendrecv_replace"));
        assert!(made.slot(1).waits());
        nameplate.enter(CallName::new("MPI_Isend"));
        assert!(made.slot(1).is_in_mpi() && !made.slot(1).waits());
        nameplate.leave();
        assert!(!made.slot(1).is_in_mpi() && !made.slot(1).waits());
        opened.slot(1).abort(7);
        assert_eq!(
            (made.slot(1).call(), made.slot(1).state(), made.slot(1).abort_code()),
            (None, State::Aborted, 7)
        );
        assert_eq!((made.slot(2).state(), made.slot(2).pid()), (State::Unborn, 0));
    }

    #[test]
    fn what_a_call_leaves_behind_is_known_until_the_next_one() {
        let job = Arc::new(Job::create(SHAPE, &Placement::one_host(2), 0).unwrap());
        let (slot, nameplate) = (job.slot(0), job.nameplate(0));
        slot.leave_nothing();
        assert!(!slot.has_left_nothing(), "outside of MPI nothing is said");
        nameplate.enter(CallName::new("MPI_Waitall"));
        slot.leave_nothing();
        nameplate.leave();
        assert!(slot.has_left_nothing());
        slot.leave_something();
        assert!(!slot.has_left_nothing());
        nameplate.enter(CallName::new("MPI_Wait"));
        slot.leave_nothing();
        nameplate.enter(CallName::new("MPI_Isend"));
        nameplate.leave();
        assert!(!slot.has_left_nothing());
    }

    #[test]
    fn guests_that_are_gone_are_known_to_all() {
        let made = Job::create(SHAPE, &Placement::one_host(1), 0).unwrap().with_key(7);
        let opened = Job::open(&made.environment()).unwrap();
        assert_eq!(opened.key(), 7);
        assert!(!opened.is_gone(3));
        (0..2 * GONE_MAX).for_each(|guest| made.note_gone(guest));
        assert!(opened.is_gone(0) && opened.is_gone(GONE_MAX - 1) && !opened.is_gone(GONE_MAX));
        assert_eq!(opened.slot(0).state(), State::Unborn);
    }

    #[test]
    fn what_a_rank_says_of_its_rest_is_seen_by_its_launcher() {
        let placement = Placement::new(vec![1, 0, 0]).unwrap();
        let made = Job::create(SHAPE, &placement, 0).unwrap();
        let opened = Arc::new(Job::open(&made.environment()).unwrap());
        let (rank, launcher) = (opened.rest(2), made.rest(2));
        assert_eq!((launcher.seen(), launcher.note(), made.asked()), (None, None, 0));
        let nameplate = opened.nameplate(2);
        nameplate.enter(CallName::new("MPI_Recv"));
        rank.begin(5, Outside::Nobody);
        let before = launcher.seen().unwrap();
        assert!(before.blocks() && (before.number, before.looks) == (5, 0));
        rank.look_again(Outside::Nobody);
        rank.write_note(5, "waits for \u{e9}");
        rank.write_note(4, "an older rest");
        assert_eq!(launcher.note(), None);
        rank.write_note(5, &"long ".repeat(NOTE_BYTES));
        assert_eq!(launcher.note().map(|note| note.len()), Some(NOTE_BYTES));
        let seen = launcher.seen().unwrap();
        assert!(seen.continues(&before) && seen.looks == 1);
        for _ in 0..3 {
            nameplate.enter(CallName::new("MPI_Test"));
            rank.ask_again();
        }
        assert!(launcher.seen().unwrap().continues(&before));
        (0..2).for_each(|_| nameplate.enter(CallName::new("MPI_Send")));
        assert!(!launcher.seen().unwrap().continues(&before));
        rank.begin(5, Outside::Astir);
        assert!(!launcher.seen().unwrap().outside.is_at_rest());
        rank.begin(0, Outside::Nobody);
        assert_eq!((launcher.seen(), launcher.note()), (None, None));
        made.ask();
        assert_eq!((opened.asked(), opened.rest(1).seen(), opened.rest(0).note()), (1, None, None));
    }

    #[test]
    fn rings_and_shelves_do_not_overlap() {
        let placement = Placement::new(vec![1, 0, 0, 1, 1]).unwrap();
        let job = Job::create(SHAPE, &placement, 1).unwrap();
        let mut rings = Vec::new();
        for receiver in [0, 3, 4] {
            rings.push(job.post_ends(receiver).0);
            rings.push(job.rank_ends(receiver).1);
            rings.extend([0, 3, 4].map(|sender| job.producer(receiver, sender)));
        }
        for (number, ring) in rings.iter_mut().enumerate() {
            assert!(ring.push(number as u32, ring.body_bytes_max(), |_| ()));
        }
        for rank in [0, 3, 4] {
            for index in 0..TRAYS {
                let (tray, bytes) = job.tray(rank, index);
                assert!(tray.is_free());
                tray.lay_out(1);
                bytes.write(&vec![0xff; TRAY_BYTES]);
            }
        }
        let mut found = Vec::new();
        for receiver in [0, 3, 4] {
            found.push(job.rank_ends(receiver).0);
            found.push(job.post_ends(receiver).1);
            found.extend([0, 3, 4].map(|sender| job.consumer(receiver, sender)));
        }
        for (number, ring) in found.iter_mut().enumerate() {
            assert_eq!(ring.peek().map(|packet| packet.meta), Some(number as u32));
        }
    }
}
