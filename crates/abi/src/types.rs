//! Types of the ABI: integer types, and the types of callbacks (sections 2.5 and 19.1 of the standard), which are the same in both
//! ABIs; and handles and `MPI_Status`, which are not.
//!
//! Callbacks are `Option`s of C functions, since a null pointer is a legal argument for some of them. The addresses that
//! an ABI gives to the standard's own callbacks (0 and 1, see for instance `MPI_COMM_DUP_FN`) are not functions at all: they are
//! to be compared by address before anybody calls anything.

pub use crate::representation::*;
use core::ffi::{c_int, c_void};

/// What a handle is made of: a number as wide as a pointer, or an `int`. The objects that a library makes have keys of up to
/// 30 bits, and each key has a number that no predefined handle has.
pub trait Bits: Copy {
    /// The number for a key.
    fn of_key(key: u32) -> Self;
    /// The key of a number, if it can be one.
    fn key(self) -> Option<u32>;
    /// The number as an integer of C or Fortran.
    fn to_int(self) -> c_int;
    /// The number as wide as a pointer, for callbacks.
    fn to_word(self) -> usize;
    /// The number that an integer stands for.
    fn from_int(integer: c_int) -> Self;
}

/// Address, or difference of addresses, in bytes.
pub type MPI_Aint = isize;
/// Offset in a file.
pub type MPI_Offset = i64;
/// Number of elements or bytes, wide enough for both addresses and file offsets.
pub type MPI_Count = i64;
/// Fortran `INTEGER` of default kind, as Fortran compilers have it on the supported machines. It is not part of the C ABI.
pub type MPI_Fint = c_int;
/// What an event callback may do: one of the `MPI_T_CB_REQUIRE_` constants.
pub type MPI_T_cb_safety = c_int;
/// Whether events arrive in order: one of the `MPI_T_SOURCE_` constants.
pub type MPI_T_source_order = c_int;

const _: () = assert!(size_of::<MPI_Aint>() == size_of::<*mut c_void>());
const _: () = assert!(size_of::<MPI_Count>() >= size_of::<MPI_Aint>());
const _: () = assert!(size_of::<MPI_Count>() >= size_of::<MPI_Offset>());
const _: () = assert!(size_of::<MPI_User_function>() == size_of::<*mut c_void>());

/// Reduction operation of a user: `inoutvec[i] = invec[i] op inoutvec[i]`.
pub type MPI_User_function = Option<
    unsafe extern "C" fn(
        invec: *mut c_void,
        inoutvec: *mut c_void,
        len: *mut c_int,
        datatype: *mut MPI_Datatype,
    ),
>;
/// The same with a large count.
pub type MPI_User_function_c = Option<
    unsafe extern "C" fn(
        invec: *mut c_void,
        inoutvec: *mut c_void,
        len: *mut MPI_Count,
        datatype: *mut MPI_Datatype,
    ),
>;

/// Fills the status of a generalized request.
pub type MPI_Grequest_query_function =
    Option<unsafe extern "C" fn(extra_state: *mut c_void, status: *mut MPI_Status) -> c_int>;
/// Frees what belongs to a generalized request.
pub type MPI_Grequest_free_function = Option<unsafe extern "C" fn(extra_state: *mut c_void) -> c_int>;
/// Cancels a generalized request; `complete` tells whether it has completed already.
pub type MPI_Grequest_cancel_function =
    Option<unsafe extern "C" fn(extra_state: *mut c_void, complete: c_int) -> c_int>;

/// Declares the two callbacks of attribute caching for one kind of object.
macro_rules! attribute_callbacks {
    ($handle:ident, $copy:ident, $delete:ident) => {
        /// Copies an attribute when its object is duplicated; `flag` tells whether the duplicate gets it.
        pub type $copy = Option<
            unsafe extern "C" fn(
                object: $handle,
                keyval: c_int,
                extra_state: *mut c_void,
                attribute_val_in: *mut c_void,
                attribute_val_out: *mut c_void,
                flag: *mut c_int,
            ) -> c_int,
        >;
        /// Deletes an attribute when it is replaced, or when its object is freed.
        pub type $delete = Option<
            unsafe extern "C" fn(
                object: $handle,
                keyval: c_int,
                attribute_val: *mut c_void,
                extra_state: *mut c_void,
            ) -> c_int,
        >;
    };
}

attribute_callbacks!(MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function);
attribute_callbacks!(MPI_Datatype, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function);
attribute_callbacks!(MPI_Win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function);

/// Deprecated name of [`MPI_Comm_copy_attr_function`].
pub type MPI_Copy_function = MPI_Comm_copy_attr_function;
/// Deprecated name of [`MPI_Comm_delete_attr_function`].
pub type MPI_Delete_function = MPI_Comm_delete_attr_function;

/// Error handler of a communicator.
pub type MPI_Comm_errhandler_function =
    Option<unsafe extern "C" fn(comm: *mut MPI_Comm, error_code: *mut c_int, ...)>;
/// Error handler of a file.
pub type MPI_File_errhandler_function =
    Option<unsafe extern "C" fn(file: *mut MPI_File, error_code: *mut c_int, ...)>;
/// Error handler of a window.
pub type MPI_Win_errhandler_function =
    Option<unsafe extern "C" fn(win: *mut MPI_Win, error_code: *mut c_int, ...)>;
/// Error handler of a session.
pub type MPI_Session_errhandler_function =
    Option<unsafe extern "C" fn(session: *mut MPI_Session, error_code: *mut c_int, ...)>;

/// Extent of a datatype in a data representation.
pub type MPI_Datarep_extent_function = Option<
    unsafe extern "C" fn(datatype: MPI_Datatype, extent: *mut MPI_Aint, extra_state: *mut c_void) -> c_int,
>;
/// Conversion from or to a data representation.
pub type MPI_Datarep_conversion_function = Option<
    unsafe extern "C" fn(
        userbuf: *mut c_void,
        datatype: MPI_Datatype,
        count: c_int,
        filebuf: *mut c_void,
        position: MPI_Offset,
        extra_state: *mut c_void,
    ) -> c_int,
>;
/// The same with a large count.
pub type MPI_Datarep_conversion_function_c = Option<
    unsafe extern "C" fn(
        userbuf: *mut c_void,
        datatype: MPI_Datatype,
        count: MPI_Count,
        filebuf: *mut c_void,
        position: MPI_Offset,
        extra_state: *mut c_void,
    ) -> c_int,
>;

/// Called when an event happens.
pub type MPI_T_event_cb_function = Option<
    unsafe extern "C" fn(
        event_instance: MPI_T_event_instance,
        event_registration: MPI_T_event_registration,
        cb_safety: MPI_T_cb_safety,
        user_data: *mut c_void,
    ),
>;
/// Called when a registration has been freed and no callback will follow.
pub type MPI_T_event_free_cb_function = Option<
    unsafe extern "C" fn(
        event_registration: MPI_T_event_registration,
        cb_safety: MPI_T_cb_safety,
        user_data: *mut c_void,
    ),
>;
/// Called when events were lost.
pub type MPI_T_event_dropped_cb_function = Option<
    unsafe extern "C" fn(
        count: MPI_Count,
        event_registration: MPI_T_event_registration,
        source_index: c_int,
        cb_safety: MPI_T_cb_safety,
        user_data: *mut c_void,
    ),
>;
