//! A process that dies in the middle of a simulation: what the others say to each other still arrives, whatever they say to
//! it goes nowhere, and a receive from it can be taken back. Nothing crashes.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use postrider_engine::point_to_point::{Buffer, Found, Message, Mode, Want};
use postrider_engine::transports::simulated::Network;
use postrider_engine::transports::{Limits, SingleCopy};
use postrider_engine::{Instance, State, World};
use postrider_os::hosts::Placement;
use postrider_os::memory::{OwnedMemory, UserMemory};

const RANKS: u32 = 4;
const LOOKS: usize = 100_000;

fn message(memory: &mut OwnedMemory, peer: i32) -> Message {
    let bytes = memory.len() as u64;
    let buffer = Buffer::dense(UserMemory::of(memory), bytes);
    Message { buffer, peer, tag: 1, communicator: State::WORLD }
}

/// Rank `own` sends to and receives from each of `peers`; true when all of that is done within a bounded number of looks.
fn exchange(
    instances: &[Instance],
    own: usize,
    peers: &[usize],
    bytes: usize,
    finished: &AtomicUsize,
) -> bool {
    let mut memory: Vec<OwnedMemory> = (0..2 * peers.len()).map(|_| OwnedMemory::new(bytes)).collect();
    let mut keys = Vec::new();
    for (pair, &peer) in memory.chunks_mut(2).zip(peers) {
        let (out, into) = pair.split_at_mut(1);
        let send = message(&mut out[0], peer as i32);
        let receive = message(&mut into[0], peer as i32);
        let started =
            instances[own].with(|state| Ok((state.irecv(receive)?, state.isend(&send, Mode::Standard)?)));
        let (receiving, sending) = started.unwrap();
        keys.extend([Some(receiving), Some(sending)]);
    }
    let done = (0..LOOKS).any(|_| {
        std::thread::yield_now();
        !matches!(instances[own].test(&keys, Want::All).unwrap(), Found::NotYet)
    });
    if done {
        // Others may still need this process's progress: an answer of it may be waiting for room.
        finished.fetch_add(1, SeqCst);
        while finished.load(SeqCst) < peers.len() + 1 {
            instances[own].with(State::progress).unwrap();
            std::thread::yield_now();
        }
    } else {
        // What cannot complete any more is taken back, as a program would before it gives up on the dead process.
        for key in keys.into_iter().flatten() {
            instances[own].with(|state| state.cancel(key)).unwrap();
        }
    }
    done
}

#[test]
fn the_living_go_on_when_a_process_dies() {
    for seed in 1..13 {
        let single_copy = SingleCopy::all_if(seed % 2 == 0);
        let limits = Limits { eager_bytes_max: 512, piece_bytes_max: 300, single_copy };
        let network = Network::new(RANKS, seed, limits, 4);
        let instances: Vec<Instance> = (0..RANKS)
            .map(|rank| Instance::new(World::simulated(&network, rank, &Placement::one_host(RANKS))))
            .collect();
        let all: Vec<usize> = (0..RANKS as usize).collect();
        network.kill(3);
        for bytes in [1, 512, 5000] {
            let finished = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for own in 0..3 {
                    let living: Vec<usize> = all[..3].iter().copied().filter(|&peer| peer != own).collect();
                    let (instances, finished) = (&instances, &finished);
                    let done = move || exchange(instances, own, &living, bytes, finished);
                    scope.spawn(move || assert!(done(), "seed {seed}, rank {own}, {bytes} bytes"));
                }
            });
        }
        assert!(
            !exchange(&instances, 0, &[3], 100, &AtomicUsize::new(0)),
            "seed {seed}: a dead process has answered"
        );
    }
}
