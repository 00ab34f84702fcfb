//! `MPI_Reduce` (MPI 5.0, section 6.9.1).

use super::arguments::{InterPlace, Place, Root, local, remote};
use super::reduction::{self, Accumulator, Folded, Reduction};
use super::schedule::Schedule;
use super::tree::{Tree, log2_ceil};

algorithms! {
    /// How a reduction to one process is done.
    {
        /// Along a binomial tree: n - 1 messages. With an operator that is not commutative the tree ends at
        /// rank 0, which sends the result to the root.
        Binomial = "binomial",
        /// Everybody sends to the root, or to rank 0 if the operator is not commutative: nobody has to wait
        /// twice.
        Flat = "flat",
        /// Recursive halving, after which each process sends the root its segment (Rabenseifner): for long
        /// vectors.
        ReduceScatterGather = "reduce-scatter-gather",
    }
}

/// The reduction of an intra-communicator.
pub fn reduce(algorithm: Algorithm, place: Place, root: u32, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(2 * log2_ceil(place.size) as usize + 4);
    if reduction.bytes() == 0 {
        return schedule;
    }
    let mut held = Accumulator::whole(&reduction, place.rank == root);
    let tree_root = if reduction.commutative { root } else { 0 };
    match algorithm {
        Algorithm::Binomial => {
            let tree = Tree::binomial(place, tree_root);
            along_tree(&mut schedule, &tree, (place.rank, root), &reduction, &mut held);
        }
        Algorithm::Flat => {
            let tree = Tree::flat(place, tree_root);
            along_tree(&mut schedule, &tree, (place.rank, root), &reduction, &mut held);
        }
        Algorithm::ReduceScatterGather => {
            reduce_scatter_gather(&mut schedule, place, root, &reduction, &mut held);
        }
    }
    schedule
}

/// Reduces to the root of the tree, and sends the result on if that is not the root of the call.
fn along_tree(
    schedule: &mut Schedule,
    tree: &Tree,
    (rank, root): (u32, u32),
    reduction: &Reduction,
    held: &mut Accumulator,
) {
    let (whole, output) = (reduction.whole(), reduction.output());
    reduction::to_tree_root(schedule, tree, held);
    match (tree.position == 0, rank == root) {
        (true, true) => held.settle(schedule, whole, output),
        (true, false) => schedule.send(local(root), held.value.span(whole)),
        (false, true) => schedule.receive(local(tree.rank(0)), output.span(whole)),
        (false, false) => {}
    }
}

fn reduce_scatter_gather(
    schedule: &mut Schedule,
    place: Place,
    root: u32,
    reduction: &Reduction,
    held: &mut Accumulator,
) {
    let folded = Folded::new(place);
    folded.recursive_halving(schedule, held);
    schedule.end_round();
    let segment = |worker| folded.segment(worker, folded.levels(), reduction.count);
    if place.rank != root {
        if let Some(mine) = folded.worker().map(segment).filter(|mine| mine.count > 0) {
            schedule.send(local(root), held.value.span(mine));
        }
        return;
    }
    if let Some(worker) = folded.worker() {
        held.settle(schedule, segment(worker), reduction.output());
    }
    for worker in (0..folded.size).filter(|worker| folded.rank(*worker) != root) {
        if segment(worker).count > 0 {
            schedule.receive(local(folded.rank(worker)), reduction.output().span(segment(worker)));
        }
    }
}

/// The reduction of an inter-communicator: the remote group reduces to its rank 0, which sends the result to
/// the root.
pub fn inter(place: InterPlace, root: Root, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(2 * log2_ceil(place.local.size) as usize + 2);
    let whole = reduction.whole();
    match root {
        _ if reduction.bytes() == 0 => {}
        Root::Neighbour => {}
        Root::This => schedule.receive(remote(0), reduction.output().span(whole)),
        Root::Remote(rank) => {
            let mut held = Accumulator::whole(&reduction, false);
            reduction::to_tree_root(&mut schedule, &Tree::binomial(place.local, 0), &mut held);
            if place.local.rank == 0 {
                schedule.send(remote(rank), held.value.span(whole));
            }
        }
    }
    schedule
}
