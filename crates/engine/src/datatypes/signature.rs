//! Type signatures: the sequence of predefined types in a datatype (MPI 5.0, section 5.1).
//!
//! A signature is a small tree rather than a flat list, so that a vector of a billion structures costs the same as a
//! vector of two. What it answers: how many basic elements a message of so many bytes holds (`MPI_Get_elements`), whether
//! all elements are of one predefined type (`MPI_Accumulate`), and the walk that the conversion to external32 makes.
//! Equal neighbours are merged when the tree is built, so a signature of one kind is always a single run.

use super::kind::Kind;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The sequence of predefined types of a datatype.
#[derive(Debug, PartialEq, Eq)]
pub struct Signature {
    /// Sum of the sizes of all elements.
    bytes: u64,
    /// Number of basic elements; a pair such as `MPI_FLOAT_INT` is two.
    elements: u64,
    shape: Shape,
}

#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// `count` elements of one predefined type. An empty signature is a run of zero elements.
    Run(Kind, u64),
    /// The child, `count` times.
    Repeat(Arc<Signature>, u64),
    /// The children, one after the other.
    Sequence(Box<[Arc<Signature>]>),
}

impl Signature {
    /// `count` elements of `kind`; the caller has checked that the size fits.
    #[must_use]
    pub fn run(kind: Kind, count: u64) -> Arc<Self> {
        let (bytes, elements) = (kind.size() as u64 * count, kind.basic_elements() * count);
        Arc::new(Self { bytes, elements, shape: Shape::Run(kind, count) })
    }

    /// This signature `count` times; the caller has checked that the size fits.
    #[must_use]
    pub fn repeat(self: &Arc<Self>, count: u64) -> Arc<Self> {
        if count == 1 {
            return Arc::clone(self);
        }
        let shape = match &self.shape {
            Shape::Run(kind, inner) => return Self::run(*kind, inner * count),
            Shape::Repeat(child, inner) => Shape::Repeat(Arc::clone(child), inner * count),
            Shape::Sequence(_) => Shape::Repeat(Arc::clone(self), count),
        };
        Arc::new(Self { bytes: self.bytes * count, elements: self.elements * count, shape })
    }

    /// The signatures one after the other; the caller has checked that the size fits.
    #[must_use]
    pub fn sequence(parts: impl Iterator<Item = Arc<Self>>) -> Arc<Self> {
        let mut merged: Vec<Arc<Self>> = Vec::new();
        for part in parts.filter(|part| part.elements > 0) {
            match merged.last_mut().and_then(|last| last.merged_with(&part)) {
                Some(both) => *merged.last_mut().expect("it has just been merged with") = both,
                None => merged.push(part),
            }
        }
        match merged.len() {
            0 => Self::run(Kind::of(postrider_abi::MPI_BYTE), 0),
            1 => merged.remove(0),
            _ => {
                let bytes = merged.iter().map(|part| part.bytes).sum();
                let elements = merged.iter().map(|part| part.elements).sum();
                Arc::new(Self { bytes, elements, shape: Shape::Sequence(merged.into()) })
            }
        }
    }

    /// This signature followed by `next` as one node, where one node suffices.
    fn merged_with(self: &Arc<Self>, next: &Arc<Self>) -> Option<Arc<Self>> {
        match (&self.shape, &next.shape) {
            (Shape::Run(a, n), Shape::Run(b, m)) if a == b => Some(Self::run(*a, n + m)),
            (Shape::Repeat(a, n), Shape::Repeat(b, m)) if Arc::ptr_eq(a, b) => Some(a.repeat(n + m)),
            (Shape::Repeat(a, n), _) if Arc::ptr_eq(a, next) => Some(a.repeat(n + 1)),
            (_, Shape::Repeat(b, m)) if Arc::ptr_eq(self, b) => Some(b.repeat(m + 1)),
            _ if Arc::ptr_eq(self, next) => Some(self.repeat(2)),
            _ => None,
        }
    }

    /// Sum of the sizes of all elements.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of basic elements; a pair such as `MPI_FLOAT_INT` is two.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// The one predefined type that all elements have; `None` for a mixture and for the empty signature.
    #[must_use]
    pub fn single_kind(&self) -> Option<Kind> {
        match self.shape {
            Shape::Run(kind, count) if count > 0 => Some(kind),
            _ => None,
        }
    }

    /// Calls `visit(kind, count)` for each run of equal elements in order, until it breaks.
    pub fn for_each_run<B>(&self, visit: &mut dyn FnMut(Kind, u64) -> ControlFlow<B>) -> ControlFlow<B> {
        match &self.shape {
            Shape::Run(_, 0) => ControlFlow::Continue(()),
            Shape::Run(kind, count) => visit(*kind, *count),
            Shape::Repeat(child, count) => (0..*count).try_for_each(|_| child.for_each_run(visit)),
            Shape::Sequence(parts) => parts.iter().try_for_each(|part| part.for_each_run(visit)),
        }
    }

    /// The sum over all elements of what `measure` says of each kind; `None` when it does not fit.
    pub fn weigh(&self, measure: &dyn Fn(Kind) -> u64) -> Option<u64> {
        match &self.shape {
            Shape::Run(kind, count) => measure(*kind).checked_mul(*count),
            Shape::Repeat(child, count) => child.weigh(measure)?.checked_mul(*count),
            Shape::Sequence(parts) => {
                parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.weigh(measure)?))
            }
        }
    }

    /// The number of basic elements in the first `bytes` bytes, at most one signature's worth; `None` when these bytes
    /// end inside a basic element.
    #[must_use]
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        match &self.shape {
            Shape::Run(kind, _) => kind.basic_elements_in(bytes),
            Shape::Repeat(child, _) => {
                let whole = bytes / child.bytes;
                Some(whole * child.elements + child.elements_in(bytes % child.bytes)?)
            }
            Shape::Sequence(parts) => {
                let (mut left, mut elements) = (bytes, 0);
                for part in parts {
                    if left < part.bytes {
                        return Some(elements + part.elements_in(left)?);
                    }
                    (left, elements) = (left - part.bytes, elements + part.elements);
                }
                (left == 0).then_some(elements)
            }
        }
    }

    /// The bytes of the first `elements` basic elements, which are at most one signature's worth.
    #[must_use]
    pub fn bytes_of(&self, elements: u64) -> u64 {
        match &self.shape {
            Shape::Run(kind, _) => kind.bytes_of_basic_elements(elements),
            Shape::Repeat(child, _) => {
                elements / child.elements * child.bytes + child.bytes_of(elements % child.elements)
            }
            Shape::Sequence(parts) => {
                let (mut left, mut bytes) = (elements, 0);
                for part in parts {
                    if left < part.elements {
                        return bytes + part.bytes_of(left);
                    }
                    (left, bytes) = (left - part.elements, bytes + part.bytes);
                }
                bytes
            }
        }
    }
}
