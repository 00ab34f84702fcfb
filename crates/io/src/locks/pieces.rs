//! Which bytes of a file an access touches, in a few numbers, and whether two accesses touch the same. Pure.

use crate::view::Block;

/// Blocks of `bytes` bytes, `count` of them, their starts `stride` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// Where the first one starts.
    pub start: i64,
    /// How long each is.
    pub bytes: i64,
    /// From one start to the next; at least `bytes` if there are several.
    pub stride: i64,
    /// How many there are.
    pub count: i64,
}

/// How many pieces are told apart; with more of them the smallest gaps are taken along.
pub const PIECES_MAX: usize = 4;

/// Pieces with more blocks than this are compared as wholes, unless they have the same stride.
const BLOCKS_MAX: i64 = 64;

impl Piece {
    /// One block.
    pub fn block(start: i64, bytes: i64) -> Self {
        Self { start, bytes, stride: bytes, count: 1 }
    }

    /// Where its last block ends.
    pub fn end(self) -> i64 {
        self.start + (self.count - 1) * self.stride + self.bytes
    }

    /// Takes one more block along, if it is the next.
    fn takes(&mut self, block: Block) -> bool {
        let distance = block.offset - self.start;
        let follows = match self.count {
            1 => distance >= self.bytes,
            count => distance == count * self.stride,
        };
        if !follows || block.bytes != self.bytes {
            return false;
        }
        if self.count == 1 {
            self.stride = distance;
        }
        self.count += 1;
        true
    }

    fn overlaps(self, other: Self) -> bool {
        if self.end() <= other.start || other.end() <= self.start {
            return false;
        }
        if self.count == 1 && other.count == 1 {
            return true;
        }
        if self.count > 1 && other.count > 1 && self.stride == other.stride {
            return overlaps_in_circle(self.start - other.start, self.bytes, other.bytes, self.stride);
        }
        let (few, many) = if self.count <= other.count { (self, other) } else { (other, self) };
        few.count > BLOCKS_MAX
            || (0..few.count).any(|index| many.touches(few.start + index * few.stride, few.bytes))
    }

    /// Whether a block touches one of its blocks.
    fn touches(self, start: i64, bytes: i64) -> bool {
        // The first of its blocks that ends behind `start`.
        let behind = (start - self.start - self.bytes).div_euclid(self.stride) + 1;
        let index = behind.max(0);
        index < self.count && self.start + index * self.stride < start + bytes
    }

    /// Whether all bytes of a piece are in this single block.
    fn contains(self, other: Self) -> bool {
        self == other || self.count == 1 && self.start <= other.start && other.end() <= self.end()
    }
}

/// Whether two blocks overlap whose starts are `distance` apart, on a circle.
fn overlaps_in_circle(distance: i64, bytes: i64, other_bytes: i64, circle: i64) -> bool {
    let distance = distance.rem_euclid(circle);
    distance < other_bytes || distance + bytes > circle
}

/// The pieces of ascending blocks, at most [`PIECES_MAX`] of them.
pub fn of_blocks(blocks: impl Iterator<Item = Block>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for block in blocks {
        if !pieces.last_mut().is_some_and(|last| last.takes(block)) {
            pieces.push(Piece::block(block.offset, block.bytes));
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
    let whole = |part: &[Piece]| {
        let end = part.iter().map(|piece| piece.end()).max().unwrap_or(0);
        Piece::block(part[0].start, end - part[0].start)
    };
    cuts.windows(2).map(|cut| whole(&pieces[cut[0]..cut[1]])).collect()
}

/// What an access wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whether it must be alone with its bytes; otherwise others may have them as well that need not be.
    pub exclusive: bool,
    /// Its bytes.
    pub pieces: Vec<Piece>,
}

impl Request {
    /// Whether two accesses must not happen at the same time.
    pub fn conflicts(&self, other: &Self) -> bool {
        (self.exclusive || other.exclusive)
            && self.pieces.iter().any(|one| other.pieces.iter().any(|another| one.overlaps(*another)))
    }

    /// Whether whoever has this one needs nothing more for the other.
    pub fn covers(&self, other: &Self) -> bool {
        (self.exclusive || !other.exclusive)
            && other.pieces.iter().all(|piece| self.pieces.iter().any(|own| own.contains(*piece)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn bytes(piece: Piece) -> BTreeSet<i64> {
        (0..piece.count)
            .flat_map(|index| {
                let start = piece.start + index * piece.stride;
                start..start + piece.bytes
            })
            .collect()
    }

    fn pieces() -> impl Strategy<Value = Piece> {
        (0..40_i64, 1..6_i64, 0..6_i64, 1..6_i64).prop_map(|(start, bytes, gap, count)| Piece {
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
            prop_assert!(!touch || one.overlaps(other));
            prop_assert_eq!(one.overlaps(other), other.overlaps(one));
        }

        #[test]
        fn few_blocks_are_compared_exactly(one in pieces(), start in 0..60_i64, length in 1..8_i64) {
            let other = Piece::block(start, length);
            prop_assert_eq!(one.overlaps(other), !bytes(one).is_disjoint(&bytes(other)));
        }

        #[test]
        fn pieces_have_all_bytes_of_their_blocks(blocks in block_lists()) {
            let made = of_blocks(blocks.iter().copied());
            prop_assert!(made.len() <= PIECES_MAX);
            let all: BTreeSet<i64> = made.iter().flat_map(|piece| bytes(*piece)).collect();
            let wanted: BTreeSet<i64> = blocks.iter().flat_map(|block| block.offset..block.end()).collect();
            prop_assert!(wanted.is_subset(&all));
        }
    }

    #[test]
    fn columns_that_interleave_do_not_conflict() {
        let column = |first: i64| {
            let blocks = (0..1000).map(move |row| Block { offset: first * 8 + row * 64, bytes: 8 });
            Request { exclusive: true, pieces: of_blocks(blocks) }
        };
        assert_eq!(column(3).pieces, [Piece { start: 24, bytes: 8, stride: 64, count: 1000 }]);
        assert!(!column(3).conflicts(&column(4)));
        assert!(column(3).conflicts(&column(3)));
        assert!(column(3).covers(&column(3)) && !column(3).covers(&column(4)));
    }
}
