//! Pages of other hosts: the signal of a thread that touches one which is not there, and what would keep that signal away.
//!
//! `SIGSEGV` is this library's once a segment is attached that hosts may share; a handler of the program gets what is none of ours. A thread that blocks
//! the signal would be killed by its first page, so nobody does.

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

use postrider_ipc::space::pages::Fault;
use postrider_os::next::Next;

use crate::{space, system};

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
type Action = extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type Mask = extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

static ACTION: Next = Next::new(c"sigaction");
static INSTALLED: AtomicBool = AtomicBool::new(false);
/// What the signal does where it is none of ours.
static BEFORE: Mutex<Option<libc::sigaction>> = Mutex::new(None);

fn before() -> MutexGuard<'static, Option<libc::sigaction>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gets the signal from now on.
pub fn install() {
    let mut before = before();
    if INSTALLED.load(Acquire) {
        return;
    }
    // SAFETY: a handler that keeps to what such a handler may do, for as long as the process lives.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        let mut old: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = touched as Handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigfillset(&raw mut action.sa_mask);
        ACTION.get::<Action>()(libc::SIGSEGV, &raw const action, &raw mut old);
        *before = Some(old);
    }
    INSTALLED.store(true, Release);
}

/// Whether signals are to stay open for pages of other hosts.
fn is_needed() -> bool {
    space().is_some_and(|space| space.shares_pages())
}

/// Whether the access that has failed was a write.
#[cfg(target_arch = "x86_64")]
unsafe fn has_written(context: *const libc::ucontext_t) -> bool {
    // SAFETY: the system's description of the thread, by the caller's promise.
    unsafe { (*context).uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0 }
}

/// Whether the access that has failed was a write: the system adds records, of which one has the processor's word for it.
#[cfg(target_arch = "aarch64")]
unsafe fn has_written(context: *const libc::ucontext_t) -> bool {
    const RECORDS: usize = 288;
    const SYNDROME: u32 = 0x4553_5201;
    // SAFETY: as above; records end with one of no length.
    unsafe {
        let mut record = (&raw const (*context).uc_mcontext).cast::<u8>().add(RECORDS);
        loop {
            let [kind, bytes] = record.cast::<[u32; 2]>().read();
            match kind {
                SYNDROME => return record.add(8).cast::<u64>().read() & 1 << 6 != 0,
                _ if bytes == 0 => return false,
                _ => record = record.add(bytes as usize),
            }
        }
    }
}

extern "C" fn touched(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    /// The memory is there, and closed.
    const CLOSED: c_int = 2;
    // SAFETY: what the system gives to a handler of this signal.
    let (code, address, writes) =
        unsafe { ((*info).si_code, (*info).si_addr() as usize, has_written(context.cast_const().cast())) };
    let errno = system::errno();
    let fault = match space() {
        Some(space) if code == CLOSED => space.fault(address, writes),
        _ => Fault::Foreign,
    };
    match fault {
        Fault::Served => {}
        Fault::Foreign => foreign(signal, info, context),
        Fault::Lost(identifier, host) => {
            let name = space().map_or_else(String::new, |space| space.host_name(host));
            eprintln!(
                "postrider: memory of segment {identifier} was on host {name}, which cannot be reached any more"
            );
            bus_error(context);
        }
        Fault::Refused(error) => {
            let error = std::io::Error::from_raw_os_error(error);
            eprintln!("postrider: a page of another host cannot be opened: {error}");
            bus_error(context);
        }
    }
    system::set_errno(errno);
}

/// The program gets `SIGBUS` when the handler returns, and cannot have it kept away.
fn bus_error(context: *mut c_void) {
    // SAFETY: the system's description of the thread, whose signals it will have again, and actions on the stack.
    unsafe {
        libc::sigdelset(&raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask, libc::SIGBUS);
        let mut action: libc::sigaction = core::mem::zeroed();
        let next: Action = ACTION.get();
        next(libc::SIGBUS, core::ptr::null(), &raw mut action);
        if action.sa_sigaction == libc::SIG_IGN {
            action.sa_sigaction = libc::SIG_DFL;
            next(libc::SIGBUS, &raw const action, core::ptr::null_mut());
        }
        libc::raise(libc::SIGBUS);
    }
}

/// What the program would have had.
fn foreign(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(action) = *before() else { return };
    // SAFETY: the program's handler, called as it asked for it, with the signals that it had; or the default.
    unsafe {
        if action.sa_sigaction == libc::SIG_DFL || action.sa_sigaction == libc::SIG_IGN {
            let mut default = action;
            default.sa_sigaction = libc::SIG_DFL;
            ACTION.get::<Action>()(signal, &raw const default, core::ptr::null_mut());
            return;
        }
        let signals = &raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask;
        libc::pthread_sigmask(libc::SIG_SETMASK, signals, core::ptr::null_mut());
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            core::mem::transmute::<usize, Handler>(action.sa_sigaction)(signal, info, context);
        } else {
            core::mem::transmute::<usize, extern "C" fn(c_int)>(action.sa_sigaction)(signal);
        }
    }
}

/// The program's action for a signal that is ours: what it was, and what it is from now on.
fn change(new: Option<libc::sigaction>) -> Option<libc::sigaction> {
    let mut before = before();
    let old = *before;
    if let Some(new) = new {
        *before = Some(new);
    }
    old
}

#[unsafe(no_mangle)]
extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    // SAFETY: the program's arguments, and its own copy of them.
    unsafe {
        let mut asked = new.as_ref().copied();
        if signal == libc::SIGSEGV && INSTALLED.load(Acquire) {
            let was = change(asked);
            if let (Some(was), false) = (was, old.is_null()) {
                *old = was;
            }
            return 0;
        }
        if let (Some(asked), true) = (&mut asked, is_needed()) {
            libc::sigdelset(&raw mut asked.sa_mask, libc::SIGSEGV);
        }
        let new = asked.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        ACTION.get::<Action>()(signal, new, old)
    }
}

#[unsafe(no_mangle)]
extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    static NEXT: Next = Next::new(c"signal");
    if signal == libc::SIGSEGV && INSTALLED.load(Acquire) {
        // SAFETY: valid as zeros.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        action.sa_sigaction = handler;
        return change(Some(action)).map_or(libc::SIG_DFL, |was| was.sa_sigaction);
    }
    // SAFETY: its type in C.
    (unsafe { NEXT.get::<extern "C" fn(c_int, usize) -> usize>() })(signal, handler)
}

/// Functions that change which signals a thread has.
macro_rules! masks {
    ($($name:ident = $text:literal),*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
                static NEXT: Next = Next::new($text);
                // SAFETY: its type in C; the program's argument, and a copy of it.
                unsafe {
                    let mut asked = new.as_ref().copied();
                    if let (Some(asked), true) = (&mut asked, how != libc::SIG_UNBLOCK && is_needed()) {
                        libc::sigdelset(asked, libc::SIGSEGV);
                    }
                    let new = asked.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
                    NEXT.get::<Mask>()(how, new, old)
                }
            }
        )*
    };
}
masks!(sigprocmask = c"sigprocmask", pthread_sigmask = c"pthread_sigmask");
