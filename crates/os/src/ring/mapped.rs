//! The cells of a ring in shared memory.

use super::{CELL, Consumer, Producer, RING_HEADER_BYTES, WORD, is_ring};
use crate::memory::UserMemory;
use crate::shared_memory::Segment;
use crate::sync::{AtomicU32, AtomicU64};

/// The body of a packet, as a place in shared memory.
pub type Body = UserMemory;

/// The cells of one ring and the consumer's published words, as both ends see them.
#[derive(Debug)]
pub(super) struct Cells {
    head: &'static AtomicU64,
    starved: &'static AtomicU32,
    base: usize,
    count: u64,
}

impl Cells {
    fn new(segment: &Segment, offset: usize, bytes: usize) -> Self {
        assert!(is_ring(bytes), "a ring of {bytes} bytes");
        let base = segment.place(offset + RING_HEADER_BYTES, bytes).address();
        assert!(base.is_multiple_of(CELL), "cells must be cache lines");
        // SAFETY: inside the segment, which the owner of the ring's ends keeps mapped for as long as they live
        // (`Job` outlives the transport); both words are only ever touched as atomics.
        let (head, starved) = unsafe {
            let head = &*std::ptr::from_ref(segment.word64(offset));
            (head, &*std::ptr::from_ref(segment.word32(offset + 8)))
        };
        Self { head, starved, base, count: (bytes / CELL) as u64 }
    }

    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    #[inline]
    pub fn head(&self) -> &AtomicU64 {
        self.head
    }

    #[inline]
    pub fn starved(&self) -> &AtomicU32 {
        self.starved
    }

    #[inline]
    fn at(&self, position: u64) -> usize {
        self.base + (position & (self.count - 1)) as usize * CELL
    }

    #[inline]
    pub fn word(&self, position: u64) -> &AtomicU64 {
        // SAFETY: `at` stays inside the cells, aligned to 64; the first word of a cell is only touched as an atomic
        // between the two ends' hand-overs, and as body bytes only by the end that owns the cell.
        unsafe { &*(self.at(position) as *const AtomicU64) }
    }

    #[inline]
    pub fn body(&self, position: u64) -> Body {
        // SAFETY: the body of a cell that this end owns; its length is kept inside the cells by the callers.
        unsafe { UserMemory::new(self.at(position) + WORD) }
    }
}

impl Producer {
    /// The sending end of the ring of `bytes` bytes at `offset`.
    pub(crate) fn new(segment: &Segment, offset: usize, bytes: usize) -> Self {
        Self::over(Cells::new(segment, offset, bytes))
    }
}

impl Consumer {
    /// The receiving end of the ring of `bytes` bytes at `offset`.
    pub(crate) fn new(segment: &Segment, offset: usize, bytes: usize) -> Self {
        Self::over(Cells::new(segment, offset, bytes))
    }
}
