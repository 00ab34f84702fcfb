//! How windows are made and freed (MPI 5.0, section 12.2). Both are collective.
//!
//! A window is in the table before its processes exchange their parts, so that nobody can send to one that is not there yet.
//! What may fail at one process alone is agreed on: then it fails at all of them.

use postrider_abi::{
    MPI_ERR_ARG, MPI_ERR_COMM, MPI_ERR_DISP, MPI_ERR_INTERN, MPI_ERR_NO_MEM, MPI_ERR_RMA_SHARED, MPI_ERR_SIZE,
};
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::shared_memory::Segment;

use super::shared::{Plan, Shared};
use super::window::{Flavor, Part, Peer, Window};
use crate::communicators::{Process, Space};
use crate::error::{Error, Result};
use crate::info::Info;
use crate::objects::Key;
use crate::{Instance, State};

/// A copy between address spaces costs about as much as so many bytes through a ring, as long as the target has a core to take them out. Where
/// ranks share cores it saves a wake-up, which costs more than any copy of short data.
const COPIED_BYTES_MIN: u64 = 16 << 10;
/// Memories that are apart begin with a page.
const PAGE: u64 = 4096;

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
        if self.flavor == Flavor::Create && self.size > 0 && self.base.address() == 0 {
            return Err(Error::new(MPI_ERR_ARG, format!("{} bytes of memory are a null pointer", self.size)));
        }
        if self.unit <= 0 || self.unit > i64::from(i32::MAX) {
            return Err(Error::new(
                MPI_ERR_DISP,
                format!("the displacement unit is {}; it must be positive", self.unit),
            ));
        }
        Ok(())
    }

    fn part(&self) -> Part {
        let apart = self.flavor != Flavor::Shared || self.info.get("alloc_shared_noncontig") == Some("true");
        Part { size: self.size, unit: self.unit, alignment: self.alignment as u64, apart }
    }

    /// Memory for this process alone, and where it begins.
    fn memory(&self) -> Option<(OwnedMemory, UserMemory)> {
        let bytes = usize::try_from(self.size).ok()?.checked_add(self.alignment)?;
        let mut memory = OwnedMemory::try_new(bytes)?;
        let start = UserMemory::of(&mut memory);
        let gap = start.address().next_multiple_of(self.alignment) - start.address();
        Some((memory, start.offset(gap as i64)))
    }
}

impl Instance {
    /// Makes a window.
    ///
    /// # Errors
    /// When an argument is wrong, or there is no memory.
    pub fn create_window(&self, new: &NewWindow) -> Result<Key> {
        let (made, request) = self.with(|state| {
            new.check(state)?;
            state.start_duplicate(new.communicator)
        })?;
        self.wait(request)?.completion.into_result()?;
        let mut window = Window::new(made, new.flavor, new.base, new.part());
        window.heed(&new.info)?;
        let key = self.with(|state| state.insert_window(window, new.part()))?;
        match self.fill_window(key, made, new) {
            Ok(()) => Ok(key),
            Err(error) => {
                self.with(|state| state.remove_window(key))?;
                Err(error)
            }
        }
    }

    /// Tells the others of this process's part, and gives the window memory.
    fn fill_window(&self, key: Key, communicator: Key, new: &NewWindow) -> Result<()> {
        let Part { size, unit, alignment, apart } = new.part();
        let own = [size as u64, unit as u64, alignment, u64::from(apart), new.base.address() as u64];
        let parts = self.swap_parts(communicator, own)?;
        let near = self.with(|state| {
            let window = state.windows.get_mut(key)?;
            for (peer, words) in window.peers.iter_mut().zip(&parts) {
                (peer.size, peer.unit) = (words[0] as i64, words[1] as i64);
            }
            // Of processes of other jobs it is not known that they wait as those of this one do.
            let (placement, here) = (&self.facts.placement, self.facts.placement.host_of(self.facts.rank));
            let is_near =
                |peer: &Peer| peer.process < self.facts.size && placement.host_of(peer.process) == here;
            let near = window.peers.iter().all(is_near);
            window.copied_bytes_min = if self.facts.crowded { 1 } else { COPIED_BYTES_MIN };
            if new.flavor == Flavor::Create {
                state.note_addresses(key, parts.iter().map(|words| words[4]))?;
            }
            Ok(near)
        })?;
        if matches!(new.flavor, Flavor::Create | Flavor::Dynamic) {
            return Ok(());
        }
        let wanted = near && (parts.len() > 1 || new.flavor == Flavor::Shared);
        if wanted && self.share_memory(key, communicator, &parts)? {
            return Ok(());
        }
        if new.flavor == Flavor::Shared {
            let why = if near { "there is none to share" } else { "they are on several hosts" };
            return Err(Error::new(
                MPI_ERR_RMA_SHARED,
                format!("the processes of the window cannot share memory: {why}"),
            ));
        }
        let mut own = [0; 2];
        if let Some((memory, base)) = new.memory() {
            own = [1, base.address() as u64];
            self.with(|state| {
                let window = state.windows.get_mut(key)?;
                (window.memory, window.base) = (Some(memory), base);
                Ok(())
            })?;
        }
        let bases = self.swap_parts(communicator, own)?;
        if bases.iter().any(|[found, _]| *found == 0) {
            return Err(Error::new(MPI_ERR_NO_MEM, "there is not enough memory for the window"));
        }
        self.with(|state| state.note_addresses(key, bases.iter().map(|[_, base]| *base)))
    }

    /// Makes a segment for all memories of a window, which is what true means; nothing has happened otherwise.
    fn share_memory(&self, key: Key, communicator: Key, parts: &[[u64; 5]]) -> Result<bool> {
        let apart = parts.iter().all(|words| words[3] != 0);
        let least = if apart { PAGE } else { 64 };
        let alignment = parts.iter().fold(least, |alignment, words| alignment.max(words[2]));
        let Some(plan) = Plan::new(parts.iter().map(|words| words[0]), apart, alignment as usize) else {
            return Ok(false);
        };
        let leads = self.with(|state| Ok(state.windows.get(key)?.rank == 0))?;
        let made = leads.then(|| Segment::create(plan.bytes).ok()).flatten();
        let name = made
            .as_ref()
            .map_or([0; 3], |segment| [1, u64::from(std::process::id()), u64::from(segment.descriptor())]);
        let [there, pid, descriptor] = self.swap_parts(communicator, name)?[0];
        let segment = match made {
            None if there != 0 => Segment::open(pid as u32, descriptor as u32).ok(),
            made => made,
        };
        let processes = self.with(|state| {
            Ok(state.windows.get(key)?.peers.iter().map(|peer| peer.process).collect::<Vec<_>>())
        })?;
        let shared = segment.and_then(|segment| Shared::new(segment, plan, self.waiter.clone(), &processes));
        let found = shared.is_some();
        self.with(|state| {
            let window = state.windows.get_mut(key)?;
            window.base = shared.as_ref().map_or(window.base, |shared| shared.base(window.rank));
            window.shared = shared;
            Ok(())
        })?;
        let all = self.swap_parts(communicator, [u64::from(found)])?.iter().all(|[found]| *found != 0);
        self.with(|state| {
            let window = state.windows.get_mut(key)?;
            window.shared = window.shared.take().filter(|_| all);
            if let Some(shared) = &mut window.shared {
                shared.close();
                (0..).zip(&mut window.peers).for_each(|(rank, peer)| peer.mapped = Some(shared.base(rank)));
            }
            Ok(all)
        })
    }

    /// Everybody gets everybody's words, by rank.
    fn swap_parts<const N: usize>(&self, communicator: Key, own: [u64; N]) -> Result<Vec<[u64; N]>> {
        let all = self.gather_locally(communicator, &own.map(u64::to_le_bytes).concat())?;
        let words: Vec<u64> = all.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let parts = words.as_chunks::<N>().0.to_vec();
        if parts.is_empty() {
            return Err(Error::new(MPI_ERR_INTERN, "a window has no processes"));
        }
        Ok(parts)
    }

    /// Frees a window, whose attributes have been deleted by the caller.
    ///
    /// # Errors
    /// When communication fails.
    pub fn free_window(&self, key: Key) -> Result<()> {
        let communicator = self.with(|state| Ok(state.windows.get(key)?.communicator))?;
        self.collective(communicator, None, |calls| calls.barrier())?;
        self.with(|state| state.remove_window(key))
    }
}

impl State {
    /// Whether a window may be freed.
    ///
    /// # Errors
    /// Within an epoch.
    pub fn check_free_window(&self, key: Key) -> Result<()> {
        self.windows.get(key)?.epoch.end()
    }

    /// Where the memories of a window begin in their processes, of which those on this host can be copied from and to.
    fn note_addresses(&mut self, key: Key, addresses: impl Iterator<Item = u64>) -> Result<()> {
        let (transport, window) = (&self.transport, self.windows.get_mut(key)?);
        for (peer, address) in window.peers.iter_mut().zip(addresses) {
            peer.address = transport.is_near(peer.process).then_some(address);
        }
        Ok(())
    }

    /// The window knows its own part: the first packets may come before this process has looked at the others'.
    fn insert_window(&mut self, mut window: Window, own: Part) -> Result<Key> {
        let found = self.communicators.get(window.communicator)?;
        // The communicator is the window's own: nobody else says anything in it.
        (window.context, window.rank) = (found.context_of(Space::PointToPoint, true), found.rank);
        let peer = |process: Process| Peer { process: process.0, ..Peer::default() };
        window.peers = found.group.processes().map(peer).collect();
        let (context, rank) = (window.context, window.rank);
        (window.peer(rank).size, window.peer(rank).unit) = (own.size, own.unit);
        let key = self.windows.insert(window)?;
        self.window_contexts.insert(context, key);
        Ok(key)
    }

    fn remove_window(&mut self, key: Key) -> Result<()> {
        let window = self.windows.remove(key)?;
        self.window_contexts.remove(&window.context);
        self.free_communicator(window.communicator)
    }
}
