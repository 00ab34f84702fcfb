//! Tables of the objects that a program holds handles of.
//!
//! A [`Key`] names a place in a table and the generation of what lies there, so that a handle freed a while ago is recognised
//! and refused instead of meaning another object. Keys have 30 bits, which leaves room for the ABI's predefined values and keeps
//! `MPI_Comm_toint` and its like trivial. Bit 29 tells two kinds of places apart:
//!
//! | bit 29 | generation | place | places of this kind |
//! |---|---|---|---|
//! | 0, near | 7 bits | 22 bits | the first 4,194,304 |
//! | 1, far | 2 bits | 27 bits | 134,217,728 more |
//!
//! Nearly every program stays near, where a stale handle is recognised for long; one that has more objects at once than that pays
//! with generations, and not with an error. An entry holds the key that is valid for it, so that looking up is one comparison. When
//! there is neither a place nor memory for one, making an object is an error, and all others stay as they are.

use postrider_abi::MPI_ERR_NO_MEM;

use crate::error::{Error, Result};

/// Names an object of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u32);

const FAR: u32 = 1 << 29;
const NEAR_PLACES: u32 = 1 << 22;
const FAR_PLACES: u32 = 1 << 27;
const PLACES_MAX: usize = (NEAR_PLACES + FAR_PLACES) as usize;

impl Key {
    /// The first key of a place.
    fn of(index: u32) -> Self {
        Self(if index < NEAR_PLACES { index } else { FAR | (index - NEAR_PLACES) })
    }

    #[inline]
    fn index(self) -> usize {
        let is_far = self.0 & FAR != 0;
        let index =
            if is_far { NEAR_PLACES + (self.0 & (FAR_PLACES - 1)) } else { self.0 & (NEAR_PLACES - 1) };
        index as usize
    }

    /// The key of the same place's next object.
    fn next(self) -> Self {
        let is_far = self.0 & FAR;
        let step = if is_far == 0 { NEAR_PLACES } else { FAR_PLACES };
        Self(is_far | (self.0 + step) & (FAR - 1))
    }
}

/// A table of objects; places are used again.
#[derive(Debug)]
pub struct Table<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    places_max: usize,
    class: i32,
    noun: &'static str,
}

#[derive(Debug)]
struct Entry<T> {
    /// What names the object here, or will name the next one.
    key: Key,
    value: Option<T>,
}

impl<T> Table<T> {
    /// An empty table of things called `noun`; looking up what is not there is an error of class `class`.
    #[must_use]
    pub fn new(class: i32, noun: &'static str) -> Self {
        Self { entries: Vec::new(), free: Vec::new(), places_max: PLACES_MAX, class, noun }
    }

    /// Puts an object in the table.
    ///
    /// # Errors
    /// When there is no room (`MPI_ERR_NO_MEM`).
    #[inline]
    pub fn insert(&mut self, value: T) -> Result<Key> {
        if self.free.is_empty() {
            self.make_place()?;
        }
        let Some(index) = self.free.pop() else { unreachable!("a place was made") };
        let entry = &mut self.entries[index as usize];
        entry.value = Some(value);
        Ok(entry.key)
    }

    /// Makes sure that the next `number` objects find room: for whoever cannot go back halfway.
    ///
    /// # Errors
    /// When there is none (`MPI_ERR_NO_MEM`).
    pub fn check_room(&mut self, number: usize) -> Result<()> {
        while self.free.len() < number {
            self.make_place()?;
        }
        Ok(())
    }

    fn make_place(&mut self) -> Result<()> {
        let places = self.entries.len();
        if places == self.places_max {
            return Err(self.full("as many as there are handles for"));
        }
        // All places may be free at once, and giving one back must not fail.
        let missing = self.entries.capacity().max(places + 1) - self.free.len();
        if self.entries.try_reserve(1).is_err() || self.free.try_reserve(missing).is_err() {
            return Err(self.full("and no memory for one more"));
        }
        self.entries.push(Entry { key: Key::of(places as u32), value: None });
        self.free.push(places as u32);
        Ok(())
    }

    #[cold]
    fn full(&self, why: &str) -> Error {
        let (number, noun) = (self.len(), self.noun);
        let detail = format!(
            "this process has {number} {noun}s at once, {why}: complete or free some of them before making more"
        );
        Error::new(MPI_ERR_NO_MEM, detail)
    }

    /// The object that `key` names.
    ///
    /// # Errors
    /// When it was freed, or never was.
    #[inline]
    pub fn get(&self, key: Key) -> Result<&T> {
        match self.entries.get(key.index()) {
            Some(Entry { key: valid, value: Some(value) }) if *valid == key => Ok(value),
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
            Some(Entry { key: valid, value: Some(value) }) if *valid == key => Ok(value),
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
        entry.key = key.next();
        self.free.push(key.index() as u32);
        entry.value.take().ok_or_else(|| Error::new(self.class, missing(self.noun)))
    }

    /// All objects with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.entries.iter().filter_map(|entry| entry.value.as_ref().map(|value| (entry.key, value)))
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
        let first = table.insert("first").unwrap();
        assert_eq!(table.remove(first), Ok("first"));
        let second = table.insert("second").unwrap();
        assert_eq!(first.index(), second.index());
        assert_eq!(table.get(first).unwrap_err().class, 5);
        assert_eq!(table.get(second), Ok(&"second"));
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn keys_differ_beyond_the_near_places_and_are_refused_once_freed() {
        let mut table = Table::new(5, "request");
        let keys: Vec<Key> = (0..NEAR_PLACES + 3).map(|number| table.insert(number).unwrap()).collect();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(table.get(*key), Ok(&(number as u32)));
        }
        let far = keys[NEAR_PLACES as usize + 1];
        assert_eq!(table.remove(far), Ok(NEAR_PLACES + 1));
        let again = table.insert(7).unwrap();
        assert_eq!(again.index(), far.index());
        assert!(table.get(far).is_err());
        assert_eq!(table.get(again), Ok(&7));
        assert_eq!(table.get(keys[1]), Ok(&1));
    }

    #[test]
    fn generations_come_round_within_thirty_bits() {
        for (index, generations) in
            [(0, 128), (NEAR_PLACES - 1, 128), (NEAR_PLACES, 4), (NEAR_PLACES + FAR_PLACES - 1, 4)]
        {
            let first = Key::of(index);
            let mut key = first;
            for generation in 0..generations {
                assert!(key.0 < 1 << 30 && key.index() == index as usize);
                assert_eq!(key == first, generation == 0);
                key = key.next();
            }
            assert_eq!(key, first);
        }
    }

    #[test]
    fn a_full_table_says_so_and_goes_on_when_something_is_freed() {
        let mut table = Table { places_max: 2, ..Table::new(5, "request") };
        let first = table.insert("first").unwrap();
        let second = table.insert("second").unwrap();
        let error = table.insert("third").unwrap_err();
        assert_eq!(error.class, MPI_ERR_NO_MEM);
        assert!(error.detail.contains("2 requests at once"), "{error}");
        assert!(table.check_room(1).is_err());
        assert_eq!(table.remove(first), Ok("first"));
        let third = table.insert("third").unwrap();
        assert_eq!(table.get(second), Ok(&"second"));
        assert_eq!(table.get(third), Ok(&"third"));
    }
}
