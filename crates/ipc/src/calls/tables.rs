//! `/proc/sysvipc` and the limits in `/proc/sys/kernel`, as text of the kernel's form.

use std::fmt::Write as _;
use std::sync::atomic::Ordering::Relaxed;

use crate::semantics::limits::{OPERATIONS_MAX, SEGMENT_BYTES_MAX, SEMAPHORES_MAX};
use crate::space::{Kind, Space};

/// What a file says in this name space; nothing for other files.
#[must_use]
pub fn text_of(space: &Space, path: &str) -> Option<String> {
    if let Some(table) = path.strip_prefix("/proc/sysvipc/") {
        return match table {
            "msg" => Some(queues(space)),
            "sem" => Some(sets(space)),
            "shm" => Some(segments(space)),
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

fn queues(space: &Space) -> String {
    let mut text = String::from(
        "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      stime      rtime      ctime\n",
    );
    for place in space.existing(Kind::Queue) {
        let queue = space.queue(place);
        let (object, is) = (&queue.object, queue.object.permission());
        let _memory = writeln!(
            text,
            "{:10} {:10}  {:4o}  {:10} {:10} {:5} {:5} {:5} {:5} {:5} {:5} {:10} {:10} {:10}",
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
        );
    }
    text
}

fn sets(space: &Space) -> String {
    let mut text = String::from(
        "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n",
    );
    for place in space.existing(Kind::Set) {
        let set = space.set(place);
        let (object, is) = (&set.object, set.object.permission());
        let _memory = writeln!(
            text,
            "{:10} {:10}  {:4o} {:10} {:5} {:5} {:5} {:5} {:10} {:10}",
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
        );
    }
    text
}

fn segments(space: &Space) -> String {
    let mut text = String::from(
        "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap\n",
    );
    for place in space.existing(Kind::Segment) {
        let segment = space.segment(place);
        let (object, is) = (&segment.object, segment.object.permission());
        let _memory = writeln!(
            text,
            "{:10} {:10}  {:4o} {:21} {:5} {:5}  {:5} {:5} {:5} {:5} {:5} {:10} {:10} {:10} {:21} {:21}",
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
        );
    }
    text
}
