//! How ranks that another launcher has started meet the standing agent of their host.
//!
//! The first rank of a host that comes to `MPI_Init` starts the agent (`postrider stand`) and hands it a socket that listens at an
//! abstract address, a name that is in no file system and goes with the process. The name has the user, the launcher's name of the
//! job, and the number of the host. Both sides ask the kernel who the other one is (`SO_PEERCRED`). A rank says [`Word::Join`] and
//! hears [`Word::Job`] or [`Word::Refused`]; where the launcher offers a key-value space, the agent asks the host's
//! leader in between to share a text with the leaders of the other hosts, or says that they do without ([`Word::Apart`]). In `MPI_Finalize` a rank says [`Word::Done`] and hears
//! [`Word::Over`] when all ranks of the job have said so and nothing of the job is left on its host.
//!
//! A word is a line; texts in it are in hexadecimal, so that they may contain anything.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::{Error, Result};

/// Longer lines are not read.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// How often the leaders of all hosts share a text before a job begins.
pub const ROUNDS: u32 = 2;
/// Environment variable: seconds in which all ranks of a job have to come to `MPI_Init`.
pub const ENV_LIMIT: &str = "POSTRIDER_JOIN_TIMEOUT";
/// The time limit without that variable. Programs may read large files, or import many modules, before they call `MPI_Init`.
const LIMIT_SECONDS: u64 = 300;
/// The part of a job's name that fits into an address as it is.
const KEY_BYTES_MAX: usize = 48;

/// What ranks, agents and links say to each other, a line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A rank: which it is, and the cores that it may use (a bit for each, the first byte has the first eight).
    Join {
        /// The rank.
        rank: u32,
        /// Its cores.
        cores: Vec<u8>,
    },
    /// The agent: where the job's segment is, and the directories for message files.
    Job {
        /// The value of `POSTRIDER_JOB`.
        place: String,
        /// The job's directory on this host.
        local: Option<String>,
        /// The job's directory that all hosts see.
        central: Option<String>,
    },
    /// The agent: why there is no job.
    Refused(String),
    /// The agent: share this with the leaders of the other hosts.
    Share(String),
    /// The leader: what the leaders of all hosts have shared, by number of the host.
    Shared(Vec<String>),
    /// The agent: the hosts meet without the launcher's key-value space, which does not answer. Nobody is to wait for it.
    Apart,
    /// A rank: it is in `MPI_Finalize`.
    Done,
    /// The agent: all are.
    Over,
}

impl Word {
    /// The line, with its end.
    #[must_use]
    pub fn line(&self) -> String {
        let optional = |text: &Option<String>| text.as_ref().map_or("-".to_owned(), |text| hex(text));
        match self {
            Self::Join { rank, cores } => format!("join {rank} {}\n", hex_of(cores)),
            Self::Job { place, local, central } => {
                format!("job {} {} {}\n", hex(place), optional(local), optional(central))
            }
            Self::Refused(why) => format!("refused {}\n", hex(why)),
            Self::Share(text) => format!("share {}\n", hex(text)),
            Self::Shared(texts) => {
                format!("shared {}\n", texts.iter().map(|text| hex(text)).collect::<Vec<_>>().join(" "))
            }
            Self::Apart => "apart\n".to_owned(),
            Self::Done => "done\n".to_owned(),
            Self::Over => "over\n".to_owned(),
        }
    }

    /// The word of a line. None when nobody of ours says such a thing.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.trim_end_matches('\n').split_once(' ').unwrap_or((line.trim_end(), ""));
        let fields: Vec<&str> = rest.split(' ').filter(|field| !field.is_empty()).collect();
        let optional = |field: &str| match field {
            "-" => Some(None),
            text => unhex(text).map(Some),
        };
        Some(match (word, &fields[..]) {
            ("join", [rank, cores]) => Self::Join { rank: rank.parse().ok()?, cores: bytes_of(cores)? },
            ("job", [place, local, central]) => {
                Self::Job { place: unhex(place)?, local: optional(local)?, central: optional(central)? }
            }
            ("refused", [why]) => Self::Refused(unhex(why)?),
            ("share", [text]) => Self::Share(unhex(text)?),
            ("shared", texts) => Self::Shared(texts.iter().map(|text| unhex(text)).collect::<Option<_>>()?),
            ("apart", []) => Self::Apart,
            ("done", []) => Self::Done,
            ("over", []) => Self::Over,
            _ => return None,
        })
    }
}

/// How long to wait for ranks and hosts of a job.
///
/// # Errors
/// When the variable is no number.
pub fn time_limit() -> std::result::Result<Duration, String> {
    let Ok(text) = std::env::var(ENV_LIMIT) else { return Ok(Duration::from_secs(LIMIT_SECONDS)) };
    let seconds = text.parse().ok().filter(|&seconds: &u64| seconds > 0 && seconds < 1 << 32);
    seconds.map(Duration::from_secs).ok_or_else(|| format!("{ENV_LIMIT}={text} is not a number of seconds"))
}

/// A text in hexadecimal; `.` for an empty one.
#[must_use]
pub fn hex(text: &str) -> String {
    hex_of(text.as_bytes())
}

/// The text of [`hex`].
#[must_use]
pub fn unhex(text: &str) -> Option<String> {
    String::from_utf8(bytes_of(text)?).ok()
}

fn hex_of(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return ".".to_owned();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    if text == "." {
        return Some(Vec::new());
    }
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8; 2]| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

/// The address of the agent of host `host` of the job that its launcher calls `key`.
///
/// # Errors
/// Never for a sensible `key`.
pub fn address(key: &str, host: u32) -> io::Result<SocketAddr> {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let plain = key.bytes().filter(u8::is_ascii_graphic).take(KEY_BYTES_MAX).map(char::from);
    // SAFETY: a plain system call.
    let user = unsafe { libc::getuid() };
    let name = format!("postrider-{user}-{}-{:016x}-{host}", plain.collect::<String>(), hasher.finish());
    SocketAddr::from_abstract_name(name)
}

/// The process at the other end of a connection, which must be this user's.
///
/// # Errors
/// When it is somebody else's.
pub fn peer(stream: &UnixStream) -> Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel fills one structure whose size is given.
    let (result, user) = unsafe {
        let (level, name) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        let into = (&raw mut peer).cast();
        (libc::getsockopt(stream.as_raw_fd(), level, name, into, &raw mut bytes), libc::getuid())
    };
    match result {
        0 if peer.uid == user && peer.pid > 0 => Ok(peer.pid as u32),
        0 => {
            let who = format!("process {} of user {} has taken this job's place", peer.pid, peer.uid);
            Err(Error::new(who, io::Error::from(io::ErrorKind::PermissionDenied)))
        }
        _ => Err(Error::last("cannot ask who is at the other end of a socket")),
    }
}

/// The socket that the launcher has left open as descriptor `descriptor`, as a stream of our own.
///
/// # Errors
/// When it is not open, or no socket.
pub fn inherited(descriptor: i32) -> Result<UnixStream> {
    let what = || format!("descriptor {descriptor}");
    // SAFETY: a system call on a number; the structure is plain data that the kernel fills.
    let (result, facts) = unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &raw mut facts), facts)
    };
    if result != 0 {
        return Err(Error::last(what()));
    }
    if facts.st_mode & libc::S_IFMT != libc::S_IFSOCK {
        return Err(Error::new(what(), io::Error::other("this is not a socket")));
    }
    // SAFETY: a system call on a number, which makes a new descriptor.
    match unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) } {
        -1 => Err(Error::last(what())),
        // SAFETY: the descriptor is new and ours.
        copy => Ok(UnixStream::from(unsafe { OwnedFd::from_raw_fd(copy) })),
    }
}

/// Waits until something can be read from one of `streams`, at most for `limit`, and says which is the first such.
#[must_use]
pub fn first_to_speak(streams: [&UnixStream; 2], limit: Duration) -> Option<usize> {
    let mut entries =
        streams.map(|stream| libc::pollfd { fd: stream.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let limit_ms = limit.as_millis().try_into().unwrap_or(i32::MAX);
    // SAFETY: the kernel reads and writes as many entries as there are.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, limit_ms) };
    entries.iter().position(|entry| entry.revents != 0)
}

/// Makes the listening socket of a host's agent. None when somebody else has it.
///
/// # Errors
/// When the system has no descriptor left.
pub fn listen(address: &SocketAddr) -> Result<Option<UnixListener>> {
    match UnixListener::bind_addr(address) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(Error::new("cannot listen on a socket", error)),
    }
}

/// Starts `program` as an agent whose standard input is `listener`, and which is nobody's child.
///
/// # Errors
/// When it cannot be started.
pub fn start(program: &Path, arguments: &[String], listener: UnixListener) -> Result<()> {
    let failed = |error| Error::new(format!("cannot start {}", program.display()), error);
    let mut command = Command::new(program);
    command.args(arguments).stdin(OwnedFd::from(listener)).stdout(Stdio::null());
    let alone = || {
        // SAFETY: system calls without memory, which may be made between fork and exec.
        unsafe {
            libc::setsid();
            libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        }
        Ok(())
    };
    // SAFETY: the closure makes only calls that are safe between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(alone) };
    let mut first = command.spawn().map_err(failed)?;
    // It starts the agent proper and leaves. Where nobody can wait for children it is not waited for.
    match first.wait() {
        Ok(status) if !status.success() => Err(failed(io::Error::other(status.to_string()))),
        _ => Ok(()),
    }
}

/// The cores that this process may run on, a bit for each.
#[must_use]
pub fn cores() -> Vec<u8> {
    let mut set = vec![0_u8; 1024];
    // SAFETY: the kernel fills as many bytes as it says, at most as many as there are.
    let bytes =
        unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, set.len(), set.as_mut_ptr()) }.max(0) as usize;
    set.truncate(bytes);
    while set.last() == Some(&0) {
        set.pop();
    }
    set
}

/// Lets this process run on all cores that its user was given, not only on those of the rank that has started it.
pub fn use_all_cores() {
    let set = [u8::MAX; 128];
    // SAFETY: the kernel reads as many bytes as it is told. What it refuses stays as it was.
    unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, set.len(), set.as_ptr()) };
}

/// The file that this code was loaded from: the library, or the program that contains it.
#[must_use]
pub fn own_file() -> Option<PathBuf> {
    // SAFETY: the structure is plain data; the name that it points to lives as long as the code does.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let here = own_file as fn() -> Option<PathBuf> as *const libc::c_void;
        if libc::dladdr(here, &raw mut found) == 0 || found.dli_fname.is_null() {
            return None;
        }
        let name = std::ffi::CStr::from_ptr(found.dli_fname);
        Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())).canonicalize().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_back(rank: u32, cores: Vec<u8>, text: String, texts: Vec<String>, flag: bool) {
            let optional = flag.then(|| text.clone());
            for word in [
                Word::Join { rank, cores },
                Word::Job { place: text.clone(), local: optional.clone(), central: optional },
                Word::Refused(text.clone()),
                Word::Share(text),
                Word::Shared(texts),
                Word::Apart,
                Word::Done,
                Word::Over,
            ] {
                let line = word.line();
                prop_assert_eq!(line.matches('\n').count(), 1);
                prop_assert_eq!(Word::parse(&line), Some(word));
            }
        }

        #[test]
        fn no_line_is_trusted(line: String, tail in "[a-z0-9. -]{0,24}") {
            let _ = Word::parse(&line);
            for word in ["join", "job", "refused", "share", "shared"] {
                let _ = Word::parse(&format!("{word} {tail}"));
            }
        }

        #[test]
        fn every_job_has_an_address(key: String, host: u32) {
            prop_assert!(address(&key, host).is_ok());
        }
    }

    #[test]
    fn only_one_listens_and_both_know_who_the_other_is() {
        let address = address(&format!("test-{}", std::process::id()), 0).expect("an address");
        let listener = listen(&address).expect("it listens").expect("nobody else does");
        assert!(listen(&address).expect("no error").is_none());
        let stream = UnixStream::connect_addr(&address).expect("it connects");
        assert_eq!(peer(&stream).expect("this user"), std::process::id());
        drop((listener, stream));
        assert!(listen(&address).expect("no error").is_some());
    }

    #[test]
    fn whoever_speaks_is_heard() {
        let pairs = [UnixStream::pair().expect("a pair"), UnixStream::pair().expect("another")];
        let listening = [&pairs[0].0, &pairs[1].0];
        assert_eq!(first_to_speak(listening, Duration::ZERO), None);
        io::Write::write_all(&mut &pairs[1].1, b"x").expect("it is sent");
        assert_eq!(first_to_speak(listening, Duration::from_secs(60)), Some(1));
    }

    #[test]
    fn a_file_is_no_socket() {
        let file = std::fs::File::open("/dev/null").expect("it is there");
        assert!(inherited(file.as_raw_fd()).is_err());
        assert!(inherited(-1).is_err());
    }

    #[test]
    fn this_process_has_cores_and_a_file() {
        let cores: u32 = cores().iter().map(|byte| byte.count_ones()).sum();
        assert!(cores > 0);
        assert_eq!(own_file(), std::env::current_exe().ok().and_then(|path| path.canonicalize().ok()));
    }
}
