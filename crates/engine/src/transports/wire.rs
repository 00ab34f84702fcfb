//! What travels between two processes: a header, and sometimes bytes of a message.
//!
//! The header is 16 bytes for the packets that must be fast (an eager message of up to 40 bytes is one cache line in a
//! ring), and 8 more for each word that its kind needs. All numbers are little-endian.
//!
//! ```text
//! +0   context (8)      which communicator, and which of its message spaces
//! +8   source (4)       the sender's rank in that communicator
//! +12  tag (4)
//! +16  words (8 each)   as `Kind` says
//! ```

use postrider_os::memory::UserMemory;

/// A process, the same everywhere: the key of its job and its rank there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Its job's key.
    pub job: u64,
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
}

/// The kinds of packets, and the words each carries after the envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A whole message.
    Eager = 1,
    /// A whole message of a synchronous send: `[sender request]`; answered by `Matched`.
    EagerSynchronous = 2,
    /// A message announced: `[sender request, bytes, address]`; address 0 means "not to be read directly", and its highest bit "better in
    /// pieces, while I wait".
    Announce = 3,
    /// The receiver wants an announced message in pieces: `[sender request, receiver request]`.
    Clear = 4,
    /// A piece of an announced message: `[receiver request, offset]`.
    Piece = 5,
    /// The receiver has read an announced message by itself: `[sender request]`.
    Fetched = 6,
    /// A synchronous message has been matched: `[sender request]`.
    Matched = 7,
    /// The sender wants a message back that may not be matched yet: `[sender request]`.
    Cancel = 8,
    /// Answer to `Cancel`: `[sender request, 1 if it was taken back]`.
    Cancelled = 9,
    /// What processes of a window say to each other: three words, which `one_sided` knows; so does the tag.
    OneSided = 10,
    /// The receiver computes, and wants the sender to write an announced message to its memory: `[sender request, receiver request,
    /// address]`; answered by `Placed`, or by pieces.
    Place = 11,
    /// The sender has written so much of a message to the receiver's memory: `[receiver request, bytes]`.
    Placed = 12,
}

impl Kind {
    const ALL: [Self; 12] = [
        Self::Eager,
        Self::EagerSynchronous,
        Self::Announce,
        Self::Clear,
        Self::Piece,
        Self::Fetched,
        Self::Matched,
        Self::Cancel,
        Self::Cancelled,
        Self::OneSided,
        Self::Place,
        Self::Placed,
    ];

    /// The kind with this number, if there is one.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).wrapping_sub(1)).copied()
    }

    /// Whether it is a message that was not announced, whose receiver may not want it yet.
    #[must_use]
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Eager | Self::EagerSynchronous)
    }

    /// How many words follow the envelope.
    #[must_use]
    pub fn words(self) -> usize {
        match self {
            Self::Eager => 0,
            Self::EagerSynchronous | Self::Fetched | Self::Matched | Self::Cancel => 1,
            Self::Clear | Self::Piece | Self::Cancelled | Self::Placed => 2,
            Self::Announce | Self::OneSided | Self::Place => 3,
        }
    }
}

/// A packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the packet is.
    pub kind: Kind,
    /// Which communicator and message space.
    pub context: u64,
    /// The sender's rank in the communicator.
    pub source: u32,
    /// The message's tag.
    pub tag: i32,
    /// What [`Kind`] says; the rest is zero.
    pub words: [u64; 3],
}

/// Bytes of an envelope without words.
pub const ENVELOPE_BYTES: usize = 16;
/// Bytes of the longest header.
pub const HEADER_BYTES_MAX: usize = ENVELOPE_BYTES + 3 * 8;

impl Header {
    /// A control packet, which belongs to requests and not to a communicator.
    #[must_use]
    pub fn control(kind: Kind, words: [u64; 3]) -> Self {
        Self { kind, context: 0, source: 0, tag: 0, words }
    }

    /// Bytes that [`Header::encode`] writes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        ENVELOPE_BYTES + 8 * self.kind.words()
    }

    /// The header as bytes; the first [`Header::bytes`] of them count. The kind travels beside them.
    #[inline]
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES_MAX] {
        let mut out = [0; HEADER_BYTES_MAX];
        let envelope = [self.context, u64::from(self.source) | u64::from(self.tag as u32) << 32];
        for (bytes, word) in out.chunks_exact_mut(8).zip(envelope.into_iter().chain(self.words)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Writes the header to `place`, which has room for [`Header::bytes`]: what [`Header::encode`] gives.
    #[inline]
    pub fn write(&self, place: UserMemory) {
        place.store(self.context.to_le());
        place.offset(8).store((u64::from(self.source) | u64::from(self.tag as u32) << 32).to_le());
        for (i, word) in self.words[..self.kind.words()].iter().enumerate() {
            place.offset(16 + 8 * i as i64).store(word.to_le());
        }
    }

    /// Reads a header from `place`, where `bytes` bytes are; none when it is cut short.
    #[inline]
    #[must_use]
    pub fn read(kind: Kind, place: UserMemory, bytes: usize) -> Option<Self> {
        let count = kind.words();
        if bytes < ENVELOPE_BYTES + 8 * count {
            return None;
        }
        let word = |i: usize| u64::from_le(place.offset(8 * i as i64).load());
        let mut words = [0; 3];
        for (i, target) in words[..count].iter_mut().enumerate() {
            *target = word(2 + i);
        }
        let envelope = word(1);
        Some(Self { kind, context: word(0), source: envelope as u32, tag: (envelope >> 32) as i32, words })
    }

    /// The header at the beginning of `bytes`; none when it is cut short.
    #[inline]
    #[must_use]
    pub fn decode(kind: Kind, bytes: &[u8]) -> Option<Self> {
        let words_end = ENVELOPE_BYTES + 8 * kind.words();
        if bytes.len() < words_end {
            return None;
        }
        let mut words = [0; 3];
        for (word, bytes) in words.iter_mut().zip(bytes[ENVELOPE_BYTES..words_end].chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        Some(Self {
            kind,
            context: u64::from_le_bytes(bytes[..8].try_into().ok()?),
            source: u32::from_le_bytes(bytes[8..12].try_into().ok()?),
            tag: i32::from_le_bytes(bytes[12..16].try_into().ok()?),
            words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_os::memory::OwnedMemory;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_survives_the_wire(number in 1_u8..=12, context: u64, source: u32, tag: i32, words: [u64; 3]) {
            let kind = Kind::from_number(number).unwrap();
            let mut header = Header { kind, context, source, tag, words };
            header.words[kind.words()..].fill(0);
            prop_assert_eq!(Header::decode(kind, &header.encode()[..header.bytes()]), Some(header));
        }

        #[test]
        fn both_ways_of_writing_agree(number in 1_u8..=12, context: u64, source: u32, tag: i32, words: [u64; 3]) {
            let kind = Kind::from_number(number).unwrap();
            let mut header = Header { kind, context, source, tag, words };
            header.words[kind.words()..].fill(0);
            let mut memory = OwnedMemory::new(HEADER_BYTES_MAX);
            let place = UserMemory::of(&mut memory);
            header.write(place);
            prop_assert_eq!(&memory.as_slice()[..header.bytes()], &header.encode()[..header.bytes()]);
            prop_assert_eq!(Header::read(kind, place, header.bytes()), Some(header));
            prop_assert_eq!(Header::read(kind, place, header.bytes() - 1), None);
        }

        #[test]
        fn short_bytes_are_refused(number in 1_u8..=12, bytes in prop::collection::vec(any::<u8>(), 0..16)) {
            prop_assert_eq!(Header::decode(Kind::from_number(number).unwrap(), &bytes), None);
        }
    }

    #[test]
    fn unknown_kinds_are_refused() {
        assert_eq!(Kind::from_number(0), None);
        assert_eq!(Kind::from_number(13), None);
    }
}
