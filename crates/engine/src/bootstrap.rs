//! Where a process finds itself: alone, in a job of the launcher, or in a simulation.

use std::sync::Arc;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::gate::Threads;
use postrider_os::hosts::Placement;
use postrider_os::job::{self, Job};
use postrider_os::process;

use crate::Facts;
use crate::collectives::spreading::Spreading;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::transports::file::{Directories, FileTransport};
use crate::transports::hosts::Hosts;
use crate::transports::shared_memory::{self, SharedMemory};
use crate::transports::simulated::{Network, Simulated};
use crate::transports::{Transport, Waiter};

/// What an [`Instance`](crate::Instance) is given.
#[derive(Debug)]
pub struct World {
    pub(crate) facts: Facts,
    /// The key of the job.
    pub(crate) key: u64,
    pub(crate) transport: Transport,
    pub(crate) waiter: Waiter,
}

impl World {
    /// A process that nobody launched: rank 0 of 1.
    #[must_use]
    pub fn alone(threads: Threads) -> Self {
        let facts = Facts {
            rank: 0,
            size: 1,
            crowded: false,
            threads,
            application: None,
            host: process::host_name(),
            settings: Settings::default(),
            spreading: Spreading::BINOMIAL,
            placement: Placement::one_host(1),
        };
        // Without a number of its own a process can do everything but meet others that have none either.
        let key = process::random().unwrap_or_default();
        Self { facts, key, transport: Transport::Alone, waiter: Waiter::Alone(Arc::default()) }
    }

    /// Rank `rank` of a job of the launcher, with `directories` for a file transport's messages.
    ///
    /// # Errors
    /// When the job's directory cannot be used.
    pub fn in_job(
        job: &Arc<Job>,
        rank: u32,
        directories: Option<Directories>,
        threads: Threads,
    ) -> Result<Self> {
        let (shape, placement) = (job.shape(), job.placement().clone());
        let application = std::env::var(job::ENV_APPLICATION).ok().and_then(|text| text.parse().ok());
        let crowded = job.local_ranks().len() > shape.cores as usize;
        if !crowded && job.local_ranks().len() > 1 {
            // The system starts processes wherever it likes; two that wait for each other on one core stay there for long.
            process::start_on_core(job.placement().place_of(rank));
        }
        let mut facts = Facts {
            rank,
            size: placement.ranks(),
            crowded,
            threads,
            application,
            host: process::host_name(),
            settings: Settings::default(),
            spreading: Spreading { crowded, ..Spreading::BINOMIAL },
            placement,
        };
        let (transport, waiter) = match shape.transport {
            job::Transport::SharedMemory => {
                let transport = match job.has_post() {
                    false => Transport::SharedMemory(SharedMemory::new(Arc::clone(job), rank)),
                    true => Transport::Hosts(Box::new(Hosts::new(Arc::clone(job), rank).map_err(refused)?)),
                };
                (transport, Waiter::Doorbell(Arc::clone(job), rank))
            }
            job::Transport::File | job::Transport::Central => {
                let Some(directories) = directories else {
                    let detail = format!("{} is not set: files need a directory", job::ENV_DIRECTORY);
                    return Err(Error::new(MPI_ERR_OTHER, detail));
                };
                let files = FileTransport::new(directories, rank, job.key(), job.placement().clone())?;
                let waiter = Waiter::Inbox(files.inbox(), Arc::clone(job), rank);
                (Transport::File(files), waiter)
            }
        };
        facts.spreading.multicast = transport.multicast_lengths();
        facts.spreading.single_copies =
            shape.transport == job::Transport::SharedMemory && job.has_single_copies();
        Ok(Self { facts, key: job.key(), transport, waiter })
    }

    /// The same world with these settings.
    #[must_use]
    pub fn with(mut self, settings: Settings) -> Self {
        let crowded = self.facts.crowded;
        match &mut self.transport {
            Transport::SharedMemory(rings) => rings.choose(settings.long_messages, crowded),
            Transport::Hosts(hosts) => hosts.rings.choose(settings.long_messages, crowded),
            Transport::Alone | Transport::File(_) | Transport::Simulated(_) | Transport::Bridged(_) => {}
        }
        let in_pieces = settings.long_messages == Some(shared_memory::Algorithm::Pieces);
        self.facts.spreading.forced = settings.spreading;
        self.facts.spreading.single_copies &= !in_pieces;
        self.facts.settings = settings;
        self
    }

    /// Process `rank` of a simulation, on the hosts of `placement`.
    #[must_use]
    pub fn simulated(network: &Arc<Network>, rank: u32, placement: &Placement) -> Self {
        let facts = Facts {
            rank,
            size: placement.ranks(),
            crowded: true,
            threads: Threads::MEET,
            application: None,
            host: "simulated".to_owned(),
            settings: Settings::default(),
            spreading: Spreading::BINOMIAL,
            placement: placement.clone(),
        };
        let simulated = Simulated::new(Arc::clone(network), rank);
        let waiter = Waiter::Simulated(simulated.bell());
        Self { facts, key: 0, transport: Transport::Simulated(simulated), waiter }
    }
}

fn refused(error: postrider_os::error::Error) -> Error {
    Error::new(MPI_ERR_OTHER, error.to_string())
}
