//! How communicators with a topology are made (MPI 5.0, sections 8.5.1, 8.5.3, 8.5.4, 8.5.7 and 8.5.8).
//!
//! Grids and graphs are known to all processes, so that each computes the same order of ranks (`reorder`) and the new
//! communicator is a split of the old one: colour 0 for those that take part, and the new rank as the key.
//!
//! The edges of a distributed graph are given by any process, or by the two at their ends. An edge becomes two records, one
//! for each end. If ranks stay as they are, a record goes straight to the process that it is for. If they may change, every
//! process gets all records, since a good order needs the whole graph, and keeps those for its new rank. Records stay in the
//! order of the processes that gave them, and of these in the order of the arguments.

use std::sync::Arc;

use postrider_abi::{MPI_BYTE, MPI_ERR_ARG, MPI_ERR_COMM, MPI_ERR_INTERN};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::Topology;
use super::cartesian::Cartesian;
use super::graph::{Graph, Neighborhood};
use super::reorder::{self, Order};
use crate::Instance;
use crate::collectives::Many;
use crate::datatypes::Datatype;
use crate::error::{Error, Result};
use crate::objects::Key;

/// An edge of a distributed graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The rank where it begins.
    pub source: i32,
    /// The rank where it ends.
    pub destination: i32,
    /// Its weight.
    pub weight: i32,
}

/// What a process says of the edges of a distributed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Description {
    /// Its own edges, as its neighbours say them, too (`MPI_Dist_graph_create_adjacent`).
    Adjacent(Neighborhood),
    /// Any edges, which nobody else says, and whether they have weights (`MPI_Dist_graph_create`).
    Edges(Vec<Edge>, bool),
}

/// One end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    node: u32,
    /// Whether the edge leads to the node, and not away from it.
    leads_here: bool,
    neighbor: i32,
    weight: i32,
}

const RECORD_BYTES: usize = 16;

impl Record {
    fn encode(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let words = [self.node, u32::from(self.leads_here), self.neighbor as u32, self.weight as u32];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let word = |index: usize| {
            bytes[4 * index..][..4].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
        };
        Self { node: word(0), leads_here: word(1) != 0, neighbor: word(2) as i32, weight: word(3) as i32 }
    }
}

impl Description {
    fn is_weighted(&self) -> bool {
        match self {
            Self::Adjacent(own) => own.weighted,
            Self::Edges(_, weighted) => *weighted,
        }
    }

    /// Checks ranks and weights.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` and `MPI_ERR_ARG`.
    fn check(&self, size: u32) -> Result<()> {
        let check = |ranks: &[i32], weight: i32| {
            if let Some(&rank) = ranks.iter().find(|&&rank| !(0..i64::from(size)).contains(&rank.into())) {
                return Err(crate::point_to_point::no_such_rank(rank, size));
            }
            if weight < 0 {
                let detail = format!("the weight of an edge is {weight}; it must not be negative");
                return Err(Error::new(MPI_ERR_ARG, detail));
            }
            Ok(())
        };
        match self {
            Self::Adjacent(own) => [&own.sources, &own.destinations].into_iter().try_for_each(|edges| {
                let mut pairs = edges.neighbors.iter().zip(&edges.weights);
                pairs.try_for_each(|(&neighbor, &weight)| check(&[neighbor], weight))
            }),
            Self::Edges(edges, _) => {
                edges.iter().try_for_each(|edge| check(&[edge.source, edge.destination], edge.weight))
            }
        }
    }

    /// What process `rank` has to say.
    fn records(&self, rank: u32) -> Vec<Record> {
        match self {
            Self::Adjacent(own) => {
                let ends = [(true, &own.sources), (false, &own.destinations)];
                let records = ends.into_iter().flat_map(|(leads_here, edges)| {
                    edges.neighbors.iter().zip(&edges.weights).map(move |(&neighbor, &weight)| Record {
                        node: rank,
                        leads_here,
                        neighbor,
                        weight,
                    })
                });
                records.collect()
            }
            Self::Edges(edges, _) => {
                let ends = |&Edge { source, destination, weight }: &Edge| {
                    [
                        Record { node: source as u32, leads_here: false, neighbor: destination, weight },
                        Record { node: destination as u32, leads_here: true, neighbor: source, weight },
                    ]
                };
                edges.iter().flat_map(ends).collect()
            }
        }
    }
}

/// The part of node `node`.
fn neighborhood(records: &[Record], node: u32, weighted: bool) -> Neighborhood {
    let mut own = Neighborhood { weighted, ..Neighborhood::default() };
    for record in records.iter().filter(|record| record.node == node) {
        let edges = if record.leads_here { &mut own.sources } else { &mut own.destinations };
        edges.push(record.neighbor, record.weight);
    }
    own
}

/// An order for the graph that the records tell of; edges are said at both ends, so those that lead away are all.
fn order_of(records: &[Record], hosts: &[u32]) -> Order {
    let mut neighbors = vec![Vec::new(); hosts.len()];
    for record in records.iter().filter(|record| !record.leads_here) {
        neighbors[record.node as usize].push(record.neighbor);
    }
    reorder::graph(&neighbors, hosts)
}

/// An intra-communicator that topologies are attached to: the own rank, and the host of each rank.
struct Base {
    rank: u32,
    hosts: Vec<u32>,
}

impl Instance {
    fn base(&self, communicator: Key) -> Result<Base> {
        self.with(|state| {
            let found = state.communicators.get(communicator)?;
            if found.remote.is_some() {
                let detail =
                    "an inter-communicator cannot have a topology; merge it first (MPI_Intercomm_merge)";
                return Err(Error::new(MPI_ERR_COMM, detail));
            }
            Ok(Base { rank: found.rank, hosts: self.facts.hosts_of(&found.group) })
        })
    }

    /// Makes the communicator in which the processes have the ranks of `order`, with a topology; none for the others.
    fn attach(
        &self,
        communicator: Key,
        rank: u32,
        order: &[u32],
        topology: impl FnOnce(u32) -> Topology,
    ) -> Result<Option<Key>> {
        let place = place_in(order, rank);
        let made = self.split(communicator, place.map(|_| 0), place.unwrap_or(0).into())?;
        if let (Some(made), Some(place)) = (made, place) {
            let topology = Arc::new(topology(place));
            self.with(|state| {
                state.communicators.get_mut(made)?.topology = Some(topology);
                Ok(())
            })?;
        }
        Ok(made)
    }

    /// The grid of these arguments, and the order of ranks in it.
    fn plan_cartesian(
        &self,
        base: &Base,
        (sizes, periods): (&[i32], &[bool]),
        may_reorder: bool,
    ) -> Result<(Cartesian, Order)> {
        let grid = Cartesian::new(sizes, periods, base.hosts.len() as u32)?;
        let order = if may_reorder { reorder::grid(&grid, &base.hosts) } else { (0..grid.size()).collect() };
        Ok((grid, order))
    }

    /// Attaches a grid (`MPI_Cart_create`); none for the processes that it has no room for.
    ///
    /// # Errors
    /// When the grid is impossible, or communication fails.
    pub fn create_cartesian(
        &self,
        communicator: Key,
        sizes: &[i32],
        periods: &[bool],
        may_reorder: bool,
    ) -> Result<Option<Key>> {
        let base = self.base(communicator)?;
        let (grid, order) = self.plan_cartesian(&base, (sizes, periods), may_reorder)?;
        self.attach(communicator, base.rank, &order, |_| Topology::Cartesian(grid))
    }

    /// The rank that this process would have in a grid (`MPI_Cart_map`): none in a grid without processes, which programs ask
    /// for that divide few processes by a constant.
    ///
    /// # Errors
    /// When the grid is impossible.
    pub fn map_cartesian(&self, communicator: Key, sizes: &[i32], periods: &[bool]) -> Result<Option<u32>> {
        let base = self.base(communicator)?;
        if sizes.contains(&0) && sizes.iter().all(|&along| along >= 0) {
            return Ok(None);
        }
        let (_, order) = self.plan_cartesian(&base, (sizes, periods), true)?;
        Ok(place_in(&order, base.rank))
    }

    /// Takes a grid apart (`MPI_Cart_sub`): `remain` says for each dimension whether the parts have it.
    ///
    /// # Errors
    /// When the communicator has no grid, or communication fails.
    pub fn part_cartesian(&self, communicator: Key, remain: &[bool]) -> Result<Option<Key>> {
        let (part, (color, place)) = self.with(|state| {
            let found = state.communicators.get(communicator)?;
            let grid = found.cartesian()?;
            Ok((grid.part(remain), grid.place_in_parts(found.rank, remain)))
        })?;
        let made = self.split(communicator, Some(color as i32), place.into())?;
        if let Some(made) = made {
            let topology = Arc::new(Topology::Cartesian(part));
            self.with(|state| {
                state.communicators.get_mut(made)?.topology = Some(topology);
                Ok(())
            })?;
        }
        Ok(made)
    }

    fn plan_graph(&self, base: &Base, graph: &Graph, may_reorder: bool) -> Result<Order> {
        if graph.size() as usize > base.hosts.len() {
            let detail = format!(
                "the graph has {} nodes, more than the communicator has processes, which are {}",
                graph.size(),
                base.hosts.len()
            );
            return Err(Error::new(MPI_ERR_ARG, detail));
        }
        if !may_reorder {
            return Ok((0..graph.size()).collect());
        }
        let neighbors: Vec<Vec<i32>> = (0..graph.size()).map(|node| graph.neighbors(node).to_vec()).collect();
        Ok(reorder::graph(&neighbors, &base.hosts))
    }

    /// Attaches a graph (`MPI_Graph_create`); none for the processes beyond its nodes.
    ///
    /// # Errors
    /// When the graph is larger than the communicator, or communication fails.
    pub fn create_graph(&self, communicator: Key, graph: Graph, may_reorder: bool) -> Result<Option<Key>> {
        let base = self.base(communicator)?;
        let order = self.plan_graph(&base, &graph, may_reorder)?;
        self.attach(communicator, base.rank, &order, |_| Topology::Graph(graph))
    }

    /// The rank that this process would have in a graph (`MPI_Graph_map`).
    ///
    /// # Errors
    /// When the graph is larger than the communicator.
    pub fn map_graph(&self, communicator: Key, graph: &Graph) -> Result<Option<u32>> {
        let base = self.base(communicator)?;
        Ok(place_in(&self.plan_graph(&base, graph, true)?, base.rank))
    }

    /// Attaches a distributed graph (`MPI_Dist_graph_create`, `MPI_Dist_graph_create_adjacent`).
    ///
    /// # Errors
    /// When a rank or weight is wrong, or communication fails.
    pub fn create_distributed_graph(
        &self,
        communicator: Key,
        description: Description,
        may_reorder: bool,
    ) -> Result<Option<Key>> {
        let base = self.base(communicator)?;
        description.check(base.hosts.len() as u32)?;
        let as_they_are: Order = (0..base.hosts.len() as u32).collect();
        let weighted = description.is_weighted();
        if may_reorder && !reorder::is_one(&base.hosts) {
            let own = description.records(base.rank);
            let records = self.exchange(communicator, |_| own.clone())?;
            let order = order_of(&records, &base.hosts);
            let topology = |place| Topology::Distributed(neighborhood(&records, place, weighted));
            return self.attach(communicator, base.rank, &order, topology);
        }
        let own = match description {
            Description::Adjacent(own) => own,
            Description::Edges(..) => {
                let given = description.records(base.rank);
                let of = |rank| given.iter().filter(|record| record.node == rank).copied().collect();
                neighborhood(&self.exchange(communicator, of)?, base.rank, weighted)
            }
        };
        self.attach(communicator, base.rank, &as_they_are, |_| Topology::Distributed(own))
    }

    /// Every process gets what the others have for it, in the order of their ranks.
    fn exchange(&self, communicator: Key, records_for: impl Fn(u32) -> Vec<Record>) -> Result<Vec<Record>> {
        let size = self.base(communicator)?.hosts.len();
        let outgoing: Vec<Vec<u8>> = (0..size as u32)
            .map(|rank| records_for(rank).into_iter().flat_map(Record::encode).collect())
            .collect();
        let lengths: Vec<u8> = outgoing.iter().flat_map(|bytes| (bytes.len() as u64).to_le_bytes()).collect();
        let lengths = self.exchange_bytes(communicator, &lengths, &vec![8; size], &vec![8; size])?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | i64::from(byte));
        let incoming: Vec<i64> = lengths.chunks_exact(8).map(word).collect();
        let counts: Vec<i64> = outgoing.iter().map(|bytes| bytes.len() as i64).collect();
        let bytes = self.exchange_bytes(communicator, &outgoing.concat(), &counts, &incoming)?;
        Ok(bytes.chunks_exact(RECORD_BYTES).map(Record::decode).collect())
    }

    /// An exchange between all: `bytes` are cut into pieces of these lengths, one for each process.
    fn exchange_bytes(
        &self,
        communicator: Key,
        bytes: &[u8],
        outgoing: &[i64],
        incoming: &[i64],
    ) -> Result<Vec<u8>> {
        let mut sent = OwnedMemory::new(bytes.len());
        let mut received = OwnedMemory::new(incoming.iter().sum::<i64>() as usize);
        UserMemory::of(&mut sent).write(bytes);
        let datatype = Datatype::predefined(MPI_BYTE);
        let datatype = datatype.ok_or_else(|| Error::new(MPI_ERR_INTERN, "MPI_BYTE is missing"))?;
        let pieces = |memory, counts: &[i64]| {
            Many::varying(memory, counts.to_vec(), starts(counts), Arc::clone(datatype))
        };
        let send = pieces(UserMemory::of(&mut sent), outgoing);
        let receive = pieces(UserMemory::of(&mut received), incoming);
        self.collective(communicator, None, |calls| calls.alltoall(Some(send), receive))?;
        Ok(received.as_slice().to_vec())
    }
}

/// Where pieces of these lengths begin that follow one another.
fn starts(counts: &[i64]) -> Vec<i64> {
    let next = |end: &mut i64, count: &i64| {
        let start = *end;
        *end += count;
        Some(start)
    };
    counts.iter().scan(0, next).collect()
}

/// The new rank of an old one; none if it is left out.
fn place_in(order: &[u32], rank: u32) -> Option<u32> {
    order.iter().position(|&old| old == rank).map(|place| place as u32)
}

#[cfg(test)]
mod tests;
