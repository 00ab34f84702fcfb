//! How windows are made and freed, their names and hints (MPI 5.0, sections 12.2 and 7.8).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::error::{Error, RaisedOn, Result};
use postrider_engine::one_sided::{Flavor, NewWindow};

use crate::caching::{self, Owner};
use crate::environment::alignment;
use crate::parse::{self, Memory, Out, Text, TextOut};
use crate::tables::tables;
use crate::{info, instance, library};

/// Makes a window of a kind, with memory of the program or its own.
fn create(
    flavor: Flavor,
    (memory, size, unit): (Memory, i64, i64),
    (info, comm): (MPI_Info, MPI_Comm),
    win: Out<MPI_Win>,
) -> Result<()> {
    let (communicator, info) = (parse::communicator(comm)?, info::hints(info)?);
    let alignment = alignment(&info)?;
    let new = NewWindow { communicator, flavor, base: memory.user(), size, unit, info, alignment };
    let key = instance().create_window(&new)?;
    library::open_window()?;
    win.set(parse::window_handle(key))
}

/// The address at which a window begins, as an allocating function returns it.
fn return_base(win: Out<MPI_Win>, base: Out<usize>) -> Result<()> {
    let key = parse::window(win.get()?)?;
    base.set(instance().with(|state| Ok(state.windows.get(key)?.address()))?)
}

mpi! {
    /// Section 12.2.1.
    MPI_Win_create / MPI_Win_create_c (
        base: Memory, size: MPI_Aint, disp_unit: Displacement, info: MPI_Info, comm: MPI_Comm, win: Out<MPI_Win>
    ) on comm {
        create(Flavor::Create, (base, parse::wide(size)?, i64::from(disp_unit)), (info, comm), win)
    }

    /// Section 12.2.2.
    MPI_Win_allocate / MPI_Win_allocate_c (
        size: MPI_Aint, disp_unit: Displacement, info: MPI_Info, comm: MPI_Comm, baseptr: Out<usize>, win: Out<MPI_Win>
    ) on comm {
        create(Flavor::Allocate, (Memory(0), parse::wide(size)?, i64::from(disp_unit)), (info, comm), win)?;
        return_base(win, baseptr)
    }

    /// Section 12.2.3.
    MPI_Win_allocate_shared / MPI_Win_allocate_shared_c (
        size: MPI_Aint, disp_unit: Displacement, info: MPI_Info, comm: MPI_Comm, baseptr: Out<usize>, win: Out<MPI_Win>
    ) on comm {
        create(Flavor::Shared, (Memory(0), parse::wide(size)?, i64::from(disp_unit)), (info, comm), win)?;
        return_base(win, baseptr)
    }

    /// Section 12.2.3: of memory that this process cannot reach, the size is 0.
    MPI_Win_shared_query / MPI_Win_shared_query_c (
        win: MPI_Win, rank: c_int, size: Out<MPI_Aint>, disp_unit: Out<Displacement>, baseptr: Out<usize>
    ) on win {
        let key = parse::window(win)?;
        let (bytes, unit, address) = instance().with(|state| {
            let window = state.windows.get(key)?;
            window.reachable(if rank == MPI_PROC_NULL { None } else { Some(window.rank_of(rank)?) })
        })?;
        size.set(bytes as MPI_Aint)?;
        disp_unit.set(unit as Displacement)?;
        baseptr.set(address)
    }

    /// Section 12.2.4.
    MPI_Win_create_dynamic (info: MPI_Info, comm: MPI_Comm, win: Out<MPI_Win>) on comm {
        create(Flavor::Dynamic, (Memory(0), 0, 1), (info, comm), win)
    }

    /// Section 12.2.4.
    MPI_Win_attach (win: MPI_Win, base: Memory, size: MPI_Aint) on win {
        let (key, bytes) = (parse::window(win)?, parse::length(parse::wide(size)?, "the size"));
        let bytes = bytes.map_err(|error| Error::new(MPI_ERR_SIZE, error.detail))?;
        instance().with(|state| state.windows.get_mut(key)?.attach(base.0, bytes))
    }

    /// Section 12.2.4.
    MPI_Win_detach (win: MPI_Win, base: Memory) on win {
        let key = parse::window(win)?;
        instance().with(|state| state.windows.get_mut(key)?.detach(base.0))
    }

    /// Section 12.2.5.
    MPI_Win_free (win: Out<MPI_Win>) {
        let handle = win.get()?;
        let key = parse::window(handle)?;
        let communicator = instance().with(|state| Ok(state.windows.get(key)?.communicator))?;
        let checked = instance().with(|state| state.check_free_window(key));
        let freed = checked.and_then(|()| caching::delete_all(Owner::Window(handle))).and_then(|()| {
            let handler = instance().with(|state| Ok(state.windows.get(key)?.handler))?;
            instance().free_window(key)?;
            tables().release(handler)
        });
        freed.map_err(|error| error.on(RaisedOn::Communicator(communicator)))?;
        win.set(MPI_WIN_NULL)
    }

    /// Section 12.2.7.
    MPI_Win_get_group (win: MPI_Win, group: Out<MPI_Group>) on win {
        let key = parse::window(win)?;
        let made = instance().with(|state| {
            let communicator = state.windows.get(key)?.communicator;
            let found = (*state.communicators.get(communicator)?.group).clone();
            parse::group_handle(state, found)
        })?;
        group.set(made)
    }

    /// Section 12.2.7: hints that this library does not know are dropped.
    MPI_Win_set_info (win: MPI_Win, info: MPI_Info) on win {
        let (key, given) = (parse::window(win)?, info::hints(info)?);
        instance().with(|state| state.windows.get_mut(key)?.heed(&given))
    }

    /// Section 12.2.7.
    MPI_Win_get_info (win: MPI_Win, info_used: Out<MPI_Info>) on win {
        let key = parse::window(win)?;
        let found = instance().with(|state| Ok(state.windows.get(key)?.info.clone()))?;
        info_used.set(info::new_handle_of_object(found)?)
    }

    /// Section 7.8: a name that is too long is cut.
    MPI_Win_set_name (win: MPI_Win, win_name: Text) on win {
        let (key, name) = (parse::window(win)?, win_name.get()?);
        instance().with(|state| {
            state.windows.get_mut(key)?.name = name;
            Ok(())
        })
    }

    /// Section 7.8.
    MPI_Win_get_name (win: MPI_Win, win_name: TextOut, resultlen: Out<c_int>) on win {
        let name = match win {
            MPI_WIN_NULL => b"MPI_WIN_NULL".to_vec(),
            win => {
                let key = parse::window(win)?;
                instance().with(|state| Ok(state.windows.get(key)?.name.clone()))?
            }
        };
        resultlen.set(win_name.set(&name, MPI_MAX_OBJECT_NAME)?)
    }
}
