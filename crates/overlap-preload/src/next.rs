//! The functions in whose place ours work: those of the next library that has their names.

use core::ffi::{CStr, c_void};
use std::io::Write as _;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

/// A name, and the next function that has it.
#[repr(C)]
pub struct Next {
    name: &'static CStr,
    /// Null until it has been looked up.
    pub address: AtomicPtr<c_void>,
}

impl Next {
    /// One that has not been looked up.
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// The address of the function. A program that calls one that is nowhere else ends here.
    pub fn address(&self) -> *mut c_void {
        let known = self.address.load(Acquire);
        if !known.is_null() {
            return known;
        }
        // SAFETY: a name that ends.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            let name = self.name.to_string_lossy();
            let line = format!(
                "postrider: {name} is called, but no library behind libpostrider_overlap.so has it\n"
            );
            let _nobody_reads_it = std::io::stderr().write_all(line.as_bytes());
            std::process::abort();
        }
        self.address.store(found, Release);
        found
    }
}

/// The next function of this name, which has not been looked up.
macro_rules! next_of {
    ($name:ident) => {
        $crate::next::Next::new(
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name without an end"),
            },
        )
    };
}
pub(crate) use next_of;

/// The next function of a name, as a function with this type, which whoever asks says it has.
macro_rules! next {
    ($name:ident: fn($($type:ty),* $(,)?) -> $result:ty) => {{
        static NEXT: $crate::next::Next = $crate::next::next_of!($name);
        core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($type),*) -> $result>(NEXT.address())
    }};
}
pub(crate) use next;
