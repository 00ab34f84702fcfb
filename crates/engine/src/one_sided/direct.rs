//! Operations that the origin does itself, at once: those on memory that it has mapped, and copies from and to memory of another process
//! of its host.
//!
//! Puts and gets are copies. Accumulates are done in parts like those that travel, each under the mutex of the target's memory, so
//! that they are atomic whoever does them; elements that the machine could change atomically by itself are no exception, since
//! others may change them together with their neighbours.

use postrider_abi::MPI_ERR_RMA_RANGE;
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::operation::{Combination, Verb};
use super::origin::{Begun, Target};
use super::target::{perform, span};
use super::transfer::{Transfer, refused};
use super::window::Window;
use crate::State;
use crate::error::Result;
use crate::objects::Key;
use crate::point_to_point::Buffer;

/// The longest part of an accumulate: what others wait for.
pub(super) const ACCUMULATE_BYTES_MAX: u64 = 64 << 10;
/// The longest element.
const ELEMENT_BYTES_MAX: usize = 64;
/// The longest part of a copy that has to pass through memory of our own.
const COPY_BYTES_MAX: u64 = 1 << 20;

impl Window {
    /// Combines `bytes` bytes of data with elements without gaps at `there`, which are `rank`'s; `result` gets what was there before.
    pub(super) fn combine(
        &self,
        rank: u32,
        combination: Combination,
        bytes: u64,
        (data, there): (UserMemory, UserMemory),
        result: Option<UserMemory>,
    ) -> Result<()> {
        let mut done = 0;
        while done < bytes {
            let (part, at) = ((bytes - done).min(ACCUMULATE_BYTES_MAX), done as i64);
            let result = result.map(|result| result.offset(at));
            self.combine_part(rank, combination, part, (data.offset(at), there.offset(at)), result)?;
            done += part;
        }
        Ok(())
    }

    /// The same at once, with all others kept away.
    #[inline]
    pub(super) fn combine_part(
        &self,
        rank: u32,
        Combination { operator, kind }: Combination,
        bytes: u64,
        (data, there): (UserMemory, UserMemory),
        result: Option<UserMemory>,
    ) -> Result<()> {
        let Some(shared) = &self.shared else { unreachable!("the memory is mapped") };
        // A division would take as long as the loop over a few elements.
        debug_assert!(kind.size().is_power_of_two(), "elements without gaps");
        let count = bytes >> kind.size().trailing_zeros();
        let _alone = shared.accumulating(rank)?;
        if let Some(result) = result {
            there.copy_to(result, bytes as usize);
        }
        operator.apply_allowed(kind, data, there, count as i64)
    }

    /// Writes `new` over an element at `there`, which is `rank`'s, if it is like `compare`; `result` gets what was there before.
    pub(super) fn swap(
        &self,
        rank: u32,
        bytes: usize,
        (compare, new): (UserMemory, UserMemory),
        (result, there): (UserMemory, UserMemory),
    ) -> Result<()> {
        let Some(shared) = &self.shared else { unreachable!("the memory is mapped") };
        let [mut wanted, mut old] = [[0; ELEMENT_BYTES_MAX]; 2];
        let (wanted, old) = (&mut wanted[..bytes], &mut old[..bytes]);
        compare.read(wanted);
        let alone = shared.accumulating(rank)?;
        there.read(old);
        if old == wanted {
            new.copy_to(there, bytes);
        }
        drop(alone);
        result.write(old);
        Ok(())
    }

    /// Does all of an operation; `result` gets what it brings back.
    pub(super) fn do_directly(&self, transfer: &mut Transfer, result: &Buffer) -> Result<()> {
        let limit = if transfer.combination.is_some() { ACCUMULATE_BYTES_MAX } else { COPY_BYTES_MAX };
        while transfer.done < transfer.total {
            let (access, part) = transfer.next_part(limit);
            let outside = || refused(MPI_ERR_RMA_RANGE, transfer.rank);
            let place = |block| self.place_at(transfer.rank, block, span(access.combination, block.length));
            let places: Option<Vec<UserMemory>> = access.blocks.as_slice().iter().map(place).collect();
            let places = places.ok_or_else(outside)?;
            let (_packed, data) = transfer.data_of(access.data_bytes() as usize);
            if let (Some(_), Some(shared)) = (access.combination, &self.shared) {
                let alone = shared.accumulating(transfer.rank)?;
                let old = perform(&access, &places, data)?;
                drop(alone);
                if let Some(mut old) = old {
                    result.fill(transfer.done, UserMemory::of(&mut old), old.len());
                }
            } else if access.verb == Verb::Get {
                let mut position = transfer.done;
                for (place, block) in places.iter().zip(access.blocks.as_slice()) {
                    result.fill(position, *place, block.length as usize);
                    position += block.length;
                }
            } else {
                perform(&access, &places, data)?;
            }
            transfer.done += part;
        }
        Ok(())
    }
}

impl State {
    /// Copies what is wanted from the address space of another process of this host; false when that cannot be done, or is not
    /// worth it.
    pub(super) fn get_across(&mut self, window: Key, result: &Buffer, from: (&Target, &Begun)) -> bool {
        let bytes = from.0.bytes();
        let Some((process, address, here)) = self.across(window, result, from, bytes) else { return false };
        self.transport.fetch(process, address, here, bytes as usize)
    }

    /// Copies data to the address space of another process of this host; false as for [`State::get_across`].
    pub(super) fn put_across(&mut self, window: Key, data: &Buffer, to: (&Target, &Begun)) -> bool {
        let bytes = data.bytes();
        let Some((process, address, here)) = self.across(window, data, to, bytes) else { return false };
        self.transport.store(process, address, here, bytes as usize)
    }

    /// The process and the address of a run there, and the run here, if there are such and `bytes` bytes are enough.
    fn across(
        &self,
        window: Key,
        here: &Buffer,
        (target, begun): (&Target, &Begun),
        bytes: u64,
    ) -> Option<(u32, u64, UserMemory)> {
        let window = self.windows.get(window).ok()?;
        let peer = &window.peers[begun.rank as usize];
        let is_worth_it = bytes >= window.copied_bytes_min && peer.process != self.own;
        let is_run = target.datatype.is_dense_for(target.count);
        let start = peer.address.filter(|_| is_worth_it && is_run)?;
        let address = start.wrapping_add_signed(begun.offset + target.datatype.true_lb());
        Some((peer.process, address, here.run()?))
    }
}

impl Transfer {
    /// The next `bytes` bytes of what is sent, in one piece: where they are, or copied to memory of our own.
    pub(super) fn data_of(&self, bytes: usize) -> (Option<OwnedMemory>, UserMemory) {
        if let Some(memory) = self.data.run() {
            return (None, memory.offset(self.done as i64));
        }
        let mut packed = OwnedMemory::new(bytes);
        let place = UserMemory::of(&mut packed);
        self.data.take(self.done, place, bytes);
        (Some(packed), place)
    }
}
