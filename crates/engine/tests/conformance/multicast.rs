//! One message for several processes of a host, as broadcasts send it: when its receivers come late, when they are not ready for it,
//! when there is no place for it any more, and again and again.

use std::sync::Barrier;

use postrider_abi::MPI_BYTE;
use postrider_engine::State;
use postrider_engine::collectives::{Calls, Data};
use postrider_engine::datatypes::Datatype;
use postrider_engine::objects::Key;
use postrider_engine::point_to_point::Mode;
use postrider_os::memory::{OwnedMemory, UserMemory};

use crate::worlds::{RANKS, Rank, WAYS, everywhere, pattern, run};

/// Lengths around those that one message for several can have: in shared memory from 1 KiB to 64 KiB.
const LENGTHS: [usize; 8] = [1024, 65_536, 1023, 5000, 65_537, 30_000, 3, 100_000];

/// A broadcast under way, and its memory.
struct Broadcast {
    request: Key,
    memory: OwnedMemory,
    expected: Vec<u8>,
}

/// Starts broadcast `number` from `root`.
fn start(rank: &Rank, root: i32, number: usize) -> Broadcast {
    let expected = pattern(LENGTHS[number % LENGTHS.len()], number);
    let mut memory = OwnedMemory::new(expected.len());
    if rank.rank == root {
        UserMemory::of(&mut memory).write(&expected);
    }
    let byte = Datatype::predefined(MPI_BYTE).expect("it is predefined");
    let (place, count) = (UserMemory::of(&mut memory), expected.len() as i64);
    let data = Data { memory: place, count, datatype: byte.clone() };
    let prepare = |calls: &Calls| calls.broadcast(calls.root(root)?, Some(data));
    let request = rank.instance.start_collective(State::WORLD, None, prepare).expect("it is started");
    Broadcast { request, memory, expected }
}

fn finish(rank: &Rank, broadcast: Broadcast) {
    let ended = rank.instance.wait(broadcast.request).expect("it comes to an end");
    assert_eq!(ended.completion.into_result().map(drop), Ok(()));
    assert!(broadcast.memory.as_slice() == broadcast.expected, "rank {}: another message", rank.rank);
}

/// The root goes on although nobody has looked at its messages yet.
#[test]
fn nobody_waits_for_receivers_that_come_late() {
    for way in WAYS {
        for ranks in RANKS {
            let all_are_sent = Barrier::new(ranks as usize);
            run(way, ranks, &|rank: Rank<'_>| {
                rank.meet();
                let start = |number| start(&rank, 0, number);
                if rank.rank == 0 {
                    let broadcasts: Vec<Broadcast> = (0..24).map(start).collect();
                    all_are_sent.wait();
                    broadcasts.into_iter().for_each(|broadcast| finish(&rank, broadcast));
                } else {
                    all_are_sent.wait();
                    (0..24).map(start).for_each(|broadcast| finish(&rank, broadcast));
                }
            });
        }
    }
}

/// A message of the program, which is received first, brings the broadcasts before it in; they have no receives then.
#[test]
fn what_nobody_receives_yet_is_kept() {
    everywhere(&RANKS, |rank| {
        for round in 0..10 {
            let root = round % rank.ranks;
            let numbers = 3 * round as usize..3 * round as usize + 3;
            if rank.rank == root {
                let broadcasts: Vec<Broadcast> = numbers.map(|number| start(&rank, root, number)).collect();
                let peers = (0..rank.ranks).filter(|peer| *peer != root);
                let sends: Vec<_> =
                    peers.map(|peer| rank.isend(Mode::Standard, peer, round, b"go")).collect();
                sends.into_iter().for_each(|send| drop(rank.wait(send)));
                broadcasts.into_iter().for_each(|broadcast| finish(&rank, broadcast));
            } else {
                assert_eq!(rank.recv(root, round, 2).1, b"go");
                let broadcasts: Vec<Broadcast> = numbers.map(|number| start(&rank, root, number)).collect();
                // The last one first.
                broadcasts.into_iter().rev().for_each(|broadcast| finish(&rank, broadcast));
            }
        }
    });
}

/// Many more messages than there are places, from all processes, with receivers at different speeds.
#[test]
fn places_are_used_again_and_again() {
    everywhere(&RANKS, |rank| {
        for number in 0..60 {
            let root = number as i32 / 8 % rank.ranks;
            if (number + rank.rank as usize).is_multiple_of(7) {
                std::thread::yield_now();
            }
            let broadcast = start(&rank, root, number);
            finish(&rank, broadcast);
        }
    });
}
