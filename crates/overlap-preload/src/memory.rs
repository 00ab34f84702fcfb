//! Names of the C library: allocation, threads and signals.
//!
//! Large allocations come from the pool whose memory can be closed; all others from whoever would have had them: the C library, or the allocator
//! that a program is linked to. A program with threads of its own, or with
//! handlers of signals that may look at its data at any time, keeps its calls as they are.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use postrider_overlap::memory::{self, Pool, Range, statics};
use postrider_overlap::{messages, settings};

use crate::next::next;

/// Allocations of so many bytes come from the pool.
static LARGE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Libraries whose threads and handlers do not look at the program's data: those of MPI, and of networks under them.
const LIBRARIES: [&str; 10] = [
    "libmpi",
    "libpmpi",
    "libmpich",
    "libpostrider",
    "libucs",
    "libucp",
    "libuct",
    "libucm",
    "libfabric",
    "libpmi",
];
/// Interpreters whose handlers only note that there was a signal.
const INTERPRETERS: [&str; 2] = ["python", "libpython"];

static STARTED: AtomicBool = AtomicBool::new(false);

/// What runs when the library has been loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        allocator::find();
        if settings::has("messages") && Pool::start().is_ok() {
            statics::start();
            LARGE.store(settings::large(), Relaxed);
            STARTED.store(true, Release);
        }
        // SAFETY: a function without arguments, which lives as long as the process.
        unsafe { libc::atexit(at_exit) };
    }
    start
};

extern "C" fn at_exit() {
    messages::complete("exit");
    if let Some(code) = messages::late_error() {
        eprintln!(
            "postrider: a message that overlap received after its call had returned failed with error code {code}"
        );
    }
}

/// Memory of the pool, for a large allocation.
fn pooled(bytes: usize, alignment: usize, zeros: bool) -> Option<*mut c_void> {
    if bytes < LARGE.load(Relaxed) {
        return None;
    }
    let address = Pool::allocate(bytes, alignment, zeros);
    (address != 0).then_some(address as *mut c_void)
}

/// The allocator in whose place the functions below work.
mod allocator {
    use super::*;
    use crate::next::{Next, next_of};

    static NEXT: [Next; 5] =
        [next_of!(malloc), next_of!(calloc), next_of!(realloc), next_of!(memalign), next_of!(free)];

    /// Looks all of its functions up: a look-up may need memory itself, in a thread that is not the first.
    pub fn find() {
        for next in &NEXT {
            next.address();
        }
    }

    macro_rules! function {
        ($at:literal: $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
            /// # Safety
            /// As for the C library's function of this name.
            pub unsafe fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: the function of this name has this type; the rest is the caller's promise.
                unsafe { NEXT[$at].get::<unsafe extern "C" fn($($type),*) $(-> $result)?>()($($argument),*) }
            }
        };
    }

    function! { 0: malloc(bytes: usize) -> *mut c_void }
    function! { 1: calloc(count: usize, bytes: usize) -> *mut c_void }
    function! { 2: realloc(old: *mut c_void, bytes: usize) -> *mut c_void }
    function! { 3: memalign(alignment: usize, bytes: usize) -> *mut c_void }
    function! { 4: free(old: *mut c_void) }
}

// SAFETY: the names are the C library's, and to take their place is what this library is for.
#[unsafe(no_mangle)]
extern "C" fn malloc(bytes: usize) -> *mut c_void {
    // SAFETY: what the program asks for.
    pooled(bytes, 1, false).unwrap_or_else(|| unsafe { allocator::malloc(bytes) })
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    let all = count.checked_mul(bytes).unwrap_or(0);
    // SAFETY: as above.
    pooled(all, 1, true).unwrap_or_else(|| unsafe { allocator::calloc(count, bytes) })
}

/// Completes what is on its way to an allocation that is about to go.
fn complete_before(old: *mut c_void, bytes: usize, why: &'static str) {
    if memory::has_closed(Range { start: old as usize, bytes }) {
        messages::complete(why);
    }
}

#[unsafe(no_mangle)]
extern "C" fn realloc(old: *mut c_void, bytes: usize) -> *mut c_void {
    if !Pool::owns(old as usize) {
        // SAFETY: as above. What grows large there stays there.
        return unsafe { allocator::realloc(old, bytes) };
    }
    if bytes == 0 {
        free(old);
        return core::ptr::null_mut();
    }
    let before = Pool::bytes(old as usize);
    if bytes <= before && bytes >= before / 2 {
        return old;
    }
    complete_before(old, before, "realloc");
    let new = malloc(bytes);
    if !new.is_null() {
        // SAFETY: both are as long as this, and different allocations.
        unsafe { core::ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast(), before.min(bytes)) };
        free(old);
    }
    new
}

#[unsafe(no_mangle)]
extern "C" fn free(old: *mut c_void) {
    if Pool::owns(old as usize) {
        complete_before(old, Pool::bytes(old as usize), "free");
        Pool::free(old as usize);
    } else {
        // SAFETY: what the program frees.
        unsafe { allocator::free(old) }
    }
}

#[unsafe(no_mangle)]
extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    if !alignment.is_power_of_two() {
        // SAFETY: as above.
        return unsafe { allocator::memalign(alignment, bytes) };
    }
    // SAFETY: as above.
    pooled(bytes, alignment, false).unwrap_or_else(|| unsafe { allocator::memalign(alignment, bytes) })
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    memalign(alignment, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn valloc(bytes: usize) -> *mut c_void {
    memalign(4096, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn pvalloc(bytes: usize) -> *mut c_void {
    memalign(4096, bytes.saturating_add(4095) / 4096 * 4096)
}

#[unsafe(no_mangle)]
extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let new = memalign(alignment, bytes);
    if new.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the program's place for the result.
    unsafe { *place = new };
    0
}

#[unsafe(no_mangle)]
extern "C" fn malloc_usable_size(old: *mut c_void) -> usize {
    if Pool::owns(old as usize) {
        return Pool::bytes(old as usize);
    }
    // SAFETY: as above.
    unsafe { next!(malloc_usable_size: fn(*mut c_void) -> usize)(old) }
}

/// Whether an address belongs to a file whose name begins in one of these ways.
fn is_in(address: usize, names: &[&str]) -> bool {
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address, and a place for the result, which is valid as zeros too; the path is that of an object that is loaded.
    unsafe {
        if libc::dladdr(address as *const c_void, found.as_mut_ptr()) == 0 {
            return false;
        }
        let path: *const c_char = found.assume_init().dli_fname;
        let path = CStr::from_ptr(path).to_string_lossy();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        names.iter().any(|start| name.starts_with(start))
    }
}

type Routine = extern "C" fn(*mut c_void) -> *mut c_void;

#[unsafe(no_mangle)]
extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    if !is_in(routine as usize, &LIBRARIES) {
        messages::stop("the program has threads");
    }
    // SAFETY: as above.
    unsafe {
        next!(pthread_create: fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> c_int)(
            thread, attributes, routine, argument,
        )
    }
}

/// The program has a handler for a signal from now on.
fn handles(signal: c_int, handler: usize) {
    let is_handler = handler != libc::SIG_DFL && handler != libc::SIG_IGN;
    let is_harmless = || is_in(handler, &LIBRARIES) || is_in(handler, &INTERPRETERS);
    if is_handler && signal != libc::SIGSEGV && !is_harmless() {
        messages::stop("the program has handlers of signals");
    }
}

/// Answers for the signals that are ours, once they are: the old action. A new one is for faults that are not ours.
fn is_ours(signal: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    match signal {
        libc::SIGSEGV => memory::change_other_faults(new),
        // SAFETY: the default action, which is all zeros.
        libc::SIGSYS => memory::change_other_faults(None).map(|_| unsafe { core::mem::zeroed() }),
        _ => None,
    }
}

/// An action that is a handler and nothing else.
fn action(handler: usize, flags: c_int) -> libc::sigaction {
    // SAFETY: valid as zeros.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    (action.sa_sigaction, action.sa_flags) = (handler, flags);
    action
}

#[unsafe(no_mangle)]
extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    // SAFETY: the program's argument.
    let asked = unsafe { new.as_ref() };
    if let Some(new) = asked {
        handles(signal, new.sa_sigaction);
    }
    if let Some(before) = is_ours(signal, asked) {
        if !old.is_null() {
            // SAFETY: the program's place for the answer.
            unsafe { *old = before };
        }
        return 0;
    }
    // SAFETY: as above.
    unsafe {
        next!(sigaction: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int)(signal, new, old)
    }
}

#[unsafe(no_mangle)]
extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    handles(signal, handler);
    if let Some(before) = is_ours(signal, Some(&action(handler, libc::SA_RESTART))) {
        return before.sa_sigaction;
    }
    // SAFETY: as above.
    unsafe { next!(signal: fn(c_int, usize) -> usize)(signal, handler) }
}

#[unsafe(no_mangle)]
extern "C" fn bsd_signal(signal: c_int, handler: usize) -> usize {
    handles(signal, handler);
    if let Some(before) = is_ours(signal, Some(&action(handler, libc::SA_RESTART))) {
        return before.sa_sigaction;
    }
    // SAFETY: as above.
    unsafe { next!(bsd_signal: fn(c_int, usize) -> usize)(signal, handler) }
}

#[unsafe(no_mangle)]
extern "C" fn sysv_signal(signal: c_int, handler: usize) -> usize {
    handles(signal, handler);
    if let Some(before) = is_ours(signal, Some(&action(handler, libc::SA_RESETHAND | libc::SA_NODEFER))) {
        return before.sa_sigaction;
    }
    // SAFETY: as above.
    unsafe { next!(sysv_signal: fn(c_int, usize) -> usize)(signal, handler) }
}

/// Whether memory of ours can be closed in this process at all.
pub fn is_ready() -> bool {
    STARTED.load(Acquire) && memory::is_known_processor()
}
