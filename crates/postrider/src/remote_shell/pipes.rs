//! Pipes to programs on other hosts, used with patience that ends.
//!
//! A host may be slow, stopped or gone. So nothing here blocks for longer than its limit, which begins anew with every byte that
//! gets through.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Waits until `file` is ready for something, or has come to its end. False when the time is over.
pub fn ready(file: impl AsFd, what: PollFlags, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&file, what)], Some(&limit)) {
            Ok(count) => return count > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
    }
}

/// Writes everything, as long as somebody takes a part of it within each `limit`.
///
/// # Errors
/// When nobody does, or ever will.
pub fn write(pipe: &mut File, mut bytes: &[u8], limit: Duration) -> io::Result<()> {
    let flags = fcntl_getfl(&*pipe)?;
    fcntl_setfl(&*pipe, flags | OFlags::NONBLOCK)?;
    while !bytes.is_empty() {
        if !ready(&*pipe, PollFlags::OUT, Instant::now() + limit) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match pipe.write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&error.kind()) => {
            }
            Err(error) => return Err(error),
        }
    }
    Ok(fcntl_setfl(&*pipe, flags)?)
}

/// Reads what is there, and waits for it at most for `limit`. Nothing at the end.
///
/// # Errors
/// When nothing comes in time.
pub fn read(pipe: &mut File, into: &mut [u8], limit: Duration) -> io::Result<usize> {
    loop {
        if !ready(&*pipe, PollFlags::IN, Instant::now() + limit) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match pipe.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
