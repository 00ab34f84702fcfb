//! What the head of a job and the agent of each host say to each other, through the pipes of a remote shell.
//!
//! A message is its length, four bytes with the lowest first, and its fields in the form of the crate `postcard`. Both ends are
//! of the same build (the remote shell sees to that), so there are no versions. Nothing here blocks: what cannot be
//! sent now waits in memory, and how much that can be is bounded by what is said: output and input flow only against
//! credit, everything else is small. The end of the channel is the end of the job on that host.
//!
//! The head trusts no agent: what one says is short ([`TO_HEAD_BYTES_MAX`]), its texts are [made harmless](ToHead::harmless) as soon as they
//! have come, and it speaks for nobody but itself and its ranks (`head/ranks.rs`).

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use postrider_os::launch::Inheritance;
use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::launch::{Application, Refusal};
use crate::remote_shell::harmless;
use crate::report::Place;
use crate::supervise::Failed;

/// The head says nothing that is longer: an assignment with the names of all hosts and a large environment.
pub const TO_AGENT_BYTES_MAX: usize = 64 << 20;
/// An agent says nothing that is longer: the places of as many ranks as a host may have.
pub const TO_HEAD_BYTES_MAX: usize = 1 << 20;
/// Whoever does not take so much of what it is told is not spoken to any more.
const WAITING_BYTES_MAX: usize = 2 * TO_AGENT_BYTES_MAX;
/// Letters of a text from another host.
const TEXT_LETTERS_MAX: usize = 4000;
/// Letters of what a rank waits for.
const LINE_LETTERS_MAX: usize = 400;
/// Letters of the name of an MPI function.
const CALL_LETTERS_MAX: usize = 64;
/// Texts that an agent may have for the user before its ranks start.
const WARNINGS_MAX: usize = 16;
/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;
/// Output that one agent may have under way to each of the head's two outputs.
pub const OUTPUT_WINDOW_BYTES: usize = 256 << 10;
/// Input that may be under way to rank 0.
pub const INPUT_WINDOW_BYTES: usize = 64 << 10;

/// The job as an agent has to know it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// What tells the job from every other: a random number.
    pub key: u64,
    /// The agent's own host.
    pub host: u32,
    /// The names of all hosts, as the remote shell knows them.
    pub hosts: Vec<String>,
    /// The host of each rank.
    pub host_of: Vec<u32>,
    /// The programs of the command line.
    pub applications: Vec<Application>,
    /// Where the head was started.
    pub working_directory: OsString,
    /// The head's `TMPDIR`.
    pub temporary: Option<OsString>,
    /// Variables for all ranks.
    pub variables: Vec<(OsString, OsString)>,
    /// Variables that are lists of directories; those that exist are put in front of the host's own.
    pub paths: Vec<(OsString, OsString)>,
    /// How messages travel.
    pub messages: Messages,
    /// The command that was given as remote shell.
    pub remote_shell: Option<String>,
    /// How long the head may be silent.
    pub silence: Duration,
    /// How long ranks have to wait until one looks whether they wait for each other; zero for never.
    pub stall: Duration,
    /// What the head has from whoever has started it, for all ranks.
    #[serde(with = "InheritanceFields")]
    pub inheritance: Inheritance,
}

/// How an [`Inheritance`] travels.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Inheritance")]
struct InheritanceFields {
    umask: u32,
    niceness: i32,
    limits: Vec<u64>,
    ignored: u64,
    blocked: u64,
}

/// How messages travel, inside a host and between hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Messages {
    /// Through memory and links.
    Memory,
    /// Through files of each host and links.
    Files,
    /// Through files of each host, which this command copies to others.
    CopiedFiles(Vec<String>),
    /// Through files in this directory, which all hosts see.
    Central(OsString),
}

impl Messages {
    /// In words, after "messages".
    pub fn text(&self) -> String {
        match self {
            Self::Memory => "through shared memory and remote shells".to_owned(),
            Self::Files => "through files and remote shells".to_owned(),
            Self::CopiedFiles(command) => format!("through files and {}", command.join(" ")),
            Self::Central(directory) => format!("through files in {}", directory.display()),
        }
    }
}

/// What the head says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToAgent {
    /// Prepare this.
    Prepare(Box<Assignment>),
    /// Start the ranks. The job's directory on each host.
    Start(Vec<String>),
    /// Send this signal to the ranks.
    Signal(i32),
    /// Ask all processes to end, by this signal.
    Ask(i32),
    /// End all processes.
    Kill,
    /// Say where the ranks are.
    NotePlaces,
    /// A rank of another host has ended without ever calling `MPI_Init`.
    RankIsMissing,
    /// So much of the output (false) or the error output (true) was taken.
    Credit(bool, u32),
    /// For rank 0; nothing is the end.
    Input(Vec<u8>),
    /// Open the link to that host.
    OpenLink(u32),
    /// All ranks everywhere have ended: end what they have left behind, and clean up.
    Finish,
    /// The head is about to be stopped, or is continued.
    Pause(bool),
    /// Say that you live.
    Ping,
}

/// What an agent says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToHead {
    /// Ready to start.
    Prepared {
        /// The job's directory on this host.
        directory: String,
        /// Cores for the ranks of this host.
        cores: u32,
        /// What the user should know.
        warnings: Vec<String>,
    },
    /// This host cannot run its part.
    Refused(Refusal),
    /// The ranks run; their processes.
    Started(Vec<u32>),
    /// A rank has ended.
    Ended {
        /// Which.
        rank: u32,
        /// With exit code 0.
        well: bool,
        /// It has never called `MPI_Init`.
        unborn: bool,
        /// The exit code of the jobs that ranks of its host have spawned, as far as these have ended.
        spawned_code: i32,
    },
    /// A rank has failed.
    Failed(Failed),
    /// A rank waits for one that is missing.
    RankWaits,
    /// Where the ranks are.
    Places(Vec<(u32, Place)>),
    /// All ranks of this host wait, and nothing has come to them for as long as the head has said. None when they no longer do.
    Rest(Option<Rest>),
    /// What a rank has written on its output (false) or error output (true); nothing is the end.
    Output(u32, bool, Vec<u8>),
    /// So much input was taken. All of it, for good, when rank 0 takes no more.
    InputTaken(u32),
    /// Rank 0 takes no input any more.
    InputClosed,
    /// This host's ranks send to a host to which there is no link, and which has to open it.
    Wants(u32),
    /// The link to that host could not be opened.
    LinkFailed(u32, String),
    /// The link to that host is lost.
    LinkLost(u32, String),
    /// Something here cannot go on.
    Broken(String),
    /// No process and no file of the job is left on this host, as the head has asked for.
    Over,
    /// The same, because the head was silent for so long that it was taken for lost.
    GaveUp(Duration),
    /// The agent lives.
    Pong,
}

/// What the ranks of a host leave to be known when they wait, and the processes of other jobs that are guests of its post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// How many packets they have sent through posts, less those that they have taken from there.
    pub balance: i64,
    /// The jobs of the guests, all of whose processes on this host wait, too.
    pub guests: Vec<Hosted>,
}

/// The part of another job that is on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hosted {
    /// The job's key.
    pub job: u64,
    /// Which of its hosts.
    pub host: u32,
    /// How many it has.
    pub hosts: u32,
}

impl ToHead {
    /// The same with texts that may be shown on a terminal, whatever host they come from.
    pub fn harmless(self) -> Self {
        match self {
            Self::Prepared { directory, cores, mut warnings } => {
                warnings.truncate(WARNINGS_MAX);
                let warnings = warnings.into_iter().map(|warning| text(&warning)).collect();
                // A name, not a text: whoever uses it looks whether it can be one.
                Self::Prepared { directory, cores, warnings }
            }
            Self::Refused(Refusal { exit_code, message }) => {
                Self::Refused(Refusal { exit_code, message: text(&message) })
            }
            Self::Failed(failed) => Self::Failed(Failed { place: place(failed.place), ..failed }),
            Self::Places(places) => {
                Self::Places(places.into_iter().map(|(rank, found)| (rank, place(found))).collect())
            }
            Self::LinkFailed(host, why) => Self::LinkFailed(host, text(&why)),
            Self::LinkLost(host, why) => Self::LinkLost(host, text(&why)),
            Self::Broken(why) => Self::Broken(text(&why)),
            other @ (Self::Started(_)
            | Self::Ended { .. }
            | Self::RankWaits
            | Self::Rest(_)
            | Self::Output(..)
            | Self::InputTaken(_)
            | Self::InputClosed
            | Self::Wants(_)
            | Self::Over
            | Self::GaveUp(_)
            | Self::Pong) => other,
        }
    }
}

/// A text whose lines after the first cannot be taken for lines of the launcher's own.
fn text(text: &str) -> String {
    let short: String = harmless(text.as_bytes()).chars().take(TEXT_LETTERS_MAX).collect();
    let mut lines = short.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |all, line| match line.starts_with("  ") {
        true => all + "\n" + line,
        false => all + "\n  " + line,
    })
}

fn place(place: Place) -> Place {
    match place {
        Place::In(call) => Place::In(word(&call)),
        Place::Waits(call, what) => Place::Waits(word(&call), line(&what)),
        Place::Asks(what) => Place::Asks(line(&what)),
        other
        @ (Place::BeforeInit | Place::Outside | Place::AfterFinalize | Place::Gone | Place::Unknown) => other,
    }
}

/// The name of a function.
fn word(call: &str) -> String {
    let letters = call.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_');
    letters.take(CALL_LETTERS_MAX).collect()
}

/// What a rank waits for, on one line.
fn line(what: &str) -> String {
    harmless(what.as_bytes()).replace(['\n', '\t'], " ").chars().take(LINE_LETTERS_MAX).collect()
}

/// One end of a control channel.
#[derive(Debug)]
pub struct Channel {
    reader: OwnedFd,
    writer: OwnedFd,
    /// Longer messages do not come.
    bytes_max: usize,
    received: Vec<u8>,
    taken: usize,
    waiting: Vec<u8>,
    sent: usize,
    end: Option<String>,
}

impl Channel {
    /// The channel that consists of these two pipes, through which no message comes that is longer than `bytes_max`.
    ///
    /// # Errors
    /// When they cannot be made not to block.
    pub fn new(reader: OwnedFd, writer: OwnedFd, bytes_max: usize) -> io::Result<Self> {
        for pipe in [&reader, &writer] {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
        }
        let (received, waiting) = (Vec::new(), Vec::new());
        Ok(Self { reader, writer, bytes_max, received, taken: 0, waiting, sent: 0, end: None })
    }

    /// Readable when a message may have come.
    pub fn reader(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// The pipe to wait for, if something waits to be sent.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        (self.sent < self.waiting.len() && self.end.is_none()).then(|| self.writer.as_fd())
    }

    /// Why nothing comes any more.
    pub fn end(&self) -> Option<&str> {
        self.end.as_deref()
    }

    /// Sends `message`, as far as it goes now; see [`Channel::flush`].
    pub fn send(&mut self, message: &impl Serialize) {
        let start = self.waiting.len();
        self.waiting.extend_from_slice(&[0; 4]);
        match postcard::to_extend(message, std::mem::take(&mut self.waiting)) {
            Ok(waiting) => self.waiting = waiting,
            Err(error) => return self.close(&format!("a message cannot be written: {error}")),
        }
        let bytes = (self.waiting.len() - start - 4) as u32;
        self.waiting[start..start + 4].copy_from_slice(&bytes.to_le_bytes());
        self.flush();
        if self.waiting.len() - self.sent > WAITING_BYTES_MAX {
            self.close("it does not take what it is told");
        }
    }

    /// Sends what waits, as far as it goes now.
    pub fn flush(&mut self) {
        while self.waits_for().is_some() {
            match rustix::io::write(&self.writer, &self.waiting[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // What has been sent is not kept until all has.
                    if self.sent >= READ_BYTES {
                        self.waiting.drain(..self.sent);
                        self.sent = 0;
                    }
                    return;
                }
                // What the other end has said before it left can still be read.
                Err(_) => break,
            }
        }
        self.waiting.clear();
        self.sent = 0;
    }

    /// Reads what has come.
    pub fn fill(&mut self) {
        let mut buffer = [0; READ_BYTES];
        // What an end says without pause is not kept without limit.
        while self.end.is_none() && self.received.len() < 4 + self.bytes_max {
            match rustix::io::read(&self.reader, &mut buffer) {
                Ok(0) => self.close("the connection was closed"),
                Ok(bytes) => {
                    self.received.extend_from_slice(&buffer[..bytes]);
                    if bytes < buffer.len() {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(error) => self.close(&format!("the connection broke: {error}")),
            }
        }
    }

    /// The next message that has come as a whole.
    pub fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        let (length, rest) = self.received[self.taken..].split_first_chunk()?;
        let bytes = u32::from_le_bytes(*length) as usize;
        let message = match rest.get(..bytes) {
            _ if bytes > self.bytes_max => None,
            Some(message) => postcard::from_bytes(message).ok(),
            None => {
                self.received.drain(..self.taken);
                self.taken = 0;
                return None;
            }
        };
        match message {
            Some(message) => {
                self.taken += 4 + bytes;
                if self.taken == self.received.len() {
                    self.received.clear();
                    self.taken = 0;
                }
                Some(message)
            }
            None => {
                self.received.clear();
                self.taken = 0;
                self.close("what came is no message; does the remote shell print something of its own?");
                None
            }
        }
    }

    fn close(&mut self, why: &str) {
        self.end.get_or_insert_with(|| why.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustix::pipe::{PipeFlags, pipe_with};

    fn pair() -> (Channel, Channel) {
        let pipe = || pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let ((read_a, write_b), (read_b, write_a)) = (pipe(), pipe());
        let channel = |reader, writer| Channel::new(reader, writer, 1 << 20).expect("a channel");
        (channel(read_a, write_a), channel(read_b, write_b))
    }

    #[test]
    fn messages_come_in_order_through_a_pipe_that_is_full() {
        let (mut head, mut agent) = pair();
        for number in 0..100 {
            head.send(&ToAgent::Input(vec![number; 5000]));
        }
        assert!(head.waits_for().is_some());
        let mut expected = 0;
        while expected < 100 {
            head.flush();
            agent.fill();
            while let Some(ToAgent::Input(bytes)) = agent.next() {
                assert_eq!(bytes, vec![expected; 5000]);
                expected += 1;
            }
        }
        drop(head);
        agent.fill();
        assert!(agent.next::<ToAgent>().is_none() && agent.end().is_some());
    }

    #[test]
    fn who_takes_nothing_of_what_it_is_told_is_not_spoken_to_any_more() {
        let (mut head, _agent) = pair();
        while head.end().is_none() {
            head.send(&ToAgent::Input(vec![7; 8 << 20]));
            assert!(head.waiting.len() <= WAITING_BYTES_MAX + (9 << 20));
        }
        assert!(head.end().is_some_and(|why| why.contains("does not take")));
    }

    #[test]
    fn texts_of_other_hosts_cannot_steer_a_terminal() {
        let evil = "a\x1b[2J\u{202e}b\r\npostrider: rank 0\x07";
        let failed = Failed {
            rank: 0,
            pid: 1,
            kind: crate::report::Kind::NeverJoined,
            place: Place::In(evil.to_owned()),
        };
        let said = [
            ToHead::Prepared { directory: "/".to_owned(), cores: 1, warnings: vec![evil.to_owned(); 100] },
            ToHead::Refused(Refusal::new(2, evil)),
            ToHead::Failed(failed),
            ToHead::Places(vec![(0, Place::In(evil.repeat(1000))), (1, Place::Asks(evil.to_owned()))]),
            ToHead::Places(vec![(0, Place::Waits(evil.to_owned(), evil.repeat(1000)))]),
            ToHead::LinkFailed(1, evil.to_owned()),
            ToHead::LinkLost(1, evil.to_owned()),
            ToHead::Broken(evil.repeat(1000)),
        ];
        for said in said {
            let shown = format!("{:?}", said.harmless());
            assert!(!shown.contains("\\u{") && !shown.contains("\\r"), "{shown}");
            assert!(!shown.contains("\\npostrider"), "a line that looks like one of the launcher's: {shown}");
            assert!(shown.len() < 16 << 10, "{} letters", shown.len());
        }
    }

    proptest! {
        #[test]
        fn nothing_that_comes_is_trusted(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let (mut head, agent) = pair();
            rustix::io::write(&agent.writer, &bytes).expect("it fits");
            drop(agent);
            head.fill();
            while head.next::<ToHead>().is_some() {}
            head.fill();
            prop_assert!(head.end().is_some());
        }
    }
}
