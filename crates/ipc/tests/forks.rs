//! The place of a child that is being forked, whoever lives to see it.

use postrider_ipc::calls;
use postrider_ipc::semantics::limits::Limits;
use postrider_ipc::space::{Get, Host, Kind, Space};

/// How often the only segment is attached, as the system's table would have it.
fn attachments(space: &Space) -> usize {
    let table = calls::tables::text_of(space, "/proc/sysvipc/shm").expect("a table");
    let row = table.lines().nth(1).expect("a segment");
    row.split_ascii_whitespace().nth(6).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn a_child_counts_as_long_as_it_may_live() {
    let directory = std::env::temp_dir().join(format!("postrider-ipc-forks-{}", std::process::id()));
    std::fs::create_dir(&directory).expect("a new directory");
    let space = Space::create(&directory, Limits::default(), Host::ALONE).expect("a name space");
    let space: &'static Space = Box::leak(Box::new(space));
    let segment = space.get_here(Kind::Segment, Get { key: 5, size: 100, flags: 0o1600 }).expect("a segment");
    space.attach(segment, 0, 0).expect("it can be attached");
    assert_eq!(attachments(space), 1);

    let refused = space.before_fork();
    assert_eq!(attachments(space), 2);
    space.sweep();
    assert_eq!(attachments(space), 2, "its parent lives");
    space.after_fork(refused, None);
    assert_eq!(attachments(space), 1, "there is no child");

    let killed = space.before_fork();
    let mut child = std::process::Command::new("true").spawn().expect("it starts");
    child.wait().expect("it ends");
    space.after_fork(killed, Some(child.id()));
    assert_eq!(attachments(space), 1, "the child ended before it said its number");

    let lives = space.before_fork();
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("it starts");
    space.after_fork(lives, Some(child.id()));
    space.sweep();
    assert_eq!(attachments(space), 2, "the child lives");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    space.after_fork(lives, Some(child.id()));
    space.has_ended(child.id());
    assert_eq!(attachments(space), 1, "the child has ended");

    let parent_dies = space.before_fork();
    space.leave();
    space.sweep();
    assert_eq!(attachments(space), 1, "the child may live");
    // What the child does when it runs: the place is its own, or it takes another one and says what it has attached.
    space.in_child(parent_dies);
    assert_eq!(attachments(space), 1);
    std::fs::remove_dir_all(&directory).expect("the directory is there");
}
