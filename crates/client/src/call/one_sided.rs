//! Windows (chapter 12): numbers that processes share, and bytes that one of them gives to whoever is alone with them.

use core::ffi::c_void;

use postrider_abi::*;

use super::{Communicator, Library, check};
use crate::Result;

/// A window with memory of its own. Freeing it, with this value, is a collective call.
#[derive(Debug)]
struct Window {
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
    /// Makes it; its memory is zero before any process goes on. Collective (section 12.2.2).
    fn new(communicator: Communicator, bytes: usize) -> Result<Self> {
        let (library, own) = (communicator.library, communicator.rank()?);
        let (mut memory, mut handle) = (std::ptr::null_mut::<u8>(), MPI_WIN_NULL);
        let place = (&raw mut memory).cast::<c_void>();
        // SAFETY: places for the memory and the handle.
        let code = unsafe {
            let (allocate, info) = (library.win_allocate, MPI_INFO_NULL);
            allocate(bytes as MPI_Aint, 1, info, communicator.handle, place, &raw mut handle)
        };
        check("MPI_Win_allocate", code)?;
        let window = Self { library, handle };
        // SAFETY: handles only.
        let code = unsafe { (library.win_set_errhandler)(handle, MPI_ERRORS_RETURN) };
        check("MPI_Win_set_errhandler", code)?;
        window.alone_with(own, || {
            if bytes > 0 {
                // SAFETY: the window's own memory, to which nobody else has access here (section 12.5.3).
                unsafe { memory.write_bytes(0, bytes) };
            }
            Ok(())
        })?;
        communicator.barrier()?;
        Ok(window)
    }

    /// Does something in an access epoch with an exclusive lock (section 12.5.3).
    fn alone_with<T>(&self, rank: i32, action: impl FnOnce() -> Result<T>) -> Result<T> {
        // SAFETY: handles only.
        check("MPI_Win_lock", unsafe { (self.library.win_lock)(MPI_LOCK_EXCLUSIVE, rank, 0, self.handle) })?;
        let result = action();
        // SAFETY: handles only.
        check("MPI_Win_unlock", unsafe { (self.library.win_unlock)(rank, self.handle) })?;
        result
    }

    /// Starts to read bytes; they are there at the end of the epoch, or after a flush.
    fn get(&self, rank: i32, at: usize, into: &mut [u8]) -> Result<()> {
        let (place, bytes) = (into.as_mut_ptr().cast(), into.len() as MPI_Count);
        let get = self.library.get;
        // SAFETY: room for as many bytes as are asked for; the callers keep it until the operation is complete.
        let code = unsafe { get(place, bytes, MPI_BYTE, rank, at as MPI_Aint, bytes, MPI_BYTE, self.handle) };
        check("MPI_Get_c", code)
    }

    /// Starts to write bytes.
    fn put(&self, rank: i32, at: usize, from: &[u8]) -> Result<()> {
        let (place, bytes) = (from.as_ptr().cast(), from.len() as MPI_Count);
        let put = self.library.put;
        // SAFETY: as many bytes as are named; the callers keep them until the operation is complete.
        let code = unsafe { put(place, bytes, MPI_BYTE, rank, at as MPI_Aint, bytes, MPI_BYTE, self.handle) };
        check("MPI_Put_c", code)
    }

    fn flush(&self, rank: i32) -> Result<()> {
        // SAFETY: handles only.
        check("MPI_Win_flush", unsafe { (self.library.win_flush)(rank, self.handle) })
    }
}

/// A number of 64 bits in a window: whose, and which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub rank: i32,
    /// Counts from 0.
    pub index: usize,
}

impl Place {
    fn bytes(self) -> usize {
        self.index * size_of::<i64>()
    }
}

/// Numbers of 64 bits in a window that is always accessible (`MPI_Win_lock_all`, section 12.5.3), so that no operation
/// needs more than a flush, and none needs anything of the process whose numbers they are. Several threads may use it if
/// the library allows them to meet.
#[derive(Debug)]
pub struct Numbers(Window);

impl Drop for Numbers {
    fn drop(&mut self) {
        // SAFETY: a handle only.
        let _ = unsafe { (self.0.library.win_unlock_all)(self.0.handle) };
    }
}

impl Numbers {
    /// Makes a window with `count` numbers of this process, all of them 0. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new(communicator: Communicator, count: usize) -> Result<Self> {
        let window = Window::new(communicator, count * size_of::<i64>())?;
        // SAFETY: handles only.
        check("MPI_Win_lock_all", unsafe { (window.library.win_lock_all)(0, window.handle) })?;
        Ok(Self(window))
    }

    /// Adds to a number, and returns what it was (section 12.3.4).
    ///
    /// # Errors
    /// What MPI returns.
    #[inline]
    pub fn add(&self, place: Place, amount: i64) -> Result<i64> {
        self.fetch(place, amount, MPI_SUM)
    }

    /// Replaces a number, and returns what it was.
    ///
    /// # Errors
    /// What MPI returns.
    #[inline]
    pub fn swap(&self, place: Place, number: i64) -> Result<i64> {
        self.fetch(place, number, MPI_REPLACE)
    }

    fn fetch(&self, place: Place, operand: i64, operation: MPI_Op) -> Result<i64> {
        let mut before = 0_i64;
        let (from, to) = ((&raw const operand).cast(), (&raw mut before).cast());
        let (fetch, at) = (self.0.library.fetch_and_op, place.bytes() as MPI_Aint);
        // SAFETY: two numbers that stay until the flush, after which the operation is complete at both sides.
        let code = unsafe { fetch(from, to, MPI_INT64_T, place.rank, at, operation, self.0.handle) };
        check("MPI_Fetch_and_op", code)?;
        self.0.flush(place.rank)?;
        Ok(before)
    }

    /// Replaces a number by `new` if it is `expected`, and returns what it was.
    ///
    /// # Errors
    /// What MPI returns.
    #[inline]
    pub fn compare_and_swap(&self, place: Place, expected: i64, new: i64) -> Result<i64> {
        let mut before = 0_i64;
        let (from, with, to) =
            ((&raw const new).cast(), (&raw const expected).cast(), (&raw mut before).cast());
        let (swap, at) = (self.0.library.compare_and_swap, place.bytes() as MPI_Aint);
        // SAFETY: three numbers that stay until the flush.
        let code = unsafe { swap(from, with, to, MPI_INT64_T, place.rank, at, self.0.handle) };
        check("MPI_Compare_and_swap", code)?;
        self.0.flush(place.rank)?;
        Ok(before)
    }

    /// Reads numbers that nobody changes meanwhile.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn read(&self, first: Place, into: &mut [i64]) -> Result<()> {
        // SAFETY: numbers are bytes, and all bytes are numbers.
        let bytes = unsafe { std::slice::from_raw_parts_mut(into.as_mut_ptr().cast(), size_of_val(into)) };
        self.0.get(first.rank, first.bytes(), bytes)?;
        self.0.flush(first.rank)
    }

    /// Writes numbers that nobody else reads or changes meanwhile.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn write(&self, first: Place, from: &[i64]) -> Result<()> {
        // SAFETY: numbers are bytes.
        let bytes = unsafe { std::slice::from_raw_parts(from.as_ptr().cast(), size_of_val(from)) };
        self.0.put(first.rank, first.bytes(), bytes)?;
        self.0.flush(first.rank)
    }
}

/// Bytes of one process that others access in turn, each in an epoch in which it is alone with them.
#[derive(Debug)]
pub struct Epochs {
    window: Window,
    home: i32,
}

impl Epochs {
    /// Makes a window with `bytes` bytes at rank `home`, all of them 0. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new(communicator: Communicator, home: i32, bytes: usize) -> Result<Self> {
        let own = if communicator.rank()? == home { bytes } else { 0 };
        Ok(Self { window: Window::new(communicator, own)?, home })
    }

    /// One epoch: reads `gets` and writes `puts`, each with its place. They must not overlap.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn access(&self, gets: &mut [(usize, &mut [u8])], puts: &[(usize, &[u8])]) -> Result<()> {
        self.window.alone_with(self.home, || {
            for (at, into) in gets.iter_mut().filter(|(_, into)| !into.is_empty()) {
                self.window.get(self.home, *at, into)?;
            }
            puts.iter().try_for_each(|(at, from)| self.window.put(self.home, *at, from))
        })
    }
}
