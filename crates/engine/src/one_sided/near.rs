//! The short way of operations on memory that is mapped here.
//!
//! Most operations move the elements of one predefined datatype between one run of memory here and one in a window. Where that is
//! mapped, the origin needs no description of the target for them, and no request. They are tried here first; whatever is
//! unusual about a call, its arguments or the moment is left to the general way, which also says what is wrong with it.

use postrider_os::memory::UserMemory;

use super::direct::ACCUMULATE_BYTES_MAX;
use super::operation::Combination;
use super::transfer::has_gaps;
use super::window::Window;
use crate::datatypes::Kind;
use crate::objects::Key;
use crate::operations::Operator;
use crate::{Instance, State};

/// A run of memory of a window.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    /// The window.
    pub window: Key,
    /// The rank in its group.
    pub rank: i32,
    /// In displacement units.
    pub displacement: i64,
    /// How long it is.
    pub bytes: u64,
}

impl Combination {
    /// How `operator` combines elements of `kind`, if they have no gaps and the standard allows it.
    #[inline]
    #[must_use]
    pub fn plain(operator: Operator, kind: Kind) -> Option<Self> {
        (operator.is_allowed(kind) && !has_gaps(kind)).then_some(Self { operator, kind })
    }
}

impl Window {
    /// Where a run is mapped, and whose memory it is.
    #[inline(always)]
    fn reach(&mut self, near: &Near) -> Option<(u32, UserMemory)> {
        let rank = u32::try_from(near.rank).ok()?;
        let (peer, shared) = (self.peers.get(rank as usize)?, self.shared.as_ref()?);
        let offset = near.displacement.checked_mul(peer.unit).filter(|offset| *offset >= 0)?;
        let is_inside = near.displacement >= 0 && near.bytes as i64 <= peer.size - offset;
        (is_inside && self.epoch.allows(rank)).then(|| (rank, shared.base(rank).offset(offset)))
    }
}

impl State {
    #[inline(always)]
    fn reach(&mut self, near: &Near) -> Option<(&Window, u32, UserMemory)> {
        let window = self.windows.get_mut(near.window).ok()?;
        let (rank, there) = window.reach(near)?;
        Some((window, rank, there))
    }
}

impl Instance {
    /// `MPI_Put`; false when nothing has happened.
    #[inline]
    pub fn put_near(&self, near: &Near, data: UserMemory) -> bool {
        let mut state = self.lock();
        let Some((_, _, there)) = state.reach(near) else { return false };
        data.copy_to(there, near.bytes as usize);
        true
    }

    /// `MPI_Get`; false when nothing has happened.
    #[inline]
    pub fn get_near(&self, near: &Near, result: UserMemory) -> bool {
        let mut state = self.lock();
        let Some((_, _, there)) = state.reach(near) else { return false };
        there.copy_to(result, near.bytes as usize);
        true
    }

    /// `MPI_Accumulate`, or with a place for what was there before `MPI_Get_accumulate`; false when nothing has happened.
    #[inline]
    pub fn combine_near(
        &self,
        near: &Near,
        combination: Combination,
        data: UserMemory,
        result: Option<UserMemory>,
    ) -> bool {
        let mut state = self.lock();
        let Some((window, rank, there)) = state.reach(near) else { return false };
        near.bytes <= ACCUMULATE_BYTES_MAX
            && window.combine(rank, combination, near.bytes, (data, there), result).is_ok()
    }

    /// `MPI_Compare_and_swap`; false when nothing has happened.
    #[inline]
    pub fn swap_near(&self, near: &Near, operands: (UserMemory, UserMemory), result: UserMemory) -> bool {
        let mut state = self.lock();
        let Some((window, rank, there)) = state.reach(near) else { return false };
        window.swap(rank, near.bytes as usize, operands, (result, there)).is_ok()
    }
}
