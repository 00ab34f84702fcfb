//! Damages: what may have happened to bytes or to a text on their way.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Damages of one input.
const DAMAGES_MAX: usize = 6;
/// Numbers that overflow, wrap, or are a length that cannot be.
const EXTREMES: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 40,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];
/// What a grammar may not expect.
const WORDS: [&str; 30] = [
    "0",
    "1",
    "-1",
    "+1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "1e9",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\0",
    ",",
    ":",
    ";",
    "=",
    "-",
    "[",
    "]",
    "(x",
    ")",
    "%",
    "\"",
    "../",
    "\u{1b}[2J",
    "é",
    "\u{202e}",
];

/// One damage to bytes; places are relative to the length that they have then.
#[derive(Clone, Debug)]
enum Damage {
    FlipBit(Index, u8),
    SetByte(Index, u8),
    /// A number of 1, 2, 4 or 8 bytes, one end first or the other, and how much it is off.
    SetNumber(Index, u64, u8, bool, i8),
    Cut(Index),
    Remove(Index, Index),
    Double(Index, Index),
    Insert(Index, Vec<u8>),
    /// The rest is that of another sample.
    Splice(Index, Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    prop_oneof![
        3 => (place(), 0_u8..8).prop_map(|(at, bit)| Damage::FlipBit(at, bit)),
        2 => (place(), any::<u8>()).prop_map(|(at, byte)| Damage::SetByte(at, byte)),
        5 => (place(), select(&EXTREMES[..]), 0_u8..4, any::<bool>(), -2_i8..3)
            .prop_map(|(at, number, width, swapped, off)| Damage::SetNumber(at, number, width, swapped, off)),
        2 => place().prop_map(Damage::Cut),
        1 => (place(), place()).prop_map(|(from, to)| Damage::Remove(from, to)),
        1 => (place(), place()).prop_map(|(from, to)| Damage::Double(from, to)),
        1 => (place(), vec(any::<u8>(), 1..17)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (place(), place(), place()).prop_map(|(at, sample, from)| Damage::Splice(at, sample, from)),
    ]
}

/// A range of places in `length` bytes.
fn range(from: Index, to: Index, length: usize) -> std::ops::Range<usize> {
    let (one, other) = (from.index(length + 1), to.index(length + 1));
    one.min(other)..one.max(other)
}

fn apply(damage: Damage, bytes: &mut Vec<u8>, samples: &[Vec<u8>]) {
    let length = bytes.len();
    match damage {
        Damage::Insert(at, inserted) => {
            let at = at.index(length + 1);
            bytes.splice(at..at, inserted);
        }
        Damage::Splice(at, sample, from) => {
            let other = &samples[sample.index(samples.len())];
            bytes.truncate(at.index(length + 1));
            bytes.extend_from_slice(&other[from.index(other.len() + 1)..]);
        }
        _ if bytes.is_empty() => {}
        Damage::FlipBit(at, bit) => bytes[at.index(length)] ^= 1 << bit,
        Damage::SetByte(at, byte) => bytes[at.index(length)] = byte,
        Damage::SetNumber(at, number, width, swapped, off) => {
            let width = 1 << width;
            let mut number = number.wrapping_add_signed(off.into()).to_le_bytes();
            if swapped {
                number[..width].reverse();
            }
            // Numbers mostly stand at multiples of their width.
            let at = at.index(length) / width * width;
            bytes[at..].iter_mut().zip(&number[..width]).for_each(|(byte, new)| *byte = *new);
        }
        Damage::Cut(at) => bytes.truncate(at.index(length)),
        Damage::Remove(from, to) => drop(bytes.drain(range(from, to, length))),
        Damage::Double(from, to) => {
            let range = range(from, to, length);
            let part = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, part);
        }
    }
}

/// Samples, more or less damaged.
pub fn bytes(samples: impl IntoIterator<Item = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let samples: Vec<Vec<u8>> = samples.into_iter().collect();
    let chosen = any::<Index>();
    (chosen, vec(damage(), 0..=DAMAGES_MAX)).prop_map(move |(chosen, damages)| {
        let mut bytes = samples[chosen.index(samples.len())].clone();
        damages.into_iter().for_each(|damage| apply(damage, &mut bytes, &samples));
        bytes
    })
}

/// One damage to a text, at places between letters.
#[derive(Clone, Debug)]
enum Typo {
    Insert(Index, &'static str),
    Letter(Index, char),
    Remove(Index, Index),
    Double(Index, Index),
    Repeat(Index, &'static str, usize),
    Splice(Index, Index, Index),
}

fn typo() -> impl Strategy<Value = Typo> {
    let (place, word) = (any::<Index>, || select(&WORDS[..]));
    prop_oneof![
        5 => (place(), word()).prop_map(|(at, word)| Typo::Insert(at, word)),
        2 => (place(), any::<char>()).prop_map(|(at, letter)| Typo::Letter(at, letter)),
        3 => (place(), place()).prop_map(|(from, to)| Typo::Remove(from, to)),
        2 => (place(), place()).prop_map(|(from, to)| Typo::Double(from, to)),
        1 => (place(), word(), 1_usize..300).prop_map(|(at, word, times)| Typo::Repeat(at, word, times)),
        1 => (place(), place(), place()).prop_map(|(at, sample, from)| Typo::Splice(at, sample, from)),
    ]
}

fn misspell(typo: Typo, text: &mut Vec<char>, samples: &[Vec<char>]) {
    let end = text.len() + 1;
    match typo {
        Typo::Insert(at, word) => drop(text.splice(at.index(end)..at.index(end), word.chars())),
        Typo::Letter(at, letter) => text.insert(at.index(end), letter),
        Typo::Remove(from, to) => drop(text.drain(range(from, to, text.len()))),
        Typo::Double(from, to) => {
            let range = range(from, to, text.len());
            let part = text[range.clone()].to_vec();
            text.splice(range.end..range.end, part);
        }
        Typo::Repeat(at, word, times) => {
            let repeated = word.repeat(times);
            text.splice(at.index(end)..at.index(end), repeated.chars());
        }
        Typo::Splice(at, sample, from) => {
            let other = &samples[sample.index(samples.len())];
            text.truncate(at.index(end));
            text.extend_from_slice(&other[from.index(other.len() + 1)..]);
        }
    }
}

/// Texts, more or less damaged.
pub fn text(samples: impl IntoIterator<Item = String>) -> impl Strategy<Value = String> {
    let samples: Vec<Vec<char>> = samples.into_iter().map(|sample| sample.chars().collect()).collect();
    let chosen = any::<Index>();
    (chosen, vec(typo(), 0..=DAMAGES_MAX)).prop_map(move |(chosen, typos)| {
        let mut text = samples[chosen.index(samples.len())].clone();
        typos.into_iter().for_each(|typo| misspell(typo, &mut text, &samples));
        text.into_iter().collect()
    })
}
