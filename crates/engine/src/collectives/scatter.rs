//! `MPI_Scatter` and `MPI_Scatterv` (MPI 5.0, section 6.6): the gather with all arrows turned round.

use super::arguments::{Block, Blocks, InterPlace, Place, Root, local, remote};
use super::gather::{Packed, Staged, nodes_below, processes, runs_around};
use super::nodes::Seat;
use super::schedule::{Peer, Schedule, Span};
use super::tree::{Tree, log2_ceil};

algorithms! {
    /// How blocks are scattered from one process.
    {
        /// The root sends to everybody.
        Linear = "linear",
        /// Along a binomial tree: the root sends ceil(log2 n) messages; for small blocks.
        Binomial = "binomial",
        /// The leader of each node gets the blocks of its node in one message: every byte crosses from host
        /// to host once. On one host the same as linear.
        NodeAware = "node-aware",
        /// The same, but the leaders pass them on along a binomial tree: the root sends few messages, for
        /// small blocks and many hosts. On one host the same as binomial.
        NodeAwareTree = "node-aware-tree",
    }
}

/// The scatter of an intra-communicator. `send` is significant at the root only; `receive` is none for
/// `MPI_IN_PLACE`.
pub fn scatter(
    algorithm: Algorithm,
    place: Place,
    root: u32,
    send: Option<Block>,
    receive: Option<Block>,
) -> Schedule {
    match (algorithm, place.nodes) {
        (Algorithm::NodeAware, Some(nodes)) => {
            let seat = Seat::new(nodes, place.rank, root);
            on_nodes(&seat, &Tree::flat(seat.outside(), seat.root_node), send, receive)
        }
        (Algorithm::NodeAwareTree, Some(nodes)) => {
            let seat = Seat::new(nodes, place.rank, root);
            on_nodes(&seat, &Tree::binomial(seat.outside(), seat.root_node), send, receive)
        }
        (Algorithm::Linear | Algorithm::NodeAware, _) => {
            scatterv(place, root, send.map(Blocks::Equal), receive)
        }
        (Algorithm::Binomial | Algorithm::NodeAwareTree, _) => binomial(place, root, send, receive),
    }
}

/// The scatter of an intra-communicator with a block size for each process, which is linear as only the root
/// knows the sizes. `send` is significant at the root only; `receive` is none for `MPI_IN_PLACE`.
pub fn scatterv(place: Place, root: u32, send: Option<Blocks>, receive: Option<Block>) -> Schedule {
    if let Some(send) = send.filter(|_| place.rank == root) {
        let mut schedule = Schedule::with_capacity(place.size as usize);
        send_all(&mut schedule, place.size, &send, local, Some(root));
        if let Some(block) = receive.filter(|block| block.bytes() > 0) {
            schedule.copy_meanwhile(send.in_send(root), block.in_receive());
        }
        return schedule;
    }
    let mut schedule = Schedule::with_capacity(1);
    receive_own(&mut schedule, receive, local(root));
    schedule
}

/// Sends their blocks to all but one process.
fn send_all(schedule: &mut Schedule, size: u32, send: &Blocks, peer: fn(u32) -> Peer, except: Option<u32>) {
    for rank in (0..size).filter(|rank| Some(*rank) != except && send.bytes(*rank) > 0) {
        schedule.send(peer(rank), send.in_send(rank));
    }
}

fn receive_own(schedule: &mut Schedule, receive: Option<Block>, root: Peer) {
    if let Some(block) = receive.filter(|block| block.bytes() > 0) {
        schedule.receive(root, block.in_receive());
    }
}

fn binomial(place: Place, root: u32, send: Option<Block>, receive: Option<Block>) -> Schedule {
    let tree = Tree::binomial(place, root);
    let mut schedule = Schedule::with_capacity(log2_ceil(place.size) as usize + 3);
    match (tree.parent(), send, receive) {
        (None, Some(send), _) if send.bytes() > 0 => at_root(&mut schedule, &tree, place, send, receive),
        (Some(parent), _, Some(block)) if block.bytes() > 0 => {
            on_the_way(&mut schedule, &tree, parent, block);
        }
        _ => {}
    }
    schedule
}

fn at_root(schedule: &mut Schedule, tree: &Tree, place: Place, send: Block, receive: Option<Block>) {
    let wraps = |child: &super::tree::Child| child.rank + child.subtree > place.size;
    let mut packed = None;
    if let Some(child) = tree.children().find(wraps) {
        let bytes = send.bytes() * i64::from(child.subtree);
        let buffer = schedule.scratch_bytes(bytes);
        for run in runs_around(place, child, send.bytes(), buffer) {
            schedule.copy(send.run_in_send(run.first, run.count), run.packed);
        }
        packed = Some(Span::packed(buffer, 0, bytes));
    }
    for child in tree.children().rev() {
        let direct = send.run_in_send(child.rank, child.subtree);
        schedule.send(local(child.rank), packed.filter(|_| wraps(&child)).unwrap_or(direct));
    }
    if let Some(block) = receive {
        schedule.copy_meanwhile(send.run_in_send(place.rank, 1), block.in_receive());
    }
}

fn on_the_way(schedule: &mut Schedule, tree: &Tree, parent: u32, block: Block) {
    if tree.subtree() == 1 {
        schedule.receive(local(parent), block.in_receive());
        return;
    }
    let bytes = block.bytes();
    let total = bytes * i64::from(tree.subtree());
    let buffer = schedule.scratch_bytes(total);
    schedule.receive(local(parent), Span::packed(buffer, 0, total));
    schedule.end_round();
    for child in tree.children().rev() {
        let offset = bytes * i64::from(child.position - tree.position);
        schedule.send(local(child.rank), Span::packed(buffer, offset, bytes * i64::from(child.subtree)));
    }
    schedule.copy_meanwhile(Span::packed(buffer, 0, bytes), block.in_receive());
}

fn on_nodes(seat: &Seat, tree: &Tree, send: Option<Block>, receive: Option<Block>) -> Schedule {
    let mut schedule = Schedule::with_capacity(seat.members().len() + 4);
    match (seat.is_root(), send, receive) {
        (true, Some(send), _) if send.bytes() > 0 => {
            at_root_on_nodes(&mut schedule, seat, tree, send, receive);
        }
        (false, _, Some(block)) if block.bytes() > 0 => match tree.parent() {
            Some(parent) if seat.leads() => {
                lead(&mut schedule, seat, tree, seat.leader(parent), block);
            }
            _ => schedule.receive(local(seat.leader(seat.node)), block.in_receive()),
        },
        _ => {}
    }
    schedule
}

fn at_root_on_nodes(schedule: &mut Schedule, seat: &Seat, tree: &Tree, send: Block, receive: Option<Block>) {
    let staged = Staged::new(schedule, seat, tree, send.bytes());
    for run in staged.runs() {
        schedule.copy(send.run_in_send(run.first, run.count), run.packed);
    }
    for (child, packed) in tree.children().zip(&staged.children).rev() {
        let from = match packed {
            Packed::Run((first, count)) => send.run_in_send(*first, *count),
            Packed::Scratch { span, .. } => *span,
        };
        schedule.send(local(seat.leader(child.rank)), from);
    }
    for member in seat.others() {
        schedule.send(local(member), send.run_in_send(member, 1));
    }
    if let Some(block) = receive {
        schedule.copy(send.run_in_send(seat.rank(), 1), block.in_receive());
    }
}

/// A leader serves the nodes below it, which have the longest way to go, then its own.
fn lead(schedule: &mut Schedule, seat: &Seat, tree: &Tree, parent: u32, block: Block) {
    let (bytes, members) = (block.bytes(), seat.members());
    let below = |position, subtree| processes(seat.nodes, nodes_below(*tree, position, subtree));
    let all = below(tree.position, tree.subtree());
    if all == 1 {
        schedule.receive(local(parent), block.in_receive());
        return;
    }
    let buffer = schedule.scratch_bytes(all * bytes);
    schedule.receive(local(parent), Span::packed(buffer, 0, all * bytes));
    schedule.end_round();
    let mut end = all * bytes;
    for child in tree.children().rev() {
        let subtree = below(child.position, child.subtree) * bytes;
        end -= subtree;
        schedule.send(local(seat.leader(child.rank)), Span::packed(buffer, end, subtree));
    }
    debug_assert_eq!(end, members.len() as i64 * bytes);
    for member in seat.others() {
        let position = i64::from(seat.nodes.position(member));
        schedule.send(local(member), Span::packed(buffer, position * bytes, bytes));
    }
    let own = i64::from(seat.inside().rank) * bytes;
    schedule.copy(Span::packed(buffer, own, bytes), block.in_receive());
}

/// The scatter of an inter-communicator, both forms: the root sends to everybody of the other group.
/// `send` is significant at the root, `receive` in the group that is sent to.
pub fn inter(place: InterPlace, root: Root, send: Option<Blocks>, receive: Option<Block>) -> Schedule {
    let mut schedule = Schedule::with_capacity(1);
    match (root, send) {
        (Root::This, Some(send)) => send_all(&mut schedule, place.remote_size, &send, remote, None),
        (Root::Remote(rank), _) => receive_own(&mut schedule, receive, remote(rank)),
        _ => {}
    }
    schedule
}
