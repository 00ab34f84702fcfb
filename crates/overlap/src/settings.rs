//! What the environment asks for.

use std::env;
use std::sync::OnceLock;

use crate::messages::predictor::Method;

/// Which part of the layer works: `messages`, `files` or, if it is not set, `all`.
pub const ENV_OVERLAP: &str = "POSTRIDER_OVERLAP";

/// Whether the part of this name works.
#[must_use]
pub fn has(part: &str) -> bool {
    env::var(ENV_OVERLAP).map_or(true, |asked| asked == "all" || asked.split(',').any(|one| one == part))
}

/// How memory is closed: by one of the names in [`WAYS`].
pub const ENV_MEMORY: &str = "POSTRIDER_OVERLAP_MEMORY";

/// A method for all calls, in place of the measured choice: `touch` or `last`. For tests.
pub const ENV_METHOD: &str = "POSTRIDER_OVERLAP_METHOD";

/// Where the report goes: `-` is the standard error stream, else this is how names of files begin, one for each process.
pub const ENV_REPORT: &str = "POSTRIDER_OVERLAP_REPORT";

/// Where the report goes, if one is asked for.
#[must_use]
pub fn report() -> Option<String> {
    env::var(ENV_REPORT).ok().filter(|place| !place.is_empty())
}

/// The ways to close memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// All of an allocation, which stands on huge pages.
    Huge,
    /// The pages that data will come to (the paper, section II.A). They are opened for each send of data in them, and closed again.
    OneView,
    /// The same pages, in memory that is there twice: the layer reads and writes by the other view, which stays open (section II.B).
    TwoViews,
    /// The same, where the first call of a learned chain closes the pages of all of it (section II.C).
    PreEmptive,
}

/// Their names.
pub const WAYS: [(&str, Memory); 4] = [
    ("huge", Memory::Huge),
    ("one-view", Memory::OneView),
    ("two-views", Memory::TwoViews),
    ("pre-emptive", Memory::PreEmptive),
];

impl Memory {
    /// Whether the memory has a second view.
    #[must_use]
    pub fn is_there_twice(self) -> bool {
        matches!(self, Self::TwoViews | Self::PreEmptive)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        WAYS.iter().find(|(_, way)| *way == self).map_or("", |(name, _)| name)
    }
}

/// Allocations of so many bytes can be closed: each stands on pages of its own. Fewer where a method is forced, so that tests meet them.
#[must_use]
pub fn large() -> usize {
    if forced().is_some() { 1 << 10 } else { 64 << 10 }
}

/// How memory is closed.
#[must_use]
pub fn memory() -> Memory {
    static ASKED: OnceLock<Memory> = OnceLock::new();
    let ask = || {
        let asked = env::var(ENV_MEMORY).unwrap_or_default();
        WAYS.iter().find(|(name, _)| *name == asked).map_or(Memory::Huge, |(_, way)| *way)
    };
    *ASKED.get_or_init(ask)
}

/// The method that is taken for all calls, if one is.
#[must_use]
pub fn forced() -> Option<Method> {
    match env::var(ENV_METHOD).ok()?.as_str() {
        "touch" => Some(Method::AtTouch),
        "last" => Some(Method::AtLastCall),
        "plain" => Some(Method::Plain),
        _ => None,
    }
}
