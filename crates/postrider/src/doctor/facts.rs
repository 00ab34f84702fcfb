//! What one host says about itself: the facts that jobs depend on, found by trying rather than by reading where that is possible.
//!
//! Facts travel as one line of JSON, so whoever receives them takes them for what a stranger says.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use postrider_os::process::{can_copy_between_processes, cores, host_name};
use postrider_os::shared_memory::Segment;
use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use crate::directory::JobDirectory;
use crate::remote_shell::build_id;

/// Programs that jobs often start.
const PROGRAMS: [&str; 3] = ["cc", "octave", "python3"];

/// What a host says about itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Facts {
    /// Its own name.
    pub name: String,
    /// The build of Postrider that runs there.
    pub build: String,
    /// Kernel and its release.
    pub kernel: String,
    /// Architecture.
    pub machine: String,
    /// Cores that a job may use.
    pub cores: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Where programs are found by the shell that a job gets.
    pub programs: BTreeMap<String, Option<PathBuf>>,
    /// From the start of the login shell to here.
    pub start_up_ms: Option<u64>,
    /// Where job directories are made.
    pub temporary: Temporary,
    /// Why memory cannot be shared between processes.
    pub shared_memory_error: Option<String>,
    /// Whether processes may copy from each other.
    pub single_copies: bool,
    /// Limits of `inotify` for this user.
    pub inotify_instances: Option<u64>,
    /// The same for watches.
    pub inotify_watches: Option<u64>,
    /// How many files a process may open, if it asks for more; none without a limit.
    pub open_files_max: Option<u64>,
}

/// The directory for temporary files.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Temporary {
    /// `TMPDIR`, or `/tmp`.
    pub path: PathBuf,
    /// The kind of its file system.
    pub file_system: String,
    /// Whether that is a file system of several hosts.
    pub is_shared: bool,
    /// Free bytes for this user.
    pub free_bytes: u64,
    /// Why no job directory can be made there.
    pub error: Option<String>,
}

impl Temporary {
    /// Its kind and free space, for people.
    pub fn room(&self) -> String {
        format!("{} with {} free", self.file_system, size(self.free_bytes))
    }
}

/// A number of bytes, for people.
pub fn size(bytes: u64) -> String {
    match bytes >> 20 {
        mib @ 0..10_240 => format!("{mib} MiB"),
        mib => format!("{} GiB", mib >> 10),
    }
}

impl Facts {
    /// The facts of this host.
    #[must_use]
    pub fn of_here() -> Self {
        let system = rustix::system::uname();
        let (sysname, release) = (system.sysname().to_string_lossy(), system.release().to_string_lossy());
        let find = |name: &str| (name.to_owned(), found(name));
        Self {
            name: host_name(),
            build: build_id(),
            kernel: format!("{sysname} {release}"),
            machine: system.machine().to_string_lossy().into_owned(),
            cores: cores(),
            memory_bytes: memory_bytes(),
            programs: PROGRAMS.map(find).into(),
            start_up_ms: age_ms(),
            temporary: temporary(),
            shared_memory_error: shared_memory_error(),
            single_copies: can_copy_between_processes(),
            inotify_instances: inotify("max_user_instances"),
            inotify_watches: inotify("max_user_watches"),
            open_files_max: getrlimit(Resource::Nofile).maximum,
        }
    }
}

/// The program that `PATH` leads to.
pub fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let is_executable = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(is_executable)
}

fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Time since this process began. The login shell becomes the script, and the script becomes Postrider, all in one process,
/// so this is what start-up files take, and hardly more.
fn age_ms() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let ticks: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let begun_ms = ticks * 1000 / rustix::param::clock_ticks_per_second();
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    (now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000).checked_sub(begun_ms)
}

fn temporary() -> Temporary {
    let path = std::env::temp_dir();
    let error = JobDirectory::create(&path).err().map(|error| error.to_string());
    let (file_system, is_shared) = file_system(&path);
    let free = rustix::fs::statvfs(&path).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize));
    Temporary { path, file_system, is_shared, free_bytes: free, error }
}

/// The kind of file system that has `path`, and whether it is one that several hosts share. See `statfs(2)`.
fn file_system(path: &Path) -> (String, bool) {
    const KINDS: [(u64, &str, bool); 21] = [
        (0xef53, "ext4", false),
        (0x5846_5342, "xfs", false),
        (0x9123_683e, "btrfs", false),
        (0x0102_1994, "tmpfs", false),
        (0x8584_58f6, "ramfs", false),
        (0x794c_7630, "overlay", false),
        (0x2fc1_2fc1, "zfs", false),
        (0xf2f5_2010, "f2fs", false),
        (0xca45_1a4e, "bcachefs", false),
        (0x6573_5546, "fuse", false),
        (0x0102_1997, "9p", true),
        (0x6969, "nfs", true),
        (0xff53_4d42, "cifs", true),
        (0xfe53_4d42, "smb", true),
        (0x0bd0_0bd0, "lustre", true),
        (0x4750_4653, "gpfs", true),
        (0x00c3_6400, "ceph", true),
        (0x1983_0326, "beegfs", true),
        (0x5346_414f, "afs", true),
        (0xaad7_aaea, "panfs", true),
        (0x2003_0528, "orangefs", true),
    ];
    let Ok(found) = rustix::fs::statfs(path) else { return ("unknown".to_owned(), false) };
    let magic = u64::from(found.f_type as u32);
    match KINDS.iter().find(|(number, ..)| *number == magic) {
        Some((_, name, shared)) => ((*name).to_owned(), *shared),
        None => (format!("type {magic:#x}"), false),
    }
}

/// Why a job's shared memory could not be made and opened.
fn shared_memory_error() -> Option<String> {
    let tried = Segment::create(4096)
        .and_then(|memory| Segment::open(std::process::id(), memory.descriptor()).map(drop));
    tried.err().map(|error| error.to_string())
}

fn inotify(limit: &str) -> Option<u64> {
    fs::read_to_string(format!("/proc/sys/fs/inotify/{limit}")).ok()?.trim().parse().ok()
}
