//! What the environment asks for.

use std::env;

/// Which part of the layer works: `messages`, `files` or, if it is not set, `all`.
pub const ENV_OVERLAP: &str = "POSTRIDER_OVERLAP";

/// Whether the part of this name works.
#[must_use]
pub fn has(part: &str) -> bool {
    env::var(ENV_OVERLAP).map_or(true, |asked| asked == "all" || asked.split(',').any(|one| one == part))
}
