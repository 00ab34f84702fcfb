//! What has come through a link from another host and nobody has taken yet, and the right to read it.
//!
//! The post reads the links of its host and hands packets to ranks. But a rank that waits for an answer would pay for waking the
//! post first, and then for being woken itself; it can read the link's pipe as well by itself. So the post *lends* a link to its
//! ranks while one of them looks at it. What has been read lies in the job's segment, so that whoever reads next goes on where
//! the last one stopped, also in the middle of a packet:
//!
//! - A rank that would like to look [wants](Intake::want) the link, and rings the post. The post [lends](Intake::lend) it when all that it
//!   has taken from it lies in rings, and stops watching it.
//! - From then on any rank of the host may [enter](Intake::enter), if no other is inside. What the post has left in its ring comes
//!   first. It takes packets for itself; one that is for somebody else it leaves there and [hands the link over](Intake::hand_over) to
//!   the post. So it does at the end of the stream, and with what it does not understand.
//! - A rank that goes to sleep [gives the links back](Intake::give_back), because nobody else may be looking; but for the one through
//!   which it expects something: if that is lent, it sleeps at its pipe ([`watch`]).
//! - Ranks that have gone to compute do neither: the post [takes the link back](Intake::reclaim) when nobody has looked for a while.

#[cfg(not(loom))]
pub use reading::{Filled, Found, INTAKE_BYTES, LinkSource, watch};

use crate::link::{POST, Right};
use crate::memory::UserMemory;
use crate::sync::AtomicU32;
use crate::sync::Ordering::{Acquire, Relaxed};

/// The post reads, and a rank would like to.
const WANTED: u32 = 1;
/// Ranks may read.
const LENT: u32 = 2;
/// A rank reads.
const RANK: u32 = 3;

/// How many words an intake is made of, all of which start as zero.
pub const INTAKE_WORDS: usize = 6;

/// The intake of one link.
#[derive(Clone, Copy, Debug)]
pub struct Intake<'a> {
    right: Right<'a>,
    /// How often ranks have looked.
    looks: &'a AtomicU32,
    /// How often something has come, which whoever reads counts.
    arrivals: &'a AtomicU32,
    /// Where in `bytes` that begins which has been read and not taken, and where it ends. They belong to whoever reads.
    start: &'a AtomicU32,
    end: &'a AtomicU32,
    bytes: UserMemory,
}

impl<'a> Intake<'a> {
    /// An intake of these words and of `INTAKE_BYTES` bytes.
    #[must_use]
    pub fn new(words: [&'a AtomicU32; INTAKE_WORDS], bytes: UserMemory) -> Self {
        let [holder, descriptor, looks, arrivals, start, end] = words;
        Self { right: Right { holder, descriptor }, looks, arrivals, start, end, bytes }
    }

    /// The link is there: `descriptor` of the post's process, which stays open as long as the post (the post).
    pub fn open(&self, descriptor: u32) {
        self.right.open(descriptor);
    }

    /// From now on nobody reads (the post).
    pub fn close(&self) {
        self.right.close();
    }

    /// Whether the post is to read (the post).
    #[must_use]
    pub fn is_with_post(&self) -> bool {
        // Acquire: what the rank that handed it over has taken is gone.
        matches!(self.right.holder.load(Acquire), POST | WANTED)
    }

    /// Whether ranks read (the post).
    #[must_use]
    pub fn is_lent(&self) -> bool {
        matches!(self.right.holder.load(Relaxed), LENT | RANK)
    }

    /// Whether a rank waits for [`Intake::lend`] (the post).
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.right.holder.load(Relaxed) == WANTED
    }

    /// If a rank reads at this moment, how often ranks have looked: twice the same means that it has been at it since (the post).
    #[must_use]
    pub fn reading(&self) -> Option<u32> {
        (self.right.holder.load(Relaxed) == RANK).then(|| self.looks.load(Relaxed))
    }

    /// Lets ranks read (the post).
    pub fn lend(&self) {
        let _given_up_meanwhile = self.right.change(WANTED, LENT);
    }

    /// Takes a lent link back, if nobody has looked since the call before; `seen` is for these calls alone (the post).
    pub fn reclaim(&self, seen: &mut u32) {
        let looks = self.looks.load(Relaxed);
        let _somebody_looks = std::mem::replace(seen, looks) == looks && self.right.change(LENT, POST);
    }

    /// How often something has come, whoever has read it; wraps around.
    #[must_use]
    pub fn arrivals(&self) -> u32 {
        self.arrivals.load(Relaxed)
    }

    /// Asks for the link. True when the post has to be rung.
    #[must_use]
    #[inline]
    pub fn want(&self) -> bool {
        self.right.holder.load(Relaxed) == POST && self.right.change(POST, WANTED)
    }

    /// Takes the right to read for a rank. Then [`Intake::leave`] or [`Intake::hand_over`] must follow, soon.
    #[must_use]
    #[inline]
    pub fn enter(&self) -> bool {
        let entered = self.right.holder.load(Relaxed) == LENT && self.right.change(LENT, RANK);
        if entered {
            self.looks.store(self.looks.load(Relaxed).wrapping_add(1), Relaxed);
        }
        entered
    }

    /// The next rank may read.
    #[inline]
    pub fn leave(&self) {
        let _closed = self.right.change(RANK, LENT);
    }

    /// The post is to read on: ring it.
    #[cold]
    pub fn hand_over(&self) {
        let _closed = self.right.change(RANK, POST);
    }

    /// A rank that goes to sleep will not look any more. True when the post has to be rung.
    #[must_use]
    pub fn give_back(&self) -> bool {
        let _not_asked = self.right.change(WANTED, POST);
        self.right.change(LENT, POST)
    }

    /// The descriptor to read from.
    #[must_use]
    pub fn descriptor(&self) -> u32 {
        self.right.descriptor.load(Relaxed)
    }
}

#[cfg(not(loom))]
mod reading {
    use std::fs::File;
    use std::io::{self, ErrorKind};
    use std::ops::Range;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
    use std::os::unix::fs::FileTypeExt;
    use std::time::Duration;

    use super::Intake;
    use crate::bell::BellTower;
    use crate::memory::UserMemory;
    use crate::packet::{HEAD_BYTES, Head, PAYLOAD_BYTES_MAX};
    use crate::process::open_pipe_to_read;
    use crate::sync::Ordering::Relaxed;

    /// Room for what has been read: some packets, so that little is moved within it.
    pub const INTAKE_BYTES: usize = 512 << 10;
    /// With less room than this, what has been read is moved to the beginning first.
    const READ_BYTES_MIN: usize = 32 << 10;

    const _: () = assert!(HEAD_BYTES + PAYLOAD_BYTES_MAX as usize + READ_BYTES_MIN <= INTAKE_BYTES);

    /// What [`Intake::next`] found.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Found {
        /// A whole packet, and its body, which stays there until the next [`Intake::fill`].
        Packet(Head, UserMemory),
        /// Not a whole packet yet.
        Nothing,
        /// What no post sends.
        Nonsense,
    }

    /// What [`Intake::fill`] did.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Filled {
        /// There is more than before.
        More,
        /// Nothing has come.
        Nothing,
        /// The stream has ended.
        End,
    }

    /// The reading end of a link, as a rank has it.
    #[derive(Debug)]
    pub struct LinkSource(File);

    impl LinkSource {
        /// Opens descriptor `descriptor` of process `pid`; none when it is no pipe.
        #[must_use]
        pub fn open(pid: u32, descriptor: u32) -> Option<Self> {
            let pipe = open_pipe_to_read(pid, descriptor).ok()?;
            pipe.metadata().is_ok_and(|facts| facts.file_type().is_fifo()).then_some(Self(pipe))
        }

        /// Reads what has come, without waiting: [`Intake::fill`].
        ///
        /// # Errors
        /// Those of the system.
        pub fn fill(&self, intake: Intake<'_>) -> io::Result<Filled> {
            intake.fill(self.0.as_fd())
        }
    }

    /// Sleeps until something comes through a link, or somebody rings, or `limit` has passed, which is what true means.
    pub fn watch(link: &LinkSource, tower: &BellTower, limit: Duration) -> bool {
        let descriptors = [link.0.as_fd(), tower.as_fd()];
        let mut entries =
            descriptors.map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
        let seconds = limit.as_secs().try_into().unwrap_or(libc::time_t::MAX);
        let limit = libc::timespec { tv_sec: seconds, tv_nsec: limit.subsec_nanos().into() };
        // SAFETY: two entries, of open descriptors, and no mask.
        let n = unsafe { libc::ppoll(entries.as_mut_ptr(), 2, &raw const limit, std::ptr::null()) };
        if entries[1].revents != 0 {
            tower.quiet();
        }
        n == 0
    }

    impl Intake<'_> {
        fn held(&self) -> Range<usize> {
            let end = (self.end.load(Relaxed) as usize).min(INTAKE_BYTES);
            (self.start.load(Relaxed) as usize).min(end)..end
        }

        fn hold(&self, range: Range<usize>) {
            self.start.store(range.start as u32, Relaxed);
            self.end.store(range.end as u32, Relaxed);
        }

        /// Reads what has come through `link`, which never blocks, as far as there is room (whoever reads).
        ///
        /// # Errors
        /// Those of the system.
        pub fn fill(&self, link: BorrowedFd<'_>) -> io::Result<Filled> {
            let mut held = self.held();
            if held.is_empty() {
                held = 0..0;
            } else if INTAKE_BYTES - held.end < self.missing(&held).max(READ_BYTES_MIN) {
                self.bytes.offset(held.start as i64).copy_to(self.bytes, held.len());
                held = 0..held.len();
            }
            self.hold(held.clone());
            // Reading into no room at all would look like the end.
            if held.end == INTAKE_BYTES {
                return Ok(Filled::Nothing);
            }
            let into = self.bytes.offset(held.end as i64).address() as *mut libc::c_void;
            // SAFETY: this side has the right to read, so that nobody else touches the rest of the intake's bytes.
            let n = unsafe { libc::read(link.as_raw_fd(), into, INTAKE_BYTES - held.end) };
            match n {
                0 => return Ok(Filled::End),
                1.. => {
                    self.arrivals.store(self.arrivals().wrapping_add(1), Relaxed);
                    self.hold(held.start..held.end + n as usize);
                    return Ok(Filled::More);
                }
                _ => {}
            }
            let error = io::Error::last_os_error();
            match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(Filled::Nothing),
                _ => Err(error),
            }
        }

        /// Bytes that the packet which has begun still needs.
        fn missing(&self, held: &Range<usize>) -> usize {
            let bytes = self.head(held).map_or(0, |head| head.bytes as usize);
            (HEAD_BYTES + bytes).saturating_sub(held.len())
        }

        fn head(&self, held: &Range<usize>) -> Option<Head> {
            let mut bytes = [0; HEAD_BYTES];
            (held.len() >= HEAD_BYTES).then(|| self.bytes.offset(held.start as i64).read(&mut bytes))?;
            Head::decode(bytes)
        }

        /// The next packet, which stays there until [`Intake::take`] (whoever reads).
        #[must_use]
        pub fn next(&self) -> Found {
            let held = self.held();
            if held.len() < HEAD_BYTES {
                return Found::Nothing;
            }
            match self.head(&held) {
                None => Found::Nonsense,
                Some(head) if held.len() < HEAD_BYTES + head.bytes as usize => Found::Nothing,
                Some(head) => Found::Packet(head, self.bytes.offset((held.start + HEAD_BYTES) as i64)),
            }
        }

        /// Takes the packet that [`Intake::next`] has found (whoever reads).
        pub fn take(&self, head: &Head) {
            let held = self.held();
            self.hold((held.start + HEAD_BYTES + head.bytes as usize).min(held.end)..held.end);
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[derive(Debug, Default)]
    struct Link {
        words: [AtomicU32; INTAKE_WORDS],
        /// How many read at this moment.
        readers: AtomicU32,
    }

    impl Link {
        fn intake(&self) -> Intake<'_> {
            // SAFETY: no byte of it is touched here.
            Intake::new(std::array::from_fn(|i| &self.words[i]), unsafe { UserMemory::new(0) })
        }

        fn read(&self) {
            assert_eq!(self.readers.fetch_add(1, Relaxed), 0, "two read at the same time");
            self.readers.fetch_sub(1, Relaxed);
        }
    }

    #[test]
    fn loom_one_reads_at_a_time_and_the_post_gets_the_link_back() {
        loom::model(|| {
            let link = Arc::new(Link::default());
            link.intake().open(0);
            let ranks = [false, true].map(|sleeps| {
                let link = Arc::clone(&link);
                thread::spawn(move || {
                    let intake = link.intake();
                    let _ring_the_post = intake.want();
                    if intake.enter() {
                        link.read();
                        intake.leave();
                    }
                    let _ring_the_post = sleeps && intake.give_back();
                })
            });
            let (intake, mut seen) = (link.intake(), 0);
            if intake.is_wanted() {
                intake.lend();
            }
            if intake.is_with_post() {
                link.read();
            }
            ranks.map(|rank| rank.join().unwrap());
            for _ in 0..2 {
                intake.reclaim(&mut seen);
            }
            assert!(intake.is_with_post(), "nobody reads any more");
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use crate::packet::{Class, Head};
    use std::io::Write;
    use std::os::fd::{AsFd, AsRawFd};

    struct Link([AtomicU32; INTAKE_WORDS], OwnedMemory);

    impl Link {
        fn new() -> Self {
            Self(Default::default(), OwnedMemory::new(INTAKE_BYTES))
        }

        fn intake(&mut self) -> Intake<'_> {
            Intake::new(std::array::from_fn(|i| &self.0[i]), UserMemory::of(&mut self.1))
        }
    }

    #[test]
    fn the_post_lends_and_takes_back() {
        let mut link = Link::new();
        let intake = link.intake();
        assert!(!intake.want() && !intake.enter(), "there is no link yet");
        intake.open(7);
        assert!(intake.is_with_post() && !intake.enter());
        assert!(intake.want() && !intake.want() && intake.is_wanted() && intake.is_with_post());
        intake.lend();
        assert!(intake.is_lent() && !intake.is_with_post() && intake.enter() && !intake.enter());
        assert_eq!((intake.descriptor(), intake.reading()), (7, Some(1)));
        intake.leave();
        assert_eq!(intake.reading(), None);
        let mut seen = 0;
        intake.reclaim(&mut seen);
        assert!(intake.is_lent(), "somebody has looked meanwhile");
        intake.reclaim(&mut seen);
        assert!(intake.is_with_post());
        assert!(intake.want() && !intake.give_back() && !intake.is_wanted());
        assert!(intake.want());
        intake.lend();
        assert!(intake.give_back() && intake.is_with_post());
        assert!(intake.want());
        intake.lend();
        assert!(intake.enter());
        intake.hand_over();
        assert!(intake.is_with_post() && !intake.enter());
        intake.close();
        intake.leave();
        assert!(!intake.is_with_post() && !intake.enter() && !intake.want());
    }

    /// Packets of many lengths, cut anywhere, are found whole and in order.
    #[test]
    fn packets_come_out_as_they_went_in() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let source = LinkSource::open(std::process::id(), reader.as_raw_fd() as u32).unwrap();
        let lengths = [0, 1, 17, 4000, 70_000, 320 << 10, 5, 300_000, 0, 129 << 10];
        let head = |number: usize, bytes: usize| Head {
            class: Class::Packet,
            kind: number as u8,
            sender: 1,
            receiver: 2,
            bytes: bytes as u32,
        };
        let writing = std::thread::spawn(move || {
            for (number, &bytes) in lengths.iter().cycle().take(100).enumerate() {
                let packet = [&head(number, bytes).encode()[..], &vec![number as u8; bytes]].concat();
                for part in packet.chunks(7777) {
                    writer.write_all(part).unwrap();
                }
            }
            writer.write_all(&[0; 16]).unwrap();
        });
        let mut link = Link::new();
        let intake = link.intake();
        for (number, &bytes) in lengths.iter().cycle().take(100).enumerate() {
            let body = loop {
                match intake.next() {
                    Found::Packet(found, body) => {
                        assert_eq!(found, head(number, bytes));
                        break body;
                    }
                    Found::Nothing => {
                        assert_ne!(source.fill(intake).unwrap(), Filled::End);
                        std::thread::yield_now();
                    }
                    Found::Nonsense => panic!("packet {number} is nonsense"),
                }
            };
            let mut content = vec![0; bytes];
            body.read(&mut content);
            assert!(content.iter().all(|&byte| byte == number as u8));
            intake.take(&head(number, bytes));
        }
        writing.join().unwrap();
        while intake.next() == Found::Nothing {
            let _ = source.fill(intake).unwrap();
        }
        assert_eq!(intake.next(), Found::Nonsense);
        assert_eq!(intake.fill(reader.as_fd()).unwrap(), Filled::End);
    }

    #[test]
    fn a_full_intake_is_not_the_end() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut link = Link::new();
        let intake = link.intake();
        let head = Head { class: Class::Packet, kind: 0, sender: 1, receiver: 2, bytes: 1008 };
        let packet = [&head.encode()[..], &[1; 1008]].concat();
        for _ in 0..INTAKE_BYTES / packet.len() {
            writer.write_all(&packet).unwrap();
            let before = intake.arrivals();
            assert_eq!(intake.fill(reader.as_fd()).unwrap(), Filled::More);
            assert_ne!(intake.arrivals(), before);
        }
        writer.write_all(&packet).unwrap();
        let before = intake.arrivals();
        assert_eq!(intake.fill(reader.as_fd()).unwrap(), Filled::Nothing);
        assert_eq!(intake.arrivals(), before);
        intake.take(&head);
        assert_eq!(intake.fill(reader.as_fd()).unwrap(), Filled::More);
    }

    #[test]
    fn only_pipes_are_read() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(LinkSource::open(std::process::id(), file.as_raw_fd() as u32).is_none());
    }
}
