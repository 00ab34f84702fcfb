//! Damaged copies of all that other hosts, schedulers and users tell this program: nothing of it is trusted.

use std::io::Write;
use std::os::fd::OwnedFd;

use postrider_fuzz::{Watched, bytes, survives_within, text};
use postrider_os::packet::{Class, Head};
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;

use crate::control::{Assignment, Channel, Hosted, Messages, Rest, TO_AGENT_BYTES_MAX, ToAgent, ToHead};
use crate::hosts::{Host, allocated, parse_list, place, read_file};
use crate::launch::Refusal;
use crate::report::{Kind, Place};
use crate::supervise::Failed;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// A message as it travels.
pub fn message(message: &impl Serialize) -> Vec<u8> {
    let mut bytes = postcard::to_extend(message, vec![0; 4]).expect("it can be written");
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn pipe(content: &[u8]) -> Result<OwnedFd, String> {
    let (reader, mut writer) = std::io::pipe().map_err(|error| error.to_string())?;
    writer.write_all(content).map_err(|error| error.to_string())?;
    Ok(reader.into())
}

/// What comes through a channel that ends after `bytes`.
fn receive<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<(), String> {
    let nowhere =
        std::fs::File::options().write(true).open("/dev/null").map_err(|error| error.to_string())?;
    let mut channel =
        Channel::new(pipe(bytes)?, nowhere.into(), TO_AGENT_BYTES_MAX).map_err(|error| error.to_string())?;
    // A process that another test starts has the writing end as well, until it executes its program; a channel that never ends is the
    // watchdog's.
    while channel.end().is_none() {
        channel.fill();
        while channel.next::<T>().is_some() {}
        std::thread::yield_now();
    }
    Ok(())
}

/// What each agent of a job of two may say.
pub fn words_of_agents() -> Vec<ToHead> {
    let failed = Failed { rank: 3, pid: 77, kind: Kind::NeverJoined, place: Place::BeforeInit };
    let prepared =
        ToHead::Prepared { directory: "/tmp/a".to_owned(), cores: 4, warnings: vec!["x".to_owned()] };
    vec![
        prepared,
        ToHead::Refused(Refusal::new(2, "no room")),
        ToHead::Started(vec![1, 2, 3]),
        ToHead::Ended { rank: 1, well: true, unborn: false, spawned_code: 0 },
        ToHead::Failed(failed),
        ToHead::Places(vec![(0, Place::Unknown)]),
        ToHead::Output(1, false, b"hello\n".to_vec()),
        ToHead::LinkFailed(1, "why".to_owned()),
        ToHead::LinkLost(0, "why".to_owned()),
        ToHead::Broken("why".to_owned()),
        ToHead::Wants(1),
        ToHead::RankWaits,
        ToHead::Rest(Some(Rest { balance: 7, guests: vec![Hosted { job: 5, host: 0, hosts: 2 }] })),
        ToHead::InputTaken(1),
        ToHead::InputClosed,
        ToHead::Pong,
        ToHead::GaveUp(std::time::Duration::from_secs(1)),
        ToHead::Over,
    ]
}

#[test]
fn what_agents_say() {
    let samples = words_of_agents();
    let one = samples.iter().map(message);
    let all = samples.iter().flat_map(message).collect();
    let samples: Vec<Vec<u8>> = one.chain([all]).collect();
    survives_within(2 << 20, bytes(samples), |bytes| receive::<ToHead>(&bytes));
}

/// A part of a job of two.
pub fn assignment() -> Assignment {
    Assignment {
        stall: std::time::Duration::from_secs(10),
        key: 7,
        host: 1,
        hosts: vec!["a".to_owned(), "b".to_owned()],
        host_of: vec![0, 1],
        applications: Vec::new(),
        working_directory: "/tmp".into(),
        temporary: Some("/scratch".into()),
        variables: vec![("A".into(), "b".into())],
        paths: Vec::new(),
        messages: Messages::CopiedFiles(vec!["scp".to_owned()]),
        remote_shell: Some("ssh".to_owned()),
        silence: std::time::Duration::from_secs(60),
        inheritance: postrider_os::launch::Inheritance::of_this_process(),
    }
}

#[test]
fn what_the_head_says() {
    let samples = [
        ToAgent::Prepare(Box::new(assignment())),
        ToAgent::Start(vec!["/tmp/a".to_owned()]),
        ToAgent::Credit(true, 7),
        ToAgent::Input(vec![1, 2, 3]),
        ToAgent::OpenLink(1),
        ToAgent::Ping,
    ];
    survives_within(2 << 20, bytes(samples.iter().map(message).collect::<Vec<_>>()), |bytes| {
        receive::<ToAgent>(&bytes)
    });
}

/// What holds of every list that is accepted.
fn check(hosts: &[Host]) -> Result<(), String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@[]:%".contains(letter);
    let bad = hosts.iter().find(|host| {
        host.name.is_empty()
            || host.name.len() > 255
            || host.name.split('@').any(|part| part.starts_with('-'))
            || !host.name.chars().all(plain)
            || host.slots == Some(0)
    });
    bad.map_or(Ok(()), |host| Err(format!("{host:?} was accepted")))
}

/// Sixty-five thousand names may be many bytes, all at once less.
const LIST_BYTES_MAX: usize = 16 << 20;

#[test]
fn host_lists() {
    let samples = [
        "a,b:2",
        "a slots=2 max_slots=4, b",
        "n[1-3,07-09]:4",
        "r[1-2]n[1-4]-ib",
        "me@host,[::1]:2",
        "[fe80::1%eth0]:3 n[0-99]",
        "a*2",
        "# all\na slots=2 # the fast one\nb:4\r\nc\n",
    ];
    let lists = text(samples.map(str::to_owned));
    survives_within(LIST_BYTES_MAX, lists, |list| {
        let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
        std::fs::write(file.path(), &list).map_err(|error| error.to_string())?;
        for hosts in [parse_list(&list), read_file(file.path())] {
            match hosts {
                Err(what) if what.is_empty() => return Err("an error says nothing".to_owned()),
                Err(_) => {}
                Ok(hosts) => {
                    check(&hosts)?;
                    let _too_many = place(hosts, Some(100));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn allocations() {
    let names = [
        "SLURM_JOB_NODELIST",
        "SLURM_TASKS_PER_NODE",
        "SLURM_NTASKS",
        "SLURM_JOB_CPUS_PER_NODE",
        "LSB_MCPU_HOSTS",
        "PBS_NODEFILE",
        "LSB_DJOB_HOSTFILE",
        "PE_HOSTFILE",
    ];
    let values = [
        "n[1-3],m07",
        "2(x3),1",
        "16(x4)",
        "7",
        "a 2 b 4",
        "a\na\nb\n",
        "a 2 all.q@a UNDEFINED\nb 4 all.q@b <NULL>\n",
    ];
    let value = || text(values.map(str::to_owned));
    let cases = (select(names.to_vec()), value(), prop_oneof![Just("n[1-4]".to_owned()), value()], value());
    survives_within(LIST_BYTES_MAX, cases, |(name, value, nodes, tasks)| {
        let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
        std::fs::write(file.path(), &value).map_err(|error| error.to_string())?;
        let found = allocated(|asked| match asked {
            _ if asked == name && name.ends_with("FILE") => file.path().to_str().map(str::to_owned),
            _ if asked == name => Some(value.clone()),
            "SLURM_JOB_NODELIST" => Some(nodes.clone()).filter(|_| name.starts_with("SLURM")),
            "SLURM_TASKS_PER_NODE" => Some(tasks.clone()).filter(|_| name.starts_with("SLURM")),
            _ => None,
        });
        match found {
            Err(what) if !what.starts_with("the allocation of ") => Err(what),
            Ok(Some(hosts)) => check(&hosts),
            _ => Ok(()),
        }
    });
}

/// Packets between posts, as they follow one another.
pub fn stream(class: Class, packets: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let packet = |&(sender, receiver, body): &(u32, u32, &[u8])| {
        let head = Head { class, kind: 1, sender, receiver, bytes: body.len() as u32 };
        [&head.encode()[..], body].concat()
    };
    packets.iter().flat_map(packet).collect()
}
