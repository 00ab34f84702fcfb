//! Tables of the objects that a program holds handles of.
//!
//! A [`Key`] names a place in a table and the generation of what lies there: 22 bits of index and 8 bits of generation, so
//! that a handle freed a while ago is recognised and refused instead of meaning another object. Keys fit in 30 bits,
//! which leaves room for the ABI's predefined values below and keeps `MPI_Comm_toint` and its like trivial.

use crate::error::{Error, Result};

/// Names an object of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u32);

const INDEX_BITS: u32 = 22;
const GENERATIONS: u32 = 1 << 8;

impl Key {
    fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }

    fn generation(self) -> u32 {
        self.0 >> INDEX_BITS
    }
}

/// A table of objects; places are used again.
#[derive(Debug)]
pub struct Table<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    class: i32,
    noun: &'static str,
}

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Table<T> {
    /// An empty table of things called `noun`; looking up what is not there is an error of class `class`.
    #[must_use]
    pub fn new(class: i32, noun: &'static str) -> Self {
        Self { entries: Vec::new(), free: Vec::new(), class, noun }
    }

    /// Puts an object in the table.
    pub fn insert(&mut self, value: T) -> Key {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry { generation: 0, value: None });
            self.entries.len() as u32 - 1
        });
        let entry = &mut self.entries[index as usize];
        entry.value = Some(value);
        Key(entry.generation << INDEX_BITS | index)
    }

    /// The object that `key` names.
    ///
    /// # Errors
    /// When it was freed, or never was.
    #[inline]
    pub fn get(&self, key: Key) -> Result<&T> {
        match self.entries.get(key.index()) {
            Some(Entry { generation, value: Some(value) }) if *generation == key.generation() => Ok(value),
            _ => Err(self.missing()),
        }
    }

    /// The object that `key` names, to change it.
    ///
    /// # Errors
    /// When it was freed, or never was.
    #[inline]
    pub fn get_mut(&mut self, key: Key) -> Result<&mut T> {
        match self.entries.get_mut(key.index()) {
            Some(Entry { generation, value: Some(value) }) if *generation == key.generation() => Ok(value),
            _ => Err(Error::new(self.class, missing(self.noun))),
        }
    }

    /// Takes the object that `key` names out; the key is stale from now on.
    ///
    /// # Errors
    /// When it was freed, or never was.
    pub fn remove(&mut self, key: Key) -> Result<T> {
        self.get(key)?;
        let entry = &mut self.entries[key.index()];
        entry.generation = (entry.generation + 1) % GENERATIONS;
        self.free.push(key.index() as u32);
        entry.value.take().ok_or_else(|| Error::new(self.class, missing(self.noun)))
    }

    /// All objects with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let key = Key(entry.generation << INDEX_BITS | index as u32);
            entry.value.as_ref().map(|value| (key, value))
        })
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    fn missing(&self) -> Error {
        Error::new(self.class, missing(self.noun))
    }
}

fn missing(noun: &str) -> String {
    format!("the handle is not that of a {noun}: it was freed, or never was one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_key_is_refused_though_its_place_is_used_again() {
        let mut table = Table::new(5, "communicator");
        let first = table.insert("first");
        assert_eq!(table.remove(first), Ok("first"));
        let second = table.insert("second");
        assert_eq!(first.index(), second.index());
        assert_eq!(table.get(first).unwrap_err().class, 5);
        assert_eq!(table.get(second), Ok(&"second"));
        assert_eq!(table.len(), 1);
    }
}
