//! The transport of a job over several hosts: rings to the processes of the same host, and the post to all others.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use postrider_os::error::Result;
use postrider_os::job::Job;
use postrider_os::memory::UserMemory;

use super::post::{Post, Watch};
use super::shared_memory::SharedMemory;
use super::wire::Header;
use super::{Balance, Incoming, Limits};

/// Instead of a place: the process is on another host.
const ELSEWHERE: u32 = u32::MAX;

/// The rings of one process, and its access to the post.
#[derive(Debug)]
pub struct Hosts {
    /// The rings.
    pub rings: SharedMemory,
    post: Post,
    /// The place of each rank among those of this host.
    places: Vec<u32>,
    /// Whether the post is looked at first.
    post_first: bool,
    pub(super) balance: Balance,
}

impl Hosts {
    /// The ends that belong to rank `rank`.
    ///
    /// # Errors
    /// When the post is gone.
    pub fn new(job: Arc<Job>, rank: u32) -> Result<Self> {
        let placement = job.placement();
        let here = |&rank: &u32| placement.host_of(rank) == job.host();
        let place = |rank: u32| if here(&rank) { placement.place_of(rank) } else { ELSEWHERE };
        let places = (0..placement.ranks()).map(place).collect();
        let post = Post::new(Arc::clone(&job), rank)?;
        Ok(Self {
            rings: SharedMemory::new(job, rank),
            post,
            places,
            post_first: false,
            balance: Balance::default(),
        })
    }

    #[inline]
    fn place(&self, peer: u32) -> u32 {
        // Guests are reached through the post.
        self.places.get(peer as usize).copied().unwrap_or(ELSEWHERE)
    }

    #[inline]
    pub(super) fn is_near(&self, peer: u32) -> bool {
        self.place(peer) != ELSEWHERE
    }

    /// The rings, and the place of `peer` there if it is on this host.
    pub(super) fn rings_to(&self, peer: u32) -> Option<(&SharedMemory, u32)> {
        let place = self.place(peer);
        (place != ELSEWHERE).then_some((&self.rings, place))
    }

    #[inline]
    pub(super) fn limits(&self, peer: u32) -> Limits {
        if self.is_near(peer) { self.rings.limits() } else { self.post.limits() }
    }

    #[inline]
    pub(super) fn send(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: usize) -> bool {
        match self.place(peer) {
            ELSEWHERE => {
                let sent = self.post.send(peer, header, body, bytes);
                self.balance.sent(usize::from(sent));
                sent
            }
            place => self.rings.send(place, header, body, bytes),
        }
    }

    /// [`SharedMemory::multicast`] to processes of this host.
    pub(super) fn multicast(
        &mut self,
        peers: &[u32],
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> usize {
        let places: Vec<u32> = peers.iter().map(|&peer| self.place(peer)).collect();
        self.rings.multicast(&places, header, body, bytes)
    }

    /// Looks at both in turn, so that neither starves.
    #[inline]
    pub(super) fn receive(&mut self) -> crate::error::Result<Option<Incoming>> {
        self.post_first = !self.post_first;
        if self.post_first {
            return Ok(self.take_from_post()?.or_else(|| self.rings.receive()));
        }
        match self.rings.receive() {
            None => self.take_from_post(),
            found => Ok(found),
        }
    }

    #[inline]
    fn take_from_post(&mut self) -> crate::error::Result<Option<Incoming>> {
        let found = self.post.receive()?;
        if found.is_some() {
            self.balance.took_one();
        }
        Ok(found)
    }

    #[inline]
    pub(super) fn release(&mut self) {
        if !self.rings.release() {
            self.post.release();
        }
    }

    pub(super) fn streams(&self) -> bool {
        self.post.streams()
    }

    pub(super) fn rest(&mut self, alone: bool) -> Option<Watch> {
        self.post.rest(alone)
    }

    pub(super) fn pause(&self) -> Option<Duration> {
        self.post.pause()
    }

    pub(super) fn rise(&mut self) -> bool {
        self.post.rise()
    }

    pub(super) fn copy_across(&mut self, peer: u32, copy: impl FnOnce(u32) -> io::Result<()>) -> bool {
        self.is_near(peer) && self.rings.copy_across(peer, copy)
    }
}
