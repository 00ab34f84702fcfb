//! Virtual topologies (MPI 5.0, chapter 8): making them, and asking about them.
//!
//! The names of the standard's arguments are kept, its nodes and ranks of a topology being the same. Arrays are read as far as
//! the topology needs them, and output arrays are never written beyond the length that the program gives.

mod neighborhood;

use core::ffi::c_int;

use postrider_abi::*;
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_engine::topologies::{
    Cartesian, Description, Edge, Edges, Graph, Neighborhood, Topology, dimensions,
};

use crate::communicators::read;
use crate::error_handlers::inherit;
use crate::parse::{self, In, Out};
use crate::{info, instance};

/// Makes a communicator of another one, whose error handler it gets.
fn make(comm: MPI_Comm, new: Out<MPI_Comm>, make: impl FnOnce(Key) -> Result<Option<Key>>) -> Result<()> {
    let key = parse::communicator(comm)?;
    let made = inherit(key, || make(key))?;
    new.set(made.map_or(MPI_COMM_NULL, parse::communicator_handle))
}

/// A rank, or `MPI_UNDEFINED`.
fn rank_or_undefined(rank: Option<u32>) -> c_int {
    rank.map_or(MPI_UNDEFINED, |rank| rank as c_int)
}

/// An array of logical values.
fn flags(array: In<c_int>, count: usize) -> Result<Vec<bool>> {
    Ok(array.all(count)?.into_iter().map(|flag| flag != 0).collect())
}

/// Sizes and periods of a grid.
fn grid(ndims: c_int, dims: In<c_int>, periods: In<c_int>) -> Result<(Vec<c_int>, Vec<bool>)> {
    let count = parse::length(ndims.into(), "the number of dimensions")?;
    Ok((dims.all(count)?, flags(periods, count)?))
}

fn graph(nnodes: c_int, index: In<c_int>, edges: In<c_int>) -> Result<Graph> {
    let nodes = parse::length(nnodes.into(), "the number of nodes")?;
    Graph::new(index.all(nodes)?, |count| edges.all(count))
}

/// Fills an array of `room` elements, which have to be enough.
fn fill<T: Into<i64> + Copy>(array: Out<c_int>, room: c_int, values: &[T], what: &str) -> Result<()> {
    let room = parse::length(room.into(), what)?;
    if room < values.len() {
        let detail = format!("{what} is {room}; there are {} values", values.len());
        return Err(Error::new(MPI_ERR_ARG, detail));
    }
    fill_part(array, room, values)
}

/// Fills an array of `room` elements as far as it goes.
fn fill_part<T: Into<i64> + Copy>(array: Out<c_int>, room: usize, values: &[T]) -> Result<()> {
    let values = values.iter().take(room).enumerate();
    values.into_iter().try_for_each(|(index, &value)| array.set_at(index, value.into() as c_int))
}

fn is_unweighted(weights: In<c_int>) -> bool {
    weights.0.addr() == MPI_UNWEIGHTED
}

/// As many weights as there are edges. Edges of a graph without weights weigh 1.
fn weights(array: In<c_int>, count: usize) -> Result<Vec<c_int>> {
    match array.0.addr() {
        MPI_UNWEIGHTED => Ok(vec![1; count]),
        MPI_WEIGHTS_EMPTY if count > 0 => {
            Err(Error::new(MPI_ERR_ARG, format!("MPI_WEIGHTS_EMPTY is given for {count} edges")))
        }
        MPI_WEIGHTS_EMPTY => Ok(Vec::new()),
        _ => array.all(count),
    }
}

/// The edges of this process in one direction.
fn edges(degree: c_int, neighbors: In<c_int>, weights: In<c_int>, what: &str) -> Result<Edges> {
    let count = parse::length(degree.into(), what)?;
    Ok(Edges { neighbors: neighbors.all(count)?, weights: self::weights(weights, count)? })
}

/// Gives as many edges as there is room for, and their weights if there are any.
fn give_edges(
    edges: &Edges,
    weighted: bool,
    room: c_int,
    (neighbors, weights): (Out<c_int>, Out<c_int>),
    what: &str,
) -> Result<()> {
    let room = parse::length(room.into(), what)?;
    fill_part(neighbors, room, &edges.neighbors)?;
    // A program that knows of no weights may pass MPI_UNWEIGHTED here, too.
    let wanted = weights.0.addr() != MPI_UNWEIGHTED && weights.0.addr() != MPI_WEIGHTS_EMPTY;
    if weighted && wanted { fill_part(weights, room, &edges.weights) } else { Ok(()) }
}

/// The edges of `MPI_Dist_graph_create`: `degrees[i]` of them begin at `sources[i]`.
fn any_edges(
    n: c_int,
    (sources, degrees): (In<c_int>, In<c_int>),
    (destinations, weights): (In<c_int>, In<c_int>),
) -> Result<Vec<Edge>> {
    let count = parse::length(n.into(), "the number of source nodes")?;
    let (sources, degrees) = (sources.all(count)?, degrees.all(count)?);
    let degrees: Vec<usize> =
        degrees.into_iter().map(|degree| parse::length(degree.into(), "a degree")).collect::<Result<_>>()?;
    let total = degrees.iter().sum();
    let (destinations, weights) = (destinations.all(total)?, self::weights(weights, total)?);
    let sources =
        sources.iter().zip(degrees).flat_map(|(&source, degree)| std::iter::repeat_n(source, degree));
    let edges = sources.zip(destinations).zip(weights);
    Ok(edges.map(|((source, destination), weight)| Edge { source, destination, weight }).collect())
}

mpi! {
    /// Section 8.5.1.
    MPI_Cart_create (
        comm_old: MPI_Comm, ndims: c_int, dims: In<c_int>, periods: In<c_int>, reorder: c_int, comm_cart: Out<MPI_Comm>
    ) on comm_old {
        make(comm_old, comm_cart, |key| {
            let (sizes, periods) = grid(ndims, dims, periods)?;
            instance().create_cartesian(key, &sizes, &periods, reorder != 0)
        })
    }

    /// Section 8.5.2.
    MPI_Dims_create (nnodes: c_int, ndims: c_int, dims: Out<c_int>) {
        let count = parse::length(ndims.into(), "the number of dimensions")?;
        let mut found = dims.get_all(count)?;
        dimensions::fill(nnodes, &mut found)?;
        fill_part(dims, count, &found)
    }

    /// Section 8.5.3.
    MPI_Graph_create (
        comm_old: MPI_Comm, nnodes: c_int, index: In<c_int>, edges: In<c_int>, reorder: c_int,
        comm_graph: Out<MPI_Comm>
    ) on comm_old {
        make(comm_old, comm_graph, |key| {
            instance().create_graph(key, graph(nnodes, index, edges)?, reorder != 0)
        })
    }

    /// Section 8.5.4. The hints are looked at and none is known.
    MPI_Dist_graph_create_adjacent (
        comm_old: MPI_Comm, indegree: c_int, sources: In<c_int>, sourceweights: In<c_int>,
        outdegree: c_int, destinations: In<c_int>, destweights: In<c_int>, info: MPI_Info, reorder: c_int,
        comm_dist_graph: Out<MPI_Comm>
    ) on comm_old {
        make(comm_old, comm_dist_graph, |key| {
            info::hints(info)?;
            let weighted = !is_unweighted(sourceweights);
            if weighted == is_unweighted(destweights) {
                let detail = "MPI_UNWEIGHTED is given for the edges in one direction and not in the other";
                return Err(Error::new(MPI_ERR_TOPOLOGY, detail));
            }
            let sources = edges(indegree, sources, sourceweights, "the number of sources")?;
            let destinations = edges(outdegree, destinations, destweights, "the number of destinations")?;
            let own = Neighborhood { sources, destinations, weighted };
            instance().create_distributed_graph(key, Description::Adjacent(own), reorder != 0)
        })
    }

    /// Section 8.5.4. The hints are looked at and none is known.
    MPI_Dist_graph_create (
        comm_old: MPI_Comm, n: c_int, sources: In<c_int>, degrees: In<c_int>, destinations: In<c_int>,
        weights: In<c_int>, info: MPI_Info, reorder: c_int, comm_dist_graph: Out<MPI_Comm>
    ) on comm_old {
        make(comm_old, comm_dist_graph, |key| {
            info::hints(info)?;
            let edges = any_edges(n, (sources, degrees), (destinations, weights))?;
            let description = Description::Edges(edges, !is_unweighted(weights));
            instance().create_distributed_graph(key, description, reorder != 0)
        })
    }

    /// Section 8.5.5.
    MPI_Topo_test (comm: MPI_Comm, status: Out<c_int>) on comm {
        let found = read(comm, |found| {
            Ok(match found.topology.as_deref() {
                None => MPI_UNDEFINED,
                Some(Topology::Cartesian(_)) => MPI_CART,
                Some(Topology::Graph(_)) => MPI_GRAPH,
                Some(Topology::Distributed(_)) => MPI_DIST_GRAPH,
            })
        })?;
        status.set(found)
    }

    /// Section 8.5.5.
    MPI_Graphdims_get (comm: MPI_Comm, nnodes: Out<c_int>, nedges: Out<c_int>) on comm {
        let (nodes, edges) = read(comm, |found| {
            let graph = found.graph()?;
            Ok((graph.index().len(), graph.edges().len()))
        })?;
        nnodes.set(nodes as c_int)?;
        nedges.set(edges as c_int)
    }

    /// Section 8.5.5.
    MPI_Graph_get (
        comm: MPI_Comm, maxindex: c_int, maxedges: c_int, index: Out<c_int>, edges: Out<c_int>
    ) on comm {
        let graph = read(comm, |found| found.graph().cloned())?;
        fill(index, maxindex, graph.index(), "the length of the array index")?;
        fill(edges, maxedges, graph.edges(), "the length of the array edges")
    }

    /// Section 8.5.5.
    MPI_Cartdim_get (comm: MPI_Comm, ndims: Out<c_int>) on comm {
        ndims.set(read(comm, |found| Ok(found.cartesian()?.dimensions().len()))? as c_int)
    }

    /// Section 8.5.5.
    MPI_Cart_get (
        comm: MPI_Comm, maxdims: c_int, dims: Out<c_int>, periods: Out<c_int>, coords: Out<c_int>
    ) on comm {
        let (grid, rank) = read(comm, |found| Ok((found.cartesian()?.clone(), found.rank)))?;
        let along = grid.dimensions();
        let what = "the length of the arrays";
        fill(dims, maxdims, &along.iter().map(|dimension| dimension.size).collect::<Vec<_>>(), what)?;
        fill(periods, maxdims, &along.iter().map(|dimension| dimension.periodic).collect::<Vec<_>>(), what)?;
        fill(coords, maxdims, &grid.coordinates(rank), what)
    }

    /// Section 8.5.5: nothing is read of the coordinates in a grid without dimensions.
    MPI_Cart_rank (comm: MPI_Comm, coords: In<c_int>, rank: Out<c_int>) on comm {
        let found = read(comm, |found| {
            let grid = found.cartesian()?;
            grid.rank(&coords.all(grid.dimensions().len())?)
        })?;
        rank.set(found as c_int)
    }

    /// Section 8.5.5.
    MPI_Cart_coords (comm: MPI_Comm, rank: c_int, maxdims: c_int, coords: Out<c_int>) on comm {
        let found = read(comm, |found| found.cartesian()?.coordinates_of(rank))?;
        fill(coords, maxdims, &found, "the length of the array")
    }

    /// Section 8.5.5.
    MPI_Graph_neighbors_count (comm: MPI_Comm, rank: c_int, nneighbors: Out<c_int>) on comm {
        nneighbors.set(read(comm, |found| Ok(found.graph()?.neighbors_of(rank)?.len()))? as c_int)
    }

    /// Section 8.5.5: as many neighbours as there is room for.
    MPI_Graph_neighbors (comm: MPI_Comm, rank: c_int, maxneighbors: c_int, neighbors: Out<c_int>) on comm {
        let found = read(comm, |found| Ok(found.graph()?.neighbors_of(rank)?.to_vec()))?;
        let room = parse::length(maxneighbors.into(), "the length of the array")?;
        fill_part(neighbors, room, &found)
    }

    /// Section 8.5.5.
    MPI_Dist_graph_neighbors_count (
        comm: MPI_Comm, indegree: Out<c_int>, outdegree: Out<c_int>, weighted: Out<c_int>
    ) on comm {
        let found = read(comm, |found| {
            let own = found.distributed_graph()?;
            Ok((own.sources.len(), own.destinations.len(), own.weighted))
        })?;
        indegree.set(found.0 as c_int)?;
        outdegree.set(found.1 as c_int)?;
        weighted.set(c_int::from(found.2))
    }

    /// Section 8.5.5: as many neighbours as there is room for.
    MPI_Dist_graph_neighbors (
        comm: MPI_Comm, maxindegree: c_int, sources: Out<c_int>, sourceweights: Out<c_int>,
        maxoutdegree: c_int, destinations: Out<c_int>, destweights: Out<c_int>
    ) on comm {
        let own = read(comm, |found| found.distributed_graph().cloned())?;
        let into = (sources, sourceweights);
        give_edges(&own.sources, own.weighted, maxindegree, into, "the room for sources")?;
        let into = (destinations, destweights);
        give_edges(&own.destinations, own.weighted, maxoutdegree, into, "the room for destinations")
    }

    /// Section 8.5.6.
    MPI_Cart_shift (
        comm: MPI_Comm, direction: c_int, disp: c_int, rank_source: Out<c_int>, rank_dest: Out<c_int>
    ) on comm {
        let (source, destination) = read(comm, |found| found.cartesian()?.shift(found.rank, direction, disp))?;
        rank_source.set(source)?;
        rank_dest.set(destination)
    }

    /// Section 8.5.7.
    MPI_Cart_sub (comm: MPI_Comm, remain_dims: In<c_int>, newcomm: Out<MPI_Comm>) on comm {
        make(comm, newcomm, |key| {
            let count = read(comm, |found| found.cartesian().map(Cartesian::dimensions).map(<[_]>::len))?;
            instance().part_cartesian(key, &flags(remain_dims, count)?)
        })
    }

    /// Section 8.5.8.
    MPI_Cart_map (
        comm: MPI_Comm, ndims: c_int, dims: In<c_int>, periods: In<c_int>, newrank: Out<c_int>
    ) on comm {
        let (sizes, periods) = grid(ndims, dims, periods)?;
        let found = instance().map_cartesian(parse::communicator(comm)?, &sizes, &periods)?;
        newrank.set(rank_or_undefined(found))
    }

    /// Section 8.5.8.
    MPI_Graph_map (comm: MPI_Comm, nnodes: c_int, index: In<c_int>, edges: In<c_int>, newrank: Out<c_int>) on comm {
        let graph = graph(nnodes, index, edges)?;
        newrank.set(rank_or_undefined(instance().map_graph(parse::communicator(comm)?, &graph)?))
    }
}
