//! Node-aware schedules: what crosses from host to host, and long data between many hosts.

use super::reducing::{Shared, expect, model};
use super::*;
use crate::collectives::arguments::{Blocks, Contribution};
use crate::collectives::reduction::Reduction;
use crate::collectives::schedule::{Peer, Step};
use crate::collectives::select::{self, Situation};
use crate::collectives::tree::log2_ceil;
use crate::collectives::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};

const BYTES: Layout = Layout { size: 1, extent: 1, contiguous: true };

fn nodes(hosts: &[u32]) -> Nodes {
    Nodes::new(hosts.iter().copied(), Spreading::BINOMIAL).expect("there are several hosts")
}

/// Some communicators: blocks, in turn, different sizes, one process on each host, and hosts in no order.
fn communicators() -> Vec<Nodes> {
    let hosts: [&[u32]; 9] = [
        &[0, 1],
        &[0, 0, 1, 1],
        &[0, 1, 0, 1],
        &[0, 1, 2, 3],
        &[0, 0, 0, 1, 2, 2],
        &[2, 0, 0, 1, 1, 1, 1],
        &[0, 1, 2, 0, 1, 2, 0, 1],
        &[0, 0, 1, 1, 0, 2, 2, 3, 0],
        &[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8],
    ];
    hosts.into_iter().map(nodes).collect()
}

fn size(nodes: &Nodes) -> u32 {
    nodes.ranks().count() as u32
}

/// Messages and bytes from host to host of a collective on buffers of bytes.
fn crossing<'a>(nodes: &'a Nodes, schedule: impl Fn(Place<'a>) -> Schedule) -> (u32, i64) {
    let (mut messages, mut bytes) = (0, 0);
    let size = size(nodes);
    for rank in 0..size {
        let place = Place { nodes: Some(nodes), ..Place::on_one_host(rank, size) };
        let schedule = schedule(place);
        for step in schedule.rounds().flat_map(|round| round.communication) {
            if let Step::Send { peer: Peer::Local(peer), from } = step
                && nodes.of(*peer) != nodes.of(rank)
            {
                messages += 1;
                bytes += from.count;
            }
        }
    }
    (messages, bytes)
}

fn reduction(count: i64) -> Reduction {
    Reduction { count, layout: BYTES, commutative: true, in_place: false }
}

#[test]
fn hosts_become_nodes() {
    let interleaved = nodes(&[7, 3, 7, 7, 3]);
    assert_eq!((interleaved.count(), interleaved.largest(), interleaved.in_order()), (2, 3, false));
    assert_eq!((interleaved.members(0), interleaved.members(1)), ([0, 2, 3].as_slice(), [1, 4].as_slice()));
    assert_eq!((interleaved.of(3), interleaved.position(3), interleaved.start(1)), (0, 2, 3));
    assert_eq!(interleaved.ranks().collect::<Vec<u32>>(), [0, 2, 3, 1, 4]);
    assert_eq!(interleaved.runs(0..2), [(0, 1), (2, 2), (1, 1), (4, 1)]);
    assert!(nodes(&[9, 9, 4, 5]).in_order());
    assert_eq!(Nodes::new([3, 3, 3].into_iter(), Spreading::BINOMIAL), None);
}

#[test]
fn data_for_everybody_comes_to_each_host_once() {
    let block = Block { count: 100, layout: BYTES };
    for nodes in communicators() {
        let others = nodes.count() - 1;
        let _case = Case(format!("{nodes:?}"));
        for root in 0..size(&nodes) {
            let schedule = |place| broadcast::broadcast(broadcast::Algorithm::NodeAware, place, root, block);
            assert_eq!(crossing(&nodes, schedule), (others, 100 * i64::from(others)));
            let schedule = |place| reduce::reduce(reduce::Algorithm::NodeAware, place, root, reduction(100));
            assert_eq!(crossing(&nodes, schedule), (others, 100 * i64::from(others)));
        }
        let (send, blocks) = (Contribution::Send(block), Blocks::Equal(block));
        let schedule = |place| allgather::allgather(allgather::Algorithm::NodeAware, place, send, blocks);
        assert_eq!(crossing(&nodes, schedule).1, 100 * i64::from(size(&nodes) * others));
    }
}

#[test]
fn every_block_crosses_once() {
    let block = Block { count: 100, layout: BYTES };
    for nodes in communicators() {
        let (size, others) = (size(&nodes), nodes.count() - 1);
        let _case = Case(format!("{nodes:?}"));
        for root in 0..size {
            let far = i64::from(size) - nodes.members(nodes.of(root)).len() as i64;
            let send = Contribution::Send(block);
            let gather = |algorithm| {
                crossing(&nodes, |place| gather::gather(algorithm, place, root, send, Some(block)))
            };
            let scatter = |algorithm| {
                crossing(&nodes, |place| scatter::scatter(algorithm, place, root, Some(block), Some(block)))
            };
            assert_eq!(gather(gather::Algorithm::NodeAware), (others, 100 * far));
            assert_eq!(scatter(scatter::Algorithm::NodeAware), (others, 100 * far));
            assert_eq!(gather(gather::Algorithm::NodeAwareTree).0, others);
            assert_eq!(scatter(scatter::Algorithm::NodeAwareTree).0, others);
        }
        let blocks = Blocks::Equal(block);
        let schedule =
            |place| alltoall::alltoall(alltoall::Algorithm::NodeAware, place, Some(blocks), blocks);
        let pairs = |node| i64::from(size) - nodes.members(node).len() as i64;
        let far: i64 = nodes.ranks().map(|rank| pairs(nodes.of(rank))).sum();
        assert_eq!(crossing(&nodes, schedule), (nodes.count() * others, 100 * far));
    }
}

/// Where everybody needs everybody, the leaders do as if they were alone.
#[test]
fn only_leaders_meet() {
    for nodes in communicators() {
        let (count, _case) = (nodes.count(), Case(format!("{nodes:?}")));
        let meet = |place| barrier::barrier(barrier::Algorithm::NodeAware, place);
        assert_eq!(crossing(&nodes, meet).0, count * log2_ceil(count));
        for (bytes, alone) in [
            (100, allreduce::Algorithm::RecursiveDoubling),
            (1 << 16, select::allreduce(Situation::on_one_level(count), 1 << 16, 1 << 16)),
        ] {
            let all = |place| allreduce::allreduce(allreduce::Algorithm::NodeAware, place, reduction(bytes));
            let leaders = (0..count).collect::<Vec<u32>>();
            let apart = Nodes::new(leaders.into_iter(), Spreading::BINOMIAL).expect("several hosts");
            let least = crossing(&apart, |place| allreduce::allreduce(alone, place, reduction(bytes)));
            assert_eq!(crossing(&nodes, all), least);
        }
        if nodes.in_order() {
            let up = |place| scan::scan(scan::Algorithm::NodeAware, place, reduction(10));
            let levels = log2_ceil(count - 1).max(1);
            assert!(crossing(&nodes, up).0 <= count * (levels + 1));
            let vector = 40_000 * i64::from(size(&nodes));
            let parts = reduce_scatter::Parts::Equal(40_000);
            let share = |place| {
                let algorithm = reduce_scatter::Algorithm::NodeAware;
                reduce_scatter::reduce_scatter(algorithm, place, parts, reduction(vector))
            };
            assert_eq!(crossing(&nodes, share).1, vector * i64::from(count - 1));
        }
    }
}

/// Vectors that are cut into parts between leaders.
#[test]
fn long_vectors_are_reduced_on_nodes() {
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let size = 4 + random.below(6) as u32;
        let each = 5000 / i64::from(size);
        let shared = Shared { count: each * i64::from(size), ..Shared::random(&mut random) };
        let nodes = random_nodes(&mut random, size);
        let kind = random.below(3);
        let root = random.below(u64::from(size)) as u32;
        let _case = Case(format!("seed {seed} kind {kind} root {root} {nodes:?} {shared:?}"));
        let whole = model(shared.operator, 0, 0..size, shared.count);
        let members = places_on(size, &nodes).map(|place| {
            let room =
                (kind > 0 || place.rank == root).then_some(if kind == 2 { each } else { shared.count });
            let shared = Shared { in_place: shared.in_place && kind < 2, ..shared };
            let (mut member, reduction) = shared.member(&mut random, 0, place.rank, room);
            let start = (8 * each) as usize * place.rank as usize;
            match kind {
                2 => expect(&mut member, &whole[start..start + 8 * each as usize]),
                _ if room.is_some() => expect(&mut member, &whole),
                _ => {}
            }
            member.process.schedule = match kind {
                0 => reduce::reduce(reduce::Algorithm::NodeAware, place, root, reduction),
                1 => allreduce::allreduce(allreduce::Algorithm::NodeAware, place, reduction),
                _ => {
                    let parts = reduce_scatter::Parts::Equal(each);
                    reduce_scatter::reduce_scatter(
                        reduce_scatter::Algorithm::NodeAware,
                        place,
                        parts,
                        reduction,
                    )
                }
            };
            member
        });
        let members = members.collect();
        check(members, shared.operator, seed);
    }
}

/// Data that is cut into parts between leaders.
#[test]
fn long_data_is_moved_on_nodes() {
    let hosts: [u32; 10] = [0, 0, 1, 2, 3, 4, 5, 6, 7, 7];
    let nodes = Nodes::new(hosts.into_iter(), FLAT);
    for datatype in [BYTE, Type { size: 1, extent: 2, lower: 1 }] {
        let bytes = 1 << 19;
        let block = Block { count: bytes, layout: datatype.layout() };
        let root = 9;
        let members = places_on(10, &nodes).map(|place| {
            let schedule = broadcast::broadcast(broadcast::Algorithm::NodeAware, place, root, block);
            let mut process = process(0, place.rank, schedule, datatype);
            process.receive = memory(datatype, bytes);
            let mut expected = process.receive.clone();
            fill(&mut expected, datatype, 0, &data(0, 0, bytes));
            if place.rank == root {
                process.receive.clone_from(&expected);
            }
            Member { process, expected }
        });
        let members = members.collect();
        check(members, no_operator, 1);
        let bytes = 1 << 13;
        let block = Block { count: bytes, layout: datatype.layout() };
        let members = places_on(10, &nodes).map(|place| {
            let send = Contribution::Send(block);
            let schedule =
                allgather::allgather(allgather::Algorithm::NodeAware, place, send, Blocks::Equal(block));
            let mut process = process(0, place.rank, schedule, datatype);
            process.send = memory(datatype, bytes);
            fill(&mut process.send, datatype, 0, &data(place.rank, 0, bytes));
            process.receive = memory(datatype, 10 * bytes);
            let mut expected = process.receive.clone();
            let all: Vec<u8> = (0..10).flat_map(|rank| data(rank, 0, bytes)).collect();
            fill(&mut expected, datatype, 0, &all);
            Member { process, expected }
        });
        let members = members.collect();
        check(members, no_operator, 1);
    }
}

#[test]
fn processes_of_a_host_act_together_where_there_are_several() {
    let on = |hosts| Situation { hosts, ..Situation::on_one_level(8) };
    assert_eq!(select::broadcast(on(2), 1 << 30), broadcast::Algorithm::NodeAware);
    assert_eq!(select::broadcast(on(8), 64), broadcast::Algorithm::Binomial);
    assert_eq!(select::barrier(on(4)), barrier::Algorithm::NodeAware);
    assert_eq!(select::allreduce(on(4), 8, 1), allreduce::Algorithm::NodeAware);
    assert_eq!(select::gather(on(4), 1024), gather::Algorithm::NodeAware);
    assert_eq!(select::gather(on(4), 1 << 20), gather::Algorithm::Linear);
    let many = Situation { hosts: 64, ..Situation::on_one_level(1024) };
    assert_eq!(select::scatter(many, 8), scatter::Algorithm::NodeAwareTree);
    assert_eq!(select::alltoall(on(2), 64), alltoall::Algorithm::NodeAware);
    assert_eq!(select::alltoall(on(2), 1 << 16), alltoall::Algorithm::Pairwise);
    let files = Situation { hosts: 1, spreading: FLAT, ..Situation::on_one_level(8) };
    assert_eq!(select::broadcast(files, 64), broadcast::Algorithm::Flat);
}
