//! The ranks of this host, which have come by themselves: their connections, their processes, and their ends.
//!
//! A rank is known by what the kernel says of the other end of its connection, and is watched by a descriptor of its process
//! (`pidfd`): the connection alone could be held by a child of it. Of a process that is not our child nobody tells us
//! how it has ended, so what counts is whether it had said that it was done.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use postrider_os::standing::{LINE_BYTES_MAX, Word, peer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// What ranks do.
#[derive(Debug)]
pub enum Event {
    /// A rank has said this.
    Said(u32, Word),
    /// A rank's process has ended.
    Ended(u32),
}

/// A connection.
#[derive(Debug)]
struct Guest {
    stream: UnixStream,
    input: Vec<u8>,
    /// Nobody speaks at the other end any more.
    silent: bool,
    pid: u32,
    process: OwnedFd,
    ended: bool,
    rank: Option<u32>,
    cores: Vec<u8>,
    done: bool,
}

/// All connections.
#[derive(Debug)]
pub struct Guests {
    listener: Option<UnixListener>,
    ranks: u32,
    /// How many of them are on this host.
    count: u32,
    guests: Vec<Guest>,
}

impl Guests {
    /// Nobody yet, of the `count` ranks of this host, and the `ranks` ranks of the job.
    ///
    /// # Errors
    /// When `listener` is no socket.
    pub fn new(listener: OwnedFd, ranks: u32, count: u32) -> io::Result<Self> {
        let listener = UnixListener::from(listener);
        listener.set_nonblocking(true)?;
        Ok(Self { listener: Some(listener), ranks, count, guests: Vec::new() })
    }

    /// The ranks that have come, in ascending order.
    pub fn ranks(&self) -> Vec<u32> {
        let mut ranks: Vec<u32> = self.guests.iter().filter_map(|guest| guest.rank).collect();
        ranks.sort_unstable();
        ranks
    }

    /// The number of cores that the ranks may use together.
    pub fn cores(&self) -> u32 {
        let bytes = self.guests.iter().map(|guest| guest.cores.len()).max().unwrap_or(0);
        let byte = |at: usize| {
            let all = self.guests.iter().filter_map(|guest| guest.cores.get(at));
            all.fold(0, |all, some| all | some).count_ones()
        };
        (0..bytes).map(byte).sum::<u32>().max(1)
    }

    /// The process of a rank.
    pub fn pid(&self, rank: u32) -> u32 {
        self.of(rank).map_or(0, |guest| guest.pid)
    }

    /// Whether all ranks that have come are done.
    pub fn are_done(&self) -> bool {
        self.guests.iter().all(|guest| guest.rank.is_none() || guest.done)
    }

    /// Notes that a rank is done.
    pub fn set_done(&mut self, rank: u32) {
        if let Some(guest) = self.guests.iter_mut().find(|guest| guest.rank == Some(rank)) {
            guest.done = true;
        }
    }

    /// Whether that rank is done.
    pub fn is_done(&self, rank: u32) -> bool {
        self.of(rank).is_some_and(|guest| guest.done)
    }

    /// Whether the processes of all ranks have ended.
    pub fn are_gone(&self) -> bool {
        self.guests.iter().all(|guest| guest.rank.is_none() || guest.ended)
    }

    fn of(&self, rank: u32) -> Option<&Guest> {
        self.guests.iter().find(|guest| guest.rank == Some(rank))
    }

    /// Says something to one rank.
    pub fn say(&mut self, rank: u32, word: &Word) {
        for guest in self.guests.iter_mut().filter(|guest| guest.rank == Some(rank)) {
            guest.say(word);
        }
    }

    /// Says something to all that have come.
    pub fn say_to_all(&mut self, word: &Word) {
        for guest in self.guests.iter_mut().filter(|guest| guest.rank.is_some()) {
            guest.say(word);
        }
    }

    /// Sends a signal to all ranks that still run.
    pub fn signal(&self, signal: Signal) {
        for guest in self.guests.iter().filter(|guest| guest.rank.is_some() && !guest.ended) {
            let _gone = pidfd_send_signal(&guest.process, signal);
        }
    }

    /// From now on whoever comes finds nobody, and starts an agent of the next job.
    pub fn close(&mut self) {
        self.listener = None;
    }

    /// Waits until ranks do something, or `limit` is over, and says what.
    pub fn wait(&mut self, limit: Duration) -> Vec<Event> {
        self.sleep(Vec::new(), limit);
        self.look()
    }

    /// Sleeps until ranks do something, something happens to one of `entries`, or `limit` is over.
    pub fn sleep<'a>(&'a self, mut entries: Vec<PollFd<'a>>, limit: Duration) {
        entries.extend(self.listener.as_ref().map(|listener| PollFd::new(listener, PollFlags::IN)));
        for guest in &self.guests {
            if !guest.silent {
                entries.push(PollFd::new(&guest.stream, PollFlags::IN));
            }
            if !guest.ended {
                entries.push(PollFd::new(&guest.process, PollFlags::IN));
            }
        }
        let limit = Timespec::try_from(limit).ok();
        let _interrupted = poll(&mut entries, limit.as_ref());
    }

    fn accept(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(UnixListener::accept) {
            let Ok(pid) = peer(&stream) else { continue };
            let Some(process) = Pid::from_raw(pid as i32) else { continue };
            let process = pidfd_open(process, PidfdFlags::empty());
            if let (Ok(process), Ok(())) = (process, stream.set_nonblocking(true)) {
                self.guests.push(Guest {
                    stream,
                    input: Vec::new(),
                    silent: false,
                    pid,
                    process,
                    ended: false,
                    rank: None,
                    cores: Vec::new(),
                    done: false,
                });
            }
        }
    }

    /// What ranks have done.
    pub fn look(&mut self) -> Vec<Event> {
        self.accept();
        let mut events = Vec::new();
        for connection in 0..self.guests.len() {
            while let Some(word) = self.guests[connection].next() {
                match (word, self.guests[connection].rank) {
                    (Word::Join { rank, cores }, None) => self.seat(connection, rank, cores),
                    (word, Some(rank)) => events.push(Event::Said(rank, word)),
                    (_, None) => self.guests[connection].silent = true,
                }
            }
            let guest = &mut self.guests[connection];
            if !guest.ended && has_ended(guest.process.as_fd()) {
                guest.ended = true;
                events.extend(guest.rank.map(Event::Ended));
            }
        }
        events
    }

    /// Lets a rank in. A rank that has been here, and whose process has ended or is done, belongs to the next job: it waits
    /// without an answer until this agent has gone.
    fn seat(&mut self, connection: usize, rank: u32, cores: Vec<u8>) {
        let refusal = match self.of(rank) {
            Some(first) if first.ended || first.done => return,
            Some(first) => format!(
                "process {} is rank {rank} of this job already; a rank that starts MPI programs itself must unset the \
                 variables of the launcher",
                first.pid
            ),
            None if rank >= self.ranks => format!("the job has {} ranks", self.ranks),
            None if self.ranks().len() == self.count as usize => {
                format!("this host has its {} ranks already", self.count)
            }
            None => {
                let guest = &mut self.guests[connection];
                (guest.rank, guest.cores) = (Some(rank), cores);
                return;
            }
        };
        self.guests[connection].say(&Word::Refused(refusal));
    }
}

impl Guest {
    fn say(&mut self, word: &Word) {
        // Its lines are short; whoever does not read them is about to end, which is seen elsewhere.
        let _gone = self.stream.write_all(word.line().as_bytes());
    }

    /// The next word that it has said.
    fn next(&mut self) -> Option<Word> {
        while !self.silent && !self.input.contains(&b'\n') {
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => self.silent = true,
                Ok(_) if self.input.len() > LINE_BYTES_MAX => self.silent = true,
                Ok(n) => self.input.extend_from_slice(&bytes[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(_) => self.silent = true,
            }
        }
        let end = self.input.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.input.drain(..=end).collect();
        let word = std::str::from_utf8(&line).ok().and_then(Word::parse);
        self.silent |= word.is_none();
        word
    }
}

fn has_ended(process: BorrowedFd<'_>) -> bool {
    let mut entries = [PollFd::from_borrowed_fd(process, PollFlags::IN)];
    poll(&mut entries, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(1)
}
