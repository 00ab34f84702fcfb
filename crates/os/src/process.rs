//! This process and its neighbours: cores, host name, and single copies between address spaces.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::memory::{OwnedMemory, UserMemory};

/// Cores that this process may run on.
#[must_use]
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// The host's name (`MPI_Get_processor_name`).
#[must_use]
pub fn host_name() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer's length is given; the last byte stays NUL.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..length]).into_owned()
}

/// A number that nobody can guess.
///
/// # Errors
/// When the system has none.
pub fn random() -> Result<u64> {
    let mut bytes = [0; 8];
    // SAFETY: the buffer's length is given.
    let filled = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    match filled {
        8 => Ok(u64::from_le_bytes(bytes)),
        _ => Err(Error::last("the system has no random numbers")),
    }
}

/// Which running system, and which of its process namespaces, this process is in: processes that see the same find each
/// other through `/proc`.
#[must_use]
pub fn namespace() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let processes = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), processes.display())
}

/// Copies `bytes` bytes at `address` in process `pid` to `into`, in one copy (`process_vm_readv`).
///
/// # Errors
/// When the system does not allow it (another user, a container's seccomp, Yama) or the address is not there.
pub fn read_from(pid: u32, address: u64, into: UserMemory, bytes: usize) -> io::Result<()> {
    copy_across(bytes, |done, left| {
        let (local, remote) = sides(into, address, done, left);
        // SAFETY: the kernel checks the remote side; `into` names `bytes` writable bytes by its promise.
        unsafe { libc::process_vm_readv(pid as libc::pid_t, &raw const local, 1, &raw const remote, 1, 0) }
    })
}

/// Copies `bytes` bytes at `from` to `address` in process `pid`, in one copy (`process_vm_writev`).
///
/// # Errors
/// As [`read_from`]; then some of them may have been copied.
pub fn write_to(pid: u32, address: u64, from: UserMemory, bytes: usize) -> io::Result<()> {
    copy_across(bytes, |done, left| {
        let (local, remote) = sides(from, address, done, left);
        // SAFETY: the kernel checks the remote side; `from` names `bytes` readable bytes by its promise.
        unsafe { libc::process_vm_writev(pid as libc::pid_t, &raw const local, 1, &raw const remote, 1, 0) }
    })
}

/// What is left of both sides of a copy.
fn sides(here: UserMemory, there: u64, done: usize, left: usize) -> (libc::iovec, libc::iovec) {
    let side = |address| libc::iovec { iov_base: address as *mut libc::c_void, iov_len: left };
    (side(here.offset(done as i64).address()), side(there as usize + done))
}

/// Calls `copy` with what is done and what is left until all is done.
fn copy_across(bytes: usize, copy: impl Fn(usize, usize) -> isize) -> io::Result<()> {
    let mut done = 0;
    while done < bytes {
        match copy(done, bytes - done) {
            n @ 1.. => done += n as usize,
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            _ => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// Whether the system lets this process copy between address spaces: tried on its own, which only a system without the
/// call, or a container that denies it, refuses.
#[must_use]
pub fn can_copy_between_processes() -> bool {
    let mut both = OwnedMemory::new(2);
    let place = UserMemory::of(&mut both);
    read_from(std::process::id(), place.address() as u64, place.offset(1), 1).is_ok()
}

/// Whether valgrind watches this process: it takes memory for unset that another process has written.
#[must_use]
pub fn is_under_valgrind() -> bool {
    std::env::var_os("LD_PRELOAD").is_some_and(|libraries| libraries.to_string_lossy().contains("vgpreload_"))
}

/// Opens the pipe that is descriptor `descriptor` of process `pid`, to write to it without ever waiting.
///
/// # Errors
/// When that process is gone or another user's, or has no such pipe.
pub fn open_pipe(pid: u32, descriptor: u32) -> io::Result<File> {
    OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(format!("/proc/{pid}/fd/{descriptor}"))
}

/// Opens the pipe that is descriptor `descriptor` of process `pid`, to read from it without ever waiting.
///
/// # Errors
/// When that process is gone or another user's, or has no such pipe.
pub fn open_pipe_to_read(pid: u32, descriptor: u32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(format!("/proc/{pid}/fd/{descriptor}"))
}

/// Does `work`, which writes to a pipe, without the signal (`SIGPIPE`) that a pipe without a reader sends this thread.
pub fn without_broken_pipes<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    // SAFETY: all sets are initialised before they are read, and belong to this function; only this thread's mask is changed.
    unsafe {
        let (mut broken, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&raw mut broken);
        libc::sigaddset(&raw mut broken, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const broken, &raw mut before);
        let result = work();
        let is_broken = result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        if is_broken && libc::sigismember(&raw const before, libc::SIGPIPE) == 0 {
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&raw const broken, std::ptr::null_mut(), &raw const at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

/// Bytes of a page of memory.
#[must_use]
pub fn page_bytes() -> usize {
    // SAFETY: asks a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// A process that is watched, by a descriptor that no later process of the same number can be taken for.
#[derive(Debug)]
pub struct Watched {
    pid: u32,
    descriptor: OwnedFd,
}

impl Watched {
    /// Watches process `pid`; none when it is gone already.
    #[must_use]
    pub fn new(pid: u32) -> Option<Self> {
        // SAFETY: no pointer is passed.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
        // SAFETY: the descriptor is new and ours.
        (fd >= 0).then(|| Self { pid, descriptor: unsafe { OwnedFd::from_raw_fd(fd as RawFd) } })
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it still runs.
    #[must_use]
    pub fn runs(&self) -> bool {
        let mut fd = libc::pollfd { fd: self.descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, open.
        unsafe { libc::poll(&raw mut fd, 1, 0) == 0 }
    }
}

/// Lets the other processes of this user read this one's memory where Yama restricts that to ancestors.
pub fn allow_neighbours() {
    // SAFETY: no pointer is passed; without Yama the call fails and nothing is lost.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

/// Whether process `pid` has started this one, or one that has, and still runs.
#[must_use]
pub fn descends_from(pid: u32) -> bool {
    let mut ancestor = std::os::unix::process::parent_id();
    while ancestor > 1 {
        if ancestor == pid {
            return true;
        }
        match parent_of(ancestor) {
            Some(next) => ancestor = next,
            None => return false,
        }
    }
    false
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses and may be anything; state and parent follow.
    let end = status.iter().rposition(|&byte| byte == b')')?;
    std::str::from_utf8(&status[end + 1..]).ok()?.split_whitespace().nth(1)?.parse().ok()
}

/// Has `handler` called in every process that this one forks, before anything else happens there. It may store to atomics, and
/// nothing more, since the fork may have happened at any moment of any other thread.
pub fn in_forked_children(handler: extern "C" fn()) {
    let handler: unsafe extern "C" fn() = handler;
    // SAFETY: the function stays where it is, and needs no lock. Without memory for it nothing is registered, and nothing is lost.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

/// For how long the threads of process `pid` have had a core; nothing if it is gone.
#[must_use]
pub fn cpu_time(pid: u32) -> Duration {
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: the clock and the time are written to places of ours.
    let is_known = unsafe {
        libc::clock_getcpuclockid(pid as libc::pid_t, &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    if is_known { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) } else { Duration::ZERO }
}

/// Writes a line to the standard error output, in one piece: another process may write to the same one at the same time.
pub fn say_error(line: &str) {
    let _nobody_reads_it = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
}

/// How long output buffers may take to be written when a process ends at once.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

/// Ends this process at once: C output buffers are written, exit handlers do not run. Flushing waits for streams that other threads hold, and
/// one may hold its stream for ever, writing to a pipe that nobody empties: then the process ends without.
pub fn exit_now(code: i32) -> ! {
    // Without this thread there is no limit.
    let _limit = start_thread(thread::Builder::new(), move || {
        thread::sleep(FLUSH_LIMIT);
        // SAFETY: leaves without running anything of the program's.
        unsafe { libc::_exit(code) }
    });
    // SAFETY: flushing all C streams and leaving; neither returns into code that could be surprised.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(code)
    }
}

/// Moves this thread to the core of this number, counted in turn among those that it may run on, and lets it go wherever it may from
/// there. Does nothing where the system refuses.
pub fn start_on_core(number: u32) {
    // SAFETY: the sets are initialised before they are used, and belong to this function; only this thread's mask is changed.
    unsafe {
        let (mut all, mut one): (libc::cpu_set_t, libc::cpu_set_t) = (std::mem::zeroed(), std::mem::zeroed());
        let bytes = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, bytes, &raw mut all) != 0 {
            return;
        }
        let cores = || (0..libc::CPU_SETSIZE as usize).filter(|&core| libc::CPU_ISSET(core, &all));
        let Some(core) = cores().cycle().nth(number as usize) else { return };
        libc::CPU_SET(core, &mut one);
        libc::sched_setaffinity(0, bytes, &raw const one);
        libc::sched_setaffinity(0, bytes, &raw const all);
    }
}

/// Asks the system to run this thread soon after it is woken, and never for long: it may interrupt one that computes. Does nothing where the
/// system does not know such threads (Linux before 6.12) or refuses.
pub fn be_brief() {
    /// The shortest turn that there is.
    const TURN: u64 = 100_000;
    // SAFETY: the structure is of the size that is passed, and belongs to this function; only this thread's turns are changed.
    unsafe {
        let mut attributes: libc::sched_attr = std::mem::zeroed();
        let bytes = size_of::<libc::sched_attr>();
        if libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, bytes, 0) != 0 {
            return;
        }
        attributes.sched_runtime = TURN;
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
    }
}

/// Lets another thread have this core, if one is waiting for it.
pub fn give_way() {
    thread::yield_now();
}

/// Commands of `membarrier`, which the C library does not name.
const FENCE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_FENCE_EXPEDITED: libc::c_int = 1 << 4;

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: the call takes numbers only, and touches no memory of this process.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Prepares this process for [`fence_everywhere`]; false where the system has no such thing, or refuses it.
#[must_use]
pub fn allow_fences() -> bool {
    membarrier(REGISTER_FENCE_EXPEDITED)
}

/// All threads of this process pass a full fence before this returns, wherever they are.
///
/// # Panics
/// When [`allow_fences`] was not called, or said no.
pub fn fence_everywhere() {
    assert!(membarrier(FENCE_EXPEDITED), "the system has taken its fences back (membarrier)");
}

/// Starts a thread of ours in the program's process. From its beginning all signals are blocked in it: they are for the program's threads, one of
/// which may wait for a signal that all of them block.
///
/// # Errors
/// When the system allows no more threads.
pub fn start_thread<T: Send + 'static>(
    builder: thread::Builder,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    // SAFETY: both sets are initialised before they are read, and belong to this function; this thread's mask, which the new thread inherits,
    // is the same afterwards.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let started = builder.spawn(work);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        started
    }
}

/// Does `work` in a thread with a table of descriptors of its own: a copy of this process's, in which at least one place is free. So something can
/// be opened for a moment where the program has all the descriptors that it may have (`EMFILE`).
///
/// # Errors
/// When the system allows no more threads.
pub fn beside_full_table(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = start_thread(thread::Builder::new(), move || {
        // SAFETY: no pointer is passed; once the table is this thread's alone, nobody misses what is closed in it.
        unsafe {
            if libc::unshare(libc::CLONE_FILES) == 0 {
                libc::close(0);
            }
        }
        work();
    })?;
    thread.join().map_err(|_| io::Error::other("a thread has failed"))
}

/// Tells the CPU that this is a short spin.
#[inline]
pub fn relax() {
    std::hint::spin_loop();
}
