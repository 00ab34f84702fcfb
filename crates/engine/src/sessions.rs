//! Sessions (MPI 5.0, section 11.3): what a part of a program opens to use MPI by itself.
//!
//! All sessions of a process share its instance. A session has an error handler, what it was given as hints, and a buffer
//! for the buffered sends of its communicators. Groups and communicators remember the session that they come from.

use crate::State;
use crate::communicators::{Group, Process};
use crate::environment::Handler;
use crate::error::{Error, Result};
use crate::info::Info;
use crate::point_to_point::Attached;
use postrider_abi::MPI_ERR_ARG;

/// A session.
#[derive(Debug)]
pub struct Session {
    /// Where errors go.
    pub handler: Handler,
    /// What the session has of the hints it was given.
    pub info: Info,
    pub(crate) attached: Option<Attached>,
}

impl Session {
    /// A session with this error handler and these hints.
    #[must_use]
    pub fn new(handler: Handler, info: Info) -> Self {
        Self { handler, info, attached: None }
    }
}

/// The process sets that every session has.
pub const PROCESS_SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

impl State {
    /// The processes of a process set.
    ///
    /// # Errors
    /// When there is no such set.
    pub fn process_set(&self, name: &str) -> Result<Group> {
        let [world, own] = PROCESS_SETS;
        if name.eq_ignore_ascii_case(world) {
            return Ok((*self.communicators.get(Self::WORLD)?.group).clone());
        }
        if name.eq_ignore_ascii_case(own) {
            return Ok(Group::range(Process(self.own), 1));
        }
        let sets = PROCESS_SETS.join(", ");
        Err(Error::new(MPI_ERR_ARG, format!("there is no process set {name:?}; there are: {sets}")))
    }
}
