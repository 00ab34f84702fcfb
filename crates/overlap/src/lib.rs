//! Blocking calls of programs that nobody changes, made asynchronous: sends, receives and file I/O go on while the program computes.
//!
//! After Natvig and Elster, *Run-time Optimization of Sends, Receives and File I/O*. Over whatever MPI is in the process, through
//! `client`; the files alone need none. `overlap-preload` has the names under which programs reach this.
#![deny(unsafe_code)]

use std::sync::atomic::AtomicU8;

/// What has to be done before the program calls MPI; 0 if there is nothing. Each call looks at it first.
pub static ATTENTION: AtomicU8 = AtomicU8::new(0);
/// Messages are on their way, which have to be completed.
pub const MESSAGES: u8 = 1;
/// Files have data that others cannot see yet.
pub const FILES: u8 = 2;

pub mod files;
pub mod memory;
pub mod messages;
pub mod report;
pub mod settings;
