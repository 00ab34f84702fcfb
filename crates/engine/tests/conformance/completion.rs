//! Probes, cancellation and the memory of attached buffers.

use postrider_abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL};
use postrider_engine::State;
use postrider_engine::point_to_point::{Buffer, BufferOwner, Mode, NullMessage};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::worlds::{RANKS, everywhere, pattern};

#[test]
fn a_receive_that_nobody_has_matched_can_be_cancelled() {
    everywhere(&RANKS, |rank| {
        let mut receive = rank.irecv(MPI_ANY_SOURCE, 77, 100);
        rank.cancel(&receive);
        assert!(rank.finish(&mut receive).unwrap().cancelled);
        // A message that comes later goes to the next receive.
        let send = rank.isend(Mode::Standard, rank.rank, 77, b"later");
        assert_eq!(rank.recv(MPI_ANY_SOURCE, 77, 100).1, b"later");
        rank.wait(send);
    });
}

#[test]
fn a_cancelled_send_arrives_or_does_not_but_never_half() {
    everywhere(&[2, 3, 7], |rank| {
        let lengths = [0, 100, 10_000, 100_000];
        if rank.rank == 0 {
            for (number, bytes) in lengths.into_iter().enumerate() {
                for mode in [Mode::Standard, Mode::Synchronous] {
                    let mut send = rank.isend(mode, 1, 1, &pattern(bytes, number));
                    rank.cancel(&send);
                    let cancelled = rank.finish(&mut send).unwrap().cancelled;
                    assert!(
                        cancelled || mode == Mode::Standard,
                        "nobody receives it before the next message"
                    );
                    rank.send(1, 2, &[u8::from(cancelled)]);
                    rank.recv(1, 3, 0);
                }
            }
        } else if rank.rank == 1 {
            for (number, bytes) in lengths.into_iter().enumerate() {
                for _ in 0..2 {
                    if rank.recv(0, 2, 1).1 == [0] {
                        assert_eq!(rank.recv(0, 1, bytes).1, pattern(bytes, number));
                    }
                    let left = rank.state(|state| state.look_for_message(State::WORLD, 0, 1));
                    assert_eq!(left, None, "a cancelled message was left behind");
                    rank.send(0, 3, &[]);
                }
            }
        }
    });
}

#[test]
fn a_send_that_is_matched_is_too_late_to_cancel() {
    everywhere(&[2], |rank| {
        for bytes in [10, 100_000] {
            if rank.rank == 0 {
                rank.recv(1, 1, 0);
                let mut send = rank.isend(Mode::Synchronous, 1, 2, &pattern(bytes, 0));
                rank.recv(1, 3, 0);
                rank.cancel(&send);
                assert!(!rank.finish(&mut send).unwrap().cancelled);
            } else {
                let receive = rank.irecv(0, 2, bytes);
                rank.send(0, 1, &[]);
                assert_eq!(rank.wait(receive).1, pattern(bytes, 0));
                rank.send(0, 3, &[]);
            }
        }
    });
}

#[test]
fn probes_find_what_a_receive_would_get() {
    everywhere(&RANKS, |rank| {
        for bytes in [0, 3, 600, 100_000] {
            let (right, left) = ((rank.rank + 1) % rank.ranks, (rank.rank + rank.ranks - 1) % rank.ranks);
            let sends =
                [5, 6].map(|tag| rank.isend(Mode::Standard, right, tag, &pattern(bytes, tag as usize)));
            let status = rank.instance.probe(State::WORLD, left, 6).unwrap();
            assert_eq!((status.source, status.tag, status.bytes), (left, 6, bytes as u64));
            let (message, status) = rank.instance.mprobe(State::WORLD, MPI_ANY_SOURCE, MPI_ANY_TAG).unwrap();
            assert_eq!((status.source, status.tag), (left, 5), "the first that fits");
            // What a matched probe took is out of the queues.
            assert_eq!(rank.recv(left, MPI_ANY_TAG, bytes).0.tag, 6);
            let mut memory = OwnedMemory::new(bytes);
            let buffer = Buffer::dense(UserMemory::of(&mut memory), bytes as u64);
            let key = rank.state(|state| state.imrecv(message, buffer));
            let status = rank.instance.wait(key).unwrap().completion.into_result().unwrap();
            assert_eq!((status.tag, status.bytes), (5, bytes as u64));
            assert_eq!(memory.as_slice(), pattern(bytes, 5));
            sends.into_iter().for_each(|send| drop(rank.wait(send)));
            rank.meet();
        }
        let (message, _) = rank.instance.mprobe(State::WORLD, MPI_PROC_NULL, 0).unwrap();
        assert_eq!(message, NullMessage::NoProcess);
    });
}

#[test]
fn buffered_sends_leave_when_they_can() {
    everywhere(&RANKS, |rank| {
        rank.state(|state| state.attach_buffer(BufferOwner::Process, 0x1000, 4 << 20, false));
        let (right, left) = ((rank.rank + 1) % rank.ranks, (rank.rank + rank.ranks - 1) % rank.ranks);
        for number in 0..20 {
            rank.wait(rank.isend(Mode::Buffered, right, 1, &pattern(number * 2500, number)));
        }
        for number in 0..20 {
            assert_eq!(rank.recv(left, 1, 50_000).1, pattern(number * 2500, number));
        }
        assert_eq!(
            rank.instance.detach_buffer(BufferOwner::Process).unwrap(),
            Some((0x1000, 4 << 20, false))
        );
    });
}
