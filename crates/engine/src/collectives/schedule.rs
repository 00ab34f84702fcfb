//! What a collective operation has one process do, as a value.
//!
//! A [`Schedule`] is a list of rounds. The executor posts the communication of a round in the order of the
//! list (receives stand before sends, and what may be copied meanwhile at the end), waits until all of it is complete, carries out the round's local steps
//! in order, and goes to the next round. Nothing else synchronises, so within a round no step may read what
//! another communication step of that round writes. A schedule holds no address and no handle: the blocking,
//! the nonblocking and the persistent form of a collective (MPI 5.0, sections 6.4 to 6.13) run the same
//! value, a persistent one many times.
//!
//! # What the executor has to keep
//! - A [`Span`] of zero bytes never touches its buffer, which may be null or a scratch buffer that was not
//!   declared.
//! - [`TypeOf::Send`] and [`TypeOf::Receive`] are the datatypes of the call's send and receive sides. A call
//!   with one datatype (broadcast, all reductions) means it by both. The only buffer of a broadcast is
//!   [`Buffer::Receive`].
//! - [`TypeOf::Packed`] counts bytes. In a user buffer it occurs only where the datatype's [`Layout`] is
//!   contiguous.
//! - Sender and receiver of a message may count it in different datatypes; the bytes agree. The same holds
//!   for a copy.
//! - A scratch buffer of elements is placed like a user buffer: displacement 0 is where the address of an
//!   element is, so that element i has its data from `address + i * extent + true_lb`. An executor allocates
//!   `true_extent + (count - 1) * |extent|` bytes, starting at `start`, and uses as the buffer's address
//!   `start - true_lb`, or with a negative extent `start - true_lb - (count - 1) * extent`. Spans lie inside
//!   it.
//! - A scratch buffer of bytes starts at displacement 0. No scratch has to be cleared.
//! - In-place calls never mention [`Buffer::Send`] where the standard says that it is not significant.
//!
//! [`Layout`]: super::arguments::Layout

/// The memory that a span lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The call's send buffer; only read.
    Send,
    /// The call's receive buffer, or its only buffer.
    Receive,
    /// A buffer that the schedule declares, by index.
    Scratch(u16),
}

/// The datatype that a span is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeOf {
    /// The call's send datatype.
    Send,
    /// The call's receive datatype, or its only datatype.
    Receive,
    /// The send datatype for this peer, of the calls that have one for each peer.
    SendW(u32),
    /// The receive datatype for this peer, of the calls that have one for each peer.
    ReceiveW(u32),
    /// Bytes.
    Packed,
}

/// `count` elements of a datatype, `displacement` bytes after the address of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The memory.
    pub buffer: Buffer,
    /// Bytes from the buffer's address.
    pub displacement: i64,
    /// Number of elements, or of bytes if packed.
    pub count: i64,
    /// What the elements are.
    pub datatype: TypeOf,
}

impl Span {
    /// No bytes at all: the message of a barrier.
    pub const EMPTY: Span = Span::packed(Buffer::Receive, 0, 0);

    /// `bytes` bytes of `buffer`.
    pub const fn packed(buffer: Buffer, displacement: i64, bytes: i64) -> Span {
        Span { buffer, displacement, count: bytes, datatype: TypeOf::Packed }
    }
}

/// The other process of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A rank of the local group: every process of an intra-communicator is one.
    Local(u32),
    /// A rank of the remote group of an inter-communicator.
    Remote(u32),
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start sending `from` to `peer`.
    Send {
        /// The receiver.
        peer: Peer,
        /// The message.
        from: Span,
    },
    /// Start receiving a message of `peer` into `into`.
    Receive {
        /// The sender.
        peer: Peer,
        /// Where the message goes.
        into: Span,
    },
    /// Copy, pack or unpack; the spans do not overlap.
    Copy {
        /// What is read.
        from: Span,
        /// What is written.
        into: Span,
    },
    /// `into[i] = from[i] op into[i]`, the arguments of `MPI_User_function` in its order; the spans do not
    /// overlap.
    Reduce {
        /// The left operand.
        from: Span,
        /// The right operand and the result.
        into: Span,
    },
}

/// Memory that the executor provides for the time of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scratch {
    /// Room for so many elements, laid out with their extent, because an operator works on them.
    Elements {
        /// How many.
        count: i64,
        /// Of what.
        datatype: TypeOf,
    },
    /// So many bytes.
    Bytes(i64),
}

/// A round: communication that runs together, then local steps in order. Either may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// Sends and receives, and copies that are done meanwhile.
    pub communication: &'a [Step],
    /// Copies and reductions.
    pub local: &'a [Step],
}

/// Where the parts of a round end in the list of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    communication: u32,
    local: u32,
}

const SCRATCH_MAX: usize = 8;

/// What one process does in a collective operation. See the head of this file.
///
/// All steps lie in one array and the ends of rounds in another, so that a schedule costs two allocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    steps: Vec<Step>,
    rounds: Vec<Ends>,
    scratch: [Scratch; SCRATCH_MAX],
    scratch_count: u16,
    open: bool,
}

impl Schedule {
    /// An empty schedule with room for so many steps.
    pub fn with_capacity(steps: usize) -> Self {
        Self {
            steps: Vec::with_capacity(steps),
            rounds: Vec::new(),
            scratch: [Scratch::Bytes(0); SCRATCH_MAX],
            scratch_count: 0,
            open: false,
        }
    }

    /// The number of rounds.
    pub fn round_count(&self) -> usize {
        self.rounds.len()
    }

    /// Round `index`, which must exist.
    pub fn round(&self, index: usize) -> Round<'_> {
        let first = index.checked_sub(1).map_or(0, |before| self.rounds[before].local as usize);
        let Ends { communication, local } = self.rounds[index];
        Round {
            communication: &self.steps[first..communication as usize],
            local: &self.steps[communication as usize..local as usize],
        }
    }

    /// The rounds in order.
    pub fn rounds(&self) -> impl Iterator<Item = Round<'_>> {
        (0..self.round_count()).map(|index| self.round(index))
    }

    /// The scratch buffers, by index.
    pub fn scratch(&self) -> &[Scratch] {
        &self.scratch[..self.scratch_count as usize]
    }

    /// Declares `bytes` bytes of scratch.
    pub fn scratch_bytes(&mut self, bytes: i64) -> Buffer {
        self.declare(Scratch::Bytes(bytes))
    }

    /// Declares a scratch buffer of `count` elements.
    pub fn scratch_elements(&mut self, count: i64, datatype: TypeOf) -> Buffer {
        self.declare(Scratch::Elements { count, datatype })
    }

    fn declare(&mut self, scratch: Scratch) -> Buffer {
        let index = self.scratch_count;
        assert!((index as usize) < SCRATCH_MAX, "a schedule has at most {SCRATCH_MAX} scratch buffers");
        self.scratch[index as usize] = scratch;
        self.scratch_count += 1;
        Buffer::Scratch(index)
    }

    /// Adds a send to the current round.
    pub fn send(&mut self, peer: Peer, from: Span) {
        self.push(Step::Send { peer, from });
    }

    /// Adds a receive to the current round.
    pub fn receive(&mut self, peer: Peer, into: Span) {
        self.push(Step::Receive { peer, into });
    }

    /// Adds a copy after the communication of the current round.
    pub fn copy(&mut self, from: Span, into: Span) {
        self.push(Step::Copy { from, into });
    }

    /// Adds a copy to the communication of the current round, which may go on meanwhile: neither span is part of that.
    pub fn copy_meanwhile(&mut self, from: Span, into: Span) {
        self.push_to(Step::Copy { from, into }, true);
    }

    /// Adds a reduction after the communication of the current round.
    pub fn reduce(&mut self, from: Span, into: Span) {
        self.push(Step::Reduce { from, into });
    }

    /// Adds what `build` makes of a part of the processes, whose ranks there are numbers of its own: `rank` says which
    /// rank of the local group each of them is.
    pub fn among(&mut self, rank: impl Fn(u32) -> u32, build: impl FnOnce(&mut Self)) {
        let first = self.steps.len();
        build(self);
        for step in &mut self.steps[first..] {
            if let Step::Send { peer: Peer::Local(member), .. }
            | Step::Receive { peer: Peer::Local(member), .. } = step
            {
                *member = rank(*member);
            }
        }
    }

    /// Ends the current round: what follows needs what came before. Does nothing in an empty round.
    pub fn end_round(&mut self) {
        self.open = false;
    }

    /// Appends a step where its kind belongs.
    fn push(&mut self, step: Step) {
        let communication = matches!(step, Step::Send { .. } | Step::Receive { .. });
        self.push_to(step, communication);
    }

    /// Appends a step; communication after local steps opens a new round by itself.
    fn push_to(&mut self, step: Step, communication: bool) {
        let before = self.steps.len() as u32;
        self.steps.push(step);
        let after_local = self.rounds.last().is_some_and(|ends| ends.local > ends.communication);
        if !self.open || (communication && after_local) {
            self.rounds.push(Ends { communication: before, local: before });
            self.open = true;
        }
        if let Some(ends) = self.rounds.last_mut() {
            ends.local = before + 1;
            if communication {
                ends.communication = before + 1;
            }
        }
    }
}
