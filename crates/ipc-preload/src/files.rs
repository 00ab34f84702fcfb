//! The files in which the system shows its objects and limits, as they are in the name space; and `dlopen`, by which a library may be loaded past this one.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use postrider_ipc::calls::tables;
use postrider_os::next::Next;

use crate::space;

/// A descriptor of what a file says in the name space, if it is one of those.
fn instead_of(path: *const c_char) -> Option<c_int> {
    if path.is_null() {
        return None;
    }
    // SAFETY: a path that ends, as the callers of the C functions promise.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    if !path.starts_with(b"/proc/sys") {
        return None;
    }
    let text = CString::new(tables::text_of(space()?, std::str::from_utf8(path).ok()?)?).ok()?;
    // SAFETY: a file of memory, and a text that is as long as is said.
    unsafe {
        let file = libc::memfd_create(c"sysvipc".as_ptr(), libc::MFD_CLOEXEC);
        let bytes = text.as_bytes();
        let written = libc::pwrite(file, bytes.as_ptr().cast(), bytes.len(), 0);
        (written == bytes.len() as isize).then_some(file)
    }
}

/// Functions that open a file by its path.
macro_rules! opens {
    ($($name:ident = $text:literal),*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(path: *const c_char, flags: c_int, mode: u32) -> c_int {
                type Open = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;
                static NEXT: Next = Next::new($text);
                instead_of(path).unwrap_or_else(|| {
                    // SAFETY: its type in C, and what the caller has given.
                    unsafe { NEXT.get::<Open>()(path, flags, mode) }
                })
            }
        )*
    };
}
opens!(open = c"open", open64 = c"open64");

/// Functions that open a file below a directory.
macro_rules! opens_at {
    ($($name:ident = $text:literal),*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(directory: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int {
                type Open = unsafe extern "C" fn(c_int, *const c_char, c_int, ...) -> c_int;
                static NEXT: Next = Next::new($text);
                instead_of(path).unwrap_or_else(|| {
                    // SAFETY: its type in C, and what the caller has given.
                    unsafe { NEXT.get::<Open>()(directory, path, flags, mode) }
                })
            }
        )*
    };
}
opens_at!(openat = c"openat", openat64 = c"openat64");

/// Functions that open a stream.
macro_rules! streams {
    ($($name:ident = $text:literal),*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(path: *const c_char, mode: *const c_char) -> *mut c_void {
                type Stream = extern "C" fn(*const c_char, *const c_char) -> *mut c_void;
                static NEXT: Next = Next::new($text);
                match instead_of(path) {
                    // SAFETY: a descriptor that nobody else has.
                    Some(file) => unsafe { libc::fdopen(file, c"r".as_ptr()).cast() },
                    // SAFETY: its type in C.
                    None => (unsafe { NEXT.get::<Stream>() })(path, mode),
                }
            }
        )*
    };
}
streams!(fopen = c"fopen", fopen64 = c"fopen64");

/// A library that is loaded with names of its own first would have the system's functions.
#[unsafe(no_mangle)]
extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
    type Dlopen = extern "C" fn(*const c_char, c_int) -> *mut c_void;
    static NEXT: Next = Next::new(c"dlopen");
    // SAFETY: its type in C.
    let next: Dlopen = unsafe { NEXT.get() };
    next(path, if space().is_some() { flags & !libc::RTLD_DEEPBIND } else { flags })
}
