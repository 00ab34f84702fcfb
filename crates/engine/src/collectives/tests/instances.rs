//! Whole processes that run collective calls over the simulated network: random calls, algorithms, datatypes, protocol
//! limits and delays, all from a seed, compared with a naive model.
//!
//! Data is 32-bit words. An element is a word, or a pair (a, b) that stands for the map x -> a x + b, whose composition is
//! the operation that is not commutative.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use postrider_abi::{MPI_DATATYPE_NULL, MPI_INT};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::simulator::Random;
use crate::collectives::{Call, Calls, Data, Many, Operands, schedule::Schedule};
use crate::datatypes::{CountForm, Datatype, pack_range, unpack_range};
use crate::error::Result;
use crate::operations::{Operation, Operator};
use crate::settings::Settings;
use crate::transports::simulated::Network;
use crate::transports::{Limits, SingleCopy};
use crate::{Instance, State, World};
use postrider_os::hosts::Placement;

const SEEDS: u64 = 32;
const CALLS_PER_SEED: u64 = 40;
/// Room before and after a buffer, for displaced lower bounds.
const MARGIN: usize = 64;

/// The model of an operation: `left op right`.
type Combine = fn(&[i32], &[i32]) -> Vec<i32>;

/// A buffer of the program.
struct Area {
    memory: OwnedMemory,
    datatype: Arc<Datatype>,
    words: usize,
}

impl Area {
    fn new(datatype: &Arc<Datatype>, words: &[i32]) -> Self {
        let count = words.len() * 4 / datatype.size() as usize;
        let memory = OwnedMemory::new(2 * MARGIN + count * datatype.extent() as usize);
        let mut area = Self { memory, datatype: Arc::clone(datatype), words: words.len() };
        let packed: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        unpack_range(datatype, count as i64, area.start(), 0, &packed);
        area
    }

    fn start(&mut self) -> UserMemory {
        UserMemory::of(&mut self.memory).offset(MARGIN as i64)
    }

    fn count(&self) -> i64 {
        self.words as i64 * 4 / self.datatype.size()
    }

    fn data(&mut self) -> Data {
        Data { memory: self.start(), count: self.count(), datatype: Arc::clone(&self.datatype) }
    }

    /// The buffer as equal blocks for `peers` processes.
    fn equal(&mut self, peers: u32) -> Many {
        let count = self.count() / i64::from(peers);
        Many::equal(Data { count, ..self.data() })
    }

    fn varying(&mut self, spread: &Spread) -> Many {
        let Spread { counts, displacements } = spread.clone();
        Many::varying(self.start(), counts, displacements, Arc::clone(&self.datatype))
    }

    fn general(&mut self, Spread { counts, displacements }: &Spread) -> Many {
        let in_bytes = displacements.iter().map(|at| at * self.datatype.extent()).collect();
        let datatypes = counts.iter().map(|_| Arc::clone(&self.datatype)).collect();
        Many::general(self.start(), counts.clone(), in_bytes, datatypes)
    }

    fn read(&mut self) -> Vec<i32> {
        let mut packed = vec![0; self.words * 4];
        pack_range(
            &self.datatype,
            self.count(),
            UserMemory::of(&mut self.memory).offset(MARGIN as i64),
            0,
            &mut packed,
        );
        packed.chunks_exact(4).map(|word| i32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect()
    }
}

/// Counts and displacements in pairs, with a gap after every block.
#[derive(Clone)]
struct Spread {
    counts: Vec<i64>,
    displacements: Vec<i64>,
}

impl Spread {
    fn new(counts: Vec<i64>) -> Self {
        let mut next = 0;
        let place = |count: &i64| {
            let at = next;
            next += count + 1;
            at
        };
        let displacements = counts.iter().map(place).collect();
        Self { counts, displacements }
    }

    /// The words of a buffer with `block(index)` in its blocks and -1 between them.
    fn words(&self, block: impl Fn(usize) -> Vec<i32>) -> Vec<i32> {
        let blocks = (0..self.counts.len()).map(block);
        blocks.flat_map(|words| words.into_iter().chain([-1, -1])).collect()
    }
}

/// A process and what it knows.
struct Member<'a> {
    instance: &'a Instance,
    rank: u32,
    size: u32,
    /// The same on all processes.
    common: Random,
    /// Different on all processes.
    own: Random,
    /// Number of the call.
    call: u64,
}

impl Member<'_> {
    /// The words that `from` has for `to` in this call: `count` pairs.
    fn words(&self, from: u32, to: u32, count: i64) -> Vec<i32> {
        let mixed = |index: i64| {
            let key = self.call << 40 | u64::from(from) << 30 | u64::from(to) << 20 | index as u64;
            (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as i32
        };
        (0..2 * count).map(mixed).collect()
    }

    /// The number of pairs of the block from one process to another, for the v forms.
    fn pairs(&self, from: u32, to: u32) -> i64 {
        i64::from(self.words(from, to, 1)[0].rem_euclid(20))
            * i64::from(self.words(from, to, 1)[1].rem_euclid(2))
    }

    fn ranks(&self) -> std::ops::Range<u32> {
        0..self.size
    }

    /// A datatype of two words, dense or not; every process may choose another.
    fn datatype(random: &mut Random) -> Arc<Datatype> {
        let int = Datatype::predefined(MPI_INT).expect("it is predefined");
        let made = match random.below(3) {
            0 => Datatype::contiguous(CountForm::Int, 2, int),
            1 => Datatype::vector(CountForm::Int, 2, 1, 2, int),
            _ => Datatype::vector(CountForm::Int, 2, 1, 2, int)
                .and_then(|gap| Datatype::resized(CountForm::Int, -4, 20, &gap)),
        }
        .expect("these are good arguments");
        made.commit();
        made
    }

    fn run(&self, what: &str, prepare: impl FnOnce(&Calls) -> Result<(Call, Schedule)>) {
        let result = self.instance.collective(State::WORLD, None, prepare);
        assert_eq!(result, Ok(()), "{what} of rank {} in call {}", self.rank, self.call);
    }

    fn expect(&self, what: &str, area: &mut Area, expected: &[i32]) {
        assert_eq!(
            area.read(),
            expected,
            "{what} at rank {} of {} in call {}",
            self.rank,
            self.size,
            self.call
        );
    }

    /// A random block size in pairs: mostly small, sometimes in several pieces.
    fn block_pairs(&mut self) -> i64 {
        [0, 1, 2, 7, 33, 300, 3000][self.common.below(7) as usize]
    }

    fn step(&mut self) {
        match self.common.below(12) {
            0 => self.run("barrier", |calls| calls.barrier()),
            1 => self.broadcast(),
            2 => self.gather(),
            3 => self.scatter(),
            4 => self.allgather(),
            5 => self.alltoall(),
            6 => self.alltoall_varying(),
            7 | 8 => self.reduce(),
            9 => self.reduce_scatter(),
            _ => self.prefix(),
        }
    }

    fn broadcast(&mut self) {
        let (root, count) = (self.common.below(self.size.into()) as u32, self.block_pairs());
        let expected = self.words(root, 0, count);
        let mine = if self.rank == root { expected.clone() } else { vec![0; expected.len()] };
        let mut area = Area::new(&Self::datatype(&mut self.own), &mine);
        self.run("broadcast", |calls| calls.broadcast(calls.root(root as i32)?, Some(area.data())));
        self.expect("broadcast", &mut area, &expected);
    }

    fn gather(&mut self) {
        let (send_type, receive_type) = (Self::datatype(&mut self.own), Self::datatype(&mut self.own));
        let (root, count) = (self.common.below(self.size.into()) as u32, self.block_pairs());
        let (varies, in_place) = (self.common.below(2) == 0, self.common.below(2) == 0);
        let here = self.rank == root;
        let count_of = |rank| if varies { self.pairs(rank, 0) } else { count };
        let spread = Spread::new(self.ranks().map(count_of).collect());
        let full = |rank: usize| self.words(rank as u32, 0, spread.counts[rank]);
        let expected = if varies {
            spread.words(full)
        } else {
            self.ranks().flat_map(|rank| full(rank as usize)).collect()
        };
        let mut send = Area::new(&send_type, &self.words(self.rank, 0, count_of(self.rank)));
        let mut blank = vec![-1; expected.len()];
        if in_place && here {
            let own = self.words(self.rank, 0, count_of(self.rank));
            let at = if varies { spread.displacements[root as usize] } else { i64::from(root) * count }
                as usize
                * 2;
            blank[at..at + own.len()].copy_from_slice(&own);
        }
        let mut receive = Area::new(&receive_type, &blank);
        self.run("gather", |calls| {
            let at = calls.root(root as i32)?;
            let from = (!(in_place && here)).then(|| send.data());
            match varies {
                true => calls.gatherv(at, from, here.then(|| receive.varying(&spread))),
                false => calls.gather(at, from, here.then(|| Data { count, ..receive.data() })),
            }
        });
        if here {
            self.expect("gather", &mut receive, &expected);
        }
    }

    fn scatter(&mut self) {
        let (send_type, receive_type) = (Self::datatype(&mut self.own), Self::datatype(&mut self.own));
        let (root, count) = (self.common.below(self.size.into()) as u32, self.block_pairs());
        let (varies, in_place) = (self.common.below(2) == 0, self.common.below(2) == 0);
        let here = self.rank == root;
        let count_of = |rank| if varies { self.pairs(0, rank) } else { count };
        let spread = Spread::new(self.ranks().map(count_of).collect());
        let full = |rank: usize| self.words(0, rank as u32, spread.counts[rank]);
        let all: Vec<i32> = if varies {
            spread.words(full)
        } else {
            self.ranks().flat_map(|rank| full(rank as usize)).collect()
        };
        let mut send = Area::new(&send_type, &all);
        let expected = full(self.rank as usize);
        let mut receive = Area::new(&receive_type, &vec![0; expected.len()]);
        self.run("scatter", |calls| {
            let at = calls.root(root as i32)?;
            let into = (!(in_place && here)).then(|| receive.data());
            match varies {
                true => calls.scatterv(at, here.then(|| send.varying(&spread)), into),
                false => calls.scatter(at, here.then(|| Data { count, ..send.data() }), into),
            }
        });
        if !(in_place && here) {
            self.expect("scatter", &mut receive, &expected);
        }
    }

    fn allgather(&mut self) {
        let (send_type, receive_type) = (Self::datatype(&mut self.own), Self::datatype(&mut self.own));
        let (count, varies, in_place) =
            (self.block_pairs(), self.common.below(2) == 0, self.common.below(2) == 0);
        let count_of = |rank| if varies { self.pairs(rank, 0) } else { count };
        let spread = Spread::new(self.ranks().map(count_of).collect());
        let full = |rank: usize| self.words(rank as u32, 0, spread.counts[rank]);
        let start = |rank: usize| match in_place && rank == self.rank as usize {
            true => full(rank),
            false => vec![0; 2 * spread.counts[rank] as usize],
        };
        let lay = |block: &dyn Fn(usize) -> Vec<i32>| -> Vec<i32> {
            if varies { spread.words(block) } else { (0..spread.counts.len()).flat_map(block).collect() }
        };
        let (before, expected) = (lay(&start), lay(&full));
        let mut send = Area::new(&send_type, &self.words(self.rank, 0, spread.counts[self.rank as usize]));
        let mut receive = Area::new(&receive_type, &before);
        self.run("allgather", |calls| {
            let into = if varies { receive.varying(&spread) } else { receive.equal(self.size) };
            calls.allgather((!in_place).then(|| send.data()), into)
        });
        self.expect("allgather", &mut receive, &expected);
    }

    fn alltoall(&mut self) {
        let (send_type, receive_type) = (Self::datatype(&mut self.own), Self::datatype(&mut self.own));
        let (count, in_place) = (self.block_pairs(), self.common.below(2) == 0);
        let out: Vec<i32> = self.ranks().flat_map(|to| self.words(self.rank, to, count)).collect();
        let expected: Vec<i32> = self.ranks().flat_map(|from| self.words(from, self.rank, count)).collect();
        let mut send = Area::new(&send_type, &out);
        let mut receive = Area::new(&receive_type, &out);
        self.run("alltoall", |calls| {
            calls.alltoall((!in_place).then(|| send.equal(self.size)), receive.equal(self.size))
        });
        self.expect("alltoall", &mut receive, &expected);
    }

    fn alltoall_varying(&mut self) {
        let (send_type, receive_type) = (Self::datatype(&mut self.own), Self::datatype(&mut self.own));
        let (general, in_place) = (self.common.below(2) == 0, self.common.below(2) == 0);
        // In place the blocks of two processes for each other have the same size.
        let pairs = |from: u32, to: u32| match in_place {
            true => self.pairs(from.min(to), from.max(to)),
            false => self.pairs(from, to),
        };
        let out = Spread::new(self.ranks().map(|to| pairs(self.rank, to)).collect());
        let into = Spread::new(self.ranks().map(|from| pairs(from, self.rank)).collect());
        let given = out.words(|to| self.words(self.rank, to as u32, out.counts[to]));
        let expected = into.words(|from| self.words(from as u32, self.rank, into.counts[from]));
        let blank: Vec<i32> = vec![-1; expected.len()];
        let mut send = Area::new(&send_type, &given);
        let mut receive = Area::new(&receive_type, if in_place { &given } else { &blank });
        self.run("alltoallv", |calls| match general {
            true => calls.alltoall((!in_place).then(|| send.general(&out)), receive.general(&into)),
            false => calls.alltoall((!in_place).then(|| send.varying(&out)), receive.varying(&into)),
        });
        self.expect("alltoallv", &mut receive, &expected);
    }

    /// A datatype, an operation on it, and the model of the operation on words.
    fn operation(&mut self) -> (Arc<Datatype>, Operation, Combine) {
        if self.common.below(2) == 0 {
            let int = Datatype::predefined(MPI_INT).expect("it is predefined");
            return (Arc::clone(int), Operation::Predefined(Operator::Sum), sum);
        }
        let datatype = Self::datatype(&mut self.common);
        let of_function = Arc::clone(&datatype);
        let function = move |input: UserMemory, inout: UserMemory, count: i64, _| {
            let read = |memory| {
                let mut packed = vec![0; 8 * count as usize];
                pack_range(&of_function, count, memory, 0, &mut packed);
                packed
                    .chunks_exact(4)
                    .map(|word| i32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
                    .collect()
            };
            let (left, right): (Vec<i32>, Vec<i32>) = (read(input), read(inout));
            let packed: Vec<u8> = compose(&left, &right).iter().flat_map(|word| word.to_ne_bytes()).collect();
            unpack_range(&of_function, count, inout, 0, &packed);
        };
        (datatype, Operation::User { function: Arc::new(function), commutative: false }, compose)
    }

    fn reduced(&self, ranks: std::ops::Range<u32>, count: i64, combine: Combine) -> Vec<i32> {
        let operands = ranks.map(|rank| self.words(rank, 0, count));
        operands.reduce(|left, right| combine(&left, &right)).expect("there is at least one rank")
    }

    /// Runs a reduction of `pairs` pairs, and returns the receive buffer.
    fn reduction(
        &mut self,
        what: &str,
        pairs: i64,
        (datatype, operation): (Arc<Datatype>, Operation),
        in_place: bool,
        prepare: impl FnOnce(&Calls, Operands) -> Result<(Call, Schedule)>,
    ) -> Area {
        let mine = self.words(self.rank, 0, pairs);
        let mut send = Area::new(&datatype, &mine);
        let mut receive = Area::new(&datatype, &if in_place { mine } else { vec![-1; 2 * pairs as usize] });
        let operands = Operands {
            send: (!in_place).then(|| send.start()),
            receive: receive.start(),
            count: receive.count(),
            datatype,
            handle: MPI_DATATYPE_NULL,
            operation,
        };
        self.run(what, |calls| prepare(calls, operands));
        receive
    }

    fn reduce(&mut self) {
        let (pairs, to_all) = (self.block_pairs(), self.common.below(2) == 0);
        let root = self.common.below(self.size.into()) as u32;
        let in_place = self.common.below(2) == 0 && (to_all || self.rank == root);
        let (datatype, operation, combine) = self.operation();
        let expected = self.reduced(self.ranks(), pairs, combine);
        let mut receive =
            self.reduction("reduce", pairs, (datatype, operation), in_place, |calls, operands| {
                if to_all {
                    calls.allreduce(operands)
                } else {
                    calls.reduce(calls.root(root as i32)?, Some(operands))
                }
            });
        if to_all || self.rank == root {
            self.expect("reduce", &mut receive, &expected);
        }
    }

    fn reduce_scatter(&mut self) {
        let (block, varies) = (self.block_pairs(), self.common.below(2) == 0);
        let in_place = self.common.below(2) == 0;
        let (datatype, operation, combine) = self.operation();
        let pairs: Vec<i64> =
            self.ranks().map(|rank| if varies { self.pairs(0, rank) } else { block }).collect();
        let each = 8 / datatype.size();
        let counts: Vec<i64> = pairs.iter().map(|pairs| pairs * each).collect();
        let total = pairs.iter().sum();
        let whole = self.reduced(self.ranks(), total, combine);
        let first = pairs[..self.rank as usize].iter().sum::<i64>() as usize * 2;
        let expected = &whole[first..first + 2 * pairs[self.rank as usize] as usize];
        let mut receive =
            self.reduction("reduce_scatter", total, (datatype, operation), in_place, |calls, operands| {
                match varies {
                    true => calls.reduce_scatter(operands, &counts),
                    false => calls.reduce_scatter_block(Operands { count: counts[0], ..operands }),
                }
            });
        assert_eq!(&receive.read()[..expected.len()], expected, "reduce_scatter in call {}", self.call);
    }

    fn prefix(&mut self) {
        let (pairs, exclusive, in_place) =
            (self.block_pairs(), self.common.below(2) == 0, self.common.below(2) == 0);
        let (datatype, operation, combine) = self.operation();
        let end = if exclusive { self.rank } else { self.rank + 1 };
        let mut receive =
            self.reduction("scan", pairs, (datatype, operation), in_place, |calls, operands| {
                if exclusive { calls.exscan(operands) } else { calls.scan(operands) }
            });
        if end > 0 {
            let expected = self.reduced(0..end, pairs, combine);
            self.expect("scan", &mut receive, &expected);
        }
    }
}

fn sum(left: &[i32], right: &[i32]) -> Vec<i32> {
    left.iter().zip(right).map(|(left, right)| left.wrapping_add(*right)).collect()
}

/// The composition of maps x -> a x + b.
fn compose(left: &[i32], right: &[i32]) -> Vec<i32> {
    let pairs = left.chunks_exact(2).zip(right.chunks_exact(2));
    pairs
        .flat_map(|(left, right)| {
            [left[0].wrapping_mul(right[0]), left[0].wrapping_mul(right[1]).wrapping_add(left[1])]
        })
        .collect()
}

/// Says that a process has ended, however it did.
struct Ended(Sender<bool>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(!thread::panicking());
    }
}

fn settings(seed: u64) -> Settings {
    let mut random = Random::new(seed ^ 0x5E77);
    let mut values = std::collections::BTreeMap::new();
    for setting in crate::settings::ALL {
        let allowed = (setting.values)();
        if let Some(value) = allowed.get(random.below(allowed.len() as u64 + 1) as usize) {
            values.insert(setting.name, (*value).to_owned());
        }
    }
    Settings::read(|name| values.get(name).cloned()).expect("the values are allowed")
}

fn live(seed: u64, network: &Arc<Network>, rank: u32, placement: &Placement, together: &Barrier) {
    let instance = Instance::new(World::simulated(network, rank, placement).with(settings(seed)));
    let size = placement.ranks();
    let (common, own) = (Random::new(seed), Random::new(seed << 8 | u64::from(rank)));
    let mut member = Member { instance: &instance, rank, size, common, own, call: 0 };
    for call in 0..CALLS_PER_SEED {
        member.call = call;
        member.step();
    }
    instance.drain().expect("everything can be sent");
    together.wait();
    let left = instance.with(|state| {
        state.progress()?;
        Ok(state.under_way())
    });
    assert_eq!(left, Ok(0), "requests of rank {rank} are left");
}

/// One to three hosts: in blocks, in turn, or anyhow but for the first ranks.
fn random_placement(random: &mut Random, size: u32) -> Placement {
    let hosts = 1 + random.below(3.min(u64::from(size))) as u32;
    let kind = random.below(3);
    let host_of = |rank: u32| match kind {
        0 => rank * hosts / size,
        1 => rank % hosts,
        _ if rank < hosts => rank,
        _ => random.below(u64::from(hosts)) as u32,
    };
    Placement::new((0..size).map(host_of).collect()).expect("every host has a rank")
}

/// Runs a job; true if all its processes ended well. The watchdog is for deadlocks only.
fn simulate(seed: u64) -> bool {
    let mut random = Random::new(seed ^ 0xC0DE);
    let size = 1 + random.below(7) as u32;
    let limits = Limits {
        eager_bytes_max: 16 << random.below(10),
        piece_bytes_max: 64 << random.below(8),
        single_copy: match random.below(3) {
            0 => SingleCopy::Never,
            1 => SingleCopy::Crossing,
            _ => SingleCopy::Always,
        },
    };
    let network = Network::new(size, seed, limits, 1 + random.below(8) as usize);
    let placement = random_placement(&mut random, size);
    let (ended, ends) = mpsc::channel();
    let together = Arc::new(Barrier::new(size as usize));
    for rank in 0..size {
        let (ended, network, together) = (Ended(ended.clone()), Arc::clone(&network), Arc::clone(&together));
        let placement = placement.clone();
        thread::spawn(move || {
            let _ended = ended;
            live(seed, &network, rank, &placement, &together);
        });
    }
    let good = (0..size).all(|_| ends.recv_timeout(Duration::from_secs(60)) == Ok(true));
    good && network.under_way() == 0
}

#[test]
fn random_calls_of_whole_processes_give_what_the_model_says() {
    for seed in 0..SEEDS {
        assert!(simulate(seed), "seed {seed}: a process failed or hangs, or messages are left under way");
    }
}
