//! How the agents of several hosts meet, before there is any connection between them: in rounds, in each of which every host shares
//! a text with all others.
//!
//! Where the launcher has a key-value space the lowest rank of each host does it. Otherwise, or when that does not answer, it is done in a
//! directory that all hosts see. Both ways carry the same texts, so hosts may differ in which one they have heard them by.
//! Nobody knows which one that is: so host 0 makes a private one in each of the candidates and writes a file `call` with
//! a number by chance into it, and each host answers where it finds a call. Answers name the call, so that what an earlier
//! attempt has left is never taken for an answer. Host 0 writes what all have answered, and removes the directories in the end.
//!
//! ```text
//! call                 the number
//! <round>-<host>       the number, and the text of the host
//! <round>-all          the number, and the texts of all hosts
//! ```
//!
//! Files appear under their names complete (they are renamed). A client of a network file system may not see new names
//! for long; it does after it has changed the directory itself, which every look begins with.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hash, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use postrider_os::standing::{hex, unhex};

use crate::directory::{self, Held};

/// Environment variable: the directory in which hosts meet.
pub const ENV_MEETING: &str = "POSTRIDER_RENDEZVOUS";
/// Environment variable: the directory through which all messages are to go; hosts meet there, too.
pub const ENV_CENTRAL: &str = "POSTRIDER_CENTRAL";
/// Parts of a directory in which hosts meet: for messages, and for words of agents.
const PARTS: [&str; 2] = [MESSAGES, AGENTS];
/// Where messages are.
pub const MESSAGES: &str = "messages";
/// Where agents write to each other.
pub const AGENTS: &str = "agents";
/// Directories that are tried without it, by the variables that name them; the working directory is tried as well.
const CANDIDATES: [&str; 2] = ["SLURM_SUBMIT_DIR", "HOME"];
const CALL: &str = "call";

/// The directories in which this host may meet the others.
#[derive(Debug)]
pub struct Meeting {
    host: u32,
    hosts: u32,
    directories: Vec<PathBuf>,
    /// Host 0: where it could not call, and why.
    refusals: Vec<String>,
    /// The number of the call that this host has made, or that has turned out to be host 0's.
    call: Option<String>,
    /// The call that this host has answered in each of the directories, in this round.
    answered: Vec<Option<String>>,
}

impl Meeting {
    /// The meeting of the job that its launcher calls `key`. Host 0 calls.
    ///
    /// # Errors
    /// When no directory can be used.
    pub fn new(key: &str, host: u32, hosts: u32) -> Result<Self, String> {
        let (directories, refusals) = (places(key), Vec::new());
        let mut meeting = Self { host, hosts, directories, refusals, call: None, answered: Vec::new() };
        if host == 0 {
            let number = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
            let mut refusals = Vec::new();
            meeting.directories.retain(|directory| match open(directory, &number) {
                Ok(()) => true,
                Err(error) => {
                    let parent = directory.parent().unwrap_or(directory);
                    refusals.push(format!("{}: {error}", parent.display()));
                    false
                }
            });
            if meeting.directories.is_empty() {
                let refusals = refusals.join("; ");
                return Err(format!(
                    "the hosts need a directory that all of them see, named by {ENV_MEETING} ({refusals})"
                ));
            }
            (meeting.call, meeting.refusals) = (Some(number), refusals);
        }
        Ok(meeting)
    }

    /// The directories that this host has made, as others may see them too.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Where hosts look for each other, for a person.
    pub fn described(&self) -> String {
        let parents = self.directories.iter().filter_map(|directory| directory.parent());
        let mut text = parents.map(|parent| parent.display().to_string()).collect::<Vec<_>>().join(", ");
        if !self.refusals.is_empty() {
            text += &format!(" (not in {})", self.refusals.join("; "));
        }
        text
    }

    /// The number of the call.
    pub fn call(&self) -> Option<&str> {
        self.call.as_deref()
    }

    /// Looks once; the texts of all hosts when they are there. `missing` hears which hosts are not.
    pub fn look(&mut self, round: u32, text: &str, missing: &mut Vec<u32>) -> Option<Vec<String>> {
        if self.host == 0 { self.gather(round, text, missing) } else { self.answer(round, text, missing) }
    }

    fn gather(&mut self, round: u32, text: &str, missing: &mut Vec<u32>) -> Option<Vec<String>> {
        let call = self.call.clone()?;
        let mut texts = vec![Some(text.to_owned())];
        let held = self.held();
        held.iter().for_each(|directory| refresh(directory.path(), self.host));
        missing.clear();
        for host in 1..self.hosts {
            let name = format!("{round}-{host}");
            let found = held.iter().find_map(|directory| read(&directory.path().join(&name), &call));
            texts.push(found.and_then(|mut texts| (texts.len() == 1).then(|| texts.remove(0))));
            missing.extend(texts[host as usize].is_none().then_some(host));
        }
        let texts: Vec<String> = texts.into_iter().collect::<Option<_>>()?;
        for directory in &held {
            let _another_will_do = write(&directory.path().join(format!("{round}-all")), &call, &texts);
        }
        Some(texts)
    }

    /// The directories that are there and private.
    fn held(&self) -> Vec<Held> {
        self.directories.iter().filter_map(|directory| Held::new(directory).ok()).collect()
    }

    fn answer(&mut self, round: u32, text: &str, missing: &mut Vec<u32>) -> Option<Vec<String>> {
        *missing = vec![0];
        self.answered.resize(self.directories.len(), None);
        for (directory, answered) in self.directories.iter().zip(&mut self.answered) {
            let Ok(held) = Held::new(directory) else { continue };
            let directory = held.path();
            refresh(directory, self.host);
            let call = called(directory).filter(|call| self.call.as_ref().is_none_or(|first| first == call));
            let Some(call) = call else { continue };
            if answered.as_ref() != Some(&call) {
                let answer = directory.join(format!("{round}-{}", self.host));
                *answered = write(&answer, &call, &[text.to_owned()]).is_ok().then(|| call.clone());
            }
            let texts = read(&directory.join(format!("{round}-all")), &call);
            if let Some(texts) = texts.filter(|texts| texts.len() == self.hosts as usize) {
                self.call = Some(call);
                self.answered.clear();
                return Some(texts);
            }
        }
        None
    }

    /// Says that this host needs the directories no more.
    pub fn leave(&self, last_round: u32) {
        for directory in self.held() {
            let _not_there = fs::remove_file(directory.path().join(format!("{last_round}-{}", self.host)));
        }
    }

    /// Whether all other hosts have left.
    pub fn is_over(&self, last_round: u32) -> bool {
        let held = self.held();
        held.iter().for_each(|directory| refresh(directory.path(), self.host));
        let stays = |host: u32| {
            held.iter().any(|directory| directory.path().join(format!("{last_round}-{host}")).exists())
        };
        !(1..self.hosts).any(stays)
    }

    /// Removes the directories, except `kept`.
    pub fn remove(&self, kept: Option<&Path>) {
        for directory in self.directories.iter().filter(|directory| Some(directory.as_path()) != kept) {
            if directory::check_ours(directory).is_ok() {
                let _stays = fs::remove_dir_all(directory);
            }
        }
    }
}

/// Where hosts may meet, in the order of preference.
fn places(key: &str) -> Vec<PathBuf> {
    let named = std::env::var_os(ENV_CENTRAL).or_else(|| std::env::var_os(ENV_MEETING));
    let mut parents: Vec<PathBuf> = named.map(PathBuf::from).into_iter().collect();
    if parents.is_empty() {
        parents.extend(CANDIDATES.iter().take(1).filter_map(std::env::var_os).map(PathBuf::from));
        parents.extend(std::env::current_dir());
        parents.extend(CANDIDATES.iter().skip(1).filter_map(std::env::var_os).map(PathBuf::from));
    }
    let name = format!(".postrider-{}-{:016x}", rustix::process::getuid().as_raw(), number_of(key));
    let mut places: Vec<PathBuf> = Vec::new();
    for parent in parents.iter().filter(|parent| parent.is_absolute()) {
        let place = parent.canonicalize().unwrap_or_else(|_| parent.clone()).join(&name);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// A number that is the same on all hosts.
pub fn number_of(key: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    key.hash(&mut hasher);
    std::hash::Hasher::finish(&hasher)
}

/// Makes the private directory and calls in it. What an earlier attempt has left there goes.
fn open(directory: &Path, number: &str) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    let held = Held::new(directory)?;
    for entry in fs::read_dir(held.path())?.flatten() {
        let _not_a_file = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
    }
    for part in PARTS {
        DirBuilder::new().mode(0o700).create(held.path().join(part))?;
    }
    write(&held.path().join(CALL), number, &[])
}

/// The number of the call in `directory`.
pub fn called(directory: &Path) -> Option<String> {
    let text = fs::read_to_string(directory.join(CALL)).ok()?;
    Some(text.strip_suffix('\n')?.to_owned()).filter(|number| !number.is_empty() && number.len() < 64)
}

/// Lets this host see what others have changed.
fn refresh(directory: &Path, host: u32) {
    let mark = directory.join(format!(".look-{host}"));
    let _not_writable = fs::write(&mark, "").and_then(|()| fs::remove_file(&mark));
}

fn write(path: &Path, call: &str, texts: &[String]) -> io::Result<()> {
    let mut lines = format!("{call}\n");
    texts.iter().for_each(|text| lines += &format!("{}\n", hex(text)));
    let hidden = path.with_file_name(format!(".{}", path.file_name().unwrap_or_default().display()));
    fs::write(&hidden, lines)?;
    fs::rename(hidden, path)
}

/// The texts of a file, if they answer `call`.
fn read(path: &Path, call: &str) -> Option<Vec<String>> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    (lines.next() == Some(call) && text.ends_with('\n')).then(|| lines.map(unhex).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meeting(directory: &Path, host: u32) -> Meeting {
        let directories = vec![directory.join("away"), directory.join("here")];
        let (refusals, answered) = (Vec::new(), Vec::new());
        Meeting { host, hosts: 3, directories, refusals, call: None, answered }
    }

    #[test]
    fn three_hosts_meet_whatever_was_left_before() {
        let temporary = tempfile::tempdir().expect("a directory");
        let here = temporary.path().join("here");
        let mut hosts: Vec<Meeting> = (0..3).map(|host| meeting(temporary.path(), host)).collect();
        let mut missing = Vec::new();
        open(&here, "an earlier call").expect("it opens");
        assert_eq!(hosts[1].look(0, "stale", &mut missing), None);
        open(&here, "the call").expect("it opens again");
        (hosts[0].call, hosts[0].directories) = (Some("the call".to_owned()), vec![here.clone()]);
        for (round, name) in [(0, "first"), (1, "second")] {
            assert_eq!(hosts[0].look(round, name, &mut missing), None);
            assert_eq!(missing, [1, 2]);
            let text = |host: usize| format!("{name} {host}\n");
            assert_eq!(hosts[1].look(round, &text(1), &mut missing), None);
            assert_eq!(hosts[2].look(round, &text(2), &mut missing), None);
            let all = hosts[0].look(round, name, &mut missing).expect("all have answered");
            assert_eq!(all, [name.to_owned(), text(1), text(2)]);
            assert_eq!(hosts[1].look(round, "", &mut missing), Some(all.clone()));
            assert_eq!(hosts[2].look(round, "", &mut missing), Some(all));
        }
        hosts[1].leave(1);
        assert!(!hosts[0].is_over(1));
        hosts[2].leave(1);
        assert!(hosts[0].is_over(1));
        hosts[0].remove(None);
        assert!(!here.exists());
    }

    #[test]
    fn files_are_not_trusted() {
        let temporary = tempfile::tempdir().expect("a directory");
        let path = temporary.path().join("0-1");
        for text in ["", "call", "call\nxyz\n", "call\n616\n", "other\n61\n", "call\n61", "call\nff\n"] {
            fs::write(&path, text).expect("it is written");
            assert_eq!(read(&path, "call"), None, "{text:?}");
        }
        fs::write(&path, [0xff, 0xfe]).expect("it is written");
        assert_eq!(read(&path, "call"), None);
        assert_eq!(called(temporary.path()), None);
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let temporary = tempfile::tempdir().expect("a directory");
        let target = temporary.path().join("target");
        fs::create_dir(&target).expect("a target");
        let place = temporary.path().join("place");
        std::os::unix::fs::symlink(&target, &place).expect("a link");
        assert!(open(&place, "1").is_err());
        assert_eq!(fs::read_dir(&target).expect("it is there").count(), 0);
    }
}
