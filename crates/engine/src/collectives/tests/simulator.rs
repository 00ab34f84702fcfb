//! Runs the schedules of all processes of a job at once, in memory and in a seeded random order.
//!
//! A message is delivered at a random moment after both its send and its receive have been posted
//! (rendezvous, the strictest reading), so that a step which reads what a message of the same round writes
//! gives a wrong result for some seed. Messages of a pair match in order. If nobody can advance, that is a
//! deadlock.

use std::collections::{HashMap, VecDeque};

use crate::collectives::arguments::Layout;
use crate::collectives::schedule::{Buffer, Peer, Schedule, Scratch, Span, Step, TypeOf};

/// A small generator (xorshift64*), so that a seed gives the same run everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// A datatype of the simulation: `size` bytes of data at `lower` in every `extent` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub size: i64,
    pub extent: i64,
    pub lower: i64,
}

impl Type {
    pub fn layout(&self) -> Layout {
        let Type { size, extent, lower } = *self;
        let contiguous = size == extent && lower == 0;
        Layout { size, extent, contiguous }
    }
}

/// What memory holds that nobody has written.
pub const GAP: u8 = 0xA5;

/// One process of a job.
#[derive(Clone)]
pub struct Process {
    /// Index of the group, 0 or 1, and rank in it.
    pub group: usize,
    pub rank: u32,
    pub schedule: Schedule,
    pub send: Vec<u8>,
    pub receive: Vec<u8>,
    /// The datatypes: one, or one for each peer.
    pub send_types: Vec<Type>,
    pub receive_types: Vec<Type>,
}

/// Combines two elements: left, right and result.
pub type Operator = fn(&[u8], &[u8]) -> Vec<u8>;

struct Running {
    process: Process,
    scratch: Vec<(Vec<u8>, i64)>,
    round: usize,
    posted: bool,
    pending: usize,
}

type Key = (usize, usize);

/// What a run has shown.
pub struct Outcome {
    pub processes: Vec<Process>,
    pub messages: usize,
    pub message_bytes: i64,
}

struct Simulation {
    running: Vec<Running>,
    sends: HashMap<Key, VecDeque<Span>>,
    receives: HashMap<Key, VecDeque<Span>>,
    messages: usize,
    message_bytes: i64,
    operator: Operator,
    group_sizes: [usize; 2],
}

/// Runs the processes, which must be in order of group and rank, until all are done.
pub fn run(processes: Vec<Process>, operator: Operator, seed: u64) -> Outcome {
    let mut simulation = Simulation::new(processes, operator);
    let mut random = Random::new(seed);
    while simulation.advance(&mut random) {}
    for running in &simulation.running {
        let Process { group, rank, .. } = running.process;
        assert!(running.is_done(), "deadlock: rank {rank} of group {group} waits in round {}", running.round);
    }
    assert!(simulation.sends.values().all(VecDeque::is_empty), "a message was never received");
    Outcome {
        processes: simulation.running.into_iter().map(|running| running.process).collect(),
        messages: simulation.messages,
        message_bytes: simulation.message_bytes,
    }
}

/// Runs processes until nobody can advance, and says which ones are done.
pub fn finished(processes: Vec<Process>, seed: u64) -> Vec<usize> {
    let mut simulation = Simulation::new(processes, |_, _| Vec::new());
    let mut random = Random::new(seed);
    while simulation.advance(&mut random) {}
    (0..simulation.running.len()).filter(|index| simulation.running[*index].is_done()).collect()
}

impl Running {
    fn new(process: Process) -> Self {
        let scratch = process.schedule.scratch().iter().map(|scratch| match *scratch {
            Scratch::Bytes(bytes) => (vec![GAP; bytes as usize], 0),
            Scratch::Elements { count, datatype } => {
                let Type { size, extent, lower } = process.datatype(datatype);
                let bytes = if count == 0 { 0 } else { (count - 1) * extent + size };
                (vec![GAP; bytes as usize], -lower)
            }
        });
        Self { scratch: scratch.collect(), process, round: 0, posted: false, pending: 0 }
    }

    fn is_done(&self) -> bool {
        self.round == self.process.schedule.round_count()
    }

    /// The memory of a buffer and the index of its address in it.
    fn memory(&mut self, buffer: Buffer) -> (&mut Vec<u8>, i64) {
        match buffer {
            Buffer::Send => (&mut self.process.send, 0),
            Buffer::Receive => (&mut self.process.receive, 0),
            Buffer::Scratch(index) => {
                let (memory, address) = &mut self.scratch[index as usize];
                (memory, *address)
            }
        }
    }

    /// The indices of a span's data bytes in the memory of its buffer, in order.
    fn indices(&self, span: Span, address: i64) -> Vec<usize> {
        let Type { size, extent, lower } = self.process.datatype(span.datatype);
        let element = |index| address + span.displacement + index * extent + lower;
        (0..span.count)
            .flat_map(|index| (0..size).map(move |byte| (element(index) + byte) as usize))
            .collect()
    }

    fn read(&mut self, span: Span) -> Vec<u8> {
        let address = self.memory(span.buffer).1;
        let indices = self.indices(span, address);
        let memory = self.memory(span.buffer).0;
        indices.into_iter().map(|index| memory[index]).collect()
    }

    fn write(&mut self, span: Span, bytes: &[u8]) {
        assert_ne!(span.buffer, Buffer::Send, "the send buffer is only read");
        let address = self.memory(span.buffer).1;
        let indices = self.indices(span, address);
        assert_eq!(indices.len(), bytes.len(), "both sides of a message or copy have the same bytes");
        let memory = self.memory(span.buffer).0;
        indices.into_iter().zip(bytes).for_each(|(index, byte)| memory[index] = *byte);
    }

    fn assert_apart(&mut self, from: Span, into: Span) {
        if from.buffer == into.buffer {
            let address = self.memory(from.buffer).1;
            let (read, written) = (self.indices(from, address), self.indices(into, address));
            assert!(read.iter().all(|index| !written.contains(index)), "{from:?} overlaps {into:?}");
        }
    }

    fn local(&mut self, step: Step, operator: Operator) {
        match step {
            Step::Copy { from, into } => {
                self.assert_apart(from, into);
                let bytes = self.read(from);
                self.write(into, &bytes);
            }
            Step::Reduce { from, into } => {
                self.assert_apart(from, into);
                assert_eq!(from.count, into.count);
                let (left, right) = (self.read(from), self.read(into));
                let size = self.process.datatype(into.datatype).size as usize;
                let pairs = left.chunks(size).zip(right.chunks(size));
                let result: Vec<u8> = pairs.flat_map(|(left, right)| operator(left, right)).collect();
                self.write(into, &result);
            }
            Step::Send { .. } | Step::Receive { .. } => panic!("communication among the local steps"),
        }
    }
}

impl Process {
    fn datatype(&self, datatype: TypeOf) -> Type {
        match datatype {
            TypeOf::Send => self.send_types[0],
            TypeOf::Receive => self.receive_types[0],
            TypeOf::SendW(peer) => self.send_types[peer as usize],
            TypeOf::ReceiveW(peer) => self.receive_types[peer as usize],
            TypeOf::Packed => Type { size: 1, extent: 1, lower: 0 },
        }
    }
}

impl Simulation {
    fn new(processes: Vec<Process>, operator: Operator) -> Self {
        let group_sizes =
            [0, 1].map(|group| processes.iter().filter(|process| process.group == group).count());
        Self {
            running: processes.into_iter().map(Running::new).collect(),
            sends: HashMap::new(),
            receives: HashMap::new(),
            messages: 0,
            message_bytes: 0,
            operator,
            group_sizes,
        }
    }

    /// Lets one randomly chosen process or message advance; false if none can.
    fn advance(&mut self, random: &mut Random) -> bool {
        let ready: Vec<usize> = (0..self.running.len()).filter(|index| self.can_step(*index)).collect();
        let mut matched: Vec<Key> = self
            .sends
            .iter()
            .filter(|(key, sends)| {
                !sends.is_empty() && self.receives.get(key).is_some_and(|list| !list.is_empty())
            })
            .map(|(key, _)| *key)
            .collect();
        let choices = ready.len() + matched.len();
        if choices == 0 {
            return false;
        }
        matched.sort_unstable();
        let choice = random.below(choices as u64) as usize;
        match ready.get(choice) {
            Some(index) => self.step(*index),
            None => self.deliver(matched[choice - ready.len()]),
        }
        true
    }

    fn can_step(&self, index: usize) -> bool {
        let running = &self.running[index];
        !running.is_done() && (!running.posted || running.pending == 0)
    }

    fn step(&mut self, index: usize) {
        let schedule = self.running[index].process.schedule.clone();
        let round = schedule.round(self.running[index].round);
        if !self.running[index].posted {
            self.running[index].posted = true;
            self.running[index].pending = round.communication.len();
            for step in round.communication {
                self.post(index, *step);
            }
            return;
        }
        for step in round.local {
            self.running[index].local(*step, self.operator);
        }
        self.running[index].round += 1;
        self.running[index].posted = false;
    }

    fn post(&mut self, index: usize, step: Step) {
        match step {
            Step::Send { peer, from } => {
                self.messages += 1;
                let key = (index, self.index_of(index, peer));
                self.sends.entry(key).or_default().push_back(from);
            }
            Step::Receive { peer, into } => {
                let key = (self.index_of(index, peer), index);
                self.receives.entry(key).or_default().push_back(into);
            }
            Step::Copy { .. } => {
                self.running[index].local(step, self.operator);
                self.running[index].pending -= 1;
            }
            Step::Reduce { .. } => panic!("a reduction among the communication"),
        }
    }

    fn index_of(&self, index: usize, peer: Peer) -> usize {
        let group = self.running[index].process.group;
        let (group, rank) = match peer {
            Peer::Local(rank) => (group, rank as usize),
            Peer::Remote(rank) => (1 - group, rank as usize),
        };
        assert!(rank < self.group_sizes[group], "{peer:?} does not exist");
        let peer = if group == 0 { rank } else { self.group_sizes[0] + rank };
        assert_ne!(peer, index, "a process sends to itself");
        peer
    }

    fn deliver(&mut self, key: Key) {
        let from = self.sends.get_mut(&key).and_then(VecDeque::pop_front).expect("a posted send");
        let into = self.receives.get_mut(&key).and_then(VecDeque::pop_front).expect("a posted receive");
        let bytes = self.running[key.0].read(from);
        self.message_bytes += bytes.len() as i64;
        self.running[key.1].write(into, &bytes);
        self.running[key.0].pending -= 1;
        self.running[key.1].pending -= 1;
    }
}
