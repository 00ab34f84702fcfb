//! The functions of the standard that are not there yet, by chapter.
//!
//! Every name of the ABI is exported from the first day, so that any program can be loaded and linked; what a name in this
//! list does is raise `MPI_ERR_UNSUPPORTED_OPERATION` through the error handler. To implement a function, delete its line
//! here and define it in the file of its chapter: the linker complains if both or neither are done. The list must only
//! shrink.
//!
//! The functions take no arguments here, whatever their prototypes say. In the C calling conventions of the supported
//! machines the caller passes and removes arguments, so a function that looks at none of them can ignore them all.
//!
//! Functions that return something else than an error code are never in this list.

use core::ffi::c_int;

use postrider_abi::MPI_ERR_UNSUPPORTED_OPERATION;
use postrider_engine::error::Error;
use postrider_os::job::CallName;

use crate::errors::{self, Object};

/// Reports that the function of this name is not there yet.
fn unsupported(name: &'static str) -> c_int {
    let detail = "this function is not part of this version of Postrider yet";
    let refuse = || Err(Error::new(MPI_ERR_UNSUPPORTED_OPERATION, detail));
    errors::call(CallName::new(name), name, Object::default(), refuse)
}

/// Defines each name as a function that reports itself as unsupported.
macro_rules! unsupported {
    ($($(#[doc = $title:literal])* $chapter:ident { $($name:ident)* })*) => {
        $($(
            // SAFETY: the name is MPI's, and names that begin with MPI_ belong to this library.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case)]
            extern "C" fn $name() -> c_int {
                unsupported(stringify!($name))
            }
        )*)*
    };
}

unsupported! {
    /// Collective Communication (chapter 6).
    collectives {
    }

    /// Groups, Contexts, Communicators, and Caching (chapter 7).
    communicators {
    }

    /// Virtual Topologies for MPI Processes (chapter 8).
    topologies {
    }

    /// MPI Environmental Management (chapter 9).
    environment {
        MPI_File_call_errhandler
        MPI_File_get_errhandler
        MPI_File_set_errhandler
    }

    /// The Info Object (chapter 10).
    info {
    }

    /// Process Initialization, Creation, and Management (chapter 11).
    processes {
    }

    /// One-Sided Communications (chapter 12).
    one_sided {
    }

    /// I/O (chapter 14).
    io {
        MPI_File_close
        MPI_File_delete
        MPI_File_get_amode
        MPI_File_get_atomicity
        MPI_File_get_byte_offset
        MPI_File_get_group
        MPI_File_get_info
        MPI_File_get_position
        MPI_File_get_position_shared
        MPI_File_get_size
        MPI_File_get_type_extent
        MPI_File_get_type_extent_c
        MPI_File_get_view
        MPI_File_iread
        MPI_File_iread_all
        MPI_File_iread_all_c
        MPI_File_iread_at
        MPI_File_iread_at_all
        MPI_File_iread_at_all_c
        MPI_File_iread_at_c
        MPI_File_iread_c
        MPI_File_iread_shared
        MPI_File_iread_shared_c
        MPI_File_iwrite
        MPI_File_iwrite_all
        MPI_File_iwrite_all_c
        MPI_File_iwrite_at
        MPI_File_iwrite_at_all
        MPI_File_iwrite_at_all_c
        MPI_File_iwrite_at_c
        MPI_File_iwrite_c
        MPI_File_iwrite_shared
        MPI_File_iwrite_shared_c
        MPI_File_open
        MPI_File_preallocate
        MPI_File_read
        MPI_File_read_all
        MPI_File_read_all_begin
        MPI_File_read_all_begin_c
        MPI_File_read_all_c
        MPI_File_read_all_end
        MPI_File_read_at
        MPI_File_read_at_all
        MPI_File_read_at_all_begin
        MPI_File_read_at_all_begin_c
        MPI_File_read_at_all_c
        MPI_File_read_at_all_end
        MPI_File_read_at_c
        MPI_File_read_c
        MPI_File_read_ordered
        MPI_File_read_ordered_begin
        MPI_File_read_ordered_begin_c
        MPI_File_read_ordered_c
        MPI_File_read_ordered_end
        MPI_File_read_shared
        MPI_File_read_shared_c
        MPI_File_seek
        MPI_File_seek_shared
        MPI_File_set_atomicity
        MPI_File_set_info
        MPI_File_set_size
        MPI_File_set_view
        MPI_File_sync
        MPI_File_write
        MPI_File_write_all
        MPI_File_write_all_begin
        MPI_File_write_all_begin_c
        MPI_File_write_all_c
        MPI_File_write_all_end
        MPI_File_write_at
        MPI_File_write_at_all
        MPI_File_write_at_all_begin
        MPI_File_write_at_all_begin_c
        MPI_File_write_at_all_c
        MPI_File_write_at_all_end
        MPI_File_write_at_c
        MPI_File_write_c
        MPI_File_write_ordered
        MPI_File_write_ordered_begin
        MPI_File_write_ordered_begin_c
        MPI_File_write_ordered_c
        MPI_File_write_ordered_end
        MPI_File_write_shared
        MPI_File_write_shared_c
        MPI_Register_datarep
        MPI_Register_datarep_c
    }
}
