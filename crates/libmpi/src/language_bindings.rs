//! Chapters 19 and 20 of the standard: language bindings and the ABI. Handles to integers and back.
//!
//! The integer of a predefined handle is its ABI value. Any other handle of this library is a positive number below 2^31
//! as well, so that the integer of a handle is always its bits, and both directions cannot fail.

use core::ffi::c_int;
use postrider_abi::*;
use postrider_engine::info::Info;

use crate::info;
use crate::parse::Out;

/// Defines the two conversions of one kind of handle.
macro_rules! conversions {
    ($($handle:ident $to_int:ident $from_int:ident)*) => {
        $(
            // SAFETY: the name is MPI's, and names that begin with MPI_ belong to this library.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case)]
            extern "C" fn $to_int(handle: $handle) -> c_int {
                handle.0.to_int()
            }

            // SAFETY: as above.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case)]
            extern "C" fn $from_int(integer: c_int) -> $handle {
                $handle(Bits::from_int(integer))
            }
        )*
    };
}

conversions! {
    MPI_Comm MPI_Comm_toint MPI_Comm_fromint
    MPI_Datatype MPI_Type_toint MPI_Type_fromint
    MPI_Errhandler MPI_Errhandler_toint MPI_Errhandler_fromint
    MPI_File MPI_File_toint MPI_File_fromint
    MPI_Group MPI_Group_toint MPI_Group_fromint
    MPI_Info MPI_Info_toint MPI_Info_fromint
    MPI_Message MPI_Message_toint MPI_Message_fromint
    MPI_Op MPI_Op_toint MPI_Op_fromint
    MPI_Request MPI_Request_toint MPI_Request_fromint
    MPI_Session MPI_Session_toint MPI_Session_fromint
    MPI_Win MPI_Win_toint MPI_Win_fromint
}

anytime! {
    /// Section 20.2.
    MPI_Abi_get_version (abi_major: Out<c_int>, abi_minor: Out<c_int>) {
        abi_major.set(MPI_ABI_VERSION)?;
        abi_minor.set(MPI_ABI_SUBVERSION)
    }

    /// Section 20.2: the sizes of the integer types, in bytes.
    MPI_Abi_get_info (info: Out<MPI_Info>) {
        let mut sizes = Info::default();
        sizes.set("mpi_aint_size", &size_of::<MPI_Aint>().to_string())?;
        sizes.set("mpi_count_size", &size_of::<MPI_Count>().to_string())?;
        sizes.set("mpi_offset_size", &size_of::<MPI_Offset>().to_string())?;
        info.set(info::new_handle(sizes))
    }

    /// Section 20.2: nothing is known of a Fortran compiler.
    MPI_Abi_get_fortran_info (info: Out<MPI_Info>) {
        info.set(MPI_INFO_NULL)
    }
}
