//! Datatypes: what a buffer holds and where (MPI 5.0, chapter 5).
//!
//! A [`Datatype`] is an immutable value, shared by `Arc`; handles, names, attributes and reference counts of handles are
//! the caller's. It is made by one of the constructors (`constructors`, `arrays`, `predefined`), which all work on the
//! [`type_map::TypeMap`] algebra, and is then used in four ways: its numbers (size, bounds, elements), its contents
//! (`MPI_Type_get_contents`), moving data (`packing`), and conversion to the portable representation (`external32`).
//!
//! Counts are 64-bit throughout. The forms of the standard with `int` counts differ only in how the contents are
//! reported and in whether a result fits; both are the caller's business, who says with [`CountForm`] which form was
//! called.

mod arrays;
mod constructors;
mod external32;
mod kind;
mod layout;
mod packing;
mod predefined;
mod signature;
mod type_map;

#[cfg(test)]
mod tests;

pub use arrays::Distribution;
pub use constructors::{Contents, CountForm};
pub use external32::{pack_external, pack_external_size, unpack_external};
pub use kind::Kind;
pub use packing::{copy, pack_range, pack_size, pack_to, segments, unpack_from, unpack_range};
pub use signature::Signature;

use layout::Placed;
use postrider_abi::{
    MPI_COMBINER_F90_COMPLEX, MPI_COMBINER_F90_INTEGER, MPI_COMBINER_F90_REAL, MPI_COMBINER_NAMED,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use type_map::TypeMap;

/// A datatype: predefined or derived.
#[derive(Debug)]
pub struct Datatype {
    map: TypeMap,
    contents: Contents,
    predefined: Option<Kind>,
    committed: AtomicBool,
}

impl Datatype {
    /// Bytes of data in one element: `MPI_Type_size`.
    #[must_use]
    pub fn size(&self) -> i64 {
        self.map.size()
    }

    /// The lower bound.
    #[must_use]
    pub fn lb(&self) -> i64 {
        self.map.bounds.map_or(0, |bounds| bounds.start)
    }

    /// The distance between neighbours in an array: upper less lower bound.
    #[must_use]
    pub fn extent(&self) -> i64 {
        self.map.extent()
    }

    /// The lowest displacement of data, whatever the bounds say.
    #[must_use]
    pub fn true_lb(&self) -> i64 {
        self.map.data.map_or(0, |data| data.start)
    }

    /// The length of the shortest range that holds all data of one element.
    #[must_use]
    pub fn true_extent(&self) -> i64 {
        self.map.data.map_or(0, |data| data.end - data.start)
    }

    /// The strictest alignment of the predefined types inside, as C would require it.
    #[must_use]
    pub fn alignment(&self) -> i64 {
        self.map.alignment
    }

    /// Whether the data of one element is one dense run, which then starts at [`Self::true_lb`]. The order of the type
    /// map is the order in memory.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.map.placed.layout.is_run()
    }

    /// Whether the data of any number of elements is one dense run.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.is_contiguous() && self.extent() == self.size()
    }

    /// Whether the data of `count` elements is one dense run.
    #[must_use]
    pub fn is_dense_for(&self, count: i64) -> bool {
        self.is_contiguous() && (count <= 1 || self.extent() == self.size() || self.size() == 0)
    }

    /// The sequence of predefined types.
    #[must_use]
    pub fn signature(&self) -> &Arc<Signature> {
        &self.map.signature
    }

    /// How this type was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` report.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The named predefined type that this is.
    #[must_use]
    pub fn as_predefined(&self) -> Option<Kind> {
        self.predefined
    }

    /// Whether the program must not free this type: a named one, or an unnamed one of the Fortran 90 constructors.
    #[must_use]
    pub fn is_predefined(&self) -> bool {
        matches!(
            self.contents.combiner,
            MPI_COMBINER_NAMED | MPI_COMBINER_F90_REAL | MPI_COMBINER_F90_COMPLEX | MPI_COMBINER_F90_INTEGER
        )
    }

    /// The kind of the elements of a predefined type, named or not: what reduction operators ask for.
    #[must_use]
    pub fn predefined_kind(&self) -> Option<Kind> {
        self.predefined.or_else(|| self.is_predefined().then(|| self.map.signature.single_kind()).flatten())
    }

    /// Allows the type in communication: `MPI_Type_commit`.
    pub fn commit(&self) {
        self.committed.store(true, Ordering::Relaxed);
    }

    /// Whether the type may be used in communication.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }

    /// The number of whole elements in `bytes` bytes of packed data: `MPI_Get_count`, where `None` is `MPI_UNDEFINED`.
    #[must_use]
    pub fn count_in(&self, bytes: i64) -> Option<i64> {
        match self.size() {
            0 => (bytes == 0).then_some(0),
            size => (bytes % size == 0).then_some(bytes / size),
        }
    }

    /// The number of basic elements in `bytes` bytes of packed data: `MPI_Get_elements`, where `None` is
    /// `MPI_UNDEFINED` because the data ends inside a basic element.
    #[must_use]
    pub fn elements_in(&self, bytes: i64) -> Option<i64> {
        let (bytes, size) = (u64::try_from(bytes).ok()?, self.size() as u64);
        if size == 0 {
            return (bytes == 0).then_some(0);
        }
        let rest = self.map.signature.elements_in(bytes % size)?;
        Some((bytes / size * self.map.signature.elements() + rest) as i64)
    }

    /// The packed bytes of `elements` basic elements: what `MPI_Status_set_elements` stores.
    #[must_use]
    pub fn bytes_of_elements(&self, elements: i64) -> i64 {
        let (elements, each) = (elements.max(0) as u64, self.map.signature.elements());
        if each == 0 {
            return 0;
        }
        let rest = self.map.signature.bytes_of(elements % each);
        let bytes = (elements / each).saturating_mul(self.size() as u64).saturating_add(rest);
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    fn placed(&self) -> &Placed {
        &self.map.placed
    }

    fn derived(map: TypeMap, contents: Contents) -> Arc<Self> {
        Arc::new(Self { map, contents, predefined: None, committed: AtomicBool::new(false) })
    }
}
