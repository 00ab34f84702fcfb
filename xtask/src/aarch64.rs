//! The library for AArch64, on a machine of another kind: a cross compiler builds it, and unit tests and C programs run under qemu.
//!
//! The launcher is the one of this machine. It and the tests start programs by their names, so the kernel has to know who runs executables of the
//! other: it is told in a namespace of our own, which takes Linux 6.7 or newer, no rights, and changes nothing for anybody else. What qemu cannot show is the order of memory: on a machine
//! that keeps stores in order they stay in order. The models are for that.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::link::{self, Names};
use crate::{exports, workspace};

/// Build for AArch64, and run unit tests and C programs under qemu.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only programs of these chapters.
    #[arg(long, value_delimiter = ',', default_values = CHAPTERS)]
    chapter: Vec<String>,
}

const MACHINE: &str = "aarch64-unknown-linux-gnu";
const COMPILER: &str = "aarch64-linux-gnu-gcc";
const QEMU: &str = "qemu-aarch64";
/// Where the compiler's packages have put the C library.
const SYSTEM: &str = "/usr/aarch64-linux-gnu";

/// What the library is made of. Their tests count, those of tools do not.
const PACKAGES: &[&str] = &[
    "postrider-abi",
    "postrider-client",
    "postrider-engine",
    "postrider-io",
    "postrider-libmpi",
    "postrider-os",
];

/// The chapters of `tests/` that run here: those whose programs take nothing but the library.
const CHAPTERS: &[&str] =
    &["collectives", "datatypes", "environment", "one-sided", "point-to-point", "topologies"];

/// The beginning of an executable of that machine, in which bytes with zeros in the second line do not count.
const MAGIC: &str = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00";
const MASK: &str = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff";

/// Builds and tests.
pub fn run(arguments: &Arguments) -> Result<()> {
    let setup = workspace::root().join("scripts/setup");
    workspace::run(Command::new(setup).arg("aarch64").current_dir(workspace::root()))?;
    let folder = workspace::target()?.join("aarch64");
    let installation = install(&folder)?;
    let mut tests = vec!["test", "--quiet", "--lib", "--target", MACHINE];
    PACKAGES.iter().for_each(|package| tests.extend(["--package", package]));
    // Damaged inputs by the thousand are for machines that take no time for them.
    let mut command = emulated(workspace::cargo().get_program().as_ref(), &folder)?;
    workspace::run(command.args(tests).env("PROPTEST_CASES", "32"))?;
    for chapter in &arguments.chapter {
        let mut programs = emulated(&std::env::current_exe()?, &folder)?;
        programs.args(["test", "--chapter", chapter, "--ranks", "3", "--transport", "shared-memory"]);
        programs.args(["--watchdog", "600", "--prefix"]).arg(&installation).env("POSTRIDER_CC", COMPILER);
        workspace::run(&mut programs)?;
    }
    Ok(())
}

/// The installation for this machine with the library for the other one.
fn install(folder: &Path) -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--target", MACHINE, "--package", "postrider-libmpi"]);
    workspace::run(in_folder(&mut cargo, folder))?;
    let (built, installation) = (folder.join(MACHINE).join("debug"), folder.join("installation"));
    let (names, libraries) = (Names::standard()?, installation.join("lib"));
    let library = link::link(COMPILER, &built.join("libmpi_abi.a"), &names, &built.join("link"), &libraries)?;
    exports::check(&library, &names)?;
    for part in ["bin", "include"] {
        workspace::copy(&workspace::installation().join(part), &installation.join(part))?;
    }
    Ok(installation)
}

/// Has Cargo build in this folder, with the compiler of that machine.
fn in_folder<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command.current_dir(workspace::root()).env("CARGO_TARGET_DIR", folder);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", COMPILER)
}

/// A program where executables of that machine run, too. Arguments can be added.
fn emulated(program: &Path, folder: &Path) -> Result<Command> {
    let path = std::env::var_os("PATH").context("PATH is not set")?;
    let qemu = std::env::split_paths(&path).map(|folder| folder.join(QEMU)).find(|path| path.exists());
    let qemu = qemu.with_context(|| format!("there is no {QEMU}"))?;
    let handlers = "/proc/sys/fs/binfmt_misc";
    let script = format!(
        "mount -t binfmt_misc none {handlers} && printf %s '{}' >{handlers}/register && exec \"$0\" \"$@\"",
        format_args!(":aarch64:M::{MAGIC}:{MASK}:{}:F", qemu.display())
    );
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).arg(program);
    in_folder(&mut command, folder).env("QEMU_LD_PREFIX", SYSTEM);
    Ok(command)
}
