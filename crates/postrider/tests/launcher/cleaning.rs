//! Nothing stays behind: processes, directories, whoever was killed.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

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

/// The children of all threads of process `pid`.
fn children(pid: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("its threads");
    let lists = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")));
    lists
        .flat_map(|list| list.unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_next_job_removes_what_a_wholly_killed_one_has_left() {
    let temporary = tempfile::tempdir().expect("a directory");
    let mut command =
        script(&["-n", "1", "--transport", "file"], "echo $POSTRIDER_DIRECTORY; exec sleep 1000");
    let mut child = begin(command.env("TMPDIR", temporary.path()));
    let directory = lines(&mut child, 1).remove(0);
    wait_until("the guard is posted", || children(child.id()).len() == 2);
    kill_all(&mut child);
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
}

/// A job's directory as a dead launcher leaves it, with some messages in it.
fn dead_job(temporary: &Path, name: &str) -> PathBuf {
    let uid = fs::metadata(temporary).expect("ours").uid();
    let job = temporary.join(format!("postrider-{uid}-{name}"));
    DirBuilder::new().mode(0o700).create(&job).expect("a directory");
    fs::create_dir(job.join("0")).expect("an inbox");
    (0..1000).for_each(|number| fs::write(job.join(format!("0/{number}")), "").expect("a message"));
    fs::write(job.join("lock"), "").expect("its lock");
    job
}

#[test]
fn what_somebody_else_has_put_in_the_way_disturbs_no_job() {
    let temporary = tempfile::tempdir().expect("a directory");
    let uid = fs::metadata(temporary.path()).expect("ours").uid();
    for name in [format!("postrider-{uid}"), format!("postrider-{uid}-1-0")] {
        let open = temporary.path().join(name);
        fs::create_dir(&open).expect("a directory");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("open to all");
    }
    let mut command = run(&["-n", "1", "--transport", "file", "true"]);
    expect(command.env("TMPDIR", temporary.path()), 0, &[]);
    assert_eq!(fs::read_dir(temporary.path()).expect("it is there").count(), 2);
}

#[test]
fn no_job_waits_for_who_removes_what_a_dead_one_has_left() {
    let temporary = tempfile::tempdir().expect("a directory");
    let (busy, left) = (dead_job(temporary.path(), "1-0"), dead_job(temporary.path(), "1-1"));
    let lock = fs::File::open(busy.join("lock")).expect("its lock");
    lock.lock().expect("nobody else has it");
    for transport in ["shared-memory", "file"] {
        let mut command = run(&["-n", "1", "--timeout", "100", "--transport", transport, "true"]);
        expect(command.env("TMPDIR", temporary.path()), 0, &[]);
    }
    wait_until("the other one is removed", || !left.exists());
    assert!(busy.join("0/0").exists(), "whoever has its lock removes it");
    drop(lock);
    expect(run(&["-n", "1", "true"]).env("TMPDIR", temporary.path()), 0, &[]);
    wait_until_empty(temporary.path());
}

/// Kills processes all at once, so that none has the time to clean up.
fn kill_all(launcher: &mut Child) {
    send(launcher.id(), Signal::STOP);
    wait_until("the launcher has stopped", || crate::support::is_stopped(launcher.id()));
    let mut everybody = children(launcher.id());
    everybody.push(launcher.id().to_string());
    let killed = Command::new("kill").arg("-KILL").args(&everybody).status().expect("kill runs");
    assert!(killed.success());
    launcher.wait().expect("it is dead");
    wait_until("all are gone", || everybody.iter().all(|pid| is_gone(pid.parse().expect("a process"))));
}

#[test]
fn a_later_job_removes_the_central_directory_of_a_head_that_was_killed_before_it_had_agents() {
    let (temporary, shared) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let path = shared.path().to_string_lossy();
    let silent = "sh -c 'exec sleep 1000' a-shell-that-never-gets-there";
    let mut command = run(&["--hosts", "a", "--ssh", silent, "--central", &path, "true"]);
    let mut child = begin(command.env("TMPDIR", temporary.path()));
    wait_until("the guard is posted and the remote shell runs", || children(child.id()).len() == 2);
    kill_all(&mut child);
    assert_eq!(fs::read_dir(shared.path()).expect("it is there").count(), 1);
    expect(run(&["-n", "1", "true"]).env("TMPDIR", temporary.path()), 0, &[]);
    wait_until_empty(shared.path());
    wait_until_empty(temporary.path());
}

#[test]
fn the_time_limit_counts_before_anything_is_started() {
    let temporary = tempfile::tempdir().expect("a directory");
    let pipe = temporary.path().join("hosts");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    // Nobody ever writes into it.
    let mut command = run(&["--timeout", "0.1", "--hostfile", &pipe.to_string_lossy(), "true"]);
    expect(&mut command, 124, &["--timeout", "had not been started"]);
}
