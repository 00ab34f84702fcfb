//! Writes of one file that the program has made and the file has not: a log.
//!
//! Pieces stand in the order in which the program wrote them, and only a piece that continues the last one is merged with it. So whatever
//! part of the log has reached the file, the file is one that the plain program had at some moment, and what it overwrites later is written later.
//! A map by offset would merge more, but a process that is killed in the middle would leave a later write without an earlier one.

use std::collections::VecDeque;

/// What a piece grows to.
pub const BLOCK_BYTES: usize = 1 << 20;

/// Bytes that follow each other in the file.
#[derive(Debug, PartialEq)]
pub struct Piece {
    /// Where the first of them goes.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Pieces in the order in which the program wrote them.
#[derive(Debug, Default)]
pub struct Log {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// The lowest offset since the log was empty.
    lowest: u64,
}

impl Log {
    /// Adds a write of `length` bytes, which `fill` copies to where they are kept. If it cannot, nothing is added. A new piece is made in
    /// memory that `spare` may have from an old one.
    pub fn add(
        &mut self,
        offset: u64,
        length: usize,
        spare: impl FnOnce() -> Vec<u8>,
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> bool {
        let continues = |piece: &&mut Piece| {
            let end = piece.offset + piece.bytes.len() as u64;
            end == offset && piece.bytes.len() + length <= BLOCK_BYTES
        };
        if let Some(piece) = self.pieces.back_mut().filter(continues) {
            let before = piece.bytes.len();
            piece.bytes.resize(before + length, 0);
            if !fill(&mut piece.bytes[before..]) {
                piece.bytes.truncate(before);
                return false;
            }
        } else {
            let mut bytes = spare();
            // What is there already need not become zeros.
            bytes.resize(length, 0);
            if !fill(&mut bytes) {
                return false;
            }
            self.pieces.push_back(Piece { offset, bytes });
        }
        self.lowest = if self.bytes == 0 { offset } else { self.lowest.min(offset) };
        self.bytes += length;
        true
    }

    /// Takes the oldest piece; `whole` leaves the one that may still grow.
    pub fn take(&mut self, whole: bool) -> Option<Piece> {
        let grows = |piece: &Piece| piece.bytes.len() < BLOCK_BYTES;
        if whole && self.pieces.len() == 1 && self.pieces.front().is_some_and(grows) {
            return None;
        }
        let piece = self.pieces.pop_front()?;
        self.bytes -= piece.bytes.len();
        Some(piece)
    }

    /// Whether a piece is there that grows no more.
    pub fn has_whole(&self) -> bool {
        self.pieces.len() > 1 || self.pieces.front().is_some_and(|piece| piece.bytes.len() >= BLOCK_BYTES)
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The lowest offset that any of them has, if there are some.
    pub fn lowest(&self) -> Option<u64> {
        (self.bytes > 0).then_some(self.lowest)
    }

    /// Forgets all of them, and says how many bytes they had.
    pub fn clear(&mut self) -> usize {
        self.pieces.clear();
        std::mem::take(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Write(u64, usize),
        Continue(usize),
        Take(bool),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0u64..200, 1usize..50).prop_map(|(offset, length)| Step::Write(offset, length)),
            (1usize..50).prop_map(Step::Continue),
            (1usize..400_000).prop_map(Step::Continue),
            any::<bool>().prop_map(Step::Take),
        ];
        proptest::collection::vec(step, 0..60)
    }

    fn put(file: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
        let end = offset as usize + bytes.len();
        file.resize(file.len().max(end), 0);
        file[offset as usize..end].copy_from_slice(bytes);
    }

    proptest! {
        /// What has reached the file is at each moment what the first so many writes have made of it.
        #[test]
        fn the_file_is_always_an_earlier_one(steps in steps()) {
            let (mut log, mut file, mut earlier) = (Log::default(), Vec::new(), Vec::new());
            let mut writes: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
            let mut end = 0;
            for (number, step) in steps.into_iter().enumerate() {
                let whole = match step {
                    Step::Write(offset, length) => {
                        let bytes = vec![number as u8; length];
                        let added = log.add(offset, length, || vec![1; 7], |place| {
                            place.copy_from_slice(&bytes);
                            true
                        });
                        prop_assert!(added);
                        writes.push_back((offset, bytes));
                        end = offset + length as u64;
                        continue;
                    }
                    Step::Continue(length) => {
                        let bytes = vec![number as u8; length];
                        let refused = log.add(end, length, Vec::new, |_| false);
                        let added = log.add(end, length, Vec::new, |place| {
                            place.copy_from_slice(&bytes);
                            true
                        });
                        prop_assert!(added && !refused);
                        writes.push_back((end, bytes));
                        end += length as u64;
                        continue;
                    }
                    Step::Take(whole) => whole,
                };
                let Some(piece) = log.take(whole) else { continue };
                put(&mut file, piece.offset, &piece.bytes);
                let mut left = piece.bytes.len();
                while left > 0 {
                    let (offset, bytes) = writes.pop_front().expect("a piece is of writes");
                    put(&mut earlier, offset, &bytes);
                    left -= bytes.len();
                }
                prop_assert!(file == earlier);
            }
            let lowest = writes.iter().map(|(offset, _)| *offset).min();
            prop_assert!(log.lowest().is_none_or(|lowest_known| Some(lowest_known) <= lowest));
            prop_assert_eq!(log.bytes(), writes.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
        }
    }
}
