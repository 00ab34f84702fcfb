//! Operations on windows (MPI 5.0, section 12.3).

use core::ffi::c_int;
use std::sync::Arc;

use postrider_abi::predefined::BasicKind;
use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::datatypes::{Datatype, Kind};
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_engine::one_sided::{Combination, Origin, Target};
use postrider_engine::operations::{Operation, Operator};
use postrider_engine::point_to_point::Buffer;

use crate::parse::{self, Data, Memory, Out, Place};
use crate::{instance, library};

#[inline(always)]
fn buffer(state: &State, (memory, count, datatype): Data) -> Result<Buffer> {
    parse::buffer(state, memory, count, datatype)
}

#[inline(always)]
fn origin(state: &State, data: Data) -> Result<Origin> {
    let kind = parse::committed(state, data.2)?.signature().single_kind();
    Ok(Origin { buffer: buffer(state, data)?, kind })
}

/// The target; a datatype that is not predefined is kept for it in `own`.
#[inline(always)]
fn target<'a>(
    state: &State,
    (rank, displacement, count, datatype): Place,
    own: &'a mut Option<Arc<Datatype>>,
) -> Result<Target<'a>> {
    let (count, displacement) = (parse::count(count)?, parse::wide(displacement)?);
    let datatype = match Datatype::predefined(datatype) {
        Some(predefined) => predefined,
        None => own.insert(Arc::clone(parse::committed(state, datatype)?)),
    };
    Ok(Target { rank, displacement, count, datatype })
}

/// Starts an operation: on which window, and with or without a request.
fn start(win: MPI_Win, action: impl FnOnce(&mut State, Key) -> Result<Key>) -> Result<Key> {
    let window = parse::window(win)?;
    instance().with(|state| {
        state.windows.get(window)?;
        action(state, window)
    })
}

#[inline(always)]
fn put(win: MPI_Win, from: Data, to: Place, request: Option<Out<MPI_Request>>) -> Result<()> {
    if request.is_none()
        && let Some((run, data)) = parse::run(win, &from, &to)
        && instance().put_plain(&run, data)
    {
        return Ok(());
    }
    put_anywhere(win, from, to, request)
}

#[inline(never)]
fn put_anywhere(win: MPI_Win, from: Data, to: Place, request: Option<Out<MPI_Request>>) -> Result<()> {
    let key = start(win, |state, window| {
        let mut own = None;
        let (data, target) = (buffer(state, from)?, target(state, to, &mut own)?);
        state.put(window, data, target, request.is_some())
    })?;
    request.map_or(Ok(()), |request| library::leave_behind(request, key))
}

#[inline(always)]
fn get(win: MPI_Win, to: Data, from: Place, request: Option<Out<MPI_Request>>) -> Result<()> {
    if request.is_none()
        && let Some((run, result)) = parse::run(win, &to, &from)
        && instance().get_plain(&run, result)
    {
        return Ok(());
    }
    get_anywhere(win, to, from, request)
}

#[inline(never)]
fn get_anywhere(win: MPI_Win, to: Data, from: Place, request: Option<Out<MPI_Request>>) -> Result<()> {
    let key = start(win, |state, window| {
        let mut own = None;
        let (result, target) = (buffer(state, to)?, target(state, from, &mut own)?);
        state.get(window, result, target, request.is_some())
    })?;
    request.map_or(Ok(()), |request| library::leave_behind(request, key))
}

/// Does it the short way: elements of one predefined datatype on all sides. None when nothing has happened.
#[inline(always)]
fn combine_plain(win: MPI_Win, from: &Data, result: Option<&Data>, to: &Place, op: MPI_Op) -> Option<()> {
    // With MPI_NO_OP nothing of the origin counts.
    let from = if op == MPI_NO_OP { result? } else { from };
    let is_same = from.2 == to.3 && result.is_none_or(|result| result.2 == to.3);
    let operator = Operator::from_handle(op).filter(|_| is_same)?;
    let combination = Combination::plain(operator, Kind::from_handle(to.3)?)?;
    let (run, data) = parse::run(win, from, to)?;
    let old = match result {
        Some(result) => Some(parse::as_plain(&run, result)?),
        None => None,
    };
    instance().combine_plain(&run, combination, data, old).then_some(())
}

#[inline(always)]
fn accumulate(
    win: MPI_Win,
    from: Data,
    to: Place,
    op: MPI_Op,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    if request.is_none() && combine_plain(win, &from, None, &to, op).is_some() {
        return Ok(());
    }
    accumulate_anywhere(win, from, to, op, request)
}

#[inline(never)]
fn accumulate_anywhere(
    win: MPI_Win,
    from: Data,
    to: Place,
    op: MPI_Op,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    let key = start(win, |state, window| {
        let mut own = None;
        let (origin, target) = (origin(state, from)?, target(state, to, &mut own)?);
        let operation = parse::operation(state, op)?;
        state.accumulate(window, origin, target, &operation, request.is_some())
    })?;
    request.map_or(Ok(()), |request| library::leave_behind(request, key))
}

#[inline(always)]
fn get_accumulate(
    win: MPI_Win,
    from: Data,
    result: Data,
    to: Place,
    op: MPI_Op,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    if request.is_none() && combine_plain(win, &from, Some(&result), &to, op).is_some() {
        return Ok(());
    }
    get_accumulate_anywhere(win, from, result, to, op, request)
}

#[inline(never)]
fn get_accumulate_anywhere(
    win: MPI_Win,
    from: Data,
    result: Data,
    to: Place,
    op: MPI_Op,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    let key = start(win, |state, window| {
        let operation = parse::operation(state, op)?;
        // With MPI_NO_OP nothing of the origin counts, not even whether its arguments are any.
        let counts = !matches!(operation, Operation::Predefined(Operator::NoOp));
        let from = counts.then(|| origin(state, from)).transpose()?;
        let mut own = None;
        let (result, target) = (origin(state, result)?, target(state, to, &mut own)?);
        state.get_accumulate(window, from, result, target, &operation, request.is_some())
    })?;
    request.map_or(Ok(()), |request| library::leave_behind(request, key))
}

/// What `MPI_Compare_and_swap` takes: integers, truth values and bytes.
fn can_be_swapped(class: BasicKind) -> bool {
    matches!(class, BasicKind::Integer { .. } | BasicKind::Logical { .. } | BasicKind::Byte)
}

/// Does it the short way. None when nothing has happened.
#[inline(always)]
fn swap_plain(win: MPI_Win, (compare, new): (&Data, &Data), result: &Data, to: &Place) -> Option<()> {
    Kind::from_handle(to.3).filter(|kind| can_be_swapped(kind.class()))?;
    let (run, compare) = parse::run(win, compare, to)?;
    let (new, result) = (parse::as_plain(&run, new)?, parse::as_plain(&run, result)?);
    instance().swap_plain(&run, (compare, new), result).then_some(())
}

/// A predefined datatype, of which there is one element.
fn check_predefined(state: &State, datatype: MPI_Datatype) -> Result<BasicKind> {
    let kind = parse::committed(state, datatype)?.predefined_kind();
    let derived = || Error::new(MPI_ERR_TYPE, "this operation takes predefined datatypes only");
    kind.map(|kind| kind.class()).ok_or_else(derived)
}

mpi! {
    /// Section 12.3.1.
    MPI_Put / MPI_Put_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, target_rank: c_int,
        target_disp: MPI_Aint, target_count: Int, target_datatype: MPI_Datatype, win: MPI_Win
    ) on win {
        let from = (origin_addr, i64::from(origin_count), origin_datatype);
        put(win, from, (target_rank, target_disp, i64::from(target_count), target_datatype), None)
    }

    /// Section 12.3.5.
    MPI_Rput / MPI_Rput_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, target_rank: c_int,
        target_disp: MPI_Aint, target_count: Int, target_datatype: MPI_Datatype, win: MPI_Win,
        request: Out<MPI_Request>
    ) on win {
        let from = (origin_addr, i64::from(origin_count), origin_datatype);
        put(win, from, (target_rank, target_disp, i64::from(target_count), target_datatype), Some(request))
    }

    /// Section 12.3.2.
    MPI_Get / MPI_Get_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, target_rank: c_int,
        target_disp: MPI_Aint, target_count: Int, target_datatype: MPI_Datatype, win: MPI_Win
    ) on win {
        let to = (origin_addr, i64::from(origin_count), origin_datatype);
        get(win, to, (target_rank, target_disp, i64::from(target_count), target_datatype), None)
    }

    /// Section 12.3.5.
    MPI_Rget / MPI_Rget_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, target_rank: c_int,
        target_disp: MPI_Aint, target_count: Int, target_datatype: MPI_Datatype, win: MPI_Win,
        request: Out<MPI_Request>
    ) on win {
        let to = (origin_addr, i64::from(origin_count), origin_datatype);
        get(win, to, (target_rank, target_disp, i64::from(target_count), target_datatype), Some(request))
    }

    /// Section 12.3.4.
    MPI_Accumulate / MPI_Accumulate_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, target_rank: c_int,
        target_disp: MPI_Aint, target_count: Int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win
    ) on win {
        let from = (origin_addr, i64::from(origin_count), origin_datatype);
        accumulate(win, from, (target_rank, target_disp, i64::from(target_count), target_datatype), op, None)
    }

    /// Section 12.3.5.
    MPI_Raccumulate / MPI_Raccumulate_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, target_rank: c_int,
        target_disp: MPI_Aint, target_count: Int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win,
        request: Out<MPI_Request>
    ) on win {
        let from = (origin_addr, i64::from(origin_count), origin_datatype);
        accumulate(win, from, (target_rank, target_disp, i64::from(target_count), target_datatype), op, Some(request))
    }

    /// Section 12.3.4.
    MPI_Get_accumulate / MPI_Get_accumulate_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, result_addr: Memory,
        result_count: Int, result_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint,
        target_count: Int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win
    ) on win {
        let from = (origin_addr, i64::from(origin_count), origin_datatype);
        let result = (result_addr, i64::from(result_count), result_datatype);
        get_accumulate(win, from, result, (target_rank, target_disp, i64::from(target_count), target_datatype), op, None)
    }

    /// Section 12.3.5.
    MPI_Rget_accumulate / MPI_Rget_accumulate_c (
        origin_addr: Memory, origin_count: Int, origin_datatype: MPI_Datatype, result_addr: Memory,
        result_count: Int, result_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint,
        target_count: Int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>
    ) on win {
        let from = (origin_addr, i64::from(origin_count), origin_datatype);
        let result = (result_addr, i64::from(result_count), result_datatype);
        let to = (target_rank, target_disp, i64::from(target_count), target_datatype);
        get_accumulate(win, from, result, to, op, Some(request))
    }

    /// Section 12.3.4.
    MPI_Fetch_and_op (
        origin_addr: Memory, result_addr: Memory, datatype: MPI_Datatype, target_rank: c_int,
        target_disp: MPI_Aint, op: MPI_Op, win: MPI_Win
    ) on win {
        let (from, result) = ((origin_addr, 1, datatype), (result_addr, 1, datatype));
        let to = (target_rank, target_disp, 1, datatype);
        if combine_plain(win, &from, Some(&result), &to, op).is_some() {
            return Ok(());
        }
        instance().with(|state| check_predefined(state, datatype))?;
        get_accumulate_anywhere(win, from, result, to, op, None)
    }

    /// Section 12.3.4: integers, truth values and bytes only.
    MPI_Compare_and_swap (
        origin_addr: Memory, compare_addr: Memory, result_addr: Memory, datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, win: MPI_Win
    ) on win {
        let (new, compare) = ((origin_addr, 1, datatype), (compare_addr, 1, datatype));
        let (result, to) = ((result_addr, 1, datatype), (target_rank, target_disp, 1, datatype));
        if swap_plain(win, (&compare, &new), &result, &to).is_some() {
            return Ok(());
        }
        let window = parse::window(win)?;
        instance().with(|state| {
            state.windows.get(window)?;
            let class = check_predefined(state, datatype)?;
            if !can_be_swapped(class) {
                let detail = "MPI_Compare_and_swap takes integers, truth values and bytes only";
                return Err(Error::new(MPI_ERR_TYPE, detail));
            }
            for memory in [origin_addr, compare_addr, result_addr] {
                parse::buffer(state, memory, 1, datatype)?;
            }
            let mut own = None;
            let target = target(state, to, &mut own)?;
            let operands = (compare_addr.user(), origin_addr.user());
            state.compare_and_swap(window, operands, result_addr.user(), target)
        })
    }
}
