//! What servers say to each other: a head, and bytes behind it.
//!
//! Heads are decoded with bounds, and what they say is looked at by whoever acts on it: nothing from another host is trusted.

use serde::{Deserialize, Serialize};

use crate::semantics::pages::Level;
use crate::semantics::permission::Caller;
use crate::space::Result;

/// Bytes that a packet has at most beside those of a message.
pub const BESIDE: usize = 4096;
/// Groups of a caller that are told.
const GROUPS_MAX: usize = 256;

/// Who calls: a process of another host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Person {
    /// Its number there.
    pub pid: u32,
    /// When it started, in ticks since its machine did.
    pub started: u64,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Function {
    /// `msgget`: the key as identifier; flags, and the host where a new queue is to live.
    GetQueue,
    /// `semget`: the same; semaphores.
    GetSet,
    /// `msgsnd`: flags. The bytes are the type and the message.
    Send,
    /// `msgrcv`: bytes, type, flags. Back come the type and the message.
    Receive,
    /// `semop`. The bytes are the operations.
    Operate,
    /// `msgctl`: the command, with the structure it takes or gives as bytes.
    ControlQueue,
    /// `semctl`: the command, the number of a semaphore, a value.
    ControlSet,
    /// `shmget`: the key as identifier; flags, bytes, and the host where a new segment is to live.
    GetSegment,
    /// `shmat`: flags, and how often a child has inherited it, or 0. Back comes how long it is.
    Attach,
    /// `shmdt`: how often.
    Detach,
    /// `shmctl`: the command, with the structure it takes or gives as bytes.
    ControlSegment,
    /// How many semaphores a set has.
    Count,
    /// Rows of a table: its number, and the first row. Back come whole rows, and the number of the next.
    Rows,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What is called.
    pub function: Function,
    /// The object, or a key.
    pub identifier: i32,
    /// The other arguments.
    pub numbers: [i64; 3],
    /// Who calls.
    pub person: Person,
    /// Its effective user.
    pub user: u32,
    /// Its effective group, and the others.
    pub groups: Vec<u32>,
}

impl Request {
    /// Who calls, for permissions.
    #[must_use]
    pub fn caller(&self) -> Caller {
        Caller { uid: self.user, groups: self.groups.clone() }
    }

    /// As bytes, which those of the call follow.
    #[must_use]
    pub fn encoded(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("numbers and a list can be encoded")
    }

    /// A request and the bytes behind it.
    ///
    /// # Errors
    /// `EINVAL` for what no server sends.
    pub fn decoded(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let (request, rest): (Self, &[u8]) = postcard::take_from_bytes(bytes).map_err(|_| libc::EINVAL)?;
        let few = !request.groups.is_empty() && request.groups.len() <= GROUPS_MAX;
        if few { Ok((request, rest)) } else { Err(libc::EINVAL) }
    }
}

/// Pages of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Of which segment.
    pub identifier: i32,
    /// The first page.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// What is said about pages: by the segment's home, and to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pages {
    /// To the home: the sender's processes want to do this with them.
    Want(Range, Level),
    /// From the home: this may be done with them from now on. Contents follow, unless they are there.
    Grant(Range, Level),
    /// From the home: no more than this may be done with them from now on, which is to be answered; with their contents, if so.
    Take(Range, Level, bool),
    /// To the home: that is so now. Contents follow, if they were asked for.
    Given(Range),
    /// From the home: there is no such segment any more.
    Gone(i32),
}

/// The head of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Head {
    /// A call, which is to be answered to host `origin` under its number. A [`Request`] follows.
    Call {
        /// That host's number for it.
        number: u64,
        /// Whose process calls; another host than the sender's if the sender keeps the key that is asked for.
        origin: u32,
    },
    /// The caller waits no more: the call ends now, one way or the other.
    Cancel {
        /// The number of the call.
        number: u64,
    },
    /// The result of a call: an error's number below 0. Bytes follow.
    Answer {
        /// The number of the call.
        number: u64,
        /// See above.
        result: i64,
    },
    /// A process of the sender's host has ended.
    Ended {
        /// Which.
        person: Person,
    },
    /// About a page of a segment that hosts share. Contents follow.
    Pages(Pages),
    /// The programs of the sender's host have ended. For host 0.
    Over,
    /// The name space is to be ended. For host 0.
    Stop,
    /// All servers end. From host 0.
    End,
    /// The sender sends nothing after this.
    Last,
}

impl Head {
    /// A packet.
    #[must_use]
    pub fn packet(&self, bytes: &[u8]) -> Vec<u8> {
        let mut packet = postcard::to_stdvec(self).expect("numbers can be encoded");
        packet.extend_from_slice(bytes);
        packet
    }

    /// The head of a packet and the bytes behind it.
    ///
    /// # Errors
    /// `EINVAL` for what no server sends.
    pub fn of(packet: &[u8]) -> Result<(Self, &[u8])> {
        postcard::take_from_bytes(packet).map_err(|_| libc::EINVAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request() -> Request {
        let person = Person { pid: 7, started: 1 << 40 };
        let (function, numbers) = (Function::Receive, [i64::MIN, -1, 8192]);
        Request { function, identifier: -5, numbers, person, user: 0, groups: vec![0, 27] }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let call = Head::Call { number: u64::MAX, origin: 3 };
        let packet = call.packet(&[&request().encoded()[..], b"bytes"].concat());
        let (head, rest) = Head::of(&packet).unwrap();
        assert_eq!(head, call);
        assert_eq!(Request::decoded(rest), Ok((request(), &b"bytes"[..])));
        let nobody = Request { groups: Vec::new(), ..request() };
        assert_eq!(Request::decoded(&nobody.encoded()), Err(libc::EINVAL));
    }

    proptest! {
        #[test]
        fn nonsense_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..64), cut in 0..40_usize) {
            if let Ok((_, rest)) = Head::of(&bytes) {
                let _refused = Request::decoded(rest);
            }
            let _refused = Request::decoded(&bytes);
            let whole = request().encoded();
            let cut = cut.min(whole.len() - 1);
            prop_assert!(Request::decoded(&whole[..cut]).is_err());
        }
    }
}
