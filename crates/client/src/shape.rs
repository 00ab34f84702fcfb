//! Blocks of bytes as what describes them shortly: loops of loops, and lists where there is no rule. Pure.
//!
//! The first block of a shape begins at 0. Its bytes one after another are its *stream*. A shape is a value that is copied
//! cheaply; `Shape::repeated` and `Shape::list` make the simplest one that has the same bytes.

use std::sync::Arc;

/// A range of bytes of a file, of memory or of a tile.
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

/// Blocks of the same length at equal distances, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// Where the first one starts.
    pub start: i64,
    /// How long each is.
    pub bytes: i64,
    /// From one start to the next, if there are several.
    pub stride: i64,
    /// How many there are, at least one.
    pub count: i64,
}

impl Series {
    /// One block.
    #[must_use]
    pub fn block(start: i64, bytes: i64) -> Self {
        Self { start, bytes, stride: bytes, count: 1 }
    }

    /// All its bytes.
    #[must_use]
    pub fn total(self) -> i64 {
        self.bytes * self.count
    }

    /// Where its last block ends.
    #[must_use]
    pub fn end(self) -> i64 {
        self.start + (self.count - 1) * self.stride + self.bytes
    }

    /// Its blocks.
    pub fn blocks(self) -> impl Iterator<Item = Block> {
        (0..self.count)
            .map(move |index| Block { offset: self.start + index * self.stride, bytes: self.bytes })
    }

    /// The first `count` blocks, which are less than all, and the others.
    #[must_use]
    pub fn split(self, count: i64) -> [Self; 2] {
        let later = Self { start: self.start + count * self.stride, count: self.count - count, ..self };
        [Self { count, ..self }, later]
    }
}

/// See above. Only a whole shape is ever empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// So many bytes in one piece.
    Dense(i64),
    /// The same shape several times.
    Loop(Arc<Loop>),
    /// Several shapes.
    List(Arc<Vec<Part>>),
}

/// A shape several times.
#[derive(Debug, PartialEq, Eq)]
pub struct Loop {
    count: i64,
    stride: i64,
    body: Shape,
    /// Of one body.
    bytes: i64,
}

/// A shape in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    offset: i64,
    /// Where it starts in the stream of the list.
    at: i64,
    body: Shape,
}

/// What comes next of a shape, the first of it at `base`.
#[derive(Debug)]
struct Frame<'s> {
    shape: &'s Shape,
    base: i64,
    index: i64,
}

impl Shape {
    /// No bytes.
    pub const EMPTY: Self = Self::Dense(0);

    /// This so many times, `stride` apart.
    #[must_use]
    pub fn repeated(self, count: i64, stride: i64) -> Self {
        let bytes = self.size();
        match self {
            _ if count <= 0 || bytes == 0 => Self::EMPTY,
            same if count == 1 => same,
            Self::Dense(bytes) if bytes == stride => Self::Dense(bytes.saturating_mul(count)),
            Self::Loop(inner) if inner.count.checked_mul(inner.stride) == Some(stride) => {
                let (body, bytes) = (inner.body.clone(), inner.bytes);
                let count = inner.count.saturating_mul(count);
                Self::Loop(Arc::new(Loop { count, stride: inner.stride, body, bytes }))
            }
            body => Self::Loop(Arc::new(Loop { count, stride, body, bytes })),
        }
    }

    /// Several shapes with their places, and the place of the first.
    #[must_use]
    pub fn list(parts: impl IntoIterator<Item = (i64, Self)>) -> (i64, Self) {
        let parts = with_loops(joined(parts));
        let Some(&(first, _)) = parts.first() else { return (0, Self::EMPTY) };
        if let [(_, only)] = &parts[..] {
            return (first, only.clone());
        }
        let mut at = 0;
        let place = |(offset, body): (i64, Self)| {
            let part = Part { offset: offset - first, at, body };
            at += part.body.size();
            part
        };
        (first, Self::List(Arc::new(parts.into_iter().map(place).collect())))
    }

    /// Number of bytes; the largest number if there are more.
    #[must_use]
    pub fn size(&self) -> i64 {
        match self {
            Self::Dense(bytes) => *bytes,
            Self::Loop(inner) => inner.bytes.saturating_mul(inner.count),
            Self::List(parts) => parts.last().map_or(0, |last| last.at + last.body.size()),
        }
    }

    /// The first and the last place of all, the last behind its byte; of a shape that has bytes.
    #[must_use]
    pub fn bounds(&self) -> (i64, i64) {
        match self {
            Self::Dense(bytes) => (0, *bytes),
            Self::Loop(inner) => {
                let (low, high) = inner.body.bounds();
                let far = (inner.count - 1).saturating_mul(inner.stride);
                (low.saturating_add(far.min(0)), high.saturating_add(far.max(0)))
            }
            Self::List(parts) => parts.iter().fold((i64::MAX, i64::MIN), |(low, high), part| {
                let (first, last) = part.body.bounds();
                (low.min(part.offset.saturating_add(first)), high.max(part.offset.saturating_add(last)))
            }),
        }
    }

    /// Where the last block starts, and where it ends.
    fn last(&self) -> Block {
        match self {
            Self::Dense(bytes) => Block { offset: 0, bytes: *bytes },
            Self::Loop(inner) => shifted(inner.body.last(), (inner.count - 1).saturating_mul(inner.stride)),
            Self::List(parts) => {
                let last = &parts[parts.len() - 1];
                shifted(last.body.last(), last.offset)
            }
        }
    }

    /// Whether each block starts behind the start of the one before it; and behind its end, if the blocks must not overlap.
    #[must_use]
    pub fn ascends(&self, overlaps: bool) -> bool {
        let limit = |shape: &Self, offset: i64| {
            let last = shape.last();
            offset.saturating_add(if overlaps { last.offset } else { last.end() })
        };
        match self {
            Self::Dense(_) => true,
            Self::Loop(inner) => inner.stride >= limit(&inner.body, 0) && inner.body.ascends(overlaps),
            Self::List(parts) => {
                parts.windows(2).all(|pair| limit(&pair[0].body, pair[0].offset) <= pair[1].offset)
                    && parts.iter().all(|part| part.body.ascends(overlaps))
            }
        }
    }

    /// The place of byte `at` of the stream, which it has.
    #[must_use]
    pub fn offset(&self, at: i64) -> i64 {
        let (mut shape, mut within, mut offset) = (self, at, 0);
        loop {
            match shape {
                Self::Dense(_) => return offset + within,
                Self::Loop(inner) => {
                    offset += within / inner.bytes * inner.stride;
                    (shape, within) = (&inner.body, within % inner.bytes);
                }
                Self::List(parts) => {
                    let part = &parts[parts.partition_point(|part| part.at <= within) - 1];
                    offset += part.offset;
                    (shape, within) = (&part.body, within - part.at);
                }
            }
        }
    }

    /// The ranges that hold `bytes` bytes of the stream from byte `at` on, in the order of the stream. Neighbours are joined.
    /// The shape starts at `origin`.
    #[must_use]
    pub fn ranges(&self, origin: i64, at: i64, bytes: i64) -> Ranges<'_> {
        let mut pieces = Pieces { frames: Vec::new(), left: bytes.min(self.size() - at).max(0) };
        let next = if pieces.left > 0 { Some(pieces.seek(self, origin, at)) } else { None };
        Ranges { pieces, next }
    }

    /// The same, where equal ranges at equal distances are one item if a loop says that they are.
    pub fn series(&self, origin: i64, at: i64, bytes: i64) -> impl Iterator<Item = Series> {
        let mut ranges = self.ranges(origin, at, bytes);
        std::iter::from_fn(move || ranges.series())
    }
}

fn shifted(block: Block, by: i64) -> Block {
    Block { offset: block.offset.saturating_add(by), ..block }
}

/// Without empty parts, and with neighbours in one.
fn joined(parts: impl IntoIterator<Item = (i64, Shape)>) -> Vec<(i64, Shape)> {
    let mut joined: Vec<(i64, Shape)> = Vec::new();
    for (offset, body) in parts {
        match (joined.last_mut(), body) {
            (_, Shape::EMPTY) => {}
            (Some((before, Shape::Dense(bytes))), Shape::Dense(more)) if *before + *bytes == offset => {
                *bytes += more;
            }
            (_, body) => joined.push((offset, body)),
        }
    }
    joined
}

/// From so many equal parts at equal distances on, a loop is made of them.
const LOOP_MIN: usize = 3;

/// With equal parts at equal distances as loops.
fn with_loops(parts: Vec<(i64, Shape)>) -> Vec<(i64, Shape)> {
    let mut made = Vec::new();
    let mut rest = &parts[..];
    while let [(first, body), later @ ..] = rest {
        let stride = later.first().map_or(0, |(offset, _)| offset - first);
        let expected = (1..).map(|index| first + index * stride);
        let same = later
            .iter()
            .zip(expected)
            .take_while(|((offset, other), place)| offset == place && other == body);
        let count = 1 + same.count();
        let count = if count < LOOP_MIN { 1 } else { count };
        made.push((*first, body.clone().repeated(count as i64, stride)));
        rest = &rest[count..];
    }
    if made.len() < parts.len() { made } else { parts }
}

/// The parts of the stream that have not come, as the shape describes them.
#[derive(Debug)]
struct Pieces<'s> {
    frames: Vec<Frame<'s>>,
    left: i64,
}

impl<'s> Pieces<'s> {
    /// Goes down to a byte of the stream, and takes the rest of its block.
    fn seek(&mut self, mut shape: &'s Shape, mut base: i64, mut within: i64) -> Series {
        loop {
            match shape {
                Shape::Dense(bytes) => return self.take(Series::block(base + within, bytes - within)),
                Shape::Loop(inner) => {
                    let index = within / inner.bytes;
                    self.frames.push(Frame { shape, base, index: index + 1 });
                    base += index * inner.stride;
                    (shape, within) = (&inner.body, within % inner.bytes);
                }
                Shape::List(parts) => {
                    let index = parts.partition_point(|part| part.at <= within) - 1;
                    self.frames.push(Frame { shape, base, index: index as i64 + 1 });
                    let part = &parts[index];
                    base += part.offset;
                    (shape, within) = (&part.body, within - part.at);
                }
            }
        }
    }

    /// Blocks, as far as they are wanted: all whole ones, or a part of the first.
    fn take(&mut self, all: Series) -> Series {
        let whole = self.left / all.bytes;
        let taken = match whole {
            0 => Series::block(all.start, self.left),
            _ => Series { count: all.count.min(whole), ..all },
        };
        self.left -= taken.total();
        taken
    }

    /// The next blocks.
    fn next(&mut self) -> Option<Series> {
        while self.left > 0 {
            let frame = self.frames.last_mut()?;
            let (base, body) = match frame.shape {
                Shape::Loop(inner) if frame.index < inner.count => {
                    let base = frame.base + frame.index * inner.stride;
                    if let Shape::Dense(bytes) = inner.body {
                        let count = inner.count - frame.index;
                        let taken = self.take(Series { start: base, bytes, stride: inner.stride, count });
                        // After a part of a block nothing is left.
                        self.frames.last_mut()?.index += taken.count;
                        return Some(taken);
                    }
                    (base, &inner.body)
                }
                Shape::List(parts) if (frame.index as usize) < parts.len() => {
                    let part = &parts[frame.index as usize];
                    (frame.base + part.offset, &part.body)
                }
                _ => {
                    self.frames.pop();
                    continue;
                }
            };
            frame.index += 1;
            match body {
                Shape::Dense(bytes) => return Some(self.take(Series::block(base, *bytes))),
                _ => self.frames.push(Frame { shape: body, base, index: 0 }),
            }
        }
        None
    }
}

/// See [`Shape::ranges`].
#[derive(Debug)]
pub struct Ranges<'s> {
    pieces: Pieces<'s>,
    next: Option<Series>,
}

impl Ranges<'_> {
    /// Takes the first of what comes next, joined with what touches it.
    fn first(&mut self, next: Series) -> Block {
        let mut range = Block { offset: next.start, bytes: next.bytes };
        self.next = (next.count > 1).then(|| next.split(1)[1]);
        loop {
            match self.next.or_else(|| self.pieces.next()) {
                Some(next) if next.start == range.end() => {
                    range.bytes += next.bytes;
                    self.next = (next.count > 1).then(|| next.split(1)[1]);
                }
                next => {
                    self.next = next;
                    return range;
                }
            }
        }
    }

    /// The next ranges: one, or several of a loop of which none touches what comes before or behind it.
    fn series(&mut self) -> Option<Series> {
        let next = self.next.take()?;
        if next.count > 2 && next.stride != next.bytes {
            // The last one may touch what follows.
            let [first, last] = next.split(next.count - 1);
            self.next = Some(last);
            return Some(first);
        }
        let Block { offset, bytes } = self.first(next);
        Some(Series::block(offset, bytes))
    }
}

impl Iterator for Ranges<'_> {
    type Item = Block;

    #[inline]
    fn next(&mut self) -> Option<Block> {
        let next = self.next.take()?;
        if next.count > 1 && next.stride != next.bytes {
            self.next = Some(next.split(1)[1]);
            return Some(Block { offset: next.start, bytes: next.bytes });
        }
        Some(self.first(next))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Shapes of a few levels, in any order.
    pub fn shapes() -> impl Strategy<Value = Shape> {
        (0..5_i64).prop_map(Shape::Dense).prop_recursive(3, 20, 5, |inner| {
            let list = proptest::collection::vec((-10..40_i64, inner.clone()), 0..5);
            prop_oneof![
                (0..5_i64, -3..30_i64, inner).prop_map(|(count, stride, body)| body.repeated(count, stride)),
                list.prop_map(|parts| Shape::list(parts).1),
            ]
        })
    }

    /// The place of each byte, by counting.
    pub fn naive(shape: &Shape) -> Vec<i64> {
        let shift = |by: i64, shape: &Shape| naive(shape).into_iter().map(move |place| by + place);
        match shape {
            Shape::Dense(bytes) => (0..*bytes).collect(),
            Shape::Loop(inner) => {
                (0..inner.count).flat_map(|index| shift(index * inner.stride, &inner.body)).collect()
            }
            Shape::List(parts) => parts.iter().flat_map(|part| shift(part.offset, &part.body)).collect(),
        }
    }

    /// The places of the bytes in ranges.
    pub fn places(ranges: Ranges<'_>) -> Vec<i64> {
        ranges.flat_map(|range| range.offset..range.end()).collect()
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_the_bytes_one_by_one(shape in shapes(), at in 0..40_i64, bytes in 0..40_i64) {
            let all = naive(&shape);
            prop_assert_eq!(shape.size(), all.len() as i64);
            if let (Some(low), Some(high)) = (all.iter().min(), all.iter().max()) {
                prop_assert_eq!(shape.bounds(), (*low, high + 1));
            }
            let end = ((at + bytes) as usize).min(all.len());
            let expected: Vec<i64> = all.get(at as usize..end).unwrap_or_default().iter().map(|place| 7 + place).collect();
            prop_assert_eq!(places(shape.ranges(7, at, bytes)), expected);
            let ranges: Vec<Block> = shape.ranges(0, at, bytes).collect();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end() != pair[1].offset));
            let blocks: Vec<Block> = shape.series(0, at, bytes).flat_map(Series::blocks).collect();
            prop_assert_eq!(ranges, blocks);
            for (at, place) in (0..).zip(&all) {
                prop_assert_eq!(shape.offset(at), *place);
            }
        }

        #[test]
        fn loops_and_lists_have_the_bytes_of_what_they_are_made_of(
            parts in proptest::collection::vec((-10..40_i64, shapes()), 0..6), count in 0..4_i64, stride in -5..50_i64
        ) {
            let shift = |by: i64, shape: &Shape| naive(shape).into_iter().map(move |place| by + place);
            let expected: Vec<i64> = parts.iter().flat_map(|(offset, shape)| shift(*offset, shape)).collect();
            let (first, made) = Shape::list(parts);
            prop_assert_eq!(shift(first, &made).collect::<Vec<_>>(), expected);
            let expected: Vec<i64> = (0..count).flat_map(|index| shift(index * stride, &made)).collect();
            prop_assert_eq!(naive(&made.repeated(count, stride)), expected);
        }

        #[test]
        fn order_is_that_of_the_bytes(shape in shapes()) {
            let all = naive(&shape);
            prop_assert_eq!(shape.ascends(false), all.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn equal_parts_at_equal_distances_are_a_loop() {
        let (first, shape) = Shape::list((0..1_000_000).map(|index| (5 + 16 * index, Shape::Dense(8))));
        assert_eq!((first, shape), (5, Shape::Dense(8).repeated(1_000_000, 16)));
    }
}
