//! The two ways in which a file system makes its clients wait: a way to the server and back, which all requests go side by
//! side, and a server that serves them one after the other.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What every request passes.
pub struct Queue {
    delay: Duration,
    /// How long the server is busy with one request.
    service: Duration,
    /// When the server has served all that came so far.
    free: Mutex<Instant>,
}

impl Queue {
    /// A server at this distance that serves so many requests in a second, or any number of them.
    pub fn new(delay: Duration, requests_per_second: Option<u32>) -> Self {
        let service = requests_per_second.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate);
        Self { delay, service, free: Mutex::new(Instant::now()) }
    }

    /// Waits until a request that comes now has been served.
    pub fn pass(&self) {
        let now = Instant::now();
        let served = self.served(now);
        let wait = served.duration_since(now) + self.delay;
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
    }

    /// When a request that comes at `now` has been served.
    fn served(&self, now: Instant) -> Instant {
        if self.service.is_zero() {
            return now;
        }
        let mut free = self.free.lock().expect("no request panics with the lock");
        *free = now.max(*free) + self.service;
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loaded_server_serves_one_after_the_other() {
        let queue = Queue::new(Duration::ZERO, Some(1000));
        let now = Instant::now() + Duration::from_secs(1);
        let millisecond = Duration::from_millis(1);
        assert_eq!(queue.served(now), now + millisecond);
        assert_eq!(queue.served(now), now + 2 * millisecond);
        // An idle time is not made good for.
        let later = now + 10 * millisecond;
        assert_eq!(queue.served(later), later + millisecond);
    }

    #[test]
    fn without_a_limit_nothing_waits_for_another() {
        let queue = Queue::new(Duration::ZERO, None);
        let now = Instant::now();
        assert_eq!(queue.served(now), now);
        assert_eq!(queue.served(now), now);
    }
}
