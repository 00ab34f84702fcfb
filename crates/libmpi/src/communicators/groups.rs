//! Groups (MPI 5.0, section 7.3).

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::communicators::{Group, Process};
use postrider_engine::error::Result;
use postrider_engine::objects::Key;

use crate::instance;
use crate::parse::{self, In, Out};

/// The session that a group comes from, if any.
pub fn session_of(state: &State, group: MPI_Group) -> Option<Key> {
    parse::key_of(group.0).and_then(|key| state.sessions_of_groups.get(&key).copied())
}

/// The handle of a new group that comes from a session, if there is one.
///
/// # Errors
/// When there are too many.
pub fn handle_with_session(state: &mut State, group: Group, session: Option<Key>) -> Result<MPI_Group> {
    let handle = parse::group_handle(state, group)?;
    if let (Some(key), Some(session)) = (parse::key_of(handle.0), session) {
        state.sessions_of_groups.insert(key, session);
    }
    Ok(handle)
}

/// The handle of a new group that was made of others.
fn derived(state: &mut State, group: Group, from: &[MPI_Group]) -> Result<MPI_Group> {
    let session = from.iter().find_map(|&group| session_of(state, group));
    handle_with_session(state, group, session)
}

/// Makes a group of one.
fn from_one(group: MPI_Group, new: Out<MPI_Group>, make: impl FnOnce(&Group) -> Result<Group>) -> Result<()> {
    new.set(instance().with(|state| {
        let made = make(&*parse::group(state, group)?)?;
        derived(state, made, &[group])
    })?)
}

/// Makes a group of two.
fn from_two(
    (one, other): (MPI_Group, MPI_Group),
    new: Out<MPI_Group>,
    make: impl FnOnce(&Group, &Group) -> Group,
) -> Result<()> {
    new.set(instance().with(|state| {
        let made = make(&*parse::group(state, one)?, &*parse::group(state, other)?);
        derived(state, made, &[one, other])
    })?)
}

/// The elements of an array of ranks or ranges.
fn ranks<T: Copy>(array: In<T>, n: c_int) -> Result<Vec<T>> {
    array.all(parse::length(n.into(), "the number of ranks")?)
}

mpi! {
    /// Section 7.3.1.
    MPI_Group_size (group: MPI_Group, size: Out<c_int>) {
        size.set(instance().with(|state| Ok(parse::group(state, group)?.size()))? as c_int)
    }

    /// Section 7.3.1.
    MPI_Group_rank (group: MPI_Group, rank: Out<c_int>) {
        let own = Process(instance().facts().rank);
        let found = instance().with(|state| Ok(parse::group(state, group)?.rank(own)))?;
        rank.set(found.map_or(MPI_UNDEFINED, |rank| rank as c_int))
    }

    /// Section 7.3.1.
    MPI_Group_translate_ranks (
        group1: MPI_Group, n: c_int, ranks1: In<c_int>, group2: MPI_Group, ranks2: Out<c_int>
    ) {
        let from = ranks(ranks1, n)?;
        let found = instance()
            .with(|state| parse::group(state, group1)?.translate_ranks(&from, &*parse::group(state, group2)?))?;
        found.into_iter().enumerate().try_for_each(|(index, rank)| ranks2.set_at(index, rank))
    }

    /// Section 7.3.1.
    MPI_Group_compare (group1: MPI_Group, group2: MPI_Group, result: Out<c_int>) {
        let found =
            instance().with(|state| Ok(parse::group(state, group1)?.compare(&*parse::group(state, group2)?)))?;
        result.set(found as c_int)
    }

    /// Section 7.3.2.
    MPI_Group_union (group1: MPI_Group, group2: MPI_Group, newgroup: Out<MPI_Group>) {
        from_two((group1, group2), newgroup, Group::union)
    }

    /// Section 7.3.2.
    MPI_Group_intersection (group1: MPI_Group, group2: MPI_Group, newgroup: Out<MPI_Group>) {
        from_two((group1, group2), newgroup, Group::intersection)
    }

    /// Section 7.3.2.
    MPI_Group_difference (group1: MPI_Group, group2: MPI_Group, newgroup: Out<MPI_Group>) {
        from_two((group1, group2), newgroup, Group::difference)
    }

    /// Section 7.3.2.
    MPI_Group_incl (group: MPI_Group, n: c_int, ranks: In<c_int>, newgroup: Out<MPI_Group>) {
        let ranks = self::ranks(ranks, n)?;
        from_one(group, newgroup, |group| group.incl(&ranks))
    }

    /// Section 7.3.2.
    MPI_Group_excl (group: MPI_Group, n: c_int, ranks: In<c_int>, newgroup: Out<MPI_Group>) {
        let ranks = self::ranks(ranks, n)?;
        from_one(group, newgroup, |group| group.excl(&ranks))
    }

    /// Section 7.3.2.
    MPI_Group_range_incl (group: MPI_Group, n: c_int, ranges: In<[c_int; 3]>, newgroup: Out<MPI_Group>) {
        let ranges = ranks(ranges, n)?;
        from_one(group, newgroup, |group| group.range_incl(&ranges))
    }

    /// Section 7.3.2.
    MPI_Group_range_excl (group: MPI_Group, n: c_int, ranges: In<[c_int; 3]>, newgroup: Out<MPI_Group>) {
        let ranges = ranks(ranges, n)?;
        from_one(group, newgroup, |group| group.range_excl(&ranges))
    }

    /// Section 7.3.3.
    MPI_Group_free (group: Out<MPI_Group>) {
        let handle = group.get()?;
        instance().with(|state| {
            parse::group(state, handle)?;
            match parse::key_of(handle.0) {
                Some(key) => {
                    state.sessions_of_groups.remove(&key);
                    state.groups.remove(key).map(drop)
                }
                None => Ok(()),
            }
        })?;
        group.set(MPI_GROUP_NULL)
    }
}
