//! `libpostrider_overlap.so`: names of MPI and of the C library, in whose place the functions of the crate `overlap` work.
#![deny(unsafe_code)]

/// The name by which the library knows that it is loaded. It keeps the library from being empty.
// SAFETY: no other library has this name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn postrider_overlap() {}
