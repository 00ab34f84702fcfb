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

/// How memory is closed: `huge` or `one-view`.
pub const ENV_MEMORY: &str = "POSTRIDER_OVERLAP_MEMORY";

/// A method for all calls, in place of the measured choice: `touch` or `last`. For tests.
pub const ENV_METHOD: &str = "POSTRIDER_OVERLAP_METHOD";

/// The ways to close memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// All of an allocation, which stands on huge pages.
    Huge,
    /// The pages that data will come to (the paper, section II.A).
    OneView,
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
        if env::var(ENV_MEMORY).is_ok_and(|asked| asked == "one-view") {
            Memory::OneView
        } else {
            Memory::Huge
        }
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
