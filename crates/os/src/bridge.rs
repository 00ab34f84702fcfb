//! A bridge: the rings between the processes of two groups that are of different jobs.
//!
//! One process makes it as a [`Segment`], all processes of both groups open it by the maker's process id and
//! descriptor, and the maker may go once they have. It holds nothing but rings; who sleeps is woken through the
//! doorbell in the segment of its own job. Layout, in bytes:
//!
//! ```text
//! 0        magic, processes of the left group, of the right one, bytes of a ring     written once, by the maker
//! 4096     for each pair (left, right) the ring from left to right, then the one from right to left   see `ring`
//! ```

use crate::error::Result;
use crate::ring::{Consumer, Producer, RING_HEADER_BYTES, is_ring};
use crate::shared_memory::{Segment, malformed};
use crate::sync::Ordering::{Acquire, Relaxed, Release};

const MAGIC: u64 = u64::from_le_bytes(*b"prbridge");
const RINGS: usize = 4096;

/// The mapped segment.
#[derive(Debug)]
pub struct Bridge {
    segment: Segment,
    right: usize,
    ring_bytes: usize,
}

/// The two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// That of the process that made the bridge.
    Left,
    /// The other one.
    Right,
}

fn bytes_of(left: usize, right: usize, ring_bytes: usize) -> Option<usize> {
    let rings = left.checked_mul(right)?.checked_mul(2)?;
    rings.checked_mul(RING_HEADER_BYTES + ring_bytes)?.checked_add(RINGS)
}

impl Bridge {
    /// Makes a bridge between `left` and `right` processes, with rings of `ring_bytes` bytes, a power of two.
    ///
    /// # Errors
    /// When the system has no memory or descriptor left.
    pub fn create(left: u32, right: u32, ring_bytes: u32) -> Result<Self> {
        let (rows, columns, ring) = (left as usize, right as usize, ring_bytes as usize);
        let bytes = bytes_of(rows, columns, ring).ok_or_else(|| malformed("the groups are too large"))?;
        let segment = Segment::create(bytes)?;
        for (i, fact) in [left, right, ring_bytes].into_iter().enumerate() {
            segment.word32(8 + 4 * i).store(fact, Relaxed);
        }
        segment.word64(0).store(MAGIC, Release);
        Ok(Self { segment, right: columns, ring_bytes: ring })
    }

    /// Where the maker's processes find it: `<process id>:<descriptor>`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", std::process::id(), self.segment.descriptor())
    }

    /// Maps the bridge that is at `place`.
    ///
    /// # Errors
    /// When the text is malformed, the maker is gone, or this is no bridge.
    pub fn open(place: &str) -> Result<Self> {
        let numbers = place.split_once(':').and_then(|(pid, fd)| Some((pid.parse().ok()?, fd.parse().ok()?)));
        let Some((pid, descriptor)) = numbers else {
            return Err(malformed(&format!("the bridge's place {place} is not <pid>:<descriptor>")));
        };
        let segment = Segment::open(pid, descriptor)?;
        let broken = || malformed("this is no bridge between jobs");
        if segment.bytes() <= RINGS || segment.word64(0).load(Acquire) != MAGIC {
            return Err(broken());
        }
        let word = |i: usize| segment.word32(8 + 4 * i).load(Relaxed) as usize;
        let (left, right, ring_bytes) = (word(0), word(1), word(2));
        let fits = bytes_of(left, right, ring_bytes).is_some_and(|bytes| bytes <= segment.bytes());
        if !fits || !is_ring(ring_bytes) {
            return Err(broken());
        }
        Ok(Self { segment, right, ring_bytes })
    }

    /// The ends of process `own` of group `side` towards process `other` of the other group. Only `own` may have them, and
    /// only once.
    ///
    /// # Panics
    /// When the bridge has no such pair.
    #[must_use]
    pub fn ends(&self, side: Side, own: u32, other: u32) -> (Producer, Consumer) {
        let (left, right) = match side {
            Side::Left => (own as usize, other as usize),
            Side::Right => (other as usize, own as usize),
        };
        assert!(right < self.right, "process {right} of {}", self.right);
        let ring = RING_HEADER_BYTES + self.ring_bytes;
        let rightwards = RINGS + (left * self.right + right) * 2 * ring;
        let leftwards = rightwards + ring;
        let (out, into) = if side == Side::Left { (rightwards, leftwards) } else { (leftwards, rightwards) };
        (
            Producer::new(&self.segment, out, self.ring_bytes),
            Consumer::new(&self.segment, into, self.ring_bytes),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_sends_arrives_at_the_other() {
        let made = Bridge::create(2, 3, 4096).expect("it is made");
        let opened = Bridge::open(&made.place()).expect("it is opened");
        let pairs: Vec<(u32, u32)> = (0..2).flat_map(|left| (0..3).map(move |right| (left, right))).collect();
        for &(left, right) in &pairs {
            let (mut rightwards, _) = made.ends(Side::Left, left, right);
            let (mut leftwards, _) = opened.ends(Side::Right, right, left);
            assert!(rightwards.push(10 * left + right, 8, |_| ()));
            assert!(leftwards.push(100 + 10 * left + right, 8, |_| ()));
        }
        for (left, right) in pairs {
            let seen = |mut end: Consumer| end.peek().map(|packet| packet.meta);
            assert_eq!(seen(opened.ends(Side::Right, right, left).1), Some(10 * left + right));
            assert_eq!(seen(made.ends(Side::Left, left, right).1), Some(100 + 10 * left + right));
        }
    }

    #[test]
    fn what_is_no_bridge_is_refused() {
        let other = Segment::create(8192).expect("a segment");
        let place = format!("{}:{}", std::process::id(), other.descriptor());
        assert!(Bridge::open(&place).is_err());
        assert!(Bridge::open("here").is_err());
    }
}
