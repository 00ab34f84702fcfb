//! Epochs: which access to a window is allowed when (MPI 5.0, sections 12.5 and 12.5.4).
//!
//! A process has at most one access epoch and one exposure epoch on a window at a time. Fences, `start` and locks open
//! access epochs; `post` opens exposure epochs. A fence opens an epoch only if operations follow, so that locks and
//! `start` may follow a fence after which nothing was done. All errors are `MPI_ERR_RMA_SYNC`. Nothing is sent here.

use postrider_abi::MPI_ERR_RMA_SYNC;

use super::lock_queue::LockKind;
use super::window::Ranks;
use crate::error::{Error, Result};

/// What this process may access.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Access {
    /// Nothing.
    None,
    /// Everything since a fence; whether something has been accessed.
    Fence { used: bool },
    /// The ranks of a group, since `MPI_Win_start`.
    Started(Ranks),
    /// The ranks that are locked.
    Locked,
    /// Everything since `MPI_Win_lock_all`, with whether locks are held.
    LockedAll { held: bool },
}

/// The epochs of one process on one window. Processes are ranks of the window's group.
#[derive(Debug)]
pub struct Epoch {
    access: Access,
    /// The ranks that are locked, in order, each with the lock that is held there (none with `MPI_MODE_NOCHECK`).
    locked: Vec<(u32, Option<LockKind>)>,
    /// Who may access this process's memory, since `MPI_Win_post`.
    exposed: Option<Ranks>,
}

impl Default for Epoch {
    fn default() -> Self {
        Self { access: Access::None, locked: Vec::new(), exposed: None }
    }
}

fn wrong(detail: impl Into<String>) -> Error {
    Error::new(MPI_ERR_RMA_SYNC, detail)
}

#[cold]
fn no_epoch(rank: u32) -> Error {
    wrong(format!(
        "no epoch allows this process to access rank {rank}: it needs MPI_Win_fence, MPI_Win_start with that rank, \
         MPI_Win_lock or MPI_Win_lock_all before"
    ))
}

#[cold]
fn not_locked(rank: u32, by: &str) -> Error {
    wrong(format!("rank {rank} is not locked by {by}"))
}

impl Epoch {
    /// An operation on `rank`'s memory is to start.
    ///
    /// # Errors
    /// When no epoch allows it.
    #[inline]
    pub fn access(&mut self, rank: u32) -> Result<()> {
        if self.allows(rank) { Ok(()) } else { Err(no_epoch(rank)) }
    }

    /// The same, without a word about what is wrong.
    #[inline(always)]
    pub fn allows(&mut self, rank: u32) -> bool {
        self.is_locked(rank) || self.allows_active(rank)
    }

    fn allows_active(&mut self, rank: u32) -> bool {
        match &mut self.access {
            Access::Started(ranks) => ranks.contains(&rank),
            Access::Fence { used } => {
                *used = true;
                true
            }
            _ => false,
        }
    }

    /// Whether `rank` is locked.
    #[inline(always)]
    pub fn is_locked(&self, rank: u32) -> bool {
        match self.access {
            Access::LockedAll { .. } => true,
            Access::Locked => match self.locked[..] {
                [(only, _)] => only == rank,
                _ => self.place_of(rank).is_ok(),
            },
            _ => false,
        }
    }

    /// Something is done that only a lock on `rank` allows: a flush, or an operation with a request.
    ///
    /// # Errors
    /// When `rank` is not locked.
    pub fn passive(&self, rank: u32) -> Result<()> {
        if self.is_locked(rank) { Ok(()) } else { Err(not_locked(rank, "this process")) }
    }

    /// Something is done that needs any lock (`MPI_Win_flush_all`).
    ///
    /// # Errors
    /// When nothing is locked.
    pub fn passive_any(&self) -> Result<()> {
        match &self.access {
            Access::Locked | Access::LockedAll { .. } => Ok(()),
            _ => Err(wrong("this process has locked no rank of the window")),
        }
    }

    /// A fence ends the epochs before it.
    ///
    /// # Errors
    /// Within epochs of another kind.
    pub fn begin_fence(&self) -> Result<()> {
        self.no_access("a fence")?;
        self.no_exposure("a fence")
    }

    /// The fence is over; `more` says whether operations may follow (not with `MPI_MODE_NOSUCCEED`).
    pub fn end_fence(&mut self, more: bool) {
        self.access = if more { Access::Fence { used: false } } else { Access::None };
    }

    /// `MPI_Win_start`.
    ///
    /// # Errors
    /// Within another access epoch.
    pub fn start(&mut self, ranks: Ranks) -> Result<()> {
        self.no_used_access("MPI_Win_start")?;
        self.access = Access::Started(ranks);
        Ok(())
    }

    /// `MPI_Win_complete`; returns the group.
    ///
    /// # Errors
    /// Without `MPI_Win_start`.
    pub fn complete(&mut self) -> Result<Ranks> {
        match std::mem::replace(&mut self.access, Access::None) {
            Access::Started(ranks) => Ok(ranks),
            other => {
                self.access = other;
                Err(wrong("MPI_Win_complete without MPI_Win_start"))
            }
        }
    }

    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// Within another exposure epoch.
    pub fn post(&mut self, ranks: Ranks) -> Result<()> {
        self.no_exposure("MPI_Win_post")?;
        if self.access == (Access::Fence { used: true }) {
            return Err(wrong("MPI_Win_post in an epoch that a fence has opened"));
        }
        self.exposed = Some(ranks);
        Ok(())
    }

    /// Who has to complete before the exposure epoch ends.
    ///
    /// # Errors
    /// Without `MPI_Win_post`.
    pub fn exposed(&self) -> Result<&Ranks> {
        self.exposed.as_ref().ok_or_else(|| wrong("no exposure epoch is open: there was no MPI_Win_post"))
    }

    /// The exposure epoch is over.
    pub fn end_exposure(&mut self) {
        self.exposed = None;
    }

    /// `MPI_Win_lock`; `held` is the lock that is taken, if any.
    ///
    /// # Errors
    /// When `rank` is locked already, or within an access epoch of another kind.
    pub fn lock(&mut self, rank: u32, held: Option<LockKind>) -> Result<()> {
        if !matches!(self.access, Access::Locked) {
            self.no_used_access("MPI_Win_lock")?;
        }
        match self.place_of(rank) {
            Ok(_) => Err(wrong(format!("this process has locked rank {rank} already"))),
            Err(place) => {
                self.locked.insert(place, (rank, held));
                self.access = Access::Locked;
                Ok(())
            }
        }
    }

    /// `MPI_Win_lock` as most programs have it, one lock at a time, if nothing else is open; whether `takes` has got the lock.
    #[inline(always)]
    pub fn lock_alone(&mut self, rank: u32, kind: LockKind, takes: impl FnOnce() -> bool) -> bool {
        let is_first = matches!(self.access, Access::None) && takes();
        if is_first {
            self.locked.push((rank, Some(kind)));
            self.access = Access::Locked;
        }
        is_first
    }

    /// `MPI_Win_unlock` of a lock that is the only one; whether `gives_back` has given it back.
    #[inline(always)]
    pub fn unlock_alone(&mut self, rank: u32, gives_back: impl FnOnce(LockKind) -> bool) -> bool {
        let [(only, Some(kind))] = self.locked[..] else { return false };
        let is_last = only == rank && gives_back(kind);
        if is_last {
            self.locked.clear();
            self.access = Access::None;
        }
        is_last
    }

    /// Where a rank is among those that are locked, or would be.
    #[inline]
    fn place_of(&self, rank: u32) -> std::result::Result<usize, usize> {
        self.locked.binary_search_by_key(&rank, |&(locked, _)| locked)
    }

    /// `MPI_Win_unlock`; returns the lock that was taken, if any.
    ///
    /// # Errors
    /// When `rank` is not locked by `MPI_Win_lock`.
    pub fn unlock(&mut self, rank: u32) -> Result<Option<LockKind>> {
        if !matches!(self.access, Access::Locked) {
            return Err(not_locked(rank, "MPI_Win_lock"));
        }
        let place = self.place_of(rank).map_err(|_| not_locked(rank, "MPI_Win_lock"))?;
        let (_, held) = self.locked.remove(place);
        if self.locked.is_empty() {
            self.access = Access::None;
        }
        Ok(held)
    }

    /// `MPI_Win_lock_all`; `held` says whether locks are taken.
    ///
    /// # Errors
    /// Within another access epoch.
    pub fn lock_all(&mut self, held: bool) -> Result<()> {
        self.no_used_access("MPI_Win_lock_all")?;
        self.access = Access::LockedAll { held };
        Ok(())
    }

    /// `MPI_Win_unlock_all`; returns whether locks were taken.
    ///
    /// # Errors
    /// Without `MPI_Win_lock_all`.
    pub fn unlock_all(&mut self) -> Result<bool> {
        let Access::LockedAll { held } = self.access else {
            return Err(wrong("MPI_Win_unlock_all without MPI_Win_lock_all"));
        };
        self.access = Access::None;
        Ok(held)
    }

    /// How many locks this process holds or wants; of all locks it is not said how many they are.
    pub fn locks(&self) -> usize {
        match &self.access {
            Access::Locked => self.locked.iter().filter(|(_, held)| held.is_some()).count(),
            Access::LockedAll { held: true } => usize::MAX,
            _ => 0,
        }
    }

    /// The window is to be freed.
    ///
    /// # Errors
    /// Within an epoch.
    pub fn end(&self) -> Result<()> {
        self.no_used_access("MPI_Win_free")?;
        self.no_exposure("MPI_Win_free")
    }

    fn no_used_access(&self, call: &str) -> Result<()> {
        match self.access {
            Access::Fence { used: true } => Err(wrong(format!(
                "{call} before the fence that completes the operations since the last one"
            ))),
            _ => self.no_access(call),
        }
    }

    fn no_access(&self, call: &str) -> Result<()> {
        match self.access {
            Access::None | Access::Fence { .. } => Ok(()),
            Access::Started(_) => Err(wrong(format!("{call} between MPI_Win_start and MPI_Win_complete"))),
            Access::Locked => Err(wrong(format!("{call} while this process has locked ranks of the window"))),
            Access::LockedAll { .. } => {
                Err(wrong(format!("{call} between MPI_Win_lock_all and MPI_Win_unlock_all")))
            }
        }
    }

    fn no_exposure(&self, call: &str) -> Result<()> {
        match self.exposed {
            None => Ok(()),
            Some(_) => Err(wrong(format!("{call} between MPI_Win_post and MPI_Win_wait"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: Option<LockKind> = Some(LockKind::Exclusive);

    #[test]
    fn a_fence_opens_an_epoch_only_if_something_is_accessed() {
        let mut epoch = Epoch::default();
        assert_eq!(epoch.access(0).unwrap_err().class, MPI_ERR_RMA_SYNC);
        epoch.begin_fence().unwrap();
        epoch.end_fence(true);
        epoch.lock(1, HELD).unwrap();
        assert!(epoch.access(0).is_err() && epoch.begin_fence().is_err() && epoch.lock_all(true).is_err());
        epoch.access(1).unwrap();
        assert_eq!(epoch.unlock(1), Ok(HELD));
        assert!(epoch.access(1).is_err());
        epoch.end_fence(true);
        epoch.access(3).unwrap();
        assert!(
            epoch.lock(1, HELD).is_err()
                && epoch.start([1].into()).is_err()
                && epoch.post([1].into()).is_err()
        );
        assert!(epoch.end().is_err());
        epoch.end_fence(false);
        assert!(epoch.access(3).is_err());
        epoch.end().unwrap();
    }

    #[test]
    fn locks_are_counted_one_by_one() {
        let mut epoch = Epoch::default();
        epoch.lock(1, HELD).unwrap();
        epoch.lock(2, None).unwrap();
        assert!(epoch.lock(1, HELD).is_err() && epoch.unlock(3).is_err() && epoch.unlock_all().is_err());
        assert!(epoch.passive(2).is_ok() && epoch.passive(3).is_err() && epoch.passive_any().is_ok());
        assert_eq!((epoch.unlock(2), epoch.unlock(1)), (Ok(None), Ok(HELD)));
        assert!(epoch.passive_any().is_err());
        epoch.lock_all(true).unwrap();
        assert!(epoch.unlock(1).is_err() && epoch.lock(1, HELD).is_err() && epoch.lock_all(true).is_err());
        epoch.access(7).unwrap();
        assert_eq!(epoch.unlock_all(), Ok(true));
    }

    #[test]
    fn access_and_exposure_may_overlap() {
        let mut epoch = Epoch::default();
        epoch.post([1].into()).unwrap();
        epoch.start([2].into()).unwrap();
        assert!(
            epoch.post([1].into()).is_err()
                && epoch.start([2].into()).is_err()
                && epoch.begin_fence().is_err()
        );
        assert!(epoch.access(1).is_err() && epoch.access(2).is_ok() && epoch.passive(2).is_err());
        assert_eq!(epoch.complete(), Ok([2].into()));
        assert!(epoch.complete().is_err());
        assert_eq!(epoch.exposed(), Ok(&[1].into()));
        epoch.end_exposure();
        assert!(epoch.exposed().is_err());
        epoch.end().unwrap();
    }
}
