//! Ends the test program when a parser makes no end, and says with which input.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::Location;
use std::process::abort;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// No parser of a few hundred bytes takes so long, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What runs now: when it began, where the test is, and its input.
type Running = BTreeMap<u64, (Instant, &'static Location<'static>, String)>;
static RUNNING: Mutex<(u64, Running)> = Mutex::new((0, BTreeMap::new()));
static STARTED: Once = Once::new();

fn running() -> MutexGuard<'static, (u64, Running)> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A case that runs until this is dropped.
pub struct Case(u64);

/// A case begins.
pub fn begin(place: &'static Location<'static>, input: &impl Debug) -> Case {
    STARTED.call_once(|| drop(thread::spawn(look)));
    let mut running = running();
    running.0 += 1;
    let number = running.0;
    running.1.insert(number, (Instant::now(), place, format!("{input:?}")));
    Case(number)
}

impl Drop for Case {
    fn drop(&mut self) {
        running().1.remove(&self.0);
    }
}

fn look() {
    loop {
        thread::sleep(LOOK_EVERY);
        for (began, place, input) in running().1.values() {
            if began.elapsed() > LIMIT {
                eprintln!("{place}: no end in sight with {input}");
                abort();
            }
        }
    }
}
