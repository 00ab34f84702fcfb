//! The ring against a queue, and between two threads.

use super::*;
use crate::shared_memory::Segment;
use proptest::prelude::*;

fn pair(bytes: usize) -> (Segment, Producer, Consumer) {
    let segment = Segment::create(RING_HEADER_BYTES + bytes).unwrap();
    let (producer, consumer) = (Producer::new(&segment, 0, bytes), Consumer::new(&segment, 0, bytes));
    (segment, producer, consumer)
}

fn take(consumer: &mut Consumer) -> Option<(u32, Vec<u8>)> {
    let packet = consumer.peek()?;
    let mut body = vec![0; packet.body_bytes];
    packet.body.read(&mut body);
    consumer.release(packet);
    Some((packet.meta, body))
}

proptest! {
    #[test]
    fn packets_come_out_as_they_went_in(actions in prop::collection::vec((any::<bool>(), 0usize..248), 1..400)) {
        let (_segment, mut producer, mut consumer) = pair(1024);
        let mut expected = std::collections::VecDeque::new();
        for (number, (push, bytes)) in actions.into_iter().enumerate() {
            // Bytes of all ones: taken for a word, they would be a packet.
            let body = vec![0xff; bytes];
            if push && producer.push(number as u32, bytes, |place| place.write(&body)) {
                expected.push_back((number as u32, body));
            } else {
                prop_assert_eq!(take(&mut consumer), expected.pop_front());
            }
        }
        while let Some(packet) = expected.pop_front() {
            prop_assert_eq!(take(&mut consumer), Some(packet));
        }
        prop_assert_eq!(take(&mut consumer), None);
        prop_assert!(producer.push(0, 248, |_| ()), "an empty ring has room for the longest packet");
    }
}

#[test]
fn two_threads_stream_in_order() {
    let (_segment, mut producer, mut consumer) = pair(4096);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..20_000_u32 {
                let body = vec![number as u8; number as usize % 1000];
                while !producer.push(number, body.len(), |place| place.write(&body)) {
                    std::thread::yield_now();
                }
            }
        });
        for number in 0..20_000_u32 {
            let packet = loop {
                match take(&mut consumer) {
                    Some(packet) => break packet,
                    None => std::thread::yield_now(),
                }
            };
            assert_eq!(packet, (number, vec![number as u8; number as usize % 1000]));
        }
    });
}
