//! The collective calls (MPI 5.0, sections 6.3 to 6.11): from parsed arguments to a schedule that can be run.
//!
//! [`Calls`] is what a call sees of its communicator. It has a function for each collective, which checks what the standard
//! demands of the arguments, chooses the algorithm and returns the [`Call`] with its [`Schedule`]; nothing has been sent
//! then. Every form of a collective is planned the same way, by calling such a function, and has its number from then on.
//!
//! Arguments that the standard calls not significant at a process are not passed: the caller asks [`Calls::root`] first. A
//! `None` where a block may be in place is `MPI_IN_PLACE`. Every process takes a number for every operation, even if it has
//! nothing to do in it, since it tells the messages of one operation from those of the next.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use postrider_abi::{MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_INTERN, MPI_ERR_ROOT, MPI_PROC_NULL, MPI_ROOT};

use postrider_os::memory::UserMemory;

use super::arguments::{Block, Blocks, Contribution, InterPlace, Layout, Place, Root};
use super::data::{Data, Many, Operands, check_aliases, in_place, layout_of};
use super::kept::{Arguments, Arrays, Plan};
use super::nodes::Nodes;
use super::reduction::Reduction;
use super::report::Used;
use super::schedule::Schedule;
use super::script::{Call, Script, Side, Types};
use super::select::{self, Situation};
use super::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};
use crate::communicators::Communicator;
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::settings::Settings;
use crate::{Facts, Instance, State};

/// A collective operation of this process that has its number and can be run.
#[derive(Clone, Debug)]
pub struct Planned {
    pub(super) plan: Arc<Plan>,
    /// The operation's number in the communicator, the tag of its messages.
    pub(super) number: i32,
}

impl Planned {
    /// The communicator that it is an operation on.
    pub(crate) fn communicator(&self) -> Key {
        self.plan.script.communicator
    }
}

/// The forms of collective operations that are numbered apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Blocking ones.
    Blocking,
    /// Those that go on beside the program: nonblocking and persistent ones.
    Beside,
}

/// A collective call on a communicator, while its arguments are looked at.
#[derive(Debug)]
pub struct Calls<'a> {
    /// The local state, to look up handles in.
    pub state: &'a State,
    key: Key,
    pub(super) communicator: &'a Communicator,
    settings: &'a Settings,
    facts: &'a Facts,
    used: Cell<Option<Used>>,
    arrays: RefCell<Arrays>,
}

/// The root argument of a call, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rooted {
    /// On an intra-communicator: the root's rank, and whether it is this process.
    Intra {
        /// The root.
        root: u32,
        /// This process is it.
        here: bool,
    },
    /// On an inter-communicator.
    Inter(Root),
}

impl Rooted {
    /// Whether this process is the root: the side that is significant at the root only is so here.
    #[must_use]
    pub fn is_root(self) -> bool {
        matches!(self, Self::Intra { here: true, .. } | Self::Inter(Root::This))
    }

    /// Whether this process has a part: the side that is significant at all processes is so here. On an
    /// inter-communicator these are the processes of the group that the root is not in.
    #[must_use]
    pub fn is_part(self) -> bool {
        matches!(self, Self::Intra { .. } | Self::Inter(Root::Remote(_)))
    }
}

/// The two kinds of communicators, and this process in them.
enum Kind<'a> {
    Intra(Place<'a>),
    Inter(InterPlace),
}

impl Calls<'_> {
    fn kind(&self) -> Kind<'_> {
        match &self.communicator.remote {
            None => Kind::Intra(self.communicator.place(self.facts)),
            Some(remote) => {
                let local = Place::on_one_host(self.communicator.rank, self.communicator.size());
                Kind::Inter(InterPlace { local, remote_size: remote.size() })
            }
        }
    }

    fn situation(&self, place: Place) -> Situation {
        self.communicator.situation(place, self.facts)
    }

    /// Notes by which algorithm the call is done; `bytes` is what a process contributes or gets.
    fn note(&self, collective: &'static str, algorithm: &'static str, place: Place, bytes: i64) {
        if self.settings.report.is_none() {
            return;
        }
        let hosts = place.nodes.map_or(1, Nodes::count);
        self.used.set(Some(Used::new(collective, algorithm, (place.size, hosts), bytes)));
    }

    /// Number of processes that this one exchanges blocks with: the communicator's, or those of the remote group.
    #[must_use]
    pub fn peers(&self) -> u32 {
        self.communicator.peers().size()
    }

    /// Number of processes in the local group.
    #[must_use]
    pub fn local_size(&self) -> u32 {
        self.communicator.size()
    }

    /// The root argument (section 6.2.3).
    ///
    /// # Errors
    /// `MPI_ERR_ROOT`.
    pub fn root(&self, root: i32) -> Result<Rooted> {
        let peers = self.peers();
        let rank = u32::try_from(root).ok().filter(|rank| *rank < peers);
        match (self.kind(), root, rank) {
            (Kind::Intra(place), _, Some(root)) => Ok(Rooted::Intra { root, here: place.rank == root }),
            (Kind::Inter(_), _, Some(root)) => Ok(Rooted::Inter(Root::Remote(root))),
            (Kind::Inter(_), MPI_ROOT, _) => Ok(Rooted::Inter(Root::This)),
            (Kind::Inter(_), MPI_PROC_NULL, _) => Ok(Rooted::Inter(Root::Neighbour)),
            (Kind::Intra(_), ..) => Err(no_such_root(root, peers, "")),
            (Kind::Inter(_), ..) => {
                Err(no_such_root(root, peers, "of the remote group, MPI_ROOT or MPI_PROC_NULL "))
            }
        }
    }

    /// The numbers of two blocks of a buffer that has one for each peer: this process's, and the first.
    fn own_and_first(&self) -> [u32; 2] {
        let own = if self.communicator.remote.is_none() { self.communicator.rank } else { 0 };
        [own, 0]
    }

    /// The call depends on what is in an array of `bytes` bytes.
    pub fn depends_on(&self, array: UserMemory, bytes: usize) {
        self.arrays.borrow_mut().note(array, bytes);
    }

    /// The call depends on objects that may be freed, so that their handles mean others.
    pub fn depends_on_handles(&self) {
        self.arrays.borrow_mut().forbid();
    }

    fn nothing(&self) -> Side {
        Side { memory: self.state.nowhere, types: Types::None }
    }

    pub(super) fn call(&self, send: Option<Side>, receive: Option<Side>) -> Call {
        Call {
            communicator: self.key,
            send: send.unwrap_or_else(|| self.nothing()),
            receive: receive.unwrap_or_else(|| self.nothing()),
            operation: None,
        }
    }

    /// `MPI_Barrier` (section 6.3).
    ///
    /// # Errors
    /// None of its own.
    pub fn barrier(&self) -> Result<(Call, Schedule)> {
        let schedule = match self.kind() {
            Kind::Intra(place) => {
                let choose = || select::barrier(self.situation(place));
                let algorithm = self.settings.barrier.unwrap_or_else(choose);
                self.note("MPI_Barrier", algorithm.name(), place, 0);
                barrier::barrier(algorithm, place)
            }
            Kind::Inter(place) => barrier::inter(place),
        };
        Ok((self.call(None, None), schedule))
    }

    /// `MPI_Bcast` (section 6.4). `data` is none where it is not significant: in the root's group beside the root.
    ///
    /// # Errors
    /// Wrong counts or buffers.
    pub fn broadcast(&self, root: Rooted, data: Option<Data>) -> Result<(Call, Schedule)> {
        let block = data.as_ref().map(Data::block).transpose()?.unwrap_or(NO_BLOCK);
        let schedule = match (self.kind(), root) {
            (Kind::Intra(place), Rooted::Intra { root, .. }) => {
                let choose = || select::broadcast(self.situation(place), block.bytes());
                let algorithm = self.settings.broadcast.unwrap_or_else(choose);
                self.note("MPI_Bcast", algorithm.name(), place, block.bytes());
                broadcast::broadcast(algorithm, place, root, block)
            }
            (Kind::Inter(place), Rooted::Inter(root)) => broadcast::inter(place, root, block),
            _ => return Err(mixed()),
        };
        Ok((self.call(None, data.map(Data::side)), schedule))
    }

    /// `MPI_Gather` (section 6.5). `send` is significant where [`Rooted::is_part`] and in place allowed at the root;
    /// `receive` is there where [`Rooted::is_root`].
    ///
    /// # Errors
    /// Wrong counts or buffers.
    pub fn gather(
        &self,
        root: Rooted,
        send: Option<Data>,
        receive: Option<Data>,
    ) -> Result<(Call, Schedule)> {
        let (Kind::Intra(place), Rooted::Intra { root: at, .. }) = (self.kind(), root) else {
            return self.gatherv(root, send, receive.map(Many::equal));
        };
        let from = contribution(send.as_ref(), root.is_root())?;
        let into = receive.as_ref().map(Data::block).transpose()?;
        if let (Some(send), Some(receive)) = (&send, &receive) {
            check_aliases(self.own_and_first().map(|rank| (send.begins(0), receive.begins(rank))))?;
        }
        let block_bytes = into.map_or_else(|| bytes_of(from), |block| block.bytes());
        let choose = || select::gather(self.situation(place), block_bytes);
        let algorithm = self.settings.gather.unwrap_or_else(choose);
        self.note("MPI_Gather", algorithm.name(), place, block_bytes);
        let schedule = gather::gather(algorithm, place, at, from, into);
        Ok((self.call(send.map(Data::side), receive.map(Data::side)), schedule))
    }

    /// `MPI_Gatherv` (section 6.5); arguments as in [`Calls::gather`].
    ///
    /// # Errors
    /// Wrong counts or buffers.
    pub fn gatherv(
        &self,
        root: Rooted,
        send: Option<Data>,
        receive: Option<Many>,
    ) -> Result<(Call, Schedule)> {
        let may_be_missing = root.is_root() || !root.is_part();
        let from = contribution(send.as_ref(), may_be_missing)?;
        receive.as_ref().map_or(Ok(()), |receive| receive.check(self.peers()))?;
        let into = receive.as_ref().map(Many::blocks);
        if let (Some(send), Some(receive)) = (&send, &receive) {
            check_aliases(self.own_and_first().map(|rank| (send.begins(0), receive.begins(rank))))?;
        }
        let schedule = match (self.kind(), root) {
            (Kind::Intra(place), Rooted::Intra { root, .. }) => {
                self.note("MPI_Gatherv", gather::Algorithm::Linear.name(), place, bytes_of(from));
                gather::gatherv(place, root, from, into)
            }
            (Kind::Inter(place), Rooted::Inter(root)) => gather::inter(place, root, from, into),
            _ => return Err(mixed()),
        };
        Ok((self.call(send.map(Data::side), receive.map(Many::side)), schedule))
    }

    /// `MPI_Scatter` (section 6.6). `send` is there where [`Rooted::is_root`]; `receive` is significant where
    /// [`Rooted::is_part`], and in place allowed at the root.
    ///
    /// # Errors
    /// Wrong counts or buffers.
    pub fn scatter(
        &self,
        root: Rooted,
        send: Option<Data>,
        receive: Option<Data>,
    ) -> Result<(Call, Schedule)> {
        let (Kind::Intra(place), Rooted::Intra { root: at, here }) = (self.kind(), root) else {
            return self.scatterv(root, send.map(Many::equal), receive);
        };
        let from = send.as_ref().map(Data::block).transpose()?;
        let into = part(receive.as_ref(), here)?;
        if let (Some(send), Some(receive)) = (&send, &receive) {
            check_aliases(self.own_and_first().map(|rank| (send.begins(rank), receive.begins(0))))?;
        }
        let block_bytes = from.or(into).map_or(0, |block| block.bytes());
        let choose = || select::scatter(self.situation(place), block_bytes);
        let algorithm = self.settings.scatter.unwrap_or_else(choose);
        self.note("MPI_Scatter", algorithm.name(), place, block_bytes);
        let schedule = scatter::scatter(algorithm, place, at, from, into);
        Ok((self.call(send.map(Data::side), receive.map(Data::side)), schedule))
    }

    /// `MPI_Scatterv` (section 6.6); arguments as in [`Calls::scatter`].
    ///
    /// # Errors
    /// Wrong counts or buffers.
    pub fn scatterv(
        &self,
        root: Rooted,
        send: Option<Many>,
        receive: Option<Data>,
    ) -> Result<(Call, Schedule)> {
        let into = part(receive.as_ref(), root.is_root() || !root.is_part())?;
        send.as_ref().map_or(Ok(()), |send| send.check(self.peers()))?;
        let from = send.as_ref().map(Many::blocks);
        if let (Some(send), Some(receive)) = (&send, &receive) {
            check_aliases(self.own_and_first().map(|rank| (send.begins(rank), receive.begins(0))))?;
        }
        let schedule = match (self.kind(), root) {
            (Kind::Intra(place), Rooted::Intra { root, .. }) => {
                let bytes = into.map_or(0, |block| block.bytes());
                self.note("MPI_Scatterv", scatter::Algorithm::Linear.name(), place, bytes);
                scatter::scatterv(place, root, from, into)
            }
            (Kind::Inter(place), Rooted::Inter(root)) => scatter::inter(place, root, from, into),
            _ => return Err(mixed()),
        };
        Ok((self.call(send.map(Many::side), receive.map(Data::side)), schedule))
    }

    /// `MPI_Allgather` and `MPI_Allgatherv` (section 6.7); `send` is none in place.
    ///
    /// # Errors
    /// Wrong counts or buffers.
    pub fn allgather(&self, send: Option<Data>, receive: Many) -> Result<(Call, Schedule)> {
        let kind = self.kind();
        let from = contribution(send.as_ref(), matches!(kind, Kind::Intra(_)))?;
        receive.check(self.peers())?;
        if let Some(send) = &send {
            check_aliases(self.own_and_first().map(|rank| (send.begins(0), receive.begins(rank))))?;
        }
        let into = receive.blocks();
        let schedule = match kind {
            Kind::Intra(place) => {
                let choose = || select::allgather(self.situation(place), into.total_bytes(place.size));
                let algorithm = self.settings.allgather.unwrap_or_else(choose);
                self.note("MPI_Allgather(v)", algorithm.name(), place, into.bytes(place.rank));
                allgather::allgather(algorithm, place, from, into)
            }
            Kind::Inter(place) => allgather::inter(place, from, into),
        };
        Ok((self.call(send.map(Data::side), Some(receive.side())), schedule))
    }

    /// `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallw` (section 6.8); `send` is none in place.
    ///
    /// # Errors
    /// Wrong counts or buffers.
    pub fn alltoall(&self, send: Option<Many>, receive: Many) -> Result<(Call, Schedule)> {
        send.as_ref().map_or(Ok(()), |send| send.check(self.peers()))?;
        receive.check(self.peers())?;
        if let Some(send) = &send {
            check_aliases(self.own_and_first().map(|rank| (send.begins(rank), receive.begins(rank))))?;
        }
        let (from, into) = (send.as_ref().map(Many::blocks), receive.blocks());
        let schedule = match (self.kind(), from) {
            (Kind::Intra(place), from) => {
                let choose = || match into {
                    Blocks::Equal(block) => select::alltoall(self.situation(place), block.bytes()),
                    Blocks::Varying { .. } | Blocks::General { .. } => select::alltoallv(),
                };
                let algorithm = self.settings.alltoall.unwrap_or_else(choose);
                self.note("MPI_Alltoall(v,w)", algorithm.name(), place, into.bytes(place.rank));
                alltoall::alltoall(algorithm, place, from, into)
            }
            (Kind::Inter(place), Some(from)) => alltoall::inter(place, from, into),
            (Kind::Inter(_), None) => return Err(in_place()),
        };
        Ok((self.call(send.map(Many::side), Some(receive.side())), schedule))
    }

    /// `MPI_Reduce` (section 6.9.1). `operands` are none where they are not significant: in the root's group beside the
    /// root, on an inter-communicator.
    ///
    /// # Errors
    /// Wrong counts, operations or buffers.
    pub fn reduce(&self, root: Rooted, operands: Option<Operands>) -> Result<(Call, Schedule)> {
        let Some(mut operands) = operands else {
            return Ok((self.call(None, None), Schedule::with_capacity(0)));
        };
        if root == Rooted::Inter(Root::This) {
            // The root of an inter-communicator only receives.
            operands.send = None;
        } else if operands.send.is_none() && !root.is_root() {
            return Err(in_place());
        }
        operands.check(operands.count, root.is_root())?;
        let reduction = reduction(&operands, operands.count);
        let schedule = match (self.kind(), root) {
            (Kind::Intra(place), Rooted::Intra { root, .. }) => {
                let choose = || select::reduce(self.situation(place), reduction.bytes(), reduction.count);
                let algorithm = self.settings.reduce.unwrap_or_else(choose);
                self.note("MPI_Reduce", algorithm.name(), place, reduction.bytes());
                reduce::reduce(algorithm, place, root, reduction)
            }
            (Kind::Inter(place), Rooted::Inter(root)) => reduce::inter(place, root, reduction),
            _ => return Err(mixed()),
        };
        Ok((self.reducing(operands), schedule))
    }

    /// `MPI_Allreduce` (section 6.9.6).
    ///
    /// # Errors
    /// Wrong counts, operations or buffers.
    pub fn allreduce(&self, operands: Operands) -> Result<(Call, Schedule)> {
        operands.check(operands.count, true)?;
        let reduction = reduction(&operands, operands.count);
        let schedule = match self.kind() {
            Kind::Intra(place) => {
                let choose = || select::allreduce(self.situation(place), reduction.bytes(), reduction.count);
                let algorithm = self.settings.allreduce.unwrap_or_else(choose);
                self.note("MPI_Allreduce", algorithm.name(), place, reduction.bytes());
                allreduce::allreduce(algorithm, place, reduction)
            }
            Kind::Inter(_) if reduction.in_place => return Err(in_place()),
            Kind::Inter(place) => allreduce::inter(place, reduction),
        };
        Ok((self.reducing(operands), schedule))
    }

    /// `MPI_Reduce_scatter_block` (section 6.10.1): the count of `operands` is that of a process's block.
    ///
    /// # Errors
    /// Wrong counts, operations or buffers.
    pub fn reduce_scatter_block(&self, operands: Operands) -> Result<(Call, Schedule)> {
        let parts = reduce_scatter::Parts::Equal(operands.count);
        self.reduce_in_parts(operands, parts)
    }

    /// `MPI_Reduce_scatter` (section 6.10.2): `counts` are those of the blocks of the local group's processes; the count of
    /// `operands` is not looked at.
    ///
    /// # Errors
    /// Wrong counts, operations or buffers.
    pub fn reduce_scatter(&self, operands: Operands, counts: &[i64]) -> Result<(Call, Schedule)> {
        if let Some(count) = counts.iter().find(|count| **count < 0) {
            return Err(Error::new(MPI_ERR_COUNT, format!("a count is {count}; it must not be negative")));
        }
        self.reduce_in_parts(Operands { count: 0, ..operands }, reduce_scatter::Parts::Varying(counts))
    }

    fn reduce_in_parts(&self, operands: Operands, parts: reduce_scatter::Parts) -> Result<(Call, Schedule)> {
        let total = parts.total(self.local_size());
        let own = match parts {
            reduce_scatter::Parts::Equal(count) => count,
            reduce_scatter::Parts::Varying(counts) => counts[self.communicator.rank as usize],
        };
        operands.check(total, own > 0 || operands.send.is_none())?;
        let reduction = reduction(&operands, total);
        let schedule = match self.kind() {
            Kind::Intra(place) => {
                let choose = || select::reduce_scatter(self.situation(place), reduction.bytes());
                let algorithm = self.settings.reduce_scatter.unwrap_or_else(choose);
                self.note("MPI_Reduce_scatter(_block)", algorithm.name(), place, reduction.bytes());
                reduce_scatter::reduce_scatter(algorithm, place, parts, reduction)
            }
            Kind::Inter(_) if reduction.in_place => return Err(in_place()),
            Kind::Inter(place) => reduce_scatter::inter(place, parts, reduction),
        };
        Ok((self.reducing(operands), schedule))
    }

    /// `MPI_Scan` (section 6.11.1).
    ///
    /// # Errors
    /// Wrong counts, operations or buffers; an inter-communicator.
    pub fn scan(&self, operands: Operands) -> Result<(Call, Schedule)> {
        self.prefix("MPI_Scan", operands, scan::scan, true)
    }

    /// `MPI_Exscan` (section 6.11.2).
    ///
    /// # Errors
    /// Wrong counts, operations or buffers; an inter-communicator.
    pub fn exscan(&self, operands: Operands) -> Result<(Call, Schedule)> {
        // The receive buffer of rank 0 is not significant, unless it is where the operand is.
        let receives = self.communicator.rank > 0 || operands.send.is_none();
        self.prefix("MPI_Exscan", operands, scan::exscan, receives)
    }

    fn prefix(
        &self,
        collective: &'static str,
        operands: Operands,
        build: fn(scan::Algorithm, Place, Reduction) -> Schedule,
        receives: bool,
    ) -> Result<(Call, Schedule)> {
        let Kind::Intra(place) = self.kind() else {
            let detail = "prefix reductions are not defined on inter-communicators";
            return Err(Error::new(MPI_ERR_COMM, detail));
        };
        operands.check(operands.count, receives)?;
        let algorithm = self.settings.scan.unwrap_or_else(|| select::scan(self.situation(place)));
        let reduction = reduction(&operands, operands.count);
        self.note(collective, algorithm.name(), place, reduction.bytes());
        let schedule = build(algorithm, place, reduction);
        Ok((self.reducing(operands), schedule))
    }

    fn reducing(&self, operands: Operands) -> Call {
        Call {
            communicator: self.key,
            send: Side { memory: operands.send.unwrap_or(self.state.nowhere), types: Types::None },
            receive: Side { memory: operands.receive, types: Types::One(operands.datatype) },
            operation: Some((operands.operation, operands.handle)),
        }
    }
}

fn bytes_of(contribution: Contribution) -> i64 {
    match contribution {
        Contribution::Send(block) => block.bytes(),
        Contribution::InPlace => 0,
    }
}

const NO_BLOCK: Block = Block { count: 0, layout: Layout { size: 0, extent: 0, contiguous: true } };

fn reduction(operands: &Operands, count: i64) -> Reduction {
    Reduction {
        count,
        layout: layout_of(&operands.datatype),
        commutative: operands.operation.is_commutative(),
        in_place: operands.send.is_none(),
    }
}

/// What this process contributes; none is in place, or not significant.
fn contribution(send: Option<&Data>, may_be_missing: bool) -> Result<Contribution> {
    match send {
        Some(data) => Ok(Contribution::Send(data.block()?)),
        None if may_be_missing => Ok(Contribution::InPlace),
        None => Err(in_place()),
    }
}

/// The block that this process receives; none is in place, or not significant.
fn part(receive: Option<&Data>, may_be_missing: bool) -> Result<Option<Block>> {
    match receive {
        None if !may_be_missing => Err(in_place()),
        receive => receive.map(Data::block).transpose(),
    }
}

#[cold]
fn no_such_root(root: i32, size: u32, which: &str) -> Error {
    Error::new(MPI_ERR_ROOT, format!("the root is {root}; it must be a rank {which}from 0 to {}", size - 1))
}

/// A root that was checked for another kind of communicator.
#[cold]
fn mixed() -> Error {
    Error::new(MPI_ERR_INTERN, "the root was not checked for this communicator")
}

impl State {
    /// Counts an operation, and returns its number.
    #[inline]
    fn count_collective(&mut self, communicator: Key, form: Form, used: Option<Used>) -> Result<i32> {
        if let Some(used) = used {
            self.report.count(used);
        }
        self.counters.collectives += 1;
        Ok(self.communicators.get_mut(communicator)?.next_collective(form))
    }
}

impl State {
    /// Keeps a plan whose operation is over for the next call with the same arguments.
    #[inline]
    pub(super) fn keep_plan(&mut self, plan: Arc<Plan>) {
        if plan.arguments.is_some()
            && let Ok(found) = self.communicators.get_mut(plan.script.communicator)
        {
            found.plans.keep(plan);
        }
    }
}

impl Instance {
    /// Plans a collective operation: looks at the arguments and gives it its number. With arguments whose meaning never changes
    /// the plan is one that was kept, if there is one.
    ///
    /// # Errors
    /// When there is no such communicator, or those of `prepare`.
    #[inline]
    pub(super) fn plan(
        &self,
        state: &mut State,
        communicator: Key,
        (form, arguments): (Form, Option<Arguments>),
        prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
    ) -> Result<Planned> {
        let plans = &mut state.communicators.get_mut(communicator)?.plans;
        let plan = match arguments.as_ref().and_then(|arguments| plans.take(arguments)) {
            Some(plan) => plan,
            None => Arc::new(self.make_plan(state, communicator, arguments, prepare)?),
        };
        let number = state.count_collective(communicator, form, plan.used)?;
        Ok(Planned { plan, number })
    }

    fn make_plan(
        &self,
        state: &State,
        communicator: Key,
        arguments: Option<Arguments>,
        prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
    ) -> Result<Plan> {
        let calls = Calls {
            state,
            key: communicator,
            communicator: state.communicators.get(communicator)?,
            settings: &self.facts.settings,
            facts: &self.facts,
            used: Cell::new(None),
            arrays: RefCell::new(Arrays::new(arguments.is_some())),
        };
        let (call, schedule) = prepare(&calls)?;
        let (used, arrays) = (calls.used.get(), calls.arrays.into_inner());
        let arguments = arguments.filter(|_| arrays.may_be_kept());
        Ok(Plan { arguments, arrays, script: Script::new(state, call, &schedule)?, used })
    }

    /// A blocking collective operation.
    ///
    /// # Errors
    /// When there is no such communicator, and those of `prepare`; when a message does not fit or communication fails.
    pub fn collective(
        &self,
        communicator: Key,
        arguments: Option<Arguments>,
        prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
    ) -> Result<()> {
        let mut state = self.lock();
        let of = (Form::Blocking, arguments);
        let Planned { plan, number } = self.plan(&mut state, communicator, of, prepare)?;
        self.run_script(state, &plan.script, number)?.keep_plan(plan);
        Ok(())
    }
}
