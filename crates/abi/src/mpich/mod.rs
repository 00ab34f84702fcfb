//! MPICH's ABI, that of `libmpi.so.12`: other handles, another `MPI_Status`, other values of constants. The numbers are those of
//! MPICH's header, which it promises not to change; a test compares them with an installed one.

pub mod constants;
pub mod representation;
