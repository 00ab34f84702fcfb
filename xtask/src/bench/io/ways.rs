//! Postrider's files with each of its ways of locking, and on MPICH.

use std::process::Command;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::super::build::Workshop;
use super::super::engines;
use crate::build::PRELOADED;

/// What is measured beside Postrider as it comes, ROMIO and OMPIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The paper's: bytes in a window, two exclusive epochs, wake-up by a message.
    #[value(name = "postrider-hybrid")]
    #[serde(rename = "postrider-hybrid")]
    Hybrid,
    /// A queue whose holder hands the lock over.
    #[value(name = "postrider-queue")]
    #[serde(rename = "postrider-queue")]
    Queue,
    /// A queue in each node, and one of nodes.
    #[value(name = "postrider-tree")]
    #[serde(rename = "postrider-tree")]
    Tree,
    /// Shared for readers, exclusive for writers.
    #[value(name = "postrider-shared")]
    #[serde(rename = "postrider-shared")]
    Shared,
    /// Exactly the bytes of each access.
    #[value(name = "postrider-ranges")]
    #[serde(rename = "postrider-ranges")]
    Ranges,
    /// Postrider's files on MPICH, preloaded.
    #[value(name = "mpich-postrider")]
    #[serde(rename = "mpich-postrider")]
    OnMpich,
    /// A file server that calls whoever is next for a lock; only simulated.
    #[value(skip)]
    #[serde(rename = "file-server")]
    FileServer,
    /// A file server that is asked again and again; only simulated.
    #[value(skip)]
    #[serde(rename = "file-polling")]
    FilePolling,
}

/// All that are measured.
pub const LOCKS: &[Way] = &[Way::Hybrid, Way::Queue, Way::Tree, Way::Shared, Way::Ranges, Way::OnMpich];
/// Those whose shared pointers differ.
pub const POINTERS: &[Way] = &[Way::Hybrid, Way::OnMpich];
/// Where neither locks nor pointers matter.
pub const NONE: &[Way] = &[Way::OnMpich];

impl Way {
    /// All ways.
    pub const ALL: [Way; 8] = [
        Way::Hybrid,
        Way::Queue,
        Way::Tree,
        Way::Shared,
        Way::Ranges,
        Way::OnMpich,
        Way::FileServer,
        Way::FilePolling,
    ];

    /// The name on the command line, in the results and in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Way::Hybrid => "postrider-hybrid",
            Way::Queue => "postrider-queue",
            Way::Tree => "postrider-tree",
            Way::Shared => "postrider-shared",
            Way::Ranges => "postrider-ranges",
            Way::OnMpich => "mpich-postrider",
            Way::FileServer => "file-server",
            Way::FilePolling => "file-polling",
        }
    }

    /// What starts so many ranks, up to the program.
    pub fn launcher(self, workshop: &Workshop, ranks: u32) -> Result<Command> {
        if self == Way::OnMpich {
            let library = workshop.prefix.join("lib").join(PRELOADED[0]);
            ensure!(library.exists(), "there is no {}: run `cargo xtask build` first", library.display());
            let mut command = engines::mpich(workshop, ranks)?;
            // The launcher itself has nothing to do with it.
            command.arg("env").arg(format!("LD_PRELOAD={}", library.display()));
            return Ok(command);
        }
        let mut command = engines::postrider(workshop, ranks, "shared-memory")?;
        command.env("POSTRIDER_IO_LOCK", self.name().trim_start_matches("postrider-"));
        if self == Way::Hybrid {
            command.env("POSTRIDER_IO_POINTER", "hybrid").env("POSTRIDER_IO_ORDERED", "hybrid");
        }
        Ok(command)
    }
}
