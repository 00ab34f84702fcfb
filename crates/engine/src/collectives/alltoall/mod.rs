//! `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallw` (MPI 5.0, section 6.8).

mod on_nodes;

use super::arguments::{Block, Blocks, InterPlace, Place, local, remote};
use super::schedule::{Schedule, Span};
use super::tree::log2_ceil;

algorithms! {
    /// How blocks are exchanged between all processes.
    {
        /// Everything is posted at once, in batches of [`LINEAR_BATCH`] peers: one wait, for short and
        /// middling blocks.
        Linear = "linear",
        /// One peer after the other: for long blocks, which would only compete for memory.
        Pairwise = "pairwise",
        /// In round k a process passes on the packed blocks whose way has bit k set: ceil(log2 n) messages,
        /// for tiny blocks. The v and w forms, of whose counts a process knows only its own, are linear
        /// instead.
        Bruck = "bruck",
        /// What goes from one host to another travels as one message; for short blocks. The v and w forms,
        /// of whose counts a process knows only its own, exchanges in place and those on one host are linear
        /// instead.
        NodeAware = "node-aware",
    }
}

/// The peers that the linear algorithm exchanges with at a time: bounds the unexpected messages of a process.
pub const LINEAR_BATCH: u32 = 64;

/// The exchange of an intra-communicator, all forms; `send` is none for `MPI_IN_PLACE`.
pub fn alltoall(algorithm: Algorithm, place: Place, send: Option<Blocks>, receive: Blocks) -> Schedule {
    if let (Algorithm::NodeAware, Some(nodes)) = (algorithm, place.nodes)
        && let (Some(Blocks::Equal(send)), Blocks::Equal(receive)) = (send, receive)
    {
        return on_nodes::on_nodes(place, nodes, send, receive);
    }
    match (algorithm, send, receive) {
        (Algorithm::Bruck, None, Blocks::Equal(receive)) => bruck(place, None, receive),
        (Algorithm::Bruck, Some(Blocks::Equal(send)), Blocks::Equal(receive)) => {
            bruck(place, Some(send), receive)
        }
        (_, None, _) => in_place(place, &receive),
        (Algorithm::Pairwise, Some(send), _) => direct(place, &send, &receive, 1),
        (_, Some(send), _) => direct(place, &send, &receive, LINEAR_BATCH),
    }
}

/// Exchanges with `batch` peers in a round. Sender and receiver meet in the same round, since it goes by
/// their distance.
fn direct(place: Place, send: &Blocks, receive: &Blocks, batch: u32) -> Schedule {
    let mut schedule = Schedule::with_capacity(2 * place.size as usize);
    let mut first = 1_u32;
    loop {
        let last = place.size.min(first.saturating_add(batch));
        for source in (first..last).map(|distance| place.below(distance)) {
            if receive.bytes(source) > 0 {
                schedule.receive(local(source), receive.in_receive(source));
            }
        }
        for target in (first..last).map(|distance| place.above(distance)) {
            if send.bytes(target) > 0 {
                schedule.send(local(target), send.in_send(target));
            }
        }
        if last == place.size && receive.bytes(place.rank) > 0 {
            schedule.copy_meanwhile(send.in_send(place.rank), receive.in_receive(place.rank));
        }
        schedule.end_round();
        if last == place.size {
            return schedule;
        }
        first = last;
    }
}

/// Pairs exchange their blocks through scratch of one block. In round k the ranks that add up to k modulo the
/// size meet.
fn in_place(place: Place, blocks: &Blocks) -> Schedule {
    let Place { rank, size, .. } = place;
    let mut schedule = Schedule::with_capacity(3 * size as usize);
    let block_bytes_max = (0..size).filter(|peer| *peer != rank).map(|peer| blocks.bytes(peer)).max();
    let buffer = schedule.scratch_bytes(block_bytes_max.unwrap_or(0));
    for partner in (0..size).map(|round| (round + size - rank) % size) {
        let bytes = blocks.bytes(partner);
        if partner != rank && bytes > 0 {
            schedule.receive(local(partner), Span::packed(buffer, 0, bytes));
            schedule.send(local(partner), blocks.in_receive(partner));
            schedule.copy(Span::packed(buffer, 0, bytes), blocks.in_receive(partner));
        }
    }
    schedule
}

/// Block d of scratch is the one that has to go up by d ranks (before) or has come up by d ranks (after).
fn bruck(place: Place, send: Option<Block>, receive: Block) -> Schedule {
    let (size, bytes) = (place.size, receive.bytes());
    let levels = log2_ceil(size);
    let mut schedule = Schedule::with_capacity((size * (levels + 2)) as usize);
    if bytes == 0 {
        return schedule;
    }
    let buffer = schedule.scratch_bytes(bytes * i64::from(size));
    let half = bytes * i64::from(size.div_ceil(2));
    let (leaving, arriving) = (schedule.scratch_bytes(half), schedule.scratch_bytes(half));
    let block = |buffer, index: u32| Span::packed(buffer, bytes * i64::from(index), bytes);
    for distance in 0..size {
        let target = place.above(distance);
        let from = match send {
            Some(send) => send.run_in_send(target, 1),
            None => receive.run_in_receive(target, 1),
        };
        schedule.copy(from, block(buffer, distance));
    }
    for level in 0..levels {
        let moving = || (0..size).filter(move |distance| distance & (1 << level) != 0).zip(0..);
        for (distance, index) in moving() {
            schedule.copy(block(buffer, distance), block(leaving, index));
        }
        let total = bytes * moving().count() as i64;
        schedule.receive(local(place.below(1 << level)), Span::packed(arriving, 0, total));
        schedule.send(local(place.above(1 << level)), Span::packed(leaving, 0, total));
        for (distance, index) in moving() {
            schedule.copy(block(arriving, index), block(buffer, distance));
        }
    }
    for distance in 0..size {
        schedule.copy(block(buffer, distance), receive.run_in_receive(place.below(distance), 1));
    }
    schedule
}

/// The exchange of an inter-communicator, all forms: everybody sends to everybody of the other group. Round k
/// joins the ranks that add up to a number of the k-th batch modulo the larger size, in both directions.
pub fn inter(place: InterPlace, send: Blocks, receive: Blocks) -> Schedule {
    let Place { rank, size, .. } = place.local;
    let mut schedule = Schedule::with_capacity(2 * place.remote_size as usize);
    let larger = u64::from(size.max(place.remote_size));
    let partner = |sum: u64| ((sum + larger - u64::from(rank)) % larger) as u32;
    let mut first = 0;
    while first < larger {
        let last = larger.min(first + u64::from(LINEAR_BATCH));
        let partners = || (first..last).map(partner).filter(|partner| *partner < place.remote_size);
        for peer in partners().filter(|peer| receive.bytes(*peer) > 0) {
            schedule.receive(remote(peer), receive.in_receive(peer));
        }
        for peer in partners().filter(|peer| send.bytes(*peer) > 0) {
            schedule.send(remote(peer), send.in_send(peer));
        }
        schedule.end_round();
        first = last;
    }
    schedule
}
