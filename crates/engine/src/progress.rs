//! Progress, and waiting for it.
//!
//! A wait looks, makes progress and looks again. As long as the host has a core for each rank it does so for a short
//! while without sleeping, since a message between two cores takes less time than a system call; then, or at once
//! where ranks share cores, it offers its core to others in between, and at last it sleeps until its peers ring
//! ([`Waiter`]). The lock is not held asleep.

use std::time::Duration;

use postrider_os::clock;
use postrider_os::gate::GateGuard;
use postrider_os::process::{self, relax};

use crate::error::Result;
use crate::transports::{Ticket, Waiter};
use crate::{Instance, State, deadlock};

/// Looks that keep the core, where each rank has one; measured: some microseconds.
const SPINS: u32 = 200;
/// Looks between which the core is offered to others before sleeping, where each rank has one: about as long as waking up takes, or two
/// ranks that have once slept would wake each other for every message from then on.
const OFFERS: u32 = 400;
/// The same where ranks share cores: what the others have to say is often said by then, and costs no wake-up.
const CROWDED_OFFERS: u32 = 8;
/// The first looks follow one another at once: an answer that is on its way is not kept waiting.
const SPINS_AT_ONCE: u32 = 64;
/// An offer of a core that takes longer has been taken: there is somebody else on it.
const TAKEN_SECONDS: f64 = 2e-6;
/// One that takes longer than this has given it to somebody who computes. Who sleeps gets the core back sooner, when it is woken.
const LOST_SECONDS: f64 = 1e-3;
/// After so many waits in which an offer was taken, one after the other, a rank that should have a core to itself goes back to where it began.
const TAKEN_MAX: u32 = 4;
/// After twice as many, or two that were lost, it is no rank that takes it, but somebody who computes, and keeps it for milliseconds. So it is offered no more, and a rank sleeps after
/// so many looks, or at once where ranks share cores, since one that is woken has its core at once.
const GUARDED_SPINS: u32 = 3 * SPINS;
/// One wait of so many offers it nevertheless, to see whether somebody is still there.
const GUARDED_WAITS: u32 = 64;
/// Looks between which a sender sees whether a receiver computes to which it may write.
const LOOKS_BEFORE_WRITING: u32 = 16;
/// Bytes of an announced message that are copied in the time of one look: whoever announced one looks on until the copy
/// may be done, since waking up would cost more than what is left of it.
pub(crate) const BYTES_PER_LOOK: u64 = 64;
/// The most looks that announced messages are worth: about a millisecond.
pub(crate) const PATIENCE_MAX: u64 = 1 << 16;
/// Packets taken in one go before whoever waits looks again.
const PACKETS_PER_LOOK: u32 = 32;
/// How long the first sleep of a wait may last while there are helpers to call; each next one twice as long.
const NAP_MIN: Duration = Duration::from_millis(2);
/// How long a sleep may last until the rank makes sure that its launcher is still there.
pub(crate) const SLEEP_MAX: Duration = Duration::from_millis(500);

impl State {
    /// Takes what has arrived, and sends what has waited.
    ///
    /// # Errors
    /// When the transport fails.
    #[inline]
    pub fn progress(&mut self) -> Result<()> {
        self.more = true;
        for _ in 0..PACKETS_PER_LOOK {
            let Some(incoming) = self.transport.receive()? else {
                self.more = false;
                break;
            };
            self.taken = self.taken.wrapping_add(1);
            let handled = self.handle(incoming);
            self.transport.release();
            handled?;
        }
        if !self.undecided.is_empty() {
            self.decide(false)?;
        }
        if self.backlog > 0 {
            self.flush_all()?;
        }
        Ok(())
    }

    /// Whether a wait keeps its core although it has one to itself by right, since others take it.
    fn is_guarded(&self) -> bool {
        self.offers_taken >= 2 * TAKEN_MAX && !self.guarded_waits.is_multiple_of(GUARDED_WAITS)
    }

    /// A wait that has slept returns to the program: what it has kept back is left to others.
    #[cold]
    fn rise(&mut self, waiter: &Waiter) -> Result<()> {
        self.rests = false;
        self.stir(waiter);
        if self.transport.rise() { self.flush_all() } else { Ok(()) }
    }

    #[cold]
    fn flush_all(&mut self) -> Result<()> {
        for peer in 0..self.outgoing.len() as u32 {
            if !self.outgoing[peer as usize].is_empty() {
                self.flush(peer)?;
            }
        }
        Ok(())
    }
}

impl Instance {
    /// Makes progress until `ready` returns something.
    ///
    /// # Errors
    /// Those of `ready`, and those of progress.
    #[inline]
    pub fn wait_until<'a, T>(
        &'a self,
        mut state: GateGuard<'a, State>,
        mut ready: impl FnMut(&mut State) -> Option<Result<T>>,
    ) -> Result<T> {
        let mut before = state.completions;
        if let Some(result) = ready(&mut state) {
            self.leave_nothing(&state);
            return result;
        }
        // Every message wakes all threads that wait, and is for one of them.
        let mut is_one_of_many = false;
        let mut naps = 0;
        loop {
            let (mut look, mut taken) = (0, state.taken);
            loop {
                let is_brief = state.transport.streams() || is_one_of_many;
                let (keeps, gives) = if is_brief { (1, 0) } else { self.effort(&state) };
                if look >= keeps + gives {
                    break;
                }
                state = self.progress(state)?;
                if let Some(result) = ready(&mut state) {
                    self.wake_others(&state, before);
                    if state.rests {
                        state.rise(&self.waiter)?;
                    }
                    self.leave_nothing(&state);
                    return result;
                }
                if std::mem::replace(&mut taken, state.taken) != state.taken {
                    if state.rests {
                        state.stir(&self.waiter);
                    }
                    if state.transport.streams() {
                        break;
                    }
                    // Whoever gets packets that are not what it waits for, as the target of operations on a window, soon gets the next.
                    look = 0;
                }
                if look >= SPINS_AT_ONCE.min(keeps) || self.threads_meet() {
                    let is_lost;
                    (state, is_lost) = self.pause_between_looks(state, look, keeps)?;
                    if is_lost {
                        break;
                    }
                }
                look += 1;
            }
            state = match self.sleep(state, (before, naps), &mut ready)? {
                Slept::Ready(result) => return result,
                Slept::Woken(state) => state,
            };
            naps += 1;
            before = state.completions;
            is_one_of_many |= state.sleepers > 0;
        }
    }

    /// What a wait does between two looks, once the first have followed one another: it keeps its core or offers it, and does for others what only a process does that
    /// waits. True if the core was lost for long.
    #[cold]
    fn pause_between_looks<'a>(
        &'a self,
        mut state: GateGuard<'a, State>,
        look: u32,
        keeps: u32,
    ) -> Result<(GateGuard<'a, State>, bool)> {
        if !state.unmatched_sends.is_empty() && (look >= keeps || look.is_multiple_of(LOOKS_BEFORE_WRITING)) {
            state.write_where_invited()?;
        }
        if look == SPINS && !self.facts.crowded {
            self.waiter.call_helpers();
            state.guarded_waits = state.guarded_waits.wrapping_add(1);
        }
        if look >= keeps {
            return Ok(self.offer_core(state, look == keeps));
        }
        if self.threads_meet() {
            drop(state);
            relax();
            state = self.lock();
        } else {
            relax();
        }
        Ok((state, false))
    }

    /// Offers the core to others, the first time in this wait or once more; true if somebody has kept it for long.
    ///
    /// Where each rank has a core, somebody who takes it may be another rank: the system may have put two ranks on one core while another is idle, as it likes to
    /// when one wakes the other; and since both always run, it takes tens of milliseconds to see that.
    #[cold]
    fn offer_core<'a>(
        &'a self,
        mut state: GateGuard<'a, State>,
        is_first: bool,
    ) -> (GateGuard<'a, State>, bool) {
        let begun = clock::seconds();
        let threads_meet = self.threads_meet();
        if threads_meet {
            drop(state);
            process::give_way();
            state = self.lock();
        } else {
            process::give_way();
        }
        let seconds = clock::seconds() - begun;
        let is_lost = seconds > LOST_SECONDS;
        if threads_meet {
            return (state, is_lost);
        }
        if is_first && !std::mem::take(&mut state.offer_taken) {
            state.offers_taken = 0;
        }
        let is_taken = is_lost || is_first && !self.facts.crowded && seconds > TAKEN_SECONDS;
        if is_taken && !std::mem::replace(&mut state.offer_taken, true) {
            let before = state.offers_taken;
            state.offers_taken += if is_lost { TAKEN_MAX } else { 1 };
            if !self.facts.crowded && state.offers_taken / TAKEN_MAX > before / TAKEN_MAX {
                process::start_on_core(self.facts.placement.place_of(self.facts.rank));
            }
        }
        (state, is_lost)
    }

    /// Makes progress once.
    ///
    /// # Errors
    /// When progress fails.
    pub fn make_progress(&self) -> Result<()> {
        let state = self.lock();
        let before = state.completions;
        let state = self.progress(state)?;
        self.wake_others(&state, before);
        Ok(())
    }

    /// What a call does that has found nothing and returns, as `MPI_Test`: where ranks share cores, the program that
    /// calls it again and again lets the others run.
    pub(crate) fn pause(&self) {
        if self.facts.crowded {
            process::give_way();
        }
    }

    /// How often a wait looks before it offers its core to others.
    pub(crate) fn looks(&self) -> u32 {
        if self.spins() && !self.facts.crowded { SPINS } else { 1 }
    }

    /// How often a wait looks before it offers its core to others, and how often then, before it sleeps. Who wakes another rank may
    /// make this one share its core, so that it asks again with each look.
    #[inline]
    fn effort(&self, state: &State) -> (u32, u32) {
        if !self.spins() {
            (1, 0)
        } else if !self.facts.crowded && state.is_guarded() {
            (GUARDED_SPINS + state.patience, 0)
        } else if !self.facts.crowded {
            (SPINS + state.patience, OFFERS)
        } else if state.is_guarded() {
            (1, 0)
        } else if self.waiter.is_crowded() {
            (1, CROWDED_OFFERS)
        } else {
            (1, OFFERS)
        }
    }

    pub(crate) fn spins(&self) -> bool {
        matches!(self.waiter, Waiter::Doorbell(..))
    }

    /// How long sleep number `naps` of a wait may last. Who waits may wait for a process that computes, and calls its helper: at once where each
    /// rank has a core; elsewhere, where ranks sleep as soon as they wait, only if nothing has come for a while.
    fn nap(&self, naps: u32) -> Duration {
        if !self.waiter.has_helpers() {
            return SLEEP_MAX;
        }
        if naps > 0 || !self.facts.crowded {
            self.waiter.call_helpers();
        }
        (NAP_MIN * (1 << naps.min(8))).min(SLEEP_MAX)
    }

    /// Sleeps until something may have come; looks once more before.
    #[cold]
    fn sleep<'a, T>(
        &'a self,
        mut state: GateGuard<'a, State>,
        (before, naps): (u64, u32),
        ready: &mut impl FnMut(&mut State) -> Option<Result<T>>,
    ) -> Result<Slept<'a, T>> {
        if self.facts.size == 1 && !self.threads_meet() && !state.is_connected() {
            return Err(deadlock());
        }
        self.wake_others(&state, before);
        let before = state.completions;
        let alone = state.sleepers == 0;
        state.rests = true;
        let ticket = self.waiter.prepare(state.transport.rest(alone));
        if !matches!(ticket, Ticket::Kept(_)) {
            state.progress()?;
            state.decide(true)?;
            if let Some(result) = ready(&mut state) {
                if state.sleepers == 0 {
                    self.waiter.stay_awake();
                }
                self.wake_others(&state, before);
                state.rise(&self.waiter)?;
                self.leave_nothing(&state);
                return Ok(Slept::Ready(result));
            }
            // Only for what this look has ended: threads that woke each other for the same reason again and again would never sleep.
            self.wake_others(&state, before);
        }
        // What the last look has left has been reported already: nobody would ring for it again.
        if state.more || state.has_ready_collective() {
            if state.sleepers == 0 {
                self.waiter.stay_awake();
            }
            return Ok(Slept::Woken(state));
        }
        state.sleepers += 1;
        state.counters.sleeps += 1;
        if self.facts.crowded {
            state.guarded_waits = state.guarded_waits.wrapping_add(1);
        }
        let pause = state.transport.pause();
        state.rest_in_wait(&self.waiter);
        drop(state);
        let nap = self.nap(naps);
        let undisturbed = self.waiter.sleep(ticket, pause.unwrap_or(nap));
        let nothing_came = undisturbed && pause.is_none();
        let mut state = self.lock();
        state.sleepers -= 1;
        if !undisturbed {
            state.stir(&self.waiter);
        }
        if state.sleepers == 0 {
            self.waiter.stay_awake();
        }
        if nothing_came {
            self.waiter.check()?;
            state.check_strangers(&self.waiter)?;
        }
        Ok(Slept::Woken(state))
    }

    /// Wakes the threads of this process that sleep, if operations have ended since `before`.
    #[inline]
    pub(crate) fn wake_others(&self, state: &State, before: u64) {
        if state.sleepers > 0 && state.completions != before {
            self.waiter.wake_others();
        }
    }
}

enum Slept<'a, T> {
    Ready(Result<T>),
    Woken(GateGuard<'a, State>),
}
