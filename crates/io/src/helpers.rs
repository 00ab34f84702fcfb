//! Threads that access files beside the program, for nonblocking calls.
//!
//! There are at most a few. They are started when there is work and none of them is idle, and end when there has been none for a while. The
//! program's signals are not for them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use postrider_os::process::start_thread;

/// A disk, or a slow file system, has seldom more to do at the same time for one process.
const THREADS_MAX: usize = 4;
/// How long a helper waits for more work. Starting one takes less time than most accesses.
const IDLE_MAX: Duration = Duration::from_millis(250);

type Work = Box<dyn FnOnce() + Send>;

struct Helpers {
    work: VecDeque<Work>,
    threads: usize,
    idle: usize,
}

static HELPERS: Mutex<Helpers> = Mutex::new(Helpers { work: VecDeque::new(), threads: 0, idle: 0 });
static NEWS: Condvar = Condvar::new();

fn helpers() -> MutexGuard<'static, Helpers> {
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a helper do the work; or does it, if there is no helper and the system allows no thread.
pub fn run(work: Work) {
    let mut helpers = helpers();
    helpers.work.push_back(work);
    if helpers.idle < helpers.work.len() && helpers.threads < THREADS_MAX {
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
