//! The cells of a ring for loom: each body is a cell of loom's, which reports when both ends touch it at the same time.

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use super::{CELL, Consumer, Producer, WORD};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

#[derive(Debug)]
struct Cell {
    word: AtomicU64,
    body: UnsafeCell<u32>,
}

#[derive(Debug)]
struct Shared {
    head: AtomicU64,
    starved: AtomicU32,
    cells: Vec<Cell>,
}

/// The cells of one ring and the consumer's published words, as both ends see them.
#[derive(Clone, Debug)]
pub(super) struct Cells(Arc<Shared>);

/// The body of a packet: from this cell on.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    shared: *const Shared,
    position: u64,
}

impl Cells {
    pub fn count(&self) -> u64 {
        self.0.cells.len() as u64
    }

    pub fn head(&self) -> &AtomicU64 {
        &self.0.head
    }

    pub fn starved(&self) -> &AtomicU32 {
        &self.0.starved
    }

    pub fn word(&self, position: u64) -> &AtomicU64 {
        &self.0.cells[position as usize % self.0.cells.len()].word
    }

    pub fn body(&self, position: u64) -> Body {
        Body { shared: &raw const *self.0, position }
    }
}

impl Body {
    /// The cells that a body of `bytes` bytes lies in.
    fn cells(&self, bytes: usize) -> &[Cell] {
        // SAFETY: a body is only used by the end that made it, which keeps the cells.
        let cells = unsafe { &(*self.shared).cells };
        let first = self.position as usize % cells.len();
        &cells[first..first + (bytes + WORD).div_ceil(CELL)]
    }

    /// Writes `number` into every cell of a body of `bytes` bytes. As the bytes of a real body, it covers the words of
    /// all cells but the first, with all ones: taken for a word, that would be a packet.
    pub fn write_number(self, number: u32, bytes: usize) {
        for (index, cell) in self.cells(bytes).iter().enumerate() {
            // SAFETY: loom checks that no other end touches the cell at the same time.
            cell.body.with_mut(|body| unsafe { *body = number });
            if index > 0 {
                cell.word.store(u64::MAX, Ordering::Relaxed);
            }
        }
    }

    /// The numbers in the cells of a body of `bytes` bytes.
    pub fn read_numbers(self, bytes: usize) -> Vec<u32> {
        // SAFETY: loom checks that no other end writes the cell at the same time.
        self.cells(bytes).iter().map(|cell| cell.body.with(|body| unsafe { *body })).collect()
    }
}

/// Both ends of a ring of `count` cells.
pub(super) fn pair(count: usize) -> (Producer, Consumer) {
    let cell = || Cell { word: AtomicU64::new(0), body: UnsafeCell::new(0) };
    let cells = (0..count).map(|_| cell()).collect();
    let shared = Shared { head: AtomicU64::new(0), starved: AtomicU32::new(0), cells };
    let cells = Cells(Arc::new(shared));
    (Producer::over(cells.clone()), Consumer::over(cells))
}
