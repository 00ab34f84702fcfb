//! `libpostrider_overlap.so`: names of MPI and of the C library, in whose place the functions of the crate `overlap` work.
//!
//! Each name is a few instructions that go on to the next library's function of this name, unless the layer has to do something before.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod files;
#[allow(unsafe_code)]
mod next;
#[allow(unsafe_code)]
mod streams;

// Messages are for this processor alone: registers and calls of the system are looked at.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod memory;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod messages;

/// The name by which the library knows that it is loaded.
// SAFETY: no other library has this name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn postrider_overlap() {}
