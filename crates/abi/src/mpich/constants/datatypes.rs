//! Constants of the standard's chapter 5 and section 3.2.2, "Datatypes".
//!
//! Size, alignment and kind of each predefined datatype are in [`crate::predefined`].

use crate::types::MPI_Datatype;
use core::ffi::c_int;

// The null handle, addresses and counts, and packed data.
pub const MPI_DATATYPE_NULL: MPI_Datatype = MPI_Datatype(0x0c00_0000);
pub const MPI_AINT: MPI_Datatype = MPI_Datatype(0x4c00_0843);
pub const MPI_COUNT: MPI_Datatype = MPI_Datatype(0x4c00_0845);
pub const MPI_OFFSET: MPI_Datatype = MPI_Datatype(0x4c00_0844);
pub const MPI_PACKED: MPI_Datatype = MPI_Datatype(0x4c00_010f);

// C integers.
pub const MPI_SHORT: MPI_Datatype = MPI_Datatype(0x4c00_0203);
pub const MPI_INT: MPI_Datatype = MPI_Datatype(0x4c00_0405);
pub const MPI_LONG: MPI_Datatype = MPI_Datatype(0x4c00_0807);
pub const MPI_LONG_LONG: MPI_Datatype = MPI_Datatype(0x4c00_0809);
pub const MPI_UNSIGNED_SHORT: MPI_Datatype = MPI_Datatype(0x4c00_0204);
pub const MPI_UNSIGNED: MPI_Datatype = MPI_Datatype(0x4c00_0406);
pub const MPI_UNSIGNED_LONG: MPI_Datatype = MPI_Datatype(0x4c00_0808);
pub const MPI_UNSIGNED_LONG_LONG: MPI_Datatype = MPI_Datatype(0x4c00_0819);

// Another name of the same datatype.
pub const MPI_LONG_LONG_INT: MPI_Datatype = MPI_Datatype(0x4c00_0809);

// C and C++ floating point and complex.
pub const MPI_FLOAT: MPI_Datatype = MPI_Datatype(0x4c00_040a);
pub const MPI_C_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_0840);
pub const MPI_CXX_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_0834);
pub const MPI_DOUBLE: MPI_Datatype = MPI_Datatype(0x4c00_080b);
pub const MPI_C_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_1041);
pub const MPI_CXX_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_1035);
pub const MPI_LONG_DOUBLE: MPI_Datatype = MPI_Datatype(0x4c00_100c);
pub const MPI_C_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_2042);
pub const MPI_CXX_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_2036);

// Another name of the same datatype, as in C itself.
pub const MPI_C_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_0840);

// An addition of MPICH's own to the standard: `_Float16` of C.
pub const MPIX_C_FLOAT16: MPI_Datatype = MPI_Datatype(0x4c00_0246);

// Fortran types of default kind.
pub const MPI_LOGICAL: MPI_Datatype = MPI_Datatype(0x4c00_041d);
pub const MPI_INTEGER: MPI_Datatype = MPI_Datatype(0x4c00_041b);
pub const MPI_REAL: MPI_Datatype = MPI_Datatype(0x4c00_041c);
pub const MPI_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_081e);
pub const MPI_DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x4c00_081f);
pub const MPI_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00_1022);
pub const MPI_CHARACTER: MPI_Datatype = MPI_Datatype(0x4c00_011a);

// Pairs of a value and an index, for MPI_MINLOC and MPI_MAXLOC.
pub const MPI_FLOAT_INT: MPI_Datatype = MPI_Datatype(0x8c00_0000_u32 as c_int);
pub const MPI_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x8c00_0001_u32 as c_int);
pub const MPI_LONG_INT: MPI_Datatype = MPI_Datatype(0x8c00_0002_u32 as c_int);
pub const MPI_2INT: MPI_Datatype = MPI_Datatype(0x4c00_0816);
pub const MPI_SHORT_INT: MPI_Datatype = MPI_Datatype(0x8c00_0003_u32 as c_int);
pub const MPI_LONG_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x8c00_0004_u32 as c_int);
pub const MPI_2REAL: MPI_Datatype = MPI_Datatype(0x4c00_0821);
pub const MPI_2DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x4c00_1023);
pub const MPI_2INTEGER: MPI_Datatype = MPI_Datatype(0x4c00_0820);

// C and C++ logical values, and wide characters.
pub const MPI_C_BOOL: MPI_Datatype = MPI_Datatype(0x4c00_013f);
pub const MPI_CXX_BOOL: MPI_Datatype = MPI_Datatype(0x4c00_0133);
pub const MPI_WCHAR: MPI_Datatype = MPI_Datatype(0x4c00_040e);

// Bytes, characters, and C integers of a stated size.
pub const MPI_INT8_T: MPI_Datatype = MPI_Datatype(0x4c00_0137);
pub const MPI_UINT8_T: MPI_Datatype = MPI_Datatype(0x4c00_013b);
pub const MPI_CHAR: MPI_Datatype = MPI_Datatype(0x4c00_0101);
pub const MPI_SIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x4c00_0118);
pub const MPI_UNSIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x4c00_0102);
pub const MPI_BYTE: MPI_Datatype = MPI_Datatype(0x4c00_010d);
pub const MPI_INT16_T: MPI_Datatype = MPI_Datatype(0x4c00_0238);
pub const MPI_UINT16_T: MPI_Datatype = MPI_Datatype(0x4c00_023c);
pub const MPI_INT32_T: MPI_Datatype = MPI_Datatype(0x4c00_0439);
pub const MPI_UINT32_T: MPI_Datatype = MPI_Datatype(0x4c00_043d);
pub const MPI_INT64_T: MPI_Datatype = MPI_Datatype(0x4c00_083a);
pub const MPI_UINT64_T: MPI_Datatype = MPI_Datatype(0x4c00_083e);

// Fortran types of a stated size; all are optional.
pub const MPI_LOGICAL1: MPI_Datatype = MPI_Datatype(0x4c00_0147);
pub const MPI_INTEGER1: MPI_Datatype = MPI_Datatype(0x4c00_012d);
pub const MPI_LOGICAL2: MPI_Datatype = MPI_Datatype(0x4c00_0248);
pub const MPI_INTEGER2: MPI_Datatype = MPI_Datatype(0x4c00_022f);
pub const MPI_REAL2: MPI_Datatype = MPI_Datatype(0x4c00_0226);
pub const MPI_LOGICAL4: MPI_Datatype = MPI_Datatype(0x4c00_0449);
pub const MPI_INTEGER4: MPI_Datatype = MPI_Datatype(0x4c00_0430);
pub const MPI_REAL4: MPI_Datatype = MPI_Datatype(0x4c00_0427);
pub const MPI_COMPLEX4: MPI_Datatype = MPI_Datatype(0x4c00_042e);
pub const MPI_LOGICAL8: MPI_Datatype = MPI_Datatype(0x4c00_084a);
pub const MPI_INTEGER8: MPI_Datatype = MPI_Datatype(0x4c00_0831);
pub const MPI_REAL8: MPI_Datatype = MPI_Datatype(0x4c00_0829);
pub const MPI_COMPLEX8: MPI_Datatype = MPI_Datatype(0x4c00_0828);
pub const MPI_LOGICAL16: MPI_Datatype = MPI_Datatype(0x4c00_104b);
pub const MPI_INTEGER16: MPI_Datatype = MPI_Datatype(0x4c00_1032);
pub const MPI_REAL16: MPI_Datatype = MPI_Datatype(0x4c00_102b);
pub const MPI_COMPLEX16: MPI_Datatype = MPI_Datatype(0x4c00_102a);
pub const MPI_COMPLEX32: MPI_Datatype = MPI_Datatype(0x4c00_202c);

// Constructors, as MPI_Type_get_envelope reports them.
pub const MPI_COMBINER_NAMED: c_int = 1;
pub const MPI_COMBINER_DUP: c_int = 2;
pub const MPI_COMBINER_CONTIGUOUS: c_int = 3;
pub const MPI_COMBINER_VECTOR: c_int = 4;
pub const MPI_COMBINER_HVECTOR: c_int = 6;
pub const MPI_COMBINER_INDEXED: c_int = 7;
pub const MPI_COMBINER_HINDEXED: c_int = 9;
pub const MPI_COMBINER_INDEXED_BLOCK: c_int = 10;
pub const MPI_COMBINER_HINDEXED_BLOCK: c_int = 19;
pub const MPI_COMBINER_STRUCT: c_int = 12;
pub const MPI_COMBINER_SUBARRAY: c_int = 13;
pub const MPI_COMBINER_DARRAY: c_int = 14;
pub const MPI_COMBINER_F90_REAL: c_int = 15;
pub const MPI_COMBINER_F90_COMPLEX: c_int = 16;
pub const MPI_COMBINER_F90_INTEGER: c_int = 17;
pub const MPI_COMBINER_RESIZED: c_int = 18;
pub const MPI_COMBINER_VALUE_INDEX: c_int = 20;

// Storage order of arrays in MPI_Type_create_subarray and MPI_Type_create_darray.
pub const MPI_ORDER_C: c_int = 56;
pub const MPI_ORDER_FORTRAN: c_int = 57;

// Distribution of an array dimension in MPI_Type_create_darray.
pub const MPI_DISTRIBUTE_NONE: c_int = 123;
pub const MPI_DISTRIBUTE_BLOCK: c_int = 121;
pub const MPI_DISTRIBUTE_CYCLIC: c_int = 122;
pub const MPI_DISTRIBUTE_DFLT_DARG: c_int = -49767;
