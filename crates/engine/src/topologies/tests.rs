//! The arithmetic of topologies against models that try everything.

use proptest::prelude::*;

use postrider_abi::MPI_PROC_NULL;

use super::cartesian::Cartesian;
use super::dimensions::{balanced, fill};
use super::graph::Graph;
use super::reorder::{self, crossings};

/// All coordinates of a grid in row-major order.
fn all_coordinates(sizes: &[i32]) -> Vec<Vec<i32>> {
    sizes.iter().fold(vec![Vec::new()], |all, &size| {
        let longer = |coordinates: &Vec<i32>| {
            (0..size).map(|last| [coordinates.as_slice(), &[last]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// All ways to write a number as so many factors in nonincreasing order.
fn factorizations(number: u32, count: usize, largest: u32) -> Vec<Vec<u32>> {
    if count == 0 {
        return if number == 1 { vec![Vec::new()] } else { Vec::new() };
    }
    let factors = (1..=largest.min(number)).filter(|factor| number.is_multiple_of(*factor));
    let with = |factor: u32| {
        let rest = factorizations(number / factor, count - 1, factor);
        rest.into_iter().map(move |rest| [&[factor], rest.as_slice()].concat())
    };
    factors.flat_map(with).collect()
}

fn any_grid() -> impl Strategy<Value = (Vec<i32>, Vec<bool>)> {
    proptest::collection::vec((1..5_i32, any::<bool>()), 0..5).prop_map(|pairs| pairs.into_iter().unzip())
}

fn grid_of(sizes: &[i32], periods: &[bool]) -> Cartesian {
    Cartesian::new(sizes, periods, u32::MAX).unwrap()
}

fn neighbors_of(grid: &Cartesian) -> Vec<Vec<i32>> {
    (0..grid.size()).map(|rank| grid.neighbors(rank)).collect()
}

fn is_permutation(order: &[u32], count: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted == (0..count as u32).collect::<Vec<_>>()
}

proptest! {
    #[test]
    fn balanced_factors_are_the_best_of_all(number in 1_u32..3000, count in 1_usize..6) {
        let spread = |factors: &Vec<u32>| factors[0] - factors[factors.len() - 1];
        let all = factorizations(number, count, number);
        let best = all.into_iter().min_by_key(|factors| (spread(factors), factors.clone()));
        prop_assert_eq!(Some(balanced(number, count)), best);
    }

    #[test]
    fn large_numbers_are_written_as_factors(number in 1_u32..=i32::MAX as u32, count in 1_usize..12) {
        let factors = balanced(number, count);
        prop_assert_eq!(factors.len(), count);
        prop_assert_eq!(factors.iter().product::<u32>(), number);
        prop_assert!(factors.is_sorted_by(|one, next| one >= next));
    }

    #[test]
    fn given_dimensions_stay(given in proptest::collection::vec(0..4_i32, 1..6), more in 1..50_i32) {
        let nodes = more * given.iter().filter(|size| **size > 0).product::<i32>();
        let mut filled = given.clone();
        let filling = fill(nodes, &mut filled);
        if more > 1 && !given.contains(&0) {
            prop_assert!(filling.is_err());
        } else {
            prop_assert_eq!(filling, Ok(()));
            prop_assert_eq!(filled.iter().product::<i32>(), nodes);
            prop_assert!(given.iter().zip(&filled).all(|(given, filled)| *given == 0 || given == filled));
        }
    }

    #[test]
    fn ranks_and_coordinates_are_inverse((sizes, periods) in any_grid(), around in -3..4_i32) {
        let grid = grid_of(&sizes, &periods);
        let all = all_coordinates(&sizes);
        prop_assert_eq!(grid.size() as usize, all.len());
        for (rank, coordinates) in (0..).zip(&all) {
            let found: Vec<i32> = grid.coordinates(rank).into_iter().map(|along| along as i32).collect();
            prop_assert_eq!(&found, coordinates);
            let moved: Vec<i32> = coordinates.iter().zip(&sizes).map(|(at, size)| at + around * size).collect();
            let inside = around == 0 || periods.iter().all(|periodic| *periodic);
            prop_assert_eq!(grid.rank(&moved).ok(), inside.then_some(rank));
        }
        prop_assert!(grid.coordinates_of(grid.size() as i32).is_err());
        prop_assert!(grid.coordinates_of(-1).is_err());
    }

    #[test]
    fn shifts_move_one_coordinate((sizes, periods) in any_grid(), displacement in -9..10_i32) {
        let grid = grid_of(&sizes, &periods);
        let all = all_coordinates(&sizes);
        let at = |coordinates: &[i32], along: usize, by: i32| {
            let mut moved = coordinates.to_vec();
            moved[along] += by;
            if periods[along] {
                moved[along] = moved[along].rem_euclid(sizes[along]);
            }
            all.iter().position(|other| *other == moved).map_or(MPI_PROC_NULL, |rank| rank as i32)
        };
        for (rank, coordinates) in (0..).zip(&all) {
            let neighbors: Vec<i32> =
                (0..sizes.len()).flat_map(|along| [at(coordinates, along, -1), at(coordinates, along, 1)]).collect();
            prop_assert_eq!(grid.neighbors(rank), neighbors);
            for along in 0..sizes.len() {
                let expected = (at(coordinates, along, -displacement), at(coordinates, along, displacement));
                prop_assert_eq!(grid.shift(rank, along as i32, displacement), Ok(expected));
            }
        }
        prop_assert!(grid.shift(0, sizes.len() as i32, 1).is_err());
    }

    #[test]
    fn parts_are_grids((sizes, periods) in any_grid(), mask in any::<u8>()) {
        let grid = grid_of(&sizes, &periods);
        let remain: Vec<bool> = (0..sizes.len()).map(|index| mask >> index & 1 != 0).collect();
        let part = grid.part(&remain);
        let kept = |all: &[u32], wanted: bool| -> Vec<u32> {
            all.iter().zip(&remain).filter(|(_, kept)| **kept == wanted).map(|(along, _)| *along).collect()
        };
        let mut parts = std::collections::BTreeMap::new();
        for rank in 0..grid.size() {
            let coordinates = grid.coordinates(rank);
            let (color, place) = grid.place_in_parts(rank, &remain);
            prop_assert_eq!(part.coordinates(place), kept(&coordinates, true));
            let dropped = parts.entry(color).or_insert_with(|| kept(&coordinates, false));
            prop_assert_eq!(&*dropped, &kept(&coordinates, false));
        }
        prop_assert_eq!(parts.len() as u32 * part.size(), grid.size());
    }

    #[test]
    fn grids_are_reordered_only_for_a_gain(
        (sizes, periods) in any_grid(),
        hosts in proptest::collection::vec(0..4_u32, 700),
    ) {
        let grid = grid_of(&sizes, &periods);
        let (count, neighbors) = (grid.size() as usize, neighbors_of(&grid));
        let order = reorder::grid(&grid, &hosts);
        let same: Vec<u32> = (0..grid.size()).collect();
        prop_assert!(is_permutation(&order, count));
        let (before, after) = (crossings(&neighbors, &hosts, &same), crossings(&neighbors, &hosts, &order));
        prop_assert!(after < before || order == same);
    }

    #[test]
    fn graphs_are_reordered_only_for_a_gain(
        edges in proptest::collection::vec((0..12_usize, 0..12_i32), 0..40),
        hosts in proptest::collection::vec(0..3_u32, 12),
    ) {
        let mut neighbors = vec![Vec::new(); 12];
        edges.iter().for_each(|&(from, to)| neighbors[from].push(to));
        let order = reorder::graph(&neighbors, &hosts);
        let same: Vec<u32> = (0..12).collect();
        prop_assert!(is_permutation(&order, 12));
        let (before, after) = (crossings(&neighbors, &hosts, &same), crossings(&neighbors, &hosts, &order));
        prop_assert!(after < before || order == same);
    }
}

#[test]
fn numbers_with_many_divisors_have_balanced_factors() {
    assert_eq!(balanced(735_134_400, 3), [918, 910, 880]);
    assert_eq!(balanced(1 << 30, 3), [1024, 1024, 1024]);
    assert_eq!(balanced(2_147_483_647, 4), [2_147_483_647, 1, 1, 1]);
    for count in 1..20 {
        assert_eq!(balanced(2_095_133_040, count).iter().product::<u32>(), 2_095_133_040);
    }
}

#[test]
fn a_host_gets_a_block_of_the_grid() {
    // 4 x 4 on four hosts: 24 edges lead from row to row, and 16 from square to square.
    let grid = grid_of(&[4, 4], &[false, false]);
    let hosts: Vec<u32> = (0..16).map(|rank| rank / 4).collect();
    let order = reorder::grid(&grid, &hosts);
    assert_eq!(order, [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);
    let same: Vec<u32> = (0..16).collect();
    let count = |order: &[u32]| crossings(&neighbors_of(&grid), &hosts, order);
    assert_eq!((count(&same), count(&order)), (24, 16));
}

#[test]
fn ranks_dealt_out_to_hosts_are_brought_together() {
    let grid = grid_of(&[2, 3], &[false, false]);
    assert_eq!(reorder::grid(&grid, &[0, 1, 0, 1, 0, 1]), [0, 2, 4, 1, 3, 5]);
    // Three ranks and two: a row for each host in turn, since no block fits.
    let line = grid_of(&[5], &[false]);
    assert_eq!(reorder::grid(&line, &[0, 1, 0, 1, 0]), [0, 2, 4, 1, 3]);
    // One host: nothing to gain.
    assert_eq!(reorder::grid(&line, &[7, 7, 7, 7, 7]), [0, 1, 2, 3, 4]);
}

#[test]
fn hosts_grow_along_edges() {
    // Two triangles, of odd and of even nodes, on hosts of three ranks in a row.
    let neighbors: Vec<Vec<i32>> = (0..6).map(|node| vec![(node + 2) % 6, (node + 4) % 6]).collect();
    let hosts = [0, 0, 0, 1, 1, 1];
    let order = reorder::graph(&neighbors, &hosts);
    assert_eq!(crossings(&neighbors, &hosts, &order), 0);
}

#[test]
fn a_graph_is_read_as_far_as_its_index_says() {
    let edges = [1, 0, 0, 2, 9, 9];
    let graph = Graph::new(vec![1, 1, 4], |count| Ok(edges[..count].to_vec())).unwrap();
    assert_eq!(graph.neighbors(0), [1]);
    assert!(graph.neighbors(1).is_empty());
    assert_eq!(graph.neighbors(2), [0, 0, 2]);
    assert!(graph.neighbors_of(3).is_err());
    assert!(Graph::new(vec![1, 0], |count| Ok(vec![0; count])).is_err());
    assert!(Graph::new(vec![1], |_| Ok(vec![1])).is_err());
}
