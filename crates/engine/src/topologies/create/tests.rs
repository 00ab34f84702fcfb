//! Processes on several simulated hosts that make topologies and let ranks be reordered.

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use postrider_os::hosts::Placement;

use super::*;
use crate::topologies::Edges;
use crate::topologies::reorder::crossings;
use crate::transports::simulated::Network;
use crate::transports::{Limits, SingleCopy};
use crate::{State, World};

/// What a process finds after a topology was attached: its rank there, the hosts of all ranks, and the topology.
type Found = Option<(u32, Vec<u32>, Topology)>;

/// Runs `life` as each process of a job, and returns what they come to, in rank order. The time-out is for deadlocks only.
fn job<T: Send + 'static>(placement: &Placement, life: fn(&Instance) -> T) -> Vec<T> {
    let size = placement.ranks();
    let limits = Limits { eager_bytes_max: 64, piece_bytes_max: 64, single_copy: SingleCopy::Never };
    let network = Network::new(size, 7, limits, 3);
    let together = Arc::new(Barrier::new(size as usize));
    let (sender, receiver) = mpsc::channel();
    for rank in 0..size {
        let (placement, network) = (placement.clone(), Arc::clone(&network));
        let (together, sender) = (Arc::clone(&together), sender.clone());
        thread::spawn(move || {
            let instance = Instance::new(World::simulated(&network, rank, &placement));
            let result = life(&instance);
            instance.drain().expect("everything can be sent");
            together.wait();
            sender.send((rank, result)).expect("the test waits");
        });
    }
    let result = |_| receiver.recv_timeout(Duration::from_secs(120)).expect("no process fails or hangs");
    let mut results: Vec<(u32, T)> = (0..size).map(result).collect();
    results.sort_by_key(|(rank, _)| *rank);
    results.into_iter().map(|(_, result)| result).collect()
}

fn found(instance: &Instance, made: Option<Key>) -> Found {
    let made = made?;
    let found = instance.with(|state| {
        let found = state.communicators.get(made)?;
        let placement = &instance.facts().placement;
        let hosts = found.group.processes().map(|process| placement.host_of(process.0)).collect();
        Ok((found.rank, hosts, found.topology.as_deref().cloned().expect("a topology is attached")))
    });
    Some(found.expect("there is such a communicator"))
}

/// Six ranks in turn on three hosts.
fn in_turn() -> Placement {
    Placement::new(vec![0, 1, 2, 0, 1, 2]).expect("every host has a rank")
}

/// Two edges from each node to the next, which has the weights 10 and 11 times the node; given by the process before it.
fn ring_of_anybody(instance: &Instance) -> Found {
    let (rank, size) = (instance.facts().rank as i32, instance.facts().size as i32);
    let (source, destination) = ((rank + 1) % size, (rank + 2) % size);
    let edge = |weight| Edge { source, destination, weight: weight * source };
    let description = Description::Edges(vec![edge(10), edge(11)], true);
    let made = instance.create_distributed_graph(State::WORLD, description, true);
    found(instance, made.expect("the graph is right"))
}

fn ring_of_neighbors(instance: &Instance) -> Found {
    let (rank, size) = (instance.facts().rank as i32, instance.facts().size as i32);
    let before = (rank + size - 1) % size;
    let own = Neighborhood {
        sources: Edges { neighbors: vec![before; 2], weights: vec![10 * before, 11 * before] },
        destinations: Edges { neighbors: vec![(rank + 1) % size; 2], weights: vec![10 * rank, 11 * rank] },
        weighted: true,
    };
    let made = instance.create_distributed_graph(State::WORLD, Description::Adjacent(own), true);
    found(instance, made.expect("the graph is right"))
}

#[test]
fn distributed_graphs_are_reordered_with_their_edges() {
    let (one, other) = (job(&in_turn(), ring_of_anybody), job(&in_turn(), ring_of_neighbors));
    assert_eq!(one, other);
    let mut ranks = Vec::new();
    for found in one {
        let (rank, hosts, topology) = found.expect("everybody takes part");
        let (node, before, after) = (rank as i32, (rank as i32 + 5) % 6, (rank as i32 + 1) % 6);
        let own = Neighborhood {
            sources: Edges { neighbors: vec![before; 2], weights: vec![10 * before, 11 * before] },
            destinations: Edges { neighbors: vec![after; 2], weights: vec![10 * node, 11 * node] },
            weighted: true,
        };
        assert_eq!(topology, Topology::Distributed(own));
        assert_eq!(hosts, [0, 0, 1, 1, 2, 2]);
        ranks.push(rank);
    }
    ranks.sort_unstable();
    assert_eq!(ranks, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn grids_have_the_ranks_that_their_map_says() {
    let life = |instance: &Instance| {
        let (sizes, periods) = ([3, 2], [true, false]);
        let mapped = instance.map_cartesian(State::WORLD, &sizes, &periods).expect("the grid is right");
        let made =
            instance.create_cartesian(State::WORLD, &sizes, &periods, true).expect("the grid is right");
        (mapped, found(instance, made))
    };
    let placement = Placement::new(vec![0, 1, 2, 0, 1, 2, 0]).expect("every host has a rank");
    for (rank, (mapped, found)) in job(&placement, life).into_iter().enumerate() {
        assert_eq!(mapped, found.as_ref().map(|(rank, ..)| *rank));
        assert_eq!(found.is_none(), rank == 6);
        if let Some((_, hosts, Topology::Cartesian(grid))) = found {
            let neighbors: Vec<Vec<i32>> = (0..6).map(|rank| grid.neighbors(rank)).collect();
            let same: Vec<u32> = (0..6).collect();
            assert_eq!(hosts, [0, 0, 1, 1, 2, 2]);
            assert_eq!(crossings(&neighbors, &hosts, &same), 12);
        }
    }
}

#[test]
fn graphs_have_the_ranks_that_their_map_says() {
    let life = |instance: &Instance| {
        // Three pairs of nodes.
        let graph = || Graph::new((1..=6).collect(), |_| Ok(vec![5, 4, 3, 2, 1, 0]));
        let graph = || graph().expect("the graph is right");
        let mapped = instance.map_graph(State::WORLD, &graph()).expect("the graph is right");
        let made = instance.create_graph(State::WORLD, graph(), true).expect("the graph is right");
        (mapped, found(instance, made))
    };
    for (mapped, found) in job(&in_turn(), life) {
        let (rank, hosts, topology) = found.expect("everybody takes part");
        assert_eq!(mapped, Some(rank));
        assert_eq!(hosts, [0, 1, 2, 2, 1, 0]);
        assert!(matches!(topology, Topology::Graph(_)));
    }
}

#[test]
fn ranks_stay_unless_they_may_change() {
    let life = |instance: &Instance| {
        let made = instance.create_cartesian(State::WORLD, &[6], &[true], false).expect("the grid is right");
        found(instance, made)
    };
    for (rank, found) in (0..).zip(job(&in_turn(), life)) {
        let (new, hosts, _) = found.expect("everybody takes part");
        assert_eq!((new, hosts), (rank, vec![0, 1, 2, 0, 1, 2]));
    }
}
