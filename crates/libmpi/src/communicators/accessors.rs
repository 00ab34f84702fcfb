//! What communicators say of themselves, their names and hints (MPI 5.0, sections 7.4.1, 7.4.4, 7.6.1 and 7.8).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::communicators::Communicator;
use postrider_engine::communicators::group::Comparison;
use postrider_engine::error::{Error, Result};
use postrider_engine::info::Info;

use super::groups::handle_with_session;
use crate::parse::{self, Out, Text, TextOut};
use crate::{info, instance};

/// Reads something of a communicator.
///
/// # Errors
/// `MPI_ERR_COMM` for handles that are none, and those of `action`.
pub fn read<T>(comm: MPI_Comm, action: impl FnOnce(&Communicator) -> Result<T>) -> Result<T> {
    let key = parse::communicator(comm)?;
    instance().with(|state| action(state.communicators.get(key)?))
}

/// The error for an intra-communicator where an inter-communicator is wanted.
fn not_inter() -> Error {
    Error::new(MPI_ERR_COMM, "the communicator has no remote group: it is an intra-communicator")
}

fn compare(one: &Communicator, other: &Communicator) -> c_int {
    let local = one.group.compare(&other.group);
    let remote = match (&one.remote, &other.remote) {
        (None, None) => Comparison::Ident,
        (Some(one), Some(other)) => one.compare(other),
        _ => Comparison::Unequal,
    };
    match (local, remote) {
        (Comparison::Unequal, _) | (_, Comparison::Unequal) => MPI_UNEQUAL,
        (Comparison::Ident, Comparison::Ident) => MPI_CONGRUENT,
        _ => MPI_SIMILAR,
    }
}

/// The hints that this library heeds: the assertions that the standard defines for communicators.
const HINTS: [&str; 4] = [
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
];

/// Takes the hints that are heeded from an info argument.
///
/// # Errors
/// `MPI_ERR_INFO` for handles that are none.
pub fn heed(into: &mut Info, given: &Info) -> Result<()> {
    HINTS
        .iter()
        .filter_map(|&key| Some((key, given.value(key)?)))
        .try_for_each(|(key, value)| into.set(key, value))
}

mpi! {
    /// Section 7.4.1.
    MPI_Comm_size (comm: MPI_Comm, size: Out<c_int>) on comm {
        size.set(read(comm, |found| Ok(found.size()))? as c_int)
    }

    /// Section 7.4.1.
    MPI_Comm_rank (comm: MPI_Comm, rank: Out<c_int>) on comm {
        rank.set(read(comm, |found| Ok(found.rank))? as c_int)
    }

    /// Section 7.4.1.
    MPI_Comm_compare (comm1: MPI_Comm, comm2: MPI_Comm, result: Out<c_int>) on comm1 {
        let (one, other) = (parse::communicator(comm1)?, parse::communicator(comm2)?);
        let compared = instance().with(|state| {
            let (first, second) = (state.communicators.get(one)?, state.communicators.get(other)?);
            Ok(if one == other { MPI_IDENT } else { compare(first, second) })
        })?;
        result.set(compared)
    }

    /// Section 7.6.1.
    MPI_Comm_test_inter (comm: MPI_Comm, flag: Out<c_int>) on comm {
        flag.set(c_int::from(read(comm, |found| Ok(found.remote.is_some()))?))
    }

    /// Section 7.6.1.
    MPI_Comm_remote_size (comm: MPI_Comm, size: Out<c_int>) on comm {
        let found = read(comm, |found| found.remote.as_ref().map(|group| group.size()).ok_or_else(not_inter))?;
        size.set(found as c_int)
    }

    /// Section 7.3.2.
    MPI_Comm_group (comm: MPI_Comm, group: Out<MPI_Group>) on comm {
        let (found, session) = read(comm, |found| Ok(((*found.group).clone(), found.session)))?;
        group.set(instance().with(|state| handle_with_session(state, found, session))?)
    }

    /// Section 7.6.1.
    MPI_Comm_remote_group (comm: MPI_Comm, group: Out<MPI_Group>) on comm {
        let both = |found: &Communicator| Some((found.remote.as_deref().cloned()?, found.session));
        let (found, session) = read(comm, |found| both(found).ok_or_else(not_inter))?;
        group.set(instance().with(|state| handle_with_session(state, found, session))?)
    }

    /// Section 7.8: a name that is too long is cut.
    MPI_Comm_set_name (comm: MPI_Comm, comm_name: Text) on comm {
        let (key, name) = (parse::communicator(comm)?, comm_name.get()?);
        instance().with(|state| {
            state.communicators.get_mut(key)?.name = name;
            Ok(())
        })
    }

    /// Section 7.8.
    MPI_Comm_get_name (comm: MPI_Comm, comm_name: TextOut, resultlen: Out<c_int>) on comm {
        let name = match comm {
            MPI_COMM_NULL => b"MPI_COMM_NULL".to_vec(),
            comm => read(comm, |found| Ok(found.name.clone()))?,
        };
        resultlen.set(comm_name.set(&name, MPI_MAX_OBJECT_NAME)?)
    }

    /// Section 7.4.4: hints that this library does not know are dropped.
    MPI_Comm_set_info (comm: MPI_Comm, info: MPI_Info) on comm {
        let (key, given) = (parse::communicator(comm)?, info::hints(info)?);
        instance().with(|state| heed(&mut state.communicators.get_mut(key)?.info, &given))
    }

    /// Section 7.4.4.
    MPI_Comm_get_info (comm: MPI_Comm, info_used: Out<MPI_Info>) on comm {
        let found = read(comm, |found| Ok(found.info.clone()))?;
        info_used.set(info::new_handle_of_object(found)?)
    }
}
