//! Models of the ring for loom: packets cross whole and in order, and whoever waits for room is told.
//!
//! A model has few steps, since loom tries all of their orders: what comes before the interesting part is done before
//! the second thread starts.

use loom::sync::Arc;
use loom::thread;

use super::cells::pair;
use super::{CELL, Consumer, Producer, WORD};
use crate::sync::AtomicU32;
use crate::wait::Doorbell;

/// Bytes of a body that fills `cells` cells.
const fn filling(cells: usize) -> usize {
    cells * CELL - WORD
}

fn push(producer: &mut Producer, number: u32, cells: usize) -> bool {
    producer.push(number, filling(cells), |body| body.write_number(number, filling(cells)))
}

/// Takes a packet and checks it; whether there was one, and whether the producer waits for room.
fn take(consumer: &mut Consumer, number: u32, cells: usize) -> Option<bool> {
    let packet = consumer.peek()?;
    assert_eq!((packet.meta, packet.body_bytes), (number, filling(cells)), "a packet was changed on its way");
    assert_eq!(packet.body.read_numbers(packet.body_bytes), vec![number; cells], "a body was changed");
    Some(consumer.release(packet))
}

/// Pushes and takes packets of one cell until both ends stand at `position`.
fn advance(producer: &mut Producer, consumer: &mut Consumer, position: u32) {
    for number in 0..position {
        assert!(push(producer, number, 1));
        assert_eq!(take(consumer, number, 1), Some(false));
    }
}

fn model(preemptions: usize, check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(check);
}

/// Two bells, as those of two processes.
#[derive(Debug, Default)]
struct Bells([[AtomicU32; 2]; 2]);

impl Bells {
    fn of(&self, end: usize) -> Doorbell<'_> {
        Doorbell::new(&self.0[end][0], &self.0[end][1])
    }
}

const PRODUCER: usize = 0;
const CONSUMER: usize = 1;

/// Tries until it works, and sleeps in between.
fn wait_for<T>(bell: Doorbell<'_>, mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        let ticket = bell.prepare();
        if let Some(done) = attempt() {
            bell.stay_awake();
            return done;
        }
        bell.sleep(ticket, None);
    }
}

#[test]
fn loom_packets_cross_whole_and_in_order() {
    model(3, || {
        let (mut producer, mut consumer) = pair(8);
        let sender = thread::spawn(move || {
            for (number, cells) in [(1, 1), (2, 2), (3, 1)] {
                assert!(push(&mut producer, number, cells));
            }
        });
        for (number, cells) in [(1, 1), (2, 2), (3, 1)] {
            while take(&mut consumer, number, cells).is_none() {
                thread::yield_now();
            }
        }
        assert!(consumer.peek().is_none());
        sender.join().unwrap();
    });
}

#[test]
fn loom_a_packet_that_does_not_fit_before_the_end_begins_anew() {
    model(3, || {
        let (mut producer, mut consumer) = pair(8);
        advance(&mut producer, &mut consumer, 7);
        let sender = thread::spawn(move || {
            assert!(push(&mut producer, 1, 2));
            assert!(push(&mut producer, 2, 1));
        });
        for (number, cells) in [(1, 2), (2, 1)] {
            while take(&mut consumer, number, cells).is_none() {
                thread::yield_now();
            }
        }
        sender.join().unwrap();
    });
}

#[test]
fn loom_cells_are_used_again_only_when_they_have_been_read() {
    // The last packet covers a cell of the second, which only the latest `head` gives back.
    const CELLS: [usize; 6] = [1, 2, 2, 2, 1, 2];
    model(3, || {
        let (mut producer, mut consumer) = pair(8);
        for number in 0..4 {
            assert!(push(&mut producer, number, CELLS[number as usize]));
        }
        let sender = thread::spawn(move || {
            for number in 4..6 {
                while !push(&mut producer, number, CELLS[number as usize]) {
                    thread::yield_now();
                }
            }
        });
        for number in 0..6 {
            while take(&mut consumer, number, CELLS[number as usize]).is_none() {
                thread::yield_now();
            }
        }
        sender.join().unwrap();
    });
}

#[test]
fn loom_a_producer_that_waits_for_room_is_told() {
    model(3, || {
        let (mut producer, mut consumer) = pair(8);
        let bells = Arc::new(Bells::default());
        for number in 0..3 {
            assert!(push(&mut producer, number, 2));
        }
        let theirs = Arc::clone(&bells);
        let sender = thread::spawn(move || {
            wait_for(theirs.of(PRODUCER), || push(&mut producer, 3, 2).then_some(()));
        });
        // Nothing but these three takes can tell the producer: a lost wake-up is a deadlock.
        for number in 0..3 {
            if take(&mut consumer, number, 2).expect("it was there from the beginning") {
                bells.of(PRODUCER).ring();
            }
        }
        sender.join().unwrap();
        assert!(take(&mut consumer, 3, 2).is_some());
    });
}

#[test]
fn loom_both_ends_sleep_and_neither_is_forgotten() {
    model(2, || {
        let (mut producer, mut consumer) = pair(8);
        let bells = Arc::new(Bells::default());
        for number in 0..3 {
            assert!(push(&mut producer, number, 2));
        }
        let theirs = Arc::clone(&bells);
        let sender = thread::spawn(move || {
            for number in 3..5 {
                wait_for(theirs.of(PRODUCER), || push(&mut producer, number, 2).then_some(()));
                theirs.of(CONSUMER).ring();
            }
        });
        for number in 0..5 {
            if wait_for(bells.of(CONSUMER), || take(&mut consumer, number, 2)) {
                bells.of(PRODUCER).ring();
            }
        }
        sender.join().unwrap();
    });
}
