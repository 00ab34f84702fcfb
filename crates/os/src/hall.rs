//! What a guest and the post that serves it say to each other (see [`Placement`](crate::hosts::Placement) for their numbers).
//!
//! A process that needs the posts of another job comes to the hall of that job on its host, a port that is found by the job's key
//! ([`Port::hall`](crate::port::Port::hall)), and says who it is ([`Guest`]). The post answers with its number and where things are
//! ([`Welcome`]). The connection stays open as long as the guest is one: its end is the guest's, and a guest that has not said
//! [`Bye`] before has died.
//!
//! A process that wants to reach a port of another host of the job, or looks for a published name there, comes as well, and says so by a
//! [`Call`]. The first frame that it gets is the answer; the end without one is a refusal.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Bytes of each of the two rings between a guest and the post: packets of all sizes fit.
pub const RING_BYTES: u32 = 1 << 20;

/// Who comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// Its job's segment: the value of `POSTRIDER_JOB`.
    pub job: String,
    /// Its rank there.
    pub rank: u32,
    /// Where the rings between it and the post are, if its messages go through memory.
    pub bridge: String,
    /// Its job's directory, if they are files.
    pub directory: Option<PathBuf>,
}

/// What it has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Its number.
    pub number: u32,
    /// The segment of the job whose guest it is, on this host.
    pub job: String,
    /// That job's directory on this host, if messages are files.
    pub local: Option<PathBuf>,
    /// That job's directory that all hosts see, if messages go through it.
    pub central: Option<PathBuf>,
}

/// What stands before the names of message files in a guest's inbox instead of the key of their sender's job: different for each guest.
#[must_use]
pub fn key_of_files(job: u64, guest: u32) -> u64 {
    job.wrapping_add(u64::from(guest))
}

/// What a guest says that will send nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bye {
    /// Packets that it has sent through the post, less those that it has taken from there.
    pub balance: i64,
}

/// A wish that the post of another host is to fulfil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which host.
    pub host: u32,
    /// What it is to do.
    pub wish: Wish,
}

/// What a post does for a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Connect with this port: the answer is empty, and then the other end speaks.
    Connect(String),
    /// Look for this published name: the answer is the port.
    LookUp(Vec<u8>),
}

impl Call {
    const WORD: &[u8] = b"call";
    const CONNECT: &[u8] = b"connect";
    const LOOK_UP: &[u8] = b"look up";

    /// As it is said.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let host = self.host.to_string();
        let (verb, name) = match &self.wish {
            Wish::Connect(port) => (Self::CONNECT, port.as_bytes()),
            Wish::LookUp(service) => (Self::LOOK_UP, service.as_slice()),
        };
        write([Self::WORD, host.as_bytes(), verb, name])
    }

    /// Reads what [`Call::encode`] writes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let [word, host, verb, name] = read(bytes)?;
        let host = text(host)?.parse().ok()?;
        let wish = match verb {
            Self::CONNECT => Wish::Connect(text(name)?),
            Self::LOOK_UP => Wish::LookUp(name.to_vec()),
            _ => return None,
        };
        (word == Self::WORD).then_some(Self { host, wish })
    }
}

fn write(fields: [&[u8]; 4]) -> Vec<u8> {
    fields.join(&0)
}

fn read(bytes: &[u8]) -> Option<[&[u8]; 4]> {
    bytes.split(|&byte| byte == 0).collect::<Vec<_>>().try_into().ok()
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn bytes_of(path: &Option<PathBuf>) -> &[u8] {
    path.as_deref().map_or(Path::new(""), |path| path).as_os_str().as_bytes()
}

fn path(bytes: &[u8]) -> Option<PathBuf> {
    (!bytes.is_empty()).then(|| OsString::from_vec(bytes.to_vec()).into())
}

impl Guest {
    /// As it is said.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let rank = self.rank.to_string();
        write([self.job.as_bytes(), rank.as_bytes(), self.bridge.as_bytes(), bytes_of(&self.directory)])
    }

    /// Reads what [`Guest::encode`] writes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let [job, rank, bridge, directory] = read(bytes)?;
        let rank = text(rank)?.parse().ok()?;
        let guest = Self { job: text(job)?, rank, bridge: text(bridge)?, directory: path(directory) };
        (job != Call::WORD).then_some(guest)
    }
}

impl Bye {
    const WORD: &[u8] = b"bye";

    /// As it is said.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        [Self::WORD, &self.balance.to_le_bytes()].concat()
    }

    /// Reads what [`Bye::encode`] writes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let balance = bytes.strip_prefix(Self::WORD)?.try_into().ok()?;
        Some(Self { balance: i64::from_le_bytes(balance) })
    }
}

impl Welcome {
    /// As it is said.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let number = self.number.to_string();
        write([number.as_bytes(), self.job.as_bytes(), bytes_of(&self.local), bytes_of(&self.central)])
    }

    /// Reads what [`Welcome::encode`] writes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let [number, job, local, central] = read(bytes)?;
        let number = text(number)?.parse().ok()?;
        Some(Self { number, job: text(job)?, local: path(local), central: path(central) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_survive_the_hall(number: u32, job in "[0-9]{1,5}:[0-9]{1,3}", directory in proptest::option::of("/[a-z]{1,9}")) {
            let directory = directory.map(PathBuf::from);
            let guest = Guest { job: job.clone(), rank: number, bridge: job.clone(), directory: directory.clone() };
            prop_assert_eq!(Guest::decode(&guest.encode()), Some(guest));
            let welcome = Welcome { number, job, local: directory, central: None };
            prop_assert_eq!(Welcome::decode(&welcome.encode()), Some(welcome));
            let bye = Bye { balance: i64::from(number) - 7 };
            prop_assert_eq!(Bye::decode(&bye.encode()), Some(bye));
            for wish in [Wish::Connect("a port".to_owned()), Wish::LookUp(b"caf\xe9".to_vec())] {
                let call = Call { host: number, wish };
                prop_assert_eq!(Guest::decode(&call.encode()), None);
                prop_assert_eq!(Call::decode(&call.encode()), Some(call));
            }
        }

        #[test]
        fn no_bytes_are_trusted(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _whatever = (Guest::decode(&bytes), Bye::decode(&bytes), Welcome::decode(&bytes), Call::decode(&bytes));
        }
    }
}
