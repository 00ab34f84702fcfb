//! The simulated costs of collectives.

use postrider_os::hosts::Placement;

use crate::collectives::cost::{Costs, Family, Way, completion_time};
use crate::collectives::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};

const COSTS: Costs = Costs {
    inside: Way { latency: 2e-7, per_message: 1e-7, per_byte: 2e-10 },
    between: Way { latency: 4e-5, per_message: 5e-6, per_byte: 3e-9 },
    per_local_byte: 1e-10,
    per_link: None,
};

fn seconds(family: Family, algorithm: &str, placement: &Placement, bytes: u64) -> f64 {
    completion_time(family, algorithm, placement, bytes, &COSTS).expect("there is such an algorithm")
}

#[test]
fn a_message_costs_what_its_way_costs() {
    let near = Placement::one_host(2);
    let expected = 2.0 * 1e-7 + 2e-7 + 1000.0 * 2e-10;
    assert!((seconds(Family::Broadcast, "binomial", &near, 1000) - expected).abs() < 1e-12);
    let far = Placement::blocks(2, 1);
    let expected = 2.0 * 5e-6 + 4e-5 + 1000.0 * 3e-9;
    assert!((seconds(Family::Broadcast, "flat", &far, 1000) - expected).abs() < 1e-12);
    assert_eq!(completion_time(Family::Broadcast, "bruck", &far, 8, &COSTS), None);
}

/// Nodes of 32, as many as that makes.
#[test]
fn a_node_aware_broadcast_grows_with_the_logarithm_of_hosts() {
    let at = |algorithm, ranks| seconds(Family::Broadcast, algorithm, &Placement::blocks(ranks, 32), 32);
    let (small, large) = (32 * 16, 32 * 256);
    // The tree of nodes has twice the depth, the tree in a node stays.
    let (before, after) = (at("node-aware", small), at("node-aware", large));
    assert!(after > 1.5 * before && after < 2.1 * before, "{before} {after}");
    let (before, after) = (at("flat", small), at("flat", large));
    assert!(after > 15.0 * before && after < 18.0 * before, "{before} {after}");
    assert!(at("flat", 2048) > 34.0 * at("node-aware", 2048));
}

#[test]
fn links_make_further_receivers_cheap() {
    let files = Way { latency: 5e-5, per_message: 2e-5, per_byte: 1e-9 };
    let costs = Costs { inside: files, per_link: Some(1e-6), ..COSTS };
    let placement = Placement::one_host(64);
    let with = completion_time(Family::Broadcast, "flat", &placement, 1 << 20, &costs);
    let without = Costs { per_link: None, ..costs };
    let without = completion_time(Family::Broadcast, "flat", &placement, 1 << 20, &without);
    assert!(with.expect("flat") * 20.0 < without.expect("flat"));
}

#[test]
fn a_hundred_thousand_processes_fit() {
    let placement = Placement::blocks(131_072, 64);
    let broadcast = seconds(Family::Broadcast, "node-aware", &placement, 1024);
    let barrier = seconds(Family::Barrier, "node-aware", &placement, 0);
    assert!(broadcast > 11.0 * 4e-5 && broadcast < 1e-2, "{broadcast}");
    assert!(barrier > 11.0 * 4e-5 && barrier < 1e-2, "{barrier}");
}

/// Every algorithm comes to an end, and takes longer with more data.
#[test]
fn every_algorithm_has_a_cost() {
    fn names(family: Family) -> Vec<&'static str> {
        macro_rules! names {
            ($family:ident) => {
                $family::Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect()
            };
        }
        match family {
            Family::Barrier => names!(barrier),
            Family::Broadcast => names!(broadcast),
            Family::Gather => names!(gather),
            Family::Scatter => names!(scatter),
            Family::Allgather => names!(allgather),
            Family::Alltoall => names!(alltoall),
            Family::Reduce => names!(reduce),
            Family::Allreduce => names!(allreduce),
            Family::ReduceScatter => names!(reduce_scatter),
            Family::Scan => names!(scan),
        }
    }
    let moving = [
        Family::Broadcast,
        Family::Gather,
        Family::Scatter,
        Family::Allgather,
        Family::Alltoall,
        Family::Reduce,
        Family::Allreduce,
        Family::ReduceScatter,
        Family::Scan,
    ];
    let placement = Placement::blocks(11, 3);
    for family in moving {
        for name in names(family) {
            let (short, long) =
                (seconds(family, name, &placement, 8), seconds(family, name, &placement, 1 << 20));
            assert!(short > 4e-5 && long > short, "{family:?} {name}: {short} {long}");
        }
    }
    for name in names(Family::Barrier) {
        assert!(seconds(Family::Barrier, name, &placement, 0) > 4e-5);
    }
}
