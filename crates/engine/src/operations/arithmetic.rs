//! The operators on numbers, truth values and bits.
//!
//! A [`Format`] is how a number lies in memory and what it is computed as; the loops are written once for all formats and
//! compiled once for each. Which loop is whose is known when this is compiled.

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

/// Combines dense arrays of a class: `inout = input op inout` for each of so many elements.
pub(super) type Loop = fn(UserMemory, UserMemory, usize);

/// The loop of an operator for a class; none for what is not allowed, and for pairs, `MPI_REPLACE` and `MPI_NO_OP`, which are no arithmetic.
pub(super) const fn loop_of(operator: Operator, class: BasicKind) -> Option<Loop> {
    match class {
        BasicKind::Integer { signed: true, bytes, .. } | BasicKind::Logical { bytes } => match bytes {
            1 => integer::<i8>(operator),
            2 => integer::<i16>(operator),
            4 => integer::<i32>(operator),
            8 => integer::<i64>(operator),
            _ => integer::<i128>(operator),
        },
        BasicKind::Integer { signed: false, bytes, .. } => match bytes {
            1 => integer::<u8>(operator),
            2 => integer::<u16>(operator),
            4 => integer::<u32>(operator),
            _ => integer::<u64>(operator),
        },
        BasicKind::Byte => integer::<u8>(operator),
        BasicKind::Float(format) => match format {
            FloatFormat::Half => real::<Half>(operator),
            FloatFormat::Single => real::<f32>(operator),
            FloatFormat::Double => real::<f64>(operator),
            FloatFormat::LongDouble => real::<LongDouble>(operator),
            FloatFormat::Quad => real::<Binary128>(operator),
        },
        BasicKind::Complex(format) => match format {
            FloatFormat::Half => complex::<Half>(operator),
            FloatFormat::Single => complex::<f32>(operator),
            FloatFormat::Double => complex::<f64>(operator),
            FloatFormat::LongDouble => complex::<LongDouble>(operator),
            FloatFormat::Quad => complex::<Binary128>(operator),
        },
        BasicKind::Char | BasicKind::WideChar | BasicKind::Packed | BasicKind::Pair { .. } => None,
    }
}

const fn integer<T: Integer>(operator: Operator) -> Option<Loop> {
    Some(match operator {
        Operator::Sum => |input, inout, count| zip::<T>(input, inout, count, T::sum),
        Operator::Prod => |input, inout, count| zip::<T>(input, inout, count, T::product),
        Operator::Max => |input, inout, count| zip::<T>(input, inout, count, T::max),
        Operator::Min => |input, inout, count| zip::<T>(input, inout, count, T::min),
        Operator::Band => |input, inout, count| zip::<T>(input, inout, count, |a, b| a & b),
        Operator::Bor => |input, inout, count| zip::<T>(input, inout, count, |a, b| a | b),
        Operator::Bxor => |input, inout, count| zip::<T>(input, inout, count, |a, b| a ^ b),
        Operator::Land => {
            |input, inout, count| zip::<T>(input, inout, count, |a, b| T::from(a.truth() & b.truth()))
        }
        Operator::Lor => {
            |input, inout, count| zip::<T>(input, inout, count, |a, b| T::from(a.truth() | b.truth()))
        }
        Operator::Lxor => {
            |input, inout, count| zip::<T>(input, inout, count, |a, b| T::from(a.truth() ^ b.truth()))
        }
        _ => return None,
    })
}

const fn real<F: Format>(operator: Operator) -> Option<Loop> {
    Some(match operator {
        Operator::Sum => sum::<F>,
        Operator::Prod => |input, inout, count| {
            zip(input, inout, count, |a, b| F::encode(F::product(F::decode(a), F::decode(b))));
        },
        Operator::Max => |input, inout, count| {
            zip(input, inout, count, |a, b| if F::greater(F::decode(a), F::decode(b)) { a } else { b });
        },
        Operator::Min => |input, inout, count| {
            zip(input, inout, count, |a, b| if F::greater(F::decode(b), F::decode(a)) { a } else { b });
        },
        _ => return None,
    })
}

const fn complex<F: Format>(operator: Operator) -> Option<Loop> {
    Some(match operator {
        Operator::Sum => |input, inout, count| sum::<F>(input, inout, 2 * count),
        Operator::Prod => |input, inout, count| {
            zip(input, inout, count, |a: [F::Bits; 2], b| {
                let ([a, b], [c, d]) = (a.map(F::decode), b.map(F::decode));
                let real = F::difference(F::product(a, c), F::product(b, d));
                let imaginary = F::sum(F::product(a, d), F::product(b, c));
                [F::encode(real), F::encode(imaginary)]
            });
        },
        _ => return None,
    })
}

fn sum<F: Format>(input: UserMemory, inout: UserMemory, count: usize) {
    zip(input, inout, count, |a, b| F::encode(F::sum(F::decode(a), F::decode(b))));
}

#[inline]
fn zip<T: Plain>(input: UserMemory, inout: UserMemory, count: usize, combine: impl Fn(T, T) -> T) {
    UserMemory::zip_apply(input, inout, count, combine);
}
