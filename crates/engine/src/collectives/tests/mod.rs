//! Every algorithm of every collective on random arguments, compared with a naive model.

mod cost;
mod counting;
mod instances;
mod moving;
mod nodes;
mod reducing;
mod simulator;

use super::arguments::{Block, Layout, Place};
use super::nodes::Nodes;
use super::schedule::Schedule;
use super::spreading::{Algorithm, Spreading};
use simulator::{GAP, Operator, Outcome, Process, Random, Type, run};

/// Where one message for all costs as much as for one.
const FLAT: Spreading = Spreading { forced: Some(Algorithm::Flat), ..Spreading::BINOMIAL };

/// A process and the receive buffer that it has to end with.
struct Member {
    process: Process,
    expected: Vec<u8>,
}

/// Says which case failed, whatever the panic.
struct Case(String);

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed case: {}", self.0);
        }
    }
}

/// Runs the members and compares their receive buffers, gaps included, and that their send buffers are as
/// before.
fn check(members: Vec<Member>, operator: Operator, seed: u64) -> Outcome {
    let expected: Vec<Vec<u8>> = members.iter().map(|member| member.expected.clone()).collect();
    let processes: Vec<Process> = members.into_iter().map(|member| member.process).collect();
    let sent: Vec<Vec<u8>> = processes.iter().map(|process| process.send.clone()).collect();
    let outcome = run(processes, operator, seed);
    for (process, (expected, sent)) in outcome.processes.iter().zip(expected.iter().zip(&sent)) {
        let (group, rank) = (process.group, process.rank);
        assert_eq!(&process.receive, expected, "receive buffer of rank {rank} of group {group}");
        assert_eq!(&process.send, sent, "send buffer of rank {rank} of group {group}");
    }
    outcome
}

/// For calls without a reduction.
fn no_operator(_: &[u8], _: &[u8]) -> Vec<u8> {
    panic!("this collective reduces nothing")
}

/// A random datatype whose size divides 8, often with gaps and a displaced lower bound.
fn random_type(random: &mut Random, size: i64) -> Type {
    let gap = [0, 0, 1, 5][random.below(4) as usize];
    Type { size, extent: size + gap, lower: random.below(gap as u64 + 1) as i64 }
}

/// A random datatype, and how many elements of it make `bytes`, a multiple of 8.
fn random_block(random: &mut Random, bytes: i64) -> (Type, Block) {
    let size = 1 << random.below(4);
    let datatype = random_type(random, size);
    (datatype, Block { count: bytes / size, layout: datatype.layout() })
}

/// Sizes from 1 to 17, powers of two and their neighbours more often.
fn random_size(random: &mut Random) -> u32 {
    [1, 2, 2, 3, 4, 4, 5, 7, 8, 9, 16, 17][..]
        .get(random.below(24) as usize)
        .copied()
        .unwrap_or(1 + random.below(17) as u32)
}

/// Data that is different for every sender, receiver and index.
fn data(from: u32, to: u32, bytes: i64) -> Vec<u8> {
    (0..bytes)
        .map(|index| {
            let mixed = (u64::from(from) << 40 | u64::from(to) << 20 | index as u64)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (mixed >> 56) as u8
        })
        .collect()
}

/// Memory for `elements` elements, empty.
fn memory(datatype: Type, elements: i64) -> Vec<u8> {
    vec![GAP; (datatype.extent * elements) as usize]
}

/// Writes packed `bytes` into elements from `displacement` bytes on.
fn fill(memory: &mut [u8], datatype: Type, displacement: i64, bytes: &[u8]) {
    let Type { size, extent, lower } = datatype;
    for (index, element) in bytes.chunks(size as usize).enumerate() {
        let start = (displacement + index as i64 * extent + lower) as usize;
        memory[start..start + element.len()].copy_from_slice(element);
    }
}

/// A process of group `group` with one datatype for both sides and nothing in its buffers.
fn process(group: usize, rank: u32, schedule: Schedule, datatype: Type) -> Process {
    Process {
        group,
        rank,
        schedule,
        send: Vec::new(),
        receive: Vec::new(),
        send_types: vec![datatype],
        receive_types: vec![datatype],
    }
}

/// All places of a communicator on one host.
fn places(size: u32) -> impl Iterator<Item = Place<'static>> {
    places_on(size, &None)
}

/// All places of a communicator on several hosts, or on one; odd numbers of processes tell each other along flat trees.
fn places_on(size: u32, nodes: &Option<Nodes>) -> impl Iterator<Item = Place<'_>> {
    let spreading = if size % 2 == 1 { FLAT } else { Spreading::BINOMIAL };
    (0..size).map(move |rank| Place { rank, size, nodes: nodes.as_ref(), spreading })
}

/// Random hosts for so many ranks: one, blocks of equal or different sizes, in turn, or anyhow.
fn random_nodes(random: &mut Random, size: u32) -> Option<Nodes> {
    let hosts = 1 + random.below(4.min(u64::from(size))) as u32;
    let kind = random.below(5);
    let mut host = 0;
    let host_of = |rank: u32| match kind {
        0 => rank * hosts / size,
        1 => rank % hosts,
        2 => {
            host += random.below(2) as u32;
            host
        }
        3 => random.below(u64::from(hosts)) as u32,
        _ => 7,
    };
    let hosts: Vec<u32> = (0..size).map(host_of).collect();
    Nodes::new(hosts.into_iter(), [Spreading::BINOMIAL, FLAT][random.below(2) as usize])
}

const BYTE: Type = Type { size: 1, extent: 1, lower: 0 };

#[test]
fn a_schedule_keeps_its_rounds() {
    use super::arguments::local;
    use super::schedule::{Buffer, Scratch, Span, TypeOf};
    let mut schedule = Schedule::with_capacity(4);
    let whole = Span::packed(Buffer::Receive, 0, 1);
    schedule.end_round();
    schedule.copy(whole, Span::packed(Buffer::Scratch(0), 0, 1));
    schedule.send(local(1), whole);
    schedule.end_round();
    schedule.end_round();
    schedule.receive(local(1), whole);
    schedule.copy_meanwhile(whole, whole);
    schedule.copy(whole, whole);
    let shape: Vec<_> =
        schedule.rounds().map(|round| (round.communication.len(), round.local.len())).collect();
    assert_eq!(shape, [(0, 1), (1, 0), (2, 1)]);
    assert_eq!(schedule.scratch_elements(3, TypeOf::Receive), Buffer::Scratch(0));
    assert_eq!(schedule.scratch_bytes(5), Buffer::Scratch(1));
    let declared = [Scratch::Elements { count: 3, datatype: TypeOf::Receive }, Scratch::Bytes(5)];
    assert_eq!(schedule.scratch(), declared);
}

#[test]
fn contiguous_means_no_gap_and_no_displacement() {
    let layout = |size, extent, lower| Type { size, extent, lower }.layout();
    assert_eq!(layout(4, 4, 0), Layout { size: 4, extent: 4, contiguous: true });
    assert!(!layout(4, 8, 0).contiguous);
    assert!(!layout(4, 8, 4).contiguous);
}
