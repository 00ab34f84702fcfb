//! The system itself, past the names that this library has taken: std calls some of them.

use std::ffi::{CStr, c_int, c_long, c_void};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

use postrider_ipc::space::Result;

/// Makes a call with up to six arguments.
pub fn call(number: c_long, arguments: &[c_long]) -> Result<i64> {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    // SAFETY: what the program has asked for.
    let result = unsafe { raw(number, all) };
    match result {
        -4095..=-1 => Err(-result as i32),
        result => Ok(result),
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn raw(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> c_long {
    let result;
    // SAFETY: the system's way to be called, by the caller's promise.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
unsafe fn raw(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> c_long {
    let result;
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "svc 0",
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, in("x8") number,
            options(nostack)
        );
    }
    result
}

/// Sets the error of this thread.
pub fn set_errno(error: c_int) {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() = error };
}

/// The value of an environment variable, also before the program has started.
pub fn variable(name: &str) -> Option<Vec<u8>> {
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: a name that ends; the value is copied.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null())
            .then(|| CStr::from_ptr(value).to_bytes().to_vec())
            .filter(|value| !value.is_empty())
    }
}

/// The function that a name has in the next library.
pub struct Next(&'static CStr, AtomicPtr<c_void>);

impl Next {
    /// By its name.
    pub const fn new(name: &'static CStr) -> Self {
        Self(name, AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The function.
    ///
    /// # Safety
    /// It has this type.
    pub unsafe fn get<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let mut address = self.1.load(Acquire);
        if address.is_null() {
            // SAFETY: a name that ends.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.0.as_ptr()) };
            assert!(!address.is_null(), "{:?} is in no library", self.0);
            self.1.store(address, Release);
        }
        // SAFETY: a pointer to a function of this type, by the caller's promise.
        unsafe { std::mem::transmute_copy(&address) }
    }
}
