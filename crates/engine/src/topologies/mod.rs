//! Virtual topologies (MPI 5.0, chapter 8): what is attached to a communicator, and how it is made.
//!
//! A topology is a value that never changes. The communicator that it is attached to and all duplicates of that share one;
//! no other communicator gets it. `cartesian` and `graph` are the arithmetic of grids and graphs, `dimensions` finds
//! balanced grids and `reorder` places neighbours on one host: values in, values out. `create` is the only file here that
//! communicates. It makes the new communicators, and takes the edges of a distributed graph to the processes at their ends.
//!
//! Every process knows all of a grid or of a graph, since all are told all of it. Of a distributed graph a process knows
//! its own neighbours and nothing else.

pub mod cartesian;
mod create;
pub mod dimensions;
pub mod graph;
pub mod reorder;

use postrider_abi::MPI_ERR_TOPOLOGY;

pub use cartesian::Cartesian;
pub use create::{Description, Edge};
pub use graph::{Edges, Graph, Neighborhood};

use crate::communicators::Communicator;
use crate::error::{Error, Result};

/// A topology, as one process sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A grid.
    Cartesian(Cartesian),
    /// A graph that every process knows.
    Graph(Graph),
    /// A graph of which each process knows its own edges.
    Distributed(Neighborhood),
}

impl Communicator {
    /// The grid of a communicator.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` when it has none.
    pub fn cartesian(&self) -> Result<&Cartesian> {
        match self.topology.as_deref() {
            Some(Topology::Cartesian(grid)) => Ok(grid),
            other => Err(another("a Cartesian one (MPI_Cart_create)", other)),
        }
    }

    /// The graph of a communicator.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` when it has none.
    pub fn graph(&self) -> Result<&Graph> {
        match self.topology.as_deref() {
            Some(Topology::Graph(graph)) => Ok(graph),
            other => Err(another("a graph (MPI_Graph_create)", other)),
        }
    }

    /// This process's part of the distributed graph of a communicator.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` when it has none.
    pub fn distributed_graph(&self) -> Result<&Neighborhood> {
        match self.topology.as_deref() {
            Some(Topology::Distributed(neighborhood)) => Ok(neighborhood),
            other => Err(another("a distributed graph (MPI_Dist_graph_create)", other)),
        }
    }
}

/// The error for a communicator whose topology is not the one that is asked about.
#[cold]
fn another(wanted: &str, found: Option<&Topology>) -> Error {
    let found = match found {
        None => "the communicator has no topology",
        Some(Topology::Cartesian(_)) => "the topology of the communicator is Cartesian",
        Some(Topology::Graph(_)) => "the topology of the communicator is a graph",
        Some(Topology::Distributed(_)) => "the topology of the communicator is a distributed graph",
    };
    Error::new(MPI_ERR_TOPOLOGY, format!("{found}; this call is about {wanted}"))
}

#[cfg(test)]
mod tests;
