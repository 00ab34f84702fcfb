//! What a rank says of its waiting, for a launcher that wants to know whether the ranks of a job wait for each other.
//!
//! A rank *rests* while it has looked for what it waits for and has found nothing, in a call that blocks or by calls that only ask
//! (`MPI_Test`). Each rest has a number, which is 0 while there is none, and which is another one as soon as anything has come, or the
//! rank has been woken. So if a number is the same at two looks, nothing has come to the rank between them, however often it was awake
//! meanwhile, and however loaded the host is. In the rank's slot of the job segment, all written by the rank alone:
//!
//! ```text
//! +16   calls of MPI so far                                        with each call
//! +24   calls so far that only asked, and found nothing            with each of them
//! +128  number of the rest, 0 for none; odd in a call that blocks, even between calls that ask
//! +136  how often it has looked again in calls that block, after a time in which nobody has woken it
//! +144  what it knows of the processes of other jobs that it is connected with; see [`Outside`]
//! +152  the rest that the note speaks of
//! +160  bytes of the note
//! +168  packets that the rank has sent through posts, less those that it has taken from there
//! ```
//!
//! The *note* says in words for what the rank waits. It has a place of its own in the segment. Whoever reads it while it is written
//! may see two notes mixed, and nothing else depends on it. All but the first two words are written where a rank is about to sleep.

use crate::job::Job;
use crate::memory::UserMemory;
use crate::sync::AtomicU64;
use crate::sync::Ordering::{Acquire, Relaxed, Release};

pub(crate) const CALLS: usize = 16;
const POLLS: usize = 24;
const NUMBER: usize = 128;
const LOOKS: usize = 136;
const OUTSIDE: usize = 144;
const NOTED: usize = 152;
const NOTE_LENGTH: usize = 160;
const BALANCE: usize = 168;

/// Room for a note.
pub const NOTE_BYTES: usize = 1024;

/// What is known of the processes of other jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// There is none.
    Nobody,
    /// There are some, all of which come to this rank through the posts of one other job, whose agents look at them and at this rank.
    Carried,
    /// One of them does not rest, as far as is known.
    Astir,
    /// All of them rest, and one of them is connected with others again that may not. Another number means that one of them has done
    /// something meanwhile.
    Near(u64),
    /// All of them rest, and those that they are connected with.
    AtRest(u64),
}

impl Outside {
    /// Whether one of the processes does not rest that the rank knows itself. What these know themselves is left out, so that two
    /// jobs that are connected do not wait for each other here, too.
    #[must_use]
    pub fn is_near_astir(self) -> bool {
        self == Self::Astir
    }

    /// Whether none of them can do anything for the rank.
    #[must_use]
    pub fn is_at_rest(self) -> bool {
        matches!(self, Self::Nobody | Self::AtRest(_))
    }

    fn word(self) -> u64 {
        match self {
            Self::Nobody => 0,
            Self::Astir => 1,
            Self::Carried => 4,
            Self::Near(number) => number & !3 | 2,
            Self::AtRest(number) => number & !3 | 3,
        }
    }

    fn of(word: u64) -> Self {
        match (word, word & 3) {
            (0, _) => Self::Nobody,
            (4, _) => Self::Carried,
            (_, 2) => Self::Near(word & !3),
            (_, 3) => Self::AtRest(word & !3),
            _ => Self::Astir,
        }
    }
}

/// A rank's rest, as somebody sees it who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The number; not 0.
    pub number: u64,
    /// Calls so far that did not only ask and find nothing: one more or less may be on its way.
    pub calls: i64,
    /// How often the rank has looked in vain, and written that down.
    pub looks: u64,
    /// How often of these it was by calls that only ask.
    pub polls: u64,
    /// The processes of other jobs.
    pub outside: Outside,
}

impl Seen {
    /// Whether the rank is in a call that blocks.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.number & 1 != 0
    }

    /// How often the rank has looked in vain in calls that block.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.looks.wrapping_sub(self.polls)
    }

    /// Whether nothing has come to the rank since `before`, and it and others have done nothing but ask.
    #[must_use]
    pub fn continues(&self, before: &Self) -> bool {
        self.number == before.number
            && self.outside == before.outside
            && self.calls.abs_diff(before.calls) <= 1
    }
}

/// Where a rank's rest is written.
#[derive(Clone, Copy, Debug)]
pub struct Rest<'a> {
    job: &'a Job,
    rank: u32,
}

impl<'a> Rest<'a> {
    pub(crate) fn new(job: &'a Job, rank: u32) -> Self {
        Self { job, rank }
    }

    #[inline]
    fn word(&self, offset: usize) -> &AtomicU64 {
        self.job.slot_word(self.rank, offset)
    }

    fn place(&self) -> Option<UserMemory> {
        self.job.note_place(self.rank)
    }

    /// The rest has another number, 0 for none (the rank).
    pub fn begin(&self, number: u64, outside: Outside) {
        self.set_outside(outside);
        self.word(NUMBER).store(number, Release);
    }

    /// The rank has looked again, in a call that blocks, and nothing has come (the rank).
    pub fn look_again(&self, outside: Outside) {
        self.set_outside(outside);
        let looks = self.word(LOOKS);
        looks.store(looks.load(Relaxed).wrapping_add(1), Release);
    }

    /// A call has asked, and nothing has come (the rank).
    #[inline]
    pub fn ask_again(&self) {
        let polls = self.word(POLLS);
        polls.store(polls.load(Relaxed).wrapping_add(1), Release);
    }

    fn set_outside(&self, outside: Outside) {
        self.word(OUTSIDE).store(outside.word(), Relaxed);
    }

    /// Packets sent through posts, less those taken from there (the rank, before it says that it rests, and when it ends).
    pub fn set_balance(&self, packets: i64) {
        self.word(BALANCE).store(packets as u64, Release);
    }

    /// The same, as the rank has written it last.
    #[must_use]
    pub fn balance(&self) -> i64 {
        self.word(BALANCE).load(Acquire) as i64
    }

    /// Writes for what the rank waits in rest `number` (the rank).
    pub fn write_note(&self, number: u64, text: &str) {
        let Some(note) = self.place() else { return };
        let bytes = &text.as_bytes()[..text.len().min(NOTE_BYTES)];
        self.word(NOTED).store(0, Release);
        note.write(bytes);
        self.word(NOTE_LENGTH).store(bytes.len() as u64, Release);
        self.word(NOTED).store(number, Release);
    }

    /// The rest that the rank is in, if it is in one.
    #[must_use]
    pub fn seen(&self) -> Option<Seen> {
        let number = self.word(NUMBER).load(Acquire);
        let polls = self.word(POLLS).load(Acquire);
        let calls = self.word(CALLS).load(Acquire);
        let outside = Outside::of(self.word(OUTSIDE).load(Relaxed));
        let looks = self.word(LOOKS).load(Acquire).wrapping_add(polls);
        (number != 0).then(|| Seen { number, calls: calls.wrapping_sub(polls) as i64, looks, polls, outside })
    }

    /// For what the rank waits, in words of its own, if it has written that down for the rest it is in.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let number = self.word(NUMBER).load(Acquire);
        let fits = number != 0 && self.word(NOTED).load(Acquire) == number;
        let note = self.place().filter(|_| fits)?;
        let mut bytes = vec![0; (self.word(NOTE_LENGTH).load(Acquire) as usize).min(NOTE_BYTES)];
        note.read(&mut bytes);
        Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty())
    }
}
