//! Links: the streams of bytes between the posts of two hosts, each through a remote shell of its own.
//!
//! The host with the lower number opens. It runs `postrider link DIR --from N` on the other host, where DIR is the job's
//! directory: that process connects to the socket `link` in it, which the agent there listens at, says for which host it stands, and
//! hands over its own input and output (`SCM_RIGHTS`). From then on the two posts have the two ends of the remote shell, and the
//! process sleeps until the agent closes the socket. The directory is private, so nobody else can connect.
//!
//! A host that cannot reach the other says so to the head, which can reach both: the head runs such a process on each, and lets
//! the kernel move bytes from one to the other (`splice`). Opening takes time, so it happens in threads.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use postrider_os::bell::BellTower;
use postrider_os::process::say_error;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use rustix::pipe::{SpliceFlags, splice};
use rustix::stdio::{dup2_stdin, dup2_stdout, stdin, stdout};

use crate::directory;
use crate::post::Post;
use crate::remote_shell::{Remote, RemoteShell};

/// The socket in the job's directory.
const SOCKET: &str = "link";
/// Links that one host opens at the same time.
const AT_ONCE: usize = 8;
/// Connections that may wait until the agent has time for them.
const BACKLOG: i32 = 128;
/// Bytes that a relay moves at once.
const RELAY_BYTES: usize = 1 << 20;

/// The arguments of the far end of a link to the host whose job directory is `directory`, from host `from`.
pub fn far_end(directory: &str, from: u32) -> [OsString; 4] {
    ["link".into(), directory.into(), "--from".into(), from.to_string().into()]
}

/// The address of the socket in `directory`, by a short path whatever the directory's own is.
fn address(directory: &Path) -> io::Result<(OwnedFd, SocketAddrUnix)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let open = rustix::fs::open(directory, flags, Mode::empty())?;
    let address = SocketAddrUnix::new(format!("/proc/self/fd/{}/{SOCKET}", open.as_raw_fd()))?;
    Ok((open, address))
}

fn socket(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

/// Listens in `directory`, without ever waiting.
///
/// # Errors
/// When the socket cannot be made.
pub fn listener(directory: &Path) -> io::Result<OwnedFd> {
    let (_open, address) = address(directory)?;
    let listener = socket(SocketFlags::NONBLOCK)?;
    rustix::net::bind(&listener, &address)?;
    rustix::net::listen(&listener, BACKLOG)?;
    Ok(listener)
}

/// The connections that have been made to a listener.
pub fn arrived(listener: &OwnedFd) -> Vec<OwnedFd> {
    std::iter::from_fn(|| rustix::net::accept_with(listener, SocketFlags::CLOEXEC).ok()).collect()
}

/// `postrider link`: hands its input and output to the agent whose job directory is `directory`, and stays as long as that.
pub fn link(directory: &Path, from: u32) -> i32 {
    match hand_over(directory, from) {
        Ok(()) => 0,
        Err(error) => {
            say_error(&format!("postrider link: {}: {error}", directory.display()));
            1
        }
    }
}

fn hand_over(directory: &Path, from: u32) -> io::Result<()> {
    directory::check_ours(directory)?;
    let (_open, address) = address(directory)?;
    let socket = socket(SocketFlags::empty())?;
    rustix::net::connect(&socket, &address)?;
    let streams = [stdin(), stdout()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !rights.push(SendAncillaryMessage::ScmRights(&streams)) {
        return Err(io::Error::other("descriptors do not fit a message"));
    }
    let number = from.to_le_bytes();
    rustix::net::sendmsg(&socket, &[IoSlice::new(&number)], &mut rights, SendFlags::NOSIGNAL)?;
    // Only the agent has the streams now, so that they end when it closes them.
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    loop {
        match rustix::io::read(&socket, &mut [0; 1]) {
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

/// How far a link has come. What is kept here lives as long as the link may be used.
#[derive(Debug)]
enum Way {
    /// It is being opened, here or elsewhere.
    Expected,
    /// This host has opened it.
    Ours(Remote),
    /// Another host has.
    Theirs(#[expect(dead_code, reason = "the far process lives as long as this socket")] OwnedFd),
}

/// The links of one host.
pub struct Links {
    host: u32,
    names: Vec<String>,
    directories: Vec<String>,
    shell: RemoteShell,
    listener: OwnedFd,
    /// Connections that have not yet said for whom they stand.
    strangers: Vec<OwnedFd>,
    ways: BTreeMap<u32, Way>,
    queue: VecDeque<u32>,
    opening: usize,
    opened: Receiver<(u32, Result<Remote, String>)>,
    open: Sender<(u32, Result<Remote, String>)>,
    bell: Arc<BellTower>,
}

/// What the head has to hear of links.
#[derive(Debug)]
pub enum News {
    /// The other host has to open this one.
    Wants(u32),
    /// This one could not be opened.
    Failed(u32, String),
}

impl Links {
    /// The links of host `host`, which listens at `listener` in its job's directory.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new(
        listener: OwnedFd,
        host: u32,
        names: Vec<String>,
        directories: Vec<String>,
        shell: RemoteShell,
    ) -> io::Result<Self> {
        let bell = BellTower::new().map_err(|error| io::Error::other(error.to_string()))?;
        let (open, opened) = channel();
        Ok(Self {
            host,
            names,
            directories,
            shell,
            listener,
            strangers: Vec::new(),
            ways: BTreeMap::new(),
            queue: VecDeque::new(),
            opening: 0,
            opened,
            open,
            bell: Arc::new(bell),
        })
    }

    /// Adds what has to be waited for.
    pub fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        entries.push(PollFd::new(&self.listener, PollFlags::IN));
        entries.push(PollFd::from_borrowed_fd(self.bell.as_fd(), PollFlags::IN));
        entries.extend(self.strangers.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
    }

    /// The post needs a link to `host`, or that host's post one to this host.
    pub fn want(&mut self, host: u32) -> Option<News> {
        if self.ways.contains_key(&host) || host == self.host || host as usize >= self.names.len() {
            return None;
        }
        self.ways.insert(host, Way::Expected);
        if self.host > host {
            return Some(News::Wants(host));
        }
        self.queue.push_back(host);
        self.open_next();
        None
    }

    /// Whether children of this process are being made by threads.
    pub fn are_opening(&self) -> bool {
        self.opening > 0
    }

    /// The remote shells of links.
    pub fn children(&self) -> impl Iterator<Item = u32> {
        self.ways.values().filter_map(|way| match way {
            Way::Ours(remote) => Some(remote.child.id()),
            Way::Expected | Way::Theirs(_) => None,
        })
    }

    /// What the remote shell of a link that was lost has said.
    pub fn complaints(&self, host: u32) -> String {
        match self.ways.get(&host) {
            Some(Way::Ours(remote)) => remote.complaints(),
            _ => String::new(),
        }
    }

    fn open_next(&mut self) {
        while self.opening < AT_ONCE
            && let Some(host) = self.queue.pop_front()
        {
            let arguments = far_end(&self.directories[host as usize], self.host);
            let (name, shell) = (self.names[host as usize].clone(), self.shell.clone());
            let (open, bell) = (self.open.clone(), Arc::clone(&self.bell));
            self.opening += 1;
            std::thread::spawn(move || {
                let _nobody_waits_any_more = open.send((host, shell.open(&name, &arguments)));
                bell.wake();
            });
        }
    }

    /// Gives the post the links that have come up.
    pub fn look(&mut self, post: &Post) -> Vec<News> {
        self.bell.quiet();
        let mut news = Vec::new();
        while let Ok((host, result)) = self.opened.try_recv() {
            self.opening -= 1;
            match result.and_then(|remote| attach(post, host, &remote).map(|()| remote)) {
                Ok(remote) => drop(self.ways.insert(host, Way::Ours(remote))),
                Err(why) => news.push(News::Failed(host, why)),
            }
        }
        self.open_next();
        self.strangers.extend(arrived(&self.listener));
        for socket in std::mem::take(&mut self.strangers) {
            match introduction(socket.as_fd()) {
                Ok(Some((host, reader, writer))) if self.expects(host) => {
                    post.attach(host, reader, writer);
                    self.ways.insert(host, Way::Theirs(socket));
                }
                Ok(None) => self.strangers.push(socket),
                // Whoever it was is told by the end of the socket.
                Ok(Some(_)) | Err(_) => {}
            }
        }
        news
    }

    /// Whether there is such a host, and no link to it yet.
    fn expects(&self, host: u32) -> bool {
        let known = host != self.host && (host as usize) < self.names.len();
        known && matches!(self.ways.get(&host), None | Some(Way::Expected))
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        for way in self.ways.values_mut() {
            if let Way::Ours(remote) = way {
                let _gone_already = remote.child.kill();
                let _no_zombie = remote.child.wait();
            }
        }
    }
}

fn attach(post: &Post, host: u32, remote: &Remote) -> Result<(), String> {
    let reader = remote.output.try_clone().map_err(|error| error.to_string())?;
    let writer = remote.input.try_clone().map_err(|error| error.to_string())?;
    post.attach(host, reader, writer);
    Ok(())
}

/// For which host a connection stands, and its streams. None when it has not said so yet.
pub fn introduction(socket: BorrowedFd<'_>) -> io::Result<Option<(u32, OwnedFd, OwnedFd)>> {
    let mut number = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut number)], &mut rights, flags);
    let bytes = match received {
        Ok(received) => received.bytes,
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut streams = rights.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(streams) => Some(streams),
        _ => None,
    });
    let mut streams = streams.next().into_iter().flatten();
    match (streams.next(), streams.next()) {
        (Some(reader), Some(writer)) if bytes == number.len() => {
            Ok(Some((u32::from_le_bytes(number), reader, writer)))
        }
        _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

/// One end of a relay: a host's name, its number, and the job's directory there.
#[derive(Clone, Debug)]
pub struct End {
    /// What the remote shell is told.
    pub name: String,
    /// Its number.
    pub host: u32,
    /// The job's directory there.
    pub directory: String,
}

/// Links two hosts that cannot reach each other through this one, in threads of its own. Both remote shells end with the link.
///
/// # Errors
/// Which of the two cannot be reached from here either, and why.
pub fn relay(shell: &RemoteShell, ends: &[End; 2]) -> Result<[Remote; 2], String> {
    let [a, b] = ends;
    let first = shell.open(&a.name, &far_end(&a.directory, b.host))?;
    let second = shell.open(&b.name, &far_end(&b.directory, a.host))?;
    for (from, to) in [(&first, &second), (&second, &first)] {
        let clone = |stream: &OwnedFd| stream.try_clone().map_err(|error| error.to_string());
        let (from, to) = (clone(&from.output)?, clone(&to.input)?);
        std::thread::spawn(move || {
            loop {
                match splice(&from, None, &to, None, RELAY_BYTES, SpliceFlags::empty()) {
                    Ok(1..) | Err(Errno::INTR) => {}
                    // Both posts see that for themselves.
                    Ok(0) | Err(_) => return,
                }
            }
        });
    }
    Ok([first, second])
}
