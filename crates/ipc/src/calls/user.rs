//! Memory of the program, as system calls take it: what can be no memory of a program is answered with `EFAULT`.
//!
//! Addresses that no program can have are seen at once. Whether a page is there is asked of the system, by a call that only reads eight bytes, except for
//! pages near the stack and the page that was asked for last.
#![allow(unsafe_code)]

use std::cell::Cell;

use crate::semantics::semaphores::Operation;
use crate::space::{Bytes, Result};

/// No page of a program is below.
const LOWEST: usize = 0x1000;
/// Nor above.
const HIGHEST: usize = 0x7fff_ffff_f000;
const PAGE: usize = 4096;
/// The stack is surely there so far above what is used of it.
const NEAR_STACK: usize = 4096;

/// What is plain data.
///
/// # Safety
/// All bytes make a value.
pub unsafe trait Plain: Copy {}
// SAFETY: structures of numbers.
unsafe impl Plain for libc::msqid_ds {}
// SAFETY: as above.
unsafe impl Plain for libc::semid_ds {}
// SAFETY: as above.
unsafe impl Plain for libc::shmid_ds {}
// SAFETY: as above.
unsafe impl Plain for libc::timespec {}
// SAFETY: as above.
unsafe impl Plain for libc::ipc_perm {}
// SAFETY: as above.
unsafe impl Plain for Operation {}
// SAFETY: as above.
unsafe impl Plain for i64 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl<const N: usize> Plain for [i32; N] {}
// SAFETY: as above.
unsafe impl<const N: usize> Plain for [u64; N] {}

thread_local! {
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// Fails unless this can be memory of the program.
pub fn check(address: usize, bytes: usize) -> Result<Bytes> {
    let end = address.checked_add(bytes).filter(|end| *end <= HIGHEST).ok_or(libc::EFAULT)?;
    if bytes == 0 {
        return Ok(Bytes { address, bytes });
    }
    if address < LOWEST {
        return Err(libc::EFAULT);
    }
    let (first, last) = (address / PAGE, (end - 1) / PAGE);
    is_there(first)?;
    if last != first {
        is_there(last)?;
    }
    Ok(Bytes { address, bytes })
}

fn is_there(page: usize) -> Result<()> {
    let here = 0_u8;
    let stack = std::ptr::from_ref(&here) as usize;
    let near = page * PAGE + PAGE > stack && page * PAGE < stack + NEAR_STACK;
    if near || LAST.get() == page {
        return Ok(());
    }
    // SAFETY: the system reads a set of signals at the address, or says that it cannot, and then finds that -1 is nothing that can be done with it.
    let result = unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, -1, page * PAGE, std::ptr::null_mut::<u8>(), 8_usize)
    };
    if result != 0 && crate::space::system::errno() == libc::EFAULT {
        return Err(libc::EFAULT);
    }
    LAST.set(page);
    Ok(())
}

/// Copies from the program.
pub fn read<T: Plain>(address: usize) -> Result<T> {
    check(address, size_of::<T>())?;
    // SAFETY: memory of the program, and data that may be anything.
    Ok(unsafe { (address as *const T).read_unaligned() })
}

/// Copies to the program.
pub fn write<T: Plain>(address: usize, value: T) -> Result<()> {
    check(address, size_of::<T>())?;
    // SAFETY: memory of the program.
    unsafe { (address as *mut T).write_unaligned(value) };
    Ok(())
}

/// A structure of zeros.
pub fn zeros<T: Plain>() -> T {
    // SAFETY: plain data.
    unsafe { std::mem::zeroed() }
}

/// Inode and device of a file.
pub fn file_of(path: &std::ffi::CStr) -> Result<(u64, u64)> {
    let mut facts: libc::stat = {
        // SAFETY: a structure of numbers.
        unsafe { std::mem::zeroed() }
    };
    // SAFETY: a path that ends, and a place on the stack.
    match unsafe { libc::stat(path.as_ptr(), &raw mut facts) } {
        0 => Ok((facts.st_ino, facts.st_dev)),
        _ => Err(crate::space::system::errno()),
    }
}
