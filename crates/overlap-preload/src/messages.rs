//! Names of MPI.

use core::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use postrider_abi::*;
use postrider_overlap::files;
use postrider_overlap::messages::{self, Blocking, Part};

use crate::memory::is_ready;
use crate::next::{Next, next};

/// Return address of the call that is being made, which its first instructions have noted.
#[unsafe(no_mangle)]
static POSTRIDER_OVERLAP_SITE: AtomicUsize = AtomicUsize::new(0);

/// For how many calls there is nothing to do.
static PAUSE: AtomicU64 = AtomicU64::new(0);

/// Whether a call is to be looked at. Whatever the program has written to files, others may know from it.
fn is_awake() -> bool {
    files::publish();
    if messages::is_off() {
        return false;
    }
    let left = PAUSE.load(Relaxed);
    if left > 0 {
        PAUSE.store(left - 1, Relaxed);
    }
    left == 0 && is_ready()
}

/// Others may see from a call how far this process is.
extern "C" fn completing(next: &Next) -> *mut c_void {
    files::publish();
    messages::complete("another call of MPI");
    next.address()
}

/// The program is asynchronous already, or has error handlers.
extern "C" fn stopping(next: &Next) -> *mut c_void {
    files::publish();
    messages::stop("the program has nonblocking or one-sided operations, or error handlers");
    next.address()
}

/// A handle may stand for something else from now on.
extern "C" fn forgetting(next: &Next) -> *mut c_void {
    files::publish();
    messages::complete("a handle is freed");
    messages::forget_handles();
    next.address()
}

/// Names that go on to the library, with all their arguments; where a byte is not 0, something is done before.
macro_rules! go_on {
    ($before:ident if $watched:path: $($name:ident)*) => {$(
        /// # Safety
        /// As for MPI's function of this name.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name() {
            static NEXT: Next = next_of!($name);
            core::arch::naked_asm!(
                "cmp byte ptr [rip + {watched}], 0",
                "jne 2f",
                "mov rax, [rip + {next} + {address}]",
                "test rax, rax",
                "je 2f",
                "jmp rax",
                "2:",
                "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                "lea rdi, [rip + {next}]",
                "call {before}",
                "pop r11", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                "jmp rax",
                watched = sym $watched, next = sym NEXT, address = const core::mem::offset_of!(Next, address),
                before = sym $before,
            );
        }
    )*};
}

mod names;

/// Names that the layer carries out itself, which note where they are called.
macro_rules! noted {
    ($($name:ident $ours:ident)*) => {
        $(core::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".type ", stringify!($name), ", @function"),
            concat!(stringify!($name), ":"),
            "mov rax, [rsp]",
            "mov [rip + {site}], rax",
            "jmp {ours}",
            site = sym POSTRIDER_OVERLAP_SITE,
            ours = sym $ours,
        );)*
    };
}

noted! {
    MPI_Send send MPI_Send_c send_c MPI_Rsend rsend MPI_Rsend_c rsend_c MPI_Recv recv MPI_Recv_c recv_c
    MPI_Sendrecv sendrecv MPI_Sendrecv_c sendrecv_c MPI_Sendrecv_replace replace MPI_Sendrecv_replace_c replace_c
}

/// A call of the program, or the library's function where there is nothing to do.
fn blocking(
    function: u8,
    send: Option<Part>,
    receive: Option<Part>,
    communicator: MPI_Comm,
    status: *mut MPI_Status,
    plain: impl FnOnce() -> c_int,
) -> c_int {
    let has_status = status as usize != MPI_STATUS_IGNORE;
    let site = POSTRIDER_OVERLAP_SITE.load(Relaxed);
    let blocking = Blocking { function, site, send, receive, communicator, has_status };
    let (code, pause) = messages::call(&blocking, plain);
    PAUSE.store(pause, Relaxed);
    code
}

fn part(address: *const c_void, count: i64, datatype: MPI_Datatype, peer: c_int, tag: c_int) -> Option<Part> {
    Some(Part { address: address as usize, count, datatype, peer, tag })
}

macro_rules! sends {
    ($($ours:ident $name:ident $function:literal $count:ty;)*) => {
        $(extern "C" fn $ours(
            buffer: *const c_void, count: $count, datatype: MPI_Datatype, destination: c_int, tag: c_int, communicator: MPI_Comm,
        ) -> c_int {
            // SAFETY: the program's arguments.
            let plain = || unsafe {
                next!($name: fn(*const c_void, $count, MPI_Datatype, c_int, c_int, MPI_Comm) -> c_int)(buffer, count, datatype, destination, tag, communicator)
            };
            if !is_awake() {
                return plain();
            }
            let send = part(buffer, i64::from(count), datatype, destination, tag);
            blocking($function, send, None, communicator, MPI_STATUS_IGNORE as *mut MPI_Status, plain)
        })*
    };
}

sends! {
    send MPI_Send 0 c_int;
    send_c MPI_Send_c 0 MPI_Count;
    rsend MPI_Rsend 1 c_int;
    rsend_c MPI_Rsend_c 1 MPI_Count;
}

macro_rules! receives {
    ($($ours:ident $name:ident $count:ty;)*) => {
        $(extern "C" fn $ours(
            buffer: *mut c_void, count: $count, datatype: MPI_Datatype, source: c_int, tag: c_int, communicator: MPI_Comm,
            status: *mut MPI_Status,
        ) -> c_int {
            // SAFETY: the program's arguments.
            let plain = || unsafe {
                next!($name: fn(*mut c_void, $count, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Status) -> c_int)(buffer, count, datatype, source, tag, communicator, status)
            };
            if !is_awake() {
                return plain();
            }
            let receive = part(buffer, i64::from(count), datatype, source, tag);
            blocking(2, None, receive, communicator, status, plain)
        })*
    };
}

receives! {
    recv MPI_Recv c_int;
    recv_c MPI_Recv_c MPI_Count;
}

macro_rules! exchanges {
    ($($ours:ident $name:ident $count:ty;)*) => {
        $(#[allow(clippy::too_many_arguments)]
        extern "C" fn $ours(
            from: *const c_void, sent: $count, sent_as: MPI_Datatype, destination: c_int, send_tag: c_int,
            to: *mut c_void, received: $count, received_as: MPI_Datatype, source: c_int, receive_tag: c_int,
            communicator: MPI_Comm, status: *mut MPI_Status,
        ) -> c_int {
            // SAFETY: the program's arguments.
            let plain = || unsafe {
                next!($name: fn(
                *const c_void, $count, MPI_Datatype, c_int, c_int, *mut c_void, $count, MPI_Datatype, c_int, c_int, MPI_Comm,
                *mut MPI_Status,
            ) -> c_int)(
                from, sent, sent_as, destination, send_tag, to, received, received_as, source, receive_tag, communicator, status,
            )
            };
            if !is_awake() {
                return plain();
            }
            let send = part(from, i64::from(sent), sent_as, destination, send_tag);
            let receive = part(to, i64::from(received), received_as, source, receive_tag);
            blocking(3, send, receive, communicator, status, plain)
        })*
    };
}

exchanges! {
    sendrecv MPI_Sendrecv c_int;
    sendrecv_c MPI_Sendrecv_c MPI_Count;
}

macro_rules! replaces {
    ($($ours:ident $name:ident $count:ty;)*) => {
        $(#[allow(clippy::too_many_arguments)]
        extern "C" fn $ours(
            buffer: *mut c_void, count: $count, datatype: MPI_Datatype, destination: c_int, send_tag: c_int, source: c_int,
            receive_tag: c_int, communicator: MPI_Comm, status: *mut MPI_Status,
        ) -> c_int {
            // SAFETY: the program's arguments.
            let plain = || unsafe {
                next!($name: fn(
                *mut c_void, $count, MPI_Datatype, c_int, c_int, c_int, c_int, MPI_Comm, *mut MPI_Status,
            ) -> c_int)(
                buffer, count, datatype, destination, send_tag, source, receive_tag, communicator, status,
            )
            };
            if !is_awake() {
                return plain();
            }
            let send = part(buffer, i64::from(count), datatype, destination, send_tag);
            let receive = part(buffer, i64::from(count), datatype, source, receive_tag);
            blocking(4, send, receive, communicator, status, plain)
        })*
    };
}

replaces! {
    replace MPI_Sendrecv_replace c_int;
    replace_c MPI_Sendrecv_replace_c MPI_Count;
}
