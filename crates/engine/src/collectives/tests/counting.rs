//! What the algorithms cost in messages, bytes, rounds and copies, and when they are chosen.

use super::*;
use crate::collectives::arguments::{Blocks, Contribution};
use crate::collectives::reduction::Reduction;
use crate::collectives::schedule::Step;
use crate::collectives::select::{self, Situation};
use crate::collectives::spreading::Spreading;
use crate::collectives::{
    allgather, allreduce, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};

const BYTES: Layout = Layout { size: 1, extent: 1, contiguous: true };

/// Runs a collective on buffers of bytes, whatever is in them.
fn cost(size: u32, buffer_bytes: usize, schedule: impl Fn(Place<'static>) -> Schedule) -> Outcome {
    let member = |place: Place<'static>| Process {
        send: vec![1; buffer_bytes],
        receive: vec![1; buffer_bytes],
        ..process(0, place.rank, schedule(place), BYTE)
    };
    run(places(size).map(member).collect(), |left, _| left.to_vec(), 9)
}

fn reduction(count: i64, commutative: bool) -> Reduction {
    Reduction { count, layout: BYTES, commutative, in_place: false }
}

#[test]
fn trees_send_the_fewest_messages() {
    for size in 1..=17 {
        let others = size as usize - 1;
        let whole = reduction(24, true);
        let block = Block { count: 3, layout: BYTES };
        let messages = |schedule: &dyn Fn(Place<'static>) -> Schedule| cost(size, 100, schedule).messages;
        for tree in [barrier::Algorithm::Tree, barrier::Algorithm::Flat] {
            assert_eq!(messages(&|place| barrier::barrier(tree, place)), 2 * others);
        }
        for tree in [allreduce::Algorithm::Tree, allreduce::Algorithm::Flat] {
            assert_eq!(messages(&|place| allreduce::allreduce(tree, place, whole)), 2 * others);
        }
        let (send, blocks) = (Contribution::Send(block), Blocks::Equal(block));
        for tree in [allgather::Algorithm::Tree, allgather::Algorithm::Flat] {
            assert_eq!(messages(&|place| allgather::allgather(tree, place, send, blocks)), 2 * others);
        }
        let parts = reduce_scatter::Parts::Equal(1);
        let vector = reduction(parts.total(size), true);
        for tree in [reduce_scatter::Algorithm::Tree, reduce_scatter::Algorithm::Flat] {
            let schedule = |place| reduce_scatter::reduce_scatter(tree, place, parts, vector);
            assert_eq!(messages(&schedule), 2 * others);
        }
        let binomial = broadcast::Algorithm::Binomial;
        assert_eq!(messages(&|place| broadcast::broadcast(binomial, place, 0, block)), others);
        for tree in [reduce::Algorithm::Binomial, reduce::Algorithm::Flat] {
            assert_eq!(messages(&|place| reduce::reduce(tree, place, 0, whole)), others);
        }
        for binomial in gather::Algorithm::ALL {
            let schedule = |place| gather::gather(*binomial, place, 0, send, Some(block));
            assert_eq!(messages(&schedule), others);
        }
        for binomial in scatter::Algorithm::ALL {
            let schedule = |place| scatter::scatter(*binomial, place, 0, Some(block), Some(block));
            assert_eq!(messages(&schedule), others);
        }
        let chain = scan::Algorithm::Chain;
        assert_eq!(messages(&|place| scan::scan(chain, place, whole)), others);
        assert_eq!(messages(&|place| scan::exscan(chain, place, whole)), others);
    }
}

#[test]
fn rounds_grow_with_the_logarithm() {
    for size in 1..=17_u32 {
        let levels = crate::collectives::tree::log2_ceil(size) as usize;
        assert_eq!(levels, (0..).find(|level| 1 << level >= size).unwrap_or(0) as usize);
        for place in places(size) {
            let dissemination = barrier::barrier(barrier::Algorithm::Dissemination, place);
            assert_eq!(dissemination.round_count(), levels);
            let doubling =
                allreduce::allreduce(allreduce::Algorithm::RecursiveDoubling, place, reduction(4, true));
            // Folding adds a round before and one after; a size of one is a copy.
            assert!(doubling.round_count() <= (levels + 1).max(1), "size {size}");
        }
    }
}

/// Long vectors: no process sends or receives more than it has to.
#[test]
fn long_vectors_travel_in_parts() {
    for size in [2_u32, 4, 8, 16] {
        let bytes = 160 * i64::from(size);
        let others = i64::from(size) - 1;
        for algorithm in [allreduce::Algorithm::RecursiveHalving, allreduce::Algorithm::Ring] {
            let schedule = |place| allreduce::allreduce(algorithm, place, reduction(bytes, true));
            assert_eq!(cost(size, bytes as usize, schedule).message_bytes, 2 * bytes * others);
        }
        let pairwise = reduce_scatter::Algorithm::Pairwise;
        let parts = reduce_scatter::Parts::Equal(160);
        let schedule = |place| reduce_scatter::reduce_scatter(pairwise, place, parts, reduction(bytes, true));
        assert_eq!(cost(size, bytes as usize, schedule).message_bytes, bytes * others);
    }
}

/// Steps of all processes of a kind.
fn count_steps(schedules: &[Schedule], kind: fn(&Step) -> bool) -> usize {
    let steps = |schedule: &Schedule| {
        schedule
            .rounds()
            .flat_map(|round| round.communication.iter().chain(round.local))
            .filter(|step| kind(step))
            .count()
    };
    schedules.iter().map(steps).sum()
}

#[test]
fn two_processes_do_no_needless_work() {
    let pair: Vec<Place<'static>> = places(2).collect();
    let is_copy = |step: &Step| matches!(step, Step::Copy { .. });
    let is_reduce = |step: &Step| matches!(step, Step::Reduce { .. });
    let situation = Situation { crowded: true, hosts: 1, ..Situation::on_one_level(2) };
    let long = select::allreduce(situation, 1 << 20, 1 << 20);
    for commutative in [true, false] {
        let halves = |place: &Place| allreduce::allreduce(long, *place, reduction(1 << 20, commutative));
        let schedules: Vec<Schedule> = pair.iter().map(halves).collect();
        assert!(schedules.iter().all(|schedule| schedule.round_count() == 2));
        assert_eq!(count_steps(&schedules, is_reduce), 2);
        let copies = if commutative { 0 } else { 1 };
        assert_eq!(count_steps(&schedules, is_copy), copies);
        assert!(!commutative || schedules.iter().all(|schedule| schedule.scratch().is_empty()));
    }
    let short = select::allreduce(situation, 8, 1);
    let schedules: Vec<Schedule> =
        pair.iter().map(|place| allreduce::allreduce(short, *place, reduction(8, true))).collect();
    assert!(schedules.iter().all(|schedule| schedule.round_count() == 1));
    let gathers = select::allgather(situation, 16);
    let block = Block { count: 8, layout: BYTES };
    let schedule = |place: &Place| {
        allgather::allgather(gathers, *place, Contribution::Send(block), Blocks::Equal(block))
    };
    let schedules: Vec<Schedule> = pair.iter().map(schedule).collect();
    assert!(schedules.iter().all(|schedule| schedule.round_count() == 1 && schedule.scratch().is_empty()));
    assert_eq!(count_steps(&schedules, is_copy), 2);
}

/// The root of a broadcast has the data: nothing is sent to it.
#[test]
fn nothing_is_sent_to_the_root_of_a_broadcast() {
    for algorithm in broadcast::Algorithm::ALL {
        for size in 1..=17 {
            let block = Block { count: 100, layout: BYTES };
            let schedule = broadcast::broadcast(*algorithm, Place::on_one_host(0, size), 0, block);
            let receives = |step: &Step| matches!(step, Step::Receive { .. });
            assert_eq!(count_steps(&[schedule], receives), 0);
        }
    }
}

#[test]
fn nothing_to_move_is_nothing_to_do() {
    let place = Place::on_one_host(1, 4);
    let block = Block { count: 0, layout: BYTES };
    let idle = [
        broadcast::broadcast(broadcast::Algorithm::ScatterRing, place, 0, block),
        allreduce::allreduce(allreduce::Algorithm::Ring, place, reduction(0, false)),
        reduce::reduce(reduce::Algorithm::ReduceScatterGather, place, 0, reduction(0, false)),
        scan::exscan(scan::Algorithm::Doubling, place, reduction(0, false)),
        barrier::barrier(barrier::Algorithm::Tree, Place::on_one_host(0, 1)),
    ];
    assert!(idle.iter().all(|schedule| schedule.round_count() == 0));
}

#[test]
fn the_choice_goes_by_size_bytes_and_crowding() {
    let quiet = Situation::on_one_level;
    let crowded = |size| Situation { crowded: true, hosts: 1, ..Situation::on_one_level(size) };
    assert_eq!(select::barrier(quiet(4)), barrier::Algorithm::Dissemination);
    assert_eq!(select::barrier(crowded(8)), barrier::Algorithm::Flat);
    assert_eq!(select::barrier(crowded(100)), barrier::Algorithm::Tree);
    assert_eq!(select::barrier(crowded(2)), barrier::Algorithm::Dissemination);
    assert_eq!(select::allreduce(quiet(4), 8, 1), allreduce::Algorithm::RecursiveDoubling);
    assert_eq!(select::allreduce(crowded(8), 8, 1), allreduce::Algorithm::Flat);
    assert_eq!(select::allreduce(crowded(32), 1 << 20, 1 << 17), allreduce::Algorithm::Tree);
    assert_eq!(select::allreduce(quiet(4), 1 << 20, 1 << 17), allreduce::Algorithm::RecursiveHalving);
    assert_eq!(select::allreduce(quiet(6), 1 << 20, 1 << 17), allreduce::Algorithm::Ring);
    // One huge element cannot be cut.
    assert_eq!(select::allreduce(quiet(4), 1 << 20, 1), allreduce::Algorithm::RecursiveDoubling);
    assert_eq!(select::broadcast(quiet(2), 1 << 30), broadcast::Algorithm::Binomial);
    assert_eq!(select::broadcast(quiet(16), 1 << 30), broadcast::Algorithm::ScatterDoubling);
    assert_eq!(select::broadcast(quiet(17), 1 << 30), broadcast::Algorithm::ScatterRing);
    assert_eq!(select::allgather(crowded(4), 64), allgather::Algorithm::Flat);
    assert_eq!(select::allgather(quiet(4), 1 << 20), allgather::Algorithm::Ring);
}

/// Messages that a process writes, if what it sends to several of its host in one round is written once: up to `longest`.
fn written(size: u32, longest: i64, schedule: impl Fn(Place<'static>) -> Schedule) -> usize {
    let sent = |step: &Step| match step {
        Step::Send { from, .. } => Some(*from),
        _ => None,
    };
    let of_round = |steps: &[Step]| {
        let mut spans: Vec<_> = steps.iter().filter_map(sent).collect();
        spans.dedup_by(|one, other| one == other && one.count <= longest);
        spans.len()
    };
    let of_one = |place| schedule(place).rounds().map(|round| of_round(round.communication)).sum::<usize>();
    places(size).map(of_one).sum()
}

/// Shared memory on a crowded host, and with a core for each rank.
const SHELVES: Spreading = Spreading {
    multicast: crate::transports::Multicast { bytes_min: 1024, bytes_max: 1 << 16, bytes_per_receiver: 128 },
    single_copies: true,
    crowded: true,
    forced: None,
};
const QUIET: Spreading = Spreading { crowded: false, ..SHELVES };

#[test]
fn what_all_get_is_written_once() {
    for size in 3..=17 {
        let others = size as usize - 1;
        let within = |place: Place<'static>| Place { spreading: SHELVES, ..place };
        let block = Block { count: 1 << 14, layout: BYTES };
        let situation =
            Situation { crowded: true, hosts: 1, spreading: SHELVES, ..Situation::on_one_level(size) };
        let to_all = select::broadcast(situation, block.bytes());
        let schedule = |place| broadcast::broadcast(to_all, within(place), 2, block);
        assert_eq!((written(size, 1 << 16, schedule), cost(size, 1 << 14, schedule).messages), (1, others));
        // The operands come from everybody, and the result goes to all at once.
        let schedule =
            |place| allreduce::allreduce(allreduce::Algorithm::Tree, within(place), reduction(1 << 14, true));
        assert_eq!(written(size, 1 << 16, schedule), others + 1);
        let (send, blocks) = (Contribution::Send(block), Blocks::Equal(block));
        let schedule = |place| allgather::allgather(allgather::Algorithm::Flat, within(place), send, blocks);
        let total = (1 << 14) * i64::from(size);
        let back = if total <= 1 << 16 { 1 } else { others };
        assert_eq!(written(size, 1 << 16, schedule), others + back);
    }
}

#[test]
fn a_flat_tree_is_chosen_where_it_is_less_work() {
    let lengths = |spreading: Spreading, size| {
        [0, 1023, 1024, 2048, 1 << 14, 1 << 16, (1 << 16) + 1, 1 << 30]
            .map(|bytes| spreading.is_flat(size, bytes))
    };
    let (no, yes) = (false, true);
    assert_eq!(lengths(SHELVES, 2), [no; 8], "there is one receiver");
    assert_eq!(lengths(SHELVES, 3), [no, no, no, yes, yes, yes, yes, yes]);
    assert_eq!(lengths(QUIET, 3), [no, no, yes, yes, yes, yes, no, no]);
    assert_eq!(lengths(QUIET, 100), [no, no, no, no, yes, yes, no, no]);
    let in_pieces = Spreading { single_copies: false, ..SHELVES };
    assert_eq!(lengths(in_pieces, 8), [no, no, no, yes, yes, yes, no, no]);
    let files = Spreading { multicast: crate::transports::Multicast::ALL, ..Spreading::BINOMIAL };
    assert_eq!(lengths(files, 3), [yes; 8]);
    assert_eq!(lengths(FLAT, 3), [yes; 8]);
    let binomial = Spreading { forced: Some(Algorithm::Binomial), ..files };
    assert_eq!(lengths(binomial, 3), [no; 8]);
}

#[test]
fn algorithms_have_names() {
    assert!(allreduce::Algorithm::ALL.iter().all(|it| allreduce::Algorithm::named(it.name()) == Some(*it)));
    assert_eq!(barrier::Algorithm::named("tree"), Some(barrier::Algorithm::Tree));
    assert_eq!(barrier::Algorithm::named("trees"), None);
}
