//! A rank's part in the meeting of the hosts through the launcher's key-value space: the leader of each host puts and collects what its agent
//! says and wants to hear, and all ranks come to a fence in each round, because the launcher waits for all of them.
//!
//! The answer to a fence may never come: between hosts Slurm opens ports of its own for it, and a firewall may refuse them. So a
//! rank waits for the launcher and for its agent at the same time, and leaves the conversation where it is when the agent says that
//! the hosts have met otherwise ([`Word::Apart`]).

use std::os::unix::net::UnixStream;
use std::time::Duration;

use postrider_os::standing::{ROUNDS, Word, first_to_speak};

use super::pmi::Pmi;

/// A conversation with the launcher about other hosts.
#[derive(Debug)]
pub struct Relay {
    pmi: Pmi,
    leads: bool,
    host: u32,
    hosts: u32,
    round: u32,
    /// Whether this rank has come to a fence that is not passed.
    waiting: bool,
}

impl Relay {
    /// The part of a rank of host `host`; the one that `leads` waits for what its agent has to share.
    ///
    /// # Errors
    /// When the launcher is gone.
    pub fn begin(pmi: Pmi, leads: bool, host: u32, hosts: u32) -> Result<Self, String> {
        let round = if hosts > 1 { 0 } else { ROUNDS };
        let mut relay = Self { pmi, leads, host, hosts, round, waiting: false };
        if !leads {
            relay.next_fence()?;
        }
        Ok(relay)
    }

    /// Shares a text of this host with all others.
    ///
    /// # Errors
    /// When the launcher refuses.
    pub fn share(&mut self, text: &str) -> Result<(), String> {
        self.pmi.put(self.round, self.host, text)?;
        self.next_fence()
    }

    /// Waits until the launcher or the agent speaks, and returns whether it is the launcher, with the answer to a fence.
    pub fn wait(&self, agent: &UnixStream, limit: Duration) -> bool {
        self.waiting && first_to_speak([agent, self.pmi.stream()], limit) == Some(1)
    }

    /// Takes the answer to a fence; the leader has something to say to its agent then.
    ///
    /// # Errors
    /// When it is none, or a host has shared nothing.
    pub fn fence_passed(&mut self) -> Result<Option<Word>, String> {
        self.pmi.fence_passed()?;
        self.waiting = false;
        self.round += 1;
        if self.leads {
            return self.pmi.collect(self.round - 1, self.hosts).map(|texts| Some(Word::Shared(texts)));
        }
        self.next_fence()?;
        Ok(None)
    }

    /// Ends the conversation, after the fences that other ranks have passed or are about to.
    ///
    /// # Errors
    /// When the launcher is gone.
    pub fn end(mut self) -> Result<(), String> {
        while self.waiting {
            self.fence_passed()?;
        }
        self.pmi.end()
    }

    fn next_fence(&mut self) -> Result<(), String> {
        if self.round < ROUNDS {
            self.pmi.fence()?;
            self.waiting = true;
        }
        Ok(())
    }
}
