//! `MPI_Allreduce` (MPI 5.0, section 6.9.6). Every algorithm gives all processes the same bits.

use super::arguments::{InterPlace, Place, local, remote};
use super::nodes::Seat;
use super::reduction::{self, Accumulator, Folded, Range, Reduction, Vector};
use super::schedule::{Buffer, Schedule};
use super::select::{self, Situation};
use super::tree::{self, Tree, log2_ceil};

algorithms! {
    /// How a reduction to all is done.
    {
        /// Whole vectors, ceil(log2 n) rounds: for short ones.
        RecursiveDoubling = "recursive-doubling",
        /// Recursive halving and back (Rabenseifner): for long vectors if the size is a power of two.
        RecursiveHalving = "recursive-halving",
        /// Pairwise exchange, then a ring: for long vectors and any size; 2(n - 1) rounds.
        Ring = "ring",
        /// To rank 0 along a binomial tree, and back as results spread: 2(n - 1) messages, the fewest possible.
        Tree = "tree",
        /// Everybody sends to rank 0, and the result comes back as results spread: as many messages as
        /// the tree, but nobody has to wait twice, which on a crowded node counts for more than the depth.
        Flat = "flat",
        /// Nodes reduce to their leaders, these to all of them, and each tells its node. On one host, or if
        /// the operator is not commutative and the ranks of a host do not follow one another, as on one
        /// host.
        NodeAware = "node-aware",
    }
}

/// The reduction to all of an intra-communicator.
pub fn allreduce(algorithm: Algorithm, place: Place, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(4 * log2_ceil(place.size) as usize + 4);
    if reduction.bytes() == 0 {
        return schedule;
    }
    let mut held = Accumulator::whole(&reduction, true);
    let level = |size| select::allreduce(Situation::on_one_level(size), reduction.bytes(), reduction.count);
    match (algorithm, reduction.nodes(place)) {
        (Algorithm::NodeAware, Some(nodes)) => {
            let seat = Seat::rootless(nodes, place.rank);
            reduction::to_leader(&mut schedule, &seat, &mut held);
            seat.among_leaders(&mut schedule, |schedule| {
                on_one_level(schedule, level(nodes.count()), seat.outside(), &reduction, held);
            });
            schedule.end_round();
            seat.spread(&mut schedule, reduction.output().span(reduction.whole()), reduction.bytes());
        }
        (Algorithm::NodeAware, None) => {
            on_one_level(&mut schedule, level(place.size), place, &reduction, held);
        }
        _ => on_one_level(&mut schedule, algorithm, place, &reduction, held),
    }
    schedule
}

/// Without regard to hosts: everybody gets the reduction of what everybody holds.
fn on_one_level(
    schedule: &mut Schedule,
    algorithm: Algorithm,
    place: Place,
    reduction: &Reduction,
    mut held: Accumulator,
) {
    let (whole, output) = (reduction.whole(), reduction.output());
    match algorithm {
        Algorithm::RecursiveDoubling => {
            let folded = Folded::new(place);
            let mut held = held.ordered();
            folded.recursive_doubling(schedule, &mut held);
            if folded.worker().is_some() {
                held.settle(schedule, whole, output);
            }
            folded.unfold(schedule, |_| output.span(whole), output.span(whole));
        }
        Algorithm::RecursiveHalving => {
            let folded = Folded::new(place);
            folded.recursive_halving(schedule, &mut held);
            if let Some(worker) = folded.worker() {
                held.settle(schedule, folded.segment(worker, folded.levels(), reduction.count), output);
            }
            folded.gather_segments(schedule, output, reduction.count);
            folded.unfold(schedule, |_| output.span(whole), output.span(whole));
        }
        Algorithm::Ring => ring(schedule, place, reduction, held.value),
        Algorithm::Tree | Algorithm::NodeAware => {
            there_and_back(schedule, place, &Tree::binomial(place, 0), reduction, held);
        }
        Algorithm::Flat => there_and_back(schedule, place, &Tree::flat(place, 0), reduction, held),
    }
}

fn there_and_back(
    schedule: &mut Schedule,
    place: Place,
    there: &Tree,
    reduction: &Reduction,
    mut held: Accumulator,
) {
    let (whole, output) = (reduction.whole(), reduction.output());
    reduction::to_tree_root(schedule, there, &mut held);
    if place.rank == 0 {
        held.settle(schedule, whole, output);
    }
    schedule.end_round();
    tree::broadcast(schedule, &place.spreading.tree(place, 0, reduction.bytes()), output.span(whole));
}

/// Part `rank` of a vector of `count` elements; parts differ by one element at most.
fn part(count: i64, rank: u32, size: u32) -> Range {
    let start = |rank: u32| {
        let (rank, size) = (i64::from(rank), i64::from(size));
        count / size * rank + (count % size).min(rank)
    };
    Range { first: start(rank), count: start(rank + 1) - start(rank) }
}

fn ring(schedule: &mut Schedule, place: Place, reduction: &Reduction, input: Vector) {
    let part = |rank| part(reduction.count, rank, place.size);
    let mine = part(place.rank);
    let output = reduction.output();
    // In place only this process's part is written before its operand has been sent to the others.
    let mut held = Accumulator::new(reduction, input, Some(output), mine);
    reduction::pairwise(schedule, place, input, &mut held, part);
    held.settle(schedule, mine, output);
    for step in 0..place.size - 1 {
        let [wanted, held] = [part(place.below(step + 1)), part(place.below(step))];
        schedule.end_round();
        if wanted.count > 0 {
            schedule.receive(local(place.below(1)), output.span(wanted));
        }
        if held.count > 0 {
            schedule.send(local(place.above(1)), output.span(held));
        }
    }
    schedule.end_round();
}

/// The reduction to all of an inter-communicator: each group gets the result of the other. Both reduce to
/// their rank 0, these exchange the results, and each spreads what it got.
pub fn inter(place: InterPlace, reduction: Reduction) -> Schedule {
    let tree = Tree::binomial(place.local, 0);
    let mut schedule = Schedule::with_capacity(4 * log2_ceil(place.local.size) as usize + 4);
    if reduction.bytes() == 0 {
        return schedule;
    }
    let (whole, output) = (reduction.whole(), reduction.output());
    let is_root = place.local.rank == 0;
    // The result of the other group arrives in the receive buffer, so that rank 0 must not reduce its own
    // there.
    let mut held = Accumulator::whole(&reduction, !is_root);
    reduction::to_tree_root(&mut schedule, &tree, &mut held);
    if is_root {
        debug_assert_ne!(held.value.buffer, Buffer::Receive);
        schedule.receive(remote(0), output.span(whole));
        schedule.send(remote(0), held.value.span(whole));
    }
    schedule.end_round();
    tree::broadcast(&mut schedule, &tree, output.span(whole));
    schedule
}
