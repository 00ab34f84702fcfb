//! Synchronization of windows (MPI 5.0, sections 12.5.1 to 12.5.4).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::error::{Error, Result};
use postrider_engine::one_sided::LockKind;

use crate::instance;
use crate::parse::{self, Out};

fn lock_kind(lock_type: c_int) -> Result<LockKind> {
    match lock_type {
        MPI_LOCK_SHARED => Ok(LockKind::Shared),
        MPI_LOCK_EXCLUSIVE => Ok(LockKind::Exclusive),
        other => {
            let detail = format!("{other} is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE");
            Err(Error::new(MPI_ERR_LOCKTYPE, detail))
        }
    }
}

mpi! {
    /// Section 12.5.1.
    MPI_Win_fence (assert: c_int, win: MPI_Win) on win {
        instance().fence(parse::window(win)?, assert)
    }

    /// Section 12.5.2.
    MPI_Win_start (group: MPI_Group, assert: c_int, win: MPI_Win) on win {
        instance().start_access(parse::window(win)?, |state| parse::group(state, group), assert)
    }

    /// Section 12.5.2.
    MPI_Win_complete (win: MPI_Win) on win {
        instance().complete_access(parse::window(win)?)
    }

    /// Section 12.5.2.
    MPI_Win_post (group: MPI_Group, assert: c_int, win: MPI_Win) on win {
        instance().post_exposure(parse::window(win)?, |state| parse::group(state, group), assert)
    }

    /// Section 12.5.2.
    MPI_Win_wait (win: MPI_Win) on win {
        instance().wait_exposure(parse::window(win)?)
    }

    /// Section 12.5.2.
    MPI_Win_test (win: MPI_Win, flag: Out<c_int>) on win {
        flag.set(c_int::from(instance().test_exposure(parse::window(win)?)?))
    }

    /// Section 12.5.3.
    MPI_Win_lock (lock_type: c_int, rank: c_int, assert: c_int, win: MPI_Win) on win {
        let (window, kind) = (parse::window(win)?, lock_kind(lock_type)?);
        if assert == 0 && instance().lock_plain(window, rank, kind) {
            return Ok(());
        }
        instance().lock_window(window, rank, kind, assert)
    }

    /// Section 12.5.3.
    MPI_Win_unlock (rank: c_int, win: MPI_Win) on win {
        let window = parse::window(win)?;
        if instance().unlock_plain(window, rank) { Ok(()) } else { instance().unlock_window(window, rank) }
    }

    /// Section 12.5.3.
    MPI_Win_lock_all (assert: c_int, win: MPI_Win) on win {
        instance().lock_all(parse::window(win)?, assert)
    }

    /// Section 12.5.3.
    MPI_Win_unlock_all (win: MPI_Win) on win {
        instance().unlock_all(parse::window(win)?)
    }

    /// Section 12.5.4.
    MPI_Win_flush (rank: c_int, win: MPI_Win) on win {
        let window = parse::window(win)?;
        if instance().flush_plain(window, rank) { Ok(()) } else { instance().flush_window(window, Some(rank)) }
    }

    /// Section 12.5.4.
    MPI_Win_flush_all (win: MPI_Win) on win {
        instance().flush_window(parse::window(win)?, None)
    }

    /// Section 12.5.4.
    MPI_Win_flush_local (rank: c_int, win: MPI_Win) on win {
        instance().flush_window_locally(parse::window(win)?, Some(rank))
    }

    /// Section 12.5.4.
    MPI_Win_flush_local_all (win: MPI_Win) on win {
        instance().flush_window_locally(parse::window(win)?, None)
    }

    /// Section 12.5.4.
    MPI_Win_sync (win: MPI_Win) on win {
        instance().sync_window(parse::window(win)?)
    }
}
