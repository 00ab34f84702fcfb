//! Where this installation is: found from the executable itself, so that it works from any place it is moved,
//! copied or linked to. The executable is `<prefix>/bin/postrider`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The library with MPICH's ABI, in the folder of our libraries.
pub const OTHER_LIBRARY: &str = "libmpi.so.12";

/// The libraries with our functions for files, which are loaded before another MPI library, in the order in which both can be: for the standard ABI, and
/// for MPICH's.
pub const IO_LIBRARIES: [&str; 2] = ["libpostrider_io.so", "libpostrider_io_mpich.so"];

/// The libraries that make calls asynchronous: for programs of the standard ABI, and for those of MPICH's.
pub const OVERLAP_LIBRARIES: [&str; 2] = ["libpostrider_overlap.so", "libpostrider_overlap_mpich.so"];

/// The installation's prefix.
pub fn prefix() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?.canonicalize().ok()?;
    Some(executable.parent()?.parent()?.to_owned())
}

/// The folder of our libraries, if they are installed.
pub fn libraries() -> Option<PathBuf> {
    Some(prefix()?.join("lib")).filter(|folder| folder.join("libmpi_abi.so.1").exists())
}

/// The folder of our functions for Octave, if they are installed: beside the rest, or, by Octave's `pkg`, around it.
pub fn octave_functions() -> Option<PathBuf> {
    let prefix = prefix()?;
    let around = prefix.parent().map(Path::to_owned);
    let folders = [Some(prefix.join("share/postrider/octave")), around];
    folders.into_iter().flatten().find(|folder| folder.join("postrider_call.mex").exists())
}

/// The package for Python, if it is installed: beside the rest, or, by a wheel, in the environment of an interpreter.
pub fn python_package() -> Option<PathBuf> {
    let prefix = prefix()?;
    let interpreters = std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
    let of_environment = interpreters.map(|folder| folder.path().join("site-packages/postrider"));
    let beside = prefix.join("share/postrider/python/postrider");
    [beside].into_iter().chain(of_environment).find(|package| package.join("__init__.py").exists())
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
