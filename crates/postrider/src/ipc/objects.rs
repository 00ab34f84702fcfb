//! `postrider ipc list`, `remove` and `stat`: what `ipcs` and `ipcrm` do.

use postrider_ipc::calls::{self, tables};
use postrider_ipc::space::{Kind, Space};

use super::Failure;

/// The kinds, with what all and one of them are called, and their tables.
const KINDS: [(Kind, &str, &str, &str); 3] = [
    (Kind::Queue, "message queues", "message queue", "msg"),
    (Kind::Set, "semaphore sets", "semaphore set", "sem"),
    (Kind::Segment, "shared memory", "segment", "shm"),
];

/// The names of limits.
const LIMITS: [&str; 7] = ["msgmax", "msgmnb", "msgmni", "sem", "shmmax", "shmall", "shmmni"];

/// Prints what there is.
pub fn list(space: &Space) -> i32 {
    for (_, heading, _, table) in KINDS {
        let text = tables::text_of(space, &format!("/proc/sysvipc/{table}")).unwrap_or_default();
        println!("{heading}\n{text}");
    }
    0
}

/// Prints the limits.
pub fn limits(space: &Space) -> i32 {
    for name in LIMITS {
        let text = tables::text_of(space, &format!("/proc/sys/kernel/{name}")).unwrap_or_default();
        println!("{name:<7} {}", text.trim_end());
    }
    0
}

fn remove_one(space: &Space, kind: Kind, identifier: i32) -> Result<i64, i32> {
    match kind {
        Kind::Queue => calls::msgctl(space, identifier, libc::IPC_RMID, 0),
        Kind::Set => calls::semctl(space, identifier, 0, libc::IPC_RMID, 0),
        Kind::Segment => calls::shmctl(space, identifier, libc::IPC_RMID, 0),
    }
}

/// Removes all that lives on this host.
pub fn remove_all_here(space: &Space) {
    for (kind, ..) in KINDS {
        for identifier in space.identifiers(kind) {
            // Another may remove it at the same time.
            let _gone = remove_one(space, kind, identifier);
        }
    }
}

/// Removes these queues, sets and segments, or all.
pub fn remove(space: &Space, all: bool, named: &[Vec<i32>; 3]) -> Result<i32, Failure> {
    for ((kind, _, one, table), named) in KINDS.into_iter().zip(named) {
        let identifiers = if all { tables::identifiers(space, table) } else { named.clone() };
        for identifier in identifiers {
            if let Err(error) = remove_one(space, kind, identifier)
                && !all
            {
                let message = match error {
                    libc::EINVAL | libc::EIDRM => format!("there is no {one} {identifier}"),
                    error => format!("{one} {identifier}: {}", std::io::Error::from_raw_os_error(error)),
                };
                return Err((1, message));
            }
        }
    }
    Ok(0)
}
