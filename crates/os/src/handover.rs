//! Copies into memory that another core has read last and reads next, as the cells of a ring are.
//!
//! Before a core can write to a cache line in the ordinary way it has to fetch that line from the core that has it. Between cores that share
//! a cache that costs little; between others it costs many times as much as the copy. Streamed (non-temporal) stores fetch nothing, but
//! their reader then finds the bytes in memory and not in a cache. Which is better depends on which two cores they are, and changes when the system,
//! or that below a virtual machine, moves a process. So now and then a copy of each kind is timed.

use crate::clock;
use crate::memory::UserMemory;

/// Shorter copies are made in the ordinary way: waiting for memory costs their reader more.
const BYTES_MIN: usize = 4 << 10;
/// From here on most of the time is that of the copies, and not of the cache line that tells of them.
const LONG_BYTES_MIN: usize = 16 << 10;
/// Of so many copies, one of each kind is timed.
const TRIAL_COPIES: u32 = 128;

/// How many times as long an ordinary copy has to take to be worth a streamed one, whose reader will be slower. It is 0.3 times
/// between two threads of a core, twice between cores that share a cache, and 4 to 8 times between others.
fn ratio_min(bytes: usize) -> f64 {
    if bytes < LONG_BYTES_MIN { 4.0 } else { 1.5 }
}

/// What a process knows of its copies for others.
#[derive(Debug, Default)]
pub struct Handover {
    /// Copies since the last trial began.
    copies: u32,
    /// Seconds for each byte of the ordinary copy of the trial under way.
    ordinary: f64,
    /// How many times as long as the streamed copy the ordinary one took in the last trial.
    ratio: f64,
}

impl Handover {
    /// Copies `bytes` bytes, which do not overlap with where they go.
    #[inline]
    pub fn copy(&mut self, from: UserMemory, to: UserMemory, bytes: usize) {
        if bytes < BYTES_MIN || !UserMemory::STREAMS {
            from.copy_to(to, bytes);
        } else {
            self.copy_long(from, to, bytes);
        }
    }

    fn copy_long(&mut self, from: UserMemory, to: UserMemory, bytes: usize) {
        let copies = self.copies;
        self.copies = (copies + 1) % TRIAL_COPIES;
        match copies {
            0 => self.ordinary = timed(bytes, || from.copy_to(to, bytes)),
            1 => self.ratio = self.ordinary / timed(bytes, || from.stream_to(to, bytes)),
            _ if self.ratio > ratio_min(bytes) => from.stream_to(to, bytes),
            _ => from.copy_to(to, bytes),
        }
    }
}

/// Seconds for each byte of a copy.
fn timed(bytes: usize, copy: impl FnOnce()) -> f64 {
    let start = clock::seconds();
    copy();
    (clock::seconds() - start) / bytes as f64
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;

    #[test]
    fn copies_of_either_kind_are_whole_and_no_longer() {
        let mut handover = Handover::default();
        let mut from = OwnedMemory::new(3 * BYTES_MIN);
        from.as_mut_slice().iter_mut().enumerate().for_each(|(index, byte)| *byte = (index % 251) as u8);
        for copy in 0..2 * TRIAL_COPIES as usize {
            let bytes = BYTES_MIN - 2 + 37 * (copy % 100);
            let (skew, offset) = (copy % 67, copy % 5);
            let mut to = OwnedMemory::new(4 * BYTES_MIN);
            handover.ratio = if copy % 3 == 0 { 0.0 } else { f64::MAX };
            let (source, place) = (UserMemory::of(&mut from), UserMemory::of(&mut to));
            handover.copy(source.offset(offset as i64), place.offset(skew as i64), bytes);
            let (to, from) = (to.as_slice(), from.as_slice());
            assert_eq!(to[skew..skew + bytes], from[offset..offset + bytes]);
            assert!(to[..skew].iter().chain(&to[skew + bytes..]).all(|&byte| byte == 0));
        }
    }
}
