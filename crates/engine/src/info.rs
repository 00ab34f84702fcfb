//! Info objects: ordered keys with values (MPI 5.0, chapter 10). Both are strings of C, that is, bytes, and are given back as they came;
//! what this library looks for itself is text, and a value that is none is none of those that it knows.

use postrider_abi::{
    MPI_ERR_INFO_KEY, MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE, MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL,
};

use crate::error::{Error, Result};

/// An info object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(Vec<(Vec<u8>, Vec<u8>)>);

/// Checks the length of a key: it is shorter than `MPI_MAX_INFO_KEY` with its final NUL, and not empty.
///
/// # Errors
/// `MPI_ERR_INFO_KEY`.
pub fn check_key(key: &[u8]) -> Result<()> {
    if key.is_empty() || key.len() >= MPI_MAX_INFO_KEY {
        let detail = format!("an info key has 1 to {} characters, not {}", MPI_MAX_INFO_KEY - 1, key.len());
        return Err(Error::new(MPI_ERR_INFO_KEY, detail));
    }
    Ok(())
}

impl Info {
    /// Adds a key, or replaces its value.
    ///
    /// # Errors
    /// When the key is empty, or one of them is too long.
    pub fn set(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        check_key(key)?;
        if value.len() >= MPI_MAX_INFO_VAL {
            let detail =
                format!("an info value has at most {} characters, not {}", MPI_MAX_INFO_VAL - 1, value.len());
            return Err(Error::new(MPI_ERR_INFO_VALUE, detail));
        }
        match self.0.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => value.clone_into(old),
            None => self.0.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Takes a key away.
    ///
    /// # Errors
    /// `MPI_ERR_INFO_NOKEY` when it is not there.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        let key = key.as_ref();
        check_key(key)?;
        let Some(index) = self.0.iter().position(|(other, _)| other == key) else {
            let key = String::from_utf8_lossy(key);
            return Err(Error::new(MPI_ERR_INFO_NOKEY, format!("the info object has no key \"{key}\"")));
        };
        self.0.remove(index);
        Ok(())
    }

    /// The value of a key.
    #[must_use]
    pub fn value(&self, key: impl AsRef<[u8]>) -> Option<&[u8]> {
        let key = key.as_ref();
        self.0.iter().find(|(other, _)| other == key).map(|(_, value)| value.as_slice())
    }

    /// The value of a key, if it is text.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        std::str::from_utf8(self.value(key)?).ok()
    }

    /// The `n`-th key, in the order in which they were set.
    #[must_use]
    pub fn key(&self, n: usize) -> Option<&[u8]> {
        self.0.get(n).map(|(key, _)| key.as_slice())
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_their_last_value() {
        let mut info = Info::default();
        info.set("b", "1").unwrap();
        info.set("a", "2").unwrap();
        info.set("b", "3").unwrap();
        assert_eq!((info.key(0), info.key(1), info.key(2)), (Some(&b"b"[..]), Some(&b"a"[..]), None));
        assert_eq!(info.get("b"), Some("3"));
        info.delete("b").unwrap();
        assert_eq!(info.delete("b").unwrap_err().class, MPI_ERR_INFO_NOKEY);
        assert_eq!(info.len(), 1);
    }

    #[test]
    fn keys_and_values_are_any_bytes() {
        let mut info = Info::default();
        info.set(b"caf\xe9", b"\xff").unwrap();
        assert_eq!((info.key(0), info.value(b"caf\xe9")), (Some(&b"caf\xe9"[..]), Some(&b"\xff"[..])));
        info.set("wdir", b"na\xefve").unwrap();
        assert_eq!((info.get("wdir"), info.value("wdir")), (None, Some(&b"na\xefve"[..])));
        assert!(info.delete(b"\xe9").unwrap_err().detail.contains('\u{fffd}'));
        info.delete(b"caf\xe9").unwrap();
    }

    #[test]
    fn lengths_are_checked() {
        let mut info = Info::default();
        assert_eq!(info.set("k".repeat(MPI_MAX_INFO_KEY), "v").unwrap_err().class, MPI_ERR_INFO_KEY);
        assert_eq!(info.set("k", "v".repeat(MPI_MAX_INFO_VAL)).unwrap_err().class, MPI_ERR_INFO_VALUE);
        assert!(info.is_empty());
    }
}
