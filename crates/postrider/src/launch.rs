//! From a command line to processes: which rank runs what, with which environment, and why a program did not start.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use postrider_os::job::{ENV_APPLICATION, ENV_CENTRAL, ENV_DIRECTORY, ENV_JOB, ENV_PARENT, ENV_RANK};
use postrider_os::launch::{Inheritance, tie};
use rustix::fs::OFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};

use crate::flags::Section;
use crate::installation;
use crate::overlap;

/// Where the loader looks for libraries, before the run paths of programs.
pub const ENV_LIBRARY_PATH: &str = "LD_LIBRARY_PATH";
/// Where mpi4py's wheels look for a library first.
pub const ENV_MPI4PY_LIBRARY: &str = "MPI4PY_LIBMPI";

/// Why a rank did not start, and the exit code that goes with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// The job's exit code.
    pub exit_code: i32,
    /// What, where, and what to do about it.
    pub message: String,
}

impl Refusal {
    /// A refusal for a reason of the system's.
    pub fn new(exit_code: i32, message: impl fmt::Display) -> Self {
        Self { exit_code, message: message.to_string() }
    }
}

/// One program of a job and how many ranks run it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Application {
    /// Number of ranks.
    pub ranks: u32,
    /// What is run, as it was given.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it starts, if not here.
    pub wdir: Option<OsString>,
    /// Its variables; a later one of the same name counts.
    pub variables: Vec<(OsString, OsString)>,
}

impl Application {
    /// What `section` asks for, with the job's `variables` below its own.
    pub fn new(section: Section, cores: u32, variables: &[(OsString, OsString)]) -> Self {
        let mut words = section.command.into_iter();
        let program = words.next().unwrap_or_default();
        let mut variables = variables.to_vec();
        variables.extend(pairs(section.env));
        variables.extend(section.export.iter().filter_map(|text| exported(text)));
        let arguments = quiet_octave(&program).into_iter().map(OsString::from).chain(words).collect();
        Self {
            ranks: section.ranks.unwrap_or(cores),
            program,
            arguments,
            wdir: section.wdir.map(OsString::from),
            variables,
        }
    }

    /// The program as it was given, for people.
    pub fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Whether the user has set variable `name` for this program.
    pub fn sets(&self, name: &str) -> bool {
        self.variables.iter().any(|(set, _)| set == name)
    }

    /// Sets `variables` unless the user has set them for this program.
    pub fn set_below(&mut self, variables: &[(OsString, OsString)]) {
        self.variables.splice(0..0, variables.iter().cloned());
    }

    fn why_not(&self, error: &io::Error) -> Refusal {
        let name = self.program.display();
        let as_path = Path::new(self.wdir.as_deref().unwrap_or_default()).join(&self.program);
        let is_path = self.program.as_encoded_bytes().contains(&b'/');
        match error.kind() {
            io::ErrorKind::NotFound if is_path && as_path.is_file() => Refusal::new(
                127,
                format!("cannot run {name}: the interpreter that it asks for does not exist"),
            ),
            io::ErrorKind::NotFound if is_path => Refusal::new(127, format!("program not found: {name}")),
            io::ErrorKind::NotFound if as_path.is_file() => {
                Refusal::new(127, format!("program not found in PATH: {name} (did you mean ./{name} ?)"))
            }
            io::ErrorKind::NotFound => Refusal::new(127, format!("program not found in PATH: {name}")),
            _ if as_path.is_dir() => Refusal::new(126, format!("cannot run {name}: it is a directory")),
            io::ErrorKind::PermissionDenied => {
                Refusal::new(126, format!("cannot run {name}: it is not executable (chmod +x {name} ?)"))
            }
            _ => Refusal::new(126, format!("cannot run {name}: {error}")),
        }
    }
}

/// What all ranks of a job have in common.
#[derive(Debug)]
pub struct Surroundings {
    /// The value of `POSTRIDER_JOB`.
    pub job: String,
    /// The job's directory, if its transport needs one.
    pub directory: Option<PathBuf>,
    /// The job's directory that all hosts see, if messages go through it.
    pub central: Option<PathBuf>,
    /// `OMP_NUM_THREADS` for ranks whose user has not chosen it.
    pub threads: u32,
    /// The port at which those who spawned the job wait for it, if it was spawned.
    pub parent: Option<String>,
    /// Where Octave finds our functions, if they are installed.
    pub octave_path: Option<OsString>,
    /// The folder of our libraries, if they are installed.
    pub libraries: Option<PathBuf>,
    /// What the ranks have from whoever has started the job.
    pub inheritance: Inheritance,
}

/// A rank that has been started.
#[derive(Debug)]
pub struct Started {
    /// Its process, which leads a process group of its own.
    pub pid: u32,
    /// The launcher's end of its output; reading does not block.
    pub output: OwnedFd,
    /// The launcher's end of its error output; reading does not block.
    pub error: OwnedFd,
    /// The launcher's end of its input, if the launcher feeds it; writing does not block.
    pub input: Option<File>,
}

/// What a rank reads as its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    Nothing,
    /// The launcher's own input, which is a file or a pipe.
    Ours,
    /// What the launcher passes on from the terminal.
    Fed,
}

/// Starts rank `rank` of the job as part `number` of its command line.
pub fn start(
    application: &Application,
    number: usize,
    rank: u32,
    input: Input,
    surroundings: &Surroundings,
) -> Result<Started, Refusal> {
    let mut command = Command::new(&application.program);
    command.args(&application.arguments);
    set_environment(&mut command, application, number, rank, surroundings);
    if let Some(wdir) = application.wdir.as_deref().map(Path::new) {
        if !wdir.is_dir() {
            return Err(Refusal::new(1, format!("--wdir {}: there is no such directory", wdir.display())));
        }
        command.current_dir(wdir);
    }
    let no_pipe = |error| Refusal::new(1, format!("cannot make the pipes of rank {rank}: {error}"));
    let (output, write_output) = pipe_to_us().map_err(no_pipe)?;
    let (error, write_error) = pipe_to_us().map_err(no_pipe)?;
    command.stdout(write_output).stderr(write_error);
    command.stdin(match input {
        Input::Nothing => Stdio::null(),
        Input::Ours => Stdio::inherit(),
        Input::Fed => Stdio::piped(),
    });
    tie(&mut command, surroundings.inheritance.clone());
    let mut child = command.spawn().map_err(|error| application.why_not(&error))?;
    let input = child.stdin.take().map(|pipe| File::from(OwnedFd::from(pipe)));
    if let Some(pipe) = &input {
        rustix::fs::fcntl_setfl(pipe, OFlags::NONBLOCK).map_err(|e| no_pipe(e.into()))?;
    }
    Ok(Started { pid: child.id(), output, error, input })
}

fn set_environment(
    command: &mut Command,
    application: &Application,
    number: usize,
    rank: u32,
    surroundings: &Surroundings,
) {
    let chosen = application.sets("OMP_NUM_THREADS") || std::env::var_os("OMP_NUM_THREADS").is_some();
    if !chosen {
        command.env("OMP_NUM_THREADS", surroundings.threads.to_string());
    }
    if let Some(path) = &surroundings.octave_path {
        command.env("OCTAVE_PATH", path);
    }
    command.envs(application.variables.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &surroundings.libraries {
        command.envs(lead_to(folder, application));
    }
    command.env(ENV_JOB, &surroundings.job).env(ENV_RANK, rank.to_string());
    command.env(ENV_APPLICATION, number.to_string());
    match &surroundings.parent {
        Some(port) => command.env(ENV_PARENT, port),
        None => command.env_remove(ENV_PARENT),
    };
    let directories = [(ENV_DIRECTORY, &surroundings.directory), (ENV_CENTRAL, &surroundings.central)];
    for (name, directory) in directories {
        match directory {
            Some(directory) => command.env(name, directory),
            None => command.env_remove(name),
        };
    }
}

/// What lets programs find our libraries that were not compiled here: those that ask for MPICH's, and mpi4py's wheels.
fn lead_to(folder: &Path, application: &Application) -> Vec<(&'static str, OsString)> {
    let chosen = |name: &str| {
        let own = application.variables.iter().rev().find(|(set, _)| set == name);
        own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
    };
    let overlap = overlap::library(folder, application);
    let preload = overlap.and_then(|library| overlap::preload(application, [library].into_iter()));
    let mut path = folder.as_os_str().to_owned();
    if let Some(rest) = chosen(ENV_LIBRARY_PATH).filter(|rest| !rest.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    let library = folder.join(installation::OTHER_LIBRARY);
    let wheel = (chosen(ENV_MPI4PY_LIBRARY).is_none() && library.exists())
        .then(|| (ENV_MPI4PY_LIBRARY, library.into_os_string()));
    let preload = preload.map(|libraries| (overlap::ENV_PRELOAD, libraries));
    [(ENV_LIBRARY_PATH, path)].into_iter().chain(wheel).chain(preload).collect()
}

/// A pipe whose reading end is ours and does not block; the rank's end is an ordinary one.
fn pipe_to_us() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    Ok((ours, theirs))
}

/// What Octave needs to be told to keep quiet: no window, no banner, no history of its commands.
fn quiet_octave(program: &OsStr) -> Vec<&'static str> {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    match name.strip_prefix("octave") {
        Some(rest) if rest.is_empty() || rest.starts_with('-') && rest != "-config" => {
            vec!["--no-gui", "--quiet", "--no-history"]
        }
        _ => Vec::new(),
    }
}

/// `NAME VALUE NAME VALUE` as pairs.
pub fn pairs(words: Vec<OsString>) -> Vec<(OsString, OsString)> {
    let mut words = words.into_iter();
    std::iter::from_fn(|| Some((words.next()?, words.next()?))).collect()
}

/// `NAME=VALUE` as a pair. A lone `NAME` has the value that it has here, if any.
fn exported(text: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = text.as_encoded_bytes();
    let Some(equals) = memchr::memchr(b'=', bytes) else {
        return Some((text.to_owned(), std::env::var_os(text)?));
    };
    let part = |bytes: &[u8]| std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec());
    Some((part(&bytes[..equals]), part(&bytes[equals + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_variables_have_their_first_equals_sign_as_separator() {
        assert_eq!(exported(OsStr::new("A=b=c")), Some(("A".into(), "b=c".into())));
        assert_eq!(exported(OsStr::new("POSTRIDER_TEST_UNSET")), None);
        assert_eq!(exported(OsStr::new("PATH")), std::env::var_os("PATH").map(|path| ("PATH".into(), path)));
    }

    #[test]
    fn only_octave_itself_is_made_quiet() {
        assert!(!quiet_octave(OsStr::new("/usr/bin/octave")).is_empty());
        assert!(!quiet_octave(OsStr::new("octave-cli-7.3.0")).is_empty());
        assert!(quiet_octave(OsStr::new("octave-config")).is_empty());
        assert!(quiet_octave(OsStr::new("octavette")).is_empty());
    }
}
