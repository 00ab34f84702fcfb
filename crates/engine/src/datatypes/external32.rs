//! The portable representation "external32" (MPI 5.0, sections 5.3 and 14.5.2).
//!
//! Every basic type has a fixed length there, big-endian byte order and IEEE formats. A buffer is converted in two steps:
//! packed in the representation of this machine, a piece at a time (`packing`), then converted run by run along the
//! signature. Lengths differ for three types only: `long` has 4 bytes and `wchar_t` 2, so a value can fail to fit, which
//! is `MPI_ERR_CONVERSION`; and the x87 `long double` becomes IEEE binary128, which holds it exactly.

use super::packing::{pack_range, pack_size, unpack_range};
use super::{Datatype, Kind};
use crate::error::{Error, Result};
use postrider_abi::predefined::{BasicKind, FloatFormat, PairMember};
use postrider_abi::{MPI_ERR_ARG, MPI_ERR_CONVERSION, MPI_ERR_TRUNCATE};
use postrider_os::memory::UserMemory;
use std::ops::ControlFlow;

/// Native data is converted in pieces of about this length.
const PIECE_BYTES: usize = 16 * 1024;

/// One basic element on either side: its lengths here and there, and how the bytes relate.
#[derive(Clone, Copy)]
struct Element {
    native: usize,
    external: usize,
    conversion: Conversion,
}

#[derive(Clone, Copy, PartialEq)]
enum Conversion {
    /// The bytes in reverse order; signed integers of another length are extended or cut.
    Swap { signed: bool },
    /// x87 extended precision here, binary128 there.
    LongDouble,
}

/// The basic elements of one element of `kind`: one, or two for complex numbers and pairs.
fn elements(kind: Kind) -> ([Element; 2], usize) {
    let swap = |native: usize, external: usize, signed: bool| Element {
        native,
        external,
        conversion: Conversion::Swap { signed },
    };
    let float = |format: FloatFormat| {
        let element = swap(format.bytes(), format.bytes(), false);
        if format == FloatFormat::LongDouble && cfg!(target_arch = "x86_64") {
            return Element { conversion: Conversion::LongDouble, ..element };
        }
        element
    };
    let row = kind.row();
    match row.kind {
        BasicKind::Integer { signed, .. } => ([swap(row.size, row.external32, signed); 2], 1),
        BasicKind::Float(format) => ([float(format); 2], 1),
        BasicKind::Complex(format) => ([float(format); 2], 2),
        BasicKind::Pair { value, index, .. } => {
            let member = |member: PairMember, external: usize| match member {
                PairMember::Integer { bytes } => swap(bytes, external, true),
                PairMember::Float(format) => float(format),
            };
            let value_external = row.external32 - index.bytes();
            ([member(value, value_external), member(index, index.bytes())], 2)
        }
        BasicKind::Logical { .. }
        | BasicKind::Byte
        | BasicKind::Char
        | BasicKind::WideChar
        | BasicKind::Packed => ([swap(row.size, row.external32, false); 2], 1),
    }
}

/// The bytes of `count` elements in external32: `MPI_Pack_external_size`.
///
/// # Errors
/// `MPI_ERR_ARG` if that is more than 2^63.
pub fn pack_external_size(datatype: &Datatype, count: i64) -> Result<i64> {
    let each = datatype.signature().weigh(&|kind| kind.row().external32 as u64);
    let all = each.and_then(|each| each.checked_mul(count.max(0) as u64));
    all.and_then(|bytes| i64::try_from(bytes).ok()).ok_or_else(|| {
        Error::new(MPI_ERR_ARG, format!("{count} elements have more than 2^63 bytes in external32"))
    })
}

/// Packs `count` elements in external32 into the front of `out`; returns the bytes written: `MPI_Pack_external`.
///
/// # Errors
/// `MPI_ERR_TRUNCATE` if `out` is too short, `MPI_ERR_CONVERSION` if a value does not fit its external length.
pub fn pack_external(datatype: &Datatype, count: i64, base: UserMemory, out: &mut [u8]) -> Result<usize> {
    let bytes = fitting(datatype, count, out.len())?;
    let (mut written, mut native) = (0, Vec::new());
    for_each_piece(datatype, count, &mut |offset, kind, pieces| {
        native.resize(kind.size() * pieces, 0);
        pack_range(datatype, count, base, offset, &mut native);
        let external = &mut out[written..written + kind.row().external32 * pieces];
        written += external.len();
        convert(kind, Direction::ToExternal, &native, external)
    })?;
    Ok(bytes)
}

/// Unpacks `count` elements in external32 from the front of `data`; returns the bytes read: `MPI_Unpack_external`.
///
/// # Errors
/// `MPI_ERR_TRUNCATE` if `data` is too short, `MPI_ERR_CONVERSION` if a value does not fit its length here.
pub fn unpack_external(datatype: &Datatype, count: i64, base: UserMemory, data: &[u8]) -> Result<usize> {
    let bytes = fitting(datatype, count, data.len())?;
    let (mut read, mut native) = (0, Vec::new());
    for_each_piece(datatype, count, &mut |offset, kind, pieces| {
        native.resize(kind.size() * pieces, 0);
        let external = &data[read..read + kind.row().external32 * pieces];
        read += external.len();
        convert(kind, Direction::FromExternal, external, &mut native)?;
        unpack_range(datatype, count, base, offset, &native);
        Ok(())
    })?;
    Ok(bytes)
}

/// The external bytes of `count` elements, if `room` is enough.
fn fitting(datatype: &Datatype, count: i64, room: usize) -> Result<usize> {
    let bytes = pack_external_size(datatype, count)?;
    match usize::try_from(bytes) {
        Ok(bytes) if bytes <= room => Ok(bytes),
        _ => {
            let detail =
                format!("{count} elements have {bytes} bytes in external32, but the buffer has {room}");
            Err(Error::new(MPI_ERR_TRUNCATE, detail))
        }
    }
}

/// Calls `visit(offset in the native packed stream, kind, elements)` along the signature of `count` elements.
fn for_each_piece(
    datatype: &Datatype,
    count: i64,
    visit: &mut dyn FnMut(u64, Kind, usize) -> Result<()>,
) -> Result<()> {
    if pack_size(datatype, count) == 0 {
        return Ok(());
    }
    let mut offset = 0;
    let all = datatype.signature().repeat(count as u64);
    let end = all.for_each_run(&mut |kind, elements| {
        let mut left = elements;
        while left > 0 {
            let pieces = left.min((PIECE_BYTES / kind.size()) as u64);
            if let Err(error) = visit(offset, kind, pieces as usize) {
                return ControlFlow::Break(error);
            }
            offset += pieces * kind.size() as u64;
            left -= pieces;
        }
        ControlFlow::Continue(())
    });
    match end {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    ToExternal,
    FromExternal,
}

/// Converts whole elements of `kind`.
fn convert(kind: Kind, direction: Direction, mut from: &[u8], mut to: &mut [u8]) -> Result<()> {
    let (elements, members) = elements(kind);
    while !from.is_empty() {
        for element in &elements[..members] {
            let (take, put) = match direction {
                Direction::ToExternal => (element.native, element.external),
                Direction::FromExternal => (element.external, element.native),
            };
            let (piece, rest) = from.split_at(take);
            let (place, room) = std::mem::take(&mut to).split_at_mut(put);
            element.convert(direction, piece, place).map_err(|()| {
                let detail = format!("a value of type {kind:?} does not fit the other side of external32");
                Error::new(MPI_ERR_CONVERSION, detail)
            })?;
            (from, to) = (rest, room);
        }
    }
    Ok(())
}

impl Element {
    /// Converts one basic element; fails if the value does not fit.
    fn convert(self, direction: Direction, from: &[u8], to: &mut [u8]) -> std::result::Result<(), ()> {
        match (self.conversion, direction) {
            (Conversion::LongDouble, Direction::ToExternal) => {
                let x87 = u128::from_le_bytes(from.try_into().expect("a long double has 16 bytes"));
                to.copy_from_slice(&binary128_of_x87(x87).to_be_bytes());
            }
            (Conversion::LongDouble, Direction::FromExternal) => {
                let quad = u128::from_be_bytes(from.try_into().expect("a binary128 has 16 bytes"));
                to.copy_from_slice(&x87_of_binary128(quad).to_le_bytes());
            }
            (Conversion::Swap { signed }, _) => {
                let big_endian = cfg!(target_endian = "big");
                let mut value = [0; 16];
                value[..from.len()].copy_from_slice(from);
                if big_endian || direction == Direction::FromExternal {
                    value[..from.len()].reverse();
                }
                if from.len() != to.len() {
                    value = integer_of_length(value, from.len(), to.len(), signed).ok_or(())?;
                }
                to.copy_from_slice(&value[..to.len()]);
                if big_endian || direction == Direction::ToExternal {
                    to.reverse();
                }
            }
        }
        Ok(())
    }
}

/// A little-endian integer of `from` bytes as one of `to` bytes, if it fits.
fn integer_of_length(value: [u8; 16], from: usize, to: usize, signed: bool) -> Option<[u8; 16]> {
    let extended = |value: i128, bytes: usize| {
        let unused = 128 - 8 * bytes as u32;
        if signed { value << unused >> unused } else { ((value as u128) << unused >> unused) as i128 }
    };
    let value = extended(i128::from_le_bytes(value), from);
    (extended(value, to) == value).then(|| value.to_le_bytes())
}

/// The exponent of infinities and NaNs in both 16-byte formats.
const EXPONENT_MAX: u128 = 0x7fff;
/// How many more fraction bits binary128 has.
const MORE_BITS: u32 = 49;
/// The x87's explicit bit before the binary point.
const INTEGER_BIT: u128 = 1 << 63;

/// x87 extended precision as IEEE binary128: exact, since both have the same exponents.
fn binary128_of_x87(x87: u128) -> u128 {
    let (sign, exponent, mantissa) = (x87 >> 79 & 1, x87 >> 64 & EXPONENT_MAX, x87 & u128::from(u64::MAX));
    let fraction = if exponent == 0 { mantissa } else { mantissa & !INTEGER_BIT };
    (sign << 127) | ((exponent << 112) + (fraction << MORE_BITS))
}

/// IEEE binary128 as x87 extended precision, rounded to the nearest, ties to even.
fn x87_of_binary128(quad: u128) -> u128 {
    let (sign, exponent, fraction) = (quad >> 127, quad >> 112 & EXPONENT_MAX, quad & ((1 << 112) - 1));
    let with_sign = |exponent: u128, mantissa: u128| sign << 79 | exponent << 64 | mantissa;
    if exponent == EXPONENT_MAX {
        let quiet = u128::from(fraction != 0) << 62;
        return with_sign(EXPONENT_MAX, INTEGER_BIT | quiet | fraction >> MORE_BITS);
    }
    let whole = fraction | u128::from(exponent != 0) << 112;
    let (half, lost) = (1 << (MORE_BITS - 1), whole & ((1 << MORE_BITS) - 1));
    let mut mantissa = whole >> MORE_BITS;
    mantissa += u128::from(lost > half || (lost == half && mantissa & 1 == 1));
    let mut exponent = exponent.max(1);
    if mantissa > u128::from(u64::MAX) {
        (mantissa, exponent) = (INTEGER_BIT, exponent + 1);
    }
    match (exponent, mantissa & INTEGER_BIT) {
        (_, 0) => with_sign(0, mantissa),
        (EXPONENT_MAX, _) => with_sign(EXPONENT_MAX, INTEGER_BIT),
        _ => with_sign(exponent, mantissa),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_doubles_become_binary128_and_come_back() {
        let one = 0x3fff_8000_0000_0000_0000;
        assert_eq!(binary128_of_x87(one), 0x3fff << 112);
        let minus_three = 0xc000_c000_0000_0000_0000;
        assert_eq!(binary128_of_x87(minus_three), 0xc000_8000 << 96);
        let (infinity, least) = (0x7fff_8000_0000_0000_0000, 1);
        let greatest = 0x7ffe_ffff_ffff_ffff_ffff;
        for value in [0, one, minus_three, infinity, least, greatest, 1 << 79, 0x3ffb_cccc_cccc_cccc_cccd] {
            assert_eq!(x87_of_binary128(binary128_of_x87(value)), value, "{value:#x}");
        }
        let beyond = (0x7ffe << 112) | ((1 << 112) - 1);
        assert_eq!(x87_of_binary128(beyond), infinity);
        let halfway_to_even = (0x3fff << 112) | (1 << 48);
        assert_eq!(x87_of_binary128(halfway_to_even), one);
    }

    #[test]
    fn integers_change_length_only_if_they_fit() {
        let bytes = |value: i64| i128::from(value).to_le_bytes();
        let to_4 = |value, signed| integer_of_length(bytes(value), 8, 4, signed).map(i128::from_le_bytes);
        assert_eq!(to_4(-5, true), Some(-5));
        assert_eq!(to_4(1 << 31, true), None);
        assert_eq!(to_4(1 << 31, false), Some(1 << 31));
        assert_eq!(to_4(1 << 32, false), None);
    }
}
