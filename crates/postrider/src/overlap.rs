//! `postrider run --overlap`: the library that makes calls asynchronous is loaded before a program.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Once;

use clap::ValueEnum;

use crate::flags::{Overlap, Run};
use crate::installation::OVERLAP_LIBRARIES;
use crate::launch::Application;
use crate::other_engine::Program;

/// Which calls; the library reads it, and the launcher of each host sees from it that the library is wanted.
const ENV_OVERLAP: &str = "POSTRIDER_OVERLAP";
/// Where the report goes.
const ENV_REPORT: &str = "POSTRIDER_OVERLAP_REPORT";
/// What the loader loads before what the program asks for.
pub const ENV_PRELOAD: &str = "LD_PRELOAD";

/// The variables that say what the options say.
pub fn variables(options: &Run) -> Vec<(OsString, OsString)> {
    let report = options.overlap_report.clone();
    let Some(which) = options.overlap.or(report.as_ref().map(|_| Overlap::All)) else { return Vec::new() };
    let which = which.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let which = (ENV_OVERLAP.into(), which.into());
    [which].into_iter().chain(report.map(|place| (ENV_REPORT.into(), place))).collect()
}

/// The library for this program, if it is wanted.
pub fn library(folder: &Path, application: &Application) -> Option<PathBuf> {
    if !application.sets(ENV_OVERLAP) {
        return None;
    }
    let program = Program::examine(application);
    if program.is_sanitized() {
        // Each rank asks.
        static SAID: Once = Once::new();
        let name = application.program.display();
        SAID.call_once(|| {
            eprintln!("postrider: {name} is compiled with a sanitizer, and runs without overlap")
        });
        return None;
    }
    Some(folder.join(OVERLAP_LIBRARIES[usize::from(program.has_mpich_abi())])).filter(|path| path.exists())
}

/// The value of `LD_PRELOAD` that loads this after what the user wants to be loaded: a tool comes before what it looks at.
pub fn preload(application: &Application, libraries: impl Iterator<Item = PathBuf>) -> Option<OsString> {
    let set = application.variables.iter().rfind(|(name, _)| name == ENV_PRELOAD);
    let users = set.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(ENV_PRELOAD));
    let users = users.filter(|users| !users.is_empty());
    let all: Vec<OsString> = users.into_iter().chain(libraries.map(OsString::from)).collect();
    (!all.is_empty()).then(|| all.join(OsStr::new(":")))
}
