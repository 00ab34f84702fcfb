//! Threads that access files beside the program, for nonblocking calls.
//!
//! There are at most a few, and one more for each work that waits for other processes: that must not keep the rest from being done, on which those
//! may depend. They are started when there is work and none of them is idle, and end when there has been none for a while. The
//! program's signals are not for them.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use postrider_os::process::start_thread;

/// A disk, or a slow file system, has seldom more to do at the same time for one process.
const THREADS_MAX: usize = 4;
/// How long a helper waits for more work. Starting one takes less time than most accesses.
const IDLE_MAX: Duration = Duration::from_millis(250);

/// What is to be done.
pub type Work = Box<dyn FnOnce() + Send>;

struct Helpers {
    work: VecDeque<Work>,
    threads: usize,
    idle: usize,
    /// How many works there are, begun or not, that wait for other processes.
    together: usize,
}

static HELPERS: Mutex<Helpers> =
    Mutex::new(Helpers { work: VecDeque::new(), threads: 0, idle: 0, together: 0 });
static NEWS: Condvar = Condvar::new();

fn helpers() -> MutexGuard<'static, Helpers> {
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a helper do the work; or does it, if there is no helper and the system allows no thread.
pub fn run(work: Work) {
    give(helpers(), work);
}

/// Something that is brought when it is done.
pub type Brought<T> = Receiver<T>;

/// Has a helper do something that does not call MPI, or does it, and brings what comes of it.
pub fn bring<T: Send + 'static>(beside: bool, work: impl FnOnce() -> T + Send + 'static) -> Brought<T> {
    let (sender, receiver) = channel();
    // Nobody is there to bring it to if the caller has failed.
    let work = move || drop(sender.send(work()));
    if beside {
        run(Box::new(work))
    } else {
        work()
    }
    receiver
}

/// Has a helper do work that waits for other processes.
pub fn run_together(work: Work) {
    let mut helpers = helpers();
    helpers.together += 1;
    let and_count = move || {
        work();
        self::helpers().together -= 1;
    };
    give(helpers, Box::new(and_count));
}

fn give(mut helpers: MutexGuard<'static, Helpers>, work: Work) {
    helpers.work.push_back(work);
    if helpers.idle < helpers.work.len() && helpers.threads < THREADS_MAX + helpers.together {
        let started = start_thread(thread::Builder::new().name("postrider-io".into()), serve).is_ok();
        helpers.threads += usize::from(started);
    }
    if helpers.threads == 0 {
        let work = helpers.work.pop_back();
        drop(helpers);
        work.into_iter().for_each(|work| work());
        return;
    }
    NEWS.notify_one();
}

fn serve() {
    let mut helpers = helpers();
    loop {
        if let Some(work) = helpers.work.pop_front() {
            drop(helpers);
            work();
            helpers = self::helpers();
            continue;
        }
        helpers.idle += 1;
        let (woken, waited) = NEWS.wait_timeout(helpers, IDLE_MAX).unwrap_or_else(PoisonError::into_inner);
        helpers = woken;
        helpers.idle -= 1;
        if waited.timed_out() && helpers.work.is_empty() {
            helpers.threads -= 1;
            return;
        }
    }
}
