//! Packets to and from processes of other hosts, which the post of this host carries; and to and from guests, wherever they are.
//!
//! Each process has one ring to the post and one from it, for all peers together; see [`postrider_os::packet`] for their
//! labels. A pair of processes has a window: what is on the way from one to the other, counted from being put into the ring
//! until the receiver has taken it, is bounded. The receiver gives bytes back in large portions, by credits. Credits need
//! no window themselves, and there are never more of them than of other packets. If the receiver's post keeps much for it, because many
//! send to it, all of them stop until it has taken that.
//!
//! A short packet that answers one which has just come is probably awaited: it goes into the link's pipe at once
//! ([`postrider_os::link`]), without the post. So do some that follow it, since waking the post costs more than they do: an exchange with several messages is no
//! slower than one after the other. Many in a row are a stream, which the post gathers into fewer system calls; after one, only the first of the next
//! that follow one another goes at once, until there were few again.
//! A long packet goes into the pipe, too, from where it is, if it has room there. If it has not, it goes through the ring, so that
//! the post can bring it on its way while this process computes; but a process that only waits looks again soon instead.
//!
//! A process that has just sent something to another host, or got something from there, looks into that link by itself for a
//! while ([`postrider_os::intake`]), instead of waiting for the post to bring what comes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::bell::{BellPipe, BellTower};
use postrider_os::error::Result;
use postrider_os::intake::{Filled, Found, Intake, LinkSource, watch};
use postrider_os::job::Job;
use postrider_os::link::{LinkPipe, PIPE_PAUSE};
use postrider_os::memory::UserMemory;
use postrider_os::packet::{CREDIT, Class, Head, WINDOW_BYTES, label, of_label};
use postrider_os::ring::{Consumer, Packet, Producer};

use super::wire::{HEADER_BYTES_MAX, Header, Kind};
use super::{Body, Incoming, Limits, SingleCopy};
use crate::error::Error;

/// Messages up to this size travel at once: what asking first would cost is more than their time on the way.
const EAGER_BYTES_MAX: usize = 64 << 10;
/// A piece that is worth the wake-ups of two posts, and still lets short messages in between.
const PIECE_BYTES_MAX: usize = 128 << 10;
/// What each packet counts in a window besides its bytes.
const PACKET_BYTES: u64 = 8;
/// Bytes that a receiver takes before it gives them back.
const CREDIT_BYTES: u64 = WINDOW_BYTES / 4;
/// A packet from this length on is part of a long message.
const STREAM_BYTES_MIN: usize = 16 << 10;
/// The most short packets, sent one after the other, that are no stream.
const BURST_MAX: u32 = 16;
/// How often a process that waits finds no room for a long packet in a link before it leaves it to the post.
const HOLDS: u32 = 128;
/// How often a process sleeps before it takes a long message for ended of which no more has come.
const SLEEPS_OF_STREAM: u32 = 32;
/// How many calls to [`Post::receive`] look into the link once: that is a system call, and the ring only a load.
const CALLS_PER_LOOK: u32 = 32;

/// One process's access to the post.
#[derive(Debug)]
pub(super) struct Post {
    job: Arc<Job>,
    /// This process's rank in that job, or its number as a guest of it.
    rank: u32,
    bell: BellPipe,
    outgoing: Producer,
    incoming: Consumer,
    pairs: Vec<Pair>,
    /// The links to other hosts, by the host's number.
    links: Vec<Link>,
    /// The host from which something may be about to come, and how many calls ago its link had nothing.
    expected: Option<(u32, u32)>,
    /// How many sleeps more of a long message may follow, if what went to another host or came from there last was part of one.
    streams: u32,
    /// Whether this process only waits, and how often since it last wrote one it has found no room for a long packet.
    waits: bool,
    held: u32,
    /// Whether this process may read links by itself: a guest may not.
    reads_links: bool,
    /// Where this process sleeps when it watches a link.
    tower: Arc<BellTower>,
    /// Short packets that were sent since one has come, and how many of them may be written at once.
    burst: u32,
    at_once_max: u32,
    /// A packet as it is written at once.
    whole: Vec<u8>,
    /// Peers whose credit had no room yet.
    indebted: BTreeSet<u32>,
    current: Option<Current>,
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

/// What this process knows of a link's two pipes.
#[derive(Debug, Default)]
struct Link {
    pipe: End<LinkPipe>,
    source: End<Arc<LinkSource>>,
}

/// One of them.
#[derive(Debug, Default)]
enum End<T> {
    #[default]
    Unopened,
    Open(T),
    /// Only the post can use it.
    Closed,
}

impl<T> End<T> {
    fn open(&mut self, open: impl FnOnce() -> Option<T>) -> Option<&T> {
        if let Self::Unopened = self {
            *self = open().map_or(Self::Closed, Self::Open);
        }
        self.get()
    }

    fn get(&self) -> Option<&T> {
        match self {
            Self::Open(end) => Some(end),
            Self::Unopened | Self::Closed => None,
        }
    }
}

/// What became of a packet that was to go into a link without the post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direct {
    Written,
    /// It can, as soon as the link has room and what was sent before has left.
    Soon,
    /// Or not so soon: it is for the post.
    Never,
}

/// What a process sleeps at that has been lent a link.
#[derive(Clone, Debug)]
pub struct Watch {
    source: Arc<LinkSource>,
    tower: Arc<BellTower>,
}

impl Watch {
    /// Sleeps until something may have come or `limit` has passed, which is what true means.
    pub fn sleep(&self, limit: Duration) -> bool {
        watch(&self.source, &self.tower, limit)
    }
}

/// The packet that was received last: where it lies until it is released.
#[derive(Clone, Copy, Debug)]
enum Current {
    /// In the ring from the post.
    Ring(Packet),
    /// In the intake of the link from this host.
    Link(u32, Head),
}

impl Post {
    /// The ends that belong to rank `rank`.
    ///
    /// # Errors
    /// When the post is gone.
    pub(super) fn new(job: Arc<Job>, rank: u32) -> Result<Self> {
        let ends = job.post_ends(rank);
        let mut post = Self::with_ends(job, rank, ends)?;
        post.job.set_tower(rank, post.tower.descriptor());
        post.reads_links = true;
        Ok(post)
    }

    /// With these rings to and from the post of `job`, for rank or guest `rank`.
    ///
    /// # Errors
    /// When the post is gone.
    pub(super) fn with_ends(
        job: Arc<Job>,
        rank: u32,
        (outgoing, incoming): (Producer, Consumer),
    ) -> Result<Self> {
        let room = outgoing.body_bytes_max() - HEADER_BYTES_MAX;
        let limits = Limits {
            eager_bytes_max: EAGER_BYTES_MAX.min(room) as u64,
            piece_bytes_max: PIECE_BYTES_MAX.min(room),
            single_copy: SingleCopy::Never,
        };
        Ok(Self {
            rank,
            bell: job.open_post_pipe()?,
            outgoing,
            incoming,
            pairs: vec![Pair::default(); job.placement().ranks() as usize],
            links: (0..job.placement().hosts()).map(|_| Link::default()).collect(),
            expected: None,
            streams: 0,
            waits: false,
            held: 0,
            reads_links: false,
            tower: Arc::new(BellTower::new()?),
            burst: 0,
            at_once_max: BURST_MAX,
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

    #[inline]
    fn pair(&mut self, peer: u32) -> &mut Pair {
        if self.pairs.len() <= peer as usize {
            // A guest that is new.
            self.pairs.resize(peer as usize + 1, Pair::default());
        }
        &mut self.pairs[peer as usize]
    }

    /// Sends a packet; false when the window or the ring has no room.
    pub(super) fn send(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: usize) -> bool {
        let head_bytes = header.bytes();
        let weight = (head_bytes + bytes) as u64 + PACKET_BYTES;
        if self.pair(peer).on_the_way + weight > WINDOW_BYTES || self.is_stopped(peer) {
            return false;
        }
        let is_long = bytes >= STREAM_BYTES_MIN;
        let direct = if is_long || self.burst < self.at_once_max {
            self.write(peer, header, body, bytes)
        } else {
            Direct::Never
        };
        if direct == Direct::Written {
            self.held = 0;
        } else if direct == Direct::Soon && is_long && self.waits && self.held < HOLDS {
            self.held += 1;
            return false;
        } else {
            let sent = self.outgoing.push(label(header.kind as u8, peer), head_bytes + bytes, |cells| {
                header.write(cells);
                body.copy_to(cells.offset(head_bytes as i64), bytes);
            });
            if !sent {
                return false;
            }
            self.bell.ring(self.job.post_bell());
        }
        self.burst = self.burst.saturating_add(u32::from(!is_long));
        self.pair(peer).on_the_way += weight;
        self.expect(peer, bytes);
        true
    }

    /// Whether the post of this peer's host keeps enough for it. Guests are few, and have windows only.
    #[inline]
    fn is_stopped(&self, peer: u32) -> bool {
        peer < self.job.placement().ranks() && self.job.slot(peer).is_stopped()
    }

    /// Writes a packet into the link, if it has room, nobody else is writing, and all that was sent before has been written.
    fn write(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: usize) -> Direct {
        let head_bytes = header.bytes();
        let host = self.job.placement().host_of_number(peer);
        let (token, pipe) = (self.job.link_token(host), &mut self.links[host as usize].pipe);
        let later = if pipe.get().is_some_and(LinkPipe::is_roomy) { Direct::Soon } else { Direct::Never };
        let is_drained = self.outgoing.is_drained();
        if !token.enter() {
            // A post that writes for others is not waited for.
            return if is_drained { Direct::Never } else { later };
        }
        let direct = match pipe.open(|| self.job.open_link(host)) {
            Some(pipe) if is_drained => {
                let (class, kind) = (Class::Packet, header.kind as u8);
                let packet_bytes = (head_bytes + bytes) as u32;
                let head = Head { class, kind, sender: self.rank, receiver: peer, bytes: packet_bytes };
                self.whole.clear();
                self.whole.extend_from_slice(&head.encode());
                self.whole.extend_from_slice(&header.encode()[..head_bytes]);
                let written = if self.whole.len() + bytes > LinkPipe::BYTES_MAX {
                    pipe.write_long(&self.whole, body, bytes)
                } else {
                    let start = self.whole.len();
                    self.whole.resize(start + bytes, 0);
                    body.read(&mut self.whole[start..]);
                    pipe.write(&self.whole)
                };
                if written { Direct::Written } else { later }
            }
            _ => later,
        };
        if token.leave() {
            self.bell.ring(self.job.post_bell());
        }
        direct
    }

    /// Something may be about to come from this peer's host.
    #[inline]
    fn expect(&mut self, peer: u32, bytes: usize) {
        self.streams = if bytes >= STREAM_BYTES_MIN { SLEEPS_OF_STREAM } else { 0 };
        if self.reads_links {
            self.expected = Some((self.job.placement().host_of_number(peer), CALLS_PER_LOOK));
        }
    }

    /// Whether a long message is on its way, which is not worth waiting for awake: the remote shells need the core.
    pub(super) fn streams(&self) -> bool {
        self.streams > 0
    }

    /// This process is about to sleep, alone or not. What it is to watch, if it has been lent a link through which something may come;
    /// the other links are the post's again.
    pub(super) fn rest(&mut self, alone: bool) -> Option<Watch> {
        let watch = self.expected.filter(|_| alone).and_then(|(host, _)| Some((host, self.watch(host)?)));
        let watched = watch.as_ref().map(|(host, _)| *host);
        for host in 0..self.links.len() as u32 {
            if watched != Some(host) && self.job.intake(host).give_back() {
                self.bell.ring(self.job.post_bell());
            }
        }
        self.expected = watched.map(|host| (host, CALLS_PER_LOOK));
        self.streams = self.streams.saturating_sub(1);
        self.waits |= alone;
        Some(watch?.1)
    }

    /// How long a sleep may last, if a link had no room that may have some soon.
    pub(super) fn pause(&self) -> Option<Duration> {
        (0 < self.held && self.held < HOLDS).then_some(PIPE_PAUSE)
    }

    /// This process no longer only waits. True when something is now to be left to the post.
    pub(super) fn rise(&mut self) -> bool {
        self.waits = false;
        std::mem::take(&mut self.held) > 0
    }

    /// Whatever lets this process sleep at the link from a host.
    fn watch(&mut self, host: u32) -> Option<Watch> {
        if !self.job.intake(host).is_lent() {
            return None;
        }
        let source =
            self.links[host as usize].source.open(|| self.job.open_link_source(host).map(Arc::new))?;
        Some(Watch { source: Arc::clone(source), tower: Arc::clone(&self.tower) })
    }

    /// The next packet, after all credits before it.
    #[inline]
    pub(super) fn receive(&mut self) -> crate::error::Result<Option<Incoming>> {
        if !self.indebted.is_empty() {
            self.give_credits();
        }
        while let Some(packet) = self.incoming.peek() {
            let (kind, peer) = of_label(packet.meta);
            if let Some(incoming) = self.open(peer, kind, packet.body, packet.body_bytes)? {
                self.current = Some(Current::Ring(packet));
                return Ok(Some(incoming));
            }
            self.take(packet);
        }
        match &mut self.expected {
            Some((host, calls @ CALLS_PER_LOOK..)) => {
                *calls = 0;
                let host = *host;
                self.receive_from(host)
            }
            Some((_, calls)) => {
                *calls += 1;
                Ok(None)
            }
            None => Ok(None),
        }
    }

    /// What a packet is; none if it is only about this process's window.
    fn open(
        &mut self,
        peer: u32,
        kind: u8,
        body: UserMemory,
        bytes: usize,
    ) -> crate::error::Result<Option<Incoming>> {
        if kind != CREDIT {
            self.end_burst();
            self.expect(peer, bytes);
            let incoming = parsed(peer, kind, body, bytes);
            return incoming.map(Some).ok_or_else(|| nonsense(peer, kind, bytes));
        }
        if bytes != size_of::<u64>() {
            return Err(nonsense(peer, kind, bytes));
        }
        let taken = u64::from_le(body.load());
        let pair = self.pair(peer);
        pair.on_the_way = pair.on_the_way.saturating_sub(taken);
        Ok(None)
    }

    /// A packet has come: what is sent next may be awaited.
    #[inline]
    fn end_burst(&mut self) {
        match std::mem::take(&mut self.burst) {
            0 => {}
            burst => self.at_once_max = if burst > BURST_MAX { 1 } else { BURST_MAX },
        }
    }

    /// Looks into the link from a host.
    fn receive_from(&mut self, host: u32) -> crate::error::Result<Option<Incoming>> {
        let job = Arc::clone(&self.job);
        let intake = job.intake(host);
        if !intake.enter() {
            if intake.want() {
                self.bell.ring(job.post_bell());
            }
            return Ok(None);
        }
        // What the post had put there before it lent the link comes first.
        if self.incoming.peek().is_some() {
            intake.leave();
            return self.receive();
        }
        loop {
            match intake.next() {
                Found::Packet(head, body) if self.is_for_this_process(host, &head) => {
                    if let Some(incoming) = self.open(head.sender, head.kind, body, head.bytes as usize)? {
                        self.current = Some(Current::Link(host, head));
                        return Ok(Some(incoming));
                    }
                    intake.take(&head);
                }
                Found::Nothing => match self.fill(host, intake) {
                    Some(Filled::More) => {}
                    Some(Filled::Nothing) => {
                        intake.leave();
                        return Ok(None);
                    }
                    Some(Filled::End) | None => break,
                },
                Found::Packet(..) | Found::Nonsense => break,
            }
        }
        intake.hand_over();
        self.bell.ring(job.post_bell());
        Ok(None)
    }

    /// None when this process cannot read the link.
    fn fill(&mut self, host: u32, intake: Intake<'_>) -> Option<Filled> {
        let source =
            self.links[host as usize].source.open(|| self.job.open_link_source(host).map(Arc::new))?;
        source.fill(intake).ok()
    }

    fn is_for_this_process(&self, host: u32, head: &Head) -> bool {
        let placement = self.job.placement();
        head.class == Class::Packet
            && head.receiver == self.rank
            && head.sender < placement.ranks()
            && placement.host_of(head.sender) == host
    }

    #[inline]
    pub(super) fn release(&mut self) {
        let Some(current) = self.current.take() else { return };
        let (peer, bytes) = match current {
            Current::Ring(packet) => (of_label(packet.meta).1, packet.body_bytes as u64),
            Current::Link(_, head) => (head.sender, u64::from(head.bytes)),
        };
        let pair = self.pair(peer);
        pair.taken += bytes + PACKET_BYTES;
        if pair.taken >= CREDIT_BYTES {
            self.indebted.insert(peer);
        }
        match current {
            Current::Ring(packet) => self.take(packet),
            Current::Link(host, head) => {
                let intake = self.job.intake(host);
                intake.take(&head);
                match intake.next() {
                    // Its receiver may sleep, and nothing else tells it.
                    Found::Packet(head, _) if !self.is_for_this_process(host, &head) => {
                        intake.hand_over();
                        self.bell.ring(self.job.post_bell());
                    }
                    _ => intake.leave(),
                }
            }
        }
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

/// The packet that has come from another host; none when it is no packet.
#[inline]
fn parsed(peer: u32, kind: u8, packet: UserMemory, bytes: usize) -> Option<Incoming> {
    let header = Header::read(Kind::from_number(kind)?, packet, bytes)?;
    let head_bytes = header.bytes();
    let body = Body::Memory(packet.offset(head_bytes as i64), bytes - head_bytes);
    Some(Incoming { peer, header, body })
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

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_os::hosts::Placement;
    use postrider_os::job::{Shape, Transport};
    use postrider_os::memory::OwnedMemory;
    use postrider_os::packet::HEAD_BYTES;
    use std::io::{PipeReader, PipeWriter, Read};
    use std::os::fd::AsRawFd;

    const BYTES: usize = 100;

    /// Rank 0, rank 1 on another host, and the post in between, which does nothing by itself.
    struct Ground {
        rank: Post,
        to_rank: Producer,
        from_rank: Consumer,
        link: PipeReader,
        _writer: PipeWriter,
        _bell: BellTower,
    }

    impl Ground {
        fn new() -> Self {
            let placement = Placement::new(vec![0, 1]).unwrap();
            let shape = Shape { cores: 1, transport: Transport::SharedMemory, ring_bytes: 16 << 10 };
            let job = Arc::new(Job::create(shape, &placement, 0).unwrap());
            let bell = BellTower::new().unwrap();
            job.set_post_pipe(bell.descriptor());
            let (link, writer) = std::io::pipe().unwrap();
            job.link_token(1).open(writer.as_raw_fd() as u32);
            job.link_token(1).give_back();
            let (from_rank, to_rank) = job.rank_ends(0);
            let rank = Post::new(job, 0).unwrap();
            Self { rank, to_rank, from_rank, link, _writer: writer, _bell: bell }
        }

        /// The rank sends so many messages; how many of them it has written into the link itself.
        fn send(&mut self, count: usize) -> usize {
            let header = Header::control(Kind::Eager, [0; 3]);
            let mut body = OwnedMemory::new(BYTES);
            for _ in 0..count {
                assert!(self.rank.send(1, &header, UserMemory::of(&mut body), BYTES));
            }
            let mut left = 0;
            while let Some(packet) = self.from_rank.peek() {
                let _room = self.from_rank.release(packet);
                left += 1;
            }
            let _room = self.from_rank.settle();
            let mut written = vec![0; (count - left) * (HEAD_BYTES + header.bytes() + BYTES)];
            self.link.read_exact(&mut written).unwrap();
            count - left
        }

        /// A message comes.
        fn come(&mut self) {
            let header = Header::control(Kind::Eager, [0; 3]);
            assert!(
                self.to_rank.push(label(Kind::Eager as u8, 1), header.bytes(), |cells| header.write(cells))
            );
            assert!(self.rank.receive().unwrap().is_some());
            self.rank.release();
        }
    }

    #[test]
    fn several_messages_in_a_row_do_not_need_the_post() {
        let mut ground = Ground::new();
        for count in [1, 2, 4, 16, 16, 1] {
            assert_eq!(ground.send(count), count);
            ground.come();
        }
    }

    #[test]
    fn a_stream_is_left_to_the_post_until_it_ends() {
        let mut ground = Ground::new();
        assert_eq!(ground.send(64), 16);
        for _ in 0..3 {
            assert_eq!(ground.send(64), 0, "nothing has come");
            ground.come();
            assert_eq!(ground.send(64), 1, "only the first may be awaited");
        }
        ground.come();
        ground.send(4);
        ground.come();
        assert_eq!(ground.send(4), 4);
    }
}
