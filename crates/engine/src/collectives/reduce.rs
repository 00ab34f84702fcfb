//! `MPI_Reduce` (MPI 5.0, section 6.9.1).

use super::arguments::{InterPlace, Place, Root, local, remote};
use super::nodes::{Nodes, Seat};
use super::reduction::{self, Accumulator, Folded, Reduction};
use super::schedule::Schedule;
use super::select::{self, Situation};
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
        /// Nodes reduce to their leaders, and these to the root: every host sends one vector. On one host,
        /// or if the operator is not commutative and the ranks of a host do not follow one another, as on
        /// one host.
        NodeAware = "node-aware",
    }
}

/// The reduction of an intra-communicator.
pub fn reduce(algorithm: Algorithm, place: Place, root: u32, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(2 * log2_ceil(place.size) as usize + 4);
    if reduction.bytes() == 0 {
        return schedule;
    }
    let mut held = Accumulator::whole(&reduction, place.rank == root);
    match (algorithm, reduction.nodes(place)) {
        (Algorithm::NodeAware, Some(nodes)) => {
            on_nodes(&mut schedule, place, nodes, root, &reduction, &mut held);
        }
        (Algorithm::NodeAware, None) => {
            let algorithm =
                select::reduce(Situation::on_one_level(place.size), reduction.bytes(), reduction.count);
            on_one_level(&mut schedule, algorithm, place, root, &reduction, &mut held);
        }
        _ => on_one_level(&mut schedule, algorithm, place, root, &reduction, &mut held),
    }
    schedule
}

/// Without regard to hosts.
fn on_one_level(
    schedule: &mut Schedule,
    algorithm: Algorithm,
    place: Place,
    root: u32,
    reduction: &Reduction,
    held: &mut Accumulator,
) {
    let tree_root = if reduction.commutative { root } else { 0 };
    match algorithm {
        Algorithm::Binomial | Algorithm::NodeAware => {
            along_tree(schedule, &Tree::binomial(place, tree_root), (place.rank, root), reduction, held);
        }
        Algorithm::Flat => {
            along_tree(schedule, &Tree::flat(place, tree_root), (place.rank, root), reduction, held);
        }
        Algorithm::ReduceScatterGather => reduce_scatter_gather(schedule, place, root, reduction, held),
    }
}

/// With an operator that is not commutative the lowest ranks lead, and rank 0 sends the result to the root.
fn on_nodes(
    schedule: &mut Schedule,
    place: Place,
    nodes: &Nodes,
    root: u32,
    reduction: &Reduction,
    held: &mut Accumulator,
) {
    let top = if reduction.commutative { root } else { 0 };
    let seat = Seat::new(nodes, place.rank, top);
    reduction::to_leader(schedule, &seat, held);
    let outer = Situation::on_one_level(nodes.count());
    match select::reduce(outer, reduction.bytes(), reduction.count) {
        Algorithm::ReduceScatterGather if top == root => seat.among_leaders(schedule, |schedule| {
            reduce_scatter_gather(schedule, seat.outside(), seat.root_node, reduction, held);
        }),
        _ => {
            let tree = Tree::binomial(seat.outside(), seat.root_node);
            seat.among_leaders(schedule, |schedule| reduction::to_tree_root(schedule, &tree, held));
            hand_over(schedule, (place.rank, top, root), reduction, held);
        }
    }
}

/// Reduces to the root of the tree, and sends the result on if that is not the root of the call.
fn along_tree(
    schedule: &mut Schedule,
    tree: &Tree,
    (rank, root): (u32, u32),
    reduction: &Reduction,
    held: &mut Accumulator,
) {
    reduction::to_tree_root(schedule, tree, held);
    hand_over(schedule, (rank, tree.rank(0), root), reduction, held);
}

/// The result goes from rank `top`, which holds it, to the root.
fn hand_over(
    schedule: &mut Schedule,
    (rank, top, root): (u32, u32, u32),
    reduction: &Reduction,
    held: &mut Accumulator,
) {
    let (whole, output) = (reduction.whole(), reduction.output());
    match (rank == top, rank == root) {
        (true, true) => held.settle(schedule, whole, output),
        (true, false) => schedule.send(local(root), held.value.span(whole)),
        (false, true) => schedule.receive(local(top), output.span(whole)),
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
