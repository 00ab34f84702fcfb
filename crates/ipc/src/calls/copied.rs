//! Calls of a process whose memory is not that of this one: what a call takes is copied before, and what it gives afterwards.

use crate::semantics::limits::{OPERATIONS_MAX, SEMAPHORES_MAX};
use crate::semantics::semaphores::Operation;
use crate::space::{Kind, Result, Space};

use super::{control, message_bytes_of, segment_bytes_of, set_bytes_of};

/// Memory of a process.
pub trait Memory {
    /// Reads it; whether all is there.
    fn read(&self, address: usize, into: &mut [u8]) -> bool;
    /// Writes it; whether all is there.
    fn write(&self, address: usize, from: &[u8]) -> bool;
}

/// The bit by which the oldest form of the calls for control is told from today's.
pub const TODAY: i32 = 0x100;

/// The numbers of all calls of System V IPC.
pub const NUMBERS: [i64; 12] = [
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmdt,
    libc::SYS_shmctl,
];

/// What a call returns, and bytes that go to an address.
pub type Done = Result<(i64, Option<(usize, Vec<u8>)>)>;

/// A call with what it takes. It may be made in another thread, and again if nothing came of it.
pub struct Copied(Box<dyn Fn(&Space) -> Done + Send>);

impl std::fmt::Debug for Copied {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Copied")
    }
}

impl Copied {
    fn new(call: impl Fn(&Space) -> Done + Send + 'static) -> Result<Self> {
        Ok(Self(Box::new(call)))
    }

    /// Makes it, and returns what is to be given to [`give`].
    ///
    /// # Errors
    /// Those of the call.
    pub fn make(&self, space: &Space) -> Done {
        (self.0)(space)
    }
}

/// Gives a process what a call has come to: what it returns.
///
/// # Errors
/// Those of the call, and `EFAULT`.
pub fn give(done: Done, memory: &dyn Memory) -> Result<i64> {
    let (result, given) = done?;
    let is_given = given.is_none_or(|(address, bytes)| memory.write(address, &bytes));
    if is_given { Ok(result) } else { Err(libc::EFAULT) }
}

fn read(memory: &dyn Memory, address: usize, bytes: usize) -> Result<Vec<u8>> {
    let mut copy = vec![0; bytes];
    if memory.read(address, &mut copy) { Ok(copy) } else { Err(libc::EFAULT) }
}

fn only(result: Result<i64>) -> Done {
    result.map(|result| (result, None))
}

/// Any call but `shmat` and `shmdt`, by its number, as a process makes it.
///
/// # Errors
/// `EFAULT`, and `ENOSYS` for what is no such call.
pub fn copied(space: &Space, number: i64, arguments: [usize; 6], memory: &dyn Memory) -> Result<Copied> {
    let [_, address, third, fourth, fifth, _] = arguments;
    let integer = |number: usize| arguments[number] as i32;
    let (identifier, second) = (integer(0), integer(1));
    match number {
        libc::SYS_msgget => Copied::new(move |space| only(super::msgget(space, identifier, second))),
        libc::SYS_semget => {
            let flags = integer(2);
            Copied::new(move |space| only(super::semget(space, identifier, second, flags)))
        }
        libc::SYS_shmget => {
            let flags = integer(2);
            Copied::new(move |space| only(super::shmget(space, identifier, address, flags)))
        }
        libc::SYS_msgsnd => send(space, identifier, (address, third), integer(3), memory),
        libc::SYS_msgrcv => receive(space, identifier, (address, third), fourth as i64, fifth as i32),
        libc::SYS_semop => operate(identifier, (address, third), 0, memory),
        libc::SYS_semtimedop => operate(identifier, (address, third), fourth, memory),
        libc::SYS_msgctl => {
            let command = second & !TODAY;
            let bytes = message_bytes_of(command);
            structure(third, bytes, memory, move |space, address| {
                control::msgctl(space, identifier, command, address)
            })
        }
        libc::SYS_shmctl => {
            let command = second & !TODAY;
            let bytes = segment_bytes_of(command);
            structure(third, bytes, memory, move |space, address| {
                control::shmctl(space, identifier, command, address)
            })
        }
        libc::SYS_semctl => {
            let command = integer(2) & !TODAY;
            let count = match command {
                libc::GETALL | libc::SETALL if space.place_of(Kind::Set, identifier).is_some() => {
                    space.semaphores_of(identifier)? as usize
                }
                _ => 0,
            };
            structure(fourth, set_bytes_of(command, count), memory, move |space, address| {
                control::semctl(space, identifier, second, command, address)
            })
        }
        _ => Err(libc::ENOSYS),
    }
}

fn send(
    space: &Space,
    identifier: i32,
    (address, bytes): (usize, usize),
    flags: i32,
    memory: &dyn Memory,
) -> Result<Copied> {
    let body = if bytes as u64 > space.limits().message_bytes { 0 } else { bytes };
    let kind = read(memory, address, size_of::<i64>())?;
    let is_none = i64::from_ne_bytes(kind[..].try_into().unwrap_or_default()) < 1 || identifier < 0;
    let copy = if is_none { kind } else { read(memory, address, size_of::<i64>() + body)? };
    let bytes = if is_none { 0 } else { bytes };
    Copied::new(move |space| only(super::msgsnd(space, identifier, copy.as_ptr() as usize, bytes, flags)))
}

fn receive(
    space: &Space,
    identifier: i32,
    (address, bytes): (usize, usize),
    kind: i64,
    flags: i32,
) -> Result<Copied> {
    let most = size_of::<i64>() + bytes.min(space.limits().message_bytes as usize);
    Copied::new(move |space| {
        let mut room = vec![0_u8; most];
        let here = room.as_mut_ptr() as usize;
        let result = super::msgrcv(space, identifier, here, bytes, kind, flags)?;
        room.truncate(size_of::<i64>() + result as usize);
        Ok((result, Some((address, room))))
    })
}

fn operate(
    identifier: i32,
    (address, count): (usize, usize),
    time: usize,
    memory: &dyn Memory,
) -> Result<Copied> {
    let is_right = (1..=OPERATIONS_MAX).contains(&count) && identifier >= 0;
    let operations = read(memory, address, if is_right { count * size_of::<Operation>() } else { 0 })?;
    let bytes = if is_right && time != 0 { size_of::<libc::timespec>() } else { 0 };
    let until = read(memory, time, bytes)?;
    Copied::new(move |space| {
        let time = if until.is_empty() { 0 } else { until.as_ptr() as usize };
        only(super::semtimedop(space, identifier, operations.as_ptr() as usize, count, time))
    })
}

/// A command that takes or gives a structure; or neither, and its argument is a number.
fn structure(
    argument: usize,
    (takes, gives): (usize, usize),
    memory: &dyn Memory,
    call: impl Fn(&Space, usize) -> Result<i64> + Send + 'static,
) -> Result<Copied> {
    let taken = read(memory, argument, takes)?;
    Copied::new(move |space| {
        if takes + gives == 0 {
            return only(call(space, argument));
        }
        // Room for whatever a command takes or gives: the object may be another by now.
        let mut copy = taken.clone();
        copy.resize(2 * SEMAPHORES_MAX as usize, 0);
        let result = call(space, copy.as_mut_ptr() as usize)?;
        copy.truncate(gives);
        Ok((result, Some((argument, copy)).filter(|_| gives > 0)))
    })
}
