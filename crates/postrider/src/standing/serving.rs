//! The agent while the job runs: it hears its ranks, the other agents and the post, until all ranks of all hosts are done or one has failed.
//!
//! The order at the end matters. Host 0 hears of all hosts that they are done and says that it is over; then each removes what it has,
//! and only then lets its ranks leave `MPI_Finalize`. After a failure the agent where it happened says what it was, and
//! all others end their ranks without a word; again each removes what it has first, as a launcher may end the agent with the ranks.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use postrider_os::job::State;
use postrider_os::launch::Signals;
use postrider_os::standing::Word;
use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use super::complain;
use super::guests::{Event, Guests};
use super::peers::{Peer, Say};
use super::preparing::Prepared;
use crate::links::News;
use crate::post::Notice;
use crate::pulse::{Beat, Pulse};

/// How often one looks at files of other agents: soon after something has happened, and later.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long the reason may take after a link has ended, which comes from host 0 through a connection of its own.
const REASON_LIMIT: Duration = Duration::from_secs(2);
/// Time that ranks have to end on request before they are killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long the end may take that depends on others.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Why a job does not go on.
#[derive(Debug)]
enum Failure {
    /// Something here, of which the user has to hear this.
    Here(String),
    /// Somebody has told us, or the user: nothing has to be said here.
    Told(String),
}

/// What has come of a look around.
#[derive(Debug, PartialEq, Eq)]
enum Course {
    GoesOn,
    IsOver,
}

/// A running job on this host.
pub struct Serving {
    prepared: Prepared,
    guests: Guests,
    signals: Signals,
    /// Somebody ends the job from outside: a signal has come that ranks have got as well.
    asked: bool,
    said_done: bool,
    /// A link has ended, and when. Unless somebody says why, it is a failure of its own.
    lost: Option<(Instant, String)>,
    /// Host 0: the hosts whose ranks are done, and those that have nothing left.
    done: BTreeSet<u32>,
    gone: BTreeSet<u32>,
    pause: Duration,
    /// Links that hosts have asked others for, each once.
    wanted_links: BTreeSet<(u32, u32)>,
    pulse: Pulse,
}

impl Serving {
    /// A job whose ranks wait, in which no host may be silent for longer than `silence`.
    pub fn new(mut prepared: Prepared, guests: Guests, signals: Signals, silence: Duration) -> Self {
        prepared.peers.iter_mut().for_each(Peer::forgive);
        let (done, gone) = (BTreeSet::new(), BTreeSet::new());
        Self {
            prepared,
            guests,
            signals,
            asked: false,
            said_done: false,
            lost: None,
            done,
            gone,
            pause: PAUSE_MIN,
            wanted_links: BTreeSet::new(),
            pulse: Pulse::new(silence),
        }
    }

    /// Lets the ranks go, and stays until the end of the job.
    pub fn serve(mut self) {
        self.guests.say_to_all(&self.prepared.word.clone());
        let end = loop {
            match self.go_on() {
                Ok(Course::GoesOn) => {}
                Ok(Course::IsOver) => break Ok(()),
                Err(failure) => break Err(failure),
            }
        };
        match end {
            Ok(()) => self.end(),
            Err(failure) => self.fail(failure),
        }
    }

    fn go_on(&mut self) -> Result<Course, Failure> {
        for event in self.wait() {
            self.take(event)?;
        }
        self.look_at_mail()?;
        let course = self.hear()?;
        self.ping()?;
        let overdue = |since: &Instant| since.elapsed() > REASON_LIMIT;
        if let Some((_, why)) = self.lost.take_if(|(since, _)| overdue(since))
            && !self.said_done
        {
            return Err(Failure::Here(format!("host {}: {why}", self.own_name())));
        }
        if !self.said_done && self.guests.are_done() {
            self.said_done = true;
            match self.prepared.host {
                0 => drop(self.done.insert(0)),
                _ => self.say(0, &Say::Done),
            }
        }
        match self.prepared.host == 0 && self.done.len() == self.prepared.all.len() {
            true => Ok(Course::IsOver),
            false => Ok(course),
        }
    }

    /// Sleeps until something happens.
    fn wait(&mut self) -> Vec<Event> {
        let mut entries = vec![PollFd::new(&self.signals, PollFlags::IN)];
        let described = self.prepared.peers.iter().filter_map(Peer::descriptor);
        entries.extend(described.map(|peer| PollFd::from_borrowed_fd(peer, PollFlags::IN)));
        if let Some((post, links)) = &self.prepared.mail {
            entries.push(PollFd::from_borrowed_fd(post.descriptor(), PollFlags::IN));
            links.wait_for(&mut entries);
        }
        let by_files = self.prepared.peers.iter().any(|peer| peer.descriptor().is_none() && !peer.is_over());
        let until_beat = self.pulse.due().saturating_duration_since(Instant::now());
        let limit = if by_files || self.lost.is_some() { self.pause } else { until_beat };
        self.guests.sleep(entries, limit);
        let events = self.guests.look();
        self.pause = if events.is_empty() { (self.pause * 5 / 4).min(PAUSE_MAX) } else { PAUSE_MIN };
        while self.signals.next().is_some() {
            self.asked = true;
        }
        events
    }

    fn take(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Said(rank, Word::Done) => self.guests.set_done(rank),
            Event::Said(rank, _) => {
                return Err(Failure::Here(format!("{} speaks in riddles", self.name_of(rank))));
            }
            Event::Ended(rank) if self.guests.is_done(rank) => {}
            Event::Ended(rank) => return Err(self.death(rank)),
        }
        Ok(())
    }

    fn name_of(&self, rank: u32) -> String {
        let host = &self.prepared.all[self.prepared.host as usize].name;
        format!("rank {rank} on host {host} (process {})", self.guests.pid(rank))
    }

    /// What is to be said of a rank that has ended too early.
    fn death(&self, rank: u32) -> Failure {
        let slot = self.prepared.job.slot(rank);
        let (who, state, call) = (self.name_of(rank), slot.state(), slot.call());
        let place = call.map_or("outside MPI".to_owned(), |call| format!("in {call}"));
        match state {
            State::Aborted => Failure::Told(format!("{who} has aborted the job")),
            _ if self.asked => Failure::Told(format!("{who} was ended by a signal")),
            _ => Failure::Here(format!("{who} has ended {place}, before MPI_Finalize; the job is ended")),
        }
    }

    fn look_at_mail(&mut self) -> Result<(), Failure> {
        let (mut failure, mut wanted) = (None, Vec::new());
        if let Some((post, links)) = &mut self.prepared.mail {
            let mut news = links.look(post);
            while let Some(notice) = post.next() {
                match notice {
                    Notice::Wants(host) => news.extend(links.want(host)),
                    // Hosts hang up at the end, which is near when the ranks here are done.
                    Notice::Lost { .. } if self.said_done => {}
                    Notice::Lost { host, why } => {
                        let name = &self.prepared.all[host as usize].name;
                        let complaints = links.complaints(host);
                        let what = format!("the link to host {name} is lost: {why} {complaints}");
                        self.lost.get_or_insert((Instant::now(), what));
                    }
                    Notice::Failed(why) => failure = Some(why),
                }
            }
            for news in news {
                match news {
                    News::Wants(host) => wanted.push(host),
                    News::Failed(host, why) => {
                        let name = &self.prepared.all[host as usize].name;
                        failure = Some(format!("host {name} cannot be reached: {why}"));
                    }
                }
            }
        }
        for host in wanted {
            self.ask_for_link(self.prepared.host, host);
        }
        match failure {
            Some(why) => Err(Failure::Here(format!("host {}: {why}", self.own_name()))),
            None => Ok(()),
        }
    }

    fn own_name(&self) -> &str {
        &self.prepared.all[self.prepared.host as usize].name
    }

    /// Has host `opener` open the link to host `wanting`.
    fn ask_for_link(&mut self, wanting: u32, opener: u32) {
        match self.prepared.host {
            0 if opener == 0 => {
                let mail = self.prepared.mail.as_mut();
                let _opened_by_us = mail.and_then(|(_, links)| links.want(wanting));
            }
            0 => self.say(opener, &Say::Open(wanting)),
            _ => self.say(0, &Say::Wants(opener)),
        }
    }

    fn say(&mut self, host: u32, say: &Say) {
        for peer in self.prepared.peers.iter_mut().filter(|peer| peer.host == host) {
            // That it has gone is seen where it is heard.
            let _gone = peer.say(say);
        }
    }

    /// Says to other agents that this one lives, and finds those that do not. A host may vanish without a word, and without traffic nothing
    /// else would tell.
    fn ping(&mut self) -> Result<(), Failure> {
        let Some(Beat { is_late }) = self.pulse.beat() else { return Ok(()) };
        let (now, silence) = (Instant::now(), self.pulse.silence());
        for peer in self.prepared.peers.iter_mut().filter(|peer| !self.gone.contains(&peer.host)) {
            // That it has gone is seen where it is heard.
            let _gone = peer.ping();
            if is_late {
                peer.forgive();
            }
            if now.saturating_duration_since(peer.last_heard()) > silence {
                let name = &self.prepared.all[peer.host as usize].name;
                let seconds = silence.as_secs_f64();
                let why = format!("host {name} has not answered for {seconds} seconds; the job is ended");
                return Err(Failure::Here(why));
            }
        }
        Ok(())
    }

    /// Does what other agents say.
    fn hear(&mut self) -> Result<Course, Failure> {
        let mut heard = Vec::new();
        for peer in &mut self.prepared.peers {
            while let Some(say) = peer.hear().map_err(Failure::Here)? {
                heard.push((peer.host, say));
            }
            if peer.is_over() && !self.gone.contains(&peer.host) {
                let facts = &self.prepared.all[peer.host as usize];
                let ranks = super::facts::ranges(&facts.ranks);
                let told = heard.iter().any(|(host, say)| *host == peer.host && ends(say));
                if !told {
                    let why = format!(
                        "the agent of host {} (ranks {ranks}) has gone; the job is ended",
                        facts.name
                    );
                    return Err(if self.asked { Failure::Told(why) } else { Failure::Here(why) });
                }
            }
        }
        let mut course = Course::GoesOn;
        for (host, say) in heard {
            match say {
                Say::Welcome => {}
                Say::Done => drop(self.done.insert(host)),
                Say::Gone => drop(self.gone.insert(host)),
                // Only host 0 knows of all, and what it says of the ranks here is known here as well.
                Say::Over if self.prepared.host != 0 && self.said_done => course = Course::IsOver,
                Say::Over => {
                    let name = &self.prepared.all[host as usize].name;
                    return Err(Failure::Here(format!(
                        "host {name} ends the job, which goes on; the job is ended"
                    )));
                }
                Say::Failed(why) => return Err(Failure::Told(why)),
                Say::Wants(opener) if (opener as usize) < self.prepared.all.len() => {
                    if self.wanted_links.insert((host, opener)) {
                        self.ask_for_link(host, opener);
                    }
                }
                Say::Open(wanting) => {
                    let mail = self.prepared.mail.as_mut();
                    let _opened_by_us = mail.and_then(|(_, links)| links.want(wanting));
                }
                Say::Wants(_) | Say::Ping => {}
            }
        }
        Ok(course)
    }

    /// All ranks everywhere are done.
    fn end(mut self) {
        self.say_to_peers(&Say::Over);
        self.clean();
        self.guests.close();
        self.guests.say_to_all(&Word::Over);
    }

    /// Ends the ranks of this host, and has the others do the same.
    fn fail(mut self, failure: Failure) {
        let why = match failure {
            Failure::Here(why) => {
                complain(&why);
                why
            }
            Failure::Told(why) => why,
        };
        self.say_to_peers(&Say::Failed(why));
        // Ranks stand still meanwhile, so that none of them complains about what is no longer there.
        self.guests.signal(Signal::STOP);
        self.clean();
        self.guests.signal(Signal::TERM);
        self.guests.signal(Signal::CONT);
        for limit in [GRACE, END_LIMIT] {
            let until = Instant::now() + limit;
            while !self.guests.are_gone() && Instant::now() < until {
                let _nothing_counts_any_more = self.guests.wait(PAUSE_MAX);
            }
            self.guests.signal(Signal::KILL);
        }
    }

    /// Host 0 speaks to all, the others to host 0.
    fn say_to_peers(&mut self, say: &Say) {
        let is_first = self.prepared.host == 0;
        for peer in self.prepared.peers.iter_mut().filter(|_| is_first || !matches!(say, Say::Over)) {
            let _gone = peer.say(say);
        }
    }

    /// Removes all that there is of the job on this host. Host 0 waits for the others to do so, because it has what all use.
    fn clean(&mut self) {
        // The post says goodbye before the links are closed, and none that is being opened is left alone.
        if let Some((post, mut links)) = self.prepared.mail.take() {
            let until = Instant::now() + END_LIMIT;
            while links.are_opening() && Instant::now() < until {
                let _too_late = links.look(&post);
                std::thread::sleep(PAUSE_MIN);
            }
            drop(post);
            drop(links);
        }
        self.prepared.directory = None;
        if self.prepared.host != 0 {
            self.say(0, &Say::Gone);
        } else {
            self.wait_for_others();
        }
        if let Some(place) = self.prepared.central.take() {
            let _stays = std::fs::remove_dir_all(place);
        }
        self.prepared.peers.clear();
        if let Some(remote) = self.prepared.remote.take() {
            remote.close();
        }
    }

    fn wait_for_others(&mut self) {
        let until = Instant::now() + END_LIMIT;
        let mut waiting: Vec<u32> = (1..self.prepared.all.len() as u32).collect();
        while !waiting.is_empty() && Instant::now() < until {
            for peer in &mut self.prepared.peers {
                while let Ok(Some(say)) = peer.hear() {
                    if say == Say::Gone {
                        self.gone.insert(peer.host);
                    }
                }
                if peer.is_over() {
                    self.gone.insert(peer.host);
                }
            }
            waiting.retain(|host| !self.gone.contains(host));
            if !waiting.is_empty() {
                let described = self.prepared.peers.iter().filter_map(Peer::descriptor);
                let entries = described.map(|peer| PollFd::from_borrowed_fd(peer, PollFlags::IN)).collect();
                self.guests.sleep(entries, PAUSE_MIN);
            }
        }
    }
}

/// After which an agent hangs up.
fn ends(say: &Say) -> bool {
    matches!(say, Say::Over | Say::Failed(_) | Say::Gone)
}
