//! On which hosts the objects of keys live.
//!
//! The host that keeps a key sends whoever asks for it on to the host where its object lives, or last did: that one knows whether it still does, and makes a new one there otherwise. So
//! what is remembered here may be old, but two hosts never have objects of one key.

use std::collections::HashMap;

use super::packet::Function;

/// Keys that are remembered at most.
const KEYS_MAX: usize = 1 << 20;

/// What a host remembers of the keys that it keeps.
#[derive(Debug, Default)]
pub struct Keys(HashMap<(u8, i32), u32>);

impl Keys {
    /// The host where the object of a key lives, and of a new key, if one is to be made, `home`. An error's number if there is none.
    ///
    /// # Errors
    /// Those of `msgget` and its like.
    pub fn home(&mut self, function: Function, key: i32, flags: i32, home: u32) -> Result<u32, i32> {
        let name = (function as u8, key);
        if let Some(known) = self.0.get(&name) {
            return Ok(*known);
        }
        if flags & libc::IPC_CREAT == 0 {
            return Err(libc::ENOENT);
        }
        if self.0.len() == KEYS_MAX {
            return Err(libc::ENOSPC);
        }
        self.0.insert(name, home);
        Ok(home)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_first_gives_a_key_its_home() {
        let mut keys = Keys::default();
        assert_eq!(keys.home(Function::GetSet, 5, 0o600, 2), Err(libc::ENOENT));
        assert_eq!(keys.home(Function::GetSet, 5, libc::IPC_CREAT, 2), Ok(2));
        assert_eq!(keys.home(Function::GetSet, 5, libc::IPC_CREAT, 1), Ok(2));
        assert_eq!(keys.home(Function::GetQueue, 5, libc::IPC_CREAT, 1), Ok(1));
        assert_eq!(keys.home(Function::GetSet, 5, 0, 0), Ok(2));
    }
}
