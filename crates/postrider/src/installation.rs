//! Where this installation is: found from the executable itself, so that it works from any place it is moved,
//! copied or linked to. The executable is `<prefix>/bin/postrider`.

use std::ffi::OsString;
use std::path::PathBuf;

/// The library with MPICH's ABI, in the folder of our libraries.
pub const OTHER_LIBRARY: &str = "libmpi.so.12";

/// The installation's prefix.
pub fn prefix() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?.canonicalize().ok()?;
    Some(executable.parent()?.parent()?.to_owned())
}

/// The folder of our libraries, if they are installed.
pub fn libraries() -> Option<PathBuf> {
    Some(prefix()?.join("lib")).filter(|folder| folder.join("libmpi_abi.so.1").exists())
}

/// The folder of our functions for Octave, if they are installed.
pub fn octave_functions() -> Option<PathBuf> {
    Some(prefix()?.join("share/postrider/octave")).filter(|folder| folder.is_dir())
}

/// `OCTAVE_PATH` with our functions in front of the user's own, if they are installed.
pub fn octave_path() -> Option<OsString> {
    let mut path = octave_functions()?.into_os_string();
    if let Some(users) = std::env::var_os("OCTAVE_PATH").filter(|users| !users.is_empty()) {
        path.push(":");
        path.push(users);
    }
    Some(path)
}
