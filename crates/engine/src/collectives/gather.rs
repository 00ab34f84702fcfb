//! `MPI_Gather` and `MPI_Gatherv` (MPI 5.0, section 6.5).
//!
//! On the way the blocks of a subtree travel packed, one behind the other in the order of tree positions.

use super::arguments::{Block, Blocks, Contribution, InterPlace, Place, Root, local, remote};
use super::schedule::{Buffer, Peer, Schedule, Span};
use super::tree::{Child, Tree, log2_ceil};

algorithms! {
    /// How blocks are gathered at one process.
    {
        /// Everybody sends to the root.
        Linear = "linear",
        /// Along a binomial tree: the root receives ceil(log2 n) messages; for small blocks.
        Binomial = "binomial",
    }
}

/// The gather of an intra-communicator. `receive` is significant at the root only.
pub fn gather(
    algorithm: Algorithm,
    place: Place,
    root: u32,
    send: Contribution,
    receive: Option<Block>,
) -> Schedule {
    match algorithm {
        Algorithm::Linear => gatherv(place, root, send, receive.map(Blocks::Equal)),
        Algorithm::Binomial => binomial(place, root, send, receive),
    }
}

/// The gather of an intra-communicator with a block size for each process, which is linear as only the root
/// knows the sizes. `receive` is significant at the root only.
pub fn gatherv(place: Place, root: u32, send: Contribution, receive: Option<Blocks>) -> Schedule {
    if let Some(receive) = receive.filter(|_| place.rank == root) {
        let mut schedule = Schedule::with_capacity(place.size as usize);
        receive_all(&mut schedule, place.size, &receive, local, Some(root));
        copy_own(&mut schedule, place.rank, send, &receive);
        return schedule;
    }
    let mut schedule = Schedule::with_capacity(1);
    send_own(&mut schedule, send, root, local);
    schedule
}

/// Receives the blocks of all but one process.
fn receive_all(
    schedule: &mut Schedule,
    size: u32,
    receive: &Blocks,
    peer: fn(u32) -> Peer,
    except: Option<u32>,
) {
    for rank in (0..size).filter(|rank| Some(*rank) != except && receive.bytes(*rank) > 0) {
        schedule.receive(peer(rank), receive.in_receive(rank));
    }
}

fn send_own(schedule: &mut Schedule, send: Contribution, root: u32, peer: fn(u32) -> Peer) {
    if let Contribution::Send(block) = send
        && block.bytes() > 0
    {
        schedule.send(peer(root), block.in_send());
    }
}

/// Copies a process's own block to its place, unless it is there.
pub(super) fn copy_own(schedule: &mut Schedule, rank: u32, send: Contribution, receive: &Blocks) {
    if let Contribution::Send(block) = send
        && block.bytes() > 0
    {
        schedule.copy(block.in_send(), receive.in_receive(rank));
    }
}

fn binomial(place: Place, root: u32, send: Contribution, receive: Option<Block>) -> Schedule {
    let tree = Tree::binomial(place, root);
    let mut schedule = Schedule::with_capacity(log2_ceil(place.size) as usize + 3);
    match (tree.parent(), send, receive) {
        (None, _, Some(block)) if block.bytes() > 0 => at_root(&mut schedule, &tree, place, send, block),
        (Some(parent), Contribution::Send(block), _) if block.bytes() > 0 => {
            on_the_way(&mut schedule, &tree, parent, block);
        }
        _ => {}
    }
    schedule
}

fn at_root(schedule: &mut Schedule, tree: &Tree, place: Place, send: Contribution, block: Block) {
    let mut wrapped = None;
    for child in tree.children() {
        if child.rank + child.subtree <= place.size {
            schedule.receive(local(child.rank), block.run_in_receive(child.rank, child.subtree));
        } else {
            let bytes = block.bytes() * i64::from(child.subtree);
            let buffer = schedule.scratch_bytes(bytes);
            schedule.receive(local(child.rank), Span::packed(buffer, 0, bytes));
            wrapped = Some(runs_around(place, child, block.bytes(), buffer));
        }
    }
    copy_own(schedule, place.rank, send, &Blocks::Equal(block));
    for run in wrapped.into_iter().flatten() {
        schedule.copy(run.packed, block.run_in_receive(run.first, run.count));
    }
}

/// Blocks of consecutive ranks, packed.
pub(super) struct Run {
    pub packed: Span,
    pub first: u32,
    pub count: u32,
}

/// The two runs of a subtree whose ranks go past the last one and on from 0, packed in `buffer`.
pub(super) fn runs_around(place: Place, child: Child, block_bytes: i64, buffer: Buffer) -> [Run; 2] {
    let before = place.size - child.rank;
    let after = child.subtree - before;
    let [split, rest] = [before, after].map(|count| block_bytes * i64::from(count));
    [
        Run { packed: Span::packed(buffer, 0, split), first: child.rank, count: before },
        Run { packed: Span::packed(buffer, split, rest), first: 0, count: after },
    ]
}

fn on_the_way(schedule: &mut Schedule, tree: &Tree, parent: u32, block: Block) {
    if tree.subtree() == 1 {
        schedule.send(local(parent), block.in_send());
        return;
    }
    let bytes = block.bytes();
    let total = bytes * i64::from(tree.subtree());
    let buffer = schedule.scratch_bytes(total);
    for child in tree.children() {
        let offset = bytes * i64::from(child.position - tree.position);
        schedule.receive(local(child.rank), Span::packed(buffer, offset, bytes * i64::from(child.subtree)));
    }
    schedule.copy(block.in_send(), Span::packed(buffer, 0, bytes));
    schedule.send(local(parent), Span::packed(buffer, 0, total));
}

/// The gather of an inter-communicator, both forms: everybody of the remote group sends to the root.
/// `receive` is significant at the root, `send` in the remote group.
pub fn inter(place: InterPlace, root: Root, send: Contribution, receive: Option<Blocks>) -> Schedule {
    let mut schedule = Schedule::with_capacity(1);
    match (root, receive) {
        (Root::This, Some(receive)) => {
            receive_all(&mut schedule, place.remote_size, &receive, remote, None);
        }
        (Root::Remote(rank), _) => send_own(&mut schedule, send, rank, remote),
        _ => {}
    }
    schedule
}
