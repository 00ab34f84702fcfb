//! The algebra behind all constructors: repeat a type map, put type maps one after the other (MPI 5.0, section 5.1).
//!
//! A [`TypeMap`] is what the standard's definitions compute with: the data, the signature, the bounds with and without
//! markers, the alignment. Every constructor is a short combination of [`TypeMap::repeat`], [`TypeMap::sequence`] and
//! [`TypeMap::resized`]. All arithmetic is checked here, in 64 bits: what does not fit is `MPI_ERR_VALUE_TOO_LARGE`, and
//! layouts and signatures built afterwards need no checks of their own.

use super::kind::Kind;
use super::layout::Placed;
use super::signature::Signature;
use crate::error::{Error, Result};
use postrider_abi::MPI_ERR_VALUE_TOO_LARGE;
use postrider_abi::predefined::BasicKind;
use std::sync::Arc;

/// A half-open range of displacements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The lowest displacement.
    pub start: i64,
    /// One past the highest.
    pub end: i64,
}

/// A type map in the sense of the standard, with everything that follows from it.
#[derive(Clone, Debug)]
pub struct TypeMap {
    /// The data.
    pub placed: Placed,
    /// The types of the data.
    pub signature: Arc<Signature>,
    /// Lower and upper bound; `None` when there is neither data nor marker.
    pub bounds: Option<Span>,
    /// Whether the bounds were set by `MPI_Type_create_resized` or an array constructor ("lb_marker", "ub_marker").
    pub marked: bool,
    /// The bounds of the data itself; `None` when there is none.
    pub data: Option<Span>,
    /// The strictest alignment of the types in the map, at least 1.
    pub alignment: i64,
}

impl Span {
    fn shifted(self, distance: i64) -> Result<Self> {
        Ok(Self { start: add(self.start, distance)?, end: add(self.end, distance)? })
    }

    fn joined(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span of copies at 0 and at `distance`.
    fn stretched(self, distance: i64) -> Result<Self> {
        Ok(self.joined(self.shifted(distance)?))
    }

    fn length(self) -> Result<i64> {
        self.end.checked_sub(self.start).ok_or_else(too_large)
    }
}

pub(super) fn too_large() -> Error {
    Error::new(
        MPI_ERR_VALUE_TOO_LARGE,
        "the datatype would span more than 2^63 bytes; check the counts, strides and displacements",
    )
}

pub(super) fn add(a: i64, b: i64) -> Result<i64> {
    a.checked_add(b).ok_or_else(too_large)
}

pub(super) fn multiply(a: i64, b: i64) -> Result<i64> {
    a.checked_mul(b).ok_or_else(too_large)
}

impl TypeMap {
    /// The map of a predefined type.
    #[must_use]
    pub fn predefined(kind: Kind) -> Self {
        let (placed, end) = match kind.class() {
            BasicKind::Pair { value, index, index_offset } => {
                let parts = [(0, value.bytes()), (index_offset, index.bytes())];
                let runs = parts.map(|(offset, bytes)| Placed::run(offset as i64, bytes as u64));
                (Placed::sequence(runs.into()), index_offset + index.bytes())
            }
            _ => (Placed::run(0, kind.size() as u64), kind.size()),
        };
        Self {
            placed,
            signature: Signature::run(kind, 1),
            bounds: Some(Span { start: 0, end: kind.row().extent as i64 }),
            marked: false,
            data: Some(Span { start: 0, end: end as i64 }),
            alignment: kind.row().alignment as i64,
        }
    }

    /// The map without data and markers.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            placed: Placed::run(0, 0),
            signature: Signature::sequence(std::iter::empty()),
            bounds: None,
            marked: false,
            data: None,
            alignment: 1,
        }
    }

    /// Bytes of data.
    #[must_use]
    pub fn size(&self) -> i64 {
        self.placed.layout.bytes() as i64
    }

    /// Upper less lower bound.
    #[must_use]
    pub fn extent(&self) -> i64 {
        self.bounds.map_or(0, |bounds| bounds.end - bounds.start)
    }

    /// `count` copies, `stride` bytes apart.
    pub fn repeat(&self, count: i64, stride: i64) -> Result<Self> {
        if count == 0 {
            return Ok(Self::empty());
        }
        let distance = multiply(count - 1, stride)?;
        multiply(self.size(), count)?;
        let stretched = |span: Option<Span>| span.map(|span| span.stretched(distance)).transpose();
        let repeated = Self {
            placed: self.placed.repeat(count as u64, stride),
            signature: self.signature.repeat(count as u64),
            bounds: stretched(self.bounds)?,
            marked: self.marked,
            data: stretched(self.data)?,
            alignment: self.alignment,
        };
        repeated.checked()
    }

    /// The same, `distance` bytes further on.
    pub fn shifted(&self, distance: i64) -> Result<Self> {
        let shifted = |span: Option<Span>| span.map(|span| span.shifted(distance)).transpose();
        Ok(Self {
            placed: self.placed.shifted(distance),
            bounds: shifted(self.bounds)?,
            data: shifted(self.data)?,
            ..self.clone()
        })
    }

    /// The maps one after the other. If any has markers, only markers determine the bounds.
    pub fn sequence(parts: Vec<Self>) -> Result<Self> {
        let marked = parts.iter().any(|part| part.marked);
        let (mut bounds, mut data, mut size, mut alignment) = (None, None, 0, 1);
        for part in &parts {
            if part.marked == marked {
                bounds = join(bounds, part.bounds);
            }
            data = join(data, part.data);
            size = add(size, part.size())?;
            alignment = part.alignment.max(alignment);
        }
        let signature = Signature::sequence(parts.iter().map(|part| Arc::clone(&part.signature)));
        let placed = Placed::sequence(parts.into_iter().map(|part| part.placed).collect());
        Self { placed, signature, bounds, marked, data, alignment }.checked()
    }

    /// The same data with other bounds.
    pub fn resized(&self, lb: i64, extent: i64) -> Result<Self> {
        let bounds = Some(Span { start: lb, end: add(lb, extent)? });
        Ok(Self { bounds, marked: true, ..self.clone() })
    }

    /// The upper bound raised so that the extent is a multiple of the alignment (the standard's epsilon), unless
    /// markers determine it.
    pub fn padded(mut self) -> Result<Self> {
        if let Some(bounds) = self.bounds.as_mut().filter(|_| !self.marked) {
            let over = bounds.length()?.rem_euclid(self.alignment);
            if over > 0 {
                bounds.end = add(bounds.end, self.alignment - over)?;
            }
        }
        self.checked()
    }

    /// Refuses maps whose extents do not fit.
    fn checked(self) -> Result<Self> {
        for span in [self.bounds, self.data].into_iter().flatten() {
            span.length()?;
        }
        Ok(self)
    }
}

fn join(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.joined(b)),
        (a, b) => a.or(b),
    }
}
