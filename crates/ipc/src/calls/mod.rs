//! The functions that programs know, over a name space. Arguments are those of the functions, with addresses as numbers; an error is its number.

mod control;
pub mod copied;
mod elsewhere;
pub mod tables;
pub mod user;

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

pub(crate) use control::{is_for_hosts, message_bytes_of, segment_bytes_of, set_bytes_of};
pub use control::{msgctl, semctl, shmctl};

use crate::semantics::limits::{OPERATIONS_MAX, SEMAPHORES_MAX};
use crate::semantics::messages::{COPY, EXCEPT, Wanted};
use crate::semantics::names;
use crate::semantics::semaphores::Operation;
use crate::space::{Bytes, Get, How, Kind, Result, Space};

/// `ftok`.
///
/// # Errors
/// What the system says of the file.
pub fn ftok(space: Option<&Space>, path: &CStr, number: i32) -> Result<i32> {
    let (inode, device) = user::file_of(path)?;
    if space.is_none_or(|space| space.host().all == 1) {
        return Ok(names::key_of_file(inode, device, number));
    }
    let path = std::path::Path::new(OsStr::from_bytes(path.to_bytes()));
    let path = path.canonicalize().map_err(|error| error.raw_os_error().unwrap_or(libc::ENOENT))?;
    Ok(names::key_of_path(path.as_os_str().as_bytes(), number))
}

/// `msgget`.
///
/// # Errors
/// Those of the function.
pub fn msgget(space: &Space, key: i32, flags: i32) -> Result<i64> {
    space.get(Kind::Queue, Get { key, size: 0, flags }).map(i64::from)
}

/// `semget`.
///
/// # Errors
/// Those of the function.
pub fn semget(space: &Space, key: i32, count: i32, flags: i32) -> Result<i64> {
    let size =
        u64::try_from(count).ok().filter(|count| *count <= SEMAPHORES_MAX.into()).ok_or(libc::EINVAL)?;
    space.get(Kind::Set, Get { key, size, flags }).map(i64::from)
}

/// `shmget`.
///
/// # Errors
/// Those of the function.
pub fn shmget(space: &Space, key: i32, bytes: usize, flags: i32) -> Result<i64> {
    let size = bytes as u64;
    space.get(Kind::Segment, Get { key, size, flags }).map(i64::from)
}

/// `msgsnd`.
///
/// # Errors
/// Those of the function.
pub fn msgsnd(space: &Space, identifier: i32, address: usize, bytes: usize, flags: i32) -> Result<i64> {
    let kind: i64 = user::read(address)?;
    if bytes as u64 > space.limits().message_bytes || identifier < 0 || kind < 1 {
        return Err(libc::EINVAL);
    }
    let body = user::check(address + size_of::<i64>(), bytes)?;
    if let Some(home) = space.elsewhere(identifier) {
        return elsewhere::send(
            space,
            home,
            identifier,
            Bytes { address, bytes: size_of::<i64>() + bytes },
            flags,
        );
    }
    space.send(identifier, kind, body, flags & libc::IPC_NOWAIT != 0)?;
    Ok(0)
}

/// `msgrcv`.
///
/// # Errors
/// Those of the function.
pub fn msgrcv(
    space: &Space,
    identifier: i32,
    address: usize,
    bytes: usize,
    kind: i64,
    flags: i32,
) -> Result<i64> {
    let (at_once, copies) = (flags & libc::IPC_NOWAIT != 0, flags & COPY != 0);
    if identifier < 0 || bytes > isize::MAX as usize || (copies && (flags & EXCEPT != 0 || !at_once)) {
        return Err(libc::EINVAL);
    }
    // Only what a message may have at most has to be there.
    let most = bytes.min(space.limits().message_bytes as usize);
    let mut into = user::check(address, size_of::<i64>() + most.min(1))?;
    into.address += size_of::<i64>();
    into.bytes = bytes;
    if let Some(home) = space.elsewhere(identifier) {
        let whole = Bytes { address, bytes: size_of::<i64>() + most };
        return elsewhere::receive(space, home, identifier, whole, (kind, flags));
    }
    let how = How { at_once, cuts: flags & libc::MSG_NOERROR != 0, copies };
    let message = space.receive(identifier, Wanted::new(kind, flags), into, how)?;
    user::write(address, message.kind)?;
    Ok(message.bytes as i64)
}

/// `semop`, and `semtimedop` if the address of a time is not 0.
///
/// # Errors
/// Those of the functions.
pub fn semtimedop(space: &Space, identifier: i32, address: usize, count: usize, time: usize) -> Result<i64> {
    if count < 1 || identifier < 0 {
        return Err(libc::EINVAL);
    }
    if count > OPERATIONS_MAX {
        return Err(libc::E2BIG);
    }
    let mut few = [Operation::default(); 8];
    let many: Vec<Operation>;
    user::check(address, count * size_of::<Operation>())?;
    let get = |number: usize| user::read::<Operation>(address + number * size_of::<Operation>());
    let operations = if count <= few.len() {
        for (number, one) in few[..count].iter_mut().enumerate() {
            *one = get(number)?;
        }
        &few[..count]
    } else {
        many = (0..count).map(get).collect::<Result<_>>()?;
        &many
    };
    let until = if time == 0 { None } else { Some(deadline(user::read(time)?)?) };
    if let Some(home) = space.elsewhere(identifier) {
        let operations = Bytes { address, bytes: count * size_of::<Operation>() };
        return elsewhere::operate(space, home, identifier, operations, until);
    }
    space.operate(identifier, operations, until)?;
    Ok(0)
}

fn deadline(time: libc::timespec) -> Result<Instant> {
    let seconds = u64::try_from(time.tv_sec).map_err(|_| libc::EINVAL)?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok().filter(|part| *part < 1_000_000_000);
    let time = Duration::new(seconds, nanoseconds.ok_or(libc::EINVAL)?);
    let century = Duration::from_secs(100 * 365 * 24 * 3600);
    Ok(Instant::now() + time.min(century))
}

/// `shmat`.
///
/// # Errors
/// Those of the function.
pub fn shmat(space: &'static Space, identifier: i32, address: usize, flags: i32) -> Result<i64> {
    if identifier < 0 {
        return Err(libc::EINVAL);
    }
    space.attach(identifier, address, flags).map(|address| address as i64)
}

/// `shmdt`.
///
/// # Errors
/// Those of the function.
pub fn shmdt(space: &Space, address: usize) -> Result<i64> {
    space.detach(address)?;
    Ok(0)
}
