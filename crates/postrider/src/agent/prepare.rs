//! What an agent makes before the ranks of its host can start: the job's directory and segment, and their environment.
//!
//! Ranks of other hosts do not have the head's whole environment, as much of it means nothing there. They have their host's
//! own, with the variables that the head sends on top. Lists of directories (`PATH` and the like) are joined: those of the
//! head that exist here come first, then the host's own. So a program is found as the user finds it, if it is here.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use postrider_os::hosts::Placement;
use postrider_os::job::{self, Job, Shape};
use postrider_os::launch::Guard;
use postrider_os::process::cores;
use rustix::fs::{Access, access};

use crate::control::{Assignment, Messages, ToHead};
use crate::directory::{self, ENV_TEMPORARY, JobDirectory};
use crate::installation;
use crate::launch::{Application, Refusal, Surroundings};
use crate::links;
use crate::post::{ARRIVALS, Copying, Places, Post};
use crate::ranks::post_guard;
use crate::removal::remove_abandoned;

/// The file in the job's directory with the host-to-rank map.
const MAP: &str = "hosts";
/// Bits of the modes of files.
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// A host that has been prepared for its part of a job.
pub struct Prepared {
    /// The job's directory.
    pub directory: JobDirectory,
    assignment: Assignment,
    placement: Placement,
    cores: u32,
    temporary: PathBuf,
    /// Variables that are lists of directories, as the ranks of this host have them.
    paths: Vec<(OsString, OsString)>,
    warnings: Vec<String>,
}

/// What the ranks of this host start with.
pub struct Ready {
    /// The host's part of the job's shared memory.
    pub job: Arc<Job>,
    /// The programs, with the variables of this host.
    pub applications: Vec<Application>,
    /// What all ranks have in common.
    pub surroundings: Surroundings,
    /// Where links from other hosts arrive; none if there will be no post.
    pub letterbox: Option<OwnedFd>,
    /// The process that cleans up after us.
    pub guard: Guard,
}

/// Makes the job's directory on this host.
pub fn prepare(assignment: Assignment) -> Result<Prepared, Refusal> {
    let placement = Placement::new(assignment.host_of.clone())
        .filter(|placement| assignment.host < placement.hosts())
        .ok_or_else(|| Refusal::new(1, "the host-to-rank map has no ranks for this host"))?;
    let mut warnings = enter(Path::new(&assignment.working_directory));
    let paths = joined_paths(&assignment.paths, &mut warnings);
    let temporary = temporary(assignment.temporary.as_deref());
    directory::have_swept(&temporary);
    let directory = JobDirectory::create(&temporary).map_err(|error| Refusal::new(1, error))?;
    Ok(Prepared { directory, assignment, placement, cores: cores(), temporary, paths, warnings })
}

impl Prepared {
    /// What the head has to know.
    pub fn report(&self) -> ToHead {
        let directory = self.directory.path().display().to_string();
        ToHead::Prepared { directory, cores: self.cores, warnings: self.warnings.clone() }
    }

    /// The job as the head wants it.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// Makes what the ranks need, and posts the guard, while this process still has one thread.
    pub fn make_ready(&self) -> Result<Ready, Refusal> {
        let failed = |error: postrider_os::error::Error| Refusal::new(1, error);
        let assignment = &self.assignment;
        let ranks = self.placement.ranks_on(assignment.host).len() as u32;
        let transport = match assignment.messages {
            Messages::Memory => job::Transport::SharedMemory,
            Messages::Files | Messages::CopiedFiles(_) => job::Transport::File,
            Messages::Central(_) => job::Transport::Central,
        };
        // The same on all hosts: what fits one host's rings has to fit those of the others.
        let ring_bytes = Shape::default_ring_bytes(self.placement.most_on_a_host());
        let shape = Shape { cores: self.cores, transport, ring_bytes };
        let job = Job::create(shape, &self.placement, assignment.host).map_err(failed)?;
        let job = job.with_key(assignment.key);
        let central = match &assignment.messages {
            Messages::Central(directory) => Some(PathBuf::from(directory)),
            _ => None,
        };
        central.as_deref().map_or(Ok(()), check_central)?;
        let surroundings = Surroundings {
            job: job.environment(),
            directory: Some(self.directory.path().to_owned()),
            central,
            threads: (self.cores / ranks).max(1),
            parent: None,
            octave_path: None,
            libraries: installation::libraries(),
            inheritance: assignment.inheritance.clone(),
        };
        let temporary = (self.temporary != std::env::temp_dir())
            .then(|| (OsString::from(ENV_TEMPORARY), self.temporary.clone().into_os_string()));
        let variables: Vec<_> =
            assignment.variables.iter().chain(&self.paths).cloned().chain(temporary).collect();
        let mut applications = assignment.applications.clone();
        applications.iter_mut().for_each(|application| application.set_below(&variables));
        let letterbox = self.letterbox().map_err(|error| {
            let path = self.directory.path().display();
            Refusal::new(1, format!("cannot listen for other hosts in {path}: {error}"))
        })?;
        let guard = post_guard(surroundings.job.clone(), self.temporary.clone())?;
        Ok(Ready { job: Arc::new(job), applications, surroundings, letterbox, guard })
    }

    /// Makes what other hosts look for in the job's directory: they may have started their ranks, and send, before this one hears that it is
    /// to start its own.
    fn letterbox(&self) -> io::Result<Option<OwnedFd>> {
        let (path, messages) = (self.directory.path(), &self.assignment.messages);
        // Lock files in a central directory are announced by the post, also to the ranks of a single host.
        if self.placement.hosts() == 1 && !matches!(messages, Messages::Central(_)) {
            return Ok(None);
        }
        if matches!(messages, Messages::CopiedFiles(_)) {
            DirBuilder::new().mode(0o700).create(path.join(ARRIVALS))?;
        }
        links::listener(path).map(Some)
    }

    /// Starts the threads that carry messages to other hosts, or look for them in a central directory.
    pub fn start_post(&self, job: &Arc<Job>, directories: &[String]) -> Result<Post, Refusal> {
        let assignment = &self.assignment;
        let named = assignment.hosts.iter().cloned().zip(directories.iter().map(PathBuf::from));
        let (mut central, mut copying) = (None, None);
        match &assignment.messages {
            Messages::Central(directory) => central = Some(PathBuf::from(directory)),
            Messages::CopiedFiles(command) => {
                let command = command.iter().map(OsString::from).collect();
                copying = Some(Copying { command, hosts: named.collect() });
            }
            Messages::Memory | Messages::Files => {}
        }
        let local = self.directory.path().to_owned();
        let post = Post::start(Arc::clone(job), Some(Places { local, central, copying }), assignment.silence);
        post.map_err(|error| Refusal::new(1, format!("cannot start the post: {error}")))
    }

    /// Writes the host-to-rank map: a line with rank, host and job directory for each rank.
    pub fn write_map(&self, directories: &[String]) -> Result<(), Refusal> {
        let mut text = String::new();
        for (rank, &host) in self.assignment.host_of.iter().enumerate() {
            let name = &self.assignment.hosts[host as usize];
            let directory = directories.get(host as usize).map_or("", String::as_str);
            let _infallible = writeln!(text, "{rank} {name} {directory}");
        }
        let path = self.directory.path().join(MAP);
        fs::write(&path, text).map_err(|error| {
            Refusal::new(
                1,
                format!(
                    "cannot write {}: {error} (TMPDIR chooses where job directories are made)",
                    path.display()
                ),
            )
        })
    }
}

impl Prepared {
    /// Removes the directory that the head has made and cannot remove any more.
    pub fn remove_central(&self) {
        if let Messages::Central(directory) = &self.assignment.messages {
            let _as_well_as_possible = remove_abandoned(Path::new(directory));
        }
    }
}

/// The head has made the central directory; this host must see it.
fn check_central(directory: &Path) -> Result<(), Refusal> {
    directory::check_ours(directory).map_err(|error| {
        let advice = "--central needs a directory that all hosts see by the same name";
        Refusal::new(1, format!("{}: {error} ({advice})", directory.display()))
    })
}

/// Where job directories are made: where this host's own environment says, or that of the head, if that is a directory here that this user may
/// write, and in which no other user can exchange what this one makes.
fn temporary(heads: Option<&OsStr>) -> PathBuf {
    let own = std::env::var_os(ENV_TEMPORARY).filter(|own| !own.is_empty());
    let heads = heads.map(Path::new).filter(|place| own.is_none() && place.is_absolute() && place.is_dir());
    let usable = |place: &&Path| access(*place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    heads
        .filter(usable)
        .filter(|place| keeps_what_is_ours(place))
        .map_or_else(std::env::temp_dir, Path::to_owned)
}

/// Whether this directory and all above are root's or ours, and let only owners rename what is in them where everybody may write.
fn keeps_what_is_ours(directory: &Path) -> bool {
    let trusted = [0, rustix::process::getuid().as_raw()];
    let keeps = |path: &Path| {
        let open = |mode| mode & WRITABLE_BY_ALL != 0 && mode & STICKY == 0;
        path.metadata().is_ok_and(|found| trusted.contains(&found.uid()) && !open(found.mode()))
    };
    directory.canonicalize().is_ok_and(|resolved| resolved.ancestors().all(keeps))
}

/// Goes to the directory in which the head was started, or home where that does not exist.
fn enter(directory: &Path) -> Vec<String> {
    let Err(error) = std::env::set_current_dir(directory) else { return Vec::new() };
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let at_home = std::env::set_current_dir(&home);
    let instead = if at_home.is_ok() { home } else { std::env::current_dir().unwrap_or_default() };
    let (directory, instead) = (directory.display(), instead.display());
    vec![format!("cannot enter the working directory {directory} ({error}); the ranks start in {instead}")]
}

/// Lists of directories: what exists here of the head's, then the host's own. A directory that is the head's user's there may be anybody's here:
/// one that another user could have made is left out.
fn joined_paths(heads: &[(OsString, OsString)], warnings: &mut Vec<String>) -> Vec<(OsString, OsString)> {
    let mut joined = Vec::new();
    for (name, theirs) in heads {
        let own: Vec<PathBuf> = own_path(name).iter().flat_map(std::env::split_paths).collect();
        let existing = std::env::split_paths(theirs).filter(|path| path.is_absolute() && path.is_dir());
        let (strange, mut directories): (Vec<_>, Vec<_>) =
            existing.partition(|path| !own.contains(path) && may_be_anybodys(path));
        warnings.extend(strange.iter().map(|path| {
            let (name, path) = (name.display(), path.display());
            format!("{name} goes without {path}, which other users of this host could have made")
        }));
        for path in own {
            if !path.as_os_str().is_empty() && !directories.contains(&path) {
                directories.push(path);
            }
        }
        if let Some(value) = std::env::join_paths(directories).ok().filter(|value| !value.is_empty()) {
            joined.push((name.clone(), value));
        }
    }
    joined
}

/// Whether some user of this host, whoever it is, could have put this directory there, or something into it: it, or one above, is
/// neither root's nor ours and stands where everybody may write, or everybody may rename what is in it.
fn may_be_anybodys(directory: &Path) -> bool {
    let resolved = directory.canonicalize();
    let resolved = resolved.as_deref().unwrap_or(directory);
    stands_in_the_open(directory) || directory != resolved && stands_in_the_open(resolved)
}

fn stands_in_the_open(directory: &Path) -> bool {
    let trusted = [0, rustix::process::getuid().as_raw()];
    let mut in_the_open = false;
    for path in directory.ancestors().collect::<Vec<_>>().into_iter().rev() {
        let Ok(found) = path.symlink_metadata() else { return true };
        if in_the_open && !trusted.contains(&found.uid()) {
            return true;
        }
        in_the_open = !found.is_symlink() && found.mode() & WRITABLE_BY_ALL != 0;
        if in_the_open && found.mode() & STICKY == 0 {
            return true;
        }
    }
    in_the_open
}

/// What this host itself has; our own library and functions included.
fn own_path(name: &OsStr) -> Option<OsString> {
    let own = std::env::var_os(name);
    if name == "OCTAVE_PATH" {
        return installation::octave_path().or(own);
    }
    if name != "LD_LIBRARY_PATH" {
        return own;
    }
    let library = installation::libraries();
    let mut path = own.unwrap_or_default();
    if let Some(library) = library {
        path.push(":");
        path.push(library);
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn job_directories_are_made_where_no_other_user_can_exchange_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let (above, place) = (folder.path().join("above"), folder.path().join("above/place"));
        fs::create_dir_all(&place).expect("it can be made");
        for (path, mode, keeps) in
            [(&place, 0o1777, true), (&place, 0o777, false), (&above, 0o777, false), (&above, 0o1777, true)]
        {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(keeps_what_is_ours(&place), keeps, "{} with mode {mode:o}", path.display());
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        assert!(!keeps_what_is_ours(&place.join("missing")));
    }

    #[test]
    fn directories_that_anybody_could_have_made_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let (above, bin) = (folder.path().join("above"), folder.path().join("above/bin"));
        fs::create_dir_all(&bin).expect("it can be made");
        let list = std::env::join_paths([&bin]).expect("a list");
        let joined = |warnings: &mut Vec<String>| {
            let joined = joined_paths(&[("POSTRIDER_TEST_UNSET".into(), list.clone())], warnings);
            !joined.is_empty()
        };
        let allow = |path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        let mut warnings = Vec::new();
        assert!(joined(&mut warnings) && warnings.is_empty(), "{warnings:?}");
        for (path, mode, is_left_out) in
            [(&bin, 0o777, true), (&bin, 0o1777, true), (&above, 0o777, true), (&above, 0o1777, false)]
        {
            allow(path, mode);
            assert_eq!(joined(&mut warnings), !is_left_out, "{} with mode {mode:o}", path.display());
            assert_eq!(!warnings.is_empty(), is_left_out);
            assert!(warnings.drain(..).all(|warning| warning.contains(&*bin.to_string_lossy())));
            allow(path, 0o755);
        }
    }
}
