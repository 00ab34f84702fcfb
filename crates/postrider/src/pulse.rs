//! Signs of life between the hosts of a job: how often they are given, and how long one may wait for those of others.
//!
//! A host may vanish without a word, a network may drop what goes in one direction only, and a remote shell may be stopped; nothing but
//! silence tells. But whoever was not running himself has heard nobody meanwhile, whether he was stopped, or his machine slept, or all of
//! a job was suspended. So a [`Pulse`] looks at a clock that goes on while a machine sleeps, and says when a beat came late.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How often signs of life are given, at most.
const EVERY_MAX: Duration = Duration::from_secs(5);
/// Signs of life in the time that another may be silent, at least.
const BEATS_IN_SILENCE: u32 = 4;

/// When the next sign of life is due.
#[derive(Debug)]
pub struct Pulse {
    silence: Duration,
    every: Duration,
    due: Instant,
    /// The same by the clock that goes on in a sleep.
    due_awake: Duration,
    /// A beat that came late: when, and how late.
    late: Option<(Instant, Duration)>,
}

/// It is time to give a sign of life, and to look for those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// This process did not run when it should have: what others have said meanwhile may still be on its way.
    pub is_late: bool,
}

impl Pulse {
    /// The first beat is due at once; nobody may be silent for longer than `silence`.
    pub fn new(silence: Duration) -> Self {
        let every = EVERY_MAX.min(silence / BEATS_IN_SILENCE);
        Self { silence, every, due: Instant::now(), due_awake: clock(), late: None }
    }

    /// The same with as few beats as will do, for signs that wake those who only wait.
    pub fn sparse(silence: Duration) -> Self {
        Self { every: silence / BEATS_IN_SILENCE, ..Self::new(silence) }
    }

    /// How long others may be silent.
    pub fn silence(&self) -> Duration {
        self.silence
    }

    /// Time from one beat to the next.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// When the next beat is due.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// The beat that is due, if one is.
    pub fn beat(&mut self) -> Option<Beat> {
        let now = Instant::now();
        if now < self.due {
            return None;
        }
        let late = self.lateness();
        if late.is_some() {
            self.late = late.map(|late| (now, late));
        }
        self.restart_at(now + self.every());
        Some(Beat { is_late: late.is_some() })
    }

    /// Time until now does not count.
    pub fn restart(&mut self) {
        self.restart_at(Instant::now());
        self.late = None;
    }

    /// For how long this process has not run lately, if that was so long that others may have taken it for lost.
    pub fn slept(&self) -> Option<Duration> {
        let before = self.late.filter(|(noticed, _)| noticed.elapsed() < 2 * self.silence);
        let slept = before.map(|(_, late)| late).max(self.lateness())?;
        (slept + self.every() >= self.silence).then_some(slept)
    }

    /// How late the next beat is already, if it is late.
    fn lateness(&self) -> Option<Duration> {
        let late = clock().saturating_sub(self.due_awake);
        (late > self.every()).then_some(late)
    }

    fn restart_at(&mut self, due: Instant) {
        self.due = due;
        self.due_awake = clock() + due.saturating_duration_since(Instant::now());
    }
}

/// Time since the host was started, also that in which it slept.
fn clock() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_beat_is_due_at_once_and_then_after_a_while() {
        let mut pulse = Pulse::new(SILENCE);
        assert_eq!(pulse.beat(), Some(Beat { is_late: false }));
        assert_eq!(pulse.beat(), None);
        assert!(pulse.due() > Instant::now());
        assert_eq!(pulse.every(), EVERY_MAX);
        assert_eq!(Pulse::new(Duration::from_secs(4)).every(), Duration::from_secs(1));
    }

    #[test]
    fn who_has_slept_knows_it_before_and_after_the_late_beat() {
        let mut pulse = Pulse::new(SILENCE);
        assert_eq!(pulse.slept(), None);
        pulse.due_awake = clock().saturating_sub(2 * SILENCE);
        // A machine that was started a moment ago cannot have slept that long.
        let slept = clock().min(2 * SILENCE);
        if slept > SILENCE {
            assert!(pulse.slept() >= Some(slept));
        }
        assert_eq!(pulse.beat(), Some(Beat { is_late: slept > EVERY_MAX }));
        assert_eq!(pulse.slept().is_some(), slept > SILENCE);
        pulse.restart();
        assert_eq!(pulse.slept(), None);
    }
}
