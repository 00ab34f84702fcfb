//! Progress while the program computes: passive targets need not call MPI (MPI 5.0, section 12.7.3).
//!
//! As long as a window is open on which another process may take a lock, a thread of the library serves it whenever the program
//! is elsewhere. The thread must cost nothing while the program is inside of MPI and makes progress by itself: if
//! both slept on the doorbell, every message would wake two threads. So the helper looks from time to time, first after
//! 100 microseconds, later every few milliseconds, whether the program has called MPI since its last look. Only when it has not does
//! the helper sleep on the doorbell itself; then a packet is served as fast as a thread wakes up. It goes back to its looks
//! as soon as the program is seen in MPI again. A program that calls MPI all the time but for things that make no progress
//! is served at every look.

use std::time::Duration;

use postrider_os::gate::GateGuard;

use crate::progress::SLEEP_MAX;
use crate::{Instance, State};

/// How long the program must have been elsewhere before the helper takes over.
const PAUSE_MIN: Duration = Duration::from_micros(100);
/// The longest time between looks while the program is inside of MPI.
const PAUSE_MAX: Duration = Duration::from_millis(4);

impl Instance {
    /// Whether a helper is wanted: another process may access memory of this one while it computes.
    #[must_use]
    pub fn wants_helper(&self) -> bool {
        let state = self.lock();
        state.windows.iter().any(|(_, window)| window.needs_helper())
    }

    /// Says, before it starts, that a helper comes, and that it is to end, or, once that has ended, that there is none.
    pub fn announce_helper(&self, comes: bool) {
        if comes {
            self.state.share(true);
        }
        self.lock().helping = comes;
        self.helper.doorbell().ring();
        self.waiter.wake_others();
    }

    /// The helper has ended.
    pub fn forget_helper(&self) {
        self.state.share(false);
    }

    /// What the helper does until it is to end.
    pub fn help(&self) {
        let mut pause = PAUSE_MIN;
        loop {
            self.rest(pause.saturating_sub(PAUSE_MIN));
            let before = self.state.entries();
            self.rest(PAUSE_MIN);
            let Some(state) = self.look_in(self.state.enter_uncounted()) else { return };
            if self.is_elsewhere(&state, before) {
                pause = PAUSE_MIN;
                if !self.serve(state, before) {
                    return;
                }
            } else {
                pause = (2 * pause).min(PAUSE_MAX);
            }
        }
    }

    /// Sleeps, but not longer than the helper is wanted.
    fn rest(&self, pause: Duration) {
        if !pause.is_zero() {
            let ticket = self.helper.doorbell().prepare();
            self.helper.doorbell().sleep(ticket, Some(pause));
        }
    }

    /// Whether no thread of the program is inside of MPI, nor was since it had come there `before` times.
    fn is_elsewhere(&self, state: &State, before: u64) -> bool {
        self.state.entries() == before && state.sleepers == 0
    }

    /// Makes progress; none when the helper is to end.
    fn look_in<'a>(&self, mut state: GateGuard<'a, State>) -> Option<GateGuard<'a, State>> {
        let completions = state.completions;
        // What goes wrong here goes wrong again, and is told, when the program makes progress.
        let progressed = state.progress().is_ok();
        self.wake_others(&state, completions);
        (state.helping && progressed).then_some(state)
    }

    /// Serves whatever comes, until the program is in MPI again; false when the helper is to end.
    fn serve<'a>(&'a self, mut state: GateGuard<'a, State>, before: u64) -> bool {
        while self.is_elsewhere(&state, before) {
            // Up to the sleep nobody else has the lock, and takes the announcement back.
            state.transport.rest(false);
            let ticket = self.waiter.prepare(None);
            let Some(mut looking) = self.look_in(state) else { return false };
            if looking.more {
                drop(looking);
                state = self.state.enter_uncounted();
                continue;
            }
            looking.sleepers += 1;
            drop(looking);
            let nothing_came = self.waiter.sleep(ticket, SLEEP_MAX);
            state = self.state.enter_uncounted();
            state.sleepers -= 1;
            if nothing_came && self.waiter.check().is_err() {
                return false;
            }
        }
        true
    }
}
