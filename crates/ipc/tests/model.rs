//! A name space beside a naive model of it: whatever is done by one process, both say the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use postrider_ipc::calls;
use postrider_ipc::semantics::limits::Limits;
use postrider_ipc::space::{Host, Space};
use proptest::prelude::*;

const QUEUE_BYTES: u64 = 300;

/// A name space in a directory that goes with it.
struct Own(PathBuf, Space);

impl Own {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("postrider-ipc-{name}-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a new directory");
        let limits = Limits { message_bytes: 400, queue_bytes: QUEUE_BYTES, ..Limits::default() };
        let space = Space::create(&directory, limits, Host::ALONE).expect("a name space");
        Self(directory, space)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("the directory is there");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send { kind: i64, bytes: usize, fill: u8 },
    Receive { kind: i64, room: usize, flags: i32 },
    Change { operations: Vec<(u16, i16, bool)> },
    Set { semaphore: u16, value: i32 },
    Renew,
}

fn step() -> impl Strategy<Value = Step> {
    let flags = prop_oneof![Just(0), Just(libc::MSG_NOERROR), Just(0o20000), Just(0o40000)];
    prop_oneof![
        4 => (0..5_i64, 0..420_usize, any::<u8>()).prop_map(|(kind, bytes, fill)| Step::Send { kind, bytes, fill }),
        4 => (-4..5_i64, 0..420_usize, flags).prop_map(|(kind, room, flags)| Step::Receive { kind, room, flags }),
        4 => prop::collection::vec((0..4_u16, -3..4_i16, any::<bool>()), 1..7).prop_map(|operations| Step::Change { operations }),
        1 => (0..4_u16, -1..6_i32).prop_map(|(semaphore, value)| Step::Set { semaphore, value }),
        1 => Just(Step::Renew),
    ]
}

/// What there would be.
#[derive(Default)]
struct Model {
    messages: Vec<(i64, Vec<u8>)>,
    values: BTreeMap<u16, i32>,
}

impl Model {
    fn send(&mut self, kind: i64, body: Vec<u8>) -> Result<i64, i32> {
        if kind < 1 || body.len() > 400 {
            return Err(libc::EINVAL);
        }
        let bytes: usize = self.messages.iter().map(|(_, body)| body.len()).sum();
        if (bytes + body.len()) as u64 > QUEUE_BYTES || self.messages.len() as u64 >= QUEUE_BYTES {
            return Err(libc::EAGAIN);
        }
        self.messages.push((kind, body));
        Ok(0)
    }

    fn receive(&mut self, kind: i64, room: usize, flags: i32) -> Result<(i64, Vec<u8>), i32> {
        let (except, copies) = (flags & 0o20000 != 0, flags & 0o40000 != 0);
        let position = if copies {
            usize::try_from(kind).ok().filter(|number| *number < self.messages.len())
        } else if kind < 0 {
            let least = self.messages.iter().map(|(kind, _)| *kind).filter(|one| *one <= -kind).min();
            self.messages.iter().position(|(kind, _)| Some(*kind) == least)
        } else {
            self.messages.iter().position(|(one, _)| kind == 0 || (*one == kind) != except)
        };
        let position = position.ok_or(libc::ENOMSG)?;
        let (kind, mut body) = self.messages[position].clone();
        if body.len() > room && flags & libc::MSG_NOERROR == 0 {
            return Err(libc::E2BIG);
        }
        body.truncate(room);
        if !copies {
            self.messages.remove(position);
        }
        Ok((kind, body))
    }

    fn change(&mut self, operations: &[(u16, i16, bool)]) -> Result<i64, i32> {
        if operations.iter().any(|(semaphore, ..)| *semaphore >= 3) {
            return Err(libc::EFBIG);
        }
        let mut values = self.values.clone();
        for (semaphore, change, _) in operations {
            let value = values.entry(*semaphore).or_default();
            if (*change == 0 && *value != 0) || *value + i32::from(*change) < 0 {
                return Err(libc::EAGAIN);
            }
            *value += i32::from(*change);
        }
        self.values = values;
        Ok(0)
    }
}

/// The two objects that steps are about.
fn objects(space: &Space) -> (i32, i32) {
    let queue = calls::msgget(space, libc::IPC_PRIVATE, 0o600).expect("a queue");
    let set = calls::semget(space, libc::IPC_PRIVATE, 3, 0o600).expect("a set");
    (queue as i32, set as i32)
}

fn remove(space: &Space, (queue, set): (i32, i32)) {
    assert_eq!(calls::msgctl(space, queue, libc::IPC_RMID, 0), Ok(0));
    assert_eq!(calls::semctl(space, set, 0, libc::IPC_RMID, 0), Ok(0));
    assert_eq!(calls::semctl(space, set, 0, libc::GETVAL, 0), Err(libc::EINVAL));
}

fn send(space: &Space, queue: i32, kind: i64, body: &[u8]) -> Result<i64, i32> {
    let mut message = kind.to_ne_bytes().to_vec();
    message.extend(body);
    calls::msgsnd(space, queue, message.as_ptr() as usize, body.len(), libc::IPC_NOWAIT)
}

fn receive(space: &Space, queue: i32, kind: i64, room: usize, flags: i32) -> Result<(i64, Vec<u8>), i32> {
    let mut message = vec![0_u8; 8 + room];
    let address = message.as_mut_ptr() as usize;
    let bytes = calls::msgrcv(space, queue, address, room, kind, flags | libc::IPC_NOWAIT)? as usize;
    let kind = i64::from_ne_bytes(message[..8].try_into().expect("eight bytes"));
    Ok((kind, message[8..8 + bytes].to_vec()))
}

fn change(space: &Space, set: i32, operations: &[(u16, i16, bool)]) -> Result<i64, i32> {
    let bytes = operations.iter().flat_map(|(semaphore, change, undo)| {
        let flags = 0o4000 | if *undo { 0x1000_i16 } else { 0 };
        [semaphore.to_ne_bytes(), change.to_ne_bytes(), flags.to_ne_bytes()].concat()
    });
    let bytes: Vec<u8> = bytes.collect();
    calls::semtimedop(space, set, bytes.as_ptr() as usize, operations.len(), 0)
}

/// One process has one name space, and so all cases have the same; places are taken again and again.
#[test]
fn one_process_sees_what_the_model_says() {
    let own = Own::new("model");
    let space = &own.1;
    proptest!(|(steps in prop::collection::vec(step(), 1..80))| {
        let (mut model, mut objects_now) = (Model::default(), objects(space));
        for step in steps {
            let (queue, set) = objects_now;
            match step {
                Step::Send { kind, bytes, fill } => {
                    let body: Vec<u8> = (0..bytes).map(|at| fill.wrapping_add(at as u8)).collect();
                    prop_assert_eq!(send(space, queue, kind, &body), model.send(kind, body));
                }
                Step::Receive { kind, room, flags } => prop_assert_eq!(
                    receive(space, queue, kind, room, flags),
                    model.receive(kind, room, flags)
                ),
                Step::Change { operations } => {
                    prop_assert_eq!(change(space, set, &operations), model.change(&operations));
                }
                Step::Set { semaphore, value } => {
                    let result = calls::semctl(space, set, semaphore.into(), libc::SETVAL, value as usize);
                    let right = if value < 0 { Err(libc::ERANGE) } else if semaphore > 2 { Err(libc::EINVAL) } else { Ok(0) };
                    prop_assert_eq!(result, right);
                    if right.is_ok() {
                        model.values.insert(semaphore, value);
                    }
                }
                Step::Renew => {
                    remove(space, objects_now);
                    (model, objects_now) = (Model::default(), objects(space));
                }
            }
            for semaphore in 0..3 {
                let value = calls::semctl(space, objects_now.1, semaphore.into(), libc::GETVAL, 0);
                prop_assert_eq!(value, Ok(model.values.get(&semaphore).copied().unwrap_or(0).into()));
            }
        }
        remove(space, objects_now);
    });
}
