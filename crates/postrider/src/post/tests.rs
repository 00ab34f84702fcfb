//! Two posts in one process, with pipes between them instead of a remote shell.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use postrider_fuzz::{bytes, survives_slowly, survives_within};
use postrider_os::file::{Inbox, Outbox};
use postrider_os::hosts::Placement;
use postrider_os::intake::{Filled, Found};
use postrider_os::job::{Job, Shape, Transport};
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::packet::{Class, HEAD_BYTES, Head, KEPT_BYTES_MAX, WINDOW_BYTES, label, of_label};
use postrider_os::parcel::{Name, POST, Parcel};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Copying, Notice, Places, Post};
use crate::fuzz::stream;

const LIMIT: Duration = Duration::from_secs(60);

/// Ranks 0 and 2 on host 0, ranks 1 and 3 on host 1.
fn placement() -> Placement {
    Placement::new(vec![0, 1, 0, 1]).expect("two hosts")
}

fn job(transport: Transport, host: u32) -> Arc<Job> {
    let shape = Shape { cores: 1, transport, ring_bytes: 4096 };
    Arc::new(Job::create(shape, &placement(), host).expect("a segment"))
}

fn pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe")
}

/// Connects the posts of host 0 and host 1.
fn connect(first: &Post, second: &Post) {
    let ((there, from), (back, to)) = (pipe(), pipe());
    first.attach(1, back, from);
    second.attach(0, there, to);
}

/// The next notice of a post.
fn notice(post: &Post) -> Notice {
    let until = Instant::now() + LIMIT;
    loop {
        if let Some(notice) = post.next() {
            return notice;
        }
        assert!(Instant::now() < until, "no notice has come");
        let limit = Timespec { tv_sec: 1, tv_nsec: 0 };
        poll(&mut [PollFd::from_borrowed_fd(post.descriptor(), PollFlags::IN)], Some(&limit)).expect("poll");
    }
}

fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn packets_of_every_length_cross_in_order_both_ways() {
    let jobs = [0, 1].map(|host| job(Transport::SharedMemory, host));
    let posts = [0, 1].map(|host: usize| Post::start(Arc::clone(&jobs[host]), None, LIMIT).expect("a post"));
    let mut ends = [0_u32, 1].map(|rank| jobs[rank as usize].post_ends(rank));
    let bells = [0, 1].map(|host: usize| jobs[host].open_post_pipe().expect("the post's pipe"));
    let room = ends[0].0.body_bytes_max();
    let lengths = [0, 1, 8, 100, 1000, room / 2, room - 1, room];
    for round in 0..50 {
        for (number, &bytes) in lengths.iter().enumerate() {
            let body = vec![(number + round) as u8; bytes];
            for side in 0..2 {
                let peer = 1 - side as u32;
                eventually("the ring stays full", || {
                    let pushed =
                        ends[side].0.push(label(number as u8, peer), bytes, |cells| cells.write(&body));
                    bells[side].ring(jobs[side].post_bell());
                    pushed.then_some(())
                });
            }
            if round == 0 && number == 0 {
                assert!(matches!(notice(&posts[0]), Notice::Wants(1)));
                assert!(matches!(notice(&posts[1]), Notice::Wants(0)));
                connect(&posts[0], &posts[1]);
            }
            for side in 0..2 {
                let packet = eventually("a packet is missing", || ends[side].1.peek());
                let mut found = vec![0; packet.body_bytes];
                packet.body.read(&mut found);
                assert_eq!(of_label(packet.meta), (number as u8, 1 - side as u32));
                assert!(found == body, "round {round}: {bytes} bytes have changed on the way");
                if ends[side].1.release(packet) {
                    bells[side].ring(jobs[side].post_bell());
                }
            }
        }
    }
    let [first, second] = posts;
    drop(first);
    drop(second);
}

/// Forty ranks may have 160 MiB on the way to one that takes nothing; its post does not keep them all.
#[test]
fn those_who_write_to_a_rank_that_computes_are_stopped_and_go_on() {
    const SENDERS: u32 = 40;
    const BYTES: usize = 8 << 10;
    let hosts = (0..=SENDERS).map(|rank| u32::from(rank == SENDERS)).collect();
    let placement = Placement::new(hosts).expect("two hosts");
    let shape = Shape { cores: 1, transport: Transport::SharedMemory, ring_bytes: 16 << 10 };
    let jobs = [0, 1].map(|host| Arc::new(Job::create(shape, &placement, host).expect("a segment")));
    let posts = [0, 1].map(|host: usize| Post::start(Arc::clone(&jobs[host]), None, LIMIT).expect("a post"));
    connect(&posts[0], &posts[1]);
    let bells = [0, 1].map(|host: usize| jobs[host].open_post_pipe().expect("the post's pipe"));
    let mut rings: Vec<_> = (0..SENDERS).map(|rank| jobs[0].post_ends(rank).0).collect();
    let mut incoming = jobs[1].post_ends(SENDERS).1;
    let mut sent = vec![0_u64; SENDERS as usize];
    let window = WINDOW_BYTES / (BYTES as u64 + 8);
    let mut body = vec![0; BYTES];
    let is_stopped = || jobs[0].slot(SENDERS).is_stopped();
    eventually("all has been sent, and nobody was stopped", || {
        for (ring, number) in rings.iter_mut().zip(&mut sent).filter(|(_, number)| **number < window) {
            body[..8].copy_from_slice(&number.to_le_bytes());
            *number += u64::from(ring.push(label(1, SENDERS), BYTES, |cells| cells.write(&body)));
        }
        bells[0].ring(jobs[0].post_bell());
        is_stopped().then_some(())
    });
    let all = sent.iter().sum::<u64>();
    assert!(all * BYTES as u64 <= KEPT_BYTES_MAX + (16 << 20), "{all} packets have left");
    assert!(jobs[1].slot(SENDERS).is_stopped(), "guests would go on");
    eventually("the post does not move what it can", || rings[0].is_drained().then_some(()));
    let _asleep = jobs[0].doorbell(0).prepare();
    let mut taken = vec![0_u64; SENDERS as usize];
    for _ in 0..all {
        let packet = eventually("a packet is missing", || incoming.peek());
        let number = &mut taken[of_label(packet.meta).1 as usize];
        assert_eq!(packet.body.load::<u64>(), *number, "packets of a pair are in order");
        *number += 1;
        if incoming.release(packet) {
            bells[1].ring(jobs[1].post_bell());
        }
    }
    assert_eq!(taken, sent);
    eventually("nobody may go on", || (!is_stopped()).then_some(()));
    eventually("who waits is not told", || (!jobs[0].doorbell(0).is_asleep()).then_some(()));
}

#[test]
fn what_ranks_write_themselves_crosses_between_what_the_post_writes() {
    let jobs = [0, 1].map(|host| job(Transport::SharedMemory, host));
    let posts = [0, 1].map(|host: usize| Post::start(Arc::clone(&jobs[host]), None, LIMIT).expect("a post"));
    connect(&posts[0], &posts[1]);
    let bell = jobs[0].open_post_pipe().expect("the post's pipe");
    let ring = || bell.ring(jobs[0].post_bell());
    let (mut outgoing, _) = jobs[0].post_ends(0);
    let (_, mut incoming) = jobs[1].post_ends(1);
    let token = jobs[0].link_token(1);
    for round in 0..100 {
        // The rank holds the token: what is in its ring stays there until it has written.
        eventually("the post keeps the token", || token.enter().then_some(()));
        assert!(eventually("the post has packets", || outgoing.is_drained().then_some(true)));
        assert!(outgoing.push(label(2, 1), 4, |cells| cells.write(b"ring")));
        ring();
        let link = jobs[0].open_link(1).expect("a pipe");
        let head = Head { class: Class::Packet, kind: 1, sender: 0, receiver: 1, bytes: 4 };
        if round % 2 == 0 {
            std::thread::sleep(Duration::from_micros(300));
        }
        assert!(link.write(&[&head.encode()[..], b"self"].concat()));
        if token.leave() {
            ring();
        }
        for (kind, body) in [(1, b"self"), (2, b"ring")] {
            let packet = eventually("a packet is missing", || incoming.peek());
            let mut found = [0; 4];
            packet.body.read(&mut found);
            assert_eq!((of_label(packet.meta), &found), ((kind, 0), body), "round {round}");
            incoming.release(packet);
        }
    }
}

#[test]
fn a_rank_reads_the_link_that_it_is_lent_and_the_post_gets_it_back() {
    let jobs = [0, 1].map(|host| job(Transport::SharedMemory, host));
    let posts = [0, 1].map(|host: usize| Post::start(Arc::clone(&jobs[host]), None, LIMIT).expect("a post"));
    connect(&posts[0], &posts[1]);
    let bell = jobs[1].open_post_pipe().expect("the post's pipe");
    let intake = jobs[1].intake(0);
    let mut rings = [1, 3].map(|rank| jobs[1].post_ends(rank).1);
    let send = |receiver: u32| {
        eventually("the post keeps the token", || jobs[0].link_token(1).enter().then_some(()));
        let head = Head { class: Class::Packet, kind: 1, sender: 0, receiver, bytes: 4 };
        let link = jobs[0].open_link(1).expect("a pipe");
        assert!(link.write(&[&head.encode()[..], b"word"].concat()));
        assert!(!jobs[0].link_token(1).leave());
        head
    };
    let borrow = || {
        if intake.want() {
            bell.ring(jobs[1].post_bell());
        }
        intake.enter().then_some(())
    };
    let read = || {
        let source = jobs[1].open_link_source(0).expect("a pipe");
        eventually("nothing comes", || {
            assert_ne!(source.fill(intake).expect("it can be read"), Filled::End);
            match intake.next() {
                Found::Packet(head, _) if head.class == Class::Ping => {
                    intake.take(&head);
                    None
                }
                Found::Packet(head, _) => Some(head),
                Found::Nothing | Found::Nonsense => None,
            }
        })
    };
    for round in 0..20 {
        eventually("the link is not lent", borrow);
        let sent = send(1);
        assert_eq!(read(), sent, "round {round}");
        intake.take(&sent);
        let foreign = send(3);
        assert_eq!(read(), foreign, "round {round}");
        intake.hand_over();
        bell.ring(jobs[1].post_bell());
        let packet = eventually("the post does not deliver", || rings[1].peek());
        rings[1].release(packet);
        if round % 2 == 0 {
            eventually("the link is not lent again", borrow);
            intake.leave();
        }
        send(1);
        let packet = eventually("the post does not take the link back", || rings[0].peek());
        rings[0].release(packet);
    }
    jobs[1].doorbell(3).prepare_tower();
    eventually("it is with the post", || intake.is_with_post().then_some(()));
    if intake.want() {
        bell.ring(jobs[1].post_bell());
    }
    std::thread::sleep(Duration::from_millis(20));
    assert!(!intake.is_lent(), "a rank sleeps, and nobody would bring it what comes");
}

#[test]
fn files_of_every_length_cross() {
    let folder = tempfile::tempdir().expect("a folder");
    let places = [0, 1].map(|host| {
        let local = folder.path().join(host.to_string());
        drop(Outbox::open(&local).expect("a directory"));
        Places { local, central: None, copying: None }
    });
    let jobs = [0, 1].map(|host| job(Transport::File, host));
    let start = |host: usize| {
        Post::start(Arc::clone(&jobs[host]), Some(places[host].clone()), LIMIT).expect("a post")
    };
    let posts = [start(0), start(1)];
    let inbox = Inbox::create(&places[1].local.join("3")).expect("an inbox");
    let outbox = Outbox::open(&places[0].local.join(POST)).expect("the post's inbox");
    let lengths = [0, 1, 1000, 256 << 10, (3 << 20) + 17];
    for (number, &bytes) in (0_u64..).zip(&lengths) {
        let mut body = OwnedMemory::new(bytes);
        UserMemory::of(&mut body).write(&vec![number as u8; bytes]);
        let parcel = Parcel { receiver: 3, name: Name { sender: 2, number } };
        outbox.send(&parcel.text(), b"head", UserMemory::of(&mut body), bytes).expect("it is sent");
    }
    assert!(matches!(notice(&posts[0]), Notice::Wants(1)));
    connect(&posts[0], &posts[1]);
    for (number, &bytes) in (0_u64..).zip(&lengths) {
        let name = Name { sender: 2, number }.text();
        let file = eventually("a file is missing", || inbox.open(&name).ok());
        assert_eq!(file.bytes().expect("its length"), bytes as u64 + 4);
        let mut whole = vec![0; bytes + 4];
        assert_eq!(file.read_some(0, &mut whole).expect("its bytes"), bytes + 4);
        assert!(whole.starts_with(b"head") && whole[4..].iter().all(|&byte| byte == number as u8));
    }
    drop(posts);
    let left = fs::read_dir(places[0].local.join(POST)).expect("the post's inbox").count();
    assert_eq!(left, 0, "what was sent is still there");
}

#[test]
fn files_cross_by_a_program_that_copies() {
    let folder = tempfile::tempdir().expect("a folder");
    // Copies as scp does, to hosts that are folders.
    let program = folder.path().join("scp");
    let script = "#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\nexec cp -- \"$1\" \"${2#*:}\"\n";
    fs::write(&program, script).expect("the program");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&program, executable).expect("it may run");
    let locals = ["0", "1"].map(|host| folder.path().join(host));
    let hosts = locals.iter().map(|local| ("host".to_owned(), local.clone())).collect();
    let copying = Some(Copying { command: vec![program.into()], hosts });
    let posts = [0, 1].map(|host: usize| {
        drop(Outbox::open(&locals[host]).expect("a directory"));
        let places = Places { local: locals[host].clone(), central: None, copying: copying.clone() };
        Post::start(job(Transport::File, host as u32), Some(places), LIMIT).expect("a post")
    });
    let inbox = Inbox::create(&locals[1].join("3")).expect("an inbox");
    let outbox = Outbox::open(&locals[0].join(POST)).expect("the post's inbox");
    for number in 0..5 {
        let name = Name { sender: 2, number };
        let nothing = UserMemory::of(&mut OwnedMemory::new(1));
        outbox.send(&Parcel { receiver: 3, name }.text(), b"head", nothing, 0).expect("it is sent");
        let file = eventually("a file is missing", || inbox.open(&name.text()).ok());
        assert_eq!(file.bytes().expect("its length"), 4);
    }
    fs::remove_file(folder.path().join("scp")).expect("it is there");
    let lost = Parcel { receiver: 3, name: Name { sender: 2, number: 5 } };
    outbox.send(&lost.text(), b"head", UserMemory::of(&mut OwnedMemory::new(1)), 0).expect("it is sent");
    match notice(&posts[0]) {
        Notice::Failed(why) => assert!(why.contains("cannot run"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lock_files_in_a_central_directory_are_announced_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let [local, central] = ["local", "central"].map(|name| folder.path().join(name));
    for path in [&local, &central] {
        drop(Outbox::open(path).expect("a directory"));
    }
    let job = job(Transport::Central, 1);
    let places = Places { local: local.clone(), central: Some(central.clone()), copying: None };
    let post = Post::start(job, Some(places), LIMIT).expect("a post");
    let inbox = Inbox::create_announced(&local.join("3"), &central.join("1"), 3).expect("an inbox");
    let outbox = Outbox::open(&central.join("1")).expect("the host's part");
    for number in 0..20 {
        let name = Name { sender: 0, number };
        let nothing = UserMemory::of(&mut OwnedMemory::new(1));
        outbox.send_locked(&Parcel { receiver: 3, name }.text(), b"head", nothing, 0).expect("it is sent");
        let found = eventually("a message is not announced", || {
            let mut found = Vec::new();
            inbox.arrived(|name| found.push(name.to_owned())).expect("the kernel reports");
            found.pop()
        });
        assert_eq!(found, format!("0.{number}"));
        assert_eq!(inbox.open(&name.text()).expect("it is there").bytes().expect("its length"), 4);
        inbox.remove(&name.text()).expect("it is removed");
    }
    drop(post);
    assert_eq!(fs::read_dir(central.join("1")).expect("the host's part").count(), 0);
}

/// What the post of host 0 says when its link brings `bytes` and ends.
fn said_after(bytes: &[u8]) -> Option<String> {
    let post = Post::start(job(Transport::SharedMemory, 0), None, LIMIT).expect("a post");
    let ((reader, writer), (mut back, to)) = (pipe(), pipe());
    post.attach(1, reader, to);
    fs::File::from(writer).write_all(bytes).expect("the pipe takes it");
    // The post closes its side when it has seen the end of ours.
    let mut end = PollFd::from_borrowed_fd(back.as_fd(), PollFlags::IN);
    poll(std::slice::from_mut(&mut end), Some(&Timespec { tv_sec: 60, tv_nsec: 0 })).expect("poll");
    let mut rest = Vec::new();
    back = fs::File::from(back).read_to_end(&mut rest).map(|_| pipe().0).expect("the other side's end");
    drop(back);
    match post.next() {
        Some(Notice::Lost { host: 1, why }) => Some(why),
        Some(other) => panic!("{other:?}"),
        None => None,
    }
}

#[test]
fn a_link_that_ends_is_lost_unless_it_has_said_goodbye() {
    let bye = Head { class: Class::Bye, kind: 0, sender: 0, receiver: 0, bytes: 0 };
    assert_eq!(said_after(&bye.encode()), None);
    assert_eq!(said_after(&[]).as_deref(), Some("the connection has ended"));
}

#[test]
fn a_link_that_is_silent_in_one_direction_is_lost() {
    let silence = Duration::from_millis(40);
    let jobs = [0, 1].map(|host| job(Transport::SharedMemory, host));
    let start = |host: usize| Post::start(Arc::clone(&jobs[host]), None, silence).expect("a post");
    let posts = [start(0), start(1)];
    // What the first post writes reaches nobody: a pipe that is open at both ends and that nobody reads.
    let ((back, to), (_nobody_reads, into_nothing), (there, _nobody_writes)) = (pipe(), pipe(), pipe());
    posts[0].attach(1, back, into_nothing);
    posts[1].attach(0, there, to);
    match notice(&posts[1]) {
        Notice::Lost { host: 0, why } => assert!(why.contains("nothing has come through it"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_post_that_has_nothing_to_say_says_that_it_lives() {
    let post = Post::start(job(Transport::SharedMemory, 0), None, Duration::from_secs(2)).expect("a post");
    let ((back, _open), (there, to)) = (pipe(), pipe());
    post.attach(1, back, to);
    let mut said = [0; HEAD_BYTES];
    fs::File::from(there).read_exact(&mut said).expect("something is said");
    assert_eq!(Head::decode(said).map(|head| head.class), Some(Class::Ping));
}

#[test]
fn nothing_from_a_link_is_trusted() {
    let said = said_after(&[0xff; 64]).expect("it is lost");
    assert!(said.contains("what no post sends"), "{said}");
    let packet = |sender, receiver, bytes: u32| {
        let head = Head { class: Class::Packet, kind: 1, sender, receiver, bytes };
        let mut stream = head.encode().to_vec();
        stream.resize(stream.len() + bytes as usize, 0);
        said_after(&stream).expect("it is lost")
    };
    assert!(packet(2, 0, 16).contains("not its to send"), "a sender of the own host");
    assert!(packet(1, 3, 16).contains("not its to send"), "a receiver elsewhere");
    assert!(packet(1, 99, 16).contains("not its to send"), "no such rank");
    assert!(packet(1, 0, 60_000).contains("fits no ring"), "longer than any packet");
    let file = Head { class: Class::File, kind: 0, sender: 1, receiver: 0, bytes: 0 };
    assert!(said_after(&file.encode()).expect("it is lost").contains("another way"));
}

#[test]
fn a_host_that_asks_and_takes_no_answer_is_lost() {
    let post = Post::start(job(Transport::SharedMemory, 0), None, LIMIT).expect("a post");
    let ((reader, writer), (_nobody_reads, to)) = (pipe(), pipe());
    post.attach(1, reader, to);
    let asking = std::thread::spawn(move || {
        // A call that is none, which is answered by its end.
        let calls = stream(Class::Call, &[(7, 1, &b"?"[..]); 1000]).into_iter();
        let calls: Vec<u8> =
            calls.enumerate().map(|(at, byte)| if at % 17 == 1 { 0 } else { byte }).collect();
        let mut writer = fs::File::from(writer);
        while writer.write_all(&calls).is_ok() {}
    });
    match notice(&post) {
        Notice::Lost { host: 1, why } => assert!(why.contains("takes answers"), "{why}"),
        other => panic!("{other:?}"),
    }
    asking.join().expect("it only writes");
}

/// Packets that rank 1 sends to rank 0, and what the posts of other hosts might send.
fn streams(class: Class) -> [Vec<u8>; 6] {
    let body = [7; 40];
    let piece = |number: u64, offset: u64, bytes: u64| {
        let words = [number, offset, bytes].map(u64::to_le_bytes);
        [words.as_flattened(), &body[..]].concat()
    };
    let (first, last, whole) = (piece(0, 0, 80), piece(0, 40, 80), piece(1, 0, 40));
    let bye = Head { class: Class::Bye, kind: 0, sender: 0, receiver: 0, bytes: 0 };
    [
        stream(class, &[(1, 0, &whole)]),
        stream(class, &[(1, 0, &first), (3, 2, &whole), (1, 0, &last)]),
        stream(class, &[(1, 0, b""), (1, 2, &body[..8])]),
        [stream(class, &[(3, 0, &whole)]), bye.encode().to_vec()].concat(),
        // Guests of host 1, and what posts say to each other.
        stream(class, &[(5, 0, &whole), (7, 0, &whole), (7, 4, &whole)]),
        [Class::Ping, Class::Call, Class::Gone].map(|class| stream(class, &[(5, 1, &body[..9])])).concat(),
    ]
}

#[test]
fn damaged_streams_are_taken_apart() {
    let samples = streams(Class::Packet).into_iter().chain(streams(Class::File));
    survives_within(4 << 20, bytes(samples), |bytes| {
        let (reader, writer) = pipe();
        fs::File::from(writer).write_all(&bytes).map_err(|error| error.to_string())?;
        let job = job(Transport::SharedMemory, 0);
        let (intake, mut taken) = (job.intake(1), 0);
        while intake.fill(reader.as_fd()).map_err(|error| error.to_string())? == Filled::More {
            loop {
                match intake.next() {
                    Found::Packet(head, body) => {
                        let mut content = vec![0; head.bytes as usize];
                        body.read(&mut content);
                        intake.take(&head);
                        taken += HEAD_BYTES + content.len();
                    }
                    Found::Nothing => break,
                    Found::Nonsense => return Ok(()),
                }
            }
        }
        if taken <= bytes.len() { Ok(()) } else { Err("it is longer than it was".to_owned()) }
    });
}

#[test]
fn damaged_streams_end_a_link_or_are_delivered() {
    let deliver = |transport: Transport, bytes: &[u8]| {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let local = folder.path().join("job");
        drop(Outbox::open(&local).map_err(|error| error.to_string())?);
        let places = (transport == Transport::File).then_some(Places { local, central: None, copying: None });
        let post = Post::start(job(transport, 0), places, LIMIT).map_err(|error| error.to_string())?;
        let ((reader, writer), (back, to)) = (pipe(), pipe());
        post.attach(1, reader, to);
        fs::File::from(writer).write_all(bytes).map_err(|error| error.to_string())?;
        let _goodbye = fs::File::from(back).read_to_end(&mut Vec::new());
        let named = |notice| match notice {
            Notice::Lost { why, .. } | Notice::Failed(why) => !why.is_empty(),
            Notice::Wants(_) => true,
        };
        if std::iter::from_fn(|| post.next()).all(named) {
            Ok(())
        } else {
            Err("a notice says nothing".to_owned())
        }
    };
    for (transport, class) in [(Transport::SharedMemory, Class::Packet), (Transport::File, Class::File)] {
        survives_slowly(4 << 20, bytes(streams(class)), |bytes| deliver(transport, &bytes));
    }
}
