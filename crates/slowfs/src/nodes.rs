//! The files that the kernel knows by number, and the open files.
//!
//! A file is known by its inode number in the source. As long as the kernel knows it we hold a descriptor that stands for it
//! (O_PATH), so that renaming does not disturb it and its number cannot be used again. The source is one file system: a
//! mount below it is refused, since numbers are unique in one only.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The number of the root in FUSE, whatever it is in the source.
const ROOT: u64 = 1;

/// The files that the kernel knows.
pub struct Nodes {
    device: u64,
    root: u64,
    known: Mutex<HashMap<u64, Node>>,
}

struct Node {
    descriptor: Arc<OwnedFd>,
    /// How often the kernel has been told of it, and has not forgotten it.
    lookups: u64,
}

impl Nodes {
    /// The root of the source is known from the beginning.
    pub fn new(source: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(source, flags, Mode::empty())?;
        let status = rustix::fs::fstat(&descriptor)?;
        let root = Node { descriptor: Arc::new(descriptor), lookups: 1 };
        let known = Mutex::new(HashMap::from([(ROOT, root)]));
        Ok(Self { device: status.st_dev, root: status.st_ino, known })
    }

    /// The descriptor of a file that the kernel knows.
    pub fn get(&self, number: u64) -> io::Result<Arc<OwnedFd>> {
        let known = self.known.lock().expect("no request panics with the lock");
        let node = known.get(&number).ok_or(Errno::STALE)?;
        Ok(Arc::clone(&node.descriptor))
    }

    /// Finds a file by its name, and counts that the kernel will know it.
    pub fn look_up(&self, parent: u64, name: &OsStr) -> io::Result<(u64, Stat)> {
        let parent = self.get(parent)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(&parent, name, flags, Mode::empty())?;
        let status = rustix::fs::fstat(&descriptor)?;
        if status.st_dev != self.device {
            return Err(Errno::XDEV.into());
        }
        let number = self.number(status.st_ino);
        let mut known = self.known.lock().expect("no request panics with the lock");
        let node =
            known.entry(number).or_insert_with(|| Node { descriptor: Arc::new(descriptor), lookups: 0 });
        node.lookups += 1;
        Ok((number, status))
    }

    /// The kernel has forgotten so many of the times that it was told of a file.
    pub fn forget(&self, number: u64, lookups: u64) {
        let mut known = self.known.lock().expect("no request panics with the lock");
        if number != ROOT
            && let Some(node) = known.get_mut(&number)
        {
            node.lookups = node.lookups.saturating_sub(lookups);
            if node.lookups == 0 {
                known.remove(&number);
            }
        }
    }

    /// The number in FUSE of a file with this number in the source.
    pub fn number(&self, inode: u64) -> u64 {
        if inode == self.root { ROOT } else { inode }
    }
}

/// What is known about a file.
pub fn status(descriptor: &OwnedFd) -> io::Result<Stat> {
    Ok(rustix::fs::statat(descriptor, "", AtFlags::EMPTY_PATH)?)
}

/// A path that leads to the file of a descriptor, for calls that take no such descriptor.
pub fn path(descriptor: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))
}

/// What has been opened, by handles.
pub struct Handles<T> {
    open: Mutex<(u64, HashMap<u64, Arc<T>>)>,
}

impl<T> Handles<T> {
    /// No open file.
    pub fn new() -> Self {
        Self { open: Mutex::new((0, HashMap::new())) }
    }

    /// Gives a new handle.
    pub fn add(&self, value: T) -> u64 {
        let mut open = self.open.lock().expect("no request panics with the lock");
        open.0 += 1;
        let handle = open.0;
        open.1.insert(handle, Arc::new(value));
        handle
    }

    /// What a handle stands for.
    pub fn get(&self, handle: u64) -> io::Result<Arc<T>> {
        let open = self.open.lock().expect("no request panics with the lock");
        open.1.get(&handle).cloned().ok_or_else(|| Errno::BADF.into())
    }

    /// Gives a handle back.
    pub fn remove(&self, handle: u64) {
        self.open.lock().expect("no request panics with the lock").1.remove(&handle);
    }
}

/// One name in a directory.
pub struct Entry {
    /// Its number in FUSE.
    pub number: u64,
    /// The kind of file.
    pub kind: FileType,
    /// The name.
    pub name: Vec<u8>,
}

/// All names in a directory.
pub fn entries(nodes: &Nodes, directory: &OwnedFd) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let (number, kind) = (nodes.number(entry.ino()), entry.file_type());
        entries.push(Entry { number, kind, name: entry.file_name().to_bytes().to_vec() });
    }
    Ok(entries)
}
