//! Tool support (MPI 5.0, chapter 15): control variables, performance variables, categories and events.
//!
//! The tool interface has a life of its own: it may be used before `MPI_Init` and after `MPI_Finalize`, it counts who has
//! initialized it, and its functions return codes without asking an error handler. What tools hold handles of is kept
//! here behind one lock, which is taken before the instance's.

mod categories;
pub mod control;
mod events;
mod performance;

use core::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use postrider_abi::*;
use postrider_engine::objects::Table;

use crate::parse::{Out, Text, TextOut};

/// What a function of the tool interface returns: nothing, or a code.
type Outcome = Result<(), c_int>;

/// What tools hold handles of.
#[derive(Debug, Default)]
struct Tools {
    /// How often the interface was initialized, and not finalized.
    users: u32,
    /// The control variables that handles stand for.
    controls: Option<Table<usize>>,
    sessions: Option<Table<()>>,
    performance: Option<Table<performance::Handle>>,
}

impl Tools {
    const fn new() -> Self {
        Self { users: 0, controls: None, sessions: None, performance: None }
    }

    fn controls(&mut self) -> &mut Table<usize> {
        self.controls.get_or_insert_with(|| Table::new(MPI_T_ERR_INVALID_HANDLE, "control variable"))
    }

    fn sessions(&mut self) -> &mut Table<()> {
        self.sessions.get_or_insert_with(|| Table::new(MPI_T_ERR_INVALID_SESSION, "session of a tool"))
    }

    fn performance(&mut self) -> &mut Table<performance::Handle> {
        self.performance.get_or_insert_with(|| Table::new(MPI_T_ERR_INVALID_HANDLE, "performance variable"))
    }
}

static TOOLS: Mutex<Tools> = Mutex::new(Tools::new());

/// Runs the body of a function of the tool interface, which must have been initialized.
fn call(body: impl FnOnce(&mut Tools) -> Outcome) -> c_int {
    let mut tools = TOOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if tools.users == 0 {
        return MPI_T_ERR_NOT_INITIALIZED;
    }
    body(&mut tools).err().unwrap_or(MPI_SUCCESS)
}

/// Writes an output argument that the tool may leave out.
fn give<T: Copy>(out: Out<T>, value: T) {
    if !out.0.is_null() {
        let _ = out.set(value);
    }
}

/// Writes a text (section 15.3.3): as much as there is room for, and the length that the whole needs with its final NUL.
fn give_text(out: TextOut, length: Out<c_int>, text: &str) {
    let Ok(room) = length.get() else { return };
    if !out.0.is_null() && room > 0 {
        let _ = out.set(text, room as usize);
    }
    give(length, text.len() as c_int + 1);
}

/// The element of a table that an index argument names.
fn at<T>(table: &[T], index: c_int) -> Result<&T, c_int> {
    usize::try_from(index).ok().and_then(|index| table.get(index)).ok_or(MPI_T_ERR_INVALID_INDEX)
}

/// The place at which a name argument is found.
fn find(name: Text, index: Out<c_int>, mut is: impl FnMut(&str) -> Option<usize>) -> Outcome {
    let name = name.shown().map_err(|_| MPI_T_ERR_INVALID)?;
    if index.0.is_null() {
        return Err(MPI_T_ERR_INVALID);
    }
    give(index, is(&name).ok_or(MPI_T_ERR_INVALID_NAME)? as c_int);
    Ok(())
}

/// Writes the first `room` of the indices `from..`.
fn give_indices(indices: impl Iterator<Item = usize>, room: c_int, out: Out<c_int>) -> Outcome {
    for (place, index) in indices.take(room.max(0) as usize).enumerate() {
        out.set_at(place, index as c_int).map_err(|_| MPI_T_ERR_INVALID)?;
    }
    Ok(())
}

anytime! {
    /// Section 15.3.4: the lock serves any number of threads.
    MPI_T_init_thread (_required: c_int, provided: Out<c_int>) -> c_int {
        TOOLS.lock().unwrap_or_else(PoisonError::into_inner).users += 1;
        give(provided, MPI_THREAD_MULTIPLE);
        MPI_SUCCESS
    }

    /// Section 15.3.4: after the last one, all handles are gone.
    MPI_T_finalize () -> c_int {
        call(|tools| {
            tools.users -= 1;
            if tools.users == 0 {
                *tools = Tools::new();
            }
            Ok(())
        })
    }
}
