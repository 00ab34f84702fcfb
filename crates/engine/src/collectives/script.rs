//! A schedule with everything filled in that the executor would have to look up again and again.
//!
//! A [`Schedule`] names peers by rank and memory by buffer; a [`Script`] has the ways that the messages go, the addresses, and which runs of
//! bytes are moved. It is made once for a call, and run as often as the call is kept or its request is started.

use std::ops::Range;
use std::sync::Arc;

use postrider_abi::{MPI_BYTE, MPI_Datatype, MPI_ERR_INTERN};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::schedule::{self, Buffer as Where, Peer, Schedule, Scratch, Span, Step, TypeOf};
use crate::State;
use crate::communicators::{Communicator, Route, Space};
use crate::datatypes::{Datatype, copy};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::operations::Operation;
use crate::point_to_point::Buffer;

/// What is copied between two looks at messages that go on meanwhile; a copy that is longer waits until all messages are started.
pub(super) const COPY_BYTES: usize = 64 << 10;

/// The most receives of a round that may land in short ways: for each message all of them are looked at.
const LANDINGS_MAX: usize = 8;

/// The arguments of a collective call that a schedule does not hold.
#[derive(Clone, Debug)]
pub struct Call {
    /// The communicator.
    pub communicator: Key,
    /// The send side; in place and where it is not significant, anything.
    pub send: Side,
    /// The receive side.
    pub receive: Side,
    /// The operation of a reduction, and the handle of its datatype, which a user's function gets.
    pub operation: Option<(Operation, MPI_Datatype)>,
}

/// One side of a collective call.
#[derive(Clone, Debug)]
pub struct Side {
    /// The buffer's address.
    pub memory: UserMemory,
    /// The datatype, or one for each peer.
    pub types: Types,
}

/// The datatypes of one side.
#[derive(Clone, Debug)]
pub enum Types {
    /// One for all.
    One(Arc<Datatype>),
    /// One for each peer: the w forms.
    Each(Vec<Arc<Datatype>>),
    /// None: the side is not significant, or its spans are counted in the other side's datatype.
    None,
}

/// The scratch memory of a schedule: of each buffer the address of element 0, and the memory itself.
type ScratchMemory = Vec<(UserMemory, OwnedMemory)>;

impl Call {
    fn datatype(&self, of: TypeOf) -> Option<&Arc<Datatype>> {
        let (side, index) = match of {
            TypeOf::Send => (&self.send, None),
            TypeOf::Receive => (&self.receive, None),
            TypeOf::SendW(peer) => (&self.send, Some(peer)),
            TypeOf::ReceiveW(peer) => (&self.receive, Some(peer)),
            TypeOf::Packed => return None,
        };
        match (&side.types, index) {
            (Types::One(datatype), _) => Some(datatype),
            (Types::Each(datatypes), index) => datatypes.get(index.unwrap_or(0) as usize),
            (Types::None, _) => None,
        }
    }

    /// Memory for the scratch buffers of `schedule`.
    fn scratch_of(&self, schedule: &Schedule) -> ScratchMemory {
        let place = |scratch: &Scratch| match *scratch {
            Scratch::Bytes(bytes) => {
                let mut memory = OwnedMemory::new(bytes as usize);
                (UserMemory::of(&mut memory), memory)
            }
            Scratch::Elements { count, datatype } => match self.datatype(datatype) {
                None => {
                    let mut memory = OwnedMemory::new(count as usize);
                    (UserMemory::of(&mut memory), memory)
                }
                Some(datatype) => {
                    let others = (count - 1).max(0);
                    let bytes = datatype.true_extent() + others * datatype.extent().abs();
                    let mut memory = OwnedMemory::new(bytes.max(0) as usize);
                    let lowest = datatype.true_lb() + (others * datatype.extent()).min(0);
                    (UserMemory::of(&mut memory).offset(-lowest), memory)
                }
            },
        };
        schedule.scratch().iter().map(place).collect()
    }
}

/// Elements somewhere.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    memory: UserMemory,
    count: i64,
    datatype: Arc<Datatype>,
}

/// One thing to do.
#[derive(Debug)]
pub(super) enum Act {
    /// Start sending.
    Send { route: Route, from: Buffer },
    /// Start sending the same to several processes.
    SendAlike { routes: Vec<Route>, from: Buffer },
    /// Start receiving what rank `source` sends in a context.
    Receive { context: u64, source: u32, into: Buffer },
    /// Copy bytes from one run to another.
    Move { from: UserMemory, into: UserMemory, bytes: usize },
    /// Copy elements.
    Copy { from: Elements, into: Elements },
    /// Combine elements of one datatype.
    Reduce { from: UserMemory, into: Elements },
}

/// A round of a schedule: its parts in the list of acts.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// What is started.
    pub communication: Range<usize>,
    /// Copies that are done meanwhile, and messages go on.
    pub copies: Range<usize>,
    /// Copies and reductions afterwards.
    pub local: Range<usize>,
    /// How many of the first acts of the communication are sends that cross: a long one leaves while another is awaited.
    pub crossing: usize,
    /// How many of the first acts of the communication are receives whose messages may land in short ways; all of its receives, or none.
    pub landing: usize,
}

/// What one process does in a collective operation.
#[derive(Debug)]
pub(crate) struct Script {
    pub(super) communicator: Key,
    pub(super) acts: Vec<Act>,
    pub(super) rounds: Vec<Round>,
    /// The operation of a reduction, and the handle of its datatype.
    pub(super) operation: Option<(Operation, MPI_Datatype)>,
    pub(super) scratch: ScratchMemory,
}

impl Script {
    /// Fills in `schedule` with the arguments of `call`.
    ///
    /// # Errors
    /// When there is no such communicator, or the schedule is not for it.
    pub fn new(state: &State, call: Call, schedule: &Schedule) -> Result<Self> {
        let found = state.communicators.get(call.communicator)?;
        let scratch = call.scratch_of(schedule);
        let mut writer = Writer { state, found, call: &call, scratch: &scratch, acts: Vec::new() };
        let rounds: Result<Vec<Round>> = schedule.rounds().map(|round| writer.round(&round)).collect();
        let (acts, rounds) = (writer.acts, rounds?);
        Ok(Self { communicator: call.communicator, acts, rounds, operation: call.operation, scratch })
    }

    /// Bytes of scratch memory.
    pub fn scratch_bytes(&self) -> usize {
        self.scratch.iter().map(|(_, memory)| memory.len()).sum()
    }

    /// Whether functions of the user are called.
    pub(super) fn calls_user(&self) -> bool {
        matches!(self.operation, Some((Operation::User { .. }, _)))
    }

    /// Does copies and reductions in order.
    pub(super) fn compute(&self, acts: Range<usize>) -> Result<()> {
        self.acts[acts].iter().try_for_each(|act| self.compute_one(act))
    }

    /// Does a copy or a reduction.
    #[inline]
    pub(super) fn compute_one(&self, act: &Act) -> Result<()> {
        match act {
            Act::Move { from, into, bytes } => from.copy_to(*into, *bytes),
            Act::Copy { from, into } => {
                let [from, into] = [from, into].map(|side| (&*side.datatype, side.count, side.memory));
                copy(from, into)?;
            }
            Act::Reduce { from, into } => {
                let Some((operation, handle)) = &self.operation else {
                    return Err(Error::new(MPI_ERR_INTERN, "a reduction without an operation"));
                };
                operation.apply(&into.datatype, *handle, *from, into.memory, into.count)?;
            }
            Act::Send { .. } | Act::SendAlike { .. } | Act::Receive { .. } => {}
        }
        Ok(())
    }
}

/// Makes the acts of a script.
struct Writer<'a> {
    state: &'a State,
    found: &'a Communicator,
    call: &'a Call,
    scratch: &'a ScratchMemory,
    acts: Vec<Act>,
}

impl Writer<'_> {
    fn round(&mut self, round: &schedule::Round) -> Result<Round> {
        let is_send = |step: &&Step| matches!(step, Step::Send { .. });
        let is_long_copy =
            |step: &Step| matches!(step, Step::Copy { from, .. } if self.bytes(from) > COPY_BYTES as u64);
        let messages = round.communication.iter().rposition(|step| !is_long_copy(step));
        let (messages, copies) = round.communication.split_at(messages.map_or(0, |last| last + 1));
        let crosses = self.crosses(messages)?;
        let first = self.acts.len();
        if crosses {
            self.write_all(messages.iter().filter(is_send))?;
        }
        let crossing = self.acts.len() - first;
        self.write_all(messages.iter().filter(|step| !crosses || !is_send(step)))?;
        let started = self.acts.len();
        self.write_all(copies.iter())?;
        let copied = self.acts.len();
        self.write_all(round.local.iter())?;
        let (communication, copies) = (first..started, started..copied);
        let local = copied..self.acts.len();
        Ok(Round { landing: self.landing(communication.clone()), communication, copies, local, crossing })
    }

    /// How many receives begin the communication, if there are no others, few, and each is of one run of bytes.
    fn landing(&self, communication: Range<usize>) -> usize {
        let acts = &self.acts[communication];
        let lands = |act: &&Act| matches!(act, Act::Receive { into, .. } if into.run().is_some());
        let first = acts.iter().take_while(lands).count();
        let are_all = !acts[first..].iter().any(|act| matches!(act, Act::Receive { .. }));
        if first <= LANDINGS_MAX && are_all { first } else { 0 }
    }

    /// Whether a long message leaves while another is awaited.
    fn crosses(&self, steps: &[Step]) -> Result<bool> {
        let awaits = steps.len() > 1 && steps.iter().any(|step| matches!(step, Step::Receive { .. }));
        let is_long = |step: &Step| match step {
            Step::Send { peer, from } if awaits => {
                Ok(self.state.announces(self.route(*peer)?.peer, self.bytes(from)))
            }
            _ => Ok(false),
        };
        steps.iter().try_fold(false, |long, step| Ok(long || is_long(step)?))
    }

    /// Writes steps in order; sends of the same span to several peers as one, where the transport can.
    fn write_all<'s>(&mut self, steps: impl Iterator<Item = &'s Step>) -> Result<()> {
        let steps: Vec<&Step> = steps.collect();
        let mut left = &steps[..];
        while let Some((first, others)) = left.split_first() {
            let alike = self.sent_alike(left);
            if alike > 1 {
                let routes = left[..alike].iter().filter_map(|step| peer_of(step));
                let routes: Result<Vec<Route>> = routes.map(|peer| self.route(peer)).collect();
                let Step::Send { from, .. } = first else { unreachable!("only sends are alike") };
                self.acts.push(Act::SendAlike { routes: routes?, from: self.buffer(from) });
                left = &left[alike..];
            } else {
                self.write(first)?;
                left = others;
            }
        }
        Ok(())
    }

    fn write(&mut self, step: &Step) -> Result<()> {
        let act = match step {
            Step::Send { peer, from } => Act::Send { route: self.route(*peer)?, from: self.buffer(from) },
            Step::Receive { peer, into } => {
                let (source, local) = rank_of(*peer);
                let context = self.found.context_of(Space::Collective, local);
                Act::Receive { context, source, into: self.buffer(into) }
            }
            Step::Copy { from, .. } | Step::Reduce { from, .. } if from.count == 0 => return Ok(()),
            Step::Copy { from, into } => {
                let (source, target) = (self.buffer(from), self.buffer(into));
                match (source.run(), target.run()) {
                    (Some(from), Some(into)) if source.bytes() <= target.bytes() => {
                        Act::Move { from, into, bytes: source.bytes() as usize }
                    }
                    _ => Act::Copy { from: self.elements(from)?, into: self.elements(into)? },
                }
            }
            Step::Reduce { from, into } => Act::Reduce { from: self.place(from), into: self.elements(into)? },
        };
        self.acts.push(act);
        Ok(())
    }

    /// How many of the first steps send the same span.
    fn sent_alike(&self, steps: &[&Step]) -> usize {
        let [Step::Send { peer: Peer::Local(_), from: first }, ..] = steps else { return 0 };
        if !self.state.multicasts(self.bytes(first)) {
            return 0;
        }
        let is_same =
            |step: &&&Step| matches!(**step, Step::Send { peer: Peer::Local(_), from } if from == first);
        steps.iter().take_while(is_same).count()
    }

    fn place(&self, span: &Span) -> UserMemory {
        let base = match span.buffer {
            Where::Send => self.call.send.memory,
            Where::Receive => self.call.receive.memory,
            Where::Scratch(index) => self.scratch[index as usize].0,
        };
        base.offset(span.displacement)
    }

    fn buffer(&self, span: &Span) -> Buffer {
        match self.call.datatype(span.datatype) {
            _ if span.count == 0 => Buffer::dense(self.call.receive.memory, 0),
            Some(datatype) => Buffer::new(self.place(span), span.count, datatype),
            None => Buffer::dense(self.place(span), span.count as u64),
        }
    }

    fn elements(&self, span: &Span) -> Result<Elements> {
        let bytes = || Datatype::predefined(MPI_BYTE);
        let datatype = self.call.datatype(span.datatype).or_else(bytes);
        let datatype = datatype.ok_or_else(|| Error::new(MPI_ERR_INTERN, "MPI_BYTE is missing"))?;
        Ok(Elements { memory: self.place(span), count: span.count, datatype: Arc::clone(datatype) })
    }

    fn bytes(&self, span: &Span) -> u64 {
        (span.count * self.call.datatype(span.datatype).map_or(1, |datatype| datatype.size())) as u64
    }

    fn route(&self, peer: Peer) -> Result<Route> {
        let (rank, local) = rank_of(peer);
        let group = if local { &self.found.group } else { self.found.peers() };
        let Some(process) = group.process(rank) else {
            return Err(Error::new(
                MPI_ERR_INTERN,
                format!("a schedule names rank {rank} of {}", group.size()),
            ));
        };
        let context = self.found.context_of(Space::Collective, local);
        Ok(Route { communicator: self.call.communicator, peer: process.0, context, source: self.found.rank })
    }
}

fn peer_of(step: &Step) -> Option<Peer> {
    match step {
        Step::Send { peer, .. } | Step::Receive { peer, .. } => Some(*peer),
        Step::Copy { .. } | Step::Reduce { .. } => None,
    }
}

fn rank_of(peer: Peer) -> (u32, bool) {
    match peer {
        Peer::Local(rank) => (rank, true),
        Peer::Remote(rank) => (rank, false),
    }
}
