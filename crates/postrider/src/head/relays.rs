//! Links that the head relays, for hosts that cannot reach each other.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use postrider_os::bell::BellTower;
use rustix::event::{PollFd, PollFlags};

use crate::launch::Refusal;
use crate::links::{End, relay};
use crate::remote_shell::{Remote, RemoteShell};

/// The two hosts of a link, the lower number first.
type Pair = (u32, u32);

/// What has become of a relay.
#[derive(Debug)]
enum Relay {
    /// It is being set up; the reason why it is needed.
    Expected(String),
    /// It is up as long as both remote shells live.
    Up([Remote; 2]),
}

/// All relays of a job.
pub struct Relays {
    shell: RemoteShell,
    relays: BTreeMap<Pair, Relay>,
    done: Receiver<(Pair, Result<[Remote; 2], String>)>,
    tell: Sender<(Pair, Result<[Remote; 2], String>)>,
    bell: Arc<BellTower>,
}

/// A link that nobody could open.
#[derive(Debug)]
pub struct NoLink {
    /// Between which hosts.
    pub pair: Pair,
    /// Why not directly, and why not through the head.
    pub why: String,
}

impl Relays {
    /// No relays yet.
    pub fn new(shell: RemoteShell) -> Result<Self, Refusal> {
        let bell = BellTower::new().map_err(|error| Refusal::new(1, error))?;
        let (tell, done) = channel();
        Ok(Self { shell, relays: BTreeMap::new(), done, tell, bell: Arc::new(bell) })
    }

    /// Adds what has to be waited for.
    pub fn wait_for<'b>(&'b self, entries: &mut Vec<PollFd<'b>>) {
        entries.push(PollFd::from_borrowed_fd(self.bell.as_fd(), PollFlags::IN));
    }

    /// Sets a relay up, since the two hosts cannot reach each other, for the reason `why`.
    pub fn add(&mut self, ends: [End; 2], why: String) {
        let pair = (ends[0].host.min(ends[1].host), ends[0].host.max(ends[1].host));
        if self.relays.contains_key(&pair) {
            return;
        }
        self.relays.insert(pair, Relay::Expected(why));
        let (shell, tell, bell) = (self.shell.clone(), self.tell.clone(), Arc::clone(&self.bell));
        std::thread::spawn(move || {
            let _nobody_waits_any_more = tell.send((pair, relay(&shell, &ends)));
            bell.wake();
        });
    }

    /// Takes over the relays that have come up, and says which have not.
    pub fn look(&mut self) -> Vec<NoLink> {
        self.bell.quiet();
        let mut failed = Vec::new();
        while let Ok((pair, result)) = self.done.try_recv() {
            let expected = self.relays.remove(&pair);
            match (result, expected) {
                (Ok(remotes), _) => drop(self.relays.insert(pair, Relay::Up(remotes))),
                (Err(relayed), Some(Relay::Expected(direct))) => {
                    failed.push(NoLink { pair, why: format!("{direct}\nand through this host: {relayed}") });
                }
                (Err(why), _) => failed.push(NoLink { pair, why }),
            }
        }
        failed
    }
}

impl Drop for Relays {
    fn drop(&mut self) {
        for relay in self.relays.values_mut() {
            let Relay::Up(remotes) = relay else { continue };
            for remote in remotes {
                let _gone_already = remote.child.kill();
                let _no_zombie = remote.child.wait();
            }
        }
    }
}
