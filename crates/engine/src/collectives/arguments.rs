//! The arguments of collective calls, as the schedules see them: no addresses, only numbers.

use super::nodes::Nodes;
use super::schedule::{Buffer, Peer, Span, TypeOf};
use super::spreading::Spreading;

/// A process of an intra-communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// This process.
    pub rank: u32,
    /// Number of processes; at least one.
    pub size: u32,
    /// How the processes are spread over hosts; none if they are on one, or it does not matter.
    pub nodes: Option<&'a Nodes>,
    /// How one of them tells the others what it has; on several hosts, nodes know better.
    pub spreading: Spreading,
}

impl Place<'_> {
    /// The place of a process on one host with all others.
    pub fn on_one_host(rank: u32, size: u32) -> Self {
        Self { rank, size, nodes: None, spreading: Spreading::BINOMIAL }
    }

    /// The peer `distance` ranks above this process, cyclically; `distance` is at most the size.
    pub fn above(self, distance: u32) -> u32 {
        ((u64::from(self.rank) + u64::from(distance)) % u64::from(self.size)) as u32
    }

    /// The peer `distance` ranks below this process, cyclically; `distance` is at most the size.
    pub fn below(self, distance: u32) -> u32 {
        self.above(self.size - distance)
    }
}

/// A process of an inter-communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterPlace {
    /// This process in its own group.
    pub local: Place<'static>,
    /// Number of processes of the other group; at least one.
    pub remote_size: u32,
}

/// The root argument of a rooted collective on an inter-communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// `MPI_ROOT`: this process is the root.
    This,
    /// `MPI_PROC_NULL`: another process of this group is.
    Neighbour,
    /// The rank of the root in the remote group.
    Remote(u32),
}

/// What a schedule has to know about a datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of data in an element, `MPI_Type_size`.
    pub size: i64,
    /// Bytes from an element to the next, `MPI_Type_get_extent`.
    pub extent: i64,
    /// Whether elements in a row, read byte by byte from the buffer's address, are their packed form: no gap,
    /// no displaced lower bound, no reordering.
    pub contiguous: bool,
}

impl Layout {
    /// The data bytes of `count` elements.
    pub fn bytes(&self, count: i64) -> i64 {
        self.size * count
    }
}

/// One block of elements: the data of a call that every process counts alike, or its own part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of elements.
    pub count: i64,
    /// Their datatype.
    pub layout: Layout,
}

impl Block {
    /// The data bytes of the block.
    pub fn bytes(&self) -> i64 {
        self.layout.bytes(self.count)
    }

    /// The block at the start of the send buffer.
    pub fn in_send(&self) -> Span {
        Span { buffer: Buffer::Send, displacement: 0, count: self.count, datatype: TypeOf::Send }
    }

    /// The blocks of `count` ranks from `first` on, in the send buffer.
    pub fn run_in_send(&self, first: u32, count: u32) -> Span {
        self.run(self.in_send(), first, count)
    }

    /// The blocks of `count` ranks from `first` on, in the receive buffer.
    pub fn run_in_receive(&self, first: u32, count: u32) -> Span {
        self.run(self.in_receive(), first, count)
    }

    fn run(&self, block: Span, first: u32, count: u32) -> Span {
        let displacement = i64::from(first) * self.count * self.layout.extent;
        Span { displacement, count: i64::from(count) * self.count, ..block }
    }

    /// The block at the start of the receive buffer.
    pub fn in_receive(&self) -> Span {
        Span { buffer: Buffer::Receive, displacement: 0, count: self.count, datatype: TypeOf::Receive }
    }
}

/// The blocks of a user buffer, one for each rank.
#[derive(Clone, Copy, Debug)]
pub enum Blocks<'a> {
    /// Equal blocks in rank order.
    Equal(Block),
    /// The v forms: counts, and displacements in extents.
    Varying {
        /// Elements for each rank.
        counts: &'a [i64],
        /// Where they start, in extents of the datatype.
        displacements: &'a [i64],
        /// Their datatype.
        layout: Layout,
    },
    /// The w forms: a datatype for each rank, and displacements in bytes.
    General {
        /// Elements for each rank.
        counts: &'a [i64],
        /// Where they start, in bytes.
        displacements: &'a [i64],
        /// Their datatypes.
        layouts: &'a [Layout],
    },
}

impl Blocks<'_> {
    /// The data bytes of `rank`'s block.
    pub fn bytes(&self, rank: u32) -> i64 {
        match self {
            Blocks::Equal(block) => block.bytes(),
            Blocks::Varying { counts, layout, .. } => layout.bytes(counts[rank as usize]),
            Blocks::General { counts, layouts, .. } => layouts[rank as usize].bytes(counts[rank as usize]),
        }
    }

    /// The data bytes of the blocks of `size` ranks.
    pub fn total_bytes(&self, size: u32) -> i64 {
        match self {
            Blocks::Equal(block) => block.bytes() * i64::from(size),
            Blocks::Varying { counts, layout, .. } => layout.bytes(counts[..size as usize].iter().sum()),
            Blocks::General { .. } => (0..size).map(|rank| self.bytes(rank)).sum(),
        }
    }

    /// `rank`'s block in the send buffer.
    pub fn in_send(&self, rank: u32) -> Span {
        let (displacement, count) = self.position(rank);
        let datatype = match self {
            Blocks::General { .. } => TypeOf::SendW(rank),
            _ => TypeOf::Send,
        };
        Span { buffer: Buffer::Send, displacement, count, datatype }
    }

    /// `rank`'s block in the receive buffer.
    pub fn in_receive(&self, rank: u32) -> Span {
        let (displacement, count) = self.position(rank);
        let datatype = match self {
            Blocks::General { .. } => TypeOf::ReceiveW(rank),
            _ => TypeOf::Receive,
        };
        Span { buffer: Buffer::Receive, displacement, count, datatype }
    }

    /// Where the block of `rank` starts, in bytes, and its number of elements.
    pub(super) fn position(&self, rank: u32) -> (i64, i64) {
        let index = rank as usize;
        match self {
            Blocks::Equal(block) => (i64::from(rank) * block.count * block.layout.extent, block.count),
            Blocks::Varying { counts, displacements, layout } => {
                (displacements[index] * layout.extent, counts[index])
            }
            Blocks::General { counts, displacements, .. } => (displacements[index], counts[index]),
        }
    }

    /// Whether the blocks of all ranks, read byte by byte from the buffer's address, are their packed form in
    /// rank order.
    pub fn is_contiguous(&self) -> bool {
        match self {
            Blocks::Equal(block) => block.layout.contiguous,
            Blocks::Varying { counts, displacements, layout } => {
                let mut next = 0;
                layout.contiguous
                    && counts.iter().zip(*displacements).all(|(count, displacement)| {
                        let follows = *displacement == next || *count == 0;
                        next += count;
                        follows
                    })
            }
            Blocks::General { .. } => false,
        }
    }
}

/// The part of the call's data that a process contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contribution {
    /// The send buffer.
    Send(Block),
    /// `MPI_IN_PLACE`: it already stands where it belongs in the receive buffer.
    InPlace,
}

/// A rank of the local group, as a peer.
pub fn local(rank: u32) -> Peer {
    Peer::Local(rank)
}

/// A rank of the remote group, as a peer.
pub fn remote(rank: u32) -> Peer {
    Peer::Remote(rank)
}
