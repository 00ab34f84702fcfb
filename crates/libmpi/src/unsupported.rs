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
    /// Point-to-Point Communication (chapter 3).
    point_to_point {
        MPI_Session_attach_buffer
        MPI_Session_attach_buffer_c
        MPI_Session_detach_buffer
        MPI_Session_detach_buffer_c
        MPI_Session_flush_buffer
        MPI_Session_iflush_buffer
    }

    /// Collective Communication (chapter 6).
    collectives {
    }

    /// Groups, Contexts, Communicators, and Caching (chapter 7).
    communicators {
        MPI_Comm_create_from_group
        MPI_Group_from_session_pset
        MPI_Intercomm_create_from_groups
    }

    /// Virtual Topologies for MPI Processes (chapter 8).
    topologies {
    }

    /// MPI Environmental Management (chapter 9).
    environment {
        MPI_Session_call_errhandler
        MPI_Session_get_errhandler
        MPI_Session_set_errhandler
    }

    /// The Info Object (chapter 10).
    info {
    }

    /// Process Initialization, Creation, and Management (chapter 11).
    processes {
        MPI_Close_port
        MPI_Comm_accept
        MPI_Comm_connect
        MPI_Comm_join
        MPI_Comm_spawn
        MPI_Comm_spawn_multiple
        MPI_Lookup_name
        MPI_Open_port
        MPI_Publish_name
        MPI_Session_finalize
        MPI_Session_get_info
        MPI_Session_get_nth_pset
        MPI_Session_get_num_psets
        MPI_Session_get_pset_info
        MPI_Session_init
        MPI_Unpublish_name
    }

    /// One-Sided Communications (chapter 12).
    one_sided {
    }

    /// Tool Support (chapter 15).
    tools {
        MPI_T_category_changed
        MPI_T_category_get_categories
        MPI_T_category_get_cvars
        MPI_T_category_get_events
        MPI_T_category_get_index
        MPI_T_category_get_info
        MPI_T_category_get_num
        MPI_T_category_get_num_events
        MPI_T_category_get_pvars
        MPI_T_cvar_get_index
        MPI_T_cvar_get_info
        MPI_T_cvar_get_num
        MPI_T_cvar_handle_alloc
        MPI_T_cvar_handle_free
        MPI_T_cvar_read
        MPI_T_cvar_write
        MPI_T_enum_get_info
        MPI_T_enum_get_item
        MPI_T_event_callback_get_info
        MPI_T_event_callback_set_info
        MPI_T_event_copy
        MPI_T_event_get_index
        MPI_T_event_get_info
        MPI_T_event_get_num
        MPI_T_event_get_source
        MPI_T_event_get_timestamp
        MPI_T_event_handle_alloc
        MPI_T_event_handle_free
        MPI_T_event_handle_get_info
        MPI_T_event_handle_set_info
        MPI_T_event_read
        MPI_T_event_register_callback
        MPI_T_event_set_dropped_handler
        MPI_T_finalize
        MPI_T_init_thread
        MPI_T_pvar_get_index
        MPI_T_pvar_get_info
        MPI_T_pvar_get_num
        MPI_T_pvar_handle_alloc
        MPI_T_pvar_handle_free
        MPI_T_pvar_read
        MPI_T_pvar_readreset
        MPI_T_pvar_reset
        MPI_T_pvar_session_create
        MPI_T_pvar_session_free
        MPI_T_pvar_start
        MPI_T_pvar_stop
        MPI_T_pvar_write
        MPI_T_source_get_info
        MPI_T_source_get_num
        MPI_T_source_get_timestamp
    }

    /// Language Bindings and the Application Binary Interface (chapters 19 and 20).
    language_bindings {
        MPI_Abi_get_fortran_booleans
        MPI_Abi_set_fortran_booleans
        MPI_Abi_set_fortran_info
    }
}
