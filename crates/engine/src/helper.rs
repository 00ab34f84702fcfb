//! Progress while the program computes (MPI 5.0, sections 3.7.4 and 12.7.3).
//!
//! What a process has started goes on although it calls MPI no more: a send whose receiver waits for it, a receive whose sender does, a
//! collective operation in which others need its part, an access to a window of its own. Most of that the other side does alone,
//! with a copy between address spaces; for the rest there is a thread of the library, the helper. It starts with the first operation that a call leaves
//! behind, or with the first window that others may lock.
//!
//! It must cost nothing while the program is inside of MPI and makes progress by itself: if both slept on the doorbell, every message
//! would wake two threads. So the helper has a bell of its own, which others ring when they begin to wait and see that this process is
//! elsewhere, unless its last call has said that it leaves nothing behind. For those that cannot see that, on other hosts, it also looks from time to time, first after 100 microseconds, later every few
//! milliseconds, whether the program has called MPI since its last look. Once it has not, the helper sleeps on the doorbell itself, and serves
//! whatever comes as fast as a thread wakes up. It goes back to its looks as soon as the program is seen in MPI again, and to a
//! long sleep when there is nothing left that could go on. A program that calls MPI all the time but for things that make no progress is served at
//! every look.
//!
//! The helper calls nothing of the program: a collective operation whose operator is a function of the user waits for the program.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use postrider_os::gate::GateGuard;
use postrider_os::wait::Doorbell;

use crate::progress::SLEEP_MAX;
use crate::{Instance, State};

/// How long the program must have been elsewhere before the helper takes over.
const PAUSE_MIN: Duration = Duration::from_micros(100);
/// The longest time between looks while the program is inside of MPI.
const PAUSE_MAX: Duration = Duration::from_millis(4);
/// Looks without anything that could go on, after which the helper only sleeps.
const IDLE_LOOKS_MAX: u32 = 250;

impl State {
    /// Whether there is something that others may need this process for while it computes.
    fn needs_progress(&self) -> bool {
        self.under_way() > self.persistent || self.windows.iter().any(|(_, window)| window.needs_helper())
    }
}

impl Instance {
    /// Whether a helper makes sense: somebody may wait for this process.
    #[must_use]
    pub fn may_be_awaited(&self) -> bool {
        self.facts.size > 1 || self.lock().is_connected()
    }

    /// Whether another process may access memory of this one while it computes.
    #[must_use]
    pub fn has_passive_targets(&self) -> bool {
        self.lock().windows.iter().any(|(_, window)| window.needs_helper())
    }

    /// Says that a helper is about to start, or is to end.
    pub fn announce_helper(&self, comes: bool) {
        if comes {
            self.state.share();
        }
        self.lock().helping = comes;
        if let Some((job, _)) = self.waiter.seat() {
            job.count_helper(comes);
        }
        self.helper_bell().ring();
        self.waiter.wake_others();
    }

    /// An operation is left behind: a helper that only sleeps looks again.
    #[inline]
    pub fn leave_work(&self) {
        // Without a fence: what is overlooked in this moment is found when the sleep ends by itself.
        if self.helper_sleeps.load(Relaxed) {
            self.helper_bell().ring();
        }
    }

    /// Says, at the end of a call that has waited, whether it leaves nothing behind: then nobody calls the helper before the next call. Where
    /// threads meet, another one may be about to leave something.
    #[inline]
    pub(crate) fn leave_nothing(&self, state: &State) {
        if state.helping
            && !self.threads_meet()
            && !state.needs_progress()
            && let Some((job, rank)) = self.waiter.seat()
        {
            job.slot(rank).leave_nothing();
        }
    }

    /// A window is open to others, whatever the call in which it was opened has said.
    pub fn leave_window(&self) {
        if let Some((job, rank)) = self.waiter.seat() {
            job.slot(rank).leave_something();
        }
        self.leave_work();
    }

    /// What the helper does until it is to end.
    pub fn help(&self) {
        let (mut pause, mut idle) = (PAUSE_MIN, 0);
        loop {
            let long = idle > IDLE_LOOKS_MAX;
            self.helper_sleeps.store(long, Relaxed);
            let is_called = self.rest(if long { SLEEP_MAX } else { pause });
            self.helper_sleeps.store(false, Relaxed);
            let before = self.state.entries();
            if !is_called {
                self.rest(PAUSE_MIN);
            }
            pause = (2 * pause).min(PAUSE_MAX);
            // Who is inside makes progress by itself.
            let Some(state) = self.state.try_enter_beside() else { continue };
            let (state, goes_on) = self.look_in(state);
            if !goes_on {
                return;
            }
            let needed = state.needs_progress();
            idle = if needed { 0 } else { idle + 1 };
            if needed && self.is_elsewhere(&state, before) {
                pause = PAUSE_MIN;
                if !self.serve(state, before) {
                    return;
                }
            }
        }
    }

    fn helper_bell(&self) -> Doorbell<'_> {
        self.waiter.seat().map_or_else(|| self.helper.doorbell(), |(job, rank)| job.helper_bell(rank))
    }

    /// Sleeps, but not longer than nobody calls; true if somebody did.
    fn rest(&self, pause: Duration) -> bool {
        let ticket = self.helper_bell().prepare();
        !self.helper_bell().sleep(ticket, Some(pause))
    }

    /// Whether no thread of the program is inside of MPI, nor was since it had come there `before` times.
    fn is_elsewhere(&self, state: &State, before: u64) -> bool {
        self.state.entries() == before && state.sleepers == 0
    }

    /// Makes progress; false when the helper is to end.
    fn look_in<'a>(&'a self, mut state: GateGuard<'a, State>) -> (GateGuard<'a, State>, bool) {
        let (completions, taken) = (state.completions, state.taken);
        state.beside = true;
        // What goes wrong here goes wrong again, and is told, when the program makes progress.
        let progressed = state.progress().and_then(|()| state.decide(true)).is_ok();
        if !state.collectives.is_empty() {
            state = self.advance(state);
        }
        state.beside = false;
        if state.taken != taken {
            state.stir(&self.waiter);
        }
        self.wake_others(&state, completions);
        let goes_on = state.helping && progressed;
        (state, goes_on)
    }

    /// Serves whatever comes, until the program is in MPI again or nothing is left to go on; false when the helper is to end.
    fn serve<'a>(&'a self, mut state: GateGuard<'a, State>, before: u64) -> bool {
        while self.is_elsewhere(&state, before) && state.needs_progress() {
            // Up to the sleep nobody else has the lock, and takes the announcement back.
            state.transport.rest(false);
            let ticket = self.waiter.prepare_beside();
            let goes_on;
            (state, goes_on) = self.look_in(state);
            if !goes_on || state.more {
                self.waiter.stay_awake();
                if !goes_on {
                    return false;
                }
                drop(state);
                state = self.state.enter_beside();
                continue;
            }
            state.sleepers += 1;
            drop(state);
            let nothing_came = self.waiter.sleep(ticket, SLEEP_MAX);
            state = self.state.enter_beside();
            state.sleepers -= 1;
            // Threads of the program may have gone to sleep meanwhile: then the announcement is theirs, too.
            if state.sleepers == 0 {
                self.waiter.stay_awake();
            }
            if nothing_came && self.waiter.check().is_err() {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use postrider_os::gate::Threads;
    use postrider_os::hosts::Placement;
    use postrider_os::job::{Job, Shape, Transport};
    use postrider_os::memory::{OwnedMemory, UserMemory};

    use crate::point_to_point::{Buffer, Message};
    use crate::{Instance, State, World};

    /// Far beyond the longest sleep; it only ends a hang.
    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn a_helper_that_leaves_the_work_to_the_program_leaves_its_rank_awake() {
        let shape = Shape { cores: 2, transport: Transport::SharedMemory, ring_bytes: 4096 };
        let job = Arc::new(Job::create(shape, &Placement::one_host(2), 0).unwrap());
        assert!(job.slot(0).claim());
        let instance = Instance::new(World::in_job(&job, 0, None, Threads::MEET).unwrap());
        instance.begin();
        let awake = job.awake();
        let mut memory = OwnedMemory::new(8);
        let buffer = Buffer::dense(UserMemory::of(&mut memory), 8);
        let message = Message { buffer, peer: 1, tag: 0, communicator: State::WORLD };
        instance.with(|state| state.irecv(message)).unwrap();
        instance.announce_helper(true);
        let begun = Instant::now();
        let is_awake = std::thread::scope(|scope| {
            scope.spawn(|| instance.help());
            // The program is elsewhere, so that the helper goes to sleep on the doorbell; then it is in MPI all the time.
            while !job.doorbell(0).is_asleep() {
                std::thread::yield_now();
            }
            assert_eq!(job.awake(), awake);
            while job.doorbell(0).is_asleep() && begun.elapsed() < LIMIT {
                instance.make_progress().unwrap();
                std::thread::yield_now();
            }
            let is_awake = !job.doorbell(0).is_asleep() && job.awake() == awake;
            instance.announce_helper(false);
            is_awake
        });
        assert!(is_awake && job.awake() == awake);
    }
}
