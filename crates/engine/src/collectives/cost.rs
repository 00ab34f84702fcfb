//! What a collective would take on so many hosts: its real schedules, run against a clock that costs move.
//!
//! A discrete-event simulation. A process posts the communication of a round in order. Each message keeps its sender
//! busy for a fixed time and for a time per byte, is under way for the latency, and keeps its receiver busy for the fixed
//! time when it is taken; the local steps of a round cost a time per byte. Messages between hosts leave a host one after the
//! other, since its processes share one way. The messages of one round from the same place to several processes of the
//! host cost their fixed time and the bytes once, and a link for each further one, if links have a cost. Messages are
//! eager: nobody waits for a receiver.
//!
//! A schedule is a pure function, so that none is kept: a process that can go on makes its schedule again, and only clocks and
//! messages under way are stored. That is what lets a hundred thousand processes fit.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use postrider_os::hosts::Placement;

use super::arguments::{Block, Blocks, Contribution, Layout, Place};
use super::nodes::Nodes;
use super::reduction::Reduction;
use super::schedule::{Peer, Schedule, Span, Step};
use super::spreading::Spreading;
use super::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};
use crate::transports::Multicast;

/// What a message costs, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// From its leaving the sender to its being with the receiver.
    pub latency: f64,
    /// Its sender's and its receiver's time, whatever its length.
    pub per_message: f64,
    /// Its sender's time for each byte.
    pub per_byte: f64,
}

/// What everything costs, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Messages inside a host.
    pub inside: Way,
    /// Messages between hosts.
    pub between: Way,
    /// Copying or combining a byte.
    pub per_local_byte: f64,
    /// Handing a message that has been sent to one process of the host to another one too; none where each costs as much as
    /// the first.
    pub per_link: Option<f64>,
}

/// The collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `MPI_Barrier`.
    Barrier,
    /// `MPI_Bcast` from rank 0.
    Broadcast,
    /// `MPI_Gather` at rank 0.
    Gather,
    /// `MPI_Scatter` from rank 0.
    Scatter,
    /// `MPI_Allgather`.
    Allgather,
    /// `MPI_Alltoall`.
    Alltoall,
    /// `MPI_Reduce` to rank 0.
    Reduce,
    /// `MPI_Allreduce`.
    Allreduce,
    /// `MPI_Reduce_scatter_block`.
    ReduceScatter,
    /// `MPI_Scan`.
    Scan,
}

impl Family {
    /// All of them, with the names of their settings: `POSTRIDER_` and this.
    pub const ALL: [(&str, Self); 10] = [
        ("BARRIER", Self::Barrier),
        ("BCAST", Self::Broadcast),
        ("GATHER", Self::Gather),
        ("SCATTER", Self::Scatter),
        ("ALLGATHER", Self::Allgather),
        ("ALLTOALL", Self::Alltoall),
        ("REDUCE", Self::Reduce),
        ("ALLREDUCE", Self::Allreduce),
        ("REDUCE_SCATTER", Self::ReduceScatter),
        ("SCAN", Self::Scan),
    ];

    /// The family of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, family)| *family)
    }
}

const BYTES: Layout = Layout { size: 1, extent: 1, contiguous: true };

/// The seconds until the last process is done with a collective by the algorithm of this name on the processes of `placement`. `bytes`
/// is what one process contributes or gets: the message of a broadcast, the block of a gather, the vector of a reduction. None
/// if the family has no such algorithm.
#[must_use]
pub fn completion_time(
    family: Family,
    algorithm: &str,
    placement: &Placement,
    bytes: u64,
    costs: &Costs,
) -> Option<f64> {
    let hosts = placement.host_of_each().iter().copied();
    let multicast = if costs.per_link.is_some() { Multicast::ALL } else { Multicast::NONE };
    let spreading = Spreading { multicast, ..Spreading::BINOMIAL };
    let nodes = Nodes::new(hosts, spreading);
    let build = schedules(family, algorithm, bytes as i64)?;
    let size = placement.ranks();
    let nodes = nodes.as_ref();
    Some(Simulation::new(placement, costs, &|rank| build(Place { rank, size, nodes, spreading })).run())
}

type Build = Box<dyn Fn(Place) -> Schedule>;

/// The schedules of an algorithm.
fn schedules(family: Family, name: &str, bytes: i64) -> Option<Build> {
    let block = Block { count: bytes, layout: BYTES };
    let (own, blocks) = (Contribution::Send(block), move || Blocks::Equal(block));
    let vector = |count| Reduction { count, layout: BYTES, commutative: true, in_place: false };
    Some(match family {
        Family::Barrier => {
            let algorithm = barrier::Algorithm::named(name)?;
            Box::new(move |place| barrier::barrier(algorithm, place))
        }
        Family::Broadcast => {
            let algorithm = broadcast::Algorithm::named(name)?;
            Box::new(move |place| broadcast::broadcast(algorithm, place, 0, block))
        }
        Family::Gather => {
            let algorithm = gather::Algorithm::named(name)?;
            Box::new(move |place| gather::gather(algorithm, place, 0, own, Some(block)))
        }
        Family::Scatter => {
            let algorithm = scatter::Algorithm::named(name)?;
            Box::new(move |place| scatter::scatter(algorithm, place, 0, Some(block), Some(block)))
        }
        Family::Allgather => {
            let algorithm = allgather::Algorithm::named(name)?;
            Box::new(move |place| allgather::allgather(algorithm, place, own, blocks()))
        }
        Family::Alltoall => {
            let algorithm = alltoall::Algorithm::named(name)?;
            Box::new(move |place| alltoall::alltoall(algorithm, place, Some(blocks()), blocks()))
        }
        Family::Reduce => {
            let algorithm = reduce::Algorithm::named(name)?;
            Box::new(move |place| reduce::reduce(algorithm, place, 0, vector(bytes)))
        }
        Family::Allreduce => {
            let algorithm = allreduce::Algorithm::named(name)?;
            Box::new(move |place| allreduce::allreduce(algorithm, place, vector(bytes)))
        }
        Family::ReduceScatter => {
            let algorithm = reduce_scatter::Algorithm::named(name)?;
            let parts = reduce_scatter::Parts::Equal(bytes);
            Box::new(move |place| {
                let whole = vector(parts.total(place.size));
                reduce_scatter::reduce_scatter(algorithm, place, parts, whole)
            })
        }
        Family::Scan => {
            let algorithm = scan::Algorithm::named(name)?;
            Box::new(move |place| scan::scan(algorithm, place, vector(bytes)))
        }
    })
}

/// A moment as a number that grows with it: what the bits of a positive number do.
fn order(clock: f64) -> u64 {
    clock.to_bits()
}

/// How far a process is.
#[derive(Clone, Copy, Default)]
struct Progress {
    clock: f64,
    round: u32,
    /// Its messages of this round have left, and it waits for so many.
    missing: Option<u32>,
}

/// The messages from one process to another.
#[derive(Default)]
struct Pair {
    /// When those that nobody has taken have come.
    arrivals: VecDeque<f64>,
    /// How many the receiver waits for.
    wanted: u32,
}

struct Simulation<'a> {
    placement: &'a Placement,
    costs: &'a Costs,
    schedule: &'a dyn Fn(u32) -> Schedule,
    processes: Vec<Progress>,
    /// When the way out of each host is free.
    ways_out: Vec<f64>,
    pairs: HashMap<(u32, u32), Pair>,
    ready: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'a> Simulation<'a> {
    fn new(placement: &'a Placement, costs: &'a Costs, schedule: &'a dyn Fn(u32) -> Schedule) -> Self {
        Self {
            placement,
            costs,
            schedule,
            processes: vec![Progress::default(); placement.ranks() as usize],
            ways_out: vec![0.0; placement.hosts() as usize],
            pairs: HashMap::new(),
            ready: (0..placement.ranks()).map(|rank| Reverse((order(0.0), rank))).collect(),
        }
    }

    /// The moment at which the last process is done.
    ///
    /// # Panics
    /// When processes wait for messages that never come.
    fn run(mut self) -> f64 {
        while let Some(Reverse((_, rank))) = self.ready.pop() {
            let schedule = (self.schedule)(rank);
            self.advance(rank, &schedule);
        }
        assert!(self.processes.iter().all(|process| process.missing.is_none()), "the schedules deadlock");
        self.processes.iter().map(|process| process.clock).fold(0.0, f64::max)
    }

    /// One step of a process: what can be done without going past the clocks of others.
    fn advance(&mut self, rank: u32, schedule: &Schedule) {
        let Progress { round, missing, .. } = self.processes[rank as usize];
        if round as usize == schedule.round_count() {
            return;
        }
        let now = schedule.round(round as usize);
        if missing.is_none() {
            self.communicate(rank, now.communication);
            if self.processes[rank as usize].missing != Some(0) {
                return;
            }
        }
        let process = &mut self.processes[rank as usize];
        let meanwhile = now.communication.iter().filter(|step| matches!(step, Step::Copy { .. }));
        let bytes: i64 = meanwhile.chain(now.local).map(|step| span(step).count).sum();
        process.clock += bytes as f64 * self.costs.per_local_byte;
        process.round += 1;
        process.missing = None;
        self.ready.push(Reverse((order(process.clock), rank)));
    }

    fn communicate(&mut self, rank: u32, steps: &[Step]) {
        let mut before = None;
        for step in steps {
            if let Step::Send { peer: Peer::Local(peer), from } = step {
                self.send(rank, *peer, *from, &mut before);
            }
        }
        let mut missing = 0;
        for step in steps {
            if let Step::Receive { peer: Peer::Local(peer), .. } = step {
                let pair = self.pairs.entry((*peer, rank)).or_default();
                match pair.arrivals.pop_front() {
                    Some(arrival) => self.take(*peer, rank, arrival),
                    None => {
                        pair.wanted += 1;
                        missing += 1;
                    }
                }
            }
        }
        self.processes[rank as usize].missing = Some(missing);
    }

    fn is_near(&self, one: u32, other: u32) -> bool {
        self.placement.host_of(one) == self.placement.host_of(other)
    }

    fn way(&self, from: u32, to: u32) -> Way {
        if self.is_near(from, to) { self.costs.inside } else { self.costs.between }
    }

    /// `before` is what was last sent inside the host, in this round.
    fn send(&mut self, from: u32, to: u32, span: Span, before: &mut Option<Span>) {
        let (way, near) = (self.way(from, to), self.is_near(from, to));
        let whole = way.per_message + span.count as f64 * way.per_byte;
        let clock = &mut self.processes[from as usize].clock;
        let leaves = match self.costs.per_link {
            Some(per_link) if near && *before == Some(span) => *clock + per_link,
            _ if near => *clock + whole,
            _ => {
                let way_out = &mut self.ways_out[self.placement.host_of(from) as usize];
                *way_out = way_out.max(*clock) + whole;
                *way_out
            }
        };
        *clock = leaves;
        if near {
            *before = Some(span);
        }
        self.arrive(from, to, leaves + way.latency);
    }

    fn arrive(&mut self, from: u32, to: u32, arrival: f64) {
        let pair = self.pairs.entry((from, to)).or_default();
        if pair.wanted == 0 {
            pair.arrivals.push_back(arrival);
            return;
        }
        pair.wanted -= 1;
        self.take(from, to, arrival);
        let process = &mut self.processes[to as usize];
        let missing = process.missing.map_or(0, |missing| missing.saturating_sub(1));
        process.missing = Some(missing);
        if missing == 0 {
            self.ready.push(Reverse((order(process.clock), to)));
        }
    }

    /// The receiver's part of a message.
    fn take(&mut self, from: u32, to: u32, arrival: f64) {
        let per_message = self.way(from, to).per_message;
        let is_done =
            self.pairs.get(&(from, to)).is_some_and(|pair| pair.arrivals.is_empty() && pair.wanted == 0);
        if is_done {
            self.pairs.remove(&(from, to));
        }
        let process = &mut self.processes[to as usize];
        process.clock = process.clock.max(arrival) + per_message;
    }
}

fn span(step: &Step) -> Span {
    match step {
        Step::Send { from, .. } => *from,
        Step::Receive { into, .. } | Step::Copy { into, .. } | Step::Reduce { into, .. } => *into,
    }
}
