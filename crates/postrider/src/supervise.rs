//! Watches over a job from the start of its ranks to the end of its last process.
//!
//! One thread and one `poll`: signals (`signalfd`), the ranks, their pipes, the terminal, and sinks that are full. Where the
//! ranks are, on this host or on others, is behind [`Ranks`]: what the user sees and what ends the job is the same for both.
//!
//! A job ends in steps, see [`Ending`]: ranks are asked (`SIGTERM`, or the user's own signal), and killed when their grace is
//! over. When all ranks are dead the same happens to whatever they have left behind.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use postrider_os::launch::{Signals, end_no_more, stop_here};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use rustix::stdio::stdin;
use serde::{Deserialize, Serialize};

use crate::launch::Refusal;
use crate::output::{READ_BYTES, Sink, Stream, label};
use crate::processes::signal_name;
use crate::report::{
    Failure, HostFailure, Kind, Place, TIMED_OUT, failure_code, signalled, timed_out, unknown_end,
};
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

/// Those of them that end programs.
pub const ENDING_SIGNALS: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

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

impl Outcome {
    /// How a job ends that `verdict` was passed on, if any, whose ranks have all been seen to end with exit code 0 if `all_well`, and whose
    /// ranks have spawned others that ended with `spawned`. Exit code 0 is for those that have all ended well, and for no other.
    fn of(verdict: Option<Self>, all_well: bool, spawned: i32) -> Self {
        let outcome = match verdict {
            Some(Self::Signal(_)) if all_well => Self::Code(0),
            Some(Self::Signal(signal)) => Self::Signal(signal),
            Some(Self::Code(code)) => Self::Code(failure_code(code)),
            None if all_well && spawned == 0 => Self::Code(0),
            None => Self::Code(failure_code(spawned)),
        };
        assert!(
            all_well || outcome != Self::Code(0),
            "a job ends well, and nobody knows how its ranks have ended"
        );
        outcome
    }
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

/// A rank that has failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failed {
    /// Who.
    pub rank: u32,
    /// The process that was this rank.
    pub pid: u32,
    /// How.
    pub kind: Kind,
    /// Where it was.
    pub place: Place,
}

/// What a supervisor is told of the ranks.
#[derive(Debug)]
pub enum Event {
    /// A rank has failed.
    Failed(Failed),
    /// A host is lost, or cannot go on.
    HostFailed(HostFailure),
    /// The job could not be started.
    Refused(Refusal),
    /// Something to say at once.
    Say(String),
}

/// What a rank of another host has written, or that it will write no more.
#[derive(Debug)]
pub struct Output {
    /// The number of the stream, two for each rank.
    pub stream: usize,
    /// Some bytes; none at the end.
    pub bytes: Vec<u8>,
}

/// The ranks of a job, wherever they run.
pub trait Ranks {
    /// Adds what has to be waited for before something new can be seen.
    fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>);
    /// When to look even if nothing was seen.
    fn due(&self) -> Option<Instant>;
    /// Takes note of all that has happened, in the order in which it did.
    fn look(&mut self) -> Vec<Event>;
    /// The next piece of output for a sink that has room, if it does not come through pipes of this process.
    fn output(&mut self, _has_room: impl Fn(usize) -> bool) -> Option<Output> {
        None
    }
    /// Whether there is such a piece.
    fn has_output(&self, _has_room: impl Fn(usize) -> bool) -> bool {
        false
    }
    /// A child of this process has ended.
    fn child_has_ended(&mut self);
    /// Whether any rank has not ended yet.
    fn are_living(&self) -> bool;
    /// The ranks that have not been seen to end with exit code 0.
    fn unsuccessful(&self) -> Vec<u32>;
    /// The exit code of the jobs that ranks have spawned and that have outlived these.
    fn exit_code_of_spawned(&self) -> i32 {
        0
    }
    /// Whether no process of the job is left. Goes on with ending what dead ranks have left behind.
    fn are_over(&mut self) -> bool;
    /// Sends a signal to the group of each living rank.
    fn signal(&mut self, signal: Signal);
    /// Asks every process of the job to end, also those that are stopped.
    fn ask(&mut self, signal: Signal);
    /// Ends every process of the job.
    fn kill(&mut self);
    /// Takes note of where every rank is now.
    fn note_places(&mut self);
    /// Where the ranks were then, as far as it is known.
    fn places(&self) -> &[(u32, Place)];
    /// The host of a rank.
    fn host_of(&self, rank: u32) -> String;
    /// The job is being stopped by a shell, or continued.
    fn pause(&mut self, _stopped: bool) {}
    /// We leave before all processes are gone.
    fn abandon(self);
}

/// What `poll` waits for.
#[derive(Clone, Copy)]
enum Source {
    Signal,
    Ranks,
    Sink(usize),
    Stream(usize),
    Terminal,
    RankZero,
}

/// What has ended a job, first of all.
enum Trouble {
    Rank(Failure),
    Host(HostFailure),
}

impl Trouble {
    fn exit_code(&self) -> i32 {
        match self {
            Self::Rank(failure) => failure.kind.exit_code(),
            Self::Host(_) => 1,
        }
    }

    fn text(&self, ranks: &impl Ranks) -> String {
        match self {
            Self::Rank(failure) => failure.text(&ranks.host_of(failure.rank), ranks.places()),
            Self::Host(failure) => failure.text(ranks.places()),
        }
    }
}

/// A running job.
pub struct Supervisor<R> {
    ranks: R,
    programs: Vec<String>,
    manner: Manner,
    signals: Signals,
    sinks: Vec<Sink>,
    streams: Vec<Stream>,
    terminal: Option<TerminalInput>,
    ending: Ending,
    deadline: Option<Instant>,
    trouble: Option<Trouble>,
    /// The exit code, when something else than a rank's failure has ended the job.
    verdict: Option<Outcome>,
    /// Why the job did not start.
    refusal: Option<Refusal>,
    timed_out: bool,
    /// Whose turn it is to be read first.
    turn: usize,
    /// The user does not want to wait any longer.
    abandoned: bool,
    /// The last words have been said.
    concluded: bool,
}

impl<R: Ranks> Supervisor<R> {
    /// A supervisor of `ranks`, whose programs are `programs`.
    pub fn new(ranks: R, programs: Vec<String>, manner: Manner, signals: Signals, sinks: Vec<Sink>) -> Self {
        Self {
            ranks,
            programs,
            manner,
            signals,
            sinks,
            streams: Vec::new(),
            terminal: None,
            ending: Ending::Not,
            deadline: manner.deadline,
            trouble: None,
            verdict: None,
            refusal: None,
            timed_out: false,
            turn: 0,
            abandoned: false,
            concluded: false,
        }
    }

    /// Says something on the error output.
    pub fn say(&mut self, text: &str) {
        if let Some(sink) = self.sinks.last_mut() {
            sink.say(text);
        }
    }

    /// Passes the terminal's input on to `pipe`.
    pub fn feed(&mut self, pipe: Option<File>) {
        self.terminal = self.terminal.take().or(pipe.map(TerminalInput::new));
    }

    /// Adds the output and the error output of the next rank, from pipes or from wherever the ranks are.
    pub fn add_streams(&mut self, pipes: Option<(OwnedFd, OwnedFd)>) {
        let rank = (self.streams.len() / 2) as u32;
        let (output, error) = pipes.map_or((None, None), |(output, error)| (Some(output), Some(error)));
        let error_sink = self.sinks.len() - 1;
        for (sink, source) in [(0, output), (error_sink, error)] {
            let terminal = self.sinks[sink].is_terminal();
            let coloured = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            let label = if self.manner.label { label(rank, coloured) } else { Vec::new() };
            let prompts = terminal && rank == 0;
            self.streams.push(Stream::new(self.streams.len(), sink, source, label, prompts));
        }
    }

    /// Stays until the job is over and everything it wrote is written.
    pub fn supervise(mut self) -> Outcome {
        let mut buffer = vec![0; READ_BYTES];
        end_no_more();
        loop {
            let childless = self.is_childless();
            let ready = self.wait(childless);
            self.receive_signals();
            for event in self.ranks.look() {
                self.hear(event);
            }
            let moved = self.move_bytes(&ready, &mut buffer) | self.take_output();
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
        if self.ranks.are_living() {
            return false;
        }
        let over = self.ranks.are_over();
        if !over && matches!(self.ending, Ending::Not | Ending::Patient(_)) {
            self.ask(Signal::TERM);
        }
        over
    }

    /// Sleeps until something happens, and says what.
    fn wait(&self, childless: bool) -> Vec<Source> {
        let mut entries = vec![PollFd::new(&self.signals, PollFlags::IN)];
        self.ranks.wait_for(&mut entries);
        let mut sources = vec![Source::Ranks; entries.len()];
        sources[0] = Source::Signal;
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
        let is_done = childless && !self.sinks.iter().any(Sink::is_full);
        // A sink that was full may have been written since output was taken.
        let limit = match is_done || self.ranks.has_output(|stream| self.has_room(stream)) {
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

    /// Whether output of a stream can be taken.
    fn has_room(&self, stream: usize) -> bool {
        !self.sinks[self.streams[stream].sink].is_full()
    }

    fn next_deadline(&self) -> Option<Instant> {
        let step = match self.ending {
            Ending::Patient(until) | Ending::Asked(until) => Some(until),
            Ending::Not => self.deadline,
            Ending::Killed => None,
        };
        let prompts = self.streams.iter().filter_map(Stream::prompt_due);
        let soon = |wanted: bool, after: Duration| wanted.then(|| Instant::now() + after);
        let background = self.terminal.as_ref().is_some_and(TerminalInput::is_in_background);
        let terminal = soon(background, LOOK_FOR_TERMINAL);
        step.into_iter().chain(prompts).chain(terminal).chain(self.ranks.due()).min()
    }

    fn receive_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            match number {
                libc::SIGCHLD => self.ranks.child_has_ended(),
                libc::SIGTSTP => self.stop(),
                libc::SIGCONT => self.ranks.signal(Signal::CONT),
                libc::SIGUSR1 => self.ranks.signal(Signal::USR1),
                libc::SIGUSR2 => self.ranks.signal(Signal::USR2),
                _ => self.end_by(number),
            }
        }
    }

    /// A signal that ends programs: the first is passed on, the second kills, the third gives up. When only a slow
    /// reader of the output is left to wait for, the first gives up.
    fn end_by(&mut self, number: i32) {
        if !self.ranks.are_living() && self.ranks.are_over() {
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
        self.ranks.signal(Signal::TSTP);
        self.ranks.pause(true);
        let since = Instant::now();
        stop_here();
        let pause = since.elapsed();
        self.ranks.pause(false);
        self.deadline = self.deadline.map(|due| due + pause);
        self.ending = match self.ending {
            Ending::Patient(until) => Ending::Patient(until + pause),
            Ending::Asked(until) => Ending::Asked(until + pause),
            other => other,
        };
    }

    /// Decides whether what happened is the job's first failure.
    fn hear(&mut self, event: Event) {
        let undisturbed = self.ending == Ending::Not && self.trouble.is_none();
        match event {
            Event::Failed(failed) if undisturbed => self.fail(failed),
            Event::HostFailed(failure) if undisturbed || matches!(self.ending, Ending::Patient(_)) => {
                self.trouble.get_or_insert(Trouble::Host(failure));
                self.ask(Signal::TERM);
            }
            Event::Refused(refusal) if undisturbed && self.verdict.is_none() => {
                self.verdict = Some(Outcome::Code(refusal.exit_code));
                self.refusal = Some(refusal);
                self.ask(Signal::TERM);
            }
            Event::Say(text) => self.say(&text),
            Event::Failed(_) | Event::HostFailed(_) | Event::Refused(_) => {}
        }
    }

    fn fail(&mut self, failed: Failed) {
        let finished = failed.place == Place::AfterFinalize && matches!(failed.kind, Kind::Exited(_));
        let program = self.programs[failed.rank as usize].clone();
        let Failed { rank, pid, kind, place } = failed;
        self.trouble = Some(Trouble::Rank(Failure { rank, pid, program, kind, place }));
        match finished {
            true => {
                self.ranks.note_places();
                self.ending = Ending::Patient(Instant::now() + self.manner.grace);
            }
            false => self.ask(Signal::TERM),
        }
    }

    /// Reads and writes whatever is ready. False when there was nothing.
    fn move_bytes(&mut self, ready: &[Source], buffer: &mut [u8]) -> bool {
        let mut moved = false;
        for &source in ready {
            match source {
                Source::Signal | Source::Ranks => continue,
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

    /// Writes output that comes from other hosts. False when there was nothing.
    fn take_output(&mut self) -> bool {
        let mut moved = false;
        let (sinks, streams) = (&mut self.sinks, &mut self.streams);
        while let Some(output) = self.ranks.output(|stream| !sinks[streams[stream].sink].is_full()) {
            let stream = &mut streams[output.stream];
            let sink = stream.sink;
            stream.take(&output.bytes, &mut sinks[sink]);
            moved = true;
        }
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
        match self.ending {
            Ending::Not if self.deadline.is_some_and(|due| due <= now) => self.time_out(),
            Ending::Patient(until) if until <= now => self.ask(Signal::TERM),
            Ending::Asked(until) if until <= now => self.kill(),
            _ => {}
        }
    }

    fn time_out(&mut self) {
        self.timed_out = self.verdict.is_none();
        self.verdict.get_or_insert(Outcome::Code(TIMED_OUT));
        self.ask(Signal::TERM);
    }

    /// Asks every process of the job to end, also those that are stopped.
    fn ask(&mut self, signal: Signal) {
        if self.ending == Ending::Not {
            self.ranks.note_places();
        }
        self.ending = Ending::Asked(Instant::now() + self.manner.grace);
        self.ranks.ask(signal);
    }

    fn kill(&mut self) {
        self.ending = Ending::Killed;
        self.ranks.kill();
    }

    /// Whether all that is to be told is the exit code of a rank.
    fn has_result(&self) -> bool {
        let of_rank = self.trouble.as_ref().is_some_and(|trouble| match trouble {
            Trouble::Rank(failure) => {
                failure.place == Place::AfterFinalize && matches!(failure.kind, Kind::Exited(_))
            }
            Trouble::Host(_) => false,
        });
        of_rank && self.manner.codes_are_results
    }

    /// The last words, after all that the ranks have written.
    fn conclude(&mut self) {
        self.concluded = true;
        (0..self.streams.len()).for_each(|number| {
            let stream = &mut self.streams[number];
            stream.hand_over(&mut self.sinks[stream.sink]);
        });
        let words = if let Some(refusal) = self.refusal.take() {
            Some(format!("postrider run: {}\n", refusal.message))
        } else if self.manner.quiet || self.has_result() {
            None
        } else if self.timed_out {
            Some(timed_out(self.manner.timeout.unwrap_or_default(), self.ranks.places()))
        } else if let Some(Outcome::Signal(signal)) = self.verdict
            && !self.ranks.unsuccessful().is_empty()
        {
            let places = self.ranks.places();
            // Of programs without MPI nothing is known.
            let uses_mpi = places.iter().any(|(_, place)| *place != Place::BeforeInit);
            uses_mpi.then(|| signalled(signal, places))
        } else {
            let trouble = self.trouble.as_ref().map(|trouble| trouble.text(&self.ranks));
            let unknown = Some(self.ranks.unsuccessful()).filter(|ranks| !ranks.is_empty());
            trouble.or(unknown.map(|ranks| unknown_end(&ranks))).filter(|_| self.verdict.is_none())
        };
        if let Some(words) = words {
            self.say(&words);
        }
        if let Some(trouble) = &self.trouble {
            self.verdict.get_or_insert(Outcome::Code(trouble.exit_code()));
        }
        (0..self.sinks.len()).for_each(|sink| self.flush(sink));
    }

    fn outcome(self) -> Outcome {
        let (all_well, spawned) = (self.ranks.unsuccessful().is_empty(), self.ranks.exit_code_of_spawned());
        self.ranks.abandon();
        Outcome::of(self.verdict, all_well, spawned)
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome::{self, Code, Signal};

    #[test]
    fn only_a_job_whose_ranks_have_all_ended_well_has_exit_code_0() {
        for spawned in [0, 3, 256, -1] {
            for code in [0, 1, 139, 255, 256, 512, -256, i32::MIN] {
                for verdict in [None, Some(Code(code)), Some(Signal(15))] {
                    let Code(ended) = Outcome::of(verdict, false, spawned) else { continue };
                    assert_ne!(ended & 0xff, 0, "{verdict:?}, {spawned}");
                }
                let Code(ended) = Outcome::of(Some(Code(code)), true, spawned) else { continue };
                assert_ne!(ended & 0xff, 0, "{code} was a failure");
            }
        }
        assert_eq!(Outcome::of(None, true, 0), Code(0));
        assert_eq!(Outcome::of(None, true, 3), Code(3));
        assert_eq!(Outcome::of(Some(Signal(15)), true, 0), Code(0));
        assert_eq!(Outcome::of(Some(Signal(15)), false, 0), Signal(15));
    }
}
