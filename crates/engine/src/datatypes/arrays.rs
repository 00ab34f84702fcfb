//! Parts of arrays: `MPI_Type_create_subarray` and `MPI_Type_create_darray` (MPI 5.0, sections 5.1.3 and 5.1.4).
//!
//! Both build the type one dimension at a time, from the one that varies fastest outwards, and end with the bounds of the
//! whole array. A dimension of a subarray is a run of indices; a dimension of a distributed array is a run (block), or
//! blocks dealt out in turn with a shorter one at the end (cyclic). So both stay of constant size in the array's lengths.

use super::Datatype;
use super::constructors::{Contents, CountForm, integers};
use super::type_map::{TypeMap, multiply};
use crate::error::{Error, Result};
use postrider_abi::{
    MPI_COMBINER_DARRAY, MPI_COMBINER_SUBARRAY, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
    MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_NONE, MPI_ERR_ARG, MPI_ERR_RANK, MPI_ORDER_C, MPI_ORDER_FORTRAN,
};
use std::sync::Arc;

/// How `MPI_Type_create_darray` deals one dimension out; the arguments as the program passed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// `array_of_gsizes[i]`: the array's length.
    pub global_size: i64,
    /// `array_of_distribs[i]`: `MPI_DISTRIBUTE_…`.
    pub distribution: i32,
    /// `array_of_dargs[i]`: the block length, or `MPI_DISTRIBUTE_DFLT_DARG`.
    pub argument: i32,
    /// `array_of_psizes[i]`: how many processes share the dimension.
    pub processes: i32,
}

fn wrong(detail: String) -> Error {
    Error::new(MPI_ERR_ARG, detail)
}

/// The dimensions from the fastest to the slowest.
fn fastest_first(order: i32, dimensions: usize) -> Result<Vec<usize>> {
    if dimensions == 0 {
        return Err(wrong("the array has no dimensions; pass at least one".into()));
    }
    match order {
        MPI_ORDER_C => Ok((0..dimensions).rev().collect()),
        MPI_ORDER_FORTRAN => Ok((0..dimensions).collect()),
        _ => Err(wrong(format!("order is {order}; pass MPI_ORDER_C or MPI_ORDER_FORTRAN"))),
    }
}

/// Indices of a dimension: `count` blocks of `length` indices, `period` apart, from `start` on, then `rest` indices in
/// the place of the next block.
struct Indices {
    start: i64,
    length: i64,
    count: i64,
    period: i64,
    rest: i64,
}

impl Indices {
    fn run(start: i64, length: i64) -> Self {
        Self { start, length, count: 1, period: 0, rest: 0 }
    }

    /// `inner` at each of the indices, which are `stride` bytes apart.
    fn apply(&self, inner: &TypeMap, stride: i64) -> Result<TypeMap> {
        let period = multiply(self.period, stride)?;
        let blocks = inner.repeat(self.length, stride)?.repeat(self.count, period)?;
        let rest = inner.repeat(self.rest, stride)?.shifted(multiply(self.count, period)?)?;
        TypeMap::sequence(vec![blocks, rest])?.shifted(multiply(self.start, stride)?)
    }
}

/// The type of the chosen indices of an array of `old`: dimensions as (length, indices), fastest first.
fn part_of_array(old: &Datatype, dimensions: Vec<(i64, Indices)>) -> Result<TypeMap> {
    let (mut map, mut stride) = (old.map.clone(), old.extent());
    for (length, indices) in &dimensions {
        map = indices.apply(&map, stride)?;
        stride = multiply(stride, *length)?;
    }
    map.resized(0, stride)
}

impl Distribution {
    /// The indices of the process at `coordinate` of this dimension.
    fn indices(&self, dimension: usize, coordinate: i64) -> Result<Indices> {
        let (size, processes) = (self.global_size, i64::from(self.processes));
        let wrong_here = |what: String| wrong(format!("dimension {dimension} of the darray: {what}"));
        let argument = match self.argument {
            MPI_DISTRIBUTE_DFLT_DARG => None,
            length if length > 0 => Some(i64::from(length)),
            length => return Err(wrong_here(format!("the distribution argument {length} is not positive"))),
        };
        match self.distribution {
            MPI_DISTRIBUTE_NONE if processes == 1 => Ok(Indices::run(0, size)),
            MPI_DISTRIBUTE_NONE => {
                Err(wrong_here(format!("it is not distributed, but has {processes} processes; pass 1")))
            }
            MPI_DISTRIBUTE_BLOCK => {
                let length = argument.unwrap_or((size - 1) / processes + 1);
                if length.saturating_mul(processes) < size {
                    let what = format!("{processes} blocks of {length} do not hold {size} elements");
                    return Err(wrong_here(what));
                }
                let start = multiply(length, coordinate)?.min(size);
                Ok(Indices::run(start, length.min(size - start)))
            }
            MPI_DISTRIBUTE_CYCLIC => {
                let length = argument.unwrap_or(1);
                let (start, period) = (multiply(length, coordinate)?, multiply(length, processes)?);
                if start >= size {
                    return Ok(Indices::run(0, 0));
                }
                let (whole, over) = ((size - start) / period, (size - start) % period);
                let count = whole + i64::from(over >= length);
                let rest = if over >= length { 0 } else { over };
                Ok(Indices { start, length, count, period, rest })
            }
            other => Err(wrong_here(format!("the distribution {other} is none of MPI_DISTRIBUTE_…"))),
        }
    }
}

/// The coordinates of `rank` in a grid of processes in row-major order, which the standard asks for in both orders.
fn coordinates(size: i32, rank: i32, dimensions: &[Distribution]) -> Result<Vec<i64>> {
    let mut grid = 1i64;
    for (index, dimension) in dimensions.iter().enumerate() {
        if dimension.processes < 1 || dimension.global_size < 1 {
            let detail = format!("dimension {index} of the darray: lengths and processes must be positive");
            return Err(wrong(detail));
        }
        grid = multiply(grid, i64::from(dimension.processes))?;
    }
    if grid != i64::from(size) {
        return Err(wrong(format!("the darray's grid has {grid} processes, but size is {size}")));
    }
    if rank < 0 || rank >= size {
        let detail = format!("rank {rank} is not in the darray's grid of {size} processes");
        return Err(Error::new(MPI_ERR_RANK, detail));
    }
    let mut rest = i64::from(rank);
    let mut coordinates = vec![0; dimensions.len()];
    for (coordinate, dimension) in coordinates.iter_mut().zip(dimensions).rev() {
        *coordinate = rest % i64::from(dimension.processes);
        rest /= i64::from(dimension.processes);
    }
    Ok(coordinates)
}

impl Datatype {
    /// `MPI_Type_create_subarray`; the three arrays have one length, the number of dimensions.
    pub fn subarray(
        form: CountForm,
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: i32,
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        let mut dimensions = Vec::with_capacity(sizes.len());
        for index in fastest_first(order, sizes.len())? {
            let (size, subsize, start) = (sizes[index], subsizes[index], starts[index]);
            let fits = size >= 1 && (0..=size).contains(&subsize) && (0..=size - subsize).contains(&start);
            if !fits {
                let detail = format!(
                    "dimension {index} of the subarray: {subsize} elements from {start} on are not within {size}"
                );
                return Err(wrong(detail));
            }
            dimensions.push((size, Indices::run(start, subsize)));
        }
        let map = part_of_array(old, dimensions)?;
        let count = [sizes.len() as i64];
        let (integers, large_counts) = match form {
            CountForm::Int => {
                (integers(&[&count, sizes, subsizes, starts, &[i64::from(order)]])?, Vec::new())
            }
            CountForm::Large => (vec![sizes.len() as i32, order], [sizes, subsizes, starts].concat()),
        };
        let datatypes = vec![Arc::clone(old)];
        let combiner = MPI_COMBINER_SUBARRAY;
        let contents = Contents { combiner, integers, large_counts, datatypes, ..Contents::default() };
        Ok(Self::derived(map, contents))
    }

    /// `MPI_Type_create_darray`: the part of `rank` in a grid of `size` processes.
    pub fn darray(
        form: CountForm,
        size: i32,
        rank: i32,
        dimensions: &[Distribution],
        order: i32,
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        let fastest_first = fastest_first(order, dimensions.len())?;
        let coordinates = coordinates(size, rank, dimensions)?;
        let indices = fastest_first.into_iter().map(|index| {
            let dimension = &dimensions[index];
            Ok((dimension.global_size, dimension.indices(index, coordinates[index])?))
        });
        let map = part_of_array(old, indices.collect::<Result<_>>()?)?;
        let gsizes: Vec<i64> = dimensions.iter().map(|dimension| dimension.global_size).collect();
        let mut integers_given = vec![size, rank, dimensions.len() as i32];
        let mut large_counts = Vec::new();
        match form {
            CountForm::Int => integers_given.extend(integers(&[&gsizes])?),
            CountForm::Large => large_counts = gsizes,
        }
        integers_given.extend(dimensions.iter().map(|dimension| dimension.distribution));
        integers_given.extend(dimensions.iter().map(|dimension| dimension.argument));
        integers_given.extend(dimensions.iter().map(|dimension| dimension.processes));
        integers_given.push(order);
        let contents = Contents {
            combiner: MPI_COMBINER_DARRAY,
            integers: integers_given,
            large_counts,
            datatypes: vec![Arc::clone(old)],
            ..Contents::default()
        };
        Ok(Self::derived(map, contents))
    }
}
