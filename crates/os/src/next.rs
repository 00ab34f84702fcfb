//! For libraries that stand in the place of functions of others: the next function of a name, and the system itself, past the names that
//! are taken.

#![expect(
    clippy::disallowed_types,
    reason = "a look-up comes to the same whoever makes it, and stands in a static"
)]

use core::ffi::{CStr, c_int, c_long, c_void};
use core::mem::MaybeUninit;
use std::ffi::CString;
use std::io::Write as _;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

/// A name, and the next function that has it.
#[derive(Debug)]
#[repr(C)]
pub struct Next {
    name: &'static CStr,
    /// Null until it has been looked up.
    pub address: AtomicPtr<c_void>,
}

impl Next {
    /// One that has not been looked up.
    #[must_use]
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
        let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            found = in_any_scope(self.name);
        }
        if found.is_null() {
            let line = format!("postrider: no other library has {}\n", self.name.to_string_lossy());
            let _nobody_reads_it = std::io::stderr().write_all(line.as_bytes());
            std::process::abort();
        }
        self.address.store(found, Release);
        found
    }

    /// The function.
    ///
    /// # Safety
    /// It has this type.
    pub unsafe fn get<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let address = self.address();
        // SAFETY: a pointer to a function of this type, by the caller's promise.
        unsafe { core::mem::transmute_copy(&address) }
    }
}

/// The function of a library that was loaded without putting its names into the scope of the process, as language bindings do.
fn in_any_scope(name: &CStr) -> *mut c_void {
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: the function below, and the place that it gets.
    unsafe { libc::dl_iterate_phdr(Some(note_path), (&raw mut paths).cast()) };
    let own = object_of(in_any_scope as *const c_void);
    for path in paths {
        // SAFETY: NOLOAD loads nothing; what is loaded stays, since its handle is kept.
        let found = unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() { continue } else { libc::dlsym(library, name.as_ptr()) }
        };
        if !found.is_null() && object_of(found) != own {
            return found;
        }
    }
    core::ptr::null_mut()
}

/// Notes the path of an object that is loaded.
unsafe extern "C" fn note_path(object: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
    // SAFETY: the loader's description of an object, and the place that `in_any_scope` gives.
    unsafe {
        let path = (*object).dlpi_name;
        if !path.is_null() && *path != 0 {
            (*paths.cast::<Vec<CString>>()).push(CStr::from_ptr(path).to_owned());
        }
    }
    0
}

/// Where the object begins that an address lies in; 0 if there is none.
fn object_of(address: *const c_void) -> usize {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address, and a place for the result, which is valid as zeros too.
    unsafe {
        if libc::dladdr(address, found.as_mut_ptr()) == 0 {
            0
        } else {
            found.assume_init().dli_fbase as usize
        }
    }
}

/// A call of the system, which answers as the kernel does: from -4095 to -1 with the number of an error.
///
/// # Safety
/// What the call says of its arguments.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub unsafe fn system_call(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> c_long {
    let answer;
    // SAFETY: the system's way to be called, by the caller's promise.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    answer
}

/// A call of the system, which answers as the kernel does: from -4095 to -1 with the number of an error.
///
/// # Safety
/// What the call says of its arguments.
#[cfg(target_arch = "aarch64")]
#[must_use]
pub unsafe fn system_call(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> c_long {
    let answer;
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "svc 0",
            inlateout("x0") a => answer,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, in("x8") number,
            options(nostack)
        );
    }
    answer
}
