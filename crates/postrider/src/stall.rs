//! Notices when all ranks of a job wait for each other: a receive without its send, or a collective call that not all ranks make. Such
//! a job never ends, and nobody else would say so.
//!
//! What counts is whether anything comes to a rank, not whether ranks are awake, which depends on what else the host does: ranks write
//! down that they *rest*, and each rest has a number (see [`postrider_os::rest`]). When the numbers of all ranks have stayed the
//! same for the whole time, and each rank has looked again meanwhile, nobody is left who could send anything. What the board cannot
//! show is asked of the system: a rank that uses its core for something else than asking (`MPI_Test`) computes, in the calls' midst or
//! in another thread, and does not wait. On a loaded host it may have a core so rarely that its time says little. So a rank that asks is judged by
//! its time for each question, and has to have asked often; and one in a call has to have been seen with all of its threads asleep, since
//! who computes is ready to run also while it gets no core.

use std::time::{Duration, Instant};

use postrider_os::job::{Job, State};
use postrider_os::process::cpu_time;
use postrider_os::rest::{Outside, Seen};

use crate::post::Present;
use crate::processes::sleeps;

/// How often at most the job is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often each rank has to look in the second half of the time.
const LOOKS_MIN: u64 = 2;
/// The same for one that only asks.
const POLLS_MIN: u64 = 20;
/// What a call may cost that only asks, with what a program does between such calls; measured: less than this, also from Python, and with
/// a sleep in between.
const ASKING: Duration = Duration::from_micros(50);
/// What a look may cost of a rank that sleeps in between.
const LOOKING: Duration = Duration::from_millis(2);
/// What else a process may do that only waits: one part in so many of the time.
const IDLE_SHARE: u32 = 100;
/// That, in a short time.
const IDLE: Duration = Duration::from_millis(5);

/// Whether the ranks of a host have come to a halt.
pub struct Stall<'a> {
    job: &'a Job,
    /// For how long nothing has to come to them; zero if nobody wants to know.
    patience: Duration,
    standstill: Option<Standstill>,
    /// Whether all threads of a process sleep.
    sleeps: fn(u32) -> bool,
    last: Instant,
}

/// A time in which nothing has come to any rank.
struct Standstill {
    first: Vec<View>,
    /// How often guests had come or left.
    changes: u64,
    /// The looks of each rank when half of the time was over, and whether it has been seen asleep since.
    halfway: Option<Vec<(u64, bool)>>,
    /// How long it has lasted, as far as we have looked: not while everything was stopped.
    lasted: Duration,
}

/// A rank at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// It has nothing to say any more.
    Over,
    /// It rests.
    Rests {
        seen: Seen,
        /// For how long its process has had a core.
        used: Duration,
        pid: u32,
    },
}

impl<'a> Stall<'a> {
    /// Nothing has to have come for `patience`.
    pub fn new(job: &'a Job, patience: Duration) -> Self {
        Self { job, patience, standstill: None, sleeps, last: Instant::now() }
    }

    /// Nobody wants to know any more.
    pub fn forget(&mut self) {
        self.patience = Duration::ZERO;
    }

    /// When to look again.
    pub fn due(&self) -> Option<Instant> {
        (!self.patience.is_zero()).then(|| self.last + self.period())
    }

    fn period(&self) -> Duration {
        (self.patience / 10).max(LOOK)
    }

    /// Looks, if it is time: whether all ranks, each with whether its process has ended, and the jobs of all guests have waited so long that
    /// they wait for each other, or have ended.
    pub fn look(&mut self, ranks: &[(u32, bool)], present: &Present) -> Option<bool> {
        let now = Instant::now();
        if self.due().is_none_or(|due| now < due) {
            return None;
        }
        let passed = (now - self.last).min(2 * self.period());
        self.last = now;
        let ours = ranks.iter().map(|&(rank, ended)| match ended {
            true => Some(View::Over),
            false => View::of(self.job, rank, Outside::is_at_rest),
        });
        let of_guest = |job: &Job, rank| match present.has(job, rank) {
            true => View::of(job, rank, |outside| outside == Outside::Carried),
            false => View::of(job, rank, |outside| outside == Outside::Nobody),
        };
        let guests = present.jobs().flat_map(|job| job.local_ranks().iter().map(|&rank| of_guest(job, rank)));
        let views: Option<Vec<View>> = ours.chain(guests).collect();
        let Some(views) = views else {
            self.standstill = None;
            return Some(false);
        };
        Some(self.goes_on(&views, present.changes, passed))
    }

    /// Whether the standstill that these views continue has lasted long enough.
    fn goes_on(&mut self, views: &[View], changes: u64, passed: Duration) -> bool {
        let continued = self.standstill.as_ref().is_some_and(|still| {
            let pairs = still.first.iter().zip(views);
            still.changes == changes
                && still.first.len() == views.len()
                && pairs.into_iter().all(|(first, view)| view.continues(first))
        });
        if !continued {
            let first = views.to_vec();
            self.standstill = Some(Standstill { first, changes, halfway: None, lasted: Duration::ZERO });
        }
        if views.iter().all(|view| *view == View::Over) {
            return true;
        }
        let Some(still) = self.standstill.as_mut().filter(|_| continued) else { return false };
        still.lasted += passed;
        if still.lasted >= self.patience / 2 && still.halfway.is_none() {
            still.halfway = Some(views.iter().map(|view| (view.looks(), false)).collect());
            self.job.ask();
        }
        let Some(halfway) = &mut still.halfway else { return false };
        for (view, (_, slept)) in views.iter().zip(halfway.iter_mut()) {
            *slept = *slept || view.sleeps(self.sleeps);
        }
        let all = still.first.iter().zip(views).zip(halfway);
        still.lasted >= self.patience
            && all.into_iter().all(|((first, view), (before, slept))| {
                let has_looked = view.looks() >= before.saturating_add(view.looks_min());
                *view == View::Over || *slept && has_looked && !view.computes(first, still.lasted)
            })
    }
}

impl View {
    /// A rank, if it rests, and of processes of other jobs only those may be left that `fits` says.
    fn of(job: &Job, rank: u32, fits: impl FnOnce(Outside) -> bool) -> Option<Self> {
        let slot = job.slot(rank);
        if slot.state() == State::Finalized {
            return Some(Self::Over);
        }
        let seen = job.rest(rank).seen().filter(|_| slot.state() == State::Initialized)?;
        let may_rest = fits(seen.outside) && !slot.call().is_some_and(|call| meets_others(&call));
        may_rest.then(|| Self::Rests { seen, used: cpu_time(slot.pid()), pid: slot.pid() })
    }

    /// How often it has looked in vain.
    fn looks(&self) -> u64 {
        if let Self::Rests { seen, .. } = self { seen.looks } else { 0 }
    }

    fn looks_min(&self) -> u64 {
        if self.asks() { POLLS_MIN } else { LOOKS_MIN }
    }

    fn asks(&self) -> bool {
        matches!(self, Self::Rests { seen, .. } if !seen.blocks())
    }

    /// Whether its process is ready to do nothing. One that only asks never sleeps.
    fn sleeps(&self, sleeps: fn(u32) -> bool) -> bool {
        match self {
            Self::Rests { pid, .. } if !self.asks() => sleeps(*pid),
            _ => true,
        }
    }

    fn continues(&self, first: &Self) -> bool {
        match (self, first) {
            (Self::Over, Self::Over) => true,
            (Self::Rests { seen, .. }, Self::Rests { seen: before, .. }) => seen.continues(before),
            _ => false,
        }
    }

    /// Whether the rank has used a core for more than waiting and asking, in the time that has passed since `first`.
    fn computes(&self, first: &Self, passed: Duration) -> bool {
        let (Self::Rests { seen, used, .. }, Self::Rests { seen: before, used: used_before, .. }) =
            (self, first)
        else {
            return false;
        };
        let times = |now: u64, then: u64| u32::try_from(now.saturating_sub(then)).unwrap_or(u32::MAX);
        let asking = ASKING.saturating_mul(times(seen.polls, before.polls));
        let looking = LOOKING.saturating_mul(times(seen.waits(), before.waits()));
        let idle = if self.asks() { Duration::ZERO } else { passed / IDLE_SHARE + IDLE };
        let allowed = asking.saturating_add(looking).saturating_add(idle);
        used.saturating_sub(*used_before) > allowed
    }
}

fn meets_others(call: &str) -> bool {
    ["MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_spawn", "MPI_Lookup_name", "MPI_Init"]
        .iter()
        .any(|name| call.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_os::hosts::Placement;
    use postrider_os::job::{CallName, Shape, Transport};
    use std::sync::Arc;

    const SHAPE: Shape = Shape { cores: 1, transport: Transport::File, ring_bytes: 4096 };
    const PATIENCE: Duration = Duration::from_secs(10);

    /// A job of two ranks, both of which are this process and rest in a call.
    fn resting() -> Arc<Job> {
        let job = Arc::new(Job::create(SHAPE, &Placement::one_host(2), 0).unwrap());
        for rank in 0..2 {
            assert!(job.slot(rank).claim());
            job.slot(rank).set_state(State::Initialized);
            job.nameplate(rank).enter(CallName::new("MPI_Recv"));
            job.rest(rank).begin(3, Outside::Nobody);
        }
        job
    }

    fn living() -> [(u32, bool); 2] {
        [(0, false), (1, false)]
    }

    /// So many looks, after each of which a whole period seems to have passed.
    fn looks(stall: &mut Stall, ranks: &[(u32, bool)], count: u32, each: impl Fn()) -> bool {
        stall.sleeps = |_| true;
        let mut halts = false;
        for _ in 0..count {
            each();
            stall.last = Instant::now().checked_sub(stall.period()).unwrap();
            halts = stall.look(ranks, &Present::default()).unwrap();
        }
        halts
    }

    fn look_again(job: &Job) {
        (0..2).for_each(|rank| job.rest(rank).look_again(Outside::Nobody));
    }

    #[test]
    fn ranks_halt_when_all_look_and_nothing_comes() {
        let job = resting();
        let mut stall = Stall::new(&job, PATIENCE);
        assert!(!looks(&mut stall, &living(), 10, || look_again(&job)));
        assert!(looks(&mut stall, &living(), 2, || look_again(&job)));
        job.rest(1).begin(5, Outside::Nobody);
        assert!(!looks(&mut stall, &living(), 1, || look_again(&job)));
        assert!(looks(&mut stall, &living(), 11, || look_again(&job)));
        stall.forget();
        assert_eq!((stall.due(), stall.look(&living(), &Present::default())), (None, None));
    }

    #[test]
    fn who_does_not_look_may_have_been_stopped() {
        let job = resting();
        let mut stall = Stall::new(&job, PATIENCE);
        assert!(!looks(&mut stall, &living(), 30, || job.rest(0).look_again(Outside::Nobody)));
        assert!(
            looks(&mut stall, &living(), 2, || job.rest(1).look_again(Outside::Nobody)) || job.asked() == 1
        );
    }

    #[test]
    fn who_is_ready_to_run_does_not_wait() {
        let job = resting();
        let mut stall = Stall::new(&job, PATIENCE);
        assert!(looks(&mut stall, &living(), 12, || look_again(&job)));
        stall.standstill = None;
        stall.sleeps = |_| false;
        let mut halts = false;
        for _ in 0..12 {
            look_again(&job);
            stall.last = Instant::now().checked_sub(stall.period()).unwrap();
            halts |= stall.look(&living(), &Present::default()).unwrap();
        }
        assert!(!halts);
    }

    #[test]
    fn who_is_elsewhere_does_not_rest() {
        let job = resting();
        let mut stall = Stall::new(&job, PATIENCE);
        job.rest(0).begin(0, Outside::Nobody);
        assert!(!looks(&mut stall, &living(), 20, || look_again(&job)));
        assert!(looks(&mut stall, &[(0, true), (1, false)], 12, || look_again(&job)));
        job.nameplate(1).enter(CallName::new("MPI_Comm_accept"));
        assert!(!looks(&mut stall, &[(0, true), (1, false)], 20, || look_again(&job)));
    }

    #[test]
    fn processes_of_other_jobs_have_to_rest_too() {
        let job = resting();
        let look = |outside| move |job: &Job| (0..2).for_each(|rank| job.rest(rank).look_again(outside));
        let mut stall = Stall::new(&job, PATIENCE);
        assert!(!looks(&mut stall, &living(), 20, || look(Outside::Astir)(&job)));
        assert!(looks(&mut stall, &living(), 12, || look(Outside::AtRest(8))(&job)));
        assert!(!looks(&mut stall, &living(), 1, || look(Outside::AtRest(12))(&job)));
    }

    #[test]
    fn who_asks_may_use_its_core_for_that_and_for_nothing_else() {
        let view = |number, polls, used| {
            let seen = Seen { number, calls: 7, looks: polls + 20, polls, outside: Outside::Nobody };
            View::Rests { seen, used: Duration::from_millis(used), pid: 1 }
        };
        let rank = |polls, used| view(4, polls, used);
        let first = rank(0, 0);
        assert!(!view(5, 0, 90).computes(&view(5, 0, 0), PATIENCE));
        assert!(rank(10, 900).computes(&first, PATIENCE));
        // It has hardly had a core.
        assert!(rank(8, 8).computes(&first, PATIENCE));
        assert!(!rank(5_000_000, 10_000).computes(&first, PATIENCE));
        assert!(rank(10_000, 1000).computes(&first, PATIENCE));
    }
}
