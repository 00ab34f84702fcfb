//! Which process gets which rank of a topology, when the program allows to reorder them (MPI 5.0, section 8.5).
//!
//! Messages inside a host are cheap and messages between hosts are not, so what counts is the number of edges of the
//! topology that lead from one host to another. A few candidates are counted and the best is taken: the ranks as they are,
//! all ranks of a host in a row, and for grids a block of the grid for each host, where its sizes divide, or for other graphs
//! hosts that grow along edges. Of equal candidates the first is taken, so that ranks are only changed for a gain. All
//! processes compute this from the same values, and so come to the same order without asking each other.
//!
//! An order has the old rank for each new one.

use super::cartesian::Cartesian;

/// Old ranks in the order of the new ones.
pub type Order = Vec<u32>;

/// An order for a grid; `hosts` has the host of each old rank that may take part.
#[must_use]
pub fn grid(grid: &Cartesian, hosts: &[u32]) -> Order {
    let nodes = grid.size();
    let hosts = &hosts[..nodes as usize];
    if is_one(hosts) {
        return (0..nodes).collect();
    }
    let members = Members::new(hosts);
    let blocks = members.per_host().map_or_else(Vec::new, |ranks| shapes(grid, ranks));
    let candidates = blocks.iter().map(|shape| members.in_blocks(grid, shape));
    let neighbors: Vec<Vec<i32>> = (0..nodes).map(|node| grid.neighbors(node)).collect();
    best(&neighbors, hosts, std::iter::once(members.in_rows()).chain(candidates))
}

/// An order for a graph with these neighbours of each node; `hosts` has the host of each old rank that may take part.
#[must_use]
pub fn graph(neighbors: &[Vec<i32>], hosts: &[u32]) -> Order {
    let hosts = &hosts[..neighbors.len()];
    if is_one(hosts) {
        return (0..neighbors.len() as u32).collect();
    }
    let members = Members::new(hosts);
    best(neighbors, hosts, std::iter::once(members.in_rows()).chain([members.along_edges(neighbors)]))
}

/// Whether all ranks are on one host.
#[must_use]
pub fn is_one(hosts: &[u32]) -> bool {
    hosts.windows(2).all(|pair| pair[0] == pair[1])
}

/// Of the ranks as they are and the candidates, the first for which the fewest edges lead to another host.
fn best(neighbors: &[Vec<i32>], hosts: &[u32], candidates: impl Iterator<Item = Order>) -> Order {
    let cost = |order: &Order| crossings(neighbors, hosts, order);
    let as_they_are: Order = (0..neighbors.len() as u32).collect();
    let candidates = std::iter::once(as_they_are).chain(candidates);
    candidates.min_by_key(cost).unwrap_or_default()
}

/// How many edges lead to another host; `MPI_PROC_NULL` is nowhere.
#[must_use]
pub fn crossings(neighbors: &[Vec<i32>], hosts: &[u32], order: &[u32]) -> usize {
    let host_of = |node: usize| hosts[order[node] as usize];
    let leaves = |node: usize, neighbor: &i32| {
        usize::try_from(*neighbor).is_ok_and(|neighbor| host_of(neighbor) != host_of(node))
    };
    let of_node = |(node, neighbors): (usize, &Vec<i32>)| {
        neighbors.iter().filter(|neighbor| leaves(node, neighbor)).count()
    };
    neighbors.iter().enumerate().map(of_node).sum()
}

/// The ranks of each host, hosts in the order in which ranks first name them.
struct Members(Vec<Vec<u32>>);

impl Members {
    fn new(hosts: &[u32]) -> Self {
        let mut names: Vec<u32> = Vec::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        for (rank, host) in (0..).zip(hosts) {
            match names.iter().position(|name| name == host) {
                Some(index) => members[index].push(rank),
                None => {
                    names.push(*host);
                    members.push(vec![rank]);
                }
            }
        }
        Self(members)
    }

    /// The number of ranks of a host, if all have as many.
    fn per_host(&self) -> Option<u32> {
        let first = self.0.first()?.len();
        self.0.iter().all(|ranks| ranks.len() == first).then_some(first as u32)
    }

    /// All ranks of the first host, then all of the next.
    fn in_rows(&self) -> Order {
        self.0.concat()
    }

    /// A block of the grid for each host, blocks and the processes in them in row-major order.
    fn in_blocks(&self, grid: &Cartesian, shape: &[u32]) -> Order {
        let mut taken = vec![0; self.0.len()];
        let place = |node: u32| {
            let coordinates = grid.coordinates(node);
            let mut block = 0;
            for ((coordinate, dimension), along) in coordinates.iter().zip(grid.dimensions()).zip(shape) {
                block = block * (dimension.size / along) + coordinate / along;
            }
            let block = block as usize;
            taken[block] += 1;
            self.0[block][taken[block] - 1]
        };
        (0..grid.size()).map(place).collect()
    }

    /// Hosts one after the other, each growing from the lowest node that is left, always by the node with the most edges
    /// to and from it.
    fn along_edges(&self, neighbors: &[Vec<i32>]) -> Order {
        let both = in_both_directions(neighbors);
        let mut order: Vec<Option<u32>> = vec![None; neighbors.len()];
        for ranks in &self.0 {
            let mut edges = vec![0_usize; neighbors.len()];
            for &rank in ranks {
                let left = (0..order.len()).filter(|&node| order[node].is_none());
                let Some(node) = left.max_by_key(|&node| (edges[node], std::cmp::Reverse(node))) else {
                    break;
                };
                order[node] = Some(rank);
                for &neighbor in &both[node] {
                    edges[neighbor] += 1;
                }
            }
        }
        order.into_iter().flatten().collect()
    }
}

fn in_both_directions(neighbors: &[Vec<i32>]) -> Vec<Vec<usize>> {
    let mut both = vec![Vec::new(); neighbors.len()];
    for (node, neighbors) in neighbors.iter().enumerate() {
        for neighbor in neighbors.iter().filter_map(|&neighbor| usize::try_from(neighbor).ok()) {
            both[node].push(neighbor);
            both[neighbor].push(node);
        }
    }
    both
}

/// The shapes of blocks of `ranks` processes that fill the grid.
fn shapes(grid: &Cartesian, ranks: u32) -> Vec<Vec<u32>> {
    let mut shapes = vec![(Vec::new(), ranks)];
    for dimension in grid.dimensions() {
        let longer = |(shape, rest): &(Vec<u32>, u32)| {
            let (shape, rest, size) = (shape.clone(), *rest, dimension.size);
            let along = (1..=size.min(rest))
                .filter(move |&along| size.is_multiple_of(along) && rest.is_multiple_of(along));
            along.map(move |along| ([shape.as_slice(), &[along]].concat(), rest / along)).collect::<Vec<_>>()
        };
        shapes = shapes.iter().flat_map(longer).collect();
    }
    shapes.into_iter().filter(|(_, rest)| *rest == 1).map(|(shape, _)| shape).collect()
}
