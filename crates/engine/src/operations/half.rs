//! IEEE 754 binary16, computed in binary32: sums and products of two rounded twice that way are rounded right.

/// The value of a binary16 number.
#[inline]
pub(super) fn to_f32(bits: u16) -> f32 {
    let (sign, magnitude) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff));
    match magnitude {
        0x7c00.. => f32::from_bits(sign | 0x7f80_0000 | (magnitude & 0x3ff) << 13),
        0x0400.. => f32::from_bits(sign | ((magnitude << 13) + ((127 - 15) << 23))),
        _ => {
            let value = magnitude as f32 / (1 << 24) as f32;
            if sign == 0 { value } else { -value }
        }
    }
}

/// The binary16 number nearest to `value`, ties to even.
#[inline]
pub(super) fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, magnitude) = ((bits >> 16 & 0x8000) as u16, bits & 0x7fff_ffff);
    let rounded = |number: u32, lost_bits: u32| {
        let (half, lost) = (1 << (lost_bits - 1), number & ((1 << lost_bits) - 1));
        let kept = number >> lost_bits;
        kept + u32::from(lost > half || (lost == half && kept & 1 == 1))
    };
    let result = match magnitude {
        0x7f80_0001.. => 0x7e00,
        // From 65520 on, the nearest is infinity.
        0x477f_f000.. => 0x7c00,
        // A carry out of the fraction raises the exponent by itself.
        0x3880_0000.. => rounded(magnitude - ((127 - 15) << 23), 13),
        // Multiples of 2^-24; less than half of the least is zero.
        0x3300_0000.. => {
            let significand = magnitude & 0x7f_ffff | 0x80_0000;
            rounded(significand, 126 - (magnitude >> 23))
        }
        _ => 0,
    };
    sign | result as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        for bits in 0..=u16::MAX {
            let value = to_f32(bits);
            let back = from_f32(value);
            assert!(back == bits || value.is_nan(), "{bits:#x} came back as {back:#x}");
        }
        assert!(to_f32(from_f32(f32::NAN)).is_nan());
    }

    #[test]
    fn values_round_to_the_nearest_and_ties_to_even() {
        for bits in 0..0x7bff {
            let (low, high) = (to_f32(bits), to_f32(bits + 1));
            let middle = (low + high) / 2.0;
            assert_eq!(from_f32(middle), bits + (bits & 1), "between {low} and {high}");
            assert_eq!(from_f32(middle.next_down()), bits);
            assert_eq!(from_f32(middle.next_up()), bits + 1);
        }
        assert_eq!(from_f32(65519.9), 0x7bff);
        assert_eq!(from_f32(65520.0), 0x7c00);
        assert_eq!(to_f32(0x3c00), 1.0);
        assert_eq!(to_f32(0x0001), 2f32.powi(-24));
    }
}
