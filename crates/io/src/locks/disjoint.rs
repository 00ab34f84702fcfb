//! Whether two views show different bytes of a file, so that accesses through them cannot conflict. Pure.

use crate::view::{Block, View};

/// So many blocks of all views together are compared.
pub const BLOCKS_MAX: usize = 1 << 16;

/// What a view shows: blocks of the file, and again each `extent` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The blocks of the first tile.
    pub blocks: Vec<Block>,
    /// From one tile to the next.
    pub extent: i64,
}

impl Shown {
    /// What a view shows, unless that is in too many blocks.
    pub fn of(view: &View, blocks_max: usize) -> Option<Self> {
        let blocks: Vec<Block> = view.ranges(0, view.tile_bytes()).take(blocks_max + 1).collect();
        (blocks.len() <= blocks_max).then(|| Self { blocks, extent: view.extent() })
    }

    /// As numbers.
    pub fn encode(&self) -> Vec<i64> {
        let blocks = self.blocks.iter().flat_map(|block| [block.offset, block.bytes]);
        std::iter::once(self.extent).chain(blocks).collect()
    }

    /// From those numbers; none if there are none.
    pub fn decode(numbers: &[i64]) -> Option<Self> {
        let (&extent, rest) = numbers.split_first()?;
        let block = |&[offset, bytes]: &[i64; 2]| Block { offset, bytes };
        Some(Self { blocks: rest.as_chunks::<2>().0.iter().map(block).collect(), extent })
    }

    /// Whether it is certain that no byte is shown by both.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        if self.blocks.is_empty() || other.blocks.is_empty() {
            return true;
        }
        // Both repeat themselves on a circle of this length.
        let circle = greatest_common_divisor(self.extent, other.extent);
        if circle <= 0 {
            return false;
        }
        let mut all: Vec<(Block, bool)> = Vec::new();
        for (shown, first) in [(self, true), (other, false)] {
            for block in &shown.blocks {
                if block.bytes > circle {
                    return false;
                }
                let offset = block.offset.rem_euclid(circle);
                let bytes = block.bytes.min(circle - offset);
                all.push((Block { offset, bytes }, first));
                if bytes < block.bytes {
                    all.push((Block { offset: 0, bytes: block.bytes - bytes }, first));
                }
            }
        }
        all.sort_unstable();
        let (mut first_end, mut other_end) = (0, 0);
        all.iter().all(|(block, first)| {
            let (own, theirs) =
                if *first { (&mut first_end, other_end) } else { (&mut other_end, first_end) };
            *own = block.end().max(*own);
            theirs <= block.offset
        })
    }
}

fn greatest_common_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn shown() -> impl Strategy<Value = Shown> {
        let blocks = proptest::collection::vec((0..4_i64, 1..4_i64), 0..4);
        (0..12_i64, blocks, 0..4_i64).prop_map(|(start, lengths, behind)| {
            let mut end = start;
            let mut blocks = Vec::new();
            for (gap, bytes) in lengths {
                blocks.push(Block { offset: end + gap, bytes });
                end += gap + bytes;
            }
            Shown { blocks, extent: end - start + behind }
        })
    }

    fn bytes(shown: &Shown) -> BTreeSet<i64> {
        let tiles = (0..200).map(|tile| tile * shown.extent);
        tiles
            .flat_map(|tile| {
                shown.blocks.iter().flat_map(move |block| tile + block.offset..tile + block.end())
            })
            .collect()
    }

    proptest! {
        #[test]
        fn views_that_are_called_disjoint_are(one in shown(), other in shown()) {
            prop_assert!(!one.is_disjoint(&other) || bytes(&one).is_disjoint(&bytes(&other)));
            prop_assert_eq!(one.is_disjoint(&other), other.is_disjoint(&one));
        }
    }

    #[test]
    fn columns_of_an_array_are_disjoint() {
        let column = |first: i64| Shown { blocks: vec![Block { offset: first * 8, bytes: 8 }], extent: 64 };
        assert!(column(0).is_disjoint(&column(7)));
        assert!(!column(2).is_disjoint(&column(2)));
        assert_eq!(Shown::decode(&column(3).encode()), Some(column(3)));
    }
}
