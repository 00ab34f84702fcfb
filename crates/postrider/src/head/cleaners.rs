//! Hosts that were given up while their agents may still be there, stopped or cut off from the head: somebody goes there once
//! more, by a new connection, and ends what is left of the job.
//!
//! `postrider end DIR` does that on the host: an agent that still holds the job's directory is killed, and its guard cleans up.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use postrider_os::bell::BellTower;
use rustix::event::{PollFd, PollFlags};

use crate::launch::Refusal;
use crate::remote_shell::{Remote, RemoteShell};

/// How long the head waits for that. A host that is dead does not answer at all.
const WAIT: Duration = Duration::from_secs(10);

/// All that are under way.
pub struct Cleaners {
    shell: RemoteShell,
    under_way: usize,
    due: Instant,
    done: Receiver<()>,
    tell: Sender<()>,
    bell: Arc<BellTower>,
}

impl Cleaners {
    /// Nobody yet.
    pub fn new(shell: RemoteShell) -> Result<Self, Refusal> {
        let bell = BellTower::new().map_err(|error| Refusal::new(1, error))?;
        let (tell, done) = channel();
        Ok(Self { shell, under_way: 0, due: Instant::now(), done, tell, bell: Arc::new(bell) })
    }

    /// Adds what has to be waited for.
    pub fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        entries.push(PollFd::from_borrowed_fd(self.bell.as_fd(), PollFlags::IN));
    }

    /// When they are waited for no longer.
    pub fn due(&self) -> Option<Instant> {
        (self.under_way > 0 && self.due > Instant::now()).then_some(self.due)
    }

    /// Sends somebody to host `name`, where the job's directory is `directory`.
    pub fn send(&mut self, name: String, directory: String) {
        let (shell, tell, bell) = (self.shell.clone(), self.tell.clone(), Arc::clone(&self.bell));
        self.under_way += 1;
        self.due = Instant::now() + WAIT;
        std::thread::spawn(move || {
            let arguments = ["end".into(), OsString::from(directory)];
            let _as_well_as_possible = shell.open(&name, &arguments).map(wait_for_end);
            let _nobody_waits_any_more = tell.send(());
            bell.wake();
        });
    }

    /// Whether all have come back, or are waited for no longer.
    pub fn are_done(&mut self) -> bool {
        self.bell.quiet();
        self.under_way -= self.done.try_iter().count();
        self.under_way == 0 || self.due <= Instant::now()
    }
}

fn wait_for_end(remote: Remote) -> io::Result<()> {
    let Remote { mut child, input, output, .. } = remote;
    File::from(output).read_to_end(&mut Vec::new())?;
    drop(input);
    child.wait()?;
    Ok(())
}
