//! What locks are made of: numbers that processes change by single operations, and short messages.
//!
//! Locks see this interface only. Programs have it from MPI; the models of `locks/models` have one that tries orders of events.

use postrider_client::{Communicator, Epochs, Numbers, Place};

use postrider_abi::MPI_ANY_SOURCE;

use crate::error::Result;

/// The processes of a file, and messages by which they wake each other.
pub trait Group {
    /// This process.
    fn rank(&self) -> i32;

    /// How many processes there are.
    fn size(&self) -> i32;

    /// Sends a number to a process that waits for it, or will.
    ///
    /// # Errors
    /// What MPI returns.
    fn wake(&self, rank: i32, channel: i32, number: i64) -> Result<()>;

    /// Waits for a number, from whomever.
    ///
    /// # Errors
    /// What MPI returns.
    fn wait(&self, channel: i32) -> Result<i64>;
}

/// Numbers in the memory of the processes, all of them 0 in the beginning.
pub trait Fabric: Group {
    /// Replaces a number, and returns what it was.
    ///
    /// # Errors
    /// What MPI returns.
    fn swap(&self, place: Place, number: i64) -> Result<i64>;

    /// Replaces a number by `new` if it is `expected`, and returns what it was.
    ///
    /// # Errors
    /// What MPI returns.
    fn compare_and_swap(&self, place: Place, expected: i64, new: i64) -> Result<i64>;

    /// Reads numbers that nobody changes meanwhile.
    ///
    /// # Errors
    /// What MPI returns.
    fn read(&self, first: Place, into: &mut [i64]) -> Result<()>;

    /// Writes numbers that nobody else uses meanwhile.
    ///
    /// # Errors
    /// What MPI returns.
    fn write(&self, first: Place, from: &[i64]) -> Result<()>;
}

/// Bytes of one process that others access in turn, all of them 0 in the beginning.
pub trait Bytes: Group {
    /// Reads `gets` and writes `puts`, each with its place, as one step.
    ///
    /// # Errors
    /// What MPI returns.
    fn access(&self, gets: &mut [(usize, &mut [u8])], puts: &[(usize, &[u8])]) -> Result<()>;
}

/// A window, and messages of a communicator that nobody else uses for messages with these tags.
#[derive(Debug)]
pub struct OverMpi<W> {
    communicator: Communicator,
    window: W,
    rank: i32,
    size: i32,
}

impl<W> OverMpi<W> {
    fn over(communicator: Communicator, window: W) -> Result<Self> {
        Ok(Self { communicator, window, rank: communicator.rank()?, size: communicator.size()? })
    }
}

impl OverMpi<Numbers> {
    /// With so many numbers at this process. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn numbers(communicator: Communicator, count: usize) -> Result<Self> {
        Self::over(communicator, Numbers::new(communicator, count)?)
    }
}

impl OverMpi<Epochs> {
    /// With so many bytes at rank 0. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn bytes(communicator: Communicator, count: usize) -> Result<Self> {
        Self::over(communicator, Epochs::new(communicator, 0, count)?)
    }
}

impl<W> Group for OverMpi<W> {
    fn rank(&self) -> i32 {
        self.rank
    }

    fn size(&self) -> i32 {
        self.size
    }

    fn wake(&self, rank: i32, channel: i32, number: i64) -> Result<()> {
        Ok(self.communicator.send(&number.to_ne_bytes(), rank, channel)?)
    }

    fn wait(&self, channel: i32) -> Result<i64> {
        let mut number = [0; size_of::<i64>()];
        self.communicator.receive(&mut number, MPI_ANY_SOURCE, channel)?;
        Ok(i64::from_ne_bytes(number))
    }
}

impl Bytes for OverMpi<Epochs> {
    fn access(&self, gets: &mut [(usize, &mut [u8])], puts: &[(usize, &[u8])]) -> Result<()> {
        Ok(self.window.access(gets, puts)?)
    }
}

impl Fabric for OverMpi<Numbers> {
    fn swap(&self, place: Place, number: i64) -> Result<i64> {
        Ok(self.window.swap(place, number)?)
    }

    fn compare_and_swap(&self, place: Place, expected: i64, new: i64) -> Result<i64> {
        Ok(self.window.compare_and_swap(place, expected, new)?)
    }

    fn read(&self, first: Place, into: &mut [i64]) -> Result<()> {
        Ok(self.window.read(first, into)?)
    }

    fn write(&self, first: Place, from: &[i64]) -> Result<()> {
        Ok(self.window.write(first, from)?)
    }
}
