//! Memory that several processes see, with no name that could be left behind.
//!
//! A [`Segment`] is an anonymous memory file (`memfd_create`). Nothing of it ever appears in `/dev/shm`, its size is
//! not limited by that mount, and the kernel frees it with the last process that maps it, however these processes
//! end. Others find it through the creator: `/proc/<pid>/fd/<number>` opens the same memory for every process of
//! the same user, also when descriptors were not inherited on the way (Python's `subprocess` closes them).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

use crate::error::{Error, Result};
use crate::memory::UserMemory;
use crate::sync::{AtomicU32, AtomicU64};

/// A mapped shared segment. Unmapped when dropped.
#[derive(Debug)]
pub struct Segment {
    base: usize,
    bytes: usize,
    file: Option<File>,
}

impl Segment {
    /// Makes a new segment of `bytes` zeroed bytes. Pages take memory only once they are touched.
    ///
    /// # Errors
    /// When the system has no memory or no descriptor left.
    pub fn create(bytes: usize) -> Result<Self> {
        // SAFETY: the name is a NUL-terminated constant.
        let fd = unsafe { libc::memfd_create(c"postrider".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(Error::last("cannot create shared memory"));
        }
        // SAFETY: the descriptor is new and ours.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(bytes as u64)
            .map_err(|e| Error::new(format!("cannot size shared memory to {bytes} bytes"), e))?;
        Self::map(file, bytes)
    }

    /// Maps the segment that process `pid` holds as descriptor `fd`.
    ///
    /// # Errors
    /// When that process is gone, belongs to somebody else or has no such descriptor.
    pub fn open(pid: u32, fd: u32) -> Result<Self> {
        let path = format!("/proc/{pid}/fd/{fd}");
        let what = || format!("cannot open the job's shared memory {path}");
        let file =
            OpenOptions::new().read(true).write(true).open(&path).map_err(|e| Error::new(what(), e))?;
        let bytes = file.metadata().map_err(|e| Error::new(what(), e))?.len() as usize;
        Self::map(file, bytes)
    }

    fn map(file: File, bytes: usize) -> Result<Self> {
        let (read_write, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, read_write, shared, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(Error::last(format!("cannot map {bytes} bytes of shared memory")));
        }
        Ok(Self { base: base as usize, bytes, file: Some(file) })
    }

    /// The descriptor's number, for those who open it by `/proc`.
    ///
    /// # Panics
    /// After [`Segment::close`].
    #[must_use]
    pub fn descriptor(&self) -> u32 {
        match &self.file {
            Some(file) => file.as_raw_fd() as u32,
            None => panic!("the segment's descriptor has been closed"),
        }
    }

    /// Closes the descriptor: everybody has mapped the segment, which stays as it is.
    pub fn close(&mut self) {
        self.file = None;
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The 32-bit word at byte `offset`.
    ///
    /// # Panics
    /// When `offset` is not aligned or not inside.
    #[inline]
    #[must_use]
    pub fn word32(&self, offset: usize) -> &AtomicU32 {
        assert!(
            offset.is_multiple_of(4) && offset + 4 <= self.bytes,
            "offset {offset} is not in the segment"
        );
        // SAFETY: inside the mapping, aligned, and only ever touched as an atomic.
        unsafe { &*((self.base + offset) as *const AtomicU32) }
    }

    /// The 64-bit word at byte `offset`.
    ///
    /// # Panics
    /// When `offset` is not aligned or not inside.
    #[inline]
    #[must_use]
    pub fn word64(&self, offset: usize) -> &AtomicU64 {
        let [word] = self.words64(offset);
        word
    }

    /// The 64-bit words from byte `offset` on.
    ///
    /// # Panics
    /// When `offset` is not aligned or they are not all inside.
    #[inline]
    #[must_use]
    pub fn words64<const N: usize>(&self, offset: usize) -> &[AtomicU64; N] {
        assert!(
            offset.is_multiple_of(8) && offset + 8 * N <= self.bytes,
            "offset {offset} is not in the segment"
        );
        // SAFETY: inside the mapping, aligned, and only ever touched as atomics.
        unsafe { &*((self.base + offset) as *const [AtomicU64; N]) }
    }

    /// The place of `bytes` bytes at `offset`, for copying in and out.
    ///
    /// # Panics
    /// When they are not all inside.
    #[inline]
    #[must_use]
    pub fn place(&self, offset: usize, bytes: usize) -> UserMemory {
        assert!(
            offset <= self.bytes && bytes <= self.bytes - offset,
            "{offset}+{bytes} is not in the segment"
        );
        // SAFETY: the mapping lives as long as the segment, and peers agree by protocol who writes when.
        unsafe { UserMemory::new(self.base + offset) }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrowed from `self` outlives it.
        unsafe { libc::munmap(self.base as *mut libc::c_void, self.bytes) };
    }
}

/// The error for a segment that is not what it should be.
pub(crate) fn malformed(what: &str) -> Error {
    Error::new(what.to_owned(), io::Error::from(io::ErrorKind::InvalidData))
}
