//! What ranks write: read from their pipes, written out in whole lines, so that lines of different ranks never mix.
//!
//! A [`Stream`] is the output or error output of one rank, a [`Sink`] is where the launcher writes. When output and error output
//! of the launcher are the same file they share one sink. A stream hands over whole lines; what follows its last newline
//! stays with it until the line is complete, the rank ends, the line has grown beyond all bounds, or, for rank 0
//! on a terminal, nothing more has come for a moment (a prompt). A sink knows whose unfinished line it has written last,
//! and begins a new line before it writes anybody else's.
//!
//! Sinks never block: the launcher must see signals and deaths also while nobody reads its output. While a sink is
//! full its streams are not read, so the ranks wait in turn, and nothing is lost.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};

/// A line longer than this is written in parts.
const LINE_BYTES_MAX: usize = 1 << 20;
/// How long the beginning of a line must have waited for its end before it is taken for a prompt.
const PROMPT_WAIT: Duration = Duration::from_millis(30);
/// What a pipe that polls as writable surely takes without blocking (POSIX: `PIPE_BUF` is at least 512; Linux: 4096).
const SURE_BYTES: usize = 4096;
/// Bytes read from a pipe at once.
pub const READ_BYTES: usize = 64 << 10;

/// Where the launcher writes what ranks write.
#[derive(Debug)]
pub struct Sink {
    file: File,
    /// The descriptor refuses instead of blocking; otherwise only small pieces are written, when it polls as ready.
    refuses: bool,
    regular: bool,
    terminal: bool,
    pending: Vec<u8>,
    written: usize,
    /// The stream whose unfinished line is the last thing in here.
    unfinished: Option<usize>,
    /// Nobody takes anything any more: what comes is thrown away.
    broken: bool,
}

impl Sink {
    /// The launcher's output and its error output; only one when they are the same file.
    pub fn standard() -> io::Result<Vec<Self>> {
        let output = Self::new(io::stdout().as_fd().try_clone_to_owned()?, "/proc/self/fd/1")?;
        let error = Self::new(io::stderr().as_fd().try_clone_to_owned()?, "/proc/self/fd/2")?;
        let (a, b) = (output.file.metadata()?, error.file.metadata()?);
        let same = (a.dev(), a.ino()) == (b.dev(), b.ino());
        Ok(if same { vec![output] } else { vec![output, error] })
    }

    /// Opens the file again if it can block, because a flag on the shared description would bother whoever else has it.
    fn new(original: OwnedFd, path: &str) -> io::Result<Self> {
        let original = File::from(original);
        let kind = original.metadata()?.file_type();
        let terminal = rustix::termios::isatty(&original);
        let regular = kind.is_file();
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let again = match kind.is_fifo() || kind.is_char_device() {
            true => rustix::fs::open(path, flags, Mode::empty()).ok().map(File::from),
            false => None,
        };
        let refuses = again.is_some();
        let file = again.unwrap_or(original);
        Ok(Self { refuses, regular, terminal, ..Self::plain(file) })
    }

    /// A file that takes everything at once.
    pub fn plain(file: File) -> Self {
        let (refuses, regular, terminal, broken) = (false, true, false, false);
        Self { file, refuses, regular, terminal, pending: Vec::new(), written: 0, unfinished: None, broken }
    }

    /// Whether a person is looking.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether something waits to be written.
    pub fn is_full(&self) -> bool {
        self.written < self.pending.len()
    }

    /// Adds a text of the launcher's own, on lines of its own.
    pub fn say(&mut self, text: &str) {
        if self.broken {
            return;
        }
        if self.unfinished.take().is_some() {
            self.pending.push(b'\n');
        }
        self.pending.extend_from_slice(text.as_bytes());
    }

    /// Writes what waits, as far as it goes now.
    ///
    /// # Errors
    /// When the reader is gone or the disk is full; what waited is given up, and so is all that follows.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.is_full() {
            let waiting = &self.pending[self.written..];
            let piece = match self.refuses || self.regular {
                true => waiting,
                false if self.is_ready() => &waiting[..waiting.len().min(SURE_BYTES)],
                false => return Ok(()),
            };
            match self.file.write(piece) {
                Ok(n) => self.written += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.broken = true;
                    self.forget();
                    return Err(error);
                }
            }
        }
        self.forget();
        Ok(())
    }

    fn forget(&mut self) {
        self.pending.clear();
        self.written = 0;
    }

    fn is_ready(&self) -> bool {
        let mut entry = [PollFd::new(&self.file, PollFlags::OUT)];
        poll(&mut entry, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    fn put(&mut self, stream: usize, label: &[u8], text: &[u8]) {
        if text.is_empty() || self.broken {
            return;
        }
        if self.unfinished.is_some_and(|other| other != stream) {
            self.pending.push(b'\n');
            self.unfinished = None;
        }
        if label.is_empty() {
            self.pending.extend_from_slice(text);
        } else {
            let mut begins = self.unfinished.is_none();
            for line in text.split_inclusive(|&byte| byte == b'\n') {
                if begins {
                    self.pending.extend_from_slice(label);
                }
                self.pending.extend_from_slice(line);
                begins = true;
            }
        }
        self.unfinished = (text.last() != Some(&b'\n')).then_some(stream);
    }
}

impl AsFd for Sink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The output or the error output of one rank.
#[derive(Debug)]
pub struct Stream {
    /// The stream's own number.
    number: usize,
    /// Which sink it goes to.
    pub sink: usize,
    source: Option<File>,
    label: Vec<u8>,
    begun: Vec<u8>,
    prompts: bool,
    prompt_due: Option<Instant>,
}

impl Stream {
    /// The stream that comes out of `source`, which must not block; without one, it is given what comes from elsewhere.
    pub fn new(number: usize, sink: usize, source: Option<OwnedFd>, label: Vec<u8>, prompts: bool) -> Self {
        let (source, begun) = (source.map(File::from), Vec::new());
        Self { number, sink, source, label, begun, prompts, prompt_due: None }
    }

    /// The pipe to wait for, until its end has been read.
    pub fn source(&self) -> Option<&File> {
        self.source.as_ref()
    }

    /// When the beginning of a line will be taken for a prompt.
    pub fn prompt_due(&self) -> Option<Instant> {
        self.prompt_due
    }

    /// Reads once and hands whole lines to `sink`. False when there was nothing to read now.
    pub fn read(&mut self, sink: &mut Sink, buffer: &mut [u8]) -> bool {
        let Some(source) = &mut self.source else { return false };
        match source.read(buffer) {
            Ok(n @ 1..) => self.take(&buffer[..n], sink),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => {
                self.source = None;
                self.hand_over(sink);
            }
        }
        true
    }

    /// Hands over the beginning of a line as well.
    pub fn hand_over(&mut self, sink: &mut Sink) {
        sink.put(self.number, &self.label, &self.begun);
        self.begun.clear();
        self.prompt_due = None;
    }

    /// Takes what the rank has written; nothing is its end.
    pub fn take(&mut self, bytes: &[u8], sink: &mut Sink) {
        if bytes.is_empty() {
            return self.hand_over(sink);
        }
        let complete = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
        if complete > 0 {
            self.begun.extend_from_slice(&bytes[..complete]);
            self.hand_over(sink);
        }
        self.begun.extend_from_slice(&bytes[complete..]);
        if self.begun.len() > LINE_BYTES_MAX {
            self.hand_over(sink);
        }
        let prompt = self.prompts && !self.begun.is_empty();
        self.prompt_due = prompt.then(|| Instant::now() + PROMPT_WAIT);
    }
}

/// What each line of `rank` begins with.
pub fn label(rank: u32, coloured: bool) -> Vec<u8> {
    const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 31];
    match coloured {
        false => format!("[{rank}] ").into_bytes(),
        true => format!("\x1b[{}m[{rank}]\x1b[0m ", COLOURS[rank as usize % COLOURS.len()]).into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink() -> Sink {
        Sink::plain(File::open("/dev/null").expect("/dev/null opens"))
    }

    fn stream(number: usize, label: &[u8]) -> Stream {
        let source = File::open("/dev/null").expect("/dev/null opens").into();
        Stream::new(number, 0, Some(source), label.to_vec(), false)
    }

    #[test]
    fn only_whole_lines_come_out_until_the_end() {
        let (mut sink, mut a, mut b) = (sink(), stream(0, b""), stream(1, b""));
        a.take(b"one\ntw", &mut sink);
        b.take(b"ONE\n", &mut sink);
        a.take(b"o\n", &mut sink);
        b.take(b"TWO", &mut sink);
        a.hand_over(&mut sink);
        b.hand_over(&mut sink);
        assert_eq!(sink.pending, b"one\nONE\ntwo\nTWO");
    }

    #[test]
    fn nobody_continues_another_ranks_line() {
        let (mut sink, mut a, mut b) = (sink(), stream(0, b"[0] "), stream(1, b"[1] "));
        a.take(b"prompt", &mut sink);
        a.hand_over(&mut sink);
        a.take(b" more", &mut sink);
        a.hand_over(&mut sink);
        b.take(b"line\nline\n", &mut sink);
        assert_eq!(sink.pending, b"[0] prompt more\n[1] line\n[1] line\n");
    }

    #[test]
    fn a_boundless_line_is_written_byte_for_byte() {
        let (mut sink, mut a) = (sink(), stream(0, b""));
        let part = vec![b'x'; LINE_BYTES_MAX / 2 + 1];
        for _ in 0..5 {
            a.take(&part, &mut sink);
        }
        a.hand_over(&mut sink);
        assert_eq!(sink.pending.len(), 5 * part.len());
        assert!(sink.pending.iter().all(|&byte| byte == b'x'));
    }
}
