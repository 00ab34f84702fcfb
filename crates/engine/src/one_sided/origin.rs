//! The side that starts operations (MPI 5.0, section 12.3): the arguments are checked here, and become a
//! [`Transfer`], or are done at once where the target's memory is mapped.

use std::sync::Arc;

use postrider_abi::{MPI_ERR_OP, MPI_ERR_TRUNCATE, MPI_ERR_TYPE, MPI_PROC_NULL};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::operation::{Combination, Verb};
use super::transfer::{Fetch, Transfer, has_gaps};
use crate::State;
use crate::datatypes::{Datatype, Kind, pack_size};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::operations::{Operation, Operator};
use crate::point_to_point::Buffer;
use crate::point_to_point::request::Work;
use crate::transports::wire::{Header, Kind as PacketKind};

/// The origin's side of an operation.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The data.
    pub buffer: Buffer,
    /// The one kind of all its elements, if they have one.
    pub kind: Option<Kind>,
}

/// The target's side of an operation.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// The rank in the window's group.
    pub rank: i32,
    /// In displacement units.
    pub displacement: i64,
    /// How many elements.
    pub count: i64,
    /// Of what type.
    pub datatype: &'a Arc<Datatype>,
}

impl Target<'_> {
    pub(super) fn bytes(&self) -> u64 {
        pack_size(self.datatype, self.count)
    }

    /// First and last byte that is touched, from the beginning of the first element.
    fn span(&self) -> Option<(i64, i64)> {
        if self.bytes() == 0 {
            return None;
        }
        let last = self.datatype.extent().saturating_mul(self.count - 1);
        let (low, length) = (self.datatype.true_lb(), self.datatype.true_extent());
        Some((low.saturating_add(last.min(0)), low.saturating_add(length).saturating_add(last.max(0))))
    }
}

/// How `operation` combines elements of the target's type, which the origin's must be like.
fn combination(operation: &Operation, target: &Target, others: &[Option<Kind>]) -> Result<Combination> {
    let Operation::Predefined(operator) = *operation else {
        let detail = "one-sided operations take predefined operations only, not those of MPI_Op_create";
        return Err(Error::new(MPI_ERR_OP, detail));
    };
    let mixed = || Error::new(MPI_ERR_TYPE, "the elements of a datatype are not all of one predefined type");
    let kind = target.datatype.signature().single_kind().ok_or_else(mixed)?;
    for other in others {
        if other.ok_or_else(mixed)?.size() != kind.size() {
            return Err(Error::new(
                MPI_ERR_TYPE,
                "the datatypes of the two sides have elements of different sizes",
            ));
        }
    }
    if !operator.is_allowed(kind) {
        return Err(Error::new(MPI_ERR_OP, format!("{operator} is not defined for {kind:?}")));
    }
    Ok(Combination { operator, kind })
}

fn check_fits(data: u64, room: u64) -> Result<()> {
    if data <= room {
        return Ok(());
    }
    let detail =
        format!("{data} bytes of data for {room} bytes of memory: the two sides of the operation do not fit");
    Err(Error::new(MPI_ERR_TRUNCATE, detail))
}

/// What [`State::begin`] found: the target, and where its elements begin.
pub(super) struct Begun {
    pub rank: u32,
    pub offset: i64,
}

impl State {
    /// Checks the target of an operation; none for `MPI_PROC_NULL`.
    #[inline(always)]
    fn begin(&mut self, window: Key, target: &Target, with_request: bool) -> Result<Option<Begun>> {
        let window = self.windows.get_mut(window)?;
        if target.rank == MPI_PROC_NULL {
            return Ok(None);
        }
        let rank = window.rank_of(target.rank)?;
        if with_request {
            window.epoch.passive(rank)?;
        }
        window.epoch.access(rank)?;
        let offset = window.offset_of(rank, target.displacement, target.span())?;
        Ok(Some(Begun { rank, offset }))
    }

    /// Memory of this process and that of the target, if that is mapped here, and both are in one run.
    #[inline(always)]
    fn runs(
        &self,
        window: Key,
        here: &Buffer,
        (target, begun): (&Target, &Begun),
    ) -> Result<Option<(UserMemory, UserMemory)>> {
        let there = self.windows.get(window)?.run_at(begun.rank, begun.offset, target.datatype, target.count);
        Ok(here.run().zip(there))
    }

    /// `MPI_Put`, `MPI_Rput`: the request, if one was wanted.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    #[inline]
    pub fn put(&mut self, window: Key, data: Buffer, target: Target, with_request: bool) -> Result<Key> {
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        let total = data.bytes();
        check_fits(total, target.bytes())?;
        if let Some((here, there)) = self.runs(window, &data, (&target, &begun))? {
            self.windows.get_mut(window)?.has_written = true;
            here.copy_to(there, total as usize);
            return Ok(Self::SENT);
        }
        if self.put_across(window, &data, (&target, &begun)) {
            return Ok(Self::SENT);
        }
        self.silent(window, (Verb::Put, None), data, (target, begun), total, with_request)
    }

    /// `MPI_Accumulate`, `MPI_Raccumulate`.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn accumulate(
        &mut self,
        window: Key,
        origin: Origin,
        target: Target,
        operation: &Operation,
        with_request: bool,
    ) -> Result<Key> {
        if matches!(operation, Operation::Predefined(Operator::NoOp)) {
            return Err(Error::new(MPI_ERR_OP, "MPI_NO_OP is only for operations that fetch something"));
        }
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        if origin.buffer.bytes() == 0 {
            return Ok(Self::SENT);
        }
        let combination = combination(operation, &target, &[origin.kind])?;
        let total = origin.buffer.bytes();
        check_fits(total, target.bytes())?;
        let runs = self.runs(window, &origin.buffer, (&target, &begun))?;
        if let Some(runs) = runs.filter(|_| !has_gaps(combination.kind)) {
            let found = self.windows.get(window)?;
            return found.combine(begun.rank, combination, total, runs, None).map(|()| Self::SENT);
        }
        let what = (Verb::Accumulate, Some(combination));
        self.silent(window, what, origin.buffer, (target, begun), total, with_request)
    }

    /// Starts an operation that brings nothing back.
    fn silent(
        &mut self,
        window: Key,
        (verb, combination): (Verb, Option<Combination>),
        data: Buffer,
        to: (Target, Begun),
        total: u64,
        with_request: bool,
    ) -> Result<Key> {
        if total == 0 {
            return Ok(Self::SENT);
        }
        let found = self.windows.get_mut(window)?;
        if found.shared.is_some() {
            found.has_written = true;
            let nothing = Buffer::dense(self.nowhere, 0);
            let mut transfer =
                Transfer { total, ..self.transfer(window, (verb, combination), data, to, None)? };
            return self.windows.get(window)?.do_directly(&mut transfer, &nothing).map(|()| Self::SENT);
        }
        let communicator = found.communicator;
        let request =
            if with_request { Some(self.insert_request(communicator, Work::Access(None))?) } else { None };
        let mut transfer = self.transfer(window, (verb, combination), data, to, request)?;
        transfer.total = total;
        self.windows.get_mut(window)?.peer(transfer.rank).silent += 1;
        self.start_transfer(transfer)?;
        Ok(request.unwrap_or(Self::SENT))
    }

    /// `MPI_Get`, `MPI_Rget`.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    #[inline]
    pub fn get(&mut self, window: Key, result: Buffer, target: Target, with_request: bool) -> Result<Key> {
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        let total = target.bytes();
        check_fits(total, result.bytes())?;
        if let Some((here, there)) = self.runs(window, &result, (&target, &begun))? {
            there.copy_to(here, total as usize);
            return Ok(Self::SENT);
        }
        if self.get_across(window, &result, (&target, &begun)) {
            return Ok(Self::SENT);
        }
        let nothing = Buffer::dense(self.nowhere, 0);
        self.fetching(window, (Verb::Get, None), (nothing, None), result, (target, begun), with_request)
    }

    /// `MPI_Get_accumulate`, `MPI_Rget_accumulate` and `MPI_Fetch_and_op`. With `MPI_NO_OP` the origin does not count.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn get_accumulate(
        &mut self,
        window: Key,
        origin: Option<Origin>,
        result: Origin,
        target: Target,
        operation: &Operation,
        with_request: bool,
    ) -> Result<Key> {
        let Some(begun) = self.begin(window, &target, with_request)? else { return Ok(Self::SENT) };
        if target.bytes() == 0 {
            return Ok(Self::SENT);
        }
        let kinds = [result.kind, origin.as_ref().map_or(result.kind, |origin| origin.kind)];
        let combination = combination(operation, &target, &kinds)?;
        check_fits(target.bytes(), result.buffer.bytes())?;
        let data = origin.map_or(Buffer::dense(self.nowhere, 0), |origin| origin.buffer);
        if combination.operator != Operator::NoOp && data.bytes() != target.bytes() {
            check_fits(data.bytes(), target.bytes())?;
            check_fits(target.bytes(), data.bytes())?;
        }
        let total = target.bytes();
        let runs = self.runs(window, &result.buffer, (&target, &begun))?;
        if let Some(((result, there), data)) = runs.zip(data.run()).filter(|_| !has_gaps(combination.kind)) {
            let (found, runs) = (self.windows.get(window)?, (data, there));
            return found.combine(begun.rank, combination, total, runs, Some(result)).map(|()| Self::SENT);
        }
        let what = (Verb::FetchAndOperate, Some(combination));
        self.fetching(window, what, (data, None), result.buffer, (target, begun), with_request)
    }

    /// `MPI_Compare_and_swap`: all three are one element of the target's type.
    ///
    /// # Errors
    /// When an argument is wrong or no epoch allows it.
    pub fn compare_and_swap(
        &mut self,
        window: Key,
        (compare, new): (UserMemory, UserMemory),
        result: UserMemory,
        target: Target,
    ) -> Result<()> {
        let Some(begun) = self.begin(window, &target, false)? else { return Ok(()) };
        let combination = combination(&Operation::Predefined(Operator::Replace), &target, &[])?;
        let bytes = combination.kind.size();
        let result = Buffer::dense(result, bytes as u64);
        let runs = self.runs(window, &result, (&target, &begun))?;
        if let Some(runs) = runs.filter(|_| !has_gaps(combination.kind)) {
            return self.windows.get(window)?.swap(begun.rank, bytes, (compare, new), runs);
        }
        let mut both = OwnedMemory::new(2 * bytes);
        let place = UserMemory::of(&mut both);
        compare.copy_to(place, bytes);
        new.copy_to(place.offset(bytes as i64), bytes);
        let data = (Buffer::dense(place, 2 * bytes as u64), Some(both));
        let what = (Verb::CompareAndSwap, Some(combination));
        self.fetching(window, what, data, result, (target, begun), false).map(drop)
    }

    /// Starts an operation that brings something back.
    fn fetching(
        &mut self,
        window: Key,
        what: (Verb, Option<Combination>),
        (data, kept): (Buffer, Option<OwnedMemory>),
        result: Buffer,
        to: (Target, Begun),
        with_request: bool,
    ) -> Result<Key> {
        let left = to.0.bytes();
        if left == 0 {
            return Ok(Self::SENT);
        }
        let found = self.windows.get(window)?;
        if found.shared.is_some() {
            let mut transfer = self.transfer(window, what, data, to, None)?;
            return found.do_directly(&mut transfer, &result).map(|()| Self::SENT);
        }
        let communicator = found.communicator;
        let fetch = Fetch { window, rank: to.1.rank, result, left };
        let request = self.insert_request(communicator, Work::Access(Some(Box::new(fetch))))?;
        self.requests.get_mut(request)?.orphan = !with_request;
        let mut transfer = self.transfer(window, what, data, to, Some(request))?;
        transfer.kept = kept;
        self.windows.get_mut(window)?.peer(transfer.rank).unanswered += 1;
        self.start_transfer(transfer)?;
        Ok(request)
    }

    fn transfer(
        &self,
        window: Key,
        (verb, combination): (Verb, Option<Combination>),
        data: Buffer,
        (target, begun): (Target, Begun),
        request: Option<Key>,
    ) -> Result<Transfer> {
        let found = self.windows.get(window)?;
        let words = [0; 3];
        let header = Header {
            kind: PacketKind::OneSided,
            context: found.context,
            source: found.rank,
            tag: verb as i32,
            words,
        };
        let (total, rank, offset) = (target.bytes(), begun.rank, begun.offset);
        let Target { count, datatype, .. } = target;
        let (done, part) = (0, u64::MAX);
        let (datatype, kept) = (Arc::clone(datatype), None);
        Ok(Transfer {
            window,
            rank,
            header,
            verb,
            combination,
            data,
            kept,
            datatype,
            count,
            offset,
            total,
            done,
            part,
            request,
        })
    }
}
