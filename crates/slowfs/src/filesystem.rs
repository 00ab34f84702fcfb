//! The requests of the kernel, each passed on to the source once it has passed the queue.
//!
//! The kernel checks permissions (`default_permissions`), and what it does not get an answer to it does by itself: offsets of
//! `lseek`, locks when they are allowed, and copies between files.

use crate::nodes::{self, Entry, Handles, Nodes};
use crate::queue::Queue;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLock, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    TimeOrNow, WriteFlags,
};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FallocateFlags, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid};
use rustix::fs::{UTIME_NOW, UTIME_OMIT};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The largest write in one request.
const WRITE_MAX: u32 = 1 << 20;

/// How the file system behaves.
pub struct Settings {
    /// How long each request waits.
    pub delay: Duration,
    /// How many requests are served in a second.
    pub requests_per_second: Option<u32>,
    /// How many bytes can be written before writes fail.
    pub written_max: u64,
    /// Whether locks are granted.
    pub locks: bool,
    /// How long the kernel may hold names and attributes.
    pub cached: Duration,
}

/// A directory, passed through.
pub struct Passthrough {
    nodes: Nodes,
    files: Handles<File>,
    directories: Handles<Directory>,
    queue: Queue,
    /// How many bytes can still be written.
    room: AtomicU64,
    locks: bool,
    cached: Duration,
}

/// An open directory: its names as they were when they were first asked for.
struct Directory {
    descriptor: OwnedFd,
    entries: Mutex<Vec<Entry>>,
}

impl Passthrough {
    /// The directory at `source`.
    pub fn new(source: &Path, settings: Settings) -> io::Result<Self> {
        Ok(Self {
            nodes: Nodes::new(source)?,
            files: Handles::new(),
            directories: Handles::new(),
            queue: Queue::new(settings.delay, settings.requests_per_second),
            room: AtomicU64::new(settings.written_max),
            locks: settings.locks,
            cached: settings.cached,
        })
    }

    /// Whether so many bytes can still be written; after the first that could not, none can.
    fn has_room(&self, bytes: u64) -> bool {
        let left = self.room.fetch_update(Relaxed, Relaxed, |room| Some(room.saturating_sub(bytes)));
        left.is_ok_and(|room| room >= bytes)
    }

    /// Opens a file that the kernel knows. The kernel sees to appending and to truncation.
    fn reopen(&self, number: u64, flags: i32) -> io::Result<OwnedFd> {
        let node = self.nodes.get(number)?;
        let refused = OFlags::APPEND | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CREATE | OFlags::DIRECT;
        let flags = OFlags::from_bits_retain(flags as u32).difference(refused) | OFlags::CLOEXEC;
        Ok(rustix::fs::open(nodes::path(&node), flags, Mode::empty())?)
    }

    fn found(&self, parent: INodeNo, name: &OsStr) -> io::Result<FileAttr> {
        let (number, status) = self.nodes.look_up(parent.0, name)?;
        Ok(attributes(number, &status))
    }

    fn attributes(&self, number: u64) -> io::Result<FileAttr> {
        Ok(attributes(number, &nodes::status(&*self.nodes.get(number)?)?))
    }

    fn reply_entry(&self, result: io::Result<FileAttr>, reply: ReplyEntry) {
        match result {
            Ok(attributes) => reply.entry(&self.cached, &attributes, Generation(0)),
            Err(error) => reply.error(error.into()),
        }
    }

    fn reply_attributes(&self, result: io::Result<FileAttr>, reply: ReplyAttr) {
        match result {
            Ok(attributes) => reply.attr(&self.cached, &attributes),
            Err(error) => reply.error(error.into()),
        }
    }

    fn make(&self, parent: INodeNo, name: &OsStr, mode: u32, device: u32) -> io::Result<FileAttr> {
        let kind = rustix::fs::FileType::from_raw_mode(mode);
        let parent_node = self.nodes.get(parent.0)?;
        rustix::fs::mknodat(&parent_node, name, kind, Mode::from_raw_mode(mode), device.into())?;
        self.found(parent, name)
    }

    fn create_file(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        flags: i32,
    ) -> io::Result<(FileAttr, FileHandle)> {
        let parent_node = self.nodes.get(parent.0)?;
        let wanted = OFlags::from_bits_retain(flags as u32).difference(OFlags::APPEND | OFlags::DIRECT);
        let flags = wanted | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(&parent_node, name, flags, Mode::from_raw_mode(mode))?;
        let attributes = self.found(parent, name)?;
        Ok((attributes, FileHandle(self.files.add(File::from(file)))))
    }

    fn move_name(
        &self,
        (from, name): (INodeNo, &OsStr),
        (to, new_name): (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> io::Result<()> {
        let (from, to) = (self.nodes.get(from.0)?, self.nodes.get(to.0)?);
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        Ok(rustix::fs::renameat_with(&from, name, &to, new_name, flags)?)
    }

    fn change(&self, number: u64, change: &Change, handle: Option<FileHandle>) -> io::Result<FileAttr> {
        let node = self.nodes.get(number)?;
        let path = nodes::path(&node);
        if let Some(mode) = change.mode {
            rustix::fs::chmodat(CWD, &path, Mode::from_raw_mode(mode), AtFlags::empty())?;
        }
        if change.owner.is_some() || change.group.is_some() {
            let (owner, group) = (change.owner.map(Uid::from_raw), change.group.map(Gid::from_raw));
            rustix::fs::chownat(&node, "", owner, group, AtFlags::EMPTY_PATH)?;
        }
        if let Some(size) = change.size {
            match handle {
                Some(handle) => self.files.get(handle.0)?.set_len(size)?,
                None => File::options().write(true).open(&path)?.set_len(size)?,
            }
        }
        if change.accessed.is_some() || change.modified.is_some() {
            let times = Timestamps {
                last_access: timespec(change.accessed),
                last_modification: timespec(change.modified),
            };
            rustix::fs::utimensat(CWD, &path, &times, AtFlags::empty())?;
        }
        self.attributes(number)
    }

    fn read_at(&self, handle: FileHandle, offset: u64, size: u32) -> io::Result<Vec<u8>> {
        let file = self.files.get(handle.0)?;
        let mut data = vec![0; size as usize];
        let mut filled = 0;
        while filled < data.len() {
            match file.read_at(&mut data[filled..], offset + filled as u64)? {
                0 => break,
                bytes => filled += bytes,
            }
        }
        data.truncate(filled);
        Ok(data)
    }

    fn open_directory(&self, number: u64) -> io::Result<u64> {
        let descriptor = self.reopen(number, OFlags::DIRECTORY.bits() as i32)?;
        Ok(self.directories.add(Directory { descriptor, entries: Mutex::default() }))
    }

    /// Adds names from an offset on, which is a place in the list of names.
    fn list(&self, handle: FileHandle, offset: u64, reply: &mut ReplyDirectory) -> io::Result<()> {
        let directory = self.directories.get(handle.0)?;
        let mut entries = directory.entries.lock().expect("no request panics with the lock");
        if offset == 0 {
            *entries = nodes::entries(&self.nodes, &directory.descriptor)?;
        }
        for (entry, next) in entries.iter().zip(1..).skip(offset as usize) {
            let name = OsStr::from_bytes(&entry.name);
            if reply.add(INodeNo(entry.number), next, kind(entry.kind), name) {
                break;
            }
        }
        Ok(())
    }
}

/// What is to be changed about a file.
struct Change {
    mode: Option<u32>,
    owner: Option<u32>,
    group: Option<u32>,
    size: Option<u64>,
    accessed: Option<TimeOrNow>,
    modified: Option<TimeOrNow>,
}

impl Filesystem for Passthrough {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // A kernel that offers less takes what it has.
        let _ = config.set_max_write(WRITE_MAX);
        if !self.locks {
            // Only locks that come here can be refused.
            let _ = config.add_capabilities(InitFlags::FUSE_POSIX_LOCKS | InitFlags::FUSE_FLOCK_LOCKS);
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.queue.pass();
        self.reply_entry(self.found(parent, name), reply);
    }

    fn forget(&self, _: &Request, number: INodeNo, lookups: u64) {
        self.nodes.forget(number.0, lookups);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.queue.pass();
        self.reply_attributes(self.attributes(number.0), reply);
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        owner: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.queue.pass();
        let change = Change { mode, owner, group, size, accessed, modified };
        self.reply_attributes(self.change(number.0, &change, handle), reply);
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        self.queue.pass();
        let target =
            self.nodes.get(number.0).and_then(|node| Ok(rustix::fs::readlinkat(&node, "", Vec::new())?));
        match target {
            Ok(target) => reply.data(target.as_bytes()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn mknod(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        self.queue.pass();
        self.reply_entry(self.make(parent, name, mode & !umask, device), reply);
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        self.queue.pass();
        let made = self
            .nodes
            .get(parent.0)
            .and_then(|node| Ok(rustix::fs::mkdirat(&node, name, Mode::from_raw_mode(mode & !umask))?));
        self.reply_entry(made.and_then(|()| self.found(parent, name)), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.queue.pass();
        reply_empty(remove(&self.nodes, parent, name, AtFlags::empty()), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.queue.pass();
        reply_empty(remove(&self.nodes, parent, name, AtFlags::REMOVEDIR), reply);
    }

    fn symlink(&self, _: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        self.queue.pass();
        let made = self.nodes.get(parent.0).and_then(|node| Ok(rustix::fs::symlinkat(target, &node, name)?));
        self.reply_entry(made.and_then(|()| self.found(parent, name)), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.queue.pass();
        reply_empty(self.move_name((parent, name), (new_parent, new_name), flags), reply);
    }

    fn link(&self, _: &Request, number: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.queue.pass();
        let linked = self.nodes.get(number.0).and_then(|node| {
            let parent = self.nodes.get(parent.0)?;
            Ok(rustix::fs::linkat(CWD, nodes::path(&node), &parent, name, AtFlags::SYMLINK_FOLLOW)?)
        });
        self.reply_entry(linked.and_then(|()| self.found(parent, name)), reply);
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.queue.pass();
        match self.reopen(number.0, flags.0) {
            Ok(file) => reply.opened(FileHandle(self.files.add(File::from(file))), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        self.queue.pass();
        match self.create_file(parent, name, mode & !umask, flags) {
            Ok((attributes, handle)) => {
                reply.created(&self.cached, &attributes, Generation(0), handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error.into()),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.queue.pass();
        match self.read_at(handle, offset, size) {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.queue.pass();
        if !self.has_room(data.len() as u64) {
            return reply.error(Errno::EIO);
        }
        match self.files.get(handle.0).and_then(|file| file.write_at(data, offset)) {
            Ok(bytes) => reply.written(bytes as u32),
            Err(error) => reply.error(error.into()),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // Writes are passed on at once, and the source is on this machine.
        self.queue.pass();
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.files.remove(handle.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, handle: FileHandle, data_only: bool, reply: ReplyEmpty) {
        self.queue.pass();
        let synchronized = self
            .files
            .get(handle.0)
            .and_then(|file| if data_only { file.sync_data() } else { file.sync_all() });
        reply_empty(synchronized, reply);
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.queue.pass();
        match self.open_directory(number.0) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readdir(&self, _: &Request, _: INodeNo, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        self.queue.pass();
        match self.list(handle, offset, &mut reply) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error.into()),
        }
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.directories.remove(handle.0);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        self.queue.pass();
        let synchronized =
            self.directories.get(handle.0).and_then(|open| Ok(rustix::fs::fsync(&open.descriptor)?));
        reply_empty(synchronized, reply);
    }

    fn statfs(&self, _: &Request, number: INodeNo, reply: ReplyStatfs) {
        self.queue.pass();
        let figures = self.nodes.get(number.0).and_then(|node| Ok(rustix::fs::statvfs(nodes::path(&node))?));
        match figures {
            Ok(f) => reply.statfs(
                f.f_blocks,
                f.f_bfree,
                f.f_bavail,
                f.f_files,
                f.f_ffree,
                f.f_bsize as u32,
                f.f_namemax as u32,
                f.f_frsize as u32,
            ),
            Err(error) => reply.error(error.into()),
        }
    }

    fn getlk(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: LockOwner,
        _: u64,
        _: u64,
        _: i32,
        _: u32,
        reply: ReplyLock,
    ) {
        self.queue.pass();
        reply.error(Errno::ENOLCK);
    }

    fn setlk(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: LockOwner,
        _: u64,
        _: u64,
        _: i32,
        _: u32,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.queue.pass();
        reply.error(Errno::ENOLCK);
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        bytes: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        self.queue.pass();
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        let allocated =
            self.files.get(handle.0).and_then(|file| Ok(rustix::fs::fallocate(&*file, mode, offset, bytes)?));
        reply_empty(allocated, reply);
    }
}

fn remove(nodes: &Nodes, parent: INodeNo, name: &OsStr, flags: AtFlags) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(&nodes.get(parent.0)?, name, flags)?)
}

fn reply_empty(result: io::Result<()>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error.into()),
    }
}

/// The status of a file in the source as the kernel is told it.
fn attributes(number: u64, status: &Stat) -> FileAttr {
    let time = |seconds: i64, nanoseconds: u64| {
        let since = Duration::from_secs(seconds.unsigned_abs());
        let whole = if seconds < 0 { UNIX_EPOCH - since } else { UNIX_EPOCH + since };
        whole + Duration::from_nanos(nanoseconds)
    };
    FileAttr {
        ino: INodeNo(number),
        size: status.st_size as u64,
        blocks: status.st_blocks as u64,
        atime: time(status.st_atime, status.st_atime_nsec),
        mtime: time(status.st_mtime, status.st_mtime_nsec),
        ctime: time(status.st_ctime, status.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(rustix::fs::FileType::from_raw_mode(status.st_mode)),
        perm: (status.st_mode & 0o7777) as u16,
        nlink: status.st_nlink as u32,
        uid: status.st_uid,
        gid: status.st_gid,
        rdev: status.st_rdev as u32,
        blksize: status.st_blksize as u32,
        flags: 0,
    }
}

fn kind(kind: rustix::fs::FileType) -> FileType {
    match kind {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

/// A time as `utimensat` takes it.
fn timespec(time: Option<TimeOrNow>) -> Timespec {
    match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(TimeOrNow::Now) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        Some(TimeOrNow::SpecificTime(time)) => match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Timespec { tv_sec: since.as_secs() as i64, tv_nsec: since.subsec_nanos().into() },
            Err(before) => {
                let before = before.duration();
                let part = before.subsec_nanos();
                let seconds = -(before.as_secs() as i64) - i64::from(part > 0);
                let nanoseconds = if part > 0 { 1_000_000_000 - part } else { 0 };
                Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() }
            }
        },
    }
}
