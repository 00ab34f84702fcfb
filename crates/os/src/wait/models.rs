//! Models of the doorbell for loom: who sleeps is woken, however many ring.

use loom::sync::Arc;
use loom::thread;

use super::{Doorbell, TowerPlace};
use crate::sync::AtomicU32;
use crate::sync::Ordering::Relaxed;

#[derive(Debug, Default)]
struct Shared {
    word: AtomicU32,
    asleep: AtomicU32,
    pid: AtomicU32,
    /// How often the pipe was rung.
    pipe: AtomicU32,
    /// What the ringers bring; as in a ring, nothing but the doorbell's fences makes it visible in time.
    brought: [AtomicU32; 2],
}

impl Shared {
    fn bell(&self) -> Doorbell<'_> {
        let tower = TowerPlace { pid: &self.pid, descriptor: &self.pipe };
        Doorbell::new(&self.word, &self.asleep).with_tower(tower)
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

#[test]
fn loom_both_kinds_of_sleepers_are_woken() {
    model(|| {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let watching = Arc::clone(&shared);
        let ringer = thread::spawn(move || theirs.bring(0));
        let watcher = thread::spawn(move || {
            watching.bell().prepare_tower();
            watching.brought[0].load(Relaxed) != 0
        });
        while shared.brought[0].load(Relaxed) == 0 {
            let ticket = shared.bell().prepare();
            // The announcement is not taken back: the other sleeper's would be, too.
            if shared.brought[0].load(Relaxed) == 0 {
                shared.bell().sleep(ticket, None);
            }
        }
        ringer.join().unwrap();
        let has_seen = watcher.join().unwrap();
        // Who has not seen it before it slept has been rung, or will be by the next, because its flag still stands.
        let rung = shared.pipe.load(Relaxed) > 0;
        assert!(has_seen || rung, "nobody wakes the watcher");
    });
}
