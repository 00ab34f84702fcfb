//! `MPI_Barrier` (MPI 5.0, section 6.3).

use super::arguments::{InterPlace, Place, local, remote};
use super::schedule::{Schedule, Span};
use super::tree::{self, Binomial, log2_ceil};

/// How a barrier is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// In round k everybody tells the process 2^k above it: ceil(log2 n) rounds of n messages.
    Dissemination,
    /// To rank 0 and back along a binomial tree: 2(n - 1) messages, the fewest possible.
    Tree,
}

impl Algorithm {
    /// All of them.
    pub const ALL: &[Algorithm] = &[Algorithm::Dissemination, Algorithm::Tree];
}

/// The barrier of an intra-communicator.
pub fn barrier(algorithm: Algorithm, place: Place) -> Schedule {
    let levels = log2_ceil(place.size);
    let mut schedule = Schedule::with_capacity(2 * levels as usize + 2);
    match algorithm {
        Algorithm::Dissemination => {
            for level in 0..levels {
                schedule.receive(local(place.below(1 << level)), Span::EMPTY);
                schedule.send(local(place.above(1 << level)), Span::EMPTY);
                schedule.end_round();
            }
        }
        Algorithm::Tree => {
            let tree = Binomial::new(place, 0);
            tree::notify(&mut schedule, &tree);
            tree::broadcast(&mut schedule, &tree, Span::EMPTY);
        }
    }
    schedule
}

/// The barrier of an inter-communicator: each group gathers at its rank 0, these two meet, and each group is released.
pub fn inter(place: InterPlace) -> Schedule {
    let tree = Binomial::new(place.local, 0);
    let mut schedule = Schedule::with_capacity(2 * log2_ceil(place.local.size) as usize + 4);
    tree::notify(&mut schedule, &tree);
    if place.local.rank == 0 {
        schedule.receive(remote(0), Span::EMPTY);
        schedule.send(remote(0), Span::EMPTY);
        schedule.end_round();
    }
    tree::broadcast(&mut schedule, &tree, Span::EMPTY);
    schedule
}
