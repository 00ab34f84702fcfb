//! Nothing stays behind: processes, directories, whoever was killed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use rustix::process::Signal;

use crate::support::{
    begin, expect, finish, is_gone, lines, run, script, send, wait_until, wait_until_empty,
};

/// Each rank prints its own number and those of a child, a child in another session, and a grandchild.
const FAMILY: &str = "sleep 1000 & echo $!; setsid sleep 1001 & echo $!; sh -c 'sleep 1002 & echo $!; wait' & echo $!; \
    echo $$ rank; wait";

/// The processes, the ranks themselves first.
fn family(mut lines: Vec<String>) -> Vec<u32> {
    lines.sort_by_key(|line| !line.ends_with("rank"));
    lines.iter().map(|line| line.trim_end_matches(" rank").parse().expect("a process")).collect()
}

#[test]
fn descendants_end_with_a_job_that_fails_or_is_ended() {
    let mut child = begin(&mut script(&["-n", "2"], FAMILY));
    let pids = family(lines(&mut child, 10));
    send(pids[0], Signal::KILL);
    assert_eq!(child.wait().expect("it ends").code(), Some(137));
    assert!(pids.iter().all(|&pid| is_gone(pid)));
}

#[test]
fn descendants_end_with_a_job_that_ends_well() {
    let (code, output, _) =
        finish(&mut script(&["-n", "2"], "sleep 1000 & echo $!; setsid sleep 1001 & echo $!"));
    assert_eq!(code, Some(0));
    assert!(family(output.lines().map(str::to_owned).collect()).into_iter().all(is_gone));
}

#[test]
fn a_killed_launcher_leaves_no_process_and_no_directory() {
    let temporary = tempfile::tempdir().expect("a directory");
    let mut command = script(&["-n", "2", "--transport", "file"], FAMILY);
    let mut child = begin(command.env("TMPDIR", temporary.path()));
    let pids = family(lines(&mut child, 10));
    send(child.id(), Signal::KILL);
    child.wait().expect("it is dead");
    wait_until("all are gone", || pids.iter().all(|&pid| is_gone(pid)));
    wait_until_empty(temporary.path());
}

fn children(pid: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("its children");
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_next_job_removes_what_a_wholly_killed_one_has_left() {
    let temporary = tempfile::tempdir().expect("a directory");
    let mut command =
        script(&["-n", "1", "--transport", "file"], "echo $POSTRIDER_DIRECTORY; exec sleep 1000");
    let mut child = begin(command.env("TMPDIR", temporary.path()));
    let directory = lines(&mut child, 1).remove(0);
    wait_until("the guard is posted", || children(child.id()).len() == 2);
    // All at once: nobody may have the time to clean up.
    send(child.id(), Signal::STOP);
    wait_until("the launcher has stopped", || crate::support::is_stopped(child.id()));
    let mut everybody = children(child.id());
    everybody.push(child.id().to_string());
    let killed = Command::new("kill").arg("-KILL").args(&everybody).status().expect("kill runs");
    assert!(killed.success());
    child.wait().expect("it is dead");
    wait_until("all are gone", || everybody.iter().all(|pid| is_gone(pid.parse().expect("a process"))));
    assert!(fs::metadata(&directory).is_ok(), "it was left behind, as nobody was left to remove it");
    expect(run(&["-n", "1", "true"]).env("TMPDIR", temporary.path()), 0, &[]);
    wait_until_empty(temporary.path());
}

#[test]
fn the_job_directory_is_private_and_only_there_when_needed() {
    let temporary = tempfile::tempdir().expect("a directory");
    let text = "echo $POSTRIDER_DIRECTORY; stat -c %a $POSTRIDER_DIRECTORY";
    let mut command = script(&["-n", "1", "--transport", "file"], text);
    let (code, output, _) = finish(command.env("TMPDIR", temporary.path()));
    assert_eq!((code, output.lines().nth(1)), (Some(0), Some("700")));
    assert!(output.starts_with(&*temporary.path().to_string_lossy()), "{output}");
    wait_until_empty(temporary.path());
    let mut command = script(&["-n", "1"], "echo ${POSTRIDER_DIRECTORY:-none}; ls $TMPDIR");
    let (_, output, _) = finish(command.env("TMPDIR", temporary.path()));
    assert_eq!(output, "none\n");
}

#[test]
fn the_transport_can_be_chosen_by_the_environment() {
    let mut command = script(&["-n", "1"], "test -d $POSTRIDER_DIRECTORY");
    expect(command.env("POSTRIDER_TRANSPORT", "file"), 0, &[]);
}

#[test]
fn a_directory_that_cannot_be_used_is_named() {
    let mut command = run(&["-n", "1", "--transport", "file", "true"]);
    expect(command.env("TMPDIR", "/nowhere"), 1, &["/nowhere/postrider-", "TMPDIR"]);
    let temporary = tempfile::tempdir().expect("a directory");
    let uid = fs::metadata(temporary.path()).expect("ours").uid();
    let open = temporary.path().join(format!("postrider-{uid}"));
    fs::create_dir(&open).expect("a directory");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("open to all");
    let mut command = run(&["-n", "1", "--transport", "file", "true"]);
    expect(command.env("TMPDIR", temporary.path()), 1, &["not a private directory", "TMPDIR"]);
}
