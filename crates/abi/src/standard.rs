//! How the standard ABI represents handles and statuses (section 20 of the standard).
//!
//! In C a handle is a pointer to an incomplete structure. Its bits are a number: the values up to 1023 are the
//! predefined handles, listed in [`crate::constants`], and any other value belongs to the library. So a handle is a
//! transparent `usize` here, with a type of its own for each kind of object: it passes through the C calling
//! convention like a pointer, and the compiler keeps a communicator apart from a window.

use crate::types::Bits;
use core::ffi::{c_int, c_void};

/// What this ABI is called.
pub const ABI_NAME: &str = "the standard ABI";

/// Declares handle types: one line of documentation and one name each.
macro_rules! handles {
    ($($(#[$documentation:meta])* $name:ident)*) => {
        $(
            $(#[$documentation])*
            #[repr(transparent)]
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub struct $name(pub usize);

            const _: () = assert!(size_of::<$name>() == size_of::<*mut c_void>());
            const _: () = assert!(align_of::<$name>() == align_of::<*mut c_void>());
        )*
    };
}

handles! {
    /// Communicator: a group, or two, with a context of its own.
    MPI_Comm
    /// Datatype: a type map with an extent.
    MPI_Datatype
    /// Error handler of a communicator, window, file or session.
    MPI_Errhandler
    /// Open file.
    MPI_File
    /// Ordered set of MPI processes.
    MPI_Group
    /// Ordered set of keys with values.
    MPI_Info
    /// Message that a matched probe took out of the queues.
    MPI_Message
    /// Reduction operation.
    MPI_Op
    /// Communication, file access or generalized request under way, or a persistent one.
    MPI_Request
    /// Session: a use of MPI that is initialized and finalized by itself.
    MPI_Session
    /// Window: memory that other processes access.
    MPI_Win
    /// Enumeration of the tool interface.
    MPI_T_enum
    /// Control variable bound to an object.
    MPI_T_cvar_handle
    /// Performance variable bound to an object, in a session.
    MPI_T_pvar_handle
    /// Session of performance variables.
    MPI_T_pvar_session
    /// Callback registered for a type of event.
    MPI_T_event_registration
    /// Event that happened, valid within its callback.
    MPI_T_event_instance
}

/// Handles below are predefined; a key's handle is the key and this number.
const FIRST_HANDLE: usize = 4096;

impl Bits for usize {
    #[inline]
    fn of_key(key: u32) -> Self {
        key as usize + FIRST_HANDLE
    }

    #[inline]
    fn key(self) -> Option<u32> {
        self.checked_sub(FIRST_HANDLE)?.try_into().ok()
    }

    fn to_int(self) -> c_int {
        self as c_int
    }

    fn to_word(self) -> usize {
        self
    }

    fn from_int(integer: c_int) -> Self {
        integer as usize
    }
}

/// The numbers of attribute keys.
impl Bits for c_int {
    fn of_key(key: u32) -> Self {
        usize::of_key(key).to_int()
    }

    fn key(self) -> Option<u32> {
        usize::try_from(self).ok()?.key()
    }

    fn to_int(self) -> c_int {
        self
    }

    fn to_word(self) -> usize {
        self as usize
    }

    fn from_int(integer: c_int) -> Self {
        integer
    }
}

/// A number below 256 that tells predefined datatypes apart, for tables; none for handles that are certainly not predefined.
#[inline]
pub const fn datatype_slot(handle: MPI_Datatype) -> Option<u8> {
    if handle.0 >> 8 == 2 { Some(handle.0 as u8) } else { None }
}

/// What a receive, probe or test reports. The last five words belong to the library.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(non_snake_case)]
pub struct MPI_Status {
    /// Rank of the sender in the communicator of the receive.
    pub MPI_SOURCE: c_int,
    /// Tag of the message.
    pub MPI_TAG: c_int,
    /// Error code; set only by functions that complete several requests.
    pub MPI_ERROR: c_int,
    /// Number of bytes, cancellation, and whatever else the library keeps.
    pub MPI_internal: [c_int; 5],
}

const _: () = assert!(size_of::<MPI_Status>() == 32);
const _: () = assert!(align_of::<MPI_Status>() == 4);
const _: () = assert!(core::mem::offset_of!(MPI_Status, MPI_TAG) == 4);
const _: () = assert!(core::mem::offset_of!(MPI_Status, MPI_ERROR) == 8);
const _: () = assert!(core::mem::offset_of!(MPI_Status, MPI_internal) == 12);

impl MPI_Status {
    /// The number of bytes that were received.
    pub fn bytes(&self) -> u64 {
        u64::from(self.MPI_internal[0] as u32) | u64::from(self.MPI_internal[1] as u32) << 32
    }

    /// Sets the number of bytes that were received.
    #[inline]
    pub fn set_bytes(&mut self, bytes: u64) {
        self.MPI_internal[0] = bytes as c_int;
        self.MPI_internal[1] = (bytes >> 32) as c_int;
    }

    /// Whether the operation was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.MPI_internal[2] != 0
    }

    /// Sets whether the operation was cancelled.
    #[inline]
    pub fn set_cancelled(&mut self, cancelled: bool) {
        self.MPI_internal[2] = c_int::from(cancelled);
    }
}
