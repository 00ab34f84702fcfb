//! Packets through lock-free rings in the job segment, one ring per ordered pair of processes of a host.
//!
//! Processes are counted by their place among those of the host; where the host is the only one, that is the rank.
//!
//! Long messages are announced and flow through the ring in pieces, or the receiver copies them from the sender's
//! memory in one go (`process_vm_readv`). Which is better depends on the cores, see [`SharedMemory::choose`]. Whether the
//! system has single copies at all is tried at start, on this process itself; whether it allows them between two processes
//! shows when the first long message is fetched. Where it does not, pieces take over silently.

use std::sync::Arc;

use postrider_os::job::Job;
use postrider_os::memory::UserMemory;
use postrider_os::process;
use postrider_os::ring::{Consumer, Packet, Producer};

use super::wire::{HEADER_BYTES_MAX, Header, Kind};
use super::{Body, Incoming, Limits};

/// Messages up to this size go through the ring at once, as far as a packet of the ring can hold them.
pub(super) const EAGER_BYTES_MAX: usize = 64 << 10;
/// A piece that keeps both ends of the ring busy at the same time.
pub(super) const PIECE_BYTES_MAX: usize = 32 << 10;

algorithms! {
    /// How long messages travel.
    {
        /// Through the ring, in pieces.
        Pieces = "pieces",
        /// From the sender's memory straight to the receiver's.
        SingleCopy = "single-copy",
    }
}

/// The rings of one process.
#[derive(Debug)]
pub struct SharedMemory {
    job: Arc<Job>,
    /// The rank of each place.
    ranks: Vec<u32>,
    place: usize,
    producers: Vec<Producer>,
    consumers: Vec<Consumer>,
    next: usize,
    current: Option<(usize, Packet)>,
    eager_bytes_max: usize,
    piece_bytes_max: usize,
    single_copy: bool,
}

impl SharedMemory {
    /// The ends that belong to rank `rank`.
    #[must_use]
    pub fn new(job: Arc<Job>, rank: u32) -> Self {
        let shape = job.shape();
        let ranks = job.local_ranks().to_vec();
        let producers: Vec<_> = ranks.iter().map(|&peer| job.producer(peer, rank)).collect();
        let consumers = ranks.iter().map(|&peer| job.consumer(rank, peer)).collect();
        let single_copy = ranks.len() > shape.cores as usize;
        let place = job.placement().place_of(rank) as usize;
        let room = producers.first().map_or(0, |producer| producer.body_bytes_max() - HEADER_BYTES_MAX);
        Self {
            job,
            ranks,
            place,
            producers,
            consumers,
            next: 0,
            current: None,
            eager_bytes_max: EAGER_BYTES_MAX.min(room),
            piece_bytes_max: PIECE_BYTES_MAX.min(room),
            single_copy,
        }
    }

    /// Takes the way of long messages that the user forces, or the better one.
    pub fn choose(&mut self, forced: Option<Algorithm>, crowded: bool) {
        self.single_copy = copies_once(forced, crowded);
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            eager_bytes_max: self.eager_bytes_max as u64,
            piece_bytes_max: self.piece_bytes_max,
            single_copy: self.single_copy,
        }
    }

    /// The longest message that is sent at once.
    #[inline]
    pub(super) fn eager_bytes_max(&self) -> u64 {
        self.eager_bytes_max as u64
    }

    /// Sends a packet to the process of a place; false when the ring has no room.
    #[inline]
    pub(super) fn send(&mut self, place: u32, header: &Header, body: UserMemory, bytes: usize) -> bool {
        let head_bytes = header.bytes();
        let sent = self.producers[place as usize].push(header.kind as u32, head_bytes + bytes, |cells| {
            header.write(cells);
            body.copy_to(cells.offset(head_bytes as i64), bytes);
        });
        if sent {
            self.job.doorbell(self.ranks[place as usize]).ring();
        }
        sent
    }

    /// Looks at the rings in turn, from the one after the last that had a packet: nobody starves.
    #[inline]
    pub(super) fn receive(&mut self) -> Option<Incoming> {
        let ranks = self.consumers.len();
        for step in 0..ranks {
            let place = if self.next + step < ranks { self.next + step } else { self.next + step - ranks };
            if place == self.place {
                continue;
            }
            if let Some(packet) = self.consumers[place].peek() {
                self.next = if place + 1 < ranks { place + 1 } else { 0 };
                self.current = Some((place, packet));
                return Some(incoming(self.ranks[place], packet.meta, packet));
            }
        }
        None
    }

    /// Gives back the place of the packet that was received last; false when none of these was.
    #[inline]
    pub(super) fn release(&mut self) -> bool {
        let Some((place, packet)) = self.current.take() else { return false };
        if self.consumers[place].release(packet) {
            self.job.doorbell(self.ranks[place]).ring();
        }
        true
    }

    pub(super) fn fetch(&mut self, peer: u32, address: u64, into: UserMemory, bytes: usize) -> bool {
        if self.single_copy && process::read_from(self.job.slot(peer).pid(), address, into, bytes).is_err() {
            self.single_copy = false;
        }
        self.single_copy
    }
}

/// Whether long messages are copied in one go, as the user forces, or as is better: with a core for each rank two copies that
/// overlap on two cores beat one copy on one; where ranks share cores, one copy is less work and fewer wake-ups.
#[must_use]
pub fn copies_once(forced: Option<Algorithm>, crowded: bool) -> bool {
    let wanted = forced.map_or(crowded, |algorithm| algorithm == Algorithm::SingleCopy);
    wanted && process::can_copy_between_processes()
}

/// The packet of kind `kind` that rank `peer` has put in a ring.
#[inline]
pub(super) fn incoming(peer: u32, kind: u32, packet: Packet) -> Incoming {
    let known = Kind::from_number(kind as u8);
    let header = known.and_then(|kind| Header::read(kind, packet.body, packet.body_bytes));
    let Some(header) = header else {
        panic!(
            "a ring holds a packet of rank {peer} of kind {kind} and {} bytes: memory was overwritten",
            packet.body_bytes
        );
    };
    let head_bytes = header.bytes();
    let place = packet.body.offset(head_bytes as i64);
    Incoming { peer, header, body: Body::Memory(place, packet.body_bytes - head_bytes) }
}
