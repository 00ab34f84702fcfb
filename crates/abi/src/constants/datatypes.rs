//! Constants of the standard's chapter 5 and section 3.2.2, "Datatypes".
//!
//! Size, alignment and kind of each predefined datatype are in [`crate::predefined`].

use crate::types::MPI_Datatype;
use core::ffi::c_int;

// The null handle, addresses and counts, and packed data.
pub const MPI_DATATYPE_NULL: MPI_Datatype = MPI_Datatype(0x200);
pub const MPI_AINT: MPI_Datatype = MPI_Datatype(0x201);
pub const MPI_COUNT: MPI_Datatype = MPI_Datatype(0x202);
pub const MPI_OFFSET: MPI_Datatype = MPI_Datatype(0x203);
pub const MPI_PACKED: MPI_Datatype = MPI_Datatype(0x207);

// C integers.
pub const MPI_SHORT: MPI_Datatype = MPI_Datatype(0x208);
pub const MPI_INT: MPI_Datatype = MPI_Datatype(0x209);
pub const MPI_LONG: MPI_Datatype = MPI_Datatype(0x20a);
pub const MPI_LONG_LONG_INT: MPI_Datatype = MPI_Datatype(0x20b);
pub const MPI_UNSIGNED_SHORT: MPI_Datatype = MPI_Datatype(0x20c);
pub const MPI_UNSIGNED: MPI_Datatype = MPI_Datatype(0x20d);
pub const MPI_UNSIGNED_LONG: MPI_Datatype = MPI_Datatype(0x20e);
pub const MPI_UNSIGNED_LONG_LONG: MPI_Datatype = MPI_Datatype(0x20f);

// Another name of the same datatype.
pub const MPI_LONG_LONG: MPI_Datatype = MPI_LONG_LONG_INT;

// C and C++ floating point and complex.
pub const MPI_FLOAT: MPI_Datatype = MPI_Datatype(0x210);
pub const MPI_C_COMPLEX: MPI_Datatype = MPI_Datatype(0x212);
pub const MPI_CXX_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x213);
pub const MPI_DOUBLE: MPI_Datatype = MPI_Datatype(0x214);
pub const MPI_C_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x216);
pub const MPI_CXX_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x217);
pub const MPI_LONG_DOUBLE: MPI_Datatype = MPI_Datatype(0x220);
pub const MPI_C_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x224);
pub const MPI_CXX_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x225);

// Another name of the same datatype, as in C itself.
pub const MPI_C_FLOAT_COMPLEX: MPI_Datatype = MPI_C_COMPLEX;

// Fortran types of default kind.
pub const MPI_LOGICAL: MPI_Datatype = MPI_Datatype(0x218);
pub const MPI_INTEGER: MPI_Datatype = MPI_Datatype(0x219);
pub const MPI_REAL: MPI_Datatype = MPI_Datatype(0x21a);
pub const MPI_COMPLEX: MPI_Datatype = MPI_Datatype(0x21b);
pub const MPI_DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x21c);
pub const MPI_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x21d);
pub const MPI_CHARACTER: MPI_Datatype = MPI_Datatype(0x21e);

// Pairs of a value and an index, for MPI_MINLOC and MPI_MAXLOC.
pub const MPI_FLOAT_INT: MPI_Datatype = MPI_Datatype(0x228);
pub const MPI_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x229);
pub const MPI_LONG_INT: MPI_Datatype = MPI_Datatype(0x22a);
pub const MPI_2INT: MPI_Datatype = MPI_Datatype(0x22b);
pub const MPI_SHORT_INT: MPI_Datatype = MPI_Datatype(0x22c);
pub const MPI_LONG_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x22d);
pub const MPI_2REAL: MPI_Datatype = MPI_Datatype(0x230);
pub const MPI_2DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x231);
pub const MPI_2INTEGER: MPI_Datatype = MPI_Datatype(0x232);

// C and C++ logical values, and wide characters.
pub const MPI_C_BOOL: MPI_Datatype = MPI_Datatype(0x238);
pub const MPI_CXX_BOOL: MPI_Datatype = MPI_Datatype(0x239);
pub const MPI_WCHAR: MPI_Datatype = MPI_Datatype(0x23c);

// Bytes, characters, and C integers of a stated size.
pub const MPI_INT8_T: MPI_Datatype = MPI_Datatype(0x240);
pub const MPI_UINT8_T: MPI_Datatype = MPI_Datatype(0x241);
pub const MPI_CHAR: MPI_Datatype = MPI_Datatype(0x243);
pub const MPI_SIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x244);
pub const MPI_UNSIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x245);
pub const MPI_BYTE: MPI_Datatype = MPI_Datatype(0x247);
pub const MPI_INT16_T: MPI_Datatype = MPI_Datatype(0x248);
pub const MPI_UINT16_T: MPI_Datatype = MPI_Datatype(0x249);
pub const MPI_INT32_T: MPI_Datatype = MPI_Datatype(0x250);
pub const MPI_UINT32_T: MPI_Datatype = MPI_Datatype(0x251);
pub const MPI_INT64_T: MPI_Datatype = MPI_Datatype(0x258);
pub const MPI_UINT64_T: MPI_Datatype = MPI_Datatype(0x259);

// Fortran types of a stated size; all are optional.
pub const MPI_LOGICAL1: MPI_Datatype = MPI_Datatype(0x2c0);
pub const MPI_INTEGER1: MPI_Datatype = MPI_Datatype(0x2c1);
pub const MPI_LOGICAL2: MPI_Datatype = MPI_Datatype(0x2c8);
pub const MPI_INTEGER2: MPI_Datatype = MPI_Datatype(0x2c9);
pub const MPI_REAL2: MPI_Datatype = MPI_Datatype(0x2ca);
pub const MPI_LOGICAL4: MPI_Datatype = MPI_Datatype(0x2d0);
pub const MPI_INTEGER4: MPI_Datatype = MPI_Datatype(0x2d1);
pub const MPI_REAL4: MPI_Datatype = MPI_Datatype(0x2d2);
pub const MPI_COMPLEX4: MPI_Datatype = MPI_Datatype(0x2d3);
pub const MPI_LOGICAL8: MPI_Datatype = MPI_Datatype(0x2d8);
pub const MPI_INTEGER8: MPI_Datatype = MPI_Datatype(0x2d9);
pub const MPI_REAL8: MPI_Datatype = MPI_Datatype(0x2da);
pub const MPI_COMPLEX8: MPI_Datatype = MPI_Datatype(0x2db);
pub const MPI_LOGICAL16: MPI_Datatype = MPI_Datatype(0x2e0);
pub const MPI_INTEGER16: MPI_Datatype = MPI_Datatype(0x2e1);
pub const MPI_REAL16: MPI_Datatype = MPI_Datatype(0x2e2);
pub const MPI_COMPLEX16: MPI_Datatype = MPI_Datatype(0x2e3);
pub const MPI_COMPLEX32: MPI_Datatype = MPI_Datatype(0x2eb);

// Constructors, as MPI_Type_get_envelope reports them.
pub const MPI_COMBINER_NAMED: c_int = 101;
pub const MPI_COMBINER_DUP: c_int = 102;
pub const MPI_COMBINER_CONTIGUOUS: c_int = 103;
pub const MPI_COMBINER_VECTOR: c_int = 104;
pub const MPI_COMBINER_HVECTOR: c_int = 105;
pub const MPI_COMBINER_INDEXED: c_int = 106;
pub const MPI_COMBINER_HINDEXED: c_int = 107;
pub const MPI_COMBINER_INDEXED_BLOCK: c_int = 108;
pub const MPI_COMBINER_HINDEXED_BLOCK: c_int = 109;
pub const MPI_COMBINER_STRUCT: c_int = 110;
pub const MPI_COMBINER_SUBARRAY: c_int = 111;
pub const MPI_COMBINER_DARRAY: c_int = 112;
pub const MPI_COMBINER_F90_REAL: c_int = 113;
pub const MPI_COMBINER_F90_COMPLEX: c_int = 114;
pub const MPI_COMBINER_F90_INTEGER: c_int = 115;
pub const MPI_COMBINER_RESIZED: c_int = 116;
pub const MPI_COMBINER_VALUE_INDEX: c_int = 117;

// Storage order of arrays in MPI_Type_create_subarray and MPI_Type_create_darray.
pub const MPI_ORDER_C: c_int = 12;
pub const MPI_ORDER_FORTRAN: c_int = 15;

// Distribution of an array dimension in MPI_Type_create_darray.
pub const MPI_DISTRIBUTE_NONE: c_int = 16;
pub const MPI_DISTRIBUTE_BLOCK: c_int = 17;
pub const MPI_DISTRIBUTE_CYCLIC: c_int = 18;
pub const MPI_DISTRIBUTE_DFLT_DARG: c_int = 19;
