//! What all reductions are made of (MPI 5.0, section 6.9): partial results that meet in rank order.
//!
//! A process holds the reduction of a range of ranks. What it receives is the reduction of the range just
//! below or just above, so that operands only ever meet in rank order and an operator needs to be
//! associative, not commutative. As an operator writes its right operand, the result ends in the buffer of
//! the higher range: an [`Accumulator`] therefore has two buffers and remembers which one holds the result,
//! instead of copying. A commutative operator always reduces into the buffer that already holds the result,
//! or into the received data while the result is still the user's send buffer, which must not be written.
//!
//! Where several processes compute the same elements (recursive doubling) they keep the rank order even for a
//! commutative operator: all of them then compute the same bits, also for operands such as NaN where
//! "commutative" is a half-truth.

use super::arguments::{Layout, Place, local};
use super::nodes::{Nodes, Seat};
use super::schedule::{Buffer, Peer, Schedule, Span, TypeOf};
use super::tree::Tree;

/// The arguments of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Elements of each process.
    pub count: i64,
    /// Their datatype.
    pub layout: Layout,
    /// Whether the operator is commutative.
    pub commutative: bool,
    /// `MPI_IN_PLACE`: this process's operand is in its receive buffer.
    pub in_place: bool,
}

impl Reduction {
    /// The nodes of a communicator, if its operands can be reduced node by node.
    pub fn nodes<'a>(&self, place: Place<'a>) -> Option<&'a Nodes> {
        place.nodes.filter(|nodes| self.commutative || nodes.in_order())
    }

    /// All elements.
    pub fn whole(&self) -> Range {
        Range { first: 0, count: self.count }
    }

    /// The data bytes of a process.
    pub fn bytes(&self) -> i64 {
        self.layout.bytes(self.count)
    }

    /// This process's operand.
    pub fn input(&self) -> Vector {
        Vector::at(if self.in_place { Buffer::Receive } else { Buffer::Send }, self.layout)
    }

    /// The receive buffer, where the result belongs.
    pub fn output(&self) -> Vector {
        Vector::at(Buffer::Receive, self.layout)
    }
}

/// Elements `first .. first + count` of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first element.
    pub first: i64,
    /// The number of elements.
    pub count: i64,
}

/// A vector of elements in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The buffer.
    pub buffer: Buffer,
    /// The displacement of element 0; it need not be in the buffer.
    pub origin: i64,
    /// Bytes from an element to the next.
    pub extent: i64,
}

impl Vector {
    /// A vector whose element 0 is at the start of `buffer`.
    pub fn at(buffer: Buffer, layout: Layout) -> Vector {
        Vector { buffer, origin: 0, extent: layout.extent }
    }

    /// Some of its elements.
    pub fn span(&self, range: Range) -> Span {
        let displacement = self.origin + range.first * self.extent;
        Span { buffer: self.buffer, displacement, count: range.count, datatype: TypeOf::Receive }
    }
}

/// Which ranks a received partial result covers, compared with those of the one that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The ranks just below.
    Lower,
    /// The ranks just above.
    Higher,
}

impl Side {
    /// Of a partner with this number.
    pub fn of(partner: u32, own: u32) -> Side {
        if partner < own { Side::Lower } else { Side::Higher }
    }
}

/// The partial result of a process.
#[derive(Clone, Copy, Debug)]
pub struct Accumulator {
    /// Where the partial result is.
    pub value: Vector,
    /// Two writable vectors; scratch for the elements of `window` is declared when first needed.
    writable: [Option<Vector>; 2],
    window: Range,
    layout: Layout,
    ordered: bool,
}

impl Accumulator {
    /// Starts from `input`. The result grows in `output` where there is one. Only elements of `window` will
    /// be touched.
    pub fn new(reduction: &Reduction, input: Vector, output: Option<Vector>, window: Range) -> Self {
        let Reduction { layout, commutative, .. } = *reduction;
        Self { value: input, writable: [output, None], window, layout, ordered: !commutative }
    }

    /// The accumulator of a process that reduces the whole vector.
    /// `has_output` says whether the receive buffer is significant here.
    pub fn whole(reduction: &Reduction, has_output: bool) -> Self {
        let output = has_output.then(|| reduction.output());
        Self::new(reduction, reduction.input(), output, reduction.whole())
    }

    /// Keeps the rank order even if the operator is commutative.
    pub fn ordered(self) -> Self {
        Self { ordered: true, ..self }
    }

    fn vector(&mut self, schedule: &mut Schedule, index: usize) -> Vector {
        *self.writable[index].get_or_insert_with(|| {
            let buffer = schedule.scratch_elements(self.window.count, TypeOf::Receive);
            Vector { origin: -self.window.first * self.layout.extent, ..Vector::at(buffer, self.layout) }
        })
    }

    /// Where the partial result is, if that may be written.
    fn writable_index(&self) -> Option<usize> {
        self.writable.iter().position(|vector| *vector == Some(self.value))
    }

    /// Receives `peer`'s partial result for `range`; [`Accumulator::combine`] with what this returns has to
    /// follow in the same round.
    pub fn receive(&mut self, schedule: &mut Schedule, peer: Peer, range: Range, side: Side) -> Arrival {
        let index = match self.writable_index() {
            Some(held) => 1 - held,
            // The held operand has to move to the output first if it is to be written.
            None => usize::from(self.ordered && side == Side::Lower),
        };
        let vector = self.vector(schedule, index);
        schedule.receive(peer, vector.span(range));
        Arrival { vector, range, side }
    }

    /// Combines the held partial result with a received one.
    pub fn combine(&mut self, schedule: &mut Schedule, arrival: Arrival) {
        let Arrival { vector, range, side } = arrival;
        let held = self.value.span(range);
        let is_writable = self.writable_index().is_some();
        if (self.ordered && side == Side::Higher) || (!self.ordered && !is_writable) {
            schedule.reduce(held, vector.span(range));
            self.value = vector;
            return;
        }
        if !is_writable {
            self.value = self.vector(schedule, 0);
            schedule.copy(held, self.value.span(range));
        }
        schedule.reduce(vector.span(range), self.value.span(range));
    }

    /// Combines the held partial result with that of the ranks just below, which is in `vector`: it may be written.
    pub fn prepend(&mut self, schedule: &mut Schedule, vector: Vector, range: Range) {
        self.combine(schedule, Arrival { vector, range, side: Side::Lower });
    }

    /// Receives and combines.
    pub fn absorb(&mut self, schedule: &mut Schedule, peer: Peer, range: Range, side: Side) {
        let arrival = self.receive(schedule, peer, range, side);
        self.combine(schedule, arrival);
    }

    /// A writable vector that does not hold the partial result.
    pub fn spare(&mut self, schedule: &mut Schedule) -> Vector {
        let held = self.writable_index();
        self.vector(schedule, held.map_or(0, |held| 1 - held))
    }

    /// Receives the first of the operands that lie above the held ones, and starts a partial result from it.
    fn start_above(&mut self, schedule: &mut Schedule, peer: Peer, range: Range) -> Accumulator {
        let value = self.spare(schedule);
        schedule.receive(peer, value.span(range));
        let spare = if self.writable_index().is_none() { self.writable[1] } else { None };
        Accumulator { value, writable: [Some(value), spare], ..*self }
    }

    /// Puts `range` into `into`, if it is not there.
    pub fn settle(&mut self, schedule: &mut Schedule, range: Range, into: Vector) {
        if self.value != into && range.count > 0 {
            schedule.copy(self.value.span(range), into.span(range));
        }
        self.value = into;
    }
}

/// A partial result that a round receives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    vector: Vector,
    range: Range,
    side: Side,
}

/// A process receives the partial results of all its children at once if they have at most so many bytes, and
/// waits once; larger ones it receives one after the other, in the same memory.
const TOGETHER_BYTES_MAX: i64 = 64 * 1024;

/// Reduces the whole vector to the root of a tree. The order is kept if the tree's root is rank 0.
pub fn to_tree_root(schedule: &mut Schedule, tree: &Tree, held: &mut Accumulator) {
    let whole = held.window;
    let children = tree.children();
    let bytes = held.layout.bytes(whole.count) * children.len() as i64;
    if children.len() > 1 && bytes <= TOGETHER_BYTES_MAX {
        absorb_together(schedule, tree, held);
    } else {
        for child in children {
            held.absorb(schedule, local(child.rank), whole, Side::Higher);
        }
    }
    if let Some(parent) = tree.parent() {
        schedule.send(local(parent), held.value.span(whole));
        schedule.end_round();
    }
}

/// The tree in which the processes of a node reduce: nobody waits twice, unless all operands together are long.
pub fn node_tree(place: Place<'static>, root: u32, bytes: i64) -> Tree {
    match bytes.saturating_mul(i64::from(place.size)) <= TOGETHER_BYTES_MAX {
        true => Tree::flat(place, root),
        false => Tree::binomial(place, root),
    }
}

/// Reduces the operands of each node to its leader. The order is kept if the leader is the node's lowest rank.
pub fn to_leader(schedule: &mut Schedule, seat: &Seat, held: &mut Accumulator) {
    let bytes = held.layout.bytes(held.window.count);
    let tree = node_tree(seat.inside(), seat.leader_position(), bytes);
    seat.in_node(schedule, |schedule| to_tree_root(schedule, &tree, held));
}

/// The partial result passes through the vectors of the children, in rank order, and ends in the last one's:
/// no copy.
fn absorb_together(schedule: &mut Schedule, tree: &Tree, held: &mut Accumulator) {
    let (whole, children) = (held.window, tree.children());
    let last = held.spare(schedule);
    let before_last = children.len() - 1;
    let buffer = schedule.scratch_elements(whole.count * before_last as i64, TypeOf::Receive);
    let extent = held.layout.extent;
    let landing = |index: usize| match index == before_last {
        true => last,
        false => Vector { buffer, origin: (index as i64 * whole.count - whole.first) * extent, extent },
    };
    for (index, child) in children.enumerate() {
        schedule.receive(local(child.rank), landing(index).span(whole));
    }
    for next in (0..=before_last).map(landing) {
        schedule.reduce(held.value.span(whole), next.span(whole));
        held.value = next;
    }
}

/// The largest power of two of processes that fits, and where this process stands among them.
///
/// With a size that is no power of two, the first few pairs of ranks (0, 1), (2, 3), … work as one process
/// each: the lower one gives its operand to the upper one and waits for the result. As pairs are neighbours,
/// rank order survives.
#[derive(Clone, Copy, Debug)]
pub struct Folded {
    rank: u32,
    /// Processes that work: a power of two.
    pub size: u32,
    pairs: u32,
}

impl Folded {
    /// Of an intra-communicator.
    pub fn new(place: Place) -> Self {
        let size = 1 << place.size.ilog2();
        Self { rank: place.rank, size, pairs: place.size - size }
    }

    /// The rank of a working process.
    pub fn rank(&self, worker: u32) -> u32 {
        if worker < self.pairs { 2 * worker + 1 } else { worker + self.pairs }
    }

    /// The number of this process among those that work; none if it gave its operand away.
    pub fn worker(&self) -> Option<u32> {
        match self.rank {
            rank if rank >= 2 * self.pairs => Some(rank - self.pairs),
            rank if rank % 2 == 1 => Some(rank / 2),
            _ => None,
        }
    }

    fn in_pair(&self) -> bool {
        self.rank < 2 * self.pairs
    }

    /// Gives operands away.
    pub fn fold(&self, schedule: &mut Schedule, held: &mut Accumulator) {
        if !self.in_pair() {
            return;
        }
        if self.worker().is_some() {
            held.absorb(schedule, local(self.rank - 1), held.window, Side::Lower);
        } else {
            schedule.send(local(self.rank + 1), held.value.span(held.window));
            schedule.end_round();
        }
    }

    /// Gives results back: the process that worked sends `given` of the other's rank, which receives `taken`.
    pub fn unfold(&self, schedule: &mut Schedule, given: impl FnOnce(u32) -> Span, taken: Span) {
        if !self.in_pair() {
            return;
        }
        schedule.end_round();
        if self.worker().is_some() {
            schedule.send(local(self.rank - 1), given(self.rank - 1));
        } else {
            schedule.receive(local(self.rank + 1), taken);
        }
        schedule.end_round();
    }

    /// Elements that worker `worker` still reduces after `level` halvings of a vector of `count`.
    pub fn segment(&self, worker: u32, level: u32, count: i64) -> Range {
        let mut range = Range { first: 0, count };
        for bit in 0..level {
            let lower = range.count / 2;
            range = match worker & (1 << bit) {
                0 => Range { count: lower, ..range },
                _ => Range { first: range.first + lower, count: range.count - lower },
            };
        }
        range
    }

    /// The number of halvings until every worker reduces its own segment.
    pub fn levels(&self) -> u32 {
        self.size.trailing_zeros()
    }

    /// Every process gets the whole result: in round k it exchanges partial results with the worker that
    /// differs in bit k.
    pub fn recursive_doubling(&self, schedule: &mut Schedule, held: &mut Accumulator) {
        self.fold(schedule, held);
        let Some(worker) = self.worker() else { return };
        let whole = held.window;
        for level in 0..self.levels() {
            let partner = worker ^ (1 << level);
            let mine = held.value.span(whole);
            let peer = local(self.rank(partner));
            let arrival = held.receive(schedule, peer, whole, Side::of(partner, worker));
            schedule.send(peer, mine);
            held.combine(schedule, arrival);
        }
    }

    /// Every worker gets the result of its segment (Rabenseifner): the partners of recursive doubling, but
    /// each pair splits what it still has. Neighbours meet first, so that the order is kept.
    pub fn recursive_halving(&self, schedule: &mut Schedule, held: &mut Accumulator) {
        self.fold(schedule, held);
        let Some(worker) = self.worker() else { return };
        let count = held.window.count;
        for level in 0..self.levels() {
            let partner = worker ^ (1 << level);
            let peer = local(self.rank(partner));
            let [mine, theirs] = [worker, partner].map(|worker| self.segment(worker, level + 1, count));
            let given = held.value.span(theirs);
            let arrival =
                (mine.count > 0).then(|| held.receive(schedule, peer, mine, Side::of(partner, worker)));
            if theirs.count > 0 {
                schedule.send(peer, given);
            }
            if let Some(arrival) = arrival {
                held.combine(schedule, arrival);
            }
        }
    }

    /// The way back of recursive halving: segments are exchanged, the last partner first, until all have all
    /// of `result`.
    pub fn gather_segments(&self, schedule: &mut Schedule, result: Vector, count: i64) {
        let Some(worker) = self.worker() else { return };
        for level in (0..self.levels()).rev() {
            let partner = worker ^ (1 << level);
            let peer = local(self.rank(partner));
            let [mine, theirs] = [worker, partner].map(|worker| self.segment(worker, level + 1, count));
            schedule.end_round();
            if theirs.count > 0 {
                schedule.receive(peer, result.span(theirs));
            }
            if mine.count > 0 {
                schedule.send(peer, result.span(mine));
            }
        }
        schedule.end_round();
    }
}

/// Every process gets the result of its own part: in round k it gets the operand of the process k below it,
/// and gives the process k above it that one's part. Each operand travels once, so this is the best for long
/// vectors and any size.
///
/// The operands come in the order rank - 1, …, 0, size - 1, …, rank + 1. An ordered operator therefore
/// collects the second run apart from the first and joins them at the end.
pub fn pairwise(
    schedule: &mut Schedule,
    place: Place,
    input: Vector,
    held: &mut Accumulator,
    part: impl Fn(u32) -> Range,
) {
    let mine = part(place.rank);
    let mut upper: Option<Accumulator> = None;
    for distance in 1..place.size {
        let (source, target) = (place.below(distance), place.above(distance));
        let apart = held.ordered && source > place.rank;
        let mut arrival = None;
        if mine.count > 0 && apart && upper.is_none() {
            upper = Some(held.start_above(schedule, local(source), mine));
        } else if mine.count > 0 {
            let collector = upper.as_mut().filter(|_| apart).unwrap_or(held);
            arrival = Some(collector.receive(schedule, local(source), mine, Side::Lower));
        }
        if part(target).count > 0 {
            schedule.send(local(target), input.span(part(target)));
        }
        if let Some(arrival) = arrival {
            let collector = upper.as_mut().filter(|_| apart).unwrap_or(held);
            collector.combine(schedule, arrival);
        }
        schedule.end_round();
    }
    if let Some(upper) = upper {
        schedule.reduce(held.value.span(mine), upper.value.span(mine));
        held.value = upper.value;
    }
}
