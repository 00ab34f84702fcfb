//! The programs that heads and agents run on other hosts besides agents: the far end of a link, and the end of a job.

use std::fs::{self, File};
use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tempfile::TempDir;

use crate::support::expect;

fn postrider(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    command.arg(arguments[0]).arg(directory).args(&arguments[1..]).stdin(Stdio::null());
    command
}

fn with_mode(mode: u32) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).expect("it is ours");
    directory
}

#[test]
fn the_far_end_of_a_link_hands_its_streams_over_and_lives_as_long_as_the_agent_wants() {
    let directory = with_mode(0o700);
    let listener = UnixListener::bind(directory.path().join("link")).expect("a socket");
    let mut command = postrider(&["link", "--from", "7"], directory.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let (socket, _) = listener.accept().expect("it connects");
    let mut number = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    recvmsg(&socket, &mut [IoSliceMut::new(&mut number)], &mut rights, RecvFlags::empty())
        .expect("a message");
    let streams: Vec<OwnedFd> = rights
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(streams) => Some(streams),
            _ => None,
        })
        .flatten()
        .collect();
    let [mut reader, mut writer] = <[OwnedFd; 2]>::try_from(streams).expect("two streams").map(File::from);
    assert_eq!(u32::from_le_bytes(number), 7);

    child.stdin.take().expect("a pipe").write_all(b"there").expect("it is taken");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("it ends, since nobody else has the other end");
    assert_eq!(text, "there");
    writer.write_all(b"back").expect("it is taken");
    drop(writer);
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("it ends");
    assert_eq!(text, "back");
    drop(socket);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_link_goes_to_private_directories_only() {
    expect(
        &mut postrider(&["link", "--from", "0"], with_mode(0o755).path()),
        1,
        &["not a private directory"],
    );
    expect(&mut postrider(&["link", "--from", "0"], Path::new("/nowhere")), 1, &["/nowhere"]);
}

#[test]
fn only_a_job_can_be_ended() {
    expect(&mut postrider(&["end"], with_mode(0o700).path()), 1, &["no job's directory"]);
    let uid = fs::metadata("/proc/self").expect("ours").uid();
    let gone = format!("/nowhere/postrider-{uid}-1-00000000");
    expect(&mut postrider(&["end"], Path::new(&gone)), 0, &[]);
}
