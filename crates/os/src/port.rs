//! Ports: where the processes of one job wait for those of another, and the names under which ports are found.
//!
//! A [`Port`] is a listening Unix socket with an *abstract* name: it is no file, and the kernel forgets it together with the
//! process that opened it, however that ends. Such a name may be used by everybody on the host, so both ends ask the kernel
//! whose the other end is, and other users are refused. A [`Connection`] carries frames: the length in eight bytes, little-endian, and
//! that many bytes. It reads no byte more than the frame has, since a socket of the user's goes on being his.
//!
//! A port of a job whose hosts have posts also has a *home* in its name: the job and the host. From another host of that job it is reached
//! through the posts ([`hall`](crate::hall)).
//!
//! A [`Published`] name is an abstract socket as well, so that nobody else can publish the same one; a second one, whose
//! name says where service and port are written ([`Segment`]), lets others find it in the kernel's list (`/proc/net/unix`).

use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::hall::{Call, Wish};
use crate::process;
use crate::shared_memory::Segment;
use crate::standing;

const PREFIX: &str = "postrider-port-";
/// How the launcher of a spawned job begins at the port where its ranks are awaited; they begin with an empty frame.
pub const LAUNCHER_SPEAKS: &[u8] = b"launcher:";
/// No frame is longer: whoever says so does not speak this protocol.
const FRAME_BYTES_MAX: u64 = 1 << 30;
/// Bytes of a frame that are made room for at once.
const PIECE_BYTES: usize = 1 << 20;

/// A port that is open.
#[derive(Debug)]
pub struct Port {
    listener: UnixListener,
    name: String,
}

impl Port {
    /// Opens a port with a name of its own, and with the key and the host of a job by whose posts it can be reached, if there is one.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn open(home: Option<(u64, u32)>) -> Result<Self> {
        let mut port = Self::called(format!("{PREFIX}{}-{:016x}", std::process::id(), process::random()?))?;
        if let Some((key, host)) = home {
            port.name.push_str(&format!("@{host}-{key:016x}"));
        }
        Ok(port)
    }

    /// Opens the port at which the post of job `key` meets its guests on this host.
    ///
    /// # Errors
    /// When the system has no descriptor left, or somebody else has a port of that name.
    pub fn hall(key: u64) -> Result<Self> {
        Self::called(hall_of(key))
    }

    fn called(name: String) -> Result<Self> {
        let failed = |error| Error::new("cannot open a port", error);
        let listener =
            address(&name).and_then(|address| UnixListener::bind_addr(&address)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, name })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next connection, if one comes within `limit`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn accept(&self, limit: Duration) -> Result<Option<Connection>> {
        let failed = |error| Error::new(format!("cannot accept at port {}", self.name), error);
        let until = Instant::now() + limit;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) if standing::peer(&stream).is_ok() => {
                    return Ok(Some(Connection(stream.into())));
                }
                // Somebody else's is closed at once.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(None);
                    }
                    wait(self.listener.as_raw_fd(), libc::POLLIN, left);
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

impl AsFd for Port {
    /// Readable when somebody has come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Key and host of a job.
fn home_of(text: &str) -> Option<(u64, u32)> {
    let (host, key) = text.split_once('-')?;
    Some((u64::from_str_radix(key, 16).ok()?, host.parse().ok()?))
}

/// The name of the port at which the post of job `key` meets its guests on this host.
#[must_use]
pub fn hall_of(key: u64) -> String {
    format!("{PREFIX}hall-{}-{key:016x}", user())
}

fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name)
}

/// Waits until something can be done with a descriptor, for `limit` at most.
fn wait(descriptor: i32, events: i16, limit: Duration) {
    let milliseconds = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1);
    let mut entry = libc::pollfd { fd: descriptor, events, revents: 0 };
    // SAFETY: one descriptor, open.
    unsafe { libc::poll(&raw mut entry, 1, milliseconds) };
}

fn user() -> u32 {
    // SAFETY: a plain system call.
    unsafe { libc::getuid() }
}

/// A connection between two processes.
#[derive(Debug)]
pub struct Connection(OwnedFd);

impl Connection {
    /// Connects to the port called `name`, on this host or at its home.
    ///
    /// # Errors
    /// When there is no such port, or it is another user's.
    pub fn to(name: &str) -> Result<Self> {
        let refused = |reason: &str| {
            let reason = io::Error::new(io::ErrorKind::ConnectionRefused, reason);
            Error::new(format!("cannot connect to port {name}"), reason)
        };
        let (local, home) = match name.split_once('@') {
            Some((local, home)) => (local, home_of(home)),
            None => (name, None),
        };
        match (Self::on_this_host(local), home) {
            (Err(error), Some((key, host))) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let hall = Self::on_this_host(&hall_of(key)).map_err(|_| {
                    refused("it is not of this host, and the job that has opened it does not run here")
                })?;
                let wish = Wish::Connect(local.to_owned());
                let (connection, _) = hall
                    .call(host, wish)
                    .map_err(|_| refused("no such port is open on any host of the job"))?;
                Ok(connection)
            }
            (Err(error), _) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Err(refused("no such port is open on this host"))
            }
            (connection, _) => {
                connection.map_err(|error| Error::new(format!("cannot connect to port {name}"), error))
            }
        }
    }

    fn on_this_host(name: &str) -> io::Result<Self> {
        let unknown = || io::Error::new(io::ErrorKind::InvalidInput, "this is no port's name");
        let address = if name.starts_with(PREFIX) { address(name) } else { Err(unknown()) };
        let stream = UnixStream::connect_addr(&address?)?;
        standing::peer(&stream).map_err(|error| error.reason)?;
        Ok(Self(stream.into()))
    }

    /// Has the post of another host do something, with whose hall this is a connection; also returns the answer.
    fn call(mut self, host: u32, wish: Wish) -> Result<(Self, Vec<u8>)> {
        self.send(&Call { host, wish }.encode())?;
        loop {
            if let Some(answer) = self.receive(LATER)? {
                return Ok((self, answer));
            }
        }
    }

    /// A connection over the socket that is descriptor `descriptor` of this process, which stays open when this is dropped.
    ///
    /// # Errors
    /// When that is no open descriptor.
    pub fn over(descriptor: i32) -> Result<Self> {
        let what = || format!("cannot use descriptor {descriptor} as a socket");
        if descriptor < 0 {
            return Err(Error::new(what(), io::Error::from_raw_os_error(libc::EBADF)));
        }
        // SAFETY: the caller's descriptor is used for this call only; if it is not open, the system says so.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        borrowed.try_clone_to_owned().map(Self).map_err(|error| Error::new(what(), error))
    }

    /// Sends one frame.
    ///
    /// # Errors
    /// When the other end is gone.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let mut frame = (bytes.len() as u64).to_le_bytes().to_vec();
        frame.extend_from_slice(bytes);
        let mut sent = 0;
        while sent < frame.len() {
            let rest = &frame[sent..];
            let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
            // SAFETY: the bytes are there for as long as the call takes.
            let n = unsafe { libc::send(self.0.as_raw_fd(), rest.as_ptr().cast(), rest.len(), flags) };
            match n {
                0.. => sent += n as usize,
                _ => self.pause(libc::POLLOUT, LATER).map(drop)?,
            }
        }
        Ok(())
    }

    /// The next frame, if it begins to come within `limit`.
    ///
    /// # Errors
    /// When the other end is gone, or sends what is no frame.
    pub fn receive(&mut self, limit: Duration) -> Result<Option<Vec<u8>>> {
        let mut length = [0; 8];
        if !self.fill(&mut length, Some(limit))? {
            return Ok(None);
        }
        let length = u64::from_le_bytes(length);
        if length > FRAME_BYTES_MAX {
            let reason = io::Error::from(io::ErrorKind::InvalidData);
            return Err(Error::new("the process at the other end does not speak this protocol", reason));
        }
        // Memory is taken as bytes come, not as many as are announced.
        let (length, mut bytes) = (length as usize, Vec::new());
        while bytes.len() < length {
            let start = bytes.len();
            bytes.resize(length.min(start + PIECE_BYTES), 0);
            self.fill(&mut bytes[start..], None)?;
        }
        Ok(Some(bytes))
    }

    /// Reads exactly as many bytes as there is room for; false when `limit` is over before the first has come.
    fn fill(&mut self, room: &mut [u8], limit: Option<Duration>) -> Result<bool> {
        let mut filled = 0;
        while filled < room.len() {
            let rest = &mut room[filled..];
            // SAFETY: the kernel writes no more than the length says.
            let n = unsafe {
                libc::recv(self.0.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len(), libc::MSG_DONTWAIT)
            };
            match n {
                0 => return Err(Error::new(GONE, io::Error::from(io::ErrorKind::UnexpectedEof))),
                1.. => filled += n as usize,
                _ => {
                    let came = self.pause(libc::POLLIN, limit.unwrap_or(LATER))?;
                    if !came && filled == 0 && limit.is_some() {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Waits if the last call has failed because it would have had to; false when `limit` is over.
    fn pause(&self, events: i16, limit: Duration) -> Result<bool> {
        let error = io::Error::last_os_error();
        if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
            return Err(Error::new(GONE, error));
        }
        let start = Instant::now();
        wait(self.0.as_raw_fd(), events, limit);
        Ok(start.elapsed() < limit)
    }
}

impl AsFd for Connection {
    /// Readable when a frame begins to come, or the other end is gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

const GONE: &str = "the process at the other end of the connection has closed it";
const LATER: Duration = Duration::from_millis(100);

/// A service's name that is published until this is dropped.
#[derive(Debug)]
pub struct Published {
    service: Vec<u8>,
    port: Vec<u8>,
    _name: UnixListener,
    _place: UnixListener,
    _text: Segment,
}

/// The beginning of the abstract names of a service.
fn prefix_of(service: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(service);
    format!("postrider-service-{}-{:016x}", user(), hasher.finish())
}

impl Published {
    /// Publishes `port` under the name `service`.
    ///
    /// # Errors
    /// When this user has published that name on this host already (`AddrInUse`), or the system refuses.
    pub fn new(service: &[u8], port: &[u8]) -> Result<Self> {
        let shown = String::from_utf8_lossy(service);
        let failed = |error| Error::new(format!("cannot publish the name \"{shown}\""), error);
        let prefix = prefix_of(service);
        let bind = |name: &str| address(name).and_then(|address| UnixListener::bind_addr(&address));
        let name = bind(&prefix).map_err(failed)?;
        let text = [service, port].join(&0);
        let segment = Segment::create(text.len())?;
        segment.place(0, text.len()).write(&text);
        let place = format!("{prefix}-{}-{}", std::process::id(), segment.descriptor());
        let place = bind(&place).map_err(failed)?;
        Ok(Self {
            service: service.to_owned(),
            port: port.to_owned(),
            _name: name,
            _place: place,
            _text: segment,
        })
    }

    /// The service and the port.
    #[must_use]
    pub fn names(&self) -> (&[u8], &[u8]) {
        (&self.service, &self.port)
    }
}

/// The port that is published under the name `service` by this user on this host.
#[must_use]
pub fn look_up(service: &[u8]) -> Option<Vec<u8>> {
    let sockets = std::fs::read("/proc/net/unix").ok()?;
    let sockets = String::from_utf8_lossy(&sockets);
    let prefix = format!("@{}-", prefix_of(service));
    let places = sockets.lines().filter_map(|line| line.split_whitespace().last()?.strip_prefix(&prefix));
    places.filter_map(|place| read_published(service, place)).next()
}

/// The port that is published under the name `service` on host `host` of job `key`, which runs on this host as well.
#[must_use]
pub fn look_up_at(key: u64, host: u32, service: &[u8]) -> Option<Vec<u8>> {
    let hall = Connection::on_this_host(&hall_of(key)).ok()?;
    hall.call(host, Wish::LookUp(service.to_owned())).ok().map(|(_, port)| port)
}

/// The port that is written at `<process id>-<descriptor>`, if the service is that one.
fn read_published(service: &[u8], place: &str) -> Option<Vec<u8>> {
    let (pid, descriptor) = place.split_once('-')?;
    let segment = Segment::open(pid.parse().ok()?, descriptor.parse().ok()?).ok()?;
    let mut text = vec![0; segment.bytes()];
    segment.place(0, text.len()).read(&mut text);
    text.strip_prefix(service)?.strip_prefix(b"\0").map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);
    const AT_ONCE: Duration = Duration::from_millis(1);

    #[test]
    fn frames_cross_whole_and_in_order() {
        let port = Port::open(None).expect("a port");
        assert!(port.accept(AT_ONCE).expect("nobody is no error").is_none());
        let mut one = Connection::to(port.name()).expect("it is open");
        let mut other = port.accept(SOON).expect("it works").expect("somebody is there");
        assert_eq!(other.receive(AT_ONCE).expect("nothing is no error"), None);
        one.send(b"first").expect("it is sent");
        one.send(b"").expect("it is sent");
        assert_eq!(other.receive(SOON).expect("it comes"), Some(b"first".to_vec()));
        assert_eq!(other.receive(SOON).expect("it comes"), Some(Vec::new()));
        drop(one);
        assert!(other.receive(SOON).is_err());
    }

    #[test]
    fn a_hall_is_found_by_the_key_of_its_job() {
        let key = process::random().expect("a number");
        assert!(Connection::to(&hall_of(key)).is_err());
        let hall = Port::hall(key).expect("a port");
        let _guest = Connection::to(&hall_of(key)).expect("it is open");
        assert!(hall.accept(SOON).expect("it works").is_some());
    }

    #[test]
    fn a_port_with_a_home_is_tried_there() {
        let home = (process::random().expect("a number"), 3);
        let port = Port::open(Some(home)).expect("a port");
        assert_eq!(home_of(port.name().split_once('@').expect("a home").1), Some(home));
        assert!(Connection::to(port.name()).is_ok());
        let name = port.name().to_owned();
        drop(port);
        let error = Connection::to(&name).expect_err("it is closed").to_string();
        assert!(error.contains("does not run here"), "{error}");
        let hall = Port::hall(home.0).expect("a hall");
        let post = std::thread::spawn(move || {
            for answer in [Some(b""), None] {
                let mut caller = hall.accept(SOON).expect("it works").expect("somebody calls");
                let call = caller.receive(SOON).expect("it comes").and_then(|call| Call::decode(&call));
                assert!(call.is_some_and(|call| call.host == 3));
                answer.iter().for_each(|answer| caller.send(*answer).expect("it is sent"));
            }
        });
        assert!(Connection::to(&name).is_ok());
        assert_eq!(look_up_at(home.0, 3, b"service"), None);
        post.join().expect("the post has answered");
    }

    #[test]
    fn a_closed_port_refuses() {
        let port = Port::open(None).expect("a port");
        let name = port.name().to_owned();
        drop(port);
        assert!(Connection::to(&name).is_err());
        assert!(Connection::to("no port").is_err());
    }

    #[test]
    fn a_published_name_is_found_until_it_goes() {
        let service = [b"caf\xe9 of ".as_slice(), std::process::id().to_string().as_bytes()].concat();
        assert_eq!(look_up(&service), None);
        let published = Published::new(&service, b"h\xf6st:1").expect("it is published");
        assert_eq!(look_up(&service).as_deref(), Some(&b"h\xf6st:1"[..]));
        let twice = Published::new(&service, b"host:2").expect_err("the name is taken");
        assert_eq!(twice.reason.kind(), io::ErrorKind::AddrInUse);
        drop(published);
        assert_eq!(look_up(&service), None);
    }
}
