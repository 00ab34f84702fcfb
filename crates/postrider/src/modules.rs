//! The modules of Fortran, `mpi_f08` and `mpi`, for the compiler at hand.
//!
//! What a compiler makes of a module only it can read, often only in one version. So an installation has their source, and `mpifort` has it
//! compiled when a compiler comes for the first time: into a folder of the installation if it has been made there (`--make-modules`), else into the
//! user's cache. The folder's name depends on the compiler, its version and the source. Compilations that come at the same time wait for one of them,
//! and the folder gets its name when it is complete.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::compile::{command, joined};

/// The sources, in the order in which one needs another.
const SOURCES: [&str; 2] = ["mpi_f08.f90", "mpi.f90"];

/// A program with both modules.
const READER: &str =
    "subroutine new\n  use mpi_f08\nend subroutine\nsubroutine old\n  use mpi\nend subroutine\n";

/// What a compiler has to know.
const NEEDED: &str =
    "it has to know descriptors of Fortran 2018, as gfortran since version 12 and flang since version 22 do";

/// What is added for a compilation; the modules are there then.
pub fn flags(compiler: &OsStr, prefix: &Path) -> Result<Vec<OsString>, String> {
    let sources = sources(prefix);
    let version = version(compiler)?;
    let name = name(compiler, &version, &sources)?;
    let beside = sources.join("modules").join(&name);
    let folder = if beside.is_dir() { beside } else { made(&cache()?, &name, compiler, &sources)? };
    let mut flags = vec![joined("-I", &folder), joined("-I", &sources)];
    // mpif.h has no interfaces, so that one buffer is an integer and the next one is real.
    flags.extend(version.starts_with("GNU Fortran").then(|| "-fallow-argument-mismatch".into()));
    Ok(flags)
}

/// Makes the modules in the installation. Returns the exit code.
pub fn make_beside(compiler: &OsStr, prefix: &Path) -> i32 {
    let sources = sources(prefix);
    let make = || {
        made(&sources.join("modules"), &name(compiler, &version(compiler)?, &sources)?, compiler, &sources)
    };
    match make() {
        Ok(folder) => {
            println!("{}", folder.display());
            0
        }
        Err(error) => {
            eprintln!("postrider fortran: {error}");
            1
        }
    }
}

fn sources(prefix: &Path) -> PathBuf {
    prefix.join("share/postrider/fortran")
}

/// What the compiler says of itself.
fn version(compiler: &OsStr) -> Result<String, String> {
    let mut command = command(compiler);
    let output = command.arg("--version").output().map_err(|error| {
        let program = command.get_program().to_string_lossy();
        format!("cannot run the compiler {program}: {error} (POSTRIDER_FC chooses another compiler)")
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The name of the folder for this compiler and these sources.
fn name(compiler: &OsStr, version: &str, sources: &Path) -> Result<String, String> {
    let mut hash = DefaultHasher::new();
    (compiler, version).hash(&mut hash);
    for source in SOURCES {
        let path = sources.join(source);
        let metadata = fs::metadata(&path).map_err(|error| {
            format!("{}: {error}; the installation is not complete (`make install`)", path.display())
        })?;
        (metadata.len(), metadata.mtime(), metadata.mtime_nsec()).hash(&mut hash);
    }
    Ok(format!("{:016x}", hash.finish()))
}

/// The user's folder for what can be made again.
fn cache() -> Result<PathBuf, String> {
    let of_user =
        std::env::var_os("XDG_CACHE_HOME").filter(|path| Path::new(path).is_absolute()).map(PathBuf::from);
    let of_home = || Some(Path::new(&std::env::var_os("HOME")?).join(".cache"));
    let folder =
        of_user.or_else(of_home).ok_or("neither XDG_CACHE_HOME nor HOME says where modules can be kept")?;
    Ok(folder.join("postrider/fortran"))
}

/// The folder `kept/name` with the modules, which are made if it is not there.
fn made(kept: &Path, name: &str, compiler: &OsStr, sources: &Path) -> Result<PathBuf, String> {
    let folder = kept.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    let failed = |error: std::io::Error| format!("{}: {error}", kept.display());
    fs::create_dir_all(kept).map_err(failed)?;
    let lock = File::create(kept.join(format!("{name}.lock"))).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if folder.is_dir() {
        return Ok(folder);
    }
    let new = kept.join(format!("{name}.new"));
    if new.exists() {
        fs::remove_dir_all(&new).map_err(failed)?;
    }
    fs::create_dir(&new).map_err(failed)?;
    let reader = new.join("reader.f90");
    fs::write(&reader, READER).map_err(failed)?;
    let of_modules = SOURCES.map(|source| sources.join(source));
    // A compiler may make modules and then not read them.
    for (files, what) in [
        (&of_modules[..], "compile the modules"),
        (std::slice::from_ref(&reader), "read the modules that it has made"),
    ] {
        let output =
            command(compiler).arg("-fsyntax-only").args(files).current_dir(&new).output().map_err(failed)?;
        if !output.status.success() {
            return Err(format!(
                "{} does not {what}; {NEEDED}:\n{}",
                compiler.to_string_lossy(),
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    fs::remove_file(&reader).map_err(failed)?;
    fs::rename(&new, &folder).map_err(failed)?;
    Ok(folder)
}
