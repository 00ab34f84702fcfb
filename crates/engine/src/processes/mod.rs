//! Process creation and management (MPI 5.0, chapter 11): processes of other jobs, and how they are met.
//!
//! A process has a number in each process that knows it ([`Process`]): its rank, in its own job; in another job the next
//! number above the ranks, in the order in which that process has met others. So numbers never travel. What travels is an
//! [`Identity`], which is the same everywhere. A number is never given to somebody else, so a group stays what it is when the
//! connection to its processes has ended, and processes that meet again are the same ones.
//!
//! [`connect`] joins two groups, [`party`] is what they tell each other. Where jobs have several hosts, the posts of one of them
//! carry the messages, and processes of other jobs [visit](visit::Visit) it.

pub mod connect;
mod party;
pub(crate) mod visit;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use postrider_abi::{MPI_ERR_INTERN, MPI_ERR_OTHER};
use postrider_os::job::{self, Job};

use crate::State;
use crate::communicators::Process;
use crate::error::{Error, Result};
use crate::point_to_point::Work;
pub use crate::transports::wire::Identity;
use crate::transports::{Transport, Waiter};
use visit::Visit;

/// What has to be known of a job to reach its processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Its key.
    pub key: u64,
    /// How many hosts have a post of it; 0 for a job on one host, which has none.
    pub posts: u32,
    /// Where its segment is, if it is on one host: the value of `POSTRIDER_JOB`.
    pub place: String,
    /// Its directory, if messages are files.
    pub directory: Option<PathBuf>,
}

/// The processes of other jobs that this one knows.
#[derive(Debug)]
pub(crate) struct Strangers {
    /// The key of this process's job.
    own_job: u64,
    /// Number of processes in it.
    ranks: u32,
    /// The others, by their numbers above the ranks.
    known: Vec<Stranger>,
    numbers: BTreeMap<Identity, u32>,
    /// Their jobs, as long as somebody of them is connected, and their segments where these are used.
    jobs: BTreeMap<u64, (Access, Option<Arc<Job>>)>,
    /// The jobs whose posts serve this process, by their keys.
    visits: BTreeMap<u64, Visit>,
}

/// How messages come from processes of other jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaysOutside {
    /// There are none.
    None,
    /// Directly.
    Bridges,
    /// They are guests of this process's job.
    OwnPosts,
    /// This process is a guest of one other job.
    Posts,
    /// In more than one of these ways.
    Several,
}

#[derive(Debug)]
struct Stranger {
    identity: Identity,
    connected: bool,
    /// The job whose posts lead to it, and its number there, if it is reached in this way.
    carried: Option<(u64, u32)>,
}

impl Strangers {
    pub fn new(own_job: u64, ranks: u32) -> Self {
        Self {
            own_job,
            ranks,
            known: Vec::new(),
            numbers: BTreeMap::new(),
            jobs: BTreeMap::new(),
            visits: BTreeMap::new(),
        }
    }

    /// The number of a process that is met, perhaps for the first time.
    fn meet(&mut self, identity: Identity) -> u32 {
        let next = self.ranks + self.known.len() as u32;
        let number = *self.numbers.entry(identity).or_insert(next);
        if number == next {
            self.known.push(Stranger { identity, connected: false, carried: None });
        }
        self.known[(number - self.ranks) as usize].connected = true;
        number
    }

    fn connected(&self) -> impl Iterator<Item = (u32, Identity)> {
        let numbered = (self.ranks..).zip(&self.known).filter(|(_, stranger)| stranger.connected);
        numbered.map(|(number, stranger)| (number, stranger.identity))
    }
}

impl State {
    /// The key of this process's job.
    pub(crate) fn job_key(&self) -> u64 {
        self.strangers.own_job
    }

    /// Who a process is.
    pub(crate) fn identity(&self, process: Process) -> Identity {
        match process.0.checked_sub(self.strangers.ranks) {
            None => Identity { job: self.strangers.own_job, rank: process.0 },
            Some(index) => self.strangers.known[index as usize].identity,
        }
    }

    /// The process that somebody has named.
    ///
    /// # Errors
    /// When this process is not connected with it.
    pub(crate) fn process(&self, identity: Identity) -> Result<Process> {
        if identity.job == self.strangers.own_job {
            return Ok(Process(identity.rank));
        }
        self.strangers.numbers.get(&identity).map(|&number| Process(number)).ok_or_else(|| {
            let detail = format!(
                "a group has rank {} of a job that this process is not connected with",
                identity.rank
            );
            Error::new(MPI_ERR_OTHER, detail)
        })
    }

    /// Whether processes of other jobs can send to this one.
    pub(crate) fn is_connected(&self) -> bool {
        !self.strangers.jobs.is_empty()
    }

    /// Whether a process is one of another job.
    pub(crate) fn is_stranger(&self, process: u32) -> bool {
        process >= self.strangers.ranks
    }

    /// How messages come from processes of other jobs.
    pub(crate) fn ways_outside(&self) -> WaysOutside {
        let mut all = self.strangers.known.iter().filter(|one| one.connected).map(|one| one.carried);
        let Some(first) = all.next() else { return WaysOutside::None };
        let carrier = |carried: Option<(u64, u32)>| carried.map(|(carrier, _)| carrier);
        match (carrier(first), all.all(|other| carrier(other) == carrier(first))) {
            (_, false) => WaysOutside::Several,
            (None, true) => WaysOutside::Bridges,
            (Some(carrier), true) if carrier == self.strangers.own_job => WaysOutside::OwnPosts,
            (Some(_), true) => WaysOutside::Posts,
        }
    }

    /// The segments of the jobs that this process is connected with, where it has them.
    pub(crate) fn jobs_of_strangers(&self) -> impl Iterator<Item = Option<&Job>> {
        self.strangers.jobs.values().map(|(_, job)| job.as_deref())
    }

    /// Makes sure that the processes of other jobs are there, as far as they are in a communicator, or a request is
    /// unfinished whose communicator has been freed.
    ///
    /// # Errors
    /// When a job has ended in the middle of MPI.
    pub(crate) fn check_strangers(&self, waiter: &Waiter) -> Result<()> {
        for (number, identity) in self.strangers.connected() {
            let checked = match self.carried(number) {
                Some((carrier, there)) => self.check_carried(identity, carrier, there, waiter),
                None => self.check_stranger(identity),
            };
            if checked.is_err() && (self.is_in_use(Process(number)) || self.has_request_left()) {
                return checked;
            }
        }
        Ok(())
    }

    fn check_stranger(&self, identity: Identity) -> Result<()> {
        let Some((_, Some(job))) = self.strangers.jobs.get(&identity.job) else { return Ok(()) };
        let slot = job.slot(identity.rank);
        if job.launcher_runs() || slot.state() == job::State::Finalized {
            return Ok(());
        }
        let place = slot.call().map_or_else(String::new, |call| format!(" in {call}"));
        let (rank, pid) = (identity.rank, slot.pid());
        let detail = format!(
            "a connected job has failed: its rank {rank}, process {pid}, is gone{place} without having called MPI_Finalize"
        );
        Err(Error::new(MPI_ERR_OTHER, detail))
    }

    /// Whether a process is in a communicator.
    fn is_in_use(&self, process: Process) -> bool {
        self.communicators.iter().any(|(_, communicator)| {
            communicator.group.contains(process)
                || communicator.remote.as_ref().is_some_and(|remote| remote.contains(process))
        })
    }

    /// Whether a request is unfinished whose communicator has been freed.
    fn has_request_left(&self) -> bool {
        self.requests.iter().any(|(_, request)| {
            !matches!(request.work, Work::Done(_)) && self.communicators.get(request.communicator).is_err()
        })
    }

    /// The job that carries messages to a process of another job, if one does, and the number of the process there.
    fn carried(&self, number: u32) -> Option<(u64, u32)> {
        self.strangers.known[number.checked_sub(self.strangers.ranks)? as usize].carried
    }

    /// Makes sure that a process is there whose messages job `carrier` carries.
    fn check_carried(&self, identity: Identity, carrier: u64, there: u32, waiter: &Waiter) -> Result<()> {
        let visit = self.strangers.visits.get(&carrier);
        let own = if visit.is_none() { waiter.job().ok().flatten() } else { None };
        let Some(job) = visit.map(|visit| &visit.job).or(own.as_ref()) else { return Ok(()) };
        let detail = if job.is_gone(there) {
            let rank = identity.rank;
            format!("a connected job has failed: its rank {rank} is gone without having called MPI_Finalize")
        } else if visit.is_some() && job.has_failed() {
            "a connected job has failed: its agent on this host is gone".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::new(MPI_ERR_OTHER, detail))
    }

    /// Gives up the connections to processes that no communicator has any more, if nothing is under way.
    pub(crate) fn part_from_strangers(&mut self) {
        if !self.is_connected() || self.under_way() > 0 {
            return;
        }
        let connected = self.strangers.connected().map(|(number, _)| number);
        let parted: Vec<u32> = connected.filter(|&number| !self.is_in_use(Process(number))).collect();
        for number in parted {
            let stranger = &mut self.strangers.known[(number - self.strangers.ranks) as usize];
            (stranger.connected, stranger.carried) = (false, None);
            match &mut self.transport {
                Transport::Bridged(bridged) => bridged.part(number),
                Transport::File(files) => files.part(number),
                Transport::Alone
                | Transport::SharedMemory(_)
                | Transport::Hosts(_)
                | Transport::Simulated(_) => {}
            }
        }
        let mut left: Vec<u64> = self.strangers.connected().map(|(_, identity)| identity.job).collect();
        left.sort_unstable();
        self.strangers.jobs.retain(|key, _| left.binary_search(key).is_ok());
        let (known, transport) = (&self.strangers.known, &mut self.transport);
        let in_use = |carrier: u64| known.iter().filter_map(|one| one.carried).any(|(key, _)| key == carrier);
        self.strangers.visits.retain(|&carrier, visit| {
            if !in_use(carrier) {
                visit.say_bye(transport.leave(carrier));
            }
            in_use(carrier)
        });
    }

    /// How to reach the processes of a job.
    fn access(&self, job: u64) -> Result<&Access> {
        let found = self.strangers.jobs.get(&job).map(|(access, _)| access);
        found.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a job of a communicator's group is not known"))
    }
}
