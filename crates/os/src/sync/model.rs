//! Atomics of loom, and a futex made of loom's mutex and condition variable.
//!
//! A sleep has no limit here and never ends without a wake-up of its own word: a wake-up that is lost leaves its sleeper
//! asleep for ever, which loom reports as a deadlock.

use std::collections::HashMap;
use std::time::Duration;

use loom::sync::{Condvar, Mutex};

pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A sequentially consistent fence.
pub fn full_fence() {
    loom::sync::atomic::fence(Ordering::SeqCst);
}

loom::lazy_static! {
    /// How often each word, by its address, has been woken.
    static ref WOKEN: Mutex<HashMap<usize, u64>> = Mutex::new(HashMap::new());
    static ref CHANGED: Condvar = Condvar::new();
}

fn key(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word) as usize
}

/// Sleeps, if `word` holds `expected`, until somebody calls [`futex_wake_all`]. No limit ever passes here.
pub fn futex_wait(word: &AtomicU32, expected: u32, _limit: Option<Duration>) -> bool {
    let times = |woken: &HashMap<usize, u64>| woken.get(&key(word)).copied().unwrap_or(0);
    let mut woken = WOKEN.lock().expect("a poisoned lock has failed its model already");
    // As in the kernel, the comparison and the falling asleep are one step for whoever wakes.
    if word.load(Ordering::SeqCst) != expected {
        return false;
    }
    let before = times(&woken);
    while times(&woken) == before {
        woken = CHANGED.wait(woken).expect("a poisoned lock has failed its model already");
    }
    false
}

/// Wakes everybody who sleeps on `word`.
pub fn futex_wake_all(word: &AtomicU32) {
    let mut woken = WOKEN.lock().expect("a poisoned lock has failed its model already");
    *woken.entry(key(word)).or_insert(0) += 1;
    drop(woken);
    CHANGED.notify_all();
}
