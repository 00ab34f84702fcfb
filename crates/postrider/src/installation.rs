//! Where this installation is: found from the executable itself, so that it works from any place it is moved,
//! copied or linked to. The executable is `<prefix>/bin/postrider`.

use std::ffi::OsString;
use std::path::PathBuf;

/// The installation's prefix.
pub fn prefix() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?.canonicalize().ok()?;
    Some(executable.parent()?.parent()?.to_owned())
}

/// The folder of our libraries, if they are installed.
pub fn libraries() -> Option<PathBuf> {
    Some(prefix()?.join("lib")).filter(|folder| folder.join("libmpi_abi.so.1").exists())
}

/// `OCTAVE_PATH` with our functions in front of the user's own, if they are installed.
pub fn octave_path() -> Option<OsString> {
    let ours = prefix()?.join("share/postrider/octave");
    if !ours.is_dir() {
        return None;
    }
    let mut path = ours.into_os_string();
    if let Some(users) = std::env::var_os("OCTAVE_PATH").filter(|users| !users.is_empty()) {
        path.push(":");
        path.push(users);
    }
    Some(path)
}
