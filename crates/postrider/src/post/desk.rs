//! The post's side of one rank, or of one guest: a ring from it, a ring to it, and what has come for it and found no room.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use postrider_os::bridge::Bridge;
use postrider_os::job::Job;
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::packet::{KEPT_BYTES_MAX, WINDOW_BYTES, label, of_label};
use postrider_os::ring::{Consumer, Packet, Producer};

/// All guests of other hosts together may have so much waiting for one rank: their numbers are not known beforehand, so that a host could make up any.
const GUESTS_BYTES_MAX: u64 = 64 * WINDOW_BYTES;
/// What each packet that waits counts besides its bytes.
const PACKET_BYTES: u64 = 8;

/// The desk of one rank or guest.
#[derive(Debug)]
pub struct Desk {
    number: u32,
    /// Where its doorbell is: its job, and its rank there.
    owner: (Arc<Job>, u32),
    from: Consumer,
    to: Producer,
    /// Labels and bodies of packets, in order.
    waiting: VecDeque<(u32, OwnedMemory)>,
    /// Bytes that wait, of each sender, and of all.
    waiting_bytes: BTreeMap<u32, u64>,
    /// The sum of those that are guests'.
    guests_bytes: u64,
    kept_bytes: u64,
    /// Whether so many wait that others have been told to stop.
    stopped: bool,
    /// Keeps a guest's rings mapped.
    _bridge: Option<Bridge>,
}

/// A desk for each rank of this host; none when there are no rings.
pub fn all(job: &Arc<Job>) -> Vec<Desk> {
    let ranks = if job.has_post() { job.local_ranks() } else { &[] };
    let desk = |&rank: &u32| {
        let (from, to) = job.rank_ends(rank);
        Desk::new(rank, (Arc::clone(job), rank), from, to, None)
    };
    ranks.iter().map(desk).collect()
}

impl Desk {
    /// The desk of rank or guest `number`, whose doorbell is that of `owner`.
    pub fn new(
        number: u32,
        owner: (Arc<Job>, u32),
        from: Consumer,
        to: Producer,
        bridge: Option<Bridge>,
    ) -> Self {
        Self {
            number,
            owner,
            from,
            to,
            waiting: VecDeque::new(),
            waiting_bytes: BTreeMap::new(),
            guests_bytes: 0,
            kept_bytes: 0,
            stopped: false,
            _bridge: bridge,
        }
    }

    /// The rank or guest.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Wakes the rank or guest: something that it may wait for has happened.
    pub fn ring(&self) {
        self.owner.0.doorbell(self.owner.1).ring();
    }

    /// The oldest packet that it has sent.
    pub fn peek(&mut self) -> Option<Packet> {
        self.from.peek()
    }

    /// Takes the packet that [`Desk::peek`] has returned.
    pub fn take(&mut self, packet: Packet) {
        if self.from.release(packet) {
            self.ring();
        }
    }

    /// Lets the rank know that all it has sent has been taken.
    pub fn settle(&mut self) {
        if self.from.settle() {
            self.ring();
        }
    }

    /// Hands over a packet of kind `kind` from `sender`, or keeps it until there is room. False when the sender has sent more than its
    /// window lets it, which is not kept.
    pub fn deliver(&mut self, kind: u8, sender: u32, body: UserMemory, bytes: usize) -> bool {
        let label = label(kind, sender);
        if self.waiting.is_empty() && self.push(label, body, bytes) {
            return true;
        }
        let more = bytes as u64 + PACKET_BYTES;
        let waiting = self.waiting_bytes.entry(sender).or_default();
        *waiting += more;
        // Credits need no window, and are never more than the packets that they are for.
        if *waiting > 2 * WINDOW_BYTES {
            return false;
        }
        if self.is_guest(sender) {
            self.guests_bytes += more;
            if self.guests_bytes > GUESTS_BYTES_MAX {
                return false;
            }
        }
        self.kept_bytes += more;
        let mut kept = OwnedMemory::new(bytes);
        body.copy_to(UserMemory::of(&mut kept), bytes);
        self.waiting.push_back((label, kept));
        true
    }

    /// Hands over what has waited, as far as there is room; true when something was.
    pub fn hand_over(&mut self) -> bool {
        let before = self.waiting.len();
        while let Some((label, mut body)) = self.waiting.pop_front() {
            if !self.push(label, UserMemory::of(&mut body), body.len()) {
                self.waiting.push_front((label, body));
                break;
            }
            let sender = of_label(label).1;
            self.kept_bytes -= body.len() as u64 + PACKET_BYTES;
            if let Some(waiting) = self.waiting_bytes.get_mut(&sender) {
                *waiting -= body.len() as u64 + PACKET_BYTES;
                // A host may make up numbers of guests without end.
                if *waiting == 0 {
                    self.waiting_bytes.remove(&sender);
                }
            }
            if self.is_guest(sender) {
                self.guests_bytes -= body.len() as u64 + PACKET_BYTES;
            }
        }
        self.waiting.len() < before
    }

    /// Whether nobody is to send it anything.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Looks whether more waits than the share of one of `ranks` ranks, or little enough again; true when that has changed.
    pub fn weigh(&mut self, ranks: usize) -> bool {
        let share = KEPT_BYTES_MAX / ranks.max(1) as u64;
        // Those who go on when half of it is gone have sent more before the rest is.
        let stopped = self.kept_bytes > if self.stopped { share / 2 } else { share };
        std::mem::replace(&mut self.stopped, stopped) != stopped
    }

    /// Whether ranks may read links themselves, as far as this one is concerned: all that has come for it lies in its ring, and
    /// it is awake. A rank that sleeps waits for what only the post would bring it.
    pub fn may_do_without(&self) -> bool {
        self.waiting.is_empty() && !self.owner.0.doorbell(self.owner.1).is_asleep()
    }

    /// Whether a packet of so many bytes fits into the ring at all.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.to.body_bytes_max()
    }

    fn is_guest(&self, sender: u32) -> bool {
        sender >= self.owner.0.placement().ranks()
    }

    fn push(&mut self, label: u32, body: UserMemory, bytes: usize) -> bool {
        let pushed = self.to.push(label, bytes, |cells| body.copy_to(cells, bytes));
        if pushed {
            self.ring();
        }
        pushed
    }
}
