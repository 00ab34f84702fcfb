//! The shared file pointer (section 14.4.4): a number at rank 0, in elementary datatypes, that any process moves without the help of
//! any other.
//!
//! In the order of ranks (section 14.4.4.2) all processes learn of the amounts of all in one collective call, in which rank 0
//! tells where the pointer is. It then moves the pointer, but another process may come back sooner with an access of its
//! own. So everybody moves the pointer from the old value to the new one, before its next access; whoever does it first
//! is right, and the others change nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use postrider_abi::{MPI_ERR_UNSUPPORTED_OPERATION, MPI_SUCCESS};
use postrider_client::{Communicator, Numbers, Place};

use crate::agreement::agree;
use crate::error::{Error, Result};
use crate::locks::ways::{OrderedWay, PointerWay};
use crate::locks::{self, PaperLock};

/// Where the number is.
const HOME: Place = Place { rank: 0, index: 0 };

/// A shared file pointer.
#[derive(Debug)]
pub enum Pointer {
    /// Of a single process.
    Alone(Mutex<i64>),
    /// Moved by one addition.
    Added {
        /// The number.
        numbers: Numbers,
        /// From where to where an ordered access has moved it, if this process has not seen to it yet.
        moved: Mutex<Option<(i64, i64)>>,
    },
    /// Moved under the lock of the paper.
    Locked(Mutex<PaperLock>),
    /// The library has no one-sided communication; why.
    Missing(String),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pointer {
    /// That of a new file, at 0. Collective.
    pub fn new(communicator: Communicator, processes: i32, way: PointerWay) -> Self {
        if processes == 1 {
            return Self::Alone(Mutex::new(0));
        }
        let made = match way {
            PointerWay::Add => Numbers::new(communicator, 1)
                .map(|numbers| Self::Added { numbers, moved: Mutex::new(None) })
                .map_err(Error::from),
            PointerWay::Hybrid => locks::for_pointer(communicator).map(|lock| Self::Locked(Mutex::new(lock))),
        };
        made.unwrap_or_else(|error| Self::Missing(error.to_string()))
    }

    fn missing(why: &str) -> Error {
        let detail =
            format!("shared file pointers need one-sided communication, which is not to be had: {why}");
        Error::new(MPI_ERR_UNSUPPORTED_OPERATION, detail)
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        !matches!(self, Self::Missing(_))
    }

    /// Moves it on, and returns where it was.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn add(&self, amount: i64) -> Result<i64> {
        match self {
            Self::Alone(pointer) => {
                let mut pointer = lock(pointer);
                *pointer += amount;
                Ok(*pointer - amount)
            }
            Self::Added { numbers, moved } => {
                let mut moved = lock(moved);
                if let Some((from, to)) = moved.take() {
                    numbers.compare_and_swap(HOME, from, to)?;
                }
                drop(moved);
                Ok(numbers.add(HOME, amount)?)
            }
            Self::Locked(paper) => {
                let paper = lock(paper);
                let position = paper.acquire()?;
                paper.release(Some(position + amount))?;
                Ok(position)
            }
            Self::Missing(why) => Err(Self::missing(why)),
        }
    }

    /// Where it is.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn position(&self) -> Result<i64> {
        match self {
            Self::Locked(paper) => lock(paper).number(),
            _ => self.add(0),
        }
    }

    /// Puts it somewhere else, when nobody moves it; all processes call this, and rank 0 does it.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn set(&self, rank: i32, position: i64) -> Result<()> {
        if let Self::Added { moved, .. } = self {
            *lock(moved) = None;
        }
        if rank == 0 { self.replace(position) } else { Ok(()) }
    }

    fn replace(&self, position: i64) -> Result<()> {
        match self {
            Self::Alone(pointer) => *lock(pointer) = position,
            Self::Added { numbers, .. } => drop(numbers.swap(HOME, position)?),
            Self::Locked(paper) => lock(paper).set_number(position)?,
            Self::Missing(why) => return Err(Self::missing(why)),
        }
        Ok(())
    }

    /// Moves it on by the amounts of all processes, and returns where that of this one begins. Collective; it fails at all
    /// processes or at none.
    ///
    /// # Errors
    /// That of `amount`, here or at another process, and what MPI returns.
    pub fn add_in_order(
        &self,
        communicator: Communicator,
        amount: Result<i64>,
        way: OrderedWay,
    ) -> Result<i64> {
        match (self, way) {
            (Self::Alone(_), _) => self.add(amount?),
            (Self::Added { numbers, moved }, OrderedWay::Carry) => {
                carry(communicator, amount, numbers, moved, || self.position())
            }
            _ => self.scan(communicator, agree(communicator, amount)?),
        }
    }

    /// The paper's figure 7.
    fn scan(&self, communicator: Communicator, amount: i64) -> Result<i64> {
        let (rank, last) = (communicator.rank()?, communicator.size()? - 1);
        let first = if rank == 0 { self.position() } else { Ok(0) };
        let before = agree(communicator, first)?;
        let end = communicator.scan(before + amount)?;
        let put = if rank == last { self.replace(end) } else { Ok(()) };
        let mut byte = [u8::from(put.is_err())];
        communicator.broadcast_bytes(&mut byte, last)?;
        put?;
        if byte[0] != 0 {
            let detail = "moving the shared file pointer failed at the last process of the file's group";
            return Err(Error::new(postrider_abi::MPI_ERR_OTHER, detail));
        }
        Ok(end - amount)
    }
}

/// One collective call: each process tells its amount or its error, and rank 0 the pointer as well.
fn carry(
    communicator: Communicator,
    amount: Result<i64>,
    numbers: &Numbers,
    moved: &Mutex<Option<(i64, i64)>>,
    position: impl FnOnce() -> Result<i64>,
) -> Result<i64> {
    let rank = communicator.rank()? as usize;
    let told = amount.and_then(|amount| Ok((amount, if rank == 0 { position()? } else { 0 })));
    let class = told.as_ref().map_or_else(|error| error.class, |_| MPI_SUCCESS);
    let (amount, start) = told.as_ref().map_or((0, 0), |told| *told);
    let all = communicator.all_gather([class.into(), amount, start])?;
    told?;
    if let Some((other, [class, ..])) = all.iter().enumerate().find(|(_, [class, ..])| *class != 0) {
        return Err(Error::at_another(other, *class as i32));
    }
    let start = all[0][2];
    let end = start + all.iter().map(|[_, amount, _]| amount).sum::<i64>();
    if rank == 0 {
        numbers.compare_and_swap(HOME, start, end)?;
    } else {
        *lock(moved) = Some((start, end));
    }
    Ok(start + all[..rank].iter().map(|[_, amount, _]| amount).sum::<i64>())
}
