//! Calls of the system with memory that may be taken away for another host meanwhile: the system would answer `EFAULT`, so they get memory of the
//! process, from which or to which is copied.
//!
//! All are declared such that a thread may end in them by `pthread_cancel`.

use std::ffi::{c_int, c_void};

use postrider_ipc::space::pages::may_be_taken;
use postrider_os::next::Next;

/// Memory that stands for some of the program's.
pub struct Instead(Vec<u8>);

impl Instead {
    /// What is there now.
    pub fn copy_of(address: usize, bytes: usize) -> Self {
        let mut all = Vec::with_capacity(bytes);
        // SAFETY: memory of the program, as the caller of the C function promises, and as much room.
        unsafe {
            core::ptr::copy_nonoverlapping(address as *const u8, all.as_mut_ptr(), bytes);
            all.set_len(bytes);
        }
        Self(all)
    }

    /// Room for as much.
    pub fn room(bytes: usize) -> Self {
        Self(vec![0; bytes])
    }

    /// Where it is.
    pub fn address(&mut self) -> usize {
        self.0.as_mut_ptr() as usize
    }

    /// Copies so many bytes from a place in it to the program.
    pub fn copy_to(&self, address: usize, at: usize, bytes: usize) {
        let part = &self.0[at..at + bytes];
        // SAFETY: memory of the program, as the caller of the C function promises.
        unsafe { core::ptr::copy_nonoverlapping(part.as_ptr(), address as *mut u8, part.len()) };
    }
}

/// Calls with one part of memory, of `bytes` bytes at `buffer`, and whether they send it.
macro_rules! single {
    ($($name:ident($($before:ident: $type:ty),*; buffer, bytes $(; $($after:ident: $more:ty),*)?) = $text:literal, $sends:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name($($before: $type,)* buffer: usize, bytes: usize $($(, $after: $more)*)?) -> isize {
                type Call = extern "C-unwind" fn($($type,)* usize, usize $($(, $more)*)?) -> isize;
                static NEXT: Next = Next::new($text);
                // SAFETY: its type in C.
                let next: Call = unsafe { NEXT.get() };
                if !may_be_taken(buffer, bytes) {
                    return next($($before,)* buffer, bytes $($(, $after)*)?);
                }
                let part = libc::iovec { iov_base: buffer as *mut c_void, iov_len: bytes };
                with_one(&[part], $sends, |one| next($($before,)* one.iov_base as usize, bytes $($(, $after)*)?))
            }
        )*
    };
}
single! {
    write(file: c_int; buffer, bytes) = c"write", true;
    pwrite(file: c_int; buffer, bytes; at: i64) = c"pwrite", true;
    pwrite64(file: c_int; buffer, bytes; at: i64) = c"pwrite64", true;
    send(socket: c_int; buffer, bytes; flags: c_int) = c"send", true;
    sendto(socket: c_int; buffer, bytes; flags: c_int, address: usize, length: u32) = c"sendto", true;
    read(file: c_int; buffer, bytes) = c"read", false;
    pread(file: c_int; buffer, bytes; at: i64) = c"pread", false;
    pread64(file: c_int; buffer, bytes; at: i64) = c"pread64", false;
    recv(socket: c_int; buffer, bytes; flags: c_int) = c"recv", false;
    recvfrom(socket: c_int; buffer, bytes; flags: c_int, address: usize, length: usize) = c"recvfrom", false;
}

/// Elements of a stream.
type Elements = extern "C-unwind" fn(usize, usize, usize, *mut c_void) -> usize;

#[unsafe(no_mangle)]
extern "C-unwind" fn fread(buffer: usize, size: usize, count: usize, stream: *mut c_void) -> usize {
    static NEXT: Next = Next::new(c"fread");
    // SAFETY: its type in C.
    let next: Elements = unsafe { NEXT.get() };
    let bytes = size.saturating_mul(count);
    if !may_be_taken(buffer, bytes) {
        return next(buffer, size, count, stream);
    }
    // What is there stays where less is read.
    let mut instead = Instead::copy_of(buffer, bytes);
    let read = next(instead.address(), size, count, stream);
    instead.copy_to(buffer, 0, if read == count { bytes } else { (read + 1) * size });
    read
}

#[unsafe(no_mangle)]
extern "C-unwind" fn fwrite(buffer: usize, size: usize, count: usize, stream: *mut c_void) -> usize {
    static NEXT: Next = Next::new(c"fwrite");
    // SAFETY: its type in C.
    let next: Elements = unsafe { NEXT.get() };
    let bytes = size.saturating_mul(count);
    if !may_be_taken(buffer, bytes) {
        return next(buffer, size, count, stream);
    }
    let mut instead = Instead::copy_of(buffer, bytes);
    next(instead.address(), size, count, stream)
}

/// Parts of the program's memory, as the program has them in a list.
fn parts(list: *const libc::iovec, count: usize) -> &'static [libc::iovec] {
    if list.is_null() || count == 0 || count > libc::UIO_MAXIOV as usize {
        return &[];
    }
    // SAFETY: the list of the caller of the C function, which is there as long as the call.
    unsafe { core::slice::from_raw_parts(list, count) }
}

fn any_may_be_taken(parts: &[libc::iovec]) -> bool {
    parts.iter().any(|part| may_be_taken(part.iov_base as usize, part.iov_len))
}

/// A call with other memory in one part: what is sent is gathered before, and what is received is scattered afterwards.
fn with_one(parts: &[libc::iovec], sends: bool, call: impl FnOnce(libc::iovec) -> isize) -> isize {
    let bytes: usize = parts.iter().map(|part| part.iov_len).sum();
    let mut instead = Instead::room(if sends { 0 } else { bytes });
    if sends {
        for part in parts {
            instead.0.append(&mut Instead::copy_of(part.iov_base as usize, part.iov_len).0);
        }
    }
    let done = call(libc::iovec { iov_base: instead.address() as *mut c_void, iov_len: bytes });
    // With MSG_TRUNC a call says how long a message was of which there is less.
    let (mut at, all) = (0, usize::try_from(done).unwrap_or(0).min(bytes));
    for part in parts.iter().filter(|_| !sends) {
        let some = part.iov_len.min(all - at);
        instead.copy_to(part.iov_base as usize, at, some);
        at += some;
    }
    done
}

/// Calls with a list of parts.
macro_rules! vectors {
    ($($name:ident = $text:literal, $sends:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name(file: c_int, list: *const libc::iovec, count: c_int) -> isize {
                type Call = extern "C-unwind" fn(c_int, *const libc::iovec, c_int) -> isize;
                static NEXT: Next = Next::new($text);
                // SAFETY: its type in C.
                let next: Call = unsafe { NEXT.get() };
                let parts = parts(list, usize::try_from(count).unwrap_or(0));
                match any_may_be_taken(parts) {
                    false => next(file, list, count),
                    true => with_one(parts, $sends, |one| next(file, &raw const one, 1)),
                }
            }
        )*
    };
}
vectors! {
    readv = c"readv", false;
    writev = c"writev", true;
}

/// Calls with a message of a socket.
macro_rules! messages {
    ($($name:ident = $text:literal, $sends:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name(socket: c_int, message: *mut libc::msghdr, flags: c_int) -> isize {
                type Call = extern "C-unwind" fn(c_int, *mut libc::msghdr, c_int) -> isize;
                static NEXT: Next = Next::new($text);
                // SAFETY: its type in C.
                let next: Call = unsafe { NEXT.get() };
                // SAFETY: the argument of the caller of the C function.
                let Some(its) = (unsafe { message.as_mut() }) else { return next(socket, message, flags) };
                let (list, count) = (its.msg_iov, its.msg_iovlen);
                let parts = parts(list, count as usize);
                if !any_may_be_taken(parts) {
                    return next(socket, message, flags);
                }
                with_one(parts, $sends, |mut one| {
                    (its.msg_iov, its.msg_iovlen) = (&raw mut one, 1);
                    let done = next(socket, its, flags);
                    (its.msg_iov, its.msg_iovlen) = (list, count);
                    done
                })
            }
        )*
    };
}
messages! {
    sendmsg = c"sendmsg", true;
    recvmsg = c"recvmsg", false;
}
