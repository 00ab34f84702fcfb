//! The operators on numbers, truth values and bits.
//!
//! A [`Format`] is how a number lies in memory and what it is computed as; the loops are written once for all formats and
//! compiled once for each. `Operator::is_allowed` has been asked before, so what is not in the standard's tables does
//! not come here.

use super::Operator;
use super::half;
use postrider_abi::predefined::{BasicKind, FloatFormat};
use postrider_os::long_double::{Binary128, LongDouble};
use postrider_os::memory::{Plain, UserMemory};
use std::cmp::Ordering;
use std::ops::{BitAnd, BitOr, BitXor};

/// A floating-point format.
pub(super) trait Format {
    /// What lies in memory.
    type Bits: Plain;
    /// What is computed with.
    type Number: Copy;

    fn decode(bits: Self::Bits) -> Self::Number;
    fn encode(number: Self::Number) -> Self::Bits;
    fn sum(a: Self::Number, b: Self::Number) -> Self::Number;
    fn difference(a: Self::Number, b: Self::Number) -> Self::Number;
    fn product(a: Self::Number, b: Self::Number) -> Self::Number;
    fn greater(a: Self::Number, b: Self::Number) -> bool;
}

/// IEEE binary16, computed as binary32.
pub(super) struct Half;

impl Format for Half {
    type Bits = u16;
    type Number = f32;

    #[inline]
    fn decode(bits: u16) -> f32 {
        half::to_f32(bits)
    }
    #[inline]
    fn encode(number: f32) -> u16 {
        half::from_f32(number)
    }
    #[inline]
    fn sum(a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline]
    fn difference(a: f32, b: f32) -> f32 {
        a - b
    }
    #[inline]
    fn product(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline]
    fn greater(a: f32, b: f32) -> bool {
        a > b
    }
}

/// Formats that are computed with as they lie in memory.
macro_rules! direct {
    ($name:ident, $sum:expr, $difference:expr, $product:expr, $greater:expr) => {
        impl Format for $name {
            type Bits = Self;
            type Number = Self;

            #[inline]
            fn decode(bits: Self) -> Self {
                bits
            }
            #[inline]
            fn encode(number: Self) -> Self {
                number
            }
            #[inline]
            fn sum(a: Self, b: Self) -> Self {
                $sum(a, b)
            }
            #[inline]
            fn difference(a: Self, b: Self) -> Self {
                $difference(a, b)
            }
            #[inline]
            fn product(a: Self, b: Self) -> Self {
                $product(a, b)
            }
            #[inline]
            fn greater(a: Self, b: Self) -> bool {
                $greater(a, b)
            }
        }
    };
}

direct!(f32, |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a > b);
direct!(f64, |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a > b);
direct!(LongDouble, Self::add, Self::subtract, Self::multiply, |a: Self, b| {
    a.compare(b) == Some(Ordering::Greater)
});
#[cfg(target_arch = "x86_64")]
direct!(Binary128, Self::add, Self::subtract, Self::multiply, |a: Self, b| {
    a.compare(b) == Some(Ordering::Greater)
});

/// An integer type of the machine; sums and products wrap.
trait Integer:
    Plain + Ord + From<bool> + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;

    /// Whether this is true to C and Fortran.
    #[inline]
    fn truth(self) -> bool {
        self != Self::from(false)
    }
}

macro_rules! integers {
    ($($name:ty)*) => {
        $(
            impl Integer for $name {
                #[inline]
                fn sum(self, other: Self) -> Self {
                    self.wrapping_add(other)
                }
                #[inline]
                fn product(self, other: Self) -> Self {
                    self.wrapping_mul(other)
                }
            }
        )*
    };
}

integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64);

/// Combines dense arrays of a class that is neither pair nor without operators.
pub(super) fn apply(
    operator: Operator,
    class: BasicKind,
    input: UserMemory,
    inout: UserMemory,
    count: usize,
) {
    match class {
        BasicKind::Integer { signed: true, bytes, .. } | BasicKind::Logical { bytes } => match bytes {
            1 => integer::<i8>(operator, input, inout, count),
            2 => integer::<i16>(operator, input, inout, count),
            4 => integer::<i32>(operator, input, inout, count),
            8 => integer::<i64>(operator, input, inout, count),
            _ => integer::<i128>(operator, input, inout, count),
        },
        BasicKind::Integer { signed: false, bytes, .. } => match bytes {
            1 => integer::<u8>(operator, input, inout, count),
            2 => integer::<u16>(operator, input, inout, count),
            4 => integer::<u32>(operator, input, inout, count),
            _ => integer::<u64>(operator, input, inout, count),
        },
        BasicKind::Byte => integer::<u8>(operator, input, inout, count),
        BasicKind::Float(format) => match format {
            FloatFormat::Half => real::<Half>(operator, input, inout, count),
            FloatFormat::Single => real::<f32>(operator, input, inout, count),
            FloatFormat::Double => real::<f64>(operator, input, inout, count),
            FloatFormat::LongDouble => real::<LongDouble>(operator, input, inout, count),
            FloatFormat::Quad => real::<Binary128>(operator, input, inout, count),
        },
        BasicKind::Complex(format) => match format {
            FloatFormat::Half => complex::<Half>(operator, input, inout, count),
            FloatFormat::Single => complex::<f32>(operator, input, inout, count),
            FloatFormat::Double => complex::<f64>(operator, input, inout, count),
            FloatFormat::LongDouble => complex::<LongDouble>(operator, input, inout, count),
            FloatFormat::Quad => complex::<Binary128>(operator, input, inout, count),
        },
        BasicKind::Char | BasicKind::WideChar | BasicKind::Packed | BasicKind::Pair { .. } => {
            unreachable!("{operator} on {class:?} is not allowed")
        }
    }
}

fn integer<T: Integer>(operator: Operator, input: UserMemory, inout: UserMemory, count: usize) {
    let all = (input, inout, count);
    match operator {
        Operator::Sum => zip::<T>(all, T::sum),
        Operator::Prod => zip::<T>(all, T::product),
        Operator::Max => zip::<T>(all, T::max),
        Operator::Min => zip::<T>(all, T::min),
        Operator::Band => zip::<T>(all, |a, b| a & b),
        Operator::Bor => zip::<T>(all, |a, b| a | b),
        Operator::Bxor => zip::<T>(all, |a, b| a ^ b),
        Operator::Land => zip::<T>(all, |a, b| T::from(a.truth() & b.truth())),
        Operator::Lor => zip::<T>(all, |a, b| T::from(a.truth() | b.truth())),
        Operator::Lxor => zip::<T>(all, |a, b| T::from(a.truth() ^ b.truth())),
        _ => unreachable!("{operator} on integers is not allowed"),
    }
}

fn real<F: Format>(operator: Operator, input: UserMemory, inout: UserMemory, count: usize) {
    let all = (input, inout, count);
    match operator {
        Operator::Sum => zip(all, |a, b| F::encode(F::sum(F::decode(a), F::decode(b)))),
        Operator::Prod => zip(all, |a, b| F::encode(F::product(F::decode(a), F::decode(b)))),
        Operator::Max => zip(all, |a, b| if F::greater(F::decode(a), F::decode(b)) { a } else { b }),
        Operator::Min => zip(all, |a, b| if F::greater(F::decode(b), F::decode(a)) { a } else { b }),
        _ => unreachable!("{operator} on floating-point numbers is not allowed"),
    }
}

fn complex<F: Format>(operator: Operator, input: UserMemory, inout: UserMemory, count: usize) {
    match operator {
        Operator::Sum => real::<F>(operator, input, inout, 2 * count),
        Operator::Prod => zip((input, inout, count), |a: [F::Bits; 2], b| {
            let ([a, b], [c, d]) = (a.map(F::decode), b.map(F::decode));
            let real = F::difference(F::product(a, c), F::product(b, d));
            let imaginary = F::sum(F::product(a, d), F::product(b, c));
            [F::encode(real), F::encode(imaginary)]
        }),
        _ => unreachable!("{operator} on complex numbers is not allowed"),
    }
}

#[inline]
fn zip<T: Plain>((input, inout, count): (UserMemory, UserMemory, usize), combine: impl Fn(T, T) -> T) {
    UserMemory::zip_apply(input, inout, count, combine);
}
