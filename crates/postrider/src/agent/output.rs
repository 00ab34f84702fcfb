//! What the ranks of a host write, on its way to the head.
//!
//! Pieces go as they come; the head makes lines of them. The head gives credit for the output and for the error output: without
//! it the pipes are not read and the ranks wait in turn, while the control channel stays free for everything else.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::control::{Channel, OUTPUT_WINDOW_BYTES, ToHead};
use crate::output::READ_BYTES;

struct Pipe {
    rank: u32,
    error: bool,
    source: Option<File>,
}

/// The pipes from the ranks.
pub struct Outputs {
    pipes: Vec<Pipe>,
    /// What the head takes now of output and of error output.
    credit: [usize; 2],
    buffer: Vec<u8>,
}

impl Outputs {
    /// No pipes yet.
    pub fn new() -> Self {
        Self { pipes: Vec::new(), credit: [OUTPUT_WINDOW_BYTES; 2], buffer: vec![0; READ_BYTES] }
    }

    /// Adds the pipes of a rank, which must not block.
    pub fn add(&mut self, rank: u32, output: OwnedFd, error: OwnedFd) {
        for (error, source) in [(false, output), (true, error)] {
            self.pipes.push(Pipe { rank, error, source: Some(source.into()) });
        }
    }

    /// The head takes so much more.
    pub fn allow(&mut self, error: bool, bytes: usize) {
        self.credit[usize::from(error)] += bytes;
    }

    /// Adds what has to be waited for.
    pub fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        let open = self.pipes.iter().filter(|pipe| self.credit[usize::from(pipe.error)] > 0);
        entries.extend(open.filter_map(|pipe| Some(PollFd::new(pipe.source.as_ref()?, PollFlags::IN))));
    }

    /// Sends what is there as far as the head takes it. False when there was nothing.
    pub fn move_to(&mut self, channel: &mut Channel) -> bool {
        let ready = self.ready();
        for &number in &ready {
            let pipe = &mut self.pipes[number];
            let credit = &mut self.credit[usize::from(pipe.error)];
            let Some(source) = pipe.source.as_mut().filter(|_| *credit > 0) else { continue };
            let room = READ_BYTES.min(*credit);
            match source.read(&mut self.buffer[..room]) {
                Ok(bytes @ 1..) => {
                    *credit -= bytes;
                    channel.send(&ToHead::Output(pipe.rank, pipe.error, self.buffer[..bytes].to_vec()));
                }
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Ok(0) | Err(_) => {
                    pipe.source = None;
                    channel.send(&ToHead::Output(pipe.rank, pipe.error, Vec::new()));
                }
            }
        }
        !ready.is_empty()
    }

    /// The pipes with something to read, or at their end.
    fn ready(&self) -> Vec<usize> {
        let open = self.pipes.iter().enumerate().filter_map(|(n, pipe)| Some((n, pipe.source.as_ref()?)));
        let (numbers, mut entries): (Vec<usize>, Vec<PollFd<'_>>) =
            open.map(|(number, source)| (number, PollFd::new(source, PollFlags::IN))).unzip();
        let _interrupted = poll(&mut entries, Some(&Timespec::default()));
        let ready = numbers.into_iter().zip(&entries).filter(|(_, entry)| !entry.revents().is_empty());
        ready.map(|(number, _)| number).collect()
    }
}
