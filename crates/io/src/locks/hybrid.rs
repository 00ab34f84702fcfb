//! The lock of Latham, Ross and Thakur (the hybrid of one-sided and point-to-point communication, figures 3 to 6): a byte for
//! each process at one of them. In one epoch a process sets its own byte and reads all others; if one of them is set it waits for a message.
//! Who leaves clears its byte, and wakes the next process by rank whose byte is set.
//!
//! The bytes may have a number before them, the shared file pointer: it is read with the first epoch, written
//! with the second, and travels with the message.

use super::fabric::Bytes;
use crate::error::Result;

/// Room for the number.
const NUMBER: usize = size_of::<i64>();

/// The lock.
#[derive(Debug)]
pub struct Hybrid<B> {
    bytes: B,
    channel: i32,
}

/// How many bytes it needs.
pub fn bytes(processes: i32) -> usize {
    NUMBER + processes as usize
}

impl<B: Bytes> Hybrid<B> {
    /// The lock with these bytes, which wakes by this channel.
    pub fn new(bytes: B, channel: i32) -> Self {
        Self { bytes, channel }
    }

    /// The epoch of both figures: puts this process's byte and perhaps the number, and gets the others' bytes and the
    /// number, unless that is put.
    fn epoch(&self, byte: u8, put: Option<i64>, got: &mut i64) -> Result<Vec<u8>> {
        let (rank, size) = (self.bytes.rank() as usize, self.bytes.size() as usize);
        let mut others = vec![0; size];
        let (before, rest) = others.split_at_mut(rank);
        let own = [byte];
        let mut number = [0; NUMBER];
        let mut gets = vec![(NUMBER, before), (NUMBER + rank + 1, &mut rest[1..])];
        let mut puts = vec![(NUMBER + rank, &own[..])];
        let bytes = put.unwrap_or_default().to_ne_bytes();
        match put {
            Some(_) => puts.push((0, &bytes)),
            None => gets.push((0, &mut number)),
        }
        self.bytes.access(&mut gets, &puts)?;
        drop(gets);
        *got = i64::from_ne_bytes(number);
        Ok(others)
    }

    /// Takes the lock, and returns the number.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn acquire(&self) -> Result<i64> {
        let mut number = 0;
        if self.epoch(1, None, &mut number)?.iter().all(|&byte| byte == 0) {
            return Ok(number);
        }
        self.bytes.wait(self.channel)
    }

    /// Writes the number if it is given, and gives the lock to the next process that waits: the first one behind this.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn release(&self, number: Option<i64>) -> Result<()> {
        let mut unchanged = 0;
        let waiting = self.epoch(0, number, &mut unchanged)?;
        let (rank, size) = (self.bytes.rank(), self.bytes.size());
        let next = (1..size).map(|step| (rank + step) % size).find(|&next| waiting[next as usize] != 0);
        let Some(next) = next else { return Ok(()) };
        self.bytes.wake(next, self.channel, number.unwrap_or(unchanged))
    }

    /// Reads the number without the lock.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn number(&self) -> Result<i64> {
        let mut number = [0; NUMBER];
        self.bytes.access(&mut [(0, &mut number)], &[])?;
        Ok(i64::from_ne_bytes(number))
    }

    /// Writes the number without the lock, when nobody else uses it.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn set_number(&self, number: i64) -> Result<()> {
        self.bytes.access(&mut [], &[(0, &number.to_ne_bytes())])
    }
}
