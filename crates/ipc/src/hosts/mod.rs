//! A name space over several hosts.
//!
//! Each host has a name space of its own, in which its processes do everything for the objects that live there. An object lives where it was made,
//! its *home*, which its identifier says. What a process does with an object of another host it asks of the *server* of its own host (`space::asking`), an
//! MPI process, which sends the request to the server of the home. That one makes the call in the name of the process, with a thread of its own if it may have
//! to wait, and sends the answer.
//!
//! - [`packet`] is what they say to each other.
//! - [`server`] receives and sends.
//! - [`carrying`] makes the calls.
//! - [`segments`] moves pages of shared memory.
//! - [`keys`] remembers where the object of each key lives: each key has a host that does.

pub mod carrying;
mod keys;
pub mod packet;
pub mod segments;
pub mod server;

pub use server::{Waiting, serve};
