//! The post's side of one rank: a ring from it, a ring to it, and what has come for it and found no room.

use std::collections::VecDeque;
use std::sync::Arc;

use postrider_os::job::Job;
use postrider_os::packet::{Head, WINDOW_BYTES, label};
use postrider_os::ring::{Consumer, Packet, Producer};

/// What each packet that waits counts besides its bytes.
const PACKET_BYTES: u64 = 8;

/// The desk of one rank.
#[derive(Debug)]
pub struct Desk {
    job: Arc<Job>,
    rank: u32,
    from: Consumer,
    to: Producer,
    /// Labels and bodies of packets, in order.
    waiting: VecDeque<(u32, Vec<u8>)>,
    waiting_bytes: u64,
}

/// A desk for each rank of this host; none when there are no rings.
pub fn all(job: &Arc<Job>) -> Vec<Desk> {
    let ranks = if job.has_post() { job.local_ranks() } else { &[] };
    let desk = |&rank: &u32| {
        let (from, to) = job.rank_ends(rank);
        Desk { job: Arc::clone(job), rank, from, to, waiting: VecDeque::new(), waiting_bytes: 0 }
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

    /// Hands a packet from another host to the rank, or keeps it until there is room. False when others have sent more than their
    /// windows let them, which is not kept.
    pub fn deliver(&mut self, head: &Head, body: &[u8]) -> bool {
        let label = label(head.kind, head.sender);
        if self.waiting.is_empty() && self.push(label, body) {
            return true;
        }
        self.waiting_bytes += body.len() as u64 + PACKET_BYTES;
        self.waiting.push_back((label, body.to_vec()));
        // Credits need no window, and are never more than the packets that they are for.
        let windows = u64::from(self.job.placement().ranks()) * 2 * WINDOW_BYTES;
        self.waiting_bytes <= windows
    }

    /// Hands over what has waited, as far as there is room; true when something was.
    pub fn hand_over(&mut self) -> bool {
        let before = self.waiting.len();
        while let Some((label, body)) = self.waiting.pop_front() {
            if !self.push(label, &body) {
                self.waiting.push_front((label, body));
                break;
            }
            self.waiting_bytes -= body.len() as u64 + PACKET_BYTES;
        }
        self.waiting.len() < before
    }

    /// Whether a packet of so many bytes fits into the ring at all.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.to.body_bytes_max()
    }

    fn push(&mut self, label: u32, body: &[u8]) -> bool {
        let pushed = self.to.push(label, body.len(), |cells| cells.write(body));
        if pushed {
            self.job.doorbell(self.rank).ring();
        }
        pushed
    }
}
