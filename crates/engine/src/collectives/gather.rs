//! `MPI_Gather` and `MPI_Gatherv` (MPI 5.0, section 6.5).
//!
//! On the way the blocks of a subtree travel packed, one behind the other in the order of tree positions.

use super::arguments::{Block, Blocks, Contribution, InterPlace, Place, Root, local, remote};
use super::nodes::{Nodes, Seat};
use super::schedule::{Buffer, Peer, Schedule, Span};
use super::tree::{Child, Tree, log2_ceil};

algorithms! {
    /// How blocks are gathered at one process.
    {
        /// Everybody sends to the root.
        Linear = "linear",
        /// Along a binomial tree: the root receives ceil(log2 n) messages; for small blocks.
        Binomial = "binomial",
        /// The leader of each node sends the blocks of its node in one message: every byte crosses from host
        /// to host once. On one host the same as linear.
        NodeAware = "node-aware",
        /// The same, but the leaders pass them on along a binomial tree: the root receives few messages, for
        /// small blocks and many hosts. On one host the same as binomial.
        NodeAwareTree = "node-aware-tree",
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
            gatherv(place, root, send, receive.map(Blocks::Equal))
        }
        (Algorithm::Binomial | Algorithm::NodeAwareTree, _) => binomial(place, root, send, receive),
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

/// Copies a process's own block to its place, unless it is there, while the blocks of others come.
pub(super) fn copy_own(schedule: &mut Schedule, rank: u32, send: Contribution, receive: &Blocks) {
    if let Contribution::Send(block) = send
        && block.bytes() > 0
    {
        schedule.copy_meanwhile(block.in_send(), receive.in_receive(rank));
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

fn on_nodes(seat: &Seat, tree: &Tree, send: Contribution, receive: Option<Block>) -> Schedule {
    let mut schedule = Schedule::with_capacity(seat.members().len() + 4);
    match (tree.parent(), send, receive) {
        (None, _, Some(block)) if block.bytes() > 0 && seat.is_root() => {
            at_root_on_nodes(&mut schedule, seat, tree, send, block);
        }
        (_, Contribution::Send(block), _) if block.bytes() > 0 => match tree.parent() {
            Some(parent) if seat.leads() => {
                lead(&mut schedule, seat, tree, seat.leader(parent), block);
            }
            _ => schedule.send(local(seat.leader(seat.node)), block.in_send()),
        },
        _ => {}
    }
    schedule
}

/// The nodes below a position of a tree of nodes, itself included, in the order in which their blocks travel.
pub(super) fn nodes_below(tree: Tree, position: u32, subtree: u32) -> impl Iterator<Item = u32> {
    (position..position + subtree).map(move |position| tree.rank(position))
}

/// How many processes some nodes have.
pub(super) fn processes(nodes: &Nodes, some: impl Iterator<Item = u32>) -> i64 {
    some.map(|node| nodes.members(node).len() as i64).sum()
}

fn at_root_on_nodes(schedule: &mut Schedule, seat: &Seat, tree: &Tree, send: Contribution, block: Block) {
    let staged = Staged::new(schedule, seat, tree, block.bytes());
    for (child, packed) in tree.children().zip(&staged.children) {
        let into = match packed {
            Packed::Run((first, count)) => block.run_in_receive(*first, *count),
            Packed::Scratch { span, .. } => *span,
        };
        schedule.receive(local(seat.leader(child.rank)), into);
    }
    for member in seat.others() {
        schedule.receive(local(member), block.run_in_receive(member, 1));
    }
    copy_own(schedule, seat.rank(), send, &Blocks::Equal(block));
    for run in staged.runs() {
        schedule.copy(run.packed, block.run_in_receive(run.first, run.count));
    }
}

/// What the root has of the subtrees of its children in a tree of nodes.
pub(super) struct Staged {
    pub children: Vec<Packed>,
    block_bytes: i64,
}

/// The blocks of a subtree.
pub(super) enum Packed {
    /// They lie in the user's buffer, one after the other.
    Run((u32, u32)),
    /// They do not: they travel through scratch.
    Scratch { span: Span, runs: Vec<(u32, u32)> },
}

impl Staged {
    pub fn new(schedule: &mut Schedule, seat: &Seat, tree: &Tree, block_bytes: i64) -> Self {
        let mut end = 0;
        let mut place = |child: Child| {
            let runs = seat.nodes.runs(nodes_below(*tree, child.position, child.subtree));
            if let [run] = runs[..] {
                return Packed::Run(run);
            }
            let bytes = runs.iter().map(|(_, count)| i64::from(*count) * block_bytes).sum();
            let span = Span::packed(Buffer::Receive, end, bytes);
            end += bytes;
            Packed::Scratch { span, runs }
        };
        let mut children: Vec<Packed> = tree.children().map(&mut place).collect();
        if end > 0 {
            let scratch = schedule.scratch_bytes(end);
            for packed in &mut children {
                if let Packed::Scratch { span, .. } = packed {
                    span.buffer = scratch;
                }
            }
        }
        Self { children, block_bytes }
    }

    /// The runs that travel through scratch.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.children.iter().flat_map(|packed| match packed {
            Packed::Run(_) => Vec::new(),
            Packed::Scratch { span, runs } => {
                let mut start = span.displacement;
                let place = |(first, count): &(u32, u32)| {
                    let bytes = i64::from(*count) * self.block_bytes;
                    start += bytes;
                    let packed = Span::packed(span.buffer, start - bytes, bytes);
                    Run { packed, first: *first, count: *count }
                };
                runs.iter().map(place).collect()
            }
        })
    }
}

/// A leader collects the blocks of its node, then those of the nodes below it.
fn lead(schedule: &mut Schedule, seat: &Seat, tree: &Tree, parent: u32, block: Block) {
    let (bytes, members) = (block.bytes(), seat.members());
    let all = processes(seat.nodes, nodes_below(*tree, tree.position, tree.subtree()));
    if all == 1 {
        schedule.send(local(parent), block.in_send());
        return;
    }
    let buffer = schedule.scratch_bytes(all * bytes);
    for member in seat.others() {
        let position = i64::from(seat.nodes.position(member));
        schedule.receive(local(member), Span::packed(buffer, position * bytes, bytes));
    }
    let mut start = members.len() as i64 * bytes;
    for child in tree.children() {
        let subtree = processes(seat.nodes, nodes_below(*tree, child.position, child.subtree)) * bytes;
        schedule.receive(local(seat.leader(child.rank)), Span::packed(buffer, start, subtree));
        start += subtree;
    }
    let own = i64::from(seat.inside().rank) * bytes;
    schedule.copy(block.in_send(), Span::packed(buffer, own, bytes));
    schedule.send(local(parent), Span::packed(buffer, 0, all * bytes));
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
