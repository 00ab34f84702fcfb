//! Process creation and management (MPI 5.0, chapter 11): processes of other jobs, and how they are met.
//!
//! A process has a number in each process that knows it ([`Process`]): its rank, in its own job; in another job the next
//! number above the ranks, in the order in which that process has met others. So numbers never travel. What travels is an
//! [`Identity`], which is the same everywhere. A number is never given to somebody else, so a group stays what it is when the
//! connection to its processes has ended, and processes that meet again are the same ones.
//!
//! [`connect`] joins two groups, [`party`] is what they tell each other.

pub mod connect;
mod party;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use postrider_abi::{MPI_ERR_INTERN, MPI_ERR_OTHER};
use postrider_os::job::{self, Job};

use crate::State;
use crate::communicators::{Communicator, Process};
use crate::error::{Error, Result};
use crate::transports::Transport;
pub use crate::transports::wire::Identity;

/// What has to be known of a job to reach its processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Its key.
    pub key: u64,
    /// Where its segment is: the value of `POSTRIDER_JOB`.
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
    /// Their jobs, as long as somebody of them is connected.
    jobs: BTreeMap<u64, (Access, Arc<Job>)>,
}

#[derive(Debug)]
struct Stranger {
    identity: Identity,
    connected: bool,
}

impl Strangers {
    pub fn new(own_job: u64, ranks: u32) -> Self {
        Self { own_job, ranks, known: Vec::new(), numbers: BTreeMap::new(), jobs: BTreeMap::new() }
    }

    /// The number of a process that is met, perhaps for the first time.
    fn meet(&mut self, identity: Identity) -> u32 {
        let next = self.ranks + self.known.len() as u32;
        let number = *self.numbers.entry(identity).or_insert(next);
        if number == next {
            self.known.push(Stranger { identity, connected: false });
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

    /// Makes sure that the processes of other jobs are there.
    ///
    /// # Errors
    /// When a job has ended in the middle of MPI.
    pub(crate) fn check_strangers(&self) -> Result<()> {
        for (_, identity) in self.strangers.connected() {
            let Some((_, job)) = self.strangers.jobs.get(&identity.job) else { continue };
            let slot = job.slot(identity.rank);
            if !job.launcher_runs() && slot.state() != job::State::Finalized {
                let place = slot.call().map_or_else(String::new, |call| format!(" in {call}"));
                let (rank, pid) = (identity.rank, slot.pid());
                let detail = format!(
                    "a connected job has failed: its rank {rank}, process {pid}, is gone{place} without having called MPI_Finalize"
                );
                return Err(Error::new(MPI_ERR_OTHER, detail));
            }
        }
        Ok(())
    }

    /// Gives up the connections to processes that no communicator has any more, if nothing is under way.
    pub(crate) fn part_from_strangers(&mut self) {
        if !self.is_connected() || self.under_way() > 0 {
            return;
        }
        let in_use = |communicator: &Communicator, process: Process| {
            communicator.group.contains(process)
                || communicator.remote.as_ref().is_some_and(|remote| remote.contains(process))
        };
        let unused =
            |number: u32| !self.communicators.iter().any(|(_, found)| in_use(found, Process(number)));
        let connected = self.strangers.connected().map(|(number, _)| number);
        let parted: Vec<u32> = connected.filter(|&number| unused(number)).collect();
        for number in parted {
            self.strangers.known[(number - self.strangers.ranks) as usize].connected = false;
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
    }

    /// How to reach the processes of a job.
    fn access(&self, job: u64) -> Result<&Access> {
        let found = self.strangers.jobs.get(&job).map(|(access, _)| access);
        found.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a job of a communicator's group is not known"))
    }
}
