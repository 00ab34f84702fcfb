//! Synchronization: everything that waits (MPI 5.0, section 12.5).
//!
//! Packets of a pair of processes arrive in order, so all that a process has asked another for is done when the answer
//! to a *mark* comes back that was sent after it. Fences, flushes and unlocks send one wherever something is under way that is
//! not answered by itself, and wait for all of them together. A fence is that and a barrier; `MPI_Win_complete` needs no
//! answer, since the target waits for its packet behind the operations.
//!
//! Assertions (section 12.5.5) are checked and not needed: what they allow to leave out costs little, and a program that asserts what
//! is not so works all the same. Only `MPI_MODE_NOCHECK` with locks saves the lock, and `MPI_MODE_NOSUCCEED` the next epoch.

use std::sync::Arc;

use postrider_abi::{
    MPI_ERR_ASSERT, MPI_ERR_GROUP, MPI_MODE_NOCHECK, MPI_MODE_NOPRECEDE, MPI_MODE_NOPUT, MPI_MODE_NOSTORE,
    MPI_MODE_NOSUCCEED, MPI_PROC_NULL,
};
use postrider_os::gate::GateGuard;
use postrider_os::sync::{ATOMICS_ARE_FENCES, full_fence};

use super::lock_queue::{LockKind, Manner};
use super::operation::Verb;
use super::transfer::refused;
use super::window::{GROUPS_MAX, Peer, Ranks, Window};
use crate::collectives::Arguments;
use crate::communicators::Group;
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::{Instance, State};

fn check_assertions(given: i32, allowed: i32) -> Result<()> {
    if given & !allowed != 0 {
        return Err(Error::new(
            MPI_ERR_ASSERT,
            format!("the assertions {given:#x} are not all for this call"),
        ));
    }
    Ok(())
}

impl Peer {
    /// Whether this process needs its memory no longer for operations there, and has got all that it wanted.
    fn is_local_done(&self) -> bool {
        self.unsent == 0 && self.unanswered == 0
    }

    /// Whether everything there is done.
    fn is_done(&self) -> bool {
        self.is_local_done() && self.marks == 0
    }

    /// Whether there is nothing to ask it for, to wait for, or to be told.
    fn is_at_rest(&self) -> bool {
        self.unsent | self.unanswered | self.marks | self.silent == 0 && self.failed.is_none()
    }
}

/// Who is waited for.
#[derive(Clone, Copy)]
enum Whom<'a> {
    All,
    One(u32),
    Some(&'a [u32]),
}

impl Window {
    fn each(&mut self, whom: Whom, mut action: impl FnMut(u32, &mut Peer)) {
        self.chosen(whom).for_each(|rank| action(rank, self.peer(rank)));
    }

    fn chosen<'a>(&self, whom: Whom<'a>) -> impl Iterator<Item = u32> + use<'a> {
        let count = match whom {
            Whom::All => self.peers.len(),
            Whom::One(_) => 1,
            Whom::Some(ranks) => ranks.len(),
        };
        (0..count).map(move |index| match whom {
            Whom::All => index as u32,
            Whom::One(rank) => rank,
            Whom::Some(ranks) => ranks[index],
        })
    }

    #[inline(always)]
    fn every(&self, whom: Whom, holds: impl Fn(&Self, u32) -> bool) -> bool {
        self.chosen(whom).all(|rank| holds(self, rank))
    }

    /// How often the process of `rank` has posted, or completed.
    #[inline]
    fn told(&self, rank: u32, news: Verb) -> u32 {
        let peer = &self.peers[rank as usize];
        let by_packets = if news == Verb::Post { peer.posts } else { peer.completes };
        self.shared.as_ref().and_then(|shared| shared.heard(self.rank, rank, news)).unwrap_or(by_packets)
    }

    /// Whether an access to the memory of `rank` may start.
    fn has_posted(&self, rank: u32) -> bool {
        self.told(rank, Verb::Post) != self.peers[rank as usize].started
    }

    /// Whether `rank`'s access to the memory here is over.
    fn has_completed(&self, rank: u32) -> bool {
        self.told(rank, Verb::Complete) != self.peers[rank as usize].waited
    }

    /// Whether `rank` needs nothing of this process's memory any more, and has brought all that was wanted.
    #[inline(always)]
    fn is_local_done(&self, rank: u32) -> bool {
        self.peers[rank as usize].is_local_done()
    }

    /// The rank that a flush is for.
    #[inline(always)]
    fn locked_rank(&self, rank: i32) -> Result<u32> {
        let rank = self.rank_of(rank)?;
        self.epoch.passive(rank).map(|()| rank)
    }

    /// The ranks of a group's processes. Programs use the same groups again and again: the last ones are kept.
    fn ranks_of(&mut self, group: &Arc<Group>) -> Result<Ranks> {
        if let Some((_, ranks)) = self.groups.iter().find(|(known, _)| Arc::ptr_eq(known, group)) {
            return Ok(Arc::clone(ranks));
        }
        let rank = |process| {
            let place = self.peers.iter().position(|peer| peer.process == process);
            let missing = || Error::new(MPI_ERR_GROUP, "a process of the group is not in the window's group");
            place.map(|place| place as u32).ok_or_else(missing)
        };
        let ranks: Result<Vec<u32>> = group.processes().map(|process| rank(process.0)).collect();
        let ranks = Ranks::from(ranks?);
        self.groups.truncate(GROUPS_MAX - 1);
        self.groups.push_front((Arc::clone(group), Arc::clone(&ranks)));
        Ok(ranks)
    }
}

impl State {
    /// The window and the rank, if nothing is under way there, and it is not yet time to look at what has come.
    #[inline(always)]
    fn at_rest(&mut self, key: Key, rank: i32) -> Option<(&mut Window, u32)> {
        let window = self.windows.get_mut(key).ok()?;
        let rank = u32::try_from(rank).ok()?;
        let is_over = window.peers.get(rank as usize)?.is_at_rest() && !window.looks_now();
        is_over.then_some((window, rank))
    }

    /// Asks for confirmation wherever something may be under way that is not answered by itself, and says whether anything is to be
    /// waited for; nothing where everything is done, unless it is time to look at what has come.
    #[inline(always)]
    fn mark(&mut self, key: Key, whom: Whom) -> Result<bool> {
        let window = self.windows.get_mut(key)?;
        if window.every(whom, |window, rank| window.peers[rank as usize].is_at_rest()) && !window.looks_now()
        {
            return Ok(false);
        }
        self.mark_silent(key, whom)?;
        Ok(true)
    }

    #[cold]
    fn mark_silent(&mut self, key: Key, whom: Whom) -> Result<()> {
        for rank in self.windows.get(key)?.chosen(whom) {
            if self.windows.get_mut(key)?.peer(rank).silent > 0 {
                self.mark_with(key, rank, Verb::Mark)?;
            }
        }
        Ok(())
    }

    fn mark_with(&mut self, key: Key, rank: u32, verb: Verb) -> Result<()> {
        let peer = self.windows.get_mut(key)?.peer(rank);
        peer.asks = verb == Verb::Mark && peer.silent == 1 && peer.marks == 0;
        peer.silent = 0;
        peer.marks += 1;
        self.say(key, rank, verb, [0; 3])
    }

    /// Tells processes that this one has posted or completed.
    fn tell(&mut self, key: Key, ranks: &[u32], news: Verb) -> Result<()> {
        for &rank in ranks {
            let window = self.windows.get(key)?;
            if !window.shared.as_ref().is_some_and(|shared| shared.tell(window.rank, rank, news)) {
                self.say(key, rank, news, [0; 3])?;
            }
        }
        Ok(())
    }
}

impl Instance {
    /// Waits until something holds for all of some processes of a window; then, at once, does something with each.
    fn wait_for_peers<'a>(
        &'a self,
        mut state: GateGuard<'a, State>,
        (key, whom): (Key, Whom),
        holds: impl Fn(&Window, u32) -> bool,
        mut then: impl FnMut(u32, &mut Peer),
    ) -> Result<()> {
        let window = state.windows.get_mut(key)?;
        if window.every(whom, &holds) && !window.looks_now() {
            window.each(whom, then);
            return Ok(());
        }
        window.note_look();
        let before = state.completions;
        let state = self.progress(state)?;
        self.wake_others(&state, before);
        self.wait_until(state, |state| match state.windows.get_mut(key) {
            Ok(window) if window.every(whom, &holds) => {
                window.each(whom, &mut then);
                Some(Ok(()))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
    }

    /// Waits until everything is done that this process has asked some processes for, and says what went wrong there.
    #[inline(always)]
    fn finish_operations<'a>(&'a self, mut state: GateGuard<'a, State>, key: Key, whom: Whom) -> Result<()> {
        if state.mark(key, whom)? { self.wait_for_operations(state, key, whom) } else { Ok(()) }
    }

    fn wait_for_operations<'a>(&'a self, state: GateGuard<'a, State>, key: Key, whom: Whom) -> Result<()> {
        let mut failed = None;
        let is_done = |window: &Window, rank: u32| window.peers[rank as usize].is_done();
        self.wait_for_peers(state, (key, whom), is_done, |rank, peer| {
            failed = failed.take().or(peer.failed.take().map(|class| refused(class, rank)));
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// `MPI_Win_fence`.
    ///
    /// # Errors
    /// Within another epoch, or when an operation was refused.
    pub fn fence(&self, key: Key, assertions: i32) -> Result<()> {
        let known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
        check_assertions(assertions, known)?;
        let state = self.lock();
        let window = state.windows.get(key)?;
        window.epoch.begin_fence()?;
        let communicator = window.communicator;
        let done = self.finish_operations(state, key, Whom::All);
        self.collective(communicator, Arguments::new("MPI_Win_fence", []), |calls| calls.barrier())?;
        self.with(|state| {
            state.windows.get_mut(key)?.epoch.end_fence(assertions & MPI_MODE_NOSUCCEED == 0);
            Ok(())
        })?;
        done
    }

    /// `MPI_Win_start`: waits until all of the group have exposed their memory.
    ///
    /// # Errors
    /// Those of `group`; within another access epoch, or when a process is not in the window's group.
    pub fn start_access(
        &self,
        key: Key,
        group: impl FnOnce(&State) -> Result<Arc<Group>>,
        assertions: i32,
    ) -> Result<()> {
        check_assertions(assertions, MPI_MODE_NOCHECK)?;
        let mut state = self.lock();
        let group = group(&state)?;
        let window = state.windows.get_mut(key)?;
        let ranks = window.ranks_of(&group)?;
        window.epoch.start(Arc::clone(&ranks))?;
        let count = |_: u32, peer: &mut Peer| peer.started = peer.started.wrapping_add(1);
        self.wait_for_peers(state, (key, Whom::Some(&ranks)), Window::has_posted, count)
    }

    /// `MPI_Win_complete`.
    ///
    /// # Errors
    /// Without `MPI_Win_start`.
    pub fn complete_access(&self, key: Key) -> Result<()> {
        let mut state = self.lock();
        let window = state.windows.get_mut(key)?;
        let ranks = window.epoch.complete()?;
        let whom = Whom::Some(&ranks);
        window.each(whom, |_, peer| (peer.silent, peer.asks) = (0, false));
        let before = state.completions;
        state.tell(key, &ranks, Verb::Complete)?;
        // Another thread may wait for this process's own accesses.
        self.wake_others(&state, before);
        self.wait_for_peers(state, (key, whom), Window::is_local_done, |_, _| ())
    }

    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// Those of `group`; within another exposure epoch, or when a process is not in the window's group.
    pub fn post_exposure(
        &self,
        key: Key,
        group: impl FnOnce(&State) -> Result<Arc<Group>>,
        assertions: i32,
    ) -> Result<()> {
        check_assertions(assertions, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)?;
        self.with(|state| {
            let group = group(state)?;
            let window = state.windows.get_mut(key)?;
            let ranks = window.ranks_of(&group)?;
            window.epoch.post(Arc::clone(&ranks))?;
            state.tell(key, &ranks, Verb::Post)
        })
    }

    /// `MPI_Win_wait`: waits until all of the group have completed.
    ///
    /// # Errors
    /// Without `MPI_Win_post`.
    pub fn wait_exposure(&self, key: Key) -> Result<()> {
        self.wait_until(self.lock(), |state| match state.end_exposure(key) {
            Ok(over) => over.then_some(Ok(())),
            Err(error) => Some(Err(error)),
        })
    }

    /// `MPI_Win_test`: whether all of the group have completed.
    ///
    /// # Errors
    /// Without `MPI_Win_post`.
    pub fn test_exposure(&self, key: Key) -> Result<bool> {
        let over = self.look_twice(|state| Ok(state.end_exposure(key)?.then_some(())))?;
        Ok(over.is_some())
    }

    /// `MPI_Win_lock`: waits until the lock is granted.
    ///
    /// # Errors
    /// When the epochs do not allow it.
    pub fn lock_window(&self, key: Key, rank: i32, kind: LockKind, assertions: i32) -> Result<()> {
        check_assertions(assertions, MPI_MODE_NOCHECK)?;
        let mut state = self.lock();
        let window = state.windows.get_mut(key)?;
        window.has_no_locks = false;
        if rank == MPI_PROC_NULL {
            return Ok(());
        }
        let rank = window.rank_of(rank)?;
        let held = (assertions & MPI_MODE_NOCHECK == 0).then_some(kind);
        window.epoch.lock(rank, held)?;
        if held.is_none() {
            return Ok(());
        }
        state.take_lock(key, rank, kind)?;
        self.wait_for_locks(state, key, Whom::One(rank))
    }

    /// `MPI_Win_unlock`: waits until all operations are done.
    ///
    /// # Errors
    /// When the rank is not locked, or an operation was refused.
    pub fn unlock_window(&self, key: Key, rank: i32) -> Result<()> {
        if rank == MPI_PROC_NULL {
            return Ok(());
        }
        let mut state = self.lock();
        let window = state.windows.get_mut(key)?;
        let rank = window.rank_of(rank)?;
        let held = window.epoch.unlock(rank)?;
        state.give_back(key, Whom::One(rank), held)?;
        self.finish_operations(state, key, Whom::One(rank))
    }

    /// `MPI_Win_lock_all`: waits until all locks are granted.
    ///
    /// # Errors
    /// When the epochs do not allow it.
    pub fn lock_all(&self, key: Key, assertions: i32) -> Result<()> {
        check_assertions(assertions, MPI_MODE_NOCHECK)?;
        let held = assertions & MPI_MODE_NOCHECK == 0;
        let mut state = self.lock();
        let window = state.windows.get_mut(key)?;
        window.has_no_locks = false;
        window.epoch.lock_all(held)?;
        if !held {
            return Ok(());
        }
        for rank in window.chosen(Whom::All) {
            state.take_lock(key, rank, LockKind::Shared)?;
        }
        self.wait_for_locks(state, key, Whom::All)
    }

    /// `MPI_Win_unlock_all`: waits until all operations are done.
    ///
    /// # Errors
    /// Without `MPI_Win_lock_all`, or when an operation was refused.
    pub fn unlock_all(&self, key: Key) -> Result<()> {
        let mut state = self.lock();
        let held = state.windows.get_mut(key)?.epoch.unlock_all()?;
        state.give_back(key, Whom::All, held.then_some(LockKind::Shared))?;
        self.finish_operations(state, key, Whom::All)
    }

    fn wait_for_locks<'a>(&'a self, state: GateGuard<'a, State>, key: Key, whom: Whom) -> Result<()> {
        let is_granted = |window: &Window, rank: u32| window.peers[rank as usize].granted;
        self.wait_for_peers(state, (key, whom), is_granted, |_, peer| peer.granted = false)
    }

    /// `MPI_Win_flush`, or with no rank `MPI_Win_flush_all`: waits until all operations are done.
    ///
    /// # Errors
    /// Without a lock, or when an operation was refused.
    pub fn flush_window(&self, key: Key, rank: Option<i32>) -> Result<()> {
        let mut state = self.lock();
        let window = state.windows.get_mut(key)?;
        window.order_accesses();
        match rank {
            None => {
                window.epoch.passive_any()?;
                self.finish_operations(state, key, Whom::All)
            }
            Some(MPI_PROC_NULL) => Ok(()),
            Some(rank) => {
                let rank = window.locked_rank(rank)?;
                self.finish_operations(state, key, Whom::One(rank))
            }
        }
    }

    /// `MPI_Win_flush_local` and `MPI_Win_flush_local_all`: waits until the memory of this process is free again.
    ///
    /// # Errors
    /// Without a lock.
    pub fn flush_window_locally(&self, key: Key, rank: Option<i32>) -> Result<()> {
        let state = self.lock();
        let window = state.windows.get(key)?;
        let whom = match rank {
            None => window.epoch.passive_any().map(|()| Whom::All)?,
            Some(MPI_PROC_NULL) => return Ok(()),
            Some(rank) => Whom::One(window.locked_rank(rank)?),
        };
        self.wait_for_peers(state, (key, whom), Window::is_local_done, |_, _| ())
    }

    /// `MPI_Win_sync`: loads and stores of this process and of others are put in order.
    ///
    /// # Errors
    /// When there is no such window, or progress fails.
    pub fn sync_window(&self, key: Key) -> Result<()> {
        self.with(|state| state.windows.get(key).map(drop))?;
        full_fence();
        self.make_progress()
    }
}

/// The short way of locks and flushes, where memory is mapped and nobody else is to be waited for. They are tried here first;
/// false means that nothing has happened.
impl Instance {
    /// `MPI_Win_lock` without assertions.
    #[inline]
    pub fn lock_plain(&self, key: Key, rank: i32, kind: LockKind) -> bool {
        let mut state = self.lock();
        let Ok(window) = state.windows.get_mut(key) else { return false };
        let is_usual = (rank as usize) < window.peers.len() && !window.looks_now();
        let Window { epoch, shared: Some(shared), .. } = window else { return false };
        is_usual && epoch.lock_alone(rank as u32, kind, || shared.take_at_once(rank as u32, kind))
    }

    /// `MPI_Win_unlock`.
    #[inline]
    pub fn unlock_plain(&self, key: Key, rank: i32) -> bool {
        let mut state = self.lock();
        let Some((window, rank)) = state.at_rest(key, rank) else { return false };
        let Window { epoch, shared: Some(shared), .. } = window else { return false };
        epoch.unlock_alone(rank, |kind| shared.give_back_at_once(rank, kind))
    }

    /// `MPI_Win_flush`.
    #[inline]
    pub fn flush_plain(&self, key: Key, rank: i32) -> bool {
        let mut state = self.lock();
        let Some((window, rank)) = state.at_rest(key, rank) else { return false };
        let is_locked = window.epoch.is_locked(rank);
        if is_locked {
            window.order_accesses();
        }
        is_locked
    }
}

impl Window {
    /// What was written to memory that is mapped comes before all that follows. Accumulates end with an atomic operation,
    /// which is a fence on some machines.
    #[inline]
    fn order_accesses(&mut self) {
        if std::mem::take(&mut self.has_written) || !ATOMICS_ARE_FENCES {
            full_fence();
        }
    }
}

impl State {
    /// Takes a lock on `rank`'s memory, or waits in line for it: a packet says when it is granted.
    fn take_lock(&mut self, key: Key, rank: u32, kind: LockKind) -> Result<()> {
        let window = self.windows.get(key)?;
        let Some(shared) = &window.shared else {
            let is_urgent = self.manner() == Manner::Urgent;
            let words = [u64::from(kind == LockKind::Exclusive), u64::from(is_urgent), 0];
            return self.say(key, rank, Verb::Lock, words);
        };
        if shared.request(rank, window.rank, kind, || self.manner())? {
            self.windows.get_mut(key)?.peer(rank).granted = true;
        }
        Ok(())
    }

    /// How this process waits for one more lock: whoever holds others is not to keep them for long.
    #[cold]
    fn manner(&self) -> Manner {
        let locks = |sum: usize, (_, window): (Key, &Window)| sum.saturating_add(window.epoch.locks());
        if self.windows.iter().fold(0, locks) > 1 { Manner::Urgent } else { Manner::Patient }
    }

    /// Gives locks back, if they are held.
    fn give_back(&mut self, key: Key, whom: Whom, held: Option<LockKind>) -> Result<()> {
        let Some(kind) = held else { return Ok(()) };
        for rank in self.windows.get(key)?.chosen(whom) {
            match &self.windows.get(key)?.shared {
                None => self.mark_with(key, rank, Verb::Unlock)?,
                Some(shared) => {
                    let granted = shared.release(rank, kind)?;
                    self.grant(key, rank, &granted)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the exposure epoch if everybody has completed; false if not.
    fn end_exposure(&mut self, key: Key) -> Result<bool> {
        let window = self.windows.get_mut(key)?;
        let ranks = Arc::clone(window.epoch.exposed()?);
        if !window.every(Whom::Some(&ranks), Window::has_completed) {
            return Ok(false);
        }
        window.each(Whom::Some(&ranks), |_, peer| peer.waited = peer.waited.wrapping_add(1));
        window.epoch.end_exposure();
        Ok(true)
    }
}
