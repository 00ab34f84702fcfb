//! A message's data: `count` elements of a datatype at an address (MPI 5.0, section 3.2.2).

use std::sync::Arc;

use postrider_os::memory::{OwnedMemory, UserMemory};

use crate::datatypes::{Datatype, pack_to, unpack_from};
use crate::error::Result;
use crate::transports::Body;

/// Data in the user's memory. Dense data (one run of bytes, the usual case) needs no datatype to be moved.
#[derive(Clone, Debug)]
pub struct Buffer {
    memory: UserMemory,
    bytes: u64,
    typed: Option<(Arc<Datatype>, i64)>,
}

impl Buffer {
    /// `count` elements of `datatype` at `memory`; `count` is not negative.
    #[inline]
    #[must_use]
    pub fn new(memory: UserMemory, count: i64, datatype: &Arc<Datatype>) -> Self {
        let bytes = datatype.size().saturating_mul(count) as u64;
        if datatype.is_dense_for(count) {
            Self { memory: memory.offset(datatype.true_lb()), bytes, typed: None }
        } else {
            Self { memory, bytes, typed: Some((Arc::clone(datatype), count)) }
        }
    }

    /// `bytes` bytes at `memory`.
    #[must_use]
    pub fn dense(memory: UserMemory, bytes: u64) -> Self {
        Self { memory, bytes, typed: None }
    }

    /// Bytes of data.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The address of the data, if it is one run of bytes.
    #[inline]
    #[must_use]
    pub fn run(&self) -> Option<UserMemory> {
        self.typed.is_none().then_some(self.memory)
    }

    /// The data in one piece of memory of our own.
    #[must_use]
    pub fn pack(&self) -> OwnedMemory {
        let bytes = self.bytes as usize;
        let mut packed = OwnedMemory::new(bytes);
        let place = UserMemory::of(&mut packed);
        match &self.typed {
            None => self.memory.copy_to(place, bytes),
            Some((datatype, count)) => pack_to(datatype, *count, self.memory, 0, place, bytes),
        }
        packed
    }

    /// The data in one piece: where it is, or packed in memory of our own.
    #[must_use]
    pub fn in_one_piece(&self) -> (UserMemory, Option<OwnedMemory>) {
        match self.run() {
            Some(memory) => (memory, None),
            None => {
                let mut packed = self.pack();
                (UserMemory::of(&mut packed), Some(packed))
            }
        }
    }

    /// `bytes` bytes of the packed data from `offset` on in one piece: where they are, or packed in memory of our own.
    #[must_use]
    pub fn part_in_one_piece(&self, offset: u64, bytes: u64) -> (UserMemory, Option<OwnedMemory>) {
        match &self.typed {
            None => (self.memory.offset(offset as i64), None),
            Some((datatype, count)) => {
                let mut packed = OwnedMemory::new(bytes as usize);
                let place = UserMemory::of(&mut packed);
                pack_to(datatype, *count, self.memory, offset, place, bytes as usize);
                (place, Some(packed))
            }
        }
    }

    /// Copies `bytes` bytes of the packed data, from `offset` on, to `to`.
    pub fn take(&self, offset: u64, to: UserMemory, bytes: usize) {
        match &self.typed {
            None => self.memory.offset(offset as i64).copy_to(to, bytes),
            Some((datatype, count)) => pack_to(datatype, *count, self.memory, offset, to, bytes),
        }
    }

    /// Puts `bytes` bytes of packed data, which begin at `offset` of the message, where they belong.
    #[inline]
    pub fn fill(&self, offset: u64, from: UserMemory, bytes: usize) {
        match &self.typed {
            None => from.copy_to(self.memory.offset(offset as i64), bytes),
            Some((datatype, count)) => unpack_from(datatype, *count, self.memory, offset, from, bytes),
        }
    }

    /// Puts the first `bytes` bytes of a packet's body where they belong.
    ///
    /// # Errors
    /// When the body is in a file that cannot be read.
    #[inline]
    pub fn fill_from(&self, body: &mut Body, bytes: usize) -> Result<()> {
        self.fill_part(0, body, bytes)
    }

    /// Puts the first `bytes` bytes of a packet's body, which begin at `offset` of the message, where they belong.
    ///
    /// # Errors
    /// When the body is in a file that cannot be read.
    #[inline]
    pub fn fill_part(&self, offset: u64, body: &mut Body, bytes: usize) -> Result<()> {
        match body {
            Body::Memory(from, _) => self.fill(offset, *from, bytes),
            Body::File(file) => match self.run() {
                Some(memory) => file.read(0, memory.offset(offset as i64), bytes)?,
                None => {
                    let mut packed = OwnedMemory::new(bytes);
                    let memory = UserMemory::of(&mut packed);
                    file.read(0, memory, bytes)?;
                    self.fill(offset, memory, bytes);
                }
            },
        }
        Ok(())
    }
}
