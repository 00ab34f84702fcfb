//! Messages on their way, from and to memory of ours (section 3.7).

use core::ffi::c_int;

use postrider_abi::*;

use super::{Library, check};
use crate::{Communicator, Result};

/// A message on its way, with its bytes: packed values (section 5.2), which match any datatype on the other side.
///
/// One that is dropped before it has arrived keeps its memory for ever, since the library may still use it.
#[derive(Debug)]
pub struct Transfer {
    library: &'static Library,
    request: MPI_Request,
    bytes: Vec<u8>,
}

/// What has been received.
#[derive(Debug)]
pub struct Received {
    /// All bytes of the room for the message.
    pub room: Vec<u8>,
    /// How many of them it has.
    pub bytes: usize,
}

impl Transfer {
    /// Starts to send packed values.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn send(communicator: Communicator, bytes: Vec<u8>, destination: i32, tag: i32) -> Result<Self> {
        let (library, mut request) = (communicator.library, MPI_REQUEST_NULL);
        let (start, count) = (bytes.as_ptr().cast(), bytes.len() as MPI_Count);
        let send = library.isend;
        // SAFETY: the bytes stay where they are until the request is complete.
        let code = unsafe {
            send(start, count, MPI_PACKED, destination, tag, communicator.handle, &raw mut request)
        };
        check("MPI_Isend_c", code)?;
        Ok(Self { library, request, bytes })
    }

    /// Starts to receive packed values, as many bytes as there is room for or fewer.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn receive(communicator: Communicator, mut room: Vec<u8>, source: i32, tag: i32) -> Result<Self> {
        let (library, mut request) = (communicator.library, MPI_REQUEST_NULL);
        let (start, count) = (room.as_mut_ptr().cast(), room.len() as MPI_Count);
        let receive = library.irecv;
        // SAFETY: the room stays where it is until the request is complete.
        let code =
            unsafe { receive(start, count, MPI_PACKED, source, tag, communicator.handle, &raw mut request) };
        check("MPI_Irecv_c", code)?;
        Ok(Self { library, request, bytes: room })
    }

    /// Whether a send is complete; waits for nobody, but lets the library go on with what is on its way.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn is_sent(&mut self) -> Result<bool> {
        let (mut flag, mut status) = (0, MPI_Status::default());
        let test = self.library.test;
        // SAFETY: a request of ours, and places for the results.
        check("MPI_Test", unsafe { test(&raw mut self.request, &raw mut flag, &raw mut status) })?;
        Ok(flag != 0)
    }

    /// Waits until it is complete.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn wait(mut self) -> Result<Received> {
        let (mut status, mut count) = (MPI_Status::default(), 0);
        let (wait, get_count) = (self.library.wait, self.library.get_count);
        // SAFETY: a request of ours, and places for the results.
        let code: c_int = unsafe { wait(&raw mut self.request, &raw mut status) };
        check("MPI_Wait", code)?;
        // SAFETY: a status that was filled, and a place for the result.
        check("MPI_Get_count_c", unsafe { get_count(&raw const status, MPI_PACKED, &raw mut count) })?;
        Ok(Received { bytes: count.max(0) as usize, room: std::mem::take(&mut self.bytes) })
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if self.request != MPI_REQUEST_NULL {
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}
