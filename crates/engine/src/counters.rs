//! What a process counts for tools (MPI 5.0, section 15.3): sums that only grow, and levels that are looked up when asked for.
//!
//! A count is an addition to the state, whose lock is held anyway; nobody pays more for it.

use crate::State;

/// The sums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub messages_sent: u64,
    pub bytes_sent: u64,
    pub messages_received: u64,
    pub bytes_received: u64,
    pub bytes_copied_once: u64,
    pub collectives: u64,
    pub sleeps: u64,
}

impl Counters {
    #[inline]
    pub fn sent(&mut self, bytes: u64) {
        self.messages_sent += 1;
        self.bytes_sent += bytes;
    }

    #[inline]
    pub fn received(&mut self, bytes: u64) {
        self.messages_received += 1;
        self.bytes_received += bytes;
    }
}

/// Something that is counted.
#[derive(Debug)]
pub struct Counted {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Whether it is a sum, which only grows, and not a level.
    pub sum: bool,
    read: fn(&State) -> u64,
}

/// Everything that is counted.
pub const ALL: [Counted; 11] = [
    Counted {
        name: "messages_sent",
        meaning: "Messages that this process has started to send, those of collective operations too.",
        sum: true,
        read: |state| state.counters.messages_sent,
    },
    Counted {
        name: "bytes_sent",
        meaning: "Bytes of data in these messages.",
        sum: true,
        read: |state| state.counters.bytes_sent,
    },
    Counted {
        name: "messages_received",
        meaning: "Messages whose data this process has received, those of collective operations too.",
        sum: true,
        read: |state| state.counters.messages_received,
    },
    Counted {
        name: "bytes_received",
        meaning: "Bytes of data in these messages.",
        sum: true,
        read: |state| state.counters.bytes_received,
    },
    Counted {
        name: "bytes_copied_once",
        meaning: "Bytes that this process has taken straight out of the memory of another.",
        sum: true,
        read: |state| state.counters.bytes_copied_once,
    },
    Counted {
        name: "collectives",
        meaning: "Collective operations that this process has planned.",
        sum: true,
        read: |state| state.counters.collectives,
    },
    Counted {
        name: "sleeps",
        meaning: "How often a thread of this process has gone to sleep because nothing was to be done.",
        sum: true,
        read: |state| state.counters.sleeps,
    },
    Counted {
        name: "posted_receives",
        meaning: "Length of the posted receive queue: receives that have found no message yet.",
        sum: false,
        read: |state| state.matching.posted() as u64,
    },
    Counted {
        name: "unexpected_messages",
        meaning: "Length of the unexpected message queue: messages that have found no receive yet.",
        sum: false,
        read: |state| state.matching.unexpected() as u64,
    },
    Counted {
        name: "requests",
        meaning: "Requests that have not been completed and freed.",
        sum: false,
        // One is always there: that of sends which were complete when they were started.
        read: |state| state.requests.len() as u64 - 1,
    },
    Counted {
        name: "packets_waiting",
        meaning: "Packets for which the transport has no room yet.",
        sum: false,
        read: |state| state.backlog as u64,
    },
];

impl Counted {
    /// What it is now.
    #[must_use]
    pub fn read(&self, state: &State) -> u64 {
        (self.read)(state)
    }
}
