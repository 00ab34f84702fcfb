//! The C side: functions of the MPI library in this process, found by name, with their types of the standard ABI.
//!
//! Unsafe code of this crate is here only.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use postrider_abi::{MPI_BYTE, MPI_Comm, MPI_Count, MPI_Datatype, MPI_SUCCESS, MPI_Status};

use crate::{Error, Result};

/// Declares the functions that are looked up, and the table of their addresses.
macro_rules! functions {
    ($($field:ident = $name:literal, ($($argument:ty),*);)*) => {
        /// The functions of the library in this process.
        #[derive(Debug)]
        pub struct Library {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Library {
            fn look_up() -> Result<Self> {
                Ok(Self {
                    $($field: {
                        let address = address($name).ok_or(Error::NoLibrary($name))?;
                        // SAFETY: the standard ABI gives the function of this name this type.
                        unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(address) }
                    },)*
                })
            }
        }
    };
}

functions! {
    init = "PMPI_Init", (*mut c_int, *mut *mut *mut c_char);
    initialized = "PMPI_Initialized", (*mut c_int);
    finalize = "PMPI_Finalize", ();
    comm_rank = "PMPI_Comm_rank", (MPI_Comm, *mut c_int);
    comm_size = "PMPI_Comm_size", (MPI_Comm, *mut c_int);
    send = "PMPI_Send_c", (*const c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm);
    receive = "PMPI_Recv_c", (*mut c_void, MPI_Count, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Status);
    get_count = "PMPI_Get_count_c", (*const MPI_Status, MPI_Datatype, *mut MPI_Count);
}

/// The address of a function in this process.
fn address(name: &str) -> Option<*mut c_void> {
    let mut text = name.as_bytes().to_vec();
    text.push(0);
    let text = CStr::from_bytes_with_nul(&text).ok()?;
    // SAFETY: a NUL-terminated name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, text.as_ptr()) };
    (!found.is_null()).then_some(found)
}

fn check(name: &'static str, code: c_int) -> Result<()> {
    if code == MPI_SUCCESS { Ok(()) } else { Err(Error::Code(name, code)) }
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

    pub fn comm_rank(&self, communicator: MPI_Comm) -> Result<c_int> {
        let mut rank = 0;
        // SAFETY: a place for the result.
        check("MPI_Comm_rank", unsafe { (self.comm_rank)(communicator, &raw mut rank) })?;
        Ok(rank)
    }

    pub fn comm_size(&self, communicator: MPI_Comm) -> Result<c_int> {
        let mut size = 0;
        // SAFETY: a place for the result.
        check("MPI_Comm_size", unsafe { (self.comm_size)(communicator, &raw mut size) })?;
        Ok(size)
    }

    pub fn send(&self, bytes: &[u8], destination: c_int, tag: c_int, communicator: MPI_Comm) -> Result<()> {
        let (start, count) = (bytes.as_ptr().cast(), bytes.len() as MPI_Count);
        // SAFETY: `count` readable bytes, for as long as the blocking call lasts.
        check("MPI_Send_c", unsafe { (self.send)(start, count, MPI_BYTE, destination, tag, communicator) })
    }

    pub fn receive(
        &self,
        bytes: &mut [u8],
        source: c_int,
        tag: c_int,
        communicator: MPI_Comm,
    ) -> Result<usize> {
        let (start, room) = (bytes.as_mut_ptr().cast(), bytes.len() as MPI_Count);
        let (mut status, mut count) = (MPI_Status::default(), 0);
        // SAFETY: `room` writable bytes, for as long as the blocking call lasts, and places for the results.
        unsafe {
            let received = (self.receive)(start, room, MPI_BYTE, source, tag, communicator, &raw mut status);
            check("MPI_Recv_c", received)?;
            check("MPI_Get_count_c", (self.get_count)(&raw const status, MPI_BYTE, &raw mut count))?;
        }
        Ok(count as usize)
    }
}
