//! What the ranks of a host and their post share of a link to another host: the right to write to it.
//!
//! Most packets go through the rank's ring and are written by the post, which gathers those of all ranks. But a short packet that
//! somebody waits for would pay for waking the post, and a long one for one more copy: the rank can write them into the link's pipe as well
//! by itself. Whoever writes holds the [`Token`]; the protocol keeps packets whole and in order:
//!
//! - The post takes the token before it takes a packet out of a ring, and gives it back when all that it has taken is in the pipe, not before.
//! - A rank that gets the token looks whether the post has taken all its packets
//!   ([`Producer::is_drained`](crate::ring::Producer::is_drained)): only then may it write ([`LinkPipe::write`]), and all of a packet or nothing.
//! - Nobody waits for the token. A rank that does not get it uses its ring. A post that finds it with a rank says so in it; the rank
//!   then hands it to the post and rings.

#[cfg(not(loom))]
pub use pipe::LinkPipe;

use std::time::Duration;

use crate::sync::AtomicU32;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Bytes that a post asks of the kernel for the pipe to and from a remote shell, to have fewer switches between them.
pub const PIPE_BYTES: usize = 1 << 20;
/// A pipe of that size that is half full keeps a remote shell busy for longer than this; whoever were woken whenever a few KiB have left
/// it would take its core away.
pub const PIPE_PAUSE: Duration = Duration::from_micros(200);

/// Nobody writes.
const FREE: u32 = 1;
/// A rank writes.
const RANK: u32 = 2;
/// A rank writes, and the post waits for it.
const AWAITED: u32 = 3;

/// There is no link: a right's first value.
const CLOSED: u32 = 0;
/// The post has the right.
pub(crate) const POST: u32 = 4;

/// A right to use one end of a link, which one side at a time has, and the descriptor of that end. What values there are
/// besides these two is its user's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Right<'a> {
    pub holder: &'a AtomicU32,
    pub descriptor: &'a AtomicU32,
}

impl Right<'_> {
    /// The post has the right first.
    pub fn open(&self, descriptor: u32) {
        self.descriptor.store(descriptor, Relaxed);
        self.holder.store(POST, Release);
    }

    pub fn close(&self) {
        self.holder.store(CLOSED, Release);
    }

    #[inline]
    pub fn change(&self, from: u32, to: u32) -> bool {
        self.holder.compare_exchange(from, to, AcqRel, Relaxed).is_ok()
    }
}

/// The right to write to a link.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a>(Right<'a>);

impl<'a> Token<'a> {
    /// A token of two words that start as zero.
    #[must_use]
    pub fn new(holder: &'a AtomicU32, descriptor: &'a AtomicU32) -> Self {
        Self(Right { holder, descriptor })
    }

    /// Lets ranks write to `descriptor` of the post's process, which stays open as long as the post. The post has the token first.
    pub fn open(&self, descriptor: u32) {
        self.0.open(descriptor);
    }

    /// From now on ranks write no more (the post).
    pub fn close(&self) {
        self.0.close();
    }

    /// Takes the token for the post, unless a rank has it: then that rank will hand it over, and ring.
    #[must_use]
    pub fn take(&self) -> bool {
        loop {
            // Acquire: what the rank that handed it over has done is done.
            match self.0.holder.load(Acquire) {
                FREE if self.0.change(FREE, POST) => return true,
                RANK if self.0.change(RANK, AWAITED) => return false,
                FREE | RANK => {}
                holder => return holder != AWAITED,
            }
        }
    }

    /// Gives the token back (the post).
    pub fn give_back(&self) {
        let _closed = self.0.change(POST, FREE);
    }

    /// Takes the token for a rank, if nobody has it. Then [`Token::leave`] must follow, soon.
    #[must_use]
    #[inline]
    pub fn enter(&self) -> bool {
        self.0.holder.load(Relaxed) == FREE && self.0.change(FREE, RANK)
    }

    /// Gives the rank's token back. True when the post has it now: ring its bell.
    #[must_use]
    #[inline]
    pub fn leave(&self) -> bool {
        !self.0.change(RANK, FREE) && self.0.change(AWAITED, POST)
    }

    /// The descriptor to write to, while a rank has the token.
    #[must_use]
    pub fn descriptor(&self) -> u32 {
        self.0.descriptor.load(Relaxed)
    }
}

#[cfg(not(loom))]
mod pipe {
    use std::fs::File;
    use std::io::{ErrorKind, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileTypeExt;

    use super::{PIPE_BYTES, PIPE_PAUSE};
    use crate::file::write_some;
    use crate::memory::UserMemory;
    use crate::process::{open_pipe, page_bytes, without_broken_pipes};

    /// The writing end of a link, as a rank has it.
    #[derive(Debug)]
    pub struct LinkPipe {
        pipe: File,
        /// How many pages it has room for.
        pages: usize,
    }

    impl LinkPipe {
        /// The most bytes that are written at once, all or none of them (POSIX, `PIPE_BUF`).
        pub const BYTES_MAX: usize = libc::PIPE_BUF;

        /// Opens descriptor `descriptor` of process `pid`; none when it is no pipe, of which nothing says that it takes packets whole.
        #[must_use]
        pub fn open(pid: u32, descriptor: u32) -> Option<Self> {
            let pipe = open_pipe(pid, descriptor).ok()?;
            pipe.metadata().ok().filter(|facts| facts.file_type().is_fifo())?;
            // SAFETY: asks a number of an open descriptor.
            let bytes = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ) };
            Some(Self { pages: usize::try_from(bytes).unwrap_or(0) / page_bytes(), pipe })
        }

        /// Writes a packet; false when there is no room for all of it, or nobody reads any more.
        #[must_use]
        pub fn write(&self, packet: &[u8]) -> bool {
            debug_assert!(packet.len() <= Self::BYTES_MAX);
            without_broken_pipes(|| (&self.pipe).write(packet)).is_ok()
        }

        /// Whether it holds as much as a post asks for: then one without room soon has some, and is not empty before.
        #[must_use]
        pub fn is_roomy(&self) -> bool {
            self.pages * page_bytes() >= PIPE_BYTES
        }

        /// Writes a packet of any length, `head` and then the `bytes` bytes at `body`; false when there may be no room for all of it, or
        /// nobody reads any more.
        #[must_use]
        pub fn write_long(&self, head: &[u8], body: UserMemory, bytes: usize) -> bool {
            if !self.has_room(head.len() + bytes) {
                return false;
            }
            let mut done = 0;
            while done < head.len() + bytes {
                match without_broken_pipes(|| write_some(&self.pipe, head, body, bytes, done)) {
                    Ok(n) => done += n,
                    Err(_) if done == 0 => return false,
                    // The post finds that out, too.
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => return true,
                    // What cannot be read ends this process here, as copying it would.
                    Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                        std::hint::black_box(
                            body.offset(done.saturating_sub(head.len()) as i64).load::<u8>(),
                        );
                    }
                    // There was room, but no memory for it.
                    Err(_) => std::thread::sleep(PIPE_PAUSE),
                }
            }
            true
        }

        /// Whether so many bytes surely have room. The rest of a write that fits behind what was written before shares its page, so of two
        /// pages in a row at least one page's worth is filled: what lies in the pipe takes at most twice the pages that it would fill,
        /// and that of which a part was read.
        fn has_room(&self, bytes: usize) -> bool {
            let mut held = 0;
            // SAFETY: the kernel writes one int.
            let known = unsafe { libc::ioctl(self.pipe.as_raw_fd(), libc::FIONREAD, &raw mut held) } == 0;
            let pages = |bytes: usize| bytes.div_ceil(page_bytes());
            known && 2 * pages(held as usize) + 1 + pages(bytes) <= self.pages
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;
    use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use loom::thread;

    use super::*;

    #[derive(Debug, Default)]
    struct Link {
        words: [AtomicU32; 2],
        rung: AtomicBool,
        /// How many write at this moment.
        writers: AtomicU32,
    }

    impl Link {
        fn token(&self) -> Token<'_> {
            Token::new(&self.words[0], &self.words[1])
        }

        fn write(&self) {
            assert_eq!(self.writers.fetch_add(1, Relaxed), 0, "two write at the same time");
            self.writers.fetch_sub(1, Relaxed);
        }
    }

    #[test]
    fn loom_one_writes_at_a_time_and_the_post_gets_its_turn() {
        loom::model(|| {
            let link = Arc::new(Link::default());
            link.token().open(0);
            link.token().give_back();
            let ranks = [(); 2].map(|()| {
                let link = Arc::clone(&link);
                thread::spawn(move || {
                    if link.token().enter() {
                        link.write();
                        if link.token().leave() {
                            link.rung.store(true, Release);
                        }
                    }
                })
            });
            let mut taken = link.token().take();
            if taken {
                link.write();
                link.token().give_back();
            }
            ranks.map(|rank| rank.join().unwrap());
            if !taken {
                assert!(link.rung.load(Acquire), "the post is not told");
                taken = link.token().take();
                assert!(taken, "the post was told for nothing");
                link.write();
            }
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::memory::{OwnedMemory, UserMemory};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    #[test]
    fn the_post_and_ranks_take_turns() {
        let words = [AtomicU32::new(0), AtomicU32::new(0)];
        let token = Token::new(&words[0], &words[1]);
        assert!(!token.enter(), "there is no link yet");
        assert!(token.take(), "the post may write before ranks may");
        token.open(7);
        assert!(token.take() && !token.enter());
        token.give_back();
        assert!(token.enter() && !token.enter() && !token.take());
        assert_eq!(token.descriptor(), 7);
        assert!(token.leave(), "the post has asked for it");
        assert!(token.take() && !token.enter());
        token.give_back();
        assert!(token.enter() && !token.leave());
        token.close();
        assert!(!token.enter() && token.take());
        token.give_back();
        assert!(!token.enter(), "giving back does not open a closed link");
    }

    #[test]
    fn packets_are_written_whole_or_not_at_all() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let pipe = LinkPipe::open(std::process::id(), writer.as_raw_fd() as u32).unwrap();
        let mut written = 0;
        while pipe.write(&[7; 3000]) {
            written += 3000;
        }
        assert!(written > 0);
        drop((pipe, writer));
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), written);
    }

    proptest! {
        /// Also where many packets leave a page half empty, and the reader has taken a part of one.
        #[test]
        fn long_packets_are_written_whole_or_not_at_all(lengths in vec(1_usize..70_000, 1..100), taken in 0_usize..5000) {
            let (mut reader, writer) = std::io::pipe().unwrap();
            let pipe = LinkPipe::open(std::process::id(), writer.as_raw_fd() as u32).unwrap();
            let mut bytes = OwnedMemory::new(70_000);
            let body = UserMemory::of(&mut bytes);
            let mut all = vec![0; taken];
            let mut written = usize::from(pipe.write_long(b"", body, 5000)) * 5000;
            reader.read_exact(&mut all).unwrap();
            for (number, length) in lengths.into_iter().enumerate() {
                let sent = if number % 3 == 0 { pipe.write_long(b"head", body, length) } else { pipe.write(&[7; 2050]) };
                let packet = if number % 3 == 0 { 4 + length } else { 2050 };
                written += usize::from(sent) * packet;
            }
            drop((pipe, writer));
            reader.read_to_end(&mut all).unwrap();
            prop_assert_eq!(all.len(), written);
        }
    }

    #[test]
    fn a_reader_that_is_gone_ends_nobody() {
        let (reader, writer) = std::io::pipe().unwrap();
        let pipe = LinkPipe::open(std::process::id(), writer.as_raw_fd() as u32).unwrap();
        drop(reader);
        assert!(!pipe.write(b"packet"));
        assert!(!pipe.write_long(b"packet", UserMemory::of(&mut OwnedMemory::new(100)), 100));
    }

    #[test]
    fn only_pipes_are_written_to() {
        let file = std::fs::File::options().write(true).open("/dev/null").unwrap();
        assert!(LinkPipe::open(std::process::id(), file.as_raw_fd() as u32).is_none());
    }
}
