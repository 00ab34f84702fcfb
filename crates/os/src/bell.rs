//! Waking a process that sleeps in `poll`, among other descriptors, without losing a wake-up.
//!
//! The post of a host waits for its ranks and for its links at once, so that a futex is not enough: it sleeps in `poll` on a pipe.
//! A [`Bell`] is one word in shared memory, `asleep`. The protocol is that of [`Doorbell`](crate::wait::Doorbell):
//!
//! - The sleeper sets `asleep` ([`Bell::prepare`]), *then looks once more* for what it waits for, and only then sleeps.
//! - Whoever brings something makes it visible first, then looks at `asleep`. If it is set, it clears it, and writes one byte
//!   to the pipe ([`BellPipe::ring`]), which it has opened through `/proc/<sleeper>/fd`.
//!
//! A full fence on both sides makes sure that one of them sees the other's. What rings while the sleeper is awake costs a fence
//! and a load.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};

use crate::error::{Error, Result};
use crate::process::{beside_full_table, open_pipe, without_broken_pipes};
use crate::sync::Ordering::{Relaxed, SeqCst};
use crate::sync::{AtomicU32, full_fence};

/// The word by which a sleeper says that it wants to be woken.
#[derive(Clone, Copy, Debug)]
pub struct Bell<'a> {
    asleep: &'a AtomicU32,
}

impl<'a> Bell<'a> {
    /// A bell of a word that starts as zero.
    #[must_use]
    pub fn new(asleep: &'a AtomicU32) -> Self {
        Self { asleep }
    }

    /// Announces the wish to sleep. Look once more for what you wait for before you do.
    pub fn prepare(&self) {
        self.asleep.swap(1, SeqCst);
        full_fence();
    }

    /// Takes the announcement back.
    pub fn stay_awake(&self) {
        self.asleep.store(0, Relaxed);
    }
}

/// The pipe by which a sleeper is woken, with both ends.
#[derive(Debug)]
pub struct BellTower {
    reader: File,
    writer: BellPipe,
}

impl BellTower {
    /// Makes the pipe (the sleeper).
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new() -> Result<Self> {
        let mut ends = [0; 2];
        // SAFETY: two descriptors are written to an array of two.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } < 0 {
            return Err(Error::last("cannot make a pipe"));
        }
        // SAFETY: both descriptors are new and ours.
        let [reader, writer] = ends.map(|end| unsafe { File::from_raw_fd(end) });
        Ok(Self { reader, writer: BellPipe(writer) })
    }

    /// The number of the descriptor that others open to ring.
    #[must_use]
    pub fn descriptor(&self) -> u32 {
        self.writer.0.as_raw_fd() as u32
    }

    /// Forgets what has rung.
    pub fn quiet(&self) {
        let mut rings = [0; 64];
        while (&self.reader).read(&mut rings).is_ok_and(|n| n == rings.len()) {}
    }

    /// Wakes the sleeper from a thread of its own process, whether it sleeps or is about to.
    pub fn wake(&self) {
        self.writer.write();
    }
}

impl AsFd for BellTower {
    /// Readable when somebody has rung.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// Wakes the sleeper whose pipe is descriptor `descriptor` of process `pid`. The announcement of its sleep has been taken already, so that nobody
/// else would: a program that has all the descriptors that it may have is no reason not to. A sleeper that is gone needs no waking.
#[cold]
pub fn ring_once(pid: u32, descriptor: u32) {
    let ring = move || open_pipe(pid, descriptor).map(|pipe| BellPipe(pipe).write());
    if ring().is_err_and(|error| error.raw_os_error() == Some(libc::EMFILE)) {
        let _looks_by_itself_soon = beside_full_table(move || drop(ring()));
    }
}

/// The end of the pipe that wakes the sleeper.
#[derive(Debug)]
pub struct BellPipe(File);

impl BellPipe {
    /// Opens descriptor `descriptor` of process `pid`.
    ///
    /// # Errors
    /// When that process is gone.
    pub fn open(pid: u32, descriptor: u32) -> Result<Self> {
        let pipe = open_pipe(pid, descriptor);
        pipe.map(Self).map_err(|error| Error::new(format!("cannot reach the post, process {pid}"), error))
    }

    /// Wakes the sleeper of `bell` if it sleeps. What it waits for must be visible already.
    #[inline]
    pub fn ring(&self, bell: Bell<'_>) {
        full_fence();
        if bell.asleep.load(Relaxed) != 0 && bell.asleep.swap(0, SeqCst) != 0 {
            self.write();
        }
    }

    /// Wakes the sleeper, whether it sleeps or is about to.
    #[cold]
    pub fn write(&self) {
        // A full pipe wakes as well as one more byte, and a sleeper that is gone needs none: it may have gone since its pipe was opened.
        let _ = without_broken_pipes(|| (&self.0).write(&[1]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_readable(tower: &BellTower) -> bool {
        let mut entry = libc::pollfd { fd: tower.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, of an open descriptor.
        unsafe { libc::poll(&raw mut entry, 1, 0) == 1 }
    }

    #[test]
    fn only_a_sleeper_is_woken_and_only_once() {
        let word = AtomicU32::new(0);
        let (bell, tower) = (Bell::new(&word), BellTower::new().unwrap());
        let pipe = BellPipe::open(std::process::id(), tower.descriptor()).unwrap();
        pipe.ring(bell);
        assert!(!is_readable(&tower));
        bell.prepare();
        pipe.ring(bell);
        pipe.ring(bell);
        assert!(is_readable(&tower));
        tower.quiet();
        assert!(!is_readable(&tower));
        bell.prepare();
        bell.stay_awake();
        pipe.ring(bell);
        assert!(!is_readable(&tower));
        tower.wake();
        assert!(is_readable(&tower));
    }

    /// Runs a test in a process of its own.
    fn passes_alone(script: &str, name: &str) {
        let script = format!("{script} && exec \"$0\" --exact bell::tests::{name}");
        let own = std::env::current_exe().unwrap();
        let ended = std::process::Command::new("sh")
            .args(["-c", &script])
            .arg(own)
            .env(ALONE, name)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && printed.contains("1 passed"), "{:?}: {printed}", ended.status);
    }

    /// Set in such a process.
    const ALONE: &str = "POSTRIDER_TEST_ALONE";

    fn is_alone(name: &str) -> bool {
        std::env::var(ALONE).is_ok_and(|alone| alone == name)
    }

    #[test]
    fn who_wakes_a_sleeper_that_is_gone_lives_on() {
        passes_alone("true", "waking_who_is_gone");
    }

    #[test]
    fn waking_who_is_gone() {
        if !is_alone("waking_who_is_gone") {
            return;
        }
        // SAFETY: the signal ends the process, as it does in programs that are not written in Rust.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let tower = BellTower::new().unwrap();
        let pipe = BellPipe::open(std::process::id(), tower.descriptor()).unwrap();
        drop(tower);
        pipe.write();
        pipe.ring(Bell::new(&AtomicU32::new(1)));
    }

    #[test]
    fn a_sleeper_is_woken_by_a_process_without_a_free_descriptor() {
        // It takes all descriptors of its process.
        passes_alone("ulimit -n 64", "waking_without_a_free_descriptor");
    }

    #[test]
    fn waking_without_a_free_descriptor() {
        if !is_alone("waking_without_a_free_descriptor") {
            return;
        }
        let words = [const { AtomicU32::new(0) }; 4];
        let tower = BellTower::new().unwrap();
        words[2].store(std::process::id(), Relaxed);
        words[3].store(tower.descriptor(), Relaxed);
        let place = crate::wait::TowerPlace { pid: &words[2], descriptor: &words[3] };
        let bell = crate::wait::Doorbell::new(&words[0], &words[1]).with_tower(place);
        let taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        assert!(taken.len() < 64);
        bell.prepare_tower();
        bell.ring();
        assert!(is_readable(&tower));
        drop(taken);
    }
}
