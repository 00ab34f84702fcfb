//! A lock-free ring of packets from one process to one other, in shared memory.
//!
//! The ring is an array of 64-byte cells, one cache line each. A packet takes one or more neighbouring cells:
//!
//! ```text
//! +0   word: bytes of the packet's body in bits 0..31, `FILLED` in bit 31; bits 32..63 belong to the caller ("meta")
//! +8   body
//! ```
//!
//! There is no shared tail index: the consumer looks at the word of the next cell, and a small packet crosses with
//! the one cache line that it is made of. Who writes what, and in which order:
//!
//! - Only the producer writes cells. It finds room by its private `tail` and its copy of `head`; makes sure that the word of
//!   the cell *after* the packet is zero, so that old bytes are never taken for a packet; writes the body; then stores the
//!   word (release). Where a packet does not fit before the end of the array, a word `SKIP` sends the consumer to the
//!   beginning. Afterwards, when nobody waits for it any more, it clears the words of the next cells in advance
//!   (up to `cleared`), as many as a packet like this one takes: that also brings their cache lines to this core before they are needed.
//! - The consumer loads the word (acquire); zero means empty. It copies the body out, and from time to time (every
//!   eighth of the ring, or when it wants it to be known) publishes its `head` (release), which hands the cells back to the producer.
//! - A producer that finds no room sets `starved` and looks at `head` once more; a consumer that publishes `head` looks at
//!   `starved` and tells its caller to ring the producer's doorbell. Fences as in `wait`.
//!
//! A packet may take at most a quarter of the ring, so an empty ring always has room, wherever its head is.

#[cfg_attr(not(loom), path = "ring/mapped.rs")]
#[cfg_attr(loom, path = "ring/model.rs")]
mod cells;

use crate::sync::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::full_fence;
pub use cells::Body;
use cells::Cells;

/// Bytes in front of the cells: the line of `head` and `starved`, and a spare line that keeps the prefetcher off it.
pub const RING_HEADER_BYTES: usize = 128;

const CELL: usize = 64;
const WORD: usize = 8;
/// The bytes of a packet's body that lie in its first cell: what follows them begins with a cache line.
pub const FIRST_CELL_BYTES: usize = CELL - WORD;
const FILLED: u64 = 1 << 31;
const SKIP: u64 = FILLED | 0x7fff_ffff;

/// The fewest cells with which a packet finds room.
const CELLS_MIN: usize = 16;
/// The most bytes of a ring, of which a packet may take a quarter.
const RING_BYTES_MAX: usize = 1 << 30;

/// Whether a ring can have so many bytes.
#[must_use]
pub fn is_ring(bytes: usize) -> bool {
    bytes.is_power_of_two() && (CELLS_MIN * CELL..=RING_BYTES_MAX).contains(&bytes)
}

#[inline]
fn cells_of(body_bytes: usize) -> u64 {
    (body_bytes + WORD).div_ceil(CELL) as u64
}

fn body_bytes_max(cells: u64) -> usize {
    cells as usize * CELL / 4 - WORD
}

/// The sending end.
#[derive(Debug)]
pub struct Producer {
    cells: Cells,
    tail: u64,
    head: u64,
    /// The words of the cells from `tail` up to here are zero.
    cleared: u64,
}

/// How many cells are cleared in advance at least.
const CLEAR_AHEAD: u64 = 4;
/// The most cells of a packet after which another one like it is expected. Measured: where messages go one way at a time, bodies of 256 bytes to
/// 2 KiB take a third less time; longer ones, where two processes send to each other at once, would take a fifth more.
const LIKE_BEFORE_MAX: u64 = 36;

impl Producer {
    fn over(cells: Cells) -> Self {
        let cleared = cells.count();
        Self { cells, tail: 0, head: 0, cleared }
    }

    /// The longest body that one packet can have.
    #[must_use]
    pub fn body_bytes_max(&self) -> usize {
        body_bytes_max(self.cells.count())
    }

    /// Puts one packet in the ring: `fill` writes its `body_bytes` bytes. False when there is no room; then the producer's
    /// doorbell will ring once there may be.
    #[inline]
    pub fn push(&mut self, meta: u32, body_bytes: usize, fill: impl FnOnce(Body)) -> bool {
        debug_assert!(body_bytes <= self.body_bytes_max());
        let needed = cells_of(body_bytes);
        let until_end = self.cells.count() - (self.tail & (self.cells.count() - 1));
        let skipped = if needed > until_end { until_end } else { 0 };
        // One cell more than the packet takes: the cleared word behind it.
        let taken = skipped + needed + 1;
        if self.tail + taken - self.head > self.cells.count() && !self.make_room(taken) {
            return false;
        }
        if skipped > 0 {
            let start = self.tail + skipped;
            self.clear(start);
            self.cells.word(self.tail).store(SKIP, Release);
            self.tail = start;
        }
        let end = self.tail + needed;
        if self.cleared <= end {
            self.clear(end);
        }
        fill(self.cells.body(self.tail));
        let word = u64::from(meta) << 32 | FILLED | body_bytes as u64;
        self.cells.word(self.tail).store(word, Release);
        self.tail = end;
        let next = if needed <= LIKE_BEFORE_MAX { CLEAR_AHEAD.max(needed + 1) } else { CLEAR_AHEAD };
        let ahead = (end + next).min(self.head + self.cells.count());
        while self.cleared < ahead {
            self.clear(self.cleared);
        }
        true
    }

    /// Where the next packet will begin.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.tail
    }

    /// Whether the consumer has said that it has taken every packet (see [`Consumer::settle`]).
    #[inline]
    #[must_use]
    pub fn is_drained(&mut self) -> bool {
        if self.head != self.tail {
            self.head = self.cells.head().load(Acquire);
        }
        self.head == self.tail
    }

    #[inline]
    fn clear(&mut self, position: u64) {
        self.cells.word(position).store(0, Relaxed);
        self.cleared = self.cleared.max(position + 1);
    }

    #[cold]
    fn make_room(&mut self, needed: u64) -> bool {
        self.head = self.cells.head().load(Acquire);
        if self.tail + needed - self.head <= self.cells.count() {
            return true;
        }
        self.cells.starved().store(1, SeqCst);
        full_fence();
        self.head = self.cells.head().load(Acquire);
        let room = self.tail + needed - self.head <= self.cells.count();
        if room {
            self.cells.starved().store(0, Relaxed);
        }
        room
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct Consumer {
    cells: Cells,
    head: u64,
    published: u64,
}

/// A packet that lies in the ring until [`Consumer::release`].
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What the producer's caller put beside the length.
    pub meta: u32,
    /// Where the body is; valid until the packet is released.
    pub body: Body,
    /// Length of the body in bytes.
    pub body_bytes: usize,
}

impl Consumer {
    fn over(cells: Cells) -> Self {
        Self { cells, head: 0, published: 0 }
    }

    /// Where the next packet begins, as the producer counts.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.head
    }

    /// The oldest packet, which stays in the ring.
    #[inline]
    pub fn peek(&mut self) -> Option<Packet> {
        let mut word = self.cells.word(self.head).load(Acquire);
        if word == 0 {
            return None;
        }
        if word == SKIP {
            self.head = (self.head | (self.cells.count() - 1)) + 1;
            word = self.cells.word(self.head).load(Acquire);
            if word == 0 {
                return None;
            }
        }
        // A length that the cells cannot hold would mean a peer that overwrote our memory: never read beyond.
        let body_bytes = ((word & (FILLED - 1)) as usize).min(body_bytes_max(self.cells.count()));
        Some(Packet { meta: (word >> 32) as u32, body: self.cells.body(self.head), body_bytes })
    }

    /// Gives the cells of the packet that [`Consumer::peek`] returned back. True when the producer waits for room: ring its doorbell.
    #[inline]
    pub fn release(&mut self, packet: Packet) -> bool {
        self.head += cells_of(packet.body_bytes);
        self.head - self.published >= self.cells.count() / 8 && self.publish()
    }

    /// Gives back the cells of all released packets at once. True as for [`Consumer::release`].
    #[inline]
    pub fn settle(&mut self) -> bool {
        self.head != self.published && self.publish()
    }

    #[cold]
    fn publish(&mut self) -> bool {
        self.published = self.head;
        self.cells.head().store(self.head, Release);
        full_fence();
        self.cells.starved().load(Relaxed) != 0 && self.cells.starved().swap(0, SeqCst) != 0
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
