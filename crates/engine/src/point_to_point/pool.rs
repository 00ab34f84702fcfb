//! Memory for messages that came before their receive, kept for the next ones.
//!
//! A program whose messages run ahead of its receives would otherwise pay for new pages with each of them: the system's
//! allocator gives large blocks back at once. Blocks are powers of two; each size keeps a bounded number.

use postrider_os::memory::OwnedMemory;

/// The smallest block is 64 bytes, the largest 128 KiB. Longer messages take memory of their own.
const SMALLEST_LOG: u32 = 6;
const SIZES: usize = 12;
/// Bytes that each size may keep.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// Blocks that are free.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: [Vec<OwnedMemory>; SIZES],
}

/// The size class of a block with room for `bytes` bytes.
fn class_of(bytes: usize) -> usize {
    let log = usize::BITS - bytes.saturating_sub(1).leading_zeros();
    log.saturating_sub(SMALLEST_LOG) as usize
}

impl Pool {
    /// A block with room for `bytes` bytes, with anything in it.
    pub fn take(&mut self, bytes: usize) -> OwnedMemory {
        let class = class_of(bytes);
        match self.free.get_mut(class) {
            Some(free) => free.pop().unwrap_or_else(|| OwnedMemory::new(1 << (class as u32 + SMALLEST_LOG))),
            None => OwnedMemory::new(bytes),
        }
    }

    /// Takes a block of [`Pool::take`] back.
    pub fn give(&mut self, block: OwnedMemory) {
        let bytes = block.len();
        if let Some(free) = self.free.get_mut(class_of(bytes))
            && bytes.is_power_of_two()
            && bytes >> SMALLEST_LOG > 0
            && (free.len() + 1) * bytes <= KEPT_BYTES_MAX
        {
            free.push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_room_and_come_back() {
        let mut pool = Pool::default();
        for bytes in [0, 1, 63, 64, 65, 4096, 4097, 128 << 10, (128 << 10) + 1, 1 << 20] {
            let block = pool.take(bytes);
            assert!(block.len() >= bytes, "{bytes}");
            let length = block.len();
            pool.give(block);
            assert_eq!(pool.take(bytes).len(), length);
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut pool = Pool::default();
        let blocks: Vec<_> = (0..100).map(|_| pool.take(100_000)).collect();
        blocks.into_iter().for_each(|block| pool.give(block));
        assert_eq!(pool.free.iter().flatten().map(OwnedMemory::len).sum::<usize>(), KEPT_BYTES_MAX);
    }
}
