//! The operators against the same on lists of Rust numbers, the table of what is allowed, ties, gaps and rounding.

use super::*;
use postrider_abi::*;
use postrider_os::long_double::LongDouble;
use postrider_os::memory::{OwnedMemory, Plain};
use proptest::prelude::*;
use std::fmt::Debug;

fn kind(handle: MPI_Datatype) -> Kind {
    Kind::from_handle(handle).unwrap()
}

/// Two unaligned arrays in one piece of memory: all of `input` op `inout`.
fn applied<T: Plain>(operator: Operator, handle: MPI_Datatype, input: &[T], inout: &[T]) -> Vec<T> {
    let size = size_of::<T>() as i64;
    let length = input.len() as i64;
    let mut memory = OwnedMemory::new((2 * size * length + 2) as usize);
    let from = UserMemory::of(&mut memory).offset(1);
    let to = from.offset(size * length);
    for index in 0..input.len() {
        from.offset(index as i64 * size).store(input[index]);
        to.offset(index as i64 * size).store(inout[index]);
    }
    let bits = |memory: UserMemory, index: i64| match memory.offset(index * size) {
        element if size == 8 => element.load::<u64>(),
        element => u64::from(element.load::<u32>()),
    };
    let one_by_one = operator.of_bits(kind(handle)).map(|of_bits| -> Vec<u64> {
        (0..length).map(|index| of_bits(bits(from, index), bits(to, index)) << (64 - 8 * size)).collect()
    });
    operator.apply(kind(handle), from, to, length).unwrap();
    if let Some(expected) = one_by_one {
        let all: Vec<u64> = (0..length).map(|index| bits(to, index) << (64 - 8 * size)).collect();
        assert_eq!(all, expected, "{operator} on the bits of {:?}", kind(handle));
    }
    assert!(input.iter().zip(0..).all(|(value, index)| {
        let (mut before, mut after) = (vec![0; size as usize], vec![0; size as usize]);
        from.offset(index * size).read(&mut after);
        let mut copy = OwnedMemory::new(size as usize);
        UserMemory::of(&mut copy).store(*value);
        UserMemory::of(&mut copy).read(&mut before);
        before == after
    }));
    (0..length).map(|index| to.offset(index * size).load()).collect()
}

fn agrees<T: Plain + PartialEq + Debug>(
    operator: Operator,
    handle: MPI_Datatype,
    (a, b): (&[T], &[T]),
    expected: impl Fn(T, T) -> T,
) {
    let expected: Vec<T> = a.iter().zip(b).map(|(&a, &b)| expected(a, b)).collect();
    assert_eq!(applied(operator, handle, a, b), expected, "{operator} on {:?}", kind(handle));
}

macro_rules! integer_operators {
    ($type:ty, $handle:expr, $pair:expr, c: $c:expr) => {
        agrees::<$type>(Operator::Sum, $handle, $pair, |a, b| a.wrapping_add(b));
        agrees::<$type>(Operator::Prod, $handle, $pair, |a, b| a.wrapping_mul(b));
        agrees::<$type>(Operator::Max, $handle, $pair, |a, b| a.max(b));
        agrees::<$type>(Operator::Min, $handle, $pair, |a, b| a.min(b));
        agrees::<$type>(Operator::Band, $handle, $pair, |a, b| a & b);
        agrees::<$type>(Operator::Bor, $handle, $pair, |a, b| a | b);
        agrees::<$type>(Operator::Bxor, $handle, $pair, |a, b| a ^ b);
        if $c {
            agrees::<$type>(Operator::Land, $handle, $pair, |a, b| (a != 0 && b != 0).into());
            agrees::<$type>(Operator::Lor, $handle, $pair, |a, b| (a != 0 || b != 0).into());
            agrees::<$type>(Operator::Lxor, $handle, $pair, |a, b| ((a != 0) != (b != 0)).into());
        }
    };
}

/// Integers of which many are zero or equal.
fn few<T: Arbitrary + From<bool>>() -> impl Strategy<Value = (T, T)> {
    prop_oneof![any::<(T, T)>(), any::<(bool, bool)>().prop_map(|(a, b)| (a.into(), b.into()))]
}

fn arrays<T: Arbitrary + From<bool>>() -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
    prop::collection::vec(few(), 0..70).prop_map(|pairs| pairs.into_iter().unzip())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn integers(a in arrays::<i8>(), b in arrays::<u16>(), c in arrays::<i32>(), d in arrays::<u64>(), e in arrays::<i128>()) {
        integer_operators!(i8, MPI_SIGNED_CHAR, (&a.0, &a.1), c: true);
        integer_operators!(i8, MPI_INT8_T, (&a.0, &a.1), c: true);
        integer_operators!(u16, MPI_UNSIGNED_SHORT, (&b.0, &b.1), c: true);
        integer_operators!(i32, MPI_INT, (&c.0, &c.1), c: true);
        integer_operators!(i32, MPI_INTEGER, (&c.0, &c.1), c: false);
        integer_operators!(u64, MPI_UNSIGNED_LONG, (&d.0, &d.1), c: true);
        integer_operators!(i128, MPI_INTEGER16, (&e.0, &e.1), c: false);
    }

    #[test]
    fn floating_point(
        singles in prop::collection::vec(any::<(f32, f32)>(), 0..70),
        doubles in prop::collection::vec(any::<(f64, f64)>(), 0..70),
    ) {
        let (a, b): (Vec<_>, Vec<_>) = singles.into_iter().unzip();
        agrees::<f32>(Operator::Sum, MPI_FLOAT, (&a, &b), |a, b| a + b);
        agrees::<f32>(Operator::Max, MPI_REAL, (&a, &b), f32::max);
        let (a, b): (Vec<_>, Vec<_>) = doubles.into_iter().unzip();
        agrees::<f64>(Operator::Prod, MPI_DOUBLE, (&a, &b), |a, b| a * b);
        agrees::<f64>(Operator::Min, MPI_DOUBLE_PRECISION, (&a, &b), f64::min);
    }
}

#[test]
fn the_table_of_the_standard() {
    let names = |operator: Operator| -> Vec<&str> {
        Kind::all().filter(|&kind| operator.is_allowed(kind)).map(|kind| kind.row().name).collect()
    };
    for name in ["MPI_INT", "MPI_INTEGER2", "MPI_AINT", "MPI_LONG_DOUBLE", "MPI_REAL2"] {
        assert!(names(Operator::Max).contains(&name), "{name}");
        assert!(names(Operator::Sum).contains(&name), "{name}");
    }
    assert!(names(Operator::Sum).contains(&"MPI_COMPLEX") && !names(Operator::Max).contains(&"MPI_COMPLEX"));
    let logical = names(Operator::Land);
    for name in ["MPI_C_BOOL", "MPI_LOGICAL", "MPI_INT", "MPI_CHAR", "MPI_COUNT"] {
        assert!(logical.contains(&name), "{name}");
    }
    assert!(!logical.contains(&"MPI_INTEGER") && !logical.contains(&"MPI_DOUBLE"));
    let bits = names(Operator::Bxor);
    assert!(bits.contains(&"MPI_BYTE") && bits.contains(&"MPI_COUNT") && !bits.contains(&"MPI_C_BOOL"));
    let pairs = names(Operator::Minloc);
    assert_eq!(pairs.len(), 9);
    assert!(pairs.contains(&"MPI_2REAL") && pairs.contains(&"MPI_LONG_DOUBLE_INT"));
    for kind in Kind::all() {
        assert!(Operator::Replace.is_allowed(kind) && Operator::NoOp.is_allowed(kind));
    }
    for operator in [Operator::Sum, Operator::Max, Operator::Land, Operator::Band, Operator::Maxloc] {
        assert!(!names(operator).contains(&"MPI_CHARACTER") && !names(operator).contains(&"MPI_PACKED"));
    }
}

#[test]
fn every_allowed_combination_computes() {
    let mut memory = OwnedMemory::new(1024);
    let (input, inout) = (UserMemory::of(&mut memory), UserMemory::of(&mut memory).offset(512));
    for row in OPERATIONS {
        let operator = Operator::from_handle(row.handle).unwrap();
        assert_eq!(operator.to_string(), row.name);
        assert_eq!(operator.is_commutative(), row.commutative);
        assert_eq!(operator.is_collective(), row.collective);
        for kind in Kind::all() {
            let result = operator.apply(kind, input, inout, 3);
            assert_eq!(result.is_ok(), operator.is_allowed(kind), "{operator} on {kind:?}");
            assert!(result.is_ok_and(|()| true) || !operator.is_allowed(kind));
        }
    }
}

#[test]
fn truth_is_one() {
    let (a, b) = ([0u8, 0, 2, 3], [0u8, 5, 0, 7]);
    assert_eq!(applied(Operator::Land, MPI_C_BOOL, &a, &b), [0, 0, 0, 1]);
    assert_eq!(applied(Operator::Lor, MPI_CXX_BOOL, &a, &b), [0, 1, 1, 1]);
    let (a, b) = (a.map(i32::from), b.map(i32::from));
    assert_eq!(applied(Operator::Lxor, MPI_LOGICAL, &a, &b), [0, 1, 1, 0]);
}

#[test]
fn complex_numbers_are_multiplied_as_such() {
    let (a, b) = ([[1.0f64, 2.0], [0.0, 1.0]], [[3.0f64, -1.0], [0.0, 1.0]]);
    assert_eq!(applied(Operator::Prod, MPI_C_DOUBLE_COMPLEX, &a, &b), [[5.0, 5.0], [-1.0, 0.0]]);
    assert_eq!(applied(Operator::Sum, MPI_C_DOUBLE_COMPLEX, &a, &b), [[4.0, 1.0], [0.0, 2.0]]);
    let long = |value: [f64; 2]| value.map(LongDouble::from_f64);
    let product = applied(Operator::Prod, MPI_C_LONG_DOUBLE_COMPLEX, &a.map(long), &b.map(long));
    for (found, expected) in product.iter().flatten().zip([5.0, 5.0, -1.0, 0.0]) {
        assert!(found.compare(LongDouble::from_f64(expected)).unwrap().is_eq());
    }
}

#[test]
fn halves_are_rounded_once() {
    // 2048 + 1 is halfway between 2048 and 2050, and 2048 is even.
    let (a, b) = ([half::from_f32(2048.0), half::from_f32(1.5)], [half::from_f32(1.0), half::from_f32(-3.0)]);
    let found = applied(Operator::Sum, MPI_REAL2, &a, &b);
    assert_eq!(found.iter().map(|&bits| half::to_f32(bits)).collect::<Vec<_>>(), [2048.0, -1.5]);
    let found = applied(Operator::Min, MPI_REAL2, &a, &b);
    assert_eq!(found.iter().map(|&bits| half::to_f32(bits)).collect::<Vec<_>>(), [1.0, -3.0]);
}

#[test]
fn of_equal_values_the_lower_index_wins() {
    let (a, b) = ([[3, 7], [3, 1], [5, 9], [1, 0]], [[3, 4], [3, 2], [4, 0], [2, 8]]);
    assert_eq!(applied(Operator::Maxloc, MPI_2INT, &a, &b), [[3, 4], [3, 1], [5, 9], [2, 8]]);
    assert_eq!(applied(Operator::Minloc, MPI_2INTEGER, &a, &b), [[3, 4], [3, 1], [4, 0], [1, 0]]);
    let reals = |rows: [[i32; 2]; 4]| rows.map(|row| row.map(|value| value as f64));
    let found = applied(Operator::Maxloc, MPI_2DOUBLE_PRECISION, &reals(a), &reals(b));
    assert_eq!(found, [[3.0, 4.0], [3.0, 1.0], [5.0, 9.0], [2.0, 8.0]]);
}

#[test]
fn gaps_in_pairs_are_left_alone() {
    for (handle, value_bytes, gap) in [(MPI_DOUBLE_INT, 8, 12..16), (MPI_SHORT_INT, 2, 2..4)] {
        let extent = kind(handle).row().extent;
        let mut memory = OwnedMemory::new(64);
        let (input, inout) = (UserMemory::of(&mut memory), UserMemory::of(&mut memory).offset(32));
        input.write(&vec![0x11; extent]);
        inout.write(&vec![0xee; extent]);
        for operator in [Operator::Maxloc, Operator::Minloc, Operator::Replace] {
            operator.apply(kind(handle), input, inout, 1).unwrap();
            let mut found = vec![0; extent];
            inout.read(&mut found);
            assert!(found[gap.clone()].iter().all(|&byte| byte == 0xee), "{operator} on {handle:?}");
        }
        assert_eq!(inout.load::<u8>(), 0x11, "the value of {value_bytes} bytes has been replaced");
    }
}

#[test]
fn functions_of_the_program_get_any_type_and_the_handle() {
    let function: UserFunction = Arc::new(|input, inout, count, handle| {
        assert_eq!((count, handle), (3, MPI_Datatype(77)));
        inout.store(input.load::<i32>() - inout.load::<i32>());
    });
    let operation = Operation::User { function, commutative: false };
    let int = Datatype::predefined(MPI_INT).unwrap();
    let derived = Datatype::contiguous(crate::datatypes::CountForm::Int, 3, int).unwrap();
    let mut memory = OwnedMemory::new(8);
    let (input, inout) = (UserMemory::of(&mut memory), UserMemory::of(&mut memory).offset(4));
    input.store([10i32, 4]);
    operation.check(&derived).unwrap();
    operation.apply(&derived, MPI_Datatype(77), input, inout, 3).unwrap();
    assert_eq!((inout.load::<i32>(), operation.is_commutative()), (6, false));
    let sum = Operation::Predefined(Operator::Sum);
    assert_eq!(sum.check(&derived).unwrap_err().class, MPI_ERR_OP);
    assert_eq!(sum.check(Datatype::predefined(MPI_WCHAR).unwrap()).unwrap_err().class, MPI_ERR_OP);
    sum.check(&Datatype::f90_real(6, 30).unwrap()).unwrap();
}
