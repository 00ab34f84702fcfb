//! Runs a schedule over point-to-point messages in the communicator's collective message space.
//!
//! The messages of one collective operation have its number as their tag, so that two operations of one communicator never
//! take each other's. Reductions with a function of the user run outside of the lock.

use std::collections::BTreeSet;
use std::sync::Arc;

use postrider_abi::{MPI_Datatype, MPI_ERR_INTERN};
use postrider_os::gate::GateGuard;
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::calls::Form;
use super::schedule::{Buffer as Where, Peer, Schedule, Scratch, Span, Step, TypeOf};
use crate::communicators::{Communicator, Route, Space};
use crate::datatypes::{Datatype, copy};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::operations::Operation;
use crate::point_to_point::Buffer;
use crate::point_to_point::matching::Pattern;
use crate::{Instance, State};

/// What is copied between two looks at messages that go on meanwhile.
const COPY_BYTES: usize = 64 << 10;

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
pub(super) type ScratchMemory = Vec<(UserMemory, OwnedMemory)>;

/// A call with its scratch memory.
pub(super) struct Running<'a> {
    pub call: &'a Call,
    pub scratch: &'a [(UserMemory, OwnedMemory)],
}

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
}

impl Call {
    /// Memory for the scratch buffers of `schedule`.
    pub(super) fn scratch_of(&self, schedule: &Schedule) -> ScratchMemory {
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

impl Running<'_> {
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

    fn bytes(&self, span: &Span) -> u64 {
        (span.count * self.call.datatype(span.datatype).map_or(1, |datatype| datatype.size())) as u64
    }

    fn copy(&self, from: &Span, into: &Span) -> Result<()> {
        if from.count == 0 {
            return Ok(());
        }
        let bytes = postrider_abi::MPI_BYTE;
        let packed =
            Datatype::predefined(bytes).ok_or_else(|| Error::new(MPI_ERR_INTERN, "MPI_BYTE is missing"))?;
        let datatype = |span: &Span| self.call.datatype(span.datatype).unwrap_or(packed);
        copy((datatype(from), from.count, self.place(from)), (datatype(into), into.count, self.place(into)))?;
        Ok(())
    }

    fn reduce(&self, from: &Span, into: &Span) -> Result<()> {
        let Some((operation, handle)) = &self.call.operation else {
            return Err(Error::new(MPI_ERR_INTERN, "a reduction without an operation"));
        };
        if from.count == 0 {
            return Ok(());
        }
        let datatype =
            self.call.datatype(into.datatype).unwrap_or_else(|| unreachable!("reductions have a datatype"));
        operation.apply(datatype, *handle, self.place(from), self.place(into), into.count)
    }

    /// Does the local steps of a round in order.
    pub(super) fn compute(&self, steps: &[Step]) -> Result<()> {
        for step in steps {
            match step {
                Step::Copy { from, into } => self.copy(from, into)?,
                Step::Reduce { from, into } => self.reduce(from, into)?,
                Step::Send { .. } | Step::Receive { .. } => {}
            }
        }
        Ok(())
    }

    /// Starts the communication of a round; what is not complete at once is added to `under_way`.
    pub(super) fn post(
        &self,
        state: &mut State,
        steps: &[Step],
        tag: i32,
        under_way: &mut Vec<Key>,
    ) -> Result<()> {
        if !self.crosses(state, steps)? {
            return self.post_in_order(state, steps, tag, under_way);
        }
        let is_send = |step: &Step| matches!(step, Step::Send { .. });
        for sends in steps.chunk_by(|one, next| is_send(one) == is_send(next)).filter(|run| is_send(&run[0]))
        {
            state.crossing(|state| self.post_in_order(state, sends, tag, under_way))?;
        }
        for step in steps.iter().filter(|step| !is_send(step)) {
            under_way.extend(self.start(state, step, tag)?);
        }
        Ok(())
    }

    /// Whether a long message leaves while another is awaited.
    fn crosses(&self, state: &State, steps: &[Step]) -> Result<bool> {
        if steps.len() < 2 || !steps.iter().any(|step| matches!(step, Step::Receive { .. })) {
            return Ok(false);
        }
        let found = state.communicators.get(self.call.communicator)?;
        let is_long = |step: &Step| match step {
            Step::Send { peer, from } => {
                let route = route(found, self.call.communicator, *peer);
                route.is_ok_and(|route| state.announces(route.peer, self.bytes(from)))
            }
            _ => false,
        };
        Ok(steps.iter().any(is_long))
    }

    fn post_in_order(
        &self,
        state: &mut State,
        steps: &[Step],
        tag: i32,
        under_way: &mut Vec<Key>,
    ) -> Result<()> {
        let mut steps = steps;
        while !steps.is_empty() {
            steps = self.start_first(state, steps, tag, under_way)?;
        }
        Ok(())
    }

    /// Starts the first steps: a send of the same span to several peers as one, where the transport can; else one step.
    /// Returns the steps that are left.
    fn start_first<'s>(
        &self,
        state: &mut State,
        steps: &'s [Step],
        tag: i32,
        under_way: &mut Vec<Key>,
    ) -> Result<&'s [Step]> {
        let Some((first, others)) = steps.split_first() else { return Ok(steps) };
        if let Some(from) = sent_twice(steps) {
            let buffer = self.buffer(from);
            let same = if state.multicasts(buffer.bytes()) { sent_alike(steps) } else { 0 };
            if same > 1 {
                let key = self.call.communicator;
                let found = state.communicators.get(key)?;
                let (alike, rest) = steps.split_at(same);
                let routes: Result<Vec<Route>> =
                    alike.iter().filter_map(peer_of).map(|peer| route(found, key, peer)).collect();
                under_way.extend(state.post_multicast(&routes?, tag, &buffer)?);
                return Ok(rest);
            }
        }
        under_way.extend(self.start(state, first, tag)?);
        Ok(others)
    }

    /// Starts a communication step; none when it is complete at once.
    fn start(&self, state: &mut State, step: &Step, tag: i32) -> Result<Option<Key>> {
        let key = self.call.communicator;
        let found = state.communicators.get(key)?;
        match step {
            Step::Send { peer, from } => {
                let route = route(found, key, *peer)?;
                state.post_send(route, tag, &self.buffer(from), false)
            }
            Step::Receive { peer, into } => {
                let (context, pattern) = source(found, *peer, tag);
                state.post_receive(key, context, pattern, self.buffer(into)).map(Some)
            }
            Step::Copy { from, into } => self.copy(from, into).map(|()| None),
            Step::Reduce { .. } => Ok(None),
        }
    }

    /// Does a round with one short receive without a request for it. Returns the steps that are left to be started.
    fn exchange<'s>(
        &self,
        state: &mut State,
        steps: &'s [Step],
        (tag, looks): (i32, u32),
        under_way: &mut Vec<Key>,
    ) -> Result<&'s [Step]> {
        let [Step::Receive { peer, into }, sends @ ..] = steps else { return Ok(steps) };
        let (context, pattern) = source(state.communicators.get(self.call.communicator)?, *peer, tag);
        let buffer = self.buffer(into);
        let alone = !sends.iter().any(|step| matches!(step, Step::Receive { .. }));
        let Some(memory) = buffer.run().filter(|_| alone) else { return Ok(steps) };
        if !state.expect(context, pattern, memory, buffer.bytes() as usize) {
            return Ok(steps);
        }
        let posted = self.post(state, sends, tag, under_way);
        let landed = state.await_landing(if posted.is_ok() { looks } else { 0 });
        posted?;
        Ok(if landed.is_some() { &[] } else { &steps[..1] })
    }
}

/// Where a message of `peer` is to be found.
fn source(found: &Communicator, peer: Peer, tag: i32) -> (u64, Pattern) {
    let (rank, local) = rank_of(peer);
    (found.context_of(Space::Collective, local), Pattern { source: Some(rank), tag: Some(tag) })
}

/// The span of the first two steps, if both send it to processes of the local group.
#[inline]
fn sent_twice(steps: &[Step]) -> Option<&Span> {
    match steps {
        [Step::Send { peer: Peer::Local(_), from }, Step::Send { peer: Peer::Local(_), from: other }, ..]
            if from == other =>
        {
            Some(from)
        }
        _ => None,
    }
}

/// How many of the first steps send the same span to different peers. Who is a neighbour twice gets two messages, one after the other.
fn sent_alike(steps: &[Step]) -> usize {
    let mut peers = BTreeSet::new();
    let mut is_same = |step: &&Step| match (*step, &steps[0]) {
        (Step::Send { peer: Peer::Local(rank), from }, Step::Send { from: first, .. }) => {
            from == first && peers.insert(*rank)
        }
        _ => false,
    };
    steps.iter().take_while(|step| is_same(step)).count()
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

fn route(found: &Communicator, communicator: Key, peer: Peer) -> Result<Route> {
    let (rank, local) = rank_of(peer);
    let group = if local { &found.group } else { found.peers() };
    let Some(process) = group.process(rank) else {
        return Err(Error::new(MPI_ERR_INTERN, format!("a schedule names rank {rank} of {}", group.size())));
    };
    let context = found.context_of(Space::Collective, local);
    Ok(Route { communicator, peer: process.0, context, source: found.rank })
}

impl Instance {
    /// Runs `schedule` with the arguments of `call`, and returns when this process's part is done.
    ///
    /// # Errors
    /// When a message does not fit, an operation does not take the datatype, or communication fails.
    pub fn run(&self, call: &Call, schedule: &Schedule) -> Result<()> {
        let tag = self.with(|state| {
            Ok(state.communicators.get_mut(call.communicator)?.next_collective(Form::Blocking))
        })?;
        self.run_scratched(call, schedule, &call.scratch_of(schedule), tag)
    }

    /// Runs an operation that has its number and its scratch memory.
    ///
    /// # Errors
    /// As [`Instance::run`].
    pub(super) fn run_scratched(
        &self,
        call: &Call,
        schedule: &Schedule,
        scratch: &[(UserMemory, OwnedMemory)],
        tag: i32,
    ) -> Result<()> {
        let running = Running { call, scratch };
        let (mut under_way, mut failed) = (Vec::new(), None);
        for round in schedule.rounds() {
            if !round.communication.is_empty() {
                let error = self.communicate(&running, round.communication, tag, &mut under_way)?;
                // What is left is done all the same: others wait for messages of this process.
                failed = failed.or(error);
            }
            running.compute(round.local)?;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Does the communication of a round, and returns what was wrong with a message of it.
    fn communicate(
        &self,
        running: &Running,
        steps: &[Step],
        tag: i32,
        under_way: &mut Vec<Key>,
    ) -> Result<Option<Error>> {
        let mut state = self.lock();
        let is_long_copy =
            |step: &Step| matches!(step, Step::Copy { from, .. } if running.bytes(from) > COPY_BYTES as u64);
        let messages = steps.iter().rposition(|step| !is_long_copy(step)).map_or(0, |last| last + 1);
        let (mut steps, copies) = steps.split_at(messages);
        if self.expects() {
            steps = running.exchange(&mut state, steps, (tag, self.looks()), under_way)?;
        }
        running.post(&mut state, steps, tag, under_way)?;
        for copy in copies {
            state = self.copy_meanwhile(running, copy, state)?;
        }
        if under_way.is_empty() {
            return Ok(None);
        }
        let mut failed = None;
        self.wait_until(state, |state| {
            while let Some(&key) = under_way.last() {
                match state.is_complete(key) {
                    Ok(false) => return None,
                    Ok(true) => {}
                    Err(error) => return Some(Err(error)),
                }
                under_way.pop();
                match state.retrieve(0, key) {
                    Ok(outcome) => failed = failed.take().or(outcome.completion.error),
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok(()))
        })?;
        Ok(failed)
    }

    /// Copies, and lets long messages go on between parts of it.
    fn copy_meanwhile<'a>(
        &'a self,
        running: &Running,
        step: &Step,
        mut state: GateGuard<'a, State>,
    ) -> Result<GateGuard<'a, State>> {
        let Step::Copy { from, into } = step else { unreachable!("only copies are given") };
        let (source, target) = (running.buffer(from), running.buffer(into));
        let bytes = source.bytes() as usize;
        let (Some(source), Some(target)) =
            (source.run(), target.run().filter(|_| target.bytes() as usize >= bytes))
        else {
            running.copy(from, into)?;
            return Ok(state);
        };
        for done in (0..bytes).step_by(COPY_BYTES) {
            source.offset(done as i64).copy_to(target.offset(done as i64), COPY_BYTES.min(bytes - done));
            if done + COPY_BYTES < bytes {
                let before = state.completions;
                state = self.progress(state)?;
                self.wake_others(&state, before);
            }
        }
        Ok(state)
    }

    /// Runs a schedule whose only buffer is bytes at `memory`.
    pub(crate) fn run_bytes(&self, communicator: Key, schedule: &Schedule, memory: UserMemory) -> Result<()> {
        let datatype = Datatype::predefined(postrider_abi::MPI_BYTE);
        let datatype = datatype.ok_or_else(|| Error::new(MPI_ERR_INTERN, "MPI_BYTE is missing"))?;
        let side = Side { memory, types: Types::One(Arc::clone(datatype)) };
        self.run(&Call { communicator, send: side.clone(), receive: side, operation: None }, schedule)
    }
}
