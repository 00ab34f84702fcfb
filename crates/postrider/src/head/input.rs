//! The head's standard input on its way to rank 0, which has it on whatever host it runs.
//!
//! As much is read as fits the window; the rest waits where it is until rank 0 has taken some. A terminal is read only while the
//! job is in its foreground, as on one host.

use std::io::{self, IsTerminal};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;

use crate::control::INPUT_WINDOW_BYTES;
use crate::terminal::{INPUT_BYTES, in_foreground, read_input};

/// What rank 0 reads.
#[derive(Debug)]
pub struct HeadInput {
    terminal: bool,
    open: bool,
    under_way_bytes: usize,
}

impl HeadInput {
    /// Nothing is under way yet.
    pub fn new() -> Self {
        Self { terminal: io::stdin().is_terminal(), open: true, under_way_bytes: 0 }
    }

    /// Whether the input should be waited for.
    pub fn wants_more(&self) -> bool {
        let room = self.under_way_bytes + INPUT_BYTES <= INPUT_WINDOW_BYTES;
        self.open && room && (!self.terminal || in_foreground())
    }

    /// Whether somebody must look again later if the job has come to the foreground.
    pub fn is_in_background(&self) -> bool {
        self.open && self.terminal && !in_foreground()
    }

    /// Some input, if there is any now; nothing at its end.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        if !self.wants_more() {
            return None;
        }
        let mut entry = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
        if !poll(&mut entry, Some(&Timespec::default())).is_ok_and(|ready| ready > 0) {
            return None;
        }
        let bytes = read_input()?;
        self.under_way_bytes += bytes.len();
        self.open = !bytes.is_empty();
        Some(bytes)
    }

    /// Rank 0 has taken so much.
    pub fn taken(&mut self, bytes: usize) {
        self.under_way_bytes = self.under_way_bytes.saturating_sub(bytes);
    }

    /// Rank 0 takes no more.
    pub fn close(&mut self) {
        self.open = false;
    }
}
