//! Runs a script over point-to-point messages in the communicator's collective message space.
//!
//! The messages of one collective operation have its number as their tag, so that two operations of one communicator never
//! take each other's. The lock is held from round to round as long as nothing has to be waited for, so that a short operation takes it once;
//! functions of the user run outside of it, and where several threads call, so does everything that is computed.

use std::sync::Arc;

use postrider_abi::{MPI_BYTE, MPI_ERR_INTERN};
use postrider_os::gate::GateGuard;
use postrider_os::memory::UserMemory;

use super::calls::Form;
use super::schedule::Schedule;
use super::script::{Act, COPY_BYTES, Call, Round, Script, Side, Types};
use crate::datatypes::Datatype;
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::point_to_point::matching::Pattern;
use crate::point_to_point::{Buffer, Landing};
use crate::{Instance, State};

/// What a schedule leaves to its executor while it runs.
struct Run<'a> {
    script: &'a Script,
    /// The operation's number.
    tag: i32,
    /// Messages that are not complete.
    under_way: Vec<Key>,
    /// What was wrong with a message. The rest is done all the same: others wait for messages of this process.
    failed: Option<Error>,
}

impl Script {
    /// Starts the communication of a round; what is not complete at once is added to `under_way`.
    pub(super) fn post(
        &self,
        state: &mut State,
        round: &Round,
        tag: i32,
        under_way: &mut Vec<Key>,
    ) -> Result<()> {
        let (crossing, others) = self.acts[round.communication.clone()].split_at(round.crossing);
        if !crossing.is_empty() {
            let mut send = |state: &mut State| self.start_all(state, crossing, tag, under_way);
            state.crossing(&mut send)?;
        }
        self.start_all(state, others, tag, under_way)
    }

    fn start_all(&self, state: &mut State, acts: &[Act], tag: i32, under_way: &mut Vec<Key>) -> Result<()> {
        acts.iter().try_for_each(|act| self.start(state, act, tag, under_way))
    }

    #[inline]
    fn start(&self, state: &mut State, act: &Act, tag: i32, under_way: &mut Vec<Key>) -> Result<()> {
        match act {
            Act::Send { route, from } => under_way.extend(state.post_send(*route, tag, from, false)?),
            Act::SendAlike { routes, from } => under_way.extend(state.post_multicast(routes, tag, from)?),
            Act::Receive { context, source, into } => {
                let pattern = Pattern { source: Some(*source), tag: Some(tag) };
                under_way.push(state.post_receive(self.communicator, *context, pattern, into.clone())?);
            }
            Act::Move { from, into, bytes } => from.copy_to(*into, *bytes),
            Act::Copy { .. } | Act::Reduce { .. } => self.compute_one(act)?,
        }
        Ok(())
    }
}

impl Run<'_> {
    /// Starts the communication of a round. Its receives need no requests if they are short, few, and their messages come soon.
    #[inline]
    fn start(&mut self, state: &mut State, round: &Round, looks: u32) -> Result<()> {
        if looks == 0 || round.landing == 0 {
            return self.script.post(state, round, self.tag, &mut self.under_way);
        }
        let acts = &self.script.acts[round.communication.clone()];
        let (receives, sends) = acts.split_at(round.landing);
        state.landings.clear();
        let expected = receives.iter().try_for_each(|receive| self.expect(state, receive));
        let start_all = |()| self.script.start_all(state, sends, self.tag, &mut self.under_way);
        let started = expected.and_then(start_all);
        state.await_landings(if started.is_ok() { looks } else { 0 });
        let mut next = 0;
        while let Some((number, missed)) = state.landings.missed(next) {
            let Landing { context, pattern, memory, room, .. } = missed;
            let buffer = Buffer::dense(memory, room as u64);
            self.under_way.push(state.post_receive(self.script.communicator, context, pattern, buffer)?);
            next = number + 1;
        }
        started
    }

    /// Lets the message of a receive land, or takes it if it is here already.
    #[inline]
    fn expect(&mut self, state: &mut State, receive: &Act) -> Result<()> {
        if let Act::Receive { context, source, into } = receive
            && let Some(memory) = into.run()
            && let pattern = (Pattern { source: Some(*source), tag: Some(self.tag) })
            && state.expect(*context, pattern, memory, into.bytes() as usize)
        {
            return Ok(());
        }
        self.script.start(state, receive, self.tag, &mut self.under_way)
    }

    /// Takes the ends of the messages that are complete; none while there are others.
    fn collect(&mut self, state: &mut State) -> Option<Result<()>> {
        while let Some(&key) = self.under_way.last() {
            match state.is_complete(key) {
                Ok(false) => return None,
                Ok(true) => {}
                Err(error) => return Some(Err(error)),
            }
            self.under_way.pop();
            match state.retrieve(0, key) {
                Ok(outcome) => self.failed = self.failed.take().or(outcome.completion.error),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(()))
    }
}

impl Instance {
    /// Runs `schedule` with the arguments of `call`, and returns when this process's part is done.
    ///
    /// # Errors
    /// When a message does not fit, an operation does not take the datatype, or communication fails.
    pub fn run(&self, call: Call, schedule: &Schedule) -> Result<()> {
        let mut state = self.lock();
        let script = Script::new(&state, call, schedule)?;
        let tag = state.communicators.get_mut(script.communicator)?.next_collective(Form::Blocking);
        self.run_script(state, &script, tag).map(drop)
    }

    /// Runs an operation that has its number.
    ///
    /// # Errors
    /// As [`Instance::run`].
    pub(super) fn run_script<'a>(
        &'a self,
        mut state: GateGuard<'a, State>,
        script: &Script,
        tag: i32,
    ) -> Result<GateGuard<'a, State>> {
        let before = state.completions;
        let looks = if self.expects() { self.looks() } else { 0 };
        let computes_alone = !self.threads_meet() && !script.calls_user();
        let mut run = Run { script, tag, under_way: Vec::new(), failed: None };
        for round in &script.rounds {
            if !round.communication.is_empty() {
                run.start(&mut state, round, looks)?;
            }
            for copy in &script.acts[round.copies.clone()] {
                state = self.copy_meanwhile(script, copy, state)?;
            }
            if !run.under_way.is_empty() {
                self.wait_until(state, |state| run.collect(state))?;
                state = self.lock();
            }
            if computes_alone || round.local.is_empty() {
                script.compute(round.local.clone())?;
            } else {
                drop(state);
                script.compute(round.local.clone())?;
                state = self.lock();
            }
        }
        self.wake_others(&state, before);
        run.failed.map_or(Ok(state), Err)
    }

    /// Copies, and lets long messages go on between parts of it.
    fn copy_meanwhile<'a>(
        &'a self,
        script: &Script,
        act: &Act,
        mut state: GateGuard<'a, State>,
    ) -> Result<GateGuard<'a, State>> {
        let Act::Move { from, into, bytes } = *act else {
            script.compute_one(act)?;
            return Ok(state);
        };
        for done in (0..bytes).step_by(COPY_BYTES) {
            from.offset(done as i64).copy_to(into.offset(done as i64), COPY_BYTES.min(bytes - done));
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
        let datatype = Datatype::predefined(MPI_BYTE);
        let datatype = datatype.ok_or_else(|| Error::new(MPI_ERR_INTERN, "MPI_BYTE is missing"))?;
        let side = Side { memory, types: Types::One(Arc::clone(datatype)) };
        self.run(Call { communicator, send: side.clone(), receive: side, operation: None }, schedule)
    }
}
