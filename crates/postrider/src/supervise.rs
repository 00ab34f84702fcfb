//! Watches over the ranks from their start to the end of the last process of the job.
//!
//! One thread and one `poll`: signals (`signalfd`), deaths, the ranks' pipes, the terminal, and sinks that are full. Deaths
//! come from an `epoll` of its own with one `pidfd` for each rank, because its queue keeps the order in which they
//! happened; that is how the first failure is told from its consequences.
//!
//! A job ends in steps, see [`Ending`]: ranks are asked (`SIGTERM`, or the user's own signal), and killed when their grace is
//! over. When all ranks are dead the same happens to whatever they have left behind.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use postrider_os::job::{Job, State};
use postrider_os::launch::{Ended, Guard, Signals, dead_child, ended, has_children, stop_here};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use rustix::stdio::stdin;

use crate::launch::{Refusal, Started};
use crate::output::{READ_BYTES, Sink, Stream, label};
use crate::processes::{children_of, send, send_to_group, signal_name};
use crate::report::{Failure, Kind, Place, TIMED_OUT, timed_out};
use crate::run::Manner;
use crate::terminal::TerminalInput;

/// The signals that a launcher receives instead of obeying them.
pub const SIGNALS: [i32; 9] = [
    libc::SIGCHLD,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// How often the board is looked at while a rank is missing that never called `MPI_Init`.
const LOOK_FOR_JOINERS: Duration = Duration::from_millis(100);
/// How often a job in the background looks whether the terminal is its own again.
const LOOK_FOR_TERMINAL: Duration = Duration::from_secs(1);

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this exit code.
    Code(i32),
    /// By this signal, which the launcher was sent.
    Signal(i32),
}

/// How far the end of a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It runs.
    Not,
    /// A rank has failed after `MPI_Finalize`; the others may finish until then.
    Patient(Instant),
    /// Everybody was asked to end, and is killed then.
    Asked(Instant),
    /// Everybody was killed.
    Killed,
}

struct Rank {
    pid: u32,
    program: String,
    /// Until its death.
    process: Option<OwnedFd>,
    ended: Option<Ended>,
}

/// What `poll` waits for.
#[derive(Clone, Copy)]
enum Source {
    Signal,
    Death,
    Sink(usize),
    Stream(usize),
    Terminal,
    RankZero,
}

/// A running job.
pub struct Supervisor<'a> {
    job: &'a Job,
    manner: Manner,
    signals: Signals,
    guard: Option<Guard>,
    sinks: Vec<Sink>,
    ranks: Vec<Rank>,
    streams: Vec<Stream>,
    deaths: OwnedFd,
    terminal: Option<TerminalInput>,
    ending: Ending,
    deadline: Option<Instant>,
    failure: Option<Failure>,
    /// The exit code, when something else than a rank's failure has ended the job.
    verdict: Option<Outcome>,
    /// Whose turn it is to be read first.
    turn: usize,
    /// The user does not want to wait any longer.
    abandoned: bool,
    /// A child has ended since we last looked for orphans.
    child_ended: bool,
    /// Processes that were asked to end.
    asked: Vec<u32>,
    /// The last words have been said.
    concluded: bool,
}

impl<'a> Supervisor<'a> {
    /// A supervisor without ranks yet.
    pub fn new(job: &'a Job, manner: Manner, signals: Signals, sinks: Vec<Sink>) -> Result<Self, Refusal> {
        let deaths = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|error| Refusal::new(1, format!("cannot wait for processes: {error}")))?;
        Ok(Self {
            job,
            manner,
            signals,
            guard: None,
            sinks,
            ranks: Vec::new(),
            streams: Vec::new(),
            deaths,
            terminal: None,
            ending: Ending::Not,
            deadline: manner.timeout.map(|timeout| Instant::now() + timeout),
            failure: None,
            verdict: None,
            turn: 0,
            abandoned: false,
            child_ended: false,
            asked: Vec::new(),
            concluded: false,
        })
    }

    /// Says something on the error output.
    pub fn say(&mut self, text: &str) {
        if let Some(sink) = self.sinks.last_mut() {
            sink.say(text);
        }
    }

    /// Takes over the ranks that were started, and the guard that was posted for them.
    pub fn watch(
        &mut self,
        started: Vec<Started>,
        programs: Vec<String>,
        guard: Guard,
    ) -> Result<(), Refusal> {
        self.guard = Some(guard);
        for (number, (started, program)) in started.into_iter().zip(programs).enumerate() {
            let watched = self.watch_death(started.pid, number as u64);
            let process = watched
                .map_err(|error| Refusal::new(1, format!("cannot watch process {}: {error}", started.pid)))?;
            let rank = Rank { pid: started.pid, program, process: Some(process), ended: None };
            self.ranks.push(rank);
            self.terminal = self.terminal.take().or(started.input.map(TerminalInput::new));
            let error_sink = self.sinks.len() - 1;
            for (sink, source) in [(0, started.output), (error_sink, started.error)] {
                let terminal = self.sinks[sink].is_terminal();
                let coloured = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
                let label = if self.manner.label { label(number as u32, coloured) } else { Vec::new() };
                let prompts = terminal && number == 0;
                let stream = Stream::new(self.streams.len(), sink, source, label, prompts);
                self.streams.push(stream);
            }
        }
        Ok(())
    }

    fn watch_death(&self, pid: u32, number: u64) -> rustix::io::Result<OwnedFd> {
        let pid = Pid::from_raw(pid as i32).ok_or(rustix::io::Errno::SRCH)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        epoll::add(&self.deaths, &process, epoll::EventData::new_u64(number), epoll::EventFlags::IN)?;
        Ok(process)
    }

    /// Stays until the job is over and everything it wrote is written.
    pub fn supervise(mut self) -> Outcome {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let childless = self.is_childless();
            let ready = self.wait(childless);
            self.receive_signals();
            self.collect_deaths();
            let moved = self.move_bytes(&ready, &mut buffer);
            self.keep_deadlines();
            let drained = !moved && !self.sinks.iter().any(Sink::is_full);
            if self.abandoned || self.concluded && drained {
                return self.outcome();
            }
            if childless && drained {
                self.conclude();
            }
        }
    }

    /// Whether no process of the job is left. Begins to end what dead ranks have left behind.
    fn is_childless(&mut self) -> bool {
        if self.ranks.iter().any(|rank| rank.process.is_some()) {
            return false;
        }
        self.guard = None;
        self.collect_orphans();
        if !has_children() {
            return true;
        }
        match self.ending {
            Ending::Not | Ending::Patient(_) => self.ask(Signal::TERM),
            Ending::Asked(_) if std::mem::take(&mut self.child_ended) => self.ask_orphans(Signal::TERM),
            Ending::Asked(_) => {}
            Ending::Killed => self.kill(),
        }
        false
    }

    /// Sleeps until something happens, and says what.
    fn wait(&self, childless: bool) -> Vec<Source> {
        let mut sources = vec![Source::Signal, Source::Death];
        let mut entries =
            vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.deaths, PollFlags::IN)];
        let mut add = |source, entry| {
            sources.push(source);
            entries.push(entry);
        };
        for (number, sink) in self.sinks.iter().enumerate().filter(|(_, sink)| sink.is_full()) {
            add(Source::Sink(number), PollFd::new(sink, PollFlags::OUT));
        }
        for turn in 0..self.streams.len() {
            let number = (self.turn + turn) % self.streams.len();
            let stream = &self.streams[number];
            if let Some(source) = stream.source().filter(|_| !self.sinks[stream.sink].is_full()) {
                add(Source::Stream(number), PollFd::new(source, PollFlags::IN));
            }
        }
        if let Some(terminal) = &self.terminal {
            if terminal.wants_more() {
                add(Source::Terminal, PollFd::from_borrowed_fd(stdin(), PollFlags::IN));
            } else if let Some(pipe) = terminal.waits_for() {
                add(Source::RankZero, PollFd::new(pipe, PollFlags::OUT));
            }
        }
        let limit = match childless && !self.sinks.iter().any(Sink::is_full) {
            true => Some(Timespec::default()),
            false => self.next_deadline().and_then(|due| {
                // Rounded up, so that what is due is due when we wake.
                let left = due.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
                Timespec::try_from(left).ok()
            }),
        };
        let _interrupted = poll(&mut entries, limit.as_ref());
        let ready = sources.into_iter().zip(&entries).filter(|(_, entry)| !entry.revents().is_empty());
        ready.map(|(source, _)| source).collect()
    }

    fn next_deadline(&self) -> Option<Instant> {
        let step = match self.ending {
            Ending::Patient(until) | Ending::Asked(until) => Some(until),
            Ending::Not => self.deadline,
            Ending::Killed => None,
        };
        let prompts = self.streams.iter().filter_map(Stream::prompt_due);
        let soon = |wanted: bool, after: Duration| wanted.then(|| Instant::now() + after);
        let joiners = soon(self.is_somebody_missing(), LOOK_FOR_JOINERS);
        let background = self.terminal.as_ref().is_some_and(TerminalInput::is_in_background);
        let terminal = soon(background, LOOK_FOR_TERMINAL);
        step.into_iter().chain(prompts).chain(joiners).chain(terminal).min()
    }

    fn receive_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            match number {
                libc::SIGCHLD => self.child_ended = true,
                libc::SIGTSTP => self.stop(),
                libc::SIGCONT => self.send_to_ranks(Signal::CONT),
                libc::SIGUSR1 => self.send_to_ranks(Signal::USR1),
                libc::SIGUSR2 => self.send_to_ranks(Signal::USR2),
                _ => self.end_by(number),
            }
        }
    }

    /// A signal that ends programs: the first is passed on, the second kills, the third gives up. When only a slow
    /// reader of the output is left to wait for, the first gives up.
    fn end_by(&mut self, number: i32) {
        if self.ranks.iter().all(|rank| rank.process.is_none()) && !has_children() {
            self.verdict.get_or_insert(Outcome::Signal(number));
            self.abandoned = true;
        }
        match self.ending {
            Ending::Not | Ending::Patient(_) => {
                self.verdict.get_or_insert(Outcome::Signal(number));
                self.ask(Signal::from_named_raw(number).unwrap_or(Signal::TERM));
                if !self.manner.quiet && self.sinks.last().is_some_and(Sink::is_terminal) {
                    let name = signal_name(number);
                    self.say(&format!("postrider: {name}: the job is ending; once more kills it\n"));
                }
            }
            Ending::Asked(_) => {
                self.verdict.get_or_insert(Outcome::Signal(number));
                self.kill();
            }
            Ending::Killed => self.abandoned = true,
        }
    }

    /// Stops the job, then the launcher, for the shell that wants it. Stopped time does not count.
    fn stop(&mut self) {
        self.send_to_ranks(Signal::TSTP);
        let since = Instant::now();
        stop_here();
        let pause = since.elapsed();
        self.deadline = self.deadline.map(|due| due + pause);
        self.ending = match self.ending {
            Ending::Patient(until) => Ending::Patient(until + pause),
            Ending::Asked(until) => Ending::Asked(until + pause),
            other => other,
        };
    }

    fn collect_deaths(&mut self) {
        let mut events = Vec::with_capacity(self.ranks.len());
        if epoll::wait(&self.deaths, spare_capacity(&mut events), Some(&Timespec::default())).is_err() {
            return;
        }
        for number in events.iter().map(|event| event.data.u64() as usize) {
            if let Some(how) = ended(self.ranks[number].pid) {
                self.ranks[number].process = None;
                self.ranks[number].ended = Some(how);
                self.judge(number, how);
            }
        }
        self.collect_orphans();
        self.look_for_joiners();
    }

    /// Collects dead children that are nobody's rank, so that they do not pile up in a long job.
    fn collect_orphans(&self) {
        while let Some(pid) = dead_child() {
            let known = self.ranks.iter().any(|rank| rank.pid == pid && rank.process.is_some());
            if known || self.guard.as_ref().is_some_and(|guard| guard.pid() == pid) {
                return;
            }
            let _nobodys = ended(pid);
        }
    }

    /// Decides whether a death is the job's first failure.
    fn judge(&mut self, number: usize, how: Ended) {
        let slot = self.job.slot(number as u32);
        let undisturbed = self.ending == Ending::Not && self.failure.is_none();
        if let Some(kind) = Kind::of(how, slot.state(), slot.abort_code()).filter(|_| undisturbed) {
            self.fail(number, kind);
        }
    }

    /// Fails the job when a rank is gone that never joined, while others have called `MPI_Init`.
    fn look_for_joiners(&mut self) {
        if self.ending != Ending::Not || !self.is_somebody_missing() {
            return;
        }
        let waits = |(number, rank): (usize, &Rank)| {
            rank.process.is_some() && self.job.slot(number as u32).state() == State::Initialized
        };
        if self.ranks.iter().enumerate().any(waits)
            && let Some(number) = (0..self.ranks.len()).find(|&number| self.is_missing(number))
        {
            self.fail(number, Kind::NeverJoined);
        }
    }

    fn is_somebody_missing(&self) -> bool {
        self.ending == Ending::Not && (0..self.ranks.len()).any(|number| self.is_missing(number))
    }

    fn is_missing(&self, number: usize) -> bool {
        let unborn = || self.job.slot(number as u32).state() == State::Unborn;
        self.ranks[number].ended == Some(Ended::Exited(0)) && unborn()
    }

    fn fail(&mut self, number: usize, kind: Kind) {
        let slot = self.job.slot(number as u32);
        let place = Place::of(slot.state(), slot.call());
        let rank = &self.ranks[number];
        let pid = if slot.pid() == 0 { rank.pid } else { slot.pid() };
        let others = self.places().into_iter().filter(|(other, _)| *other != number as u32).collect();
        let finished = place == Place::AfterFinalize && matches!(kind, Kind::Exited(_));
        self.failure =
            Some(Failure { rank: number as u32, pid, program: rank.program.clone(), kind, place, others });
        match finished {
            true => self.ending = Ending::Patient(Instant::now() + self.manner.grace),
            false => self.ask(Signal::TERM),
        }
    }

    /// Where every rank is now.
    fn places(&self) -> Vec<(u32, Place)> {
        let place = |(number, rank): (usize, &Rank)| {
            let slot = self.job.slot(number as u32);
            let place =
                if rank.process.is_none() { Place::Gone } else { Place::of(slot.state(), slot.call()) };
            (number as u32, place)
        };
        self.ranks.iter().enumerate().map(place).collect()
    }

    /// Reads and writes whatever is ready. False when there was nothing.
    fn move_bytes(&mut self, ready: &[Source], buffer: &mut [u8]) -> bool {
        let mut moved = false;
        for &source in ready {
            match source {
                Source::Signal | Source::Death => continue,
                Source::Sink(number) => self.flush(number),
                Source::Stream(number) => {
                    let sink = self.streams[number].sink;
                    if self.sinks[sink].is_full() {
                        continue;
                    }
                    self.streams[number].read(&mut self.sinks[sink], buffer);
                    self.flush(sink);
                }
                Source::Terminal => self.terminal.iter_mut().for_each(TerminalInput::read),
                Source::RankZero => self.terminal.iter_mut().for_each(TerminalInput::write),
            }
            moved = true;
        }
        self.turn = self.turn.wrapping_add(1);
        moved
    }

    fn flush(&mut self, sink: usize) {
        let Err(error) = self.sinks[sink].flush() else { return };
        let gone = matches!(error.raw_os_error(), Some(libc::EPIPE | libc::EIO));
        self.verdict.get_or_insert(Outcome::Code(if gone { 128 + libc::SIGPIPE } else { 1 }));
        if !gone {
            self.say(&format!("postrider: cannot write the output of the ranks: {error}\n"));
        }
        if matches!(self.ending, Ending::Not | Ending::Patient(_)) {
            self.ask(Signal::TERM);
        }
    }

    fn keep_deadlines(&mut self) {
        let now = Instant::now();
        for stream in &mut self.streams {
            if stream.prompt_due().is_some_and(|due| due <= now) {
                stream.hand_over(&mut self.sinks[stream.sink]);
            }
        }
        // Also writes what the launcher itself has said.
        (0..self.sinks.len()).for_each(|sink| self.flush(sink));
        self.look_for_joiners();
        match self.ending {
            Ending::Not if self.deadline.is_some_and(|due| due <= now) => self.time_out(),
            Ending::Patient(until) if until <= now => self.ask(Signal::TERM),
            Ending::Asked(until) if until <= now => self.kill(),
            _ => {}
        }
    }

    fn time_out(&mut self) {
        self.verdict.get_or_insert(Outcome::Code(TIMED_OUT));
        if !self.manner.quiet {
            let text = timed_out(self.manner.timeout.unwrap_or_default(), &self.places());
            self.say(&text);
        }
        self.ask(Signal::TERM);
    }

    /// Asks every process of the job to end, also those that are stopped.
    fn ask(&mut self, signal: Signal) {
        self.ending = Ending::Asked(Instant::now() + self.manner.grace);
        self.send_to_ranks(signal);
        self.send_to_ranks(Signal::CONT);
        self.ask_orphans(signal);
    }

    /// Asks what dead processes have left behind, each process once. When it ends its own children come to us.
    fn ask_orphans(&mut self, signal: Signal) {
        for pid in self.orphans() {
            if !self.asked.contains(&pid) {
                send(pid, signal);
                send(pid, Signal::CONT);
                self.asked.push(pid);
            }
        }
    }

    fn kill(&mut self) {
        self.ending = Ending::Killed;
        self.send_to_ranks(Signal::KILL);
        for pid in self.orphans() {
            send(pid, Signal::KILL);
        }
    }

    /// Sends `signal` to the group of each living rank.
    fn send_to_ranks(&self, signal: Signal) {
        for rank in self.ranks.iter().filter(|rank| rank.process.is_some()) {
            send_to_group(rank.pid, signal);
        }
    }

    /// Our children that are neither ranks nor the guard.
    fn orphans(&self) -> Vec<u32> {
        let guard = self.guard.as_ref().map(Guard::pid);
        let known = |pid: &u32| {
            Some(*pid) == guard || self.ranks.iter().any(|rank| rank.pid == *pid && rank.process.is_some())
        };
        children_of(std::process::id()).into_iter().filter(|pid| !known(pid)).collect()
    }

    /// The last words, after all that the ranks have written.
    fn conclude(&mut self) {
        self.concluded = true;
        let Some(failure) = self.failure.take_if(|_| self.verdict.is_none()) else { return };
        self.verdict = Some(Outcome::Code(failure.kind.exit_code()));
        if !self.manner.quiet {
            self.say(&failure.text(&postrider_os::process::host_name()));
        }
        (0..self.sinks.len()).for_each(|sink| self.flush(sink));
    }

    fn outcome(self) -> Outcome {
        if let Some(guard) = self.guard {
            // We leave before all processes are gone: the guard ends them after us.
            std::mem::forget(guard);
        }
        let all_well = self.ranks.iter().all(|rank| rank.ended == Some(Ended::Exited(0)));
        match self.verdict {
            Some(Outcome::Signal(_)) if all_well => Outcome::Code(0),
            Some(outcome) => outcome,
            None => Outcome::Code(0),
        }
    }
}
