//! Hints (section 14.2.8): what a program, or a file that `ROMIO_HINTS` names, may say of a file, as far as it is used. Others are ignored and
//! not reported.

use std::path::{Path, PathBuf};

use postrider_abi::MPI_Info;
use postrider_client::{Communicator, Mpi};

use crate::access::Nearness;
use crate::error::Result;
use crate::locks::ways::{self, Ways};

const COLLECTIVE_BUFFERING: &str = "collective_buffering";
const BUFFER_SIZE: &str = "cb_buffer_size";
const NODES: &str = "cb_nodes";
const CONFIGURATION: &str = "cb_config_list";
const BUFFERING: [&str; 2] = ["romio_cb_read", "romio_cb_write"];
const SIEVING: [&str; 2] = ["romio_ds_read", "romio_ds_write"];
const SIEVE_SIZES: [&str; 2] = ["ind_rd_buffer_size", "ind_wr_buffer_size"];
const STRIPING_UNIT: &str = "striping_unit";
const PERMISSIONS: &str = "file_perm";
/// What every object tells of the memory that it supports (section 11.4.3).
const MEMORY_KINDS: &str = "mpi_memory_alloc_kinds";
const KEYS: [&str; 15] = [
    COLLECTIVE_BUFFERING,
    BUFFER_SIZE,
    NODES,
    CONFIGURATION,
    BUFFERING[0],
    BUFFERING[1],
    SIEVING[0],
    SIEVING[1],
    SIEVE_SIZES[0],
    SIEVE_SIZES[1],
    STRIPING_UNIT,
    PERMISSIONS,
    ways::KEYS[0],
    ways::KEYS[1],
    ways::KEYS[2],
];

/// The variable that names a file with hints for all files, a key and a value on each line. What a program says itself goes before it.
const VARIABLE: &str = "ROMIO_HINTS";

/// Prefixes of names by which other libraries are told the file system; there is one way for all here.
const PREFIXES: [&str; 10] =
    ["ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:", "pvfs:", "pvfs2:", "daos:", "testfs:"];

/// A file's name without the file system.
pub fn without_prefix(path: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let name = path.as_os_str().as_bytes();
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix.as_bytes()));
    std::ffi::OsStr::from_bytes(rest.unwrap_or(name)).into()
}

/// What a hint says of something that may be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Where it helps.
    #[default]
    Automatic,
    /// Wherever it can be done.
    Enable,
    /// Nowhere.
    Disable,
}

impl Choice {
    const ALL: [(Self, &str); 3] =
        [(Self::Automatic, "automatic"), (Self::Enable, "enable"), (Self::Disable, "disable")];

    fn set(&mut self, word: &str) {
        let found = Self::ALL.iter().find(|(_, name)| word.eq_ignore_ascii_case(name));
        *self = found.map_or(*self, |(choice, _)| *choice);
    }

    fn name(self) -> String {
        Self::ALL[self as usize].1.to_owned()
    }
}

/// The hints in use; they are the same for all processes of a file. Of two the first is for reading, the second for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hints {
    /// Whether processes that access a file together move data through others.
    pub buffering: [Choice; 2],
    /// How many bytes each of those moves at a time.
    pub buffer_bytes: i64,
    /// How many processes access the file for the others; 0 is as many as `configuration` says.
    pub nodes: i64,
    /// How many do so on which host, as `cb_config_list` has it; without it one for each host.
    pub configuration: String,
    /// Whether bytes between those that are wanted are accessed with them.
    pub sieving: [Choice; 2],
    /// In pieces of how many bytes.
    pub sieve_bytes: [i64; 2],
    /// Where parts of the file begin that different processes access for the others; 0 is what the file system says.
    pub striping_unit: i64,
    /// Permissions of a file that is created.
    pub permissions: u32,
    /// Which algorithms are used for what processes share.
    pub ways: Ways,
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            buffering: [Choice::Automatic; 2],
            buffer_bytes: 16 << 20,
            nodes: 0,
            configuration: String::new(),
            sieving: [Choice::Automatic; 2],
            sieve_bytes: [4 << 20; 2],
            striping_unit: 0,
            permissions: 0o666,
            ways: Ways::default(),
        }
    }
}

impl Hints {
    /// Those of a new file: what the file that the variable names says, and what the program says.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn of_new_file(ways: Ways, mpi: Mpi, info: MPI_Info) -> Result<Self> {
        let mut hints = Self { ways, ..Self::default() };
        if let Some(path) = std::env::var_os(VARIABLE)
            && let Ok(text) = std::fs::read_to_string(path)
        {
            hints.set_all(&text);
        }
        hints.with(mpi, info)
    }

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

    /// Takes over the lines of a file: a key and its value, the rest behind `#` for those who read it.
    fn set_all(&mut self, text: &str) {
        for line in text.lines() {
            let said = line.split('#').next().unwrap_or_default().trim();
            let Some((key, value)) = said.split_once(char::is_whitespace) else { continue };
            if KEYS.contains(&key) {
                self.set(key, value.trim());
            }
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        let positive = || value.parse().ok().filter(|number: &i64| *number > 0);
        let one_of = |keys: [&str; 2]| keys.iter().position(|one| *one == key);
        if let Some(which) = one_of(BUFFERING) {
            return self.buffering[which].set(value);
        }
        if let Some(which) = one_of(SIEVING) {
            return self.sieving[which].set(value);
        }
        if let Some(which) = one_of(SIEVE_SIZES) {
            self.sieve_bytes[which] = positive().unwrap_or(self.sieve_bytes[which]);
            return;
        }
        match key {
            COLLECTIVE_BUFFERING => match value {
                "true" if !self.is_buffering() => self.buffering = [Choice::Automatic; 2],
                "false" => self.buffering = [Choice::Disable; 2],
                _ => {}
            },
            BUFFER_SIZE => self.buffer_bytes = positive().unwrap_or(self.buffer_bytes),
            NODES => self.nodes = positive().unwrap_or(self.nodes),
            CONFIGURATION => value.clone_into(&mut self.configuration),
            STRIPING_UNIT => self.striping_unit = positive().unwrap_or(self.striping_unit),
            _ if ways::KEYS.contains(&key) => drop(self.ways.set(key, value)),
            _ => {
                let given = u32::from_str_radix(value, 8).ok().filter(|bits| *bits <= 0o7777);
                self.permissions = given.unwrap_or(self.permissions);
            }
        }
    }

    fn is_buffering(&self) -> bool {
        self.buffering != [Choice::Disable; 2]
    }

    /// What is read or written together, if not all that is wanted is in one piece.
    pub fn reads(&self) -> Nearness {
        Nearness::of(self.sieving[0], self.sieve_bytes[0])
    }

    /// What is written together, where bytes between may be read and written back.
    pub fn writes(&self) -> Nearness {
        Nearness::of(self.sieving[1], self.sieve_bytes[1])
    }

    /// Whether bytes between those that are written may be read and written back while no other process of the file has them. Somebody
    /// else may, who has the file open another time, and a host may read what its cache of a file system still has, so it is done only where the
    /// program has asked for it.
    pub fn sieves_writes(&self) -> bool {
        self.sieving[1] == Choice::Enable
    }

    /// As keys and values.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        let mut values = vec![
            (COLLECTIVE_BUFFERING, self.is_buffering().to_string()),
            (BUFFER_SIZE, self.buffer_bytes.to_string()),
            (MEMORY_KINDS, "mpi,system".to_owned()),
        ];
        for which in 0..2 {
            values.push((BUFFERING[which], self.buffering[which].name()));
            values.push((SIEVING[which], self.sieving[which].name()));
            values.push((SIEVE_SIZES[which], self.sieve_bytes[which].to_string()));
        }
        values.push((STRIPING_UNIT, self.striping_unit.to_string()));
        values.extend(self.ways.values());
        if self.nodes > 0 {
            values.push((NODES, self.nodes.to_string()));
        }
        if !self.configuration.is_empty() {
            values.push((CONFIGURATION, self.configuration.clone()));
        }
        values
    }

    /// Those of rank 0: what processes do together must not depend on what each of them was told.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn agreed(self, communicator: Communicator) -> Result<Self> {
        let mut text = self.configuration.into_bytes();
        let mut numbers = [
            self.buffering[0] as i64 | (self.buffering[1] as i64) << 8,
            self.sieving[0] as i64 | (self.sieving[1] as i64) << 8,
            self.sieve_bytes[0],
            self.sieve_bytes[1],
            self.buffer_bytes,
            self.nodes,
            self.striping_unit,
            i64::from(self.permissions),
            self.ways.number(),
            text.len() as i64,
        ];
        communicator.broadcast(&mut numbers)?;
        let [
            buffering,
            sieving,
            reads,
            writes,
            buffer_bytes,
            nodes,
            striping_unit,
            permissions,
            ways,
            length,
        ] = numbers;
        text.resize(length as usize, 0);
        if length > 0 {
            communicator.broadcast_bytes(&mut text, 0)?;
        }
        let both = |number: i64| [number & 0xff, number >> 8].map(|index| Choice::ALL[index as usize].0);
        Ok(Self {
            buffering: both(buffering),
            buffer_bytes,
            nodes,
            configuration: String::from_utf8_lossy(&text).into_owned(),
            sieving: both(sieving),
            sieve_bytes: [reads, writes],
            striping_unit,
            permissions: permissions as u32,
            ways: Ways::from_number(ways),
        })
    }
}

/// How many processes of a host access a file for the others, as `cb_config_list` says: hosts and numbers, `*` for all of either. Whoever says
/// nothing of a number means one, and whoever says nothing at all one for each host.
pub fn of_host(configuration: &str, host: &str) -> i64 {
    if configuration.trim().is_empty() {
        return 1;
    }
    let entries = configuration.split(',').map(|entry| {
        let (name, number) = entry.trim().split_once(':').unwrap_or((entry.trim(), "1"));
        (name, if number == "*" { i64::MAX } else { number.parse().unwrap_or(1).max(0) })
    });
    let is_it = |name: &str| name == "*" || name == host || host.split('.').next() == Some(name);
    entries.into_iter().find(|(name, _)| is_it(name)).map_or(0, |(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_sense_change_nothing() {
        let mut hints = Hints::default();
        for (key, value) in [
            (BUFFER_SIZE, "-1"),
            (NODES, "many"),
            (PERMISSIONS, "99"),
            (COLLECTIVE_BUFFERING, ""),
            (BUFFERING[0], "perhaps"),
            (SIEVE_SIZES[1], "0"),
        ] {
            hints.set(key, value);
        }
        assert_eq!(hints, Hints::default());
        hints.set(BUFFER_SIZE, "4096");
        hints.set(PERMISSIONS, "640");
        assert_eq!((hints.buffer_bytes, hints.permissions), (4096, 0o640));
    }

    #[test]
    fn lines_of_a_file_are_hints() {
        let mut hints = Hints::default();
        hints.set_all(
            "# all files\nromio_cb_write  ENABLE\ncb_nodes\t3 # few\n\nunknown 1\nromio_ds_read disable\n",
        );
        assert_eq!(hints.buffering, [Choice::Automatic, Choice::Enable]);
        assert_eq!(hints.sieving, [Choice::Disable, Choice::Automatic]);
        assert_eq!(hints.nodes, 3);
    }

    #[test]
    fn buffering_has_one_word_for_both_directions() {
        let mut hints = Hints::default();
        hints.set(BUFFERING[1], "enable");
        hints.set(COLLECTIVE_BUFFERING, "true");
        assert_eq!(hints.buffering, [Choice::Automatic, Choice::Enable]);
        hints.set(COLLECTIVE_BUFFERING, "false");
        assert!(!hints.is_buffering());
        hints.set(COLLECTIVE_BUFFERING, "true");
        assert_eq!(hints, Hints::default());
    }

    #[test]
    fn hosts_have_the_numbers_that_a_list_gives_them() {
        assert_eq!(of_host("", "a"), 1);
        assert_eq!(of_host("*:2", "a"), 2);
        assert_eq!(of_host("*:*", "a"), i64::MAX);
        assert_eq!(of_host("b:3, a", "a.example"), 1);
        assert_eq!(of_host("b:3,*:0", "a"), 0);
        assert_eq!(of_host("b:3", "a"), 0);
    }

    #[test]
    fn a_prefix_is_no_part_of_the_name() {
        assert_eq!(without_prefix(Path::new("ufs:/tmp/a")), Path::new("/tmp/a"));
        assert_eq!(without_prefix(Path::new("lustre:a:b")), Path::new("a:b"));
        assert_eq!(without_prefix(Path::new("mine:a")), Path::new("mine:a"));
    }
}
