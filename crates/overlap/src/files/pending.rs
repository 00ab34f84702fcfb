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
    /// Their memory, which is longer than they are while there is room for more.
    pub memory: Vec<u8>,
    /// How many there are.
    pub length: usize,
}

impl Piece {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[..self.length]
    }

    /// Room for so many more.
    fn room(&mut self, more: usize) -> &mut [u8] {
        let end = self.length + more;
        if end > self.memory.len() {
            self.memory.resize(end.max((2 * self.memory.len()).min(BLOCK_BYTES)), 0);
        }
        &mut self.memory[self.length..end]
    }
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
    /// memory that `spare` gives for it, which is as long or longer.
    pub fn add(
        &mut self,
        offset: u64,
        length: usize,
        spare: impl Fn(usize) -> Vec<u8>,
        fill: impl FnOnce(&mut [&mut [u8]]) -> bool,
    ) -> bool {
        let continues = |piece: &&mut Piece| {
            let end = piece.offset + piece.length as u64;
            end == offset && piece.length + length <= BLOCK_BYTES
        };
        if let Some(piece) = self.pieces.back_mut().filter(continues) {
            if !fill(&mut [piece.room(length)]) {
                return false;
            }
            piece.length += length;
        } else {
            let new = |begin: usize| {
                let length = BLOCK_BYTES.min(length - begin);
                Piece { offset: offset + begin as u64, memory: spare(length), length }
            };
            let mut pieces: Vec<Piece> = (0..length).step_by(BLOCK_BYTES).map(new).collect();
            let mut places: Vec<&mut [u8]> =
                pieces.iter_mut().map(|piece| &mut piece.memory[..piece.length]).collect();
            if !fill(&mut places) {
                return false;
            }
            self.pieces.extend(pieces);
        }
        self.lowest = if self.bytes == 0 { offset } else { self.lowest.min(offset) };
        self.bytes += length;
        true
    }

    /// Takes the oldest piece; `whole` leaves the one that may still grow.
    pub fn take(&mut self, whole: bool) -> Option<Piece> {
        let grows = |piece: &Piece| piece.length < BLOCK_BYTES;
        if whole && self.pieces.len() == 1 && self.pieces.front().is_some_and(grows) {
            return None;
        }
        let piece = self.pieces.pop_front()?;
        self.bytes -= piece.length;
        Some(piece)
    }

    /// Whether a piece is there that grows no more.
    pub fn has_whole(&self) -> bool {
        self.pieces.len() > 1 || self.pieces.front().is_some_and(|piece| piece.length >= BLOCK_BYTES)
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
            (0u64..200, 1usize..3_000_000).prop_map(|(offset, length)| Step::Write(offset, length)),
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
                        let added = log.add(offset, length, |length| vec![1; length + 7], |places| {
                            places.iter_mut().zip(bytes.chunks(BLOCK_BYTES)).for_each(|(place, bytes)| place.copy_from_slice(bytes));
                            true
                        });
                        prop_assert!(added);
                        writes.push_back((offset, bytes));
                        end = offset + length as u64;
                        continue;
                    }
                    Step::Continue(length) => {
                        let bytes = vec![number as u8; length];
                        let refused = log.add(end, length, |length| vec![0; length], |_| false);
                        let added = log.add(end, length, |length| vec![0; length], |places| {
                            places.iter_mut().for_each(|place| place.copy_from_slice(&bytes));
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
                put(&mut file, piece.offset, piece.bytes());
                let mut left = piece.length;
                while left > 0 {
                    let (offset, mut bytes) = writes.pop_front().expect("a piece is of writes");
                    if bytes.len() > left {
                        writes.push_front((offset + left as u64, bytes.split_off(left)));
                    }
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
