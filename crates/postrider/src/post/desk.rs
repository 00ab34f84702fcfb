//! The post's side of one rank: a ring from it, a ring to it, and what has come for it and found no room.

use std::collections::VecDeque;
use std::sync::Arc;

use postrider_os::job::Job;
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::packet::{Head, label};
use postrider_os::ring::{Consumer, Packet, Producer};

/// The desk of one rank.
#[derive(Debug)]
pub struct Desk {
    job: Arc<Job>,
    rank: u32,
    from: Consumer,
    to: Producer,
    /// Labels and bodies of packets, in order.
    waiting: VecDeque<(u32, OwnedMemory)>,
}

/// A desk for each rank of this host; none when there are no rings.
pub fn all(job: &Arc<Job>) -> Vec<Desk> {
    let ranks = if job.has_post() { job.local_ranks() } else { &[] };
    let desk = |&rank: &u32| {
        let (from, to) = job.rank_ends(rank);
        Desk { job: Arc::clone(job), rank, from, to, waiting: VecDeque::new() }
    };
    ranks.iter().map(desk).collect()
}

impl Desk {
    /// The rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The oldest packet that the rank has sent.
    pub fn peek(&mut self) -> Option<Packet> {
        self.from.peek()
    }

    /// Takes the packet that [`Desk::peek`] has returned.
    pub fn take(&mut self, packet: Packet) {
        if self.from.release(packet) {
            self.job.doorbell(self.rank).ring();
        }
    }

    /// Lets the rank know that all it has sent has been taken.
    pub fn settle(&mut self) {
        if self.from.settle() {
            self.job.doorbell(self.rank).ring();
        }
    }

    /// Hands a packet from another host to the rank, or keeps it until there is room.
    pub fn deliver(&mut self, head: &Head, body: UserMemory) {
        let (label, bytes) = (label(head.kind, head.sender), head.bytes as usize);
        if !self.waiting.is_empty() || !self.push(label, body, bytes) {
            let mut kept = OwnedMemory::new(bytes);
            body.copy_to(UserMemory::of(&mut kept), bytes);
            self.waiting.push_back((label, kept));
        }
    }

    /// Hands over what has waited, as far as there is room; true when something was.
    pub fn hand_over(&mut self) -> bool {
        let before = self.waiting.len();
        while let Some((label, mut body)) = self.waiting.pop_front() {
            if !self.push(label, UserMemory::of(&mut body), body.len()) {
                self.waiting.push_front((label, body));
                break;
            }
        }
        self.waiting.len() < before
    }

    /// Whether ranks may read links themselves, as far as this one is concerned: all that has come for it lies in its ring, and
    /// it is awake. A rank that sleeps waits for what only the post would bring it.
    pub fn may_do_without(&self) -> bool {
        self.waiting.is_empty() && !self.job.doorbell(self.rank).is_asleep()
    }

    /// Whether a packet of so many bytes fits into the ring at all.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.to.body_bytes_max()
    }

    fn push(&mut self, label: u32, body: UserMemory, bytes: usize) -> bool {
        let pushed = self.to.push(label, bytes, |cells| body.copy_to(cells, bytes));
        if pushed {
            self.job.doorbell(self.rank).ring();
        }
        pushed
    }
}
