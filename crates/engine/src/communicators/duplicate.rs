//! Duplicates of communicators, blocking and not (MPI 5.0, section 7.4.2): `MPI_Comm_dup`, `MPI_Comm_idup` and their like.
//!
//! A duplicate has the groups of its original, so only its contexts have to be agreed on. Rank 0 of the local group makes
//! them and tells the others, in the creation space; of an inter-communicator's two groups, that whose rank 0 is the
//! process with the smaller identity does it for both. Duplicates of one communicator are started in the same order
//! everywhere, and so their messages, which all have the same tag, meet the right receives.
//!
//! The duplicate is in the table from the beginning, with a context that nobody sends to; it gets its own when the
//! request completes (`settle_duplicate`).

use postrider_os::memory::{OwnedMemory, UserMemory};

use super::{Communicator, Route, Space};
use crate::error::Result;
use crate::objects::Key;
use crate::point_to_point::matching::Pattern;
use crate::point_to_point::request::Work;
use crate::point_to_point::{Buffer, Completion, Status};
use crate::{Instance, State};

/// No tag of the user's is negative, so that these messages meet no others of the creation space.
const TAG: i32 = -2;
/// A context that no process makes but by a chance of one in 2^62.
const NONE: u64 = u64::MAX << 2;
/// The context, and that of the local group.
const BYTES: usize = 16;

/// A duplicate whose contexts are not known yet, or not to everybody.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The duplicate.
    made: Key,
    /// The messages of this process.
    pub(crate) messages: Vec<Key>,
    /// The contexts as they are received; at rank 0, those for the local group and those for the remote one.
    contexts: OwnedMemory,
}

impl State {
    /// Starts to duplicate a communicator, and returns the duplicate and the request that completes when it can be used.
    /// Name, info, attributes and error handler are the caller's business.
    ///
    /// # Errors
    /// When there is no such communicator, or sending fails.
    pub fn start_duplicate(&mut self, original: Key) -> Result<(Key, Key)> {
        let found = self.communicators.get(original)?;
        let mut duplicate =
            Communicator::new(NONE, NONE, found.group.clone(), found.rank, found.remote.clone());
        duplicate.topology.clone_from(&found.topology);
        let first = |group: &super::Group| group.process(0).map(|process| self.identity(process));
        let leads = found.remote.as_ref().is_none_or(|remote| first(&found.group) < first(remote));
        let rank = found.rank;
        let made = self.communicators.insert(duplicate)?;
        let mut pending = Pending { made, messages: Vec::new(), contexts: OwnedMemory::new(2 * BYTES) };
        if leads && rank == 0 {
            self.tell_contexts(original, &mut pending)?;
        } else {
            let context = self.communicators.get(original)?.context_of(Space::Creation, leads);
            let pattern = Pattern { source: Some(0), tag: Some(TAG) };
            let buffer = Buffer::dense(UserMemory::of(&mut pending.contexts), BYTES as u64);
            pending.messages.push(self.post_receive(original, context, pattern, buffer)?);
        }
        let request = self.insert_request(original, Work::Duplicate(Box::new(pending)))?;
        Ok((made, request))
    }

    /// Rank 0 makes the contexts and sends them to all others.
    fn tell_contexts(&mut self, original: Key, pending: &mut Pending) -> Result<()> {
        let inter = self.communicators.get(original)?.remote.is_some();
        let context = self.make_context();
        let local = if inter { self.make_context() } else { context };
        let remote = if inter { self.make_context() } else { context };
        let words = [context, local, context, remote];
        for (bytes, word) in pending.contexts.as_mut_slice().chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let memory = UserMemory::of(&mut pending.contexts);
        self.tell_group_of(original, true, memory, pending)?;
        if inter {
            self.tell_group_of(original, false, memory.offset(BYTES as i64), pending)?;
        }
        Ok(())
    }

    fn tell_group_of(
        &mut self,
        original: Key,
        local: bool,
        words: UserMemory,
        pending: &mut Pending,
    ) -> Result<()> {
        let found = self.communicators.get(original)?;
        let group = if local { found.group.clone() } else { found.peers().clone() };
        let (context, source) = (found.context_of(Space::Creation, local), found.rank);
        for process in group.processes().skip(usize::from(local)) {
            let route = Route { communicator: original, peer: process.0, context, source };
            let buffer = Buffer::dense(words, BYTES as u64);
            pending.messages.extend(self.post_send(route, TAG, &buffer, false)?);
        }
        Ok(())
    }

    /// Gives a duplicate its contexts: its messages are complete.
    pub(crate) fn settle_duplicate(&mut self, pending: &Pending) -> Result<Completion> {
        let mut words = [0, 0];
        for (word, bytes) in words.iter_mut().zip(pending.contexts.as_slice().chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        let mut error = None;
        for &message in &pending.messages {
            error = error.or(self.retrieve(0, message)?.completion.error);
        }
        let made = self.communicators.get_mut(pending.made)?;
        [made.context, made.local_context] = words;
        Ok(Completion { status: Status::EMPTY, error })
    }
}

impl Instance {
    /// Waits until no operation of a communicator is under way in this process (`MPI_Comm_disconnect`).
    ///
    /// # Errors
    /// When waiting fails.
    pub fn wait_for_communicator(&self, communicator: Key) -> Result<()> {
        self.wait_until(self.lock(), |state| {
            state.is_quiet(communicator).map(|quiet| quiet.then_some(())).transpose()
        })
    }
}

impl State {
    fn is_quiet(&self, communicator: Key) -> Result<bool> {
        self.communicators.get(communicator)?;
        for (key, request) in self.requests.iter() {
            if request.communicator == communicator && !self.is_complete(key)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
