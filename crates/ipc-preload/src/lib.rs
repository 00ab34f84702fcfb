//! `libpostrider_ipc.so`: System V IPC of a name space, under the names of the C library.
//!
//! It is loaded before a program (`LD_PRELOAD`), and `POSTRIDER_IPC` names the directory of the name space. Without that variable every call goes on to
//! the system. This file has the twelve functions, `ftok`, and `syscall`; `processes` what makes, ends and waits for processes; `files`
//! the files in which the system shows its own objects, and `dlopen`.
//!
//! Variadic functions of C are declared with as many numbers as they may have: they are passed the same way.

mod buffers;
mod faults;
mod files;
mod processes;
mod system;

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use buffers::Instead;
use postrider_ipc::calls;
use postrider_ipc::calls::copied::{NUMBERS, TODAY};
use postrider_ipc::space::pages::may_be_taken;
use postrider_ipc::space::{Result, Space};

/// Environment variable: the directory of the name space.
const ENV_DIRECTORY: &str = "POSTRIDER_IPC";

/// The name space of this process, if it has one.
fn space() -> Option<&'static Space> {
    static SPACE: OnceLock<Option<Space>> = OnceLock::new();
    SPACE
        .get_or_init(|| {
            let directory = PathBuf::from(std::ffi::OsString::from_vec(system::variable(ENV_DIRECTORY)?));
            match Space::open(&directory) {
                Ok(space) => Some(space),
                Err(error) => {
                    eprintln!("postrider: the name space {}: {error}", directory.display());
                    std::process::exit(126);
                }
            }
        })
        .as_ref()
}

/// What C is told of a result.
fn told(result: Result<i64>) -> i64 {
    result.unwrap_or_else(|error| {
        system::set_errno(error);
        -1
    })
}

/// `shmat`; pages of other hosts are fetched by a signal.
fn attach(space: &'static Space, identifier: c_int, address: usize, flags: c_int) -> Result<i64> {
    if space.shares_pages() {
        faults::install();
    }
    calls::shmat(space, identifier, address, flags)
}

/// `msgsnd`. Nobody waits for a page while a queue is locked, so a message in a segment is copied before.
fn send(space: &Space, identifier: c_int, message: usize, bytes: usize, flags: c_int) -> Result<i64> {
    let whole = bytes.saturating_add(size_of::<c_long>());
    if bytes as u64 > space.limits().message_bytes || !may_be_taken(message, whole) {
        return calls::msgsnd(space, identifier, message, bytes, flags);
    }
    calls::msgsnd(space, identifier, Instead::copy_of(message, whole).address(), bytes, flags)
}

/// `msgrcv`; see [`send`].
fn receive(
    space: &Space,
    identifier: c_int,
    (message, bytes): (usize, usize),
    kind: c_long,
    flags: c_int,
) -> Result<i64> {
    let kind_bytes = size_of::<c_long>();
    let most = bytes.min(space.limits().message_bytes as usize);
    if !may_be_taken(message, kind_bytes + most) {
        return calls::msgrcv(space, identifier, message, bytes, kind, flags);
    }
    let mut instead = Instead::room(kind_bytes + most);
    let received = calls::msgrcv(space, identifier, instead.address(), most, kind, flags)?;
    instead.copy_to(message, 0, kind_bytes + received as usize);
    Ok(received)
}

/// A call of the name space, or of the system where there is none.
macro_rules! call {
    ($function:ident($($argument:expr),*), $number:expr) => {
        match space() {
            Some(space) => told(calls::$function(space, $($argument),*)),
            None => told(system::call($number, [$($argument as c_long),*].as_slice())),
        }
    };
}

#[unsafe(no_mangle)]
extern "C" fn msgget(key: c_int, flags: c_int) -> c_int {
    call!(msgget(key, flags), libc::SYS_msgget) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn msgsnd(identifier: c_int, message: usize, bytes: usize, flags: c_int) -> c_int {
    match space() {
        Some(space) => told(send(space, identifier, message, bytes, flags)) as c_int,
        None => call!(msgsnd(identifier, message, bytes, flags), libc::SYS_msgsnd) as c_int,
    }
}

#[unsafe(no_mangle)]
extern "C" fn msgrcv(identifier: c_int, message: usize, bytes: usize, kind: c_long, flags: c_int) -> isize {
    match space() {
        Some(space) => told(receive(space, identifier, (message, bytes), kind, flags)) as isize,
        None => call!(msgrcv(identifier, message, bytes, kind, flags), libc::SYS_msgrcv) as isize,
    }
}

#[unsafe(no_mangle)]
extern "C" fn msgctl(identifier: c_int, command: c_int, argument: usize) -> c_int {
    call!(msgctl(identifier, command, argument), libc::SYS_msgctl) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn semget(key: c_int, count: c_int, flags: c_int) -> c_int {
    call!(semget(key, count, flags), libc::SYS_semget) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn semop(identifier: c_int, operations: usize, count: usize) -> c_int {
    call!(semtimedop(identifier, operations, count, 0), libc::SYS_semtimedop) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn semtimedop(identifier: c_int, operations: usize, count: usize, time: usize) -> c_int {
    call!(semtimedop(identifier, operations, count, time), libc::SYS_semtimedop) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn semctl(identifier: c_int, number: c_int, command: c_int, argument: usize) -> c_int {
    call!(semctl(identifier, number, command, argument), libc::SYS_semctl) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn shmget(key: c_int, bytes: usize, flags: c_int) -> c_int {
    call!(shmget(key, bytes, flags), libc::SYS_shmget) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn shmat(identifier: c_int, address: usize, flags: c_int) -> *mut c_void {
    match space() {
        Some(space) => told(attach(space, identifier, address, flags)) as *mut c_void,
        None => call!(shmat(identifier, address, flags), libc::SYS_shmat) as *mut c_void,
    }
}

#[unsafe(no_mangle)]
extern "C" fn shmdt(address: usize) -> c_int {
    call!(shmdt(address), libc::SYS_shmdt) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn shmctl(identifier: c_int, command: c_int, argument: usize) -> c_int {
    call!(shmctl(identifier, command, argument), libc::SYS_shmctl) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ftok(path: *const c_char, number: c_int) -> c_int {
    // SAFETY: a path that ends, as the caller of the C function promises.
    let path = unsafe { CStr::from_ptr(path) };
    told(calls::ftok(space(), path, number).map(i64::from)) as c_int
}

/// Numbers of calls that programs make by themselves.
#[unsafe(no_mangle)]
extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    let (identifier, address) = (a as c_int, b as usize);
    // The name space itself is opened by calls of the system.
    let ours = if NUMBERS.contains(&number) { space() } else { None };
    let Some(space) = ours else {
        return told(system::call(number, &[a, b, c, d, e, f]));
    };
    told(match number {
        libc::SYS_msgget => calls::msgget(space, identifier, b as c_int),
        libc::SYS_msgsnd => send(space, identifier, address, c as usize, d as c_int),
        libc::SYS_msgrcv => receive(space, identifier, (address, c as usize), d, e as c_int),
        libc::SYS_msgctl => calls::msgctl(space, identifier, b as c_int & !TODAY, c as usize),
        libc::SYS_semget => calls::semget(space, identifier, b as c_int, c as c_int),
        libc::SYS_semop => calls::semtimedop(space, identifier, address, c as usize, 0),
        libc::SYS_semtimedop => calls::semtimedop(space, identifier, address, c as usize, d as usize),
        libc::SYS_semctl => calls::semctl(space, identifier, b as c_int, c as c_int & !TODAY, d as usize),
        libc::SYS_shmget => calls::shmget(space, identifier, b as usize, c as c_int),
        libc::SYS_shmat => attach(space, identifier, address, c as c_int),
        libc::SYS_shmdt => calls::shmdt(space, a as usize),
        _ => calls::shmctl(space, identifier, b as c_int & !TODAY, c as usize),
    })
}
