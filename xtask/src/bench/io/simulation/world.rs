//! Ranks that compute for a while, want the lock, use it, and give it back, against a clock that moves from event to event.
//!
//! What a lock consists of is [`Protocol`]'s: operations on memory, which a place serves one after the other, and messages. Only the
//! world knows what they cost: nothing on their way to memory of the same node, and a part of the measured time between nodes. Whether two
//! ranks ever have the lock at once is asserted here.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Ranks of a node.
pub const NODE_RANKS: usize = 32;

/// What things cost, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// A message, one way, inside a node and between nodes.
    pub message: [f64; 2],
    /// A fetch-and-op until its result is there.
    pub operation: [f64; 2],
    /// An exclusive epoch with a put.
    pub epoch: [f64; 2],
    /// One byte of a get or put.
    pub per_byte: f64,
    /// The access that the lock is for.
    pub access: f64,
    /// What ranks do between two accesses, on average.
    pub between: f64,
    /// The way to a file server or back, and its time for one request.
    pub server: (f64, f64),
}

/// Where memory is.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Rank(usize),
    Server,
}

/// What happens to a rank.
#[derive(Clone, Copy, Debug)]
pub enum Event<O, M> {
    /// It wants the lock.
    Wants,
    /// Its operation is at its place.
    Arrives(O, Place, f64),
    /// Its operation is carried out there.
    Served(O, Place),
    /// It has the result.
    Replied(O),
    /// A message for it is there.
    Message(M),
    /// It has used the lock.
    Ends,
    /// It waited for a while.
    Retries,
}

/// A lock.
pub trait Protocol: Sized {
    /// Operations on memory.
    type Operation: Copy;
    /// Messages.
    type Message: Copy;
    /// A rank wants the lock.
    fn acquire(&mut self, world: &mut World<Self>, rank: usize);
    /// The rank that has it gives it back.
    fn release(&mut self, world: &mut World<Self>, rank: usize);
    /// The operation of a rank takes effect.
    fn serve(&mut self, world: &mut World<Self>, rank: usize, operation: Self::Operation);
    /// A rank knows what its operation has found.
    fn reply(&mut self, world: &mut World<Self>, rank: usize, operation: Self::Operation);
    /// A rank has a message.
    fn message(&mut self, world: &mut World<Self>, rank: usize, message: Self::Message);
}

struct Entry<P: Protocol> {
    time: f64,
    number: u64,
    rank: usize,
    event: Event<P::Operation, P::Message>,
}

impl<P: Protocol> PartialEq for Entry<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P: Protocol> Eq for Entry<P> {}

impl<P: Protocol> PartialOrd for Entry<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: Protocol> Ord for Entry<P> {
    /// The earliest is the greatest, which a heap gives first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.time.total_cmp(&self.time).then(other.number.cmp(&self.number))
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Accesses in a second.
    pub per_second: f64,
    /// From wanting the lock to having it.
    pub waiting_s: f64,
    /// The longest of these times.
    pub longest_s: f64,
}

/// The ranks and the clock.
pub struct World<P: Protocol> {
    /// How many ranks there are.
    pub ranks: usize,
    /// What things cost.
    pub costs: Costs,
    now: f64,
    events: BinaryHeap<Entry<P>>,
    entries: u64,
    random: u64,
    /// Until when each place is busy; the server is the last.
    busy: Vec<f64>,
    holder: Option<usize>,
    wanted: Vec<f64>,
    waits: Vec<f64>,
}

impl<P: Protocol> World<P> {
    /// Runs until each rank has had the lock twice on average, but not for fewer than 2,000 accesses nor for ever; how it begins does not count.
    pub fn run(protocol: &mut P, ranks: usize, costs: Costs) -> Found {
        let mut world = World {
            ranks,
            costs,
            now: 0.0,
            events: BinaryHeap::new(),
            entries: 0,
            random: 0x9e37_79b9_7f4a_7c15,
            busy: vec![0.0; ranks + 1],
            holder: None,
            wanted: vec![0.0; ranks],
            waits: Vec::new(),
        };
        for rank in 0..ranks {
            let time = world.computes();
            world.after(time, rank, Event::Wants);
        }
        let (warm, wanted) = (ranks, ranks + (2 * ranks).max(2000));
        let mut begun = 0.0;
        while world.waits.len() < wanted && world.entries < 4_000_000 {
            let Some(entry) = world.events.pop() else { panic!("everybody waits and nobody has the lock") };
            let before = world.waits.len();
            world.now = entry.time;
            world.step(protocol, entry.rank, entry.event);
            if before < warm && world.waits.len() == warm {
                begun = world.now;
            }
        }
        let counted = &world.waits[warm.min(world.waits.len())..];
        Found {
            per_second: counted.len() as f64 / (world.now - begun),
            waiting_s: counted.iter().sum::<f64>() / counted.len().max(1) as f64,
            longest_s: counted.iter().copied().fold(0.0, f64::max),
        }
    }

    fn step(&mut self, protocol: &mut P, rank: usize, event: Event<P::Operation, P::Message>) {
        match event {
            Event::Wants => {
                self.wanted[rank] = self.now;
                protocol.acquire(self, rank);
            }
            Event::Retries => protocol.acquire(self, rank),
            Event::Arrives(operation, place, service) => {
                let index = self.index(place);
                self.busy[index] = self.busy[index].max(self.now) + service;
                let wait = self.busy[index] - self.now;
                self.after(wait, rank, Event::Served(operation, place));
            }
            Event::Served(operation, place) => {
                protocol.serve(self, rank, operation);
                self.after(self.way(rank, place), rank, Event::Replied(operation));
            }
            Event::Replied(operation) => protocol.reply(self, rank, operation),
            Event::Message(message) => protocol.message(self, rank, message),
            Event::Ends => {
                assert_eq!(self.holder.take(), Some(rank), "only the holder gives a lock back");
                protocol.release(self, rank);
            }
        }
    }

    fn after(&mut self, time: f64, rank: usize, event: Event<P::Operation, P::Message>) {
        self.entries += 1;
        self.events.push(Entry { time: self.now + time, number: self.entries, rank, event });
    }

    fn index(&self, place: Place) -> usize {
        match place {
            Place::Rank(rank) => rank,
            Place::Server => self.ranks,
        }
    }

    /// 0 inside a node, 1 between nodes.
    fn distance(one: usize, other: usize) -> usize {
        usize::from(one / NODE_RANKS != other / NODE_RANKS)
    }

    /// The way of an operation to its place, or that of its result back.
    fn way(&self, rank: usize, place: Place) -> f64 {
        let [near, far] = self.costs.operation;
        match place {
            Place::Rank(other) if Self::distance(rank, other) == 0 => 0.0,
            Place::Rank(_) => ((far - near) / 2.0).max(0.0),
            Place::Server => self.costs.server.0,
        }
    }

    /// A time of computing: exponentially distributed, so that ranks do not go in step.
    fn computes(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let uniform = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        -self.costs.between * (1.0 - uniform).ln()
    }

    /// Asks for an operation on memory at `place`, which is busy with it for `service`.
    pub fn operate(&mut self, rank: usize, place: Place, service: f64, operation: P::Operation) {
        self.after(self.way(rank, place), rank, Event::Arrives(operation, place, service));
    }

    /// A fetch-and-op, or another one of that kind.
    pub fn fetch(&mut self, rank: usize, at: usize, operation: P::Operation) {
        self.operate(rank, Place::Rank(at), self.costs.operation[0], operation);
    }

    /// An exclusive epoch in which so many bytes are moved.
    pub fn epoch(&mut self, rank: usize, at: usize, bytes: usize, operation: P::Operation) {
        let ways = 2.0 * self.way(rank, Place::Rank(at));
        let held = (self.costs.epoch[Self::distance(rank, at)] - ways).max(self.costs.operation[0]);
        let service = held + bytes as f64 * self.costs.per_byte;
        self.operate(rank, Place::Rank(at), service, operation);
    }

    /// Sends a message.
    pub fn send(&mut self, from: usize, to: usize, message: P::Message) {
        self.after(self.costs.message[Self::distance(from, to)], to, Event::Message(message));
    }

    /// The server has something to say to a rank.
    pub fn tell(&mut self, to: usize, message: P::Message) {
        self.after(self.costs.server.0, to, Event::Message(message));
    }

    /// The rank tries again after a time.
    pub fn retry(&mut self, rank: usize, time: f64) {
        self.after(time, rank, Event::Retries);
    }

    /// The rank has the lock.
    pub fn granted(&mut self, rank: usize) {
        assert_eq!(self.holder.replace(rank), None, "one rank at a time has the lock");
        self.waits.push(self.now - self.wanted[rank]);
        self.after(self.costs.access, rank, Event::Ends);
    }

    /// The rank has nothing to do with the lock any more.
    pub fn released(&mut self, rank: usize) {
        let time = self.computes();
        self.after(time, rank, Event::Wants);
    }
}
