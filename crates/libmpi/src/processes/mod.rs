//! Process creation and management (MPI 5.0, sections 11.8 and 11.10): jobs that are spawned, and jobs that find each other.
//!
//! Everything comes down to two processes that have a connection, each of which speaks for a group
//! ([`Instance::join_groups`](postrider_engine::Instance::join_groups)). How they come by it is what differs: through a port, through a
//! socket of the user's, or through a port whose name a spawned job is given.

mod keys;
mod meeting;
mod spawn;

use core::ffi::c_int;
use std::sync::{Arc, OnceLock};

use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_os::job;
use postrider_os::port::{self, Connection, Port, Published};

use crate::error_handlers::inherit;
use crate::parse::{self, Out, Text, TextOut};
use crate::tables::tables;
use crate::{info, instance};

use meeting::{accept, connect, open_port};
pub use spawn::collect_spawned;

/// The communicator with those who have spawned this job.
static PARENT: OnceLock<Key> = OnceLock::new();

/// If this job was spawned: meets those who wait for it. All its processes call.
///
/// # Errors
/// When they are not there any more.
pub fn meet_parent() -> Result<()> {
    let Ok(port) = std::env::var(job::ENV_PARENT) else { return Ok(()) };
    let made = instance().join_groups(State::WORLD, 0, MPI_ERR_SPAWN, || {
        let mut connection = Connection::to(&port).map_err(refused(MPI_ERR_SPAWN))?;
        // Nothing to say: these are the processes, and not the launcher with a reason why there are none.
        connection.send(&[]).map_err(refused(MPI_ERR_SPAWN))?;
        Ok(connection)
    })?;
    let _first = PARENT.set(made);
    Ok(())
}

fn refused(class: c_int) -> impl Fn(postrider_os::error::Error) -> Error {
    move |error| Error::new(class, error.to_string())
}

fn join_groups(
    comm: MPI_Comm,
    root: c_int,
    class: c_int,
    meet: impl FnOnce() -> Result<Connection>,
) -> Result<MPI_Comm> {
    let key = parse::communicator(comm)?;
    let made = inherit(key, || instance().join_groups(key, root, class, meet).map(Some))?;
    Ok(made.map_or(MPI_COMM_NULL, parse::communicator_handle))
}

mpi! {
    /// Section 11.10.2: no hint is known.
    MPI_Open_port (info: MPI_Info, port_name: TextOut) {
        info::hints(info)?;
        let port = Port::open(instance().home()).map_err(refused(MPI_ERR_PORT))?;
        port_name.set(port.name(), MPI_MAX_PORT_NAME)?;
        tables().ports.push(Arc::new(port));
        Ok(())
    }

    /// Section 11.10.2.
    MPI_Close_port (port_name: Text) {
        let port = open_port(&port_name.shown()?)?;
        tables().ports.retain(|other| !Arc::ptr_eq(other, &port));
        Ok(())
    }

    /// Section 11.10.2: name and hints count at the root only.
    MPI_Comm_accept (
        port_name: Text, info: MPI_Info, root: c_int, comm: MPI_Comm, newcomm: Out<MPI_Comm>
    ) on comm {
        newcomm.set(join_groups(comm, root, MPI_ERR_PORT, || {
            info::hints(info)?;
            accept(&port_name.shown()?)
        })?)
    }

    /// Section 11.10.3: name and hints count at the root only. The hint `timeout` says how many seconds it waits for an accept.
    MPI_Comm_connect (
        port_name: Text, info: MPI_Info, root: c_int, comm: MPI_Comm, newcomm: Out<MPI_Comm>
    ) on comm {
        newcomm.set(join_groups(comm, root, MPI_ERR_PORT, || {
            connect(&port_name.shown()?, &info::hints(info)?)
        })?)
    }

    /// Section 11.10.6: the socket is left as it was.
    MPI_Comm_join (fd: c_int, intercomm: Out<MPI_Comm>) {
        let meet = || Connection::over(fd).map_err(refused(MPI_ERR_ARG));
        intercomm.set(join_groups(MPI_COMM_SELF, 0, MPI_ERR_OTHER, meet)?)
    }

    /// Section 11.10.4: for the processes of this user on this host, and those of jobs that run here as well, as long as this one lives.
    MPI_Publish_name (service_name: Text, info: MPI_Info, port_name: Text) {
        info::hints(info)?;
        let (service, port) = (service_name.get()?, port_name.get()?);
        let published = Published::new(&service, &port).map_err(|error| match error.reason.kind() {
            std::io::ErrorKind::AddrInUse => {
                let name = String::from_utf8_lossy(&service);
                Error::new(MPI_ERR_SERVICE, format!("the name \"{name}\" is published already"))
            }
            _ => Error::new(MPI_ERR_SERVICE, error.to_string()),
        })?;
        tables().published.push(published);
        Ok(())
    }

    /// Section 11.10.4.
    MPI_Unpublish_name (service_name: Text, info: MPI_Info, port_name: Text) {
        info::hints(info)?;
        let (service, port) = (service_name.get()?, port_name.get()?);
        let mut tables = tables();
        let place = tables.published.iter().position(|published| published.names() == (&*service, &*port));
        let Some(place) = place else {
            let name = String::from_utf8_lossy(&service);
            let detail = format!("this process has not published the name \"{name}\" for that port");
            return Err(Error::new(MPI_ERR_SERVICE, detail));
        };
        tables.published.remove(place);
        Ok(())
    }

    /// Section 11.10.4.
    MPI_Lookup_name (service_name: Text, info: MPI_Info, port_name: TextOut) {
        info::hints(info)?;
        let service = service_name.get()?;
        let elsewhere = || {
            let (key, _) = instance().home()?;
            let hosts = instance().facts().placement.hosts();
            (0..hosts).find_map(|host| port::look_up_at(key, host, &service))
        };
        let Some(port) = port::look_up(&service).or_else(elsewhere) else {
            let name = String::from_utf8_lossy(&service);
            let detail =
                format!("no process of this user on the hosts of this job has published the name \"{name}\"");
            return Err(Error::new(MPI_ERR_NAME, detail));
        };
        port_name.set(&port, MPI_MAX_PORT_NAME).map(drop)
    }

    /// Section 11.8.2: `MPI_COMM_NULL` for who was not spawned, and once the communicator was freed or disconnected.
    MPI_Comm_get_parent (parent: Out<MPI_Comm>) {
        let living = |key: &&Key| instance().with(|state| state.communicators.get(**key).map(drop)).is_ok();
        let found = PARENT.get().filter(living);
        parent.set(found.map_or(MPI_COMM_NULL, |key| parse::communicator_handle(*key)))
    }
}
