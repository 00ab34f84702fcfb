//! Subarrays and distributed arrays (sections 5.1.3 and 5.1.4): for each dimension the indices that belong to the part,
//! then, from the dimension that varies fastest on, rows of rows.

use postrider_abi::*;
use postrider_client::Contents;

use super::Layout;

/// Indices in a row: the first, and how many.
type Run = (i64, i64);

/// A dimension: its size, and the indices that belong to the part.
type Dimension = (i64, Vec<Run>);

/// The part of an array, whose dimensions come in the order of C.
fn part(element: &Layout, dimensions: &[Dimension]) -> Layout {
    let mut made = element.clone();
    for (size, runs) in dimensions.iter().rev() {
        let extent = made.extent();
        let lb = made.lb;
        let row = made.copies(runs.iter().map(|&(first, count)| (count, first * extent)));
        made = row.resized(lb, size * extent);
    }
    made
}

/// In the order of C, whatever order the constructor was told.
fn ordered(mut dimensions: Vec<Dimension>, order: i64) -> Vec<Dimension> {
    if order == i64::from(MPI_ORDER_FORTRAN) {
        dimensions.reverse();
    }
    dimensions
}

/// `MPI_Type_create_subarray`.
pub fn subarray(contents: &Contents, element: &Layout) -> Layout {
    let integers = &contents.integers;
    let count = integers[0] as usize;
    let sizes = if contents.large_counts.is_empty() { &integers[1..] } else { &contents.large_counts[..] };
    let dimension = |i: usize| (sizes[i], vec![(sizes[2 * count + i], sizes[count + i])]);
    let order = integers[integers.len() - 1];
    part(element, &ordered((0..count).map(dimension).collect(), order))
}

/// `MPI_Type_create_darray`.
pub fn distributed(contents: &Contents, element: &Layout) -> Layout {
    let integers = &contents.integers;
    let (rank, count) = (integers[1], integers[2] as usize);
    let large = !contents.large_counts.is_empty();
    let sizes = if large { &contents.large_counts[..] } else { &integers[3..] };
    let rest = if large { &integers[3..] } else { &integers[3 + count..] };
    let (kinds, arguments, grid) = (&rest[..count], &rest[count..], &rest[2 * count..3 * count]);
    // Processes are numbered as in a Cartesian topology: the last dimension varies fastest.
    let mut coordinates = vec![0; count];
    let mut left = rank;
    for i in (0..count).rev() {
        (coordinates[i], left) = (left % grid[i], left / grid[i]);
    }
    let dimension = |i: usize| {
        let runs = runs(sizes[i], kinds[i], arguments[i], (grid[i], coordinates[i]));
        (sizes[i], runs)
    };
    part(element, &ordered((0..count).map(dimension).collect(), rest[3 * count]))
}

/// The indices of one process among those of a dimension.
fn runs(size: i64, kind: i64, argument: i64, (processes, coordinate): (i64, i64)) -> Vec<Run> {
    let default = argument == i64::from(MPI_DISTRIBUTE_DFLT_DARG);
    let block = match kind as i32 {
        MPI_DISTRIBUTE_BLOCK if default => (size + processes - 1) / processes,
        MPI_DISTRIBUTE_CYCLIC if default => 1,
        MPI_DISTRIBUTE_NONE => size,
        _ => argument,
    };
    if block <= 0 {
        return Vec::new();
    }
    let starts = (coordinate * block..size).step_by((block * processes) as usize);
    starts.map(|start| (start, block.min(size - start))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Block;

    fn offsets(layout: &Layout) -> Vec<i64> {
        layout.blocks.iter().flat_map(|block: &Block| block.offset..block.end()).collect()
    }

    #[test]
    fn a_part_has_the_rows_of_its_rows() {
        let element = Layout::dense(2);
        let made = part(&element, &[(3, vec![(1, 2)]), (4, vec![(0, 1), (2, 1)])]);
        assert_eq!(offsets(&made), [8, 9, 12, 13, 16, 17, 20, 21]);
        assert_eq!((made.lb, made.ub), (0, 24));
    }

    #[test]
    fn every_index_belongs_to_one_process() {
        for (kind, argument) in [
            (MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG),
            (MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG),
            (MPI_DISTRIBUTE_CYCLIC, 2),
            (MPI_DISTRIBUTE_BLOCK, 5),
        ] {
            let all = (0..3).flat_map(|process| runs(11, kind.into(), argument.into(), (3, process)));
            let mut indices: Vec<i64> = all.flat_map(|(first, count)| first..first + count).collect();
            indices.sort_unstable();
            assert_eq!(indices, (0..11).collect::<Vec<_>>());
        }
    }
}
