//! Neighbourhood collectives (MPI 5.0, section 8.6): blocks go to and come from the neighbours in a topology.
//!
//! A block has the number of its neighbour in the order of the topology, so that [`Blocks`] are indexed by that and not by
//! rank. Everything is posted at once, since the program has chosen who talks to whom.
//!
//! Two processes may be neighbours several times. Their messages do not overtake each other, so what counts is that the
//! receives from a process are posted in the order in which that process sends. In a graph this is the order of its edges. In
//! a grid, what is sent in one direction comes from the other one: a process that is both neighbours along a
//! dimension sends to the negative side first, which is the positive side of the receiver.

use postrider_abi::MPI_ERR_TOPOLOGY;

use super::arguments::{Blocks, local};
use super::calls::Calls;
use super::data::{Data, Many, check_aliases};
use super::schedule::{Schedule, Span};
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
        Ok(Self { sources, destinations, opposite })
    }

    /// The numbers of the blocks to receive, in the order in which they are sent.
    fn arrivals(&self) -> impl Iterator<Item = u32> {
        let turn = u32::from(self.opposite);
        (0..self.sources.len() as u32).map(move |index| index ^ turn)
    }

    /// Sends the spans that `from` gives with their bytes, and receives the blocks of `into`.
    fn exchange(&self, from: impl Fn(u32) -> (i64, Span), into: &Blocks) -> Schedule {
        let mut schedule = Schedule::with_capacity(self.sources.len() + self.destinations.len());
        for index in self.arrivals() {
            if let Ok(source) = u32::try_from(self.sources[index as usize])
                && into.bytes(index) > 0
            {
                schedule.receive(local(source), into.in_receive(index));
            }
        }
        for (index, &destination) in (0..).zip(&self.destinations) {
            let (bytes, span) = from(index);
            if let Ok(destination) = u32::try_from(destination)
                && bytes > 0
            {
                schedule.send(local(destination), span);
            }
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
        let schedule = neighbors.exchange(|_| (block.bytes(), block.in_send()), &receive.blocks());
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
        let from = send.blocks();
        let schedule =
            neighbors.exchange(|index| (from.bytes(index), from.in_send(index)), &receive.blocks());
        Ok((self.call(Some(send.side()), Some(receive.side())), schedule))
    }
}
