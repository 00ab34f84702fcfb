//! Collectives that move data: broadcast, gather, scatter, allgather, alltoall and the barrier.

use super::*;
use crate::collectives::arguments::{Blocks, Contribution, InterPlace, Root};
use crate::collectives::{allgather, alltoall, barrier, broadcast, gather, scatter};

const CASES: u64 = 150;

/// The blocks of one user buffer, by value.
struct Owned {
    datatypes: Vec<Type>,
    counts: Vec<i64>,
    displacements: Vec<i64>,
    layouts: Vec<Layout>,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Equal,
    Varying,
    General,
}

impl Owned {
    /// Blocks of these sizes, in a random datatype and, but for equal ones, in a random order and with gaps.
    fn new(random: &mut Random, form: Form, bytes: &[i64]) -> Self {
        let common = random_block(random, 8).0;
        let datatypes: Vec<Type> = match form {
            Form::General => bytes.iter().map(|_| random_block(random, 8).0).collect(),
            _ => vec![common; bytes.len()],
        };
        let counts: Vec<i64> =
            bytes.iter().zip(&datatypes).map(|(bytes, datatype)| bytes / datatype.size).collect();
        let mut displacements = vec![0; bytes.len()];
        let mut order: Vec<usize> = (0..bytes.len()).collect();
        if form != Form::Equal && random.below(2) == 0 {
            order.reverse();
        }
        let with_gaps = random.below(2) == 0;
        let mut next = 0;
        for index in order {
            if form != Form::Equal && with_gaps {
                next += random.below(3) as i64;
            }
            displacements[index] = next;
            next += match form {
                Form::General => counts[index] * datatypes[index].extent,
                _ => counts[index],
            };
        }
        let layouts = datatypes.iter().map(Type::layout).collect();
        Self { datatypes, counts, displacements, layouts, form }
    }

    fn blocks(&self) -> Blocks<'_> {
        let (counts, displacements) = (&self.counts, &self.displacements);
        match self.form {
            Form::Equal => Blocks::Equal(Block { count: counts[0], layout: self.layouts[0] }),
            Form::Varying => Blocks::Varying { counts, displacements, layout: self.layouts[0] },
            Form::General => Blocks::General { counts, displacements, layouts: &self.layouts },
        }
    }

    fn start(&self, rank: usize) -> i64 {
        match self.form {
            Form::General => self.displacements[rank],
            _ => self.displacements[rank] * self.datatypes[rank].extent,
        }
    }

    fn memory(&self) -> Vec<u8> {
        let end = |rank| self.start(rank) + self.counts[rank] * self.datatypes[rank].extent;
        vec![GAP; (0..self.counts.len()).map(end).max().unwrap_or(0) as usize]
    }

    fn fill(&self, memory: &mut [u8], rank: u32, bytes: &[u8]) {
        fill(memory, self.datatypes[rank as usize], self.start(rank as usize), bytes);
    }
}

fn random_bytes(random: &mut Random) -> i64 {
    8 * [0, 1, 2, 3, 10, 37][random.below(6) as usize]
}

/// Bytes of a block for each rank: equal, or different and sometimes none.
fn random_sizes(random: &mut Random, form: Form, size: u32) -> Vec<i64> {
    let equal = random_bytes(random);
    (0..size).map(|_| if form == Form::Equal { equal } else { random_bytes(random) }).collect()
}

/// The two groups of a random inter-communicator.
fn random_groups(random: &mut Random) -> [u32; 2] {
    [1 + random.below(6) as u32, 1 + random.below(6) as u32]
}

/// All processes of an inter-communicator, with their group.
fn inter_places(groups: [u32; 2]) -> impl Iterator<Item = (usize, InterPlace)> {
    (0..2).flat_map(move |group| {
        places(groups[group]).map(move |local| (group, InterPlace { local, remote_size: groups[1 - group] }))
    })
}

/// The root argument of a process if the root is rank `root` of group 0.
fn root_argument(group: usize, place: InterPlace, root: u32) -> Root {
    match (group, place.local.rank == root) {
        (0, true) => Root::This,
        (0, false) => Root::Neighbour,
        _ => Root::Remote(root),
    }
}

#[test]
fn barriers_end() {
    for algorithm in barrier::Algorithm::ALL {
        for (seed, size) in (0..3).flat_map(|seed| (1..=17).map(move |size| (seed, size))) {
            let nodes = random_nodes(&mut Random::new(seed << 8 | u64::from(size)), size);
            let _case = Case(format!("{algorithm:?} {nodes:?}"));
            let member = |place: Place| process(0, place.rank, barrier::barrier(*algorithm, place), BYTE);
            run(places_on(size, &nodes).map(member).collect(), no_operator, seed);
        }
    }
    for groups in [[1, 1], [1, 5], [4, 2], [3, 3]] {
        let member = |(group, place): (usize, InterPlace)| {
            process(group, place.local.rank, barrier::inter(place), BYTE)
        };
        run(inter_places(groups).map(member).collect(), no_operator, 1);
    }
}

/// The last to come is held back: nobody may leave before.
#[test]
fn nobody_leaves_a_barrier_early() {
    for algorithm in barrier::Algorithm::ALL {
        for (size, late) in [(2, 0), (2, 1), (5, 0), (5, 4), (8, 3), (8, 0), (9, 8)] {
            let nodes = random_nodes(&mut Random::new(u64::from(size * 10 + late)), size);
            let member = |place: Place| {
                let schedule = match place.rank == late {
                    true => Schedule::with_capacity(0),
                    false => barrier::barrier(*algorithm, place),
                };
                process(0, place.rank, schedule, BYTE)
            };
            let left = simulator::finished(places_on(size, &nodes).map(member).collect(), 3);
            assert_eq!(left, [late as usize], "{algorithm:?}");
        }
    }
}

fn broadcast_member(
    random: &mut Random,
    group: usize,
    rank: u32,
    bytes: i64,
    holds: bool,
    gets: bool,
) -> (Member, Block) {
    let (datatype, block) = random_block(random, bytes);
    let empty = memory(datatype, block.count);
    let mut full = empty.clone();
    fill(&mut full, datatype, 0, &data(0, 0, bytes));
    let mut process = process(group, rank, Schedule::with_capacity(0), datatype);
    process.receive = if holds { full.clone() } else { empty.clone() };
    (Member { process, expected: if holds || gets { full } else { empty } }, block)
}

#[test]
fn broadcasts() {
    for algorithm in broadcast::Algorithm::ALL {
        for seed in 0..CASES {
            let mut random = Random::new(seed);
            let (size, bytes) = (random_size(&mut random), random_bytes(&mut random));
            let nodes = random_nodes(&mut random, size);
            let root = random.below(u64::from(size)) as u32;
            let _case = Case(format!("{algorithm:?} seed {seed} size {size} root {root} bytes {bytes}"));
            let members = places_on(size, &nodes).map(|place| {
                let holds = place.rank == root;
                let (mut member, block) = broadcast_member(&mut random, 0, place.rank, bytes, holds, true);
                member.process.schedule = broadcast::broadcast(*algorithm, place, root, block);
                member
            });
            let members = members.collect();
            check(members, no_operator, seed);
        }
    }
}

#[test]
fn broadcasts_between_groups() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let (groups, bytes) = (random_groups(&mut random), random_bytes(&mut random));
        let root = random.below(u64::from(groups[0])) as u32;
        let _case = Case(format!("seed {seed} groups {groups:?} root {root} bytes {bytes}"));
        let members = inter_places(groups).map(|(group, place)| {
            let argument = root_argument(group, place, root);
            let holds = argument == Root::This;
            let (mut member, block) =
                broadcast_member(&mut random, group, place.local.rank, bytes, holds, group == 1);
            member.process.schedule = broadcast::inter(place, argument, block);
            member
        });
        let members = members.collect();
        check(members, no_operator, seed);
    }
}

/// A process that contributes one block in a random datatype.
fn sender(random: &mut Random, group: usize, rank: u32, bytes: &[u8]) -> (Process, Contribution) {
    let (datatype, block) = random_block(random, bytes.len() as i64);
    let mut process = process(group, rank, Schedule::with_capacity(0), datatype);
    process.send = memory(datatype, block.count);
    fill(&mut process.send, datatype, 0, bytes);
    (process, Contribution::Send(block))
}

/// What a process that gathers starts with and has to end with.
struct Gathered {
    owned: Owned,
    before: Vec<u8>,
    after: Vec<u8>,
}

fn gathered(random: &mut Random, form: Form, sizes: &[i64], in_place: Option<u32>) -> Gathered {
    let owned = Owned::new(random, form, sizes);
    let (mut before, mut after) = (owned.memory(), owned.memory());
    for (rank, bytes) in (0..).zip(sizes) {
        owned.fill(&mut after, rank, &data(rank, 0, *bytes));
        if in_place == Some(rank) {
            owned.fill(&mut before, rank, &data(rank, 0, *bytes));
        }
    }
    Gathered { owned, before, after }
}

fn gather_case(algorithm: gather::Algorithm, form: Form, seed: u64) {
    let mut random = Random::new(seed);
    let size = random_size(&mut random);
    let nodes = random_nodes(&mut random, size);
    let sizes = random_sizes(&mut random, form, size);
    let root = random.below(u64::from(size)) as u32;
    let in_place = random.below(2) == 0;
    let _case =
        Case(format!("{algorithm:?} {form:?} seed {seed} size {size} root {root} in place {in_place}"));
    let members = places_on(size, &nodes).map(|place| {
        let bytes = data(place.rank, 0, sizes[place.rank as usize]);
        let (mut process, mut send) = sender(&mut random, 0, place.rank, &bytes);
        let is_root = place.rank == root;
        if is_root && in_place {
            send = Contribution::InPlace;
        }
        let gathered = is_root.then(|| gathered(&mut random, form, &sizes, in_place.then_some(root)));
        let receive = gathered.as_ref().map(|gathered| gathered.owned.blocks());
        process.schedule = match (form, receive) {
            (Form::Equal, None) => gather::gather(algorithm, place, root, send, None),
            (Form::Equal, Some(Blocks::Equal(block))) => {
                gather::gather(algorithm, place, root, send, Some(block))
            }
            _ => gather::gatherv(place, root, send, receive),
        };
        finish_receiver(process, gathered)
    });
    let members = members.collect();
    check(members, no_operator, seed);
}

fn finish_receiver(mut process: Process, gathered: Option<Gathered>) -> Member {
    let mut expected = Vec::new();
    if let Some(Gathered { owned, before, after }) = gathered {
        (process.receive, expected) = (before, after);
        process.receive_types = owned.datatypes;
    }
    Member { process, expected }
}

#[test]
fn gathers() {
    for algorithm in gather::Algorithm::ALL {
        (0..CASES).for_each(|seed| gather_case(*algorithm, Form::Equal, seed));
    }
    (0..CASES).for_each(|seed| gather_case(gather::Algorithm::Linear, Form::Varying, seed));
}

#[test]
fn gathers_between_groups() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let groups = random_groups(&mut random);
        let form = [Form::Equal, Form::Varying][random.below(2) as usize];
        let sizes = random_sizes(&mut random, form, groups[1]);
        let root = random.below(u64::from(groups[0])) as u32;
        let _case = Case(format!("{form:?} seed {seed} groups {groups:?} root {root}"));
        let members = inter_places(groups).map(|(group, place)| {
            let argument = root_argument(group, place, root);
            let rank = place.local.rank;
            let bytes = if group == 1 { data(rank, 0, sizes[rank as usize]) } else { Vec::new() };
            let (mut process, send) = sender(&mut random, group, rank, &bytes);
            let gathered = (argument == Root::This).then(|| gathered(&mut random, form, &sizes, None));
            let receive = gathered.as_ref().map(|gathered| gathered.owned.blocks());
            process.schedule = gather::inter(place, argument, send, receive);
            finish_receiver(process, gathered)
        });
        let members = members.collect();
        check(members, no_operator, seed);
    }
}

/// A process that gets one block, from rank `from` for itself, in a random datatype.
fn receiver(random: &mut Random, group: usize, rank: u32, bytes: &[u8]) -> (Member, Block) {
    let (datatype, block) = random_block(random, bytes.len() as i64);
    let mut process = process(group, rank, Schedule::with_capacity(0), datatype);
    process.receive = memory(datatype, block.count);
    let mut expected = process.receive.clone();
    fill(&mut expected, datatype, 0, bytes);
    (Member { process, expected }, block)
}

/// Gives a process blocks to scatter.
fn scattering(random: &mut Random, form: Form, sizes: &[i64], process: &mut Process) -> Owned {
    let owned = Owned::new(random, form, sizes);
    process.send = owned.memory();
    for (rank, bytes) in (0..).zip(sizes) {
        owned.fill(&mut process.send, rank, &data(0, rank, *bytes));
    }
    process.send_types = owned.datatypes.clone();
    owned
}

fn scatter_case(algorithm: scatter::Algorithm, form: Form, seed: u64) {
    let mut random = Random::new(seed);
    let size = random_size(&mut random);
    let nodes = random_nodes(&mut random, size);
    let sizes = random_sizes(&mut random, form, size);
    let root = random.below(u64::from(size)) as u32;
    let in_place = random.below(2) == 0;
    let _case =
        Case(format!("{algorithm:?} {form:?} seed {seed} size {size} root {root} in place {in_place}"));
    let members = places_on(size, &nodes).map(|place| {
        let bytes = data(0, place.rank, sizes[place.rank as usize]);
        let (mut member, block) = receiver(&mut random, 0, place.rank, &bytes);
        let is_root = place.rank == root;
        let in_place = is_root && in_place;
        if in_place {
            member.expected = member.process.receive.clone();
        }
        let owned = is_root.then(|| scattering(&mut random, form, &sizes, &mut member.process));
        let send = owned.as_ref().map(Owned::blocks);
        let receive = (!in_place).then_some(block);
        member.process.schedule = match (form, send) {
            (Form::Equal, None) => scatter::scatter(algorithm, place, root, None, receive),
            (Form::Equal, Some(Blocks::Equal(send))) => {
                scatter::scatter(algorithm, place, root, Some(send), receive)
            }
            _ => scatter::scatterv(place, root, send, receive),
        };
        member
    });
    let members = members.collect();
    check(members, no_operator, seed);
}

#[test]
fn scatters() {
    for algorithm in scatter::Algorithm::ALL {
        (0..CASES).for_each(|seed| scatter_case(*algorithm, Form::Equal, seed));
    }
    (0..CASES).for_each(|seed| scatter_case(scatter::Algorithm::Linear, Form::Varying, seed));
}

#[test]
fn scatters_between_groups() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let groups = random_groups(&mut random);
        let form = [Form::Equal, Form::Varying][random.below(2) as usize];
        let sizes = random_sizes(&mut random, form, groups[1]);
        let root = random.below(u64::from(groups[0])) as u32;
        let _case = Case(format!("{form:?} seed {seed} groups {groups:?} root {root}"));
        let members = inter_places(groups).map(|(group, place)| {
            let argument = root_argument(group, place, root);
            let rank = place.local.rank;
            let bytes = if group == 1 { data(0, rank, sizes[rank as usize]) } else { Vec::new() };
            let (mut member, block) = receiver(&mut random, group, rank, &bytes);
            let owned =
                (argument == Root::This).then(|| scattering(&mut random, form, &sizes, &mut member.process));
            let send = owned.as_ref().map(Owned::blocks);
            member.process.schedule = scatter::inter(place, argument, send, Some(block));
            member
        });
        let members = members.collect();
        check(members, no_operator, seed);
    }
}

#[test]
fn allgathers() {
    for algorithm in allgather::Algorithm::ALL {
        for seed in 0..2 * CASES {
            let mut random = Random::new(seed);
            let size = random_size(&mut random);
            let nodes = random_nodes(&mut random, size);
            let form = [Form::Equal, Form::Varying][random.below(2) as usize];
            let sizes = random_sizes(&mut random, form, size);
            let in_place = random.below(2) == 0;
            let _case = Case(format!("{algorithm:?} {form:?} seed {seed} size {size} in place {in_place}"));
            let members = places_on(size, &nodes).map(|place| {
                let bytes = data(place.rank, 0, sizes[place.rank as usize]);
                let (mut process, mut send) = sender(&mut random, 0, place.rank, &bytes);
                if in_place {
                    send = Contribution::InPlace;
                }
                let gathered = gathered(&mut random, form, &sizes, in_place.then_some(place.rank));
                process.schedule = allgather::allgather(*algorithm, place, send, gathered.owned.blocks());
                finish_receiver(process, Some(gathered))
            });
            let members = members.collect();
            check(members, no_operator, seed);
        }
    }
}

#[test]
fn allgathers_between_groups() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let groups = random_groups(&mut random);
        let form = [Form::Equal, Form::Varying][random.below(2) as usize];
        let sizes = groups.map(|size| random_sizes(&mut random, form, size));
        let _case = Case(format!("{form:?} seed {seed} groups {groups:?}"));
        let members = inter_places(groups).map(|(group, place)| {
            let rank = place.local.rank;
            let bytes = data(rank, 0, sizes[group][rank as usize]);
            let (mut process, send) = sender(&mut random, group, rank, &bytes);
            let gathered = gathered(&mut random, form, &sizes[1 - group], None);
            process.schedule = allgather::inter(place, send, gathered.owned.blocks());
            finish_receiver(process, Some(gathered))
        });
        let members = members.collect();
        check(members, no_operator, seed);
    }
}

/// A process of an exchange: `outgoing` and `incoming` are the bytes of its blocks.
fn exchanger(
    random: &mut Random,
    group: usize,
    rank: u32,
    form: Form,
    outgoing: &[i64],
    incoming: &[i64],
) -> (Member, Owned, Owned) {
    let mut process = process(group, rank, Schedule::with_capacity(0), BYTE);
    let send = Owned::new(random, form, outgoing);
    let receive = Owned::new(random, form, incoming);
    process.send = send.memory();
    for (to, bytes) in (0..).zip(outgoing) {
        send.fill(&mut process.send, to, &data(rank, to, *bytes));
    }
    process.receive = receive.memory();
    let mut expected = process.receive.clone();
    for (from, bytes) in (0..).zip(incoming) {
        receive.fill(&mut expected, from, &data(from, rank, *bytes));
    }
    process.send_types = send.datatypes.clone();
    process.receive_types = receive.datatypes.clone();
    (Member { process, expected }, send, receive)
}

fn alltoall_case(algorithm: alltoall::Algorithm, form: Form, in_place: bool, seed: u64) {
    let mut random = Random::new(seed);
    let size = random_size(&mut random);
    let nodes = random_nodes(&mut random, size);
    let equal = random_bytes(&mut random);
    let random_rows: Vec<Vec<i64>> = (0..size).map(|_| random_sizes(&mut random, form, size)).collect();
    let bytes_between = |from: usize, to: usize| match (form, in_place) {
        (Form::Equal, _) => equal,
        (_, false) => random_rows[from][to],
        // In place both blocks of a pair have the same size.
        (_, true) => random_rows[from.min(to)][from.max(to)],
    };
    let row = |from| (0..size as usize).map(|to| bytes_between(from, to)).collect();
    let bytes: Vec<Vec<i64>> = (0..size as usize).map(row).collect();
    let _case = Case(format!("{algorithm:?} {form:?} seed {seed} size {size} in place {in_place}"));
    let members = places_on(size, &nodes).map(|place| {
        let rank = place.rank;
        let incoming: Vec<i64> = bytes.iter().map(|row| row[rank as usize]).collect();
        let outgoing = &bytes[rank as usize];
        let (mut member, send, receive) = exchanger(&mut random, 0, rank, form, outgoing, &incoming);
        let blocks = (!in_place).then(|| send.blocks());
        member.process.schedule = alltoall::alltoall(algorithm, place, blocks, receive.blocks());
        if in_place {
            member.process.send.clear();
            for (to, bytes) in (0..).zip(outgoing) {
                receive.fill(&mut member.process.receive, to, &data(rank, to, *bytes));
            }
        }
        member
    });
    let members = members.collect();
    check(members, no_operator, seed);
}

#[test]
fn alltoalls() {
    for algorithm in alltoall::Algorithm::ALL {
        for form in [Form::Equal, Form::Varying, Form::General] {
            for seed in 0..CASES / 2 {
                alltoall_case(*algorithm, form, false, seed);
                alltoall_case(*algorithm, form, true, seed);
            }
        }
    }
}

#[test]
fn alltoalls_between_groups() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let groups = random_groups(&mut random);
        let form = [Form::Equal, Form::Varying, Form::General][random.below(3) as usize];
        let equal = random_bytes(&mut random);
        // bytes[g][i][j]: from rank i of group g to rank j of the other.
        let bytes = [0, 1].map(|group| {
            let row = |_| match form {
                Form::Equal => vec![equal; groups[1 - group] as usize],
                _ => random_sizes(&mut random, form, groups[1 - group]),
            };
            (0..groups[group]).map(row).collect::<Vec<Vec<i64>>>()
        });
        let _case = Case(format!("{form:?} seed {seed} groups {groups:?}"));
        let members = inter_places(groups).map(|(group, place)| {
            let rank = place.local.rank;
            let incoming: Vec<i64> = bytes[1 - group].iter().map(|row| row[rank as usize]).collect();
            let outgoing = &bytes[group][rank as usize];
            let (mut member, send, receive) = exchanger(&mut random, group, rank, form, outgoing, &incoming);
            member.process.schedule = alltoall::inter(place, send.blocks(), receive.blocks());
            member
        });
        let members = members.collect();
        check(members, no_operator, seed);
    }
}

/// More peers than a batch has.
#[test]
fn alltoall_in_batches() {
    let size = alltoall::LINEAR_BATCH + 7;
    let mut random = Random::new(1);
    let bytes = vec![8; size as usize];
    let members = places(size).map(|place| {
        let (mut member, send, receive) = exchanger(&mut random, 0, place.rank, Form::Equal, &bytes, &bytes);
        let linear = alltoall::Algorithm::Linear;
        member.process.schedule = alltoall::alltoall(linear, place, Some(send.blocks()), receive.blocks());
        assert!(member.process.schedule.round_count() >= 2);
        member
    });
    let members = members.collect();
    check(members, no_operator, 1);
}
