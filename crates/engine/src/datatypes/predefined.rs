//! The predefined datatypes as objects, and the ways to find one by its properties.
//!
//! Named types are found by handle, by class and size (`MPI_Type_match_size`, MPI 5.0, section 19.1.5), by the members of
//! a pair (`MPI_Type_get_value_index`, section 5.1.4), or by precision and range (`MPI_Type_create_f90_…`, section 19.1.5);
//! the last gives unnamed types that remember precision and range. The kinds of Fortran are those of the GNU compiler on
//! the machine at hand: reals of 4, 8, 16 (x87) and 16 bytes (binary128), integers of 1 to 16 bytes.

use super::constructors::Contents;
use super::type_map::TypeMap;
use super::{Datatype, Kind};
use crate::error::{Error, Result};
use postrider_abi::predefined::DATATYPES;
use postrider_abi::*;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

static PREDEFINED: LazyLock<[Arc<Datatype>; DATATYPES.len()]> = LazyLock::new(|| {
    let mut kinds = Kind::all();
    std::array::from_fn(|_| Arc::new(Datatype::named(kinds.next().expect("one kind for each row"))))
});

/// Decimal precision and exponent range of the real types, and the types for real and complex.
const REALS: [(i32, i32, MPI_Datatype, MPI_Datatype); 4] = [
    (6, 37, MPI_REAL4, MPI_COMPLEX8),
    (15, 307, MPI_REAL8, MPI_COMPLEX16),
    (18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX),
    (33, 4931, MPI_REAL16, MPI_COMPLEX32),
];

/// Decimal range of the integer types.
const INTEGERS: [(i32, MPI_Datatype); 5] =
    [(2, MPI_INTEGER1), (4, MPI_INTEGER2), (9, MPI_INTEGER4), (18, MPI_INTEGER8), (38, MPI_INTEGER16)];

/// The named pairs: value, index, pair.
const PAIRS: [(MPI_Datatype, MPI_Datatype, MPI_Datatype); 9] = [
    (MPI_FLOAT, MPI_INT, MPI_FLOAT_INT),
    (MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT),
    (MPI_LONG, MPI_INT, MPI_LONG_INT),
    (MPI_INT, MPI_INT, MPI_2INT),
    (MPI_SHORT, MPI_INT, MPI_SHORT_INT),
    (MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT),
    (MPI_REAL, MPI_REAL, MPI_2REAL),
    (MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION),
    (MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER),
];

/// What `MPI_Type_match_size` finds, by class and size.
const BY_SIZE: [(i32, i64, MPI_Datatype); 13] = [
    (MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1),
    (MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2),
    (MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4),
    (MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8),
    (MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16),
    (MPI_TYPECLASS_REAL, 2, MPI_REAL2),
    (MPI_TYPECLASS_REAL, 4, MPI_REAL4),
    (MPI_TYPECLASS_REAL, 8, MPI_REAL8),
    (MPI_TYPECLASS_REAL, 16, MPI_REAL16),
    (MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4),
    (MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8),
    (MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16),
    (MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32),
];

impl Datatype {
    fn named(kind: Kind) -> Self {
        Self {
            map: TypeMap::predefined(kind),
            contents: Contents { combiner: MPI_COMBINER_NAMED, ..Contents::default() },
            predefined: Some(kind),
            committed: AtomicBool::new(true),
        }
    }

    /// The named predefined datatype with this handle.
    #[inline]
    #[must_use]
    pub fn predefined(handle: MPI_Datatype) -> Option<&'static Arc<Self>> {
        Kind::from_handle(handle).map(Self::of_kind)
    }

    /// The datatype of a kind.
    #[inline]
    #[must_use]
    pub fn of_kind(kind: Kind) -> &'static Arc<Self> {
        &PREDEFINED[kind.index()]
    }

    /// `MPI_Type_match_size`.
    pub fn match_size(class: i32, size: i64) -> Result<&'static Arc<Self>> {
        if ![MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX].contains(&class) {
            let detail = format!("the type class {class} is none of MPI_TYPECLASS_INTEGER, _REAL, _COMPLEX");
            return Err(Error::new(MPI_ERR_ARG, detail));
        }
        let found = BY_SIZE.iter().find(|row| (row.0, row.1) == (class, size));
        found.and_then(|row| Self::predefined(row.2)).ok_or_else(|| {
            Error::new(MPI_ERR_ARG, format!("no predefined type of this class has {size} bytes"))
        })
    }

    /// `MPI_Type_get_value_index`: `None` is `MPI_DATATYPE_NULL`.
    #[must_use]
    pub fn value_index(value: &Self, index: &Self) -> Option<&'static Arc<Self>> {
        let (value, index) = (value.as_predefined()?.row().handle, index.as_predefined()?.row().handle);
        let found = PAIRS.iter().find(|pair| (pair.0, pair.1) == (value, index))?;
        Self::predefined(found.2)
    }

    /// `MPI_Type_create_f90_real`. The standard asks that equal arguments give one handle: the caller keeps a table.
    pub fn f90_real(precision: i32, range: i32) -> Result<Arc<Self>> {
        Self::f90(MPI_COMBINER_F90_REAL, &[precision, range], real_of(precision, range)?.0)
    }

    /// `MPI_Type_create_f90_complex`; see [`Self::f90_real`].
    pub fn f90_complex(precision: i32, range: i32) -> Result<Arc<Self>> {
        Self::f90(MPI_COMBINER_F90_COMPLEX, &[precision, range], real_of(precision, range)?.1)
    }

    /// `MPI_Type_create_f90_integer`; see [`Self::f90_real`].
    pub fn f90_integer(range: i32) -> Result<Arc<Self>> {
        let found = INTEGERS.iter().find(|row| row.0 >= range).ok_or_else(|| {
            Error::new(MPI_ERR_ARG, format!("no Fortran integer has {range} decimal digits; at most 38"))
        })?;
        Self::f90(MPI_COMBINER_F90_INTEGER, &[range], found.1)
    }

    fn f90(combiner: i32, arguments: &[i32], handle: MPI_Datatype) -> Result<Arc<Self>> {
        let map = TypeMap::predefined(Kind::of(handle));
        let contents = Contents { combiner, integers: arguments.to_vec(), ..Contents::default() };
        let new = Self::derived(map, contents);
        new.commit();
        Ok(new)
    }
}

/// The types of the least real kind with this precision and range, either of which may be `MPI_UNDEFINED`.
fn real_of(precision: i32, range: i32) -> Result<(MPI_Datatype, MPI_Datatype)> {
    if (precision, range) == (MPI_UNDEFINED, MPI_UNDEFINED) {
        return Err(Error::new(MPI_ERR_ARG, "precision and range are both MPI_UNDEFINED; pass one of them"));
    }
    let found = REALS.iter().find(|row| row.0 >= precision && row.1 >= range);
    found.map(|row| (row.2, row.3)).ok_or_else(|| {
        let detail =
            format!("no Fortran real has precision {precision} and range {range}; at most 33 and 4931");
        Error::new(MPI_ERR_ARG, detail)
    })
}
