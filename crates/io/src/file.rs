//! Open files (section 14.2), and the calls that concern a file as a whole.
//!
//! Every collective call ends in an agreement, so that it fails everywhere or nowhere.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use postrider_abi::*;
use postrider_client::{Mpi, OwnedCommunicator, OwnedDatatype};

use crate::access::Nearness;
use crate::agreement::{agree, agree_on};
use crate::collective::{self, Host};
use crate::disk::{self, Disk};
use crate::error::{Error, Result};
use crate::hints::{Hints, without_prefix};
use crate::line::Line;
use crate::locks::Locks;
use crate::locks::disjoint::{self, Shown};
use crate::locks::ways::{LockWay, Ways};
use crate::pointer::Pointer;
use crate::report;
use crate::representation::Representation;
use crate::view::View;

/// An open file.
#[derive(Debug)]
pub struct File {
    pub(crate) mpi: Mpi,
    pub(crate) disk: Arc<Disk>,
    pub(crate) mode: i32,
    /// Freed before the communicator.
    pub(crate) pointer: Pointer,
    pub(crate) communicator: OwnedCommunicator,
    pub(crate) rank: i32,
    pub(crate) processes: i32,
    /// The hosts; found when they are needed.
    pub(crate) hosts: OnceLock<Vec<Host>>,
    /// Whether helpers may call MPI beside the program, at all processes.
    pub(crate) works_beside: bool,
    pub(crate) line: Arc<Line>,
    state: Mutex<State>,
}

/// What calls change.
#[derive(Debug)]
pub struct State {
    /// What this process sees.
    pub view: Arc<Viewed>,
    /// The individual file pointer, in elementary datatypes.
    pub position: i64,
    /// The split collective call that has begun.
    pub split: Option<Split>,
    /// The hints.
    pub hints: Hints,
    /// What accesses in atomic mode need, if it is in atomic mode.
    pub atomic: Option<Atomic>,
    /// The locks, which stay when atomic mode ends.
    locks: Option<Arc<Locks>>,
}

/// What accesses in atomic mode need.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// The locks of the file.
    pub locks: Arc<Locks>,
    /// Whether another process may access what this one sees.
    pub has_rivals: bool,
    /// What is written together with the bytes between, if that is done; for those locks are taken, too.
    pub holes: Option<Nearness>,
}

/// A view with what it was made from.
#[derive(Debug)]
pub struct Viewed {
    /// Where bytes are.
    pub view: View,
    /// What they mean.
    pub representation: Representation,
    displacement: i64,
    etype: OwnedDatatype,
    filetype: OwnedDatatype,
}

/// A split collective call (section 14.4.5) between its beginning and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Name of the call without `_begin` or `_end`.
    pub name: &'static str,
    /// What it has moved.
    pub bytes: i64,
}

static FILES: Mutex<BTreeMap<usize, Arc<File>>> = Mutex::new(BTreeMap::new());

/// Handles are numbers from here on: those below are predefined.
const FIRST_HANDLE: usize = 4096;

fn files() -> MutexGuard<'static, BTreeMap<usize, Arc<File>>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file of a handle.
///
/// # Errors
/// `MPI_ERR_FILE`.
pub fn find(handle: MPI_File) -> Result<Arc<File>> {
    files().get(&handle.0).cloned().ok_or_else(|| {
        let what = if handle == MPI_FILE_NULL { "is MPI_FILE_NULL" } else { "names no open file" };
        Error::new(MPI_ERR_FILE, format!("the file handle {what}"))
    })
}

/// An error of a call with this handle, which says which file that is.
pub fn named(error: Error, handle: MPI_File) -> Error {
    match find(handle) {
        Ok(file) => error.on(file.disk.path()),
        Err(_) => error,
    }
}

/// Whether a mode is one of those that the standard allows (section 14.2.1).
fn check_mode(mode: i32) -> Result<()> {
    let ways = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY;
    let others = MPI_MODE_CREATE
        | MPI_MODE_EXCL
        | MPI_MODE_DELETE_ON_CLOSE
        | MPI_MODE_UNIQUE_OPEN
        | MPI_MODE_SEQUENTIAL
        | MPI_MODE_APPEND;
    let wrong = if mode & !(ways | others) != 0 {
        "has bits that mean nothing"
    } else if (mode & ways).count_ones() != 1 {
        "needs exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY"
    } else if mode & MPI_MODE_RDONLY != 0 && mode & (MPI_MODE_CREATE | MPI_MODE_EXCL) != 0 {
        "has MPI_MODE_RDONLY, which goes with neither MPI_MODE_CREATE nor MPI_MODE_EXCL"
    } else if mode & MPI_MODE_RDWR != 0 && mode & MPI_MODE_SEQUENTIAL != 0 {
        "has MPI_MODE_SEQUENTIAL, which does not go with MPI_MODE_RDWR"
    } else {
        return Ok(());
    };
    Err(Error::new(MPI_ERR_AMODE, format!("the access mode {mode} {wrong}")))
}

/// `MPI_File_open`; `works_beside` says whether threads beside the program may call MPI.
///
/// # Errors
/// Those of the arguments, of the system and of other processes.
pub fn open(
    handle: MPI_Comm,
    path: &Path,
    mode: i32,
    info: MPI_Info,
    works_beside: bool,
) -> Result<MPI_File> {
    let path = without_prefix(path);
    open_by(handle, &path, mode, info, works_beside).map_err(|error| error.on(&path))
}

fn open_by(handle: MPI_Comm, path: &Path, mode: i32, info: MPI_Info, works_beside: bool) -> Result<MPI_File> {
    let mpi = Mpi::find()?;
    let given = mpi.communicator(handle);
    if given.is_inter()? {
        return Err(Error::new(MPI_ERR_COMM, "a file is opened by an intracommunicator"));
    }
    let communicator = given.private()?;
    let ways = check_mode(mode).and_then(|()| Ways::from_environment());
    let ways = agree_on(*communicator, mode.into(), "the access mode", ways)?;
    let mut hints = Hints::of_new_file(ways, mpi, info)?.agreed(*communicator)?;
    let (rank, processes) = (communicator.rank()?, communicator.size()?);
    let disk = open_disk(&communicator, rank, path, mode, hints.permissions)?;
    let all = communicator.all_gather([works_beside.into(), disk.block_bytes()])?;
    let works_beside = all.iter().all(|[works, _]| *works != 0);
    if hints.striping_unit == 0 {
        hints.striping_unit = all[0][1].max(collective::ALIGNMENT);
    }
    let pointer = Pointer::new(*communicator, processes, hints.ways.pointer);
    let byte = mpi.datatype(MPI_BYTE);
    let view = Viewed {
        view: View::bytes(),
        representation: Representation::Native("native"),
        displacement: 0,
        etype: byte.duplicate()?,
        filetype: byte.duplicate()?,
    };
    let state = State { view: view.into(), position: 0, split: None, hints, atomic: None, locks: None };
    let file = File {
        mpi,
        disk: Arc::new(disk),
        mode,
        pointer,
        communicator,
        rank,
        processes,
        hosts: OnceLock::new(),
        works_beside,
        line: Arc::default(),
        state: Mutex::new(state),
    };
    if mode & MPI_MODE_APPEND != 0 {
        file.append()?;
    }
    report::opened(mpi, path, processes)?;
    let mut files = files();
    let handle = files.last_key_value().map_or(FIRST_HANDLE, |(last, _)| last + 1);
    files.insert(handle, Arc::new(file));
    Ok(MPI_File(handle))
}

/// Opens the file at all processes: first at rank 0, which may create it, then at the others.
fn open_disk(
    communicator: &OwnedCommunicator,
    rank: i32,
    path: &Path,
    mode: i32,
    permissions: u32,
) -> Result<Disk> {
    let first = if rank == 0 { Some(Disk::open(path, mode, permissions)).transpose() } else { Ok(None) };
    let first = agree(**communicator, first)?;
    let opened = match first {
        Some(disk) => Ok(disk),
        None => Disk::open(path, mode & !MPI_MODE_EXCL, permissions),
    };
    agree(**communicator, opened)
}

/// `MPI_File_close`.
///
/// # Errors
/// Those of the arguments, of the system and of other processes.
pub fn close(handle: MPI_File) -> Result<()> {
    let file = find(handle)?;
    file.collective_may_begin()?;
    file.communicator.barrier()?;
    if file.has(MPI_MODE_DELETE_ON_CLOSE) {
        file.by_first(|| match disk::delete(file.disk.path()) {
            // Somebody else was first.
            Err(error) if error.class == MPI_ERR_NO_SUCH_FILE => Ok(()),
            deleted => deleted,
        })?;
    }
    files().remove(&handle.0);
    Ok(())
}

/// `MPI_File_delete`.
///
/// # Errors
/// What the system says.
pub fn delete(path: &Path) -> Result<()> {
    disk::delete(&without_prefix(path))
}

impl File {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, flags: i32) -> bool {
        self.mode & flags != 0
    }

    /// The access mode that it was opened with.
    pub fn mode(&self) -> i32 {
        self.mode
    }

    /// Whether it is in atomic mode.
    pub fn is_atomic(&self) -> bool {
        self.state().atomic.is_some()
    }

    /// Waits until a collective call may begin: those before it that work beside the program are done. A split one allows no other.
    pub(crate) fn collective_may_begin(&self) -> Result<()> {
        self.not_in_split()?;
        self.line.wait();
        Ok(())
    }

    /// Whether a split collective call allows another collective one: it does not.
    pub(crate) fn not_in_split(&self) -> Result<()> {
        let Some(split) = self.state().split else { return Ok(()) };
        let detail = format!("{}_begin has begun and must be ended first", split.name);
        Err(Error::new(MPI_ERR_OTHER, detail))
    }

    /// Positions mean nothing in a file that is accessed in sequence.
    pub(crate) fn not_sequential(&self) -> Result<()> {
        if !self.has(MPI_MODE_SEQUENTIAL) {
            return Ok(());
        }
        let detail = "the file was opened with MPI_MODE_SEQUENTIAL, so there is only its shared file pointer";
        Err(Error::new(MPI_ERR_UNSUPPORTED_OPERATION, detail))
    }

    pub(crate) fn may_write(&self) -> Result<()> {
        if !self.has(MPI_MODE_RDONLY) {
            return Ok(());
        }
        Err(Error::new(MPI_ERR_READ_ONLY, "the file was opened with MPI_MODE_RDONLY"))
    }

    pub(crate) fn may_read(&self) -> Result<()> {
        if !self.has(MPI_MODE_WRONLY) {
            return Ok(());
        }
        Err(Error::new(MPI_ERR_ACCESS, "the file was opened with MPI_MODE_WRONLY"))
    }

    /// Has rank 0 do something, and all know what came of it.
    fn by_first(&self, action: impl FnOnce() -> Result<()>) -> Result<()> {
        let result = if self.rank == 0 { action() } else { Ok(()) };
        agree(*self.communicator, result)
    }

    /// Puts all file pointers to the end of the file.
    fn append(&self) -> Result<()> {
        let mut end = [self.disk.size()?];
        self.communicator.broadcast(&mut end)?;
        self.state().position = end[0];
        self.set_shared(end[0])
    }

    fn set_shared(&self, position: i64) -> Result<()> {
        let set = if self.pointer.is_there() { self.pointer.set(self.rank, position) } else { Ok(()) };
        agree(*self.communicator, set)
    }

    /// `MPI_File_set_size`.
    ///
    /// # Errors
    /// Those of the arguments, of the system and of other processes.
    pub fn set_size(&self, size: i64) -> Result<()> {
        self.check_size(size)?;
        self.by_first(|| self.disk.set_size(size))
    }

    /// `MPI_File_preallocate`.
    ///
    /// # Errors
    /// Those of the arguments, of the system and of other processes.
    pub fn preallocate(&self, size: i64) -> Result<()> {
        self.check_size(size)?;
        self.by_first(|| self.disk.preallocate(size))
    }

    fn check_size(&self, size: i64) -> Result<()> {
        self.collective_may_begin()?;
        let allowed = self.not_sequential().and_then(|()| self.may_write()).and_then(|()| match size {
            0.. => Ok(()),
            _ => Err(Error::argument(format!("the size is {size}; it must not be negative"))),
        });
        agree_on(*self.communicator, size, "the size", allowed)
    }

    /// `MPI_File_get_size`.
    ///
    /// # Errors
    /// What the system says.
    pub fn size(&self) -> Result<i64> {
        self.disk.size()
    }

    /// `MPI_File_sync`: what this process has written is on the device, and others see it.
    ///
    /// # Errors
    /// What the system says, here or at another process.
    pub fn sync(&self) -> Result<()> {
        self.collective_may_begin()?;
        let synced = if self.has(MPI_MODE_RDONLY) { Ok(()) } else { self.disk.sync() };
        agree(*self.communicator, synced)
    }

    /// `MPI_File_set_info`.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn set_info(&self, info: MPI_Info) -> Result<()> {
        self.line.wait();
        let hints = self.new_hints(info)?;
        self.state().hints = hints;
        Ok(())
    }

    /// The hints with what the program says now. The hosts keep what was said of them when the file was opened.
    fn new_hints(&self, info: MPI_Info) -> Result<Hints> {
        let before = self.state().hints.clone();
        let configuration = before.configuration.clone();
        Hints { configuration, ..before.with(self.mpi, info)? }.agreed(*self.communicator)
    }

    /// `MPI_File_get_info`.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn info(&self) -> Result<MPI_Info> {
        let mut values = self.state().hints.values();
        values.push(("postrider_io", env!("CARGO_PKG_VERSION").to_owned()));
        Ok(self.mpi.new_info(&values)?)
    }

    /// `MPI_File_get_group`.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn group(&self) -> Result<MPI_Group> {
        Ok(self.communicator.group()?)
    }

    /// `MPI_File_set_atomicity`.
    ///
    /// # Errors
    /// When processes disagree, or MPI has no one-sided communication.
    pub fn set_atomicity(&self, atomic: bool) -> Result<()> {
        self.collective_may_begin()?;
        agree_on(*self.communicator, atomic.into(), "the flag of atomic mode", Ok(()))?;
        let made = if atomic { Some(self.make_atomic()?) } else { None };
        self.state().atomic = made;
        Ok(())
    }

    fn make_atomic(&self) -> Result<Atomic> {
        let (kept, way, holes) = {
            let state = self.state();
            let sieves = state.hints.sieves_writes();
            (state.locks.clone(), state.hints.ways.lock, sieves.then(|| state.hints.writes()))
        };
        let locks = match kept {
            Some(locks) if locks.way() == way => locks,
            _ => agree(*self.communicator, self.make_locks(way))?,
        };
        let view = Arc::clone(&self.state().view);
        let has_rivals = self.has_rivals(&view.view, holes)?;
        self.state().locks = Some(Arc::clone(&locks));
        Ok(Atomic { locks, has_rivals, holes })
    }

    fn make_locks(&self, way: LockWay) -> Result<Arc<Locks>> {
        let made = Locks::new(*self.communicator, way).map_err(|error| {
            let detail =
                format!("atomic mode needs one-sided communication, which is not to be had: {error}");
            Error::new(MPI_ERR_UNSUPPORTED_OPERATION, detail)
        });
        made.map(Arc::new)
    }

    /// Whether another process may write what this one sees in a view, or the other way round. Collective.
    fn has_rivals(&self, view: &View, holes: Option<Nearness>) -> Result<bool> {
        if self.has(MPI_MODE_RDONLY) || self.processes == 1 {
            return Ok(false);
        }
        if holes.is_some() {
            return agree(*self.communicator, Ok(true));
        }
        let blocks_max = disjoint::BLOCKS_MAX / self.processes as usize;
        let own = Shown::of(view, blocks_max);
        let all = self.communicator.all_gather_lists(&own.as_ref().map_or_else(Vec::new, Shown::encode))?;
        let Some(own) = own else { return Ok(true) };
        let is_rival =
            |numbers: &Vec<i64>| Shown::decode(numbers).is_none_or(|other| !own.is_disjoint(&other));
        Ok((0..).zip(&all).any(|(rank, numbers)| rank != self.rank && is_rival(numbers)))
    }

    /// `MPI_File_set_view` (section 14.3).
    ///
    /// # Errors
    /// Those of the arguments and of other processes.
    pub fn set_view(
        &self,
        displacement: i64,
        (etype, filetype): (MPI_Datatype, MPI_Datatype),
        representation: &[u8],
        info: MPI_Info,
    ) -> Result<()> {
        self.collective_may_begin()?;
        let made = self.make_view(displacement, (etype, filetype), representation);
        let mut same = DefaultHasher::new();
        (made.as_ref().map_or(0, |made| made.view.etype_bytes()), representation).hash(&mut same);
        let what = "the elementary datatype's size and the data representation, as a checksum,";
        let made = agree_on(*self.communicator, same.finish() as i64, what, made)?;
        let hints = self.new_hints(info)?;
        let holes = self.state().atomic.as_ref().map(|atomic| atomic.holes);
        let has_rivals = holes.map_or(Ok(false), |holes| self.has_rivals(&made.view, holes))?;
        let mut state = self.state();
        (state.view, state.position, state.hints) = (made.into(), 0, hints);
        if let Some(atomic) = &mut state.atomic {
            atomic.has_rivals = has_rivals;
        }
        drop(state);
        self.set_shared(0)
    }

    fn make_view(
        &self,
        displacement: i64,
        (etype, filetype): (MPI_Datatype, MPI_Datatype),
        representation: &[u8],
    ) -> Result<Viewed> {
        let representation = Representation::find(representation)?;
        let (etype, filetype) = (self.mpi.datatype(etype), self.mpi.datatype(filetype));
        let displacement = self.displacement(displacement)?;
        let (unit, tile) = (representation.layout(etype)?, representation.layout(filetype)?);
        let ascending = tile.shape.ascends(true) && (tile.extent() >= 0 || tile.size() == 0);
        if (tile.size() > 0 && tile.first < 0) || !ascending {
            let detail = "the displacements in a filetype must not be negative and not descend";
            return Err(Error::argument(detail));
        }
        if !self.has(MPI_MODE_RDONLY) && !tile.shape.ascends(false) {
            let detail = "the filetype has overlapping parts, and the file was opened for writing";
            return Err(Error::argument(detail));
        }
        if tile.size() != 0 && (unit.size() == 0 || tile.size() % unit.size() != 0) {
            let detail = format!(
                "the filetype has {} bytes, which is no multiple of the elementary datatype's {}",
                tile.size(),
                unit.size()
            );
            return Err(Error::argument(detail));
        }
        Ok(Viewed {
            view: View::new(displacement, unit.size(), &tile),
            representation,
            displacement,
            etype: etype.duplicate()?,
            filetype: filetype.duplicate()?,
        })
    }

    /// The displacement that a view is asked for.
    fn displacement(&self, displacement: i64) -> Result<i64> {
        if displacement == MPI_DISPLACEMENT_CURRENT && self.has(MPI_MODE_SEQUENTIAL) {
            let view = Arc::clone(&self.state().view);
            return Ok(view.view.offset(self.pointer.position()? * view.view.etype_bytes()));
        }
        if displacement < 0 {
            let detail = format!("the displacement of the view is {displacement}; it must not be negative");
            return Err(Error::argument(detail));
        }
        Ok(displacement)
    }

    /// `MPI_File_get_view`: displacement, elementary datatype, filetype and the name of the representation.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn view(&self) -> Result<(i64, MPI_Datatype, MPI_Datatype, Vec<u8>)> {
        let view = Arc::clone(&self.state().view);
        let etype = view.etype.duplicate()?.release();
        let filetype = view.filetype.duplicate()?.release();
        Ok((view.displacement, etype, filetype, view.representation.name().into()))
    }

    /// `MPI_File_get_type_extent` (section 14.5.1).
    ///
    /// # Errors
    /// What MPI or a callback returns.
    pub fn type_extent(&self, datatype: MPI_Datatype) -> Result<i64> {
        let view = Arc::clone(&self.state().view);
        Ok(view.representation.layout(self.mpi.datatype(datatype))?.extent())
    }

    /// `MPI_File_seek` (section 14.4.3).
    ///
    /// # Errors
    /// Those of the arguments.
    pub fn seek(&self, offset: i64, whence: i32) -> Result<()> {
        self.not_sequential()?;
        let position = self.state().position;
        let new = self.target(offset, whence, position)?;
        self.state().position = new;
        Ok(())
    }

    /// `MPI_File_seek_shared` (section 14.4.4).
    ///
    /// # Errors
    /// Those of the arguments and of other processes.
    pub fn seek_shared(&self, offset: i64, whence: i32) -> Result<()> {
        self.collective_may_begin()?;
        let now = self.not_sequential().and_then(|()| self.pointer.position());
        let new = now.and_then(|now| self.target(offset, whence, now));
        agree_on(
            *self.communicator,
            offset ^ i64::from(whence) << 48,
            "where to seek",
            new.as_ref().map(drop).map_err(Clone::clone),
        )?;
        self.set_shared(new?)
    }

    /// Where a file pointer is moved to, in elementary datatypes.
    fn target(&self, offset: i64, whence: i32, position: i64) -> Result<i64> {
        let base = match whence {
            MPI_SEEK_SET => 0,
            MPI_SEEK_CUR => position,
            MPI_SEEK_END => {
                let view = Arc::clone(&self.state().view);
                view.view.element_at(self.disk.size()?)
            }
            _ => return Err(Error::argument(format!("whence is {whence}, which is no MPI_SEEK_ constant"))),
        };
        match base.checked_add(offset) {
            Some(target @ 0..) => Ok(target),
            _ => Err(Error::argument(format!("offset {offset} leads before the beginning of the view"))),
        }
    }

    /// `MPI_File_get_position`.
    ///
    /// # Errors
    /// For a sequential file.
    pub fn position(&self) -> Result<i64> {
        self.not_sequential()?;
        Ok(self.state().position)
    }

    /// `MPI_File_get_position_shared`.
    ///
    /// # Errors
    /// For a sequential file, and what MPI returns.
    pub fn position_shared(&self) -> Result<i64> {
        self.not_sequential()?;
        self.pointer.position()
    }

    /// `MPI_File_get_byte_offset`.
    ///
    /// # Errors
    /// For a sequential file or a negative offset.
    pub fn byte_offset(&self, offset: i64) -> Result<i64> {
        self.not_sequential()?;
        if offset < 0 {
            return Err(Error::argument(format!("the offset is {offset}; it must not be negative")));
        }
        let view = Arc::clone(&self.state().view);
        let at = view.view.stream_of(offset, 0).ok_or_else(|| Error::too_far(offset))?;
        Ok(view.view.offset(at))
    }
}
