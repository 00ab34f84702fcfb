//! Attribute caching (MPI 5.0, section 7.7): attributes of communicators and datatypes, and the keys they go by.
//!
//! Copy and delete callbacks belong to the user and are called by the layer above, outside of the lock: this room says
//! which attributes there are, with what callbacks, in the order in which the standard wants them called.

use std::sync::Arc;
use std::sync::atomic::AtomicIsize;

use postrider_abi::MPI_ERR_KEYVAL;

use crate::error::Result;
use crate::objects::{Key, Table};

/// The value of an attribute. The language that sets it decides what the other gets (section 19.3.7).
#[derive(Clone, Debug)]
pub enum Value {
    /// C set a pointer; Fortran gets its bits as an integer.
    Pointer(usize),
    /// Fortran set an integer; C gets a pointer to it, so it has a place of its own.
    Integer(Arc<AtomicIsize>),
}

impl Value {
    /// An integer of Fortran, in a place of its own.
    #[must_use]
    pub fn integer(value: isize) -> Self {
        Self::Integer(Arc::new(AtomicIsize::new(value)))
    }

    /// What C gets.
    #[must_use]
    pub fn pointer(&self) -> usize {
        match self {
            Self::Pointer(bits) => *bits,
            Self::Integer(place) => place.as_ptr() as usize,
        }
    }
}

/// The attributes of one object, in the order in which they were set.
#[derive(Clone, Debug, Default)]
pub struct Attributes(Vec<(Key, Value)>);

impl Attributes {
    /// The value under `keyval`.
    #[must_use]
    pub fn get(&self, keyval: Key) -> Option<Value> {
        self.0.iter().find(|(key, _)| *key == keyval).map(|(_, value)| value.clone())
    }

    /// Sets the value under `keyval`, and returns the one before.
    pub fn set(&mut self, keyval: Key, value: Value) -> Option<Value> {
        match self.0.iter_mut().find(|(key, _)| *key == keyval) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((keyval, value));
                None
            }
        }
    }

    /// Takes the value under `keyval` away.
    pub fn remove(&mut self, keyval: Key) -> Option<Value> {
        let index = self.0.iter().position(|(key, _)| *key == keyval)?;
        Some(self.0.remove(index).1)
    }

    /// Keys and values, oldest first: the order of copying. Deletion goes the other way (section 11.2.4).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Key, Value)> + '_ {
        self.0.iter().cloned()
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
    /// Where the callbacks are those of another language: what calls them.
    pub callers: Option<Callers>,
}

/// Functions that call callbacks which are not C functions: addresses.
#[derive(Clone, Copy, Debug)]
pub struct Callers {
    /// Calls a copy callback.
    pub copy: usize,
    /// Calls a delete callback.
    pub delete: usize,
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
    ///
    /// # Errors
    /// When there are too many.
    pub fn create(&mut self, keyval: Keyval) -> Result<Key> {
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

    /// Says what calls the key's callbacks.
    ///
    /// # Errors
    /// When there is no such key.
    pub fn set_callers(&mut self, key: Key, callers: Callers) -> Result<()> {
        self.keyvals.get_mut(key)?.0.callers = Some(callers);
        Ok(())
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
