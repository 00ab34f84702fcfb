//! Access by one process on its own: ranges of the file to and from bytes in memory.
//!
//! A write touches the bytes of its ranges and no others. The bytes between them belong to others, and without locks
//! nobody could write them back unharmed. A read may take the bytes between near ranges along.

use crate::disk::Disk;
use crate::error::Result;
use crate::view::{Block, View};

/// Ranges with a gap of at most this between them are read at once.
const GAP_BYTES_MAX: i64 = 16 << 10;

/// As long as they are together at most this.
const SPAN_BYTES_MAX: i64 = 4 << 20;

/// Writes to the stream of a view from byte `at` on.
///
/// # Errors
/// What the system says.
pub fn write(disk: &Disk, view: &View, at: i64, bytes: &[u8]) -> Result<()> {
    let mut left = bytes;
    for range in view.ranges(at, bytes.len() as i64) {
        let (now, later) = left.split_at(range.bytes as usize);
        disk.write(now, range.offset)?;
        left = later;
    }
    Ok(())
}

/// Reads the stream of a view from byte `at` on until the buffer is full or the file ends, and returns how many bytes
/// there were.
///
/// # Errors
/// What the system says.
pub fn read(disk: &Disk, view: &View, at: i64, bytes: &mut [u8]) -> Result<usize> {
    let mut done = 0;
    let mut ranges = view.ranges(at, bytes.len() as i64).peekable();
    while let Some(first) = ranges.next() {
        let mut group = vec![first];
        let mut end = first.end();
        while let Some(next) = ranges.next_if(|next| joins(first, end, *next)) {
            group.push(next);
            end = next.end();
        }
        let total: i64 = group.iter().map(|range| range.bytes).sum();
        let there = read_group(disk, &group, &mut bytes[done..done + total as usize])?;
        done += there;
        if (there as i64) < total {
            break;
        }
    }
    Ok(done)
}

/// Whether a range is read together with those from `first` to `end`.
fn joins(first: Block, end: i64, next: Block) -> bool {
    (0..=GAP_BYTES_MAX).contains(&(next.offset - end)) && next.end() - first.offset <= SPAN_BYTES_MAX
}

/// Reads ascending ranges at once, and returns how many bytes there were before the file ended.
fn read_group(disk: &Disk, group: &[Block], bytes: &mut [u8]) -> Result<usize> {
    let (first, last) = (group[0], group[group.len() - 1]);
    if group.len() == 1 {
        return disk.read(bytes, first.offset);
    }
    let mut span = vec![0; (last.end() - first.offset) as usize];
    let end = first.offset + disk.read(&mut span, first.offset)? as i64;
    let mut done = 0;
    for range in group {
        let there = (end.min(range.end()) - range.offset).max(0) as usize;
        let from = (range.offset - first.offset) as usize;
        bytes[done..done + there].copy_from_slice(&span[from..from + there]);
        done += there;
        if (there as i64) < range.bytes {
            break;
        }
    }
    Ok(done)
}
