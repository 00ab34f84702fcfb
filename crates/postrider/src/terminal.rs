//! The terminal as the input of rank 0.
//!
//! Ranks lead process groups of their own, so none of them may read the terminal; the launcher reads it and passes
//! it on through a pipe. It reads only while it is in the foreground: a job started with `&` would be stopped by its first
//! attempt (`SIGTTIN`). An input that is a file or a pipe is not passed on: rank 0 has it directly.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::stdio::stdin;

/// Bytes read from an input at once.
pub const INPUT_BYTES: usize = 4096;

/// What is on its way to rank 0, through a pipe whose writing end does not block.
#[derive(Debug)]
pub struct Feed {
    pipe: Option<File>,
    pending: Vec<u8>,
    ends: bool,
}

impl Feed {
    /// Feeds `pipe`.
    pub fn new(pipe: File) -> Self {
        Self { pipe: Some(pipe), pending: Vec::new(), ends: false }
    }

    /// Adds bytes; none are the end of the input.
    pub fn add(&mut self, bytes: &[u8]) {
        self.ends |= bytes.is_empty();
        self.pending.extend_from_slice(bytes);
        self.write();
    }

    /// Whether rank 0 still takes anything.
    pub fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Bytes that rank 0 has not yet taken.
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    /// The pipe, if rank 0 has not yet taken what was read.
    pub fn waits_for(&self) -> Option<&File> {
        self.pipe.as_ref().filter(|_| !self.pending.is_empty())
    }

    /// Writes what rank 0 takes now.
    pub fn write(&mut self) {
        let Some(pipe) = self.pipe.as_mut().filter(|_| !self.pending.is_empty()) else {
            return self.end();
        };
        match pipe.write(&self.pending) {
            Ok(n) => drop(self.pending.drain(..n)),
            Err(error) if is_momentary(&error) => {}
            Err(_) => {
                self.pipe = None;
                self.pending.clear();
            }
        }
        self.end();
    }

    fn end(&mut self) {
        if self.ends && self.pending.is_empty() {
            self.pipe = None;
        }
    }
}

/// The terminal's input on its way to rank 0 of this host.
#[derive(Debug)]
pub struct TerminalInput {
    feed: Feed,
}

impl TerminalInput {
    /// Feeds `pipe`, whose writing end does not block.
    pub fn new(pipe: File) -> Self {
        Self { feed: Feed::new(pipe) }
    }

    /// Whether the terminal should be waited for and read.
    pub fn wants_more(&self) -> bool {
        self.feed.is_open() && self.feed.pending_bytes() == 0 && in_foreground()
    }

    /// Whether somebody must look again later if the job has come to the foreground.
    pub fn is_in_background(&self) -> bool {
        self.feed.is_open() && !in_foreground()
    }

    /// The pipe, if rank 0 has not yet taken what was read.
    pub fn waits_for(&self) -> Option<&File> {
        self.feed.waits_for()
    }

    /// Reads what the terminal has. At its end (control-D) rank 0 sees the end of its input.
    pub fn read(&mut self) {
        if let Some(bytes) = read_input() {
            self.feed.add(&bytes);
        }
    }

    /// Writes what rank 0 takes now.
    pub fn write(&mut self) {
        self.feed.write();
    }
}

/// Reads our standard input once: some bytes, or none at its end.
pub fn read_input() -> Option<Vec<u8>> {
    let mut buffer = [0; INPUT_BYTES];
    match io::stdin().lock().read(&mut buffer) {
        Ok(n) => Some(buffer[..n].to_vec()),
        Err(error) if is_momentary(&error) => None,
        Err(_) => Some(Vec::new()),
    }
}

fn is_momentary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Whether this process may read its terminal.
pub fn in_foreground() -> bool {
    rustix::termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}
