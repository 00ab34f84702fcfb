//! The link step: from the static library that Cargo builds to `libmpi_abi.so.1` (section 20.2 of the standard names it so).
//!
//! Cargo could build a shared library itself, but not this one: every function needs a second name, with PMPI_ before it, for
//! the same code, and nothing but these names may be seen from outside. So the system's linker makes the library from
//! the static one, with three texts written here: a version script that says what is exported, a response file with the
//! second names, and a linker script through which `-lmpi_abi` finds the library.
//!
//! Both names are strong symbols at one address. The library never calls itself through them, so a preloaded tool that
//! defines MPI_Send and calls PMPI_Send gets between the program and the library, and between nothing else.

use crate::workspace;
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// File name of the library, and what programs ask for at run time.
pub const SONAME: &str = "libmpi_abi.so.1";
/// File name through which the linker finds the library.
pub const LINKER_NAME: &str = "libmpi_abi.so";

/// What the linker finds under the name without a version. The file it names is looked for beside this one first, so that it
/// works by `-L` and `-l` as well as by its full path.
const LINKER_SCRIPT: &str = "/* GNU ld script */\nINPUT(libmpi_abi.so.1)\n";

/// The version script: these names and their profiling names are exported, all others are local.
fn version_script(names: &[String]) -> String {
    let mut script = String::from("{\n  global:\n");
    for name in names {
        writeln!(script, "    {name}; P{name};").expect("memory");
    }
    script + "  local:\n    *;\n};\n"
}

/// Linker options that define the profiling names, one a line.
fn profiling_names(names: &[String]) -> String {
    names.iter().map(|name| format!("-Wl,--defsym=P{name}={name}\n")).collect()
}

/// Links the static library `archive` to `folder/libmpi_abi.so.1` with the functions `names` and their profiling names, and
/// writes `folder/libmpi_abi.so`. The texts for the linker go to `scratch`. Returns the path of the library.
pub fn link(archive: &Path, names: &[String], scratch: &Path, folder: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(scratch).with_context(|| scratch.display().to_string())?;
    let (exports, aliases) = (scratch.join("libmpi_abi.map"), scratch.join("libmpi_abi.rsp"));
    std::fs::write(&exports, version_script(names)).with_context(|| exports.display().to_string())?;
    std::fs::write(&aliases, profiling_names(names)).with_context(|| aliases.display().to_string())?;

    let library = folder.join(SONAME);
    workspace::replace(&library, |new| {
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-o"]).arg(new);
        command.arg("-Wl,--whole-archive").arg(archive).arg("-Wl,--no-whole-archive");
        command.arg(format!("-Wl,-soname,{SONAME}"));
        command.arg(format!("-Wl,--version-script={}", exports.display()));
        command.arg(format!("@{}", aliases.display()));
        // Whatever the names do not need is left out, and what is missing is an error here and not in the user's program.
        command.args(["-Wl,--gc-sections", "-Wl,-z,defs"]);
        // The library starts threads and keeps thread-local data, so it must stay where it is once it has been loaded.
        command.args(["-Wl,-z,nodelete", "-Wl,-z,relro", "-Wl,-z,now"]);
        command.args(["-lpthread", "-ldl", "-lm", "-lrt", "-lc"]);
        workspace::run(&mut command)
    })?;
    workspace::replace(&folder.join(LINKER_NAME), |new| Ok(std::fs::write(new, LINKER_SCRIPT)?))?;
    Ok(library)
}

#[cfg(test)]
mod tests;
