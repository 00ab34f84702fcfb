//! Processes some of whose system calls another process, their *tracer*, makes for them: `ptrace(2)`, with a filter of `seccomp(2)` by which nothing else is slowed
//! down.
//!
//! [`trace_this`] gives the calling process a tracer, before it becomes another program by `exec`. All threads of it, its children and theirs have the same one, which sees in
//! [`next`] what happens to them:
//!
//! - A thread stands before one of the calls ([`Stop::Call`]). What it would do is in its [`Registers`]; [`Registers::finish`] gives it a result in place of
//!   the call. If that takes longer, it [sleeps](Registers::sleep) meanwhile, in a call that does nothing and that signals end as they would end its own.
//! - A thread can be made to call something else by itself ([`Puppet`]).
//! - New threads and processes, programs that begin, signals, and ends.
//!
//! If a filter of somebody else answers these calls already, ours is never asked. Then every call of the system is reported, which costs more: [`Stop::Call`] may be
//! about any.
//!
//! A thread that was reported stands until it is told to [go on](resume). If the tracer is killed, so are all.
//!
//! Registers are those of x86-64; there is no such module for other processors.

use std::io::{self, Read as _, Write as _};
use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::{Error, Result};

/// What has happened to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It stands before one of the calls, or before any.
    Call,
    /// It has made a child, which has a copy of its memory.
    Forked(u32),
    /// It has made a thread, or a process that shares its memory.
    Cloned(u32),
    /// It has become another program. It had this number before, if another thread than the first has done it.
    Became(u32),
    /// It is about to get a signal.
    Signal(i32),
    /// It stands because it was asked to, or is new.
    Stands,
    /// Its process was stopped by a signal.
    Stopped,
    /// It has ended; if it was the first of its process, all of that has.
    Ended,
}

/// Whether every call is reported.
static EVERY: AtomicBool = AtomicBool::new(false);

/// What is added to the signal of a stop at a call, so that it is none of a signal.
const AT_CALL: i32 = 0x80;

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// A request about a thread that stands; whether it was heard. A thread that has been killed meanwhile hears nothing.
fn request(what: libc::c_uint, thread: u32, address: usize, data: usize) -> bool {
    // SAFETY: requests with numbers, or with memory of the caller that is as large as the request takes.
    unsafe { libc::ptrace(what, thread as libc::pid_t, address, data) != -1 }
}

/// Gives this process, which has one thread, a tracer: a process of its own, not its child, that runs `work` with its number.
///
/// # Errors
/// When the system does not allow that.
pub fn trace_this(calls: &[i64], work: impl FnOnce(u32)) -> Result<()> {
    let own = std::process::id();
    EVERY.store(is_filtered(), Relaxed);
    let broken = |error: io::Error| Error::new("cannot make a pipe", error);
    let (mut heard, mut says) = io::pipe().map_err(broken)?;
    // SAFETY: this process has one thread, so that its copies may do anything; they leave by `_exit`. The others are system calls with numbers.
    unsafe {
        libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0);
        match libc::fork() {
            -1 => return Err(Error::last("cannot start a process")),
            0 => {
                if libc::fork() == 0 {
                    drop(heard);
                    libc::setsid();
                    let error = if seize(own) { 0 } else { errno() };
                    let told = says.write_all(&error.to_ne_bytes());
                    drop(says);
                    if error == 0 && told.is_ok() {
                        work(own);
                    }
                }
                libc::_exit(0);
            }
            between => libc::waitpid(between, null_mut(), 0),
        };
        drop(says);
        let mut error = [0; 4];
        heard.read_exact(&mut error).map_err(|error| Error::new("no tracer starts", error))?;
        libc::prctl(libc::PR_SET_PTRACER, 0, 0, 0, 0);
        match i32::from_ne_bytes(error) {
            0 if EVERY.load(Relaxed) => Ok(()),
            0 => filter(calls),
            number => Err(Error::new("a process cannot be traced", io::Error::from_raw_os_error(number))),
        }
    }
}

/// Whether a filter of this process keeps calls of System V IPC from the system, which would say that there is no such queue.
fn is_filtered() -> bool {
    // SAFETY: a call with numbers.
    let result = unsafe { libc::syscall(libc::SYS_msgctl, -1, libc::IPC_RMID, 0) };
    let is_answered = result == -1 && errno() != libc::EINVAL;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let filters = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    is_answered && filters.is_some_and(|mode| mode.trim() == "2")
}

fn seize(process: u32) -> bool {
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACESECCOMP
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SEIZE, process, 0, options as usize)
}

/// What a filter looks at: `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// `AUDIT_ARCH_X86_64`: calls of 32-bit programs have other numbers, and go on to the system.
const OURS: u32 = 0xc000_003e;

/// Has calls with these numbers reported to the tracer. Without rights that takes that no program can gain any from now on.
fn filter(calls: &[i64]) -> Result<()> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, k| libc::sock_filter { code, jt: 0, jf: 0, k };
    let mut steps = vec![step(LOAD, ARCHITECTURE)];
    // How many steps it is from one that compares to the last two.
    let left = |steps: &[libc::sock_filter]| (calls.len() + 2 - steps.len()) as u8;
    steps.push(libc::sock_filter { code: IS, jt: 0, jf: calls.len() as u8 + 1, k: OURS });
    steps.push(step(LOAD, NUMBER));
    for call in calls {
        let jt = left(&steps) + 1;
        steps.push(libc::sock_filter { code: IS, jt, jf: 0, k: *call as u32 });
    }
    steps.push(step(RETURN, libc::SECCOMP_RET_ALLOW));
    steps.push(step(RETURN, libc::SECCOMP_RET_TRACE));
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    let install = || {
        // SAFETY: a program that lives as long as the call.
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0 }
    };
    if install() {
        return Ok(());
    }
    // SAFETY: a call with numbers.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if install() { Ok(()) } else { Err(Error::last("system calls cannot be filtered")) }
}

/// What has happened to a thread, if something has. The number is that of the thread.
///
/// # Errors
/// `ECHILD`: there is no process any more.
pub fn next() -> io::Result<Option<(u32, Stop)>> {
    let mut status = 0;
    // SAFETY: a place on the stack.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::__WALL) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        thread => Ok(Some((thread as u32, stop(thread as u32, status)))),
    }
}

fn stop(thread: u32, status: i32) -> Stop {
    if !libc::WIFSTOPPED(status) {
        return Stop::Ended;
    }
    let signal = libc::WSTOPSIG(status);
    let told = || {
        let mut number: libc::c_ulong = 0;
        request(libc::PTRACE_GETEVENTMSG, thread, 0, &raw mut number as usize);
        number as u32
    };
    match status >> 16 {
        libc::PTRACE_EVENT_SECCOMP => Stop::Call,
        libc::PTRACE_EVENT_FORK => Stop::Forked(told()),
        libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => Stop::Cloned(told()),
        libc::PTRACE_EVENT_EXEC => Stop::Became(told()),
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Stop::Stopped,
        0 if signal != libc::SIGTRAP | AT_CALL => Stop::Signal(signal),
        0 if is_before_call(thread) => Stop::Call,
        _ => Stop::Stands,
    }
}

/// Whether a thread that stands at a call is before it, and not behind it.
fn is_before_call(thread: u32) -> bool {
    // SAFETY: numbers, which the system fills as far as there is room.
    let mut facts: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let known = request(libc::PTRACE_GET_SYSCALL_INFO, thread, size_of_val(&facts), &raw mut facts as usize);
    known && facts.op == libc::PTRACE_SYSCALL_INFO_ENTRY
}

/// Has a thread go on, with a signal, or 0.
pub fn resume(thread: u32, signal: i32) {
    let how = if EVERY.load(Relaxed) { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT };
    request(how, thread, 0, signal as usize);
}

/// Has a thread of a process that was stopped wait until that is continued.
pub fn leave_stopped(thread: u32) {
    request(libc::PTRACE_LISTEN, thread, 0, 0);
}

/// Asks a thread to stand.
pub fn interrupt(thread: u32) {
    request(libc::PTRACE_INTERRUPT, thread, 0, 0);
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug)]
pub struct Registers(libc::user_regs_struct);

impl Registers {
    /// Nothing if it was killed meanwhile.
    #[must_use]
    pub fn of(thread: u32) -> Option<Self> {
        // SAFETY: numbers, which the system fills.
        let mut all: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        request(libc::PTRACE_GETREGS, thread, 0, &raw mut all as usize).then_some(Self(all))
    }

    fn set(mut self, thread: u32) {
        request(libc::PTRACE_SETREGS, thread, 0, &raw mut self.0 as usize);
    }

    /// The number of the call.
    #[must_use]
    pub fn number(&self) -> i64 {
        self.0.orig_rax as i64
    }

    /// Its arguments.
    #[must_use]
    pub fn arguments(&self) -> [usize; 6] {
        [self.0.rdi, self.0.rsi, self.0.rdx, self.0.r10, self.0.r8, self.0.r9].map(|one| one as usize)
    }

    fn result(&self) -> i64 {
        self.0.rax as i64
    }

    fn stack(&self) -> usize {
        self.0.rsp as usize
    }

    /// The thread has made the call, and this is what came of it.
    pub fn finish(mut self, thread: u32, result: i64) {
        (self.0.rax, self.0.orig_rax) = (result as u64, u64::MAX);
        self.set(thread);
    }

    fn with(mut self, number: i64, arguments: [usize; 6]) -> Self {
        let [a, b, c, d, e, f] = arguments.map(|one| one as u64);
        self.0.orig_rax = number as u64;
        (self.0.rdi, self.0.rsi, self.0.rdx, self.0.r10, self.0.r8, self.0.r9) = (a, b, c, d, e, f);
        self
    }

    /// The thread sleeps in place of the call, until it is asked to stand or gets a signal.
    pub fn sleep(self, thread: u32) {
        self.with(libc::SYS_ppoll, [0; 6]).set(thread);
    }

    /// The instruction that calls is to be done again, for another call.
    fn again(self, number: i64, arguments: [usize; 6]) -> Self {
        const INSTRUCTION: u64 = 2;
        let mut next = self.with(number, arguments);
        (next.0.rax, next.0.rip) = (number as u64, self.0.rip - INSTRUCTION);
        next
    }
}

/// A thread that stands before a call and makes others in its place. Meanwhile it gets no signal.
#[derive(Debug)]
pub struct Puppet {
    thread: u32,
    registers: Registers,
    signals: u64,
    has_called: bool,
    is_stopped: bool,
}

/// The thread was killed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Killed;

impl Puppet {
    /// The thread that stands there.
    #[must_use]
    pub fn new(thread: u32, registers: Registers) -> Self {
        let (mut signals, mut all) = (0_u64, u64::MAX);
        request(libc::PTRACE_GETSIGMASK, thread, 8, &raw mut signals as usize);
        request(libc::PTRACE_SETSIGMASK, thread, 8, &raw mut all as usize);
        Self { thread, registers, signals, has_called: false, is_stopped: false }
    }

    /// Makes a call, and returns what it returns: an error as a number below 0.
    ///
    /// # Errors
    /// When the thread has ended.
    pub fn call(&mut self, number: i64, arguments: [usize; 6]) -> std::result::Result<i64, Killed> {
        if self.has_called {
            self.registers.again(number, arguments).set(self.thread);
            self.go_to_call()?;
        } else {
            self.registers.with(number, arguments).set(self.thread);
        }
        self.has_called = true;
        self.go_to_call()?;
        Ok(Registers::of(self.thread).ok_or(Killed)?.result())
    }

    /// A text where the thread can read it, as long as it makes no call of its own.
    #[must_use]
    pub fn text(&self, text: &std::ffi::CStr) -> Option<usize> {
        /// What a function may have below its stack.
        const BELOW: usize = 256;
        let bytes = text.to_bytes_with_nul();
        let address = self.registers.stack().checked_sub(BELOW + bytes.len())?;
        write_memory(self.thread, address, bytes).then_some(address)
    }

    /// To where the call begins, or ends.
    fn go_to_call(&mut self) -> std::result::Result<(), Killed> {
        loop {
            let mut status = 0;
            // SAFETY: a place on the stack.
            let found = request(libc::PTRACE_SYSCALL, self.thread, 0, 0)
                && unsafe { libc::waitpid(self.thread as i32, &raw mut status, libc::__WALL) } != -1;
            if !found || !libc::WIFSTOPPED(status) {
                return Err(Killed);
            }
            if libc::WSTOPSIG(status) == libc::SIGTRAP | AT_CALL {
                return Ok(());
            }
            // A signal that cannot be kept away comes when all is over.
            self.is_stopped |= libc::WSTOPSIG(status) == libc::SIGSTOP;
        }
    }

    /// The call in whose place the others were made returns this.
    pub fn finish(mut self, result: i64) {
        self.registers.finish(self.thread, result);
        request(libc::PTRACE_SETSIGMASK, self.thread, 8, &raw mut self.signals as usize);
        if self.is_stopped {
            // SAFETY: a call with numbers.
            unsafe { libc::kill(self.thread as i32, libc::SIGSTOP) };
        }
    }
}

fn part(address: usize, bytes: usize) -> libc::iovec {
    libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes }
}

/// Reads memory of a process; whether all of it is there.
#[must_use]
pub fn read_memory(process: u32, address: usize, into: &mut [u8]) -> bool {
    let (here, there) = (part(into.as_mut_ptr() as usize, into.len()), part(address, into.len()));
    // SAFETY: a slice of the caller, and memory that the system looks at.
    let read = unsafe { libc::process_vm_readv(process as i32, &raw const here, 1, &raw const there, 1, 0) };
    read == into.len() as isize
}

/// Writes memory of a process; whether all of it is there.
#[must_use]
pub fn write_memory(process: u32, address: usize, from: &[u8]) -> bool {
    let (here, there) = (part(from.as_ptr() as usize, from.len()), part(address, from.len()));
    // SAFETY: as above; from the slice is only read.
    let written =
        unsafe { libc::process_vm_writev(process as i32, &raw const here, 1, &raw const there, 1, 0) };
    written == from.len() as isize
}
