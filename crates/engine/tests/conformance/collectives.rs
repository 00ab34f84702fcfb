//! Collective operations by the algorithms that each transport has chosen: one message for several receivers in particular, and
//! what the processes of a host do together.

use std::sync::Arc;

use postrider_abi::MPI_BYTE;
use postrider_engine::State;
use postrider_engine::collectives::{Call, Calls, Data, Many, schedule::Schedule};
use postrider_engine::datatypes::Datatype;
use postrider_engine::error::Result;
use postrider_engine::objects::Key;
use postrider_os::memory::{OwnedMemory, UserMemory};

use crate::worlds::{RANKS, Rank, everywhere, pattern};

fn bytes(memory: &mut OwnedMemory, count: usize) -> Data {
    let byte = Datatype::predefined(MPI_BYTE).expect("it is predefined");
    Data { memory: UserMemory::of(memory), count: count as i64, datatype: Arc::clone(byte) }
}

fn collective(rank: &Rank, prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>) {
    collective_in(rank, State::WORLD, prepare);
}

fn collective_in(rank: &Rank, communicator: Key, prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>) {
    let done = rank.instance.collective(communicator, None, prepare);
    assert_eq!(done, Ok(()), "rank {}", rank.rank);
}

fn filled(bytes: &[u8]) -> OwnedMemory {
    let mut memory = OwnedMemory::new(bytes.len());
    UserMemory::of(&mut memory).write(bytes);
    memory
}

/// Short and long, from every root, one after the other without a pause.
#[test]
fn everybody_gets_what_the_root_has() {
    everywhere(&RANKS, |rank| {
        for root in 0..rank.ranks {
            for length in [0, 1, 300, 100_000] {
                let data = pattern(length, root as usize);
                let mut memory = filled(&if rank.rank == root { data.clone() } else { vec![0; length] });
                let given = bytes(&mut memory, length);
                collective(&rank, |calls| calls.broadcast(calls.root(root)?, Some(given)));
                assert_eq!(memory.as_slice(), data);
            }
            collective(&rank, |calls| calls.barrier());
        }
    });
}

#[test]
fn blocks_find_their_ways() {
    everywhere(&RANKS, |rank| {
        let ranks = rank.ranks as usize;
        let block = |from: usize, to: usize, length| pattern(length, from * 100 + to);
        for length in [5, 3000] {
            let out: Vec<u8> = (0..ranks).flat_map(|to| block(rank.rank as usize, to, length)).collect();
            let (mut send, mut receive) = (filled(&out), OwnedMemory::new(out.len()));
            let (from, into) = (bytes(&mut send, length), bytes(&mut receive, length));
            collective(&rank, |calls| calls.alltoall(Some(Many::equal(from)), Many::equal(into)));
            let expected: Vec<u8> =
                (0..ranks).flat_map(|from| block(from, rank.rank as usize, length)).collect();
            assert_eq!(receive.as_slice(), expected);
            let (own, into) = (bytes(&mut send, length), bytes(&mut receive, length));
            collective(&rank, |calls| calls.allgather(Some(own), Many::equal(into)));
            let expected: Vec<u8> = (0..ranks).flat_map(|from| block(from, 0, length)).collect();
            assert_eq!(receive.as_slice(), expected);
        }
    });
}

/// Communicators of some processes, in another order: their hosts are those of the processes, not of the ranks.
#[test]
fn other_communicators_have_other_hosts() {
    everywhere(&[4, 7], |rank| {
        for colors in 1..=3 {
            let (color, key) = (rank.rank % colors, i64::from(-rank.rank));
            let some = rank.instance.split(State::WORLD, Some(color), key);
            let some = some.expect("everybody takes part").expect("everybody has a colour");
            let members: Vec<i32> = (0..rank.ranks).rev().filter(|other| other % colors == color).collect();
            let mut receive = OwnedMemory::new(40 * members.len());
            let mut send = filled(&pattern(40, rank.rank as usize));
            let (own, into) = (bytes(&mut send, 40), bytes(&mut receive, 40));
            collective_in(&rank, some, |calls| calls.allgather(Some(own), Many::equal(into)));
            let expected: Vec<u8> = members.iter().flat_map(|member| pattern(40, *member as usize)).collect();
            assert_eq!(receive.as_slice(), expected);
            for (root, member) in members.iter().enumerate() {
                let data = pattern(500, *member as usize);
                let mut memory = filled(&if rank.rank == *member { data.clone() } else { vec![0; 500] });
                let given = bytes(&mut memory, 500);
                collective_in(&rank, some, |calls| calls.broadcast(calls.root(root as i32)?, Some(given)));
                assert_eq!(memory.as_slice(), data);
            }
            rank.state(|state| state.free_communicator(some));
        }
    });
}
