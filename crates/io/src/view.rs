//! Views (section 14.3): which bytes of the file a process sees, and in which order.
//!
//! A view is a displacement and a tile, the filetype, that is repeated from there on. What the process sees are the bytes of
//! the tiles' blocks one after another, its *stream*; this file maps ranges of the stream to ranges of the file. Pure.

/// A range of bytes of a file, or of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// Where it starts.
    pub offset: i64,
    /// How long it is.
    pub bytes: i64,
}

impl Block {
    /// Where it ends.
    pub fn end(self) -> i64 {
        self.offset + self.bytes
    }
}

/// A view.
#[derive(Clone, Debug)]
pub struct View {
    displacement: i64,
    etype_bytes: i64,
    /// The blocks of a tile, none of them empty.
    blocks: Vec<Block>,
    /// Where each block starts in the stream of its tile.
    starts: Vec<i64>,
    tile_bytes: i64,
    extent: i64,
}

impl View {
    /// The view with tiles of these blocks, `extent` apart, in units of `etype_bytes`.
    pub fn new(displacement: i64, etype_bytes: i64, blocks: Vec<Block>, extent: i64) -> Self {
        let blocks: Vec<Block> = blocks.into_iter().filter(|block| block.bytes > 0).collect();
        let mut tile_bytes = 0;
        let mut starts = Vec::with_capacity(blocks.len());
        for block in &blocks {
            starts.push(tile_bytes);
            tile_bytes += block.bytes;
        }
        Self { displacement, etype_bytes, blocks, starts, tile_bytes, extent }
    }

    /// All bytes of a file, one by one.
    pub fn bytes() -> Self {
        Self::new(0, 1, vec![Block { offset: 0, bytes: 1 }], 1)
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

    /// Whether its stream is the file itself from the displacement on.
    fn is_dense(&self) -> bool {
        self.blocks.len() == 1 && self.tile_bytes == self.extent
    }

    /// The place in the file of byte `at` of the stream.
    pub fn offset(&self, at: i64) -> i64 {
        if self.is_empty() {
            return self.displacement;
        }
        let (tile, within) = (at.div_euclid(self.tile_bytes), at.rem_euclid(self.tile_bytes));
        let index = self.block_of(within);
        let block = self.blocks[index];
        self.displacement + tile * self.extent + block.offset + within - self.starts[index]
    }

    /// Where element `start` begins in the stream, if the file can have so many bytes as it and `elements` more need.
    pub fn stream_of(&self, start: i64, elements: i64) -> Option<i64> {
        let end = start.checked_add(elements)?.checked_mul(self.etype_bytes)?;
        let tiles = end.checked_div(self.tile_bytes).unwrap_or(0) + 1;
        tiles.checked_mul(self.extent)?.checked_add(self.displacement)?;
        start.checked_mul(self.etype_bytes)
    }

    /// The block of a tile in which byte `within` of the tile's stream is.
    fn block_of(&self, within: i64) -> usize {
        self.starts.partition_point(|&start| start <= within) - 1
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
        let bytes = if self.is_empty() { 0 } else { bytes };
        Ranges { view: self, at, left: bytes }
    }
}

/// See [`View::ranges`].
#[derive(Debug)]
pub struct Ranges<'v> {
    view: &'v View,
    at: i64,
    left: i64,
}

impl Ranges<'_> {
    /// The rest of the block at the current place, as far as it is wanted.
    fn piece(&self) -> Option<Block> {
        if self.left <= 0 {
            return None;
        }
        let offset = self.view.offset(self.at);
        if self.view.is_dense() {
            return Some(Block { offset, bytes: self.left });
        }
        let within = self.at.rem_euclid(self.view.tile_bytes);
        let index = self.view.block_of(within);
        let rest = self.view.starts[index] + self.view.blocks[index].bytes - within;
        Some(Block { offset, bytes: rest.min(self.left) })
    }

    fn advance(&mut self, bytes: i64) {
        self.at += bytes;
        self.left -= bytes;
    }
}

impl Iterator for Ranges<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let mut range = self.piece()?;
        self.advance(range.bytes);
        while let Some(piece) = self.piece().filter(|piece| piece.offset == range.end()) {
            self.advance(piece.bytes);
            range.bytes += piece.bytes;
        }
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Displacement, gaps and lengths of blocks, and the gap behind the last.
    fn views() -> impl Strategy<Value = View> {
        let blocks = proptest::collection::vec((0..5_i64, 0..4_i64), 1..6);
        (0..20_i64, blocks, 0..5_i64).prop_map(|(displacement, gaps, behind)| {
            let mut end = 0;
            let mut blocks = Vec::new();
            for (gap, bytes) in gaps {
                blocks.push(Block { offset: end + gap, bytes });
                end += gap + bytes;
            }
            View::new(displacement, 1, blocks, end + behind)
        })
    }

    /// The offset of each byte of the stream, by counting.
    fn naive(view: &View, bytes: usize) -> Vec<i64> {
        let tiles = (0..).map(|tile| view.displacement + tile * view.extent);
        let offsets = tiles.flat_map(|start| {
            view.blocks.iter().flat_map(move |block| (block.offset..block.end()).map(move |at| start + at))
        });
        if view.is_empty() { Vec::new() } else { offsets.take(bytes).collect() }
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_the_bytes_one_by_one(view in views(), at in 0..40_i64, bytes in 0..40_i64) {
            let all = naive(&view, (at + bytes) as usize);
            let expected = all.get(at as usize..).unwrap_or_default().to_vec();
            let ranges: Vec<Block> = view.ranges(at, bytes).collect();
            let found: Vec<i64> = ranges.iter().flat_map(|range| range.offset..range.end()).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end() != pair[1].offset));
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
