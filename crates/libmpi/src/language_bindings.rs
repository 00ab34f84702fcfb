//! Chapters 19 and 20 of the standard: language bindings and the ABI. Handles to integers and back.
//!
//! The integer of a predefined handle is its ABI value. Any other handle of this library is a positive number below 2^31
//! as well, so that the integer of a handle is always its bits, and both directions cannot fail.

use core::ffi::c_int;
use postrider_abi::*;
use postrider_engine::error::{Error, Result};
use postrider_engine::info::Info;

use crate::info;
use crate::parse::{Memory, Out};
use crate::tables::tables;

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

// Section 20.4.
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
        sizes.set("mpi_aint_size", size_of::<MPI_Aint>().to_string())?;
        sizes.set("mpi_count_size", size_of::<MPI_Count>().to_string())?;
        sizes.set("mpi_offset_size", size_of::<MPI_Offset>().to_string())?;
        info.set(info::new_handle(sizes)?)
    }

    /// Section 20.3: null as long as the program has said nothing of its Fortran compiler.
    MPI_Abi_get_fortran_info (info: Out<MPI_Info>) {
        let found = tables().fortran.clone();
        info.set(found.map(info::new_handle).transpose()?.unwrap_or(MPI_INFO_NULL))
    }

    /// Section 20.3: once in a process. The sizes must be those of this library's Fortran datatypes.
    MPI_Abi_set_fortran_info (info: MPI_Info) {
        let given = info::hints(info)?;
        let mut known = Info::default();
        for (key, expected) in FORTRAN_SIZES {
            let Some(value) = given.value(key).map(String::from_utf8_lossy) else { continue };
            if value.parse() != Ok(expected) {
                let detail = format!("{key} is \"{value}\"; this library has Fortran types of {expected} bytes there");
                return Err(Error::new(MPI_ERR_ABI, detail));
            }
            known.set(key, value.as_bytes())?;
        }
        for key in FORTRAN_SUPPORT {
            given.value(key).map_or(Ok(()), |value| known.set(key, value))?;
        }
        once(&mut tables().fortran, known)
    }

    /// Section 20.3: once in a process. Operations take whatever is not `.FALSE.` for true and give 1 for true, so that the
    /// representations must agree with that: all bits zero, and the lowest one set.
    MPI_Abi_set_fortran_booleans (logical_size: c_int, logical_true: Memory, logical_false: Memory) {
        let bytes = check_logical(logical_size)?;
        let mut booleans = [vec![0; bytes], vec![0; bytes]];
        for (memory, boolean) in [logical_true, logical_false].into_iter().zip(&mut booleans) {
            if memory.0 == 0 {
                return Err(Error::new(MPI_ERR_ARG, "a representation of a boolean is a null pointer"));
            }
            memory.user().read(boolean);
        }
        let [is_true, is_false] = &booleans;
        // The lowest bit is in the first byte on the machines that this library supports.
        if is_false.iter().any(|&byte| byte != 0) || is_true.first().is_none_or(|byte| byte & 1 == 0) {
            let detail = format!(
                "booleans are {is_true:?} and {is_false:?}; this library can have 1 or all bits set, and zero"
            );
            return Err(Error::new(MPI_ERR_ABI, detail));
        }
        once(&mut tables().fortran_booleans, booleans)
    }

    /// Section 20.3.
    MPI_Abi_get_fortran_booleans (
        logical_size: c_int, logical_true: Memory, logical_false: Memory, is_set: Out<c_int>
    ) {
        check_logical(logical_size)?;
        let found = tables().fortran_booleans.clone();
        is_set.set(c_int::from(found.is_some()))?;
        for (memory, boolean) in [logical_true, logical_false].into_iter().zip(found.iter().flatten()) {
            if memory.0 == 0 {
                return Err(Error::new(MPI_ERR_ARG, "there is no place for a boolean: a null pointer"));
            }
            memory.user().write(boolean);
        }
        Ok(())
    }
}

/// The sizes of Fortran types that a program may tell, and what they are here.
const FORTRAN_SIZES: [(&str, usize); 4] = [
    ("mpi_logical_size", LOGICAL_BYTES),
    ("mpi_integer_size", 4),
    ("mpi_real_size", 4),
    ("mpi_double_precision_size", 8),
];

/// Bytes of `MPI_LOGICAL`.
const LOGICAL_BYTES: usize = 4;

/// Optional types that a compiler may have; their datatypes are there in any case.
const FORTRAN_SUPPORT: [&str; 19] = [
    "mpi_logical1_supported",
    "mpi_logical2_supported",
    "mpi_logical4_supported",
    "mpi_logical8_supported",
    "mpi_logical16_supported",
    "mpi_integer1_supported",
    "mpi_integer2_supported",
    "mpi_integer4_supported",
    "mpi_integer8_supported",
    "mpi_integer16_supported",
    "mpi_real2_supported",
    "mpi_real4_supported",
    "mpi_real8_supported",
    "mpi_real16_supported",
    "mpi_complex4_supported",
    "mpi_complex8_supported",
    "mpi_complex16_supported",
    "mpi_complex32_supported",
    "mpi_double_complex_supported",
];

/// Sets what may be set once.
fn once<T>(place: &mut Option<T>, value: T) -> Result<()> {
    if place.is_some() {
        return Err(Error::new(MPI_ERR_ABI, "it has been set already, and can be only once in a process"));
    }
    *place = Some(value);
    Ok(())
}

fn check_logical(bytes: c_int) -> Result<usize> {
    if usize::try_from(bytes) != Ok(LOGICAL_BYTES) {
        let detail = format!("a LOGICAL of {bytes} bytes; this library's MPI_LOGICAL has {LOGICAL_BYTES}");
        return Err(Error::new(MPI_ERR_ABI, detail));
    }
    Ok(LOGICAL_BYTES)
}
