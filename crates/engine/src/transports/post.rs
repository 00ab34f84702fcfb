//! Packets to and from processes of other hosts, which the post of this host carries.
//!
//! Each process has one ring to the post and one from it, for all peers together; see [`postrider_os::packet`] for their
//! labels. A pair of processes has a window: what is on the way from one to the other, counted from being put into the ring
//! until the receiver has taken it, is bounded. The receiver gives bytes back in large portions, by credits. Credits need
//! no window themselves, and there are never more of them than of other packets.
//!
//! A short packet that answers one which has just come is probably awaited: it goes into the link's pipe at once
//! ([`postrider_os::link`]), without the post. Others are part of a stream, which the post gathers into fewer system calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::bell::BellPipe;
use postrider_os::error::Result;
use postrider_os::job::Job;
use postrider_os::link::LinkPipe;
use postrider_os::memory::UserMemory;
use postrider_os::packet::{CREDIT, Class, HEAD_BYTES, Head, WINDOW_BYTES, label, of_label};
use postrider_os::ring::{Consumer, Packet, Producer};

use super::shared_memory::parsed;
use super::wire::{HEADER_BYTES_MAX, Header};
use super::{Incoming, Limits};
use crate::error::Error;

/// Messages up to this size travel at once: what asking first would cost is more than their time on the way.
const EAGER_BYTES_MAX: usize = 64 << 10;
/// A piece that is worth the wake-ups of two posts, and still lets short messages in between.
const PIECE_BYTES_MAX: usize = 128 << 10;
/// What each packet counts in a window besides its bytes.
const PACKET_BYTES: u64 = 8;
/// Bytes that a receiver takes before it gives them back.
const CREDIT_BYTES: u64 = WINDOW_BYTES / 4;

/// One process's access to the post.
#[derive(Debug)]
pub(super) struct Post {
    job: Arc<Job>,
    rank: u32,
    bell: BellPipe,
    outgoing: Producer,
    incoming: Consumer,
    pairs: Vec<Pair>,
    /// The links to other hosts, by the host's number.
    links: Vec<Link>,
    /// A packet has come since one was written at once.
    is_awaited: bool,
    /// A packet as it is written at once.
    whole: Vec<u8>,
    /// Peers whose credit had no room yet.
    indebted: BTreeSet<u32>,
    current: Option<Packet>,
    limits: Limits,
}

/// The windows of both directions between this process and one other.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Bytes that were sent, and have not been given back.
    on_the_way: u64,
    /// Bytes that were taken, and not yet given back.
    taken: u64,
}

/// What this process knows of a link's pipe.
#[derive(Debug)]
enum Link {
    Unopened,
    Open(LinkPipe),
    /// Only the post can write to it.
    Closed,
}

impl Post {
    /// The ends that belong to rank `rank`.
    ///
    /// # Errors
    /// When the post is gone.
    pub(super) fn new(job: Arc<Job>, rank: u32) -> Result<Self> {
        let (outgoing, incoming) = job.post_ends(rank);
        let room = outgoing.body_bytes_max() - HEADER_BYTES_MAX;
        let limits = Limits {
            eager_bytes_max: EAGER_BYTES_MAX.min(room) as u64,
            piece_bytes_max: PIECE_BYTES_MAX.min(room),
            single_copy: false,
        };
        Ok(Self {
            rank,
            bell: job.open_post_pipe()?,
            outgoing,
            incoming,
            pairs: vec![Pair::default(); job.placement().ranks() as usize],
            links: (0..job.placement().hosts()).map(|_| Link::Unopened).collect(),
            is_awaited: true,
            whole: Vec::new(),
            indebted: BTreeSet::new(),
            current: None,
            limits,
            job,
        })
    }

    #[inline]
    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Sends a packet; false when the window or the ring has no room.
    pub(super) fn send(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: usize) -> bool {
        let head_bytes = header.bytes();
        let weight = (head_bytes + bytes) as u64 + PACKET_BYTES;
        if self.pairs[peer as usize].on_the_way + weight > WINDOW_BYTES {
            return false;
        }
        if !(std::mem::take(&mut self.is_awaited) && self.send_at_once(peer, header, body, bytes)) {
            let sent = self.outgoing.push(label(header.kind as u8, peer), head_bytes + bytes, |cells| {
                header.write(cells);
                body.copy_to(cells.offset(head_bytes as i64), bytes);
            });
            if !sent {
                return false;
            }
            self.bell.ring(self.job.post_bell());
        }
        self.pairs[peer as usize].on_the_way += weight;
        true
    }

    /// Writes a packet into the link, if it is short and nobody else is writing, and all that was sent before has been written.
    fn send_at_once(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: usize) -> bool {
        let packet_bytes = header.bytes() + bytes;
        if HEAD_BYTES + packet_bytes > LinkPipe::BYTES_MAX {
            return false;
        }
        let host = self.job.placement().host_of(peer);
        let token = self.job.link_token(host);
        if !token.enter() {
            return false;
        }
        let link = &mut self.links[host as usize];
        if let Link::Unopened = link {
            *link = self.job.open_link(host).map_or(Link::Closed, Link::Open);
        }
        let written = match link {
            Link::Open(pipe) if self.outgoing.is_drained() => {
                let (class, kind) = (Class::Packet, header.kind as u8);
                let head =
                    Head { class, kind, sender: self.rank, receiver: peer, bytes: packet_bytes as u32 };
                self.whole.clear();
                self.whole.extend_from_slice(&head.encode());
                self.whole.extend_from_slice(&header.encode()[..header.bytes()]);
                self.whole.resize(HEAD_BYTES + packet_bytes, 0);
                body.read(&mut self.whole[HEAD_BYTES + header.bytes()..]);
                pipe.write(&self.whole)
            }
            _ => false,
        };
        if token.leave() {
            self.bell.ring(self.job.post_bell());
        }
        written
    }

    /// The next packet, after all credits before it.
    #[inline]
    pub(super) fn receive(&mut self) -> crate::error::Result<Option<Incoming>> {
        if !self.indebted.is_empty() {
            self.give_credits();
        }
        loop {
            let Some(packet) = self.incoming.peek() else { return Ok(None) };
            let (kind, peer) = of_label(packet.meta);
            if kind != CREDIT {
                let Some(incoming) = parsed(peer, u32::from(kind), packet) else {
                    return Err(nonsense(peer, kind, packet.body_bytes));
                };
                self.current = Some(packet);
                self.is_awaited = true;
                return Ok(Some(incoming));
            }
            if packet.body_bytes != size_of::<u64>() {
                return Err(nonsense(peer, kind, packet.body_bytes));
            }
            let bytes = u64::from_le(packet.body.load());
            let pair = &mut self.pairs[peer as usize];
            pair.on_the_way = pair.on_the_way.saturating_sub(bytes);
            self.take(packet);
        }
    }

    #[inline]
    pub(super) fn release(&mut self) {
        let Some(packet) = self.current.take() else { return };
        let peer = of_label(packet.meta).1;
        let pair = &mut self.pairs[peer as usize];
        pair.taken += packet.body_bytes as u64 + PACKET_BYTES;
        if pair.taken >= CREDIT_BYTES {
            self.indebted.insert(peer);
        }
        self.take(packet);
    }

    fn take(&mut self, packet: Packet) {
        if self.incoming.release(packet) {
            self.bell.ring(self.job.post_bell());
        }
    }

    #[cold]
    fn give_credits(&mut self) {
        while let Some(&peer) = self.indebted.first() {
            let taken = self.pairs[peer as usize].taken;
            if !self.outgoing.push(label(CREDIT, peer), 8, |cells| cells.store(taken.to_le())) {
                return;
            }
            self.pairs[peer as usize].taken = 0;
            self.indebted.remove(&peer);
            self.bell.ring(self.job.post_bell());
        }
    }
}

/// The error for what a post has handed over and is no packet.
#[cold]
fn nonsense(peer: u32, kind: u8, bytes: usize) -> Error {
    let detail = format!(
        "what has come from rank {peer} on another host is no packet (kind {kind}, {bytes} bytes); does the same build of \
         Postrider run there?"
    );
    Error::new(MPI_ERR_OTHER, detail)
}
