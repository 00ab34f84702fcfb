//! `/proc/sysvipc` and the limits in `/proc/sys/kernel`, as text of the kernel's form.

use std::sync::atomic::Ordering::Relaxed;

use super::elsewhere;
use crate::semantics::limits::{OPERATIONS_MAX, SEGMENT_BYTES_MAX, SEMAPHORES_MAX};
use crate::space::{Kind, Space};

/// What a file says in this name space; nothing for other files.
#[must_use]
pub fn text_of(space: &Space, path: &str) -> Option<String> {
    if let Some(table) = path.strip_prefix("/proc/sysvipc/") {
        return match table {
            "msg" => Some(whole(space, Kind::Queue, QUEUES)),
            "sem" => Some(whole(space, Kind::Set, SETS)),
            "shm" => Some(whole(space, Kind::Segment, SEGMENTS)),
            _ => None,
        };
    }
    let limits = space.limits();
    let number = |value: u64| Some(format!("{value}\n"));
    match path.strip_prefix("/proc/sys/kernel/")? {
        "msgmax" => number(limits.message_bytes),
        "msgmnb" => number(limits.queue_bytes),
        "msgmni" => number(limits.queues.into()),
        "sem" => Some(format!("{SEMAPHORES_MAX}\t1024000000\t{OPERATIONS_MAX}\t{}\n", limits.sets)),
        "shmmax" | "shmall" => number(SEGMENT_BYTES_MAX),
        "shmmni" => number(limits.segments.into()),
        _ => None,
    }
}

/// A table: the rows of all hosts.
fn whole(space: &Space, kind: Kind, head: &str) -> String {
    let own = rows(space, kind).concat();
    let others: String = space.others().map(|host| elsewhere::rows(space, host, kind)).collect();
    format!("{head}{own}{others}")
}

/// The rows of this host.
pub(crate) fn rows(space: &Space, kind: Kind) -> Vec<String> {
    let row = match kind {
        Kind::Queue => queue,
        Kind::Set => set,
        Kind::Segment => segment,
    };
    space.existing(kind).map(|place| row(space, place)).collect()
}

/// The identifiers in a table of this name.
#[must_use]
pub fn identifiers(space: &Space, table: &str) -> Vec<i32> {
    let text = text_of(space, &format!("/proc/sysvipc/{table}")).unwrap_or_default();
    let second = |row: &str| row.split_whitespace().nth(1)?.parse().ok();
    text.lines().skip(1).filter_map(second).collect()
}

const QUEUES: &str = "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      stime      rtime      ctime\n";

fn queue(space: &Space, place: u32) -> String {
    let queue = space.queue(place);
    let (object, is) = (&queue.object, queue.object.permission());
    format!(
        "{:10} {:10}  {:4o}  {:10} {:10} {:5} {:5} {:5} {:5} {:5} {:5} {:10} {:10} {:10}\n",
        object.key.load(Relaxed),
        object.identifier(place),
        is.mode,
        queue.bytes.load(Relaxed),
        queue.count.load(Relaxed),
        queue.sender.load(Relaxed),
        queue.receiver.load(Relaxed),
        is.uid,
        is.gid,
        is.cuid,
        is.cgid,
        queue.sent.load(Relaxed),
        queue.received.load(Relaxed),
        object.changed.load(Relaxed),
    )
}

const SETS: &str = "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n";

fn set(space: &Space, place: u32) -> String {
    let set = space.set(place);
    let (object, is) = (&set.object, set.object.permission());
    format!(
        "{:10} {:10}  {:4o} {:10} {:5} {:5} {:5} {:5} {:10} {:10}\n",
        object.key.load(Relaxed),
        object.identifier(place),
        is.mode,
        set.count.load(Relaxed),
        is.uid,
        is.gid,
        is.cuid,
        is.cgid,
        set.operated.load(Relaxed),
        object.changed.load(Relaxed),
    )
}

const SEGMENTS: &str = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap\n";

fn segment(space: &Space, place: u32) -> String {
    let segment = space.segment(place);
    let (object, is) = (&segment.object, segment.object.permission());
    format!(
        "{:10} {:10}  {:4o} {:21} {:5} {:5}  {:5} {:5} {:5} {:5} {:5} {:10} {:10} {:10} {:21} {:21}\n",
        object.key.load(Relaxed),
        object.identifier(place),
        is.mode,
        segment.bytes.load(Relaxed),
        segment.creator.load(Relaxed),
        segment.last.load(Relaxed),
        space.attachments(place),
        is.uid,
        is.gid,
        is.cuid,
        is.cgid,
        segment.attached.load(Relaxed),
        segment.detached.load(Relaxed),
        object.changed.load(Relaxed),
        0,
        0,
    )
}
