//! `MPI_Bcast` (MPI 5.0, section 6.4).
//!
//! The processes may describe the data by different datatypes of one signature, so that only its bytes can be
//! cut alike everywhere. A datatype that is not contiguous is therefore packed and unpacked where the data
//! travels in parts.

use super::arguments::{Block, InterPlace, Place, Root, local, remote};
use super::nodes::{Nodes, Seat};
use super::schedule::{Buffer, Schedule, Span};
use super::select::{self, Situation};
use super::tree::{self, Tree, log2_ceil};

algorithms! {
    /// How a broadcast is done.
    {
        /// Whole along a binomial tree: n - 1 messages.
        Binomial = "binomial",
        /// Parts are scattered along a binomial tree, then passed around a ring: no process sends more than
        /// twice the data.
        ScatterRing = "scatter-ring",
        /// The same, but the parts are gathered by recursive doubling; where the size is no power of two, by
        /// the ring.
        ScatterDoubling = "scatter-doubling",
        /// The root sends to everybody, one after the other.
        Flat = "flat",
        /// To the leaders of the nodes, and from them to the others of their nodes: the data comes to each
        /// host once. On one host the same as binomial.
        NodeAware = "node-aware",
    }
}

/// The broadcast of an intra-communicator.
pub fn broadcast(algorithm: Algorithm, place: Place, root: u32, data: Block) -> Schedule {
    if place.size == 1 || data.bytes() == 0 {
        return Schedule::with_capacity(0);
    }
    let mut schedule = Schedule::with_capacity(log2_ceil(place.size) as usize + 1);
    match (algorithm, place.nodes) {
        (Algorithm::NodeAware, Some(nodes)) => on_nodes(&mut schedule, place, nodes, root, data),
        _ => on_one_level(&mut schedule, algorithm, place, root, data),
    }
    schedule
}

/// Without regard to hosts.
fn on_one_level(schedule: &mut Schedule, algorithm: Algorithm, place: Place, root: u32, data: Block) {
    let whole = data.in_receive();
    match algorithm {
        Algorithm::Binomial | Algorithm::NodeAware => {
            tree::broadcast(schedule, &Tree::binomial(place, root), whole);
        }
        Algorithm::Flat => tree::broadcast(schedule, &Tree::flat(place, root), whole),
        Algorithm::ScatterRing => in_parts(schedule, gather_ring, place, root, data),
        Algorithm::ScatterDoubling if !place.size.is_power_of_two() => {
            in_parts(schedule, gather_ring, place, root, data);
        }
        Algorithm::ScatterDoubling => in_parts(schedule, gather_doubling, place, root, data),
    }
}

/// The leaders do as a communicator of their own would: along a tree, unless the data is long.
fn on_nodes(schedule: &mut Schedule, place: Place, nodes: &Nodes, root: u32, data: Block) {
    let seat = Seat::new(nodes, place.rank, root);
    match select::broadcast(Situation::on_one_level(nodes.count()), data.bytes()) {
        Algorithm::Binomial => seat.broadcast(schedule, data.in_receive(), data.bytes()),
        algorithm => {
            seat.among_leaders(schedule, |schedule| {
                on_one_level(schedule, algorithm, seat.outside(), seat.root_node, data);
            });
            seat.spread(schedule, data.in_receive(), data.bytes());
        }
    }
}

fn in_parts(
    schedule: &mut Schedule,
    gather: fn(&mut Schedule, &Tree, &Parts),
    place: Place,
    root: u32,
    data: Block,
) {
    let tree = Tree::binomial(place, root);
    let buffer = if data.layout.contiguous { Buffer::Receive } else { schedule.scratch_bytes(data.bytes()) };
    let whole = Span::packed(buffer, 0, data.bytes());
    let parts = Parts { buffer, bytes: data.bytes(), size: place.size };
    if !data.layout.contiguous && place.rank == root {
        schedule.copy(data.in_receive(), whole);
    }
    scatter(schedule, &tree, &parts);
    gather(schedule, &tree, &parts);
    if !data.layout.contiguous && place.rank != root {
        schedule.copy(whole, data.in_receive());
    }
    schedule.end_round();
}

/// The data, cut into one part for each position of the tree; the last ones may be short or empty.
struct Parts {
    buffer: Buffer,
    bytes: i64,
    size: u32,
}

impl Parts {
    /// Parts `first .. first + count`.
    fn span(&self, first: u32, count: u32) -> Span {
        let part = (self.bytes + i64::from(self.size) - 1) / i64::from(self.size);
        let start = (part * i64::from(first)).min(self.bytes);
        let end = (part * i64::from(first + count)).min(self.bytes);
        Span::packed(self.buffer, start, end - start)
    }
}

fn send_part(schedule: &mut Schedule, rank: u32, span: Span) {
    if span.count > 0 {
        schedule.send(local(rank), span);
    }
}

fn receive_part(schedule: &mut Schedule, rank: u32, span: Span) {
    if span.count > 0 {
        schedule.receive(local(rank), span);
    }
}

fn scatter(schedule: &mut Schedule, tree: &Tree, parts: &Parts) {
    if let Some(parent) = tree.parent() {
        receive_part(schedule, parent, parts.span(tree.position, tree.subtree()));
        schedule.end_round();
    }
    for child in tree.children().rev() {
        send_part(schedule, child.rank, parts.span(child.position, child.subtree));
    }
    schedule.end_round();
}

/// Each process passes on the part that it got last, unless the scatter has already brought it to the next
/// process.
fn gather_ring(schedule: &mut Schedule, tree: &Tree, parts: &Parts) {
    let size = parts.size;
    let (below, above) = ((tree.position + size - 1) % size, (tree.position + 1) % size);
    for step in 0..size - 1 {
        let wanted = (below + size - step) % size;
        if !arrived(tree, wanted, 1) {
            receive_part(schedule, tree.rank(below), parts.span(wanted, 1));
        }
        let held = (tree.position + size - step) % size;
        if !arrived(&tree.at(above), held, 1) {
            send_part(schedule, tree.rank(above), parts.span(held, 1));
        }
        schedule.end_round();
    }
}

/// Whether the scatter has brought parts `first .. first + count` to the process of `tree`.
fn arrived(tree: &Tree, first: u32, count: u32) -> bool {
    first >= tree.position && first + count <= tree.position + tree.subtree()
}

/// In round k the process and the one whose position differs in bit k exchange the 2^k parts that each holds.
fn gather_doubling(schedule: &mut Schedule, tree: &Tree, parts: &Parts) {
    for level in 0..log2_ceil(parts.size) {
        let width = 1 << level;
        let held = tree.position & !(width - 1);
        let wanted = held ^ width;
        let partner = tree.position ^ width;
        if !arrived(tree, wanted, width) {
            receive_part(schedule, tree.rank(partner), parts.span(wanted, width));
        }
        if !arrived(&tree.at(partner), held, width) {
            send_part(schedule, tree.rank(partner), parts.span(held, width));
        }
        schedule.end_round();
    }
}

/// The broadcast of an inter-communicator: to rank 0 of the other group, and from there along its tree.
pub fn inter(place: InterPlace, root: Root, data: Block) -> Schedule {
    let mut schedule = Schedule::with_capacity(log2_ceil(place.local.size) as usize + 2);
    if data.bytes() == 0 {
        return schedule;
    }
    match root {
        Root::Neighbour => {}
        Root::This => schedule.send(remote(0), data.in_receive()),
        Root::Remote(rank) => {
            if place.local.rank == 0 {
                schedule.receive(remote(rank), data.in_receive());
                schedule.end_round();
            }
            tree::broadcast(&mut schedule, &Tree::binomial(place.local, 0), data.in_receive());
        }
    }
    schedule
}
