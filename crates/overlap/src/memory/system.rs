//! The pool, and the calls of the system that close and open memory.
//!
//! Two signals tell that closed memory is needed: `SIGSEGV` when the program touches it, and `SIGSYS` when it calls the system while memory is
//! closed (Syscall User Dispatch, `prctl(2)`). The kernel would answer `EFAULT` where an argument leads there, which the program
//! must never see.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize};

use postrider_abi::{MPI_Datatype, MPI_Status};
use postrider_client::{Buffer, Mpi};

use super::Range;
use super::extents::Extents;
use crate::settings;

/// Allocations of so many bytes stand alone on huge pages.
const HUGE: usize = 2 << 20;
/// Smaller ones stand alone on these.
const PAGE: usize = 4096;
/// How many addresses the pool has. Memory is taken for those only that are used.
const POOL: usize = 1 << 40;
/// How much of what was freed stays with the process, since a program that allocates again would pay for its pages again.
const KEPT: usize = 256 << 20;

/// A lock that waits by yielding, which may be taken where memory is allocated.
struct Spin<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by whoever holds the lock.
unsafe impl<T: Send> Sync for Spin<T> {}

struct Held<'s, T>(&'s Spin<T>);

impl<T> Spin<T> {
    const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    fn lock(&self) -> Held<'_, T> {
        while self.taken.swap(true, Acquire) {
            std::thread::yield_now();
        }
        Held(self)
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.0.taken.store(false, Release);
    }
}

/// What the pool knows.
struct Allocations {
    /// Where the pool was mapped.
    base: usize,
    free: Extents,
    /// Bytes of the live ones, by their addresses.
    live: BTreeMap<usize, usize>,
    /// How much of the free parts holds memory still.
    kept: usize,
}

static BASE: AtomicUsize = AtomicUsize::new(0);
/// How far behind the program's view of the pool ours is; 0 if there is one view.
static OTHER_VIEW: AtomicUsize = AtomicUsize::new(0);
/// By which a forked process says that it has memory of its own.
static FORKED: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];
static ALLOCATIONS: Spin<Option<Allocations>> = Spin::new(None);

/// Where large allocations of the program come from.
#[derive(Debug)]
pub struct Pool;

impl Pool {
    /// Reserves its addresses.
    ///
    /// # Errors
    /// What the system says.
    pub fn start() -> io::Result<()> {
        let base = if settings::memory().is_there_twice() {
            let file = memory_file()?;
            let (program, layer) = (map(0, libc::MAP_SHARED, file)?, map(0, libc::MAP_SHARED, file)?);
            // SAFETY: a descriptor of our own; the memory stays.
            unsafe { libc::close(file) };
            OTHER_VIEW.store(layer.wrapping_sub(program), Relaxed);
            program
        } else {
            map(0, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)?
        };
        let first = base.next_multiple_of(HUGE);
        let free = Extents::new(first, POOL - HUGE);
        *ALLOCATIONS.lock() = Some(Allocations { base, free, live: BTreeMap::new(), kept: 0 });
        // SAFETY: functions without arguments, which live as long as the process.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_the_fork)) };
        BASE.store(first, Release);
        Ok(())
    }

    /// Whether an address is one of the pool's.
    #[must_use]
    pub fn owns(address: usize) -> bool {
        let base = BASE.load(Relaxed);
        base != 0 && address.wrapping_sub(base) < POOL - HUGE
    }

    /// So many bytes at a multiple of `alignment`, a power of two; 0 if there are none. With `zeros` they are zero.
    #[must_use]
    pub fn allocate(bytes: usize, alignment: usize, zeros: bool) -> usize {
        let unit = if bytes >= HUGE / 2 { HUGE } else { PAGE };
        let Some(room) = bytes.checked_next_multiple_of(unit).filter(|room| *room < POOL) else { return 0 };
        let taken = {
            let mut all = ALLOCATIONS.lock();
            let Some(all) = all.as_mut() else { return 0 };
            let Some(taken) = all.free.take(room, alignment.max(unit)) else { return 0 };
            all.live.insert(taken.start, room);
            if taken.used {
                all.kept = all.kept.saturating_sub(room);
            }
            taken
        };
        // SAFETY: memory that was just taken.
        unsafe {
            if unit == HUGE && settings::memory() == settings::Memory::Huge {
                libc::madvise(taken.start as *mut _, room, libc::MADV_HUGEPAGE);
            }
            if taken.used && zeros {
                std::ptr::write_bytes(taken.start as *mut u8, 0, bytes);
            }
        }
        taken.start
    }

    /// Frees an allocation.
    pub fn free(address: usize) {
        let mut all = ALLOCATIONS.lock();
        let Some(all) = all.as_mut() else { return };
        let Some(room) = all.live.remove(&address) else {
            drop(io::Write::write_all(
                &mut io::stderr(),
                b"postrider: free() of memory that was not allocated\n",
            ));
            std::process::abort();
        };
        let keeps = all.kept + room <= KEPT;
        if keeps {
            all.kept += room;
        } else {
            let give = if OTHER_VIEW.load(Relaxed) == 0 { libc::MADV_DONTNEED } else { libc::MADV_REMOVE };
            // SAFETY: memory that nobody uses any more. It is zero when it is used again.
            unsafe { libc::madvise(address as *mut _, room, give) };
        }
        all.free.give(address, room, keeps);
    }

    /// How many bytes an allocation has.
    #[must_use]
    pub fn bytes(address: usize) -> usize {
        ALLOCATIONS.lock().as_ref().and_then(|all| all.live.get(&address).copied()).unwrap_or(0)
    }

    /// The allocation that all of a range lies in.
    #[must_use]
    pub fn around(range: Range) -> Option<Range> {
        if !Self::owns(range.start) {
            return None;
        }
        let all = ALLOCATIONS.lock();
        let (&start, &bytes) = all.as_ref()?.live.range(..=range.start).next_back()?;
        let allocation = Range { start, bytes };
        allocation.contains(range).then_some(allocation)
    }
}

/// The addresses of a pool: `at` this place or, with 0, where the system likes.
fn map(at: usize, kind: i32, file: i32) -> io::Result<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = kind | libc::MAP_NORESERVE | if at == 0 { 0 } else { libc::MAP_FIXED };
    // SAFETY: new memory, or memory in the place of a pool.
    let base = unsafe { libc::mmap(at as *mut _, POOL, access, flags, file, 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base as usize) }
}

/// A file in memory that is as long as the pool.
fn memory_file() -> io::Result<i32> {
    // SAFETY: a name that ends, and a descriptor of our own.
    unsafe {
        let file = libc::memfd_create(c"postrider-overlap".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 || libc::ftruncate(file, POOL as i64) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(file)
    }
}

/// Where the layer reaches memory of the program, closed or not; the same place if there is one view.
#[must_use]
pub fn view(address: usize) -> usize {
    if Pool::owns(address) { address.wrapping_add(OTHER_VIEW.load(Relaxed)) } else { address }
}

/// Whether the layer reaches memory that is closed.
#[must_use]
pub fn has_two_views() -> bool {
    OTHER_VIEW.load(Relaxed) != 0
}

extern "C" fn before_fork() {
    complete("fork");
    std::mem::forget(ALLOCATIONS.lock());
    let mut ends = [-1; 2];
    // SAFETY: a place for two descriptors.
    if has_two_views() && unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } == 0 {
        FORKED.iter().zip(ends).for_each(|(place, end)| place.store(end, Relaxed));
    }
}

/// Whoever forks goes on when the new process no longer shares memory with it.
extern "C" fn after_fork() {
    let [reading, writing] = FORKED.each_ref().map(|place| place.swap(-1, Relaxed));
    if reading >= 0 {
        // SAFETY: descriptors of our own; the other end closes when the new process has copied, or ends.
        unsafe {
            libc::close(writing);
            let mut nothing = 0_u8;
            libc::read(reading, (&raw mut nothing).cast(), 1);
            libc::close(reading);
        }
    }
    ALLOCATIONS.taken.store(false, Release);
}

/// The new process gets memory of its own, as it has without the layer.
extern "C" fn in_the_fork() {
    ALLOCATIONS.taken.store(false, Release);
    let other = OTHER_VIEW.swap(0, Relaxed);
    if other == 0 {
        return;
    }
    let all = ALLOCATIONS.lock();
    let Some(all) = all.as_ref() else { return };
    let base = all.base;
    if map(base, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).is_err() {
        std::process::abort();
    }
    for (&start, &bytes) in &all.live {
        // SAFETY: both views of an allocation, of which the first is private now.
        unsafe {
            let (from, to) = (start.wrapping_add(other) as *const u8, start as *mut u8);
            std::ptr::copy_nonoverlapping(from, to, bytes);
        }
    }
    // SAFETY: the second view, which nobody uses here, and descriptors of our own.
    unsafe {
        libc::munmap(base.wrapping_add(other) as *mut _, POOL);
        for place in &FORKED {
            libc::close(place.swap(-1, Relaxed));
        }
    }
}

/// Whether calls of the system go through, 0, or come to us by a signal, 1; the kernel reads it.
static SELECTOR: AtomicU8 = AtomicU8::new(0);
/// Whether the thread of the program is in the layer, or in the MPI library by way of it.
static INSIDE: AtomicBool = AtomicBool::new(false);
/// Whether closed memory was touched from inside, and is open since then.
static TOUCHED_INSIDE: AtomicBool = AtomicBool::new(false);
/// The thread whose calls are made asynchronous.
static THREAD: AtomicUsize = AtomicUsize::new(0);
/// What is closed.
static CLOSED: Spin<Vec<Range>> = Spin::new(Vec::new());
static ANY_CLOSED: AtomicBool = AtomicBool::new(false);
/// Completes what is pending, and opens everything.
static COMPLETE: OnceLock<fn(&'static str)> = OnceLock::new();
/// What `SIGSEGV` would do without us, once it is ours.
static BEFORE: Spin<Option<libc::sigaction>> = Spin::new(None);

/// What distinguishes this thread. It is no call of the system, which would come to us by a signal while memory is closed.
fn this_thread() -> usize {
    // SAFETY: a question without memory.
    unsafe { libc::pthread_self() as usize }
}

/// Whether this thread is the one whose calls are made asynchronous.
#[must_use]
fn is_main_thread() -> bool {
    THREAD.load(Relaxed) == this_thread()
}

/// Whether the layer may begin to work: this thread is the one whose calls are made asynchronous, if there is one yet, and is not in the layer.
#[must_use]
pub fn is_open_to_us() -> bool {
    (THREAD.load(Relaxed) == 0 || is_main_thread()) && !INSIDE.load(Relaxed)
}

/// Works for the program in the layer: calls of the system go through meanwhile.
pub fn in_the_layer<R>(work: impl FnOnce() -> R) -> R {
    let before = INSIDE.swap(true, Relaxed);
    SELECTOR.store(0, Release);
    let result = work();
    if !before {
        leave();
    }
    result
}

/// The program goes on.
fn leave() {
    INSIDE.store(false, Relaxed);
    if TOUCHED_INSIDE.swap(false, Relaxed) {
        complete("the layer or the library touched memory beside the data");
    }
    SELECTOR.store(u8::from(ANY_CLOSED.load(Relaxed)), Release);
}

/// Runs the completion, as somebody who is not the program.
fn complete(why: &'static str) {
    if !ANY_CLOSED.load(Relaxed) || INSIDE.load(Relaxed) || !is_main_thread() {
        return;
    }
    let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
    if let Some(complete) = COMPLETE.get() {
        complete(why);
    }
    // SAFETY: the cell of this thread.
    unsafe { *libc::__errno_location() = errno };
}

fn protect(range: Range, access: i32) -> io::Result<()> {
    // SAFETY: whole pages of the pool or of static data, which hold nothing but data of the program.
    let refused = unsafe { libc::mprotect(range.start as *mut _, range.bytes, access) } != 0;
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes memory of the pool or static data: whole pages.
///
/// # Errors
/// What the system says; the memory is open then.
pub fn close(range: Range) -> io::Result<()> {
    protect(range, libc::PROT_NONE)?;
    let mut closed = CLOSED.lock();
    if !closed.contains(&range) {
        closed.push(range);
    }
    ANY_CLOSED.store(true, Release);
    Ok(())
}

/// Opens memory that was closed; without it the program cannot go on.
pub fn open(range: Range) {
    if let Err(error) = protect(range, libc::PROT_READ | libc::PROT_WRITE) {
        let _nobody_reads_it = io::Write::write_all(
            &mut io::stderr(),
            format!("postrider: memory does not open: {error}\n").as_bytes(),
        );
        std::process::abort();
    }
    let mut closed = CLOSED.lock();
    closed.retain(|one| *one != range);
    ANY_CLOSED.store(!closed.is_empty(), Release);
}

/// Whether the two signals reach this thread.
#[must_use]
pub fn signals_reach_us() -> bool {
    // SAFETY: a set that belongs to this function, and is valid as zeros; the query changes nothing.
    unsafe {
        let mut blocked = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut blocked);
        [libc::SIGSEGV, libc::SIGSYS].iter().all(|signal| libc::sigismember(&raw const blocked, *signal) == 0)
    }
}

/// A buffer that the program has given to a blocking call. While the call is pending the program does not reach it, since it is closed.
#[must_use]
pub fn buffer(mpi: Mpi, address: usize, count: i64, datatype: MPI_Datatype) -> Buffer {
    // SAFETY: the program promises this to MPI, and whatever closes memory keeps it for the time in which it believes that the call has returned.
    unsafe { Buffer::new(mpi, view(address), count, datatype) }
}

/// Stores bytes one after another in pieces of a buffer that the program has given to a blocking call: address and length of each.
pub fn store(mut bytes: &[u8], pieces: impl Iterator<Item = (usize, usize)>) {
    for (address, length) in pieces {
        let (piece, rest) = bytes.split_at(length.min(bytes.len()));
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), view(address) as *mut u8, piece.len()) };
        bytes = rest;
    }
}

/// Whether the place of a status is closed.
#[must_use]
pub fn has_closed_status(address: usize) -> bool {
    has_closed(Range { start: address, bytes: size_of::<MPI_Status>() })
}

/// Changes the status that the program has given to the call that it is in.
pub fn change_status(address: usize, change: impl FnOnce(MPI_Status) -> MPI_Status) {
    let place = address as *mut MPI_Status;
    // SAFETY: the program promises MPI that its status can be written until the call returns.
    unsafe { place.write_unaligned(change(place.read_unaligned())) };
}

/// Whether system calls can be caught on this processor.
#[must_use]
pub const fn is_known_processor() -> bool {
    cfg!(target_arch = "x86_64")
}

type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// Takes the two signals for this thread. `completion` completes what is pending and opens all memory.
///
/// # Errors
/// What the system says, for example that it cannot catch system calls.
pub fn install(completion: fn(&'static str)) -> io::Result<()> {
    if COMPLETE.set(completion).is_err() {
        return Err(io::Error::other("it is there already"));
    }
    THREAD.store(this_thread(), Relaxed);
    dispatch::start(&SELECTOR)?;
    // SAFETY: a handler that keeps to what such a handler may do while it finds memory of ours, and is valid as zeros else.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = touched as Handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        let mut before = std::mem::zeroed();
        if libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        *BEFORE.lock() = Some(before);
    }
    Ok(())
}

/// What `SIGSEGV` does where the fault is none of ours: the old action, in whose place the new one is from now on, if there is one. Nothing
/// before [`install`], when the system knows it.
#[must_use]
pub fn change_other_faults(new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    let mut before = BEFORE.lock();
    let old = *before;
    if let (Some(_), Some(new)) = (old, new) {
        *before = Some(*new);
    }
    old
}

/// Whether an address is closed.
fn is_closed(address: usize) -> bool {
    has_closed(Range { start: address, bytes: 1 })
}

/// Whether a part of a range is closed.
#[must_use]
pub fn has_closed(part: Range) -> bool {
    ANY_CLOSED.load(Acquire) && CLOSED.lock().iter().any(|range| range.meets(part))
}

/// The handler of `SIGSEGV`.
extern "C" fn touched(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system gives a valid pointer, and an address for this signal.
    let address = unsafe { (*info).si_addr() } as usize;
    if is_closed(address) {
        if is_main_thread() && !INSIDE.load(Relaxed) {
            SELECTOR.store(0, Release);
            complete("the program touched the data");
            return;
        }
        if is_main_thread() {
            // Static data beside the program's array, which the layer or the library needs.
            TOUCHED_INSIDE.store(true, Relaxed);
            let ranges = CLOSED.lock().clone();
            for range in ranges.into_iter().filter(|range| range.meets(Range { start: address, bytes: 1 })) {
                if protect(range, libc::PROT_READ | libc::PROT_WRITE).is_err() {
                    std::process::abort();
                }
            }
            return;
        }
        // A thread of the library: the program's thread opens the memory.
        while is_closed(address) {
            std::thread::yield_now();
        }
        return;
    }
    // It is opened between the fault and this line by whoever interrupted, or it is not ours.
    let Some(before) = *BEFORE.lock() else { return };
    // SAFETY: what the program had before, called as it asked for it.
    unsafe {
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::sigaction(signal, &raw const before, std::ptr::null_mut());
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            }
            handler => std::mem::transmute::<usize, extern "C" fn(i32)>(handler)(signal),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod dispatch {
    //! Syscall User Dispatch.

    use super::*;
    use postrider_os::next::system_call;

    const PR_SET_SYSCALL_USER_DISPATCH: i32 = 59;
    /// What `si_code` says of such a signal.
    const SYS_USER_DISPATCH: i32 = 2;
    const SA_RESTORER: u64 = 0x0400_0000;

    // The way back from the handler is a system call, too, and the only one that always goes through.
    core::arch::global_asm!(
        ".globl postrider_overlap_return",
        ".hidden postrider_overlap_return",
        "postrider_overlap_return:",
        "mov rax, 15",
        "syscall",
        "ud2",
    );
    const RETURN_BYTES: usize = 16;

    unsafe extern "C" {
        fn postrider_overlap_return();
    }

    /// The kernel's form of a handler.
    #[repr(C)]
    struct Action {
        handler: Handler,
        flags: u64,
        restorer: unsafe extern "C" fn(),
        mask: u64,
    }

    /// Calls that do not wait, and whose arguments are plain memory or numbers; while data is pending they are carried out.
    const PLAIN: &[i64] = &[
        libc::SYS_close,
        libc::SYS_lseek,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_munmap,
        libc::SYS_brk,
        libc::SYS_madvise,
        libc::SYS_open,
        libc::SYS_openat,
        libc::SYS_stat,
        libc::SYS_fstat,
        libc::SYS_lstat,
        libc::SYS_newfstatat,
        libc::SYS_access,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_getrusage,
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
        libc::SYS_getrandom,
        libc::SYS_times,
        libc::SYS_getcwd,
    ];

    /// Begins for this thread.
    pub fn start(selector: &'static AtomicU8) -> io::Result<()> {
        let restorer = postrider_overlap_return as unsafe extern "C" fn();
        let action = Action {
            handler: called,
            flags: (libc::SA_SIGINFO | libc::SA_NODEFER) as u64 | SA_RESTORER,
            restorer,
            mask: 0,
        };
        // SAFETY: the structure has the kernel's form, and the selector lives as long as the process.
        unsafe {
            let (new, old) = (&raw const action, std::ptr::null_mut::<Action>());
            if libc::syscall(libc::SYS_rt_sigaction, libc::SIGSYS, new, old, 8) != 0
                || libc::prctl(
                    PR_SET_SYSCALL_USER_DISPATCH,
                    1,
                    restorer as usize,
                    RETURN_BYTES,
                    selector.as_ptr(),
                ) != 0
            {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Whether memory that the arguments may lead to is closed: each that may be an address, with each that may be a length.
    fn leads_to_closed(arguments: [usize; 6]) -> bool {
        let longest =
            arguments.iter().copied().filter(|length| *length < 1 << 40).max().unwrap_or(0).max(4096);
        let closed = CLOSED.lock();
        let starts = arguments.iter().filter(|start| **start >= 1 << 16);
        starts.copied().any(|start| closed.iter().any(|range| range.meets(Range { start, bytes: longest })))
    }

    /// The handler of `SIGSYS`.
    extern "C" fn called(_signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        SELECTOR.store(0, Release);
        // SAFETY: the system gives valid pointers, and registers of this processor.
        let (code, registers) =
            unsafe { ((*info).si_code, &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs) };
        if code != SYS_USER_DISPATCH {
            // SAFETY: somebody sends this signal to end the process.
            unsafe { libc::abort() };
        }
        let number = registers[libc::REG_RAX as usize];
        let at = |register: i32| registers[register as usize] as usize;
        let arguments =
            [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9].map(at);
        if PLAIN.contains(&number) && !leads_to_closed(arguments) {
            // SAFETY: the call that the program has made.
            let answer = unsafe { system_call(number, arguments.map(|argument| argument as i64)) };
            registers[libc::REG_RAX as usize] = answer;
            leave();
            return;
        }
        complete("a call of the system");
        // The call again: its instruction is two bytes long.
        registers[libc::REG_RIP as usize] -= 2;
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod dispatch {
    //! Not written for this processor.

    use super::*;

    pub fn start(_selector: &'static AtomicU8) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}
