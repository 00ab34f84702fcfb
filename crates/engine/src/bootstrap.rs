//! Where a process finds itself: alone, in a job of the launcher, or in a simulation.

use std::path::PathBuf;
use std::sync::Arc;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::gate::Threads;
use postrider_os::job::{self, Job};
use postrider_os::process;
use postrider_os::wait::OwnBell;

use crate::Facts;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::transports::file::FileTransport;
use crate::transports::shared_memory::SharedMemory;
use crate::transports::simulated::{Network, Simulated};
use crate::transports::{Transport, Waiter};

/// What an [`Instance`](crate::Instance) is given.
#[derive(Debug)]
pub struct World {
    pub(crate) facts: Facts,
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
            host_number: 0,
        };
        Self { facts, transport: Transport::Alone, waiter: Waiter::Alone(Arc::new(OwnBell::default())) }
    }

    /// Rank `rank` of a job of the launcher, with `directory` for a file transport's messages.
    ///
    /// # Errors
    /// When the job's directory cannot be used.
    pub fn in_job(job: &Arc<Job>, rank: u32, directory: Option<PathBuf>, threads: Threads) -> Result<Self> {
        let shape = job.shape();
        let application = std::env::var(job::ENV_APPLICATION).ok().and_then(|text| text.parse().ok());
        let facts = Facts {
            rank,
            size: shape.ranks,
            crowded: shape.ranks > shape.cores,
            threads,
            application,
            host: process::host_name(),
            settings: Settings::default(),
            host_number: 0,
        };
        let (transport, waiter) = match shape.transport {
            job::Transport::SharedMemory => {
                let rings = SharedMemory::new(Arc::clone(job), rank);
                (Transport::SharedMemory(rings), Waiter::Doorbell(Arc::clone(job), rank))
            }
            job::Transport::File => {
                let Some(directory) = directory else {
                    let detail = format!("{} is not set: files need a directory", job::ENV_DIRECTORY);
                    return Err(Error::new(MPI_ERR_OTHER, detail));
                };
                let files = FileTransport::new(directory, rank, shape.ranks)?;
                let waiter = Waiter::Inbox(files.inbox(), Arc::clone(job));
                (Transport::File(files), waiter)
            }
        };
        Ok(Self { facts, transport, waiter })
    }

    /// The same world with these settings.
    #[must_use]
    pub fn with(mut self, settings: Settings) -> Self {
        if let Transport::SharedMemory(rings) = &mut self.transport {
            rings.choose(settings.long_messages, self.facts.crowded);
        }
        self.facts.settings = settings;
        self
    }

    /// Process `rank` of `size` of a simulation.
    #[must_use]
    pub fn simulated(network: &Arc<Network>, rank: u32, size: u32) -> Self {
        let facts = Facts {
            rank,
            size,
            crowded: true,
            threads: Threads::MEET,
            application: None,
            host: "simulated".to_owned(),
            settings: Settings::default(),
            host_number: 0,
        };
        let simulated = Simulated::new(Arc::clone(network), rank);
        let waiter = Waiter::Simulated(simulated.bell());
        Self { facts, transport: Transport::Simulated(simulated), waiter }
    }
}
