//! Which algorithm a collective uses.
//!
//! The choice must be the same on all processes of a call, so that it may depend only on what all of them
//! know: the size of the communicator, how it is spread over hosts, bytes that the standard makes equal, and, on
//! one host, whether that is crowded (more ranks than cores). On a crowded host each message costs a context
//! switch, so that the fewest messages win as long as they are short, and among these the fewest waits.
//! Elsewhere the fewest rounds win for short messages, and the fewest bytes per process for long ones.
//!
//! Between hosts a message takes a hundred times as long as inside, and all processes of a host share one
//! way. The processes of a host then act together wherever that saves messages or bytes between hosts: always,
//! but for long blocks that everybody exchanges, gathers or scatters, which cross once either way, and which
//! the leader would only copy.
//!
//! An inter-communicator has one algorithm for each collective, so that there is nothing to choose.

use super::arguments::Place;
use super::spreading::Spreading;
use super::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};
use crate::Facts;

/// Broadcast: from here on a message is scattered and gathered, if there are enough processes to gain from
/// it.
pub const BROADCAST_LONG_BYTES: i64 = 512 * 1024;
/// Broadcast: the fewest processes for which a long message is cut into parts.
pub const BROADCAST_PARTS_SIZE_MIN: u32 = 8;
/// Gather and scatter: blocks up to this go along a tree.
pub const TREE_BLOCK_BYTES_MAX: i64 = 2 * 1024;
/// Reductions: from here on a vector is cut into parts.
pub const REDUCTION_LONG_BYTES: i64 = 16 * 1024;
/// Reductions on a crowded node: from here on a vector is cut into parts.
pub const REDUCTION_LONG_BYTES_CROWDED: i64 = 256 * 1024;
/// On a crowded node: the largest communicator in which everybody sends to one process directly.
pub const FLAT_SIZE_MAX: u32 = 64;
/// On a crowded node: the most bytes that one process is sent directly by all others.
pub const FLAT_BYTES_MAX: i64 = 64 * 1024;
/// Allgather: gathered data up to this is staged, to have fewer rounds.
pub const ALLGATHER_SHORT_BYTES: i64 = 64 * 1024;
/// Alltoall: blocks up to this travel together with others.
pub const ALLTOALL_TINY_BYTES: i64 = 256;
/// Alltoall: the fewest processes for which tiny blocks travel together.
pub const ALLTOALL_BRUCK_SIZE_MIN: u32 = 8;
/// Alltoall: from here on blocks travel to one peer after the other.
pub const ALLTOALL_LONG_BYTES: i64 = 32 * 1024;

/// Gather and scatter between hosts: blocks up to this travel with those of their node.
pub const GATHER_TOGETHER_BYTES_MAX: i64 = 32 * 1024;
/// Gather and scatter between hosts: the fewest nodes whose leaders pass on tiny blocks along a tree.
pub const GATHER_TREE_NODES_MIN: u32 = 16;
/// Alltoall between hosts: blocks up to this travel with others.
pub const ALLTOALL_TOGETHER_BYTES_MAX: i64 = 2 * 1024;

/// What the choice depends on, besides bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Number of processes.
    pub size: u32,
    /// More ranks than cores on the communicator's host.
    pub crowded: bool,
    /// Number of hosts of the communicator.
    pub hosts: u32,
    /// On one host: how a process tells the others what it has.
    pub spreading: Spreading,
}

/// What there is to save.
enum Aim {
    /// Rounds.
    Rounds,
    /// Messages.
    Messages,
    /// Messages, and waits.
    Waits,
}

impl Situation {
    /// Of a communicator. Processes of several hosts do not know each other's cores.
    pub fn of(place: Place, facts: &Facts) -> Self {
        let on_one_level = Self::on_one_level(place.size);
        match place.nodes {
            Some(nodes) => Self { hosts: nodes.count(), ..on_one_level },
            None => Self { crowded: facts.crowded, spreading: place.spreading, ..on_one_level },
        }
    }

    /// Where no process is nearer than another, and each has a core.
    pub fn on_one_level(size: u32) -> Self {
        Self { size, crowded: false, hosts: 1, spreading: Spreading::BINOMIAL }
    }

    /// Whether some process has another one nearby, and others far away.
    fn has_nodes(&self) -> bool {
        self.hosts > 1 && self.hosts < self.size
    }

    /// On a crowded node messages, and if everybody has only `bytes`, waits; with two processes there is
    /// nothing to save, as an exchange is two messages as well.
    fn aim(&self, bytes: i64) -> Aim {
        let at_one_process = bytes.saturating_mul(i64::from(self.size));
        match self.crowded && self.size > 2 {
            true if self.size <= FLAT_SIZE_MAX && at_one_process <= FLAT_BYTES_MAX => Aim::Waits,
            true => Aim::Messages,
            false => Aim::Rounds,
        }
    }

    fn is_long_reduction(&self, bytes: i64, count: i64) -> bool {
        let crowded = self.crowded && self.size > 2;
        let threshold = if crowded { REDUCTION_LONG_BYTES_CROWDED } else { REDUCTION_LONG_BYTES };
        bytes >= threshold && count >= i64::from(self.size)
    }
}

/// For `MPI_Barrier`.
pub fn barrier(situation: Situation) -> barrier::Algorithm {
    if situation.has_nodes() {
        return barrier::Algorithm::NodeAware;
    }
    match situation.aim(0) {
        Aim::Rounds => barrier::Algorithm::Dissemination,
        Aim::Messages => barrier::Algorithm::Tree,
        Aim::Waits => barrier::Algorithm::Flat,
    }
}

/// For `MPI_Bcast` of `bytes`.
pub fn broadcast(situation: Situation, bytes: i64) -> broadcast::Algorithm {
    if situation.has_nodes() {
        return broadcast::Algorithm::NodeAware;
    }
    if situation.spreading.is_flat(situation.size, bytes) {
        return broadcast::Algorithm::Flat;
    }
    let long = bytes >= BROADCAST_LONG_BYTES && situation.size >= BROADCAST_PARTS_SIZE_MIN;
    match long && !situation.crowded {
        false => broadcast::Algorithm::Binomial,
        true if situation.size.is_power_of_two() => broadcast::Algorithm::ScatterDoubling,
        true => broadcast::Algorithm::ScatterRing,
    }
}

/// For `MPI_Gather` of blocks of `block_bytes`.
pub fn gather(situation: Situation, block_bytes: i64) -> gather::Algorithm {
    if situation.has_nodes() && block_bytes <= GATHER_TOGETHER_BYTES_MAX {
        return match situation.hosts >= GATHER_TREE_NODES_MIN && block_bytes <= TREE_BLOCK_BYTES_MAX {
            true => gather::Algorithm::NodeAwareTree,
            false => gather::Algorithm::NodeAware,
        };
    }
    match block_bytes <= TREE_BLOCK_BYTES_MAX && !situation.crowded && situation.size > 2 {
        true => gather::Algorithm::Binomial,
        false => gather::Algorithm::Linear,
    }
}

/// For `MPI_Scatter` of blocks of `block_bytes`.
pub fn scatter(situation: Situation, block_bytes: i64) -> scatter::Algorithm {
    match gather(situation, block_bytes) {
        gather::Algorithm::Binomial => scatter::Algorithm::Binomial,
        gather::Algorithm::Linear => scatter::Algorithm::Linear,
        gather::Algorithm::NodeAware => scatter::Algorithm::NodeAware,
        gather::Algorithm::NodeAwareTree => scatter::Algorithm::NodeAwareTree,
    }
}

/// For `MPI_Allgather` and `MPI_Allgatherv`, whose blocks have `total_bytes` together.
pub fn allgather(situation: Situation, total_bytes: i64) -> allgather::Algorithm {
    if situation.has_nodes() {
        return allgather::Algorithm::NodeAware;
    }
    if total_bytes > ALLGATHER_SHORT_BYTES || situation.size <= 2 {
        return allgather::Algorithm::Ring;
    }
    match situation.aim(total_bytes / i64::from(situation.size)) {
        Aim::Rounds => allgather::Algorithm::Bruck,
        Aim::Messages => allgather::Algorithm::Tree,
        Aim::Waits => allgather::Algorithm::Flat,
    }
}

/// For `MPI_Alltoall` of blocks of `block_bytes`.
pub fn alltoall(situation: Situation, block_bytes: i64) -> alltoall::Algorithm {
    if situation.has_nodes() && block_bytes <= ALLTOALL_TOGETHER_BYTES_MAX {
        return alltoall::Algorithm::NodeAware;
    }
    if block_bytes >= ALLTOALL_LONG_BYTES {
        return alltoall::Algorithm::Pairwise;
    }
    match block_bytes <= ALLTOALL_TINY_BYTES && situation.size >= ALLTOALL_BRUCK_SIZE_MIN {
        true => alltoall::Algorithm::Bruck,
        false => alltoall::Algorithm::Linear,
    }
}

/// For `MPI_Alltoallv` and `MPI_Alltoallw`, where a process does not know the others' sizes.
pub fn alltoallv() -> alltoall::Algorithm {
    alltoall::Algorithm::Linear
}

/// For `MPI_Reduce` of `count` elements of together `bytes`.
pub fn reduce(situation: Situation, bytes: i64, count: i64) -> reduce::Algorithm {
    if situation.has_nodes() {
        return reduce::Algorithm::NodeAware;
    }
    if situation.is_long_reduction(bytes, count) && situation.size > 2 {
        return reduce::Algorithm::ReduceScatterGather;
    }
    match situation.aim(bytes) {
        Aim::Rounds | Aim::Messages => reduce::Algorithm::Binomial,
        Aim::Waits => reduce::Algorithm::Flat,
    }
}

/// For `MPI_Allreduce` of `count` elements of together `bytes`.
pub fn allreduce(situation: Situation, bytes: i64, count: i64) -> allreduce::Algorithm {
    if situation.has_nodes() {
        return allreduce::Algorithm::NodeAware;
    }
    if situation.is_long_reduction(bytes, count) {
        return match situation.size.is_power_of_two() {
            true => allreduce::Algorithm::RecursiveHalving,
            false => allreduce::Algorithm::Ring,
        };
    }
    match situation.aim(bytes) {
        Aim::Rounds => allreduce::Algorithm::RecursiveDoubling,
        Aim::Messages => allreduce::Algorithm::Tree,
        Aim::Waits => allreduce::Algorithm::Flat,
    }
}

/// For `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block` of a vector of `count` elements of together
/// `bytes`.
pub fn reduce_scatter(situation: Situation, bytes: i64, count: i64) -> reduce_scatter::Algorithm {
    if situation.has_nodes() {
        return reduce_scatter::Algorithm::NodeAware;
    }
    if situation.is_long_reduction(bytes, count) || situation.size == 2 {
        return reduce_scatter::Algorithm::Pairwise;
    }
    match situation.aim(bytes) {
        Aim::Rounds => reduce_scatter::Algorithm::RecursiveDoubling,
        Aim::Messages => reduce_scatter::Algorithm::Tree,
        Aim::Waits => reduce_scatter::Algorithm::Flat,
    }
}

/// For `MPI_Scan` and `MPI_Exscan`.
pub fn scan(situation: Situation) -> scan::Algorithm {
    if situation.has_nodes() {
        return scan::Algorithm::NodeAware;
    }
    match situation.crowded || situation.size <= 2 {
        true => scan::Algorithm::Chain,
        false => scan::Algorithm::Doubling,
    }
}
