//! Calls for objects of other hosts: what belongs to them is sent to the host where the object lives, and what comes back is given to the caller.

use std::time::Instant;

use super::{message_bytes_of, segment_bytes_of, set_bytes_of, user};
use crate::hosts::packet::Function;
use crate::semantics::limits::VALUE_MAX;
use crate::space::{Bytes, Kind, Result, Space};

const NOTHING: Bytes = Bytes { address: 0, bytes: 0 };

/// `msgsnd`; the bytes are the type and the message.
pub fn send(space: &Space, home: u32, identifier: i32, whole: Bytes, flags: i32) -> Result<i64> {
    let call = (Function::Send, identifier, [flags.into(), 0, 0]);
    space.ask(home, call, whole).map(|answer| answer.result)
}

/// `msgrcv`; the bytes are for the type and the message.
pub fn receive(
    space: &Space,
    home: u32,
    identifier: i32,
    whole: Bytes,
    (kind, flags): (i64, i32),
) -> Result<i64> {
    let bytes = (whole.bytes - size_of::<i64>()) as i64;
    let call = (Function::Receive, identifier, [bytes, kind, flags.into()]);
    let answer = space.ask(home, call, NOTHING)?;
    user::check(whole.address, answer.bytes)?;
    space.copy_answer(answer, whole);
    Ok(answer.result)
}

/// `semop` and `semtimedop`.
pub fn operate(
    space: &Space,
    home: u32,
    identifier: i32,
    operations: Bytes,
    until: Option<Instant>,
) -> Result<i64> {
    let call = (Function::Operate, identifier, [0; 3]);
    space.ask_until(home, call, operations, until).map(|answer| answer.result)
}

/// `msgctl`, with a command for one queue.
pub fn control_queue(space: &Space, home: u32, identifier: i32, command: i32, address: usize) -> Result<i64> {
    let call = (Function::ControlQueue, identifier, [command.into(), 0, 0]);
    control(space, home, call, address, message_bytes_of(command))
}

/// `semctl`, with a command for one set.
pub fn control_set(
    space: &Space,
    home: u32,
    (identifier, number): (i32, i32),
    command: i32,
    argument: usize,
) -> Result<i64> {
    if command == libc::SETVAL && !(0..=VALUE_MAX).contains(&(argument as i32)) {
        return Err(libc::ERANGE);
    }
    let semaphores = match command {
        libc::GETALL | libc::SETALL => {
            space.ask(home, (Function::Count, identifier, [0; 3]), NOTHING)?.result as usize
        }
        _ => 0,
    };
    let call = (Function::ControlSet, identifier, [command.into(), number.into(), (argument as i32).into()]);
    control(space, home, call, argument, set_bytes_of(command, semaphores))
}

/// `shmctl`, with a command for one segment.
pub fn control_segment(
    space: &Space,
    home: u32,
    identifier: i32,
    command: i32,
    address: usize,
) -> Result<i64> {
    let call = (Function::ControlSegment, identifier, [command.into(), 0, 0]);
    control(space, home, call, address, segment_bytes_of(command))
}

fn control(
    space: &Space,
    home: u32,
    call: (Function, i32, [i64; 3]),
    address: usize,
    (takes, gives): (usize, usize),
) -> Result<i64> {
    let given = if takes > 0 { user::check(address, takes)? } else { NOTHING };
    let answer = space.ask(home, call, given)?;
    if gives > 0 {
        let into = user::check(address, gives)?;
        space.copy_answer(answer, into);
    }
    Ok(answer.result)
}

/// The rows of a table that another host has; none if it cannot be asked.
pub fn rows(space: &Space, host: u32, kind: Kind) -> String {
    let (mut text, mut next) = (Vec::new(), 0);
    loop {
        let call = (Function::Rows, 0, [kind as i64, next, 0]);
        let Ok(answer) = space.ask(host, call, NOTHING) else { break };
        text.extend(space.answer_bytes(answer));
        if answer.result <= next {
            break;
        }
        next = answer.result;
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// What a command for information says of all hosts: `summed` are the numbers in it that are sums. With the highest number of the table.
pub fn information<const N: usize>(
    space: &Space,
    kind: Kind,
    command: i32,
    (mut all, mut highest): ([i32; N], i64),
    summed: &[usize],
) -> ([i32; N], i64) {
    let function = match kind {
        Kind::Queue => Function::ControlQueue,
        Kind::Set => Function::ControlSet,
        Kind::Segment => Function::ControlSegment,
    };
    for host in space.others() {
        let Ok(answer) = space.ask(host, (function, 0, [command.into(), 0, 0]), NOTHING) else { continue };
        highest = highest.max(answer.result);
        let bytes = space.answer_bytes(answer);
        for number in summed {
            let its = bytes.get(4 * number..4 * number + 4).and_then(|bytes| bytes.try_into().ok());
            all[*number] = all[*number].wrapping_add(i32::from_ne_bytes(its.unwrap_or_default()));
        }
    }
    (all, highest)
}
