//! What standing agents tell each other while the job runs: host 0 hears all others and tells them what they have to know.
//!
//! A line is a word of [`Say`]. Between host 0 and each other host there is either the pipe of a remote shell, which the other has opened,
//! or, when messages go through a central directory, a file for each direction that its reader looks at now and then and
//! that is only ever extended (it is renamed into place, complete). Whoever has nothing to say says now and then that it lives: by a word, or by
//! another number in a file beside that.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Instant;

use postrider_os::standing::{LINE_BYTES_MAX, hex, unhex};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What agents say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    /// Host 0: the connection is up.
    Welcome,
    /// To host 0: all ranks of this host are done.
    Done,
    /// Host 0: all ranks are done.
    Over,
    /// The job has failed, and why.
    Failed(String),
    /// To host 0: that host has to open the link to this one.
    Wants(u32),
    /// Host 0: open the link to that host.
    Open(u32),
    /// To host 0: nothing of the job is left on this host.
    Gone,
    /// The agent lives.
    Ping,
}

impl Say {
    fn line(&self) -> String {
        match self {
            Self::Welcome => "welcome\n".to_owned(),
            Self::Done => "done\n".to_owned(),
            Self::Over => "over\n".to_owned(),
            Self::Failed(why) => format!("failed {}\n", hex(why)),
            Self::Wants(host) => format!("wants {host}\n"),
            Self::Open(host) => format!("open {host}\n"),
            Self::Gone => "gone\n".to_owned(),
            Self::Ping => "ping\n".to_owned(),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        Some(match line.split_once(' ').unwrap_or((line, "")) {
            ("welcome", "") => Self::Welcome,
            ("done", "") => Self::Done,
            ("over", "") => Self::Over,
            ("failed", why) => Self::Failed(unhex(why)?),
            ("wants", host) => Self::Wants(host.parse().ok()?),
            ("open", host) => Self::Open(host.parse().ok()?),
            ("gone", "") => Self::Gone,
            ("ping", "") => Self::Ping,
            _ => return None,
        })
    }
}

/// The way to one host.
#[derive(Debug)]
enum Way {
    Pipe { reader: OwnedFd, writer: OwnedFd },
    Files { reader: PathBuf, writer: PathBuf, said: String, seen: usize, pings: u64, pinged: String },
}

/// What follows the name of a file in that of the one whose number says that its writer lives.
const ALIVE: &str = "alive";

/// A conversation with one other agent.
#[derive(Debug)]
pub struct Peer {
    /// Number of its host.
    pub host: u32,
    way: Way,
    input: Vec<u8>,
    over: bool,
    last_heard: Instant,
    /// While it is open the far end of the remote shell lives, which is a process of this host.
    _far_end: Option<OwnedFd>,
}

impl Peer {
    /// Through the pipe of a remote shell.
    pub fn through_pipe(host: u32, reader: OwnedFd, writer: OwnedFd) -> Self {
        Self::new(host, Way::Pipe { reader, writer })
    }

    fn new(host: u32, way: Way) -> Self {
        Self { host, way, input: Vec::new(), over: false, last_heard: Instant::now(), _far_end: None }
    }

    /// The same, at the far end of the remote shell.
    pub fn at_far_end(self, socket: OwnedFd) -> Self {
        Self { _far_end: Some(socket), ..self }
    }

    /// Of host `here`, through files in `directory`.
    pub fn through_files(host: u32, here: u32, directory: &std::path::Path) -> Self {
        let (reader, writer) =
            (directory.join(format!("{host}-{here}")), directory.join(format!("{here}-{host}")));
        let (said, pinged) = (String::new(), String::new());
        Self::new(host, Way::Files { reader, writer, said, seen: 0, pings: 0, pinged })
    }

    /// Says that this agent lives, and looks whether the other one does.
    ///
    /// # Errors
    /// Those of [`Peer::say`].
    pub fn ping(&mut self) -> io::Result<()> {
        let Way::Files { reader, writer, pings, pinged, .. } = &mut self.way else {
            return self.say(&Say::Ping);
        };
        let number = fs::read_to_string(reader.with_extension(ALIVE)).unwrap_or_default();
        if *pinged != number {
            *pinged = number;
            self.last_heard = Instant::now();
        }
        *pings += 1;
        fs::write(writer.with_extension(ALIVE), pings.to_string())
    }

    /// Since when nothing has been heard of it.
    pub fn last_heard(&self) -> Instant {
        self.last_heard
    }

    /// Time in which it could not be heard does not count.
    pub fn forgive(&mut self) {
        self.last_heard = Instant::now();
    }

    /// Says something.
    ///
    /// # Errors
    /// When the other has gone, or the directory is full.
    pub fn say(&mut self, say: &Say) -> io::Result<()> {
        match &mut self.way {
            Way::Pipe { writer, .. } => fs::File::from(writer.try_clone()?).write_all(say.line().as_bytes()),
            Way::Files { writer, said, .. } => {
                said.push_str(&say.line());
                let hidden = writer.with_extension("new");
                fs::write(&hidden, &*said)?;
                fs::rename(hidden, writer)
            }
        }
    }

    /// What to wait for; nothing when it is a file, at which one has to look.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.way {
            Way::Pipe { reader, .. } => (!self.over).then(|| reader.as_fd()),
            Way::Files { .. } => None,
        }
    }

    /// Whether it has hung up.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The next thing that the other has said.
    ///
    /// # Errors
    /// When it says what no agent says.
    pub fn hear(&mut self) -> Result<Option<Say>, String> {
        if !self.input.contains(&b'\n') {
            self.read();
        }
        while let Some(end) = self.input.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            let said = std::str::from_utf8(&line[..end]).ok().and_then(Say::parse);
            self.last_heard = Instant::now();
            match said.ok_or_else(|| "it has said what no agent says".to_owned())? {
                Say::Ping => {}
                said => return Ok(Some(said)),
            }
        }
        Ok(None)
    }

    fn read(&mut self) {
        match &mut self.way {
            Way::Pipe { reader, .. } => {
                let mut bytes = [0; 4096];
                while !self.over && self.input.len() < LINE_BYTES_MAX && is_readable(reader.as_fd()) {
                    match rustix::io::read(&*reader, &mut bytes) {
                        Ok(0) => self.over = true,
                        Ok(n) => self.input.extend_from_slice(&bytes[..n]),
                        Err(Errno::INTR) => {}
                        Err(_) => self.over = true,
                    }
                }
                self.over |= self.input.len() >= LINE_BYTES_MAX;
            }
            Way::Files { reader, seen, .. } => {
                let text = fs::read(reader).unwrap_or_default();
                self.input.extend_from_slice(text.get(*seen..).unwrap_or_default());
                *seen = text.len().max(*seen);
            }
        }
    }
}

fn is_readable(reader: BorrowedFd<'_>) -> bool {
    let mut entries = [PollFd::from_borrowed_fd(reader, PollFlags::IN)];
    matches!(poll(&mut entries, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Say; 6] = [Say::Welcome, Say::Done, Say::Over, Say::Wants(7), Say::Open(u32::MAX), Say::Gone];

    #[test]
    fn agents_hear_what_others_say_in_both_ways() {
        let temporary = tempfile::tempdir().expect("a directory");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let (other_reader, _other_writer) = std::io::pipe().expect("a pipe");
        let nothing = fs::File::open("/dev/null").expect("it is there");
        let pipes = (
            Peer::through_pipe(0, other_reader.into(), writer.into()),
            Peer::through_pipe(1, reader.into(), nothing.into()),
        );
        let files =
            (Peer::through_files(0, 1, temporary.path()), Peer::through_files(1, 0, temporary.path()));
        for (mut from, mut to) in [pipes, files] {
            assert_eq!(to.hear(), Ok(None));
            for say in ALL.iter().chain([&Say::Failed("rank 1\nhas died".to_owned())]) {
                from.say(say).expect("it is said");
                assert_eq!(to.hear(), Ok(Some(say.clone())));
            }
            assert_eq!(to.hear(), Ok(None));
        }
    }

    #[test]
    fn no_line_is_trusted() {
        let samples: Vec<u8> = ALL.iter().flat_map(|say| say.line().into_bytes()).collect();
        let failed = Say::Failed("rank 1".to_owned()).line().into_bytes();
        let nothing = fs::File::open("/dev/null").expect("it is there");
        postrider_fuzz::survives(postrider_fuzz::bytes([samples, failed]), |bytes| {
            let (reader, mut writer) = io::pipe().map_err(|error| error.to_string())?;
            writer.write_all(&bytes).map_err(|error| error.to_string())?;
            drop(writer);
            let nowhere = nothing.try_clone().map_err(|error| error.to_string())?;
            let mut peer = Peer::through_pipe(1, reader.into(), nowhere.into());
            while peer.hear().is_ok_and(|said| said.is_some()) {}
            Ok(())
        });
    }
}
