//! A process that runs on a library with the other ABI.
//!
//! `LD_PRELOAD` is set for a job before anybody knows what its programs are linked to: a script may start any. So the library for MPICH's ABI can
//! be loaded behind that for the standard's, which gets the calls then. If the process is not of its ABI, it hands them on, with arguments as they are:
//! its integers have room for those of the other ABI, though not the other way round.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use postrider_abi::MPI_Comm;
use postrider_io::{Mpi, loaded_after};

/// Both libraries have this name, which nothing else has.
const MARK: &CStr = c"postrider_io";

const ADVICE: &str = "libpostrider_io.so is for programs of the standard ABI, libpostrider_io_mpich.so for those of MPICH's, \
    LD_PRELOAD=libpostrider_io.so:libpostrider_io_mpich.so, in this order, for either, and nothing of it for others";

// SAFETY: no other library has this name.
#[unsafe(no_mangle)]
extern "C" fn postrider_io() {}

/// The next function of this name, if the process runs on a library with the other ABI; `F` is its type. Without a library for that ABI behind
/// this one the process ends, since it would else work on files by other means than it was meant to.
pub fn function<F: Copy>(name: &str) -> Option<F> {
    static REFUSED: OnceLock<Option<String>> = OnceLock::new();
    let why = REFUSED.get_or_init(Mpi::other_abi).as_deref()?;
    let can_hand_on = size_of::<MPI_Comm>() == size_of::<*mut ()>() && !loaded_after(MARK).is_null();
    if !can_hand_on && name != "MPI_Errhandler_free" {
        eprintln!("postrider: {name}: {why}; {ADVICE}");
        std::process::exit(1);
    }
    let next = loaded_after(&CString::new(name).ok()?);
    const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
    // SAFETY: a function of this name of MPI. Its arguments are passed in the same registers and places in both ABIs, and are not narrower here.
    (!next.is_null()).then(|| unsafe { core::mem::transmute_copy(&next) })
}
