//! Every constant of the ABI, by chapter of the standard. The files are lists of facts.
//!
//! A handle has the type of its kind. A number is a `c_int`, except where the standard says otherwise. The length of a
//! string is a `usize`, since it is the size of a buffer. An address with a special meaning is a `usize`, too: it is compared
//! with the address that a caller passes, and never followed.
//!
//! The names say what the constants are, and a line above each group of them says what the group is for, so they are not
//! documented one by one.

#![allow(missing_docs)]

mod collectives;
mod communicators;
mod datatypes;
mod environment;
mod info;
mod io;
mod language_bindings;
mod one_sided;
mod point_to_point;
mod processes;
mod terms;
mod tools;
mod topologies;

pub use collectives::*;
pub use communicators::*;
pub use datatypes::*;
pub use environment::*;
pub use info::*;
pub use io::*;
pub use language_bindings::*;
pub use one_sided::*;
pub use point_to_point::*;
pub use processes::*;
pub use terms::*;
pub use tools::*;
pub use topologies::*;
