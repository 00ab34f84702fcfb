//! Access by one process on its own: ranges of the file to and from bytes in memory.
//!
//! A write touches the bytes of its ranges and no others. The bytes between them belong to others, and without locks
//! nobody could write them back unharmed. Where the file system is this host's own, many small ranges are copied to or from the
//! file as memory, which touches no other byte either and saves a call of the system for each. A read of near ranges may otherwise take
//! what is between them along; a write does so only while nobody else has those bytes ([`write_with_holes`]).

use postrider_os::mapping::{Blocks, Mapping};

use crate::disk::Disk;
use crate::error::Result;
use crate::hints::Choice;
use crate::view::{Series, View};

/// Which ranges are accessed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearness {
    /// Those with at most so much between them,
    gap_bytes: i64,
    /// as long as they are together at most this.
    span_bytes: i64,
}

impl Nearness {
    /// Where nobody says anything else.
    const USUAL: Self = Self { gap_bytes: 16 << 10, span_bytes: 4 << 20 };

    /// As hints have it.
    pub fn of(choice: Choice, span_bytes: i64) -> Self {
        let gap_bytes = match choice {
            Choice::Automatic => Self::USUAL.gap_bytes,
            Choice::Enable => span_bytes,
            Choice::Disable => 0,
        };
        Self { gap_bytes, span_bytes }
    }

    /// How many ranges of a series are accessed together with those that lie between two places; with none of those yet, at least one.
    fn joins(self, together: Option<(i64, i64)>, next: Series) -> i64 {
        let near = 0..=self.gap_bytes;
        let first = together.map_or(next.start, |(first, _)| first);
        let fits = |end: i64| end - first <= self.span_bytes;
        let begins = together
            .is_none_or(|(_, end)| near.contains(&(next.start - end)) && fits(next.start + next.bytes));
        match begins {
            false => 0,
            true if next.count == 1 || !near.contains(&(next.stride - next.bytes)) => 1,
            true => {
                let more = (self.span_bytes - (next.start + next.bytes - first)).max(0) / next.stride;
                next.count.min(1 + more)
            }
        }
    }
}

/// As memory if there are at least so many of them, and at least one for so many bytes of the file.
const MAPPED_MIN: i64 = 16;
const MAPPED_DISTANCE_MAX: i64 = 1 << 10;

/// Near ranges, in ascending order.
struct Group<'r> {
    ranges: &'r [Series],
    first: i64,
    end: i64,
}

impl Group<'_> {
    fn span(&self) -> usize {
        (self.end - self.first) as usize
    }

    fn total(&self) -> i64 {
        self.ranges.iter().map(|range| range.total()).sum()
    }

    /// How many ranges there are.
    fn count(&self) -> i64 {
        self.ranges.iter().map(|range| range.count).sum()
    }

    /// Whether it is worth while to have the ranges as memory.
    fn is_dense(&self) -> bool {
        self.count() >= MAPPED_MIN && self.span() as i64 / self.count() <= MAPPED_DISTANCE_MAX
    }

    /// The last range.
    fn last(&self) -> Series {
        let last = self.ranges[self.ranges.len() - 1];
        Series::block(last.end() - last.bytes, last.bytes)
    }

    /// Calls `action` with each series, its place in the group's span, and that of its bytes.
    fn each(&self, mut action: impl FnMut(Series, usize, std::ops::Range<usize>)) {
        let mut done = 0;
        for range in self.ranges {
            let next = done + range.total() as usize;
            action(*range, (range.start - self.first) as usize, done..next);
            done = next;
        }
    }
}

/// Calls `action` with ranges of the view in groups of near ones, until it returns false.
fn by_groups(
    view: &View,
    (at, bytes): (i64, i64),
    near: Nearness,
    mut action: impl FnMut(&Group) -> Result<bool>,
) -> Result<()> {
    let mut series = view.series(at, bytes);
    let (mut next, mut together) = (series.next(), Vec::new());
    while next.is_some() {
        together.clear();
        let mut span = None;
        while let Some(all) = next {
            let count = near.joins(span, all);
            if count == 0 {
                break;
            }
            let now = if count < all.count {
                let [now, later] = all.split(count);
                next = Some(later);
                now
            } else {
                next = series.next();
                all
            };
            span = Some((span.map_or(now.start, |(first, _)| first), now.end()));
            together.push(now);
        }
        let Some((first, end)) = span else { break };
        if !action(&Group { ranges: &together, first, end })? {
            break;
        }
    }
    Ok(())
}

/// Writes to the stream of a view from byte `at` on.
///
/// # Errors
/// What the system says.
pub fn write(disk: &Disk, view: &View, at: i64, bytes: &[u8]) -> Result<()> {
    let mut left = bytes;
    by_groups(view, (at, bytes.len() as i64), Nearness::USUAL, |group| {
        let (now, later) = left.split_at(group.total() as usize);
        left = later;
        if !(group.is_dense() && write_mapped(disk, group, now)?) {
            write_each(disk, group.ranges, now)?;
        }
        Ok(true)
    })
}

/// The same, where nobody else writes what is between the ranges: near ones are written together, with what was read of the rest.
///
/// # Errors
/// What the system says.
pub fn write_with_holes(disk: &Disk, view: &View, at: i64, bytes: &[u8], near: Nearness) -> Result<()> {
    let (mut left, mut span) = (bytes, Vec::new());
    by_groups(view, (at, bytes.len() as i64), near, |group| {
        let (now, later) = left.split_at(group.total() as usize);
        left = later;
        if group.count() == 1 {
            disk.write(now, group.first)?;
            return Ok(true);
        }
        span.clear();
        span.resize(group.span(), 0);
        disk.read(&mut span, group.first)?;
        group.each(|series, place, range| {
            let places = (place..).step_by(series.stride as usize);
            for (block, place) in now[range].chunks_exact(series.bytes as usize).zip(places) {
                span[place..place + block.len()].copy_from_slice(block);
            }
        });
        disk.write(&span, group.first)?;
        Ok(true)
    })
}

fn write_each(disk: &Disk, ranges: &[Series], mut bytes: &[u8]) -> Result<()> {
    for range in ranges.iter().flat_map(|series| series.blocks()) {
        let (now, later) = bytes.split_at(range.bytes as usize);
        disk.write(now, range.offset)?;
        bytes = later;
    }
    Ok(())
}

/// Writes a group as memory; false if it has to be written in another way, which may then be the second time.
fn write_mapped(disk: &Disk, group: &Group, bytes: &[u8]) -> Result<bool> {
    if !disk.can_map_for_writing() {
        return Ok(false);
    }
    // The file is at least as long as what is mapped.
    let last = group.last();
    disk.write(&bytes[bytes.len() - last.bytes as usize..], last.start)?;
    let Some(mapping) = disk.map(group.first, group.span(), true) else { return Ok(false) };
    group.each(|series, place, range| mapping.write(place, blocks(series), &bytes[range]));
    Ok(mapping.is_whole())
}

fn blocks(series: Series) -> Blocks {
    Blocks { bytes: series.bytes as usize, stride: series.stride as usize }
}

/// Reads the stream of a view from byte `at` on until the buffer is full or the file ends, and returns how many bytes
/// there were.
///
/// # Errors
/// What the system says.
pub fn read(disk: &Disk, view: &View, at: i64, bytes: &mut [u8], near: Nearness) -> Result<usize> {
    let mut done = 0;
    by_groups(view, (at, bytes.len() as i64), near, |group| {
        let total = group.total() as usize;
        let there = read_group(disk, group, &mut bytes[done..done + total])?;
        done += there;
        Ok(there == total)
    })?;
    Ok(done)
}

/// Reads ranges, and returns how many bytes there were before the file ended.
fn read_group(disk: &Disk, group: &Group, bytes: &mut [u8]) -> Result<usize> {
    if group.count() == 1 {
        return disk.read(bytes, group.first);
    }
    if group.is_dense() && disk.is_of_this_host() && disk.size()? >= group.end {
        let mapping = disk.map(group.first, group.span(), false);
        if mapping.is_some_and(|mapping| read_mapped(&mapping, group, bytes)) {
            return Ok(bytes.len());
        }
    }
    let mut span = vec![0; group.span()];
    let end = group.first + disk.read(&mut span, group.first)? as i64;
    let mut done = 0;
    for range in group.ranges.iter().flat_map(|series| series.blocks()) {
        let there = (end.min(range.end()) - range.offset).max(0) as usize;
        let from = (range.offset - group.first) as usize;
        bytes[done..done + there].copy_from_slice(&span[from..from + there]);
        done += there;
        if (there as i64) < range.bytes {
            break;
        }
    }
    Ok(done)
}

fn read_mapped(mapping: &Mapping, group: &Group, bytes: &mut [u8]) -> bool {
    group.each(|series, place, range| mapping.read(place, blocks(series), &mut bytes[range]));
    mapping.is_whole()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Block;
    use postrider_client::layout::Layout;
    use postrider_client::shape::Shape;
    use proptest::prelude::*;

    /// Tiles with loops and single blocks, in ascending order.
    fn views() -> impl Strategy<Value = View> {
        let parts = proptest::collection::vec((0..9_i64, 1..5_i64, 0..9_i64, 1..6_i64), 1..4);
        (parts, 0..9_i64).prop_map(|(parts, behind)| {
            let mut end = 0;
            let mut shapes = Vec::new();
            for (gap, bytes, between, count) in parts {
                let stride = bytes + between;
                shapes.push((end + gap, Shape::Dense(bytes).repeated(count, stride)));
                end += gap + (count - 1) * stride + bytes;
            }
            let (first, shape) = Shape::list(shapes);
            View::new(3, 1, &Layout { first, shape, lb: 0, ub: end + behind })
        })
    }

    /// The groups of ranges, one range after the other.
    fn naive(ranges: impl Iterator<Item = Block>, near: Nearness) -> Vec<Vec<Block>> {
        let mut groups: Vec<Vec<Block>> = Vec::new();
        for range in ranges {
            let joins = |group: &Vec<Block>| {
                let (first, last) = (group[0], group[group.len() - 1]);
                (0..=near.gap_bytes).contains(&(range.offset - last.end()))
                    && range.end() - first.offset <= near.span_bytes
            };
            match groups.last_mut().filter(|group| joins(group)) {
                Some(group) => group.push(range),
                None => groups.push(vec![range]),
            }
        }
        groups
    }

    proptest! {
        #[test]
        fn groups_are_those_of_ranges_one_by_one(
            view in views(), at in 0..30_i64, bytes in 0..90_i64, gap_bytes in 0..9_i64, span_bytes in 0..60_i64
        ) {
            let near = Nearness { gap_bytes, span_bytes };
            let mut found = Vec::new();
            let each = |group: &Group| {
                let blocks: Vec<Block> = group.ranges.iter().flat_map(|series| series.blocks()).collect();
                assert_eq!((blocks[0].offset, blocks[blocks.len() - 1].end()), (group.first, group.end));
                assert_eq!(blocks.len() as i64, group.count());
                assert_eq!(group.last(), Series::block(blocks[blocks.len() - 1].offset, blocks[blocks.len() - 1].bytes));
                found.push(blocks);
                Ok(true)
            };
            by_groups(&view, (at, bytes), near, each).expect("nothing fails");
            prop_assert_eq!(found, naive(view.ranges(at, bytes), near));
        }
    }
}
