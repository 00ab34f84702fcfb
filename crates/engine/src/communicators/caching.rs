//! Attribute caching (MPI 5.0, section 7.7): attributes of communicators and datatypes, and the keys they go by.
//!
//! Copy and delete callbacks belong to the user and are called by the layer above, outside of the lock: this room says
//! which attributes there are, with what callbacks, in the order in which the standard wants them called.

use postrider_abi::MPI_ERR_KEYVAL;

use crate::error::Result;
use crate::objects::{Key, Table};

/// The attributes of one object, in the order in which they were set.
#[derive(Clone, Debug, Default)]
pub struct Attributes(Vec<(Key, usize)>);

impl Attributes {
    /// The value under `keyval`.
    #[must_use]
    pub fn get(&self, keyval: Key) -> Option<usize> {
        self.0.iter().find(|(key, _)| *key == keyval).map(|(_, value)| *value)
    }

    /// Sets the value under `keyval`, and returns the one before.
    pub fn set(&mut self, keyval: Key, value: usize) -> Option<usize> {
        match self.0.iter_mut().find(|(key, _)| *key == keyval) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((keyval, value));
                None
            }
        }
    }

    /// Takes the value under `keyval` away.
    pub fn remove(&mut self, keyval: Key) -> Option<usize> {
        let index = self.0.iter().position(|(key, _)| *key == keyval)?;
        Some(self.0.remove(index).1)
    }

    /// Keys and values, oldest first: the order of copying. Deletion goes the other way (section 11.2.4).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Key, usize)> + '_ {
        self.0.iter().copied()
    }
}

/// What kind of object a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Communicators.
    Communicator,
    /// Datatypes.
    Datatype,
    /// Windows.
    Window,
}

/// A key, with the callbacks of its user as the layer above understands them.
#[derive(Clone, Copy, Debug)]
pub struct Keyval {
    /// What it is for.
    pub kind: Kind,
    /// The copy callback: an address.
    pub copy: usize,
    /// The delete callback: an address.
    pub delete: usize,
    /// What the callbacks get.
    pub extra_state: usize,
}

/// All keys. A freed key lives on until no object has an attribute under it.
#[derive(Debug)]
pub struct Caching {
    keyvals: Table<(Keyval, u32, bool)>,
}

impl Default for Caching {
    fn default() -> Self {
        Self { keyvals: Table::new(MPI_ERR_KEYVAL, "attribute key") }
    }
}

impl Caching {
    /// Makes a key.
    pub fn create(&mut self, keyval: Keyval) -> Key {
        self.keyvals.insert((keyval, 0, false))
    }

    /// The key's facts, also of one that was freed but is still in use.
    ///
    /// # Errors
    /// When there is no such key.
    pub fn get(&self, key: Key, kind: Kind) -> Result<Keyval> {
        let (keyval, ..) = self.keyvals.get(key)?;
        if keyval.kind != kind {
            let detail = format!("the attribute key is for a {:?}, not for a {kind:?}", keyval.kind);
            return Err(crate::error::Error::new(MPI_ERR_KEYVAL, detail));
        }
        Ok(*keyval)
    }

    /// One more attribute is under the key.
    ///
    /// # Errors
    /// When there is no such key.
    pub fn retain(&mut self, key: Key) -> Result<()> {
        self.keyvals.get_mut(key)?.1 += 1;
        Ok(())
    }

    /// One attribute less is under the key.
    ///
    /// # Errors
    /// When there is no such key.
    pub fn release(&mut self, key: Key) -> Result<()> {
        let (_, uses, freed) = self.keyvals.get_mut(key)?;
        *uses -= 1;
        if *uses == 0 && *freed {
            self.keyvals.remove(key)?;
        }
        Ok(())
    }

    /// The user has freed the key.
    ///
    /// # Errors
    /// When there is no such key, or it was freed before.
    pub fn free(&mut self, key: Key, kind: Kind) -> Result<()> {
        self.get(key, kind)?;
        let (_, uses, freed) = self.keyvals.get_mut(key)?;
        *freed = true;
        if *uses == 0 {
            self.keyvals.remove(key)?;
        }
        Ok(())
    }
}
