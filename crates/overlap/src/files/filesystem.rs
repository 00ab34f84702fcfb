//! A file system: how fast it is, and the worker that writes to its files and reads ahead in them.
//!
//! The worker sleeps until there is something to do: blocks that are full, files whose last write is [`PATIENCE`] ago, closed files, and
//! ranges to read ahead. What a program waits for it does not leave to the worker: it writes the rest itself, by the same functions.

use super::file::OpenFile;
use super::process::Inside;
use postrider_os::process::start_thread;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// After so long without a write, what is pending is written.
pub const PATIENCE: Duration = Duration::from_millis(50);
/// So many calls tell how fast a file system is.
const SAMPLES: u64 = 3;
/// What a call may take of a file system that is left alone.
const FAST: Duration = Duration::from_micros(20);
/// What copying a byte may take, which is no fault of the file system.
const COPY_NANOSECONDS_PER_BYTE: u64 = 1;

/// How fast a file system is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// Not measured yet.
    Unknown,
    /// A call takes as long as one of the system without a file.
    Fast,
    /// It is worth while to let a worker wait.
    Slow,
}

/// How fast calls are that took so long together.
pub fn speed(calls: u64, took: Duration) -> Speed {
    match calls {
        0..SAMPLES => Speed::Unknown,
        _ if took < FAST * calls.min(1 << 20) as u32 => Speed::Fast,
        _ => Speed::Slow,
    }
}

/// What of a call's time is the file system's.
pub fn time_of_file_system(took: Duration, bytes: u64) -> Duration {
    took.saturating_sub(Duration::from_nanos(bytes.saturating_mul(COPY_NANOSECONDS_PER_BYTE)))
}

/// A file system of this process.
pub struct FileSystem {
    /// It asks a server, so that it counts as slow until it is measured.
    is_remote: bool,
    calls: AtomicU64,
    /// What the fastest of them took: others may have waited for a processor.
    nanoseconds: AtomicU64,
    work: Mutex<Work>,
    woken: Condvar,
}

/// What the worker has to do.
#[derive(Default)]
struct Work {
    /// Whether there is a worker: `None` if none could be started.
    runs: Option<bool>,
    full: VecDeque<Arc<OpenFile>>,
    closed: VecDeque<Arc<OpenFile>>,
    ahead: VecDeque<(Arc<OpenFile>, Range<u64>)>,
    /// Files with something pending, and when to look at them.
    pending: VecDeque<(Instant, Arc<OpenFile>)>,
}

/// One thing to do.
enum Task {
    Full(Arc<OpenFile>),
    Closed(Arc<OpenFile>),
    Ahead(Arc<OpenFile>, Range<u64>),
    Due(Arc<OpenFile>),
}

impl FileSystem {
    /// One that nothing is known of but whether it asks a server.
    pub fn new(is_remote: bool) -> Self {
        Self {
            is_remote,
            calls: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(u64::MAX),
            work: Mutex::default(),
            woken: Condvar::new(),
        }
    }

    /// How fast it is, by its first calls that wrote.
    pub fn speed(&self) -> Speed {
        let calls = self.calls.load(Relaxed);
        let fastest = Duration::from_nanos(self.nanoseconds.load(Relaxed));
        match speed(calls, fastest.saturating_mul(calls as u32)) {
            Speed::Unknown if self.is_remote => Speed::Slow,
            measured => measured,
        }
    }

    /// Takes note of a call that wrote, if it is one of the first.
    pub fn took(&self, time: Duration) {
        if self.calls.load(Relaxed) < SAMPLES {
            self.nanoseconds.fetch_min(time.as_nanos() as u64, Relaxed);
            self.calls.fetch_add(1, Relaxed);
        }
    }

    /// Whether there is a worker, which is started if need be.
    pub fn has_worker(self: &Arc<Self>) -> bool {
        let mut work = self.work();
        if let Some(runs) = work.runs {
            return runs;
        }
        let file_system = Arc::clone(self);
        let builder = thread::Builder::new().name("postrider-files".into());
        let runs = start_thread(builder, move || file_system.serve()).is_ok();
        work.runs = Some(runs);
        runs
    }

    /// The file has blocks that are full.
    pub fn full(&self, file: &Arc<OpenFile>) {
        self.work().full.push_back(Arc::clone(file));
        self.woken.notify_one();
    }

    /// The file has something pending from now on.
    pub fn pending(&self, file: &Arc<OpenFile>) {
        self.work().pending.push_back((Instant::now() + PATIENCE, Arc::clone(file)));
        self.woken.notify_one();
    }

    /// The program has closed the file.
    pub fn closed(&self, file: &Arc<OpenFile>) {
        self.work().closed.push_back(Arc::clone(file));
        self.woken.notify_one();
    }

    /// These ranges of the file will be read.
    pub fn ahead(&self, file: &Arc<OpenFile>, ranges: Vec<Range<u64>>) {
        self.work().ahead.extend(ranges.into_iter().map(|range| (Arc::clone(file), range)));
        self.woken.notify_one();
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the worker does.
    fn serve(&self) {
        let _inside = Inside::enter();
        let mut scratch = Vec::new();
        loop {
            match self.next() {
                Task::Full(file) => file.drain(true),
                Task::Closed(file) => {
                    file.drain(false);
                    file.finish();
                }
                Task::Ahead(file, range) => file.read_ahead(&range, &mut scratch),
                Task::Due(file) => {
                    if let Some(due) = file.due() {
                        self.work().pending.push_back((due, file));
                    } else {
                        file.drain(false);
                    }
                }
            }
        }
    }

    /// Waits for something to do.
    fn next(&self) -> Task {
        let mut work = self.work();
        loop {
            let now = Instant::now();
            if let Some(file) = work.full.pop_front() {
                return Task::Full(file);
            }
            if work.pending.front().is_some_and(|(due, _)| *due <= now) {
                return Task::Due(work.pending.pop_front().expect("it is there").1);
            }
            if let Some((file, range)) = work.ahead.pop_front() {
                return Task::Ahead(file, range);
            }
            if let Some(file) = work.closed.pop_front() {
                return Task::Closed(file);
            }
            let woken = match work.pending.front() {
                Some((due, _)) => {
                    let wait = due.saturating_duration_since(now);
                    self.woken.wait_timeout(work, wait).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.woken.wait(work).unwrap_or_else(PoisonError::into_inner),
            };
            work = woken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_calls_tell_how_fast_a_file_system_is() {
        assert_eq!(speed(2, Duration::from_secs(1)), Speed::Unknown);
        assert_eq!(speed(3, Duration::from_micros(12)), Speed::Fast);
        assert_eq!(speed(3, Duration::from_micros(1500)), Speed::Slow);
        // A megabyte to memory takes its time, too.
        let copied = time_of_file_system(Duration::from_micros(500), 1 << 20);
        assert_eq!(copied, Duration::ZERO);
    }
}
