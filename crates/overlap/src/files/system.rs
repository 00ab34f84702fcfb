//! System calls, by their numbers: the names of the C library are where this layer stands itself.

use std::cell::Cell;
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::Duration;

/// What a system call has returned, or its error.
fn result(returned: libc::c_long) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

/// How often the program has changed what of its memory is there. Memory that it has freed is none that it may still write from, so that
/// only its own calls of the system count.
static MAP_CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The page that the last small write came from, and how often memory had been changed then.
    static READABLE: Cell<(Option<usize>, u64)> = const { Cell::new((None, 0)) };
}

/// The program has changed what of its memory is there.
pub fn changed_memory() {
    MAP_CHANGES.fetch_add(1, AcqRel);
}

/// Bytes of the program: some areas of its memory, of which nobody knows yet whether they are there.
pub struct Memory {
    areas: Vec<libc::iovec>,
    length: usize,
}

impl Memory {
    /// One area.
    pub fn one(start: *const libc::c_void, length: usize) -> Self {
        Self { areas: vec![libc::iovec { iov_base: start.cast_mut(), iov_len: length }], length }
    }

    /// Those that an array of the program's names; `None` if it is not there or cannot be right.
    pub fn listed(array: *const libc::iovec, count: libc::c_int) -> Option<Self> {
        let count = usize::try_from(count).ok().filter(|count| (1..=1024).contains(count))?;
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut areas = vec![nothing; count];
        let bytes = size_of_val(areas.as_slice());
        let from = libc::iovec { iov_base: array.cast_mut().cast(), iov_len: bytes };
        let to = libc::iovec { iov_base: areas.as_mut_ptr().cast(), iov_len: bytes };
        if copied(&[from], &[to])? != bytes {
            return None;
        }
        let length = areas.iter().try_fold(0usize, |sum, area| sum.checked_add(area.iov_len))?;
        Some(Self { areas, length })
    }

    /// How many bytes they are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Copies all of them; `false` if not all are there. Memory that may not be read is an error here, and no signal.
    pub fn copy_to(&self, places: &mut [&mut [u8]]) -> bool {
        let page = self.page();
        let known = (page, MAP_CHANGES.load(Acquire));
        if let ([area], [place], Some(_)) = (self.areas.as_slice(), &mut *places, page)
            && READABLE.get() == known
        {
            // SAFETY: this page could be read a moment ago, and the program has not changed its memory since.
            unsafe { place.as_mut_ptr().copy_from(area.iov_base.cast(), self.length) };
            return true;
        }
        let as_area =
            |place: &mut &mut [u8]| libc::iovec { iov_base: place.as_mut_ptr().cast(), iov_len: place.len() };
        let places: Vec<libc::iovec> = places.iter_mut().map(as_area).collect();
        let is_done = copied(&self.areas, &places) == Some(self.length);
        if is_done && page.is_some() {
            READABLE.set(known);
        }
        is_done
    }

    /// The page in which all of them are, if it is one.
    fn page(&self) -> Option<usize> {
        const PAGE_BYTES: usize = 4096;
        let [area] = self.areas.as_slice() else { return None };
        let (first, last) =
            (area.iov_base as usize, (area.iov_base as usize).checked_add(self.length.max(1) - 1)?);
        (first / PAGE_BYTES == last / PAGE_BYTES).then_some(first / PAGE_BYTES)
    }
}

/// Has the system copy from areas that may not be there; `None` if it refuses.
fn copied(from: &[libc::iovec], to: &[libc::iovec]) -> Option<usize> {
    // SAFETY: the call checks the areas that it reads; what it writes to is memory of the caller's, of these lengths.
    let copied = unsafe {
        let own = libc::syscall(libc::SYS_getpid);
        libc::syscall(
            libc::SYS_process_vm_readv,
            own,
            to.as_ptr(),
            to.len(),
            from.as_ptr(),
            from.len(),
            0_usize,
        )
    };
    usize::try_from(copied).ok()
}

/// Which file it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity {
    /// The file system, as `st_dev`.
    pub device: u64,
    /// The file in it, as `st_ino`.
    pub inode: u64,
}

/// The file behind a descriptor or, with one of a folder, a path, as far as this host knows; `None` if it is no regular one. No request is
/// made for it where the file system's cache has the answer.
fn looked_up(folder: i32, path: &CStr, flags: i32) -> Option<Identity> {
    let flags = flags | libc::AT_STATX_DONT_SYNC;
    // SAFETY: a path that ends, and a place for the result, which is valid as zeros.
    let found = unsafe {
        let mut found: libc::statx = std::mem::zeroed();
        let mask = libc::STATX_TYPE | libc::STATX_INO;
        let code = libc::syscall(libc::SYS_statx, folder, path.as_ptr(), flags, mask, &raw mut found);
        (code == 0).then_some(found)?
    };
    let is_regular = u32::from(found.stx_mode) & libc::S_IFMT == libc::S_IFREG;
    let device = libc::makedev(found.stx_dev_major, found.stx_dev_minor);
    is_regular.then_some(Identity { device, inode: found.stx_ino })
}

/// The regular file behind a descriptor.
pub fn identity(descriptor: i32) -> Option<Identity> {
    looked_up(descriptor, c"", libc::AT_EMPTY_PATH)
}

/// The regular file that a path leads to.
pub fn identity_of(folder: i32, path: &CStr) -> Option<Identity> {
    looked_up(folder, path, 0)
}

/// Whether the file is on a file system of a kind that asks a server: FUSE, NFS, SMB, Ceph, Lustre, GPFS, BeeGFS, 9P, AFS.
pub fn is_remote(descriptor: i32) -> bool {
    const KINDS: [u32; 10] = [
        0x6573_5546,
        0x6969,
        0xff53_4d42,
        0xfe53_4d42,
        0x00c3_6400,
        0x0bd0_0bd0,
        0x4750_4653,
        0x1983_0326,
        0x0102_1997,
        0x5346_414f,
    ];
    let mut found = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: a place for the result, which is valid as zeros, too.
    unsafe {
        let done = libc::syscall(libc::SYS_fstatfs, descriptor, found.as_mut_ptr()) == 0;
        done && KINDS.contains(&(found.assume_init().f_type as u32))
    }
}

/// The flags of an open file.
pub fn flags(descriptor: i32) -> i32 {
    // SAFETY: no memory is passed.
    unsafe { libc::syscall(libc::SYS_fcntl, descriptor, libc::F_GETFL) as i32 }
}

/// Moves the file's offset on, and returns where it is then.
pub fn advance(descriptor: i32, bytes: i64) -> Option<u64> {
    // SAFETY: no memory is passed.
    let offset = unsafe { libc::syscall(libc::SYS_lseek, descriptor, bytes, libc::SEEK_CUR) };
    u64::try_from(offset).ok()
}

/// Another descriptor of the same open file, with a number that few programs get to. Descriptors from 64 on make the system enlarge a table,
/// which takes it milliseconds where there are threads.
pub fn duplicate(descriptor: i32) -> Option<i32> {
    const FIRST: i32 = 48;
    // SAFETY: no memory is passed.
    let number = unsafe { libc::syscall(libc::SYS_fcntl, descriptor, libc::F_DUPFD_CLOEXEC, FIRST) };
    i32::try_from(number).ok().filter(|number| *number >= 0)
}

/// Closes a descriptor of the layer's.
pub fn close(descriptor: i32) -> io::Result<()> {
    // SAFETY: no memory is passed.
    result(unsafe { libc::syscall(libc::SYS_close, descriptor) }).map(drop)
}

/// Has the file system keep space for a range, without a change of the file's length.
pub fn reserve(descriptor: i32, range: &Range<u64>) -> io::Result<()> {
    let length = range.end - range.start;
    let mode = libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory is passed.
    result(unsafe { libc::syscall(libc::SYS_fallocate, descriptor, mode, range.start, length) }).map(drop)
}

/// Writes all of these bytes, and says in how many calls.
pub fn write_at(descriptor: i32, mut offset: u64, mut bytes: &[u8]) -> io::Result<u64> {
    let mut calls = 0;
    while !bytes.is_empty() {
        calls += 1;
        // SAFETY: the bytes are there as long as the call.
        let written = result(unsafe {
            libc::syscall(libc::SYS_pwrite64, descriptor, bytes.as_ptr(), bytes.len(), offset)
        });
        match written {
            Ok(0) => return Err(io::Error::from_raw_os_error(libc::EIO)),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(calls)
}

/// Reads to a place, for the cache of the system.
pub fn read_at(descriptor: i32, offset: u64, place: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the place is there as long as the call.
    result(unsafe { libc::syscall(libc::SYS_pread64, descriptor, place.as_mut_ptr(), place.len(), offset) })
}

/// Whether a file may be as long as the file system allows.
pub fn has_no_limit() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place for the result.
    let code = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    code == 0 && limit.rlim_cur == libc::RLIM_INFINITY
}

/// The error number that the program sees.
pub fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or_default()
}

/// Sets it.
pub fn set_errno(number: i32) {
    // SAFETY: the place is this thread's.
    unsafe { *libc::__errno_location() = number };
}

/// Ends the process at once.
pub fn end(code: i32) -> ! {
    // SAFETY: no memory is passed.
    unsafe { libc::syscall(libc::SYS_exit_group, code) };
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}
