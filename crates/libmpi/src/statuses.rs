//! Parts of a status: reading and writing them (MPI 5.0, section 3.2.5), the number of elements in a message (sections
//! 3.2.5 and 5.1.11), and what a generalized request may say of itself (section 13.3).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::error::Result;

use crate::instance;
use crate::parse::{self, In, Out, StatusOut};

/// How many basic elements the message of a status has; none is `MPI_UNDEFINED`.
fn elements(status: In<MPI_Status>, datatype: MPI_Datatype) -> Result<Option<i64>> {
    let bytes = status.all(1)?[0].bytes() as i64;
    instance().with(|state| Ok(parse::datatype(state, datatype)?.elements_in(bytes)))
}

fn set_elements(status: StatusOut, datatype: MPI_Datatype, count: i64) -> Result<()> {
    let count = parse::count(count)?;
    let bytes = instance().with(|state| Ok(parse::datatype(state, datatype)?.bytes_of_elements(count)))?;
    status.update(|status| status.set_bytes(bytes as u64))
}

mpi! {
    /// Section 5.1.11.
    MPI_Get_elements / MPI_Get_elements_c (status: In<MPI_Status>, datatype: MPI_Datatype, count: Out<Int>) {
        count.set_number(elements(status, datatype)?)
    }

    /// Section 5.1.11; deprecated.
    MPI_Get_elements_x (status: In<MPI_Status>, datatype: MPI_Datatype, count: Out<MPI_Count>) {
        count.set_number(elements(status, datatype)?)
    }

    /// Section 13.3.
    MPI_Status_set_elements / MPI_Status_set_elements_c (status: StatusOut, datatype: MPI_Datatype, count: Int) {
        set_elements(status, datatype, i64::from(count))
    }

    /// Section 13.3; deprecated.
    MPI_Status_set_elements_x (status: StatusOut, datatype: MPI_Datatype, count: MPI_Count) {
        set_elements(status, datatype, count)
    }

    /// Section 13.3.
    MPI_Status_set_cancelled (status: StatusOut, flag: c_int) {
        status.update(|status| status.set_cancelled(flag != 0))
    }

    /// Section 3.2.5.
    MPI_Status_get_source (status: In<MPI_Status>, source: Out<c_int>) {
        source.set(status.all(1)?[0].MPI_SOURCE)
    }

    /// Section 3.2.5.
    MPI_Status_get_tag (status: In<MPI_Status>, tag: Out<c_int>) {
        tag.set(status.all(1)?[0].MPI_TAG)
    }

    /// Section 3.2.5.
    MPI_Status_get_error (status: In<MPI_Status>, error: Out<c_int>) {
        error.set(status.all(1)?[0].MPI_ERROR)
    }

    /// Section 3.2.5.
    MPI_Status_set_source (status: StatusOut, source: c_int) {
        status.update(|status| status.MPI_SOURCE = source)
    }

    /// Section 3.2.5.
    MPI_Status_set_tag (status: StatusOut, tag: c_int) {
        status.update(|status| status.MPI_TAG = tag)
    }

    /// Section 3.2.5.
    MPI_Status_set_error (status: StatusOut, error: c_int) {
        status.update(|status| status.MPI_ERROR = error)
    }
}
