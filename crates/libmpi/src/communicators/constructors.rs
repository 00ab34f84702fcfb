//! How communicators are made and freed (MPI 5.0, sections 7.4.2, 7.4.3 and 7.6.2).

use core::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use postrider_abi::*;
use postrider_engine::communicators::Group;
use postrider_engine::environment::HandlerKind;
use postrider_engine::error::{Error, RaisedOn, Result};
use postrider_engine::info::Info;
use postrider_engine::objects::Key;
use postrider_os::process::namespace;

use super::accessors::heed;
use super::groups::session_of;
use crate::caching::{self, Owner};
use crate::error_handlers::inherit;
use crate::parse::{self, Out, Text};
use crate::tables::tables;
use crate::{error_handlers, info, instance, library};

/// Starts a duplicate: its handle, and the request that completes when it can be used. Attributes are copied and hints set
/// at once. Hints do not go from the original to the duplicate (since MPI 4.0).
fn start_duplicate(comm: MPI_Comm, hints: &Info) -> Result<(MPI_Comm, Key)> {
    let original = parse::communicator(comm)?;
    let mut request = None;
    let made = inherit(original, || {
        let (made, started) = instance().with(|state| state.start_duplicate(original))?;
        request = Some(started);
        Ok(Some(made))
    })?;
    let (Some(made), Some(request)) = (made, request) else {
        return Err(Error::new(MPI_ERR_INTERN, "a duplicate was not started"));
    };
    instance().with(|state| heed(&mut state.communicators.get_mut(made)?.info, hints))?;
    Ok((parse::communicator_handle(made), request))
}

/// Copies the attributes to a duplicate; without them there is none.
fn copy_attributes(comm: MPI_Comm, made: MPI_Comm) -> Result<()> {
    let copied = caching::copy_all(Owner::Communicator(comm), Owner::Communicator(made));
    copied.or_else(|error| free(made).and(Err(error)))
}

fn duplicate(comm: MPI_Comm, hints: &Info, newcomm: Out<MPI_Comm>) -> Result<()> {
    let (made, request) = start_duplicate(comm, hints)?;
    instance().wait(request)?.completion.into_result()?;
    // A program that goes on after an error finds that there is no duplicate.
    newcomm.set(MPI_COMM_NULL)?;
    copy_attributes(comm, made)?;
    newcomm.set(made)
}

fn duplicate_later(
    comm: MPI_Comm,
    hints: &Info,
    newcomm: Out<MPI_Comm>,
    request: Out<MPI_Request>,
) -> Result<()> {
    let (made, started) = start_duplicate(comm, hints)?;
    if let Err(error) = caching::copy_all(Owner::Communicator(comm), Owner::Communicator(made)) {
        // The other processes count on this one, so what was started has to end before it is given up.
        instance().wait(started)?.completion.into_result()?;
        newcomm.set(MPI_COMM_NULL)?;
        return free(made).and(Err(error));
    }
    newcomm.set(made)?;
    library::leave_behind(request, started)
}

/// Frees a communicator, whose attributes are deleted first.
fn free(comm: MPI_Comm) -> Result<()> {
    let key = parse::communicator(comm)?;
    if comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF {
        return Err(Error::new(MPI_ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed"));
    }
    caching::delete_all(Owner::Communicator(comm)).map_err(|error| error.on(RaisedOn::Communicator(key)))?;
    instance().with(|state| {
        let handler = state.communicators.get(key)?.handler;
        state.free_communicator(key)?;
        tables().release(handler)
    })
}

fn handle(made: Option<Key>) -> MPI_Comm {
    made.map_or(MPI_COMM_NULL, parse::communicator_handle)
}

/// Checks the colour of a split; none for `MPI_UNDEFINED`.
fn color(color: c_int) -> Result<Option<c_int>> {
    match color {
        MPI_UNDEFINED => Ok(None),
        0.. => Ok(Some(color)),
        _ => Err(Error::new(MPI_ERR_ARG, format!("color {color} is neither MPI_UNDEFINED nor 0 or more"))),
    }
}

/// The colour that a type of split means; none for no communicator. What shares memory is a host; nothing finer is known. Its number alone
/// is not enough, since other jobs may have given that to another host.
fn color_of_type(split_type: c_int, hints: &Info) -> Result<Option<c_int>> {
    let facts = instance().facts();
    let mut hasher = DefaultHasher::new();
    (namespace(), facts.placement.host_of(facts.rank)).hash(&mut hasher);
    let host = (hasher.finish() >> 33) as c_int;
    let guided = (hints.get("mpi_hw_resource_type") == Some("mpi_shared_memory")).then_some(host);
    match split_type {
        MPI_COMM_TYPE_SHARED => Ok(Some(host)),
        MPI_COMM_TYPE_HW_GUIDED => Ok(guided),
        MPI_COMM_TYPE_RESOURCE_GUIDED => {
            Ok(guided.or_else(|| hints.get("mpi_pset_name").and_then(color_of_set)))
        }
        MPI_COMM_TYPE_HW_UNGUIDED | MPI_UNDEFINED => Ok(None),
        other => Err(Error::new(MPI_ERR_ARG, format!("{other} is no type that MPI_Comm_split_type knows"))),
    }
}

/// The colour of the process set with this name that this process is in: its first process. None where there is no such set.
fn color_of_set(name: &str) -> Option<c_int> {
    let set = instance().with(|state| state.process_set(name)).ok()?;
    set.process(0).map(|first| first.0 as c_int)
}

/// The text by which processes that make a communicator agree; it is limited.
fn tag_of(stringtag: Text) -> Result<Vec<u8>> {
    let tag = stringtag.get()?;
    if tag.len() >= MPI_MAX_STRINGTAG_LEN {
        let detail =
            format!("the string tag has {} characters; at most {}", tag.len(), MPI_MAX_STRINGTAG_LEN - 1);
        return Err(Error::new(MPI_ERR_ARG, detail));
    }
    Ok(tag)
}

mpi! {
    /// Section 7.4.2.
    MPI_Comm_dup (comm: MPI_Comm, newcomm: Out<MPI_Comm>) on comm {
        duplicate(comm, &Info::default(), newcomm)
    }

    /// Section 7.4.2.
    MPI_Comm_dup_with_info (comm: MPI_Comm, info: MPI_Info, newcomm: Out<MPI_Comm>) on comm {
        duplicate(comm, &info::hints(info)?, newcomm)
    }

    /// Section 7.4.2.
    MPI_Comm_idup (comm: MPI_Comm, newcomm: Out<MPI_Comm>, request: Out<MPI_Request>) on comm {
        duplicate_later(comm, &Info::default(), newcomm, request)
    }

    /// Section 7.4.2.
    MPI_Comm_idup_with_info (
        comm: MPI_Comm, info: MPI_Info, newcomm: Out<MPI_Comm>, request: Out<MPI_Request>
    ) on comm {
        duplicate_later(comm, &info::hints(info)?, newcomm, request)
    }

    /// Section 7.4.2.
    MPI_Comm_create (comm: MPI_Comm, group: MPI_Group, newcomm: Out<MPI_Comm>) on comm {
        let key = parse::communicator(comm)?;
        let group = instance().with(|state| parse::group(state, group))?;
        newcomm.set(handle(inherit(key, || instance().create(key, &group))?))
    }

    /// Section 7.4.2.
    MPI_Comm_create_group (comm: MPI_Comm, group: MPI_Group, tag: c_int, newcomm: Out<MPI_Comm>) on comm {
        let key = parse::communicator(comm)?;
        let group = instance().with(|state| parse::group(state, group))?;
        check_tag(tag)?;
        newcomm.set(handle(inherit(key, || instance().create_group(key, &group, tag))?))
    }

    /// Section 7.4.2.
    MPI_Comm_split (comm: MPI_Comm, color: c_int, key: c_int, newcomm: Out<MPI_Comm>) on comm {
        let (parent, color) = (parse::communicator(comm)?, self::color(color)?);
        newcomm.set(handle(inherit(parent, || instance().split(parent, color, key.into()))?))
    }

    /// Section 7.4.2.
    MPI_Comm_split_type (
        comm: MPI_Comm, split_type: c_int, key: c_int, info: MPI_Info, newcomm: Out<MPI_Comm>
    ) on comm {
        let (parent, color) = (parse::communicator(comm)?, color_of_type(split_type, &info::hints(info)?)?);
        newcomm.set(handle(inherit(parent, || instance().split(parent, color, key.into()))?))
    }

    /// Section 7.6.2.
    MPI_Intercomm_create (
        local_comm: MPI_Comm, local_leader: c_int, peer_comm: MPI_Comm, remote_leader: c_int, tag: c_int,
        newintercomm: Out<MPI_Comm>
    ) on local_comm {
        let local = parse::communicator(local_comm)?;
        check_tag(tag)?;
        // Only the leader's peer communicator counts: what others give need not be one.
        let peer = parse::communicator(peer_comm).ok().map(|peer| (peer, remote_leader));
        let made =
            inherit(local, || instance().create_intercommunicator(local, local_leader, peer, tag).map(Some))?;
        newintercomm.set(handle(made))
    }

    /// Section 7.4.2: no communicator has to be there; the processes of the group agree by the text.
    MPI_Comm_create_from_group (
        group: MPI_Group, stringtag: Text, info: MPI_Info, errhandler: MPI_Errhandler, newcomm: Out<MPI_Comm>
    ) on errhandler {
        newcomm.set(handle(from_groups(group, (info, errhandler), |group| {
            instance().create_from_group(group, &tag_of(stringtag)?)
        })?))
    }

    /// Section 7.6.2: the same for two groups. Those of the other side count only at the local leader.
    MPI_Intercomm_create_from_groups (
        local_group: MPI_Group, local_leader: c_int, remote_group: MPI_Group, remote_leader: c_int,
        stringtag: Text, info: MPI_Info, errhandler: MPI_Errhandler, newintercomm: Out<MPI_Comm>
    ) on errhandler {
        // What others than the leader give need not be a group.
        let remote = instance().with(|state| parse::group(state, remote_group)).unwrap_or_default();
        newintercomm.set(handle(from_groups(local_group, (info, errhandler), |group| {
            let (local, remote) = ((group, local_leader), (&*remote, remote_leader));
            instance().create_intercommunicator_from_groups(local, remote, &tag_of(stringtag)?).map(Some)
        })?))
    }

    /// Section 7.6.2.
    MPI_Intercomm_merge (intercomm: MPI_Comm, high: c_int, newintracomm: Out<MPI_Comm>) on intercomm {
        let key = parse::communicator(intercomm)?;
        newintracomm.set(handle(inherit(key, || instance().merge(key, high != 0).map(Some))?))
    }

    /// Section 7.4.3: operations that are under way end as usual.
    MPI_Comm_free (comm: Out<MPI_Comm>) {
        let handle = comm.get()?;
        instance().finish_collectives(parse::communicator(handle)?)?;
        free(handle)?;
        comm.set(MPI_COMM_NULL)
    }

    /// Section 11.10.4: as `MPI_Comm_free`, once the communicator's operations have ended.
    MPI_Comm_disconnect (comm: Out<MPI_Comm>) {
        let handle = comm.get()?;
        instance().wait_for_communicator(parse::communicator(handle)?)?;
        free(handle)?;
        comm.set(MPI_COMM_NULL)
    }
}

/// Makes a communicator of groups, with hints and an error handler of its own.
fn from_groups(
    group: MPI_Group,
    (info, errhandler): (MPI_Info, MPI_Errhandler),
    make: impl FnOnce(&Arc<Group>) -> Result<Option<Key>>,
) -> Result<Option<Key>> {
    let (hints, handler) = (info::hints(info)?, error_handlers::handler(errhandler)?);
    error_handlers::check_kind(handler, HandlerKind::Communicator)?;
    let (local, session) =
        instance().with(|state| Ok((parse::group(state, group)?, session_of(state, group))))?;
    let Some(made) = make(&local)? else { return Ok(None) };
    instance().with(|state| {
        let communicator = state.communicators.get_mut(made)?;
        communicator.session = session;
        tables().retain(handler)?;
        communicator.handler = handler;
        heed(&mut communicator.info, &hints)
    })?;
    Ok(Some(made))
}

fn check_tag(tag: c_int) -> Result<()> {
    if tag < 0 {
        return Err(Error::new(MPI_ERR_TAG, format!("tag {tag} is negative")));
    }
    Ok(())
}
