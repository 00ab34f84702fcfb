//! Fortran: the library `libmpifort_abi.so.1` and the sources of the modules, both made from `include/mpi.h` and
//! `crates/abi/fortran.txt`; what no table can say is C, in `fortran/`. No Fortran compiler is needed here: `mpifort` makes
//! the modules for the compiler that it drives.

mod facts;
mod header;
mod library;
mod modules;
mod signature;
pub mod tests;

use crate::link::COMPILER;
use crate::workspace;
use anyhow::{Context, Result};
use facts::Facts;
use header::{Argument, Function};
use signature::Signature;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What programs ask for at run time, and what the linker finds.
pub const SONAME: &str = "libmpifort_abi.so.1";
const LINKER_NAME: &str = "libmpifort_abi.so";

/// The C sources that are written by hand.
const BY_HAND: [&str; 6] =
    ["attributes.c", "by_hand.c", "callbacks.c", "copies.c", "removed.c", "sections.c"];

/// Functions that only Fortran has, as C would declare them.
const ONLY_FORTRAN: [(&str, &[&str]); 4] = [
    ("F_sync_reg", &["void *buf"]),
    ("Sizeof", &["const void *x", "int *size"]),
    ("Status_f082f", &["const MPI_Status *f08_status", "int f_status[]"]),
    ("Status_f2f08", &["const int f_status[]", "MPI_Status *f08_status"]),
];

/// Makes the library and the sources of an installation.
pub fn build(installation: &Path, scratch: &Path) -> Result<()> {
    let text =
        |path: &str| std::fs::read_to_string(workspace::root().join(path)).with_context(|| path.to_owned());
    let header = text("include/mpi.h")?;
    let signatures = signatures(&header, &text("crates/abi/fortran.txt")?)?;
    let constants = header::constants(&header);
    let sources = [
        ("mpi_f08.f90", modules::of_f08(&constants, &signatures, &text("fortran/callbacks.f90")?)),
        ("mpi.f90", modules::of_old(&constants, &signatures)),
        ("mpif.h", modules::include_file(&constants, &signatures)),
    ];
    let folder = installation.join("share/postrider/fortran");
    for (name, text) in sources {
        workspace::replace(&folder.join(name), |new| Ok(std::fs::write(new, text)?))?;
    }
    link(&library::source(&signatures), installation, scratch)
}

/// For each function that Fortran has, by its name in C, in which of its interfaces.
pub fn forms() -> Result<BTreeMap<String, &'static str>> {
    let text =
        |path: &str| std::fs::read_to_string(workspace::root().join(path)).with_context(|| path.to_owned());
    let signatures = signatures(&text("include/mpi.h")?, &text("crates/abi/fortran.txt")?)?;
    let form = |one: &Signature| {
        let twin = signatures.iter().find(|other| other.large && other.name == format!("{}_c", one.name));
        match twin {
            _ if one.old => "`mpi`, `mpif.h`",
            Some(twin) if !modules::differs(one, twin) => "all; `_c` in `mpi_f08`",
            Some(_) => "all; large counts in `mpi_f08`",
            None => "all",
        }
    };
    Ok(signatures.iter().map(|one| (format!("MPI_{}", one.name), form(one))).collect())
}

/// All functions that Fortran has.
fn signatures(header: &str, table: &str) -> Result<Vec<Signature>> {
    let facts = Facts::read(table)?;
    let mut functions = header::functions(header)?;
    for (name, arguments) in ONLY_FORTRAN {
        let arguments: Vec<Argument> =
            arguments.iter().map(|text| header::argument(text)).collect::<Result<_>>()?;
        functions.push(Function { name: name.to_owned(), result: "int".to_owned(), arguments });
    }
    Ok(functions.iter().filter_map(|function| Signature::new(function, &facts)).collect())
}

/// Compiles the library.
fn link(source: &str, installation: &Path, scratch: &Path) -> Result<()> {
    std::fs::create_dir_all(scratch).with_context(|| scratch.display().to_string())?;
    let generated = scratch.join("functions.c");
    std::fs::write(&generated, source).with_context(|| generated.display().to_string())?;
    let (folder, libraries) = (workspace::root().join("fortran"), installation.join("lib"));
    workspace::replace(&libraries.join(SONAME), |new| {
        let mut command = Command::new(COMPILER);
        command.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-maybe-uninitialized"]);
        command.arg("-o").arg(new);
        command.arg("-I").arg(&folder).arg("-I").arg(workspace::root().join("include"));
        command.arg(&generated).args(BY_HAND.map(|name| folder.join(name)));
        // Functions are looked for when they are called: a library of C that lacks one serves programs that do not call it.
        command.args([&format!("-Wl,-soname,{SONAME}"), "-Wl,-z,defs", "-Wl,-z,lazy"]);
        // Without a program that says where the library of C is, it is beside this one.
        command.args(["-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"]);
        command.arg("-L").arg(&libraries).arg("-lmpi_abi").arg("-lpthread");
        workspace::run(&mut command)
    })?;
    workspace::replace(&libraries.join(LINKER_NAME), |new| Ok(std::os::unix::fs::symlink(SONAME, new)?))
}
