//! Cartesian topologies: grids, periodic or not in each of their dimensions (MPI 5.0, sections 8.5.1 and 8.5.5 to 8.5.7).
//!
//! Ranks go through a grid in row-major order, so that the last coordinate changes first. A grid without dimensions has one
//! process, whose rank is 0.

use postrider_abi::{MPI_ERR_ARG, MPI_ERR_DIMS, MPI_ERR_TOPOLOGY, MPI_PROC_NULL};

use crate::error::{Error, Result};

/// A dimension of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Number of processes along it; at least one.
    pub size: u32,
    /// Whether its last process has the first one for a neighbour.
    pub periodic: bool,
}

/// A grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cartesian {
    dimensions: Vec<Dimension>,
    size: u32,
}

impl Cartesian {
    /// A grid of at most `processes` processes.
    ///
    /// # Errors
    /// `MPI_ERR_DIMS` for a size that is not positive, and for a grid with more processes.
    pub fn new(sizes: &[i32], periods: &[bool], processes: u32) -> Result<Self> {
        let mut size = 1_u32;
        let mut dimensions = Vec::with_capacity(sizes.len());
        for (index, (&along, &periodic)) in sizes.iter().zip(periods).enumerate() {
            let Some(along) = u32::try_from(along).ok().filter(|&along| along > 0) else {
                let detail = format!("dimension {index} of the grid has size {along}; it must be positive");
                return Err(Error::new(MPI_ERR_DIMS, detail));
            };
            size = size.saturating_mul(along);
            dimensions.push(Dimension { size: along, periodic });
        }
        if size > processes {
            let detail =
                format!("the grid {sizes:?} has more processes than the communicator, which has {processes}");
            return Err(Error::new(MPI_ERR_DIMS, detail));
        }
        Ok(Self { dimensions, size })
    }

    /// The dimensions.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Number of processes.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The coordinates of a rank of the grid.
    #[must_use]
    pub fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut coordinates = vec![0; self.dimensions.len()];
        for (coordinate, dimension) in coordinates.iter_mut().zip(&self.dimensions).rev() {
            *coordinate = rest % dimension.size;
            rest /= dimension.size;
        }
        coordinates
    }

    /// As [`Cartesian::coordinates`], for a rank that a program gives.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` when there is no such rank.
    pub fn coordinates_of(&self, rank: i32) -> Result<Vec<u32>> {
        match u32::try_from(rank) {
            Ok(rank) if rank < self.size => Ok(self.coordinates(rank)),
            _ => Err(crate::point_to_point::no_such_rank(rank, self.size)),
        }
    }

    /// The rank at coordinates of which there are as many as dimensions. Those outside of a periodic dimension are
    /// brought back into it.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for coordinates outside of a dimension that is not periodic.
    pub fn rank(&self, coordinates: &[i32]) -> Result<u32> {
        let mut rank = 0;
        for (index, (dimension, &coordinate)) in self.dimensions.iter().zip(coordinates).enumerate() {
            let Some(inside) = dimension.inside(i64::from(coordinate)) else {
                let last = dimension.size - 1;
                let detail = format!(
                    "coordinate {index} is {coordinate}; that dimension is not periodic and goes from 0 to {last}"
                );
                return Err(Error::new(MPI_ERR_ARG, detail));
            };
            rank = rank * dimension.size + inside;
        }
        Ok(rank)
    }

    /// Source and destination of a shift by `displacement` along dimension `direction`, seen from `rank`:
    /// `MPI_PROC_NULL` beyond the end of a dimension that is not periodic.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` when there is no such dimension; `MPI_ERR_TOPOLOGY` when there is none at all.
    pub fn shift(&self, rank: u32, direction: i32, displacement: i32) -> Result<(i32, i32)> {
        let along = usize::try_from(direction).ok().filter(|&along| along < self.dimensions.len());
        match along {
            Some(along) => {
                let displacement = i64::from(displacement);
                let coordinate = self.coordinates(rank)[along];
                let at = |displacement| self.moved(rank, coordinate, along, displacement);
                Ok((at(-displacement), at(displacement)))
            }
            None if self.dimensions.is_empty() => {
                Err(Error::new(MPI_ERR_TOPOLOGY, "the grid has no dimension to shift along"))
            }
            None => {
                let last = self.dimensions.len() - 1;
                let detail = format!("the direction is {direction}; it must be from 0 to {last}");
                Err(Error::new(MPI_ERR_ARG, detail))
            }
        }
    }

    /// The process `displacement` away from `rank` along a dimension, where `rank` has this coordinate.
    fn moved(&self, rank: u32, coordinate: u32, along: usize, displacement: i64) -> i32 {
        let Some(inside) = self.dimensions[along].inside(i64::from(coordinate) + displacement) else {
            return MPI_PROC_NULL;
        };
        let stride: i64 =
            self.dimensions[along + 1..].iter().map(|dimension| i64::from(dimension.size)).product();
        (i64::from(rank) + (i64::from(inside) - i64::from(coordinate)) * stride) as i32
    }

    /// The neighbours of `rank` in the order of neighbourhood collectives (section 8.6): for each dimension the one in
    /// negative and the one in positive direction, `MPI_PROC_NULL` where there is none.
    #[must_use]
    pub fn neighbors(&self, rank: u32) -> Vec<i32> {
        let coordinates = self.coordinates(rank);
        let pair = |(along, &coordinate)| [-1, 1].map(|step| self.moved(rank, coordinate, along, step));
        coordinates.iter().enumerate().flat_map(pair).collect()
    }

    /// The grid of the dimensions that remain.
    #[must_use]
    pub fn part(&self, remain: &[bool]) -> Self {
        let kept = self.dimensions.iter().zip(remain).filter(|(_, remains)| **remains);
        let dimensions: Vec<Dimension> = kept.map(|(dimension, _)| *dimension).collect();
        let size = dimensions.iter().map(|dimension| dimension.size).product();
        Self { dimensions, size }
    }

    /// Which of the parts with the dimensions that remain `rank` is in, and its rank there.
    #[must_use]
    pub fn place_in_parts(&self, rank: u32, remain: &[bool]) -> (u32, u32) {
        let (mut part, mut place) = (0, 0);
        for ((coordinate, dimension), &remains) in
            self.coordinates(rank).into_iter().zip(&self.dimensions).zip(remain)
        {
            let number = if remains { &mut place } else { &mut part };
            *number = *number * dimension.size + coordinate;
        }
        (part, place)
    }
}

impl Dimension {
    /// A coordinate brought into the dimension; none outside of one that is not periodic.
    fn inside(self, coordinate: i64) -> Option<u32> {
        let size = i64::from(self.size);
        (self.periodic || (0..size).contains(&coordinate)).then(|| coordinate.rem_euclid(size) as u32)
    }
}
