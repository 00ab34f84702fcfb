//! Which algorithm a collective uses: what the table says ([`table`]), and what a call must have for it.
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
use super::table::{self, Where};
use super::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};
use crate::Facts;

/// What the choice depends on, besides bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Number of processes.
    pub size: u32,
    /// On one host: more ranks than cores there.
    pub crowded: bool,
    /// Number of hosts of the communicator.
    pub hosts: u32,
    /// On one host: how a process tells the others what it has.
    pub spreading: Spreading,
}

impl Situation {
    /// Of a communicator. Processes of several hosts do not know each other's cores.
    pub fn of(place: Place, facts: &Facts) -> Self {
        let on_one_level = Self::on_one_level(place.size);
        match place.nodes {
            Some(nodes) => Self { hosts: nodes.count(), ..on_one_level },
            None => Self { crowded: facts.crowded, hosts: 1, spreading: place.spreading, ..on_one_level },
        }
    }

    /// Where no process is nearer than another, as if each had a host of its own.
    pub fn on_one_level(size: u32) -> Self {
        Self { size, crowded: false, hosts: size, spreading: Spreading::BINOMIAL }
    }

    /// Whether some process has another one nearby, and others far away.
    fn has_nodes(&self) -> bool {
        self.hosts > 1 && self.hosts < self.size
    }

    /// Whether the rows of a place are for this communicator.
    pub fn is_at(&self, place: Where) -> bool {
        match place {
            Where::Hosts => self.has_nodes(),
            Where::Files => self.hosts == 1 && self.spreading.multicast.takes(0),
            Where::Crowded => self.hosts == 1 && self.crowded,
            Where::Cores => self.hosts == 1 && !self.crowded,
            Where::Elsewhere => true,
        }
    }
}

/// Whether a vector of `count` elements can be cut into parts for all.
fn is_divisible(situation: &Situation, count: i64) -> bool {
    count >= i64::from(situation.size)
}

/// For `MPI_Barrier`.
pub fn barrier(situation: Situation) -> barrier::Algorithm {
    table::find(table::BARRIER, &situation, 0, |_| true)
}

/// For `MPI_Bcast` of `bytes`.
pub fn broadcast(situation: Situation, bytes: i64) -> broadcast::Algorithm {
    if !situation.has_nodes() && situation.spreading.is_flat(situation.size, bytes) {
        return broadcast::Algorithm::Flat;
    }
    match table::find(table::BROADCAST, &situation, bytes, |_| true) {
        broadcast::Algorithm::ScatterDoubling if !situation.size.is_power_of_two() => {
            broadcast::Algorithm::ScatterRing
        }
        found => found,
    }
}

/// For `MPI_Gather` of blocks of `block_bytes`.
pub fn gather(situation: Situation, block_bytes: i64) -> gather::Algorithm {
    table::find(table::GATHER, &situation, block_bytes, |_| true)
}

/// For `MPI_Scatter` of blocks of `block_bytes`.
pub fn scatter(situation: Situation, block_bytes: i64) -> scatter::Algorithm {
    table::find(table::SCATTER, &situation, block_bytes, |_| true)
}

/// For `MPI_Allgather` and `MPI_Allgatherv`, whose blocks have `total_bytes` together.
pub fn allgather(situation: Situation, total_bytes: i64) -> allgather::Algorithm {
    table::find(table::ALLGATHER, &situation, total_bytes, |_| true)
}

/// For `MPI_Alltoall` of blocks of `block_bytes`.
pub fn alltoall(situation: Situation, block_bytes: i64) -> alltoall::Algorithm {
    table::find(table::ALLTOALL, &situation, block_bytes, |_| true)
}

/// For `MPI_Alltoallv` and `MPI_Alltoallw`, where a process does not know the others' sizes.
pub fn alltoallv() -> alltoall::Algorithm {
    alltoall::Algorithm::Linear
}

/// For `MPI_Reduce` of `count` elements of together `bytes`.
pub fn reduce(situation: Situation, bytes: i64, count: i64) -> reduce::Algorithm {
    table::find(table::REDUCE, &situation, bytes, |algorithm| {
        algorithm != reduce::Algorithm::ReduceScatterGather || is_divisible(&situation, count)
    })
}

/// For `MPI_Allreduce` of `count` elements of together `bytes`.
pub fn allreduce(situation: Situation, bytes: i64, count: i64) -> allreduce::Algorithm {
    let found = table::find(table::ALLREDUCE, &situation, bytes, |algorithm| {
        let cuts = matches!(algorithm, allreduce::Algorithm::RecursiveHalving | allreduce::Algorithm::Ring);
        !cuts || is_divisible(&situation, count)
    });
    match found {
        allreduce::Algorithm::RecursiveHalving if !situation.size.is_power_of_two() => {
            allreduce::Algorithm::Ring
        }
        found => found,
    }
}

/// For `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block` of a vector of `count` elements of together
/// `bytes`.
pub fn reduce_scatter(situation: Situation, bytes: i64) -> reduce_scatter::Algorithm {
    table::find(table::REDUCE_SCATTER, &situation, bytes, |_| true)
}

/// For `MPI_Scan` and `MPI_Exscan`.
pub fn scan(situation: Situation) -> scan::Algorithm {
    table::find(table::SCAN, &situation, 0, |_| true)
}
