//! The link step: from the static library that Cargo builds to `libmpi_abi.so.1` (section 20.2 of the standard names it so), and
//! from its build for MPICH's ABI to `libmpi.so.12`.
//!
//! Cargo could build a shared library itself, but not this one: every function needs a second name, with PMPI_ before it, for
//! the same code, and nothing but these names may be seen from outside. So the system's linker makes the library from
//! the static one, and so it makes the libraries with our I/O that are loaded before another library, with three texts written here: a version script that says what is exported, a response file with the
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
/// The library with MPICH's ABI. Nothing is compiled for it here, so the linker need not find it.
pub const MPICH_SONAME: &str = "libmpi.so.12";
/// What Debian calls that library.
pub const MPICH_OTHER_NAME: &str = "libmpich.so.12";

/// What links for this machine.
pub const COMPILER: &str = "cc";

/// What the linker finds under the name without a version. The file it names is looked for beside this one first, so that it
/// works by `-L` and `-l` as well as by its full path.
const LINKER_SCRIPT: &str = "/* GNU ld script */\nINPUT(libmpi_abi.so.1)\n";

/// What `crates/ipc-preload` defines.
#[rustfmt::skip]
const IPC_NAMES: &[&str] = &[
    "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semtimedop", "semctl", "shmget", "shmat", "shmdt", "shmctl", "ftok", "syscall",
    "fork", "_exit", "_Exit", "wait", "waitpid", "wait3", "wait4", "waitid", "setuid", "seteuid", "setreuid", "setresuid",
    "open", "open64", "openat", "openat64", "fopen", "fopen64", "dlopen",
    "sigaction", "signal", "sigprocmask", "pthread_sigmask", "read", "pread", "pread64", "write", "pwrite", "pwrite64", "readv", "writev",
    "send", "sendto", "sendmsg", "recv", "recvfrom", "recvmsg", "fread", "fwrite",
];

/// The names that a library exports.
#[derive(Clone, Default)]
pub struct Names {
    /// Functions, which have profiling names, too.
    pub functions: Vec<String>,
    /// Other names of functions, each with the name that is defined; they are among the functions.
    pub aliases: Vec<(String, String)>,
    /// Names without a profiling name.
    pub only: Vec<String>,
}

impl Names {
    /// Those of the standard ABI: `crates/abi/names.txt`.
    pub fn standard() -> Result<Self> {
        Ok(Self { functions: workspace::function_names()?, ..Self::default() })
    }

    /// Those of MPICH's ABI: all of the standard's, and what `crates/abi/names-mpich.txt` adds.
    pub fn mpich() -> Result<Self> {
        let mut names = Self::standard()?;
        let path = workspace::root().join("crates/abi/names-mpich.txt");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for line in text.lines() {
            match line.split_once(' ') {
                None => names.functions.push(line.to_owned()),
                Some((name, "only")) => names.only.push(name.to_owned()),
                Some((name, other)) => {
                    names.functions.push(name.to_owned());
                    names.aliases.push((name.to_owned(), other.trim_start_matches("= ").to_owned()));
                }
            }
        }
        Ok(names)
    }

    /// Those of the C library that belong to System V IPC, and what has to be known of a process for it.
    pub fn ipc() -> Self {
        let only = IPC_NAMES.iter().map(|name| (*name).to_owned()).collect();
        Self { only, ..Self::default() }
    }

    /// Those of them that the library has which is loaded before another one, for its files.
    pub fn of_io(self) -> Self {
        let is_its = |name: &str| name.starts_with("MPI_File_") || name.starts_with("MPI_Register_datarep");
        let is_its = |name: &str| is_its(name) || name == "MPI_Errhandler_free";
        Self {
            functions: self.functions.into_iter().filter(|name| is_its(name)).collect(),
            aliases: self.aliases.into_iter().filter(|(name, _)| is_its(name)).collect(),
            only: vec!["postrider_io".to_owned()],
        }
    }

    /// Those in whose place the library works that makes calls asynchronous: for files everywhere, for messages on the processor that they are
    /// written for. It has no profiling names, by which others go past it.
    pub fn of_overlap() -> Result<Self> {
        let mut only = Vec::new();
        let of_messages = cfg!(target_arch = "x86_64").then_some("names-x86_64.txt");
        for file in ["names.txt"].into_iter().chain(of_messages) {
            let path = workspace::root().join("crates/overlap-preload").join(file);
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            only.extend(text.lines().map(str::to_owned));
        }
        Ok(Self { only, ..Self::default() })
    }
}

/// The version script: these names and their profiling names are exported, all others are local.
fn version_script(names: &Names) -> String {
    let mut script = String::from("{\n  global:\n");
    for name in &names.functions {
        writeln!(script, "    {name}; P{name};").expect("memory");
    }
    for name in &names.only {
        writeln!(script, "    {name};").expect("memory");
    }
    script + "  local:\n    *;\n};\n"
}

/// Linker options that define the other names and the profiling names, one a line.
fn second_names(names: &Names) -> String {
    let aliases = names.aliases.iter().map(|(name, other)| format!("-Wl,--defsym={name}={other}\n"));
    let profiling = names.functions.iter().map(|name| format!("-Wl,--defsym=P{name}={name}\n"));
    aliases.chain(profiling).collect()
}

/// Has a compiler link the static library `archive` to `folder/libmpi_abi.so.1` with these names, and writes `folder/libmpi_abi.so`. The
/// texts for the linker go to `scratch`. Returns the path of the library.
pub fn link(compiler: &str, archive: &Path, names: &Names, scratch: &Path, folder: &Path) -> Result<PathBuf> {
    let library = link_as(SONAME, compiler, archive, names, scratch, folder)?;
    workspace::replace(&folder.join(LINKER_NAME), |new| Ok(std::fs::write(new, LINKER_SCRIPT)?))?;
    Ok(library)
}

/// The same for MPICH's ABI, where the library has a second name in the file system.
pub fn link_mpich(
    compiler: &str,
    archive: &Path,
    names: &Names,
    scratch: &Path,
    folder: &Path,
) -> Result<PathBuf> {
    let library = link_as(MPICH_SONAME, compiler, archive, names, scratch, folder)?;
    let linked = |new: &Path| Ok(std::os::unix::fs::symlink(MPICH_SONAME, new)?);
    workspace::replace(&folder.join(MPICH_OTHER_NAME), linked)?;
    Ok(library)
}

/// Links the static library `archive` to `folder/soname` with these names.
pub fn link_as(
    soname: &str,
    compiler: &str,
    archive: &Path,
    names: &Names,
    scratch: &Path,
    folder: &Path,
) -> Result<PathBuf> {
    std::fs::create_dir_all(scratch).with_context(|| scratch.display().to_string())?;
    let (exports, aliases) = (scratch.join("exports.map"), scratch.join("names.rsp"));
    std::fs::write(&exports, version_script(names)).with_context(|| exports.display().to_string())?;
    std::fs::write(&aliases, second_names(names)).with_context(|| aliases.display().to_string())?;

    let library = folder.join(soname);
    workspace::replace(&library, |new| {
        let mut command = Command::new(compiler);
        command.args(["-shared", "-fPIC", "-o"]).arg(new);
        command.arg("-Wl,--whole-archive").arg(archive).arg("-Wl,--no-whole-archive");
        command.arg(format!("-Wl,-soname,{soname}"));
        command.arg(format!("-Wl,--version-script={}", exports.display()));
        command.arg(format!("@{}", aliases.display()));
        // Whatever the names do not need is left out, and what is missing is an error here and not in the user's program.
        command.args(["-Wl,--gc-sections", "-Wl,-z,defs"]);
        // The library starts threads and keeps thread-local data, so it must stay where it is once it has been loaded.
        command.args(["-Wl,-z,nodelete", "-Wl,-z,relro", "-Wl,-z,now"]);
        command.args(["-lpthread", "-ldl", "-lm", "-lrt", "-lc"]);
        workspace::run(&mut command)
    })?;
    Ok(library)
}

#[cfg(test)]
mod tests;
