//! Access by one process on its own: ranges of the file to and from bytes in memory.
//!
//! A write touches the bytes of its ranges and no others. The bytes between them belong to others, and without locks
//! nobody could write them back unharmed. Where the file system is this host's own, many small ranges are copied to or from the
//! file as memory, which touches no other byte either and saves a call of the system for each. A read of near ranges may otherwise take
//! what is between them along; a write does so only while nobody else has those bytes ([`write_with_holes`]).

use postrider_os::mapping::Mapping;

use crate::disk::Disk;
use crate::error::Result;
use crate::hints::Choice;
use crate::view::{Block, View};

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

    /// Whether a range is accessed together with those from `first` to `end`.
    fn joins(self, first: Block, end: i64, next: Block) -> bool {
        (0..=self.gap_bytes).contains(&(next.offset - end)) && next.end() - first.offset <= self.span_bytes
    }
}

/// As memory if there are at least so many of them, and at least one for so many bytes of the file.
const MAPPED_MIN: usize = 16;
const MAPPED_DISTANCE_MAX: i64 = 1 << 10;

/// Near ranges, in ascending order.
struct Group<'r> {
    ranges: &'r [Block],
    first: i64,
    end: i64,
}

impl Group<'_> {
    fn span(&self) -> usize {
        (self.end - self.first) as usize
    }

    fn total(&self) -> i64 {
        self.ranges.iter().map(|range| range.bytes).sum()
    }

    /// Whether it is worth while to have the ranges as memory.
    fn is_dense(&self) -> bool {
        self.ranges.len() >= MAPPED_MIN
            && self.span() as i64 / self.ranges.len() as i64 <= MAPPED_DISTANCE_MAX
    }
}

/// Calls `action` with ranges of the view in groups of near ones, until it returns false.
fn by_groups(
    view: &View,
    (at, bytes): (i64, i64),
    near: Nearness,
    mut action: impl FnMut(&Group) -> Result<bool>,
) -> Result<()> {
    let mut ranges = view.ranges(at, bytes).peekable();
    let mut together = Vec::new();
    while let Some(first) = ranges.next() {
        together.clear();
        together.push(first);
        let mut end = first.end();
        while let Some(next) = ranges.next_if(|next| near.joins(first, end, *next)) {
            together.push(next);
            end = next.end();
        }
        if !action(&Group { ranges: &together, first: first.offset, end })? {
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
        if let [only] = group.ranges {
            disk.write(now, only.offset)?;
            return Ok(true);
        }
        span.clear();
        span.resize(group.span(), 0);
        disk.read(&mut span, group.first)?;
        copy(group, |place, range| span[place..place + range.len()].copy_from_slice(&now[range]));
        disk.write(&span, group.first)?;
        Ok(true)
    })
}

fn write_each(disk: &Disk, ranges: &[Block], mut bytes: &[u8]) -> Result<()> {
    for range in ranges {
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
    let last = &group.ranges[group.ranges.len() - 1..];
    write_each(disk, last, &bytes[bytes.len() - last[0].bytes as usize..])?;
    let Some(mapping) = disk.map(group.first, group.span(), true) else { return Ok(false) };
    copy(group, |place, range| mapping.write(place, &bytes[range]));
    Ok(mapping.is_whole())
}

/// Calls `action` for each range with its place in the group's span, and that of its bytes.
fn copy(group: &Group, mut action: impl FnMut(usize, std::ops::Range<usize>)) {
    let mut done = 0;
    for range in group.ranges {
        let next = done + range.bytes as usize;
        action((range.offset - group.first) as usize, done..next);
        done = next;
    }
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
    if group.ranges.len() == 1 {
        return disk.read(bytes, group.first);
    }
    // What is between is mostly read for nothing.
    let is_sparse = (bytes.len() as i64) * 2 < group.span() as i64;
    if is_sparse && group.is_dense() && disk.size()? >= group.end {
        let mapping = disk.map(group.first, group.span(), false);
        if mapping.is_some_and(|mapping| read_mapped(&mapping, group, bytes)) {
            return Ok(bytes.len());
        }
    }
    let mut span = vec![0; group.span()];
    let end = group.first + disk.read(&mut span, group.first)? as i64;
    let mut done = 0;
    for range in group.ranges {
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
    copy(group, |place, range| mapping.read(place, &mut bytes[range]));
    mapping.is_whole()
}
