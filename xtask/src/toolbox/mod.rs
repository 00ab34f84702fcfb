//! What else an installation brings: manual pages and completions, which the launcher writes itself, and files by which
//! pkg-config and environment modules find it. Like all of it they refer to their own place, so it can be moved.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// What pkg-config reads.
const PKG_CONFIG: [(&str, &str); 2] =
    [("mpi.pc", include_str!("mpi.pc")), ("mpifort.pc", include_str!("mpifort.pc"))];
/// What Environment Modules and Lmod read.
const MODULEFILE: &str = include_str!("modulefile");

/// Shells, with the places of completions, and what stands before and after the name of the command in the name of its file.
const SHELLS: &[(&str, &str, &str, &str)] = &[
    ("bash", "share/bash-completion/completions", "", ""),
    ("zsh", "share/zsh/site-functions", "_", ""),
    ("fish", "share/fish/vendor_completions.d", "", ".fish"),
];

/// Writes all of it to an installation that has its executables, whose names are `names`.
pub fn write(installation: &Path, names: &[&str]) -> Result<()> {
    let launcher = installation.join("bin/postrider");
    let manual = installation.join("share/man/man1");
    workspace::clear(&manual)?;
    workspace::run(Command::new(&launcher).arg("manual").arg(&manual))?;
    for (shell, folder, before, after) in SHELLS {
        let folder = installation.join(folder);
        workspace::clear(&folder)?;
        for name in names {
            let script = output(Command::new(&launcher).args(["completions", shell, name]))?;
            workspace::replace(&folder.join(format!("{before}{name}{after}")), |new| {
                Ok(std::fs::write(new, &script)?)
            })?;
        }
    }
    let folder = installation.join("lib/pkgconfig");
    for (name, text) in PKG_CONFIG {
        let package = text.replace("VERSION", env!("CARGO_PKG_VERSION"));
        workspace::replace(&folder.join(name), |new| Ok(std::fs::write(new, &package)?))?;
    }
    workspace::replace(&folder.join("postrider.pc"), |new| Ok(symlink("mpi.pc", new)?))?;
    let modulefile = installation.join("share/modulefiles/postrider");
    workspace::replace(&modulefile, |new| Ok(std::fs::write(new, MODULEFILE)?))
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

#[cfg(test)]
mod tests;
