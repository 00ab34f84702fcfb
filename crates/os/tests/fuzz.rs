//! Damaged copies of all that this crate reads from outside: nothing of it is trusted.
#![cfg(not(loom))]

use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use postrider_fuzz::{Watched, bytes, survives, survives_within, text};
use postrider_os::bridge::Bridge;
use postrider_os::hosts::Placement;
use postrider_os::job::{Job, Shape, Transport};
use postrider_os::memory::UserMemory;
use postrider_os::packet::{Class, HEAD_BYTES, Head, PAYLOAD_BYTES_MAX};
use postrider_os::parcel::{Foreign, Name, Parcel};
use postrider_os::port::Connection;
use postrider_os::shared_memory::Segment;
use postrider_os::standing::Word;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

fn check(good: bool, what: &str) -> Result<(), String> {
    if good { Ok(()) } else { Err(what.to_owned()) }
}

#[test]
fn heads_between_posts() {
    let head = |class| Head { class, kind: 1, sender: 3, receiver: 2, bytes: 100 };
    let samples = [Class::Packet, Class::File, Class::Bye].map(|class| head(class).encode().to_vec());
    survives(bytes(samples), |bytes| {
        let Some(head) = bytes.first_chunk::<HEAD_BYTES>().and_then(|bytes| Head::decode(*bytes)) else {
            return Ok(());
        };
        check(head.bytes <= PAYLOAD_BYTES_MAX && head.encode() == bytes[..HEAD_BYTES], "it is another head")
    });
}

#[test]
fn names_of_message_files() {
    let name = Name { sender: 12, number: 345 };
    let samples = [
        name.text(),
        Name { sender: u32::MAX, number: u64::MAX }.text(),
        Parcel { receiver: 7, name }.text(),
        Foreign { job: 0xfeed_beef, name }.text(),
    ];
    let samples = samples.map(|name| name.into_string().expect("digits"));
    survives(text(samples), |text| {
        let same = |written: std::ffi::CString| written.to_bytes() == text.as_bytes();
        let good = Name::parse(&text).is_none_or(|name| same(name.text()))
            && Parcel::parse(&text).is_none_or(|parcel| same(parcel.text()))
            && Foreign::parse(&text).is_none_or(|foreign| same(foreign.text()));
        check(good, "a name is read that nobody writes")
    });
}

#[test]
fn lines_of_ranks_and_standing_agents() {
    let place = "12:3".to_owned();
    let words = [
        Word::Join { rank: 3, cores: vec![255, 1] },
        Word::Job { place, local: Some("/tmp/a".to_owned()), central: None },
        Word::Refused("no room".to_owned()),
        Word::Share("a\nb".to_owned()),
        Word::Shared(vec!["a".to_owned(), String::new()]),
        Word::Apart,
        Word::Done,
        Word::Over,
    ];
    survives(text(words.map(|word| word.line())), |line| {
        let Some(word) = Word::parse(&line) else { return Ok(()) };
        check(Word::parse(&word.line()) == Some(word), "it is another word")
    });
}

/// A segment that is at `place`: its first `facts` bytes, and what they hold.
fn facts(place: &str, facts: usize) -> (Segment, UserMemory, Vec<u8>) {
    let (pid, descriptor) = place.split_once(':').expect("both");
    let number = |text: &str| text.parse().expect("a number");
    let segment = Segment::open(number(pid), number(descriptor)).expect("it is open");
    let place = segment.place(0, facts);
    let mut valid = vec![0; facts];
    place.read(&mut valid);
    (segment, place, valid)
}

/// Host 0 of two.
fn job(transport: Transport) -> Job {
    let shape = Shape { cores: 2, transport, ring_bytes: 4096 };
    Job::create(shape, &Placement::new(vec![0, 1, 0]).expect("two hosts"), 0).expect("a segment")
}

#[test]
fn segments_of_jobs() {
    for transport in [Transport::SharedMemory, Transport::File] {
        let job = job(transport);
        let place = job.environment();
        let (_segment, memory, valid) = facts(&place, 64);
        survives(bytes([valid.clone()]), |mut bytes| {
            bytes.resize(valid.len(), 0);
            memory.write(&bytes);
            let opened = Job::open(&place);
            memory.write(&valid);
            if let Ok(opened) = opened.as_ref()
                && opened.has_post()
            {
                drop(opened.post_ends(opened.local_ranks()[0]));
            }
            Ok(())
        });
    }
    survives(text(["123:4".to_owned(), job(Transport::File).environment()]), |place| {
        let _refused = Job::open(&place);
        Ok(())
    });
}

#[test]
fn bridges_between_jobs() {
    let bridge = Bridge::create(2, 3, 4096).expect("it is made");
    let place = bridge.place();
    let (_segment, memory, valid) = facts(&place, 24);
    survives(bytes([valid.clone()]), |mut bytes| {
        bytes.resize(valid.len(), 0);
        memory.write(&bytes);
        let opened = Bridge::open(&place);
        memory.write(&valid);
        drop(opened);
        Ok(())
    });
}

#[test]
fn frames_of_ports() {
    let frame = |body: &[u8]| [&(body.len() as u64).to_le_bytes()[..], body].concat();
    let samples = [frame(b"launcher:"), [frame(b""), frame(&[7; 40])].concat()];
    survives_within(4 << 20, bytes(samples), |bytes| {
        let (mut writer, reader) = UnixStream::pair().map_err(|error| error.to_string())?;
        writer.write_all(&bytes).map_err(|error| error.to_string())?;
        drop(writer);
        let mut connection = Connection::over(reader.as_raw_fd()).map_err(|error| error.to_string())?;
        while connection.receive(Duration::from_secs(60)).is_ok_and(|frame| frame.is_some()) {}
        Ok(())
    });
}
