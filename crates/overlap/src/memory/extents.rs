//! Which parts of a range of addresses are free. Pure.

use std::collections::BTreeMap;

/// A free part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Free {
    bytes: usize,
    /// Whether somebody has used it, so that it is not known to hold zeros.
    used: bool,
}

/// The free parts of a range, by their first address. Neighbours are joined, but those that nobody has used stay by themselves.
#[derive(Debug, Default)]
pub struct Extents {
    free: BTreeMap<usize, Free>,
}

/// What was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its first address.
    pub start: usize,
    /// Whether it may hold something else than zeros.
    pub used: bool,
}

impl Extents {
    /// A range all of which is free and zero.
    #[must_use]
    pub fn new(start: usize, bytes: usize) -> Self {
        Self { free: BTreeMap::from([(start, Free { bytes, used: false })]) }
    }

    /// Takes so many bytes at a multiple of `alignment`: the first that are free.
    pub fn take(&mut self, bytes: usize, alignment: usize) -> Option<Taken> {
        let fits = |(&start, &free): (&usize, &Free)| {
            let first = start.next_multiple_of(alignment);
            (first.checked_add(bytes)? <= start + free.bytes).then_some((start, free, first))
        };
        let (start, free, first) = self.free.iter().find_map(fits)?;
        self.free.remove(&start);
        self.keep(start, first - start, free.used);
        self.keep(first + bytes, start + free.bytes - first - bytes, free.used);
        Some(Taken { start: first, used: free.used })
    }

    fn keep(&mut self, start: usize, bytes: usize, used: bool) {
        if bytes > 0 {
            self.free.insert(start, Free { bytes, used });
        }
    }

    /// Gives bytes back. `used` says that they are not zero.
    pub fn give(&mut self, start: usize, bytes: usize, used: bool) {
        let (mut first, mut end) = (start, start + bytes);
        if let Some((&before, &free)) = self.free.range(..start).next_back()
            && before + free.bytes == start
            && free.used == used
        {
            self.free.remove(&before);
            first = before;
        }
        if let Some(&free) = self.free.get(&end)
            && free.used == used
        {
            self.free.remove(&end);
            end += free.bytes;
        }
        self.keep(first, end - first, used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against an array with a cell for each byte.
        #[test]
        fn what_is_taken_was_free_and_is_aligned(steps in proptest::collection::vec((1..40_usize, 0..4_u32, 0..10_usize), 1..60)) {
            let mut extents = Extents::new(64, 400);
            // Whether it is taken, and whether it was used.
            let mut cells = [(false, false); 400];
            let mut live: Vec<(usize, usize)> = Vec::new();
            for (bytes, alignment, which) in steps {
                if which < 4 && !live.is_empty() {
                    let (start, bytes) = live.swap_remove(which % live.len());
                    let used = which < 3;
                    cells[start - 64..start - 64 + bytes].fill((false, used));
                    extents.give(start, bytes, used);
                    continue;
                }
                let alignment = 1 << alignment;
                let expected = (64..464_usize).find(|start| {
                    start % alignment == 0 && start + bytes <= 464
                        && cells[start - 64..start - 64 + bytes].iter().all(|cell| *cell == (false, cells[start - 64].1))
                });
                let taken = extents.take(bytes, alignment);
                prop_assert_eq!(taken.map(|taken| taken.start), expected);
                if let Some(Taken { start, used }) = taken {
                    let cells = &mut cells[start - 64..start - 64 + bytes];
                    prop_assert_eq!(used, cells[0].1);
                    cells.fill((true, true));
                    live.push((start, bytes));
                }
            }
        }
    }
}
