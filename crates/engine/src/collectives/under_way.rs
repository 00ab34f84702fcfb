//! Collective operations that go on beside the program: nonblocking and persistent ones (MPI 5.0, sections 6.12 and 6.13).
//!
//! Such an operation is a request like any other. It goes on whenever a call of this process makes progress: when the messages of a round
//! are complete, the round's local steps are done and the next round is posted. While that happens the operation is out of the table, since
//! functions of the user run without the lock, and other threads leave it alone.
//!
//! A persistent operation uses its schedule and its number again each time it is started. Its messages stay apart, since those of a pair
//! of processes do not overtake each other and both go through the same rounds.

use std::ops::Range;

use postrider_os::gate::GateGuard;

use super::calls::{Calls, Form, Planned};
use super::kept::Arguments;
use super::schedule::Schedule;
use super::script::Call;
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::point_to_point::request::{Template, Work};
use crate::point_to_point::{Completion, Status};
use crate::{Instance, State};

/// A collective operation of this process that has been started.
#[derive(Debug)]
pub(crate) struct UnderWay {
    planned: Planned,
    /// The round to post next. Until then the local steps of the one before are to be done.
    next: usize,
    /// The messages of the round before.
    messages: Vec<Key>,
    /// What was wrong with a message. The operation goes on, since others wait for messages of this process.
    failed: Option<Error>,
    /// What has ended the operation.
    error: Option<Error>,
}

impl UnderWay {
    fn new(planned: Planned) -> Self {
        Self { planned, next: 0, messages: Vec::new(), failed: None, error: None }
    }

    /// Whether the messages of the round are complete.
    fn is_ready(&self, state: &State) -> Result<bool> {
        for &message in &self.messages {
            if !state.is_complete(message)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the ends of the round's messages.
    fn collect(&mut self, state: &mut State) {
        for message in self.messages.drain(..) {
            match state.retrieve(0, message) {
                Ok(outcome) => self.failed = self.failed.take().or(outcome.completion.error),
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// The local steps that are to be done now.
    fn local(&self) -> Range<usize> {
        let before = self.next.checked_sub(1).filter(|_| self.error.is_none());
        before.map_or(0..0, |before| self.planned.plan.script.rounds[before].local.clone())
    }

    /// Whether functions of the program are called.
    fn calls_program(&self) -> bool {
        self.planned.plan.script.calls_user()
    }

    fn compute(&mut self) {
        self.error = self.planned.plan.script.compute(self.local()).err();
    }

    fn is_over(&self) -> bool {
        self.error.is_some() || self.next == self.planned.plan.script.rounds.len()
    }

    fn post(&mut self, state: &mut State) {
        let Planned { plan, number } = &self.planned;
        let script = &plan.script;
        let round = &script.rounds[self.next];
        let copies = || script.compute(round.copies.clone());
        self.error = script.post(state, round, *number, &mut self.messages).and_then(|()| copies()).err();
        self.next += 1;
    }
}

impl State {
    /// Starts an operation; it does not go on before the next progress.
    ///
    /// # Errors
    /// When there are too many requests.
    pub(crate) fn start_collective(&mut self, planned: Planned) -> Result<Key> {
        let communicator = planned.communicator();
        let work = Work::Collective(Some(Box::new(UnderWay::new(planned))));
        let key = self.insert_request(communicator, work)?;
        self.collectives.push(key);
        Ok(key)
    }

    /// An operation that can go on; the helper leaves those to the program that call it.
    fn ready_collective(&self) -> Option<Key> {
        let is_ready = |key: &&Key| match self.requests.get(**key).map(|request| &request.work) {
            Ok(Work::Collective(Some(operation))) if self.beside && operation.calls_program() => false,
            // What is wrong with a message is found out when it is taken.
            Ok(Work::Collective(Some(operation))) => operation.is_ready(self).unwrap_or(true),
            _ => false,
        };
        self.collectives.iter().find(is_ready).copied()
    }

    /// Whether there is something to do for an operation before this thread sleeps.
    pub(crate) fn has_ready_collective(&self) -> bool {
        !self.collectives.is_empty() && self.ready_collective().is_some()
    }

    fn take_collective(&mut self, key: Key) -> Option<Box<UnderWay>> {
        match &mut self.requests.get_mut(key).ok()?.work {
            Work::Collective(operation) => operation.take(),
            _ => None,
        }
    }

    fn put_collective(&mut self, key: Key, operation: Box<UnderWay>) {
        if let Ok(request) = self.requests.get_mut(key) {
            request.work = Work::Collective(Some(operation));
        }
    }

    fn end_collective(&mut self, key: Key, operation: UnderWay) {
        self.collectives.retain(|other| *other != key);
        self.keep_plan(operation.planned.plan);
        let error = operation.error.or(operation.failed);
        self.finish(key, Completion { status: Status::EMPTY, error });
    }
}

impl Instance {
    /// Starts a nonblocking collective operation and returns its request (section 6.12).
    ///
    /// # Errors
    /// When there is no such communicator, or those of `prepare`.
    pub fn start_collective(
        &self,
        communicator: Key,
        arguments: Option<Arguments>,
        prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
    ) -> Result<Key> {
        let mut state = self.lock();
        let planned = self.plan(&mut state, communicator, (Form::Beside, arguments), prepare)?;
        let key = state.start_collective(planned)?;
        drop(self.advance(state));
        Ok(key)
    }

    /// Makes the persistent request of a collective operation (section 6.13).
    ///
    /// # Errors
    /// When there is no such communicator, or those of `prepare`.
    pub fn persistent_collective(
        &self,
        communicator: Key,
        prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
    ) -> Result<Key> {
        self.with(|state| {
            let planned = self.plan(state, communicator, (Form::Beside, None), prepare)?;
            state.persistent(Template::Collective(planned))
        })
    }

    /// Makes progress, that of collective operations too.
    ///
    /// # Errors
    /// When the transport fails.
    #[inline]
    pub(crate) fn progress<'a>(&'a self, mut state: GateGuard<'a, State>) -> Result<GateGuard<'a, State>> {
        state.progress()?;
        Ok(if state.collectives.is_empty() { state } else { self.advance(state) })
    }

    /// Lets all collective operations go on that can.
    #[cold]
    pub(crate) fn advance<'a>(&'a self, mut state: GateGuard<'a, State>) -> GateGuard<'a, State> {
        while let Some(key) = state.ready_collective() {
            let Some(mut operation) = state.take_collective(key) else { break };
            loop {
                operation.collect(&mut state);
                if !operation.local().is_empty() {
                    if state.beside {
                        // Nothing of the program is called, so that nobody needs the lock for it.
                        operation.compute();
                    } else {
                        drop(state);
                        operation.compute();
                        state = self.lock();
                    }
                }
                if operation.is_over() {
                    let before = state.completions;
                    state.end_collective(key, *operation);
                    self.wake_others(&state, before);
                    break;
                }
                operation.post(&mut state);
                if !operation.is_ready(&state).unwrap_or(true) {
                    state.put_collective(key, operation);
                    break;
                }
            }
        }
        state
    }

    /// Waits until no collective operation of a communicator is under way in this process: it is about to be freed.
    ///
    /// # Errors
    /// When waiting fails.
    pub fn finish_collectives(&self, communicator: Key) -> Result<()> {
        self.wait_until(self.lock(), |state| {
            let belongs = |key: &Key| {
                state.requests.get(*key).is_ok_and(|request| request.communicator == communicator)
            };
            (!state.collectives.iter().any(belongs)).then_some(Ok(()))
        })
    }
}
