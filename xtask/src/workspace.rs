//! Where things are, and how commands are run: what every subcommand needs.

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}

/// The installation that `cargo xtask build` makes.
pub fn installation() -> PathBuf {
    root().join("build")
}

/// The Cargo that runs this program.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// This program with other arguments.
pub fn xtask(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "xtask".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Cargo's target folder: CARGO_TARGET_DIR and the configuration files can move it.
pub fn target() -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version=1"]);
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let folder = metadata["target_directory"].as_str().context("cargo metadata names no target_directory")?;
    Ok(PathBuf::from(folder))
}

/// Runs a command to its end; an error says which command it was.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?} does not start"))?;
    if !status.success() {
        bail!("{command:?} fails: {status}");
    }
    Ok(())
}

/// The functions of the ABI, as `crates/abi/names.txt` lists them.
pub fn function_names() -> Result<Vec<String>> {
    let path = root().join("crates/abi/names.txt");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Puts a file in place of another one at once: a program that has the old one mapped or open keeps it.
pub fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let folder = path.parent().context("a file is in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let name = path.file_name().context("a file has a name")?.to_string_lossy();
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    write(&new).and_then(|()| Ok(std::fs::rename(&new, path)?)).inspect_err(|_| {
        // The error that is reported is the first one.
        let _ = std::fs::remove_file(&new);
    })
}

/// Removes a folder: a file that has left the repository leaves the installation, too.
pub fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

/// Copies a file, a link or a whole folder. Hidden files stay behind.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let kind = std::fs::symlink_metadata(from).with_context(|| from.display().to_string())?.file_type();
    if kind.is_dir() {
        std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
        for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
            let name = entry?.file_name();
            if !name.to_string_lossy().starts_with('.') {
                copy(&from.join(&name), &to.join(&name))?;
            }
        }
        return Ok(());
    }
    let write = |new: &Path| {
        if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(from)?, new)?;
        } else {
            std::fs::copy(from, new)?;
        }
        Ok(())
    };
    replace(to, write).with_context(|| format!("copying {} to {}", from.display(), to.display()))
}
