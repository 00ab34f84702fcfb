//! Calls about objects of other hosts: a thread leaves its request in a place of its own, and the server of this host sends it.
//!
//! The place is that of the thread among those that wait ([`super::waiting`]), with room for the bytes of the request and then of its answer. The thread enters the list of
//! *requests* under the lock `post`; the server takes it off, gives it a number (`request`), and finishes it when the answer has come. Who waits no more
//! enters once more, with [`CANCEL`], and waits for the answer all the same: so it knows whether its call was carried out.
//!
//! The server's thread holds the lock `server` as long as it lives. Without it there are no other hosts: what lives there is as if it were removed.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::{Duration, Instant};

use super::process::{GONE, TAKEN};
use super::waiting::Ended;
use super::{Bytes, Held, Kind, PAGE, Result, Space, registry, system};
use crate::hosts::packet::{BESIDE, Function, Person, Request};
use crate::semantics::names;

/// What a thread says by entering the list: it has a request.
const ASK: u32 = 0;
/// It waits no more for the answer to the one with its number.
pub const CANCEL: u32 = 1;

/// The number of the list of requests, which is no object's.
pub(super) const REQUESTS: u32 = 7 << 28;
/// How often a thread that waits for an answer looks whether the server lives. Whoever looks after the dead tells it at once; and not for a round time, since a signal
/// that comes just when a sleep is over is missed.
const ANSWER: Duration = Duration::from_millis(37_654);
/// How many bytes of a table come at once.
pub const ROWS_BYTES: usize = 60_000;

/// Which host this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its number.
    pub number: u32,
    /// How many there are.
    pub all: u32,
    /// Where all new objects live, if not where they are made.
    pub home: Option<u32>,
}

impl Host {
    /// The only one.
    pub const ALONE: Self = Self { number: 0, all: 1, home: None };
    /// How many there may be.
    pub const MOST: u32 = 256;
}

/// What a thread has left for the server.
#[derive(Debug)]
pub enum Left {
    /// A request for a host.
    Request {
        /// Which.
        host: u32,
        /// The thread's place.
        place: u32,
        /// The number of the request.
        number: u64,
        /// The request and its bytes.
        bytes: Vec<u8>,
    },
    /// The request with this number is cancelled.
    Cancel(u64),
}

/// What came back.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// What the call returns.
    pub result: i64,
    /// How many bytes there are.
    pub bytes: usize,
    place: u32,
}

impl Space {
    /// The room of a thread that asks.
    pub(super) fn exchange_bytes(limits: &crate::semantics::limits::Limits, host: Host) -> usize {
        let most = (limits.message_bytes as usize).max(super::SEMAPHORES_MAX as usize * 2).max(ROWS_BYTES);
        if host.all > 1 { (most + BESIDE).next_multiple_of(PAGE) } else { 0 }
    }

    fn exchange(&self, place: u32) -> usize {
        self.layout.exchanges + place as usize * self.layout.exchange_bytes
    }

    /// Which host this is.
    #[must_use]
    pub fn host(&self) -> Host {
        self.host
    }

    /// The other host that an object lives on, if it does.
    #[inline]
    pub(crate) fn elsewhere(&self, identifier: i32) -> Option<u32> {
        if self.host.all == 1 || identifier < 0 {
            return None;
        }
        Some(names::home(identifier, self.host.all)).filter(|home| *home != self.host.number)
    }

    /// Whether the server of this host lives, and so other hosts are there.
    #[must_use]
    pub fn has_server(&self) -> bool {
        self.host.all > 1 && self.is_served()
    }

    /// Whether this host has a server, although it may be the only host.
    #[must_use]
    pub fn is_served(&self) -> bool {
        self.header().server.is_held()
    }

    /// The other hosts, for whoever wants to know of all. One that asks for another process is asked of its own host only.
    pub(crate) fn others(&self) -> impl Iterator<Item = u32> {
        let own = self.host.number;
        let is_asked = self.has_server() && super::acting::pid().is_none();
        (0..self.host.all).filter(move |host| is_asked && *host != own)
    }

    pub(super) fn hold_post(&self) -> Held {
        Held::take(&self.header().post, || {})
    }

    /// Tells the server to look.
    pub(super) fn ring(&self) {
        let header = self.header();
        header.bell.fetch_add(1, SeqCst);
        if header.server_sleeps.load(SeqCst) != 0 {
            system::wake(&header.bell);
        }
    }

    /// Has a host carry a call out, with bytes of the caller's memory, and waits for the answer.
    pub(crate) fn ask(&self, host: u32, call: (Function, i32, [i64; 3]), from: Bytes) -> Result<Answer> {
        self.ask_until(host, call, from, None)
    }

    /// The same, until a time: then it ends like a call that must not wait.
    pub(crate) fn ask_until(
        &self,
        host: u32,
        (function, identifier, numbers): (Function, i32, [i64; 3]),
        from: Bytes,
        until: Option<Instant>,
    ) -> Result<Answer> {
        if !self.has_server() {
            return Err(libc::EIDRM);
        }
        let process = self.one_process(self.own_process());
        process.asked.store(1, Release);
        let person = Person { pid: registry::own_pid(), started: process.started.load(Acquire) };
        let caller = system::caller();
        let (user, groups) = (caller.uid, caller.groups);
        let request = Request { function, identifier, numbers, person, user, groups }.encoded();
        let own = self.own_waiter().ok_or(libc::ENOMEM)?;
        if request.len() + from.bytes > self.layout.exchange_bytes {
            return Err(libc::ENOMEM);
        }
        let waiter = self.waiter(own);
        let of_request = Bytes { address: request.as_ptr() as usize, bytes: request.len() };
        self.memory.write(self.exchange(own), of_request, 0, request.len());
        self.memory.write(self.exchange(own) + request.len(), from, 0, from.bytes);
        waiter.bytes.store((request.len() + from.bytes) as u64, Relaxed);
        waiter.form.store(host, Relaxed);
        waiter.detail.store(ASK, Relaxed);
        {
            let _held = self.hold_post();
            waiter.request.store(0, Relaxed);
            self.append(&self.header().requests, REQUESTS, own);
        }
        self.ring();
        if !self.has_server() {
            self.abandon_requests();
        }
        self.await_answer(own, until)
    }

    fn await_answer(&self, own: u32, until: Option<Instant>) -> Result<Answer> {
        let mut ended = match self.begin_wait(own) {
            true => Ended::Done,
            false => self.wait_for_server(own, until),
        };
        if ended != Ended::Done {
            if !self.cancel(own) {
                return Err(error_of(ended));
            }
            while self.wait_for_server(own, None) != Ended::Done {}
        } else {
            ended = Ended::Interrupted;
        }
        let waiter = self.waiter(own);
        if waiter.result.load(Relaxed) != 0 {
            return Err(waiter.result.load(Relaxed));
        }
        match waiter.kind.load(Acquire) {
            error if error == -i64::from(libc::EINTR) => Err(error_of(ended)),
            error @ ..0 => Err(-error as i32),
            result => Ok(Answer { result, bytes: waiter.bytes.load(Relaxed) as usize, place: own }),
        }
    }

    /// Sleeps until the answer is there; if there is no server any more, that is the answer.
    fn wait_for_server(&self, own: u32, until: Option<Instant>) -> Ended {
        loop {
            let now = Instant::now();
            let slice = until.map_or(now + ANSWER, |until| until.min(now + ANSWER));
            match self.sleep_asleep(own, Some(slice)) {
                Ended::TimedOut => {}
                ended => return ended,
            }
            if !self.has_server() {
                self.waiter(own).result.store(libc::EIDRM, Relaxed);
                return Ended::Done;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ended::TimedOut;
            }
        }
    }

    /// Waits no more: takes the request back if the server has not got it yet, and else has it cancelled. Whether an answer comes.
    fn cancel(&self, own: u32) -> bool {
        let waiter = self.waiter(own);
        let held = self.hold_post();
        if self.is_done(own) {
            return true;
        }
        if waiter.request.load(Relaxed) == 0 {
            self.remove(&self.header().requests, own);
            return false;
        }
        waiter.detail.store(CANCEL, Relaxed);
        self.append(&self.header().requests, REQUESTS, own);
        drop(held);
        self.ring();
        true
    }

    /// Copies what came back to the caller's memory.
    pub(crate) fn copy_answer(&self, answer: Answer, into: Bytes) {
        self.memory.read(self.exchange(answer.place), into, 0, answer.bytes.min(into.bytes));
    }

    /// The same, to a vector.
    pub(crate) fn answer_bytes(&self, answer: Answer) -> Vec<u8> {
        let mut all = vec![0; answer.bytes];
        self.copy_answer(answer, Bytes { address: all.as_mut_ptr() as usize, bytes: all.len() });
        all
    }

    /// `msgget`, `semget` and `shmget` of a key that is not known here: the host that keeps it says where its object is.
    pub(super) fn get_elsewhere(&self, kind: Kind, get: super::Get) -> Result<i32> {
        let function = match kind {
            Kind::Queue => Function::GetQueue,
            Kind::Set => Function::GetSet,
            Kind::Segment => Function::GetSegment,
        };
        let home = self.host.home.unwrap_or(self.host.number);
        let keeper = if get.key == libc::IPC_PRIVATE { home } else { names::keeper(get.key, self.host.all) };
        let numbers = [get.flags.into(), get.size as i64, home.into()];
        let nothing = Bytes { address: 0, bytes: 0 };
        self.ask(keeper, (function, get.key, numbers), nothing).map(|answer| answer.result as i32)
    }

    /// Asks what has to be answered, whatever signals come; what is asked for is done at once.
    fn ask_surely(&self, host: u32, call: (Function, i32, [i64; 3])) -> Result<i64> {
        loop {
            match self.ask(host, call, Bytes { address: 0, bytes: 0 }) {
                Err(libc::EINTR) => {}
                answer => return answer.map(|answer| answer.result),
            }
        }
    }

    /// `shmat` at home: it counts, and says how long the segment is.
    pub(super) fn attach_elsewhere(&self, home: u32, identifier: i32, flags: i32) -> Result<u64> {
        self.ask_surely(home, (Function::Attach, identifier, [flags.into(), 0, 0])).map(|bytes| bytes as u64)
    }

    /// `shmdt` at home, so often.
    pub(super) fn detach_elsewhere(&self, home: u32, identifier: i32, times: i64) {
        // A home that is no more does not count any more either.
        let _done = self.ask_surely(home, (Function::Detach, identifier, [times, 0, 0]));
    }

    /// A process that was forked says at home what it has attached.
    pub(super) fn inherit_elsewhere(&self, process: usize) {
        for (home, identifier, times) in self.attached_elsewhere(process) {
            let _done = self.ask_surely(home, (Function::Attach, identifier, [0, times, 0]));
        }
    }

    /// A program that begins has nothing attached any more.
    pub(super) fn leave_elsewhere(&self, process: usize) {
        for (home, identifier, times) in self.attached_elsewhere(process) {
            self.detach_elsewhere(home, identifier, times);
        }
    }
}

/// What a call returns that has ended without an answer.
fn error_of(ended: Ended) -> i32 {
    if ended == Ended::TimedOut { libc::EAGAIN } else { libc::EINTR }
}

/// The server's side.
impl Space {
    /// Becomes the server of this host, as long as this thread lives.
    pub fn serve_host(&self) {
        self.header().server.take();
    }

    /// What has been left since the last look, and the processes that have ended since and had asked. Requests are given numbers above `last`.
    pub fn take_left(&self, last: &mut u64) -> (Vec<Left>, Vec<Person>) {
        let mut all = Vec::new();
        {
            let _held = self.hold_post();
            let list = &self.header().requests;
            while let place @ 1.. = list.first.load(Acquire) {
                let (place, waiter) = (place - 1, self.waiter(place - 1));
                self.remove(list, place);
                if waiter.life.is_orphaned() {
                    continue;
                }
                let number = waiter.request.load(Relaxed);
                if waiter.detail.load(Relaxed) == CANCEL {
                    all.push(Left::Cancel(number));
                    continue;
                }
                let bytes = (waiter.bytes.load(Relaxed) as usize).min(self.layout.exchange_bytes);
                let mut copy = vec![0; bytes];
                let into = Bytes { address: copy.as_mut_ptr() as usize, bytes };
                self.memory.read(self.exchange(place), into, 0, bytes);
                *last += 1;
                waiter.request.store(*last, Relaxed);
                all.push(Left::Request {
                    host: waiter.form.load(Relaxed),
                    place,
                    number: *last,
                    bytes: copy,
                });
            }
        }
        // After the requests were taken: who has asked after a process ended, asks after that is told.
        let gone = self.processes().iter().filter(|process| process.state.load(Acquire) == GONE);
        let people = gone.map(|process| {
            let person = Person { pid: process.pid.load(Acquire), started: process.started.load(Acquire) };
            process.state.store(super::process::FREE, Release);
            person
        });
        let people = people.collect();
        // What the dead have asked for last would be sent after their end is told, and never taken back.
        all.retain(|left| match left {
            Left::Request { place, .. } => !self.waiter(*place).life.is_orphaned(),
            Left::Cancel(_) => true,
        });
        (all, people)
    }

    /// Gives a thread the answer to its request, if it lives.
    pub fn answer(&self, place: u32, number: u64, result: i64, bytes: &[u8]) {
        let waiter = self.waiter(place);
        let _held = self.hold_post();
        if waiter.request.load(Relaxed) != number || waiter.life.is_orphaned() {
            return;
        }
        let from =
            Bytes { address: bytes.as_ptr() as usize, bytes: bytes.len().min(self.layout.exchange_bytes) };
        self.memory.write(self.exchange(place), from, 0, from.bytes);
        waiter.request.store(0, Relaxed);
        waiter.kind.store(result, Relaxed);
        waiter.bytes.store(from.bytes as u64, Relaxed);
        self.finish(&self.header().requests, place, 0);
    }

    /// Waits until somebody rings after `seen` rings, or for some time, and says how many there were.
    pub fn await_ring(&self, seen: u32, time: Duration) -> u32 {
        let header = self.header();
        header.server_sleeps.store(1, SeqCst);
        if header.bell.load(SeqCst) == seen {
            system::sleep(&header.bell, seen, time);
        }
        header.server_sleeps.store(0, SeqCst);
        header.bell.load(SeqCst)
    }

    /// Rings the server of this process.
    pub fn ring_own(&self) {
        self.ring();
    }

    /// Has the server of this host end the name space on all of them.
    pub fn stop_hosts(&self) {
        self.header().stop.store(1, Release);
        self.ring();
    }

    /// Whether that was asked for.
    #[must_use]
    pub fn is_to_stop(&self) -> bool {
        self.header().stop.load(Acquire) != 0
    }

    /// A place for a process of another host.
    pub fn admit(&self, person: &Person) -> Option<usize> {
        let _held = self.hold_registry();
        let place = self.free_process()?;
        let process = self.one_process(place);
        process.pid.store(person.pid, Release);
        process.started.store(person.started, Release);
        process.state.store(super::process::REMOTE, Release);
        Some(place)
    }

    /// Does what is to be done for a process of another host that has ended.
    pub fn dismiss(&self, place: usize) {
        let _held = self.hold_registry();
        self.bury_remote(place);
        self.wake_all_told();
    }

    /// Whether the server has died, and something is to be done for that.
    pub(super) fn is_deserted(&self) -> bool {
        let is_remote =
            |process: &super::process::Process| process.state.load(Acquire) == super::process::REMOTE;
        let used = self.header().waiters_used.load(Acquire);
        let asks = |place| self.waiter(place).request.load(Acquire) != 0;
        self.header().server.is_orphaned()
            && (self.header().requests.first.load(Acquire) != 0
                || self.processes().iter().any(is_remote)
                || (0..used).any(asks))
    }

    /// There is no server any more: nobody will be answered.
    fn abandon_requests(&self) {
        let _held = self.hold_post();
        let list = &self.header().requests;
        self.finish_all(list, libc::EIDRM);
        for place in 0..self.header().waiters_used.load(Acquire) {
            let waiter = self.waiter(place);
            if waiter.request.swap(0, AcqRel) != 0 && !waiter.life.is_orphaned() {
                self.finish(list, place, libc::EIDRM);
            }
        }
    }

    /// There is no server any more: processes of other hosts have ended for this one.
    pub(super) fn be_alone(&self) {
        self.abandon_requests();
        for place in 0..self.processes().len() {
            if self.one_process(place).state.load(Acquire) == super::process::REMOTE {
                self.bury_remote(place);
                self.wake_all_told();
            }
        }
    }

    /// Ends a call that waits, or is about to.
    pub fn cancel_call(&self, call: &super::Call) {
        call.mark_cancelled();
        let waiter = call.waiter();
        if let place @ 1.. = *waiter {
            self.interrupt(place - 1);
        }
    }

    /// Says which waiter's place the thread has that makes a call.
    pub fn make_cancellable(&self, call: &super::Call) {
        if let Some(place) = self.own_waiter() {
            *call.waiter() = place + 1;
        }
    }

    /// Whether a process is one that may be told about.
    pub(super) fn will_be_told(&self, process: &super::process::Process) -> bool {
        process.asked.swap(0, AcqRel) != 0 && process.state.load(Acquire) == TAKEN && self.has_server()
    }
}
