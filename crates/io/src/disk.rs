//! The file itself: opening, reading and writing at offsets, sizes.
//!
//! No locks are taken here or anywhere in this crate: many file systems have none, or slow ones. Reads and writes name their
//! offsets, so that there is no file pointer of the system's that processes or threads could share.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use postrider_abi::*;
use postrider_os::mapping::Mapping;

use crate::error::{Error, Result};

/// An open file.
#[derive(Debug)]
pub struct Disk {
    file: File,
    path: PathBuf,
    /// Whether all processes that have the file open have it in the memory of one system.
    is_of_this_host: bool,
    /// Whether the system lets it be read and written, without which no file can be mapped for writing.
    is_for_both: bool,
}

/// File systems whose files are on this host's disks or in its memory, by what `statfs` says: tmpfs, ramfs, ext2 to ext4, XFS, Btrfs, F2FS,
/// and overlays of these.
const OF_THIS_HOST: [i64; 7] =
    [0x0102_1994, 0x8584_58f6, 0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x794c_7630];

/// Whether a file is on a file system of this host alone.
#[allow(unsafe_code)]
fn is_of_this_host(file: &File) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: a descriptor that is open, and a place for the result, which is valid as zeros too.
    let kind = unsafe {
        if libc::fstatfs(file.as_raw_fd(), found.as_mut_ptr()) != 0 {
            return false;
        }
        found.assume_init().f_type
    };
    OF_THIS_HOST.contains(&(kind as i64))
}

impl Disk {
    /// Opens the file at `path` for what the access mode says; `permissions` are for one that is created.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path, mode: i32, permissions: u32) -> Result<Self> {
        let has = |flag| mode & flag != 0;
        let mut options = OpenOptions::new();
        options.read(has(MPI_MODE_RDONLY | MPI_MODE_RDWR)).write(has(MPI_MODE_WRONLY | MPI_MODE_RDWR));
        options.create(has(MPI_MODE_CREATE)).create_new(has(MPI_MODE_CREATE) && has(MPI_MODE_EXCL));
        options.mode(permissions);
        // A file that can be read as well can be mapped.
        let readable = if has(MPI_MODE_WRONLY) { options.clone().read(true).open(path).ok() } else { None };
        let is_for_both = has(MPI_MODE_RDWR) || readable.is_some();
        let opened = readable.map_or_else(|| options.open(path), Ok);
        let file = opened.map_err(|error| Error::system("opening", path, &error))?;
        let is_of_this_host = is_of_this_host(&file);
        let disk = Self { file, path: path.into(), is_of_this_host, is_for_both };
        if disk.file.metadata().is_ok_and(|found| found.is_dir()) {
            return Err(Error::new(MPI_ERR_BAD_FILE, format!("{} is a directory", path.display())));
        }
        Ok(disk)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the bytes of the file are the same memory for all processes of this host, and no other host has it.
    pub fn is_of_this_host(&self) -> bool {
        self.is_of_this_host
    }

    /// Whether it can be read and written.
    pub fn is_for_both(&self) -> bool {
        self.is_for_both
    }

    /// What the file system says of how long pieces of a file are that it likes.
    pub fn block_bytes(&self) -> i64 {
        self.file.metadata().map_or(0, |found| found.blksize() as i64)
    }

    /// Whether a part of it can be memory that is written.
    pub fn can_map_for_writing(&self) -> bool {
        self.is_of_this_host && self.is_for_both
    }

    /// A part of it as memory, if that is to be had. It must not be longer than the file.
    pub fn map(&self, offset: i64, bytes: usize, writes: bool) -> Option<Mapping> {
        if !self.is_of_this_host {
            return None;
        }
        Mapping::new(&self.file, offset as u64, bytes, writes).ok()
    }

    /// Reads at `offset` until the buffer is full or the file ends, and returns how many bytes there were.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&self, buffer: &mut [u8], offset: i64) -> Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.file.read_at(&mut buffer[done..], offset as u64 + done as u64) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::system("reading", &self.path, &error)),
            }
        }
        Ok(done)
    }

    /// Writes all of the buffer at `offset`.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, buffer: &[u8], offset: i64) -> Result<()> {
        let written = self.file.write_all_at(buffer, offset as u64);
        written.map_err(|error| Error::system("writing", &self.path, &error))
    }

    /// Its size in bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn size(&self) -> Result<i64> {
        let found = self.file.metadata().map_err(|error| Error::system("asking for", &self.path, &error))?;
        Ok(found.len() as i64)
    }

    /// Cuts it, or lets it grow by zeros.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_size(&self, size: i64) -> Result<()> {
        self.file.set_len(size as u64).map_err(|error| Error::system("resizing", &self.path, &error))
    }

    /// Has the system reserve room for its first `size` bytes; it grows if it is smaller.
    ///
    /// # Errors
    /// What the system says.
    #[allow(unsafe_code)]
    pub fn preallocate(&self, size: i64) -> Result<()> {
        if size == 0 {
            return Ok(());
        }
        // SAFETY: a descriptor that is open as long as `self`.
        match unsafe { libc::fallocate(self.file.as_raw_fd(), 0, 0, size) } {
            0 => Ok(()),
            _ => self.reserve_by_writing(size, &std::io::Error::last_os_error()),
        }
    }

    /// Reserves room where the file system cannot do it in one call: by zeros behind the end.
    fn reserve_by_writing(&self, size: i64, refused: &std::io::Error) -> Result<()> {
        if !matches!(refused.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) {
            return Err(Error::system("reserving room for", &self.path, refused));
        }
        let zeros = vec![0; 1 << 20];
        let mut end = self.size()?;
        while end < size {
            let bytes = zeros.len().min((size - end) as usize);
            self.write(&zeros[..bytes], end)?;
            end += bytes as i64;
        }
        Ok(())
    }

    /// Waits until everything is on the device.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| Error::system("flushing", &self.path, &error))
    }
}

/// Deletes the file at `path`.
///
/// # Errors
/// What the system says.
pub fn delete(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(|error| Error::system("deleting", path, &error))
}
