//! Arithmetic in the two 16-byte formats of floating point, which Rust has no stable types for.
//!
//! [`Binary128`] is IEEE 754 binary128 (Fortran `real(16)`), computed with integers and rounded to the nearest, ties to
//! even. [`LongDouble`] is what C calls `long double`: on x86-64 the 80-bit extended format, computed by the x87 itself
//! so that results are those of a C program bit by bit; elsewhere binary128. Only what reductions need is here: sum,
//! difference, product and order.

#![allow(clippy::should_implement_trait)]

use crate::memory::Plain;
use std::cmp::Ordering;

/// An IEEE 754 binary128 number, as its bits.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Binary128(pub u128);

// SAFETY: it is a `u128`.
unsafe impl Plain for Binary128 {}

#[cfg(not(target_arch = "x86_64"))]
pub use Binary128 as LongDouble;

#[cfg(target_arch = "x86_64")]
pub use x87::LongDouble;

const FRACTION_BITS: u32 = 112;
const HIDDEN_BIT: u128 = 1 << FRACTION_BITS;
const FRACTION: u128 = HIDDEN_BIT - 1;
const EXPONENT_MAX: i32 = 0x7fff;
const BIAS: i32 = 0x3fff;
const SIGN: u128 = 1 << 127;
const INFINITY: u128 = (EXPONENT_MAX as u128) << FRACTION_BITS;
const NAN: u128 = INFINITY | 1 << (FRACTION_BITS - 1);
/// Bits kept below the fraction while a sum is rounded: guard, round and sticky.
const EXTRA_BITS: u32 = 3;

impl Binary128 {
    fn magnitude(self) -> u128 {
        self.0 & !SIGN
    }

    fn is_nan(self) -> bool {
        self.magnitude() > INFINITY
    }

    /// Exponent (at least 1) and significand, so that the value is `significand * 2^(exponent - BIAS - 112)`.
    fn parts(self) -> (i32, u128) {
        let exponent = (self.magnitude() >> FRACTION_BITS) as i32;
        let hidden = if exponent == 0 { 0 } else { HIDDEN_BIT };
        (exponent.max(1), self.0 & FRACTION | hidden)
    }

    /// The number with this sign and the value `significand * 2^(exponent - BIAS - 112 - EXTRA_BITS)`, rounded. The
    /// significand is less than `HIDDEN_BIT << (EXTRA_BITS + 2)`; its lowest bit stands for everything below it.
    fn rounded(sign: u128, mut exponent: i32, mut significand: u128) -> Self {
        if significand >> (FRACTION_BITS + EXTRA_BITS + 1) != 0 {
            significand = significand >> 1 | significand & 1;
            exponent += 1;
        }
        let top = FRACTION_BITS + EXTRA_BITS + 1;
        let up = (significand.leading_zeros() as i32 - (128 - top as i32)).clamp(0, exponent - 1);
        significand <<= up;
        exponent -= up;
        let rest = significand & ((1 << EXTRA_BITS) - 1);
        let mut result = significand >> EXTRA_BITS;
        result += u128::from(rest > 4 || (rest == 4 && result & 1 == 1));
        // Without its hidden bit the number is subnormal; a carry out of the fraction raises the exponent by itself.
        let bits = ((exponent as u128 - 1) << FRACTION_BITS) + result;
        Self(sign | bits.min(INFINITY))
    }

    /// The sum.
    #[must_use]
    pub fn add(self, other: Self) -> Self {
        if self.is_nan() || other.is_nan() {
            return Self(NAN);
        }
        let (large, small) =
            if self.magnitude() >= other.magnitude() { (self, other) } else { (other, self) };
        let opposite = (large.0 ^ small.0) & SIGN != 0;
        if large.magnitude() == INFINITY {
            return if opposite && small.magnitude() == INFINITY { Self(NAN) } else { large };
        }
        if opposite && large.magnitude() == small.magnitude() {
            return Self(0);
        }
        let ((exponent, a), (lower, b)) = (large.parts(), small.parts());
        let (a, b) = (a << EXTRA_BITS, shift_right_sticky(b << EXTRA_BITS, (exponent - lower) as u32));
        Self::rounded(large.0 & SIGN, exponent, if opposite { a - b } else { a + b })
    }

    /// The difference.
    #[must_use]
    pub fn subtract(self, other: Self) -> Self {
        self.add(Self(other.0 ^ SIGN))
    }

    /// The product.
    #[must_use]
    pub fn multiply(self, other: Self) -> Self {
        let sign = (self.0 ^ other.0) & SIGN;
        let (infinite, zero) = (
            self.magnitude() == INFINITY || other.magnitude() == INFINITY,
            self.magnitude() == 0 || other.magnitude() == 0,
        );
        if self.is_nan() || other.is_nan() || (infinite && zero) {
            return Self(NAN);
        }
        if infinite || zero {
            return Self(sign | if zero { 0 } else { INFINITY });
        }
        let ((mut exponent, a), (other_exponent, b)) = (self.normal_parts(), other.normal_parts());
        exponent += other_exponent - BIAS;
        // 113 by 113 bits give 225 or 226: the upper 117 of 226 are kept, and whether the others were zero.
        let (high, low) = wide_multiply(a, b);
        let kept = FRACTION_BITS - EXTRA_BITS;
        let mut significand = high << (128 - kept) | low >> kept;
        significand |= u128::from(low & ((1 << kept) - 1) != 0);
        if exponent < 1 {
            significand = shift_right_sticky(significand, (1 - exponent) as u32);
            exponent = 1;
        }
        if exponent >= EXPONENT_MAX {
            return Self(sign | INFINITY);
        }
        Self::rounded(sign, exponent, significand)
    }

    /// Like [`Self::parts`], with the highest bit of the significand in place for subnormal numbers, too.
    fn normal_parts(self) -> (i32, u128) {
        let (exponent, significand) = self.parts();
        let up = significand.leading_zeros() - HIDDEN_BIT.leading_zeros();
        (exponent - up as i32, significand << up)
    }

    /// The order of the numbers; none with a NaN.
    #[must_use]
    pub fn compare(self, other: Self) -> Option<Ordering> {
        if self.is_nan() || other.is_nan() {
            return None;
        }
        let key = |number: Self| {
            let magnitude = number.magnitude() as i128;
            if number.0 & SIGN == 0 { magnitude } else { -magnitude }
        };
        Some(key(self).cmp(&key(other)))
    }

    /// The number nearest to a double, which is exactly it.
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        let bits = value.to_bits();
        let (sign, exponent) = (u128::from(bits >> 63) << 127, (bits >> 52 & 0x7ff) as i32);
        let fraction = u128::from(bits & ((1 << 52) - 1)) << 60;
        match exponent {
            0x7ff => Self(sign | INFINITY | fraction),
            0 if fraction == 0 => Self(sign),
            0 => Self::rounded(sign, BIAS - 1022, fraction << EXTRA_BITS),
            _ => Self(sign | ((exponent - 1023 + BIAS) as u128) << FRACTION_BITS | fraction),
        }
    }
}

/// `value >> distance`, where the lowest bit of the result says whether any bit below was set.
fn shift_right_sticky(value: u128, distance: u32) -> u128 {
    match distance {
        0 => value,
        1..128 => value >> distance | u128::from(value << (128 - distance) != 0),
        _ => u128::from(value != 0),
    }
}

/// The 256 bits of a product, high and low.
fn wide_multiply(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, cross_a, cross_b) = (a_low * b_low, a_high * b_low, a_low * b_high);
    let middle = (low >> 64) + (cross_a & LOW) + (cross_b & LOW);
    let high = a_high * b_high + (cross_a >> 64) + (cross_b >> 64) + (middle >> 64);
    (high, middle << 64 | low & LOW)
}

#[cfg(target_arch = "x86_64")]
mod x87 {
    use crate::memory::Plain;
    use std::arch::asm;
    use std::cmp::Ordering;

    /// A `long double` of x86-64: 10 bytes of number, 6 of padding, which are copied as they are.
    #[derive(Clone, Copy, Debug)]
    #[repr(transparent)]
    pub struct LongDouble([u8; 16]);

    // SAFETY: it is an array of bytes.
    unsafe impl Plain for LongDouble {}

    /// One x87 instruction with two operands on the stack.
    macro_rules! binary {
        ($(#[$documentation:meta])* $name:ident $instruction:literal) => {
            $(#[$documentation])*
            #[inline]
            #[must_use]
            pub fn $name(self, other: Self) -> Self {
                let mut result = Self([0; 16]);
                // SAFETY: reads two and writes one 80-bit number that live on our stack; the x87 stack, which the
                // calling convention keeps empty, is left as it was.
                unsafe {
                    asm!(
                        "fld tbyte ptr [{a}]",
                        "fld tbyte ptr [{b}]",
                        $instruction,
                        "fstp tbyte ptr [{result}]",
                        a = in(reg) &raw const self,
                        b = in(reg) &raw const other,
                        result = in(reg) &raw mut result,
                        out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                        out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                        options(nostack),
                    );
                }
                result
            }
        };
    }

    impl LongDouble {
        binary! {
            /// The sum.
            add "faddp st(1), st"
        }
        binary! {
            /// The difference.
            subtract "fsubp st(1), st"
        }
        binary! {
            /// The product.
            multiply "fmulp st(1), st"
        }

        /// The order of the numbers; none with a NaN.
        #[inline]
        #[must_use]
        pub fn compare(self, other: Self) -> Option<Ordering> {
            let (above, below, unordered): (u8, u8, u8);
            // SAFETY: reads two 80-bit numbers that live on our stack; the x87 stack is left as it was.
            unsafe {
                asm!(
                    "fld tbyte ptr [{b}]",
                    "fld tbyte ptr [{a}]",
                    "fucomip st, st(1)",
                    "fstp st(0)",
                    "seta {above}",
                    "setb {below}",
                    "setp {unordered}",
                    a = in(reg) &raw const self,
                    b = in(reg) &raw const other,
                    above = out(reg_byte) above,
                    below = out(reg_byte) below,
                    unordered = out(reg_byte) unordered,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack, readonly),
                );
            }
            match (unordered, above, below) {
                (1, _, _) => None,
                (_, 1, _) => Some(Ordering::Greater),
                (_, _, 1) => Some(Ordering::Less),
                _ => Some(Ordering::Equal),
            }
        }

        /// The number that a double is.
        #[must_use]
        pub fn from_f64(value: f64) -> Self {
            let mut result = Self([0; 16]);
            // SAFETY: reads one double and writes one 80-bit number that live on our stack; the x87 stack is left as
            // it was.
            unsafe {
                asm!(
                    "fld qword ptr [{value}]",
                    "fstp tbyte ptr [{result}]",
                    value = in(reg) &raw const value,
                    result = in(reg) &raw mut result,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
            result
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Binary128, INFINITY, LongDouble, NAN};
    use proptest::prelude::*;
    use std::cmp::Ordering;

    /// Checks that all results of doubles whose exact result is a double are that double.
    macro_rules! exact {
        ($number:ident, $a:expr, $b:expr) => {
            let (a, b) = ($number::from_f64(f64::from($a)), $number::from_f64(f64::from($b)));
            let same = |x: $number, y: f64| x.compare($number::from_f64(y)) == Some(Ordering::Equal);
            let (x, y) = (f64::from($a), f64::from($b));
            // The product of two 24-bit significands fits 53 bits; sums are checked with integers.
            prop_assert!(same(a.multiply(b), x * y));
            let (x, y) = (f64::from($a.to_bits() as i32), f64::from($b.to_bits() as i32));
            let (a, b) = ($number::from_f64(x), $number::from_f64(y));
            prop_assert!(same(a.add(b), x + y) && same(a.subtract(b), x - y));
            prop_assert_eq!(a.compare(b), x.partial_cmp(&y));
        };
    }

    proptest! {
        #[test]
        fn exact_results_are_exact(a in any::<f32>(), b in any::<f32>()) {
            exact!(Binary128, a, b);
            exact!(LongDouble, a, b);
        }

        #[test]
        fn sums_undo_differences(a in any::<f64>(), b in any::<f64>(), scale in 0u32..60) {
            // Both have 53 bits, so with exponents less than 60 apart binary128 holds sum and difference exactly.
            let b = a * (b.fract() + 1.0) / (1u64 << scale) as f64;
            let (a, b) = (Binary128::from_f64(a), Binary128::from_f64(b));
            prop_assume!(a.0 & INFINITY != 0 && b.0 & INFINITY != 0);
            let back = a.add(b).subtract(b);
            prop_assert_eq!(back.compare(a), Some(Ordering::Equal));
        }
    }

    #[test]
    fn binary128_rounds_to_nearest_even_and_knows_its_limits() {
        let one = Binary128::from_f64(1.0);
        let ulp_half = Binary128((0x3fff - 113) << 112);
        assert_eq!(one.add(ulp_half).0, one.0, "a tie goes to the even neighbour");
        let odd = Binary128(one.0 | 1);
        assert_eq!(odd.add(ulp_half).0, one.0 + 2, "a tie goes to the even neighbour");
        assert_eq!(one.subtract(Binary128((0x3fff - 114) << 112)).0, one.0);
        let greatest = Binary128(INFINITY - 1);
        assert_eq!(greatest.add(greatest).0, INFINITY);
        assert_eq!(greatest.multiply(Binary128::from_f64(-2.0)).0, INFINITY | 1 << 127);
        let least = Binary128(1);
        assert_eq!(least.add(least).0, 2);
        assert_eq!(least.multiply(Binary128::from_f64(0.5)).0, 0);
        assert_eq!(least.multiply(Binary128::from_f64(0.75)).0, 1);
        let least_normal = Binary128(1 << 112);
        assert_eq!(least_normal.subtract(least).0, (1 << 112) - 1);
        assert_eq!(least_normal.multiply(Binary128::from_f64(0.5)).0, 1 << 111);
        assert_eq!(least.multiply(Binary128((0x3fff + 112) << 112)).0, 1 << 112);
        assert_eq!(Binary128(INFINITY).subtract(Binary128(INFINITY)).0, NAN);
        assert_eq!(Binary128(INFINITY).multiply(Binary128(0)).0, NAN);
        assert_eq!(Binary128(NAN).compare(one), None);
        assert_eq!(Binary128::from_f64(f64::MIN_POSITIVE / 2.0).0, (0x3fff - 1023) << 112);
    }

    #[test]
    fn long_doubles_are_longer_than_doubles() {
        let (one, tiny) = (LongDouble::from_f64(1.0), LongDouble::from_f64(2f64.powi(-60)));
        assert_eq!(one.add(tiny).compare(one), Some(Ordering::Greater));
        assert_eq!(one.add(tiny).subtract(one).compare(tiny), Some(Ordering::Equal));
        assert_eq!(one.compare(LongDouble::from_f64(f64::NAN)), None);
        assert_eq!(tiny.compare(one), Some(Ordering::Less));
    }
}
