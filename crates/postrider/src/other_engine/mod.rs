//! `postrider run --engine`: the same program on another MPI library, started by that library's own launcher.
//!
//! A program of the standard ABI asks for `libmpi_abi.so.1` by name, so it runs on whichever library of that name is found first.
//! `mpicc` leaves the place of ours in the program as a run path. `LD_LIBRARY_PATH` goes before that (it is written as
//! `DT_RUNPATH`); only before a `DT_RPATH`, which other compilers may have written, it does not, and then the library is
//! preloaded: the program's request for its name is met by what is loaded already. MPI is not preloaded otherwise, because that would
//! put it into every shell and tool that a rank starts. With `--io postrider` our functions for files are preloaded, for both ABIs, of which each program
//! takes its own; they bring no MPI. A process that ends up with Postrider's library all the same is told
//! so by `MPI_Init`, which compares `POSTRIDER_ENGINE`.
//!
//! This process becomes the other launcher, so that signals, output and exit codes are that launcher's.

mod installation;
mod launcher;
pub mod program;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postrider_os::job::ENV_ENGINE;
use serde::Serialize;

use crate::flags::{Io, Run, Transfer, Transport};
use crate::installation::{IO_LIBRARIES, libraries, octave_path};
use crate::launch::{Application, ENV_LIBRARY_PATH, ENV_MPI4PY_LIBRARY, Refusal};
use crate::overlap::{self, ENV_PRELOAD};

use installation::Installation;
pub(crate) use program::Program;

/// The name of this library as an engine, which is the default.
pub const OWN: &str = "postrider";

/// Another MPI library of this machine.
#[derive(Debug, Serialize)]
pub struct Engine {
    /// Which it is.
    pub library: &'static str,
    /// What it says of its version.
    pub version: Option<String>,
    /// Where it is; `--engine` takes that, too.
    pub prefix: PathBuf,
    /// The file names of its libraries.
    pub libraries: Vec<&'static str>,
}

/// What a job on another engine is to be.
pub(crate) struct Job {
    applications: Vec<Application>,
    /// For all ranks, below what the user has set.
    variables: Vec<(OsString, OsString)>,
    hosts: Option<Vec<String>>,
    label: bool,
    timeout: Option<Duration>,
    grace: Duration,
}

/// The engines that `--engine mpich` and `--engine openmpi` can find.
pub fn engines() -> Vec<Engine> {
    let engine = |installation: Installation| Engine {
        library: installation.launcher.library(),
        libraries: installation.libraries(),
        version: installation.launcher.version,
        prefix: installation.prefix,
    };
    Installation::all().into_iter().map(engine).collect()
}

/// Becomes the launcher of `engine`; returns only if that fails.
pub fn run(engine: &str, options: &Run, applications: Vec<Application>) -> Refusal {
    match prepare(engine, options, applications) {
        Ok(mut command) => {
            let error = command.exec();
            let launcher = command.get_program().display();
            Refusal::new(126, format!("the launcher {launcher} does not start: {error}"))
        }
        Err(message) => Refusal::new(2, format!("--engine {engine}: {message}")),
    }
}

fn prepare(
    engine: &str,
    options: &Run,
    mut applications: Vec<Application>,
) -> Result<std::process::Command, String> {
    refuse_own_options(options)?;
    let installation = Installation::find(engine)?;
    let io = if options.io == Io::Postrider { io_libraries(&installation)? } else { Vec::new() };
    for application in &mut applications {
        let program = Program::examine(application);
        let library = program.preload_on(&installation)?;
        let overlap = libraries().and_then(|folder| overlap::library(&folder, application));
        preload(application, overlap.into_iter().chain(io.iter().cloned()).chain(library));
    }
    let job = Job {
        variables: variables(&installation, &applications),
        applications,
        hosts: hosts(options)?,
        label: options.label,
        timeout: options.timeout,
        grace: options.grace,
    };
    Ok(installation.launcher.command(&job))
}

/// Our libraries for files, if they run on this library.
fn io_libraries(installation: &Installation) -> Result<Vec<PathBuf>, String> {
    let library = installation.launcher.library();
    if library != "MPICH" {
        let why = "has neither the standard ABI nor MPICH's, and --io postrider needs one of them; leave it out, or use --engine mpich";
        return Err(format!("{library} {why}"));
    }
    let folder = libraries()
        .ok_or("this installation has no lib beside its bin, and so nothing for --io postrider")?;
    let paths = IO_LIBRARIES.map(|name| folder.join(name));
    match paths.iter().find(|path| !path.exists()) {
        Some(missing) => Err(format!("--io postrider: there is no {}", missing.display())),
        None => Ok(paths.into()),
    }
}

/// Has the loader load these for a program.
fn preload(application: &mut Application, libraries: impl Iterator<Item = PathBuf>) {
    if let Some(all) = overlap::preload(application, libraries) {
        application.variables.push((ENV_PRELOAD.into(), all));
    }
}

/// Options that say how Postrider does something.
fn refuse_own_options(options: &Run) -> Result<(), String> {
    let own = [
        ("--transport file", options.transport == Transport::File),
        ("--transfer scp", options.transfer == Transfer::Scp),
        ("--central", options.central.is_some()),
    ];
    match own.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(format!("{option} is a way of Postrider's own; leave it out")),
        None => Ok(()),
    }
}

fn hosts(options: &Run) -> Result<Option<Vec<String>>, String> {
    let hosts = match (&options.hosts, &options.hostfile) {
        (Some(list), _) => crate::hosts::parse_list(list)?,
        (None, Some(file)) => crate::hosts::read_file(file)?,
        // Other launchers read the allocations of schedulers themselves.
        (None, None) => return Ok(None),
    };
    let entry = |host: &crate::hosts::Host| format!("{}:{}", host.name, host.slots.unwrap_or(1));
    Ok(Some(crate::hosts::merged(hosts).iter().map(entry).collect()))
}

/// The environment that all ranks have.
fn variables(installation: &Installation, applications: &[Application]) -> Vec<(OsString, OsString)> {
    let mut variables = vec![
        (ENV_LIBRARY_PATH.into(), before(&installation.libraries, ENV_LIBRARY_PATH)),
        (ENV_ENGINE.into(), installation.prefix.clone().into()),
    ];
    if let Some(library) = installation.own_library() {
        let chosen = std::env::var_os(ENV_MPI4PY_LIBRARY);
        variables.push((ENV_MPI4PY_LIBRARY.into(), chosen.unwrap_or_else(|| library.into())));
    }
    variables.extend(octave_path().map(|path| ("OCTAVE_PATH".into(), path)));
    if std::env::var_os("OMP_NUM_THREADS").is_none() {
        let ranks = applications.iter().map(|application| application.ranks).sum::<u32>();
        let threads = (postrider_os::process::cores() / ranks.max(1)).max(1);
        variables.push(("OMP_NUM_THREADS".into(), threads.to_string().into()));
    }
    variables
}

/// The value of a variable that is a list of paths, with `path` put in front.
fn before(path: &Path, variable: &str) -> OsString {
    let mut list = path.as_os_str().to_owned();
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        list.push(":");
        list.push(rest);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preloaded(set: &[&str], libraries: &[&str]) -> Option<OsString> {
        let variables = set.iter().map(|value| (ENV_PRELOAD.into(), value.into())).collect();
        let mut application =
            Application { ranks: 1, program: "true".into(), arguments: Vec::new(), wdir: None, variables };
        preload(&mut application, libraries.iter().map(PathBuf::from));
        application.variables.pop().map(|(_, value)| value)
    }

    #[test]
    fn what_the_user_preloads_comes_first_and_stays() {
        assert_eq!(preloaded(&["tool.so"], &["io.so", "mpi.so"]), Some("tool.so:io.so:mpi.so".into()));
        assert_eq!(preloaded(&["old.so", "tool.so"], &[]), Some("tool.so".into()));
    }
}
