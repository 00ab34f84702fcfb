//! Partitioned point-to-point communication (MPI 5.0, chapter 4).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_engine::point_to_point::Message;

use crate::parse::{self, In, Memory, Out};
use crate::point_to_point::on_request;
use crate::{instance, library};

/// The message of all partitions together, and their number.
fn message(
    state: &State,
    (memory, partitions, count, datatype): (Memory, c_int, MPI_Count, MPI_Datatype),
    (peer, tag, comm): (c_int, c_int, MPI_Comm),
    info: MPI_Info,
) -> Result<(Message, usize)> {
    let number = parse::length(partitions.into(), "the number of partitions")?;
    let count = parse::count(count)?;
    let too_many =
        || Error::new(MPI_ERR_COUNT, "all partitions together have more elements than can be counted");
    let elements = count.checked_mul(partitions.into()).ok_or_else(too_many)?;
    crate::info::hints(info)?;
    Ok((parse::message(state, (memory, elements, datatype), peer, tag, comm)?, number))
}

fn key(request: MPI_Request) -> Result<Key> {
    parse::request(request)?.ok_or_else(|| Error::new(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL"))
}

fn ready(request: MPI_Request, partitions: impl IntoIterator<Item = c_int> + Clone) -> Result<()> {
    let key = key(request)?;
    // The receiver may have cleared the way meanwhile.
    instance().make_progress()?;
    on_request(key, || instance().with(|state| state.partitions_ready(key, partitions)))
}

mpi! {
    /// Section 4.2.1.
    MPI_Psend_init / MPI_Psend_init_c (
        buf: Memory, partitions: c_int, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>
    ) on comm {
        let key = instance().with(|state| {
            let data = (buf, partitions, count, datatype);
            let (message, partitions) = message(state, data, (dest, tag, comm), info)?;
            state.partitioned_send(message, partitions)
        })?;
        library::leave_behind(request, key)
    }

    /// Section 4.2.1.
    MPI_Precv_init / MPI_Precv_init_c (
        buf: Memory, partitions: c_int, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>
    ) on comm {
        let key = instance().with(|state| {
            let data = (buf, partitions, count, datatype);
            let (message, partitions) = message(state, data, (source, tag, comm), info)?;
            state.partitioned_receive(message, partitions)
        })?;
        library::leave_behind(request, key)
    }

    /// Section 4.2.2.
    MPI_Pready (partition: c_int, request: MPI_Request) {
        ready(request, [partition])
    }

    /// Section 4.2.2: both ends belong to the range.
    MPI_Pready_range (partition_low: c_int, partition_high: c_int, request: MPI_Request) {
        if partition_low > partition_high {
            let detail = format!("the range of partitions from {partition_low} to {partition_high} is empty");
            return Err(Error::new(MPI_ERR_ARG, detail));
        }
        ready(request, partition_low..=partition_high)
    }

    /// Section 4.2.2.
    MPI_Pready_list (length: c_int, array_of_partitions: In<c_int>, request: MPI_Request) {
        let length = parse::length(length.into(), "the length of the list")?;
        ready(request, array_of_partitions.all(length)?)
    }

    /// Section 4.2.2.
    MPI_Parrived (request: MPI_Request, partition: c_int, flag: Out<c_int>) {
        let key = key(request)?;
        let look = |state: &mut State| Ok(state.partition_arrived(key, partition)?.then_some(()));
        on_request(key, || flag.set(c_int::from(instance().look_twice(look)?.is_some())))
    }
}
