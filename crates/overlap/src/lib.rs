//! Blocking calls of programs that nobody changes, made asynchronous: sends, receives and file I/O go on while the program computes.
//!
//! After Natvig and Elster, *Run-time Optimization of Sends, Receives and File I/O*. Over whatever MPI is in the process, through
//! `client`; the files alone need none. `overlap-preload` has the names under which programs reach this.
#![deny(unsafe_code)]

pub mod files;
pub mod memory;
pub mod messages;
pub mod settings;
