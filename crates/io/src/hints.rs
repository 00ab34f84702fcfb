//! Hints (section 14.2.8): what a program may say of a file, as far as it is used. Others are ignored and not reported.

use postrider_abi::MPI_Info;
use postrider_client::{Communicator, Mpi};

use crate::error::Result;
use crate::locks::ways::{self, Ways};

const COLLECTIVE_BUFFERING: &str = "collective_buffering";
const BUFFER_SIZE: &str = "cb_buffer_size";
const NODES: &str = "cb_nodes";
const PERMISSIONS: &str = "file_perm";
/// What every object tells of the memory that it supports (section 11.4.3).
const MEMORY_KINDS: &str = "mpi_memory_alloc_kinds";
const KEYS: [&str; 7] =
    [COLLECTIVE_BUFFERING, BUFFER_SIZE, NODES, PERMISSIONS, ways::KEYS[0], ways::KEYS[1], ways::KEYS[2]];

/// The hints in use; they are the same for all processes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    /// Whether processes that access a file together may move data through others.
    pub collective_buffering: bool,
    /// How many bytes each of those moves at a time.
    pub buffer_bytes: i64,
    /// How many processes access the file for the others; 0 is one for each host.
    pub nodes: i64,
    /// Permissions of a file that is created.
    pub permissions: u32,
    /// Which algorithms are used for what processes share.
    pub ways: Ways,
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            collective_buffering: true,
            buffer_bytes: 16 << 20,
            nodes: 0,
            permissions: 0o666,
            ways: Ways::default(),
        }
    }
}

impl Hints {
    /// These, changed by what an info object says. A value that makes no sense changes nothing, as the standard has it.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn with(mut self, mpi: Mpi, info: MPI_Info) -> Result<Self> {
        for (key, value) in mpi.info_values(info, &KEYS)? {
            self.set(key, value.trim());
        }
        Ok(self)
    }

    fn set(&mut self, key: &str, value: &str) {
        let positive = || value.parse().ok().filter(|number: &i64| *number > 0);
        match key {
            COLLECTIVE_BUFFERING => {
                self.collective_buffering = value.parse().unwrap_or(self.collective_buffering);
            }
            BUFFER_SIZE => self.buffer_bytes = positive().unwrap_or(self.buffer_bytes),
            NODES => self.nodes = positive().unwrap_or(self.nodes),
            _ if ways::KEYS.contains(&key) => drop(self.ways.set(key, value)),
            _ => {
                let given = u32::from_str_radix(value, 8).ok().filter(|bits| *bits <= 0o7777);
                self.permissions = given.unwrap_or(self.permissions);
            }
        }
    }

    /// As keys and values.
    pub fn values(self) -> Vec<(&'static str, String)> {
        let mut values = vec![
            (COLLECTIVE_BUFFERING, self.collective_buffering.to_string()),
            (BUFFER_SIZE, self.buffer_bytes.to_string()),
            (MEMORY_KINDS, "mpi,system".to_owned()),
        ];
        values.extend(self.ways.values());
        if self.nodes > 0 {
            values.push((NODES, self.nodes.to_string()));
        }
        values
    }

    /// Those of rank 0: what processes do together must not depend on what each of them was told.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn agreed(self, communicator: Communicator) -> Result<Self> {
        let mut numbers = [
            i64::from(self.collective_buffering),
            self.buffer_bytes,
            self.nodes,
            i64::from(self.permissions),
            self.ways.number(),
        ];
        communicator.broadcast(&mut numbers)?;
        let [buffering, buffer_bytes, nodes, permissions, ways] = numbers;
        Ok(Self {
            collective_buffering: buffering != 0,
            buffer_bytes,
            nodes,
            permissions: permissions as u32,
            ways: Ways::from_number(ways),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_sense_change_nothing() {
        let mut hints = Hints::default();
        for (key, value) in
            [(BUFFER_SIZE, "-1"), (NODES, "many"), (PERMISSIONS, "99"), (COLLECTIVE_BUFFERING, "")]
        {
            hints.set(key, value);
        }
        assert_eq!(hints, Hints::default());
        hints.set(BUFFER_SIZE, "4096");
        hints.set(PERMISSIONS, "640");
        assert_eq!((hints.buffer_bytes, hints.permissions), (4096, 0o640));
    }
}
