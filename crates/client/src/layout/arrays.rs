//! Subarrays and distributed arrays (sections 5.1.3 and 5.1.4): for each dimension the indices that belong to the part,
//! then, from the dimension that varies fastest on, rows of rows.

use crate::Contents;
use postrider_abi::*;

use super::Layout;

/// The indices of a dimension that belong to the part: runs of the same length, and one that is shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Runs {
    first: i64,
    length: i64,
    count: i64,
    stride: i64,
    /// Length of the last one.
    rest: i64,
}

impl Runs {
    /// A single one.
    fn one(first: i64, length: i64) -> Self {
        Self { first, length, count: 1, stride: 0, rest: 0 }
    }
}

/// A dimension: its size, and the indices that belong to the part.
type Dimension = (i64, Runs);

/// The part of an array, whose dimensions come in the order of C.
fn part(element: &Layout, dimensions: &[Dimension]) -> Layout {
    let mut made = element.clone();
    for (size, runs) in dimensions.iter().rev() {
        let (lb, extent) = (made.lb, made.extent());
        let place = |index: i64| (runs.first + index * runs.stride) * extent;
        let equal =
            made.row(runs.length, place(0)).and_then(|run| run.times(runs.count, runs.stride * extent));
        let rows = Layout::sequence([equal, made.row(runs.rest, place(runs.count))].into_iter().flatten());
        made = rows.resized(lb, size * extent);
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
    let dimension = |i: usize| (sizes[i], Runs::one(sizes[2 * count + i], sizes[count + i]));
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
fn runs(size: i64, kind: i64, argument: i64, (processes, coordinate): (i64, i64)) -> Runs {
    let default = argument == i64::from(MPI_DISTRIBUTE_DFLT_DARG);
    let length = match kind as i32 {
        MPI_DISTRIBUTE_BLOCK if default => (size + processes - 1) / processes,
        MPI_DISTRIBUTE_CYCLIC if default => 1,
        MPI_DISTRIBUTE_NONE => size,
        _ => argument,
    };
    if length <= 0 {
        return Runs::one(0, 0);
    }
    let (first, stride) = (coordinate * length, length * processes);
    let count = if first + length > size { 0 } else { (size - first - length) / stride + 1 };
    Runs { first, length, count, stride, rest: (size - first - count * stride).clamp(0, length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::shape::tests::places;

    fn offsets(layout: &Layout) -> Vec<i64> {
        places(layout.shape.ranges(layout.first, 0, i64::MAX))
    }

    #[test]
    fn a_part_has_the_rows_of_its_rows() {
        let element = Layout::dense(2);
        let ends = Runs { first: 0, length: 1, count: 2, stride: 2, rest: 0 };
        let made = part(&element, &[(3, Runs::one(1, 2)), (4, ends)]);
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
            for size in [1, 5, 11, 12] {
                let all = (0..3).map(|process| runs(size, kind.into(), argument.into(), (3, process)));
                let parts = all.map(|runs| part(&Layout::dense(1), &[(size, runs)]));
                let mut indices: Vec<i64> = parts.flat_map(|part| offsets(&part)).collect();
                indices.sort_unstable();
                assert_eq!(indices, (0..size).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_cyclic_part_of_a_large_array_is_short() {
        let cyclic = runs(1 << 40, MPI_DISTRIBUTE_CYCLIC.into(), 2, (4, 1));
        let made = part(&Layout::dense(8), &[(1 << 40, cyclic), (4, Runs::one(0, 4))]);
        assert_eq!(made.shape, Shape::Dense(64).repeated(1 << 37, 256));
        assert_eq!(made.first, 64);
    }
}
