//! Groups, contexts, communicators, caching (MPI 5.0, chapter 7).

use core::ffi::c_int;

use postrider_abi::*;

use crate::instance;
use crate::parse::{self, Out};

mpi! {
    /// Section 7.4.1.
    MPI_Comm_size (comm: MPI_Comm, size: Out<c_int>) on comm {
        let key = parse::communicator(comm)?;
        size.set(instance().with(|state| Ok(state.communicators.get(key)?.size()))? as c_int)
    }

    /// Section 7.4.1.
    MPI_Comm_rank (comm: MPI_Comm, rank: Out<c_int>) on comm {
        let key = parse::communicator(comm)?;
        rank.set(instance().with(|state| Ok(state.communicators.get(key)?.rank))? as c_int)
    }
}
