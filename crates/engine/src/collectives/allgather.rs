//! `MPI_Allgather` and `MPI_Allgatherv` (MPI 5.0, section 6.7).

use super::arguments::{Blocks, Contribution, InterPlace, Place, local, remote};
use super::gather::copy_own;
use super::schedule::{Buffer, Schedule, Span};
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
        /// To rank 0 and back along a binomial tree: 2(n - 1) messages, the fewest possible.
        Tree = "tree",
        /// Everybody sends to rank 0, and the result comes back along a binomial tree: as many messages as
        /// the tree, but nobody has to wait twice, which on a crowded node counts for more than the depth.
        Flat = "flat",
    }
}

/// The gather to all of an intra-communicator, both forms.
pub fn allgather(algorithm: Algorithm, place: Place, send: Contribution, receive: Blocks) -> Schedule {
    let total = receive.total_bytes(place.size);
    if total == 0 {
        return Schedule::with_capacity(0);
    }
    match algorithm {
        _ if place.size == 1 => {
            let mut schedule = Schedule::with_capacity(1);
            copy_own(&mut schedule, 0, send, &receive);
            schedule
        }
        Algorithm::Ring => ring(place, send, &receive),
        Algorithm::Bruck => bruck(place, send, &receive),
        Algorithm::Tree => there_and_back(place, &Tree::binomial(place, 0), send, &receive),
        Algorithm::Flat => there_and_back(place, &Tree::flat(place, 0), send, &receive),
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
    tree::broadcast(&mut schedule, &Tree::binomial(place, 0), blocks(0, place.size));
    unpack(&mut schedule, buffer, receive, place.size);
    schedule
}

/// Unpacks blocks that stand in rank order in scratch.
fn unpack(schedule: &mut Schedule, buffer: Buffer, receive: &Blocks, size: u32) {
    if buffer == Buffer::Receive {
        return;
    }
    let mut start = 0;
    for rank in 0..size {
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
        unpack(&mut schedule, buffer, &receive, place.remote_size);
    }
    schedule
}
