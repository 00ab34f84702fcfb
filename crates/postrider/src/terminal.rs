//! The terminal as the input of rank 0.
//!
//! Ranks lead process groups of their own, so none of them may read the terminal; the launcher reads it and passes
//! it on through a pipe. It reads only while it is in the foreground: a job started with `&` would be stopped by its first
//! attempt (`SIGTTIN`). An input that is a file or a pipe is not passed on: rank 0 has it directly.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::stdio::stdin;

/// What is on its way from the terminal to rank 0.
#[derive(Debug)]
pub struct TerminalInput {
    pipe: Option<File>,
    pending: Vec<u8>,
}

impl TerminalInput {
    /// Feeds `pipe`, whose writing end does not block.
    pub fn new(pipe: File) -> Self {
        Self { pipe: Some(pipe), pending: Vec::new() }
    }

    /// Whether the terminal should be waited for and read.
    pub fn wants_more(&self) -> bool {
        self.pipe.is_some() && self.pending.is_empty() && in_foreground()
    }

    /// Whether somebody must look again later if the job has come to the foreground.
    pub fn is_in_background(&self) -> bool {
        self.pipe.is_some() && !in_foreground()
    }

    /// The pipe, if rank 0 has not yet taken what was read.
    pub fn waits_for(&self) -> Option<&File> {
        self.pipe.as_ref().filter(|_| !self.pending.is_empty())
    }

    /// Reads what the terminal has. At its end (control-D) rank 0 sees the end of its input.
    pub fn read(&mut self) {
        let mut buffer = [0; 4096];
        match io::stdin().lock().read(&mut buffer) {
            Ok(n @ 1..) => {
                self.pending.extend_from_slice(&buffer[..n]);
                self.write();
            }
            Err(error) if is_momentary(&error) => {}
            Ok(0) | Err(_) => self.pipe = None,
        }
    }

    /// Writes what rank 0 takes now.
    pub fn write(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.write(&self.pending) {
            Ok(n) => drop(self.pending.drain(..n)),
            Err(error) if is_momentary(&error) => {}
            Err(_) => self.pipe = None,
        }
    }
}

fn is_momentary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn in_foreground() -> bool {
    rustix::termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}
