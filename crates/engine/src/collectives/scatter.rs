//! `MPI_Scatter` and `MPI_Scatterv` (MPI 5.0, section 6.6): the gather with all arrows turned round.

use super::arguments::{Block, Blocks, InterPlace, Place, Root, local, remote};
use super::gather::runs_around;
use super::schedule::{Peer, Schedule, Span};
use super::tree::{Tree, log2_ceil};

algorithms! {
    /// How blocks are scattered from one process.
    {
        /// The root sends to everybody.
        Linear = "linear",
        /// Along a binomial tree: the root sends ceil(log2 n) messages; for small blocks.
        Binomial = "binomial",
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
    match algorithm {
        Algorithm::Linear => scatterv(place, root, send.map(Blocks::Equal), receive),
        Algorithm::Binomial => binomial(place, root, send, receive),
    }
}

/// The scatter of an intra-communicator with a block size for each process, which is linear as only the root
/// knows the sizes. `send` is significant at the root only; `receive` is none for `MPI_IN_PLACE`.
pub fn scatterv(place: Place, root: u32, send: Option<Blocks>, receive: Option<Block>) -> Schedule {
    if let Some(send) = send.filter(|_| place.rank == root) {
        let mut schedule = Schedule::with_capacity(place.size as usize);
        send_all(&mut schedule, place.size, &send, local, Some(root));
        if let Some(block) = receive.filter(|block| block.bytes() > 0) {
            schedule.copy(send.in_send(root), block.in_receive());
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
        schedule.copy(send.run_in_send(place.rank, 1), block.in_receive());
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
    schedule.copy(Span::packed(buffer, 0, bytes), block.in_receive());
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
