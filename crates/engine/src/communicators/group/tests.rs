//! Groups against vectors of processes.

use proptest::prelude::*;

use super::*;

fn group(processes: &[u32]) -> Group {
    Group::of(processes.iter().copied().map(Process).collect())
}

fn numbers(group: &Group) -> Vec<u32> {
    group.processes().map(|process| process.0).collect()
}

/// Distinct processes: sequences of any step, and shuffled ones.
fn any_processes() -> impl Strategy<Value = Vec<u32>> {
    let sequence =
        (0_u32..20, 0_usize..12, 1_usize..4, any::<bool>()).prop_map(|(first, count, step, reversed)| {
            let mut processes: Vec<u32> = (first..).step_by(step).take(count).collect();
            if reversed {
                processes.reverse();
            }
            processes
        });
    let shuffled = proptest::sample::subsequence((0..30_u32).collect::<Vec<_>>(), 0..12).prop_shuffle();
    prop_oneof![sequence, shuffled]
}

proptest! {
    #[test]
    fn ranks_and_processes_are_inverse(processes in any_processes()) {
        let group = group(&processes);
        prop_assert_eq!(numbers(&group), processes.clone());
        prop_assert_eq!(group.size() as usize, processes.len());
        prop_assert_eq!(group.process(group.size()), None);
        prop_assert_eq!(group.greatest(), processes.iter().max().copied().map(Process));
        for process in 0..60 {
            let rank = processes.iter().position(|member| *member == process);
            prop_assert_eq!(group.rank(Process(process)), rank.map(|rank| rank as u32));
        }
    }

    #[test]
    fn set_operations_keep_the_order(a in any_processes(), b in any_processes()) {
        let (first, second) = (group(&a), group(&b));
        let only = |from: &[u32], other: &[u32], inside: bool| -> Vec<u32> {
            from.iter().copied().filter(|process| other.contains(process) == inside).collect()
        };
        prop_assert_eq!(numbers(&first.union(&second)), [a.clone(), only(&b, &a, false)].concat());
        prop_assert_eq!(numbers(&first.intersection(&second)), only(&a, &b, true));
        prop_assert_eq!(numbers(&first.difference(&second)), only(&a, &b, false));
    }

    #[test]
    fn comparison_is_by_members_then_order(a in any_processes(), b in any_processes()) {
        let sorted = |processes: &[u32]| {
            let mut processes = processes.to_vec();
            processes.sort_unstable();
            processes
        };
        let expected = match (a == b, sorted(&a) == sorted(&b)) {
            (true, _) => Comparison::Ident,
            (false, true) => Comparison::Similar,
            (false, false) => Comparison::Unequal,
        };
        prop_assert_eq!(group(&a).compare(&group(&b)), expected);
        let mut reversed = a.clone();
        reversed.reverse();
        let expected = if a.len() < 2 { Comparison::Ident } else { Comparison::Similar };
        prop_assert_eq!(group(&a).compare(&group(&reversed)), expected);
    }

    #[test]
    fn inclusion_and_exclusion_split_a_group(
        processes in any_processes(),
        picks in proptest::collection::vec(0_usize..12, 0..6),
    ) {
        let group = group(&processes);
        let mut ranks: Vec<i32> = Vec::new();
        for pick in picks.into_iter().filter(|pick| *pick < processes.len()) {
            if !ranks.contains(&(pick as i32)) {
                ranks.push(pick as i32);
            }
        }
        let picked: Vec<u32> = ranks.iter().map(|rank| processes[*rank as usize]).collect();
        let rest: Vec<u32> = processes.iter().copied().filter(|process| !picked.contains(process)).collect();
        prop_assert_eq!(numbers(&group.incl(&ranks).unwrap()), picked.clone());
        prop_assert_eq!(numbers(&group.excl(&ranks).unwrap()), rest.clone());
        let ranges: Vec<RankRange> = ranks.iter().map(|rank| [*rank, *rank, 1]).collect();
        prop_assert_eq!(numbers(&group.range_incl(&ranges).unwrap()), picked);
        prop_assert_eq!(numbers(&group.range_excl(&ranges).unwrap()), rest);
    }

    #[test]
    fn ranks_are_translated(a in any_processes(), b in any_processes()) {
        let ranks: Vec<i32> = (0..a.len() as i32).chain([abi::MPI_PROC_NULL]).collect();
        let rank_in_b = |process: &u32| b.iter().position(|member| member == process);
        let translated = |process: &u32| rank_in_b(process).map_or(abi::MPI_UNDEFINED, |rank| rank as i32);
        let expected: Vec<i32> = a.iter().map(translated).chain([abi::MPI_PROC_NULL]).collect();
        prop_assert_eq!(group(&a).translate_ranks(&ranks, &group(&b)).unwrap(), expected);
    }
}

#[test]
fn sequences_are_stored_without_a_table() {
    for processes in [vec![], vec![7], vec![0, 1, 2, 3], vec![9, 7, 5], vec![1, 4, 7]] {
        assert!(matches!(group(&processes).members, Members::Sequence { .. }), "{processes:?}");
    }
    assert!(matches!(group(&[0, 2, 3]).members, Members::Table(_)));
    let world = Group::range(Process(0), 100_000);
    assert_eq!(world.compare(&world.range_incl(&[[0, 99_999, 1]]).unwrap()), Comparison::Ident);
    let upper = world.range_incl(&[[50_000, 99_999, 1]]).unwrap();
    assert_eq!(upper, Group::range(Process(50_000), 50_000));
}

#[test]
fn empty_groups_are_identical() {
    let world = Group::range(Process(3), 4);
    assert_eq!(world.incl(&[]).unwrap(), Group::empty());
    assert_eq!(world.excl(&[0, 1, 2, 3]).unwrap(), Group::empty());
    assert_eq!(Group::range(Process(3), 0).compare(&Group::empty()), Comparison::Ident);
    assert!(Group::empty().is_empty());
}

#[test]
fn ranges_follow_their_strides() {
    let world = Group::range(Process(0), 10);
    let included = world.range_incl(&[[6, 7, 1], [1, 6, 2], [9, 8, -1]]).unwrap();
    assert_eq!(numbers(&included), [6, 7, 1, 3, 5, 9, 8]);
    let excluded = world.range_excl(&[[6, 7, 1], [1, 6, 2], [9, 8, -1]]).unwrap();
    assert_eq!(numbers(&excluded), [0, 2, 4]);
    // The last rank of a range need not be met, nor exist.
    assert_eq!(numbers(&world.range_incl(&[[8, 12, 5]]).unwrap()), [8]);
}

#[test]
fn wrong_arguments_are_errors_of_the_standard() {
    let world = Group::range(Process(0), 4);
    let class = |result: Result<Group>| result.unwrap_err().class;
    assert_eq!(class(world.incl(&[4])), abi::MPI_ERR_RANK);
    assert_eq!(class(world.incl(&[-1])), abi::MPI_ERR_RANK);
    assert_eq!(class(world.incl(&[abi::MPI_PROC_NULL])), abi::MPI_ERR_RANK);
    assert_eq!(class(world.incl(&[1, 1])), abi::MPI_ERR_RANK);
    assert_eq!(class(world.excl(&[2, 0, 2])), abi::MPI_ERR_RANK);
    assert_eq!(class(world.range_incl(&[[0, 3, 0]])), abi::MPI_ERR_ARG);
    assert_eq!(class(world.range_incl(&[[3, 0, 1]])), abi::MPI_ERR_ARG);
    assert_eq!(class(world.range_excl(&[[0, 3, -1]])), abi::MPI_ERR_ARG);
    assert_eq!(class(world.range_incl(&[[2, 5, 1]])), abi::MPI_ERR_RANK);
    assert_eq!(class(world.range_excl(&[[0, 2, 1], [2, 3, 1]])), abi::MPI_ERR_RANK);
    let translated = world.translate_ranks(&[0, 9], &world).unwrap_err();
    assert_eq!(translated.class, abi::MPI_ERR_RANK);
    assert!(
        translated.detail.contains("MPI_Group_translate_ranks: 9 is not a rank"),
        "{}",
        translated.detail
    );
}

#[test]
fn a_huge_range_ends_at_its_first_wrong_rank() {
    let world = Group::range(Process(0), 4);
    assert_eq!(world.range_incl(&[[0, i32::MAX, 1]]).unwrap_err().class, abi::MPI_ERR_RANK);
    assert_eq!(world.range_excl(&[[i32::MIN, i32::MAX, 1]]).unwrap_err().class, abi::MPI_ERR_RANK);
}
