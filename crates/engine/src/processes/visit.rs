//! A visit: this process is a guest of the post of another job, because that job's hosts are the way to processes elsewhere.
//!
//! Which job that is, its *carrier*, follows from the jobs that meet. Its own processes reach guests through their posts as they reach
//! each other, and guests use the post of their host in the same way (`postrider_os::hall`). A visit ends with its connection.

use std::sync::Arc;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::bridge::{Bridge, Side};
use postrider_os::hall::{Bye, Guest, RING_BYTES, Welcome};
use postrider_os::job::Job;
use postrider_os::port::{Connection, hall_of};

use super::connect::{LISTEN, refused};
use crate::error::{Error, Result};
use crate::transports::Transport;
use crate::transports::bridged::Posted;
use crate::{Instance, State};

/// A guest's side of a visit.
#[derive(Debug)]
pub(crate) struct Visit {
    /// This process's number there.
    pub number: u32,
    /// The carrier's segment on this host.
    pub job: Arc<Job>,
    connection: Connection,
}

impl Visit {
    /// Says that nothing more will be sent, and what was.
    pub fn say_bye(&mut self, balance: i64) {
        // A post that is gone need not know.
        let _ = self.connection.send(&Bye { balance }.encode());
    }
}

impl Instance {
    /// This process's number in the numbering of job `carrier`, which becomes its host if it is not yet.
    ///
    /// # Errors
    /// When that job has no post on this host.
    pub(super) fn number_at(&self, carrier: u64) -> Result<u32> {
        {
            let state = self.lock();
            if carrier == state.strangers.own_job {
                return Ok(state.own);
            }
            if let Some(visit) = state.strangers.visits.get(&carrier) {
                return Ok(visit.number);
            }
        }
        let Ok(mut connection) = Connection::to(&hall_of(carrier)) else {
            let detail = format!(
                "no process of the job that is to carry the messages runs on host {}: a job over several hosts can be \
                 connected with processes on these hosts only",
                self.facts.host
            );
            return Err(Error::new(MPI_ERR_OTHER, detail));
        };
        let own = self.waiter.job().map_err(refused)?;
        let own =
            own.ok_or_else(|| Error::new(MPI_ERR_OTHER, "a simulated process has no other job to meet"))?;
        let (_, directory) = self.means();
        let bridge = match directory {
            None => Some(Bridge::create(1, 1, RING_BYTES).map_err(refused)?),
            Some(_) => None,
        };
        let place = bridge.as_ref().map_or_else(String::new, Bridge::place);
        let guest = Guest { job: own.environment(), rank: self.facts.rank, bridge: place, directory };
        connection.send(&guest.encode()).map_err(refused)?;
        let welcome = loop {
            match connection.receive(LISTEN).map_err(refused)? {
                Some(words) => break Welcome::decode(&words),
                None => self.go_on()?,
            }
        };
        let welcome = welcome.ok_or_else(|| {
            Error::new(MPI_ERR_OTHER, "the other job was started by another version of postrider")
        })?;
        let job = Arc::new(Job::open(&welcome.job).map_err(refused)?);
        let number = welcome.number;
        self.with(|state| {
            match (&mut state.transport, bridge) {
                (Transport::File(files), _) => files.visit(carrier, welcome, job.placement().clone()),
                (_, Some(bridge)) => {
                    let ends = bridge.ends(Side::Left, 0, 0);
                    let posted = Posted::new(carrier, Arc::clone(&job), number, ends, bridge);
                    state.bridged().visit(posted.map_err(refused)?);
                }
                (_, None) => {
                    return Err(Error::new(MPI_ERR_OTHER, "files are needed to reach the other job"));
                }
            }
            state.strangers.visits.insert(carrier, Visit { number, job, connection });
            Ok(())
        })?;
        Ok(number)
    }
}

impl State {
    /// Says goodbye to all posts whose guest this process is.
    pub(crate) fn say_bye(&mut self) {
        for (&carrier, visit) in &mut self.strangers.visits {
            visit.say_bye(self.transport.leave(carrier));
        }
    }
}
