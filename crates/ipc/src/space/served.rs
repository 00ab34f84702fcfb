//! Processes that do not operate the name space themselves, since no library of ours is in them: another one acts for them ([`super::acting`]), and has them map
//! segments. Else they are processes as all others: they have a place, by the same number and time.
//!
//! A call may be made for a process, or wait, although that has just died. So nobody but its tracer buries it, once none of its calls is made any more;
//! or everybody, if the tracer has died.

use std::path::PathBuf;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use super::process::{Process, TAKEN, key};
use super::segment::{access, wanted, wanted_place};
use super::{Kind, Result, Space, permit, system};

/// How often it is looked whether a tracer has heard of an end.
const NAP: Duration = Duration::from_micros(50);

/// A segment that a process is to map.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// Which.
    pub identifier: i32,
    /// Its file.
    pub file: PathBuf,
    /// How long.
    pub bytes: usize,
    /// Where, or 0.
    pub at: usize,
    /// As protections of the system.
    pub access: i32,
    /// As the system's flags.
    pub flags: i32,
}

impl Space {
    /// The place of a process; nothing if it has ended, or there are too many.
    #[must_use]
    pub fn place_for(&self, pid: u32) -> Option<usize> {
        let started = system::started(pid)?;
        let _held = self.hold_registry();
        let known = self.known(pid, started);
        let place = known.or_else(|| {
            self.free_process()?;
            Some(self.arrive(pid, started, TAKEN))
        })?;
        self.one_process(place).tracer.store(std::process::id(), Release);
        Some(place)
    }

    /// A process has ended, and none of its calls is made any more.
    pub fn has_ended_for(&self, pid: u32) {
        for process in self.processes() {
            if process.pid.load(Acquire) == pid && process.tracer.load(Acquire) == std::process::id() {
                process.tracer.store(0, Release);
            }
        }
        self.has_ended(pid);
    }

    /// Whether another process makes the calls of one.
    pub(super) fn is_traced(process: &Process) -> bool {
        let tracer = process.tracer.load(Acquire);
        tracer != 0 && system::started(tracer).is_some()
    }

    /// Waits until the tracer of a process knows that it has ended, if it has one.
    pub(super) fn await_tracer(process: &Process, pid: u32) {
        let is_to_be_buried = || {
            let is_it = process.state.load(Acquire) == TAKEN && process.pid.load(Acquire) == pid;
            is_it && Self::is_traced(process) && Self::is_dead(process)
        };
        while is_to_be_buried() {
            std::thread::sleep(NAP);
        }
    }

    /// The place of a child, which has attached what its parent has.
    #[must_use]
    pub fn place_for_child(&self, parent: usize, pid: u32) -> Option<usize> {
        let place = self.place_for(pid)?;
        let _held = self.hold_registry();
        self.copy_attached(parent, place);
        Some(place)
    }

    /// A process has become another program, which has nothing attached.
    pub fn has_begun(&self, place: usize) {
        let _held = self.hold_registry();
        self.detach_all(place);
    }

    /// `shmat` of the process that this thread acts for, up to the mapping itself: it counts as attached from now on.
    ///
    /// # Errors
    /// Those of the function.
    pub fn attach_for(&self, identifier: i32, at: usize, flags: i32) -> Result<Mapping> {
        if identifier < 0 {
            return Err(libc::EINVAL);
        }
        let (at, replaces) = wanted_place(at, flags)?;
        let (place, _held) = self.find_segment(identifier)?;
        let segment = self.segment(place);
        permit(&segment.object, wanted(flags))?;
        let bytes = (segment.bytes.load(Relaxed) as usize).next_multiple_of(system::page_bytes());
        let gone = |identifier| self.place_of(Kind::Segment, identifier).is_none();
        let ledger = self.attached(self.own_process());
        let entry = ledger.enter(key(identifier, 0), gone).ok_or(libc::ENOMEM)?;
        entry.amount.fetch_add(1, Release);
        self.note_attached(place);
        let (access, flags) = (access(flags), system::mapping_flags(at, replaces));
        Ok(Mapping { identifier, file: self.segment_file(place), bytes, at, access, flags })
    }

    /// `shmdt` of the process that this thread acts for, once the mapping is gone.
    pub fn detach_for(&self, identifier: i32) {
        self.take_off(self.own_process(), identifier, 1);
    }
}
