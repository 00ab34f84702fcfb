//! What makes, ends and waits for processes, and gives them to other users.
//!
//! A child has the segments of its parent attached, and nothing of what that has to take back. A process takes back what it has to when it ends, and
//! whoever waits for one that could not finds it done. A program that is started by `exec` is the same process. `vfork` and what is made of it stay
//! as they are: until they start another program, they are their parent.

use std::ffi::{c_int, c_long, c_void};

use postrider_ipc::space::Space;
use postrider_os::next::Next;

use crate::{space, system};

type Fork = extern "C" fn() -> c_int;

#[unsafe(no_mangle)]
extern "C" fn fork() -> c_int {
    static NEXT: Next = Next::new(c"fork");
    // SAFETY: its type in C.
    let next: Fork = unsafe { NEXT.get() };
    let Some(space) = space() else { return next() };
    let child = space.before_fork();
    let pid = space.while_nothing_is_attached(|| next());
    match pid {
        0 => {
            space.in_child(child);
            if child.is_some() {
                space.share_as_child();
            }
        }
        _ => space.after_fork(child, u32::try_from(pid).ok()),
    }
    pid
}

/// Whether this is the process that the library knows, and not a child that shares its memory.
fn is_itself() -> bool {
    system::call(libc::SYS_getpid, &[]) == Ok(i64::from(postrider_ipc::space::own_pid()))
}

fn leave(space: &Space) {
    if is_itself() {
        space.leave();
    }
}

/// When the program begins: it may have been another one.
extern "C" fn begin() {
    if let Some(space) = space() {
        space.resume();
    }
}

/// When it has ended by `exit`.
extern "C" fn end() {
    if let Some(space) = space() {
        leave(space);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

#[unsafe(no_mangle)]
extern "C" fn _exit(code: c_int) -> ! {
    end();
    loop {
        let _never = system::call(libc::SYS_exit_group, &[c_long::from(code)]);
    }
}

#[unsafe(no_mangle)]
extern "C" fn _Exit(code: c_int) -> ! {
    _exit(code)
}

/// Notes that a process was waited for.
fn ended(pid: c_int) {
    if let (Ok(pid @ 1..), Some(space)) = (u32::try_from(pid), space()) {
        space.has_ended(pid);
    }
}

#[unsafe(no_mangle)]
extern "C" fn wait(status: *mut c_int) -> c_int {
    wait4(-1, status, 0, std::ptr::null_mut())
}

#[unsafe(no_mangle)]
extern "C" fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int {
    wait4(pid, status, options, std::ptr::null_mut())
}

#[unsafe(no_mangle)]
extern "C" fn wait3(status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int {
    wait4(-1, status, options, usage)
}

#[unsafe(no_mangle)]
extern "C" fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int {
    type Wait4 = extern "C" fn(c_int, *mut c_int, c_int, *mut c_void) -> c_int;
    static NEXT: Next = Next::new(c"wait4");
    // SAFETY: its type in C.
    let next: Wait4 = unsafe { NEXT.get() };
    let found = next(pid, status, options, usage);
    ended(found);
    found
}

#[unsafe(no_mangle)]
extern "C" fn waitid(kind: c_int, id: u32, facts: *mut libc::siginfo_t, options: c_int) -> c_int {
    type Waitid = extern "C" fn(c_int, u32, *mut libc::siginfo_t, c_int) -> c_int;
    static NEXT: Next = Next::new(c"waitid");
    // SAFETY: its type in C.
    let next: Waitid = unsafe { NEXT.get() };
    let result = next(kind, id, facts, options);
    if result == 0 && !facts.is_null() {
        // SAFETY: what the call has filled.
        ended(unsafe { (*facts).si_pid() });
    }
    result
}

/// Functions by which a process becomes another user's.
macro_rules! users {
    ($($name:ident ($($argument:ident),*) = $text:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: u32),*) -> c_int {
                type Function = extern "C" fn($(users!(@number $argument)),*) -> c_int;
                static NEXT: Next = Next::new($text);
                // SAFETY: its type in C.
                let result = (unsafe { NEXT.get::<Function>() })($($argument),*);
                postrider_ipc::space::system::forget_user();
                result
            }
        )*
    };
    (@number $argument:ident) => { u32 };
}
users! {
    setuid(user) = c"setuid";
    seteuid(user) = c"seteuid";
    setreuid(real, effective) = c"setreuid";
    setresuid(real, effective, saved) = c"setresuid";
}
