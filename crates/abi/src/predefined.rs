//! Tables of what the standard predefines: datatypes (sections 3.2.2, 5.12 and 19.1.5) and reduction operations
//! (sections 6.9.2 and 12.3.4).
//!
//! The engine builds its own datatypes from the first table, so that sizes, alignments, names and arithmetic of the basic
//! types are stated once. They are those of the LP64 machines that the standard ABI is used on (x86-64 Linux, and every
//! other one whose `long double` has 16 bytes); where the C compiler knows better, constant assertions below ask
//! Rust. Fortran types have the sizes that Fortran compilers give them without options: 4 bytes for `INTEGER`,
//! `LOGICAL` and `REAL`, 8 for `DOUBLE PRECISION`.
//!
//! The ABI gives every optional datatype a handle, whether a library supports it or not. A library that does not answers
//! `MPI_Type_size` with `MPI_UNDEFINED`; the column `optional` says which datatypes that is allowed for.

use crate::constants::*;
use crate::types::{MPI_Count, MPI_Datatype, MPI_Offset, MPI_Op};
use core::ffi::{c_char, c_int, c_long, c_longlong, c_short};

/// Which family of the standard's section 6.9.2 an integer belongs to. It decides which operations are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntegerFamily {
    /// C integer, which addresses, counts and file offsets are as well: arithmetic, logical and bitwise operations.
    C,
    /// Fortran integer: arithmetic and bitwise operations.
    Fortran,
}

/// What the bytes of a predefined datatype mean. All are in the byte order of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BasicKind {
    /// Integer in two's complement, or without a sign.
    Integer {
        /// Whether the first bit is a sign.
        signed: bool,
        /// Length in bytes: 1, 2, 4, 8 or 16.
        bytes: usize,
        /// Which operations are allowed.
        family: IntegerFamily,
    },
    /// Floating point.
    Float(FloatFormat),
    /// Real part, then imaginary part.
    Complex(FloatFormat),
    /// Truth value: zero is false; C writes 1 for true, and so do the Fortran compilers assumed here.
    Logical {
        /// Length in bytes: 1, 2, 4, 8 or 16.
        bytes: usize,
    },
    /// Eight bits without a meaning: only bitwise operations are allowed.
    Byte,
    /// Character of a Fortran string: no operation is allowed.
    Char,
    /// `wchar_t`: no operation is allowed.
    WideChar,
    /// Output of `MPI_Pack`: no operation is allowed.
    Packed,
    /// A structure of a value and an index: only `MPI_MINLOC` and `MPI_MAXLOC` are allowed.
    Pair {
        /// What is compared; at offset 0.
        value: PairMember,
        /// What goes with it.
        index: PairMember,
        /// Where the index starts, in bytes.
        index_offset: usize,
    },
}

/// Format of a floating-point number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatFormat {
    /// IEEE 754 binary16, 2 bytes.
    Half,
    /// IEEE 754 binary32, 4 bytes.
    Single,
    /// IEEE 754 binary64, 8 bytes.
    Double,
    /// `long double` of C, 16 bytes: on x86-64 the 80-bit format of the x87 followed by six bytes of padding.
    LongDouble,
    /// IEEE 754 binary128, 16 bytes.
    Quad,
}

impl FloatFormat {
    /// Length in bytes, padding included.
    pub const fn bytes(self) -> usize {
        match self {
            FloatFormat::Half => 2,
            FloatFormat::Single => 4,
            FloatFormat::Double => 8,
            FloatFormat::LongDouble | FloatFormat::Quad => 16,
        }
    }
}

/// A member of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PairMember {
    /// Signed integer of that many bytes.
    Integer {
        /// Length in bytes: 2, 4 or 8.
        bytes: usize,
    },
    /// Floating point.
    Float(FloatFormat),
}

impl PairMember {
    /// Length in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            PairMember::Integer { bytes } => bytes,
            PairMember::Float(format) => format.bytes(),
        }
    }
}

/// A predefined datatype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PredefinedDatatype {
    /// Its handle.
    pub handle: MPI_Datatype,
    /// Its name in C, which `MPI_Type_get_name` returns.
    pub name: &'static str,
    /// Its size in bytes, without padding between or after the members of a pair.
    pub size: usize,
    /// Its alignment in bytes, as a C compiler would have it.
    pub alignment: usize,
    /// Distance from one to the next in an array, in bytes. It differs from the size for pairs only.
    pub extent: usize,
    /// Its size in the data representation `external32`, in bytes (section 14.5.2).
    pub external32: usize,
    /// What its bytes mean.
    pub kind: BasicKind,
    /// Whether the standard allows a library to lack it.
    pub optional: bool,
}

/// A predefined reduction operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PredefinedOperation {
    /// Its handle.
    pub handle: MPI_Op,
    /// Its name in C.
    pub name: &'static str,
    /// Whether it is commutative.
    pub commutative: bool,
    /// Whether collective operations take it; `MPI_REPLACE` and `MPI_NO_OP` are for one-sided communication only.
    pub collective: bool,
}

/// A row whose extent is its size, and whose size is the same everywhere.
const fn basic(
    handle: MPI_Datatype,
    name: &'static str,
    alignment: usize,
    kind: BasicKind,
) -> PredefinedDatatype {
    let size = match kind {
        BasicKind::Integer { bytes, .. } | BasicKind::Logical { bytes } => bytes,
        BasicKind::Float(format) => format.bytes(),
        BasicKind::Complex(format) => 2 * format.bytes(),
        BasicKind::Byte | BasicKind::Char | BasicKind::Packed => 1,
        BasicKind::WideChar => 4,
        BasicKind::Pair { value, index, .. } => value.bytes() + index.bytes(),
    };
    PredefinedDatatype {
        handle,
        name,
        size,
        alignment,
        extent: size,
        external32: size,
        kind,
        optional: false,
    }
}

/// C integer, aligned to its size.
const fn c_integer(
    handle: MPI_Datatype,
    name: &'static str,
    bytes: usize,
    signed: bool,
) -> PredefinedDatatype {
    basic(handle, name, bytes, BasicKind::Integer { signed, bytes, family: IntegerFamily::C })
}

/// Fortran integer.
const fn integer(handle: MPI_Datatype, name: &'static str, bytes: usize) -> PredefinedDatatype {
    basic(handle, name, bytes, BasicKind::Integer { signed: true, bytes, family: IntegerFamily::Fortran })
}

/// Truth value of C, C++ or Fortran.
const fn logical(handle: MPI_Datatype, name: &'static str, bytes: usize) -> PredefinedDatatype {
    basic(handle, name, bytes, BasicKind::Logical { bytes })
}

/// Floating point, aligned to its size.
const fn float(handle: MPI_Datatype, name: &'static str, format: FloatFormat) -> PredefinedDatatype {
    basic(handle, name, format.bytes(), BasicKind::Float(format))
}

/// Complex, aligned as its parts are.
const fn complex(handle: MPI_Datatype, name: &'static str, format: FloatFormat) -> PredefinedDatatype {
    basic(handle, name, format.bytes(), BasicKind::Complex(format))
}

/// Structure of a value and an index, laid out as a C compiler does.
const fn pair(
    handle: MPI_Datatype,
    name: &'static str,
    value: PairMember,
    index: PairMember,
) -> PredefinedDatatype {
    let alignment = if value.bytes() > index.bytes() { value.bytes() } else { index.bytes() };
    let index_offset = value.bytes().next_multiple_of(index.bytes());
    let extent = (index_offset + index.bytes()).next_multiple_of(alignment);
    let row = basic(handle, name, alignment, BasicKind::Pair { value, index, index_offset });
    PredefinedDatatype { extent, ..row }
}

/// A datatype that a library may lack.
const fn optional(row: PredefinedDatatype) -> PredefinedDatatype {
    PredefinedDatatype { optional: true, ..row }
}

/// A datatype whose size in `external32` is not its size here.
const fn external(row: PredefinedDatatype, external32: usize) -> PredefinedDatatype {
    PredefinedDatatype { external32, ..row }
}

use FloatFormat::{Double, Half, LongDouble, Quad, Single};

/// The `int` of C, as a member of pairs.
const INT: PairMember = PairMember::Integer { bytes: size_of::<c_int>() };

/// The predefined datatypes, in the order of their handles, under the first of their names in the standard:
/// `MPI_LONG_LONG` and `MPI_C_FLOAT_COMPLEX` are synonyms.
pub const DATATYPES: &[PredefinedDatatype] = &[
    c_integer(MPI_AINT, "MPI_AINT", size_of::<isize>(), true),
    c_integer(MPI_COUNT, "MPI_COUNT", size_of::<MPI_Count>(), true),
    c_integer(MPI_OFFSET, "MPI_OFFSET", size_of::<MPI_Offset>(), true),
    basic(MPI_PACKED, "MPI_PACKED", 1, BasicKind::Packed),
    c_integer(MPI_SHORT, "MPI_SHORT", size_of::<c_short>(), true),
    c_integer(MPI_INT, "MPI_INT", size_of::<c_int>(), true),
    external(c_integer(MPI_LONG, "MPI_LONG", size_of::<c_long>(), true), 4),
    c_integer(MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT", size_of::<c_longlong>(), true),
    c_integer(MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", size_of::<c_short>(), false),
    c_integer(MPI_UNSIGNED, "MPI_UNSIGNED", size_of::<c_int>(), false),
    external(c_integer(MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", size_of::<c_long>(), false), 4),
    c_integer(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", size_of::<c_longlong>(), false),
    float(MPI_FLOAT, "MPI_FLOAT", Single),
    #[cfg(feature = "mpich")]
    float(MPIX_C_FLOAT16, "MPIX_C_FLOAT16", Half),
    complex(MPI_C_COMPLEX, "MPI_C_COMPLEX", Single),
    complex(MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", Single),
    float(MPI_DOUBLE, "MPI_DOUBLE", Double),
    complex(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", Double),
    complex(MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", Double),
    logical(MPI_LOGICAL, "MPI_LOGICAL", 4),
    integer(MPI_INTEGER, "MPI_INTEGER", 4),
    float(MPI_REAL, "MPI_REAL", Single),
    complex(MPI_COMPLEX, "MPI_COMPLEX", Single),
    float(MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", Double),
    optional(complex(MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", Double)),
    basic(MPI_CHARACTER, "MPI_CHARACTER", 1, BasicKind::Char),
    float(MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", LongDouble),
    complex(MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", LongDouble),
    complex(MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", LongDouble),
    pair(MPI_FLOAT_INT, "MPI_FLOAT_INT", PairMember::Float(Single), INT),
    pair(MPI_DOUBLE_INT, "MPI_DOUBLE_INT", PairMember::Float(Double), INT),
    external(pair(MPI_LONG_INT, "MPI_LONG_INT", PairMember::Integer { bytes: size_of::<c_long>() }, INT), 8),
    pair(MPI_2INT, "MPI_2INT", INT, INT),
    pair(MPI_SHORT_INT, "MPI_SHORT_INT", PairMember::Integer { bytes: size_of::<c_short>() }, INT),
    pair(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", PairMember::Float(LongDouble), INT),
    pair(MPI_2REAL, "MPI_2REAL", PairMember::Float(Single), PairMember::Float(Single)),
    pair(
        MPI_2DOUBLE_PRECISION,
        "MPI_2DOUBLE_PRECISION",
        PairMember::Float(Double),
        PairMember::Float(Double),
    ),
    pair(MPI_2INTEGER, "MPI_2INTEGER", INT, INT),
    logical(MPI_C_BOOL, "MPI_C_BOOL", 1),
    logical(MPI_CXX_BOOL, "MPI_CXX_BOOL", 1),
    external(basic(MPI_WCHAR, "MPI_WCHAR", 4, BasicKind::WideChar), 2),
    c_integer(MPI_INT8_T, "MPI_INT8_T", 1, true),
    c_integer(MPI_UINT8_T, "MPI_UINT8_T", 1, false),
    // The standard has no operation for it. MPICH and Open MPI have those of char as an integer, and programs (PETSc) use them.
    c_integer(MPI_CHAR, "MPI_CHAR", 1, c_char::MIN != 0),
    c_integer(MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", 1, true),
    c_integer(MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", 1, false),
    basic(MPI_BYTE, "MPI_BYTE", 1, BasicKind::Byte),
    c_integer(MPI_INT16_T, "MPI_INT16_T", 2, true),
    c_integer(MPI_UINT16_T, "MPI_UINT16_T", 2, false),
    c_integer(MPI_INT32_T, "MPI_INT32_T", 4, true),
    c_integer(MPI_UINT32_T, "MPI_UINT32_T", 4, false),
    c_integer(MPI_INT64_T, "MPI_INT64_T", 8, true),
    c_integer(MPI_UINT64_T, "MPI_UINT64_T", 8, false),
    optional(logical(MPI_LOGICAL1, "MPI_LOGICAL1", 1)),
    optional(integer(MPI_INTEGER1, "MPI_INTEGER1", 1)),
    optional(logical(MPI_LOGICAL2, "MPI_LOGICAL2", 2)),
    optional(integer(MPI_INTEGER2, "MPI_INTEGER2", 2)),
    optional(float(MPI_REAL2, "MPI_REAL2", Half)),
    optional(logical(MPI_LOGICAL4, "MPI_LOGICAL4", 4)),
    optional(integer(MPI_INTEGER4, "MPI_INTEGER4", 4)),
    optional(float(MPI_REAL4, "MPI_REAL4", Single)),
    optional(complex(MPI_COMPLEX4, "MPI_COMPLEX4", Half)),
    optional(logical(MPI_LOGICAL8, "MPI_LOGICAL8", 8)),
    optional(integer(MPI_INTEGER8, "MPI_INTEGER8", 8)),
    optional(float(MPI_REAL8, "MPI_REAL8", Double)),
    optional(complex(MPI_COMPLEX8, "MPI_COMPLEX8", Single)),
    optional(logical(MPI_LOGICAL16, "MPI_LOGICAL16", 16)),
    optional(integer(MPI_INTEGER16, "MPI_INTEGER16", 16)),
    optional(float(MPI_REAL16, "MPI_REAL16", Quad)),
    optional(complex(MPI_COMPLEX16, "MPI_COMPLEX16", Double)),
    optional(complex(MPI_COMPLEX32, "MPI_COMPLEX32", Quad)),
];

/// A row of the operations.
const fn operation(handle: MPI_Op, name: &'static str, collective: bool) -> PredefinedOperation {
    PredefinedOperation { handle, name, commutative: true, collective }
}

/// The predefined operations, in the order of their handles.
pub const OPERATIONS: &[PredefinedOperation] = &[
    operation(MPI_SUM, "MPI_SUM", true),
    operation(MPI_MIN, "MPI_MIN", true),
    operation(MPI_MAX, "MPI_MAX", true),
    operation(MPI_PROD, "MPI_PROD", true),
    operation(MPI_BAND, "MPI_BAND", true),
    operation(MPI_BOR, "MPI_BOR", true),
    operation(MPI_BXOR, "MPI_BXOR", true),
    operation(MPI_LAND, "MPI_LAND", true),
    operation(MPI_LOR, "MPI_LOR", true),
    operation(MPI_LXOR, "MPI_LXOR", true),
    operation(MPI_MINLOC, "MPI_MINLOC", true),
    operation(MPI_MAXLOC, "MPI_MAXLOC", true),
    PredefinedOperation { commutative: false, ..operation(MPI_REPLACE, "MPI_REPLACE", false) },
    PredefinedOperation { commutative: false, ..operation(MPI_NO_OP, "MPI_NO_OP", false) },
];

/// The row of a predefined datatype; `None` for `MPI_DATATYPE_NULL` and for handles that are not predefined.
pub const fn datatype(handle: MPI_Datatype) -> Option<&'static PredefinedDatatype> {
    let mut i = 0;
    while i < DATATYPES.len() {
        if DATATYPES[i].handle.0 == handle.0 {
            return Some(&DATATYPES[i]);
        }
        i += 1;
    }
    None
}

const _: () = assert!(size_of::<c_short>() == 2 && size_of::<c_int>() == 4 && size_of::<c_long>() == 8);
const _: () = assert!(align_of::<i64>() == 8 && align_of::<f64>() == 8 && align_of::<i128>() == 16);
