//! Identifiers and keys.
//!
//! An identifier is the place of an object in its table and how often that place had been taken before, so that the identifier of an object that
//! was removed is not that of the next one.

/// Places in a table.
pub const PLACES: u32 = 32768;

/// Where identifiers of one place begin again.
const ROUNDS: u32 = 65535;

/// The identifier of what has taken a place for the `round`th time.
#[must_use]
pub fn identifier(place: u32, round: u32) -> i32 {
    ((round % ROUNDS) * PLACES + place) as i32
}

/// The place and the round of an identifier.
#[must_use]
pub fn place_and_round(identifier: i32) -> Option<(u32, u32)> {
    let identifier = u32::try_from(identifier).ok()?;
    Some((identifier % PLACES, identifier / PLACES))
}

/// The key that `ftok` makes of a file and a number.
#[must_use]
pub fn key_of_file(inode: u64, device: u64, number: i32) -> i32 {
    let bits = (inode & 0xffff) | (device & 0xff) << 16 | (number as u64 & 0xff) << 24;
    bits as u32 as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_one_place_differ() {
        assert_eq!(identifier(7, 0), 7);
        assert_ne!(identifier(7, 1), identifier(7, 2));
        assert_eq!(place_and_round(identifier(9, 3)), Some((9, 3)));
        assert!((0..ROUNDS).all(|round| identifier(PLACES - 1, round) >= 0));
        assert_eq!(place_and_round(-1), None);
    }
}
