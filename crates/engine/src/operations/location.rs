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
    let (value, index) = members;
    let all = (operator, places, input, inout, count);
    match value {
        Integer { bytes: 1, signed: true, .. } => with_value::<i8>(all, index, |a, b| a > b),
        Integer { bytes: 1, .. } => with_value::<u8>(all, index, |a, b| a > b),
        Integer { bytes: 2, signed: true, .. } => with_value::<i16>(all, index, |a, b| a > b),
        Integer { bytes: 2, .. } => with_value::<u16>(all, index, |a, b| a > b),
        Integer { bytes: 4, signed: true, .. } => with_value::<i32>(all, index, |a, b| a > b),
        Integer { bytes: 4, .. } => with_value::<u32>(all, index, |a, b| a > b),
        Integer { signed: true, .. } => with_value::<i64>(all, index, |a, b| a > b),
        Integer { .. } => with_value::<u64>(all, index, |a, b| a > b),
        Float(Single) => with_value::<f32>(all, index, |a, b| a > b),
        Float(Double) => with_value::<f64>(all, index, |a, b| a > b),
        Float(Quad) => with_value::<Binary128>(all, index, Binary128::greater),
        Float(_) => with_value::<LongDouble>(all, index, LongDouble::greater),
    }
}

/// The same for values of one type.
fn with_value<V: Plain>(
    all: (Operator, Places, UserMemory, UserMemory, usize),
    index: PairMember,
    greater: impl Fn(V, V) -> bool,
) {
    use PairMember::{Float, Integer};
    match index {
        Integer { bytes: 1, signed: true, .. } => pairs::<V, i8>(all, greater),
        Integer { bytes: 1, .. } => pairs::<V, u8>(all, greater),
        Integer { bytes: 2, signed: true, .. } => pairs::<V, i16>(all, greater),
        Integer { bytes: 2, .. } => pairs::<V, u16>(all, greater),
        Integer { bytes: 4, signed: true, .. } => pairs::<V, i32>(all, greater),
        Integer { bytes: 4, .. } => pairs::<V, u32>(all, greater),
        Integer { signed: true, .. } => pairs::<V, i64>(all, greater),
        Integer { .. } => pairs::<V, u64>(all, greater),
        Float(FloatFormat::Single) => pairs::<V, f32>(all, greater),
        Float(_) => pairs::<V, f64>(all, greater),
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
