//! A transport with bridges: rings in shared memory to processes of other jobs, beside whatever leads to those of this one.
//!
//! Processes of other jobs have numbers above all ranks of this job ([`crate::processes`]), so a look at the number says which
//! way a packet goes. Two processes may meet over several bridges in the course of time. A receiver listens at a bridge from
//! the moment it has opened it, a sender uses it once everybody has said so ([`Bridged::settle`]), and then for everything. The
//! receiver empties older bridges first, and looks at them once more when it has seen a packet in a newer one: what was sent
//! before is visible by then. So packets of a pair stay in order, and none waits for somebody who has yet to come.
//!
//! A process has this transport from its first bridge on; before that nothing here costs anything.

use std::sync::Arc;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::bridge::{Bridge, Side};
use postrider_os::job::Job;
use postrider_os::memory::UserMemory;
use postrider_os::process;
use postrider_os::ring::{Consumer, Packet, Producer};

use super::shared_memory::{EAGER_BYTES_MAX, PIECE_BYTES_MAX, incoming};
use super::wire::{HEADER_BYTES_MAX, Header};
use super::{Incoming, Limits, SingleCopy, Transport};
use crate::error::{Error, Result};

/// The rings to processes of other jobs, and the transport to those of this one.
#[derive(Debug)]
pub struct Bridged {
    /// The way to the processes of this job.
    pub inner: Transport,
    ranks: u32,
    links: Vec<Link>,
    next: usize,
    current: Option<Current>,
    single_copy: bool,
}

/// A packet that was received and not yet released.
#[derive(Debug)]
enum Current {
    Inner,
    Link { link: usize, way: usize, packet: Packet },
}

/// What leads to one process; nothing once it is not needed any more.
#[derive(Debug, Default)]
struct Link {
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
    pub fn new(inner: Transport, ranks: u32, single_copy: bool) -> Self {
        Self { inner, ranks, links: Vec::new(), next: 0, current: None, single_copy }
    }

    fn link(&self, peer: u32) -> Option<&Link> {
        self.links.get(peer.checked_sub(self.ranks)? as usize)
    }

    /// Process `peer` can be reached over one more bridge.
    pub fn join(&mut self, peer: u32, far: Far) {
        let index = (peer - self.ranks) as usize;
        if self.links.len() <= index {
            self.links.resize_with(index + 1, Link::default);
        }
        let (producer, consumer) = far.bridge.ends(far.side, far.own, far.other);
        let link = &mut self.links[index];
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
            *link = Link::default();
        }
    }

    pub(super) fn limits(&self, peer: u32) -> Limits {
        let Some(link) = self.link(peer) else { return self.inner.limits(peer) };
        let room = link.way_out().map_or(0, |way| way.producer.body_bytes_max() - HEADER_BYTES_MAX);
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
        let Some(Link { peer: Some((job, rank)), ways, settled: settled @ 1.. }) = link else {
            return Err(Error::new(MPI_ERR_OTHER, "the connection to that process has been given up"));
        };
        let Some(way) = ways.get_mut(*settled - 1) else { return Ok(false) };
        let head_bytes = header.bytes();
        let sent = way.producer.push(header.kind as u32, head_bytes + bytes, |cells| {
            header.write(cells);
            body.copy_to(cells.offset(head_bytes as i64), bytes);
        });
        if sent {
            job.doorbell(*rank).ring();
        }
        Ok(sent)
    }

    /// Looks at the other jobs and at this one in turn.
    pub(super) fn receive(&mut self) -> Result<Option<Incoming>> {
        let turns = self.links.len() + 1;
        for step in 0..turns {
            let turn = (self.next + step) % turns;
            let found = match turn.checked_sub(1) {
                None => self.inner.receive()?.inspect(|_| self.current = Some(Current::Inner)),
                Some(link) => self.look(link),
            };
            if found.is_some() {
                self.next = (turn + 1) % turns;
                return Ok(found);
            }
        }
        Ok(None)
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
        peer >= self.ranks || self.inner.is_near(peer)
    }

    pub(super) fn fetch(&mut self, peer: u32, address: u64, into: UserMemory, bytes: usize) -> bool {
        let Some(link) = self.link(peer) else { return self.inner.fetch(peer, address, into, bytes) };
        let Some((job, rank)) = link.peer.as_ref().filter(|_| self.single_copy) else { return false };
        self.single_copy = process::read_from(job.slot(*rank).pid(), address, into, bytes).is_ok();
        self.single_copy
    }
}
