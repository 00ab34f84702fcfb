//! Keys and places of objects, and processes that come and end.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};

use std::time::Duration;

use super::process::{FREE, GONE, PROCESSES_MAX, Process, TAKEN, UNBORN};
use super::{Held, Kind, Object, Result, Space, acting, system, waiting};
use crate::semantics::limits::{OBJECTS_MAX, SEGMENT_BYTES_MAX, SEMAPHORES_MAX};
use crate::semantics::names::{next_round, place_and_round};

/// How long who looks after the dead may not know of a process that has come.
const CARE: Duration = Duration::from_millis(20);

/// The number of this process, and its place plus one.
static OWN: (AtomicU32, AtomicUsize) = (AtomicU32::new(0), AtomicUsize::new(0));

/// The number of this process.
pub fn own_pid() -> u32 {
    if let Some(pid) = acting::pid() {
        return pid;
    }
    match OWN.0.load(Relaxed) {
        0 => {
            OWN.0.store(std::process::id(), Relaxed);
            std::process::id()
        }
        pid => pid,
    }
}

/// Fails unless the caller has these permissions.
pub fn permit(object: &Object, wanted: u32) -> Result<()> {
    let permission = object.permission();
    // Most objects are used by who has made them, in a mode for the owner: that needs no list of groups.
    let user = system::user();
    let of_owner = permission.mode >> 6 & wanted & 7 == wanted & 7 && permission.uid == user;
    match user == 0 || of_owner || permission.allows(&system::caller(), wanted) {
        true => Ok(()),
        false => Err(libc::EACCES),
    }
}

/// The place of a child that is being forked.
#[derive(Clone, Copy, Debug)]
pub struct Unborn {
    place: usize,
    /// The process and the thread that fork.
    parent: u32,
    thread: u64,
}

/// What is asked of `msgget` and its like.
#[derive(Clone, Copy, Debug)]
pub struct Get {
    /// The key.
    pub key: i32,
    /// Semaphores, or bytes.
    pub size: u64,
    /// Flags, and the mode.
    pub flags: i32,
}

impl Space {
    pub(crate) fn hold_registry(&self) -> Held {
        Held::take(&self.header().registry, || {})
    }

    pub(crate) fn object(&self, kind: Kind, place: u32) -> &'static Object {
        self.place(kind, place)
    }

    /// How many there may be, and the number of places that are looked at.
    fn places(&self, kind: Kind) -> u32 {
        let limits = &self.limits;
        match kind {
            Kind::Queue => limits.queues,
            Kind::Set => limits.sets,
            Kind::Segment => limits.segments,
        }
    }

    /// The places of what exists.
    pub fn existing(&self, kind: Kind) -> impl Iterator<Item = u32> {
        // Places are taken from the lowest on, and those never taken come last.
        let ever = (0..OBJECTS_MAX.min(self.places(kind)))
            .take_while(move |place| self.object(kind, *place).made.load(Acquire) != 0);
        ever.filter(move |place| self.object(kind, *place).exists.load(Acquire) != 0)
    }

    /// Their identifiers.
    #[must_use]
    pub fn identifiers(&self, kind: Kind) -> Vec<i32> {
        self.existing(kind).map(|place| self.object(kind, place).identifier(place)).collect()
    }

    /// `msgget`, `semget` and `shmget`.
    ///
    /// # Errors
    /// Those of the functions.
    pub fn get(&self, kind: Kind, get: Get) -> Result<i32> {
        if self.is_got_elsewhere(kind, get.key) {
            return self.get_elsewhere(kind, get);
        }
        self.get_here(kind, get)
    }

    /// Whether other hosts have to be asked for a key: it is not one of this host's objects.
    fn is_got_elsewhere(&self, kind: Kind, key: i32) -> bool {
        let here = |home: u32| home == self.host.number;
        self.has_server()
            && match key {
                libc::IPC_PRIVATE => !self.host.home.is_none_or(here),
                key => !self.existing(kind).any(|place| self.object(kind, place).key.load(Acquire) == key),
            }
    }

    /// The same on this host.
    ///
    /// # Errors
    /// Those of the functions.
    pub fn get_here(&self, kind: Kind, get: Get) -> Result<i32> {
        let (creates, only_new) = (get.flags & libc::IPC_CREAT != 0, get.flags & libc::IPC_EXCL != 0);
        let _held = self.hold_registry();
        if get.key != libc::IPC_PRIVATE {
            let found =
                self.existing(kind).find(|place| self.object(kind, *place).key.load(Acquire) == get.key);
            if let Some(place) = found {
                if creates && only_new {
                    return Err(libc::EEXIST);
                }
                if get.size > self.size(kind, place) {
                    return Err(libc::EINVAL);
                }
                let object = self.object(kind, place);
                permit(object, get.flags as u32 & 0o777)?;
                return Ok(object.identifier(place));
            }
            if !creates {
                return Err(libc::ENOENT);
            }
        }
        self.create_object(kind, get)
    }

    fn size(&self, kind: Kind, place: u32) -> u64 {
        match kind {
            Kind::Queue => u64::MAX,
            Kind::Set => self.set(place).count.load(Acquire).into(),
            Kind::Segment => self.segment(place).bytes.load(Acquire),
        }
    }

    fn create_object(&self, kind: Kind, get: Get) -> Result<i32> {
        let most = if kind == Kind::Segment { SEGMENT_BYTES_MAX } else { SEMAPHORES_MAX.into() };
        if kind != Kind::Queue && !(1..=most).contains(&get.size) {
            return Err(libc::EINVAL);
        }
        let is_free = |place: &u32| {
            self.object(kind, *place).exists.load(Acquire) == 0
                && (kind != Kind::Queue || !self.is_awaited(*place))
        };
        let place = (0..self.places(kind)).find(is_free).ok_or(libc::ENOSPC)?;
        let object = self.object(kind, place);
        if object.made.load(Acquire) == 0 {
            object.lock.make();
            object.round.store(self.host.number, Release);
            object.made.store(1, Release);
        } else {
            let round = next_round(object.round.load(Acquire), self.host.all);
            object.round.store(round, Release);
        }
        let _held = match kind {
            Kind::Queue => self.hold_queue(place),
            Kind::Set => self.hold_set(place),
            Kind::Segment => self.hold_segment(place),
        };
        match kind {
            Kind::Queue => self.begin_queue(place),
            Kind::Set => self.begin_set(place, get.size as u32),
            Kind::Segment => self.begin_segment(place, get.size)?,
        }
        let (uid, gid) = system::user_and_group();
        for (word, value) in
            [(&object.uid, uid), (&object.cuid, uid), (&object.gid, gid), (&object.cgid, gid)]
        {
            word.store(value, Relaxed);
        }
        object.mode.store(get.flags as u32 & 0o777, Relaxed);
        object.key.store(get.key, Relaxed);
        object.changed.store(system::now(), Relaxed);
        object.exists.store(1, Release);
        Ok(object.identifier(place))
    }

    /// Removes a queue or a set; the registry and its lock are held.
    pub(crate) fn remove_object(&self, kind: Kind, place: u32) {
        self.object(kind, place).exists.store(0, Release);
        match kind {
            Kind::Queue => self.end_queue(place),
            Kind::Set => self.end_set(place),
            Kind::Segment => self.end_segment(place),
        }
    }

    /// The place of what an identifier names, if it is in its table.
    pub(crate) fn place_of(&self, kind: Kind, identifier: i32) -> Option<u32> {
        let (place, _) = place_and_round(identifier)?;
        let is_it = place < OBJECTS_MAX && {
            let object = self.object(kind, place);
            object.exists.load(Acquire) != 0 && object.identifier(place) == identifier
        };
        is_it.then_some(place)
    }

    pub(crate) fn is_set(&self, identifier: i32) -> bool {
        self.place_of(Kind::Set, identifier).is_some()
    }

    /// Finds and locks an object.
    pub(crate) fn find(&self, kind: Kind, identifier: i32) -> Result<(u32, Held)> {
        match kind {
            Kind::Queue => self.find_queue(identifier, libc::EINVAL),
            Kind::Set => self.find_set(identifier, libc::EINVAL),
            Kind::Segment => self.find_segment(identifier),
        }
    }

    /// Finds and locks a queue.
    pub(crate) fn find_queue(&self, identifier: i32, unknown: i32) -> Result<(u32, Held)> {
        let place = self.place_of(Kind::Queue, identifier).ok_or(unknown)?;
        let held = self.hold_queue(place);
        match self.place_of(Kind::Queue, identifier) {
            Some(_) => Ok((place, held)),
            None => Err(libc::EIDRM),
        }
    }

    /// Finds and locks a set.
    pub(crate) fn find_set(&self, identifier: i32, unknown: i32) -> Result<(u32, Held)> {
        let place = self.place_of(Kind::Set, identifier).ok_or(unknown)?;
        let held = self.hold_set(place);
        match self.place_of(Kind::Set, identifier) {
            Some(_) => Ok((place, held)),
            None => Err(libc::EIDRM),
        }
    }

    /// The place of this process, which it takes with its first call.
    pub(crate) fn own_process(&self) -> usize {
        if let Some(place) = acting::place() {
            return place;
        }
        match OWN.1.load(Acquire) {
            0 => {
                let _held = self.hold_registry();
                match OWN.1.load(Acquire) {
                    0 => {
                        let pid = own_pid();
                        let started = system::started(pid).unwrap_or_default();
                        let arrives = || self.arrive(pid, started, TAKEN);
                        let place = self.known(pid, started).unwrap_or_else(arrives);
                        OWN.1.store(place + 1, Release);
                        place
                    }
                    place => place - 1,
                }
            }
            place => place - 1,
        }
    }

    /// The place of a process that has one.
    pub(super) fn known(&self, pid: u32, started: u64) -> Option<usize> {
        self.processes().iter().position(|process| {
            process.state.load(Acquire) == TAKEN
                && process.pid.load(Acquire) == pid
                && process.started.load(Acquire) == started
        })
    }

    /// Takes a place; the registry is held.
    pub(super) fn arrive(&self, pid: u32, started: u64, state: u32) -> usize {
        let place = self.free_process().expect("fewer than 4096 processes use one name space");
        let process = self.one_process(place);
        process.pid.store(pid, Release);
        process.started.store(started, Release);
        process.sleeping.store(0, Release);
        process.asked.store(0, Release);
        process.tracer.store(0, Release);
        process.listener.make();
        process.listens.store(0, Release);
        process.state.store(state, Release);
        place
    }

    /// A place that is free; the registry is held.
    pub(super) fn free_process(&self) -> Option<usize> {
        let is_free = |place: &usize| self.one_process(*place).state.load(Acquire) == FREE;
        let place = (0..PROCESSES_MAX).find(is_free)?;
        self.header().processes_used.fetch_max(place as u32 + 1, AcqRel);
        Some(place)
    }

    /// What a program that is started by `exec` finds: its process may have been here before, with segments attached that are so no more.
    pub fn resume(&self) {
        let pid = own_pid();
        let is_here = |place: &usize| {
            let process = self.one_process(*place);
            process.state.load(Acquire) == TAKEN && process.pid.load(Acquire) == pid
        };
        if (0..self.processes().len()).any(|place| is_here(&place)) {
            let place = self.own_process();
            self.one_process(place).sleeping.store(0, Release);
            self.one_process(place).listens.store(0, Release);
            self.leave_elsewhere(place);
            let _held = self.hold_registry();
            self.detach_all(place);
        }
    }

    /// Does what is to be done when this process ends.
    pub fn leave(&self) {
        if let place @ 1.. = OWN.1.load(Acquire) {
            let _held = self.hold_registry();
            self.bury(place - 1);
            OWN.1.store(0, Release);
        }
    }

    /// Does for a process that has ended what is to be done; the registry is held.
    fn bury(&self, place: usize) {
        let process = self.one_process(place);
        if process.state.load(Acquire) != TAKEN {
            return;
        }
        self.take_back(place, process.pid.load(Acquire));
        self.undo(place).clear();
        self.detach_all(place);
        process.listens.store(0, Release);
        let is_told = self.will_be_told(process);
        process.state.store(if is_told { GONE } else { FREE }, Release);
        if is_told {
            self.ring();
        }
    }

    /// The same for a process of another host.
    pub(super) fn bury_remote(&self, place: usize) {
        let process = self.one_process(place);
        self.take_back(place, process.pid.load(Acquire));
        self.undo(place).clear();
        self.detach_all(place);
        process.state.store(FREE, Release);
    }

    /// Does it for all that have ended.
    pub fn sweep(&self) {
        let _held = self.hold_registry();
        for place in 0..self.processes().len() {
            self.bury_if_ended(place);
        }
        if self.header().server.is_orphaned() {
            self.be_alone();
        }
    }

    fn bury_if_ended(&self, place: usize) {
        let process = self.one_process(place);
        let (state, pid) = (process.state.load(Acquire), process.pid.load(Acquire));
        if state == UNBORN && system::started(pid).is_none() {
            self.give_up(place);
        } else if state == TAKEN && Self::is_dead(process) && !Self::is_traced(process) {
            self.bury(place);
            self.wake_all_told();
        }
    }

    /// Whether a process has ended that has a place.
    pub(super) fn is_dead(process: &Process) -> bool {
        system::started(process.pid.load(Acquire)) != Some(process.started.load(Acquire))
    }

    /// Does it for the process with this number, which somebody has waited for.
    pub fn has_ended(&self, pid: u32) {
        for (place, process) in self.processes().iter().enumerate() {
            if process.pid.load(Acquire) == pid {
                Self::await_tracer(process, pid);
                let _held = self.hold_registry();
                self.bury_if_ended(place);
            }
        }
    }

    /// Before this process forks: a place for the child, which has the same segments attached.
    pub fn before_fork(&self) -> Option<Unborn> {
        let own = OWN.1.load(Acquire).checked_sub(1)?;
        let _held = self.hold_registry();
        let (parent, thread) = (own_pid(), system::thread());
        let place = self.arrive(parent, thread, UNBORN);
        self.copy_attached(own, place);
        self.child_will_listen(own, place);
        Some(Unborn { place, parent, thread })
    }

    /// After it, in the parent, or if there is no child.
    pub fn after_fork(&self, child: Option<Unborn>, pid: Option<u32>) {
        let Some(child) = child else { return };
        match pid {
            Some(pid) => {
                if self.is_born(child, pid) {
                    self.await_child(child.place, pid);
                }
            }
            None => {
                let _held = self.hold_registry();
                self.give_up(child.place);
            }
        }
    }

    /// After it, in the child.
    pub fn in_child(&self, child: Option<Unborn>) {
        OWN.0.store(std::process::id(), Relaxed);
        OWN.1.store(0, Release);
        waiting::forget_place();
        let Some(child) = child else { return };
        if self.is_born(child, own_pid()) {
            OWN.1.store(child.place + 1, Release);
        } else {
            // Its parent has died, and somebody has given up its place.
            let place = self.own_process();
            self.enter_attached(place);
        }
    }

    /// Gives the place to the child with this number, if nobody has done so yet. Whether the child lives and has it.
    fn is_born(&self, child: Unborn, pid: u32) -> bool {
        let _held = self.hold_registry();
        let process = self.one_process(child.place);
        let has = |state, pid| process.state.load(Acquire) == state && process.pid.load(Acquire) == pid;
        if has(UNBORN, child.parent) && process.started.load(Acquire) == child.thread {
            let Some(started) = system::started(pid) else {
                self.give_up(child.place);
                return false;
            };
            process.started.store(started, Release);
            process.pid.store(pid, Release);
            process.state.store(TAKEN, Release);
        }
        has(TAKEN, pid)
    }

    /// Nobody will be born to this place. The registry is held.
    fn give_up(&self, place: usize) {
        self.detach_all(place);
        let process = self.one_process(place);
        process.listens.store(0, Release);
        process.state.store(FREE, Release);
    }

    /// Whether a launcher looks after the dead.
    pub(crate) fn has_caretaker(&self) -> bool {
        self.header().caretaker.is_held()
    }

    /// Looks after the dead until this process ends; returns if somebody else does.
    pub fn take_care(&self) {
        if self.header().caretaker.try_take().is_none() {
            return;
        }
        let mut watched: Vec<(u32, system::Watched)> = Vec::new();
        loop {
            let lives = |process: &&Process| matches!(process.state.load(Acquire), TAKEN | UNBORN);
            let there = self.processes().iter().filter(lives);
            let there: Vec<u32> = there.map(|process| process.pid.load(Acquire)).collect();
            watched.retain(|(pid, _)| there.contains(pid));
            let mut has_ended = false;
            for pid in there {
                if !watched.iter().any(|(known, _)| *known == pid) {
                    match system::Watched::new(pid) {
                        Some(process) => watched.push((pid, process)),
                        None => has_ended = true,
                    }
                }
            }
            has_ended |= self.is_deserted();
            if system::one_ends(watched.iter().map(|(_, process)| process), CARE) || has_ended {
                watched.clear();
                self.sweep();
            }
        }
    }
}
