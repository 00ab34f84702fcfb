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

/// The round after `round`, where `hosts` hosts share them: each has those that leave its number.
#[must_use]
pub fn next_round(round: u32, hosts: u32) -> u32 {
    if round + hosts >= ROUNDS { round % hosts } else { round + hosts }
}

/// The host on which an object lives.
#[must_use]
pub fn home(identifier: i32, hosts: u32) -> u32 {
    (identifier as u32 / PLACES) % hosts
}

/// The host that knows where the objects of a key live.
#[must_use]
pub fn keeper(key: i32, hosts: u32) -> u32 {
    (key as u32).wrapping_mul(0x9e37_79b9).rotate_left(16) % hosts
}

/// The key that `ftok` makes, where hosts share keys, of the path of a file and a number: inodes differ between hosts.
#[must_use]
pub fn key_of_path(path: &[u8], number: i32) -> i32 {
    let hash =
        path.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    ((hash ^ hash >> 24) & 0xff_ffff | (number as u32 & 0xff) << 24) as i32
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

    #[test]
    fn identifiers_say_on_which_host_an_object_lives() {
        for hosts in 1..=crate::space::Host::MOST {
            for host in [0, hosts - 1] {
                let mut round = host;
                for _ in 0..70_000 / hosts + 2 {
                    round = next_round(round, hosts);
                    assert_eq!(home(identifier(5, round), hosts), host);
                }
            }
        }
        assert!((0..100).all(|key| keeper(key, 3) < 3));
    }
}
