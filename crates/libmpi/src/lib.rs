//! `libmpi_abi.so.1`: the C names of the MPI standard. See ARCHITECTURE.md.

mod language_bindings;
mod unsupported;

use core::ffi::{c_double, c_int};
use postrider_abi::{MPI_Aint, MPI_ERR_UNSUPPORTED_OPERATION};
use std::time::{SystemTime, UNIX_EPOCH};

/// Reports that the function of this name is not there yet.
pub(crate) fn unsupported(_name: &'static str) -> c_int {
    MPI_ERR_UNSUPPORTED_OPERATION
}

// SAFETY: the name is MPI's, and names that begin with MPI_ belong to this library.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
extern "C" fn MPI_Aint_add(base: MPI_Aint, disp: MPI_Aint) -> MPI_Aint {
    base.wrapping_add(disp)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
extern "C" fn MPI_Aint_diff(addr1: MPI_Aint, addr2: MPI_Aint) -> MPI_Aint {
    addr1.wrapping_sub(addr2)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
extern "C" fn MPI_Wtime() -> c_double {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |elapsed| elapsed.as_secs_f64())
}

// SAFETY: as above.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
extern "C" fn MPI_Wtick() -> c_double {
    1e-9
}
