//! `postrider agent`: the launcher of one host's ranks in a job over several hosts.
//!
//! The head starts it through the remote shell, one on each host, and speaks with it through its standard input and output,
//! see [`control`](crate::control). It makes the job's directory and segment ([`prepare`]), starts the ranks of its host, watches
//! over them with the same code as a job on one host ([`ranks`](crate::ranks)), and reports what they write and how they end.
//!
//! It lives as long as the head needs it, and no longer: when its input ends, however that came, it ends every process of the
//! job on its host, removes the job's directory and exits. Its guard does that when it is killed itself.

mod mail;
mod output;
mod prepare;

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use postrider_os::job::{Job, State};
use postrider_os::launch::{Ended, Signals, keep_descriptors};
use postrider_os::process::say_error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, set_child_subreaper};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

use crate::control::{Assignment, Channel, Rest, TO_AGENT_BYTES_MAX, ToAgent, ToHead};
use crate::launch::{Input, Refusal, Started};
use crate::processes::signal_name;
use crate::ranks::{LocalRanks, allow_descriptors, end, start_all};
use crate::supervise::{Ranks, SIGNALS};
use crate::terminal::Feed;
use mail::Mail;
use output::Outputs;
use prepare::{Prepared, Ready};

/// How long processes that were killed may take to be gone before the guard is left with them.
const KILLED_WAIT: Duration = Duration::from_secs(10);
/// How often we look whether they are.
const KILLED_LOOK: Duration = Duration::from_millis(2);
/// Whoever finds only so much later that the head has been silent for too long was not running himself.
const OVERSLEPT: Duration = Duration::from_secs(1);
/// How long the head may take to say what is to be done.
const PREPARATION_WAIT: Duration = Duration::from_secs(300);
/// Descriptors for the links to other hosts and all else that grows with their number.
const DESCRIPTORS_PER_HOST: u64 = 8;

/// Runs the agent, and returns its exit code.
pub fn agent() -> i32 {
    match try_agent() {
        Ok(()) => 0,
        Err(refusal) => {
            say_error(&format!("postrider agent: {}", refusal.message));
            refusal.exit_code
        }
    }
}

fn try_agent() -> Result<(), Refusal> {
    let failed = |error: std::io::Error| Refusal::new(1, error);
    keep_descriptors();
    let signals = Signals::receive(&SIGNALS).map_err(|error| Refusal::new(1, error))?;
    let (reader, writer) = (stdin().try_clone_to_owned(), stdout().try_clone_to_owned());
    let channel =
        Channel::new(reader.map_err(failed)?, writer.map_err(failed)?, TO_AGENT_BYTES_MAX).map_err(failed)?;
    close_standard_streams().map_err(failed)?;
    let mut head = Head::new(channel);
    let Some(assignment) = head.assignment() else { return Ok(()) };
    head.silence = assignment.silence;
    let ranks = assignment.host_of.iter().filter(|host| **host == assignment.host).count() as u32;
    allow_descriptors(ranks, assignment.hosts.len() as u64 * DESCRIPTORS_PER_HOST);
    let served = prepare::prepare(assignment).and_then(|prepared| {
        set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| Refusal::new(1, error))?;
        let cleaned = serve(&mut head, signals, &prepared)?;
        Ok((prepared.directory, cleaned))
    });
    match served {
        Ok((directory, true)) => {
            drop(directory);
            head.leave();
        }
        // The guard does what is left to do.
        Ok((directory, false)) => std::mem::forget(directory),
        Err(refusal) => {
            head.channel.send(&ToHead::Refused(refusal));
            head.wait_for_finish();
        }
    }
    Ok(())
}

/// Nothing but the channel may use the pipes to the head.
fn close_standard_streams() -> std::io::Result<()> {
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(stderr())?;
    Ok(())
}

/// The head of the job, as its agent knows it.
struct Head {
    channel: Channel,
    last_heard: Instant,
    /// How long it may be silent.
    silence: Duration,
    /// It is stopped by a shell, and will be silent.
    asks_to_wait: bool,
    /// What it has said while ranks were started.
    early: VecDeque<ToAgent>,
    /// It has said that all ranks have ended, everywhere.
    has_finished: bool,
    /// It has been silent for too long.
    is_given_up: bool,
}

impl Head {
    fn new(channel: Channel) -> Self {
        Self {
            channel,
            last_heard: Instant::now(),
            silence: PREPARATION_WAIT,
            asks_to_wait: false,
            has_finished: false,
            is_given_up: false,
            early: VecDeque::new(),
        }
    }

    fn assignment(&mut self) -> Option<Assignment> {
        loop {
            match self.wait()? {
                ToAgent::Prepare(assignment) => return Some(*assignment),
                _ => continue,
            }
        }
    }

    /// Says that nothing is left here once the head wants to know.
    fn wait_for_finish(&mut self) {
        while let Some(message) = self.wait() {
            if matches!(message, ToAgent::Finish) {
                break;
            }
        }
        self.leave();
    }

    /// The last word. Only a head that wants the end is told that all is over: one that was taken for lost may still be there.
    fn leave(&mut self) {
        self.channel.send(&match self.has_finished {
            true => ToHead::Over,
            false => ToHead::GaveUp(self.silence),
        });
        let due = Instant::now() + KILLED_WAIT;
        while let Some(pipe) = self.channel.waits_for() {
            let left = Timespec::try_from(due.saturating_duration_since(Instant::now())).ok();
            let mut entry = [PollFd::from_borrowed_fd(pipe, PollFlags::OUT)];
            if !poll(&mut entry, left.as_ref()).is_ok_and(|ready| ready > 0) {
                return;
            }
            self.channel.flush();
        }
    }

    /// The next message; none at the end of the channel.
    fn wait(&mut self) -> Option<ToAgent> {
        loop {
            if let Some(message) = self.next() {
                return Some(message);
            }
            if self.is_lost() {
                return None;
            }
            let mut entries = vec![PollFd::from_borrowed_fd(self.channel.reader(), PollFlags::IN)];
            entries
                .extend(self.channel.waits_for().map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT)));
            let left = self.due().map(|due| due.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            let _interrupted = poll(&mut entries, left.as_ref());
            self.channel.flush();
            self.channel.fill();
        }
    }

    fn next(&mut self) -> Option<ToAgent> {
        self.early.pop_front().or_else(|| self.receive())
    }

    /// Whether it is gone, or has said that the job is to end. Whatever it has said is kept.
    fn wants_the_end(&mut self) -> bool {
        self.channel.fill();
        while let Some(message) = self.receive() {
            self.early.push_back(message);
        }
        let ends = |said: &ToAgent| matches!(said, ToAgent::Ask(_) | ToAgent::Kill | ToAgent::Finish);
        self.is_lost() || self.early.iter().any(ends)
    }

    fn receive(&mut self) -> Option<ToAgent> {
        let message = self.channel.next()?;
        self.last_heard = Instant::now();
        match message {
            ToAgent::Ping => self.channel.send(&ToHead::Pong),
            ToAgent::Pause(stopped) => self.asks_to_wait = stopped,
            ToAgent::Finish => self.has_finished = true,
            _ => {}
        }
        Some(message)
    }

    /// When it has been silent for too long.
    fn due(&self) -> Option<Instant> {
        (!self.asks_to_wait).then(|| self.last_heard + self.silence)
    }

    /// Whether it has left, or has been silent for too long.
    fn is_lost(&mut self) -> bool {
        let (due, now) = (self.due(), Instant::now());
        match due.map(|due| now.saturating_duration_since(due)) {
            None | Some(Duration::ZERO) => {}
            // As when all of a job is suspended: the head had no time either.
            Some(late) if late > OVERSLEPT && !self.is_given_up => self.last_heard = now,
            Some(_) => self.is_given_up = true,
        }
        self.is_given_up || self.channel.end().is_some()
    }
}

/// Starts the ranks when the head says so, and stays until no process of the job is left on this host. False when some are.
fn serve(head: &mut Head, signals: Signals, prepared: &Prepared) -> Result<bool, Refusal> {
    let Ready { job, applications, surroundings, letterbox, guard } = prepared.make_ready()?;
    head.channel.send(&prepared.report());
    let directories = loop {
        match head.wait() {
            Some(ToAgent::Start(directories)) => break directories,
            Some(ToAgent::Finish) | None => return Ok(true),
            Some(_) => {}
        }
    };
    prepared.write_map(&directories)?;
    let mut ranks = LocalRanks::new(&job)?;
    ranks.notice_stalls(prepared.assignment().stall);
    let mail = Mail::start(prepared, &job, letterbox, directories)?;
    if let Some(mail) = &mail {
        ranks.watch_guests(mail.company());
    }
    let numbers = job.local_ranks();
    let (started, refusal) =
        start_all(numbers, &applications, Input::Fed, &surroundings, || head.wants_the_end());
    let pids: Vec<u32> = started.iter().map(|rank| rank.pid).collect();
    let processes: Vec<(u32, u32)> = numbers.iter().copied().zip(pids.iter().copied()).collect();
    if let Err(refusal) = ranks.watch(&processes, guard) {
        drop(ranks);
        end(&started);
        return Err(refusal);
    }
    match refusal {
        Some(refusal) => {
            ranks.kill();
            head.channel.send(&ToHead::Refused(refusal));
        }
        None => head.channel.send(&ToHead::Started(pids)),
    }
    let mut agent = Agent::new(head, signals, &job, ranks, mail, &processes, started);
    agent.stay();
    let Agent { head, ranks, cleaned, .. } = agent;
    if head.is_lost() {
        prepared.remove_central();
    }
    if !cleaned {
        ranks.abandon();
    }
    Ok(cleaned)
}

/// The ranks of this host, while they run.
struct Agent<'a> {
    head: &'a mut Head,
    signals: Signals,
    job: &'a Job,
    ranks: LocalRanks<'a>,
    mail: Option<Mail>,
    outputs: Outputs,
    feed: Option<Feed>,
    /// Ranks of whose end the head does not yet know: which, whether with exit code 0, whether without `MPI_Init`.
    ended: Vec<(u32, bool, bool)>,
    /// Input that the head does not yet know to be taken.
    fed_bytes: usize,
    /// The ranks were told to end.
    ends_early: bool,
    /// What the head knows of the ranks here, all of which wait; none if they do not.
    rest: Option<Rest>,
    cleaned: bool,
}

impl<'a> Agent<'a> {
    fn new(
        head: &'a mut Head,
        signals: Signals,
        job: &'a Job,
        ranks: LocalRanks<'a>,
        mail: Option<Mail>,
        processes: &[(u32, u32)],
        started: Vec<Started>,
    ) -> Self {
        let (mut outputs, mut feed) = (Outputs::new(), None);
        for (&(rank, _), started) in processes.iter().zip(started) {
            outputs.add(rank, started.output, started.error);
            feed = feed.or(started.input.map(Feed::new));
        }
        Self {
            head,
            signals,
            job,
            ranks,
            mail,
            outputs,
            feed,
            ended: Vec::new(),
            fed_bytes: 0,
            ends_early: false,
            rest: None,
            cleaned: false,
        }
    }

    /// Stays until nothing of the job is left here. Looks before it sleeps, because more than the order to start may have come at once.
    fn stay(&mut self) {
        loop {
            self.receive_signals();
            self.head.channel.fill();
            while let Some(message) = self.head.next() {
                self.obey(message);
            }
            if self.head.is_lost() {
                return self.end_everything();
            }
            // First, so that no child is taken for an orphan that a thread of the post waits for.
            self.look_after_links();
            self.collect_deaths();
            self.look_for_stall();
            // Jobs that ranks have spawned may outlive these, and use the post.
            if self.head.has_finished && !self.ranks.are_living() {
                self.close_links();
            }
            self.feed_rank_zero();
            // Before the last look at what the ranks have written, and after all that may have been waited for.
            let over = self.head.has_finished && self.ranks.are_over();
            let moved = self.outputs.move_to(&mut self.head.channel);
            self.head.channel.flush();
            if over && !moved {
                self.cleaned = true;
                return;
            }
            self.wait(over);
        }
    }

    /// Sleeps until something happens.
    fn wait(&self, over: bool) {
        let mut entries = vec![
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::from_borrowed_fd(self.head.channel.reader(), PollFlags::IN),
        ];
        entries
            .extend(self.head.channel.waits_for().map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT)));
        self.ranks.wait_for(&mut entries);
        self.outputs.wait_for(&mut entries);
        if let Some(mail) = &self.mail {
            mail.wait_for(&mut entries);
        }
        if let Some(pipe) = self.feed.as_ref().and_then(Feed::waits_for) {
            entries.push(PollFd::new(pipe, PollFlags::OUT));
        }
        let due = self.head.due().into_iter().chain(self.ranks.due()).min();
        let limit = match over {
            true => Some(Timespec::default()),
            false => due.and_then(|due| {
                let left = due.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
                Timespec::try_from(left).ok()
            }),
        };
        let _interrupted = poll(&mut entries, limit.as_ref());
    }

    fn receive_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            match number {
                libc::SIGCHLD => self.ranks.child_has_ended(),
                libc::SIGTSTP | libc::SIGCONT | libc::SIGUSR1 | libc::SIGUSR2 => {}
                // Who ends agents means the job, as a scheduler does whose time is over.
                _ => {
                    let why = format!("its agent was ended by {}", signal_name(number));
                    self.head.channel.send(&ToHead::Broken(why));
                }
            }
        }
    }

    fn obey(&mut self, message: ToAgent) {
        let signal = |number| Signal::from_named_raw(number).unwrap_or(Signal::TERM);
        match message {
            ToAgent::Signal(number) => self.ranks.signal(signal(number)),
            ToAgent::Ask(number) => {
                self.ends_early = true;
                self.ranks.ask(signal(number));
            }
            ToAgent::Kill => {
                self.ends_early = true;
                self.ranks.kill();
            }
            ToAgent::NotePlaces => self.head.channel.send(&ToHead::Places(self.ranks.places_now())),
            ToAgent::RankIsMissing => self.ranks.look_for_waiting(),
            ToAgent::Credit(error, bytes) => self.outputs.allow(error, bytes as usize),
            ToAgent::Input(bytes) => {
                self.fed_bytes += bytes.len();
                self.feed.iter_mut().for_each(|feed| feed.add(&bytes));
            }
            ToAgent::OpenLink(host) => {
                let news = self.mail.as_mut().and_then(|mail| mail.want(host));
                news.iter().for_each(|news| self.head.channel.send(news));
            }
            ToAgent::Finish => {
                if !self.ends_early {
                    self.job.set_ended_well();
                }
            }
            ToAgent::Pause(stopped) => self.mail.iter().for_each(|mail| mail.pause(stopped)),
            ToAgent::Prepare(_) | ToAgent::Start(_) | ToAgent::Ping => {}
        }
    }

    fn collect_deaths(&mut self) {
        for (rank, how, failed) in self.ranks.collect_deaths() {
            // A failure comes first: with the end of its last rank the job is over for the head.
            self.report(failed);
            let unborn = self.job.slot(rank).state() == State::Unborn;
            self.ended.push((rank, how == Ended::Exited(0), unborn));
        }
        // The last rank of a host has not ended for the head before the jobs have that ranks have spawned here.
        if self.ranks.have_ranks() || !self.ranks.are_living() {
            let spawned_code = self.ranks.exit_code_of_spawned();
            for (rank, well, unborn) in self.ended.drain(..) {
                self.head.channel.send(&ToHead::Ended { rank, well, unborn, spawned_code });
            }
        }
        let failed = self.ranks.look_for_joiners();
        self.report(failed);
        if self.ranks.is_somebody_waiting() {
            self.head.channel.send(&ToHead::RankWaits);
        }
    }

    /// Tells the head when all ranks here have come to wait, or one goes on.
    fn look_for_stall(&mut self) {
        let Some(rests) = self.ranks.look_for_stall() else { return };
        let rest = rests.then(|| self.ranks.rest());
        if self.rest != rest {
            self.rest.clone_from(&rest);
            self.head.channel.send(&ToHead::Rest(rest));
        }
    }

    fn report(&mut self, failed: Option<crate::supervise::Failed>) {
        if let Some(failed) = failed {
            self.head.channel.send(&ToHead::Failed(failed));
        }
    }

    fn look_after_links(&mut self) {
        let Some(mail) = &mut self.mail else { return };
        for news in mail.look() {
            self.head.channel.send(&news);
        }
        self.ranks.spared = mail.children();
        self.ranks.children_are_awaited = mail.awaits_children();
    }

    /// Leaves the children of links to be ended like all others, if there are any left.
    fn close_links(&mut self) {
        self.mail = None;
        self.ranks.spared = BTreeSet::new();
        self.ranks.children_are_awaited = false;
    }

    fn feed_rank_zero(&mut self) {
        let Some(feed) = &mut self.feed else { return };
        feed.write();
        let taken = self.fed_bytes - feed.pending_bytes();
        if taken > 0 {
            self.fed_bytes -= taken;
            self.head.channel.send(&ToHead::InputTaken(taken as u32));
        }
        if !feed.is_open() {
            self.feed = None;
            self.head.channel.send(&ToHead::InputClosed);
        }
    }

    /// The head is gone: ends every process of the job on this host.
    fn end_everything(&mut self) {
        let due = Instant::now() + KILLED_WAIT;
        self.close_links();
        self.ranks.kill();
        while !self.ranks.are_over() {
            if Instant::now() > due {
                return;
            }
            std::thread::sleep(KILLED_LOOK);
            self.ranks.collect_deaths();
        }
        self.cleaned = true;
    }
}
