//! Balanced grids: `MPI_Dims_create` (MPI 5.0, section 8.5.2).
//!
//! "As close to each other as possible" is taken literally: among all ways to write the number as a product, the one whose
//! largest and smallest factor differ least, and of several such ways the one whose largest factor, then the next, is the
//! smallest. Taking prime factors one by one does not find it (72 in two dimensions is 9 x 8), so the divisors are searched,
//! the largest factor first and from the root on upwards. A factor far from the root is no better than what has been found
//! near it, which keeps the search short.

use postrider_abi::{MPI_ERR_ARG, MPI_ERR_DIMS};

use crate::error::{Error, Result};

/// Fills in the zeros of `dimensions`, in nonincreasing order, so that the product is `nodes`.
///
/// # Errors
/// `MPI_ERR_ARG` when there are no nodes, `MPI_ERR_DIMS` for negative numbers and when no grid with the given dimensions
/// has so many nodes.
pub fn fill(nodes: i32, dimensions: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        return Err(Error::new(MPI_ERR_ARG, format!("the number of nodes is {nodes}; it must be positive")));
    }
    if let Some(negative) = dimensions.iter().find(|&&dimension| dimension < 0) {
        let detail = format!("a dimension is {negative}; it must be a size, or 0 for one to be found");
        return Err(Error::new(MPI_ERR_DIMS, detail));
    }
    let free = dimensions.iter().filter(|&&dimension| dimension == 0).count();
    let given = dimensions.iter().filter(|&&dimension| dimension > 0);
    let given = given.fold(1_i64, |product, &dimension| product.saturating_mul(i64::from(dimension)));
    let nodes = i64::from(nodes);
    if nodes % given != 0 || (free == 0 && nodes != given) {
        let detail = format!("no grid of {nodes} nodes has the dimensions {dimensions:?}");
        return Err(Error::new(MPI_ERR_DIMS, detail));
    }
    let mut factors = balanced((nodes / given) as u32, free).into_iter();
    for dimension in dimensions.iter_mut().filter(|dimension| **dimension == 0) {
        *dimension = factors.next().map_or(1, |factor| factor as i32);
    }
    Ok(())
}

/// The most balanced `count` factors of `number`, which is positive, in nonincreasing order.
#[must_use]
pub fn balanced(number: u32, count: usize) -> Vec<u32> {
    let Ok(places) = u32::try_from(count) else { return Vec::new() };
    if places == 0 {
        return Vec::new();
    }
    let mut search = Search { divisors: divisors(number), best: None, chosen: Vec::with_capacity(count) };
    search.go(number, places, number);
    search.best.unwrap_or_else(|| unreachable!("{number} and ones are factors of {number}"))
}

/// All divisors in ascending order.
fn divisors(number: u32) -> Vec<u32> {
    let small: Vec<u32> = (1..=root(number, 2)).filter(|divisor| number.is_multiple_of(*divisor)).collect();
    let large = small.iter().rev().map(|divisor| number / divisor).filter(|large| !small.contains(large));
    small.iter().copied().chain(large).collect()
}

/// The largest number whose power `exponent` is at most `number`.
fn root(number: u32, exponent: u32) -> u32 {
    let (mut low, mut high) = (1_u64, u64::from(number) + 1);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if middle.saturating_pow(exponent) <= u64::from(number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as u32
}

/// A search through all ways to write a number as a product, best candidates first.
struct Search {
    divisors: Vec<u32>,
    best: Option<Vec<u32>>,
    chosen: Vec<u32>,
}

impl Search {
    /// Writes `rest` as `count` factors that are at most `largest`, after those that are chosen.
    fn go(&mut self, rest: u32, count: u32, largest: u32) {
        if count == 1 {
            if rest <= largest {
                self.offer(rest);
            }
            return;
        }
        // The largest factor is at least the root, and the smallest one at most that of what the others leave. Factors
        // come in ascending order, so that once one is too large all others are.
        let first = self.divisors.partition_point(|&factor| factor < root(rest, count));
        for index in first..self.divisors.len() {
            let factor = self.divisors[index];
            if factor > largest || factor > rest || !self.may_improve(factor, root(rest / factor, count - 1))
            {
                return;
            }
            if rest.is_multiple_of(factor) {
                self.chosen.push(factor);
                self.go(rest / factor, count - 1, factor);
                self.chosen.pop();
            }
        }
    }

    /// Whether a smallest factor of at most `smallest`, with `factor` chosen next, could be better than what there is.
    fn may_improve(&self, factor: u32, smallest: u32) -> bool {
        let largest = *self.chosen.first().unwrap_or(&factor);
        let best = self.best.as_deref().map(spread);
        best.is_none_or(|best| largest.saturating_sub(smallest) < best)
    }

    /// The chosen factors and `last` are a way.
    fn offer(&mut self, last: u32) {
        if self.may_improve(last, last) {
            let factors = self.chosen.iter().copied().chain([last]);
            self.best = Some(factors.collect());
        }
    }
}

/// How much the factors, in nonincreasing order, differ.
fn spread(factors: &[u32]) -> u32 {
    factors.first().unwrap_or(&0) - factors.last().unwrap_or(&0)
}
