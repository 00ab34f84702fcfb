//! What is asked of the system.
#![allow(unsafe_code)]

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::semantics::permission::Caller;

/// How a sleep has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slept {
    /// Woken, or the word is another.
    Woken,
    /// A signal was handled.
    Interrupted,
    /// Time is up.
    TimedOut,
}

/// Sleeps until the word is not `value`. There is always an end: a sleep without one would go on after a signal whose handler restarts calls.
pub fn sleep(word: &AtomicU32, value: u32, time: Duration) -> Slept {
    let time = libc::timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    // SAFETY: a word that lives, and a time on the stack.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time) };
    match result {
        0 => Slept::Woken,
        _ => match errno() {
            libc::EINTR => Slept::Interrupted,
            libc::ETIMEDOUT => Slept::TimedOut,
            _ => Slept::Woken,
        },
    }
}

/// Wakes all that sleep on a word.
pub fn wake(word: &AtomicU32) {
    // SAFETY: a word that lives.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// The last error of the system in this thread.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)
}

/// Seconds since 1970, as exact as a tick of the system.
#[inline]
pub fn now() -> i64 {
    // SAFETY: a place on the stack.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut time);
        time.tv_sec
    }
}

/// Processor cores that this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// Who the caller is.
pub fn caller() -> Caller {
    if let Some(caller) = super::acting::caller() {
        return caller;
    }
    let mut groups = [0; 256];
    // SAFETY: questions; the list is as long as is said.
    unsafe {
        let (uid, gid) = (libc::geteuid(), libc::getegid());
        if uid == 0 {
            return Caller { uid, groups: vec![gid] };
        }
        let count = libc::getgroups(groups.len() as i32, groups.as_mut_ptr()).max(0) as usize;
        let groups = [gid].into_iter().chain(groups[..count].iter().copied()).collect();
        Caller { uid, groups }
    }
}

/// Effective user and group.
pub fn user_and_group() -> (u32, u32) {
    if let Some(caller) = super::acting::caller() {
        return (caller.uid, caller.groups.first().copied().unwrap_or(caller.uid));
    }
    // SAFETY: questions.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Nobody is this user.
const UNKNOWN: u32 = u32::MAX;
/// The effective user, as far as it is known.
static USER: AtomicU32 = AtomicU32::new(UNKNOWN);

/// The effective user.
#[inline]
pub fn user() -> u32 {
    if let Some(user) = super::acting::user() {
        return user;
    }
    match USER.load(Relaxed) {
        UNKNOWN => {
            let user = user_and_group().0;
            USER.store(user, Relaxed);
            user
        }
        user => user,
    }
}

/// The process may have become another user's.
pub fn forget_user() {
    USER.store(UNKNOWN, Relaxed);
}

/// When a process started, in ticks since the machine did; nothing if it has ended, although nobody may have asked for its exit code yet.
pub fn started(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = text[text.rfind(')')? + 1..].split_ascii_whitespace();
    let state = words.next()?;
    let started = words.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(started)
}

/// Whose numbers the processes have that this one knows: that of their name space. The same number is another process in another one, and the system takes
/// one for the other even where it gives locks of the dead back.
///
/// # Errors
/// What the system says.
pub fn numbering() -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(std::fs::metadata("/proc/self/ns/pid")?.ino())
}

/// The number of this thread.
pub fn thread() -> u64 {
    // SAFETY: a call without arguments.
    unsafe { libc::gettid() as u64 }
}

/// Gives pages of a file back; they are zeros from then on.
pub fn punch(file: &std::fs::File, at: usize, bytes: usize) {
    use std::os::fd::AsRawFd;
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: a file that is open.
    unsafe { libc::fallocate(file.as_raw_fd(), how, at as i64, bytes as i64) };
}

/// A process whose end can be waited for.
#[derive(Debug)]
pub struct Watched(std::os::fd::OwnedFd);

impl Watched {
    /// Nothing if there is none with this number.
    pub fn new(pid: u32) -> Option<Self> {
        use std::os::fd::FromRawFd;
        // SAFETY: a call without memory; the descriptor is this value's.
        unsafe {
            let descriptor = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            (descriptor >= 0).then(|| Self(std::os::fd::OwnedFd::from_raw_fd(descriptor as i32)))
        }
    }
}

/// Waits until one of them has ended, or for some time. Whether one has.
pub fn one_ends<'a>(processes: impl Iterator<Item = &'a Watched>, time: Duration) -> bool {
    use std::os::fd::AsRawFd;
    let poll = |one: &Watched| libc::pollfd { fd: one.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut list: Vec<libc::pollfd> = processes.map(poll).collect();
    // SAFETY: a list as long as is said.
    unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, time.as_millis() as i32) > 0 }
}

/// How a segment is mapped at an address, or anywhere if that is 0.
#[must_use]
pub fn mapping_flags(at: usize, replaces: bool) -> i32 {
    let fixed = match (at, replaces) {
        (0, _) => 0,
        (_, true) => libc::MAP_FIXED,
        (_, false) => libc::MAP_FIXED_NOREPLACE,
    };
    libc::MAP_SHARED | fixed
}

/// Maps a file at an address, or anywhere if that is 0.
///
/// # Errors
/// What the system says.
pub fn attach(
    file: &std::fs::File,
    bytes: usize,
    at: usize,
    access: i32,
    replaces: bool,
) -> super::Result<usize> {
    use std::os::fd::AsRawFd;
    let flags = mapping_flags(at, replaces);
    // SAFETY: where the caller wants it, or where nothing is.
    let there = unsafe { libc::mmap(at as *mut libc::c_void, bytes, access, flags, file.as_raw_fd(), 0) };
    match there {
        libc::MAP_FAILED => Err(errno()),
        there => Ok(there as usize),
    }
}

/// Takes memory away that [`attach`] has made.
pub fn detach(at: usize, bytes: usize) {
    // SAFETY: what was attached.
    unsafe { libc::munmap(at as *mut libc::c_void, bytes) };
}

/// Bytes of a page.
pub fn page_bytes() -> usize {
    // SAFETY: a question.
    (unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) as usize
}

/// Changes what may be done with memory.
///
/// # Errors
/// What the system says.
pub fn protect(at: usize, bytes: usize, access: i32) -> super::Result<()> {
    // SAFETY: memory that the caller has attached; who touches what is closed gets a signal.
    match unsafe { libc::mprotect(at as *mut libc::c_void, bytes, access) } {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

/// Does something while this thread has no signals, and a thread that begins in it never has.
pub fn without_signals<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: sets on the stack.
    let before = unsafe {
        let (mut all, mut before) = std::mem::zeroed::<(libc::sigset_t, libc::sigset_t)>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        before
    };
    let result = work();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    result
}
