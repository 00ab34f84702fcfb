//! What a launcher needs of the system: signals as a file, children that cannot outlive it, and a guard.
//!
//! - [`Signals`] turns signals into a descriptor that `poll` can wait for (`signalfd`), so that a launcher needs neither
//!   handlers nor threads.
//! - [`tie`] makes a child start in a process group of its own and die with its launcher (`PR_SET_PDEATHSIG`). That
//!   covers the child itself and not its own children. What the child has from the user's shell is an [`Inheritance`].
//! - [`Guard`] covers these: a small process that does nothing until the launcher has died, however it died, and then
//!   does what it was given to do.
//! - [`end_after`] ends a launcher that hangs before it has anything to watch over.
//! - [`detach`] starts what shall outlive the launcher.
//! - [`ended`], [`has_children`] and [`dead_child`] collect children without ever taking the exit status of one for another.
//!
//! See `prctl(2)`, `signalfd(2)`, `pidfd_open(2)` and `waitid(2)`.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Blocked signals that arrive through a descriptor.
#[derive(Debug)]
pub struct Signals {
    descriptor: OwnedFd,
}

impl Signals {
    /// Blocks `signals` for this process and receives them from now on. Signals that the process was told to ignore (as by
    /// `nohup`) stay ignored. `SIGCHLD` gets its default action, without which nobody can wait for children.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn receive(signals: &[i32]) -> Result<Self> {
        let set = set_of(signals);
        // SAFETY: plain system calls on a set that lives here; the new descriptor is ours.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            match libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) {
                -1 => Err(Error::last("cannot receive signals")),
                fd => Ok(Self { descriptor: OwnedFd::from_raw_fd(fd) }),
            }
        }
    }

    /// The next signal that has arrived.
    #[must_use]
    pub fn next(&self) -> Option<i32> {
        // SAFETY: the structure is plain data, of which the kernel fills exactly one.
        unsafe {
            let mut info: libc::signalfd_siginfo = std::mem::zeroed();
            let size = size_of::<libc::signalfd_siginfo>();
            let n = libc::read(self.descriptor.as_raw_fd(), (&raw mut info).cast(), size);
            (n == size as isize).then_some(info.ssi_signo as i32)
        }
    }
}

/// Whether one of `signals` has come and was not taken yet.
#[must_use]
pub fn has_come(signals: &[i32]) -> bool {
    // SAFETY: the set is initialised before it is filled, and belongs to this function.
    unsafe {
        let mut pending: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut pending);
        libc::sigpending(&raw mut pending);
        signals.iter().any(|&signal| libc::sigismember(&raw const pending, signal) == 1)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: the set is initialized by sigemptyset before it is used.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for &signal in signals {
            libc::sigaddset(&raw mut set, signal);
        }
        set
    }
}

/// Ends this process by `signal`, as if it had never been blocked, so that a shell sees why. Returns only if that
/// signal is ignored.
pub fn die_by(signal: i32) {
    let set = set_of(&[signal]);
    // SAFETY: plain system calls on a set that lives here.
    unsafe {
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// What [`end_after`] says, and with which exit code.
static WHEN_OVER: OnceLock<(i32, String)> = OnceLock::new();

/// Lets this process end with exit code `code` when `limit` is over, and say `words` on its error output, whatever it waits for then:
/// until [`end_no_more`]. Only the first words and code count.
pub fn end_after(limit: Duration, code: i32, words: String) {
    WHEN_OVER.get_or_init(|| (code, words));
    let handler: extern "C" fn(i32) = say_and_end;
    let set = set_of(&[libc::SIGALRM]);
    // SAFETY: the handler makes only calls that are safe in one; the set lives here.
    unsafe {
        libc::signal(libc::SIGALRM, handler as libc::sighandler_t);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
    set_timer(limit.max(Duration::from_micros(1)));
}

/// Takes back what [`end_after`] was told.
pub fn end_no_more() {
    set_timer(Duration::ZERO);
}

extern "C" fn say_and_end(_signal: i32) {
    let Some((code, words)) = WHEN_OVER.get() else { return };
    let mut entry = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: calls that may be made in a signal handler, on memory that nobody changes any more. Nothing is said where that had to wait.
    unsafe {
        if libc::poll(&raw mut entry, 1, 0) > 0 {
            libc::write(libc::STDERR_FILENO, words.as_ptr().cast(), words.len());
        }
        libc::_exit(*code);
    }
}

fn set_timer(limit: Duration) {
    let once = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let tv_sec = libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX);
    let first = libc::timeval { tv_sec, tv_usec: libc::suseconds_t::from(limit.subsec_micros()) };
    let timer = libc::itimerval { it_interval: once, it_value: first };
    // SAFETY: the structure lives here, and the earlier value is not asked for.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
}

/// Stops this process as a shell's job control expects of it, until somebody continues it.
pub fn stop_here() {
    // SAFETY: a plain system call.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// What a process hands to its children beside variables and descriptors, so that a process of another host can hand the same to its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inheritance {
    /// Rights that new files do not get (`umask`).
    pub umask: u32,
    /// How readily it leaves its core to others (`nice`).
    pub niceness: i32,
    /// The soft limit of each resource, in the order of the resources' numbers.
    pub limits: Vec<u64>,
    /// Signals that are ignored, a bit for each, the first signal lowest.
    pub ignored: u64,
    /// Signals that are blocked, likewise.
    pub blocked: u64,
}

/// Resources that have limits: `RLIMIT_CPU` is the first, and `RLIMIT_RTTIME` the last.
const RESOURCES: u32 = 16;
/// The last signal.
const SIGNAL_MAX: i32 = 64;
/// What a program finds at its default whatever its launcher found: a launcher in Rust ignores the one, and has to hear the other.
const ALWAYS_DEFAULT: u64 = bit(libc::SIGPIPE) | bit(libc::SIGCHLD);

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

impl Inheritance {
    /// What this process has been given; before it [receives](Signals::receive) signals.
    #[must_use]
    pub fn of_this_process() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let signals = |name: &str| {
            let text = status.lines().find_map(|line| line.strip_prefix(name));
            text.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0)
        };
        // SAFETY: system calls that are given a structure which lives here, or no pointer. The mask is what it was at once; this process
        // makes no file meanwhile, having one thread.
        let (umask, niceness, limits) = unsafe {
            let umask = libc::umask(0o077);
            libc::umask(umask);
            (
                umask,
                libc::getpriority(libc::PRIO_PROCESS, 0),
                (0..RESOURCES).map(|which| limit(which).rlim_cur),
            )
        };
        Self {
            umask,
            niceness,
            limits: limits.collect(),
            ignored: signals("SigIgn:") & !ALWAYS_DEFAULT,
            blocked: signals("SigBlk:"),
        }
    }

    /// Gives it to this process, as far as the system allows. It allows no limit beyond the host's own, and no haste. Only makes system calls, as
    /// befits a process between fork and exec.
    fn take(&self) {
        let has = |signals: u64, signal| signals & bit(signal) != 0;
        // SAFETY: system calls that are given structures which live here.
        unsafe {
            libc::umask(self.umask);
            libc::setpriority(libc::PRIO_PROCESS, 0, self.niceness);
            for (which, &wanted) in (0..).zip(&self.limits) {
                let found = limit(which);
                // Links to other hosts may need more open files than the program does.
                let least = if which == libc::RLIMIT_NOFILE { found.rlim_cur } else { 0 };
                let rlim_cur = wanted.max(least).min(found.rlim_max);
                libc::setrlimit(which, &libc::rlimit { rlim_cur, ..found });
            }
            let mut blocked = set_of(&[]);
            for signal in 1..=SIGNAL_MAX {
                let action = if has(self.ignored, signal) { libc::SIG_IGN } else { libc::SIG_DFL };
                libc::signal(signal, action);
                if has(self.blocked, signal) {
                    libc::sigaddset(&raw mut blocked, signal);
                }
            }
            libc::sigprocmask(libc::SIG_SETMASK, &raw const blocked, std::ptr::null_mut());
        }
    }
}

/// The limits of resource `which`.
fn limit(which: u32) -> libc::rlimit {
    let mut found = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the structure lives here.
    unsafe { libc::getrlimit(which, &raw mut found) };
    found
}

/// Keeps what this process has inherited beside its standard streams from its own children: files that are open here and on no other host.
pub fn keep_descriptors() {
    let names = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten().map(|entry| entry.file_name());
    for descriptor in names.filter_map(|name| name.to_str()?.parse().ok()).filter(|&number: &i32| number > 2)
    {
        // SAFETY: no pointer is passed, and nothing is closed in this process.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Makes the child of `command` the leader of a process group of its own, gives it `inheritance`, and lets the kernel end it with this process.
pub fn tie(command: &mut Command, inheritance: Inheritance) {
    let launcher = std::process::id();
    let tied = move || {
        inheritance.take();
        // SAFETY: system calls without memory, which may be made between fork and exec.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() as u32 != launcher {
                libc::_exit(1);
            }
        }
        Ok(())
    };
    command.process_group(0);
    // SAFETY: the closure makes only calls that are safe between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(tied) };
}

/// Becomes the program of `command`, which is given `inheritance`; returns if that cannot be.
pub fn become_program(command: &mut Command, inheritance: Inheritance) -> io::Error {
    let given = move || {
        inheritance.take();
        Ok(())
    };
    // SAFETY: the closure makes only system calls.
    unsafe { command.pre_exec(given) };
    command.exec()
}

/// Starts `command` as nobody's child, in a session of its own and without streams: it is not waited for, goes on when this process ends, and
/// hears nothing of what a terminal sends. Where this process adopts orphans (`PR_SET_CHILD_SUBREAPER`), it would be one of them.
///
/// # Errors
/// When it cannot be started.
pub fn detach(command: &mut Command) -> io::Result<()> {
    let detached = || {
        // SAFETY: system calls without memory, which may be made between fork and exec. The process that stays in between has nothing that
        // its end could disturb: it is a copy that leaves without running what the original's exit would run.
        unsafe {
            libc::setsid();
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            match libc::fork() {
                -1 => Err(io::Error::last_os_error()),
                0 => Ok(()),
                _ => libc::_exit(0),
            }
        }
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: the closure makes only calls that are safe between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(detached) };
    command.spawn()?.wait().map(|_between| ())
}

/// A process that acts when this one has died; ended when dropped.
#[derive(Debug)]
pub struct Guard {
    pid: u32,
}

impl Guard {
    /// Starts a guard that runs `act` once this process is dead. The guard has no descriptors and no terminal.
    ///
    /// # Errors
    /// When the system has no process left, or this process has several threads (whose locks a copy would never see freed).
    pub fn post(act: impl FnOnce()) -> Result<Self> {
        let what = || "cannot start the launcher's guard".to_owned();
        // A thread whose work is done, and has been waited for, may take a moment to leave.
        let start = Instant::now();
        let no_proc = |error| Error::new(format!("{}, which looks into /proc/self/task", what()), error);
        while fs::read_dir("/proc/self/task").map_err(no_proc)?.count() != 1 {
            if start.elapsed() > Duration::from_secs(10) {
                return Err(Error::new(what(), io::Error::other("the launcher has several threads")));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let launcher = std::process::id();
        // SAFETY: this process has one thread, so the copy is as whole as the original.
        match unsafe { libc::fork() } {
            -1 => Err(Error::last(what())),
            0 => {
                outlive(launcher);
                act();
                // SAFETY: leaves without running what the original's exit would run.
                unsafe { libc::_exit(0) }
            }
            pid => Ok(Self { pid: pid as u32 }),
        }
    }

    /// The guard's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: the guard is our child and not yet waited for, so this pid is still its own.
        unsafe {
            libc::kill(self.pid as libc::pid_t, libc::SIGKILL);
            libc::waitpid(self.pid as libc::pid_t, std::ptr::null_mut(), 0);
        }
    }
}

/// Lets go of everything, then sleeps until process `launcher`, the parent, is dead.
fn outlive(launcher: u32) {
    // SAFETY: system calls of a process that uses no descriptor but the one made here; `poll` gets one entry.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"postrider-guard".as_ptr());
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        let fd = libc::syscall(libc::SYS_pidfd_open, launcher as libc::pid_t, 0) as i32;
        let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        while fd >= 0 && libc::getppid() as u32 == launcher {
            libc::poll(&raw mut entry, 1, -1);
            if entry.revents != 0 {
                break;
            }
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By `exit`, with this code.
    Exited(i32),
    /// By a signal.
    Killed {
        /// Number of the signal.
        signal: i32,
        /// Whether a core dump was written.
        core: bool,
    },
}

/// Collects child `pid` if it has ended.
#[must_use]
pub fn ended(pid: u32) -> Option<Ended> {
    let info = wait(libc::P_PID, pid, libc::WEXITED | libc::WNOHANG).ok()??;
    // SAFETY: waitid has filled in the fields of a child's end.
    let status = unsafe { info.si_status() };
    Some(match info.si_code {
        libc::CLD_EXITED => Ended::Exited(status),
        code => Ended::Killed { signal: status, core: code == libc::CLD_DUMPED },
    })
}

/// Whether this process has any child, running or ended.
#[must_use]
pub fn has_children() -> bool {
    wait(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT).is_ok()
}

/// Some child that has ended and was not yet collected; it is not collected by this call.
#[must_use]
pub fn dead_child() -> Option<u32> {
    let info = wait(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT).ok()??;
    // SAFETY: waitid has filled in the fields of a child's end.
    Some(unsafe { info.si_pid() } as u32)
}

fn wait(which: libc::idtype_t, pid: u32, options: i32) -> io::Result<Option<libc::siginfo_t>> {
    // SAFETY: the structure is plain data that the kernel fills, or leaves zeroed when nobody has ended.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        match libc::waitid(which, pid, &raw mut info, options) {
            0 => Ok((info.si_pid() != 0).then_some(info)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
