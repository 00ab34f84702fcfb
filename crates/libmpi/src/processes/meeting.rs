//! How two processes meet at a port (MPI 5.0, sections 11.10.2 and 11.10.3).
//!
//! A connection to a port is made by the system, also while nobody accepts: it waits in line. So whoever accepts says first that he is
//! there, by an empty frame, and whoever connects says that he still waits, by another. Who connects waits for the first as long as he
//! was told to, and closes the connection if it does not come. Who accepts takes the end instead of the second for one who has given
//! up, and goes on waiting: a late accept meets the next who is there. Either both have heard each other, or neither is connected.

use std::sync::Arc;
use std::time::{Duration, Instant};

use postrider_abi::{MPI_ERR_INFO_VALUE, MPI_ERR_PORT};
use postrider_engine::error::{Error, Result};
use postrider_engine::info::Info;
use postrider_os::port::{Connection, Port};

use super::refused;
use crate::instance;
use crate::tables::tables;

/// How long somebody listens at a port before other operations go on.
pub const LISTEN: Duration = Duration::from_millis(2);
/// The hint that says for how many seconds `MPI_Comm_connect` waits, and the setting for those who do not give it.
const TIMEOUT: &str = "timeout";
const SETTING: &str = "POSTRIDER_CONNECT_TIMEOUT";
/// How long it waits without either.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(180);

/// The port of this name that this process has open.
///
/// # Errors
/// When there is none.
pub fn open_port(name: &str) -> Result<Arc<Port>> {
    let found = tables().ports.iter().find(|port| port.name() == name).cloned();
    found.ok_or_else(|| {
        let detail = format!(
            "this process has no open port \"{name}\"; a port is the process's that called MPI_Open_port"
        );
        Error::new(MPI_ERR_PORT, detail)
    })
}

/// Waits for somebody at a port, and lets other operations go on meanwhile.
///
/// # Errors
/// When the port is not open here, or is closed meanwhile.
pub fn accept(name: &str) -> Result<Connection> {
    loop {
        let Some(mut connection) = open_port(name)?.accept(LISTEN).map_err(refused(MPI_ERR_PORT))? else {
            instance().go_on()?;
            continue;
        };
        let is_there = connection.send(&[]).is_ok() && hear(&mut connection)?.is_some();
        if is_there {
            return Ok(connection);
        }
    }
}

/// Goes to a port and waits until somebody accepts there, for as long as the hints say. Other operations go on meanwhile.
///
/// # Errors
/// When there is no such port, when it is closed or when the time is over (`MPI_ERR_PORT`); when a hint is wrong.
pub fn connect(name: &str, hints: &Info) -> Result<Connection> {
    let limit = timeout(hints)?;
    let mut connection = Connection::to(name).map_err(refused(MPI_ERR_PORT))?;
    let start = Instant::now();
    let closed = |error| {
        let detail = format!("port {name} was closed before somebody accepted there: {error}");
        Error::new(MPI_ERR_PORT, detail)
    };
    while connection.receive(LISTEN).map_err(closed)?.is_none() {
        if start.elapsed() >= limit {
            let detail = format!(
                "nobody has called MPI_Comm_accept at port {name} for {} seconds; the hint \"{TIMEOUT}\" of MPI_Comm_connect, or \
                 {SETTING}, changes how long this waits",
                limit.as_secs_f64()
            );
            return Err(Error::new(MPI_ERR_PORT, detail));
        }
        instance().go_on()?;
    }
    connection.send(&[]).map_err(closed)?;
    Ok(connection)
}

fn timeout(hints: &Info) -> Result<Duration> {
    let hint = hints.value(TIMEOUT).map(|value| String::from_utf8_lossy(value).into_owned());
    let (what, text) = match (hint, std::env::var(SETTING)) {
        (Some(hint), _) => ("the hint timeout", hint),
        (None, Ok(text)) if !text.is_empty() => (SETTING, text),
        _ => return Ok(DEFAULT_TIMEOUT),
    };
    let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| {
        let detail = format!("{what} is \"{text}\"; it must be a number of seconds, 0 or more");
        Error::new(MPI_ERR_INFO_VALUE, detail)
    })
}

/// The first words of who has come; none if he has left again.
///
/// # Errors
/// When the launcher is gone.
pub fn hear(connection: &mut Connection) -> Result<Option<Vec<u8>>> {
    loop {
        match connection.receive(LISTEN) {
            Ok(Some(words)) => return Ok(Some(words)),
            Ok(None) => instance().go_on()?,
            Err(_) => return Ok(None),
        }
    }
}
