//! Files: writes that return at once and reach the file by a worker, in blocks; reads that find their data in the system's cache.
//!
//! `pending` and `pattern` are pure. `file` is an open file, `filesystem` a file system with its worker, `process` what the process has of
//! both. What is here is for whoever stands in the place of functions of the C library: each of them says what the program does, and
//! how it is done without the layer.

pub mod file;
mod filesystem;
pub mod pattern;
pub mod pending;
mod process;
pub mod report;
#[allow(unsafe_code)]
pub mod system;

pub use file::Position;
pub use process::{has_active, is_own};
pub use report::FileReport;
pub use system::Memory;

use process::Inside;
use std::ffi::CStr;
use std::sync::Arc;

use file::OpenFile;

/// The file of a descriptor, while this thread works on it.
fn with<R>(descriptor: i32, work: impl FnOnce(&Arc<OpenFile>) -> R) -> Option<R> {
    if !process::is_watched(descriptor) {
        return None;
    }
    let _inside = Inside::enter()?;
    process::watched(descriptor).map(|file| work(&file))
}

/// A write of `memory`, if that is there.
pub fn write(
    descriptor: i32,
    memory: impl FnOnce() -> Option<Memory>,
    position: Position,
    plain: impl FnOnce() -> isize,
) -> isize {
    let mut plain = Some(plain);
    let done = with(descriptor, |file| {
        let memory = memory()?;
        Some(file.write(&memory, position, plain.take()?))
    });
    done.flatten().unwrap_or_else(|| plain.take().map_or(-1, |plain| plain()))
}

/// A read of so many bytes.
pub fn read(descriptor: i32, length: usize, position: Position, plain: impl FnOnce() -> isize) -> isize {
    let mut plain = Some(plain);
    let done = with(descriptor, |file| plain.take().map(|plain| file.read(length, position, plain)));
    done.flatten().unwrap_or_else(|| plain.take().map_or(-1, |plain| plain()))
}

/// A path is opened, and cut with `O_TRUNC`.
pub fn opens(folder: i32, path: &CStr, flags: i32) {
    if flags & libc::O_TRUNC != 0
        && has_active()
        && let Some(_inside) = Inside::enter()
    {
        process::truncating(folder, path);
    }
}

/// Whether files are asked for at all.
#[must_use]
pub fn works() -> bool {
    process::works()
}

/// The flags with which `fopen` opens a file to write it; `None` for other modes.
#[must_use]
pub fn flags_of_stream(mode: &CStr) -> Option<i32> {
    let (b'w', others) = mode.to_bytes().split_first()? else { return None };
    others.iter().try_fold(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, |flags, other| match other {
        b'b' => Some(flags),
        b'x' => Some(flags | libc::O_EXCL),
        b'e' => Some(flags | libc::O_CLOEXEC),
        _ => None,
    })
}

/// Whether the layer may have something to gain with the file of a descriptor.
#[must_use]
pub fn may_be_slow(descriptor: i32) -> bool {
    with(descriptor, |file| file.may_be_slow()).unwrap_or(false)
}

/// It was opened as this descriptor.
pub fn opened(descriptor: i32, flags: i32) {
    let Some(_inside) = Inside::enter() else { return };
    // The C library may have closed what it was before.
    if let Some(file) = process::forget(descriptor) {
        file.close();
    }
    process::opened(descriptor, flags);
    if has_active() {
        process::opened_again(descriptor);
    }
}

/// It was opened by other means, a stream of the C library.
pub fn opened_elsewhere(descriptor: i32) {
    if has_active()
        && let Some(_inside) = Inside::enter()
    {
        process::opened_again(descriptor);
    }
}

/// A descriptor is closed, which `plain` does.
pub fn close(descriptor: i32, plain: impl FnOnce() -> i32) -> i32 {
    if is_own(descriptor) {
        system::set_errno(libc::EBADF);
        return -1;
    }
    let Some(inside) = Inside::enter() else { return plain() };
    let file = process::forget(descriptor);
    drop(inside);
    let closed = plain();
    let (Some(file), Some(_inside)) = (file, Inside::enter()) else { return closed };
    let error = file.take_error();
    let errno = system::errno();
    file.close();
    system::set_errno(error.unwrap_or(errno));
    if error.is_some() { -1 } else { closed }
}

/// The program has a look at this file: what is pending is written.
pub fn look(descriptor: i32) {
    with(descriptor, |file| file.flush());
}

/// The program wants the file on its disk: what is pending is written. Returns the error of calls that have returned.
pub fn synchronise(descriptor: i32) -> Option<i32> {
    with(descriptor, |file| {
        file.drain(false);
        file.take_error()
    })
    .flatten()
}

/// The program has found this file by a path. Whether what it was told may have changed by what was pending.
pub fn looked_at(device: u64, inode: u64) -> bool {
    let Some(_inside) = has_active().then(Inside::enter).flatten() else { return false };
    process::look(system::Identity { device, inode })
}

/// The file of a descriptor is plain from now on.
pub fn step_aside(descriptor: i32, reason: &'static str) {
    with(descriptor, |file| file.step_aside(reason));
}

/// All files that are open now are plain from now on.
pub fn step_aside_all(reason: &'static str) {
    if let Some(_inside) = Inside::enter() {
        process::step_aside(reason);
    }
}

/// Everything that was written so far is in its file when this returns: before another rank can be told about it.
pub fn publish() {
    if let Some(_inside) = has_active().then(Inside::enter).flatten() {
        process::publish();
    }
}

/// The same, and files that the program has closed are closed: before another process begins, a name is changed, or this process ends.
pub fn settle() {
    if let Some(_inside) = has_active().then(Inside::enter).flatten() {
        process::settle();
    }
}

/// This process is a child that was forked a moment ago.
pub fn forked() {
    process::forked();
}

/// The process ends. Whether data was lost without anybody's being told.
#[must_use]
pub fn over() -> bool {
    process::over()
}

/// What became of each file.
#[must_use]
pub fn reports() -> Vec<FileReport> {
    process::all_reports()
}

#[cfg(test)]
mod tests {
    use super::flags_of_stream;

    #[test]
    fn only_modes_that_write_and_no_more_are_known() {
        let writing = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
        assert_eq!(flags_of_stream(c"w"), Some(writing));
        assert_eq!(flags_of_stream(c"wbxe"), Some(writing | libc::O_EXCL | libc::O_CLOEXEC));
        for other in [c"", c"r", c"a", c"w+", c"wb+", c"w,ccs=UTF-8", c"wm"] {
            assert_eq!(flags_of_stream(other), None);
        }
    }
}
