//! Virtual topologies (MPI 5.0, chapter 8): whether a communicator has one. No function attaches one yet, so none has.

use core::ffi::c_int;

use postrider_abi::*;

use crate::instance;
use crate::parse::{self, Out};

mpi! {
    /// Section 8.5.5.
    MPI_Topo_test (comm: MPI_Comm, status: Out<c_int>) on comm {
        let key = parse::communicator(comm)?;
        instance().with(|state| state.communicators.get(key).map(drop))?;
        status.set(MPI_UNDEFINED)
    }
}
