//! Collective communication (MPI 5.0, chapter 6): the blocking, the nonblocking (section 6.12) and the persistent forms (section 6.13).
//!
//! Arguments are parsed under one lock, by what [`Calls`] says of the communicator: those that are not significant at this
//! process are never looked at, so that they may be anything. The three forms of a collective differ in what is done with
//! the schedule that the arguments make.

use core::ffi::c_int;
use std::sync::Arc;

use postrider_abi::*;
use postrider_engine::collectives::{Arguments, Call, Calls, Data, Many, Operands, schedule::Schedule};
use postrider_engine::datatypes::Datatype;
use postrider_engine::error::Result;

use crate::parse::{self, In, Memory, Out};
use crate::{info, instance, library};

/// Runs the operation that `prepare` plans, or the kept plan of a call with the same arguments.
///
/// # Errors
/// When there is no such communicator, those of `prepare`, and when communication fails.
pub fn blocking(
    comm: MPI_Comm,
    arguments: Option<Arguments>,
    prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
) -> Result<()> {
    instance().collective(parse::communicator(comm)?, arguments, prepare)
}

/// An argument of a collective call, for [`Arguments`].
pub trait Argument: Copy {
    /// The argument as a number.
    fn word(self) -> usize;

    /// Whether that always means the same on a communicator.
    #[inline]
    fn is_constant(self) -> bool {
        true
    }
}

impl Argument for c_int {
    #[inline]
    fn word(self) -> usize {
        self as usize
    }
}

impl Argument for MPI_Count {
    #[inline]
    fn word(self) -> usize {
        self as usize
    }
}

impl Argument for Memory {
    #[inline]
    fn word(self) -> usize {
        self.0
    }
}

/// Plans are kept by communicator.
impl Argument for MPI_Comm {
    #[inline]
    fn word(self) -> usize {
        0
    }
}

macro_rules! handles {
    ($($handle:ty)*) => {
        $(
            /// Objects that are not predefined may be freed, and then others get their handles.
            impl Argument for $handle {
                #[inline]
                fn word(self) -> usize {
                    self.0.to_word()
                }

                #[inline]
                fn is_constant(self) -> bool {
                    self.0.key().is_none()
                }
            }
        )*
    };
}

handles!(MPI_Datatype MPI_Op);

/// What is in an array is noted when it is read: [`numbers`].
impl<T: Copy> Argument for In<T> {
    #[inline]
    fn word(self) -> usize {
        self.0 as usize
    }
}

/// The numbers in an array, on which the call depends.
fn numbers<T: Copy + TryInto<i64>>(calls: &Calls, array: In<T>, count: usize) -> Result<Vec<i64>> {
    let numbers = array.wide(count)?;
    calls.depends_on(array.user(), count * size_of::<T>());
    Ok(numbers)
}

/// The datatypes in an array.
fn handles_in(calls: &Calls, array: In<MPI_Datatype>, count: usize) -> Result<Vec<MPI_Datatype>> {
    let handles = array.all(count)?;
    if handles.iter().all(|handle| handle.is_constant()) {
        calls.depends_on(array.user(), count * size_of::<MPI_Datatype>());
    } else {
        calls.depends_on_handles();
    }
    Ok(handles)
}

/// Starts it.
///
/// # Errors
/// When there is no such communicator, those of `prepare`, and when there is no place for the request.
pub fn nonblocking(
    comm: MPI_Comm,
    request: Out<MPI_Request>,
    arguments: Option<Arguments>,
    prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
) -> Result<()> {
    let key = instance().start_collective(parse::communicator(comm)?, arguments, prepare)?;
    library::leave_behind(request, key)
}

/// Makes a request that starts it whenever the program wants.
///
/// # Errors
/// As [`nonblocking`], and when there is no such info object.
pub fn persistent(
    comm: MPI_Comm,
    info: MPI_Info,
    request: Out<MPI_Request>,
    prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>,
) -> Result<()> {
    info::hints(info)?;
    let key = instance().persistent_collective(parse::communicator(comm)?, prepare)?;
    library::leave_behind(request, key)
}

/// The arguments by which a call finds the plan of an earlier one; none if they may mean something else each time.
macro_rules! arguments {
    ($name:ident, $($argument:ident),*) => {{
        use $crate::collectives::Argument;
        let are_constant = $($argument.is_constant() &)* true;
        let words = [$($argument.word()),*];
        if are_constant {
            postrider_engine::collectives::Arguments::new(stringify!($name), words)
        } else {
            None
        }
    }};
}

/// From one plan, the three forms of a collective and their large-count twins; see `mpi!`.
macro_rules! collective {
    () => {};
    (
        $(#[doc = $doc:literal])*
        $blocking:ident $(/ $blocking_twin:ident)?,
        $nonblocking:ident $(/ $nonblocking_twin:ident)?,
        $persistent:ident $(/ $persistent_twin:ident)? (
            $($argument:ident : $type:ty),* $(,)?
        ) on $comm:ident |$calls:ident| $plan:block
        $($rest:tt)*
    ) => {
        mpi! {
            $(#[doc = $doc])*
            $blocking $(/ $blocking_twin)? ($($argument : $type),*) on $comm {
                let arguments = $crate::collectives::arguments!($blocking, $($argument),*);
                $crate::collectives::blocking($comm, arguments, |$calls| $plan)
            }

            $(#[doc = $doc])*
            $nonblocking $(/ $nonblocking_twin)? (
                $($argument : $type,)* request: $crate::parse::Out<postrider_abi::MPI_Request>
            ) on $comm {
                let arguments = $crate::collectives::arguments!($blocking, $($argument),*);
                $crate::collectives::nonblocking($comm, request, arguments, |$calls| $plan)
            }

            $(#[doc = $doc])*
            $persistent $(/ $persistent_twin)? (
                $($argument : $type,)*
                info: postrider_abi::MPI_Info, request: $crate::parse::Out<postrider_abi::MPI_Request>
            ) on $comm {
                $crate::collectives::persistent($comm, info, request, |$calls| $plan)
            }
        }
        collective! { $($rest)* }
    };
}

pub(crate) use {arguments, collective};

/// Buffer, count and datatype of one block.
pub type Triple = (Memory, i64, MPI_Datatype);

/// One block.
///
/// # Errors
/// `MPI_ERR_TYPE` for a datatype that cannot be used.
pub fn block(calls: &Calls, (memory, count, handle): Triple) -> Result<Data> {
    let datatype = Arc::clone(parse::committed(calls.state, handle)?);
    Ok(Data { memory: memory.user(), count, datatype })
}

/// One block; none for `MPI_IN_PLACE`, with which count and datatype are not significant.
fn block_or_in_place(calls: &Calls, block_of: Triple) -> Result<Option<Data>> {
    if block_of.0.is_in_place() { Ok(None) } else { block(calls, block_of).map(Some) }
}

/// A value if it is significant.
fn when<T>(significant: bool, parse: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    significant.then(parse).transpose()
}

/// Buffer, counts, displacements and datatype of the v forms.
pub type Varying<I, D> = (Memory, In<I>, In<D>, MPI_Datatype);

fn varying<I, D>(calls: &Calls, blocks: Varying<I, D>) -> Result<Many>
where
    I: Copy + TryInto<i64>,
    D: Copy + TryInto<i64>,
{
    varying_blocks(calls, calls.peers() as usize, blocks)
}

/// So many blocks of a v form.
///
/// # Errors
/// When an array is a null pointer or the datatype cannot be used.
pub fn varying_blocks<I, D>(
    calls: &Calls,
    blocks: usize,
    (memory, counts, displacements, handle): Varying<I, D>,
) -> Result<Many>
where
    I: Copy + TryInto<i64>,
    D: Copy + TryInto<i64>,
{
    let datatype = Arc::clone(parse::committed(calls.state, handle)?);
    let (counts, displacements) = (numbers(calls, counts, blocks)?, numbers(calls, displacements, blocks)?);
    Ok(Many::varying(memory.user(), counts, displacements, datatype))
}

/// Buffer, counts, displacements and datatypes of the w form.
pub type General<I, D> = (Memory, In<I>, In<D>, In<MPI_Datatype>);

fn general<I, D>(calls: &Calls, blocks: General<I, D>) -> Result<Many>
where
    I: Copy + TryInto<i64>,
    D: Copy + TryInto<i64>,
{
    general_blocks(calls, calls.peers() as usize, blocks)
}

/// So many blocks of the w form.
///
/// # Errors
/// When an array is a null pointer or a datatype cannot be used.
pub fn general_blocks<I, D>(
    calls: &Calls,
    blocks: usize,
    (memory, counts, displacements, handles): General<I, D>,
) -> Result<Many>
where
    I: Copy + TryInto<i64>,
    D: Copy + TryInto<i64>,
{
    let (counts, handles) = (numbers(calls, counts, blocks)?, handles_in(calls, handles, blocks)?);
    let datatypes: Result<_> =
        counts.iter().zip(handles).map(|(count, handle)| datatype_of(calls, *count, handle)).collect();
    Ok(Many::general(memory.user(), counts, numbers(calls, displacements, blocks)?, datatypes?))
}

/// The datatype of a block of the w form. Programs give `MPI_DATATYPE_NULL` where there is no data.
fn datatype_of(calls: &Calls, count: i64, handle: MPI_Datatype) -> Result<Arc<Datatype>> {
    let handle = if count == 0 && handle == MPI_DATATYPE_NULL { MPI_BYTE } else { handle };
    parse::committed(calls.state, handle).cloned()
}

/// The arguments of a reduction.
fn operands(
    calls: &Calls,
    (send, receive): (Memory, Memory),
    count: i64,
    (handle, op): (MPI_Datatype, MPI_Op),
) -> Result<Operands> {
    Ok(Operands {
        send: (!send.is_in_place()).then(|| send.user()),
        receive: receive.user(),
        count,
        datatype: Arc::clone(parse::committed(calls.state, handle)?),
        handle,
        operation: parse::operation(calls.state, op)?,
    })
}

collective! {
    /// Section 6.3.
    MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init (
        comm: MPI_Comm
    ) on comm |calls| {
        calls.barrier()
    }

    /// Section 6.4.
    MPI_Bcast / MPI_Bcast_c,
    MPI_Ibcast / MPI_Ibcast_c,
    MPI_Bcast_init / MPI_Bcast_init_c (
        buffer: Memory, count: Int, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm
    ) on comm |calls| {
        let root = calls.root(root)?;
        let data = when(root.is_root() || root.is_part(), || {
            block(calls, (buffer, i64::from(count), datatype))
        })?;
        calls.broadcast(root, data)
    }

    /// Section 6.5.
    MPI_Gather / MPI_Gather_c,
    MPI_Igather / MPI_Igather_c,
    MPI_Gather_init / MPI_Gather_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm
    ) on comm |calls| {
        let root = calls.root(root)?;
        let send = (sendbuf, i64::from(sendcount), sendtype);
        let send = when(root.is_part(), || block_or_in_place(calls, send))?.flatten();
        let receive =
            when(root.is_root(), || block(calls, (recvbuf, i64::from(recvcount), recvtype)))?;
        calls.gather(root, send, receive)
    }

    /// Section 6.5.
    MPI_Gatherv / MPI_Gatherv_c,
    MPI_Igatherv / MPI_Igatherv_c,
    MPI_Gatherv_init / MPI_Gatherv_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcounts: In<Int>, displs: In<Displacement>, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm
    ) on comm |calls| {
        let root = calls.root(root)?;
        let send = (sendbuf, i64::from(sendcount), sendtype);
        let send = when(root.is_part(), || block_or_in_place(calls, send))?.flatten();
        let receive =
            when(root.is_root(), || varying(calls, (recvbuf, recvcounts, displs, recvtype)))?;
        calls.gatherv(root, send, receive)
    }

    /// Section 6.6.
    MPI_Scatter / MPI_Scatter_c,
    MPI_Iscatter / MPI_Iscatter_c,
    MPI_Scatter_init / MPI_Scatter_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm
    ) on comm |calls| {
        let root = calls.root(root)?;
        let send = when(root.is_root(), || block(calls, (sendbuf, i64::from(sendcount), sendtype)))?;
        let receive = (recvbuf, i64::from(recvcount), recvtype);
        let receive = when(root.is_part(), || block_or_in_place(calls, receive))?.flatten();
        calls.scatter(root, send, receive)
    }

    /// Section 6.6.
    MPI_Scatterv / MPI_Scatterv_c,
    MPI_Iscatterv / MPI_Iscatterv_c,
    MPI_Scatterv_init / MPI_Scatterv_init_c (
        sendbuf: Memory, sendcounts: In<Int>, displs: In<Displacement>, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm
    ) on comm |calls| {
        let root = calls.root(root)?;
        let send = when(root.is_root(), || varying(calls, (sendbuf, sendcounts, displs, sendtype)))?;
        let receive = (recvbuf, i64::from(recvcount), recvtype);
        let receive = when(root.is_part(), || block_or_in_place(calls, receive))?.flatten();
        calls.scatterv(root, send, receive)
    }

    /// Section 6.7.
    MPI_Allgather / MPI_Allgather_c,
    MPI_Iallgather / MPI_Iallgather_c,
    MPI_Allgather_init / MPI_Allgather_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let send = block_or_in_place(calls, (sendbuf, i64::from(sendcount), sendtype))?;
        let receive = block(calls, (recvbuf, i64::from(recvcount), recvtype))?;
        calls.allgather(send, Many::equal(receive))
    }

    /// Section 6.7.
    MPI_Allgatherv / MPI_Allgatherv_c,
    MPI_Iallgatherv / MPI_Iallgatherv_c,
    MPI_Allgatherv_init / MPI_Allgatherv_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcounts: In<Int>, displs: In<Displacement>, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let send = block_or_in_place(calls, (sendbuf, i64::from(sendcount), sendtype))?;
        calls.allgather(send, varying(calls, (recvbuf, recvcounts, displs, recvtype))?)
    }

    /// Section 6.8.
    MPI_Alltoall / MPI_Alltoall_c,
    MPI_Ialltoall / MPI_Ialltoall_c,
    MPI_Alltoall_init / MPI_Alltoall_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let send = block_or_in_place(calls, (sendbuf, i64::from(sendcount), sendtype))?;
        let receive = block(calls, (recvbuf, i64::from(recvcount), recvtype))?;
        calls.alltoall(send.map(Many::equal), Many::equal(receive))
    }

    /// Section 6.8.
    MPI_Alltoallv / MPI_Alltoallv_c,
    MPI_Ialltoallv / MPI_Ialltoallv_c,
    MPI_Alltoallv_init / MPI_Alltoallv_init_c (
        sendbuf: Memory, sendcounts: In<Int>, sdispls: In<Displacement>, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcounts: In<Int>, rdispls: In<Displacement>, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let send = (sendbuf, sendcounts, sdispls, sendtype);
        let send = when(!sendbuf.is_in_place(), || varying(calls, send))?;
        calls.alltoall(send, varying(calls, (recvbuf, recvcounts, rdispls, recvtype))?)
    }

    /// Section 6.8.
    MPI_Alltoallw / MPI_Alltoallw_c,
    MPI_Ialltoallw / MPI_Ialltoallw_c,
    MPI_Alltoallw_init / MPI_Alltoallw_init_c (
        sendbuf: Memory, sendcounts: In<Int>, sdispls: In<Displacement>, sendtypes: In<MPI_Datatype>,
        recvbuf: Memory, recvcounts: In<Int>, rdispls: In<Displacement>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm
    ) on comm |calls| {
        let send = (sendbuf, sendcounts, sdispls, sendtypes);
        let send = when(!sendbuf.is_in_place(), || general(calls, send))?;
        calls.alltoall(send, general(calls, (recvbuf, recvcounts, rdispls, recvtypes))?)
    }

    /// Section 6.9.1.
    MPI_Reduce / MPI_Reduce_c,
    MPI_Ireduce / MPI_Ireduce_c,
    MPI_Reduce_init / MPI_Reduce_init_c (
        sendbuf: Memory, recvbuf: Memory, count: Int, datatype: MPI_Datatype, op: MPI_Op, root: c_int,
        comm: MPI_Comm
    ) on comm |calls| {
        let root = calls.root(root)?;
        let operands = when(root.is_root() || root.is_part(), || {
            operands(calls, (sendbuf, recvbuf), i64::from(count), (datatype, op))
        })?;
        calls.reduce(root, operands)
    }

    /// Section 6.9.6.
    MPI_Allreduce / MPI_Allreduce_c,
    MPI_Iallreduce / MPI_Iallreduce_c,
    MPI_Allreduce_init / MPI_Allreduce_init_c (
        sendbuf: Memory, recvbuf: Memory, count: Int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm
    ) on comm |calls| {
        calls.allreduce(operands(calls, (sendbuf, recvbuf), i64::from(count), (datatype, op))?)
    }

    /// Section 6.10.1.
    MPI_Reduce_scatter_block / MPI_Reduce_scatter_block_c,
    MPI_Ireduce_scatter_block / MPI_Ireduce_scatter_block_c,
    MPI_Reduce_scatter_block_init / MPI_Reduce_scatter_block_init_c (
        sendbuf: Memory, recvbuf: Memory, recvcount: Int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm
    ) on comm |calls| {
        let operands = operands(calls, (sendbuf, recvbuf), i64::from(recvcount), (datatype, op))?;
        calls.reduce_scatter_block(operands)
    }

    /// Section 6.10.2.
    MPI_Reduce_scatter / MPI_Reduce_scatter_c,
    MPI_Ireduce_scatter / MPI_Ireduce_scatter_c,
    MPI_Reduce_scatter_init / MPI_Reduce_scatter_init_c (
        sendbuf: Memory, recvbuf: Memory, recvcounts: In<Int>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm
    ) on comm |calls| {
        let operands = operands(calls, (sendbuf, recvbuf), 0, (datatype, op))?;
        calls.reduce_scatter(operands, &numbers(calls, recvcounts, calls.local_size() as usize)?)
    }

    /// Section 6.11.1.
    MPI_Scan / MPI_Scan_c,
    MPI_Iscan / MPI_Iscan_c,
    MPI_Scan_init / MPI_Scan_init_c (
        sendbuf: Memory, recvbuf: Memory, count: Int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm
    ) on comm |calls| {
        calls.scan(operands(calls, (sendbuf, recvbuf), i64::from(count), (datatype, op))?)
    }

    /// Section 6.11.2.
    MPI_Exscan / MPI_Exscan_c,
    MPI_Iexscan / MPI_Iexscan_c,
    MPI_Exscan_init / MPI_Exscan_init_c (
        sendbuf: Memory, recvbuf: Memory, count: Int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm
    ) on comm |calls| {
        calls.exscan(operands(calls, (sendbuf, recvbuf), i64::from(count), (datatype, op))?)
    }
}
