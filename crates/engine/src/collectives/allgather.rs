//! `MPI_Allgather` and `MPI_Allgatherv` (MPI 5.0, section 6.7).

use super::arguments::{Blocks, Contribution, InterPlace, Place, local, remote};
use super::gather::copy_own;
use super::nodes::{Nodes, Seat};
use super::schedule::{Buffer, Schedule, Span};
use super::select::{self, Situation};
use super::tree::{self, Tree, log2_ceil};

algorithms! {
    /// How blocks are gathered at all processes.
    {
        /// n - 1 rounds, in each of which a process passes on the block that it got last: for long blocks. No
        /// staging.
        Ring = "ring",
        /// In round k a process sends the 2^k packed blocks that it has to the one 2^k below it: ceil(log2 n)
        /// rounds for any size; for short blocks.
        Bruck = "bruck",
        /// To rank 0 along a binomial tree, and back as results spread: 2(n - 1) messages, the fewest possible.
        Tree = "tree",
        /// Everybody sends to rank 0, and the result comes back as results spread: as many messages as
        /// the tree, but nobody has to wait twice, which on a crowded node counts for more than the depth.
        Flat = "flat",
        /// Nodes gather at their leaders, these exchange the blocks of whole nodes, and each tells its node:
        /// the blocks of other hosts come to each host once. On one host the same as tree.
        NodeAware = "node-aware",
    }
}

/// The gather to all of an intra-communicator, both forms.
pub fn allgather(algorithm: Algorithm, place: Place, send: Contribution, receive: Blocks) -> Schedule {
    let total = receive.total_bytes(place.size);
    if total == 0 {
        return Schedule::with_capacity(0);
    }
    match (algorithm, place.nodes) {
        _ if place.size == 1 => {
            let mut schedule = Schedule::with_capacity(1);
            copy_own(&mut schedule, 0, send, &receive);
            schedule
        }
        (Algorithm::NodeAware, Some(nodes)) => on_nodes(place.rank, nodes, send, &receive),
        (Algorithm::Ring, _) => ring(place, send, &receive),
        (Algorithm::Bruck, _) => bruck(place, send, &receive),
        (Algorithm::Tree | Algorithm::NodeAware, _) => {
            there_and_back(place, &Tree::binomial(place, 0), send, &receive)
        }
        (Algorithm::Flat, _) => there_and_back(place, &Tree::flat(place, 0), send, &receive),
    }
}

/// This process's own block, where it stands at the start.
fn own_block(rank: u32, send: Contribution, receive: &Blocks) -> Span {
    match send {
        Contribution::Send(block) => block.in_send(),
        Contribution::InPlace => receive.in_receive(rank),
    }
}

fn ring(place: Place, send: Contribution, receive: &Blocks) -> Schedule {
    let mut schedule = Schedule::with_capacity(2 * place.size as usize);
    for step in 0..place.size - 1 {
        let (wanted, held) = (place.below(step + 1), place.below(step));
        if receive.bytes(wanted) > 0 {
            schedule.receive(local(place.below(1)), receive.in_receive(wanted));
        }
        if receive.bytes(held) > 0 {
            let from = if step == 0 { own_block(held, send, receive) } else { receive.in_receive(held) };
            schedule.send(local(place.above(1)), from);
        }
        if step == 0 {
            copy_own(&mut schedule, place.rank, send, receive);
        }
        schedule.end_round();
    }
    schedule
}

/// Where the packed blocks of `size` ranks start if they stand in the cyclic order from `first`; one more
/// entry is the end.
fn offsets(receive: &Blocks, first: u32, size: u32) -> Vec<i64> {
    let mut next = 0;
    let ends = (0..size).map(|index| {
        next += receive.bytes(((u64::from(first) + u64::from(index)) % u64::from(size)) as u32);
        next
    });
    std::iter::once(0).chain(ends).collect()
}

fn bruck(place: Place, send: Contribution, receive: &Blocks) -> Schedule {
    let offsets = offsets(receive, place.rank, place.size);
    let mut schedule = Schedule::with_capacity(place.size as usize + 2 * log2_ceil(place.size) as usize + 1);
    let buffer = schedule.scratch_bytes(offsets[place.size as usize]);
    let blocks = |from: u32, to: u32| {
        let (start, end) = (offsets[from as usize], offsets[to as usize]);
        Span::packed(buffer, start, end - start)
    };
    if blocks(0, 1).count > 0 {
        schedule.copy(own_block(place.rank, send, receive), blocks(0, 1));
    }
    let mut held = 1;
    while held < place.size {
        let more = held.min(place.size - held);
        let incoming = blocks(held, held + more);
        if incoming.count > 0 {
            schedule.receive(local(place.above(held)), incoming);
        }
        // The receiver knows the sizes of the same blocks as its own incoming ones.
        if blocks(0, more).count > 0 {
            schedule.send(local(place.below(held)), blocks(0, more));
        }
        schedule.end_round();
        held += more;
    }
    for index in 0..place.size {
        let rank = place.above(index);
        let stays = index == 0 && send == Contribution::InPlace;
        if !stays && receive.bytes(rank) > 0 {
            schedule.copy(blocks(index, index + 1), receive.in_receive(rank));
        }
    }
    schedule
}

/// The packed form of all blocks: the receive buffer itself if it has that form, else scratch that is
/// unpacked at the end.
fn packed_form(schedule: &mut Schedule, receive: &Blocks, total: i64) -> Buffer {
    if receive.is_contiguous() { Buffer::Receive } else { schedule.scratch_bytes(total) }
}

fn there_and_back(place: Place, there: &Tree, send: Contribution, receive: &Blocks) -> Schedule {
    let offsets = offsets(receive, 0, place.size);
    let total = offsets[place.size as usize];
    let mut schedule = Schedule::with_capacity(2 * log2_ceil(place.size) as usize + 4);
    let buffer = packed_form(&mut schedule, receive, total);
    let blocks = |first: u32, count: u32| {
        let (start, end) = (offsets[first as usize], offsets[(first + count) as usize]);
        Span::packed(buffer, start, end - start)
    };
    for child in there.children() {
        let subtree = blocks(child.position, child.subtree);
        if subtree.count > 0 {
            schedule.receive(local(child.rank), subtree);
        }
    }
    let own = own_block(place.rank, send, receive);
    if blocks(place.rank, 1).count > 0 && own.buffer != buffer {
        schedule.copy(own, blocks(place.rank, 1));
    }
    schedule.end_round();
    let subtree = blocks(place.rank, there.subtree());
    if let Some(parent) = there.parent().filter(|_| subtree.count > 0) {
        schedule.send(local(parent), subtree);
        schedule.end_round();
    }
    tree::broadcast(&mut schedule, &place.spreading.tree(place, 0, total), blocks(0, place.size));
    unpack(&mut schedule, buffer, receive, 0..place.size);
    schedule
}

fn on_nodes(rank: u32, nodes: &Nodes, send: Contribution, receive: &Blocks) -> Schedule {
    let seat = Seat::rootless(nodes, rank);
    let mut ends = vec![0];
    let mut total = 0;
    for rank in nodes.ranks() {
        total += receive.bytes(rank);
        ends.push(total);
    }
    let mut schedule = Schedule::with_capacity(seat.members().len() + 2 * nodes.count() as usize);
    let buffer = if nodes.in_order() {
        packed_form(&mut schedule, receive, total)
    } else {
        schedule.scratch_bytes(total)
    };
    let places = |first: u32, count: u32| {
        let (start, end) = (ends[first as usize], ends[(first + count) as usize]);
        Span::packed(buffer, start, end - start)
    };
    let start = nodes.start(seat.node);
    gather_in_node(&mut schedule, &seat, own_block(rank, send, receive), |position| {
        places(start + position, 1)
    });
    let count = nodes.count();
    // The blocks of some nodes from one on, around the last: one span or two.
    let region = |first: u32, some: u32| {
        let before = some.min(count - first);
        [(first, before), (0, some - before)].map(|(first, some)| {
            let start = nodes.start(first);
            places(start, nodes.start(first + some) - start)
        })
    };
    let way = match select::allgather(Situation::on_one_level(count), total) {
        Algorithm::Ring => pass_around,
        _ => double,
    };
    seat.among_leaders(&mut schedule, |schedule| way(schedule, seat.outside(), &region));
    seat.spread(&mut schedule, places(0, ends.len() as u32 - 1), total);
    unpack(&mut schedule, buffer, receive, nodes.ranks());
    schedule
}

/// Brings the blocks of a node to its leader, where `place` says where they belong by their positions.
fn gather_in_node(schedule: &mut Schedule, seat: &Seat, own: Span, place: impl Fn(u32) -> Span) {
    let into = place(seat.inside().rank);
    if !seat.leads() {
        if into.count > 0 {
            schedule.send(local(seat.leader(seat.node)), own);
        }
        schedule.end_round();
        return;
    }
    for member in seat.others() {
        let into = place(seat.nodes.position(member));
        if into.count > 0 {
            schedule.receive(local(member), into);
        }
    }
    if into.count > 0 && own.buffer != into.buffer {
        schedule.copy(own, into);
    }
    schedule.end_round();
}

/// Where the blocks of some nodes from one on are, around the last: in one span or two.
type Region<'a> = &'a dyn Fn(u32, u32) -> [Span; 2];

/// Everybody gets everybody's region: in each round a process passes on the one that it got last.
fn pass_around(schedule: &mut Schedule, place: Place, region: Region) {
    for step in 0..place.size - 1 {
        let (wanted, held) = (region(place.below(step + 1), 1), region(place.below(step), 1));
        trade(schedule, (place.below(1), wanted), (place.above(1), held));
    }
}

/// Everybody gets everybody's region: after each round a process has twice as many, from its own on upwards.
fn double(schedule: &mut Schedule, place: Place, region: Region) {
    let mut held = 1;
    while held < place.size {
        let more = held.min(place.size - held);
        let (wanted, given) = (region(place.above(held), more), region(place.rank, more));
        trade(schedule, (place.above(held), wanted), (place.below(held), given));
        held += more;
    }
}

fn trade(schedule: &mut Schedule, (source, wanted): (u32, [Span; 2]), (target, given): (u32, [Span; 2])) {
    for span in wanted.iter().filter(|span| span.count > 0) {
        schedule.receive(local(source), *span);
    }
    for span in given.iter().filter(|span| span.count > 0) {
        schedule.send(local(target), *span);
    }
    schedule.end_round();
}

/// Unpacks the blocks of `ranks`, which stand in this order in scratch.
fn unpack(schedule: &mut Schedule, buffer: Buffer, receive: &Blocks, ranks: impl Iterator<Item = u32>) {
    if buffer == Buffer::Receive {
        return;
    }
    let mut start = 0;
    for rank in ranks {
        let bytes = receive.bytes(rank);
        if bytes > 0 {
            schedule.copy(Span::packed(buffer, start, bytes), receive.in_receive(rank));
        }
        start += bytes;
    }
}

/// The gather to all of an inter-communicator, both forms: a process sends its block to rank 0 of the other
/// group, which passes all of them on along its tree.
pub fn inter(place: InterPlace, send: Contribution, receive: Blocks) -> Schedule {
    let mut schedule = Schedule::with_capacity(place.remote_size as usize + 4);
    let total = receive.total_bytes(place.remote_size);
    let buffer = packed_form(&mut schedule, &receive, total);
    if place.local.rank == 0 {
        let mut start = 0;
        for rank in 0..place.remote_size {
            let bytes = receive.bytes(rank);
            if bytes > 0 {
                schedule.receive(remote(rank), Span::packed(buffer, start, bytes));
            }
            start += bytes;
        }
    }
    if let Contribution::Send(block) = send
        && block.bytes() > 0
    {
        schedule.send(remote(0), block.in_send());
    }
    schedule.end_round();
    if total > 0 {
        let tree = Tree::binomial(place.local, 0);
        tree::broadcast(&mut schedule, &tree, Span::packed(buffer, 0, total));
        unpack(&mut schedule, buffer, &receive, 0..place.remote_size);
    }
    schedule
}
