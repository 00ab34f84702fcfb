//! Constants of the standard's chapter 8, "Virtual Topologies for MPI Processes".

use core::ffi::c_int;

// Answers of MPI_Topo_test.
pub const MPI_CART: c_int = 2;
pub const MPI_GRAPH: c_int = 1;
pub const MPI_DIST_GRAPH: c_int = 3;

// Instead of an array of edge weights: there are none, or the array is empty.
pub const MPI_UNWEIGHTED: usize = 10;
pub const MPI_WEIGHTS_EMPTY: usize = 11;
