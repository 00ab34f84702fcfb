//! A queue for each node, and one of the nodes: a lock that processes of a node pass on among themselves, so that it leaves
//! the node only when nobody waits there, or when it has been passed on a number of times (a cohort lock).

use postrider_client::Place;

use super::fabric::Fabric;
use super::queue::{Member, Queue, SLOTS};
use crate::error::Result;

/// How often a node passes the lock on before another one gets it, if one waits.
const PASSES_MAX: i64 = 64;

/// How many numbers it has at each process.
pub const NUMBERS: usize = 1 + 1 + 2 * SLOTS + 1;

/// A member of the tree.
#[derive(Debug)]
pub struct Tree {
    /// Of the nodes; its members are nodes, whose slots are at their leaders.
    nodes: Queue,
    /// Of this node's processes.
    own: Queue,
    member: Member,
    /// The node's slots in the queue of nodes.
    slots: Place,
    /// Which of them is next: a number at the leader that only the holder of the node's queue uses.
    turn: Place,
    /// How often the node has passed the lock on, while this process has it.
    passes: i64,
}

impl Tree {
    /// The tree whose numbers begin at `base` everywhere; `leader` is the first process of this node. It uses two channels from
    /// `channel` on.
    pub fn new(rank: i32, leader: i32, base: usize, channel: i32) -> Self {
        let at = |rank, index| Place { rank, index: base + index };
        Self {
            nodes: Queue { tail: at(0, 0), channel },
            own: Queue { tail: at(leader, 1), channel: channel + 1 },
            member: Member { slots: at(rank, 2), turn: 0 },
            slots: at(leader, 2 + SLOTS),
            turn: at(leader, 2 + 2 * SLOTS),
            passes: 0,
        }
    }

    fn node(&self, fabric: &impl Fabric) -> Result<Member> {
        let turn = fabric.compare_and_swap(self.turn, 0, 0)? as usize;
        Ok(Member { slots: self.slots, turn })
    }

    /// Takes the lock.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn acquire(&mut self, fabric: &impl Fabric) -> Result<()> {
        // What is handed over is how often the lock has been, or 0 if the node does not have it.
        self.passes = self.own.acquire(fabric, self.member)?.unwrap_or(0);
        if self.passes == 0 {
            self.nodes.acquire(fabric, self.node(fabric)?)?;
        }
        Ok(())
    }

    /// Gives it back.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn release(&mut self, fabric: &impl Fabric) -> Result<()> {
        let stays = self.passes < PASSES_MAX && self.own.has_next(fabric, self.member)?;
        if !stays {
            let node = self.node(fabric)?;
            self.nodes.release(fabric, node, 0)?;
            fabric.swap(self.turn, node.turned().turn as i64)?;
        }
        let gift = if stays { self.passes + 1 } else { 0 };
        self.own.release(fabric, self.member, gift)?;
        self.member = self.member.turned();
        Ok(())
    }
}
