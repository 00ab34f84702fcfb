//! Names of MPI.

use core::ffi::{c_int, c_void};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use postrider_abi::*;
use postrider_overlap::ATTENTION;
use postrider_overlap::files;
use postrider_overlap::messages::{self, Blocking, PAUSE, Part};

use crate::memory::is_ready;
use crate::next::{Next, next_of};

/// Return address of the call that is being made, which its first instructions have noted.
#[unsafe(no_mangle)]
static POSTRIDER_OVERLAP_SITE: AtomicUsize = AtomicUsize::new(0);

/// Of calls that have no status.
const STATUS_IGNORE: *mut MPI_Status = MPI_STATUS_IGNORE as *mut MPI_Status;

/// Whether a call is to be looked at. Whatever the program has written to files, others may know from it.
fn is_awake() -> bool {
    files::publish();
    messages::is_awake() && is_ready()
}

/// Others may see from a call how far this process is.
extern "C" fn completing(next: &Next, _first: usize) -> *mut c_void {
    files::publish();
    messages::complete("another call of MPI");
    next.address()
}

/// The program is asynchronous already.
extern "C" fn stopping(next: &Next, _first: usize) -> *mut c_void {
    files::publish();
    messages::stop("the program has nonblocking or one-sided operations");
    next.address()
}

/// A handle may stand for something else from now on.
extern "C" fn forgetting(next: &Next, _first: usize) -> *mut c_void {
    files::publish();
    messages::complete("a handle is freed, or an error handler set");
    messages::forget_handles();
    next.address()
}

/// The program looks at a status.
extern "C" fn resolving(next: &Next, first: usize) -> *mut c_void {
    files::publish();
    messages::complete("the program looks at a status");
    let status = first as *mut MPI_Status;
    if !status.is_null() {
        // SAFETY: the program's argument. What is still to come was written by us, so that it can be written.
        unsafe {
            let before = status.read_unaligned();
            let complete = messages::complete_status(before);
            if complete != before {
                status.write_unaligned(complete);
            }
        }
    }
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
                "mov rsi, rdi",
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

/// A call of the program, or the library's function where there is nothing to do.
fn blocking(
    function: u8,
    send: Option<Part>,
    receive: Option<Part>,
    communicator: MPI_Comm,
    status: *mut MPI_Status,
    plain: impl FnOnce() -> c_int,
) -> c_int {
    let status = (status != STATUS_IGNORE).then_some(status as usize);
    let site = POSTRIDER_OVERLAP_SITE.load(Relaxed);
    let blocking = Blocking { function, site, send, receive, communicator, status };
    messages::call(&blocking, plain)
}

fn part(
    address: *const c_void,
    count: impl Into<i64>,
    datatype: MPI_Datatype,
    peer: c_int,
    tag: c_int,
) -> Option<Part> {
    Some(Part { address: address as usize, count: count.into(), datatype, peer, tag })
}

/// The type of counts in the functions, and in their twins.
mod small {
    pub type Count = core::ffi::c_int;
}
mod large {
    pub type Count = postrider_abi::MPI_Count;
}

/// Functions that the layer carries out itself, and their large-count twins: the number of each, what it sends and what it receives. Their first
/// instructions go on to the library where there is nothing to do, and else note where they are called.
macro_rules! carried_out {
    ($($number:literal: $name:ident / $twin:ident ($($argument:ident: $type:ty),*)
        sends $send:expr, receives $receive:expr, on $communicator:expr, $status:expr;)*) => {$(
        carried_out! { @small $number $name ($($argument: $type),*) $send, $receive, $communicator, $status }
        carried_out! { @large $number $twin ($($argument: $type),*) $send, $receive, $communicator, $status }
    )*};
    (@$width:ident $number:literal $name:ident ($($argument:ident: $type:ty),*)
        $send:expr, $receive:expr, $communicator:expr, $status:expr) => {
        const _: () = {
            use $width::Count;

            static NEXT: Next = next_of!($name);

            #[allow(clippy::too_many_arguments)]
            extern "C" fn ours($($argument: $type),*) -> c_int {
                // SAFETY: the program's arguments.
                let plain = || unsafe { NEXT.get::<unsafe extern "C" fn($($type),*) -> c_int>()($($argument),*) };
                if !is_awake() {
                    return plain();
                }
                blocking($number, $send, $receive, $communicator, $status, plain)
            }

            /// # Safety
            /// As for MPI's function of this name.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            #[allow(non_snake_case)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "cmp byte ptr [rip + {attention}], 0",
                    "jne 2f",
                    "cmp qword ptr [rip + {pause}], 0",
                    "je 2f",
                    "mov rax, [rip + {next} + {address}]",
                    "test rax, rax",
                    "je 2f",
                    "dec qword ptr [rip + {pause}]",
                    "jmp rax",
                    "2:",
                    "mov rax, [rsp]",
                    "mov [rip + {site}], rax",
                    "jmp {ours}",
                    attention = sym ATTENTION, pause = sym PAUSE, next = sym NEXT,
                    address = const core::mem::offset_of!(Next, address),
                    site = sym POSTRIDER_OVERLAP_SITE, ours = sym ours,
                );
            }
        };
    };
}

carried_out! {
    0: MPI_Send / MPI_Send_c (
        buffer: *const c_void, count: Count, datatype: MPI_Datatype, destination: c_int, tag: c_int, communicator: MPI_Comm
    ) sends part(buffer, count, datatype, destination, tag), receives None, on communicator, STATUS_IGNORE;
    1: MPI_Rsend / MPI_Rsend_c (
        buffer: *const c_void, count: Count, datatype: MPI_Datatype, destination: c_int, tag: c_int, communicator: MPI_Comm
    ) sends part(buffer, count, datatype, destination, tag), receives None, on communicator, STATUS_IGNORE;
    2: MPI_Recv / MPI_Recv_c (
        buffer: *mut c_void, count: Count, datatype: MPI_Datatype, source: c_int, tag: c_int, communicator: MPI_Comm,
        status: *mut MPI_Status
    ) sends None, receives part(buffer, count, datatype, source, tag), on communicator, status;
    3: MPI_Sendrecv / MPI_Sendrecv_c (
        from: *const c_void, sent: Count, sent_as: MPI_Datatype, destination: c_int, send_tag: c_int,
        to: *mut c_void, received: Count, received_as: MPI_Datatype, source: c_int, receive_tag: c_int,
        communicator: MPI_Comm, status: *mut MPI_Status
    ) sends part(from, sent, sent_as, destination, send_tag), receives part(to, received, received_as, source, receive_tag),
        on communicator, status;
    4: MPI_Sendrecv_replace / MPI_Sendrecv_replace_c (
        buffer: *mut c_void, count: Count, datatype: MPI_Datatype, destination: c_int, send_tag: c_int, source: c_int,
        receive_tag: c_int, communicator: MPI_Comm, status: *mut MPI_Status
    ) sends part(buffer, count, datatype, destination, send_tag), receives part(buffer, count, datatype, source, receive_tag),
        on communicator, status;
}
