//! A transport with bridges: rings in shared memory to processes of other jobs, beside whatever leads to those of this one; or posts
//! that lead to them, where jobs have several hosts.
//!
//! Processes of other jobs have numbers above all ranks of this job ([`crate::processes`]), so a look at the number says which
//! way a packet goes. Two processes may meet over several bridges in the course of time. A receiver listens at a bridge from
//! the moment it has opened it, a sender uses it once everybody has said so ([`Bridged::settle`]), and then for everything. The
//! receiver empties older bridges first, and looks at them once more when it has seen a packet in a newer one: what was sent
//! before is visible by then. So packets of a pair stay in order, and none waits for somebody who has yet to come.
//!
//! What a post leads to goes through this process's own post, or through that of another job whose guest it is ([`Posted`]), and stays there.
//! Processes that had a bridge before look at that first, as at older bridges.
//!
//! A process has this transport from its first bridge on; before that nothing here costs anything.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::bridge::{Bridge, Side};
use postrider_os::handover::Handover;
use postrider_os::job::Job;
use postrider_os::memory::UserMemory;
use postrider_os::ring::{Consumer, FIRST_CELL_BYTES, Packet, Producer};

use super::post::Post;
use super::shared_memory::{EAGER_BYTES_MAX, PIECE_BYTES_MAX, incoming, push};
use super::wire::Header;
use super::{Balance, Incoming, Limits, SingleCopy, Transport, is_forbidden};
use crate::error::{Error, Result};

/// The rings to processes of other jobs, and the transport to those of this one.
#[derive(Debug)]
pub struct Bridged {
    /// The way to the processes of this job.
    pub inner: Transport,
    /// Whether long messages are copied at once, where that can be.
    pub single_copy: bool,
    handover: Handover,
    ranks: u32,
    links: Vec<Link>,
    /// This process's numbers of the guests of its own job.
    guests: BTreeMap<u32, u32>,
    /// The posts of other jobs, by their keys.
    posts: BTreeMap<u64, Posted>,
    next: usize,
    current: Option<Current>,
}

/// A post of another job.
#[derive(Debug)]
pub struct Posted {
    carrier: u64,
    post: Post,
    balance: Balance,
    /// This process's numbers of those that it leads to.
    known: BTreeMap<u32, u32>,
    /// Keeps the rings mapped.
    _bridge: Bridge,
}

impl Posted {
    /// The post of `carrier`, whose segment here is `job`, for its guest `number`.
    ///
    /// # Errors
    /// When the post is gone.
    pub fn new(
        carrier: u64,
        job: Arc<Job>,
        number: u32,
        ends: (Producer, Consumer),
        bridge: Bridge,
    ) -> postrider_os::error::Result<Self> {
        let post = Post::with_ends(job, number, ends)?;
        Ok(Self { carrier, post, balance: Balance::default(), known: BTreeMap::new(), _bridge: bridge })
    }
}

/// A packet that was received and not yet released.
#[derive(Debug)]
enum Current {
    Inner,
    Post(u64),
    Link { link: usize, way: usize, packet: Packet },
}

/// What leads to one process; nothing once it is not needed any more.
#[derive(Debug, Default)]
struct Link {
    /// What its number is for the post that leads to it: this job's own, or that of another one.
    carried: Option<(Option<u64>, u32)>,
    peer: Option<(Arc<Job>, u32)>,
    /// The oldest first.
    ways: Vec<Way>,
    /// How many of them the other process listens at for certain.
    settled: usize,
}

impl Link {
    /// Where packets to the process go.
    fn way_out(&self) -> Option<&Way> {
        self.ways.get(self.settled.checked_sub(1)?)
    }
}

#[derive(Debug)]
struct Way {
    producer: Producer,
    consumer: Consumer,
    /// Keeps the rings mapped.
    _bridge: Arc<Bridge>,
}

/// Where a process of another job is.
#[derive(Debug)]
pub struct Far {
    /// Its job's segment, with its doorbell.
    pub job: Arc<Job>,
    /// Its rank there.
    pub rank: u32,
    /// What leads to it.
    pub bridge: Arc<Bridge>,
    /// Which end of the bridge this process is on.
    pub side: Side,
    /// This process's place on its side.
    pub own: u32,
    /// That process's place on its side.
    pub other: u32,
}

impl Bridged {
    /// Beside `inner`, which leads to the `ranks` processes of this job.
    #[must_use]
    pub fn new(inner: Transport, ranks: u32) -> Self {
        let (guests, posts) = (BTreeMap::new(), BTreeMap::new());
        let handover = Handover::default();
        Self {
            inner,
            handover,
            single_copy: false,
            ranks,
            links: Vec::new(),
            guests,
            posts,
            next: 0,
            current: None,
        }
    }

    fn link(&self, peer: u32) -> Option<&Link> {
        self.links.get(peer.checked_sub(self.ranks)? as usize)
    }

    fn link_to(&mut self, peer: u32) -> &mut Link {
        let index = (peer - self.ranks) as usize;
        if self.links.len() <= index {
            self.links.resize_with(index + 1, Link::default);
        }
        &mut self.links[index]
    }

    /// This process is a guest of the post of another job.
    pub fn visit(&mut self, posted: Posted) {
        self.posts.insert(posted.carrier, posted);
    }

    /// The post of another job is not needed any more. Returns the packets sent through it, less those taken from there.
    pub fn leave(&mut self, carrier: u64) -> i64 {
        self.posts.remove(&carrier).map_or(0, |posted| posted.balance.0)
    }

    /// Packets sent through all posts, less those taken from there.
    pub(super) fn balance(&self) -> i64 {
        self.posts.values().fold(self.inner.balance(), |sum, posted| sum.wrapping_add(posted.balance.0))
    }

    /// Process `peer` is reached through the own post, or that of another job: there it is number `there`.
    pub fn carry(&mut self, peer: u32, carrier: Option<u64>, there: u32) {
        match carrier {
            None => self.guests.insert(there, peer),
            Some(carrier) => self.posts.get_mut(&carrier).and_then(|posted| posted.known.insert(there, peer)),
        };
        self.link_to(peer).carried = Some((carrier, there));
    }

    /// Process `peer` can be reached over one more bridge.
    pub fn join(&mut self, peer: u32, far: Far) {
        let (producer, consumer) = far.bridge.ends(far.side, far.own, far.other);
        let link = self.link_to(peer);
        link.peer = Some((far.job, far.rank));
        link.ways.push(Way { producer, consumer, _bridge: far.bridge });
    }

    /// Process `peer`, which was joined, listens at its bridge.
    pub fn settle(&mut self, peer: u32) {
        if let Some(link) = peer.checked_sub(self.ranks).and_then(|index| self.links.get_mut(index as usize))
        {
            link.settled = link.ways.len();
        }
    }

    /// Process `peer` is not needed any more.
    pub fn part(&mut self, peer: u32) {
        if let Some(link) = peer.checked_sub(self.ranks).and_then(|index| self.links.get_mut(index as usize))
        {
            let parted = std::mem::take(link);
            match parted.carried {
                Some((None, there)) => drop(self.guests.remove(&there)),
                Some((Some(carrier), there)) => {
                    self.posts.get_mut(&carrier).and_then(|posted| posted.known.remove(&there));
                }
                None => {}
            }
        }
    }

    pub(super) fn limits(&self, peer: u32) -> Limits {
        let Some(link) = self.link(peer) else { return self.inner.limits(peer) };
        match link.carried {
            Some((None, there)) => return self.inner.limits(there),
            Some((Some(carrier), _)) => {
                if let Some(posted) = self.posts.get(&carrier) {
                    return posted.post.limits();
                }
            }
            None => {}
        }
        let room = link.way_out().map_or(0, |way| way.producer.body_bytes_max() - FIRST_CELL_BYTES);
        Limits {
            eager_bytes_max: EAGER_BYTES_MAX.min(room) as u64,
            piece_bytes_max: PIECE_BYTES_MAX.min(room),
            single_copy: SingleCopy::all_if(self.single_copy),
        }
    }

    pub(super) fn send(
        &mut self,
        peer: u32,
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> Result<bool> {
        if peer < self.ranks {
            return self.inner.send(peer, header, body, bytes);
        }
        let link = self.links.get_mut((peer - self.ranks) as usize);
        match link.as_ref().and_then(|link| link.carried) {
            Some((None, there)) => return self.inner.send(there, header, body, bytes),
            Some((Some(carrier), there)) => {
                if let Some(posted) = self.posts.get_mut(&carrier) {
                    let sent = posted.post.send(there, header, body, bytes);
                    posted.balance.sent(usize::from(sent));
                    return Ok(sent);
                }
            }
            None => {}
        }
        let Some(Link { peer: Some((job, rank)), ways, settled: settled @ 1.., .. }) = link else {
            return Err(Error::new(MPI_ERR_OTHER, "the connection to that process has been given up"));
        };
        let Some(way) = ways.get_mut(*settled - 1) else { return Ok(false) };
        let sent = push(&mut way.producer, &mut self.handover, header, body, bytes);
        if sent {
            job.doorbell(*rank).ring();
        }
        Ok(sent)
    }

    /// Looks at the other jobs and at this one in turn.
    pub(super) fn receive(&mut self) -> Result<Option<Incoming>> {
        let turns = self.links.len() + 2;
        for step in 0..turns {
            let turn = (self.next + step) % turns;
            let found = match turn.checked_sub(2) {
                None if turn == 0 => self.receive_here()?,
                None => self.receive_elsewhere()?,
                Some(link) => self.look(link),
            };
            if found.is_some() {
                self.next = (turn + 1) % turns;
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The next packet from this job, or from a guest of it.
    fn receive_here(&mut self) -> Result<Option<Incoming>> {
        while let Some(incoming) = self.inner.receive()? {
            if incoming.peer < self.ranks {
                self.current = Some(Current::Inner);
                return Ok(Some(incoming));
            }
            match self.guests.get(&incoming.peer) {
                Some(&peer) => return Ok(Some(self.in_order(peer, Current::Inner, incoming))),
                // It was parted from.
                None => self.inner.release(),
            }
        }
        Ok(None)
    }

    /// The next packet that the post of another job has.
    fn receive_elsewhere(&mut self) -> Result<Option<Incoming>> {
        let mut found = None;
        for (&carrier, posted) in &mut self.posts {
            while let Some(incoming) = posted.post.receive()? {
                posted.balance.took_one();
                if let Some(&peer) = posted.known.get(&incoming.peer) {
                    found = Some((peer, carrier, incoming));
                    break;
                }
                posted.post.release();
            }
            if found.is_some() {
                break;
            }
        }
        let Some((peer, carrier, incoming)) = found else { return Ok(None) };
        Ok(Some(self.in_order(peer, Current::Post(carrier), incoming)))
    }

    /// The packet that a post has for this process from `peer`, or an older one that has come over a bridge.
    fn in_order(&mut self, peer: u32, current: Current, incoming: Incoming) -> Incoming {
        // What is not released is seen again.
        self.look((peer - self.ranks) as usize).unwrap_or_else(|| {
            self.current = Some(current);
            Incoming { peer, ..incoming }
        })
    }

    /// The next packet of a link.
    fn look(&mut self, link: usize) -> Option<Incoming> {
        let ways = &mut self.links[link].ways;
        let newest = (0..ways.len()).find(|&way| ways[way].consumer.peek().is_some())?;
        let way = (0..=newest).find(|&way| ways[way].consumer.peek().is_some())?;
        let packet = ways[way].consumer.peek()?;
        self.current = Some(Current::Link { link, way, packet });
        Some(incoming(self.ranks + link as u32, packet.meta, packet.body, packet.body_bytes))
    }

    pub(super) fn release(&mut self) {
        match self.current.take() {
            Some(Current::Inner) => self.inner.release(),
            Some(Current::Post(carrier)) => {
                self.posts.get_mut(&carrier).iter_mut().for_each(|posted| posted.post.release());
            }
            Some(Current::Link { link, way, packet }) => {
                // A packet that was the last of its process may have ended what led to that.
                let Some(Link { peer: Some((job, rank)), ways, .. }) = self.links.get_mut(link) else {
                    return;
                };
                if ways.get_mut(way).is_some_and(|way| way.consumer.release(packet)) {
                    job.doorbell(*rank).ring();
                }
            }
            None => {}
        }
    }

    pub(super) fn send_short(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: u64) -> bool {
        // A refusal is told by the general way, which tries again.
        peer < self.ranks && self.inner.send_short(peer, header, body, bytes)
    }

    pub(super) fn is_near(&self, peer: u32) -> bool {
        self.link(peer).map_or_else(|| self.inner.is_near(peer), |link| link.carried.is_none())
    }

    /// What leads to `peer` if it is of this job.
    pub(super) fn to_inner(&self, peer: u32) -> Option<&Transport> {
        self.link(peer).is_none().then_some(&self.inner)
    }

    pub(super) fn seat(&self, peer: u32) -> Option<(&Job, u32)> {
        let Some(link) = self.link(peer) else { return self.inner.seat(peer) };
        link.peer.as_ref().filter(|_| link.carried.is_none()).map(|(job, rank)| (&**job, *rank))
    }

    pub(super) fn copy_across(&mut self, peer: u32, copy: impl FnOnce(u32) -> io::Result<()>) -> bool {
        let Some(link) = self.link(peer) else { return self.inner.copy_across(peer, copy) };
        let Some((job, rank)) = link.peer.as_ref().filter(|_| self.single_copy && link.carried.is_none())
        else {
            return false;
        };
        let copied = copy(job.slot(*rank).pid());
        self.single_copy = !is_forbidden(&copied);
        copied.is_ok()
    }
}
