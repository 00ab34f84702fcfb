//! Collectives that combine data: the reductions and scans, with a commutative operator and one that is not.

use super::*;
use crate::collectives::arguments::{InterPlace, Root};
use crate::collectives::reduction::Reduction;
use crate::collectives::{allreduce, reduce, reduce_scatter, scan};

const CASES: u64 = 200;

/// Composition of the functions x -> a x + b modulo 2^32, the element being (a, b): associative, not
/// commutative.
fn compose(left: &[u8], right: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let [(a, b), (c, d)] = [left, right].map(|element| (number(element), number(&element[4..])));
    let (product, sum) = (a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b));
    [product.to_le_bytes(), sum.to_le_bytes()].concat()
}

fn add(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left.wrapping_add(*right)).collect()
}

/// Operands of 8 bytes an element; odd first numbers, so that no product vanishes.
fn operand(group: usize, rank: u32, count: i64) -> Vec<u8> {
    let mut bytes = data(rank, 77 + group as u32, 8 * count);
    bytes.iter_mut().step_by(8).for_each(|byte| *byte |= 1);
    bytes
}

/// The reduction of all operands of ranks `first .. end`, in rank order.
pub fn model(operator: Operator, group: usize, ranks: std::ops::Range<u32>, count: i64) -> Vec<u8> {
    let combine = |left: Vec<u8>, right: Vec<u8>| {
        left.chunks(8).zip(right.chunks(8)).flat_map(|(left, right)| operator(left, right)).collect()
    };
    ranks.map(|rank| operand(group, rank, count)).reduce(combine).unwrap_or_default()
}

/// What the processes of a random reduction share.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    pub count: i64,
    pub commutative: bool,
    pub operator: Operator,
    pub in_place: bool,
}

impl Shared {
    pub fn random(random: &mut Random) -> Self {
        let count = [0, 1, 2, 3, 5, 8, 16, 17, 33][random.below(9) as usize];
        let commutative = random.below(2) == 0;
        let operator: Operator = if commutative { add } else { compose };
        Self { count, commutative, operator, in_place: random.below(2) == 0 }
    }

    /// A process with its operand in the right buffer, which expects no change yet. The receive buffer has
    /// room for `room` elements; without room it is not significant.
    pub fn member(
        &self,
        random: &mut Random,
        group: usize,
        rank: u32,
        room: Option<i64>,
    ) -> (Member, Reduction) {
        let datatype = random_type(random, 8);
        let in_place = self.in_place && room.is_some();
        let mut process = process(group, rank, Schedule::with_capacity(0), datatype);
        process.receive = memory(datatype, room.unwrap_or(0));
        let mut operands = memory(datatype, self.count);
        fill(&mut operands, datatype, 0, &operand(group, rank, self.count));
        if in_place {
            process.receive = operands;
        } else {
            process.send = operands;
        }
        let expected = process.receive.clone();
        let layout = datatype.layout();
        let reduction = Reduction { count: self.count, layout, commutative: self.commutative, in_place };
        (Member { process, expected }, reduction)
    }
}

pub fn expect(member: &mut Member, result: &[u8]) {
    let datatype = member.process.receive_types[0];
    fill(&mut member.expected, datatype, 0, result);
}

#[test]
fn reduces() {
    for algorithm in reduce::Algorithm::ALL {
        for seed in 0..CASES {
            let mut random = Random::new(seed);
            let shared = Shared::random(&mut random);
            let size = random_size(&mut random);
            let nodes = random_nodes(&mut random, size);
            let root = random.below(u64::from(size)) as u32;
            let _case = Case(format!("{algorithm:?} seed {seed} size {size} root {root} {shared:?}"));
            let members = places_on(size, &nodes).map(|place| {
                let room = (place.rank == root).then_some(shared.count);
                let (mut member, reduction) = shared.member(&mut random, 0, place.rank, room);
                if place.rank == root {
                    expect(&mut member, &model(shared.operator, 0, 0..size, shared.count));
                }
                member.process.schedule = reduce::reduce(*algorithm, place, root, reduction);
                member
            });
            let members = members.collect();
            check(members, shared.operator, seed);
        }
    }
}

#[test]
fn allreduces() {
    for algorithm in allreduce::Algorithm::ALL {
        for seed in 0..CASES {
            let mut random = Random::new(seed);
            let shared = Shared::random(&mut random);
            let size = random_size(&mut random);
            let nodes = random_nodes(&mut random, size);
            let _case = Case(format!("{algorithm:?} seed {seed} size {size} {shared:?}"));
            let members = places_on(size, &nodes).map(|place| {
                let (mut member, reduction) = shared.member(&mut random, 0, place.rank, Some(shared.count));
                expect(&mut member, &model(shared.operator, 0, 0..size, shared.count));
                member.process.schedule = allreduce::allreduce(*algorithm, place, reduction);
                member
            });
            let members = members.collect();
            check(members, shared.operator, seed);
        }
    }
}

/// Partial results that are too large to be received together.
#[test]
fn reductions_of_long_vectors() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let shared = Shared { count: 5000, ..Shared::random(&mut random) };
        let size = 2 + random.below(6) as u32;
        let nodes = random_nodes(&mut random, size);
        let _case = Case(format!("seed {seed} size {size} {shared:?}"));
        let algorithm = [allreduce::Algorithm::Tree, allreduce::Algorithm::Flat][random.below(2) as usize];
        let members = places_on(size, &nodes).map(|place| {
            let (mut member, reduction) = shared.member(&mut random, 0, place.rank, Some(shared.count));
            expect(&mut member, &model(shared.operator, 0, 0..size, shared.count));
            member.process.schedule = allreduce::allreduce(algorithm, place, reduction);
            member
        });
        let members = members.collect();
        check(members, shared.operator, seed);
    }
}

/// The left operand, unless it is even: an operator that only claims to be commutative, as maximum does with
/// NaN.
fn first_odd(left: &[u8], right: &[u8]) -> Vec<u8> {
    if left[0] % 2 == 1 { left.to_vec() } else { right.to_vec() }
}

#[test]
fn allreduces_give_all_processes_the_same_bits() {
    for algorithm in allreduce::Algorithm::ALL {
        for size in 1..=17 {
            let mut random = Random::new(u64::from(size));
            let nodes = random_nodes(&mut random, size);
            let shared = Shared { count: 20, commutative: true, operator: first_odd, in_place: false };
            let members = places_on(size, &nodes).map(|place| {
                let (mut member, reduction) = shared.member(&mut random, 0, place.rank, Some(20));
                let datatype = Type { size: 8, extent: 8, lower: 0 };
                member.process.send = operand(0, place.rank, 20);
                member.process.receive = memory(datatype, 20);
                member.process.receive_types = vec![datatype];
                let reduction = Reduction { layout: datatype.layout(), ..reduction };
                member.process.schedule = allreduce::allreduce(*algorithm, place, reduction);
                member.process
            });
            let outcome = run(members.collect(), first_odd, 5);
            let first = &outcome.processes[0].receive;
            assert!(
                outcome.processes.iter().all(|process| &process.receive == first),
                "{algorithm:?} {size}"
            );
        }
    }
}

/// Shares `count` elements out among `size` ranks, at random.
fn random_parts(random: &mut Random, size: u32, equal: bool) -> Vec<i64> {
    let count = random.below(5) as i64;
    (0..size).map(|_| if equal { count } else { random.below(5) as i64 }).collect()
}

fn part_of(result: &[u8], parts: &[i64], rank: u32) -> Vec<u8> {
    let first = 8 * parts[..rank as usize].iter().sum::<i64>() as usize;
    result[first..first + 8 * parts[rank as usize] as usize].to_vec()
}

fn parts_argument(parts: &[i64], equal: bool) -> reduce_scatter::Parts<'_> {
    if equal { reduce_scatter::Parts::Equal(parts[0]) } else { reduce_scatter::Parts::Varying(parts) }
}

#[test]
fn reduce_scatters() {
    for algorithm in reduce_scatter::Algorithm::ALL {
        for seed in 0..CASES {
            let mut random = Random::new(seed);
            let size = random_size(&mut random);
            let nodes = random_nodes(&mut random, size);
            let equal = random.below(2) == 0;
            let parts = random_parts(&mut random, size, equal);
            let argument = parts_argument(&parts, equal);
            let shared = Shared { count: argument.total(size), ..Shared::random(&mut random) };
            let _case = Case(format!("{algorithm:?} seed {seed} size {size} {parts:?} {shared:?}"));
            let result = model(shared.operator, 0, 0..size, shared.count);
            let members = places_on(size, &nodes).map(|place| {
                let room = parts[place.rank as usize];
                let (mut member, reduction) = shared.member(&mut random, 0, place.rank, Some(room));
                member.process.schedule =
                    reduce_scatter::reduce_scatter(*algorithm, place, argument, reduction);
                expect(&mut member, &part_of(&result, &parts, place.rank));
                member
            });
            let members: Vec<Member> = members.collect();
            if shared.in_place {
                check_starts(members, &parts, shared.operator, seed);
            } else {
                check(members, shared.operator, seed);
            }
        }
    }
}

/// In place only the start of the receive buffer is defined afterwards.
fn check_starts(members: Vec<Member>, parts: &[i64], operator: Operator, seed: u64) {
    let expected: Vec<Vec<u8>> = members.iter().map(|member| member.expected.clone()).collect();
    let outcome = run(members.into_iter().map(|member| member.process).collect(), operator, seed);
    for ((process, expected), part) in outcome.processes.iter().zip(expected).zip(parts) {
        let bytes = (part * process.receive_types[0].extent) as usize;
        assert_eq!(process.receive[..bytes], expected[..bytes], "rank {}", process.rank);
    }
}

#[test]
fn scans() {
    for algorithm in scan::Algorithm::ALL {
        for seed in 0..2 * CASES {
            let mut random = Random::new(seed);
            let shared = Shared::random(&mut random);
            let size = random_size(&mut random);
            let nodes = random_nodes(&mut random, size);
            let exclusive = random.below(2) == 0;
            let _case =
                Case(format!("{algorithm:?} seed {seed} size {size} exclusive {exclusive} {shared:?}"));
            let members = places_on(size, &nodes).map(|place| {
                let (mut member, reduction) = shared.member(&mut random, 0, place.rank, Some(shared.count));
                let end = if exclusive { place.rank } else { place.rank + 1 };
                if end > 0 {
                    expect(&mut member, &model(shared.operator, 0, 0..end, shared.count));
                }
                member.process.schedule = match exclusive {
                    true => scan::exscan(*algorithm, place, reduction),
                    false => scan::scan(*algorithm, place, reduction),
                };
                member
            });
            let members = members.collect();
            check(members, shared.operator, seed);
        }
    }
}

fn inter_places(groups: [u32; 2]) -> impl Iterator<Item = (usize, InterPlace)> {
    (0..2).flat_map(move |group| {
        places(groups[group]).map(move |local| (group, InterPlace { local, remote_size: groups[1 - group] }))
    })
}

#[test]
fn reductions_between_groups() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let shared = Shared { in_place: false, ..Shared::random(&mut random) };
        let groups = [1 + random.below(6) as u32, 1 + random.below(6) as u32];
        let root = random.below(u64::from(groups[0])) as u32;
        let to_all = random.below(2) == 0;
        let _case = Case(format!("seed {seed} groups {groups:?} root {root} all {to_all} {shared:?}"));
        let members = inter_places(groups).map(|(group, place)| {
            let rank = place.local.rank;
            let argument = match group {
                0 if rank == root => Root::This,
                0 => Root::Neighbour,
                _ => Root::Remote(root),
            };
            let gets = to_all || argument == Root::This;
            let (mut member, reduction) =
                shared.member(&mut random, group, rank, gets.then_some(shared.count));
            if gets {
                expect(&mut member, &model(shared.operator, 1 - group, 0..groups[1 - group], shared.count));
            }
            member.process.schedule = match to_all {
                true => allreduce::inter(place, reduction),
                false => reduce::inter(place, argument, reduction),
            };
            member
        });
        let members = members.collect();
        check(members, shared.operator, seed);
    }
}

#[test]
fn reduce_scatters_between_groups() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let groups = [1 + random.below(6) as u32, 1 + random.below(6) as u32];
        // Both groups share out the same number of elements.
        let count = i64::from(groups[0] * groups[1]) * random.below(4) as i64;
        let equal = random.below(2) == 0;
        let parts = groups.map(|size| {
            let each = count / i64::from(size);
            let mut parts = vec![each; size as usize];
            if !equal && size > 1 {
                let moved = random.below(each as u64 + 1) as i64;
                parts[0] -= moved;
                parts[size as usize - 1] += moved;
            }
            parts
        });
        let shared = Shared { in_place: false, count, ..Shared::random(&mut random) };
        let _case = Case(format!("seed {seed} groups {groups:?} {parts:?} {shared:?}"));
        let members = inter_places(groups).map(|(group, place)| {
            let rank = place.local.rank;
            let room = parts[group][rank as usize];
            let (mut member, reduction) = shared.member(&mut random, group, rank, Some(room));
            let result = model(shared.operator, 1 - group, 0..groups[1 - group], count);
            expect(&mut member, &part_of(&result, &parts[group], rank));
            let argument = parts_argument(&parts[group], equal);
            member.process.schedule = reduce_scatter::inter(place, argument, reduction);
            member
        });
        let members = members.collect();
        check(members, shared.operator, seed);
    }
}
