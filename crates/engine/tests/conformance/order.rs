//! Order: messages of one pair never overtake one another, whatever way they take (MPI 5.0, section 3.5).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use postrider_abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use postrider_engine::point_to_point::Mode;

use super::worlds::{RANKS, Rank, WAYS, Way, everywhere, pattern, run};

/// Short, eager, announced: in turn, so that each kind follows each other.
const LENGTHS: [usize; 7] = [0, 900, 8, 5000, 300, 40, 70_000];

#[test]
fn messages_of_a_pair_arrive_in_order_across_protocols() {
    everywhere(&RANKS, |rank| {
        let (right, left) = ((rank.rank + 1) % rank.ranks, (rank.rank + rank.ranks - 1) % rank.ranks);
        let sends: Vec<_> = (0..21)
            .map(|number| rank.isend(Mode::Standard, right, 5, &pattern(LENGTHS[number % 7], number)))
            .collect();
        for number in 0..21 {
            let (status, data) = rank.recv(left, 5, 70_000);
            assert_eq!((status.source, status.tag), (left, 5));
            assert_eq!(data, pattern(LENGTHS[number % 7], number), "message {number}");
        }
        sends.into_iter().for_each(|send| drop(rank.wait(send)));
    });
}

#[test]
fn receives_that_are_posted_first_are_filled_in_order() {
    everywhere(&RANKS, |rank| {
        let left = (rank.rank + rank.ranks - 1) % rank.ranks;
        let receives: Vec<_> = (0..14).map(|_| rank.irecv(left, MPI_ANY_TAG, 70_000)).collect();
        rank.meet();
        let right = (rank.rank + 1) % rank.ranks;
        let send = |number: usize| {
            rank.isend(Mode::Ready, right, number as i32, &pattern(LENGTHS[number % 7], number))
        };
        let sends: Vec<_> = (0..14).map(send).collect();
        for (number, receive) in receives.into_iter().enumerate() {
            let (status, data) = rank.wait(receive);
            assert_eq!(status.tag, number as i32);
            assert_eq!(data, pattern(LENGTHS[number % 7], number));
        }
        sends.into_iter().for_each(|send| drop(rank.wait(send)));
    });
}

#[test]
fn a_wildcard_takes_each_sender_in_its_order() {
    everywhere(&RANKS, |rank| {
        let each = 30;
        if rank.rank != 0 {
            for number in 0..each {
                rank.send(0, number, &pattern(LENGTHS[number as usize % 6], number as usize));
            }
            return;
        }
        let mut next = vec![0; rank.ranks as usize];
        for _ in 0..each * (rank.ranks - 1) {
            let (status, data) = rank.recv(MPI_ANY_SOURCE, MPI_ANY_TAG, 70_000);
            let next = &mut next[status.source as usize];
            assert_eq!(status.tag, *next, "from {}", status.source);
            assert_eq!(data, pattern(LENGTHS[*next as usize % 6], *next as usize));
            *next += 1;
        }
    });
}

/// Everybody floods everybody before anybody receives: rings fill up, and nothing is lost.
#[test]
fn a_flood_of_unexpected_messages_is_kept() {
    everywhere(&RANKS, |rank| {
        let each = 100;
        let mut sends = Vec::new();
        for number in 0..each {
            for peer in 0..rank.ranks {
                let salt = number * 8 + rank.rank as usize;
                sends.push(rank.isend(Mode::Standard, peer, number as i32, &pattern(number * 5, salt)));
            }
        }
        // From the last tag to the first: matching has to look through the whole queue.
        for number in (0..each).rev() {
            for peer in 0..rank.ranks {
                receive_one(rank, peer, number);
            }
        }
        sends.into_iter().for_each(|send| drop(rank.wait(send)));
    });
}

fn receive_one(rank: Rank<'_>, peer: i32, number: usize) {
    let (status, data) = rank.recv(peer, number as i32, 1000);
    assert_eq!((status.source, status.tag), (peer, number as i32));
    assert_eq!(data, pattern(number * 5, number * 8 + peer as usize));
}

/// A process that computes holds up those who flood it, after a bounded number of messages; they go on when it looks.
#[test]
fn nobody_runs_ahead_of_a_process_that_computes() {
    let (count, bytes) = (1200_usize, 4096);
    let real = WAYS.iter().filter(|way| !matches!(way, Way::Simulated { .. }));
    for (way, ranks) in real.flat_map(|way| [2, 3].map(|ranks| (*way, ranks))) {
        let (all_are_sent, last) = (AtomicBool::new(false), ranks as i32 - 1);
        run(way, ranks, &|rank: Rank<'_>| {
            if rank.rank == 0 {
                let send = |number| rank.isend(Mode::Standard, last, 5, &pattern(bytes, number));
                let sends: Vec<_> = (0..count).map(send).collect();
                let left = sends.iter().filter(|send| rank.is_complete(send)).count();
                all_are_sent.store(true, Ordering::Release);
                assert!(left <= 1024, "{way:?}: {left} messages have left");
                sends.into_iter().for_each(|send| drop(rank.wait(send)));
            } else if rank.rank == last {
                while !all_are_sent.load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                for number in 0..count {
                    assert_eq!(rank.recv(0, 5, bytes).1, pattern(bytes, number), "message {number}");
                }
            }
        });
    }
}

/// Long messages that nobody receives do not take more and more of the file system, nor do they stop those behind them.
#[test]
fn messages_get_past_long_ones_that_nobody_receives() {
    let (count, bytes) = (80_usize, 1 << 20);
    for way in [Way::File, Way::HostsByFiles, Way::HostsByCentralFiles] {
        run(way, 3, &|rank: Rank<'_>| {
            if rank.rank == 0 {
                let send = |number| rank.isend(Mode::Standard, 2, 5, &pattern(bytes, number));
                let sends: Vec<_> = (0..count).map(send).collect();
                rank.send(2, 6, &[]);
                rank.recv(2, 6, 0);
                let left = sends.iter().filter(|send| rank.is_complete(send)).count();
                assert!(left <= 64, "{way:?}: {left} messages lie there");
                rank.send(2, 7, &[]);
                sends.into_iter().for_each(|send| drop(rank.wait(send)));
            } else if rank.rank == 2 {
                rank.recv(0, 6, 0);
                rank.send(0, 6, &[]);
                rank.recv(0, 7, 0);
                for number in 0..count {
                    assert_eq!(rank.recv(0, 5, bytes).1, pattern(bytes, number), "message {number}");
                }
            }
        });
    }
}
