//! How windows are made and freed (MPI 5.0, section 12.2). Both are collective.

use postrider_abi::{MPI_ERR_COMM, MPI_ERR_DISP, MPI_ERR_INTERN, MPI_ERR_NO_MEM, MPI_ERR_SIZE};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::window::{Flavor, Part, Peer, Window};
use crate::communicators::Space;
use crate::error::{Error, Result};
use crate::info::Info;
use crate::objects::Key;
use crate::{Instance, State};

/// The arguments of a function that makes a window.
#[derive(Clone, Debug)]
pub struct NewWindow {
    /// The group, and its handler of errors until there is a window.
    pub communicator: Key,
    /// What kind of window it is to be.
    pub flavor: Flavor,
    /// The program's memory; of a dynamic window address 0, and of others that have memory of their own anything.
    pub base: UserMemory,
    /// Bytes of memory.
    pub size: i64,
    /// The displacement unit.
    pub unit: i64,
    /// The hints.
    pub info: Info,
    /// To what the address of the window's own memory is aligned: a power of two.
    pub alignment: usize,
}

impl NewWindow {
    fn check(&self, state: &State) -> Result<()> {
        if state.communicators.get(self.communicator)?.remote.is_some() {
            return Err(Error::new(
                MPI_ERR_COMM,
                "a window needs an intra-communicator, this is an inter-communicator",
            ));
        }
        if self.size < 0 {
            return Err(Error::new(
                MPI_ERR_SIZE,
                format!("the size is {}; it must not be negative", self.size),
            ));
        }
        if self.unit <= 0 || self.unit > i64::from(i32::MAX) {
            return Err(Error::new(
                MPI_ERR_DISP,
                format!("the displacement unit is {}; it must be positive", self.unit),
            ));
        }
        Ok(())
    }

    /// The memory that the window is to have of its own, and where it begins.
    fn memory(&self) -> Result<(Option<OwnedMemory>, UserMemory)> {
        if matches!(self.flavor, Flavor::Create | Flavor::Dynamic) {
            return Ok((None, self.base));
        }
        let bytes = usize::try_from(self.size).ok().and_then(|bytes| bytes.checked_add(self.alignment));
        let Some(mut memory) = bytes.and_then(OwnedMemory::try_new) else {
            return Err(Error::new(MPI_ERR_NO_MEM, format!("there is no memory of {} bytes", self.size)));
        };
        let start = UserMemory::of(&mut memory);
        let gap = start.address().next_multiple_of(self.alignment) - start.address();
        Ok((Some(memory), start.offset(gap as i64)))
    }
}

impl Instance {
    /// Makes a window.
    ///
    /// # Errors
    /// When an argument is wrong, or there is no memory.
    pub fn create_window(&self, new: &NewWindow) -> Result<Key> {
        let ((memory, base), (made, request)) = self.with(|state| {
            new.check(state)?;
            Ok((new.memory()?, state.start_duplicate(new.communicator)?))
        })?;
        self.wait(request)?.completion.into_result()?;
        let own = Part { size: new.size, unit: new.unit };
        let mut window = Window::new(made, new.flavor, base, own);
        window.memory = memory;
        window.heed(&new.info)?;
        let key = self.with(|state| state.insert_window(window, own))?;
        // As soon as the last process has said its part, the first ones may send: the window is in the table by now.
        let parts = self.gather_locally(made, &own.encode())?;
        self.with(|state| {
            let parts = parts.chunks_exact(Part::BYTES).map(Part::decode);
            for (peer, part) in state.windows.get_mut(key)?.peers.iter_mut().zip(parts) {
                let part =
                    part.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a part of a window is cut short"))?;
                (peer.size, peer.unit) = (part.size, part.unit);
            }
            Ok(key)
        })
    }

    /// Frees a window, whose attributes have been deleted by the caller.
    ///
    /// # Errors
    /// Within an epoch, or when communication fails.
    pub fn free_window(&self, key: Key) -> Result<()> {
        let communicator = self.with(|state| {
            let window = state.windows.get(key)?;
            window.epoch.end()?;
            Ok(window.communicator)
        })?;
        self.collective(communicator, |calls| calls.barrier())?;
        self.with(|state| {
            let window = state.windows.remove(key)?;
            state.window_contexts.remove(&window.context);
            state.free_communicator(window.communicator)
        })
    }
}

impl State {
    fn insert_window(&mut self, mut window: Window, own: Part) -> Result<Key> {
        let found = self.communicators.get(window.communicator)?;
        (window.context, window.rank) = (found.context_of(Space::OneSided, true), found.rank);
        let peer = |process: crate::communicators::Process| Peer { process: process.0, ..Peer::default() };
        window.peers = found.group.processes().map(peer).collect();
        let (context, rank) = (window.context, window.rank);
        (window.peer(rank).size, window.peer(rank).unit) = (own.size, own.unit);
        let key = self.windows.insert(window);
        self.window_contexts.insert(context, key);
        Ok(key)
    }
}
