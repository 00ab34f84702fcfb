//! How MPICH's ABI, that of `libmpi.so.12`, represents handles and statuses. Intel MPI, MVAPICH and Cray MPICH have the same.
//!
//! Most handles are an `int` whose first two bits say what it is: 00 invalid, 01 predefined, 10 and 11 made by the library. The
//! next four are the kind of object, and the rest is the library's. Handles of files and of the tool interface are pointers, which
//! are transparent `usize`s here. Keys get the numbers that begin with 11, since a few predefined datatypes begin with 10.

use crate::types::Bits;
use core::ffi::c_int;

/// What this ABI is called.
pub const ABI_NAME: &str = "MPICH's ABI";

/// Declares handle types: one line of documentation and one name each.
macro_rules! handles {
    ($bits:ty; $($(#[$documentation:meta])* $name:ident)*) => {
        $(
            $(#[$documentation])*
            #[repr(transparent)]
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub struct $name(pub $bits);
        )*
    };
}

handles! {
    c_int;
    /// Communicator: a group, or two, with a context of its own.
    MPI_Comm
    /// Datatype: a type map with an extent.
    MPI_Datatype
    /// Error handler of a communicator, window, file or session.
    MPI_Errhandler
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
}

handles! {
    usize;
    /// Open file.
    MPI_File
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

/// The first two bits of a handle that was made here.
const MADE: u32 = 0b11 << 30;

impl Bits for c_int {
    #[inline]
    fn of_key(key: u32) -> Self {
        (MADE | key) as c_int
    }

    #[inline]
    fn key(self) -> Option<u32> {
        let bits = self as u32;
        if bits >= MADE { Some(bits & !MADE) } else { None }
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

/// The bits of handles that are pointers in C. They are the same number, so that its integer is, too.
impl Bits for usize {
    fn of_key(key: u32) -> Self {
        Self::from_int(c_int::of_key(key))
    }

    fn key(self) -> Option<u32> {
        (self as u32 as usize == self).then(|| self.to_int().key()).flatten()
    }

    fn to_int(self) -> c_int {
        self as c_int
    }

    fn to_word(self) -> usize {
        self
    }

    fn from_int(integer: c_int) -> Self {
        integer as u32 as usize
    }
}

/// A number below 256 that tells predefined datatypes apart, for tables; none for handles that are certainly not
/// predefined. The last byte does that for most, where the byte before is the size; the others are pairs.
#[inline]
pub const fn datatype_slot(handle: MPI_Datatype) -> Option<u8> {
    match handle.0 as u32 >> 16 {
        0x4c00 => Some(handle.0 as u8),
        0x8c00 if handle.0 & 0xffff < 8 => Some(0xf8 | handle.0 as u8),
        _ => None,
    }
}

/// What a receive, probe or test reports. The first two words belong to the library.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(non_snake_case)]
pub struct MPI_Status {
    /// The low half of the number of bytes.
    pub count_lo: c_int,
    /// The last bit is cancellation, the others are the high half of the number of bytes.
    pub count_hi_and_cancelled: c_int,
    /// Rank of the sender in the communicator of the receive.
    pub MPI_SOURCE: c_int,
    /// Tag of the message.
    pub MPI_TAG: c_int,
    /// Error code; set only by functions that complete several requests.
    pub MPI_ERROR: c_int,
}

const _: () = assert!(size_of::<MPI_Status>() == 20);

impl MPI_Status {
    /// The number of bytes that were received.
    pub fn bytes(&self) -> u64 {
        u64::from(self.count_lo as u32) | u64::from(self.count_hi_and_cancelled as u32 >> 1) << 32
    }

    /// Sets the number of bytes that were received.
    #[inline]
    pub fn set_bytes(&mut self, bytes: u64) {
        self.count_lo = bytes as c_int;
        self.count_hi_and_cancelled = ((bytes >> 32) as c_int * 2) | (self.count_hi_and_cancelled & 1);
    }

    /// Whether the operation was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.count_hi_and_cancelled & 1 != 0
    }

    /// Sets whether the operation was cancelled.
    #[inline]
    pub fn set_cancelled(&mut self, cancelled: bool) {
        self.count_hi_and_cancelled = (self.count_hi_and_cancelled & !1) | c_int::from(cancelled);
    }
}
