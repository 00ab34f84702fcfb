//! `MPI_Barrier` (MPI 5.0, section 6.3).

use super::arguments::{InterPlace, Place, local, remote};
use super::nodes::Seat;
use super::schedule::{Schedule, Span};
use super::tree::{self, Tree, log2_ceil};

algorithms! {
    /// How a barrier is done.
    {
        /// In round k everybody tells the process 2^k above it: ceil(log2 n) rounds of n messages.
        Dissemination = "dissemination",
        /// To rank 0 along a binomial tree, and back as results spread: 2(n - 1) messages, the fewest possible.
        Tree = "tree",
        /// Everybody sends to rank 0, and the news comes back as results spread: as many messages as
        /// the tree, but nobody has to wait twice, which on a crowded node counts for more than the depth.
        Flat = "flat",
        /// Nodes gather at their leaders, these meet by dissemination, and release their nodes. On one host
        /// the same as tree.
        NodeAware = "node-aware",
    }
}

/// The barrier of an intra-communicator.
pub fn barrier(algorithm: Algorithm, place: Place) -> Schedule {
    let levels = log2_ceil(place.size);
    let mut schedule = Schedule::with_capacity(2 * levels as usize + 2);
    match (algorithm, place.nodes) {
        (Algorithm::Dissemination, _) => disseminate(&mut schedule, place),
        (Algorithm::NodeAware, Some(nodes)) => {
            let seat = Seat::rootless(nodes, place.rank);
            seat.in_node(&mut schedule, |schedule| tree::notify(schedule, &Tree::flat(seat.inside(), 0)));
            seat.among_leaders(&mut schedule, |schedule| disseminate(schedule, seat.outside()));
            seat.spread(&mut schedule, Span::EMPTY, 0);
        }
        (Algorithm::Tree | Algorithm::NodeAware, _) => {
            there_and_back(&mut schedule, place, &Tree::binomial(place, 0));
        }
        (Algorithm::Flat, _) => there_and_back(&mut schedule, place, &Tree::flat(place, 0)),
    }
    schedule
}

fn disseminate(schedule: &mut Schedule, place: Place) {
    for level in 0..log2_ceil(place.size) {
        schedule.receive(local(place.below(1 << level)), Span::EMPTY);
        schedule.send(local(place.above(1 << level)), Span::EMPTY);
        schedule.end_round();
    }
}

fn there_and_back(schedule: &mut Schedule, place: Place, there: &Tree) {
    tree::notify(schedule, there);
    tree::broadcast(schedule, &place.spreading.tree(place, 0, 0), Span::EMPTY);
}

/// The barrier of an inter-communicator: each group gathers at its rank 0, these two meet, and each group is
/// released.
pub fn inter(place: InterPlace) -> Schedule {
    let tree = Tree::binomial(place.local, 0);
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
