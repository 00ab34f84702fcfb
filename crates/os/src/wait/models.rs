//! Models of the doorbell for loom: who sleeps is woken, however many ring.

use loom::sync::Arc;
use loom::thread;

use super::Doorbell;
use crate::sync::AtomicU32;
use crate::sync::Ordering::Relaxed;

#[derive(Debug, Default)]
struct Shared {
    word: AtomicU32,
    asleep: AtomicU32,
    /// What the ringers bring; as in a ring, nothing but the doorbell's fences makes it visible in time.
    brought: [AtomicU32; 2],
}

impl Shared {
    fn bell(&self) -> Doorbell<'_> {
        Doorbell::new(&self.word, &self.asleep)
    }

    fn bring(&self, which: usize) {
        self.brought[which].store(1, Relaxed);
        self.bell().ring();
    }

    /// Sleeps until the first `count` have been brought.
    fn wait_for(&self, count: usize) {
        let ready = || self.brought[..count].iter().all(|brought| brought.load(Relaxed) != 0);
        while !ready() {
            let ticket = self.bell().prepare();
            if ready() {
                self.bell().stay_awake();
                return;
            }
            self.bell().sleep(ticket, None);
        }
    }
}

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(check);
}

#[test]
fn loom_a_sleeper_is_woken() {
    model(|| {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let ringer = thread::spawn(move || theirs.bring(0));
        shared.wait_for(1);
        ringer.join().unwrap();
    });
}

#[test]
fn loom_a_sleeper_is_woken_again_after_it_has_looked() {
    model(|| {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let ringer = thread::spawn(move || {
            theirs.bring(0);
            theirs.bring(1);
        });
        shared.wait_for(1);
        shared.wait_for(2);
        ringer.join().unwrap();
    });
}

#[test]
fn loom_several_ring_and_none_is_missed() {
    model(|| {
        let shared = Arc::new(Shared::default());
        let ringers: Vec<_> = (0..2)
            .map(|which| {
                let theirs = Arc::clone(&shared);
                thread::spawn(move || theirs.bring(which))
            })
            .collect();
        shared.wait_for(2);
        for ringer in ringers {
            ringer.join().unwrap();
        }
    });
}
