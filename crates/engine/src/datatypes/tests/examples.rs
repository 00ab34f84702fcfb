//! Facts that the standard states one by one, arguments that are wrong, and sizes that must not matter.

use super::super::*;
use crate::error::Error;
use postrider_abi::*;
use postrider_os::memory::{OwnedMemory, UserMemory};
use proptest::prelude::*;

const INT: CountForm = CountForm::Int;

fn named(handle: MPI_Datatype) -> Arc<Datatype> {
    Arc::clone(Datatype::predefined(handle).unwrap())
}

fn class<T: std::fmt::Debug>(result: Result<T, Error>) -> i32 {
    result.unwrap_err().class
}

#[test]
fn named_types_are_found_by_handle_and_lie_as_in_c() {
    for kind in Kind::all() {
        let datatype = Datatype::predefined(kind.row().handle).unwrap();
        assert_eq!(datatype.as_predefined(), Some(kind));
        assert_eq!(datatype.size(), kind.row().size as i64, "{kind:?}");
        assert_eq!(datatype.extent(), kind.row().extent as i64, "{kind:?}");
        assert!(datatype.is_committed() && datatype.is_predefined());
        assert_eq!(datatype.contents().combiner, MPI_COMBINER_NAMED);
    }
    assert!(Datatype::predefined(MPI_DATATYPE_NULL).is_none());
    assert!(Datatype::predefined(MPI_Datatype(0x12345)).is_none());
    let double_int = named(MPI_DOUBLE_INT);
    assert_eq!((double_int.size(), double_int.extent(), double_int.true_extent()), (12, 16, 12));
    let short_int = named(MPI_SHORT_INT);
    assert!(!short_int.is_contiguous());
    assert_eq!((short_int.size(), short_int.extent(), short_int.true_extent()), (6, 8, 8));
}

#[test]
fn bounds_follow_alignment_and_markers() {
    let padded = Datatype::structure(INT, &[1, 1], &[0, 8], &[named(MPI_DOUBLE), named(MPI_CHAR)]).unwrap();
    assert_eq!((padded.lb(), padded.extent(), padded.true_extent()), (0, 16, 9));
    let from_one = Datatype::structure(INT, &[1, 1], &[3, 1], &[named(MPI_DOUBLE), named(MPI_CHAR)]).unwrap();
    assert_eq!((from_one.lb(), from_one.extent(), from_one.true_extent()), (1, 16, 10));
    let marked = Datatype::resized(INT, -4, 12, &named(MPI_INT)).unwrap();
    let both = Datatype::structure(INT, &[1, 1], &[0, 100], &[Arc::clone(&marked), named(MPI_INT)]).unwrap();
    assert_eq!((both.lb(), both.extent(), both.true_extent()), (-4, 12, 104));
    let backwards = Datatype::vector(INT, 3, 2, -5, &named(MPI_INT)).unwrap();
    assert_eq!((backwards.lb(), backwards.extent()), (-40, 48));
    let nothing = Datatype::contiguous(INT, 0, &named(MPI_INT)).unwrap();
    assert_eq!((nothing.size(), nothing.lb(), nothing.extent()), (0, 0, 0));
}

#[test]
fn regular_types_of_any_length_are_small_and_fast() {
    let vector = Datatype::vector(INT, 1_000_000_000, 2, 5, &named(MPI_INT)).unwrap();
    assert_eq!(vector.size(), 8_000_000_000);
    let nested = Datatype::hvector(CountForm::Large, 1_000_000, 1, 1 << 36, &vector).unwrap();
    let mut found = Vec::new();
    let middle = 8_000_000_000 * 77 + 8 * 1000 + 4;
    segments(&nested, 1, middle, 16, &mut |at, bytes| found.push((at, bytes)));
    let start = 77 * (1 << 36) + 1000 * 20;
    assert_eq!(found, [(start + 4, 4), (start + 20, 8), (start + 40, 4)]);
    assert_eq!(nested.elements_in(8_000_000_000 * 77 + 4), Some(2_000_000_000 * 77 + 1));
    let pair = [named(MPI_INT), named(MPI_DOUBLE)];
    let record = Datatype::structure(INT, &[1, 1], &[0, 8], &pair).unwrap();
    let records = Datatype::contiguous(INT, 1_000_000_000, &record).unwrap();
    assert_eq!(records.elements_in(12 * 999_999_999 + 4), Some(1_999_999_999));
    assert_eq!(pack_external_size(&records, 1), Ok(12_000_000_000));
}

#[test]
fn what_does_not_fit_64_bits_is_refused() {
    let int = named(MPI_INT);
    let large = CountForm::Large;
    assert_eq!(class(Datatype::contiguous(large, i64::MAX, &int)), MPI_ERR_VALUE_TOO_LARGE);
    assert_eq!(class(Datatype::vector(large, 3, 1, i64::MAX / 2, &int)), MPI_ERR_VALUE_TOO_LARGE);
    assert_eq!(class(Datatype::hvector(large, 3, 1, i64::MAX / 2, &int)), MPI_ERR_VALUE_TOO_LARGE);
    assert_eq!(class(Datatype::resized(large, i64::MAX, 1, &int)), MPI_ERR_VALUE_TOO_LARGE);
    let ends = [i64::MIN, i64::MAX - 8];
    assert_eq!(class(Datatype::hindexed(large, &[1, 1], &ends, &int)), MPI_ERR_VALUE_TOO_LARGE);
    let sizes = [1 << 31, 1 << 31, 4];
    let array = Datatype::subarray(large, &sizes, &[1, 1, 1], &[0, 0, 0], MPI_ORDER_C, &int);
    assert_eq!(class(array), MPI_ERR_VALUE_TOO_LARGE);
    assert_eq!(class(Datatype::contiguous(INT, 1 << 31, &int)), MPI_ERR_ARG);
}

#[test]
fn wrong_arguments_are_named() {
    let int = named(MPI_INT);
    assert_eq!(class(Datatype::contiguous(INT, -1, &int)), MPI_ERR_COUNT);
    assert_eq!(class(Datatype::vector(INT, 1, -1, 0, &int)), MPI_ERR_COUNT);
    assert_eq!(class(Datatype::indexed(INT, &[-1], &[0], &int)), MPI_ERR_COUNT);
    let order = MPI_ORDER_C;
    assert_eq!(class(Datatype::subarray(INT, &[], &[], &[], order, &int)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::subarray(INT, &[4], &[3], &[2], order, &int)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::subarray(INT, &[4], &[5], &[0], order, &int)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::subarray(INT, &[4], &[1], &[0], 99, &int)), MPI_ERR_ARG);
    let dimension = |distribution, argument, processes| {
        let whole = [Distribution { global_size: 10, distribution, argument, processes }];
        class(Datatype::darray(INT, 2, 0, &whole, order, &int))
    };
    assert_eq!(dimension(MPI_DISTRIBUTE_BLOCK, 4, 2), MPI_ERR_ARG);
    assert_eq!(dimension(MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, 2), MPI_ERR_ARG);
    assert_eq!(dimension(MPI_DISTRIBUTE_CYCLIC, 0, 2), MPI_ERR_ARG);
    assert_eq!(dimension(MPI_DISTRIBUTE_CYCLIC, 1, 3), MPI_ERR_ARG);
    assert_eq!(dimension(7, 1, 2), MPI_ERR_ARG);
}

#[test]
fn contents_are_the_arguments_of_the_form_that_was_called() {
    let int = named(MPI_INT);
    let numbers = |datatype: &Datatype| {
        let contents = datatype.contents().clone();
        assert!(contents.datatypes.iter().all(|inner| Arc::ptr_eq(inner, &int)));
        (contents.integers, contents.addresses, contents.large_counts)
    };
    let large = CountForm::Large;
    let of = |form| Datatype::hvector(form, 2, 3, 40, &int).unwrap();
    assert_eq!(numbers(&of(INT)), (vec![2, 3], vec![40], vec![]));
    assert_eq!(numbers(&of(large)), (vec![], vec![], vec![2, 3, 40]));
    let of = |form| Datatype::indexed(form, &[1, 2], &[7, 8], &int).unwrap();
    assert_eq!(numbers(&of(INT)), (vec![2, 1, 2, 7, 8], vec![], vec![]));
    assert_eq!(numbers(&of(large)), (vec![], vec![], vec![2, 1, 2, 7, 8]));
    let types = [Arc::clone(&int), Arc::clone(&int)];
    let of = |form| Datatype::structure(form, &[1, 2], &[70, 80], &types).unwrap();
    assert_eq!(numbers(&of(INT)), (vec![2, 1, 2], vec![70, 80], vec![]));
    assert_eq!(numbers(&of(large)), (vec![], vec![], vec![2, 1, 2, 70, 80]));
    let of = |form| Datatype::subarray(form, &[4, 5], &[2, 3], &[1, 0], MPI_ORDER_C, &int).unwrap();
    assert_eq!(numbers(&of(INT)), (vec![2, 4, 5, 2, 3, 1, 0, MPI_ORDER_C], vec![], vec![]));
    assert_eq!(numbers(&of(large)), (vec![2, MPI_ORDER_C], vec![], vec![4, 5, 2, 3, 1, 0]));
    let (distribution, argument) = (MPI_DISTRIBUTE_CYCLIC, 2);
    let row = [Distribution { global_size: 9, distribution, argument, processes: 3 }];
    let of = |form| Datatype::darray(form, 3, 1, &row, MPI_ORDER_FORTRAN, &int).unwrap();
    let rest = [distribution, 2, 3, MPI_ORDER_FORTRAN];
    assert_eq!(numbers(&of(INT)), ([&[3, 1, 1, 9], &rest[..]].concat(), vec![], vec![]));
    assert_eq!(numbers(&of(large)), ([&[3, 1, 1], &rest[..]].concat(), vec![], vec![9]));
    assert_eq!(Datatype::dup(&int).contents().combiner, MPI_COMBINER_DUP);
}

#[test]
fn types_are_found_by_their_properties() {
    assert!(Arc::ptr_eq(Datatype::match_size(MPI_TYPECLASS_REAL, 8).unwrap(), &named(MPI_REAL8)));
    assert_eq!(class(Datatype::match_size(MPI_TYPECLASS_REAL, 3)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::match_size(7, 4)), MPI_ERR_ARG);
    let pair = Datatype::value_index(&named(MPI_DOUBLE), &named(MPI_INT)).unwrap();
    assert!(Arc::ptr_eq(pair, &named(MPI_DOUBLE_INT)));
    assert!(Datatype::value_index(&named(MPI_BYTE), &named(MPI_INT)).is_none());
    let real = Datatype::f90_real(10, MPI_UNDEFINED).unwrap();
    assert_eq!((real.size(), real.contents().integers.clone()), (8, vec![10, MPI_UNDEFINED]));
    assert!(real.is_predefined() && real.is_committed() && real.as_predefined().is_none());
    assert_eq!(Datatype::f90_real(MPI_UNDEFINED, 308).unwrap().size(), 16);
    assert_eq!(Datatype::f90_complex(6, 37).unwrap().size(), 8);
    assert_eq!(Datatype::f90_integer(9).unwrap().size(), 4);
    assert_eq!(Datatype::f90_integer(10).unwrap().size(), 8);
    assert_eq!(class(Datatype::f90_real(34, 0)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::f90_real(MPI_UNDEFINED, MPI_UNDEFINED)), MPI_ERR_ARG);
    assert_eq!(class(Datatype::f90_integer(39)), MPI_ERR_ARG);
}

#[test]
fn external32_changes_lengths_and_says_what_does_not_fit() {
    let long = named(MPI_LONG);
    let mut memory = OwnedMemory::new(64);
    let base = UserMemory::of(&mut memory);
    base.store([-2i64, 7]);
    let mut packed = [0; 8];
    assert_eq!(pack_external(&long, 2, base, &mut packed), Ok(8));
    assert_eq!(packed, [255, 255, 255, 254, 0, 0, 0, 7]);
    base.store([0i64; 2]);
    assert_eq!(unpack_external(&long, 2, base, &packed), Ok(8));
    assert_eq!(base.load::<[i64; 2]>(), [-2, 7]);
    base.store(1i64 << 40);
    assert_eq!(class(pack_external(&long, 1, base, &mut packed)), MPI_ERR_CONVERSION);
    assert_eq!(class(pack_external(&long, 3, base, &mut packed)), MPI_ERR_TRUNCATE);
    assert_eq!(pack_external_size(&named(MPI_LONG_INT), 3), Ok(24));
    assert_eq!(pack_external_size(&named(MPI_LONG_DOUBLE_INT), 1), Ok(20));
    assert_eq!(pack_external_size(&named(MPI_WCHAR), 4), Ok(8));
}

/// Numbers around the limits of 64 bits, and small ones.
fn extreme() -> impl Strategy<Value = i64> {
    let limits =
        prop::sample::select(&[i64::MIN, i64::MAX, i64::MAX / 2, 1 << 61, -1 << 61, 1 << 32, 1 << 31][..]);
    prop_oneof![limits.clone(), (limits, -3..4i64).prop_map(|(a, b)| a.wrapping_add(b)), -3..4i64]
}

/// A dimension of a distributed array, with arguments that suit each other.
fn distribution() -> impl Strategy<Value = Distribution> {
    (1..9i64, 1..4i32, 0..4i32, 0..3).prop_map(|(global_size, processes, more, how)| {
        let enough = (global_size as i32 - 1) / processes + 1;
        match how {
            0 => Distribution {
                global_size,
                distribution: MPI_DISTRIBUTE_NONE,
                argument: MPI_DISTRIBUTE_DFLT_DARG,
                processes: 1,
            },
            1 => Distribution {
                global_size,
                distribution: MPI_DISTRIBUTE_BLOCK,
                argument: if more == 0 { MPI_DISTRIBUTE_DFLT_DARG } else { enough + more - 1 },
                processes,
            },
            _ => Distribution {
                global_size,
                distribution: MPI_DISTRIBUTE_CYCLIC,
                argument: if more == 0 { MPI_DISTRIBUTE_DFLT_DARG } else { more },
                processes,
            },
        }
    })
}

/// The coordinate of the process that owns an index.
fn owner(dimension: &Distribution, index: i64) -> i64 {
    let processes = i64::from(dimension.processes);
    let default = dimension.argument == MPI_DISTRIBUTE_DFLT_DARG;
    let argument = i64::from(dimension.argument);
    match dimension.distribution {
        MPI_DISTRIBUTE_NONE => 0,
        MPI_DISTRIBUTE_BLOCK if default => index / ((dimension.global_size - 1) / processes + 1),
        MPI_DISTRIBUTE_BLOCK => index / argument,
        _ if default => index % processes,
        _ => index / argument % processes,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn extreme_arguments_are_refused_or_right(
        arguments in prop::collection::vec((0..7, extreme(), extreme(), extreme()), 1..4),
    ) {
        let mut old = named(MPI_DOUBLE_INT);
        for (how, a, b, c) in arguments {
            let form = CountForm::Large;
            let made = match how {
                0 => Datatype::contiguous(form, a, &old),
                1 => Datatype::vector(form, a, b, c, &old),
                2 => Datatype::hvector(form, a, b, c, &old),
                3 => Datatype::indexed(form, &[a, 1], &[b, c], &old),
                4 => Datatype::structure(form, &[1, a], &[b, c], &[named(MPI_LONG_DOUBLE), Arc::clone(&old)]),
                5 => Datatype::resized(form, a, b, &old),
                _ => Datatype::subarray(form, &[a, b], &[1, c], &[0, 1], MPI_ORDER_C, &old),
            };
            let Ok(new) = made else { return Ok(()) };
            prop_assert!(new.size() >= 0 && new.true_extent() >= 0);
            prop_assert_eq!(new.signature().bytes(), new.size() as u64);
            prop_assert_eq!(new.elements_in(new.size()), Some(new.signature().elements() as i64));
            prop_assert!(new.bytes_of_elements(i64::MAX) >= 0);
            let middle = new.size() as u64 / 2;
            let part = 100.min(new.size() as u64 - middle) as usize;
            let mut seen = 0;
            segments(&new, 1, middle, part, &mut |at, bytes| {
                seen += bytes;
                assert!(at >= new.true_lb() && at - new.true_lb() + bytes as i64 <= new.true_extent());
            });
            prop_assert_eq!(seen, part);
            old = new;
        }
    }

    #[test]
    fn all_parts_of_a_darray_are_the_array(
        dimensions in prop::collection::vec(distribution(), 1..4), c: bool,
    ) {
        let order = if c { MPI_ORDER_C } else { MPI_ORDER_FORTRAN };
        let size: i32 = dimensions.iter().map(|dimension| dimension.processes).product();
        let all: i64 = dimensions.iter().map(|dimension| dimension.global_size).product();
        let mut expected = vec![Vec::new(); size as usize];
        for linear in 0..all {
            let (mut rest, mut coordinates) = (linear, vec![0; dimensions.len()]);
            let mut fastest_first: Vec<usize> = (0..dimensions.len()).collect();
            if c {
                fastest_first.reverse();
            }
            for index in fastest_first {
                coordinates[index] = owner(&dimensions[index], rest % dimensions[index].global_size);
                rest /= dimensions[index].global_size;
            }
            let rank = dimensions.iter().zip(&coordinates)
                .fold(0, |rank, (dimension, coordinate)| rank * i64::from(dimension.processes) + coordinate);
            expected[rank as usize].push(linear);
        }
        for (rank, owned) in expected.iter().enumerate() {
            let part = Datatype::darray(INT, size, rank as i32, &dimensions, order, &named(MPI_INT)).unwrap();
            let mut found = Vec::new();
            segments(&part, 1, 0, part.size() as usize, &mut |at, bytes| {
                found.extend((at..at + bytes as i64).step_by(4).map(|place| place / 4));
            });
            prop_assert_eq!(&found, owned, "rank {}", rank);
            prop_assert_eq!((part.lb(), part.extent()), (0, 4 * all));
        }
    }
}
