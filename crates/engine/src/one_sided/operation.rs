//! What travels between the two sides of a window: packets of kind [`OneSided`](crate::transports::wire::Kind).
//!
//! A packet's context is the window's, its source the sender's rank in the window's group, and its tag one of the verbs
//! below. A long operation, or one on memory with gaps, is cut into parts at the origin. Each part is an operation of its own, so
//! that the target needs to remember nothing. The words of an access are
//!
//! ```text
//! word 0   request (32 bits), operator (8), kind of the elements (8), blocks in the body (16)
//! word 1   where the only block begins, if none is in the body
//! word 2   where the part begins in the packed stream of the operation; of an only block without data, its length
//! ```
//!
//! and the body holds the blocks (offset and length, 8 bytes each), if there are several, and then the data. Offsets count from the
//! window's beginning; lengths count elements where there are such, and bytes otherwise. Whatever comes is checked: against
//! the packet's length here, and against the window by whoever applies it.

use postrider_abi::predefined::OPERATIONS;
use postrider_os::memory::UserMemory;

use crate::datatypes::Kind;
use crate::operations::Operator;

/// What a packet asks for, or says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Verb {
    /// Data to be written.
    Put,
    /// Data to be combined with what is there.
    Accumulate,
    /// What is there is wanted.
    Get,
    /// As `Accumulate`, and what was there before is wanted.
    FetchAndOperate,
    /// Two elements, what to compare with and what to write; what was there before is wanted.
    CompareAndSwap,
    /// Data that was wanted: `[request, place in the stream, error class]`; the body of an error is the length that was wanted.
    Answer,
    /// Everything before this is to be confirmed.
    Mark,
    /// Everything before a mark is done: `[error class]`.
    Marked,
    /// A lock is wanted: `[1 if exclusive, 1 if urgent]`.
    Lock,
    /// A lock is granted: `[whose memory]`.
    Granted,
    /// It is given back; also a mark.
    Unlock,
    /// The sender's memory is exposed (`MPI_Win_post`).
    Post,
    /// The sender's accesses are complete (`MPI_Win_complete`).
    Complete,
    /// `Put`, and then `Mark`.
    PutAndMark,
}

impl Verb {
    const ALL: [Self; 14] = [
        Self::Put,
        Self::Accumulate,
        Self::Get,
        Self::FetchAndOperate,
        Self::CompareAndSwap,
        Self::Answer,
        Self::Mark,
        Self::Marked,
        Self::Lock,
        Self::Granted,
        Self::Unlock,
        Self::Post,
        Self::Complete,
        Self::PutAndMark,
    ];

    /// The verb with this number, if there is one.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Whether an [`Verb::Answer`] follows.
    #[must_use]
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Get | Self::FetchAndOperate | Self::CompareAndSwap)
    }
}

/// A run of memory in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it begins, in bytes from the window's beginning.
    pub offset: i64,
    /// Its length, in elements or bytes.
    pub length: u64,
}

/// The longest part of an operation where the transport sets no limit.
pub const PART_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a block in a packet's body.
pub const BLOCK_BYTES: usize = 16;
/// The most blocks of a packet.
pub const BLOCKS_MAX: usize = u16::MAX as usize;

/// The memory that an access is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// One run.
    One(Block),
    /// Several.
    Many(Vec<Block>),
}

impl Blocks {
    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[Block] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

/// How elements are combined, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The operator.
    pub operator: Operator,
    /// The elements.
    pub kind: Kind,
}

/// A part of an operation, as a packet describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What is to be done.
    pub verb: Verb,
    /// The origin's request, which an answer names.
    pub request: u32,
    /// How elements are combined; none for plain bytes.
    pub combination: Option<Combination>,
    /// Where the part begins in the packed stream.
    pub position: u64,
    /// The memory.
    pub blocks: Blocks,
}

impl Access {
    /// Bytes of one unit of the blocks' lengths.
    #[must_use]
    pub fn unit(&self) -> u64 {
        self.combination.map_or(1, |combination| combination.kind.size() as u64)
    }

    /// Bytes of the part's data.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let length = |block: &Block| block.length.saturating_mul(self.unit());
        self.blocks.as_slice().iter().fold(0, |sum, block| sum.saturating_add(length(block)))
    }

    /// Bytes of data that the packet carries.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        match (self.verb, self.combination) {
            (Verb::Get, _) | (_, Some(Combination { operator: Operator::NoOp, .. })) => 0,
            (Verb::CompareAndSwap, _) => self.bytes().saturating_mul(2),
            _ => self.bytes(),
        }
    }

    /// The words of the header.
    #[must_use]
    pub fn words(&self) -> [u64; 3] {
        let (operator, kind) = match self.combination {
            Some(Combination { operator, kind }) => (1 + number_of(operator), kind.index() as u64),
            None => (0, 0),
        };
        let first = u64::from(self.request) | operator << 32 | kind << 40;
        match &self.blocks {
            Blocks::One(block) if self.data_bytes() == 0 => [first, block.offset as u64, block.length],
            Blocks::One(block) => [first, block.offset as u64, self.position],
            Blocks::Many(blocks) => [first | (blocks.len() as u64) << 48, 0, self.position],
        }
    }

    /// Writes the blocks that go into the body, and returns where the data goes.
    pub fn write_blocks(&self, place: UserMemory) -> UserMemory {
        let Blocks::Many(blocks) = &self.blocks else { return place };
        let mut place = place;
        for block in blocks {
            place.store([block.offset as u64, block.length].map(u64::to_le_bytes));
            place = place.offset(BLOCK_BYTES as i64);
        }
        place
    }

    /// Bytes of the blocks that go into the body.
    #[must_use]
    pub fn block_bytes(&self) -> usize {
        match &self.blocks {
            Blocks::One(_) => 0,
            Blocks::Many(blocks) => blocks.len() * BLOCK_BYTES,
        }
    }

    /// The access that a packet describes; none when it contradicts itself.
    #[must_use]
    pub fn decode(verb: Verb, words: [u64; 3], body: UserMemory, body_bytes: usize) -> Option<Self> {
        let [first, second, third] = words;
        let request = first as u32;
        let combination = match (first >> 32) as u8 {
            0 => None,
            number => {
                Some(Combination { operator: operator_of(number - 1)?, kind: kind_of((first >> 40) as u8)? })
            }
        };
        let mut access =
            Self { verb, request, combination, position: third, blocks: Blocks::Many(Vec::new()) };
        let count = usize::from((first >> 48) as u16);
        let data_bytes = body_bytes.checked_sub(count * BLOCK_BYTES)? as u64;
        access.blocks = if count > 0 {
            Blocks::Many((0..count).map(|index| block_at(body, index)).collect())
        } else {
            let carried = if verb == Verb::CompareAndSwap { data_bytes / 2 } else { data_bytes };
            let mut block = Block { offset: second as i64, length: carried / access.unit() };
            access.blocks = Blocks::One(Block { length: 1, ..block });
            if access.data_bytes() == 0 {
                (block.length, access.position) = (third, 0);
            }
            Blocks::One(block)
        };
        (access.is_sound() && access.data_bytes() == data_bytes).then_some(access)
    }

    /// Whether whoever applies it finds what the verb needs.
    fn is_sound(&self) -> bool {
        match (self.verb, self.combination, self.blocks.as_slice()) {
            (Verb::Put | Verb::Get, ..) => true,
            (Verb::CompareAndSwap, Some(combination), [block]) => {
                block.length == 1 && combination.operator != Operator::NoOp
            }
            (Verb::Accumulate, Some(_), _) => true,
            // What was there before is kept until the answer has left.
            (Verb::FetchAndOperate, Some(_), _) => self.bytes() <= PART_BYTES_MAX,
            _ => false,
        }
    }
}

fn block_at(body: UserMemory, index: usize) -> Block {
    let [offset, length] =
        body.offset((index * BLOCK_BYTES) as i64).load::<[[u8; 8]; 2]>().map(u64::from_le_bytes);
    Block { offset: offset as i64, length }
}

fn number_of(operator: Operator) -> u64 {
    let place = OPERATIONS.iter().position(|row| Operator::from_handle(row.handle) == Some(operator));
    place.unwrap_or_else(|| unreachable!("every operator has a row")) as u64
}

fn operator_of(number: u8) -> Option<Operator> {
    OPERATIONS.get(usize::from(number)).and_then(|row| Operator::from_handle(row.handle))
}

fn kind_of(number: u8) -> Option<Kind> {
    Kind::all().nth(usize::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_os::memory::OwnedMemory;
    use proptest::prelude::*;

    fn blocks() -> impl Strategy<Value = Blocks> {
        let block = (any::<i64>(), 1_u64..5).prop_map(|(offset, length)| Block { offset, length });
        prop_oneof![
            block.clone().prop_map(Blocks::One),
            prop::collection::vec(block, 1..6).prop_map(Blocks::Many),
        ]
    }

    fn access() -> impl Strategy<Value = Access> {
        let combination = (0_usize..OPERATIONS.len(), 0..Kind::all().count()).prop_map(|(operator, kind)| {
            Combination { operator: operator_of(operator as u8).unwrap(), kind: kind_of(kind as u8).unwrap() }
        });
        (0_i32..5, any::<u32>(), combination, any::<u64>(), blocks()).prop_map(
            |(verb, request, combination, position, blocks)| {
                let verb = Verb::from_number(verb).unwrap();
                let combination = (!matches!(verb, Verb::Put | Verb::Get)).then_some(combination);
                let (combination, blocks) = match (verb, combination) {
                    (Verb::CompareAndSwap, Some(combination)) => {
                        let block = Block { length: 1, ..blocks.as_slice()[0] };
                        let operator = Operator::Replace;
                        (Some(Combination { operator, ..combination }), Blocks::One(block))
                    }
                    _ => (combination, blocks),
                };
                let mut access = Access { verb, request, combination, position, blocks };
                if access.data_bytes() == 0 && matches!(access.blocks, Blocks::One(_)) {
                    access.position = 0;
                }
                access
            },
        )
    }

    proptest! {
        #[test]
        fn an_access_survives_the_wire(access in access()) {
            let bytes = access.block_bytes() + access.data_bytes() as usize;
            let mut memory = OwnedMemory::new(bytes);
            let body = UserMemory::of(&mut memory);
            access.write_blocks(body);
            prop_assert_eq!(Access::decode(access.verb, access.words(), body, bytes), Some(access));
        }

        #[test]
        fn what_is_decoded_fits_its_packet(verb in 0_i32..5, words: [u64; 3], bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut memory = OwnedMemory::new(bytes.len());
            let body = UserMemory::of(&mut memory);
            body.write(&bytes);
            if let Some(access) = Access::decode(Verb::from_number(verb).unwrap(), words, body, bytes.len()) {
                prop_assert_eq!(access.block_bytes() as u64 + access.data_bytes(), bytes.len() as u64);
            }
        }
    }

    #[test]
    fn a_packet_cannot_ask_for_more_than_it_carries() {
        let kind = kind_of(0).unwrap();
        let access = |verb, operator, length| Access {
            verb,
            request: 0,
            combination: Some(Combination { operator, kind }),
            position: 0,
            blocks: Blocks::One(Block { offset: 0, length }),
        };
        let mut memory = OwnedMemory::new(64);
        let decoded = |access: Access| {
            let bytes = access.data_bytes() as usize;
            Access::decode(access.verb, access.words(), UserMemory::of(&mut memory), bytes)
        };
        let mut decoded = decoded;
        assert!(decoded(access(Verb::CompareAndSwap, Operator::Replace, 1)).is_some());
        // It would compare, and write, what is not in the window and not in the packet.
        assert_eq!(decoded(access(Verb::CompareAndSwap, Operator::Replace, 0)), None);
        assert_eq!(decoded(access(Verb::CompareAndSwap, Operator::NoOp, 1)), None);
        // What a fetch brings is held in memory, and so never longer than one part.
        assert!(decoded(access(Verb::FetchAndOperate, Operator::NoOp, 1 << 10)).is_some());
        assert_eq!(decoded(access(Verb::FetchAndOperate, Operator::NoOp, 1 << 40)), None);
    }

    #[test]
    fn unknown_verbs_are_refused() {
        assert_eq!((Verb::from_number(-1), Verb::from_number(14)), (None, None));
        assert_eq!(Verb::from_number(13), Some(Verb::PutAndMark));
    }
}
