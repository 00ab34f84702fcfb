//! Which bytes of a file an access touches, in a few numbers, and whether two accesses touch the same. Pure.

use crate::view::{Block, Series};

/// How many pieces are told apart; with more of them the smallest gaps are taken along.
pub const PIECES_MAX: usize = 4;

/// Pieces with more blocks than this are compared as wholes, unless they have the same stride.
const BLOCKS_MAX: i64 = 64;

/// Takes blocks along, if they are the next ones.
fn takes(piece: &mut Series, next: Series) -> bool {
    let distance = next.start - piece.start;
    let stride = match piece.count {
        1 => distance,
        _ => piece.stride,
    };
    let follows = stride >= piece.bytes
        && distance == piece.count * stride
        && next.bytes == piece.bytes
        && (next.count == 1 || next.stride == stride);
    if follows {
        (piece.stride, piece.count) = (stride, piece.count + next.count);
    }
    follows
}

fn overlaps(one: Series, other: Series) -> bool {
    if one.end() <= other.start || other.end() <= one.start {
        return false;
    }
    if one.count == 1 && other.count == 1 {
        return true;
    }
    if one.count > 1 && other.count > 1 && one.stride == other.stride {
        return overlaps_in_circle(one.start - other.start, one.bytes, other.bytes, one.stride);
    }
    let (few, many) = if one.count <= other.count { (one, other) } else { (other, one) };
    few.count > BLOCKS_MAX || few.blocks().any(|block| touches(many, block))
}

/// Whether a block touches one of these.
fn touches(piece: Series, block: Block) -> bool {
    // The first one that ends behind its start.
    let behind = (block.offset - piece.start - piece.bytes).div_euclid(piece.stride) + 1;
    let index = behind.max(0);
    index < piece.count && piece.start + index * piece.stride < block.end()
}

/// Whether all bytes of a piece are in this single block.
fn contains(whole: Series, other: Series) -> bool {
    whole == other || whole.count == 1 && whole.start <= other.start && other.end() <= whole.end()
}

/// Whether two blocks overlap whose starts are `distance` apart, on a circle.
fn overlaps_in_circle(distance: i64, bytes: i64, other_bytes: i64, circle: i64) -> bool {
    let distance = distance.rem_euclid(circle);
    distance < other_bytes || distance + bytes > circle
}

/// The pieces of ascending blocks, at most [`PIECES_MAX`] of them.
pub fn of_blocks(blocks: impl Iterator<Item = Series>) -> Vec<Series> {
    let mut pieces: Vec<Series> = Vec::new();
    for next in blocks {
        if !pieces.last_mut().is_some_and(|last| takes(last, next)) {
            // Those of a view that is only read may overlap.
            let overlap = next.count > 1 && next.stride < next.bytes;
            let whole = Series::block(next.start, next.end() - next.start);
            pieces.push(if overlap { whole } else { next });
        }
    }
    if pieces.len() <= PIECES_MAX {
        return pieces;
    }
    pieces.sort_unstable();
    let mut gaps: Vec<(i64, usize)> =
        pieces.windows(2).zip(1..).map(|(pair, index)| (pair[1].start - pair[0].end(), index)).collect();
    gaps.sort_unstable_by(|one, other| other.cmp(one));
    let mut cuts: Vec<usize> = gaps.iter().take(PIECES_MAX - 1).map(|(_, index)| *index).collect();
    cuts.extend([0, pieces.len()]);
    cuts.sort_unstable();
    let whole = |part: &[Series]| {
        let end = part.iter().map(|piece| piece.end()).max().unwrap_or(0);
        Series::block(part[0].start, end - part[0].start)
    };
    cuts.windows(2).map(|cut| whole(&pieces[cut[0]..cut[1]])).collect()
}

/// What an access wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whether it must be alone with its bytes; otherwise others may have them as well that need not be.
    pub exclusive: bool,
    /// Its bytes.
    pub pieces: Vec<Series>,
}

impl Request {
    /// Whether two accesses must not happen at the same time.
    pub fn conflicts(&self, other: &Self) -> bool {
        (self.exclusive || other.exclusive)
            && self.pieces.iter().any(|one| other.pieces.iter().any(|another| overlaps(*one, *another)))
    }

    /// Whether whoever has this one needs nothing more for the other.
    pub fn covers(&self, other: &Self) -> bool {
        (self.exclusive || !other.exclusive)
            && other.pieces.iter().all(|piece| self.pieces.iter().any(|own| contains(*own, *piece)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn bytes(piece: Series) -> BTreeSet<i64> {
        (0..piece.count)
            .flat_map(|index| {
                let start = piece.start + index * piece.stride;
                start..start + piece.bytes
            })
            .collect()
    }

    fn pieces() -> impl Strategy<Value = Series> {
        (0..40_i64, 1..6_i64, 0..6_i64, 1..6_i64).prop_map(|(start, bytes, gap, count)| Series {
            start,
            bytes,
            stride: bytes + gap,
            count,
        })
    }

    fn block_lists() -> impl Strategy<Value = Vec<Block>> {
        proptest::collection::vec((1..5_i64, 1..4_i64), 1..12).prop_map(|lengths| {
            let mut end = 0;
            let next = |(gap, bytes)| {
                let offset = end + gap;
                end = offset + bytes;
                Block { offset, bytes }
            };
            lengths.into_iter().map(next).collect()
        })
    }

    proptest! {
        #[test]
        fn no_overlap_is_missed(one in pieces(), other in pieces()) {
            let touch = !bytes(one).is_disjoint(&bytes(other));
            prop_assert!(!touch || overlaps(one, other));
            prop_assert_eq!(overlaps(one, other), overlaps(other, one));
        }

        #[test]
        fn few_blocks_are_compared_exactly(one in pieces(), start in 0..60_i64, length in 1..8_i64) {
            let other = Series::block(start, length);
            prop_assert_eq!(overlaps(one, other), !bytes(one).is_disjoint(&bytes(other)));
        }

        #[test]
        fn pieces_have_all_bytes_of_their_blocks(blocks in block_lists()) {
            let made = of_blocks(blocks.iter().map(|block| Series::block(block.offset, block.bytes)));
            prop_assert!(made.len() <= PIECES_MAX);
            let all: BTreeSet<i64> = made.iter().flat_map(|piece| bytes(*piece)).collect();
            let wanted: BTreeSet<i64> = blocks.iter().flat_map(|block| block.offset..block.end()).collect();
            prop_assert!(wanted.is_subset(&all));
        }
    }

    #[test]
    fn columns_that_interleave_do_not_conflict() {
        let column = |first: i64| {
            let blocks = (0..1000).map(move |row| Series::block(first * 8 + row * 64, 8));
            Request { exclusive: true, pieces: of_blocks(blocks) }
        };
        assert_eq!(column(3).pieces, [Series { start: 24, bytes: 8, stride: 64, count: 1000 }]);
        assert!(!column(3).conflicts(&column(4)));
        assert!(column(3).conflicts(&column(3)));
        assert!(column(3).covers(&column(3)) && !column(3).covers(&column(4)));
    }
}
