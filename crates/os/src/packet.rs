//! How packets between hosts are labelled, on the way from a rank to its post, between posts, and on to the other rank.
//!
//! In the rings between a rank and its post (see [`Job::post_ends`](crate::job::Job::post_ends)) the number beside a packet's length holds the
//! packet's kind in its low 8 bits and the other side's rank above: the receiver on the way to the post, the sender
//! on the way from it. Kinds are the engine's own, but for [`CREDIT`].
//!
//! Ranks limit themselves: a rank has at most [`WINDOW_BYTES`] on the way to one other, until that one has said by a
//! credit that it has taken them. So a rank that computes for an hour holds up nobody but those who write to it. Windows are as wide as one
//! stream needs; when the post of a host keeps more for one rank than its share of [`KEPT_BYTES_MAX`], because many write to it, it tells
//! the others by [`Class::Stop`], and their ranks send it nothing until [`Class::Go`].
//!
//! Between posts each packet has a [`Head`] of 16 bytes, all numbers little-endian:
//!
//! ```text
//! +0   class (1)        what follows, see `Class`
//! +1   kind (1)         of a packet
//! +2   zero (2)
//! +4   sender (4)       a rank, or a guest (see `hosts`)
//! +8   receiver (4)     a rank, or a guest
//! +12  bytes (4)        how many follow
//! ```

/// The kind of the packet by which a receiver gives bytes back to the sender's window: 8 bytes, the number of bytes.
pub const CREDIT: u8 = 0xff;
/// The most bytes that may be on the way from one rank to one other, with the 8 bytes that each packet counts besides its own.
pub const WINDOW_BYTES: u64 = 4 << 20;
/// What a post keeps for the ranks of its host until it asks others to stop; each rank has an equal share.
pub const KEPT_BYTES_MAX: u64 = 64 << 20;
/// The most ranks, and guests, that labels have room for.
pub const RANKS_MAX: u32 = 1 << 24;
/// The most bytes that follow a [`Head`].
pub const PAYLOAD_BYTES_MAX: u32 = 320 << 10;
/// Bytes of a [`Head`].
pub const HEAD_BYTES: usize = 16;

/// The label of a packet in a ring to or from the post.
#[inline]
#[must_use]
pub fn label(kind: u8, rank: u32) -> u32 {
    u32::from(kind) | rank << 8
}

/// Kind and rank of a label.
#[inline]
#[must_use]
pub fn of_label(label: u32) -> (u8, u32) {
    (label as u8, label >> 8)
}

/// What follows a [`Head`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A packet for the receiver's ring.
    Packet,
    /// A piece of a message file: number of the file (8 bytes), offset of the piece (8), length of the file (8), the piece.
    File,
    /// Nothing: the sending post has nothing more to say and will close the link.
    Bye,
    /// Nothing: the sender, a guest of the sending post, has ended in the middle of MPI.
    Gone,
    /// A part of a conversation between processes that meet at a port, which the posts of their hosts know.
    Call,
    /// Nothing: the sending post lives, and the link brings what it writes.
    Ping,
    /// Nothing: the post of the sender, a rank, keeps enough for it. Nobody is to send it packets, but for credits.
    Stop,
    /// Nothing: packets may be sent to the sender again.
    Go,
}

impl Class {
    const ALL: [(u8, Self); 8] = [
        (1, Self::Packet),
        (2, Self::File),
        (3, Self::Bye),
        (4, Self::Gone),
        (5, Self::Call),
        (6, Self::Ping),
        (7, Self::Stop),
        (8, Self::Go),
    ];
}

/// What stands before each packet between posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What follows.
    pub class: Class,
    /// The packet's kind.
    pub kind: u8,
    /// The rank that sent it.
    pub sender: u32,
    /// The rank that is to have it.
    pub receiver: u32,
    /// How many bytes follow.
    pub bytes: u32,
}

impl Head {
    /// The head as it travels.
    #[must_use]
    pub fn encode(&self) -> [u8; HEAD_BYTES] {
        let class =
            Class::ALL.iter().find(|(_, class)| *class == self.class).map_or(0, |(number, _)| *number);
        let mut bytes = [0; HEAD_BYTES];
        bytes[0] = class;
        bytes[1] = self.kind;
        for (place, word) in bytes[4..].chunks_exact_mut(4).zip([self.sender, self.receiver, self.bytes]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads a head; none when it is not what [`Head::encode`] writes, or announces more than is ever sent at once.
    #[must_use]
    pub fn decode(bytes: [u8; HEAD_BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (_, class) = *Class::ALL.iter().find(|(number, _)| *number == bytes[0])?;
        let head = Self { class, kind: bytes[1], sender: word(4), receiver: word(8), bytes: word(12) };
        (head.bytes <= PAYLOAD_BYTES_MAX && head.encode() == bytes).then_some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn heads_survive_the_link(class in 0..Class::ALL.len(), kind: u8, sender: u32, receiver: u32, bytes in 0..=PAYLOAD_BYTES_MAX) {
            let head = Head { class: Class::ALL[class].1, kind, sender, receiver, bytes };
            prop_assert_eq!(Head::decode(head.encode()), Some(head));
        }

        #[test]
        fn no_bytes_are_trusted(bytes: [u8; HEAD_BYTES]) {
            if let Some(head) = Head::decode(bytes) {
                prop_assert_eq!(head.encode(), bytes);
            }
        }

        #[test]
        fn labels_are_read_as_they_are_written(kind: u8, rank in 0..RANKS_MAX) {
            prop_assert_eq!(of_label(label(kind, rank)), (kind, rank));
        }
    }
}
