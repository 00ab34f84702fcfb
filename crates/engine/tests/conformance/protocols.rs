//! The ways of a message: every length around every limit, every send mode, every layout of the data on either side.

use std::sync::Arc;

use postrider_abi::MPI_ERR_TRUNCATE;
use postrider_engine::State;
use postrider_engine::datatypes::{CountForm, Datatype};
use postrider_engine::point_to_point::{Buffer, Message, Mode};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::worlds::{RANKS, Rank, everywhere, pattern};

/// Lengths around the limits of cells, pieces, rings, and the transport's own limit of eager messages.
fn lengths(rank: Rank<'_>) -> Vec<usize> {
    let partner = if (rank.rank ^ 1) < rank.ranks { rank.rank ^ 1 } else { rank.rank };
    let limit = rank.state(|state| Ok(state.eager_bytes_max(partner as u32))).min(1 << 16) as usize;
    let mut lengths = vec![0, 1, 39, 40, 41, 55, 56, 57, 299, 300, 301, 4095, 4096, 65_536, (3 << 20) + 1];
    lengths.extend([limit - 1, limit, limit + 1, 2 * limit]);
    lengths
}

fn exchange(rank: Rank<'_>, mode: Mode, posted: bool) {
    for (number, bytes) in lengths(rank).into_iter().enumerate() {
        let data = pattern(bytes, number);
        if rank.rank % 2 == 0 && rank.rank + 1 < rank.ranks {
            rank.wait(rank.isend(mode, rank.rank + 1, 3, &data));
        } else if rank.rank % 2 == 1 {
            let receive = posted.then(|| rank.irecv(rank.rank - 1, 3, bytes));
            let receive = receive.unwrap_or_else(|| {
                assert_eq!(rank.instance.probe(State::WORLD, rank.rank - 1, 3).unwrap().bytes, bytes as u64);
                rank.irecv(rank.rank - 1, 3, bytes)
            });
            let (status, received) = rank.wait(receive);
            assert_eq!(status.bytes, bytes as u64);
            assert!(received == data, "{bytes} bytes changed on their way");
        }
    }
}

#[test]
fn every_length_arrives_whole() {
    everywhere(&[2, 7], |rank| {
        exchange(rank, Mode::Standard, true);
        exchange(rank, Mode::Standard, false);
    });
}

#[test]
fn synchronous_sends_of_every_length_arrive_whole() {
    everywhere(&[2, 7], |rank| {
        exchange(rank, Mode::Synchronous, true);
        exchange(rank, Mode::Synchronous, false);
    });
}

#[test]
fn messages_to_oneself_arrive_whole() {
    everywhere(&[1, 2], |rank| {
        for (number, bytes) in lengths(rank).into_iter().enumerate() {
            for mode in [Mode::Standard, Mode::Synchronous] {
                let data = pattern(bytes, number);
                let early = rank.isend(mode, rank.rank, 1, &data);
                assert!(rank.recv(rank.rank, 1, bytes).1 == data);
                let receive = rank.irecv(rank.rank, 2, bytes);
                let late = rank.isend(mode, rank.rank, 2, &data);
                assert!(rank.wait(receive).1 == data);
                rank.wait(early);
                rank.wait(late);
            }
        }
    });
}

#[test]
fn a_synchronous_send_ends_only_when_it_is_matched() {
    everywhere(&[2, 3], |rank| {
        for bytes in [0, 10_000] {
            if rank.rank == 0 {
                let send = rank.isend(Mode::Synchronous, 1, 1, &pattern(bytes, 0));
                // The receiver answers this message before it receives the first.
                rank.send(1, 2, &[]);
                rank.recv(1, 3, 0);
                assert!(!rank.is_complete(&send), "the send is not matched yet");
                rank.send(1, 4, &[]);
                rank.wait(send);
            } else if rank.rank == 1 {
                rank.recv(0, 2, 0);
                rank.send(0, 3, &[]);
                rank.recv(0, 4, 0);
                assert_eq!(rank.recv(0, 1, bytes).1, pattern(bytes, 0));
            }
        }
    });
}

#[test]
fn a_message_that_is_too_long_is_cut_and_says_so() {
    everywhere(&RANKS, |rank| {
        let (right, left) = ((rank.rank + 1) % rank.ranks, (rank.rank + rank.ranks - 1) % rank.ranks);
        for (bytes, room) in [(1, 0), (41, 40), (400, 100), (100_000, 99_999), (100_000, 1000), (50_000, 0)] {
            let send = rank.isend(Mode::Standard, right, 9, &pattern(bytes, 0));
            let mut receive = rank.irecv(left, 9, room);
            assert_eq!(rank.finish(&mut receive).unwrap_err().class, MPI_ERR_TRUNCATE);
            assert_eq!(receive.data(), &pattern(bytes, 0)[..room]);
            rank.wait(send);
        }
    });
}

/// `count` bytes, each followed by a gap of two.
fn gappy(count: i64) -> Arc<Datatype> {
    let byte = Datatype::predefined(postrider_abi::MPI_BYTE).unwrap();
    Datatype::vector(CountForm::Large, count, 1, 3, byte).unwrap()
}

#[test]
fn data_with_gaps_on_either_side_arrives_whole() {
    everywhere(&[1, 2, 3], |rank| {
        let (right, left) = ((rank.rank + 1) % rank.ranks, (rank.rank + rank.ranks - 1) % rank.ranks);
        for bytes in [1, 40, 511, 513, 9000, 200_000] {
            for (gaps_here, gaps_there) in [(true, false), (false, true), (true, true)] {
                let (mut from, mut into) = (OwnedMemory::new(3 * bytes), OwnedMemory::new(3 * bytes));
                let data = pattern(bytes, 0);
                let step = |gaps: bool| if gaps { 3 } else { 1 };
                for (at, &byte) in data.iter().enumerate() {
                    from.as_mut_slice()[at * step(gaps_here)] = byte;
                }
                let message = |memory: &mut OwnedMemory, gaps: bool, peer| {
                    let memory = UserMemory::of(memory);
                    let typed = || Buffer::new(memory, 1, &gappy(bytes as i64));
                    let buffer = if gaps { typed() } else { Buffer::dense(memory, bytes as u64) };
                    Message { buffer, peer, tag: 0, communicator: State::WORLD }
                };
                let send = message(&mut from, gaps_here, right);
                let receive = message(&mut into, gaps_there, left);
                let done = rank.instance.sendrecv(|_| Ok((send, receive))).unwrap();
                assert_eq!(done.into_result().unwrap().bytes, bytes as u64);
                let received = into.as_slice().iter().step_by(step(gaps_there)).take(bytes);
                assert!(received.eq(&data), "{bytes} bytes changed on their way");
                if gaps_there {
                    assert!(
                        into.as_slice().iter().skip(1).step_by(3).all(|&gap| gap == 0),
                        "a gap was written"
                    );
                }
            }
        }
    });
}
