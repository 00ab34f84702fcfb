//! The job segment: what the launcher and the ranks of one host know of each other.
//!
//! The launcher makes one [`Segment`](crate::shared_memory::Segment) per host and tells each rank, in its environment, where it is
//! (`POSTRIDER_JOB=<launcher pid>:<descriptor>`) and which rank it is (`POSTRIDER_RANK`). Layout, in bytes:
//!
//! ```text
//! 0        magic, version, ranks, cores, transport, ring bytes         written once, by the launcher
//! 4096     board: one slot of 192 bytes per rank
//!            +0   pid, state, exit code of MPI_Abort                  written by the rank, read by the launcher
//!            +32  name of the MPI call the rank is in (32 bytes, NUL-padded; empty outside MPI)
//!            +64  doorbell (see `wait`): futex word, sleeping flag     written by everybody
//!            +128 spare line, so that no two ranks' doorbells share an adjacent pair of lines
//! rings    one ring per ordered pair (receiver, sender), see `ring`    only when the transport is shared memory
//! ```
//!
//! The board costs a rank a few plain stores per call and lets the launcher say which rank failed first and in which
//! MPI call, however the rank died.

use crate::error::Result;
use crate::process::Watched;
use crate::ring::{Consumer, Producer, RING_HEADER_BYTES};
use crate::shared_memory::{Segment, malformed};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::wait::Doorbell;

/// Environment variable: `<launcher pid>:<descriptor>` of the job segment.
pub const ENV_JOB: &str = "POSTRIDER_JOB";
/// Environment variable: this process's rank in `MPI_COMM_WORLD`.
pub const ENV_RANK: &str = "POSTRIDER_RANK";
/// Environment variable: the job's private directory (mode 0700), where the file transport keeps its messages.
pub const ENV_DIRECTORY: &str = "POSTRIDER_DIRECTORY";
/// Environment variable: which part of an MPMD command line this rank belongs to (`MPI_APPNUM`), from 0.
pub const ENV_APPLICATION: &str = "POSTRIDER_APPLICATION";

const MAGIC: u64 = u64::from_le_bytes(*b"postride");
const VERSION: u32 = 1;
const BOARD: usize = 4096;
const SLOT_BYTES: usize = 192;
const NAME_WORDS: usize = 4;

/// How messages travel between the ranks of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Rings in the job segment, and single-copy for long messages.
    SharedMemory,
    /// One file per message in the job's directory.
    File,
}

/// What the launcher decides once for all ranks of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of ranks in the job.
    pub ranks: u32,
    /// Cores that these ranks may use together; with more ranks than cores nobody spins.
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
    launcher: Option<Watched>,
}

impl Job {
    /// Makes the segment of a new job (the launcher).
    ///
    /// # Errors
    /// When the system has no memory or descriptor left.
    pub fn create(shape: Shape) -> Result<Self> {
        let pairs = match shape.transport {
            Transport::SharedMemory => (shape.ranks as usize).pow(2),
            Transport::File => 0,
        };
        let bytes = rings_start(shape.ranks) + pairs * (RING_HEADER_BYTES + shape.ring_bytes as usize);
        let job = Self { segment: Segment::create(bytes)?, shape, launcher: None };
        job.segment.word32(8).store(VERSION, Relaxed);
        job.segment.word32(12).store(shape.ranks, Relaxed);
        job.segment.word32(16).store(shape.cores, Relaxed);
        job.segment.word32(20).store(shape.transport as u32, Relaxed);
        job.segment.word32(24).store(shape.ring_bytes, Relaxed);
        job.segment.word64(0).store(MAGIC, Release);
        Ok(job)
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
        let transport = match segment.word32(20).load(Relaxed) {
            0 => Transport::SharedMemory,
            _ => Transport::File,
        };
        let word = |offset| segment.word32(offset).load(Relaxed);
        let shape = Shape { ranks: word(12), cores: word(16), transport, ring_bytes: word(24) };
        Ok(Self { segment, shape, launcher: Watched::new(pid) })
    }

    /// Whether the launcher still runs. Ranks that outlive it have nobody to end them.
    #[must_use]
    pub fn launcher_runs(&self) -> bool {
        self.launcher.as_ref().is_none_or(Watched::runs)
    }

    /// The value of `POSTRIDER_JOB` for the ranks of the job that this process created.
    #[must_use]
    pub fn environment(&self) -> String {
        format!("{}:{}", std::process::id(), self.segment.descriptor())
    }

    /// What the launcher decided.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Rank `rank`'s place on the board.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn slot(&self, rank: u32) -> Slot<'_> {
        assert!(rank < self.shape.ranks, "rank {rank} of {}", self.shape.ranks);
        Slot { segment: &self.segment, base: BOARD + rank as usize * SLOT_BYTES }
    }

    /// The doorbell that wakes rank `rank`.
    #[must_use]
    pub fn doorbell(&self, rank: u32) -> Doorbell<'_> {
        let base = self.slot(rank).base + 64;
        Doorbell::new(self.segment.word32(base), self.segment.word32(base + 4))
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

    fn ring_offset(&self, receiver: u32, sender: u32) -> usize {
        let ranks = self.shape.ranks as usize;
        assert!(
            (receiver as usize) < ranks && (sender as usize) < ranks,
            "ring {sender} to {receiver} of {ranks}"
        );
        let pair = receiver as usize * ranks + sender as usize;
        rings_start(self.shape.ranks) + pair * (RING_HEADER_BYTES + self.shape.ring_bytes as usize)
    }
}

fn rings_start(ranks: u32) -> usize {
    (BOARD + ranks as usize * SLOT_BYTES).next_multiple_of(4096)
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

impl Slot<'_> {
    /// Says that the rank has entered the call `name`.
    #[inline]
    pub fn enter(&self, name: CallName) {
        self.segment.place(self.base + 32, 8 * NAME_WORDS).store(name.0);
    }

    /// Says that the rank is in the user's code again.
    #[inline]
    pub fn leave(&self) {
        self.segment.word64(self.base + 32).store(0, Relaxed);
    }

    /// The MPI call the rank is in, or was in when it died.
    #[must_use]
    pub fn call(&self) -> Option<String> {
        let words = (0..NAME_WORDS).map(|i| self.segment.word64(self.base + 32 + 8 * i).load(Relaxed));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take_while(|&byte| byte != 0).collect();
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
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

    /// The exit code that the rank asked for by [`Slot::abort`].
    #[must_use]
    pub fn abort_code(&self) -> i32 {
        self.segment.word32(self.base + 8).load(Relaxed) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHAPE: Shape = Shape { ranks: 3, cores: 2, transport: Transport::File, ring_bytes: 4096 };

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
        let made = Job::create(SHAPE).unwrap();
        let opened = Job::open(&made.environment()).unwrap();
        assert_eq!(opened.shape(), SHAPE);
        assert!(opened.launcher_runs());
        assert!(opened.slot(1).claim() && !made.slot(1).claim());
        assert_eq!(made.slot(1).pid(), std::process::id());
        opened.slot(1).enter(CallName::new("MPI_Sendrecv_replace"));
        opened.slot(1).set_state(State::Initialized);
        assert_eq!(made.slot(1).call().as_deref(), Some("MPI_Sendrecv_replace"));
        opened.slot(1).leave();
        opened.slot(1).abort(7);
        assert_eq!(
            (made.slot(1).call(), made.slot(1).state(), made.slot(1).abort_code()),
            (None, State::Aborted, 7)
        );
        assert_eq!((made.slot(2).state(), made.slot(2).pid()), (State::Unborn, 0));
    }
}
