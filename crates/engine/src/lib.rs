//! MPI semantics in safe Rust: matching, datatypes, collectives, communicators, transports.
//!
//! An [`Instance`] is one MPI process: everything that the standard calls local state, behind one lock ([`State`]), and
//! a way to sleep that needs no lock. It is given its world ([`World`]) and holds no global, so that many of them fit in one
//! process with a simulated network. Folders carry the names of the standard's chapters; inside, the way is
//! chapters → `progress` → [`transports`].
//!
//! The lock is held while the state changes, and given up while a thread sleeps and while a callback of the user runs.
#![forbid(unsafe_code)]

#[macro_use]
mod algorithm;
pub mod bootstrap;
pub mod collectives;
pub mod communicators;
pub mod counters;
pub mod datatypes;
pub mod environment;
pub mod error;
pub mod external;
#[cfg(test)]
mod fuzz;
mod helper;
pub mod info;
pub mod objects;
pub mod one_sided;
pub mod operations;
pub mod partitioned;
pub mod point_to_point;
pub mod processes;
mod progress;
mod rest;
pub mod sessions;
pub mod settings;
pub mod topologies;
pub mod transports;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use postrider_abi::{
    MPI_Datatype, MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_OTHER, MPI_ERR_REQUEST, MPI_ERR_SESSION,
    MPI_ERR_TYPE, MPI_ERR_WIN,
};
use postrider_os::gate::{Gate, GateGuard, Threads};
use postrider_os::hosts::Placement;
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::wait::OwnBell;

pub use bootstrap::World;
use collectives::report::Report;
use collectives::spreading::Spreading;
use communicators::{Communicator, Group, Process};
use counters::Counters;
use datatypes::Datatype;
use objects::{Key, Table};
use one_sided::Window;
use operations::Operation;
use point_to_point::matching::Matching;
use point_to_point::{Announced, Arrived, Attached, Landings, MatchedMessage, Outgoing, Pool, Request};
use sessions::Session;
use transports::{Transport, Waiter};

/// One MPI process.
#[derive(Debug)]
pub struct Instance {
    state: Gate<State>,
    waiter: Waiter,
    /// What the helper of a process without a job sleeps on while the program is inside of MPI.
    helper: OwnBell,
    /// Whether the helper sleeps for long.
    helper_sleeps: AtomicBool,
    facts: Facts,
}

/// What does not change in the life of an instance.
#[derive(Clone, Debug)]
pub struct Facts {
    /// This process's rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Number of processes in `MPI_COMM_WORLD`.
    pub size: u32,
    /// Whether the host has fewer cores than ranks: then nobody spins.
    pub crowded: bool,
    /// Whether several threads call at once (`MPI_THREAD_MULTIPLE`).
    pub threads: Threads,
    /// Which part of the command line this process belongs to (`MPI_APPNUM`).
    pub application: Option<i32>,
    /// The host's name.
    pub host: String,
    /// What the user has set.
    pub settings: settings::Settings,
    /// How this process tells the others of its host what it has.
    pub spreading: Spreading,
    /// Which process runs on which of the job's hosts: processes of one host can share memory.
    pub placement: Placement,
}

impl Facts {
    /// The host of each process of a group. With processes of other jobs, which know hosts by other numbers, the hosts count as one.
    #[must_use]
    pub fn hosts_of(&self, group: &Group) -> Vec<u32> {
        let ours = group.greatest().is_none_or(|Process(greatest)| greatest < self.size);
        let host = |Process(process)| if ours { self.placement.host_of(process) } else { 0 };
        group.processes().map(host).collect()
    }
}

/// The local state of one MPI process.
#[derive(Debug)]
pub struct State {
    /// This process.
    own: u32,
    transport: Transport,
    /// The processes of other jobs that this one knows.
    strangers: processes::Strangers,
    /// What each peer's transport had no room for, in order.
    outgoing: Vec<VecDeque<Outgoing>>,
    /// How many things all of `outgoing` holds.
    backlog: usize,
    requests: Table<Request>,
    /// The requests of collective operations that go on beside the program.
    collectives: Vec<Key>,
    messages: Table<MatchedMessage>,
    matching: Matching<Key, Arrived>,
    /// Memory for messages that come before their receive.
    pool: Pool,
    /// Where the messages of short receives are to land.
    landings: Landings,
    /// Long messages of which it is not decided how they are to move.
    undecided: VecDeque<Announced>,
    /// Long messages that this process has announced, which it may write to receivers that compute.
    unmatched_sends: Vec<point_to_point::Unmatched>,
    /// Whether a message is sent whose sender waits for another one.
    crossing: bool,
    /// Who announced the message that was read last from its sender's memory.
    awaited_by: Option<u32>,
    /// The process's attached buffer.
    attached: Option<Attached>,
    /// Communicators, by key; [`State::WORLD`] and [`State::SELF`] are there from the beginning.
    pub communicators: Table<Communicator>,
    /// Sessions, by key.
    pub sessions: Table<Session>,
    /// The sessions that groups come from, by the groups' keys.
    pub sessions_of_groups: BTreeMap<Key, Key>,
    /// Groups, by key.
    pub groups: Table<Arc<Group>>,
    /// Derived datatypes, by key.
    pub datatypes: Table<DatatypeObject>,
    /// Names and attributes that the user gave to predefined datatypes, by the handle's number.
    pub predefined_datatypes: BTreeMap<MPI_Datatype, DatatypeObject>,
    /// User-defined operations, by key.
    pub operations: Table<Operation>,
    /// Windows, by key.
    pub windows: Table<Window>,
    /// The windows by the contexts of their packets.
    window_contexts: BTreeMap<u64, Key>,
    /// Attribute keys and attributes of datatypes.
    pub caching: communicators::Caching,
    /// How many packets have been taken.
    taken: u64,
    /// Whether the last look has left packets that have arrived.
    more: bool,
    /// Looks that the message announced last is worth, until one is fetched.
    patience: u32,
    /// The collectives so far, if somebody wants to know.
    report: Report,
    /// What is counted for tools.
    counters: Counters,
    /// How many operations have ended.
    completions: u64,
    /// Whether a helper is to make progress while the program is elsewhere.
    helping: bool,
    /// How many of the requests are persistent ones, which start others.
    persistent: usize,
    /// Whether it is the helper that makes progress at this moment.
    beside: bool,
    /// Threads of this process that sleep.
    sleepers: u32,
    /// In how many waits, one after the other, somebody has taken the core that was offered.
    offers_taken: u32,
    /// Whether that was so in the last one.
    offer_taken: bool,
    /// Waits that may have kept their core from others, where each rank should have one.
    guarded_waits: u32,
    /// Whether a wait has slept and has not returned.
    rests: bool,
    /// What this process says of its waiting.
    rest: rest::Rest,
    /// What a probe looks for that has not found it.
    probed: Option<(u64, point_to_point::matching::Pattern)>,
    /// The number of the next context that this process makes.
    next_context: u32,
    /// An address for packets without a body.
    nowhere: UserMemory,
    _nothing: OwnedMemory,
}

/// A datatype as its handle has it: the type, and what the user has put on it.
#[derive(Clone, Debug)]
pub struct DatatypeObject {
    /// The type itself.
    pub datatype: Arc<Datatype>,
    /// The name (`MPI_Type_set_name`).
    pub name: Vec<u8>,
    /// Attributes, by key.
    pub attributes: communicators::caching::Attributes,
}

impl State {
    /// `MPI_COMM_WORLD`.
    pub const WORLD: Key = Key(0);
    /// `MPI_COMM_SELF`.
    pub const SELF: Key = Key(1);
    /// The request of every send that was complete when it was started: it is there from the beginning and stays.
    pub const SENT: Key = Key(0);

    /// Operations and messages that are not at their end: requests, matched and unmatched messages, posted receives and
    /// packets that wait for room. None once everything has been received and completed.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.requests.len() - 1 + self.messages.len() + self.matching.waiting() + self.backlog
    }

    /// The longest message to process `peer` that travels with its envelope, without being announced.
    #[must_use]
    pub fn eager_bytes_max(&self, peer: u32) -> u64 {
        self.transport.limits(peer).eager_bytes_max
    }

    fn new(world: &mut World) -> Self {
        let mut nothing = OwnedMemory::new(1);
        let mut requests = Table::new(MPI_ERR_REQUEST, "request");
        let _ = requests.insert(Request::sent());
        let mut communicators = Table::new(MPI_ERR_COMM, "communicator");
        let all = Arc::new(Group::range(Process(0), world.facts.size));
        let own = Arc::new(Group::range(Process(world.facts.rank), 1));
        let _ = communicators.insert(Communicator::predefined(0, all, world.facts.rank, "MPI_COMM_WORLD"));
        let _ = communicators.insert(Communicator::predefined(1, own, 0, "MPI_COMM_SELF"));
        Self {
            own: world.facts.rank,
            strangers: processes::Strangers::new(world.key, world.facts.size),
            transport: std::mem::replace(&mut world.transport, Transport::Alone),
            outgoing: (0..world.facts.size).map(|_| VecDeque::new()).collect(),
            backlog: 0,
            requests,
            collectives: Vec::new(),
            messages: Table::new(MPI_ERR_REQUEST, "matched message"),
            matching: Matching::default(),
            pool: Pool::default(),
            landings: Landings::default(),
            undecided: VecDeque::new(),
            unmatched_sends: Vec::new(),
            crossing: false,
            awaited_by: None,
            attached: None,
            communicators,
            sessions: Table::new(MPI_ERR_SESSION, "session"),
            sessions_of_groups: BTreeMap::new(),
            groups: Table::new(MPI_ERR_GROUP, "group"),
            datatypes: Table::new(MPI_ERR_TYPE, "datatype"),
            predefined_datatypes: BTreeMap::new(),
            operations: Table::new(MPI_ERR_OP, "operation"),
            windows: Table::new(MPI_ERR_WIN, "window"),
            window_contexts: BTreeMap::new(),
            caching: communicators::Caching::default(),
            taken: 0,
            more: false,
            patience: 0,
            report: Report::default(),
            counters: Counters::default(),
            completions: 0,
            helping: false,
            persistent: 0,
            beside: false,
            sleepers: 0,
            offers_taken: 0,
            offer_taken: false,
            guarded_waits: 0,
            rests: false,
            rest: rest::Rest::default(),
            probed: None,
            next_context: 2,
            nowhere: UserMemory::of(&mut nothing),
            _nothing: nothing,
        }
    }
}

impl Instance {
    /// Brings a process to life in `world`.
    #[must_use]
    pub fn new(mut world: World) -> Self {
        let state = Gate::new(State::new(&mut world), world.facts.threads);
        Self {
            state,
            waiter: world.waiter,
            helper: OwnBell::default(),
            helper_sleeps: AtomicBool::new(false),
            facts: world.facts,
        }
    }

    /// What does not change.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    #[inline]
    pub(crate) fn lock(&self) -> GateGuard<'_, State> {
        self.state.enter()
    }

    /// Whether several threads may call at the same time.
    #[inline]
    pub(crate) fn threads_meet(&self) -> bool {
        self.state.meet()
    }

    /// From now on several threads may call at the same time: called by the program's thread, before it starts another one that will.
    pub fn let_threads_meet(&self) {
        self.state.let_meet();
    }

    /// Runs `action` on the state. Threads that sleep are woken if it ended an operation.
    ///
    /// # Errors
    /// Those of `action`.
    #[inline]
    pub fn with<T>(&self, action: impl FnOnce(&mut State) -> error::Result<T>) -> error::Result<T> {
        let mut state = self.lock();
        let before = state.completions;
        let result = action(&mut state);
        self.wake_others(&state, before);
        result
    }

    /// What is to be said at the end: a table, at process 0, if [`Settings::report`](settings::Settings::report) is set.
    #[must_use]
    pub fn report(&self) -> Option<String> {
        let wanted = self.facts.rank == 0 && self.facts.settings.report.is_some();
        wanted.then(|| self.lock().report.table())
    }

    /// `MPI_Finalize`'s part: everything that was sent has left this process.
    ///
    /// # Errors
    /// When waiting fails.
    pub fn drain(&self) -> error::Result<()> {
        self.wait_until(self.lock(), |state| {
            (state.backlog == 0 && !state.has_buffered_messages()).then_some(Ok(()))
        })
    }

    /// The program begins to use MPI: from now on this process counts as awake on its host.
    pub fn begin(&self) {
        self.waiter.begin();
    }

    /// The very end: processes of other jobs may take this one's end for a good one.
    pub fn leave(&self) {
        let mut state = self.lock();
        state.transport.uninvite(state.own);
        state.say_bye();
        state.settle_balance(&self.waiter);
        drop(state);
        self.waiter.leave();
    }
}

/// The error for a wait that nothing can end.
pub(crate) fn deadlock() -> error::Error {
    error::Error::new(
        MPI_ERR_OTHER,
        "this call waits for a message that cannot come: this process is the only one of its job and has only one \
         thread; if there should be more, start the program with `postrider run -n N`",
    )
}
