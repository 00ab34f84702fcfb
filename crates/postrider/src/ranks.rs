//! The ranks of this host: started, watched, judged and ended. A job on one host and the agent of each host of a larger
//! job do that with the same code.
//!
//! Deaths come from an `epoll` of its own with one `pidfd` for each rank, because its queue keeps the order in which they
//! happened; that is how the first failure is told from its consequences. Whatever dead ranks leave behind becomes a child of
//! this process (`PR_SET_CHILD_SUBREAPER`) and is ended with the job.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use postrider_os::job::{ENV_JOB, Job, State};
use postrider_os::launch::{Ended, Guard, dead_child, ended, has_children, has_come};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, pidfd_open, setrlimit};

use crate::control::{Hosted, Rest};
use crate::directory;
use crate::launch::{Application, Input, Refusal, Started, Surroundings, start};
use crate::post::Company;
use crate::processes::{self, children, is_guard, is_spawned_launcher, send, send_to_group};
use crate::report::{Kind, Place, stalled};
use crate::stall::Stall;
use crate::supervise::{ENDING_SIGNALS, Event, Failed, Ranks};

/// Descriptors of the launcher for each rank: two pipes and the process.
const DESCRIPTORS_PER_RANK: u64 = 3;
/// How long ranks that were killed are waited for when the job has not started, and how often it is looked.
const END_LIMIT: Duration = Duration::from_secs(10);
const END_LOOK_EVERY: Duration = Duration::from_millis(2);
/// How often the board is looked at while a rank is missing that never called `MPI_Init`.
const LOOK_FOR_JOINERS: Duration = Duration::from_millis(100);

/// How long ranks that ask again and again have to say for what they wait.
const ANSWER_WAIT: Duration = Duration::from_millis(200);
/// How often we look whether they have.
const ANSWER_LOOK: Duration = Duration::from_millis(5);

/// Starts ranks `numbers` of a job, each with its program, until one does not start, or `is_to_end` says that the others need not: while
/// those that run take all cores, starting many takes long.
pub fn start_all(
    numbers: &[u32],
    applications: &[Application],
    input: Input,
    surroundings: &Surroundings,
    mut is_to_end: impl FnMut() -> bool,
) -> (Vec<Started>, Option<Refusal>) {
    let mut started = Vec::with_capacity(numbers.len());
    for &rank in numbers {
        if is_to_end() {
            return (
                started,
                Some(Refusal::new(1, "the job was ended before all its ranks had been started")),
            );
        }
        let (number, application) = application_of(applications, rank);
        let input = if rank == 0 { input } else { Input::Nothing };
        match start(application, number, rank, input, surroundings) {
            Ok(rank) => started.push(rank),
            Err(refusal) => return (started, Some(refusal)),
        }
    }
    (started, None)
}

/// The program of rank `rank`, and its number on the command line.
///
/// # Panics
/// When the programs have not that many ranks.
pub fn application_of(applications: &[Application], rank: u32) -> (usize, &Application) {
    let mut first = 0;
    for (number, application) in applications.iter().enumerate() {
        first += application.ranks;
        if rank < first {
            return (number, application);
        }
    }
    panic!("rank {rank} has a program")
}

/// Posts the guard that ends the job whose `POSTRIDER_JOB` is `job` when this process has died.
pub fn post_guard(job: String, temporary: PathBuf) -> Result<Guard, Refusal> {
    let guard = Guard::post(move || {
        processes::end_all_with(ENV_JOB, &job);
        directory::sweep(&temporary);
    });
    guard.map_err(|error| Refusal::new(1, error))
}

/// Ends ranks of a job that could not be started as a whole, and all that they have started themselves. Does not wait for what does not end
/// or cannot be found, nor when this process is to end as well.
pub fn end(ranks: &[Started]) {
    for rank in ranks {
        send_to_group(rank.pid, Signal::KILL);
    }
    let due = Instant::now() + END_LIMIT;
    loop {
        while let Some(child) = dead_child() {
            let _collected = ended(child);
        }
        if !has_children() || Instant::now() > due || has_come(&ENDING_SIGNALS) {
            return;
        }
        children().into_iter().for_each(|child| send(child, Signal::KILL));
        std::thread::sleep(END_LOOK_EVERY);
    }
}

/// Raises the limit of open files if `ranks` ranks and `more` descriptors need that.
pub fn allow_descriptors(ranks: u32, more: u64) {
    let limit = getrlimit(Resource::Nofile);
    let needed = u64::from(ranks) * DESCRIPTORS_PER_RANK + more + 64;
    if limit.current.is_some_and(|current| current < needed) {
        let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
        let raised = Rlimit { current: Some(raised), maximum: limit.maximum };
        let _pipes_will_say_so = setrlimit(Resource::Nofile, raised);
    }
}

struct Rank {
    number: u32,
    pid: u32,
    /// Until its death.
    process: Option<OwnedFd>,
    ended: Option<Ended>,
}

/// What the processes of this host have been told about their end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Asked,
    Killed,
}

/// The ranks of a job that run on this host.
pub struct LocalRanks<'a> {
    job: &'a Job,
    ranks: Vec<Rank>,
    /// Processes of ranks that have not ended.
    living: BTreeSet<u32>,
    deaths: OwnedFd,
    guard: Option<Guard>,
    told: Told,
    /// A failure was reported, or somebody was told to end: further ends are consequences.
    disturbed: bool,
    /// On another host a rank has ended that never called `MPI_Init`.
    missing_elsewhere: bool,
    /// A child has ended since we last looked for orphans.
    child_ended: bool,
    /// Orphans that were asked to end.
    asked: Vec<u32>,
    /// Launchers of jobs that dead ranks have spawned.
    spawned: BTreeSet<u32>,
    /// The exit code of the first of those that failed.
    spawned_code: i32,
    /// Children that are neither ranks nor what they have left behind.
    pub spared: BTreeSet<u32>,
    /// Somebody else in this process waits for children that only he knows.
    pub children_are_awaited: bool,
    places: Vec<(u32, Place)>,
    stall: Stall<'a>,
    company: Company,
    patience: Duration,
}

impl<'a> LocalRanks<'a> {
    /// No ranks yet.
    pub fn new(job: &'a Job) -> Result<Self, Refusal> {
        let deaths = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|error| Refusal::new(1, format!("cannot wait for processes: {error}")))?;
        Ok(Self {
            job,
            ranks: Vec::new(),
            living: BTreeSet::new(),
            deaths,
            guard: None,
            told: Told::Nothing,
            disturbed: false,
            missing_elsewhere: false,
            child_ended: false,
            asked: Vec::new(),
            spawned: BTreeSet::new(),
            spawned_code: 0,
            spared: BTreeSet::new(),
            children_are_awaited: false,
            places: Vec::new(),
            stall: Stall::new(job, Duration::ZERO),
            company: Company::default(),
            patience: Duration::ZERO,
        })
    }

    /// Notices when all of these ranks have waited for so long that they wait for each other.
    pub fn notice_stalls(&mut self, patience: Duration) {
        self.stall = Stall::new(self.job, patience);
        self.patience = patience;
    }

    /// Processes of other jobs count as well, as long as they are here as guests.
    pub fn watch_guests(&mut self, company: Company) {
        self.company = company;
    }

    /// Whether all ranks here that have not ended, and all guests, wait for each other, or for ranks of other hosts; none if it is not yet time
    /// to look again.
    pub fn look_for_stall(&mut self) -> Option<bool> {
        let ranks: Vec<_> = self.ranks.iter().map(|rank| (rank.number, rank.process.is_none())).collect();
        self.stall.look(&ranks, &self.company.now())
    }

    /// Takes over the ranks that were started, and the guard that was posted for them.
    pub fn watch(&mut self, ranks: &[(u32, u32)], guard: Guard) -> Result<(), Refusal> {
        self.guard = Some(guard);
        for &(number, pid) in ranks {
            let process = self
                .watch_death(pid)
                .map_err(|error| Refusal::new(1, format!("cannot watch process {pid}: {error}")))?;
            self.ranks.push(Rank { number, pid, process: Some(process), ended: None });
            self.living.insert(pid);
        }
        Ok(())
    }

    fn watch_death(&self, pid: u32) -> rustix::io::Result<OwnedFd> {
        let pid = Pid::from_raw(pid as i32).ok_or(rustix::io::Errno::SRCH)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        let data = epoll::EventData::new_u64(self.ranks.len() as u64);
        epoll::add(&self.deaths, &process, data, epoll::EventFlags::IN)?;
        Ok(process)
    }

    /// Whether some rank has not ended.
    pub fn have_ranks(&self) -> bool {
        !self.living.is_empty()
    }

    /// A rank of another host is missing: look for one here that waits for it.
    pub fn look_for_waiting(&mut self) {
        self.missing_elsewhere = true;
    }

    /// Whether a rank here has called `MPI_Init` and waits for one of another host that never will. Said once.
    pub fn is_somebody_waiting(&mut self) -> bool {
        let waits = self.missing_elsewhere && self.ranks.iter().any(|rank| self.waits(rank));
        self.missing_elsewhere &= !waits;
        waits
    }

    /// Collects the dead in the order of their deaths: who ended, how, and whether he had failed.
    pub fn collect_deaths(&mut self) -> Vec<(u32, Ended, Option<Failed>)> {
        let mut events = Vec::with_capacity(self.ranks.len().max(1));
        if epoll::wait(&self.deaths, spare_capacity(&mut events), Some(&Timespec::default())).is_err() {
            return Vec::new();
        }
        let mut dead = Vec::with_capacity(events.len());
        for number in events.iter().map(|event| event.data.u64() as usize) {
            if let Some(how) = ended(self.ranks[number].pid) {
                self.ranks[number].process = None;
                self.living.remove(&self.ranks[number].pid);
                self.ranks[number].ended = Some(how);
                dead.push((self.ranks[number].number, how, self.judge(number, how)));
            }
        }
        if !dead.is_empty() {
            // What the dead have spawned is ours from now on. Our own guard looks like us.
            let mut spawned = children();
            spawned.retain(|&pid| !self.is_known(pid) && is_spawned_launcher(pid));
            self.spawned.extend(spawned);
        }
        self.collect_orphans();
        dead
    }

    /// Collects dead children that are nobody's rank, so that they do not pile up in a long job.
    fn collect_orphans(&mut self) {
        // Launchers of spawned jobs are known by their numbers, so that nobody else waits for them.
        for pid in self.spawned.clone() {
            self.collect(pid);
        }
        while let Some(pid) = dead_child().filter(|_| !self.children_are_awaited) {
            if self.is_known(pid) {
                return;
            }
            self.collect(pid);
        }
    }

    /// Collects a child if it has ended, and notes the exit code of a spawned job.
    fn collect(&mut self, pid: u32) {
        let Some(how) = ended(pid) else { return };
        if self.spawned.remove(&pid) && self.spawned_code == 0 {
            self.spawned_code = match how {
                Ended::Exited(code) => code,
                Ended::Killed { signal, .. } => 128 + signal,
            };
        }
    }

    fn is_known(&self, pid: u32) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.pid() == pid)
            || self.spared.contains(&pid)
            || self.living.contains(&pid)
    }

    /// Decides whether a death is the host's first failure.
    fn judge(&mut self, number: usize, how: Ended) -> Option<Failed> {
        let slot = self.job.slot(self.ranks[number].number);
        let kind = Kind::of(how, slot.state(), slot.abort_code()).filter(|_| !self.disturbed)?;
        Some(self.failed(number, kind))
    }

    fn failed(&mut self, number: usize, kind: Kind) -> Failed {
        self.disturbed = true;
        let rank = &self.ranks[number];
        let slot = self.job.slot(rank.number);
        let pid = if slot.pid() == 0 { rank.pid } else { slot.pid() };
        Failed { rank: rank.number, pid, kind, place: Place::of(slot.state(), slot.call()) }
    }

    /// The rank that is gone and never joined, while others have called `MPI_Init`.
    pub fn look_for_joiners(&mut self) -> Option<Failed> {
        let number = (0..self.ranks.len())
            .find(|&number| !self.disturbed && self.has_never_joined(&self.ranks[number]))?;
        let waited_for = self.ranks.iter().any(|rank| self.waits(rank));
        waited_for.then(|| self.failed(number, Kind::NeverJoined))
    }

    fn waits(&self, rank: &Rank) -> bool {
        rank.process.is_some() && self.job.slot(rank.number).state() == State::Initialized
    }

    fn has_never_joined(&self, rank: &Rank) -> bool {
        rank.ended == Some(Ended::Exited(0)) && self.job.slot(rank.number).state() == State::Unborn
    }

    /// What the head has to know when all wait.
    pub fn rest(&self) -> Rest {
        let present = self.company.now();
        let of = |job: &Job, rank: u32| job.rest(rank).balance();
        let ours = self.ranks.iter().map(|rank| of(self.job, rank.number));
        let theirs = present.jobs().flat_map(|job| job.local_ranks().iter().map(|&rank| of(job, rank)));
        let balance = ours.chain(theirs).fold(present.left_balance, i64::wrapping_add);
        let hosted =
            |job: &Arc<Job>| Hosted { job: job.key(), host: job.host(), hosts: job.placement().hosts() };
        Rest { balance, guests: present.jobs().map(hosted).collect() }
    }

    /// Where every rank is now.
    pub fn places_now(&self) -> Vec<(u32, Place)> {
        let asked = |rank: &Rank| self.job.rest(rank.number).seen().map(|seen| seen.polls);
        let before: Vec<_> = self.ranks.iter().map(asked).collect();
        self.job.ask();
        let due = Instant::now() + ANSWER_WAIT;
        let is_still = |(rank, before): (&Rank, &Option<u64>)| self.asks(rank) && asked(rank) == *before;
        while self.ranks.iter().zip(&before).any(is_still) && Instant::now() < due {
            std::thread::sleep(ANSWER_LOOK);
        }
        let place = |(rank, before): (&Rank, Option<u64>)| {
            let slot = self.job.slot(rank.number);
            let words = || self.job.rest(rank.number).note();
            let place = match slot.call() {
                _ if rank.process.is_none() => Place::Gone,
                _ if self.asks(rank) && asked(rank) != before => Place::Asks(words().unwrap_or_default()),
                Some(call) if self.blocks(rank) => Place::Waits(call, words().unwrap_or_default()),
                call => Place::of(slot.state(), call),
            };
            (rank.number, place)
        };
        self.ranks.iter().zip(before).map(place).collect()
    }

    /// Whether a rank has last been seen to ask, and found nothing (`MPI_Test`).
    fn asks(&self, rank: &Rank) -> bool {
        let uses_mpi = self.job.slot(rank.number).state() == State::Initialized;
        let seen = self.job.rest(rank.number).seen().filter(|_| uses_mpi && rank.process.is_some());
        seen.is_some_and(|seen| !seen.blocks())
    }

    /// Whether a rank rests in a call.
    fn blocks(&self, rank: &Rank) -> bool {
        self.job.rest(rank.number).seen().is_some_and(|seen| seen.blocks())
    }

    /// Asks what dead processes have left behind, each process once. When it ends its own children come to us.
    fn ask_orphans(&mut self, signal: Signal) {
        for pid in self.orphans() {
            // Launchers of spawned jobs get every signal that ranks get.
            if !self.asked.contains(&pid) && !self.spawned.contains(&pid) {
                send(pid, signal);
                send(pid, Signal::CONT);
                self.asked.push(pid);
            }
        }
    }

    /// Our children that nobody knows, but for guards of other launchers.
    fn orphans(&self) -> Vec<u32> {
        children().into_iter().filter(|&pid| !self.is_known(pid) && !is_guard(pid)).collect()
    }
}

impl Ranks for LocalRanks<'_> {
    fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        entries.push(PollFd::new(&self.deaths, PollFlags::IN));
    }

    fn due(&self) -> Option<Instant> {
        let missing = || self.ranks.iter().any(|rank| self.has_never_joined(rank));
        let looks = !self.disturbed && (self.missing_elsewhere || missing());
        let joiners = looks.then(|| Instant::now() + LOOK_FOR_JOINERS);
        joiners.into_iter().chain(self.stall.due()).min()
    }

    fn look(&mut self) -> Vec<Event> {
        let failed = self.collect_deaths().into_iter().filter_map(|(_, _, failed)| failed);
        let mut events: Vec<Event> = failed.map(Event::Failed).collect();
        events.extend(self.look_for_joiners().map(Event::Failed));
        if self.look_for_stall() == Some(true) {
            let places = self.places_now();
            if places.iter().any(|(_, place)| place.waits()) {
                events.push(Event::Say(stalled(self.patience, &places)));
                self.stall.forget();
            }
        }
        events
    }

    fn child_has_ended(&mut self) {
        self.child_ended = true;
    }

    /// Spawned jobs count as well: they go on when the ranks have ended that have asked for them.
    fn are_living(&self) -> bool {
        !self.spawned.is_empty() || self.have_ranks()
    }

    fn exit_code_of_spawned(&self) -> i32 {
        self.spawned_code
    }

    fn unsuccessful(&self) -> Vec<u32> {
        let is_well = |number: u32| {
            self.ranks.iter().any(|rank| rank.number == number && rank.ended == Some(Ended::Exited(0)))
        };
        self.job.local_ranks().iter().copied().filter(|&number| !is_well(number)).collect()
    }

    fn are_over(&mut self) -> bool {
        if self.are_living() {
            return false;
        }
        self.guard = None;
        self.collect_orphans();
        if !has_children() {
            return true;
        }
        match self.told {
            Told::Asked if std::mem::take(&mut self.child_ended) => self.ask_orphans(Signal::TERM),
            Told::Nothing | Told::Asked => {}
            Told::Killed => self.kill(),
        }
        false
    }

    fn signal(&mut self, signal: Signal) {
        for rank in self.ranks.iter().filter(|rank| rank.process.is_some()) {
            send_to_group(rank.pid, signal);
        }
        self.spawned.iter().for_each(|&launcher| send(launcher, signal));
    }

    fn ask(&mut self, signal: Signal) {
        self.disturbed = true;
        self.told = Told::Asked;
        self.signal(signal);
        self.signal(Signal::CONT);
        self.ask_orphans(signal);
    }

    fn kill(&mut self) {
        self.disturbed = true;
        self.told = Told::Killed;
        self.signal(Signal::KILL);
        for pid in self.orphans() {
            send(pid, Signal::KILL);
        }
    }

    fn note_places(&mut self) {
        self.places = self.places_now();
    }

    fn places(&self) -> &[(u32, Place)] {
        &self.places
    }

    fn host_of(&self, _rank: u32) -> String {
        postrider_os::process::host_name()
    }

    fn abandon(self) {
        if let Some(guard) = self.guard {
            // We leave before all processes are gone: the guard ends them after us.
            std::mem::forget(guard);
        }
    }
}

/// The program of each rank.
pub fn programs(applications: &[Application]) -> Vec<String> {
    let of = |application: &Application| vec![application.program(); application.ranks as usize];
    applications.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::Section;

    #[test]
    fn no_more_ranks_are_started_once_the_job_is_to_end() {
        let command = vec!["true".into()];
        let section = Section { ranks: Some(3), wdir: None, export: Vec::new(), env: Vec::new(), command };
        let applications = [Application::new(section, 1, &[])];
        let surroundings = Surroundings {
            job: String::new(),
            directory: None,
            central: None,
            threads: 1,
            parent: None,
            octave_path: None,
            libraries: None,
            inheritance: postrider_os::launch::Inheritance::of_this_process(),
        };
        let mut looks = 0;
        let is_to_end = || {
            looks += 1;
            looks > 2
        };
        let (started, refusal) =
            start_all(&[0, 1, 2], &applications, Input::Nothing, &surroundings, is_to_end);
        assert_eq!((started.len(), refusal.is_some()), (2, true));
        while started.iter().any(|rank| ended(rank.pid).is_none() && is_child(rank.pid)) {
            std::thread::sleep(END_LOOK_EVERY);
        }
    }

    fn is_child(pid: u32) -> bool {
        children().contains(&pid)
    }
}
