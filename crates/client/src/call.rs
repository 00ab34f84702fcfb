//! The C side: functions of the MPI library in this process, found by name, with their types of the ABI.
//!
//! Unsafe code of this crate is here and in the files below only, one for each kind of object. What they return is safe
//! to use; what a caller has to promise is that handles which it passes in are handles.

mod communicators;
mod datatypes;
mod errors;
mod info;
mod one_sided;
mod requests;
mod scope;
mod transfers;

pub use communicators::{Communicator, Handling, OwnedCommunicator, Parts};
pub use datatypes::{Buffer, Contents, Datatype, OwnedDatatype};
pub use info::info_values;
pub use one_sided::{Epochs, Numbers, Place};
pub use requests::{Outcome, Pending};
pub use scope::{load, loaded_after};
pub use transfers::{Received, Transfer};

use core::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use postrider_abi::*;

use crate::{Error, Result};
use scope::Scope;

/// Declares the functions that are looked up, and the table of their addresses.
macro_rules! functions {
    ($($field:ident = $name:literal, ($($argument:ty),* $(,)?);)*) => {
        /// The functions of the library in this process.
        #[derive(Debug)]
        pub struct Library {
            /// Whether this code is part of it.
            contains_this: bool,
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Library {
            fn look_up() -> Result<Self> {
                let scope = Scope::find()?;
                Ok(Self {
                    contains_this: scope.contains_this,
                    $($field: {
                        let address = scope.address($name)?;
                        // SAFETY: the ABI gives the function of this name this type.
                        unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(address) }
                    },)*
                })
            }
        }
    };
}

functions! {
    init = "PMPI_Init", (*mut c_int, *mut *mut *mut c_char);
    init_thread = "PMPI_Init_thread", (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    initialized = "PMPI_Initialized", (*mut c_int);
    finalize = "PMPI_Finalize", ();
    abort = "PMPI_Abort", (MPI_Comm, c_int);
    file_create_errhandler = "PMPI_File_create_errhandler", (MPI_File_errhandler_function, *mut MPI_Errhandler);
    errhandler_free = "PMPI_Errhandler_free", (*mut MPI_Errhandler);
    get_library_version = "PMPI_Get_library_version", (*mut c_char, *mut c_int);
    query_thread = "PMPI_Query_thread", (*mut c_int);
    error_class = "PMPI_Error_class", (c_int, *mut c_int);
    error_string = "PMPI_Error_string", (c_int, *mut c_char, *mut c_int);
    add_error_code = "PMPI_Add_error_code", (c_int, *mut c_int);
    add_error_string = "PMPI_Add_error_string", (c_int, *const c_char);
    comm_rank = "PMPI_Comm_rank", (MPI_Comm, *mut c_int);
    comm_size = "PMPI_Comm_size", (MPI_Comm, *mut c_int);
    comm_test_inter = "PMPI_Comm_test_inter", (MPI_Comm, *mut c_int);
    comm_split = "PMPI_Comm_split", (MPI_Comm, c_int, c_int, *mut MPI_Comm);
    comm_split_type = "PMPI_Comm_split_type", (MPI_Comm, c_int, c_int, MPI_Info, *mut MPI_Comm);
    comm_set_errhandler = "PMPI_Comm_set_errhandler", (MPI_Comm, MPI_Errhandler);
    comm_get_errhandler = "PMPI_Comm_get_errhandler", (MPI_Comm, *mut MPI_Errhandler);
    comm_group = "PMPI_Comm_group", (MPI_Comm, *mut MPI_Group);
    comm_free = "PMPI_Comm_free", (*mut MPI_Comm);
    send = "PMPI_Send_c", (*const c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm);
    receive = "PMPI_Recv_c", (*mut c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Status);
    iprobe = "PMPI_Iprobe", (c_int, c_int, MPI_Comm, *mut c_int, *mut MPI_Status);
    isend = "PMPI_Isend_c", (*const c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Request);
    irecv = "PMPI_Irecv_c", (*mut c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Request);
    test = "PMPI_Test", (*mut MPI_Request, *mut c_int, *mut MPI_Status);
    wait = "PMPI_Wait", (*mut MPI_Request, *mut MPI_Status);
    get_count = "PMPI_Get_count_c", (*const MPI_Status, MPI_Datatype, *mut MPI_Count);
    barrier = "PMPI_Barrier", (MPI_Comm);
    bcast = "PMPI_Bcast_c", (*mut c_void, MPI_Count, MPI_Datatype, c_int, MPI_Comm);
    scan = "PMPI_Scan_c", (*const c_void, *mut c_void, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
    allgather = "PMPI_Allgather_c",
        (*const c_void, MPI_Count, MPI_Datatype, *mut c_void, MPI_Count, MPI_Datatype, MPI_Comm);
    alltoall = "PMPI_Alltoall_c",
        (*const c_void, MPI_Count, MPI_Datatype, *mut c_void, MPI_Count, MPI_Datatype, MPI_Comm);
    alltoallv = "PMPI_Alltoallv_c", (
        *const c_void, *const MPI_Count, *const MPI_Aint, MPI_Datatype, *mut c_void, *const MPI_Count, *const MPI_Aint,
        MPI_Datatype, MPI_Comm
    );
    type_size = "PMPI_Type_size_c", (MPI_Datatype, *mut MPI_Count);
    type_get_extent = "PMPI_Type_get_extent_c", (MPI_Datatype, *mut MPI_Count, *mut MPI_Count);
    type_get_envelope = "PMPI_Type_get_envelope_c",
        (MPI_Datatype, *mut MPI_Count, *mut MPI_Count, *mut MPI_Count, *mut MPI_Count, *mut c_int);
    type_get_contents = "PMPI_Type_get_contents_c", (
        MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, *mut c_int, *mut MPI_Aint, *mut MPI_Count,
        *mut MPI_Datatype
    );
    type_dup = "PMPI_Type_dup", (MPI_Datatype, *mut MPI_Datatype);
    type_free = "PMPI_Type_free", (*mut MPI_Datatype);
    pack = "PMPI_Pack_c",
        (*const c_void, MPI_Count, MPI_Datatype, *mut c_void, MPI_Count, *mut MPI_Count, MPI_Comm);
    unpack = "PMPI_Unpack_c",
        (*const c_void, MPI_Count, *mut MPI_Count, *mut c_void, MPI_Count, MPI_Datatype, MPI_Comm);
    pack_external = "PMPI_Pack_external_c",
        (*const c_char, *const c_void, MPI_Count, MPI_Datatype, *mut c_void, MPI_Count, *mut MPI_Count);
    unpack_external = "PMPI_Unpack_external_c",
        (*const c_char, *const c_void, MPI_Count, *mut MPI_Count, *mut c_void, MPI_Count, MPI_Datatype);
    // Its newer name, with _c behind, MPICH has from version 4.1 on only.
    status_set_elements = "PMPI_Status_set_elements_x", (*mut MPI_Status, MPI_Datatype, MPI_Count);
    status_set_cancelled = "PMPI_Status_set_cancelled", (*mut MPI_Status, c_int);
    grequest_start = "PMPI_Grequest_start", (
        MPI_Grequest_query_function, MPI_Grequest_free_function, MPI_Grequest_cancel_function, *mut c_void,
        *mut MPI_Request
    );
    grequest_complete = "PMPI_Grequest_complete", (MPI_Request);
    info_create = "PMPI_Info_create", (*mut MPI_Info);
    info_set = "PMPI_Info_set", (MPI_Info, *const c_char, *const c_char);
    info_get_string = "PMPI_Info_get_string", (MPI_Info, *const c_char, *mut c_int, *mut c_char, *mut c_int);
    win_allocate = "PMPI_Win_allocate", (MPI_Aint, c_int, MPI_Info, MPI_Comm, *mut c_void, *mut MPI_Win);
    win_free = "PMPI_Win_free", (*mut MPI_Win);
    win_set_errhandler = "PMPI_Win_set_errhandler", (MPI_Win, MPI_Errhandler);
    win_lock = "PMPI_Win_lock", (c_int, c_int, c_int, MPI_Win);
    win_unlock = "PMPI_Win_unlock", (c_int, MPI_Win);
    win_flush = "PMPI_Win_flush", (c_int, MPI_Win);
    win_lock_all = "PMPI_Win_lock_all", (c_int, MPI_Win);
    win_unlock_all = "PMPI_Win_unlock_all", (MPI_Win);
    get = "PMPI_Get_c",
        (*mut c_void, MPI_Count, MPI_Datatype, c_int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win);
    put = "PMPI_Put_c",
        (*const c_void, MPI_Count, MPI_Datatype, c_int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win);
    compare_and_swap = "PMPI_Compare_and_swap",
        (*const c_void, *const c_void, *mut c_void, MPI_Datatype, c_int, MPI_Aint, MPI_Win);
    fetch_and_op = "PMPI_Fetch_and_op",
        (*const c_void, *mut c_void, MPI_Datatype, c_int, MPI_Aint, MPI_Op, MPI_Win);
}

fn check(name: &'static str, code: c_int) -> Result<()> {
    if code == MPI_SUCCESS { Ok(()) } else { Err(Error::Code(name, code)) }
}

/// What a function has written to a buffer, and how long it says that it is.
fn rust_text(text: &[c_char], length: c_int) -> String {
    let bytes: Vec<u8> = text.iter().take(length as usize).map(|&letter| letter as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Library {
    /// The library in this process, looked up once.
    pub fn find() -> Result<&'static Self> {
        static LIBRARY: OnceLock<Result<Library>> = OnceLock::new();
        LIBRARY.get_or_init(Self::look_up).as_ref().map_err(Clone::clone)
    }

    pub fn init(&self) -> Result<()> {
        // SAFETY: null pointers are allowed for both arguments (section 11.2.1).
        check("MPI_Init", unsafe { (self.init)(std::ptr::null_mut(), std::ptr::null_mut()) })
    }

    pub fn init_for_threads(&self) -> Result<()> {
        let (null, mut level) = (std::ptr::null_mut(), 0);
        let init = self.init_thread;
        // SAFETY: null pointers are allowed for the first two arguments (section 11.6.2), and a place for the result.
        check("MPI_Init_thread", unsafe {
            init(null, std::ptr::null_mut(), MPI_THREAD_MULTIPLE, &raw mut level)
        })
    }

    pub fn initialized(&self) -> Result<bool> {
        let mut flag = 0;
        // SAFETY: a place for the result.
        check("MPI_Initialized", unsafe { (self.initialized)(&raw mut flag) })?;
        Ok(flag != 0)
    }

    pub fn finalize(&self) -> Result<()> {
        // SAFETY: no arguments.
        check("MPI_Finalize", unsafe { (self.finalize)() })
    }

    pub fn abort(&self, code: c_int) {
        // SAFETY: a handle and a number.
        unsafe { (self.abort)(MPI_COMM_WORLD, code) };
    }

    pub fn new_file_error_handler(&self, function: MPI_File_errhandler_function) -> Result<MPI_Errhandler> {
        let (mut made, create) = (MPI_ERRHANDLER_NULL, self.file_create_errhandler);
        // SAFETY: a place for the result. The library calls the function for files, and for those of its own only.
        check("MPI_File_create_errhandler", unsafe { create(function, &raw mut made) })?;
        Ok(made)
    }

    pub fn free_error_handler(&self, mut handle: MPI_Errhandler) -> Result<MPI_Errhandler> {
        // SAFETY: a handle, and a place for the null handle.
        check("MPI_Errhandler_free", unsafe { (self.errhandler_free)(&raw mut handle) })?;
        Ok(handle)
    }

    pub fn version(&self) -> Result<String> {
        let (mut text, mut length) = ([0 as c_char; MPI_MAX_LIBRARY_VERSION_STRING], 0);
        // SAFETY: room for any version, and a place for its length.
        let got = unsafe { (self.get_library_version)(text.as_mut_ptr(), &raw mut length) };
        check("MPI_Get_library_version", got)?;
        Ok(rust_text(&text, length))
    }

    pub fn thread_level(&self) -> Result<c_int> {
        let mut level = 0;
        // SAFETY: a place for the result.
        check("MPI_Query_thread", unsafe { (self.query_thread)(&raw mut level) })?;
        Ok(level)
    }

    /// Fills a status with a number of bytes (section 13.3).
    pub fn set_status(&self, status: &mut MPI_Status, bytes: i64) -> Result<()> {
        status.MPI_SOURCE = MPI_ANY_SOURCE;
        status.MPI_TAG = MPI_ANY_TAG;
        // SAFETY: a status that can be written.
        unsafe {
            check("MPI_Status_set_elements_x", (self.status_set_elements)(status, MPI_BYTE, bytes))?;
            check("MPI_Status_set_cancelled", (self.status_set_cancelled)(status, 0))
        }
    }
}
