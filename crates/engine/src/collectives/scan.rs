//! `MPI_Scan` and `MPI_Exscan` (MPI 5.0, section 6.11), which exist on intra-communicators only.

use super::arguments::{Place, local};
use super::nodes::{Nodes, Seat};
use super::reduction::{Accumulator, Reduction, Side, Vector};
use super::schedule::{Schedule, TypeOf};
use super::tree::log2_ceil;

algorithms! {
    /// How a prefix reduction is done.
    {
        /// From rank to rank: n - 1 messages, the fewest possible.
        Chain = "chain",
        /// In round k a process gets the reduction of the 2^k ranks below those that it has: ceil(log2 n)
        /// rounds.
        Doubling = "doubling",
        /// Each node by itself; the leaders get the reduction of all nodes below from one another, and tell
        /// their nodes. On one host, or if the ranks of a host do not follow one another, the same as
        /// doubling.
        NodeAware = "node-aware",
    }
}

/// The inclusive prefix reduction.
pub fn scan(algorithm: Algorithm, place: Place, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(3 * log2_ceil(place.size) as usize + 3);
    if reduction.bytes() == 0 {
        return schedule;
    }
    let (whole, output) = (reduction.whole(), reduction.output());
    let mut held = Accumulator::whole(&reduction, true);
    match (algorithm, in_order(place)) {
        (Algorithm::NodeAware, Some(nodes)) => {
            let seat = Seat::rootless(nodes, place.rank);
            seat.in_node(&mut schedule, |schedule| {
                doubling(schedule, seat.inside(), 0, &reduction, &mut held);
            });
            if let Some(lower) = lower_nodes(&mut schedule, &seat, &reduction, held.value) {
                held.prepend(&mut schedule, lower, whole);
            }
        }
        (Algorithm::Doubling | Algorithm::NodeAware, _) => {
            doubling(&mut schedule, place, 0, &reduction, &mut held);
        }
        (Algorithm::Chain, _) => {
            if place.rank > 0 {
                held.absorb(&mut schedule, local(place.rank - 1), whole, Side::Lower);
            }
            if place.rank + 1 < place.size {
                schedule.send(local(place.rank + 1), held.value.span(whole));
            }
        }
    }
    held.settle(&mut schedule, whole, output);
    schedule
}

/// The nodes, if prefixes can be made node by node.
fn in_order(place: Place<'_>) -> Option<&Nodes> {
    place.nodes.filter(|nodes| nodes.in_order())
}

/// The inclusive prefix reduction over the ranks from `first` on, in recursive doubling.
fn doubling(
    schedule: &mut Schedule,
    place: Place,
    first: u32,
    reduction: &Reduction,
    held: &mut Accumulator,
) {
    let whole = reduction.whole();
    for level in 0..log2_ceil(place.size - first) {
        let distance = 1 << level;
        let given = held.value.span(whole);
        let arrival = (place.rank >= first + distance)
            .then(|| held.receive(schedule, local(place.rank - distance), whole, Side::Lower));
        if place.rank + distance < place.size {
            schedule.send(local(place.rank + distance), given);
        }
        if let Some(arrival) = arrival {
            held.combine(schedule, arrival);
        }
        schedule.end_round();
    }
}

/// The exclusive prefix reduction; it does not touch the receive buffer of rank 0.
pub fn exscan(algorithm: Algorithm, place: Place, reduction: Reduction) -> Schedule {
    let mut schedule = Schedule::with_capacity(3 * log2_ceil(place.size) as usize + 5);
    if reduction.bytes() == 0 || place.size == 1 {
        return schedule;
    }
    match (algorithm, in_order(place)) {
        (Algorithm::Chain, _) => exclusive_chain(&mut schedule, place, &reduction),
        (Algorithm::NodeAware, Some(nodes)) => {
            exclusive_on_nodes(&mut schedule, &Seat::rootless(nodes, place.rank), &reduction);
        }
        _ => exclusive_doubling(&mut schedule, place, &reduction),
    }
    schedule
}

/// The reduction of all nodes below this process's, in memory that may be written; none in the first node. `inclusive` is
/// the reduction of the processes of the node up to this one.
fn lower_nodes(
    schedule: &mut Schedule,
    seat: &Seat,
    reduction: &Reduction,
    inclusive: Vector,
) -> Option<Vector> {
    let (whole, inside, outside) = (reduction.whole(), seat.inside(), seat.outside());
    let scratch = |schedule: &mut Schedule| {
        Vector::at(schedule.scratch_elements(reduction.count, TypeOf::Receive), reduction.layout)
    };
    let is_last = outside.rank + 1 == outside.size;
    let mut total = inclusive;
    seat.in_node(schedule, |schedule| match inside.rank {
        _ if is_last || inside.size == 1 => {}
        0 => {
            total = scratch(schedule);
            schedule.receive(local(inside.size - 1), total.span(whole));
        }
        position if position + 1 == inside.size => schedule.send(local(0), inclusive.span(whole)),
        _ => {}
    });
    schedule.end_round();
    let mut lower = (outside.rank > 0).then(|| scratch(schedule));
    seat.among_leaders(schedule, |schedule| {
        if let Some(lower) = lower {
            schedule.receive(local(outside.rank - 1), lower.span(whole));
        }
        if !is_last {
            schedule.send(local(outside.rank + 1), total.span(whole));
        }
        schedule.end_round();
        if let Some(lower) = &mut lower {
            let mut held = Accumulator::new(reduction, *lower, Some(*lower), whole);
            doubling(schedule, outside, 1, reduction, &mut held);
            *lower = held.value;
        }
    });
    if let Some(lower) = lower {
        seat.spread(schedule, lower.span(whole), reduction.bytes());
    }
    lower
}

/// In its node a process gets the inclusive prefix of the one below it.
fn exclusive_on_nodes(schedule: &mut Schedule, seat: &Seat, reduction: &Reduction) {
    let (whole, output) = (reduction.whole(), reduction.output());
    let Place { rank: position, size, .. } = seat.inside();
    let mut inclusive = Accumulator::whole(reduction, false);
    let mut below = None;
    seat.in_node(schedule, |schedule| {
        doubling(schedule, seat.inside(), 0, reduction, &mut inclusive);
        if position > 0 {
            let landing = landing(schedule, reduction);
            schedule.receive(local(position - 1), landing.span(whole));
            below = Some(Accumulator::new(reduction, landing, Some(landing), whole));
        }
        if position + 1 < size {
            schedule.send(local(position + 1), inclusive.value.span(whole));
        }
    });
    schedule.end_round();
    let lower = lower_nodes(schedule, seat, reduction, inclusive.value);
    match (&mut below, lower) {
        (Some(below), Some(lower)) => below.prepend(schedule, lower, whole),
        (None, Some(lower)) => below = Some(Accumulator::new(reduction, lower, None, whole)),
        (_, None) => {}
    }
    if let Some(mut below) = below {
        below.settle(schedule, whole, output);
    }
}

/// Where the operands of the lower ranks arrive: in place the receive buffer still holds this process's own
/// operand.
fn landing(schedule: &mut Schedule, reduction: &Reduction) -> Vector {
    if !reduction.in_place {
        return reduction.output();
    }
    Vector::at(schedule.scratch_elements(reduction.count, TypeOf::Receive), reduction.layout)
}

fn exclusive_chain(schedule: &mut Schedule, place: Place, reduction: &Reduction) {
    let Place { rank, size, .. } = place;
    let (whole, input) = (reduction.whole(), reduction.input());
    if rank == 0 {
        schedule.send(local(1), input.span(whole));
        return;
    }
    let lower = landing(schedule, reduction);
    schedule.receive(local(rank - 1), lower.span(whole));
    if rank + 1 < size {
        let scratch = schedule.scratch_elements(reduction.count, TypeOf::Receive);
        let passed_on = Vector::at(scratch, reduction.layout);
        schedule.copy(input.span(whole), passed_on.span(whole));
        schedule.reduce(lower.span(whole), passed_on.span(whole));
        schedule.send(local(rank + 1), passed_on.span(whole));
    }
    if lower != reduction.output() {
        schedule.copy(lower.span(whole), reduction.output().span(whole));
    }
}

/// Everybody hands its operand to the next rank; what these now have is scanned inclusively from rank 1 on.
fn exclusive_doubling(schedule: &mut Schedule, place: Place, reduction: &Reduction) {
    let Place { rank, size, .. } = place;
    let (whole, input, output) = (reduction.whole(), reduction.input(), reduction.output());
    let lower = landing(schedule, reduction);
    if rank > 0 {
        schedule.receive(local(rank - 1), lower.span(whole));
    }
    if rank + 1 < size {
        schedule.send(local(rank + 1), input.span(whole));
    }
    if rank == 0 {
        return;
    }
    if lower != output {
        schedule.copy(lower.span(whole), output.span(whole));
    }
    schedule.end_round();
    let mut held = Accumulator::new(reduction, output, Some(output), whole);
    doubling(schedule, place, 1, reduction, &mut held);
    held.settle(schedule, whole, output);
}
