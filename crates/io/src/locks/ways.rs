//! Which algorithms are used, as a user chooses them: by hints of a file (section 14.2.8), or by variables for all files.

use crate::error::{Error, Result};

/// A choice among algorithms, with their names. The first is what holds without a choice.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident {
        $(#[$first_what:meta])* $first:ident = $first_word:literal,
        $($(#[$what:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $(#[$first_what])*
            #[default]
            $first,
            $($(#[$what])* $variant,)+
        }

        impl $name {
            const ALL: &[(Self, &str)] = &[(Self::$first, $first_word), $((Self::$variant, $word),)+];

            /// Takes over the way of this name; otherwise says which there are.
            fn set(&mut self, word: &str) -> std::result::Result<(), String> {
                match Self::ALL.iter().find(|(_, name)| *name == word) {
                    Some((way, _)) => Ok(*self = *way),
                    None => Err(Self::ALL.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ")),
                }
            }

            fn name(self) -> &'static str {
                Self::ALL[self as usize].1
            }

            fn from_number(number: i64) -> Self {
                Self::ALL.get(number as usize).map_or_else(Self::default, |(way, _)| *way)
            }
        }
    };
}

choice! {
    /// How processes take turns in atomic mode.
    LockWay {
        /// As the work at hand suggests.
        Auto = "auto",
        /// The lock of the paper, for the whole file: see `hybrid`.
        Hybrid = "hybrid",
        /// A queue of processes, for the whole file: see `queue`.
        Queue = "queue",
        /// A queue for each node and one of the nodes, for the whole file: see `tree`.
        Tree = "tree",
        /// Readers at the same time, writers alone, for the whole file: see `board`.
        Shared = "shared",
        /// Only what touches the same bytes takes turns: see `board`.
        Ranges = "ranges",
    }
}

choice! {
    /// How the shared file pointer moves.
    PointerWay {
        /// By one addition.
        Add = "add",
        /// Under the lock of the paper, figures 5 and 6.
        Hybrid = "hybrid",
    }
}

choice! {
    /// How processes find their places in the order of their ranks.
    OrderedWay {
        /// All learn of the amounts of all in one collective call that carries the pointer.
        Carry = "carry",
        /// As in the paper's figure 7: a scan, a put by the last process, a broadcast of one byte.
        Hybrid = "hybrid",
    }
}

/// The choices for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Locks.
    pub lock: LockWay,
    /// The shared file pointer.
    pub pointer: PointerWay,
    /// Ordered accesses.
    pub ordered: OrderedWay,
}

/// The hints.
pub const KEYS: [&str; 3] = ["postrider_io_lock", "postrider_io_pointer", "postrider_io_ordered"];

impl Ways {
    /// What the variables say: the hints in capitals.
    ///
    /// # Errors
    /// When one has a value that means nothing.
    pub fn from_environment() -> Result<Self> {
        let mut ways = Self::default();
        for key in KEYS {
            let variable = key.to_uppercase();
            if let Ok(value) = std::env::var(&variable)
                && !value.is_empty()
                && let Err(names) = ways.set(key, value.trim())
            {
                return Err(Error::argument(format!("{variable}={value}: it must be one of {names}")));
            }
        }
        Ok(ways)
    }

    /// Takes over a hint; one that makes no sense changes nothing, as the standard has it, and the names that there are come back.
    pub fn set(&mut self, key: &str, value: &str) -> std::result::Result<(), String> {
        match key {
            _ if key == KEYS[0] => self.lock.set(value),
            _ if key == KEYS[1] => self.pointer.set(value),
            _ => self.ordered.set(value),
        }
    }

    /// As hints.
    pub fn values(self) -> [(&'static str, String); 3] {
        let names = [self.lock.name(), self.pointer.name(), self.ordered.name()];
        std::array::from_fn(|index| (KEYS[index], names[index].to_owned()))
    }

    /// As a number, for the other processes.
    pub fn number(self) -> i64 {
        self.lock as i64 | (self.pointer as i64) << 8 | (self.ordered as i64) << 16
    }

    /// From that number.
    pub fn from_number(number: i64) -> Self {
        let byte = |index: i64| number >> (8 * index) & 0xff;
        Self {
            lock: LockWay::from_number(byte(0)),
            pointer: PointerWay::from_number(byte(1)),
            ordered: OrderedWay::from_number(byte(2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_a_name_and_a_number() {
        for (lock, name) in LockWay::ALL {
            let mut ways = Ways::default();
            assert_eq!(ways.set("postrider_io_lock", name), Ok(()));
            assert_eq!(ways.set("postrider_io_ordered", "hybrid"), Ok(()));
            assert_eq!(ways.set("postrider_io_pointer", "fastest"), Err("add, hybrid".to_owned()));
            assert_eq!(ways, Ways { lock: *lock, ordered: OrderedWay::Hybrid, ..Ways::default() });
            assert_eq!(Ways::from_number(ways.number()), ways);
            assert_eq!(ways.values()[0].1, *name);
        }
    }
}
