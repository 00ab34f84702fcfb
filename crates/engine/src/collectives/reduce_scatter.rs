//! `MPI_Reduce_scatter_block` and `MPI_Reduce_scatter` (MPI 5.0, section 6.10).

use super::arguments::{InterPlace, Place, local, remote};
use super::nodes::Seat;
use super::reduction::{self, Accumulator, Folded, Range, Reduction, Vector};
use super::schedule::Schedule;
use super::select::{self, Situation};
use super::tree::{Tree, log2_ceil};

algorithms! {
    /// How a reduction whose result is scattered is done.
    {
        /// Every process gets the operands of its part from the others: for long vectors.
        Pairwise = "pairwise",
        /// Everybody reduces everything, and keeps its part: ceil(log2 n) rounds, for short vectors.
        RecursiveDoubling = "recursive-doubling",
        /// To rank 0 along a binomial tree and straight back: 2(n - 1) messages, the fewest possible.
        Tree = "tree",
        /// To rank 0 and back directly: as many messages as the tree, but nobody has to wait twice.
        Flat = "flat",
        /// Nodes reduce to their leaders, these reduce and scatter the parts of whole nodes, and each hands
        /// out what is its node's. On one host, or if the ranks of a host do not follow one another, as on
        /// one host.
        NodeAware = "node-aware",
    }
}

/// How the result is shared out.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'a> {
    /// So many elements for each process.
    Equal(i64),
    /// A count for each process.
    Varying(&'a [i64]),
}

/// Where the part of each rank starts in the vector, and after the last one its end.
struct Starts(Vec<i64>);

impl Parts<'_> {
    fn count(&self, rank: u32) -> i64 {
        match self {
            Parts::Equal(count) => *count,
            Parts::Varying(counts) => counts[rank as usize],
        }
    }

    /// The elements of the whole vector on a communicator of `size`, the `count` of its [`Reduction`].
    pub fn total(&self, size: u32) -> i64 {
        match self {
            Parts::Equal(count) => *count * i64::from(size),
            Parts::Varying(counts) => counts[..size as usize].iter().sum(),
        }
    }

    fn starts(&self, size: u32) -> Starts {
        let mut next = 0;
        let ends = (0..size).map(|rank| {
            next += self.count(rank);
            next
        });
        Starts(std::iter::once(0).chain(ends).collect())
    }
}

impl Starts {
    fn part(&self, rank: u32) -> Range {
        let [first, end] = [self.0[rank as usize], self.0[rank as usize + 1]];
        Range { first, count: end - first }
    }
}

/// Where a process's part of the result belongs: at the start of the receive buffer.
fn output(reduction: &Reduction, part: Range) -> Vector {
    let output = reduction.output();
    Vector { origin: -part.first * reduction.layout.extent, ..output }
}

/// Both forms on an intra-communicator. `reduction` has the count of the whole vector, [`Parts::total`].
pub fn reduce_scatter(algorithm: Algorithm, place: Place, parts: Parts, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(4 * log2_ceil(place.size) as usize + 4);
    if reduction.bytes() == 0 {
        return schedule;
    }
    let starts = parts.starts(place.size);
    match (algorithm, place.nodes.filter(|nodes| nodes.in_order())) {
        (Algorithm::NodeAware, Some(nodes)) => {
            let seat = Seat::rootless(nodes, place.rank);
            on_nodes(&mut schedule, place.rank, &seat, &starts, &reduction);
        }
        (Algorithm::NodeAware, None) => {
            let situation = Situation::on_one_level(place.size);
            let algorithm = select::reduce_scatter(situation, reduction.bytes());
            on_one_level(&mut schedule, algorithm, place, &starts, &reduction);
        }
        _ => on_one_level(&mut schedule, algorithm, place, &starts, &reduction),
    }
    schedule
}

/// Without regard to hosts.
fn on_one_level(
    schedule: &mut Schedule,
    algorithm: Algorithm,
    place: Place,
    starts: &Starts,
    reduction: &Reduction,
) {
    match algorithm {
        Algorithm::Pairwise => pairwise(schedule, place, starts, reduction),
        Algorithm::RecursiveDoubling => doubling(schedule, place, starts, reduction),
        Algorithm::Tree | Algorithm::NodeAware => {
            there_and_back(schedule, place, &Tree::binomial(place, 0), starts, reduction);
        }
        Algorithm::Flat => there_and_back(schedule, place, &Tree::flat(place, 0), starts, reduction),
    }
}

/// A leader gets the operands of its node's part from the other leaders; its own are a whole vector in
/// memory that is not the user's, so that the result may grow anywhere.
fn on_nodes(schedule: &mut Schedule, rank: u32, seat: &Seat, starts: &Starts, reduction: &Reduction) {
    let mut whole = Accumulator::new(reduction, reduction.input(), None, reduction.whole());
    reduction::to_leader(schedule, seat, &mut whole);
    let mine = starts.part(rank);
    let output = output(reduction, mine);
    if !seat.leads() {
        if mine.count > 0 {
            schedule.receive(local(seat.leader(seat.node)), output.span(mine));
        }
        return;
    }
    let of_node = |node| {
        let members = seat.nodes.members(node);
        let [first, last] = [members[0], members[members.len() - 1]].map(|rank| starts.part(rank));
        Range { first: first.first, count: last.first + last.count - first.first }
    };
    let situation = Situation::on_one_level(seat.nodes.count());
    let algorithm = select::reduce_scatter(situation, reduction.bytes());
    let mut held = Accumulator::new(reduction, whole.value, None, of_node(seat.node));
    seat.among_leaders(schedule, |schedule| match algorithm {
        Algorithm::RecursiveDoubling => {
            let folded = Folded::new(seat.outside());
            folded.recursive_doubling(schedule, &mut whole);
            held.value = if folded.worker().is_some() { whole.value } else { whole.spare(schedule) };
            let span = |node| held.value.span(of_node(node));
            folded.unfold(schedule, span, span(seat.node));
        }
        _ => reduction::pairwise(schedule, seat.outside(), whole.value, &mut held, of_node),
    });
    schedule.end_round();
    for member in seat.members().iter().filter(|member| **member != rank) {
        if starts.part(*member).count > 0 {
            schedule.send(local(*member), held.value.span(starts.part(*member)));
        }
    }
    held.settle(schedule, mine, output);
}

fn pairwise(schedule: &mut Schedule, place: Place, starts: &Starts, reduction: &Reduction) {
    let mine = starts.part(place.rank);
    let output = output(reduction, mine);
    // In place the start of the receive buffer is an operand of rank 0 until the last send, so that the
    // result may not grow there.
    let growing = (!reduction.in_place).then_some(output);
    let mut held = Accumulator::new(reduction, reduction.input(), growing, mine);
    reduction::pairwise(schedule, place, reduction.input(), &mut held, |rank| starts.part(rank));
    held.settle(schedule, mine, output);
}

fn doubling(schedule: &mut Schedule, place: Place, starts: &Starts, reduction: &Reduction) {
    let folded = Folded::new(place);
    let mut held = Accumulator::new(reduction, reduction.input(), None, reduction.whole());
    folded.recursive_doubling(schedule, &mut held);
    let mine = starts.part(place.rank);
    let output = output(reduction, mine);
    folded.unfold(schedule, |lower| held.value.span(starts.part(lower)), output.span(mine));
    if folded.worker().is_some() {
        held.settle(schedule, mine, output);
    }
}

fn there_and_back(
    schedule: &mut Schedule,
    place: Place,
    there: &Tree,
    starts: &Starts,
    reduction: &Reduction,
) {
    let mut held = Accumulator::new(reduction, reduction.input(), None, reduction.whole());
    reduction::to_tree_root(schedule, there, &mut held);
    let mine = starts.part(place.rank);
    let output = output(reduction, mine);
    if place.rank > 0 {
        if mine.count > 0 {
            schedule.receive(local(0), output.span(mine));
        }
        return;
    }
    for rank in (1..place.size).filter(|rank| starts.part(*rank).count > 0) {
        schedule.send(local(rank), held.value.span(starts.part(rank)));
    }
    held.settle(schedule, mine, output);
}

/// Both forms on an inter-communicator: the data of one group, reduced, is scattered over the other. Both
/// groups reduce to their rank 0, these exchange the results, and each scatters what it got. `parts` are
/// those of the local group.
pub fn inter(place: InterPlace, parts: Parts, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(4 * log2_ceil(place.local.size) as usize + 4);
    if reduction.bytes() == 0 {
        return schedule;
    }
    let Place { rank, size, .. } = place.local;
    let (starts, whole) = (parts.starts(size), reduction.whole());
    let mine = starts.part(rank);
    let output = output(&reduction, mine);
    let mut held = Accumulator::new(&reduction, reduction.input(), None, whole);
    reduction::to_tree_root(&mut schedule, &Tree::binomial(place.local, 0), &mut held);
    if rank > 0 {
        if mine.count > 0 {
            schedule.receive(local(0), output.span(mine));
        }
        return schedule;
    }
    let given = held.value.span(whole);
    let result = held.spare(&mut schedule);
    schedule.receive(remote(0), result.span(whole));
    schedule.send(remote(0), given);
    schedule.end_round();
    for rank in (1..size).filter(|rank| starts.part(*rank).count > 0) {
        schedule.send(local(rank), result.span(starts.part(rank)));
    }
    if mine.count > 0 {
        schedule.copy(result.span(mine), output.span(mine));
    }
    schedule
}
