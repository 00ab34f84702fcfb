//! Partitioned communication: whatever the partitions of the two sides are, and whoever is first.

use postrider_engine::State;
use postrider_engine::point_to_point::{Buffer, Message};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::worlds::{RANKS, Rank, everywhere, pattern};

const ROUNDS: usize = 4;

fn message(memory: &mut OwnedMemory, peer: i32) -> Message {
    let bytes = memory.len() as u64;
    Message { buffer: Buffer::dense(UserMemory::of(memory), bytes), peer, tag: 3, communicator: State::WORLD }
}

/// A message of `bytes` goes round the ring in `out` partitions and comes in `into`.
fn ring(rank: &Rank<'_>, bytes: usize, out: i32, into: i32) {
    let (right, left) = ((rank.rank + 1) % rank.ranks, (rank.rank + rank.ranks - 1) % rank.ranks);
    let (mut sent, mut received) = (OwnedMemory::new(bytes), OwnedMemory::new(bytes));
    let outgoing = message(&mut sent, right);
    let incoming = message(&mut received, left);
    let send = rank.state(|state| state.partitioned_send(outgoing, out as usize));
    let receive = rank.state(|state| state.partitioned_receive(incoming, into as usize));
    for round in 0..ROUNDS {
        UserMemory::of(&mut sent).write(&pattern(bytes, rank.rank as usize + round));
        let order =
            if (rank.rank as usize + round).is_multiple_of(2) { [send, receive] } else { [receive, send] };
        rank.instance.start(order).unwrap();
        for partition in (0..out).rev() {
            rank.state(|state| state.partitions_ready(send, [partition]));
        }
        let arrived = |partition| rank.state(|state| state.partition_arrived(receive, partition));
        while !(0..into).all(arrived) {
            rank.instance.make_progress().unwrap();
            std::thread::yield_now();
        }
        for key in order {
            rank.instance.wait(key).unwrap().completion.into_result().unwrap();
        }
        assert_eq!(received.as_slice(), pattern(bytes, left as usize + round));
    }
    for key in [send, receive] {
        rank.state(|state| state.free_request(key));
    }
}

#[test]
fn partitions_of_both_sides_may_differ() {
    everywhere(&RANKS, |rank| {
        ring(&rank, 3500, 5, 7);
        ring(&rank, 600_000, 2, 30);
        ring(&rank, 600_000, 1, 1);
        ring(&rank, 0, 3, 2);
        rank.meet();
    });
}
