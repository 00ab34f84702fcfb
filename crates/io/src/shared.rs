//! What the processes of an open file share: the shared file pointer (section 14.4.4), and who is alone with the file in
//! atomic mode (section 14.6.1).
//!
//! Both live in a window of one-sided communication with one number at rank 0, so that no file system has to keep locks: the
//! pointer is that number, moved by `MPI_Fetch_and_op`, and whoever holds the window's exclusive lock is alone. Files of one
//! process need no window. Threads of a process take their turns by a mutex, as MPI wants it of the users of a window.

use std::sync::{Mutex, MutexGuard, PoisonError};

use postrider_abi::MPI_ERR_UNSUPPORTED_OPERATION;
use postrider_client::{Communicator, Window};

use crate::error::{Error, Result};

/// The shared state of an open file.
#[derive(Debug)]
pub enum Shared {
    /// Of a single process: the pointer.
    Alone(Mutex<i64>),
    /// Of several.
    Window(Mutex<Window>),
    /// The library has no one-sided communication; why.
    Missing(String),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The state of a new file, with the pointer at 0. Collective.
    pub fn new(communicator: Communicator, processes: i32) -> Self {
        if processes == 1 {
            return Self::Alone(Mutex::new(0));
        }
        match Window::new(communicator) {
            Ok(window) => Self::Window(Mutex::new(window)),
            Err(error) => Self::Missing(error.to_string()),
        }
    }

    fn missing(why: &str) -> Error {
        let detail = format!(
            "shared file pointers and atomic mode need one-sided communication, which is not to be had: {why}"
        );
        Error::new(MPI_ERR_UNSUPPORTED_OPERATION, detail)
    }

    /// Moves the pointer on, and returns where it was.
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
            Self::Window(window) => Ok(lock(window).add(amount)?),
            Self::Missing(why) => Err(Self::missing(why)),
        }
    }

    /// Where the pointer is.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn position(&self) -> Result<i64> {
        self.add(0)
    }

    /// Puts the pointer somewhere else; for one of the processes.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn set(&self, position: i64) -> Result<()> {
        match self {
            Self::Alone(pointer) => *lock(pointer) = position,
            Self::Window(window) => {
                lock(window).locked(|window| window.replace(position))?;
            }
            Self::Missing(why) => return Err(Self::missing(why)),
        }
        Ok(())
    }

    /// Whether there is a pointer.
    pub fn is_there(&self) -> bool {
        !matches!(self, Self::Missing(_))
    }

    /// Does something while no other process of the file does such a thing.
    ///
    /// # Errors
    /// What MPI or `action` returns.
    pub fn exclusively<T>(&self, action: impl FnOnce() -> Result<T>) -> Result<T> {
        match self {
            Self::Alone(pointer) => {
                let _alone = lock(pointer);
                action()
            }
            Self::Window(window) => lock(window).locked(|_| action()),
            Self::Missing(why) => Err(Self::missing(why)),
        }
    }
}
