//! Events (MPI 5.0, section 15.3.8). This library has no sources of events and no types of them, so no index is one, and no handle of a
//! registration or of an event can exist.

use core::ffi::c_int;

use postrider_abi::*;

use super::{call, find};
use crate::parse::{Memory, Out, Text, TextOut};

/// What a function for a source or a type of events returns: there is none of this index.
fn no_index() -> c_int {
    call(|_| Err(MPI_T_ERR_INVALID_INDEX))
}

/// What a function for a handle returns: it is none.
fn no_handle() -> c_int {
    call(|_| Err(MPI_T_ERR_INVALID_HANDLE))
}

anytime! {
    /// Section 15.3.8.
    MPI_T_source_get_num (num_sources: Out<c_int>) -> c_int {
        call(|_| num_sources.set(0).map_err(|_| MPI_T_ERR_INVALID))
    }

    /// Section 15.3.8.
    MPI_T_source_get_info (
        _source_index: c_int, _name: TextOut, _name_len: Out<c_int>, _desc: TextOut, _desc_len: Out<c_int>,
        _ordering: Out<MPI_T_source_order>, _ticks_per_second: Out<MPI_Count>, _max_ticks: Out<MPI_Count>,
        _info: Out<MPI_Info>
    ) -> c_int {
        no_index()
    }

    /// Section 15.3.8.
    MPI_T_source_get_timestamp (_source_index: c_int, _timestamp: Out<MPI_Count>) -> c_int {
        no_index()
    }

    /// Section 15.3.8.
    MPI_T_event_get_num (num_events: Out<c_int>) -> c_int {
        call(|_| num_events.set(0).map_err(|_| MPI_T_ERR_INVALID))
    }

    /// Section 15.3.8.
    MPI_T_event_get_info (
        _event_index: c_int, _name: TextOut, _name_len: Out<c_int>, _verbosity: Out<c_int>,
        _array_of_datatypes: Out<MPI_Datatype>, _array_of_displacements: Out<MPI_Aint>,
        _num_elements: Out<c_int>, _enumtype: Out<MPI_T_enum>, _info: Out<MPI_Info>, _desc: TextOut,
        _desc_len: Out<c_int>, _bind: Out<c_int>
    ) -> c_int {
        no_index()
    }

    /// Section 15.3.8.
    MPI_T_event_get_index (name: Text, event_index: Out<c_int>) -> c_int {
        call(|_| find(name, event_index, |_| None))
    }

    /// Section 15.3.8.
    MPI_T_event_handle_alloc (
        _event_index: c_int, _obj_handle: Memory, _info: MPI_Info, _registration: Out<MPI_T_event_registration>
    ) -> c_int {
        no_index()
    }

    /// Section 15.3.8.
    MPI_T_event_handle_set_info (_registration: MPI_T_event_registration, _info: MPI_Info) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_handle_get_info (_registration: MPI_T_event_registration, _info: Out<MPI_Info>) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_register_callback (
        _registration: MPI_T_event_registration, _cb_safety: MPI_T_cb_safety, _info: MPI_Info,
        _user_data: Memory, _callback: Memory
    ) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_callback_set_info (
        _registration: MPI_T_event_registration, _cb_safety: MPI_T_cb_safety, _info: MPI_Info
    ) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_callback_get_info (
        _registration: MPI_T_event_registration, _cb_safety: MPI_T_cb_safety, _info: Out<MPI_Info>
    ) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_handle_free (
        _registration: MPI_T_event_registration, _user_data: Memory, _callback: Memory
    ) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_set_dropped_handler (_registration: MPI_T_event_registration, _callback: Memory) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_read (_event: MPI_T_event_instance, _element_index: c_int, _buffer: Memory) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_copy (_event: MPI_T_event_instance, _buffer: Memory) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_get_timestamp (_event: MPI_T_event_instance, _timestamp: Out<MPI_Count>) -> c_int {
        no_handle()
    }

    /// Section 15.3.8.
    MPI_T_event_get_source (_event: MPI_T_event_instance, _source_index: Out<c_int>) -> c_int {
        no_handle()
    }
}
