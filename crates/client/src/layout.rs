//! Where the bytes of a datatype lie: from what it was made of (section 5.1.13) to its bytes in the order of its type map.
//!
//! In the native representation the sizes are those of memory. In another one each predefined datatype has another
//! size, and so have the extents of what is made of it; the distances that constructors take in bytes stay
//! (section 14.5.1). `leaf` says how a predefined datatype lies.

use std::iter::repeat_n;

use crate::shape::Shape;
use crate::{Contents, Datatype, Error};
use postrider_abi::*;

mod arrays;

/// Bytes, and the bounds of what they are part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where the first byte is.
    pub first: i64,
    /// The bytes from there on, in the order of the type map.
    pub shape: Shape,
    /// Lower bound.
    pub lb: i64,
    /// Upper bound.
    pub ub: i64,
}

/// How a predefined datatype lies.
pub type Leaf<'l, E> = &'l dyn Fn(Datatype) -> Result<Layout, E>;

impl Layout {
    /// Nothing.
    const EMPTY: Self = Self { first: 0, shape: Shape::EMPTY, lb: 0, ub: 0 };

    /// One block from 0 on.
    pub fn dense(bytes: i64) -> Self {
        Self { first: 0, shape: Shape::Dense(bytes), lb: 0, ub: bytes }
    }

    /// Distance from one to the next.
    pub fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Number of bytes.
    pub fn size(&self) -> i64 {
        self.shape.size()
    }

    /// So many of these, `stride` apart; nothing if there are none.
    pub fn times(&self, count: i64, stride: i64) -> Option<Self> {
        let last = (count - 1) * stride;
        (count > 0).then(|| Self {
            first: self.first,
            shape: self.shape.clone().repeated(count, stride),
            lb: self.lb + last.min(0),
            ub: self.ub + last.max(0),
        })
    }

    /// So many of these in a row, the first of them at `start`.
    pub fn row(&self, count: i64, start: i64) -> Option<Self> {
        Some(self.times(count, self.extent())?.shifted(start))
    }

    /// This, `by` bytes further on.
    pub fn shifted(self, by: i64) -> Self {
        Self { first: self.first + by, shape: self.shape, lb: self.lb + by, ub: self.ub + by }
    }

    /// Several layouts.
    pub fn sequence(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut bounds: Option<(i64, i64)> = None;
        let parts = parts.into_iter().map(|part| {
            let (lb, ub) = bounds.unwrap_or((part.lb, part.ub));
            bounds = Some((lb.min(part.lb), ub.max(part.ub)));
            (part.first, part.shape)
        });
        let (first, shape) = Shape::list(parts);
        let (lb, ub) = bounds.unwrap_or_default();
        Self { first, shape, lb, ub }
    }

    /// The same bytes with other bounds.
    pub fn resized(self, lb: i64, extent: i64) -> Self {
        Self { lb, ub: lb + extent, ..self }
    }
}

/// The layout of a datatype. With `native` its bounds are what the library says, which has the alignment of structures.
///
/// # Errors
/// What MPI returns.
pub fn of<E: From<Error>>(datatype: Datatype, leaf: Leaf<'_, E>, native: bool) -> Result<Layout, E> {
    let Some(contents) = datatype.contents()? else { return leaf(datatype) };
    let parts: Vec<Layout> =
        contents.datatypes.iter().map(|part| of(**part, leaf, native)).collect::<Result<_, E>>()?;
    let made = combine(&contents, &parts)?;
    if !native {
        return Ok(made);
    }
    let (lb, extent) = datatype.extent()?;
    Ok(made.resized(lb, extent))
}

/// The layout of what a constructor makes of others.
fn combine(contents: &Contents, parts: &[Layout]) -> crate::Result<Layout> {
    // With large counts these have an array of their own; else they are among the integers.
    let counts = if contents.large_counts.is_empty() { &contents.integers } else { &contents.large_counts };
    let Some(part) = parts.first() else { return Ok(Layout::EMPTY) };
    let extent = part.extent();
    // The distances in bytes are addresses, or the last of the large counts.
    let distances =
        |from: usize| if contents.addresses.is_empty() { &counts[from..] } else { &contents.addresses };
    let count = *counts.first().unwrap_or(&0) as usize;
    let rows = |stride: i64| part.row(counts[1], 0)?.times(counts[0], stride);
    let places = |lengths: &[i64], places: &[i64], unit: i64| {
        let row = |(&length, &place)| part.row(length, place * unit);
        Layout::sequence(lengths.iter().zip(places).filter_map(row))
    };
    let equal = |places: &[i64], unit: i64| {
        let row = part.row(counts[1], 0);
        Layout::sequence(
            row.iter().flat_map(|row| places.iter().map(|place| row.clone().shifted(place * unit))),
        )
    };
    let made = match contents.combiner {
        MPI_COMBINER_DUP => part.clone(),
        MPI_COMBINER_CONTIGUOUS => part.row(counts[0], 0).unwrap_or(Layout::EMPTY),
        MPI_COMBINER_VECTOR => rows(counts[2] * extent).unwrap_or(Layout::EMPTY),
        MPI_COMBINER_HVECTOR => rows(distances(2)[0]).unwrap_or(Layout::EMPTY),
        MPI_COMBINER_INDEXED => places(&counts[1..=count], &counts[1 + count..], extent),
        MPI_COMBINER_HINDEXED => places(&counts[1..=count], distances(1 + count), 1),
        MPI_COMBINER_INDEXED_BLOCK => equal(&counts[2..], extent),
        MPI_COMBINER_HINDEXED_BLOCK => equal(distances(2), 1),
        MPI_COMBINER_STRUCT => {
            let rows = parts.iter().zip(&counts[1..=count]).zip(distances(1 + count));
            Layout::sequence(rows.filter_map(|((part, &length), &place)| part.row(length, place)))
        }
        MPI_COMBINER_SUBARRAY => arrays::subarray(contents, part),
        MPI_COMBINER_DARRAY => arrays::distributed(contents, part),
        MPI_COMBINER_RESIZED => {
            let bounds = distances(0);
            part.clone().resized(bounds[0], bounds[1])
        }
        other => return Err(Error::Constructor(other)),
    };
    Ok(made)
}

/// The predefined datatypes of a datatype in the order of its type map: which, and how many in a row.
///
/// # Errors
/// What MPI returns.
pub fn elements(datatype: Datatype) -> crate::Result<Vec<(Datatype, i64)>> {
    let Some(contents) = datatype.contents()? else { return Ok(vec![(datatype, 1)]) };
    if contents.combiner == MPI_COMBINER_STRUCT {
        let counts =
            if contents.large_counts.is_empty() { &contents.integers } else { &contents.large_counts };
        let mut all = Vec::new();
        for (part, &count) in contents.datatypes.iter().zip(&counts[1..]) {
            all.extend(repeated(elements(**part)?, count));
        }
        return Ok(all);
    }
    let Some(part) = contents.datatypes.first() else { return Ok(Vec::new()) };
    let each = part.size()?;
    let count = if each == 0 { 0 } else { datatype.size()? / each };
    Ok(repeated(elements(**part)?, count))
}

fn repeated(elements: Vec<(Datatype, i64)>, count: i64) -> Vec<(Datatype, i64)> {
    if let [(only, number)] = elements[..] {
        return if number * count > 0 { vec![(only, number * count)] } else { Vec::new() };
    }
    repeat_n(elements, count.max(0) as usize).flatten().collect()
}
