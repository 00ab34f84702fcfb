//! Constants of the standard's chapter 9, "MPI Environmental Management".
//!
//! Error codes that are not classes are the library's own; `MPI_Error_class` maps them to a class.

use crate::types::MPI_Errhandler;
use core::ffi::c_int;

// Version of the standard, and of its application binary interface.
pub const MPI_VERSION: c_int = 5;
pub const MPI_SUBVERSION: c_int = 0;
pub const MPI_ABI_VERSION: c_int = -1;
pub const MPI_ABI_SUBVERSION: c_int = -1;

// Lengths of strings that MPI returns, including the terminating zero.
pub const MPI_MAX_ERROR_STRING: usize = 512;
pub const MPI_MAX_LIBRARY_VERSION_STRING: usize = 8192;
pub const MPI_MAX_OBJECT_NAME: usize = 128;
pub const MPI_MAX_PROCESSOR_NAME: usize = 128;

// Attributes that MPI_COMM_WORLD has; MPI_HOST is deprecated.
pub const MPI_TAG_UB: c_int = 0x6440_0001;
pub const MPI_IO: c_int = 0x6440_0005;
pub const MPI_HOST: c_int = 0x6440_0003;
pub const MPI_WTIME_IS_GLOBAL: c_int = 0x6440_0007;
pub const MPI_APPNUM: c_int = 0x6440_000d;
pub const MPI_LASTUSEDCODE: c_int = 0x6440_000b;
pub const MPI_UNIVERSE_SIZE: c_int = 0x6440_0009;

// Predefined error handlers.
pub const MPI_ERRHANDLER_NULL: MPI_Errhandler = MPI_Errhandler(0x1400_0000);
pub const MPI_ERRORS_ARE_FATAL: MPI_Errhandler = MPI_Errhandler(0x5400_0000);
pub const MPI_ERRORS_ABORT: MPI_Errhandler = MPI_Errhandler(0x5400_0003);
pub const MPI_ERRORS_RETURN: MPI_Errhandler = MPI_Errhandler(0x5400_0001);

// Error classes.
pub const MPI_SUCCESS: c_int = 0;
pub const MPI_ERR_BUFFER: c_int = 1;
pub const MPI_ERR_COUNT: c_int = 2;
pub const MPI_ERR_TYPE: c_int = 3;
pub const MPI_ERR_TAG: c_int = 4;
pub const MPI_ERR_COMM: c_int = 5;
pub const MPI_ERR_RANK: c_int = 6;
pub const MPI_ERR_REQUEST: c_int = 19;
pub const MPI_ERR_ROOT: c_int = 7;
pub const MPI_ERR_GROUP: c_int = 8;
pub const MPI_ERR_OP: c_int = 9;
pub const MPI_ERR_TOPOLOGY: c_int = 10;
pub const MPI_ERR_DIMS: c_int = 11;
pub const MPI_ERR_ARG: c_int = 12;
pub const MPI_ERR_UNKNOWN: c_int = 13;
pub const MPI_ERR_TRUNCATE: c_int = 14;
pub const MPI_ERR_OTHER: c_int = 15;
pub const MPI_ERR_INTERN: c_int = 16;
pub const MPI_ERR_PENDING: c_int = 18;
pub const MPI_ERR_IN_STATUS: c_int = 17;
pub const MPI_ERR_ACCESS: c_int = 20;
pub const MPI_ERR_AMODE: c_int = 21;
pub const MPI_ERR_ASSERT: c_int = 53;
pub const MPI_ERR_BAD_FILE: c_int = 22;
pub const MPI_ERR_BASE: c_int = 46;
pub const MPI_ERR_CONVERSION: c_int = 23;
pub const MPI_ERR_DISP: c_int = 52;
pub const MPI_ERR_DUP_DATAREP: c_int = 24;
pub const MPI_ERR_FILE_EXISTS: c_int = 25;
pub const MPI_ERR_FILE_IN_USE: c_int = 26;
pub const MPI_ERR_FILE: c_int = 27;
pub const MPI_ERR_INFO_KEY: c_int = 29;
pub const MPI_ERR_INFO_NOKEY: c_int = 31;
pub const MPI_ERR_INFO_VALUE: c_int = 30;
pub const MPI_ERR_INFO: c_int = 28;
pub const MPI_ERR_IO: c_int = 32;
pub const MPI_ERR_KEYVAL: c_int = 48;
pub const MPI_ERR_LOCKTYPE: c_int = 47;
pub const MPI_ERR_NAME: c_int = 33;
pub const MPI_ERR_NO_MEM: c_int = 34;
pub const MPI_ERR_NOT_SAME: c_int = 35;
pub const MPI_ERR_NO_SPACE: c_int = 36;
pub const MPI_ERR_NO_SUCH_FILE: c_int = 37;
pub const MPI_ERR_PORT: c_int = 38;
pub const MPI_ERR_QUOTA: c_int = 39;
pub const MPI_ERR_READ_ONLY: c_int = 40;
pub const MPI_ERR_RMA_ATTACH: c_int = 56;
pub const MPI_ERR_RMA_CONFLICT: c_int = 49;
pub const MPI_ERR_RMA_RANGE: c_int = 55;
pub const MPI_ERR_RMA_SHARED: c_int = 57;
pub const MPI_ERR_RMA_SYNC: c_int = 50;
pub const MPI_ERR_SERVICE: c_int = 41;
pub const MPI_ERR_SIZE: c_int = 51;
pub const MPI_ERR_SPAWN: c_int = 42;
pub const MPI_ERR_UNSUPPORTED_DATAREP: c_int = 43;
pub const MPI_ERR_UNSUPPORTED_OPERATION: c_int = 44;
pub const MPI_ERR_WIN: c_int = 45;
pub const MPI_ERR_RMA_FLAVOR: c_int = 58;
pub const MPI_ERR_PROC_ABORTED: c_int = 76;
pub const MPI_ERR_VALUE_TOO_LARGE: c_int = 77;
pub const MPI_ERR_SESSION: c_int = 75;
pub const MPI_ERR_ERRHANDLER: c_int = 80;
pub const MPI_ERR_ABI: c_int = 81;

// No error class that MPI defines is greater; codes that users add are.
pub const MPI_ERR_LASTCODE: c_int = 0x3fff_ffff;
