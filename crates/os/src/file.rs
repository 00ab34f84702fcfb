//! Message files: how a file gets into another process's inbox whole, and how that process learns of it without polling.
//!
//! Every process of a job owns one directory in the job's directory, its [`Inbox`]. A sender writes a file there under a
//! hidden name (beginning with a dot) and then renames it: readers never see half a message. The kernel reports the
//! renamed name to the owner (inotify, `IN_MOVED_TO`), who sleeps in `poll` until then. What was there before the owner
//! began to watch, and what the kernel could not report because its queue overflowed, is found by reading the directory.

mod multicast;

use std::ffi::{CStr, CString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::memory::UserMemory;
use crate::parcel::{LOCK, Name, Parcel};

pub use multicast::Address;

/// A directory that was opened and checked: it is ours alone.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    file: File,
}

impl Directory {
    /// Opens the directory, making it (mode 0700) when it is not there.
    fn open_or_create(path: &Path) -> Result<Self> {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => {
                return Err(refused("create the directory", path, e));
            }
            _ => {}
        }
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let opened = fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = opened.map_err(|e| refused("open the directory", path, e))?;
        let facts = file.metadata().map_err(|e| refused("look at the directory", path, e))?;
        // SAFETY: geteuid has no precondition.
        if facts.uid() != unsafe { libc::geteuid() } || facts.mode() & 0o077 != 0 {
            let reason = io::Error::new(ErrorKind::PermissionDenied, "it must belong to you, with mode 0700");
            return Err(refused("use the directory", path, reason));
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// Makes the file `name`, which must not be there, and writes `head` and then the `bytes` bytes at `body` to it.
    fn write(&self, name: &CStr, head: &[u8], body: UserMemory, bytes: usize) -> Result<()> {
        let mut file = self.open_at(name, libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY)?;
        let written = write_all(&mut file, head, body, bytes);
        written.map_err(|reason| {
            let path = self.path.join(name.to_string_lossy().as_ref());
            Error::new(
                format!("cannot write the {} bytes of message {}", head.len() + bytes, path.display()),
                reason,
            )
        })
    }

    fn open_at(&self, name: &CStr, flags: i32) -> Result<File> {
        // SAFETY: a NUL-terminated name and an open directory.
        let fd =
            unsafe { libc::openat(self.file.as_raw_fd(), name.as_ptr(), flags | libc::O_CLOEXEC, 0o600) };
        if fd < 0 {
            return Err(self.failed("open", name));
        }
        // SAFETY: the descriptor is new and ours.
        Ok(unsafe { File::from_raw_fd(fd) })
    }

    fn rename(&self, from: &CStr, to: &CStr) -> Result<()> {
        self.move_to(from, self, to)
    }

    fn move_to(&self, name: &CStr, to: &Self, as_name: &CStr) -> Result<()> {
        let (here, there) = (self.file.as_raw_fd(), to.file.as_raw_fd());
        // SAFETY: NUL-terminated names and open directories.
        if unsafe { libc::renameat(here, name.as_ptr(), there, as_name.as_ptr()) } < 0 {
            return Err(self.failed("rename", name));
        }
        Ok(())
    }

    fn remove(&self, name: &CStr) -> Result<()> {
        // SAFETY: a NUL-terminated name and an open directory.
        if unsafe { libc::unlinkat(self.file.as_raw_fd(), name.as_ptr(), 0) } < 0 {
            return Err(self.failed("remove", name));
        }
        Ok(())
    }

    fn failed(&self, verb: &str, name: &CStr) -> Error {
        let path = self.path.join(name.to_string_lossy().as_ref());
        Error::last(format!("cannot {verb} {}", path.display()))
    }
}

fn refused(verb: &str, path: &Path, reason: io::Error) -> Error {
    Error::new(format!("cannot {verb} {}", path.display()), reason)
}

/// The directory in which a process receives files.
#[derive(Debug)]
pub struct Inbox {
    directory: Directory,
    events: OwnedFd,
    waking: Mutex<Waking>,
    /// Where the files are, and for which rank, if what stands in the inbox only announces them.
    central: Option<(Directory, u32)>,
}

/// The directory in which another process receives files.
#[derive(Debug)]
pub struct Outbox {
    directory: Directory,
}

impl Outbox {
    /// Opens the inbox at `path` to send into it; makes it when its owner has not come yet.
    ///
    /// # Errors
    /// When the directory cannot be made or opened, or is not ours alone.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { directory: Directory::open_or_create(path)? })
    }

    /// Puts a file called `name` there that holds `head` and then the `bytes` bytes at `body`.
    ///
    /// # Errors
    /// When the file system refuses; nothing is left behind then, and nothing has been seen by the receiver.
    pub fn send(&self, name: &CStr, head: &[u8], body: UserMemory, bytes: usize) -> Result<()> {
        let hidden = hidden(name);
        let written = self.directory.write(&hidden, head, body, bytes);
        let sent = written.and_then(|()| self.directory.rename(&hidden, name));
        if sent.is_err() {
            let _ = self.directory.remove(&hidden);
        }
        sent
    }

    /// The same by a file that has been read in the inbox `from`.
    ///
    /// # Errors
    /// As [`Outbox::send`].
    pub fn send_again(
        &self,
        (from, mut spare): (&Inbox, Spare),
        name: &CStr,
        head: &[u8],
        body: UserMemory,
        bytes: usize,
    ) -> Result<()> {
        let mut written = write_all(&mut spare.file, head, body, bytes);
        if head.len() + bytes < spare.bytes {
            written = written.and_then(|()| spare.file.set_len((head.len() + bytes) as u64));
        }
        if written.is_ok() && from.directory.move_to(&spare.name, &self.directory, name).is_ok() {
            return Ok(());
        }
        from.give_up(spare)?;
        self.send(name, head, body, bytes)
    }

    /// Puts a file called `name` there, and once it is whole and closed an empty lock file beside it. On a file system that hosts
    /// share, whoever sees the lock file and opens the message afterwards sees all of it (close-to-open consistency).
    ///
    /// # Errors
    /// When the file system refuses; nothing is left behind then.
    pub fn send_locked(&self, name: &CStr, head: &[u8], body: UserMemory, bytes: usize) -> Result<()> {
        let written = self.directory.write(name, head, body, bytes);
        let locked = written.and_then(|()| self.directory.write(&lock_of(name), &[], body, 0));
        if locked.is_err() {
            let _ = self.directory.remove(name);
        }
        locked
    }

    /// Begins a file that will be called `name`, for whoever has its bytes piece by piece.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn begin(&self, name: &CStr) -> Result<Begun> {
        let hidden = hidden(name);
        let file = self.directory.open_at(&hidden, libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY)?;
        Ok(Begun { file, name: name.to_owned() })
    }

    /// Makes the file that [`Outbox::begin`] has begun visible under its name.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn finish(&self, begun: Begun) -> Result<()> {
        drop(begun.file);
        self.directory.rename(&hidden(&begun.name), &begun.name)
    }
}

/// A message file that is being written, under its hidden name.
#[derive(Debug)]
pub struct Begun {
    /// Where to write it.
    pub file: File,
    name: CString,
}

/// A file that has been read, and lies where it was: to move it elsewhere with other bytes costs a file system less than to
/// remove it and make another.
#[derive(Debug)]
pub struct Spare {
    name: CString,
    file: File,
    bytes: usize,
}

/// The name of a file until it is whole.
fn hidden(name: &CStr) -> CString {
    extended(b".", name, b"")
}

/// The name of the lock file that belongs to a message file.
fn lock_of(name: &CStr) -> CString {
    extended(b"", name, LOCK.as_bytes())
}

fn extended(before: &[u8], name: &CStr, after: &[u8]) -> CString {
    let bytes = [before, name.to_bytes(), after].concat();
    CString::new(bytes).unwrap_or_else(|_| unreachable!("no part has a NUL"))
}

/// Writes as much as there is room for, of `head` and then of the `bytes` bytes at `body`, from byte `done` of both on.
///
/// # Errors
/// Those of the system, such as `WouldBlock`.
pub fn write_some(
    mut file: impl Write,
    head: &[u8],
    body: UserMemory,
    bytes: usize,
    done: usize,
) -> io::Result<usize> {
    let from = done.saturating_sub(head.len());
    let rest: &[u8] = match bytes - from {
        // No bytes may be at a null pointer, where no slice may be.
        0 => &[],
        // SAFETY: `body` names `bytes` readable bytes, by its promise, for the duration of the call.
        left => unsafe { std::slice::from_raw_parts(body.offset(from as i64).address() as *const u8, left) },
    };
    let slices = [IoSlice::new(&head[done.min(head.len())..]), IoSlice::new(rest)];
    file.write_vectored(&slices)
}

/// Writes all of `head` and then the `bytes` bytes at `body`.
///
/// # Errors
/// Those of the system.
pub fn write_all(file: &mut File, head: &[u8], body: UserMemory, bytes: usize) -> io::Result<()> {
    let total = head.len() + bytes;
    let mut done = 0;
    while done < total {
        match write_some(&mut *file, head, body, bytes, done) {
            Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero)),
            Ok(n) => done += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

impl Inbox {
    /// Makes the inbox at `path` and begins to watch it.
    ///
    /// # Errors
    /// When the directory cannot be made, is not ours alone, or cannot be watched.
    pub fn create(path: &Path) -> Result<Self> {
        Self::watched(path, libc::IN_MOVED_TO)
    }

    /// Makes the inbox at `path` for files that others create there under their final names: a file is reported when its writer has
    /// closed it.
    ///
    /// # Errors
    /// Those of [`Inbox::create`].
    pub fn create_for_closed_files(path: &Path) -> Result<Self> {
        Self::watched(path, libc::IN_CLOSE_WRITE)
    }

    fn watched(path: &Path, event: u32) -> Result<Self> {
        let directory = Directory::open_or_create(path)?;
        let cannot =
            || Error::last(format!("cannot watch {} (see fs.inotify.max_user_instances)", path.display()));
        // SAFETY: no pointer is passed.
        let events = unsafe { libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC) };
        let events = owned(events).ok_or_else(cannot)?;
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|e| refused("watch", path, io::Error::new(ErrorKind::InvalidInput, e)))?;
        // SAFETY: a NUL-terminated path.
        let watch = unsafe { libc::inotify_add_watch(events.as_raw_fd(), name.as_ptr(), event) };
        if watch < 0 {
            return Err(cannot());
        }
        Ok(Self { directory, events, waking: Mutex::default(), central: None })
    }

    /// Makes the inbox at `path` in which files are only announced; the files themselves lie in `central`, as parcels for `rank`.
    ///
    /// # Errors
    /// When one of the directories cannot be made, is not ours alone, or cannot be watched.
    pub fn create_announced(path: &Path, central: &Path, rank: u32) -> Result<Self> {
        Ok(Self { central: Some((Directory::open_or_create(central)?, rank)), ..Self::create(path)? })
    }

    /// Names of files that have arrived since the last call, in the order of their arrival. False when the kernel has
    /// lost count: read the whole directory with [`Inbox::scan`].
    ///
    /// # Errors
    /// When the kernel's queue cannot be read.
    pub fn arrived(&self, mut found: impl FnMut(&str)) -> Result<bool> {
        let mut buffer = [0_u8; 4096];
        let mut events = borrowed(self.events.as_raw_fd());
        let n = match events.read(&mut buffer) {
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::WouldBlock => 0,
            Err(e) => return Err(refused("read the events of", &self.directory.path, e)),
        };
        Ok(parse_events(&buffer[..n], &mut found))
    }

    /// Names of all files that lie in the inbox, in no order.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn scan(&self, mut found: impl FnMut(&str)) -> Result<()> {
        let cannot = |e| refused("read the directory", &self.directory.path, e);
        for entry in fs::read_dir(&self.directory.path).map_err(cannot)? {
            if let Some(name) = entry.map_err(cannot)?.file_name().to_str() {
                found(name);
            }
        }
        Ok(())
    }

    /// Opens the received file `name`.
    ///
    /// # Errors
    /// When it is not there, or is not a plain file.
    pub fn open(&self, name: &CStr) -> Result<ReceivedFile> {
        let file = match &self.central {
            None => self.directory.open_at(name, libc::O_RDWR | libc::O_NOFOLLOW)?,
            Some((central, rank)) => {
                central.open_at(&parcel(*rank, name), libc::O_RDONLY | libc::O_NOFOLLOW)?
            }
        };
        Ok(ReceivedFile(file))
    }

    /// Keeps the received file `name`, all of whose `bytes` bytes have been read, to be sent again; none if others may still read it, or
    /// could take it for a message that is to be read.
    #[must_use]
    pub fn keep(&self, name: &CStr, ReceivedFile(file): ReceivedFile, bytes: usize) -> Option<Spare> {
        let is_alone = self.central.is_none() && file.metadata().is_ok_and(|facts| facts.nlink() == 1);
        is_alone.then(|| Spare { name: name.to_owned(), file, bytes })
    }

    /// Moves the received file `name` to another inbox, and removes its lock file.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn hand_over(&self, name: &CStr, to: &Outbox, as_name: &CStr) -> Result<()> {
        self.pass_on(name, to, as_name)?;
        self.directory.remove(&lock_of(name))
    }

    /// Moves the received file `name` to another inbox, which may be on another file system.
    ///
    /// # Errors
    /// When it is not there, or a file system refuses.
    pub fn pass_on(&self, name: &CStr, to: &Outbox, as_name: &CStr) -> Result<()> {
        match self.directory.move_to(name, &to.directory, as_name) {
            Err(error) if error.reason.raw_os_error() == Some(libc::EXDEV) => {}
            moved => return moved,
        }
        let mut begun = to.begin(as_name)?;
        let mut file = self.directory.open_at(name, libc::O_RDONLY | libc::O_NOFOLLOW)?;
        io::copy(&mut file, &mut begun.file).map_err(|e| refused("copy", &self.directory.path, e))?;
        to.finish(begun)?;
        self.directory.remove(name)
    }

    /// Removes the received file `name`, with all that belongs to it.
    ///
    /// # Errors
    /// When it is not there.
    pub fn remove(&self, name: &CStr) -> Result<()> {
        if let Some((central, rank)) = &self.central {
            let parcel = parcel(*rank, name);
            central.remove(&lock_of(&parcel))?;
            central.remove(&parcel)?;
        }
        self.directory.remove(name)
    }

    /// Removes a file that was kept.
    ///
    /// # Errors
    /// When it is not there.
    pub fn give_up(&self, spare: Spare) -> Result<()> {
        self.directory.remove(&spare.name)
    }

    /// How often threads have been woken: whoever wants to sleep keeps it, and looks once more for what it waits for.
    pub fn calls(&self) -> u64 {
        self.waking().calls
    }

    /// Sleeps until a file has come, another thread has called [`Inbox::wake`] since there were so many calls, or `limit` has passed, which is
    /// what true means.
    pub fn sleep(&self, calls: u64, limit: Duration) -> bool {
        // A thread that cannot be woken, also one that is at its end, looks often.
        let bell = BELL.try_with(|bell| bell.as_ref().map(AsRawFd::as_raw_fd)).ok().flatten();
        let limit = if bell.is_some() { limit } else { limit.min(Duration::from_millis(1)) };
        let mut waking = self.waking();
        if waking.calls != calls {
            return false;
        }
        waking.sleepers.extend(bell);
        drop(waking);
        let mut both = [self.events.as_raw_fd(), bell.unwrap_or(-1)].map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        });
        let time = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(limit.subsec_nanos() as i32),
        };
        // SAFETY: two descriptors, both open or, the second, none, and a valid time.
        let woken = unsafe { libc::ppoll(both.as_mut_ptr(), 2, &raw const time, std::ptr::null()) };
        if let Some(bell) = bell {
            self.waking().sleepers.retain(|sleeper| *sleeper != bell);
            let _ = borrowed(bell).read(&mut [0; 8]);
        }
        woken == 0
    }

    /// Wakes the threads of this process that sleep here.
    pub fn wake(&self) {
        let mut waking = self.waking();
        waking.calls += 1;
        for sleeper in &waking.sleepers {
            let _ = borrowed(*sleeper).write(&1_u64.to_ne_bytes());
        }
    }

    fn waking(&self) -> MutexGuard<'_, Waking> {
        self.waking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads that wake each other: each sleeper has a descriptor of its own, since of one for all the thread that wakes the others could take the call
/// back when it goes to sleep itself.
#[derive(Debug, Default)]
struct Waking {
    calls: u64,
    sleepers: Vec<RawFd>,
}

thread_local! {
    /// By which this thread is woken.
    // SAFETY: no pointer is passed.
    static BELL: Option<OwnedFd> = owned(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) });
}

impl AsFd for Inbox {
    /// Readable when a file has come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

/// The name, where files for several ranks lie, of the file that is called `name` in the inbox of `rank`.
fn parcel(rank: u32, name: &CStr) -> CString {
    let name = name.to_str().ok().and_then(Name::parse);
    name.map_or_else(CString::default, |name| Parcel { receiver: rank, name }.text())
}

/// A received file, open for reading.
#[derive(Debug)]
pub struct ReceivedFile(File);

impl ReceivedFile {
    /// Length in bytes.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// Reads up to `into.len()` bytes at `offset`; returns how many there were.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn read_some(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }

    /// Reads up to `bytes` bytes from the beginning in one system call; returns how many there were.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn read_start(&self, into: UserMemory, bytes: usize) -> io::Result<usize> {
        // SAFETY: `into` names `bytes` writable bytes by its promise.
        let n = unsafe { libc::pread(self.0.as_raw_fd(), into.address() as *mut libc::c_void, bytes, 0) };
        usize::try_from(n).map_err(|_| io::Error::last_os_error())
    }

    /// Reads `bytes` bytes at `offset` to `into`.
    ///
    /// # Errors
    /// When the file system refuses or the file is shorter.
    pub fn read_at(&self, offset: u64, into: UserMemory, bytes: usize) -> io::Result<()> {
        let mut done = 0;
        while done < bytes {
            let place = into.offset(done as i64).address() as *mut libc::c_void;
            let at = (offset + done as u64) as libc::off_t;
            // SAFETY: `into` names `bytes` writable bytes by its promise.
            let n = unsafe { libc::pread(self.0.as_raw_fd(), place, bytes - done, at) };
            match n {
                1.. => done += n as usize,
                0 => return Err(io::Error::from(ErrorKind::UnexpectedEof)),
                _ => return Err(io::Error::last_os_error()),
            }
        }
        Ok(())
    }
}

/// Reads what the kernel reports: names of files, and false when it has lost count.
///
/// An event is a struct inotify_event: watch (4 bytes), mask (4), cookie (4), length of the name (4), name padded with NUL.
fn parse_events(bytes: &[u8], found: &mut impl FnMut(&str)) -> bool {
    let (mut complete, mut rest) = (true, bytes);
    while let Some((event, tail)) = rest.split_at_checked(16) {
        let number = |at: usize| u32::from_ne_bytes([event[at], event[at + 1], event[at + 2], event[at + 3]]);
        complete &= number(4) & libc::IN_Q_OVERFLOW == 0;
        let Some((name, tail)) = tail.split_at_checked(number(12) as usize) else { break };
        let name = name.split(|&byte| byte == 0).next().unwrap_or(name);
        if let (Ok(name), false) = (std::str::from_utf8(name), name.is_empty()) {
            found(name);
        }
        rest = tail;
    }
    complete
}

fn owned(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: a descriptor that the system has just made for us.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A `File` for reading or writing through a descriptor that stays its owner's.
fn borrowed(fd: RawFd) -> ManuallyDrop<File> {
    // SAFETY: the owner outlives the call it is used in, and `ManuallyDrop` never closes it.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use proptest::prelude::*;

    fn event(mask: u32, name: &str) -> Vec<u8> {
        let padded = (name.len() + 1).next_multiple_of(16);
        let mut bytes: Vec<u8> =
            [1, mask, 0, padded as u32].iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.extend_from_slice(name.as_bytes());
        bytes.resize(16 + padded, 0);
        bytes
    }

    proptest! {
        #[test]
        fn events_are_read_as_the_kernel_writes_them(names in prop::collection::vec("[0-9.]{1,20}", 0..20), lost: bool) {
            let mut bytes: Vec<u8> = names.iter().flat_map(|name| event(libc::IN_MOVED_TO, name)).collect();
            if lost {
                bytes.extend([u32::MAX, libc::IN_Q_OVERFLOW, 0, 0].iter().flat_map(|word| word.to_ne_bytes()));
            }
            let mut found = Vec::new();
            prop_assert_eq!(parse_events(&bytes, &mut |name| found.push(name.to_owned())), !lost);
            prop_assert_eq!(found, names);
        }

        #[test]
        fn no_bytes_are_trusted(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            parse_events(&bytes, &mut |name| assert!(!name.is_empty() && !name.contains('\0')));
        }
    }

    fn scratch() -> PathBuf {
        let path = std::env::temp_dir().join(format!("postrider-file-test-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_file_arrives_whole_and_is_reported() {
        let path = scratch().join("inbox");
        let (inbox, outbox) = (Inbox::create(&path).unwrap(), Outbox::open(&path).unwrap());
        let mut body = OwnedMemory::new(100_000);
        let memory = UserMemory::of(&mut body);
        memory.offset(99_990).write(b"the end");
        outbox.send(c"7.1", b"head", memory, 100_000).unwrap();
        inbox.sleep(inbox.calls(), Duration::from_secs(60));
        let mut names = Vec::new();
        assert!(inbox.arrived(|name| names.push(name.to_owned())).unwrap());
        assert_eq!(names, ["7.1"]);
        let file = inbox.open(c"7.1").unwrap();
        assert_eq!(file.bytes().unwrap(), 100_004);
        assert_eq!(file.read_start(memory, 4).unwrap(), 4);
        let mut head = [0; 4];
        memory.read(&mut head);
        assert_eq!(&head, b"head");
        file.read_at(99_994, memory, 7).unwrap();
        let mut end = [0; 7];
        memory.read(&mut end);
        assert_eq!(&end, b"the end");
        inbox.remove(c"7.1").unwrap();
        inbox.scan(|name| panic!("{name} was left behind")).unwrap();
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_thread_that_wakes_another_and_sleeps_itself_does_not_take_the_call_back() {
        let path = scratch().join("waking");
        let inbox = Inbox::create(&path).unwrap();
        let before = inbox.calls();
        let slept_through = std::thread::scope(|scope| {
            let other = scope.spawn(|| inbox.sleep(before, Duration::from_secs(60)));
            inbox.wake();
            assert!(inbox.sleep(inbox.calls(), Duration::from_millis(1)));
            other.join().unwrap()
        });
        assert!(!slept_through);
        assert!(!inbox.sleep(before, Duration::from_secs(60)));
        fs::remove_dir_all(path).unwrap();
    }

    /// A file with these bytes, that was sent to `inbox` under `name` and read.
    fn read(inbox: &Inbox, name: &CStr, bytes: &[u8]) -> ReceivedFile {
        let file = inbox.open(name).unwrap();
        let mut content = vec![0; bytes.len() + 1];
        assert_eq!(file.read_some(0, &mut content).unwrap(), bytes.len());
        assert!(content.starts_with(bytes));
        file
    }

    #[test]
    fn a_file_that_was_read_is_sent_again_with_other_bytes() {
        let paths = ["again-0", "again-1"].map(|name| scratch().join(name));
        let [here, there] = paths.each_ref().map(|path| Inbox::create(path).unwrap());
        let [to_here, to_there] = paths.each_ref().map(|path| Outbox::open(path).unwrap());
        let mut body = OwnedMemory::new(100);
        let memory = UserMemory::of(&mut body);
        memory.write(b"0123456789");
        let mut text = b"head".to_vec();
        to_here.send(c"1.0", &text, memory, 0).unwrap();
        for (number, length) in [(0, 10), (1, 3), (2, 3), (3, 10)] {
            let (inbox, outbox) = if number % 2 == 0 { (&here, &to_there) } else { (&there, &to_here) };
            let name = Name { sender: 1, number }.text();
            let spare = inbox.keep(&name, read(inbox, &name, &text), text.len()).unwrap();
            let next = Name { sender: 1, number: number + 1 }.text();
            outbox.send_again((inbox, spare), &next, b"head", memory, length).unwrap();
            text = [b"head", &b"0123456789"[..length]].concat();
            inbox.scan(|name| panic!("{name} was left behind")).unwrap();
        }
        read(&here, c"1.4", &text);
        let mut reported = Vec::new();
        here.arrived(|name| reported.push(name.to_owned())).unwrap();
        assert_eq!(reported, ["1.0", "1.2", "1.4"]);
        paths.iter().for_each(|path| fs::remove_dir_all(path).unwrap());
    }

    #[test]
    fn a_file_that_others_may_read_is_not_sent_again() {
        let paths = ["links-0", "links-1"].map(|name| scratch().join(name));
        let inboxes = paths.each_ref().map(|path| Inbox::create(path).unwrap());
        let [first, second] = paths.each_ref().map(|path| Outbox::open(path).unwrap());
        let mut body = OwnedMemory::new(4);
        let addresses = [(&first, c"1.0".to_owned()), (&second, c"1.0".to_owned())];
        assert_eq!(Outbox::send_to_all(&addresses, b"head", UserMemory::of(&mut body), 0).unwrap(), 2);
        let files = inboxes.each_ref().map(|inbox| read(inbox, c"1.0", b"head"));
        let [file, last] = files;
        assert!(inboxes[0].keep(c"1.0", file, 4).is_none());
        inboxes[0].remove(c"1.0").unwrap();
        assert!(inboxes[1].keep(c"1.0", last, 4).is_some(), "the last reader has it alone");
        paths.iter().for_each(|path| fs::remove_dir_all(path).unwrap());
    }

    #[test]
    fn a_directory_that_others_can_read_is_refused() {
        let path = scratch().join("open");
        DirBuilder::new().mode(0o755).create(&path).unwrap();
        let error = Inbox::create(&path).unwrap_err();
        assert!(error.to_string().contains("mode 0700"), "{error}");
        fs::remove_dir_all(path).unwrap();
    }
}
