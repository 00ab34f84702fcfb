//! What a program is about to do with a file, from what it has done: after three operations of a kind, each as far from the last as that
//! was from the one before, it is expected to go on.

use std::ops::Range;

/// So many operations of a kind make a pattern.
const OPERATIONS: u32 = 3;
/// A gap up to this, or up to so many times what is read between two, is read over: a request costs more.
const GAP_BYTES_MAX: u64 = 64 << 10;
const GAP_TIMES_MAX: u64 = 8;

/// Reading or writing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

/// The operations so far, as far as they are of a kind.
#[derive(Debug, Default)]
pub struct Pattern {
    last: Option<(Kind, Range<u64>)>,
    stride: u64,
    operations: u32,
}

/// Where operations are expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Where the next begins.
    pub next: u64,
    /// From the beginning of one to that of the next.
    pub stride: u64,
    /// Bytes of each.
    pub length: u64,
}

impl Pattern {
    /// Takes note of an operation, and returns what follows if it is the third of its kind or a later one.
    pub fn observe(&mut self, kind: Kind, offset: u64, length: u64) -> Option<Expected> {
        let end = offset.saturating_add(length);
        let (same_kind, continues, stride) = match &self.last {
            Some((last, range)) => (*last == kind, offset == range.end, offset.saturating_sub(range.start)),
            None => (false, false, 0),
        };
        let follows = continues && self.stride == 0 || stride != 0 && stride == self.stride;
        if same_kind && (self.operations == 1 && stride != 0 || follows) {
            self.operations += 1;
            self.stride = if continues { 0 } else { stride };
        } else {
            self.operations = 1 + u32::from(same_kind && stride != 0);
            self.stride = if continues { 0 } else { stride };
        }
        self.last = Some((kind, offset..end));
        let next = if self.stride == 0 { end } else { offset.saturating_add(self.stride) };
        let stride = if self.stride == 0 { length } else { self.stride };
        (self.operations >= OPERATIONS && length > 0).then_some(Expected { next, stride, length })
    }
}

impl Pattern {
    /// Whether the last operation was beyond this offset.
    pub fn passed(&self, offset: u64) -> bool {
        self.last.as_ref().is_some_and(|(_, range)| range.start >= offset)
    }
}

impl Expected {
    /// Whether nothing is left out between two operations.
    pub fn is_sequential(&self) -> bool {
        self.stride == self.length
    }

    /// What to read ahead, from `from` on, or from the next operation if that is later, up to `until`: in blocks of at most
    /// `block_bytes`, over gaps that are small.
    pub fn ahead(&self, from: u64, until: u64, block_bytes: u64) -> Vec<Range<u64>> {
        let mut blocks = Vec::new();
        let gap = self.stride.saturating_sub(self.length);
        if gap <= GAP_BYTES_MAX.max(self.length.saturating_mul(GAP_TIMES_MAX)) {
            let mut at = from.max(self.next);
            while at < until {
                let end = at.saturating_add(block_bytes).min(until);
                blocks.push(at..end);
                at = end;
            }
            return blocks;
        }
        let passed = from.saturating_sub(self.next).div_ceil(self.stride);
        let mut at = self.next.saturating_add(passed.saturating_mul(self.stride));
        while at < until {
            blocks.push(at..at.saturating_add(self.length.min(block_bytes)));
            at = at.saturating_add(self.stride);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn last(operations: &[(Kind, u64, u64)]) -> Option<Expected> {
        let mut pattern = Pattern::default();
        let mut last = None;
        for &(kind, offset, length) in operations {
            last = pattern.observe(kind, offset, length);
        }
        last
    }

    #[test]
    fn three_of_a_kind_are_a_pattern() {
        use Kind::{Read, Write};
        assert_eq!(last(&[(Read, 0, 8), (Read, 8, 8)]), None);
        let next = Expected { next: 24, stride: 8, length: 8 };
        assert_eq!(last(&[(Read, 0, 8), (Read, 8, 8), (Read, 16, 8)]), Some(next));
        let next = Expected { next: 300, stride: 100, length: 8 };
        assert_eq!(last(&[(Write, 0, 8), (Write, 100, 8), (Write, 200, 8)]), Some(next));
        assert_eq!(last(&[(Write, 0, 8), (Write, 8, 8), (Read, 16, 8)]), None);
        assert_eq!(last(&[(Read, 0, 8), (Read, 100, 8), (Read, 150, 8)]), None);
        assert_eq!(last(&[(Read, 16, 8), (Read, 8, 8), (Read, 0, 8)]), None);
        // Lengths may differ where nothing is left out.
        let next = Expected { next: 33, stride: 5, length: 5 };
        assert_eq!(last(&[(Write, 0, 8), (Write, 8, 20), (Write, 28, 5)]), Some(next));
    }

    proptest! {
        /// Every operation that comes is inside what was read ahead, and whoever goes on from where the last blocks ended leaves nothing out.
        #[test]
        fn what_comes_was_read(offset in 0u64..1000, length in 1u64..5000, gap in prop_oneof![0u64..20, 60_000u64..200_000]) {
            let stride = length + gap;
            let mut pattern = Pattern::default();
            let (mut read, mut until) = (Vec::new(), 0);
            for number in 0..40 {
                let start = offset + number * stride;
                if number >= 3 {
                    let is_there = |byte: u64| read.iter().any(|block: &Range<u64>| block.contains(&byte));
                    prop_assert!(is_there(start) && is_there(start + length - 1));
                }
                if let Some(expected) = pattern.observe(Kind::Read, start, length) {
                    let end = expected.next + 3 * stride;
                    read.extend(expected.ahead(until, end, 1 << 20));
                    until = end;
                }
            }
        }
    }
}
