//! Makes calls for processes of other hosts, on memory of the server.

use super::packet::{Function, Request};
use crate::calls::{self, is_for_hosts, message_bytes_of, segment_bytes_of, set_bytes_of, tables};
use crate::semantics::limits::SEMAPHORES_MAX;
use crate::semantics::semaphores::{NO_WAIT, Operation};
use crate::space::asking::ROWS_BYTES;
use crate::space::{Get, Kind, Result, Space};

/// What a call gives: its result and bytes.
pub type Carried = Result<(i64, Vec<u8>)>;

/// Whether a call may take long, or must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It waits if it has to.
    Waits,
    /// If it has to wait, it is nothing.
    AtOnce,
}

/// Makes a call. Nothing if it has to wait and must not.
pub fn carry_out(space: &Space, request: &Request, bytes: &[u8], patience: Patience) -> Option<Carried> {
    let at_once = patience == Patience::AtOnce;
    let carried = match request.function {
        Function::Send => send(space, request, bytes, at_once),
        Function::Receive => receive(space, request, at_once),
        Function::Operate => operate(space, request, bytes, at_once),
        _ => return Some(immediate(space, request, bytes)),
    };
    match carried {
        Err(libc::EAGAIN | libc::ENOMSG) if at_once && waits(request, bytes) => None,
        carried => Some(carried),
    }
}

/// Whether a call waits if what it wants is not there.
fn waits(request: &Request, bytes: &[u8]) -> bool {
    let flags = match request.function {
        Function::Send => request.numbers[0],
        Function::Receive => request.numbers[2],
        _ => return operations(bytes).any(|one| one.flags & NO_WAIT == 0),
    };
    flags as i32 & libc::IPC_NOWAIT == 0
}

fn flags(given: i64, at_once: bool) -> i32 {
    given as i32 | if at_once { libc::IPC_NOWAIT } else { 0 }
}

fn send(space: &Space, request: &Request, bytes: &[u8], at_once: bool) -> Carried {
    let body = bytes.len().checked_sub(size_of::<i64>()).ok_or(libc::EINVAL)?;
    let flags = flags(request.numbers[0], at_once);
    calls::msgsnd(space, request.identifier, bytes.as_ptr() as usize, body, flags)
        .map(|result| (result, Vec::new()))
}

fn receive(space: &Space, request: &Request, at_once: bool) -> Carried {
    let [bytes, kind, given] = request.numbers;
    let most = space.limits().message_bytes as usize;
    let bytes = usize::try_from(bytes).map_err(|_| libc::EINVAL)?.min(most);
    let mut whole = vec![0_u8; size_of::<i64>() + bytes];
    let address = whole.as_mut_ptr() as usize;
    let result = calls::msgrcv(space, request.identifier, address, bytes, kind, flags(given, at_once))?;
    whole.truncate(size_of::<i64>() + result as usize);
    Ok((result, whole))
}

/// The operations that bytes are.
fn operations(bytes: &[u8]) -> impl Iterator<Item = Operation> {
    bytes.chunks_exact(size_of::<Operation>()).map(|one| {
        let number = |at: usize| i16::from_ne_bytes([one[at], one[at + 1]]);
        Operation { semaphore: number(0) as u16, change: number(2), flags: number(4) }
    })
}

fn operate(space: &Space, request: &Request, bytes: &[u8], at_once: bool) -> Carried {
    let mut all: Vec<Operation> = operations(bytes).collect();
    if at_once {
        all.iter_mut().for_each(|one| one.flags |= NO_WAIT);
    }
    calls::semtimedop(space, request.identifier, all.as_ptr() as usize, all.len(), 0)
        .map(|result| (result, Vec::new()))
}

/// Calls that never wait.
fn immediate(space: &Space, request: &Request, bytes: &[u8]) -> Carried {
    let (identifier, [first, second, third]) = (request.identifier, request.numbers);
    let number = |value: i64| i32::try_from(value).map_err(|_| libc::EINVAL);
    match request.function {
        Function::GetQueue | Function::GetSet | Function::GetSegment => {
            let kind = match request.function {
                Function::GetQueue => Kind::Queue,
                Function::GetSet => Kind::Set,
                _ => Kind::Segment,
            };
            let size = u64::try_from(second).map_err(|_| libc::EINVAL)?;
            let get = Get { key: identifier, size, flags: number(first)? };
            space.get_here(kind, get).map(|identifier| (identifier.into(), Vec::new()))
        }
        Function::ControlQueue => {
            let command = command(Kind::Queue, first)?;
            control(bytes, message_bytes_of(command), |address| {
                calls::msgctl(space, identifier, command, address)
            })
        }
        Function::ControlSet => {
            let command = command(Kind::Set, first)?;
            let count = space.semaphores_of(identifier).unwrap_or(0) as usize;
            let (takes, gives) = set_bytes_of(command, count);
            control(bytes, (takes, gives), |address| {
                let argument = if takes + gives > 0 { address } else { third as usize };
                calls::semctl(space, identifier, second as i32, command, argument)
            })
        }
        Function::ControlSegment => {
            let command = command(Kind::Segment, first)?;
            control(bytes, segment_bytes_of(command), |address| {
                calls::shmctl(space, identifier, command, address)
            })
        }
        Function::Attach => {
            let bytes = space.attach_from_elsewhere(identifier, number(first)?, second)?;
            Ok((bytes as i64, Vec::new()))
        }
        Function::Detach => {
            space.detach_from_elsewhere(identifier, first);
            Ok((0, Vec::new()))
        }
        Function::Count => space.semaphores_of(identifier).map(|count| (count.into(), Vec::new())),
        Function::Rows => Ok(rows(space, first, second)),
        Function::Send | Function::Receive | Function::Operate => Err(libc::EINVAL),
    }
}

/// A command whose argument means something on another host.
fn command(kind: Kind, number: i64) -> Result<i32> {
    i32::try_from(number).ok().filter(|command| is_for_hosts(kind, *command)).ok_or(libc::EINVAL)
}

/// A command on a copy of the caller's structure, which goes back if the command gives one.
fn control(bytes: &[u8], (takes, gives): (usize, usize), call: impl FnOnce(usize) -> Result<i64>) -> Carried {
    if bytes.len() != takes {
        return Err(libc::EINVAL);
    }
    let mut copy = bytes.to_vec();
    // Room for whatever a command takes or gives: the object may be another by now.
    copy.resize(2 * SEMAPHORES_MAX as usize, 0);
    let result = call(copy.as_mut_ptr() as usize)?;
    copy.truncate(gives);
    Ok((result, copy))
}

/// Rows of a table from a number on, as many as fit, and the number of the next; 0 after the last.
fn rows(space: &Space, table: i64, first: i64) -> (i64, Vec<u8>) {
    let kinds = [Kind::Queue, Kind::Set, Kind::Segment];
    let kind = usize::try_from(table).ok().and_then(|table| kinds.get(table).copied()).unwrap_or(Kind::Set);
    let mut text = Vec::new();
    for (number, row) in tables::rows(space, kind).into_iter().enumerate().skip(first.max(0) as usize) {
        if text.len() + row.len() > ROWS_BYTES {
            return (number as i64, text);
        }
        text.extend_from_slice(row.as_bytes());
    }
    (0, text)
}
