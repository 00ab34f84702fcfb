//! Views (section 14.3): which bytes of the file a process sees, and in which order.
//!
//! A view is a displacement and a tile, the filetype, that is repeated from there on. What the process sees are the bytes of
//! the tiles' blocks one after another, its *stream*; this file maps ranges of the stream to ranges of the file. Pure.

use postrider_client::layout::Layout;
use postrider_client::shape::Shape;
pub use postrider_client::shape::{Block, Ranges, Series};

/// A view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    displacement: i64,
    etype_bytes: i64,
    /// Where the first byte is.
    origin: i64,
    tile_bytes: i64,
    extent: i64,
    /// Of all tiles.
    shape: Shape,
}

impl View {
    /// The view with such tiles, in units of `etype_bytes`.
    pub fn new(displacement: i64, etype_bytes: i64, tile: &Layout) -> Self {
        Self {
            displacement,
            etype_bytes,
            origin: displacement + tile.first,
            tile_bytes: tile.size(),
            extent: tile.extent(),
            shape: tile.shape.clone().repeated(i64::MAX, tile.extent()),
        }
    }

    /// All bytes of a file, one by one.
    pub fn bytes() -> Self {
        Self::new(0, 1, &Layout::dense(1))
    }

    /// Size of its elementary datatype, in bytes of the file.
    pub fn etype_bytes(&self) -> i64 {
        self.etype_bytes
    }

    /// How many bytes it shows before it repeats itself.
    pub fn tile_bytes(&self) -> i64 {
        self.tile_bytes
    }

    /// How many bytes of the file it takes before it repeats itself.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Whether it shows nothing.
    pub fn is_empty(&self) -> bool {
        self.tile_bytes == 0
    }

    /// The place in the file of byte `at` of the stream.
    pub fn offset(&self, at: i64) -> i64 {
        if self.is_empty() { self.displacement } else { self.origin + self.shape.offset(at) }
    }

    /// Where element `start` begins in the stream, if the file can have so many bytes as it and `elements` more need.
    pub fn stream_of(&self, start: i64, elements: i64) -> Option<i64> {
        let end = start.checked_add(elements)?.checked_mul(self.etype_bytes)?;
        let tiles = end.checked_div(self.tile_bytes).unwrap_or(0) + 1;
        tiles.checked_mul(self.extent)?.checked_add(self.displacement)?;
        start.checked_mul(self.etype_bytes)
    }

    /// The first element whose place in the file is not before `offset`, in units of the elementary datatype.
    pub fn element_at(&self, offset: i64) -> i64 {
        if self.is_empty() || self.etype_bytes == 0 || offset <= self.displacement {
            return 0;
        }
        let (mut low, mut high) = (0, 1);
        if self.extent == 0 {
            // All tiles are at the same place.
            high = self.tile_bytes / self.etype_bytes;
        }
        while self.extent > 0 && self.offset(high * self.etype_bytes) < offset {
            (low, high) = (high, high * 2);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.offset(middle * self.etype_bytes) < offset { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The ranges of the file that hold `bytes` bytes of the stream from byte `at` on, in the order of the stream.
    /// Neighbours are joined.
    pub fn ranges(&self, at: i64, bytes: i64) -> Ranges<'_> {
        self.shape.ranges(self.origin, at, bytes)
    }

    /// The same, with equal ranges at equal distances in one item.
    pub fn series(&self, at: i64, bytes: i64) -> impl Iterator<Item = Series> {
        self.shape.series(self.origin, at, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The places of the bytes in ranges.
    fn places(ranges: Ranges<'_>) -> Vec<i64> {
        ranges.flat_map(|range| range.offset..range.end()).collect()
    }

    /// Displacement, gaps and lengths of blocks, and the gap behind the last.
    fn views() -> impl Strategy<Value = View> {
        let blocks = proptest::collection::vec((0..5_i64, 0..4_i64), 1..6);
        (0..20_i64, blocks, 0..5_i64).prop_map(|(displacement, gaps, behind)| {
            let mut end = 0;
            let mut blocks = Vec::new();
            for (gap, bytes) in gaps {
                blocks.push((end + gap, Shape::Dense(bytes)));
                end += gap + bytes;
            }
            let (first, shape) = Shape::list(blocks);
            View::new(displacement, 1, &Layout { first, shape, lb: 0, ub: end + behind })
        })
    }

    /// The offset of each byte of the stream, by looking at each.
    fn naive(view: &View, bytes: i64) -> Vec<i64> {
        let bytes = if view.is_empty() { 0 } else { bytes };
        (0..bytes).map(|at| view.offset(at)).collect()
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_the_bytes_one_by_one(view in views(), at in 0..40_i64, bytes in 0..40_i64) {
            let all = naive(&view, at + bytes);
            let expected = all.get(at as usize..).unwrap_or_default().to_vec();
            prop_assert_eq!(places(view.ranges(at, bytes)), expected);
        }

        #[test]
        fn the_element_at_an_offset_is_the_first_not_before_it(view in views(), offset in 0..60_i64) {
            let expected = naive(&view, 200).iter().position(|&place| place >= offset).unwrap_or(0);
            prop_assert_eq!(view.element_at(offset), expected as i64);
        }
    }

    #[test]
    fn the_bytes_of_a_file_are_one_range() {
        let ranges: Vec<Block> = View::bytes().ranges(7, 1 << 40).collect();
        assert_eq!(ranges, [Block { offset: 7, bytes: 1 << 40 }]);
    }
}
