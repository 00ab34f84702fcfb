//! Graph topologies (MPI 5.0, sections 8.5.3 to 8.5.5): those that every process knows, and a process's part of those that
//! are distributed.
//!
//! In both, a neighbour may be named several times, a process may be its own neighbour, and an edge need not have one that
//! goes back. The order of neighbours is kept: neighbourhood collectives number their blocks by it.

use postrider_abi::MPI_ERR_ARG;

use crate::error::{Error, Result};

/// A graph: for each node its neighbours, node by node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the neighbours of each node end in `edges`.
    ends: Vec<i32>,
    edges: Vec<i32>,
}

impl Graph {
    /// The graph of `MPI_Graph_create`'s arguments `index` and `edges`, as long as the last element of `index` says.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` when `index` decreases, or an edge does not lead to a node.
    pub fn new(index: Vec<i32>, edges: impl FnOnce(usize) -> Result<Vec<i32>>) -> Result<Self> {
        let mut before = 0;
        for (node, &end) in index.iter().enumerate() {
            if end < before {
                let detail =
                    format!("index[{node}] is {end}; it must not be less than {before}, where it begins");
                return Err(Error::new(MPI_ERR_ARG, detail));
            }
            before = end;
        }
        let edges = edges(before as usize)?;
        let nodes = 0..index.len() as i32;
        if let Some(place) = edges.iter().position(|edge| !nodes.contains(edge)) {
            let detail =
                format!("edges[{place}] is {}; the graph has {} nodes, from 0 on", edges[place], index.len());
            return Err(Error::new(MPI_ERR_ARG, detail));
        }
        Ok(Self { ends: index, edges })
    }

    /// Number of nodes.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Where the neighbours of each node end in [`Graph::edges`].
    #[must_use]
    pub fn index(&self) -> &[i32] {
        &self.ends
    }

    /// The neighbours of all nodes.
    #[must_use]
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbours of a node, which must exist.
    #[must_use]
    pub fn neighbors(&self, node: u32) -> &[i32] {
        let node = node as usize;
        let begin = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.edges[begin as usize..self.ends[node] as usize]
    }

    /// As [`Graph::neighbors`], for a rank that a program gives.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` when there is no such rank.
    pub fn neighbors_of(&self, rank: i32) -> Result<&[i32]> {
        match u32::try_from(rank) {
            Ok(node) if node < self.size() => Ok(self.neighbors(node)),
            _ => Err(crate::point_to_point::no_such_rank(rank, self.size())),
        }
    }
}

/// The edges of one process in one direction: the processes at their other ends, and the weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// The neighbours, in order.
    pub neighbors: Vec<i32>,
    /// A weight for each; none of them counts in a graph that is not weighted.
    pub weights: Vec<i32>,
}

impl Edges {
    /// One more edge, the last.
    pub fn push(&mut self, neighbor: i32, weight: i32) {
        self.neighbors.push(neighbor);
        self.weights.push(weight);
    }

    /// Number of edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.neighbors.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.neighbors.is_empty()
    }
}

/// A process's part of a distributed graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighborhood {
    /// Edges that lead here.
    pub sources: Edges,
    /// Edges that lead away.
    pub destinations: Edges,
    /// Whether edges have weights.
    pub weighted: bool,
}
