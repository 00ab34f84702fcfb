//! The system itself, past the names that this library has taken: std calls some of them.

use std::ffi::{CStr, c_int, c_long};

use postrider_ipc::space::Result;
use postrider_os::next::system_call;

/// Makes a call with up to six arguments.
pub fn call(number: c_long, arguments: &[c_long]) -> Result<i64> {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    // SAFETY: what the program has asked for.
    let result = unsafe { system_call(number, all) };
    match result {
        -4095..=-1 => Err(-result as i32),
        result => Ok(result),
    }
}

/// The error of this thread.
pub fn errno() -> c_int {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() }
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
