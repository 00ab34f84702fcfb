//! The post: the part of an agent that carries messages between the ranks of its host and those of others.
//!
//! A thread of its own, the [clerk](clerk::Clerk), does all the work and sleeps in one `poll`. On one side it has the ranks: with shared
//! memory a ring from each and a ring to each ([`desk`]), with files the directory in which they put parcels ([`files`]). On the other
//! side it has a link for each host ([`link`]), a stream of bytes in both directions that somebody else opens when the post
//! [wants](Notice::Wants) it. With a central directory there are no links, and the post only looks for lock files ([`central`]).
//!
//! The network between two hosts may break in one direction only, and a remote shell may be stopped without anybody's being told. So posts give
//! signs of life on links through which nothing else goes, and a link through which nothing comes is lost.
//!
//! What is bounded, and by what: a rank's ring by its size; what waits for a link by [`link::OUT_BYTES_MAX`], after which rings and files
//! are left where they are; what waits for a rank's ring by the windows of its peers, and for all ranks together by asking others to stop
//! (`postrider_os::packet`). A post always reads from its links, so that no two posts wait for one another.

mod calls;
mod central;
mod clerk;
mod desk;
mod doors;
mod files;
mod guests;
mod link;
mod scp;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use postrider_os::bell::BellTower;
use postrider_os::job::{Job, Transport};
use postrider_os::parcel::POST;
use std::path::PathBuf;

pub use guests::{Company, Present};
pub use scp::{ARRIVALS, Copying};

use crate::pulse::Pulse;

/// What the post tells the agent.
#[derive(Debug)]
pub enum Notice {
    /// There are messages for this host, and no link to it.
    Wants(u32),
    /// The link to this host has ended, although its post had not said that it was done.
    Lost {
        /// The host.
        host: u32,
        /// What has happened.
        why: String,
    },
    /// A message could not be delivered on this host.
    Failed(String),
}

/// What the agent tells the post.
#[derive(Debug)]
enum Order {
    Attach { host: u32, reader: OwnedFd, writer: OwnedFd },
    Pause(bool),
    Close,
}

/// Where message files are.
#[derive(Clone, Debug)]
pub struct Places {
    /// The job's directory on this host.
    pub local: PathBuf,
    /// The job's directory that all hosts see, if messages go through it.
    pub central: Option<PathBuf>,
    /// How files are copied to other hosts, if not through links.
    pub copying: Option<Copying>,
}

/// A post at work. Dropping it says goodbye on all links and closes them; what had not been delivered by then is lost. So an agent
/// keeps its post until the whole job is over, also when its own ranks have ended.
#[derive(Debug)]
pub struct Post {
    orders: Sender<Order>,
    notices: Receiver<Notice>,
    /// Wakes the clerk.
    tower: Arc<BellTower>,
    /// Wakes the agent.
    told: Arc<BellTower>,
    company: Company,
    thread: Option<JoinHandle<()>>,
}

impl Post {
    /// Starts the post of the host that `job` is the segment of. Only once: the rings have one other end. A link through which nothing has
    /// come for somewhat longer than `silence` is lost.
    ///
    /// # Errors
    /// When the system has no descriptor or thread left, or the directories cannot be used.
    pub fn start(job: Arc<Job>, places: Option<Places>, silence: Duration) -> io::Result<Self> {
        let failed = |error: postrider_os::error::Error| io::Error::other(error.to_string());
        let tower = Arc::new(BellTower::new().map_err(failed)?);
        let told = Arc::new(BellTower::new().map_err(failed)?);
        job.set_post_pipe(tower.descriptor());
        let (orders, to_do) = channel();
        let (tell, notices) = channel();
        let tell = Telling { sender: tell, bell: Arc::clone(&told) };
        let (desks, host) = (desk::all(&job), job.host());
        let doors = doors::Doors::new(job.key(), job.placement().ranks(), places.clone());
        let company = Company::default();
        let guests = guests::Guests::new(Arc::clone(&job), company.clone());
        let (mut files, mut scp, mut central) = (None, None, None);
        if let Some(Places { local, central: shared, copying }) = places {
            match (job.shape().transport, shared) {
                (Transport::File, _) => {
                    files = Some(files::Files::new(&local, POST).map_err(failed)?);
                    let start = |copying| scp::Scp::new(&local, copying, Arc::clone(&tower));
                    scp = copying.map(start).transpose().map_err(failed)?;
                }
                (Transport::Central, Some(shared)) => {
                    central = Some(central::Central::new(&shared, job.host()).map_err(failed)?);
                }
                _ => {}
            }
        }
        let carriers =
            clerk::Carriers { desks, guests, calls: calls::Calls::new(host), doors, files, scp, central };
        let clerk = clerk::Clerk::new(job, Arc::clone(&tower), to_do, tell, carriers, Pulse::sparse(silence));
        let thread = std::thread::Builder::new().name("post".to_owned()).spawn(|| clerk.work())?;
        Ok(Self { orders, notices, tower, told, company, thread: Some(thread) })
    }

    /// Readable when there are notices.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.told.as_fd()
    }

    /// The guests of this post.
    pub fn company(&self) -> Company {
        self.company.clone()
    }

    /// The next notice.
    pub fn next(&self) -> Option<Notice> {
        self.told.quiet();
        self.notices.try_recv().ok()
    }

    /// A link to the post of host `host` is up: `reader` has what that one writes, and what goes to `writer` reaches it.
    pub fn attach(&self, host: u32, reader: OwnedFd, writer: OwnedFd) {
        self.order(Order::Attach { host, reader, writer });
    }

    /// The ranks of the job are being stopped by a shell, or continued. One that is stopped while it writes or reads a link keeps it.
    pub fn pause(&self, stopped: bool) {
        self.order(Order::Pause(stopped));
    }

    fn order(&self, order: Order) {
        // A clerk that is gone has said why.
        let _ = self.orders.send(order);
        self.tower.wake();
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.order(Order::Close);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// How the clerk tells the agent something.
#[derive(Debug)]
struct Telling {
    sender: Sender<Notice>,
    bell: Arc<BellTower>,
}

impl Telling {
    fn tell(&self, notice: Notice) {
        if self.sender.send(notice).is_ok() {
            self.bell.wake();
        }
    }
}

#[cfg(test)]
mod tests;
