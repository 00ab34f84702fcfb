//! Ranks on other hosts, as the supervisor sees them: what their agents report, and what they are told.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use postrider_os::hosts::Placement;
use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;
use rustix::stdio::stdin;

use super::agents::{Agent, Agents, Progress};
use super::cleaners::Cleaners;
use super::input::HeadInput;
use super::relays::{NoLink, Relays};
use super::standstill::Standstill;
use crate::control::{Assignment, OUTPUT_WINDOW_BYTES, ToAgent, ToHead};
use crate::launch::Refusal;
use crate::links::End;
use crate::remote_shell::harmless;
use crate::report::{HostFailure, Kind, Place, failure_code, stalled};
use crate::supervise::{Event, Failed, Output, Ranks};

/// How often a job in the background looks whether the terminal is its own again.
const LOOK_FOR_TERMINAL: Duration = Duration::from_secs(1);
/// The longest name of a directory (Linux, `PATH_MAX`).
const PATH_BYTES_MAX: usize = 4096;
/// Credit is given in pieces of at least this size.
const CREDIT_BYTES: usize = OUTPUT_WINDOW_BYTES / 4;

/// How long a lost link waits for a better explanation, and a host that has given up for others that have.
const SUSPICION_WAIT: Duration = Duration::from_secs(2);

/// Bytes of a host's output and error output.
type OutputBytes = Vec<[usize; 2]>;

/// What is told besides the hosts and processes of the ranks.
pub struct Map {
    /// The program of each rank.
    pub programs: Vec<String>,
    /// How messages travel.
    pub how: String,
}

/// The ranks of a job over several hosts.
pub struct RemoteRanks {
    agents: Agents,
    relays: Relays,
    cleaners: Cleaners,
    /// A link that was lost, and when that is taken for a failure of its own.
    suspicion: Option<(Instant, HostFailure)>,
    /// Hosts that have taken this head for lost, how long they had waited, and when they are spoken of.
    gave_up: Option<(Instant, Duration, Vec<usize>)>,
    placement: Placement,
    /// Whether each rank has ended, and with exit code 0.
    ended: Vec<Option<bool>>,
    /// Output, and error output.
    outputs: [VecDeque<Output>; 2],
    /// What was taken of it, but for which no credit was given yet.
    debts: OutputBytes,
    /// What has come in all without credit: a host that has no credit left has nothing to send.
    held: OutputBytes,
    /// Streams of which the end has come.
    ended_streams: BTreeSet<usize>,
    /// Links that hosts have asked others for, each once.
    wanted_links: BTreeSet<(usize, usize)>,
    input: Option<HeadInput>,
    /// If it is to be told where the ranks run, once they do.
    tells_map: Option<Map>,
    /// A failure was seen, or the ranks were told to end.
    disturbed: bool,
    /// A rank that has ended without ever calling `MPI_Init`.
    missing: Option<u32>,
    finishing: bool,
    /// The exit code of the first job that ranks have spawned and that failed.
    spawned_code: i32,
    places: Vec<(u32, Place)>,
    standstill: Standstill,
}

impl RemoteRanks {
    /// The ranks that `agents` are to start.
    pub fn new(agents: Agents, relays: Relays, cleaners: Cleaners, placement: Placement) -> Self {
        let (ranks, hosts) = (placement.ranks() as usize, agents.count());
        Self {
            agents,
            relays,
            cleaners,
            suspicion: None,
            gave_up: None,
            placement,
            ended: vec![None; ranks],
            outputs: [VecDeque::new(), VecDeque::new()],
            debts: vec![[0; 2]; hosts],
            held: vec![[0; 2]; hosts],
            ended_streams: BTreeSet::new(),
            wanted_links: BTreeSet::new(),
            input: None,
            tells_map: None,
            disturbed: false,
            missing: None,
            finishing: false,
            spawned_code: 0,
            places: Vec::new(),
            standstill: Standstill::new(hosts),
        }
    }

    /// Tells where each rank runs, once all have been started.
    pub fn tell_map(&mut self, map: Map) {
        self.tells_map = Some(map);
    }

    /// Speaks of it when all ranks have waited for each other for so long.
    pub fn notice_stalls(&mut self, patience: Duration) {
        self.standstill.wanted_after(patience);
    }

    /// Tells every agent its part.
    pub fn prepare(&mut self, mut assignment: Assignment) {
        for number in 0..self.agents.count() {
            assignment.host = number as u32;
            self.agents.of(number).send(&ToAgent::Prepare(Box::new(assignment.clone())));
        }
    }

    fn hear(&mut self, host: usize, message: ToHead, events: &mut Vec<Event>) {
        // Whoever was given up has no say any more.
        if !self.agents.of(host).is_there() {
            return;
        }
        match message {
            ToHead::Prepared { directory, cores, warnings } => {
                self.prepared(host, directory, cores, warnings, events);
            }
            ToHead::Refused(refusal) => self.refused(host, refusal, events),
            ToHead::Started(pids) => self.started(host, pids, events),
            ToHead::Ended { rank, well, unborn, spawned_code } => {
                if self.spawned_code == 0 && spawned_code != 0 {
                    self.spawned_code = failure_code(spawned_code);
                }
                self.rank_has_ended(host, rank, well, unborn);
            }
            ToHead::Failed(failed) if self.is_of(failed.rank, host) => {
                self.disturbed = true;
                events.push(Event::Failed(failed));
            }
            ToHead::RankWaits => events.extend(self.missing.map(|rank| self.never_joined(rank))),
            ToHead::Places(places) => self.places_are(host, places, events),
            ToHead::Rest(rest) => {
                self.standstill.note(host, rest);
                self.look_for_standstill();
            }
            ToHead::Output(rank, error, bytes) if self.is_of(rank, host) => {
                self.has_written(host, rank, error, bytes, events);
            }
            // Nobody of ours speaks for the ranks of another host.
            ToHead::Output(..) | ToHead::Failed(_) => {}
            ToHead::InputTaken(bytes) if self.is_of(0, host) => {
                self.input.iter_mut().for_each(|input| input.taken(bytes as usize));
            }
            ToHead::InputClosed if self.is_of(0, host) => self.input.iter_mut().for_each(HeadInput::close),
            ToHead::InputTaken(_) | ToHead::InputClosed => {}
            ToHead::Wants(other) => {
                let other = other as usize;
                if other < self.agents.count() && self.wanted_links.insert((host, other)) {
                    self.agents.of(other).send(&ToAgent::OpenLink(host as u32));
                }
            }
            ToHead::LinkFailed(other, why) => self.relay(host, other as usize, why),
            ToHead::LinkLost(other, why) => self.suspect(host, other as usize, why),
            ToHead::Broken(why) => events.push(Event::HostFailed(self.failure_of(host, why))),
            ToHead::Over if self.finishing => self.agents.of(host).progress = Progress::Over,
            ToHead::Over => {
                self.lose(host, "it has ended its part of the job, which nobody has asked for", events)
            }
            ToHead::GaveUp(silence) => self.is_given_up_by(host, silence, events),
            ToHead::Pong => {}
        }
    }

    fn places_are(&mut self, host: usize, places: Vec<(u32, Place)>, events: &mut Vec<Event>) {
        // Ranks that the host does not name have not been started yet.
        for (rank, known) in &mut self.places {
            if self.placement.host_of(*rank) as usize == host {
                *known = Place::BeforeInit;
            }
        }
        for (rank, place) in places {
            if self.is_of(rank, host)
                && let Some(known) = self.places.get_mut(rank as usize)
            {
                known.1 = place;
            }
        }
        let waits = || self.places.iter().any(|(_, place)| place.waits());
        if let Some(time) = self.standstill.answered(host).filter(|_| !self.disturbed && waits()) {
            events.push(Event::Say(stalled(time, &self.places)));
        }
    }

    fn prepared(
        &mut self,
        host: usize,
        directory: String,
        cores: u32,
        warnings: Vec<String>,
        events: &mut Vec<Event>,
    ) {
        if !is_directory(&directory) {
            let why = "its directory for the job, which TMPDIR chooses there, has a name that cannot be used";
            return self.lose(host, why, events);
        }
        let agent = self.agents.of(host);
        if agent.progress != Progress::Preparing {
            return;
        }
        (agent.directory, agent.cores, agent.progress) = (directory, cores, Progress::Prepared);
        let say = |warning| Event::Say(format!("postrider: host {}: {warning}\n", agent.name));
        events.extend(warnings.into_iter().map(say));
        self.start();
    }

    fn refused(&mut self, host: usize, refusal: Refusal, events: &mut Vec<Event>) {
        let agent = self.agents.of(host);
        if agent.progress == Progress::Started {
            return self.lose(host, "it has refused what it had already begun", events);
        }
        (agent.progress, agent.living) = (Progress::Refused, 0);
        let message = format!("host {}: {}", agent.name, refusal.message);
        events.push(Event::Refused(Refusal::new(failure_code(refusal.exit_code), message)));
    }

    /// Has all agents start their ranks once all are prepared.
    fn start(&mut self) {
        if self.disturbed || !self.agents.are_all(Progress::Prepared) {
            return;
        }
        let directories = self.agents.all().iter().map(|agent| agent.directory.clone()).collect();
        self.agents.tell_all(&ToAgent::Start(directories));
        (0..self.agents.count()).for_each(|host| self.agents.of(host).progress = Progress::Starting);
    }

    fn started(&mut self, host: usize, pids: Vec<u32>, events: &mut Vec<Event>) {
        let agent = self.agents.of(host);
        if agent.progress != Progress::Starting || agent.ranks.len() < pids.len() {
            return self.lose(host, "it has started what it was not told to start", events);
        }
        (agent.pids, agent.progress) = (pids, Progress::Started);
        if self.placement.host_of(0) as usize == host {
            self.input = Some(HeadInput::new());
        }
        if self.agents.are_all(Progress::Started)
            && let Some(map) = self.tells_map.take()
        {
            events.push(Event::Say(self.map(&map)));
        }
    }

    /// A rank has written something, or will write no more. What comes without credit is not kept.
    fn has_written(&mut self, host: usize, rank: u32, error: bool, bytes: Vec<u8>, events: &mut Vec<Event>) {
        let (kind, stream) = (usize::from(error), 2 * rank as usize + usize::from(error));
        if bytes.is_empty() && !self.ended_streams.insert(stream) {
            return;
        }
        self.held[host][kind] += bytes.len();
        if self.held[host][kind] > OUTPUT_WINDOW_BYTES {
            return self.lose(host, "it has sent more output than it may before some is taken", events);
        }
        self.outputs[kind].push_back(Output { stream, bytes });
    }

    /// Whether a number is that of a rank of host `host`.
    fn is_of(&self, rank: u32, host: usize) -> bool {
        rank < self.placement.ranks() && self.placement.host_of(rank) as usize == host
    }

    fn rank_has_ended(&mut self, host: usize, rank: u32, well: bool, unborn: bool) {
        if !self.is_of(rank, host) || self.ended[rank as usize].is_some() {
            return;
        }
        self.ended[rank as usize] = Some(well);
        let agent = self.agents.of(host);
        agent.living = agent.living.saturating_sub(1);
        if well && unborn && self.missing.is_none() {
            self.missing = Some(rank);
            self.agents.tell_all(&ToAgent::RankIsMissing);
        }
    }

    /// Asks where all ranks are when they may have come to wait for each other.
    fn look_for_standstill(&mut self) {
        if !self.disturbed && self.are_living() && self.standstill.is_to_ask() {
            self.note_places();
        }
    }

    fn never_joined(&self, rank: u32) -> Event {
        let host = self.placement.host_of(rank);
        let place = self.placement.place_of(rank) as usize;
        let pid = self.agents.all()[host as usize].pids.get(place).copied().unwrap_or(0);
        Event::Failed(Failed { rank, pid, kind: Kind::NeverJoined, place: Place::BeforeInit })
    }

    /// Gives a host up. Once all ranks of the job have ended that is no failure any more.
    fn lose(&mut self, host: usize, why: &str, events: &mut Vec<Event>) {
        let finishing = self.finishing;
        let agent = self.agents.of(host);
        if !agent.is_there() {
            return;
        }
        let why = agent.give_up(why);
        let (name, ranks) = (agent.name.clone(), agent.ranks.clone());
        if !agent.directory.is_empty() {
            self.cleaners.send(name.clone(), agent.directory.clone());
        }
        events.push(match finishing {
            true => Event::Say(format!("postrider: host {name} was lost while it cleaned up: {why}\n")),
            false => Event::HostFailed(HostFailure { hosts: vec![name], ranks, why: why + &self.excuse() }),
        });
        self.disturbed = true;
    }

    /// A host has heard nothing of this head for too long, and has ended its part of the job.
    fn is_given_up_by(&mut self, host: usize, silence: Duration, events: &mut Vec<Event>) {
        let agent = self.agents.of(host);
        if !agent.is_there() {
            return;
        }
        let complaints = agent.give_up("");
        if self.finishing {
            events.push(Event::Say(format!(
                "postrider: host {} did not hear that the job is over{complaints}\n",
                agent.name
            )));
            return;
        }
        self.disturbed = true;
        let due = Instant::now() + SUSPICION_WAIT;
        self.gave_up.get_or_insert((due, silence, Vec::new())).2.push(host);
    }

    /// Speaks of the hosts that have given up, when all have or others have had time to. What else fails meanwhile fails because they have.
    fn look_for_those_that_gave_up(&mut self, events: &mut Vec<Event>) {
        let fails = |event: &Event| matches!(event, Event::Failed(_) | Event::HostFailed(_));
        let is_known = events.iter().any(fails) || !self.agents.all().iter().any(Agent::is_there);
        let told = self.gave_up.take_if(|(due, ..)| is_known || *due <= Instant::now());
        let Some((_, silence, mut hosts)) = told else { return };
        hosts.sort_unstable();
        let agents = || hosts.iter().map(|&host| &self.agents.all()[host]);
        let why = format!(
            "nothing of this launcher has come there for {} seconds (--host-timeout), and the job was ended there{}",
            silence.as_secs_f64(),
            self.excuse()
        );
        let mut ranks: Vec<u32> = agents().flat_map(|agent| agent.ranks.iter().copied()).collect();
        ranks.sort_unstable();
        let failure = HostFailure { hosts: agents().map(|agent| agent.name.clone()).collect(), ranks, why };
        events.insert(0, Event::HostFailed(failure));
    }

    /// What this head has to do with the loss of a host.
    fn excuse(&self) -> String {
        let text = |slept: Duration| {
            format!("; this launcher was stopped, or its machine slept, for {} seconds", slept.as_secs())
        };
        self.agents.slept().map(text).unwrap_or_default()
    }

    fn failure_of(&self, host: usize, why: String) -> HostFailure {
        let agent = &self.agents.all()[host];
        HostFailure { hosts: vec![agent.name.clone()], ranks: agent.ranks.clone(), why }
    }

    /// Links two hosts that cannot reach each other.
    fn relay(&mut self, host: usize, other: usize, why: String) {
        let Some(end) = self.agents.all().get(other).map(|agent| end(other, agent)) else { return };
        if !self.finishing && other != host {
            self.relays.add([self::end(host, &self.agents.all()[host]), end], why);
        }
    }

    /// A link has been lost. When its other host is gone as well, that is what has happened, and will soon be known.
    fn suspect(&mut self, host: usize, other: usize, why: String) {
        let Some(name) = self.agents.all().get(other).map(|agent| agent.name.clone()) else { return };
        let why = format!("its link to host {name} was lost: {why}");
        let failure = self.failure_of(host, why);
        self.suspicion.get_or_insert((Instant::now() + SUSPICION_WAIT, failure));
    }

    fn look_after_links(&mut self, events: &mut Vec<Event>) {
        for NoLink { pair: (host, other), why } in self.relays.look() {
            let name = &self.agents.all()[other as usize].name;
            let why = format!("there is no way to host {name}: {why}");
            events.push(Event::HostFailed(self.failure_of(host as usize, why)));
        }
        if let Some((_, failure)) = self.suspicion.take_if(|(due, _)| *due <= Instant::now()) {
            events.push(Event::HostFailed(failure));
        }
    }

    fn map(&self, told: &Map) -> String {
        let (ranks, hosts) = (self.placement.ranks(), self.placement.hosts());
        let mut text = format!("postrider: {ranks} ranks on {hosts} hosts, messages {}\n", told.how);
        for agent in self.agents.all() {
            let (name, cores, directory) = (&agent.name, agent.cores, &agent.directory);
            text += &format!("postrider: host {name} has {cores} cores; job directory {directory}\n");
        }
        for (rank, program) in (0..).zip(&told.programs) {
            let agent = &self.agents.all()[self.placement.host_of(rank) as usize];
            let pid = agent.pids.get(self.placement.place_of(rank) as usize).copied().unwrap_or(0);
            text += &format!("postrider: rank {rank} is process {pid} on host {}: {program}\n", agent.name);
        }
        text
    }

    fn feed(&mut self) {
        let Some(input) = &mut self.input else { return };
        if let Some(bytes) = input.read() {
            let host = self.placement.host_of(0) as usize;
            self.agents.of(host).send(&ToAgent::Input(bytes));
        }
    }
}

impl Ranks for RemoteRanks {
    fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        self.agents.wait_for(entries);
        self.relays.wait_for(entries);
        self.cleaners.wait_for(entries);
        if self.input.as_ref().is_some_and(HeadInput::wants_more) {
            entries.push(PollFd::from_borrowed_fd(stdin(), PollFlags::IN));
        }
    }

    fn due(&self) -> Option<Instant> {
        let background = self.input.as_ref().is_some_and(HeadInput::is_in_background);
        let terminal = background.then(|| Instant::now() + LOOK_FOR_TERMINAL);
        let suspicion = self.suspicion.iter().map(|(due, _)| *due);
        let gave_up = self.gave_up.iter().map(|(due, ..)| *due);
        terminal
            .into_iter()
            .chain(suspicion)
            .chain(gave_up)
            .chain(self.cleaners.due())
            .chain([self.agents.due()])
            .min()
    }

    fn look(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for (host, message) in self.agents.receive() {
            match message {
                Ok(message) => self.hear(host, message, &mut events),
                Err(why) => self.lose(host, &why, &mut events),
            }
        }
        self.look_after_links(&mut events);
        self.look_for_those_that_gave_up(&mut events);
        self.feed();
        events
    }

    fn output(&mut self, has_room: impl Fn(usize) -> bool) -> Option<Output> {
        for (kind, outputs) in self.outputs.iter_mut().enumerate() {
            if !outputs.front().is_some_and(|output| has_room(output.stream)) {
                continue;
            }
            let output = outputs.pop_front()?;
            let host = self.placement.host_of(output.stream as u32 / 2) as usize;
            let debt = &mut self.debts[host][kind];
            *debt += output.bytes.len();
            if *debt >= CREDIT_BYTES {
                self.agents.of(host).send(&ToAgent::Credit(kind == 1, *debt as u32));
                self.held[host][kind] -= std::mem::take(debt);
            }
            return Some(output);
        }
        None
    }

    fn has_output(&self, has_room: impl Fn(usize) -> bool) -> bool {
        self.outputs.iter().any(|outputs| outputs.front().is_some_and(|output| has_room(output.stream)))
    }

    fn child_has_ended(&mut self) {}

    fn are_living(&self) -> bool {
        self.agents.all().iter().any(|agent| match agent.progress {
            Progress::Preparing | Progress::Prepared => !self.disturbed,
            Progress::Starting => true,
            Progress::Started => agent.living > 0,
            Progress::Refused | Progress::Over | Progress::Lost => false,
        })
    }

    fn exit_code_of_spawned(&self) -> i32 {
        self.spawned_code
    }

    fn unsuccessful(&self) -> Vec<u32> {
        (0..).zip(&self.ended).filter(|(_, ended)| **ended != Some(true)).map(|(rank, _)| rank).collect()
    }

    fn are_over(&mut self) -> bool {
        if !self.finishing {
            self.finishing = true;
            self.suspicion = None;
            self.agents.tell_all(&ToAgent::Finish);
        }
        let done = self.cleaners.are_done();
        done && !self.agents.all().iter().any(Agent::is_there)
    }

    fn signal(&mut self, signal: Signal) {
        self.agents.tell_all(&ToAgent::Signal(signal.as_raw()));
    }

    fn ask(&mut self, signal: Signal) {
        self.disturbed = true;
        self.agents.tell_all(&ToAgent::Ask(signal.as_raw()));
    }

    fn kill(&mut self) {
        self.disturbed = true;
        self.agents.tell_all(&ToAgent::Kill);
    }

    fn note_places(&mut self) {
        self.places = (0..self.placement.ranks()).map(|rank| (rank, Place::Unknown)).collect();
        self.agents.tell_all(&ToAgent::NotePlaces);
    }

    fn places(&self) -> &[(u32, Place)] {
        &self.places
    }

    fn host_of(&self, rank: u32) -> String {
        self.agents.all()[self.placement.host_of(rank) as usize].name.clone()
    }

    fn pause(&mut self, stopped: bool) {
        self.agents.pause(stopped);
    }

    fn abandon(self) {
        self.agents.leave();
    }
}

/// Whether an agent's word for its directory can be told others, and shown.
fn is_directory(name: &str) -> bool {
    name.starts_with('/') && name.len() <= PATH_BYTES_MAX && harmless(name.as_bytes()) == name
}

fn end(host: usize, agent: &Agent) -> End {
    End { name: agent.name.clone(), host: host as u32, directory: agent.directory.clone() }
}
