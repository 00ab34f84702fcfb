//! From ranks that come one by one to a job: who is where, how hosts reach each other, and what is needed for that.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use postrider_os::job::{Job, Shape, Transport};
use postrider_os::standing::{ENV_LIMIT, Word};
use rustix::event::{PollFd, PollFlags};

use super::facts::{self, Facts, Reach, Way};
use super::guests::{Event, Guests};
use super::meeting::{AGENTS, ENV_CENTRAL, ENV_MEETING, MESSAGES, Meeting, called, number_of};
use super::peers::{Peer, Say};
use super::{complain, own_name};
use crate::directory::{self, JobDirectory};
use crate::flags::Stand;
use crate::links::{self, Links};
use crate::post::{Places, Post};
use crate::remote_shell::{Remote, RemoteShell};

/// From one look to the next while the hosts meet, and the longest that becomes.
const PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// The part of the job's directory in which host 0 listens for other agents.
const CONTROL: &str = "control";
/// How long the launcher's key-value space has to answer before the hosts meet in a directory as well.
const RELAY_PATIENCE: Duration = Duration::from_secs(1);
/// After which time host 0 says for whom it waits; host 1 does when host 0 does not even call.
const SAY_AFTER: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(30)];
/// How long host 0 waits for others to have read its last word.
const LEAVE_LIMIT: Duration = Duration::from_secs(30);

/// A job whose ranks may be let go.
pub struct Prepared {
    /// Number of this host.
    pub host: u32,
    /// All hosts.
    pub all: Vec<Facts>,
    /// The segment.
    pub job: Arc<Job>,
    /// The job's directory on this host.
    pub directory: Option<JobDirectory>,
    /// What ranks are told.
    pub word: Word,
    /// The ways to other agents, if there are other hosts.
    pub peers: Vec<Peer>,
    /// What carries messages to other hosts.
    pub mail: Option<(Post, Links)>,
    /// The remote shell to host 0.
    pub remote: Option<Remote>,
    /// Host 0: the directory that all hosts see, to be removed in the end.
    pub central: Option<PathBuf>,
}

/// What `postrider run` can do and a job that another launcher has started cannot is not left out silently.
fn check_transfer() -> Result<(), String> {
    match std::env::var("POSTRIDER_TRANSFER") {
        Ok(way) if !way.is_empty() && way != "ssh" => Err(format!(
            "POSTRIDER_TRANSFER={way}: under another launcher messages travel between hosts through ssh, or through a directory that \
             all see (POSTRIDER_CENTRAL); unset it, or start the job with `postrider run --transfer {way}`"
        )),
        _ => Ok(()),
    }
}

/// Waits for ranks and hosts, at most until `until`, and makes what they need.
///
/// # Errors
/// Who has not come, or what cannot be made.
pub fn prepare(
    stand: &Stand,
    guests: &mut Guests,
    limit: Duration,
    until: Instant,
) -> Result<Prepared, String> {
    gather(stand, guests, limit, until)?;
    let temporary = std::env::temp_dir();
    directory::have_swept(&temporary);
    let files = std::env::var("POSTRIDER_TRANSPORT").is_ok_and(|transport| transport == "file");
    let make = || JobDirectory::create(&temporary).map_err(|error| error.to_string());
    let directory = (stand.hosts > 1 || files).then(make).transpose()?;
    let transport = if files { Transport::File } else { Transport::SharedMemory };
    let Some(own) = directory.as_ref().filter(|_| stand.hosts > 1) else {
        return alone(stand, guests, directory, transport);
    };
    check_transfer()?;
    let mut hosts = Hosts::new(stand, guests, own.path(), until)?;
    let met = hosts.meet(transport);
    hosts.meeting_ends(met.is_err());
    let (all, job, mail, way, peers, remote) = met?;
    let central = match way {
        Way::Central(place) => Some(place),
        Way::Links => None,
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let word = Word::Job {
        place: job.environment(),
        local: Some(text(own.path())),
        central: central.as_ref().map(|place| text(&place.join(MESSAGES))),
    };
    let central = central.filter(|_| stand.host == 0);
    Ok(Prepared { host: stand.host, all, job, directory, word, peers, mail: Some(mail), remote, central })
}

/// Waits for the ranks of this host.
fn gather(stand: &Stand, guests: &mut Guests, limit: Duration, until: Instant) -> Result<(), String> {
    while guests.ranks().len() < stand.count as usize {
        for event in guests.wait(Duration::from_secs(1)) {
            still_there(&event)?;
        }
        if Instant::now() > until {
            let came = facts::ranges(&guests.ranks());
            return Err(format!(
                "of the {} ranks of host {} only {came} have called MPI_Init within {} s ({ENV_LIMIT} is the limit)",
                stand.count,
                own_name(),
                limit.as_secs()
            ));
        }
    }
    Ok(())
}

fn still_there(event: &Event) -> Result<(), String> {
    match event {
        Event::Ended(rank) => {
            Err(format!("rank {rank} on host {} has ended before all ranks had called MPI_Init", own_name()))
        }
        Event::Said(..) => Ok(()),
    }
}

/// A job on one host.
fn alone(
    stand: &Stand,
    guests: &Guests,
    directory: Option<JobDirectory>,
    transport: Transport,
) -> Result<Prepared, String> {
    let facts = Facts {
        name: own_name(),
        cores: guests.cores(),
        ranks: guests.ranks(),
        directory: String::new(),
        call: String::new(),
        places: Vec::new(),
    };
    let all = vec![facts];
    let job = Arc::new(segment(&all, stand, transport)?);
    let local = directory.as_ref().map(|directory| directory.path().to_string_lossy().into_owned());
    let word = Word::Job { place: job.environment(), local, central: None };
    let (peers, host) = (Vec::new(), stand.host);
    Ok(Prepared { host, all, job, directory, word, peers, mail: None, remote: None, central: None })
}

fn segment(all: &[Facts], stand: &Stand, transport: Transport) -> Result<Job, String> {
    let placement = facts::placement(all, stand.ranks)
        .ok_or("the launcher has started a rank twice, or not at all, on the hosts of the job")?;
    let cores = all[stand.host as usize].cores;
    let ring_bytes = Shape::default_ring_bytes(placement.most_on_a_host());
    let shape = Shape { cores, transport, ring_bytes };
    let job = Job::create(shape, &placement, stand.host).map_err(|error| error.to_string())?;
    // The launcher's own name of the job is all that its hosts share.
    Ok(if placement.hosts() == 1 { job } else { job.with_key(number_of(&stand.key)) })
}

/// Everything that hosts have agreed on.
type Met = (Vec<Facts>, Arc<Job>, (Post, Links), Way, Vec<Peer>, Option<Remote>);

/// The meeting of several hosts, as one of them sees it.
struct Hosts<'a> {
    stand: &'a Stand,
    guests: &'a mut Guests,
    directory: &'a Path,
    until: Instant,
    meeting: Option<Meeting>,
    /// Why there is none.
    no_meeting: String,
    /// Whether the launcher's key-value space carries what hosts share.
    relays: bool,
    said: bool,
    shell: RemoteShell,
    forced: bool,
    /// Host 0: where others connect, and those who have.
    control: Option<OwnedFd>,
    strangers: Vec<OwnedFd>,
    peers: Vec<Peer>,
    chosen: Option<PathBuf>,
}

impl<'a> Hosts<'a> {
    fn new(
        stand: &'a Stand,
        guests: &'a mut Guests,
        directory: &'a Path,
        until: Instant,
    ) -> Result<Self, String> {
        let Stand { host, hosts, .. } = *stand;
        let (meeting, no_meeting) = match Meeting::new(&stand.key, host, hosts) {
            Err(why) if stand.relay => (None, why),
            meeting => (Some(meeting?), String::new()),
        };
        let shell = RemoteShell::new(std::env::var("POSTRIDER_SSH").ok().as_deref())?;
        let listen = || -> io::Result<OwnedFd> {
            let place = directory.join(CONTROL);
            DirBuilder::new().mode(0o700).create(&place)?;
            links::listener(&place)
        };
        let control = (host == 0).then(listen).transpose().map_err(|error| error.to_string())?;
        let forced = std::env::var_os(ENV_CENTRAL).is_some_and(|value| !value.is_empty());
        let (strangers, peers) = (Vec::new(), Vec::new());
        Ok(Self {
            stand,
            guests,
            directory,
            until,
            meeting,
            no_meeting,
            relays: stand.relay,
            said: false,
            shell,
            forced,
            control,
            strangers,
            peers,
            chosen: None,
        })
    }

    fn meet(&mut self, transport: Transport) -> Result<Met, String> {
        let host = self.stand.host as usize;
        let texts = self.round(0, &self.facts().text())?;
        let all: Vec<Facts> = texts
            .iter()
            .map(|text| Facts::parse(text).ok_or_else(|| "a host has said what no agent says".to_owned()))
            .collect::<Result<_, _>>()?;
        let names: Vec<String> = all.iter().map(|facts| facts.name.clone()).collect();
        let directories = all.iter().map(|facts| facts.directory.clone()).collect();
        let listener = links::listener(self.directory);
        let links = listener
            .and_then(|listener| Links::new(listener, host as u32, names, directories, self.shell.clone()));
        let links = links.map_err(|error| format!("cannot listen for links: {error}"))?;
        let remote = self.reach(&all[0])?;
        let (remote, refusal) = match remote {
            Ok(remote) => (remote, None),
            Err(why) => (None, Some(why)),
        };
        let reach = Reach { refusal, sees: self.seen(&all[0]) };
        let texts = self.round(1, &reach.text())?;
        let reaches: Vec<Reach> = texts
            .iter()
            .map(|text| Reach::parse(text).ok_or_else(|| "a host has said what no agent says".to_owned()))
            .collect::<Result<_, _>>()?;
        let way = facts::decide(&all, &reaches, self.forced)?;
        self.tell(&way, &reaches, &all);
        self.settle(&way);
        let transport = if matches!(way, Way::Central(_)) { Transport::Central } else { transport };
        let job = Arc::new(segment(&all, self.stand, transport)?);
        self.write_map(&all, &job)?;
        let central = self.chosen.as_ref().map(|place| place.join(MESSAGES));
        let places = Places { local: self.directory.to_owned(), central, copying: None };
        let post = Post::start(Arc::clone(&job), Some(places), self.stand.host_timeout)
            .map_err(|error| format!("cannot start the post: {error}"))?;
        Ok((all, job, (post, links), way, std::mem::take(&mut self.peers), remote))
    }

    fn facts(&self) -> Facts {
        let meeting = self.meeting.as_ref().filter(|_| self.stand.host == 0);
        Facts {
            name: own_name(),
            cores: self.guests.cores(),
            ranks: self.guests.ranks(),
            directory: self.directory.to_string_lossy().into_owned(),
            call: meeting.and_then(Meeting::call).unwrap_or_default().to_owned(),
            places: meeting.map(|meeting| meeting.directories().to_vec()).unwrap_or_default(),
        }
    }

    /// Shares `text` with all hosts.
    fn round(&mut self, round: u32, text: &str) -> Result<Vec<String>, String> {
        let leader = self.guests.ranks().first().copied().unwrap_or_default();
        if self.relays {
            self.guests.say(leader, &Word::Share(text.to_owned()));
        }
        let (began, mut pause, mut missing) = (Instant::now(), PAUSE, Vec::new());
        loop {
            if let Some(meeting) = self.meeting.as_mut()
                && (!self.relays || began.elapsed() > RELAY_PATIENCE)
                && let Some(texts) = meeting.look(round, text, &mut missing)
            {
                self.does_without_relay();
                return Ok(texts);
            }
            self.say_who_is_missing(began.elapsed(), &missing);
            for event in self.wait(pause) {
                still_there(&event)?;
                if let Event::Said(rank, Word::Shared(texts)) = event
                    && rank == leader
                    && self.relays
                    && texts.len() == self.stand.hosts as usize
                {
                    return Ok(texts);
                }
            }
            if Instant::now() > self.until {
                return Err(self.missing(&missing));
            }
            pause = (pause * 5 / 4).min(PAUSE_MAX);
        }
    }

    /// Waits for ranks, and welcomes other agents.
    fn wait(&mut self, pause: Duration) -> Vec<Event> {
        let entries = self.control.iter().chain(&self.strangers).map(|fd| PollFd::new(fd, PollFlags::IN));
        self.guests.sleep(entries.collect(), pause);
        let events = self.guests.look();
        self.strangers.extend(self.control.iter().flat_map(links::arrived));
        for socket in std::mem::take(&mut self.strangers) {
            match links::introduction(std::os::fd::AsFd::as_fd(&socket)) {
                Ok(Some((host, reader, writer))) if (1..self.stand.hosts).contains(&host) => {
                    let mut peer = Peer::through_pipe(host, reader, writer);
                    if peer.say(&Say::Welcome).is_ok() {
                        self.peers.retain(|earlier| earlier.host != host);
                        self.peers.push(peer.at_far_end(socket));
                    }
                }
                Ok(None) => self.strangers.push(socket),
                Ok(Some(_)) | Err(_) => {}
            }
        }
        events
    }

    /// No rank has to wait for the launcher any more.
    fn does_without_relay(&mut self) {
        if std::mem::take(&mut self.relays) {
            self.guests.say_to_all(&Word::Apart);
            self.verbose("the launcher's key-value space does not answer, the hosts meet in a directory");
        }
    }

    /// One line of one host, when others take long.
    fn say_who_is_missing(&mut self, waited: Duration, missing: &[u32]) {
        let due = SAY_AFTER.get(self.stand.host as usize).is_some_and(|&after| waited > after);
        if due && !std::mem::replace(&mut self.said, true) {
            complain(&format!(
                "host {} waits for {} {}. Unless their programs just take long to call MPI_Init: {}",
                own_name(),
                self.names(missing),
                self.places(),
                self.advice()
            ));
        }
    }

    fn missing(&self, missing: &[u32]) -> String {
        let (own, names, places, advice) = (own_name(), self.names(missing), self.places(), self.advice());
        format!(
            "host {own} has not met {names} in time {places}: {advice}; {ENV_LIMIT} gives them more seconds"
        )
    }

    /// Hosts by their names, as far as the launcher has told them.
    fn names(&self, missing: &[u32]) -> String {
        let list = std::env::var("SLURM_STEP_NODELIST").unwrap_or_default();
        let names = crate::hosts::parse_list(&list).unwrap_or_default();
        let name = |host: &u32| match names.get(*host as usize) {
            Some(host) => host.name.clone(),
            None => format!("number {host}"),
        };
        match missing {
            [] => "the other hosts".to_owned(),
            [host] => format!("host {}", name(host)),
            hosts => format!("hosts {}", hosts.iter().map(name).collect::<Vec<_>>().join(", ")),
        }
    }

    fn places(&self) -> String {
        let relayed = if self.relays { "through the launcher's key-value space and " } else { "" };
        match &self.meeting {
            Some(meeting) => format!("{relayed}in {}", meeting.described()),
            None => format!("{relayed}in no directory ({})", self.no_meeting),
        }
    }

    fn advice(&self) -> String {
        let other =
            if self.relays { "open the launcher's ports between hosts" } else { "use srun --mpi=pmi2" };
        format!(
            "submit from a directory that all hosts see and can write, name one by {ENV_MEETING}, or {other}"
        )
    }

    fn verbose(&self, what: &str) {
        if self.stand.host == 0 && std::env::var_os("POSTRIDER_VERBOSE").is_some() {
            complain(what);
        }
    }

    /// Connects to host 0 through a remote shell. The inner error is why that cannot be done.
    fn reach(&mut self, first: &Facts) -> Result<Result<Option<Remote>, String>, String> {
        if self.stand.host == 0 {
            return Ok(Ok(None));
        }
        if self.forced {
            return Ok(Err(format!("{ENV_CENTRAL} is set")));
        }
        let directory = Path::new(&first.directory).join(CONTROL);
        let arguments = links::far_end(&directory.to_string_lossy(), self.stand.host);
        let (tell, told) = channel();
        let (shell, name) = (self.shell.clone(), first.name.clone());
        std::thread::spawn(move || tell.send(shell.open(&name, &arguments)));
        let remote = match self.until_told(&told)? {
            Ok(remote) => remote,
            Err(why) => return Ok(Err(why)),
        };
        let streams = remote.output.try_clone().and_then(|reader| Ok((reader, remote.input.try_clone()?)));
        let (reader, writer) = streams.map_err(|error| error.to_string())?;
        let mut peer = Peer::through_pipe(0, reader, writer);
        loop {
            match peer.hear() {
                Ok(Some(Say::Welcome)) => break,
                Ok(None) if !peer.is_over() && Instant::now() < self.until => {}
                _ => return Ok(Err(format!("its agent cannot be reached: {}", remote.complaints()))),
            }
            for event in self.wait(PAUSE) {
                still_there(&event)?;
            }
        }
        self.peers.push(peer);
        Ok(Ok(Some(remote)))
    }

    fn until_told<T>(&mut self, told: &Receiver<T>) -> Result<T, String> {
        loop {
            if let Ok(result) = told.try_recv() {
                return Ok(result);
            }
            for event in self.wait(PAUSE) {
                still_there(&event)?;
            }
            if Instant::now() > self.until {
                return Err("the remote shell does not come back".to_owned());
            }
        }
    }

    /// Which of host 0's directories this host sees.
    fn seen(&self, first: &Facts) -> Vec<u32> {
        let sees = |place: &PathBuf| {
            directory::check_ours(place).is_ok() && called(place).as_ref() == Some(&first.call)
        };
        let numbered = (0..).zip(&first.places);
        numbered.filter(|(_, place)| sees(place)).map(|(number, _)| number).collect()
    }

    fn tell(&self, way: &Way, reaches: &[Reach], all: &[Facts]) {
        if self.stand.host != 0 || std::env::var_os("POSTRIDER_VERBOSE").is_none() {
            return;
        }
        let how = match way {
            Way::Links => "through remote shells".to_owned(),
            Way::Central(place) => format!("through the directory {}", place.display()),
        };
        complain(&format!("{} ranks on {} hosts, messages between hosts {how}", self.stand.ranks, all.len()));
        for (reach, facts) in reaches.iter().zip(all) {
            if let Some(why) = &reach.refusal {
                complain(&format!("host {} does not reach host {}: {why}", facts.name, all[0].name));
            }
        }
    }

    /// The peers of the way that was chosen.
    fn settle(&mut self, way: &Way) {
        if let Way::Central(place) = way {
            let (own, agents) = (self.stand.host, place.join(AGENTS));
            let others = if own == 0 { 1..self.stand.hosts } else { 0..1 };
            self.peers = others.map(|host| Peer::through_files(host, own, &agents)).collect();
            self.chosen = Some(place.clone());
        }
    }

    /// The host-to-rank map, for a person.
    fn write_map(&self, all: &[Facts], job: &Job) -> Result<(), String> {
        let path = self.directory.join("hosts");
        fs::write(&path, facts::map(all, job.placement()))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Leaves the meeting. Host 0 waits for the others to do so, and removes the directories.
    fn meeting_ends(&mut self, failed: bool) {
        const LAST_ROUND: u32 = 1;
        let Some(meeting) = &self.meeting else { return };
        if self.stand.host != 0 {
            return meeting.leave(LAST_ROUND);
        }
        let until = Instant::now() + LEAVE_LIMIT;
        while !failed && !meeting.is_over(LAST_ROUND) && Instant::now() < until {
            std::thread::sleep(PAUSE);
        }
        meeting.remove(self.chosen.as_deref().filter(|_| !failed));
    }
}
