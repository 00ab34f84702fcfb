//! A queue of processes: each swaps itself into the tail, and tells the one before it whom to wake (MCS, over one-sided
//! communication). Taking it when it is free is one operation, and so is giving it back; otherwise two and one message.
//!
//! Mellor-Crummey and Scott wait for a successor that has taken its place in the queue, but has not said so yet. Nobody
//! waits here: who leaves swaps `LEFT` into its own slot, and if the successor comes later, it finds that, and has the
//! lock, and clears the slot. So that it can come late, each member has two slots and uses them in turn: it does not come to
//! the front of the queue with the second before the successor has had the lock.

use postrider_client::Place;

use super::fabric::Fabric;
use crate::error::Result;

/// What a slot has instead of a process to wake: its owner has left.
const LEFT: i64 = -1;

/// How many numbers a member has, from [`Member::slots`] on.
pub const SLOTS: usize = 2;

/// Where the end of a queue is kept, and which channel its members are woken by.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// The last member's slot, or 0.
    pub tail: Place,
    /// The channel.
    pub channel: i32,
}

/// A member of a queue: a process, or several that are never in it at the same time.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The first of its slots.
    pub slots: Place,
    /// The slot whose turn it is: 0 or 1.
    pub turn: usize,
}

impl Member {
    fn slot(self) -> Place {
        Place { index: self.slots.index + self.turn, ..self.slots }
    }

    /// With the other slot, for the next time.
    pub fn turned(self) -> Self {
        Self { turn: 1 - self.turn, ..self }
    }
}

/// A slot as a number that is not 0.
fn encode(slot: Place) -> i64 {
    (i64::from(slot.rank) << 32 | slot.index as i64) + 1
}

fn decode(number: i64) -> Place {
    let number = number - 1;
    Place { rank: (number >> 32) as i32, index: (number & 0xffff_ffff) as usize }
}

impl Queue {
    /// Takes the lock. Returns what the one before has handed over with it, if it has handed it over.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn acquire(&self, fabric: &impl Fabric, member: Member) -> Result<Option<i64>> {
        let before = fabric.swap(self.tail, encode(member.slot()))?;
        if before == 0 {
            return Ok(None);
        }
        let before = decode(before);
        if fabric.swap(before, i64::from(fabric.rank()) + 1)? == LEFT {
            fabric.swap(before, 0)?;
            return Ok(None);
        }
        fabric.wait(self.channel).map(Some)
    }

    /// Gives the lock back, or hands it with `gift` to whoever is next.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn release(&self, fabric: &impl Fabric, member: Member, gift: i64) -> Result<()> {
        let own = encode(member.slot());
        if fabric.compare_and_swap(self.tail, own, 0)? == own {
            return Ok(());
        }
        match fabric.swap(member.slot(), LEFT)? {
            0 => Ok(()),
            next => {
                fabric.swap(member.slot(), 0)?;
                fabric.wake((next - 1) as i32, self.channel, gift)
            }
        }
    }

    /// Whether somebody waits to be woken by this member, who has the lock.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn has_next(&self, fabric: &impl Fabric, member: Member) -> Result<bool> {
        Ok(fabric.compare_and_swap(member.slot(), 0, 0)? != 0)
    }
}
