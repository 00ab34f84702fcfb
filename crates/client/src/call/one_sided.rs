//! A window with one number at rank 0 (chapter 12): what processes count and lock with.

use core::ffi::c_void;

use postrider_abi::*;

use super::{Communicator, Library, check};
use crate::Result;

/// The window. Freeing it, with this value, is a collective call.
#[derive(Debug)]
pub struct Window {
    library: &'static Library,
    handle: MPI_Win,
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: a handle that was made for this value, and a place for the null handle.
        let _ = unsafe { (self.library.win_free)(&raw mut self.handle) };
    }
}

impl Window {
    /// Makes it; rank 0's number is zero before any process goes on. Collective (section 12.2.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new(communicator: Communicator) -> Result<Self> {
        let (library, first) = (communicator.library, communicator.rank()? == 0);
        let bytes = if first { size_of::<i64>() } else { 0 };
        let (mut memory, mut handle) = (std::ptr::null_mut::<i64>(), MPI_WIN_NULL);
        let (unit, place) = (size_of::<i64>() as i32, (&raw mut memory).cast::<c_void>());
        // SAFETY: places for the memory and the handle. The memory is written before anybody can reach it, as far as
        // the standard orders that: inside an access epoch of its own, and before a barrier.
        unsafe {
            let allocate = library.win_allocate;
            let info = MPI_INFO_NULL;
            let code = allocate(bytes as MPI_Aint, unit, info, communicator.handle, place, &raw mut handle);
            check("MPI_Win_allocate", code)?;
        }
        let window = Self { library, handle };
        // SAFETY: handles only.
        let code = unsafe { (library.win_set_errhandler)(handle, MPI_ERRORS_RETURN) };
        check("MPI_Win_set_errhandler", code)?;
        if first {
            window.locked(|window| window.replace(0))?;
        }
        communicator.barrier()?;
        Ok(window)
    }

    /// Does something while no other process is between these two calls (section 12.5.3). A thread of this process must
    /// not do it at the same time.
    ///
    /// # Errors
    /// What MPI or `action` returns.
    pub fn locked<T, E: From<crate::Error>>(
        &self,
        action: impl FnOnce(&Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        // SAFETY: handles only.
        check("MPI_Win_lock", unsafe { (self.library.win_lock)(MPI_LOCK_EXCLUSIVE, 0, 0, self.handle) })?;
        // A library may take the lock as late as with the first operation, so there has to be one.
        let result = self.number().map_err(E::from).and_then(|_| action(self));
        // SAFETY: handles only.
        check("MPI_Win_unlock", unsafe { (self.library.win_unlock)(0, self.handle) })?;
        result
    }

    /// Adds to the number, and returns what it was.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn add(&self, amount: i64) -> Result<i64> {
        // SAFETY: handles only.
        check("MPI_Win_lock", unsafe { (self.library.win_lock)(MPI_LOCK_SHARED, 0, 0, self.handle) })?;
        let result = self.operate(amount, MPI_SUM);
        // SAFETY: handles only.
        check("MPI_Win_unlock", unsafe { (self.library.win_unlock)(0, self.handle) })?;
        result
    }

    /// The number; only inside [`Self::locked`].
    ///
    /// # Errors
    /// What MPI returns.
    pub fn number(&self) -> Result<i64> {
        self.operate(0, MPI_NO_OP)
    }

    /// Replaces the number, and returns what it was; only inside [`Self::locked`].
    ///
    /// # Errors
    /// What MPI returns.
    pub fn replace(&self, number: i64) -> Result<i64> {
        self.operate(number, MPI_REPLACE)
    }

    fn operate(&self, operand: i64, operation: MPI_Op) -> Result<i64> {
        let mut before = 0_i64;
        let (from, to) = ((&raw const operand).cast(), (&raw mut before).cast());
        // SAFETY: two numbers that stay until the flush, after which the operation is complete at both sides.
        unsafe {
            let (fetch, flush) = (self.library.fetch_and_op, self.library.win_flush);
            check("MPI_Fetch_and_op", fetch(from, to, MPI_INT64_T, 0, 0, operation, self.handle))?;
            check("MPI_Win_flush", flush(0, self.handle))?;
        }
        Ok(before)
    }
}
