//! `MPI_MAXLOC` and `MPI_MINLOC` (MPI 5.0, section 6.9.4).
//!
//! The elements are pairs (value, index) that lie as C structures do. Members are read and written one by one: the gaps
//! between them are not ours to touch. Of equal values the lower index wins.

use super::Operator;
use super::arithmetic::Format;
use postrider_abi::predefined::{FloatFormat, PairMember};
use postrider_os::long_double::{Binary128, LongDouble};
use postrider_os::memory::{Plain, UserMemory};

/// Where the members of a pair and the next pair are.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub index_offset: usize,
    pub extent: usize,
}

/// Combines arrays of pairs with these members.
pub(super) fn apply(
    operator: Operator,
    members: (PairMember, PairMember),
    places: Places,
    input: UserMemory,
    inout: UserMemory,
    count: usize,
) {
    use FloatFormat::{Double, Quad, Single};
    use PairMember::{Float, Integer};
    let all = (operator, places, input, inout, count);
    match members {
        (Integer { bytes: 2 }, _) => pairs::<i16, i32>(all, |a, b| a > b),
        (Integer { bytes: 4 }, _) => pairs::<i32, i32>(all, |a, b| a > b),
        (Integer { .. }, _) => pairs::<i64, i32>(all, |a, b| a > b),
        (Float(Single), Float(_)) => pairs::<f32, f32>(all, |a, b| a > b),
        (Float(Single), _) => pairs::<f32, i32>(all, |a, b| a > b),
        (Float(Double), Float(_)) => pairs::<f64, f64>(all, |a, b| a > b),
        (Float(Double), _) => pairs::<f64, i32>(all, |a, b| a > b),
        (Float(Quad), _) => pairs::<Binary128, i32>(all, Binary128::greater),
        (Float(_), _) => pairs::<LongDouble, i32>(all, LongDouble::greater),
    }
}

fn pairs<V: Plain, I: Plain + PartialOrd>(
    (operator, places, input, inout, count): (Operator, Places, UserMemory, UserMemory, usize),
    greater: impl Fn(V, V) -> bool,
) {
    let better = |a: V, b: V| if operator == Operator::Maxloc { greater(a, b) } else { greater(b, a) };
    for element in 0..count {
        let at = (element * places.extent) as i64;
        let (from, to) = (input.offset(at), inout.offset(at));
        let (from_index, to_index) =
            (from.offset(places.index_offset as i64), to.offset(places.index_offset as i64));
        let (a, b) = (from.load::<V>(), to.load::<V>());
        let (i, j) = (from_index.load::<I>(), to_index.load::<I>());
        let wins = better(a, b) || (!better(b, a) && i < j);
        if wins {
            to.store(a);
            to_index.store(i);
        }
    }
}
