//! The agents of a job: their channels, how far each has come, and whether it still lives.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use postrider_os::hosts::Placement;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::control::{Channel, TO_HEAD_BYTES_MAX, ToAgent, ToHead};
use crate::hosts::Host;
use crate::launch::Refusal;
use crate::pulse::{Beat, Pulse};
use crate::remote_shell::{Remote, quoted};

/// How long remote shells may take to notice that their agents have ended.
const CLOSING_WAIT: Duration = Duration::from_secs(2);

/// How far an agent has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It was told its part.
    Preparing,
    /// It waits for the others.
    Prepared,
    /// It was told to start its ranks.
    Starting,
    /// Its ranks run, or have run.
    Started,
    /// It could not start them.
    Refused,
    /// Nothing of the job is left there.
    Over,
    /// It is gone, or nobody knows.
    Lost,
}

/// The agent of one host.
pub struct Agent {
    /// Its host's name.
    pub name: String,
    /// Its ranks.
    pub ranks: Vec<u32>,
    /// How far it has come.
    pub progress: Progress,
    /// The job's directory there.
    pub directory: String,
    /// Cores of that host.
    pub cores: u32,
    /// Processes of its ranks.
    pub pids: Vec<u32>,
    /// How many of its ranks have not ended.
    pub living: u32,
    remote: Option<Remote>,
    channel: Channel,
    last_heard: Instant,
}

impl Agent {
    /// Says something to it, unless it is gone.
    pub fn send(&mut self, message: &ToAgent) {
        if self.is_there() {
            self.channel.send(message);
        }
    }

    /// Whether it can be spoken to.
    pub fn is_there(&self) -> bool {
        !matches!(self.progress, Progress::Over | Progress::Lost)
    }

    /// Gives it up. Says why, with what its remote shell has to say.
    pub fn give_up(&mut self, why: &str) -> String {
        self.progress = Progress::Lost;
        self.living = 0;
        let Some(mut remote) = self.remote.take() else { return why.to_owned() };
        let _gone_already = remote.child.kill();
        let _no_zombie = remote.child.wait();
        format!("{why}{}", quoted(&remote.complaints()))
    }
}

/// The agents of all hosts.
pub struct Agents {
    all: Vec<Agent>,
    arrivals: OwnedFd,
    pulse: Pulse,
}

impl Agents {
    /// Takes over agents that have just been started.
    pub fn new(
        remotes: Vec<Remote>,
        hosts: &[Host],
        placement: &Placement,
        silence: Duration,
    ) -> Result<Self, Refusal> {
        let speak = |remote: Remote| {
            let (output, input) = (remote.output.try_clone()?, remote.input.try_clone()?);
            Ok((Channel::new(output, input, TO_HEAD_BYTES_MAX)?, Some(remote)))
        };
        let parties = remotes.into_iter().map(speak).collect::<io::Result<Vec<_>>>();
        let failed = |error: io::Error| Refusal::new(1, format!("cannot watch agents: {error}"));
        Self::of_parties(parties.map_err(failed)?, hosts, placement, silence).map_err(failed)
    }

    /// Takes over agents that can be spoken with, and the remote shells by which they have been started.
    pub(super) fn of_parties(
        parties: Vec<(Channel, Option<Remote>)>,
        hosts: &[Host],
        placement: &Placement,
        silence: Duration,
    ) -> io::Result<Self> {
        let arrivals = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut all = Vec::with_capacity(parties.len());
        for (number, ((channel, remote), host)) in (0..).zip(parties.into_iter().zip(hosts)) {
            let data = epoll::EventData::new_u64(u64::from(number));
            epoll::add(&arrivals, channel.reader(), data, epoll::EventFlags::IN)?;
            let ranks = placement.ranks_on(number).to_vec();
            all.push(Agent {
                name: host.name.clone(),
                living: ranks.len() as u32,
                ranks,
                progress: Progress::Preparing,
                directory: String::new(),
                cores: 0,
                pids: Vec::new(),
                remote,
                channel,
                last_heard: Instant::now(),
            });
        }
        Ok(Self { all, arrivals, pulse: Pulse::new(silence) })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The agent of host `number`.
    pub fn of(&mut self, number: usize) -> &mut Agent {
        &mut self.all[number]
    }

    /// All agents, in the order of their hosts.
    pub fn all(&self) -> &[Agent] {
        &self.all
    }

    /// Says the same to all of them.
    pub fn tell_all(&mut self, message: &ToAgent) {
        self.all.iter_mut().for_each(|agent| agent.send(message));
    }

    /// Whether all have come so far.
    pub fn are_all(&self, progress: Progress) -> bool {
        self.all.iter().all(|agent| agent.progress == progress)
    }

    /// Adds what has to be waited for.
    pub fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        entries.push(PollFd::new(&self.arrivals, PollFlags::IN));
        let full = self.all.iter().filter(|agent| agent.is_there());
        let full = full.filter_map(|agent| agent.channel.waits_for());
        entries.extend(full.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT)));
    }

    /// When they are to be asked whether they live.
    pub fn due(&self) -> Instant {
        self.pulse.due()
    }

    /// For how long this process has not run lately, if agents may have taken it for lost meanwhile.
    pub fn slept(&self) -> Option<Duration> {
        self.pulse.slept()
    }

    /// What has come from them, and from whom; an error for each that is gone.
    pub fn receive(&mut self) -> Vec<(usize, Result<ToHead, String>)> {
        let mut arrivals = Vec::with_capacity(self.all.len());
        let _interrupted =
            epoll::wait(&self.arrivals, spare_capacity(&mut arrivals), Some(&Timespec::default()));
        let mut received = Vec::new();
        for number in arrivals.iter().map(|event| event.data.u64() as usize) {
            let agent = &mut self.all[number];
            agent.channel.fill();
            while let Some(message) = agent.channel.next::<ToHead>() {
                agent.last_heard = Instant::now();
                received.push((number, Ok(message.harmless())));
            }
            if agent.channel.end().is_some() {
                let _is_there = epoll::delete(&self.arrivals, agent.channel.reader());
            }
        }
        // The end of a channel may also have shown when something was said.
        let present = self.all.iter().enumerate().filter(|(_, agent)| agent.is_there());
        received.extend(
            present.filter_map(|(number, agent)| Some((number, Err(agent.channel.end()?.to_owned())))),
        );
        self.all.iter_mut().filter(|agent| agent.is_there()).for_each(|agent| agent.channel.flush());
        if let Some(beat) = self.pulse.beat() {
            received.extend(self.ping(beat));
        }
        received
    }

    /// Asks all whether they live, and gives those up that have not answered for too long.
    fn ping(&mut self, beat: Beat) -> Vec<(usize, Result<ToHead, String>)> {
        let (now, silence) = (Instant::now(), self.pulse.silence());
        let mut silent = Vec::new();
        for (number, agent) in self.all.iter_mut().enumerate().filter(|(_, agent)| agent.is_there()) {
            if beat.is_late {
                agent.last_heard = now;
            }
            if now.duration_since(agent.last_heard) > silence {
                let why = format!("it has not answered for {} seconds", silence.as_secs_f64());
                silent.push((number, Err(why)));
            } else {
                agent.send(&ToAgent::Ping);
            }
        }
        silent
    }

    /// Stopped time does not count.
    pub fn pause(&mut self, stopped: bool) {
        self.tell_all(&ToAgent::Pause(stopped));
        self.pulse.restart();
        let now = Instant::now();
        self.all.iter_mut().for_each(|agent| agent.last_heard = now);
    }

    /// Leaves, and waits for the remote shells of the agents that have ended.
    pub fn leave(self) {
        let due = Instant::now() + CLOSING_WAIT;
        for agent in self.all {
            drop(agent.channel);
            let Some(Remote { mut child, input, output, .. }) = agent.remote else { continue };
            drop((input, output));
            if agent.progress == Progress::Over && !has_ended(child.id(), due) {
                let _gone_already = child.kill();
            }
        }
    }
}

/// Waits until process `pid` has ended, but not for longer than until `due`.
fn has_ended(pid: u32, due: Instant) -> bool {
    let Some(pid) = Pid::from_raw(pid as i32) else { return true };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let left = Timespec::try_from(due.saturating_duration_since(Instant::now())).unwrap_or_default();
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left)).is_ok_and(|ended| ended > 0)
}
