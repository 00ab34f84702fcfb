//! Names of the C library for files. What each of them does to a file is in the crate `overlap`; here stands who calls it when.
//!
//! A name that a program may use in many ways while data is pending stands in an `after!` list: all is written, and
//! the function gets its arguments, however many they are, as if nothing had been before it.

use core::ffi::{CStr, c_char, c_int, c_long, c_void};

use libc::{FILE, iovec, off_t, size_t, ssize_t, stat as Found};
use postrider_overlap::files::{self, Memory, Position};
use postrider_overlap::report;

use crate::next::{Next, next, next_of};
use crate::streams;

/// Functions with this signature, each of which does this around the next one.
macro_rules! functions {
    ($($name:ident)*: fn $arguments:tt -> $result:ty, |$next:ident| $body:expr) => {
        $(function! { $name $arguments $result, $next $body })*
    };
}

macro_rules! function {
    ($name:ident ($($argument:ident: $type:ty),*) $result:ty, $next:ident $body:expr) => {
        /// # Safety
        /// As for the C library's function of this name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the C library gives the function of this name this type; it gets the arguments as they came, with the caller's promise.
            let $next = || unsafe { next!($name: fn($($type),*) -> $result)($($argument),*) };
            $body
        }
    };
}

// Writes.
functions! { write: fn(fd: c_int, memory: *const c_void, length: size_t) -> ssize_t,
|next| files::write(fd, || Some(Memory::one(memory, length)), Position::Current, next) }
functions! { pwrite pwrite64: fn(fd: c_int, memory: *const c_void, length: size_t, at: off_t) -> ssize_t,
|next| files::write(fd, || Some(Memory::one(memory, length)), Position::At(at), next) }
functions! { writev: fn(fd: c_int, areas: *const iovec, count: c_int) -> ssize_t,
|next| files::write(fd, || Memory::listed(areas, count), Position::Current, next) }
functions! { pwritev pwritev64: fn(fd: c_int, areas: *const iovec, count: c_int, at: off_t) -> ssize_t,
|next| files::write(fd, || Memory::listed(areas, count), Position::At(at), next) }

// Reads.
functions! { read: fn(fd: c_int, memory: *mut c_void, length: size_t) -> ssize_t,
|next| files::read(fd, length, Position::Current, next) }
functions! { __read_chk: fn(fd: c_int, memory: *mut c_void, length: size_t, room: size_t) -> ssize_t,
|next| files::read(fd, length, Position::Current, next) }
functions! { pread pread64: fn(fd: c_int, memory: *mut c_void, length: size_t, at: off_t) -> ssize_t,
|next| files::read(fd, length, Position::At(at), next) }
functions! { __pread_chk __pread64_chk: fn(fd: c_int, memory: *mut c_void, length: size_t, at: off_t, room: size_t) -> ssize_t,
|next| files::read(fd, length, Position::At(at), next) }
functions! { readv: fn(fd: c_int, areas: *const iovec, count: c_int) -> ssize_t,
|next| files::read(fd, Memory::listed(areas, count).map_or(usize::MAX, |memory| memory.length()), Position::Current, next) }
functions! { preadv preadv64: fn(fd: c_int, areas: *const iovec, count: c_int, at: off_t) -> ssize_t,
|next| files::read(fd, Memory::listed(areas, count).map_or(usize::MAX, |memory| memory.length()), Position::At(at), next) }

/// What opening has to say, around the call that opens.
fn opening(folder: c_int, path: *const c_char, flags: c_int, next: impl FnOnce() -> c_int) -> c_int {
    if files::has_active() && !path.is_null() {
        // SAFETY: a path that ends, as the function that opens it needs one.
        files::opens(folder, unsafe { CStr::from_ptr(path) }, flags);
    }
    let fd = next();
    if fd >= 0 {
        let errno = files::system::errno();
        files::opened(fd, flags);
        files::system::set_errno(errno);
    }
    fd
}

// The mode is there with O_CREAT only; where it is not, what is handed on is not looked at.
functions! { open open64: fn(path: *const c_char, flags: c_int, mode: c_int) -> c_int,
|next| opening(libc::AT_FDCWD, path, flags, next) }
functions! { openat openat64: fn(folder: c_int, path: *const c_char, flags: c_int, mode: c_int) -> c_int,
|next| opening(folder, path, flags, next) }
functions! { __open_2 __open64_2: fn(path: *const c_char, flags: c_int) -> c_int,
|next| opening(libc::AT_FDCWD, path, flags, next) }
functions! { __openat_2 __openat64_2: fn(folder: c_int, path: *const c_char, flags: c_int) -> c_int,
|next| opening(folder, path, flags, next) }
functions! { creat creat64: fn(path: *const c_char, mode: c_int) -> c_int,
|next| opening(libc::AT_FDCWD, path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, next) }

/// What opening a stream has to say that is left to the C library: its calls are made inside, and are plain.
fn stream(path: *const c_char, mode: *const c_char, next: impl FnOnce() -> *mut FILE) -> *mut FILE {
    if !files::has_active() {
        return next();
    }
    // SAFETY: both end, or are not there.
    let cuts = !mode.is_null() && unsafe { *mode } == b'w' as c_char;
    if !path.is_null() && cuts {
        // SAFETY: as above.
        files::opens(libc::AT_FDCWD, unsafe { CStr::from_ptr(path) }, libc::O_TRUNC);
    }
    let stream = next();
    if !stream.is_null() {
        // SAFETY: a stream that is open.
        files::opened_elsewhere(unsafe { libc::fileno(stream) });
    }
    stream
}

functions! { fopen fopen64: fn(path: *const c_char, mode: *const c_char) -> *mut FILE, |next| {
    // SAFETY: the caller's promise.
    unsafe { streams::open(path, mode) }.unwrap_or_else(|| stream(path, mode, next))
} }
functions! { freopen freopen64: fn(path: *const c_char, mode: *const c_char, old: *mut FILE) -> *mut FILE,
|next| {
    let left = streams::leave(old);
    files::settle();
    let mut opened = core::ptr::null_mut();
    let mut open = || {
        opened = stream(path, mode, next);
        0
    };
    match left {
        Some(descriptor) => files::close(descriptor, open),
        None => open(),
    };
    opened
} }
functions! { fdopen: fn(fd: c_int, mode: *const c_char) -> *mut FILE, |next| {
    files::step_aside(fd, "it is a stream of the C library");
    next()
} }

functions! { close: fn(fd: c_int) -> c_int, |next| files::close(fd, next) }

/// What is pending is in the file, and an error of earlier calls is told.
fn synchronising(fd: c_int, next: impl FnOnce() -> c_int) -> c_int {
    match files::synchronise(fd) {
        Some(error) => {
            files::system::set_errno(error);
            -1
        }
        None => next(),
    }
}

functions! { fsync fdatasync syncfs: fn(fd: c_int) -> c_int, |next| synchronising(fd, next) }
functions! { ftruncate ftruncate64: fn(fd: c_int, length: off_t) -> c_int, |next| synchronising(fd, next) }
functions! { lseek lseek64: fn(fd: c_int, offset: off_t, whence: c_int) -> off_t, |next| {
    // Other places do not depend on what is in the file.
    if whence != libc::SEEK_SET && whence != libc::SEEK_CUR {
        files::look(fd);
    }
    next()
} }

functions! { dup: fn(fd: c_int) -> c_int, |next| {
    files::step_aside(fd, "it has another descriptor");
    next()
} }

/// The descriptor `new` is going to be another one of `old`.
fn duplicating(old: c_int, new: c_int, next: impl FnOnce() -> c_int) -> c_int {
    files::step_aside(old, "it has another descriptor");
    if files::is_own(new) {
        files::step_aside_all("the program uses numbers of descriptors of its own choice");
    }
    if old == new {
        return next();
    }
    // What was `new` is closed; the errors of that nobody is told by dup2.
    let mut moved = -1;
    files::close(new, || {
        moved = next();
        0
    });
    moved
}

functions! { dup2: fn(old: c_int, new: c_int) -> c_int, |next| duplicating(old, new, next) }
functions! { dup3: fn(old: c_int, new: c_int, flags: c_int) -> c_int, |next| duplicating(old, new, next) }

functions! { fcntl fcntl64: fn(fd: c_int, command: c_int, argument: *mut c_void) -> c_int, |next| {
    match command {
        libc::F_GETFD | libc::F_SETFD | libc::F_GETFL => {}
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => files::step_aside(fd, "it has another descriptor"),
        libc::F_SETFL => files::step_aside(fd, "its flags are changed by fcntl"),
        _ => files::step_aside(fd, "it is locked by fcntl"),
    }
    next()
} }
functions! { flock: fn(fd: c_int, operation: c_int) -> c_int, |next| {
    files::step_aside(fd, "it is locked by flock");
    next()
} }
functions! { lockf lockf64: fn(fd: c_int, command: c_int, length: off_t) -> c_int, |next| {
    files::step_aside(fd, "it is locked by lockf");
    next()
} }
functions! { mmap mmap64: fn(place: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int, at: off_t) -> *mut c_void,
|next| {
    if fd >= 0 {
        files::step_aside(fd, "it is mapped");
    }
    if flags & libc::MAP_FIXED != 0 {
        files::system::changed_memory();
    }
    next()
} }
functions! { ioctl: fn(fd: c_int, request: libc::c_ulong, argument: *mut c_void) -> c_int, |next| {
    files::step_aside(fd, "it has had an ioctl");
    next()
} }

/// Whether what was found may be older than what is pending: then it is looked up once more.
fn is_pending(code: c_int, found: *const Found) -> bool {
    // SAFETY: the call has filled it.
    code == 0 && files::has_active() && unsafe { files::looked_at((*found).st_dev, (*found).st_ino) }
}

/// Looks a file up, and once more if something was pending.
fn looking(found: *const Found, next: impl Fn() -> c_int) -> c_int {
    let code = next();
    if is_pending(code, found) { next() } else { code }
}

functions! { stat stat64 lstat lstat64: fn(path: *const c_char, found: *mut Found) -> c_int, |next| looking(found, next) }
functions! { fstat fstat64: fn(fd: c_int, found: *mut Found) -> c_int, |next| looking(found, next) }
functions! { fstatat fstatat64: fn(folder: c_int, path: *const c_char, found: *mut Found, flags: c_int) -> c_int,
|next| looking(found, next) }
functions! { __xstat __xstat64 __lxstat __lxstat64: fn(version: c_int, path: *const c_char, found: *mut Found) -> c_int,
|next| looking(found, next) }
functions! { __fxstat __fxstat64: fn(version: c_int, fd: c_int, found: *mut Found) -> c_int, |next| looking(found, next) }
functions! { __fxstatat __fxstatat64: fn(version: c_int, folder: c_int, path: *const c_char, found: *mut Found, flags: c_int) -> c_int,
|next| looking(found, next) }
functions! { statx: fn(folder: c_int, path: *const c_char, flags: c_int, mask: u32, found: *mut libc::statx) -> c_int, |next| {
    let code = next();
    let is_pending = code == 0 && files::has_active() && {
        // SAFETY: the call has filled it.
        let (major, minor, inode) = unsafe { ((*found).stx_dev_major, (*found).stx_dev_minor, (*found).stx_ino) };
        files::looked_at(libc::makedev(major, minor), inode)
    };
    if is_pending { next() } else { code }
} }

/// All is written, before the function of this name gets the call.
extern "C" fn settled(next: &Next) -> *mut c_void {
    let errno = files::system::errno();
    files::settle();
    files::system::set_errno(errno);
    next.address()
}

/// The process has come to its end by a function that lets nobody else work.
extern "C" fn over(next: &Next) -> *mut c_void {
    end();
    next.address()
}

/// Another process or another door leads to files that are open now.
extern "C" fn stepped_aside(next: &Next) -> *mut c_void {
    let errno = files::system::errno();
    files::step_aside_all("another process or another way leads to it");
    files::system::set_errno(errno);
    next.address()
}

/// A call of the system by its number goes past the names here. Few programs make any, and most of these are not about files.
extern "C" fn numbered(next: &Next, number: c_long) -> *mut c_void {
    const NOT_ABOUT_FILES: [c_long; 22] = [
        libc::SYS_futex,
        libc::SYS_gettid,
        libc::SYS_getpid,
        libc::SYS_getppid,
        libc::SYS_getcpu,
        libc::SYS_getrandom,
        libc::SYS_getrusage,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_membarrier,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_get_mempolicy,
        libc::SYS_mbind,
        libc::SYS_perf_event_open,
    ];
    const ABOUT_MEMORY: [c_long; 6] = [
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mprotect,
        libc::SYS_pkey_mprotect,
        libc::SYS_mremap,
        libc::SYS_shmdt,
    ];
    if ABOUT_MEMORY.contains(&number) {
        files::system::changed_memory();
    }
    if files::has_active() && !NOT_ABOUT_FILES.contains(&number) {
        let errno = files::system::errno();
        files::step_aside_all("the program makes calls of the system by their numbers");
        files::system::set_errno(errno);
    }
    next.address()
}

/// Memory of the program may be there no more, or be closed.
extern "C" fn unmapped(next: &Next) -> *mut c_void {
    files::system::changed_memory();
    next.address()
}

/// A stream is about to get wide characters.
extern "C" fn widened(next: &Next) -> *mut c_void {
    streams::widen();
    next.address()
}

/// Functions with any arguments: what is to be done before is done, knowing the first argument, and the next function of the name goes on in their
/// place.
macro_rules! after {
    ($before:ident: $($name:ident)*) => {$(
        /// # Safety
        /// As for the C library's function of this name.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            static NEXT: Next = next_of!($name);
            // Registers that hold arguments are as they were, the stack too.
            #[cfg(target_arch = "x86_64")]
            core::arch::naked_asm!(
                "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                "mov rsi, rdi",
                "lea rdi, [rip + {next}]",
                "call {before}",
                "mov r11, rax",
                "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                "jmp r11",
                next = sym NEXT, before = sym $before,
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::naked_asm!(
                "stp x29, x30, [sp, #-96]!",
                "stp x0, x1, [sp, #16]", "stp x2, x3, [sp, #32]", "stp x4, x5, [sp, #48]", "stp x6, x7, [sp, #64]",
                "str x8, [sp, #80]",
                "mov x1, x0",
                "adrp x0, {next}", "add x0, x0, :lo12:{next}",
                "bl {before}",
                "mov x16, x0",
                "ldp x0, x1, [sp, #16]", "ldp x2, x3, [sp, #32]", "ldp x4, x5, [sp, #48]", "ldp x6, x7, [sp, #64]",
                "ldr x8, [sp, #80]",
                "ldp x29, x30, [sp], #96",
                "br x16",
                next = sym NEXT, before = sym $before,
            );
        }
    )*};
}

// Names and attributes, whose change a later write would change again; whatever else tells how a file or its file system is.
after! { settled: rename renameat renameat2 link linkat unlink unlinkat remove rmdir truncate truncate64
chmod fchmod fchmodat chown fchown lchown fchownat utime utimes futimes lutimes futimesat futimens utimensat
setxattr lsetxattr fsetxattr sync statfs statfs64 fstatfs fstatfs64 statvfs statvfs64 fstatvfs fstatvfs64
fallocate fallocate64 posix_fallocate posix_fallocate64 mount umount umount2
preadv2 preadv64v2 sendfile sendfile64 copy_file_range splice vmsplice tee name_to_handle_at open_by_handle_at }
// Writes that the C library makes inside itself.
after! { settled: dprintf vdprintf __dprintf_chk __vdprintf_chk }
after! { numbered: syscall }
after! { unmapped: munmap mprotect pkey_mprotect mremap shmdt brk sbrk }
after! { widened: fwide fputwc fputwc_unlocked putwc putwc_unlocked fputws fputws_unlocked
fwprintf vfwprintf __fwprintf_chk __vfwprintf_chk }
// Whom something is told, or who begins to run.
after! { settled: system execve execv execvp execvpe execl execle execlp fexecve execveat
send sendto sendmmsg mq_send mq_timedsend msgsnd semop kill killpg raise tgkill pthread_kill sigqueue }
// Whoever runs from now on beside this process, and ways around this layer.
after! { stepped_aside: posix_spawn posix_spawnp popen clone sendmsg setrlimit setrlimit64 prlimit prlimit64
close_range closefrom pwritev2 pwritev64v2 aio_write aio_write64 aio_read aio_read64 lio_listio lio_listio64 }
after! { over: _exit _Exit quick_exit abort __assert_fail __assert_perror_fail __assert }

/// A child that shares the memory of its parent would share what the layer knows.
#[unsafe(no_mangle)]
pub extern "C" fn vfork() -> libc::pid_t {
    // SAFETY: what a child may do after vfork it may do after fork.
    unsafe { libc::fork() }
}

extern "C" fn before_fork() {
    files::step_aside_all("a child process has it, too");
}

extern "C" fn after_fork() {
    files::forked();
}

extern "C" fn begin() {
    // SAFETY: functions that are there as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), None, Some(after_fork)) };
}

extern "C" fn end() {
    let is_lost = files::over();
    report::write();
    if is_lost {
        files::system::end(1);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;
