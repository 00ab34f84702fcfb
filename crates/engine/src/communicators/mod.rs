//! Groups, contexts, communicators, caching (MPI 5.0, chapter 7).
//!
//! A communicator is a group (two for an inter-communicator) and a context that no other communicator of these processes
//! has. A context is a number made by one process, the leader of the new communicator: its own rank and a count, so
//! that it is unique without anybody else being asked; the leader tells the others. The job's random key is mixed in, so
//! that it stays unique where jobs are connected. The lowest two bits of what travels in a packet say which of the communicator's message spaces it belongs to ([`Space`]).
//!
//! `create` and `duplicate` make communicators, [`group`] is the arithmetic of groups, [`caching`] keeps attributes.

pub mod caching;
pub(crate) mod create;
mod duplicate;
mod from_group;
pub mod group;

use std::cell::OnceCell;
use std::sync::Arc;

use postrider_abi::{MPI_ERR_COMM, MPI_PROC_NULL};

pub use caching::Caching;
pub(crate) use duplicate::Pending;
pub use group::{Group, Process};

use crate::collectives::arguments::Place;
use crate::collectives::nodes::Nodes;
use crate::collectives::select::Situation;
use crate::collectives::spreading::Spreading;
use crate::collectives::{Form, Plans};
use crate::environment::Handler;
use crate::error::{Error, Result};
use crate::info::Info;
use crate::objects::Key;
use crate::point_to_point::Attached;
use crate::topologies::Topology;
use crate::transports::wire::{Header, Kind};
use crate::{Facts, State};

/// A communicator, as one of its processes sees it.
#[derive(Debug)]
pub struct Communicator {
    context: u64,
    /// For what an inter-communicator does inside the local group; else the same as `context`.
    local_context: u64,
    /// The local group.
    pub group: Arc<Group>,
    /// This process's rank in the local group.
    pub rank: u32,
    /// The remote group of an inter-communicator.
    pub remote: Option<Arc<Group>>,
    /// Where errors go.
    pub handler: Handler,
    /// The name (`MPI_Comm_set_name`).
    pub name: Vec<u8>,
    /// The hints (`MPI_Comm_set_info`).
    pub info: Info,
    /// Attributes, by key.
    pub attributes: caching::Attributes,
    /// The virtual topology, which duplicates share.
    pub topology: Option<Arc<Topology>>,
    /// The session that it comes from, if any.
    pub session: Option<Key>,
    /// The attached buffer.
    pub(crate) attached: Option<Attached>,
    /// Collective operations of each form so far: the tags of the next ones.
    collectives: [i32; 2],
    /// The latest of its blocking collective calls.
    pub(crate) plans: Plans,
    /// How the local group is spread over hosts, once somebody has asked.
    nodes: OnceCell<Option<Nodes>>,
}

/// The message spaces of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// The user's point-to-point messages.
    PointToPoint = 0,
    /// Collective operations.
    Collective = 1,
    /// What the library says to itself when it makes communicators.
    Creation = 2,
    /// Where partitioned sends and receives meet.
    Partitioned = 3,
}

impl Space {
    /// Whether the context is one of this space.
    #[inline]
    pub(crate) fn has(self, context: u64) -> bool {
        context & Self::Partitioned as u64 == self as u64
    }
}

/// Where a message goes: which process, in which message space, from which rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub communicator: Key,
    pub peer: u32,
    pub context: u64,
    pub source: u32,
}

impl Route {
    /// The header of a message this way; the kind is to be set.
    #[inline]
    pub fn header(self, tag: i32) -> Header {
        Header { kind: Kind::Eager, context: self.context, source: self.source, tag, words: [0; 3] }
    }
}

impl Communicator {
    pub(crate) fn predefined(number: u64, group: Arc<Group>, rank: u32, name: &str) -> Self {
        Self { name: name.as_bytes().to_owned(), ..Self::new(number << 3, number << 3, group, rank, None) }
    }

    pub(crate) fn new(
        context: u64,
        local_context: u64,
        group: Arc<Group>,
        rank: u32,
        remote: Option<Arc<Group>>,
    ) -> Self {
        Self {
            context,
            local_context,
            group,
            rank,
            remote,
            handler: Handler::Fatal,
            name: Vec::new(),
            info: Info::default(),
            attributes: caching::Attributes::default(),
            topology: None,
            session: None,
            attached: None,
            collectives: [0; 2],
            plans: Plans::default(),
            nodes: OnceCell::new(),
        }
    }

    /// Number of processes in the local group.
    #[inline]
    #[must_use]
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// The group that ranks of point-to-point calls count in.
    #[inline]
    #[must_use]
    pub fn peers(&self) -> &Arc<Group> {
        self.remote.as_ref().unwrap_or(&self.group)
    }

    /// The process that rank `rank` of a point-to-point call means.
    ///
    /// # Errors
    /// When there is no such rank.
    #[inline]
    pub fn peer(&self, rank: i32) -> Result<u32> {
        let peers = self.peers();
        let process = u32::try_from(rank).ok().and_then(|rank| peers.process(rank));
        process
            .map(|process| process.0)
            .ok_or_else(|| crate::point_to_point::no_such_rank(rank, peers.size()))
    }

    /// The context of the user's point-to-point messages.
    #[inline]
    pub(crate) fn context(&self) -> u64 {
        self.context | Space::PointToPoint as u64
    }

    /// The context of a message space towards the peers, or inside the local group.
    pub(crate) fn context_of(&self, space: Space, local: bool) -> u64 {
        (if local { self.local_context } else { self.context }) | space as u64
    }

    /// Whether this is the same context as `other`'s: two handles of one communicator.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.context == other.context
    }

    /// This process in the local group, for schedules. The nodes are found once, and only in a job over several hosts.
    pub(crate) fn place(&self, facts: &Facts) -> Place<'_> {
        let nodes = match facts.placement.hosts() {
            1 => None,
            _ => {
                let find = || Nodes::new(facts.hosts_of(&self.group).into_iter(), facts.spreading);
                self.nodes.get_or_init(find).as_ref()
            }
        };
        let spreading =
            if nodes.is_none() && !self.spans_jobs(facts) { facts.spreading } else { Spreading::BINOMIAL };
        Place { rank: self.rank, size: self.size(), nodes, spreading }
    }

    /// What the choice of an algorithm in the local group depends on, besides bytes: the same for all its processes.
    pub(crate) fn situation(&self, place: Place, facts: &Facts) -> Situation {
        if self.spans_jobs(facts) { Situation::on_one_level(place.size) } else { Situation::of(place, facts) }
    }

    /// Whether processes of other jobs are in the local group. These do not know what this job's processes know of each other: whether they
    /// share cores, and what their transport can do.
    fn spans_jobs(&self, facts: &Facts) -> bool {
        self.group.greatest().is_some_and(|Process(greatest)| greatest >= facts.size)
    }

    /// The tag of the next collective operation of a form. Forms are counted apart, since blocking operations never match others
    /// (section 6.12): programs that mix them up in time work all the same.
    pub(crate) fn next_collective(&mut self, form: Form) -> i32 {
        let count = &mut self.collectives[form as usize];
        *count = (*count + 1) & (i32::MAX >> 1);
        *count << 1 | form as i32
    }
}

impl State {
    /// Where a point-to-point message to `destination` goes; none for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// When there is no such communicator or rank.
    #[inline]
    pub(crate) fn route(&self, communicator: Key, destination: i32) -> Result<Option<Route>> {
        let found = self.communicators.get(communicator)?;
        if destination == MPI_PROC_NULL {
            return Ok(None);
        }
        let peer = found.peer(destination)?;
        Ok(Some(Route { communicator, peer, context: found.context(), source: found.rank }))
    }

    /// A context that no other communicator has, made by this process.
    pub(crate) fn make_context(&mut self) -> u64 {
        let number = self.next_context;
        self.next_context += 1;
        let ours = (u64::from(self.own) + 1) << 32 | u64::from(number);
        (ours ^ self.job_key()) << 2
    }

    /// Takes a communicator away. Its attributes have been deleted by the caller.
    ///
    /// # Errors
    /// When it is predefined, or not there.
    pub fn free_communicator(&mut self, key: Key) -> Result<()> {
        if key == Self::WORLD || key == Self::SELF {
            return Err(Error::new(MPI_ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed"));
        }
        let communicator = self.communicators.remove(key)?;
        for context in [communicator.context, communicator.local_context] {
            for space in [Space::PointToPoint, Space::Collective, Space::Creation, Space::Partitioned] {
                self.matching.forget(context | space as u64);
            }
        }
        self.part_from_strangers();
        Ok(())
    }
}
