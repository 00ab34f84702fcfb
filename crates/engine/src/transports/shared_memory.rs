//! Packets through lock-free rings in the job segment, one ring per ordered pair of processes of a host.
//!
//! Processes are counted by their place among those of the host; where the host is the only one, that is the rank.
//!
//! Long messages are announced and flow through the ring in pieces, or the receiver copies them from the sender's
//! memory in one go (`process_vm_readv`). Which is better depends on the cores, and on what else both do, see [`which_once`]. Whether the
//! system has single copies at all is tried at start, on this process itself; whether it allows them between two processes
//! shows when the first long message is fetched. Where it does not, pieces take over silently.
//!
//! A message for several processes that is neither short nor long is put on this process's shelf once
//! ([`postrider_os::shelf`]); what goes through the rings is a header and where it lies, and its readers see a packet like any other.

use std::io;
use std::sync::Arc;

use postrider_os::handover::Handover;
use postrider_os::invitation::{CARDS, Card, Invitation};
use postrider_os::job::{Job, RankBell};
use postrider_os::memory::UserMemory;
use postrider_os::process;
use postrider_os::ring::{Consumer, FIRST_CELL_BYTES, Packet, Producer};
use postrider_os::shelf::{TRAY_BYTES, TRAYS};

use super::wire::{Header, Kind};
use super::{Body, Incoming, Limits, Multicast, SingleCopy, is_forbidden};

/// Messages up to this size go through the ring at once, as far as a packet of the ring can hold them.
pub(crate) const EAGER_BYTES_MAX: usize = 32 << 10;
/// A piece that keeps both ends of the ring busy at the same time.
pub(super) const PIECE_BYTES_MAX: usize = 16 << 10;
/// A message for several processes that is shorter than this costs no more in the ring of each.
const SHELF_BYTES_MIN: u64 = 1 << 10;
/// Beside a packet's kind: what follows the header is a word that says in which tray the body lies, and its length.
const ON_SHELF: u32 = 1 << 8;

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
    /// The rank of each place, and its doorbell.
    ranks: Vec<u32>,
    bells: Vec<RankBell>,
    place: usize,
    producers: Vec<Producer>,
    consumers: Vec<Consumer>,
    handover: Handover,
    next: usize,
    current: Option<(usize, Packet)>,
    /// The tray in which the current packet's body lies.
    tray: Option<usize>,
    eager_bytes_max: usize,
    piece_bytes_max: usize,
    single_copy: SingleCopy,
    /// Whether others may write to this process.
    can_invite: bool,
}

impl SharedMemory {
    /// The ends that belong to rank `rank`.
    #[must_use]
    pub fn new(job: Arc<Job>, rank: u32) -> Self {
        let shape = job.shape();
        let ranks = job.local_ranks().to_vec();
        let producers: Vec<_> = ranks.iter().map(|&peer| job.producer(peer, rank)).collect();
        let consumers = ranks.iter().map(|&peer| job.consumer(rank, peer)).collect();
        let bells = ranks.iter().map(|&peer| job.bell_of(peer)).collect();
        let single_copy = SingleCopy::all_if(ranks.len() > shape.cores as usize);
        let place = job.placement().place_of(rank) as usize;
        let room = producers.first().map_or(0, |producer| producer.body_bytes_max() - FIRST_CELL_BYTES);
        Self {
            job,
            ranks,
            bells,
            place,
            producers,
            consumers,
            handover: Handover::default(),
            next: 0,
            current: None,
            tray: None,
            eager_bytes_max: EAGER_BYTES_MAX.min(room),
            piece_bytes_max: PIECE_BYTES_MAX.min(room),
            single_copy,
            can_invite: !process::is_under_valgrind(),
        }
    }

    /// Takes the way of long messages that the user forces, or the better one.
    pub fn choose(&mut self, forced: Option<Algorithm>, crowded: bool) {
        self.single_copy = which_once(forced, crowded);
    }

    /// The segment that all processes of this host see.
    pub(super) fn job(&self) -> &Job {
        &self.job
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
        let sent = push(&mut self.producers[place as usize], &mut self.handover, header, body, bytes);
        if sent {
            self.bells[place as usize].ring();
        }
        sent
    }

    /// Where in the ring to the process of a place the next packet will begin.
    pub(super) fn position_of_next(&self, place: u32) -> u64 {
        self.producers[place as usize].position()
    }

    /// The cards of the process of a place.
    pub(super) fn cards(&self, place: u32) -> [Card<'_>; CARDS] {
        self.job.cards(self.ranks[place as usize])
    }

    /// Invites the process of a place on a card that is not in use, to write the message that comes next from it, at a position of its ring.
    pub(super) fn invite(&self, place: u32, invitation: impl FnOnce(u64) -> Invitation) -> Option<usize> {
        let cards = self.cards(self.place as u32);
        let index = cards.iter().position(|card| self.can_invite && !card.is_in_use())?;
        cards[index].lay_out(&invitation(self.consumers[place as usize].position()));
        Some(index)
    }

    /// What goes through the shelf: messages that are worth it, and fit.
    pub(super) fn multicast_lengths() -> Multicast {
        Multicast { bytes_min: SHELF_BYTES_MIN, bytes_max: TRAY_BYTES as u64, bytes_per_receiver: 128 }
    }

    /// Puts a body on the shelf for the processes of `places`, and returns how many of them, from the first on, have been told.
    pub(super) fn multicast(
        &mut self,
        places: &[u32],
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> usize {
        let own = self.ranks[self.place];
        let Some(index) = (0..TRAYS).find(|&index| self.job.tray(own, index).0.is_free()) else { return 0 };
        let (tray, memory) = self.job.tray(own, index);
        if bytes > TRAY_BYTES {
            return 0;
        }
        self.handover.copy(body, memory, bytes);
        tray.lay_out(places.len() as u32);
        let (meta, head_bytes) = (header.kind as u32 | ON_SHELF, header.bytes());
        let tell = |place: &&u32| {
            self.producers[**place as usize].push(meta, head_bytes + 8, |cells| {
                header.write(cells);
                cells.offset(head_bytes as i64).store((index as u64 | (bytes as u64) << 32).to_le());
            })
        };
        let told = places.iter().take_while(tell).count();
        tray.give_back((places.len() - told) as u32);
        // Only now: who is woken may take this process's core.
        for &place in &places[..told] {
            self.bells[place as usize].ring();
        }
        told
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
                let incoming = incoming(self.ranks[place], packet.meta, packet.body, packet.body_bytes);
                return Some(if packet.meta & ON_SHELF == 0 { incoming } else { self.on_shelf(incoming) });
            }
        }
        None
    }

    /// The same packet with its body, which lies on the sender's shelf.
    #[inline(never)]
    fn on_shelf(&mut self, packet: Incoming) -> Incoming {
        let Incoming { peer, header, body } = packet;
        let word = match body {
            Body::Memory(place, 8) => u64::from_le(place.load()),
            _ => u64::MAX,
        };
        let (index, bytes) = ((word & 0xffff_ffff) as usize, (word >> 32) as usize);
        if index >= TRAYS || bytes > TRAY_BYTES {
            panic!(
                "a ring holds a packet of rank {peer} for tray {index}, {bytes} bytes: memory was overwritten"
            );
        }
        self.tray = Some(index);
        Incoming { peer, header, body: Body::Memory(self.job.tray(peer, index).1, bytes) }
    }

    /// Gives back the place of the packet that was received last; false when none of these was.
    #[inline]
    pub(super) fn release(&mut self) -> bool {
        let Some((place, packet)) = self.current.take() else { return false };
        if let Some(index) = self.tray.take() {
            self.job.tray(self.ranks[place], index).0.give_back(1);
        }
        if self.consumers[place].release(packet) {
            self.bells[place].ring();
        }
        true
    }

    pub(super) fn copy_across(&mut self, peer: u32, copy: impl FnOnce(u32) -> io::Result<()>) -> bool {
        if self.single_copy == SingleCopy::Never {
            return false;
        }
        let copied = copy(self.job.slot(peer).pid());
        if is_forbidden(&copied) {
            self.single_copy = SingleCopy::Never;
        }
        copied.is_ok()
    }
}

/// Which long messages are copied in one go, as the user forces, or as is better: with a core for each rank two copies that
/// overlap on two cores beat one copy on one, unless the other core has a message of its own to move; where ranks share cores, one
/// copy is less work and fewer wake-ups.
#[must_use]
pub fn which_once(forced: Option<Algorithm>, crowded: bool) -> SingleCopy {
    match forced {
        _ if !process::can_copy_between_processes() => SingleCopy::Never,
        Some(algorithm) => SingleCopy::all_if(algorithm == Algorithm::SingleCopy),
        None if crowded => SingleCopy::Always,
        None => SingleCopy::Crossing,
    }
}

/// Where the body of a packet lies in a ring: right behind the header, if that is still in the first cell, or else from the
/// second one on, so that whole cache lines are copied.
#[inline]
fn head_bytes(header_bytes: usize, packet_bytes: usize) -> usize {
    if packet_bytes > FIRST_CELL_BYTES { FIRST_CELL_BYTES } else { header_bytes }
}

/// Puts a packet in a ring; false when there is no room.
#[inline]
pub(super) fn push(
    producer: &mut Producer,
    handover: &mut Handover,
    header: &Header,
    body: UserMemory,
    bytes: usize,
) -> bool {
    let head_bytes = head_bytes(header.bytes(), header.bytes() + bytes);
    producer.push(header.kind as u32, head_bytes + bytes, |cells| {
        header.write(cells);
        handover.copy(body, cells.offset(head_bytes as i64), bytes);
    })
}

/// The packet of kind `kind` and of `bytes` bytes at `packet` that rank `peer` has put in a ring.
#[inline]
pub(super) fn incoming(peer: u32, kind: u32, packet: UserMemory, bytes: usize) -> Incoming {
    // What stands above the kind is for shelves.
    let header = Kind::from_number(kind as u8).and_then(|kind| Header::read(kind, packet, bytes));
    let Some(header) = header else {
        panic!(
            "a ring holds a packet of rank {peer} of kind {kind} and {bytes} bytes: memory was overwritten"
        )
    };
    let head_bytes = head_bytes(header.bytes(), bytes);
    let body = Body::Memory(packet.offset(head_bytes as i64), bytes - head_bytes);
    Incoming { peer, header, body }
}
#[cfg(test)]
mod tests {
    use super::*;
    use postrider_os::hosts::Placement;
    use postrider_os::job::{Shape, Transport};
    use postrider_os::memory::OwnedMemory;
    use rustix::io::Errno;

    const HEADER: Header = Header { kind: Kind::Eager, context: 7, source: 0, tag: 3, words: [0; 3] };

    fn host(ranks: u32) -> Vec<SharedMemory> {
        let shape = Shape { cores: 1, transport: Transport::SharedMemory, ring_bytes: 4096 };
        let job = Arc::new(Job::create(shape, &Placement::one_host(ranks), 0).unwrap());
        (0..ranks).map(|rank| SharedMemory::new(Arc::clone(&job), rank)).collect()
    }

    fn filled(bytes: usize, byte: u8) -> OwnedMemory {
        let mut memory = OwnedMemory::new(bytes);
        memory.as_mut_slice().fill(byte);
        memory
    }

    /// Takes a message, and says which byte it is full of, how long it is and where it lies.
    fn take(rank: &mut SharedMemory) -> Option<(u8, usize, usize)> {
        let Incoming { peer: 0, header: HEADER, body: Body::Memory(place, bytes) } = rank.receive()? else {
            panic!("another packet")
        };
        let mut content = vec![0; bytes];
        place.read(&mut content);
        assert!(content.iter().all(|byte| *byte == content[0]));
        Some((content[0], bytes, place.address()))
    }

    #[test]
    fn all_receivers_read_one_tray() {
        let mut ranks = host(4);
        let mut body = filled(TRAY_BYTES, 9);
        assert_eq!(ranks[0].multicast(&[3, 1, 2], &HEADER, UserMemory::of(&mut body), TRAY_BYTES), 3);
        let seen: Vec<_> = ranks[1..].iter_mut().map(take).collect();
        assert!(seen[0].is_some_and(|(byte, bytes, _)| (byte, bytes) == (9, TRAY_BYTES)));
        assert!(seen.iter().all(|one| *one == seen[0]));
    }

    #[test]
    fn a_full_shelf_leaves_all_receivers_to_the_caller() {
        let mut ranks = host(3);
        let send = |ranks: &mut [SharedMemory], byte| {
            let mut body = filled(2000, byte);
            ranks[0].multicast(&[1, 2], &HEADER, UserMemory::of(&mut body), 2000)
        };
        for tray in 0..TRAYS {
            assert_eq!(send(&mut ranks, tray as u8), 2);
        }
        assert_eq!(send(&mut ranks, 100), 0);
        // One of the two is not enough.
        for receiver in [1, 2] {
            assert_eq!(send(&mut ranks, 100), 0);
            assert_eq!(take(&mut ranks[receiver]).map(|(byte, ..)| byte), Some(0));
            ranks[receiver].release();
        }
        assert_eq!((send(&mut ranks, 101), send(&mut ranks, 102)), (2, 0));
        for expected in [1, 2, 3, 101] {
            assert_eq!(take(&mut ranks[2]).map(|(byte, ..)| byte), Some(expected));
            ranks[2].release();
        }
        assert_eq!(take(&mut ranks[2]), None);
    }

    #[test]
    fn who_has_no_room_in_a_ring_is_left_to_the_caller() {
        let mut ranks = host(4);
        let mut body = filled(2000, 1);
        let body = UserMemory::of(&mut body);
        while ranks[0].send(2, &HEADER, body, 0) {}
        assert_eq!(ranks[0].multicast(&[1, 2, 3], &HEADER, body, 2000), 1);
        assert_eq!(take(&mut ranks[1]).map(|(byte, bytes, _)| (byte, bytes)), Some((1, 2000)));
        assert_eq!(take(&mut ranks[3]), None);
        ranks[1].release();
        assert!((0..TRAYS).all(|index| ranks[0].job.tray(0, index).0.is_free()));
    }

    #[test]
    fn only_what_the_system_forbids_for_all_memory_ends_single_copies() {
        let failure = |error: Errno| move |_| Err(error.into());
        let mut ranks = host(2);
        for of_one_message in [Errno::FAULT, Errno::SRCH, Errno::NOMEM] {
            assert!(!ranks[0].copy_across(1, failure(of_one_message)));
            assert!(ranks[0].copy_across(1, |_| Ok(())), "error {of_one_message}");
        }
        for of_all in [Errno::PERM, Errno::NOSYS] {
            let rank = &mut host(2)[0];
            assert!(!rank.copy_across(1, failure(of_all)));
            assert_eq!(rank.limits().single_copy, SingleCopy::Never);
            assert!(!rank.copy_across(1, |_| panic!("it is tried again")));
        }
    }

    #[test]
    fn no_word_of_a_ring_is_trusted() {
        for word in [TRAYS as u64, u64::MAX, (TRAY_BYTES as u64 + 1) << 32] {
            let mut ranks = host(2);
            let (kind, bytes) = (HEADER.kind as u32 | ON_SHELF, HEADER.bytes());
            let sent = ranks[0].producers[1].push(kind, bytes + 8, |cells| {
                HEADER.write(cells);
                cells.offset(bytes as i64).store(word.to_le());
            });
            assert!(sent);
            let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take(&mut ranks[1])));
            assert!(taken.is_err(), "{word:#x}");
        }
    }
}
