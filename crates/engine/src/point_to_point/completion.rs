//! Completion: the wait and test families (MPI 5.0, sections 3.7.3 to 3.7.6), and freeing of requests.

use super::request::{Active, Completion, Status, Work};
use crate::error::{Error, RaisedOn, Result};
use crate::external::Generalized;
use crate::objects::Key;
use crate::{Instance, State};

/// The end of one request of a list.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Place in the list.
    pub index: usize,
    /// How the operation ended.
    pub completion: Completion,
    /// Whether the request is gone (it was not persistent): its handle becomes `MPI_REQUEST_NULL`.
    pub freed: bool,
    /// Whose error handler an error goes to.
    pub raised_on: RaisedOn,
    /// The callbacks of a generalized request, to be called now: query, then free.
    pub generalized: Option<Box<Generalized>>,
}

/// How many requests of a list a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// One.
    Any,
    /// All that are complete, at least one.
    Some,
    /// All.
    All,
}

/// What a look at a list of requests found.
#[derive(Debug)]
pub enum Found {
    /// No request of the list is active.
    NoneActive,
    /// Not enough are complete yet; nothing has changed.
    NotYet,
    /// These are complete, and have been taken.
    Complete(Vec<Outcome>),
}

impl State {
    /// Whether the request is active: not an inactive persistent one.
    ///
    /// # Errors
    /// When there is no such request.
    pub fn is_active(&self, key: Key) -> Result<bool> {
        let work = &self.requests.get(key)?.work;
        Ok(match work {
            Work::Persistent(persistent) => !matches!(persistent.active, Active::No),
            Work::Partitioned(partitioned) => partitioned.is_active(),
            _ => true,
        })
    }

    /// Whether the request is complete, or inactive.
    ///
    /// # Errors
    /// When there is no such request.
    #[inline]
    pub fn is_complete(&self, key: Key) -> Result<bool> {
        Ok(match &self.requests.get(key)?.work {
            Work::Done(_) => true,
            Work::Send(_) | Work::Receive(_) | Work::Collective(_) | Work::Access(_) => false,
            Work::Generalized { complete, .. } => *complete,
            Work::Partitioned(partitioned) => partitioned.is_complete(),
            Work::Flush(owner) => self.buffer_is_flushed(*owner),
            Work::Both { receive, send, .. } => self.is_complete(*receive)? && self.is_complete(*send)?,
            Work::Duplicate(pending) => {
                for &message in &pending.messages {
                    if !self.is_complete(message)? {
                        return Ok(false);
                    }
                }
                true
            }
            Work::Persistent(persistent) => match persistent.active {
                Active::No | Active::Ended(_) => true,
                Active::Under(inner) => self.is_complete(inner)?,
            },
        })
    }

    /// The status of a complete request, which stays as it is (`MPI_Request_get_status`).
    ///
    /// # Errors
    /// When there is no such request.
    pub fn peek_status(&mut self, key: Key) -> Result<Option<Status>> {
        if !self.is_complete(key)? {
            return Ok(None);
        }
        self.settle(key)?;
        Ok(Some(match &self.requests.get(key)?.work {
            Work::Done(completion) => completion.status,
            Work::Partitioned(partitioned) => partitioned.status(),
            Work::Persistent(persistent) => match &persistent.active {
                Active::Ended(completion) => completion.status,
                Active::Under(inner) => {
                    let inner = *inner;
                    self.peek_status(inner)?.unwrap_or(Status::EMPTY)
                }
                Active::No => Status::EMPTY,
            },
            Work::Both { receive, .. } => {
                let receive = *receive;
                self.peek_status(receive)?.unwrap_or(Status::EMPTY)
            }
            Work::Send(_)
            | Work::Receive(_)
            | Work::Flush(_)
            | Work::Duplicate(_)
            | Work::Collective(_)
            | Work::Generalized { .. }
            | Work::Access(_) => Status::EMPTY,
        }))
    }

    /// Has a complete operation take its effects, of which the user may learn in more than one way.
    fn settle(&mut self, key: Key) -> Result<()> {
        let request = self.requests.get_mut(key)?;
        if !matches!(request.work, Work::Duplicate(_)) {
            return Ok(());
        }
        let ended = Work::Done(Completion::good(Status::EMPTY));
        if let Work::Duplicate(pending) = std::mem::replace(&mut request.work, ended) {
            let completion = self.settle_duplicate(&pending)?;
            self.requests.get_mut(key)?.work = Work::Done(completion);
        }
        Ok(())
    }

    /// Takes the end of a complete request.
    ///
    /// # Errors
    /// When there is no such request.
    #[inline]
    pub(crate) fn retrieve(&mut self, index: usize, key: Key) -> Result<Outcome> {
        if key == Self::SENT {
            let completion = Completion::good(Status::EMPTY);
            return Ok(Outcome {
                index,
                completion,
                freed: true,
                raised_on: RaisedOn::Communicator(Self::WORLD),
                generalized: None,
            });
        }
        self.settle(key)?;
        let request = self.requests.get_mut(key)?;
        let (mut raised_on, mut generalized) = (RaisedOn::Communicator(request.communicator), None);
        let (completion, freed) = if let Work::Persistent(persistent) = &mut request.work {
            let active = std::mem::replace(&mut persistent.active, Active::No);
            let completion = match active {
                Active::No => Completion::good(Status::EMPTY),
                Active::Ended(completion) => completion,
                Active::Under(inner) => self.retrieve(index, inner)?.completion,
            };
            (completion, false)
        } else if let Work::Partitioned(partitioned) = &mut request.work {
            (partitioned.take(), false)
        } else {
            let completion = match self.requests.remove(key)?.work {
                Work::Done(completion) => completion,
                Work::Both { receive, send, .. } => {
                    let sent = self.retrieve(index, send)?.completion;
                    let received = self.retrieve(index, receive)?.completion;
                    Completion { error: received.error.or(sent.error), ..received }
                }
                Work::Generalized { callbacks, .. } => {
                    raised_on = callbacks.file.map_or(raised_on, RaisedOn::File);
                    generalized = Some(callbacks);
                    Completion::good(Status::EMPTY)
                }
                _ => Completion::good(Status::EMPTY),
            };
            (completion, true)
        };
        Ok(Outcome { index, completion, freed, raised_on, generalized })
    }

    /// Takes all requests of a list if all are complete. Those before number `first` are known to be: what was complete once is not looked at
    /// again, or a list would take time with the square of its length.
    fn look_for_all(&mut self, keys: &[Option<Key>], first: &mut usize) -> Result<Found> {
        for key in &keys[*first..] {
            if let Some(key) = *key
                && !self.is_complete(key)?
            {
                return Ok(Found::NotYet);
            }
            *first += 1;
        }
        let mut outcomes = Vec::with_capacity(keys.len());
        for (index, key) in keys.iter().enumerate() {
            if let Some(key) = *key
                && self.is_active(key)?
            {
                outcomes.push(self.retrieve(index, key)?);
            }
        }
        Ok(if outcomes.is_empty() { Found::NoneActive } else { Found::Complete(outcomes) })
    }

    /// Looks at a list of requests and takes those that `want` asks for; none stands for `MPI_REQUEST_NULL`. Whoever looks again and again
    /// while it finds nothing keeps `first`, which begins at 0, for [`State::look_for_all`].
    fn look(&mut self, keys: &[Option<Key>], want: Want, first: &mut usize) -> Result<Found> {
        if want == Want::All {
            return self.look_for_all(keys, first);
        }
        let mut active = 0;
        let mut complete = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let Some(key) = *key else { continue };
            if !self.is_active(key)? {
                continue;
            }
            active += 1;
            if self.is_complete(key)? {
                complete.push((index, key));
                if want == Want::Any {
                    break;
                }
            }
        }
        if active == 0 {
            return Ok(Found::NoneActive);
        }
        if complete.is_empty() {
            return Ok(Found::NotYet);
        }
        let take = |(index, key)| self.retrieve(index, key);
        Ok(Found::Complete(complete.into_iter().map(take).collect::<Result<_>>()?))
    }

    /// `MPI_Request_free`: the request goes away, its operation goes on.
    ///
    /// # Errors
    /// When there is no such request.
    pub fn free_request(&mut self, key: Key) -> Result<()> {
        if key == Self::SENT {
            return Ok(());
        }
        let request = self.requests.get_mut(key)?;
        match &mut request.work {
            Work::Send(_)
            | Work::Receive(_)
            | Work::Access(_)
            | Work::Generalized { complete: false, .. } => {
                request.orphan = true;
            }
            Work::Done(_) | Work::Flush(_) | Work::Generalized { .. } => drop(self.requests.remove(key)?),
            Work::Both { receive, send, memory } => {
                let (receive, send, memory) = (*receive, *send, memory.take());
                self.requests.remove(key)?;
                if let Work::Send(sending) = &mut self.requests.get_mut(send)?.work {
                    sending.packed = sending.packed.take().or(memory);
                }
                self.free_request(receive)?;
                self.free_request(send)?;
            }
            Work::Duplicate(_) | Work::Collective(_) => return Err(not_freed()),
            Work::Partitioned(_) => self.free_partitioned(key)?,
            Work::Persistent(persistent) => {
                let active = std::mem::replace(&mut persistent.active, Active::No);
                if let Active::Under(inner) = active {
                    let freed = self.free_request(inner);
                    if let (Err(error), Work::Persistent(persistent)) =
                        (freed, &mut self.requests.get_mut(key)?.work)
                    {
                        persistent.active = Active::Under(inner);
                        return Err(error);
                    }
                }
                self.requests.remove(key)?;
                self.persistent -= 1;
            }
        }
        Ok(())
    }
}

impl Instance {
    /// Waits for one request and takes its end.
    ///
    /// # Errors
    /// When there is no such request, or waiting itself fails.
    #[inline]
    pub fn wait(&self, key: Key) -> Result<Outcome> {
        self.wait_until(self.lock(), |state| match state.is_complete(key) {
            Ok(false) => None,
            Ok(true) => Some(state.retrieve(0, key)),
            Err(error) => Some(Err(error)),
        })
    }

    /// Starts an operation and waits for its end. `start` returns none when it is complete at once.
    ///
    /// # Errors
    /// What `start` finds wrong, or when waiting itself fails.
    #[inline]
    pub fn blocking(&self, start: impl FnOnce(&mut State) -> Result<Option<Key>>) -> Result<Completion> {
        let mut state = self.lock();
        let Some(key) = start(&mut state)? else { return Ok(Completion::good(Status::EMPTY)) };
        let outcome = self.wait_until(state, |state| match state.is_complete(key) {
            Ok(false) => None,
            Ok(true) => Some(state.retrieve(0, key)),
            Err(error) => Some(Err(error)),
        });
        if outcome.is_err() {
            self.take_back(key);
        }
        Ok(outcome?.completion)
    }

    /// Waiting has failed. The buffer is the program's again, so that no later message may be written there.
    #[cold]
    fn take_back(&self, key: Key) {
        let _is_gone_already = self.with(|state| {
            if let Work::Both { receive, send, .. } = state.requests.get(key)?.work {
                state.cancel(receive)?;
                state.cancel(send)?;
            }
            state.cancel(key)?;
            state.free_request(key)
        });
    }

    /// Waits until what `want` asks for is complete, and takes it; none when no request is active.
    ///
    /// # Errors
    /// When a key names no request, or waiting itself fails.
    pub fn wait_for(&self, keys: &[Option<Key>], want: Want) -> Result<Option<Vec<Outcome>>> {
        let mut first = 0;
        self.wait_until(self.lock(), |state| match state.look(keys, want, &mut first) {
            Ok(Found::NotYet) => None,
            Ok(Found::NoneActive) => Some(Ok(None)),
            Ok(Found::Complete(outcomes)) => Some(Ok(Some(outcomes))),
            Err(error) => Some(Err(error)),
        })
    }

    /// Makes progress and looks once.
    ///
    /// # Errors
    /// When a key names no request, or progress fails.
    pub fn test(&self, keys: &[Option<Key>], want: Want) -> Result<Found> {
        let found = self.look_twice(|state| {
            let found = state.look(keys, want, &mut 0)?;
            Ok((!matches!(found, Found::NotYet)).then_some(found))
        })?;
        Ok(found.unwrap_or(Found::NotYet))
    }

    /// Looks for something, and if it is not there makes progress and looks once more (`MPI_Test`, `MPI_Iprobe` and the like).
    ///
    /// # Errors
    /// Those of `look`, and when progress fails.
    #[inline]
    pub fn look_twice<T>(&self, mut look: impl FnMut(&mut State) -> Result<Option<T>>) -> Result<Option<T>> {
        let mut state = self.lock();
        let before = state.completions;
        let mut found = look(&mut state)?;
        if found.is_none() {
            state = self.progress(state)?;
            found = look(&mut state)?;
        }
        self.wake_others(&state, before);
        if found.is_none() {
            state.rest_between_calls(&self.waiter);
            drop(state);
            self.pause();
        }
        Ok(found)
    }
}

/// The error for freeing the request of a collective operation that is under way.
#[cold]
fn not_freed() -> Error {
    let detail = "the request of a collective operation cannot be freed while it is under way (sections 6.12 and 6.13)";
    Error::new(postrider_abi::MPI_ERR_REQUEST, detail)
}

/// The error for a call that needs an inactive persistent request.
pub(super) fn not_startable(what: &str) -> Error {
    Error::new(
        postrider_abi::MPI_ERR_REQUEST,
        format!("the request {what}: only an inactive persistent one can be started"),
    )
}
