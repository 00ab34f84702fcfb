//! Which algorithm a collective uses.
//!
//! The choice must be the same on all processes of a call, so that it may depend only on what all of them know: the size
//! of the communicator, bytes that the standard makes equal, and whether the node is crowded (more ranks than cores). On a
//! crowded node each message costs a context switch, so that the fewest messages win as long as they are short; else the
//! fewest rounds win for short messages, and the fewest bytes per process for long ones.
//!
//! Groups that share the algorithms share the thresholds below; all are bytes of the quantity that the function names.

use super::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};

/// Broadcast: from here on a message is scattered and gathered, if there are enough processes to gain from it.
pub const BROADCAST_LONG_BYTES: i64 = 512 * 1024;
/// Broadcast: the fewest processes for which a long message is cut into parts.
pub const BROADCAST_PARTS_SIZE_MIN: u32 = 8;
/// Gather and scatter: blocks up to this go along a tree.
pub const TREE_BLOCK_BYTES_MAX: i64 = 2 * 1024;
/// Reductions: from here on a vector is cut into parts.
pub const REDUCTION_LONG_BYTES: i64 = 16 * 1024;
/// Reductions on a crowded node: from here on a vector is cut into parts.
pub const REDUCTION_LONG_BYTES_CROWDED: i64 = 256 * 1024;
/// Allgather: gathered data up to this is staged, to have fewer rounds.
pub const ALLGATHER_SHORT_BYTES: i64 = 64 * 1024;
/// Alltoall: blocks up to this travel together with others.
pub const ALLTOALL_TINY_BYTES: i64 = 256;
/// Alltoall: the fewest processes for which tiny blocks travel together.
pub const ALLTOALL_BRUCK_SIZE_MIN: u32 = 8;
/// Alltoall: from here on blocks travel to one peer after the other.
pub const ALLTOALL_LONG_BYTES: i64 = 32 * 1024;

/// What the choice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Number of processes.
    pub size: u32,
    /// More ranks than cores on a node of the communicator.
    pub crowded: bool,
}

impl Situation {
    /// On a crowded node with two processes there is nothing to save: an exchange is two messages as well.
    fn counts_messages(&self) -> bool {
        self.crowded && self.size > 2
    }

    fn is_long_reduction(&self, bytes: i64, count: i64) -> bool {
        let threshold =
            if self.counts_messages() { REDUCTION_LONG_BYTES_CROWDED } else { REDUCTION_LONG_BYTES };
        bytes >= threshold && count >= i64::from(self.size)
    }
}

/// For `MPI_Barrier`.
pub fn barrier(situation: Situation) -> barrier::Algorithm {
    match situation.counts_messages() {
        true => barrier::Algorithm::Tree,
        false => barrier::Algorithm::Dissemination,
    }
}

/// For `MPI_Bcast` of `bytes`.
pub fn broadcast(situation: Situation, bytes: i64) -> broadcast::Algorithm {
    let long = bytes >= BROADCAST_LONG_BYTES && situation.size >= BROADCAST_PARTS_SIZE_MIN;
    match long && !situation.crowded {
        false => broadcast::Algorithm::Binomial,
        true if situation.size.is_power_of_two() => broadcast::Algorithm::ScatterDoubling,
        true => broadcast::Algorithm::ScatterRing,
    }
}

/// For `MPI_Gather` of blocks of `block_bytes`.
pub fn gather(situation: Situation, block_bytes: i64) -> gather::Algorithm {
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
    }
}

/// For `MPI_Allgather` and `MPI_Allgatherv`, whose blocks have `total_bytes` together.
pub fn allgather(situation: Situation, total_bytes: i64) -> allgather::Algorithm {
    match total_bytes <= ALLGATHER_SHORT_BYTES && situation.size > 2 {
        true if situation.counts_messages() => allgather::Algorithm::Tree,
        true => allgather::Algorithm::Bruck,
        false => allgather::Algorithm::Ring,
    }
}

/// For `MPI_Alltoall` of blocks of `block_bytes`.
pub fn alltoall(situation: Situation, block_bytes: i64) -> alltoall::Algorithm {
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
    match situation.is_long_reduction(bytes, count) && situation.size > 2 {
        true => reduce::Algorithm::ReduceScatterGather,
        false => reduce::Algorithm::Binomial,
    }
}

/// For `MPI_Allreduce` of `count` elements of together `bytes`.
pub fn allreduce(situation: Situation, bytes: i64, count: i64) -> allreduce::Algorithm {
    match situation.is_long_reduction(bytes, count) {
        true if situation.size.is_power_of_two() => allreduce::Algorithm::RecursiveHalving,
        true => allreduce::Algorithm::Ring,
        false if situation.counts_messages() => allreduce::Algorithm::Tree,
        false => allreduce::Algorithm::RecursiveDoubling,
    }
}

/// For `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block` of a vector of `count` elements of together `bytes`.
pub fn reduce_scatter(situation: Situation, bytes: i64, count: i64) -> reduce_scatter::Algorithm {
    match situation.is_long_reduction(bytes, count) || situation.size == 2 {
        true => reduce_scatter::Algorithm::Pairwise,
        false if situation.counts_messages() => reduce_scatter::Algorithm::Tree,
        false => reduce_scatter::Algorithm::RecursiveDoubling,
    }
}

/// For `MPI_Scan` and `MPI_Exscan`.
pub fn scan(situation: Situation) -> scan::Algorithm {
    match situation.crowded || situation.size <= 2 {
        true => scan::Algorithm::Chain,
        false => scan::Algorithm::Doubling,
    }
}
