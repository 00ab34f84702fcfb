//! The file of a name space as memory of this process.
//!
//! It is mapped once and stays, so that what is in it is borrowed for ever. It is much longer than what is ever used of it: pages that nobody has touched
//! are not there. What is shared is atomic, or it is bytes that are copied.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

/// A type of which zeros are a value, and which threads and processes may share.
///
/// # Safety
/// It consists of atomic numbers and of locks.
pub unsafe trait Shared: Sync + 'static {}

// SAFETY: atomic numbers.
unsafe impl Shared for AtomicU32 {}
// SAFETY: as above.
unsafe impl Shared for AtomicI32 {}
// SAFETY: as above.
unsafe impl Shared for AtomicU64 {}
// SAFETY: as above.
unsafe impl Shared for AtomicI64 {}
// SAFETY: as above.
unsafe impl<const N: usize> Shared for [AtomicU64; N] {}
// SAFETY: a word of the system, and nothing else that is looked at.
unsafe impl Shared for super::lock::Lock {}

/// Declares what is in the memory: structures whose parts are [`Shared`].
macro_rules! shared {
    ($($(#[$attribute:meta])* pub struct $name:ident { $($(#[$field:meta])* pub $part:ident : $type:ty,)* })*) => {
        $(
            $(#[$attribute])*
            #[repr(C)]
            pub struct $name { $($(#[$field])* pub $part: $type,)* }
            // SAFETY: all parts are.
            #[allow(unsafe_code)]
            unsafe impl $crate::space::memory::Shared for $name where $($type: $crate::space::memory::Shared,)* {}
        )*
    };
}
pub(super) use shared;

/// Memory that processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    start: usize,
    bytes: usize,
}

impl Memory {
    /// Maps the file.
    ///
    /// # Errors
    /// What the system says.
    pub fn map(file: &File, bytes: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at a place that the system chooses, of a file that is open.
        let start = unsafe {
            let (protection, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
            libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping that was just made. A core file has no use for it.
        unsafe { libc::madvise(start, bytes, libc::MADV_DONTDUMP) };
        Ok(Self { start: start as usize, bytes })
    }

    /// Takes it away. Nothing that was borrowed from it is used any more.
    pub fn unmap(self) {
        // SAFETY: a mapping of our own, which the caller does not use again.
        unsafe { libc::munmap(self.start as *mut libc::c_void, self.bytes) };
    }

    fn address(self, at: usize, bytes: usize) -> usize {
        assert!(at.checked_add(bytes).is_some_and(|end| end <= self.bytes), "outside of the name space");
        self.start + at
    }

    /// What is at a place.
    #[inline]
    pub fn at<T: Shared>(self, at: usize) -> &'static T {
        let address = self.address(at, size_of::<T>());
        assert!(address.is_multiple_of(align_of::<T>()), "a place that is not aligned");
        // SAFETY: within the mapping, which stays, aligned, and of a type that may be anything and may be shared.
        unsafe { &*(address as *const T) }
    }

    /// As many of them as there are from a place on.
    #[inline]
    pub fn all<T: Shared>(self, at: usize, count: usize) -> &'static [T] {
        let address = self.address(at, size_of::<T>() * count);
        assert!(address.is_multiple_of(align_of::<T>()), "a place that is not aligned");
        // SAFETY: as for one.
        unsafe { std::slice::from_raw_parts(address as *const T, count) }
    }

    /// Copies to a place, from memory of the caller.
    #[inline]
    pub fn write(self, at: usize, from: super::Bytes, offset: usize, bytes: usize) {
        let to = self.address(at, bytes);
        // SAFETY: within the mapping; the memory of the caller is what he says that it is, as for a system call.
        unsafe { std::ptr::copy_nonoverlapping((from.address + offset) as *const u8, to as *mut u8, bytes) };
    }

    /// Copies from a place, to memory of the caller.
    #[inline]
    pub fn read(self, at: usize, to: super::Bytes, offset: usize, bytes: usize) {
        let from = self.address(at, bytes);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, (to.address + offset) as *mut u8, bytes) };
    }
}
