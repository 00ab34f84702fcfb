//! Memory of the program that is closed while data is on its way to it.
//!
//! Large allocations of the program come from a pool: a range of addresses of our own, where an allocation of some size stands alone on huge
//! pages. To close or open such pages costs some microseconds whatever their size, while it is the price of changing thousands of small pages
//! that made the paper's method lose (its figure 2). Static data of the program (`statics`) is closed by pages. `extents` says what of the pool is free, `system` has the calls of the system, and the two
//! signals by which a touch of closed memory is noticed, and a system call that would meet it.

mod extents;
#[allow(unsafe_code)]
pub mod statics;
#[allow(unsafe_code)]
mod system;

pub use system::{
    Pool, buffer, change_other_faults, change_status, close, has_closed, has_closed_status, has_two_views,
    in_the_layer, install, is_known_processor, is_open_to_us, open, signals_reach_us, store,
};

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first address.
    pub start: usize,
    /// Number of bytes.
    pub bytes: usize,
}

impl Range {
    /// The address behind the last.
    #[must_use]
    pub fn end(self) -> usize {
        self.start + self.bytes
    }

    /// All pages of it.
    #[must_use]
    pub fn pages(self) -> Self {
        let start = self.start / 4096 * 4096;
        Self { start, bytes: self.end().next_multiple_of(4096) - start }
    }

    /// The least range that has both.
    #[must_use]
    pub fn around(self, other: Self) -> Self {
        let start = self.start.min(other.start);
        Self { start, bytes: self.end().max(other.end()) - start }
    }

    /// Whether the two have an address in common.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.start < other.end() && other.start < self.end()
    }

    /// Whether all of another is in it.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }
}
