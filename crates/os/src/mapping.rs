//! Parts of files as memory, in which bytes are copied one piece after another without a call of the system for each.
//!
//! A file that is mapped may become shorter, or have no room on its disk for a page that is written, and the system then
//! sends `SIGBUS` to whoever touches that page. Nobody dies of it here: the handler puts an empty page in the place of the one that is
//! missing and notes that, and whoever copied finds the note and uses the system's calls instead, which say what is wrong. A signal from
//! elsewhere goes where it went before.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Once, OnceLock};

use crate::sync::AtomicU64;

/// How many parts of files are mapped at the same time; more are refused.
const PARTS_MAX: usize = 16;

/// Mappings begin and end at multiples of this, whatever is wanted of them. Some file systems keep a file in pages of this length; mapped as a
/// whole one is a single page to be written, and in part as many small ones, for each of which the system looks at all of it.
const WHOLE: usize = 2 << 20;

/// The mapped parts, for the handler: where each starts, 0 if it is none, where it ends, and whether a page was missing.
static PARTS: [Part; PARTS_MAX] = [const { Part::none() }; PARTS_MAX];

/// What the signal did before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

#[derive(Debug)]
struct Part {
    start: AtomicU64,
    end: AtomicU64,
    missing: AtomicBool,
}

impl Part {
    const fn none() -> Self {
        Self { start: AtomicU64::new(0), end: AtomicU64::new(0), missing: AtomicBool::new(false) }
    }
}

/// Blocks of a part of a file.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// How long each is; not 0.
    pub bytes: usize,
    /// From the start of one to that of the next.
    pub stride: usize,
}

/// A part of a file as memory, for the thread that has made it.
#[derive(Debug)]
pub struct Mapping {
    part: &'static Part,
    /// Ends after the memory is unmapped.
    _open: Unblocked,
    /// The bytes of the mapping that are before the part.
    before: usize,
    bytes: usize,
}

/// While it is there, this thread gets the signal. Threads of ours block all signals, and one that is blocked when a page is missing ends
/// the process.
#[derive(Debug)]
struct Unblocked {
    was_blocked: bool,
    of_this_thread: PhantomData<*const ()>,
}

impl Unblocked {
    fn new() -> Self {
        Self { was_blocked: change_mask(libc::SIG_UNBLOCK), of_this_thread: PhantomData }
    }
}

impl Drop for Unblocked {
    fn drop(&mut self) {
        if self.was_blocked {
            change_mask(libc::SIG_BLOCK);
        }
    }
}

/// Blocks the signal in this thread or lets it through, and returns whether it was blocked.
fn change_mask(how: i32) -> bool {
    // SAFETY: both sets belong to this function, and are valid as zeros.
    unsafe {
        let (mut signal, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigaddset(&raw mut signal, libc::SIGBUS);
        libc::pthread_sigmask(how, &raw const signal, &raw mut before);
        libc::sigismember(&raw const before, libc::SIGBUS) == 1
    }
}

fn page_bytes() -> usize {
    // SAFETY: a question without memory.
    (unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) as usize
}

impl Mapping {
    /// Maps `bytes` bytes of a file from `offset` on, for reading or for reading and writing, and has the system bring all pages.
    ///
    /// # Errors
    /// What the system says, for example that there is no room for pages of a file that is written; and when there are too many
    /// mappings.
    pub fn new(file: &File, offset: u64, bytes: usize, writes: bool) -> io::Result<Self> {
        catch_missing_pages()?;
        let before = offset as usize % WHOLE;
        let (length, protection) =
            ((before + bytes).next_multiple_of(WHOLE), if writes { libc::PROT_WRITE } else { 0 });
        // SAFETY: a new mapping at a place that the system chooses, of a file that is open.
        let start = unsafe {
            let (protection, descriptor) = (libc::PROT_READ | protection, file.as_raw_fd());
            let from = (offset as usize - before) as libc::off_t;
            libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, descriptor, from)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let taken =
            PARTS.iter().find(|part| part.start.compare_exchange(0, start as u64, SeqCst, Relaxed).is_ok());
        let Some(part) = taken else {
            // SAFETY: the mapping that was just made.
            unsafe { libc::munmap(start, length) };
            return Err(io::Error::from(io::ErrorKind::ResourceBusy));
        };
        part.missing.store(false, Relaxed);
        part.end.store((start as usize + length) as u64, SeqCst);
        let mapping = Self { part, _open: Unblocked::new(), before, bytes };
        if writes {
            let first = before - before % page_bytes();
            // SAFETY: pages of the mapping that was just made; the system knows this request from Linux 5.14 on.
            let populated = unsafe {
                libc::madvise(start.byte_add(first), before + bytes - first, libc::MADV_POPULATE_WRITE)
            };
            let error = io::Error::last_os_error();
            if populated != 0 && error.raw_os_error() != Some(libc::EINVAL) {
                return Err(error);
            }
        }
        Ok(mapping)
    }

    /// The address of the place `at`, if the blocks from there on are all in the part.
    fn address(&self, at: usize, blocks: Blocks, count: usize) -> usize {
        let last = count.checked_sub(1).and_then(|before| before.checked_mul(blocks.stride)?.checked_add(at));
        let is_within =
            last.and_then(|last| last.checked_add(blocks.bytes)).is_some_and(|end| end <= self.bytes);
        assert!(is_within || count == 0, "outside of the mapped part");
        self.part.start.load(Relaxed) as usize + self.before + at
    }

    /// Copies blocks, the first from the place `at` on, one after another.
    ///
    /// # Panics
    /// When they are not in the mapped part.
    pub fn read(&self, at: usize, blocks: Blocks, into: &mut [u8]) {
        let count = into.len() / blocks.bytes;
        let from = self.address(at, blocks, count) as *const u8;
        // SAFETY: within the mapping, which lasts as long as this value; other processes may change it meanwhile, as they may a file that is read.
        unsafe { copy((from, blocks.stride), (into.as_mut_ptr(), blocks.bytes), blocks.bytes, count) };
    }

    /// Copies to blocks, the first at the place `at`, and touches no other byte. The mapping is one for writing.
    ///
    /// # Panics
    /// When they are not in the mapped part.
    pub fn write(&self, at: usize, blocks: Blocks, bytes: &[u8]) {
        let count = bytes.len() / blocks.bytes;
        let to = self.address(at, blocks, count) as *mut u8;
        // SAFETY: as for `read`.
        unsafe { copy((bytes.as_ptr(), blocks.bytes), (to, blocks.stride), blocks.bytes, count) };
    }

    /// Whether all pages that were touched were the file's.
    pub fn is_whole(&self) -> bool {
        !self.part.missing.load(SeqCst)
    }
}

/// Copies blocks from one place to another, each so many bytes behind the one before it. What is short is copied by one or two instructions.
///
/// # Safety
/// All blocks are valid memory, and none of the first ones overlaps one of the others.
unsafe fn copy(from: (*const u8, usize), to: (*mut u8, usize), bytes: usize, count: usize) {
    // SAFETY: as for this function; an array of bytes needs no alignment.
    unsafe {
        match bytes {
            4 => copy_short::<4>(from, to, count),
            8 => copy_short::<8>(from, to, count),
            16 => copy_short::<16>(from, to, count),
            32 => copy_short::<32>(from, to, count),
            64 => copy_short::<64>(from, to, count),
            _ => {
                for index in 0..count {
                    let (from, to) = (from.0.add(index * from.1), to.0.add(index * to.1));
                    std::ptr::copy_nonoverlapping(from, to, bytes);
                }
            }
        }
    }
}

/// The same for blocks of `BYTES` bytes.
unsafe fn copy_short<const BYTES: usize>(from: (*const u8, usize), to: (*mut u8, usize), count: usize) {
    for index in 0..count {
        // SAFETY: as for `copy`.
        unsafe {
            let (from, to) = (from.0.add(index * from.1), to.0.add(index * to.1));
            to.cast::<[u8; BYTES]>().write(from.cast::<[u8; BYTES]>().read());
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = self.part.start.load(Relaxed);
        let bytes = (self.part.end.swap(0, SeqCst) - start) as usize;
        // SAFETY: the mapping of this value, which nobody uses any more.
        unsafe { libc::munmap(start as *mut libc::c_void, bytes) };
        self.part.start.store(0, SeqCst);
    }
}

type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// What the signal does now.
fn action() -> io::Result<libc::sigaction> {
    // SAFETY: a place for the action, which is valid as zeros.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        match libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut now) {
            0 => Ok(now),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Sees to it that the handler of this module gets the signal. A program that has set one of its own since then keeps it, and nothing is mapped.
fn catch_missing_pages() -> io::Result<()> {
    static INSTALLED: Once = Once::new();
    let own: Handler = put_an_empty_page;
    INSTALLED.call_once(|| {
        let Ok(now) = action() else { return };
        let _first = BEFORE.set(now);
        // SAFETY: an action that is valid as zeros but for what is set; the handler only does what a handler may do.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = own as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    });
    match action()?.sa_sigaction == own as usize {
        true => Ok(()),
        false => Err(io::Error::from(io::ErrorKind::ResourceBusy)),
    }
}

/// The handler.
extern "C" fn put_an_empty_page(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes a description of the signal.
    let address = unsafe { (*info).si_addr() } as u64;
    let of_part = |part: &&Part| {
        let start = part.start.load(SeqCst);
        start != 0 && (start..part.end.load(SeqCst)).contains(&address)
    };
    let Some(part) = PARTS.iter().find(of_part) else { return pass_on(signal, info, context) };
    part.missing.store(true, SeqCst);
    let page = page_bytes() as u64;
    // SAFETY: a page of a mapping of this module, which is replaced by one without a file.
    unsafe {
        libc::mmap(
            (address - address % page) as *mut libc::c_void,
            page as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        );
    }
}

/// Does what the signal did before this module caught it.
fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get().map_or((libc::SIG_DFL, 0), |action| (action.sa_sigaction, action.sa_flags));
    // SAFETY: the system passes a description of the signal.
    let was_sent = unsafe { (*info).si_code } <= 0;
    match before {
        (libc::SIG_IGN, _) if was_sent => {}
        // SAFETY: the default action of a signal. An instruction that has failed is done again when this returns, and ends the process.
        (libc::SIG_DFL | libc::SIG_IGN, _) => unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if was_sent {
                libc::raise(signal);
            }
        },
        // SAFETY: the handler that the program had set, with the arguments that its flags say.
        (handler, flags) => unsafe {
            if flags & libc::SA_SIGINFO != 0 {
                core::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            } else {
                core::mem::transmute::<usize, extern "C" fn(i32)>(handler)(signal);
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use std::sync::{Mutex, PoisonError};

    /// Tests that map one after another: the table is one for the process.
    static ONE: Mutex<()> = Mutex::new(());
    const ONES: Blocks = Blocks { bytes: 1, stride: 1 };

    fn file(bytes: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!("postrider-mapping-{}-{:p}", std::process::id(), bytes));
        let file = File::options().read(true).write(true).create_new(true).open(&path).expect("a new file");
        std::fs::remove_file(&path).expect("it is there");
        file.write_all_at(bytes, 0).expect("there is room");
        file
    }

    #[test]
    fn what_is_written_is_in_the_file_and_nothing_else() {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file(&[7; 10_000]);
        let mapping = Mapping::new(&file, 4097, 5000, true).expect("it can be mapped");
        mapping.write(3, ONES, &[1, 2, 3]);
        let (mut read, mut found) = ([0; 5], [0; 5]);
        mapping.read(2, ONES, &mut read);
        file.read_exact_at(&mut found, 4099).expect("it is long enough");
        assert_eq!((read, found), ([7, 1, 2, 3, 7], [7, 1, 2, 3, 7]));
        assert!(mapping.is_whole());
    }

    #[test]
    fn blocks_of_any_length_are_copied_to_their_places_and_back() {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        for bytes in [1, 3, 4, 8, 16, 32, 33, 64, 100] {
            let blocks = Blocks { bytes, stride: bytes + 7 };
            let (count, at) = (20, 5);
            let given: Vec<u8> = (0..bytes * count).map(|index| index as u8 | 1).collect();
            let mut expected = vec![0; 4000];
            for (index, block) in given.chunks(bytes).enumerate() {
                expected[at + index * blocks.stride..][..bytes].copy_from_slice(block);
            }
            let file = file(&vec![0; 4000]);
            let mapping = Mapping::new(&file, 0, 4000, true).expect("it can be mapped");
            mapping.write(at, blocks, &given);
            let (mut found, mut read) = (vec![9; 4000], vec![9; given.len()]);
            file.read_exact_at(&mut found, 0).expect("it is long enough");
            mapping.read(at, blocks, &mut read);
            assert!(found == expected && read == given, "{bytes}");
        }
    }

    #[test]
    #[should_panic(expected = "outside of the mapped part")]
    fn blocks_outside_are_refused() {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file(&[0; 100]);
        let mapping = Mapping::new(&file, 0, 100, true).expect("it can be mapped");
        mapping.write(0, Blocks { bytes: 4, stride: 33 }, &[0; 16]);
    }

    #[test]
    fn a_file_that_becomes_shorter_is_noticed() {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file(&[7; 40_000]);
        let mapping = Mapping::new(&file, 0, 40_000, true).expect("it can be mapped");
        file.set_len(100).expect("it can be cut");
        mapping.write(35_000, ONES, &[1]);
        assert!(!mapping.is_whole());
        let mut read = [9];
        mapping.read(20_000, ONES, &mut read);
        assert_eq!(read, [0]);
        assert_eq!(file.metadata().expect("it is open").len(), 100);
    }

    #[test]
    fn a_missing_page_is_noticed_in_a_thread_of_ours_too() {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file(&[7; 40_000]);
        let access = move || {
            let mapping = Mapping::new(&file, 0, 40_000, true).expect("it can be mapped");
            file.set_len(100).expect("it can be cut");
            mapping.write(35_000, ONES, &[1]);
            mapping.is_whole()
        };
        let thread = crate::process::start_thread(std::thread::Builder::new(), access).expect("a thread");
        assert!(!thread.join().expect("it ends"));
    }

    #[test]
    fn too_many_are_refused() {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file(&[7; 100]);
        let made: Vec<_> = (0..=PARTS_MAX).map(|_| Mapping::new(&file, 0, 100, false)).collect();
        assert!(made.iter().any(Result::is_err));
        drop(made);
        assert!(Mapping::new(&file, 0, 100, false).is_ok());
    }
}
