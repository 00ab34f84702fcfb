//! Neighbourhood collectives (MPI 5.0, section 8.6): blocks go to and come from the neighbours in a topology.
//!
//! A block has the number of its neighbour in the order of the topology, so that [`Blocks`] are indexed by that and not by
//! rank. Everything is posted at once, since the program has chosen who talks to whom.
//!
//! Two processes may be neighbours several times. What counts is that the blocks from a process are taken in the order in which
//! that process sends them. In a graph this is the order of its edges. In
//! a grid, what is sent in one direction comes from the other one: a process that is both neighbours along a
//! dimension sends to the negative side first, which is the positive side of the receiver. Such processes need not send as often as
//! they are neighbours: what is the same for all is sent once, and short blocks are one message.

use std::collections::HashMap;

use postrider_abi::MPI_ERR_TOPOLOGY;

use super::arguments::{Block, Blocks, local};
use super::calls::Calls;
use super::data::{Data, Many, check_aliases};
use super::schedule::{Buffer, Schedule, Span};
use super::script::Call;
use crate::communicators::Communicator;
use crate::error::{Error, Result};
use crate::topologies::Topology;

/// The neighbours of this process, in order. Negative numbers are `MPI_PROC_NULL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbors {
    /// Those that send to this process.
    pub sources: Vec<i32>,
    /// Those that this process sends to.
    pub destinations: Vec<i32>,
    /// Whether they are pairs in opposite directions, as in a grid.
    opposite: bool,
    /// This process.
    rank: u32,
}

/// The most bytes of several blocks for one process that are sent as one message, through memory of the library: about as much as is
/// copied in the time of a message.
const BUNDLE_BYTES_MAX: i64 = 4 << 10;

/// The blocks that go to one process, or come from it, in the order in which they are sent.
struct Bundle {
    peer: u32,
    blocks: Vec<u32>,
    bytes: i64,
    /// Where they are packed in the scratch memory, if they are one message.
    place: Option<i64>,
}

impl Bundle {
    /// What goes to each peer, or comes from it: `blocks` in the order in which they are sent, without those that have no bytes or no peer.
    fn all(blocks: impl Iterator<Item = u32>, peers: &[i32], bytes: impl Fn(u32) -> i64) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::with_capacity(peers.len());
        let mut of_peer = HashMap::with_capacity(peers.len());
        for block in blocks {
            let bytes = bytes(block);
            let Some(peer) = u32::try_from(peers[block as usize]).ok().filter(|_| bytes > 0) else {
                continue;
            };
            let index = *of_peer.entry(peer).or_insert(all.len());
            if index == all.len() {
                all.push(Self { peer, blocks: Vec::new(), bytes: 0, place: None });
            }
            all[index].blocks.push(block);
            all[index].bytes += bytes;
        }
        all
    }

    /// Gives a place behind the first `used` bytes to each that is one message, and returns how many bytes are used then. Its two ends
    /// decide alike, by the same bytes.
    fn pack_short(bundles: &mut [Self], mut used: i64) -> i64 {
        let is_packed = |bundle: &&mut Self| bundle.blocks.len() > 1 && bundle.bytes <= BUNDLE_BYTES_MAX;
        for bundle in bundles.iter_mut().filter(is_packed) {
            bundle.place = Some(used);
            used += bundle.bytes;
        }
        used
    }

    /// The messages that it is: one, or those of its blocks.
    fn messages(&self, scratch: Buffer, of_block: impl Fn(u32) -> Span) -> Vec<Span> {
        match self.place {
            Some(place) => vec![Span::packed(scratch, place, self.bytes)],
            None => self.blocks.iter().map(|&block| of_block(block)).collect(),
        }
    }

    /// If it is one message, its blocks and where they are in it.
    fn parts(&self, blocks: &Blocks, scratch: Buffer) -> Vec<(u32, Span)> {
        let Some(mut next) = self.place else { return Vec::new() };
        let part = |&block: &u32| {
            let part = Span::packed(scratch, next, blocks.bytes(block));
            next += part.count;
            (block, part)
        };
        self.blocks.iter().map(part).collect()
    }
}

impl Neighbors {
    fn of(communicator: &Communicator) -> Result<Self> {
        let rank = communicator.rank;
        let (sources, destinations, opposite) = match communicator.topology.as_deref() {
            Some(Topology::Cartesian(grid)) => (grid.neighbors(rank), grid.neighbors(rank), true),
            Some(Topology::Graph(graph)) => {
                (graph.neighbors(rank).to_vec(), graph.neighbors(rank).to_vec(), false)
            }
            Some(Topology::Distributed(own)) => {
                (own.sources.neighbors.clone(), own.destinations.neighbors.clone(), false)
            }
            None => {
                let detail = "the communicator has no topology, so that its processes have no neighbours";
                return Err(Error::new(MPI_ERR_TOPOLOGY, detail));
            }
        };
        Ok(Self { sources, destinations, opposite, rank })
    }

    /// The numbers of the blocks to receive, in the order in which they are sent.
    fn arrivals(&self) -> impl Iterator<Item = u32> {
        let turn = u32::from(self.opposite);
        (0..self.sources.len() as u32).map(move |index| index ^ turn)
    }

    fn incoming(&self, into: &Blocks) -> (Vec<Bundle>, Option<Bundle>) {
        self.without_own(Bundle::all(self.arrivals(), &self.sources, |block| into.bytes(block)))
    }

    fn outgoing(&self, bytes: impl Fn(u32) -> i64) -> (Vec<Bundle>, Option<Bundle>) {
        self.without_own(Bundle::all(0..self.destinations.len() as u32, &self.destinations, bytes))
    }

    /// What is between this process and others, and between it and itself.
    fn without_own(&self, mut bundles: Vec<Bundle>) -> (Vec<Bundle>, Option<Bundle>) {
        let own = bundles.iter().position(|bundle| bundle.peer == self.rank);
        let own = own.map(|index| bundles.remove(index));
        (bundles, own)
    }

    /// Sends one block to all neighbours, once to each process.
    fn allgather(&self, from: Block, into: &Blocks) -> Schedule {
        let (incoming, own) = self.incoming(into);
        let (outgoing, _) = self.outgoing(|_| from.bytes());
        let mut schedule = Schedule::with_capacity(self.sources.len() + outgoing.len());
        for bundle in &incoming {
            schedule.receive(local(bundle.peer), into.in_receive(bundle.blocks[0]));
        }
        for bundle in &outgoing {
            schedule.send(local(bundle.peer), from.in_send());
        }
        for block in own.into_iter().flat_map(|own| own.blocks) {
            schedule.copy_meanwhile(from.in_send(), into.in_receive(block));
        }
        for bundle in &incoming {
            for &again in &bundle.blocks[1..] {
                schedule.copy(into.in_receive(bundle.blocks[0]), into.in_receive(again));
            }
        }
        schedule
    }

    /// Sends each neighbour its block.
    fn alltoall(&self, from: &Blocks, into: &Blocks) -> Schedule {
        let (mut incoming, own_incoming) = self.incoming(into);
        let (mut outgoing, own_outgoing) = self.outgoing(|block| from.bytes(block));
        let packed = Bundle::pack_short(&mut outgoing, 0);
        let packed = Bundle::pack_short(&mut incoming, packed);
        let mut schedule = Schedule::with_capacity(2 * (self.sources.len() + self.destinations.len()));
        let scratch = schedule.scratch_bytes(packed);
        for (block, part) in outgoing.iter().flat_map(|bundle| bundle.parts(from, scratch)) {
            schedule.copy(from.in_send(block), part);
        }
        for bundle in &incoming {
            let messages = bundle.messages(scratch, |block| into.in_receive(block));
            messages.into_iter().for_each(|message| schedule.receive(local(bundle.peer), message));
        }
        for bundle in &outgoing {
            let messages = bundle.messages(scratch, |block| from.in_send(block));
            messages.into_iter().for_each(|message| schedule.send(local(bundle.peer), message));
        }
        if let (Some(outgoing), Some(incoming)) = (own_outgoing, own_incoming) {
            for (&sent, &received) in outgoing.blocks.iter().zip(&incoming.blocks) {
                schedule.copy_meanwhile(from.in_send(sent), into.in_receive(received));
            }
        }
        for (block, part) in incoming.iter().flat_map(|bundle| bundle.parts(into, scratch)) {
            schedule.copy(part, into.in_receive(block));
        }
        schedule
    }
}

impl Calls<'_> {
    /// The neighbours that blocks are for.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` when the communicator has no topology.
    pub fn neighbors(&self) -> Result<Neighbors> {
        Neighbors::of(self.communicator)
    }

    /// `MPI_Neighbor_allgather` and `MPI_Neighbor_allgatherv` (section 8.6.1).
    ///
    /// # Errors
    /// No topology, wrong counts or buffers.
    pub fn neighbor_allgather(&self, send: Data, receive: Many) -> Result<(Call, Schedule)> {
        let neighbors = self.neighbors()?;
        let block = send.block()?;
        receive.check(neighbors.sources.len() as u32)?;
        if !neighbors.sources.is_empty() {
            check_aliases([(send.begins(0), receive.begins(0))])?;
        }
        let schedule = neighbors.allgather(block, &receive.blocks());
        Ok((self.call(Some(send.side()), Some(receive.side())), schedule))
    }

    /// `MPI_Neighbor_alltoall`, `MPI_Neighbor_alltoallv` and `MPI_Neighbor_alltoallw` (section 8.6.2).
    ///
    /// # Errors
    /// No topology, wrong counts or buffers.
    pub fn neighbor_alltoall(&self, send: Many, receive: Many) -> Result<(Call, Schedule)> {
        let neighbors = self.neighbors()?;
        send.check(neighbors.destinations.len() as u32)?;
        receive.check(neighbors.sources.len() as u32)?;
        if !neighbors.sources.is_empty() && !neighbors.destinations.is_empty() {
            check_aliases([(send.begins(0), receive.begins(0))])?;
        }
        let schedule = neighbors.alltoall(&send.blocks(), &receive.blocks());
        Ok((self.call(Some(send.side()), Some(receive.side())), schedule))
    }
}
