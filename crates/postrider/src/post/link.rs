//! A link to the post of another host: what waits to be written to it, and the end to read from.
//!
//! Both directions are streams of a [`Head`] and what follows it. Neither reading nor writing blocks. What waits for a link is kept also
//! while there is no link yet.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use postrider_os::file::write_some;
use postrider_os::link::{PIPE_BYTES, PIPE_PAUSE};
use postrider_os::memory::UserMemory;
use postrider_os::packet::{HEAD_BYTES, Head};
use rustix::fs::OFlags;

/// From here on nothing more is taken from rings and files for a link that does not take it.
pub const OUT_BYTES_MAX: usize = 1 << 20;
/// Bodies from here on are written from where they are; shorter ones are gathered, to have fewer system calls.
const DIRECT_BYTES_MIN: usize = 8 << 10;
/// When there is room in a pipe.
#[derive(Debug)]
pub enum Room<'a> {
    /// After about this time.
    Soon(Duration),
    /// When this is writable.
    In(BorrowedFd<'a>),
}

/// What goes to one host.
#[derive(Debug, Default)]
pub struct Outgoing {
    writer: Option<File>,
    bytes: Vec<u8>,
    written: usize,
    /// The desk whose packet is being written from where it is, and how much of it has been.
    begun: Option<(usize, usize)>,
    /// Whether the pipe holds as much as was asked for.
    is_roomy: bool,
    /// When something was written last.
    moved: Option<Instant>,
}

impl Outgoing {
    /// From now on everything is written to `writer`, whose number it returns.
    pub fn open(&mut self, writer: OwnedFd) -> io::Result<u32> {
        do_not_block(&writer)?;
        let _smaller_is_slower = rustix::pipe::fcntl_setpipe_size(&writer, PIPE_BYTES);
        self.is_roomy = rustix::pipe::fcntl_getpipe_size(&writer).is_ok_and(|bytes| bytes >= PIPE_BYTES);
        let descriptor = writer.as_raw_fd() as u32;
        self.writer = Some(writer.into());
        Ok(descriptor)
    }

    /// Closes a link that was lost. Its number stays taken, because ranks may be about to open it.
    pub fn over(self) -> Self {
        let nothing = File::options().write(true).open("/dev/null");
        let writer = self.writer.map(|writer| {
            let mut writer = OwnedFd::from(writer);
            let _still_open = nothing.map(|nothing| rustix::io::dup2(nothing, &mut writer));
            File::from(writer)
        });
        Self { writer, ..Self::default() }
    }

    /// Whether it should be left alone until it has been written.
    pub fn is_full(&self) -> bool {
        self.bytes.len() - self.written >= OUT_BYTES_MAX
    }

    /// Whether a packet of this desk may be sent now.
    pub fn is_open_to(&self, desk: usize) -> bool {
        match self.begun {
            Some((begun, _)) => begun == desk,
            None => !self.is_full(),
        }
    }

    /// Whether no packet is being written from where it is, so that another may be added.
    pub fn is_idle(&self) -> bool {
        self.begun.is_none()
    }

    /// Whether nothing has been begun or waits to be written.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == self.written && self.begun.is_none()
    }

    /// How to wait, if something waits to be written.
    pub fn waits_for(&self) -> Option<Room<'_>> {
        let writer = self.writer.as_ref().filter(|_| !self.is_empty())?;
        let moves = self.is_roomy && self.moved.is_some_and(|moved| moved.elapsed() < 10 * PIPE_PAUSE);
        Some(if moves { Room::Soon(PIPE_PAUSE) } else { Room::In(writer.as_fd()) })
    }

    /// Sends a packet of a desk. False when not all of it has been taken: then it is to be sent again, once there is room.
    pub fn send(&mut self, desk: usize, head: &Head, body: UserMemory) -> io::Result<bool> {
        let (head, bytes) = (head.encode(), head.bytes as usize);
        if bytes < DIRECT_BYTES_MIN {
            self.bytes.extend_from_slice(&head);
            let start = self.bytes.len();
            self.bytes.resize(start + bytes, 0);
            body.read(&mut self.bytes[start..]);
            return Ok(true);
        }
        self.flush()?;
        let Some(writer) = self.writer.as_ref().filter(|_| self.bytes.is_empty()) else { return Ok(false) };
        let (_, mut done) = self.begun.unwrap_or_default();
        let before = done;
        done += patient(write_some(writer, &head, body, bytes, done))?;
        if done > before {
            self.moved = Some(Instant::now());
        }
        let whole = done == HEAD_BYTES + bytes;
        self.begun = (!whole).then_some((desk, done));
        Ok(whole)
    }

    /// Sends a packet whose body `fill` writes; it has exactly the head's length.
    pub fn send_filled(
        &mut self,
        head: &Head,
        fill: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&head.encode());
        self.bytes.resize(start + HEAD_BYTES + head.bytes as usize, 0);
        let filled = fill(&mut self.bytes[start + HEAD_BYTES..]);
        if filled.is_err() {
            self.bytes.truncate(start);
        }
        filled
    }

    /// Writes what can be written now. True when that was all that had waited: nobody reports any more that there is room.
    pub fn flush(&mut self) -> io::Result<bool> {
        let Some(mut writer) = self.writer.as_ref() else { return Ok(false) };
        let waited = self.written < self.bytes.len();
        while self.written < self.bytes.len() {
            match patient(writer.write(&self.bytes[self.written..]))? {
                0 => break,
                n => (self.written, self.moved) = (self.written + n, Some(Instant::now())),
            }
        }
        if self.written == self.bytes.len() {
            self.bytes.clear();
            self.written = 0;
        } else if self.written >= OUT_BYTES_MAX {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        Ok(waited && self.bytes.is_empty())
    }
}

/// The reading end of a link, whose bytes come into the host's [intake](postrider_os::intake).
#[derive(Debug)]
pub struct Incoming(File);

impl Incoming {
    /// From now on `reader` is read.
    pub fn open(reader: OwnedFd) -> io::Result<Self> {
        do_not_block(&reader)?;
        let _smaller_is_slower = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
        Ok(Self(reader.into()))
    }

    /// The number by which ranks open it.
    pub fn number(&self) -> u32 {
        self.0.as_raw_fd() as u32
    }

    /// Readable when something has come.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn do_not_block(descriptor: &OwnedFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(descriptor)?;
    Ok(rustix::fs::fcntl_setfl(descriptor, flags | OFlags::NONBLOCK)?)
}

fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Nothing has been written when there is no room.
fn patient(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if is_patient(&error) => Ok(0),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_os::packet::Class;
    use std::io::Read;

    #[test]
    fn whoever_flushes_a_link_hears_that_it_holds_nothing_any_more() {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut link = Outgoing::default();
        assert!(!link.flush().expect("there is no link yet"));
        link.open(writer.into()).expect("it opens");
        let head = Head { class: Class::File, kind: 0, sender: 0, receiver: 1, bytes: 256 << 10 };
        while !link.is_full() {
            link.send_filled(&head, |_| Ok(())).expect("it is kept");
            let _as_far_as_it_goes = link.flush().expect("the pipe is open");
        }
        assert!(!link.flush().expect("the pipe is open"), "the pipe was full already");
        let mut taken = vec![0; 64 << 10];
        while !link.flush().expect("the pipe is open") {
            assert!(link.waits_for().is_some(), "somebody else says that there is room");
            reader.read_exact(&mut taken).expect("the pipe holds that much");
        }
        assert!(link.is_empty() && !link.flush().expect("the pipe is open"));
    }
}
