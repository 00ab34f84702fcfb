//! System V IPC in user space: message queues, semaphore sets and shared memory that belong to a *name space*, a private
//! directory, and that its processes operate themselves.
//!
//! - [`semantics`] says what the calls mean: values in, values out, without a system call.
//! - [`space`] is the name space: one file that all its processes have mapped, with locks that outlive their holders.
//! - [`calls`] are the functions that programs know, over a name space. The library that is loaded before a program (crate
//!   `ipc-preload`) gives them the names of the C library.
//!
//! - [`hosts`] is the server of a host, where a name space has several.
//!
//! See docs/IPC.md.
#![deny(unsafe_code)]

pub mod calls;
pub mod hosts;
pub mod semantics;
pub mod space;
