//! Random programs over a network that follows from a seed: nothing is lost or doubled, every pair keeps its order, and
//! all memory is given back.
//!
//! A failure names its seed; `POSTRIDER_SEED=<seed> cargo test -p postrider-engine --test conformance simulation` runs it
//! again.

use postrider_abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use postrider_engine::State;
use postrider_engine::objects::Key;
use postrider_engine::point_to_point::Mode;
use postrider_engine::transports::SingleCopy;

use super::worlds::{Rank, Way, pattern, run};

/// Numbers that follow from a seed: xorshift64.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % limit
    }
}

/// One message of the program.
#[derive(Clone, Copy, Debug)]
struct Planned {
    from: i32,
    to: i32,
    tag: i32,
    bytes: usize,
    mode: Mode,
    salt: usize,
}

/// All processes make the same plan from the same seed.
fn plan(random: &mut Random, ranks: i32) -> Vec<Planned> {
    let lengths = [0, 1, 40, 41, 300, 511, 512, 513, 3000, 20_000];
    (0..random.below(80))
        .map(|salt| Planned {
            from: random.below(ranks as usize) as i32,
            to: random.below(ranks as usize) as i32,
            tag: random.below(3) as i32,
            bytes: lengths[random.below(lengths.len())],
            mode: [Mode::Standard, Mode::Synchronous][random.below(2)],
            salt,
        })
        .collect()
}

/// Sends this process's part of the plan and receives it, by name or by wildcard.
fn follow(rank: Rank<'_>, communicator: Key, own: i32, plan: &[Planned], wildcard: bool) {
    let send = |message: &Planned| {
        let data = pattern(message.bytes, message.salt);
        rank.isend_in(communicator, message.mode, message.to, message.tag, &data)
    };
    let sends: Vec<_> = plan.iter().filter(|message| message.from == own).map(send).collect();
    let mut expected: Vec<Planned> = plan.iter().filter(|message| message.to == own).copied().collect();
    while let Some(first) = expected.first().copied() {
        let (source, tag) = if wildcard { (MPI_ANY_SOURCE, MPI_ANY_TAG) } else { (first.from, first.tag) };
        let (status, data) = rank.wait(rank.irecv_in(communicator, source, tag, 20_000));
        let fits =
            |message: &Planned| message.from == status.source && (wildcard || message.tag == status.tag);
        let next = expected.iter().position(fits).expect("a message that was sent");
        let message = expected.remove(next);
        assert_eq!(status.tag, message.tag, "the order of a pair");
        assert!(data == pattern(message.bytes, message.salt), "{message:?} was changed");
    }
    sends.into_iter().for_each(|send| drop(rank.wait(send)));
}

/// Splits the world as the seed says, and speaks in the parts, and then between them.
fn communicators(rank: Rank<'_>, random: &mut Random) {
    let colors: Vec<usize> = (0..rank.ranks).map(|_| random.below(2)).collect();
    let color = colors[rank.rank as usize];
    let part = rank.instance.split(State::WORLD, Some(color as i32), -i64::from(rank.rank)).unwrap().unwrap();
    let (own, size) = rank.state(|state| {
        let found = state.communicators.get(part)?;
        Ok((found.rank as i32, found.size() as i32))
    });
    let members = colors.iter().filter(|&&other| other == color).count() as i32;
    let before = colors[rank.rank as usize + 1..].iter().filter(|&&other| other == color).count() as i32;
    assert_eq!((own, size), (before, members), "the order of the keys");
    let message = Planned { from: 0, to: size - 1, tag: 7, bytes: 600, mode: Mode::Standard, salt: color };
    follow(rank, part, own, &[message], false);
    if size < rank.ranks {
        let leader = colors.iter().rposition(|&other| other != color).unwrap() as i32;
        let between =
            rank.instance.create_intercommunicator(part, 0, Some((State::WORLD, leader)), 5).unwrap();
        if own == 0 {
            let send = rank.isend_in(between, Mode::Standard, 0, 1, &[color as u8]);
            assert_eq!(rank.wait(rank.irecv_in(between, 0, 1, 1)).1, [1 - color as u8]);
            rank.wait(send);
        }
        let merged = rank.instance.merge(between, color == 1).unwrap();
        let all = rank.state(|state| Ok(state.communicators.get(merged)?.size() as i32));
        assert_eq!(all, rank.ranks);
        rank.state(|state| state.free_communicator(merged));
        rank.state(|state| state.free_communicator(between));
    }
    rank.state(|state| state.free_communicator(part));
}

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("POSTRIDER_SEED").ok().and_then(|text| text.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..60,
    }
}

#[test]
fn random_programs_lose_nothing() {
    for seed in seeds() {
        let ranks = [1, 2, 3, 4, 7][Random::new(seed).below(5)];
        let single_copy = [SingleCopy::Always, SingleCopy::Never, SingleCopy::Crossing][seed as usize % 3];
        let way = Way::Simulated { seed, single_copy };
        run(way, ranks, &|rank: Rank<'_>| {
            let mut random = Random::new(seed);
            for round in 0..4 {
                follow(rank, State::WORLD, rank.rank, &plan(&mut random, rank.ranks), round % 2 == 1);
                rank.meet();
                communicators(rank, &mut random);
            }
        });
    }
}
