//! Message files by `scp`, as in the paper: for each message one copy of the file, and then one of its lock file.
//!
//! It is slow, and there for sites that allow nothing else, and to be measured against. A file arrives in the directory `arrivals` of
//! the other host's job directory. When its lock file has been closed there the message is whole, and the post there renames it
//! into the receiver's inbox. Copies to one host follow one another; those to different hosts do not wait for each other.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use postrider_os::bell::BellTower;
use postrider_os::error::{Error, Result};
use postrider_os::file::Inbox;
use postrider_os::hosts::Placement;
use postrider_os::parcel::{LOCK, POST, Parcel};

use super::doors::Doors;

/// Where files from other hosts arrive, in a job's directory.
pub const ARRIVALS: &str = "arrivals";
/// The empty file that is copied as every lock file.
const EMPTY: &str = "empty";

/// How to copy, and where to.
#[derive(Clone, Debug)]
pub struct Copying {
    /// `scp`, with options.
    pub command: Vec<OsString>,
    /// Name and job directory of each host.
    pub hosts: Vec<(String, PathBuf)>,
}

/// The copies of one host to others, and what arrives.
#[derive(Debug)]
pub struct Scp {
    local: PathBuf,
    copying: Copying,
    arrivals: Inbox,
    /// What had come before the directory was watched has been seen.
    has_looked: bool,
    workers: BTreeMap<u32, Sender<Parcel>>,
    failed: Receiver<String>,
    fail: Sender<String>,
    tower: Arc<BellTower>,
}

impl Scp {
    /// Watches the directory in which files arrive, and in which there may be some. `tower` is rung when a copy has failed.
    pub fn new(local: &Path, copying: Copying, tower: Arc<BellTower>) -> Result<Self> {
        let arrivals = Inbox::create_for_closed_files(&local.join(ARRIVALS))?;
        let empty = local.join(EMPTY);
        fs::write(&empty, []).map_err(|e| Error::new(format!("cannot write {}", empty.display()), e))?;
        let (fail, failed) = channel();
        let workers = BTreeMap::new();
        let local = local.to_owned();
        Ok(Self { local, copying, arrivals, has_looked: false, workers, failed, fail, tower })
    }

    /// What becomes readable when something has arrived.
    pub fn inbox(&self) -> &Inbox {
        &self.arrivals
    }

    /// Why a copy has failed.
    pub fn failure(&self) -> Option<String> {
        self.failed.try_recv().ok()
    }

    /// Has a parcel copied to the host of its receiver.
    pub fn send(&mut self, host: u32, parcel: Parcel) {
        let worker = self.workers.entry(host).or_insert_with(|| {
            let (sender, parcels) = channel();
            let (name, directory) = self.copying.hosts[host as usize].clone();
            let copies = Copies {
                command: self.copying.command.clone(),
                target: format!("{}:{}/", bracketed(&name), directory.join(ARRIVALS).display()),
                local: self.local.clone(),
            };
            let (fail, tower) = (self.fail.clone(), Arc::clone(&self.tower));
            std::thread::spawn(move || {
                for parcel in parcels {
                    if let Err(why) = copies.copy(parcel) {
                        let _nobody_listens_any_more = fail.send(why);
                        tower.wake();
                    }
                }
            });
            sender
        });
        // A worker lives as long as its channel.
        let _ = worker.send(parcel);
    }

    /// Hands over what has arrived whole.
    pub fn look(&mut self, placement: &Placement, here: u32, doors: &mut Doors) -> Result<()> {
        let mut whole = Vec::new();
        let mut note = |text: &str| {
            let parcel = text.strip_suffix(LOCK).and_then(Parcel::parse);
            let known = |parcel: &Parcel| placement.host_of_number(parcel.receiver) == here;
            whole.extend(parcel.filter(known));
        };
        if !self.arrivals.arrived(&mut note)? || !self.has_looked {
            self.arrivals.scan(note)?;
            self.has_looked = true;
        }
        for parcel in whole {
            // A guest that has left wants nothing any more; its files go with the directory.
            let Some((outbox, name)) = doors.of(parcel)? else { continue };
            match self.arrivals.hand_over(&parcel.text(), outbox, &name) {
                // Reported twice after the kernel had lost count.
                Err(error) if error.reason.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(())
    }
}

/// The copies to one host.
struct Copies {
    command: Vec<OsString>,
    target: String,
    local: PathBuf,
}

impl Copies {
    fn copy(&self, parcel: Parcel) -> std::result::Result<(), String> {
        let text = parcel.text().to_string_lossy().into_owned();
        let message = self.local.join(POST).join(&text);
        self.scp(&message, &text)?;
        self.scp(&self.local.join(EMPTY), &format!("{text}{LOCK}"))?;
        fs::remove_file(&message).map_err(|error| format!("cannot remove {}: {error}", message.display()))
    }

    fn scp(&self, file: &Path, name: &str) -> std::result::Result<(), String> {
        let target = format!("{}{name}", self.target);
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).args(["-q", "-B"]).arg(file).arg(&target);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let program = self.command[0].display();
        let done = command.output().map_err(|error| format!("cannot run {program}: {error}"))?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(format!("{program} to {target} failed ({}): {}", done.status, said.trim()))
    }
}

/// A name as `scp` takes it before a colon.
fn bracketed(name: &str) -> String {
    let (user, host) = name.rsplit_once('@').map_or(("", name), |(user, host)| (&name[..=user.len()], host));
    let bare = host.contains(':') && !host.starts_with('[');
    if bare { format!("{user}[{host}]") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_colons_are_put_in_brackets() {
        assert_eq!(bracketed("h1"), "h1");
        assert_eq!(bracketed("me@h1"), "me@h1");
        assert_eq!(bracketed("::1"), "[::1]");
        assert_eq!(bracketed("me@fe80::1"), "me@[fe80::1]");
        assert_eq!(bracketed("[::1]"), "[::1]");
    }
}
