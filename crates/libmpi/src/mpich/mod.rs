//! What `libmpi.so.12` has and the standard ABI has not: functions that MPI 3.0 removed, statuses of Fortran, and the few symbols
//! that are not functions of the standard. Names that are only other names of functions here are given by the linker;
//! `crates/abi/names-mpich.txt` lists both kinds. What MPICH's libraries for other languages ask of it is in `languages`.

mod languages;

use core::ffi::c_int;
use std::sync::atomic::AtomicUsize;

use postrider_abi::*;
use postrider_engine::error::{Error, Result};

use crate::instance;
use crate::parse::{self, In, Memory, Out};

/// Lower bound and extent of a datatype.
fn bounds(datatype: MPI_Datatype) -> Result<(MPI_Aint, MPI_Aint)> {
    instance().with(|state| {
        let datatype = parse::datatype(state, datatype)?;
        Ok((datatype.lb() as MPI_Aint, datatype.extent() as MPI_Aint))
    })
}

mpi! {
    /// Removed by MPI 3.0: `MPI_Type_get_extent`.
    MPI_Type_extent (datatype: MPI_Datatype, extent: Out<MPI_Aint>) {
        extent.set(bounds(datatype)?.1)
    }

    /// Removed by MPI 3.0: `MPI_Type_get_extent`.
    MPI_Type_lb (datatype: MPI_Datatype, displacement: Out<MPI_Aint>) {
        displacement.set(bounds(datatype)?.0)
    }

    /// Removed by MPI 3.0: `MPI_Type_get_extent`.
    MPI_Type_ub (datatype: MPI_Datatype, displacement: Out<MPI_Aint>) {
        let (lb, extent) = bounds(datatype)?;
        displacement.set(lb + extent)
    }
}

anytime! {
    /// Section 19.3.5: a status of Fortran has the same words, with either of its modules.
    MPI_Status_c2f (c_status: In<c_int>, f_status: Out<c_int>) {
        if [c_status.0.addr(), f_status.0.addr()].contains(&MPI_STATUS_IGNORE) {
            return Err(Error::new(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE"));
        }
        for (index, word) in c_status.all(MPI_F_STATUS_SIZE as usize)?.into_iter().enumerate() {
            f_status.set_at(index, word)?;
        }
        Ok(())
    }

    /// `MPI_COMM_DUP_FN` and its like: a function as any other in this ABI.
    MPIR_Dup_fn (
        _object: c_int, _keyval: c_int, _extra_state: Memory, attribute_val_in: usize, attribute_val_out: Out<usize>,
        flag: Out<c_int>
    ) -> c_int {
        match attribute_val_out.set(attribute_val_in).and_then(|()| flag.set(1)) {
            Ok(()) => MPI_SUCCESS,
            Err(error) => error.class,
        }
    }
}

/// Defines a constant whose value is an address that nobody follows. It is in memory that can be written, since Fortran's library
/// puts the addresses of its own constants into some of them.
macro_rules! addresses {
    ($($(#[doc = $doc:literal])* $name:ident $value:expr;)*) => {
        $(
            $(#[doc = $doc])*
            // SAFETY: the name is MPI's, and names that begin with MPI_ belong to this library.
            #[unsafe(no_mangle)]
            static $name: AtomicUsize = AtomicUsize::new($value);
        )*
    };
}

addresses! {
    /// Section 8.5.4.
    MPI_UNWEIGHTED postrider_abi::MPI_UNWEIGHTED;
    /// Section 8.5.4.
    MPI_WEIGHTS_EMPTY postrider_abi::MPI_WEIGHTS_EMPTY;
    /// Section 15.3.7.
    MPI_T_PVAR_ALL_HANDLES postrider_abi::MPI_T_PVAR_ALL_HANDLES.0;
    /// Section 19.3.5: what Fortran's `MPI_STATUS_IGNORE` is to C.
    MPI_F_STATUS_IGNORE MPI_STATUS_IGNORE;
    /// Section 19.3.5.
    MPI_F_STATUSES_IGNORE MPI_STATUSES_IGNORE;
}
