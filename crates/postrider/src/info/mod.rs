//! `postrider info`: what this installation has, and what this machine allows it. What keeps jobs from running is the business of
//! `postrider doctor`, from which the facts of the machine come.
//!
//! Files are looked at where they are, so an installation from which something is missing says so.

mod report;

use std::io::Write;
use std::path::{Path, PathBuf};

use postrider_os::process::allow_fences;
use serde::Serialize;

use crate::doctor::facts::{Facts, Temporary, found};
use crate::other_engine::{Engine, engines};
use crate::remote_shell::build_id;
use crate::{flags, installation, ipc};

/// All of it.
#[derive(Debug, Serialize)]
struct Info {
    version: &'static str,
    build: String,
    installation: PathBuf,
    libraries: Vec<Library>,
    transports: Transports,
    engines: Vec<Engine>,
    octave: FrontEnd,
    python: FrontEnd,
}

/// A library of the installation.
#[derive(Debug, Serialize)]
struct Library {
    name: &'static str,
    /// What it is for.
    what: String,
    is_installed: bool,
}

/// The ways of messages, and what stands in them.
#[derive(Debug, Serialize)]
struct Transports {
    /// Why ranks cannot share memory.
    shared_memory_error: Option<String>,
    /// Whether long messages are copied once, from process to process.
    single_copies: bool,
    /// Whether a thread can make others pass a fence, so that a lock costs its owner almost nothing.
    membarrier: bool,
    /// Where messages are that travel as files.
    files: Temporary,
    /// What reaches other hosts.
    ssh: Option<PathBuf>,
}

/// What a scripting language has of us.
#[derive(Debug, Serialize)]
struct FrontEnd {
    package: Option<PathBuf>,
    interpreter: Option<PathBuf>,
}

/// Prints it, and returns the exit code.
pub fn print(options: &flags::Info) -> i32 {
    let Some(prefix) = installation::prefix() else {
        eprintln!("postrider info: cannot tell where this installation is: /proc is not mounted");
        return 1;
    };
    let info = Info::of(prefix);
    let text = if options.json { report::json(&info) } else { report::text(&info) };
    // Whoever reads no further does not want to know more.
    let _read_or_not = std::io::stdout().lock().write_all(text.as_bytes());
    0
}

impl Info {
    fn of(prefix: PathBuf) -> Self {
        let facts = Facts::of_here();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            build: build_id(),
            libraries: libraries(&prefix),
            installation: prefix,
            transports: Transports {
                shared_memory_error: facts.shared_memory_error,
                single_copies: facts.single_copies,
                membarrier: allow_fences(),
                files: facts.temporary,
                ssh: found("ssh"),
            },
            engines: engines(),
            octave: FrontEnd { package: installation::octave_functions(), interpreter: found("octave") },
            python: FrontEnd { package: installation::python_package(), interpreter: found("python3") },
        }
    }
}

fn libraries(prefix: &Path) -> Vec<Library> {
    let header = std::fs::read_to_string(prefix.join("include/mpi.h")).unwrap_or_default();
    let version = |of: &str| {
        Some(format!("{}.{}", number(&header, of, "VERSION")?, number(&header, of, "SUBVERSION")?))
    };
    let standard = match (version("MPI_ABI_"), version("MPI_")) {
        (Some(abi), Some(mpi)) => format!("the standard ABI {abi} of MPI {mpi}"),
        _ => "the standard ABI of MPI (there is no include/mpi.h)".to_owned(),
    };
    let [io, io_of_mpich] = installation::IO_LIBRARIES;
    let [overlap, overlap_of_mpich] = installation::OVERLAP_LIBRARIES;
    let all = [
        ("libmpi_abi.so.1", &*standard),
        (installation::OTHER_LIBRARY, "MPICH's ABI, for programs compiled for MPICH and for mpi4py's wheels"),
        ("libmpifort_abi.so.1", "programs in Fortran, over the standard ABI"),
        (io, "the I/O chapter on other engines with the standard ABI: --io postrider"),
        (io_of_mpich, "the I/O chapter on other engines with MPICH's ABI: --io postrider"),
        (overlap, "blocking calls made asynchronous, with the standard ABI: --overlap"),
        (overlap_of_mpich, "blocking calls made asynchronous, with MPICH's ABI: --overlap"),
        (ipc::LIBRARY, "System V IPC of a job or of a name space: postrider ipc"),
    ];
    let library = |(name, what): (_, &str)| Library {
        name,
        what: what.to_owned(),
        is_installed: prefix.join("lib").join(name).exists(),
    };
    all.into_iter().map(library).collect()
}

/// The number that a header defines for a name in two parts.
fn number(header: &str, first: &str, second: &str) -> Option<u32> {
    let value = |line: &str| {
        line.strip_prefix("#define ")?
            .strip_prefix(first)?
            .strip_prefix(second)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    };
    header.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_which_abi_it_is() {
        let header =
            "#define MPI_VERSION        5\n#define MPI_ABI_VERSION    1\n#define MPI_ABI_SUBVERSION 0\n";
        assert_eq!(number(header, "MPI_", "VERSION"), Some(5));
        assert_eq!(number(header, "MPI_ABI_", "VERSION"), Some(1));
        assert_eq!(number(header, "MPI_ABI_", "SUBVERSION"), Some(0));
        assert_eq!(number(header, "MPI_", "SUBVERSION"), None);
    }
}
