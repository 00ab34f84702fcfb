//! Streams of the C library that are written. The library makes their calls inside itself, where nobody can stand, so a stream that is opened for
//! writing on a file system that may be slow is one with functions of ours (`fopencookie`), which call the names of this
//! library. In everything else it is the stream that `fopen` would have made: its buffer has the same size, `fileno` knows its descriptor, and it
//! turns into a stream of the library's own when it is opened again or gets wide characters. For that it has what `fopen` gives and
//! `fopencookie` does not, from a stream that `fdopen` makes. Where these things are in a stream has never changed, since macros of programs look there; it is
//! checked all the same.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use libc::{FILE, off64_t, size_t, ssize_t};
use postrider_overlap::files;

use crate::files::{close, lseek64, open64, write};
use crate::next::next;

/// Where a stream has its descriptor, its wide part, and whether it has characters or wide ones.
const DESCRIPTOR_AT: usize = 112;
const WIDE_PART_AT: usize = 160;
const ORIENTATION_AT: usize = 192;
/// What `fopencookie` writes there.
const NO_DESCRIPTOR: c_int = -2;
const NARROW: c_int = -1;
/// What `fopen` takes for a buffer at most.
const BUFFER_BYTES_MAX: usize = 8192;
/// Descriptors from here on have plain streams.
const STREAMS: usize = 1024;

/// The streams by their descriptors.
static OPEN: [AtomicPtr<FILE>; STREAMS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; STREAMS];
/// No descriptor from here on has ever had one.
static END: AtomicUsize = AtomicUsize::new(0);

/// The descriptors that may have one.
fn places() -> &'static [AtomicPtr<FILE>] {
    &OPEN[..END.load(Acquire)]
}

/// What the functions of a stream get.
struct Cookie {
    descriptor: c_int,
    /// Whose wide part the stream has.
    donor: *mut FILE,
    buffer: Vec<c_char>,
}

#[repr(C)]
struct Functions {
    read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, size_t) -> ssize_t>,
    write: unsafe extern "C" fn(*mut c_void, *const c_char, size_t) -> ssize_t,
    seek: unsafe extern "C" fn(*mut c_void, *mut off64_t, c_int) -> c_int,
    close: unsafe extern "C" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut FILE;
}

/// A word of a stream.
///
/// # Safety
/// It is a stream.
unsafe fn word<T>(stream: *mut FILE, at: usize) -> *mut T {
    // SAFETY: a stream is longer than that.
    unsafe { stream.cast::<u8>().add(at).cast() }
}

/// `fopen` for a mode that only writes; `None` for others, and where files are left alone.
///
/// # Safety
/// As for `fopen`.
pub unsafe fn open(path: *const c_char, mode: *const c_char) -> Option<*mut FILE> {
    if !files::works() || path.is_null() || mode.is_null() {
        return None;
    }
    // SAFETY: words that end; the descriptor is the stream's.
    unsafe {
        let flags = files::flags_of_stream(CStr::from_ptr(mode))?;
        let descriptor = open64(path, flags, 0o666);
        if descriptor < 0 {
            return Some(core::ptr::null_mut());
        }
        let stream = if files::may_be_slow(descriptor) { made(descriptor) } else { None };
        let stream = stream.unwrap_or_else(|| plain(descriptor, mode));
        if stream.is_null() {
            let errno = files::system::errno();
            close(descriptor);
            files::system::set_errno(errno);
        }
        Some(stream)
    }
}

/// A stream of the C library's own.
///
/// # Safety
/// The descriptor is the stream's.
unsafe fn plain(descriptor: c_int, mode: *const c_char) -> *mut FILE {
    files::step_aside(descriptor, "it is a stream of the C library");
    // SAFETY: as `fopen`.
    unsafe { next!(fdopen: fn(c_int, *const c_char) -> *mut FILE)(descriptor, mode) }
}

/// A stream whose calls come here, if the C library makes one as it always has.
///
/// # Safety
/// The descriptor is the stream's.
unsafe fn made(descriptor: c_int) -> Option<*mut FILE> {
    let at = usize::try_from(descriptor).ok()?;
    let place = OPEN.get(at)?;
    // SAFETY: a place for the result; streams that were made here, and that nobody else has.
    unsafe {
        let mut found: libc::stat = core::mem::zeroed();
        if libc::fstat(descriptor, &raw mut found) != 0 {
            return None;
        }
        let donor = next!(fdopen: fn(c_int, *const c_char) -> *mut FILE)(descriptor, c"w".as_ptr());
        if donor.is_null() {
            return None;
        }
        let bytes = usize::try_from(found.st_blksize).unwrap_or_default();
        let bytes = if (1..BUFFER_BYTES_MAX).contains(&bytes) { bytes } else { BUFFER_BYTES_MAX };
        let cookie = Box::into_raw(Box::new(Cookie { descriptor, donor, buffer: vec![0; bytes] }));
        let stream =
            fopencookie(cookie.cast(), c"w".as_ptr(), Functions { read: None, write: put, seek, close: end });
        let is_known = !stream.is_null()
            && *word::<c_int>(stream, DESCRIPTOR_AT) == NO_DESCRIPTOR
            && *word::<c_int>(stream, ORIENTATION_AT) == NARROW
            && *word::<c_int>(donor, DESCRIPTOR_AT) == descriptor
            && *word::<c_int>(donor, ORIENTATION_AT) == 0
            && !(*word::<*mut c_void>(donor, WIDE_PART_AT)).is_null();
        if !is_known {
            (*cookie).descriptor = -1;
            if stream.is_null() {
                end(cookie.cast());
            } else {
                libc::fclose(stream);
            }
            return None;
        }
        *word(stream, DESCRIPTOR_AT) = descriptor;
        *word(stream, ORIENTATION_AT) = 0;
        *word(stream, WIDE_PART_AT) = *word::<*mut c_void>(donor, WIDE_PART_AT);
        libc::setvbuf(stream, (*cookie).buffer.as_mut_ptr(), libc::_IOFBF, bytes);
        place.store(stream, Release);
        END.fetch_max(at + 1, AcqRel);
        Some(stream)
    }
}

/// Before a stream gets wide characters: one that has had no characters yet becomes one of the C library's own then.
pub fn widen() {
    for (descriptor, place) in (0..).zip(places()) {
        let stream = place.load(Acquire);
        // SAFETY: a stream that is open.
        if !stream.is_null() && unsafe { *word::<c_int>(stream, ORIENTATION_AT) } == 0 {
            leave(stream);
            files::step_aside(descriptor, "it has wide characters");
        }
    }
}

/// The descriptor of a stream that was made here, which is one of the C library's own from now on. All that was written to it is in its file.
pub fn leave(stream: *mut FILE) -> Option<c_int> {
    let place = places().iter().find(|place| !stream.is_null() && place.load(Acquire) == stream)?;
    // SAFETY: a stream that is open.
    unsafe { libc::fflush(stream) };
    place.store(core::ptr::null_mut(), Release);
    // SAFETY: as above.
    Some(unsafe { *word(stream, DESCRIPTOR_AT) })
}

unsafe extern "C" fn put(cookie: *mut c_void, memory: *const c_char, length: size_t) -> ssize_t {
    let mut done = 0;
    while done < length {
        // SAFETY: the cookie of a stream that is open, and bytes of its buffer or of the program's.
        let written =
            unsafe { write((*cookie.cast::<Cookie>()).descriptor, memory.add(done).cast(), length - done) };
        if written < 0 {
            break;
        }
        done += written as usize;
    }
    done as ssize_t
}

unsafe extern "C" fn seek(cookie: *mut c_void, offset: *mut off64_t, whence: c_int) -> c_int {
    // SAFETY: the cookie of a stream that is open, and the place that it gives.
    unsafe {
        let place = lseek64((*cookie.cast::<Cookie>()).descriptor, *offset, whence);
        if place < 0 {
            return -1;
        }
        *offset = place;
        0
    }
}

unsafe extern "C" fn end(cookie: *mut c_void) -> c_int {
    // SAFETY: nobody has the cookie any more, or the donor, whose descriptor is not its own.
    unsafe {
        let cookie = Box::from_raw(cookie.cast::<Cookie>());
        *word(cookie.donor, DESCRIPTOR_AT) = -1;
        libc::fclose(cookie.donor);
        let Ok(at) = usize::try_from(cookie.descriptor) else { return 0 };
        OPEN[at].store(core::ptr::null_mut(), Release);
        close(cookie.descriptor)
    }
}
