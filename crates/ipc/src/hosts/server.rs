//! The server of a host: two threads, one that receives and one that sends, and others for calls that wait.
//!
//! ```text
//! processes ──requests──▶ sender ──MPI──▶ receiver of the home ──(waits)──▶ carrier
//!     ▲                                          │                             │
//!     └────answer───── receiver ◀──MPI───────────┴─────────────────────────────┘
//! ```
//!
//! Whoever has an answer sends it, by a send that does not wait: so the receiver always receives, and two servers cannot wait for each other. A call that waits has a
//! carrier, and the receiver goes on once that is in the object's list: so calls of one host come into lists in the order in which they were made. Host 0 hears
//! when the programs of all hosts have ended, and tells all when to end.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use postrider_client::{Communicator, Transfer};

use super::carrying::{Carried, Patience, carry_out};
use super::keys::Keys;
use super::packet::{BESIDE, Function, Head, Person, Request};
use super::segments::{CONTENT_MAX, Packet, Segments};
use crate::semantics::names;
use crate::space::{Actor, Call, Kind, Left, Space, acting};

/// The tag of all packets.
const TAG: i32 = 0;
/// Processes of other hosts that are known at most.
const PEOPLE_MAX: usize = 2048;
/// Calls of other hosts that wait at most.
const CALLS_MAX: usize = 4096;

/// A call of another host that is being made.
#[derive(Debug)]
struct Going {
    number: u64,
    origin: u32,
    request: Request,
    bytes: Vec<u8>,
    actor: Actor,
    call: Arc<Call>,
}

/// A call of a process here that has not been answered.
#[derive(Clone, Copy, Debug)]
struct Asked {
    place: u32,
    host: u32,
    /// Whoever keeps the key may have sent it on.
    by_key: bool,
}

/// A call by its origin and that host's number for it, with the process that makes it.
type Calls = HashMap<(u32, u64), (Person, Arc<Call>)>;

/// How a server waits for what others send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A thread of its own sleeps in MPI, which several threads may call.
    InMpi,
    /// One thread sends and looks, and naps in between: MPI itself would take a core.
    Here,
}

/// How long a server sleeps that is rung anyway.
const SLEEP: Duration = Duration::from_secs(1);
/// How often a server looks at once that naps, and how long it naps then, ever longer.
const LOOKS: u32 = 20;
const NAPS: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// What goes to other hosts.
#[derive(Debug, Default)]
struct Outgoing {
    /// What a thread that must not call MPI has left for the one that does.
    left: VecDeque<(u32, Vec<u8>)>,
    /// What others have not taken yet.
    flying: Vec<Transfer>,
    /// Whether the last packet has been sent.
    is_closed: bool,
}

struct Server {
    space: &'static Space,
    hosts: Communicator,
    waiting: Waiting,
    own: u32,
    all: u32,
    outgoing: Mutex<Outgoing>,
    asked: Mutex<HashMap<u64, Asked>>,
    keys: Mutex<Keys>,
    segments: Segments,
    order: Mutex<()>,
    people: Mutex<HashMap<(u32, Person), usize>>,
    calls: Mutex<Calls>,
    call_ended: Condvar,
    /// How many carriers have nothing to do, and how they get something.
    idle: Mutex<usize>,
    work: (Sender<Box<Going>>, Mutex<Receiver<Box<Going>>>),
    /// Of host 0: how many hosts are over.
    over: AtomicU32,
    /// Whether host 0 was told that the name space is to be ended.
    is_stopping: AtomicBool,
    /// Whether all is to end.
    is_ending: AtomicBool,
    /// How many hosts send nothing any more.
    silent: AtomicU32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves a host of a name space until the programs of all hosts have ended, or the name space is stopped. `run` runs the programs of this host, if it has
/// some, once all servers are there, and returns their exit code, which is also returned here.
///
/// # Errors
/// What MPI returns.
pub fn serve(
    space: &'static Space,
    hosts: Communicator,
    waiting: Waiting,
    run: impl FnOnce() -> Option<i32>,
) -> postrider_client::Result<i32> {
    let host = space.host();
    let server: &'static Server = Box::leak(Box::new(Server {
        space,
        hosts,
        waiting,
        own: host.number,
        all: host.all,
        outgoing: Mutex::default(),
        asked: Mutex::default(),
        keys: Mutex::default(),
        segments: Segments::new(space),
        order: Mutex::default(),
        people: Mutex::default(),
        calls: Mutex::default(),
        call_ended: Condvar::new(),
        idle: Mutex::default(),
        work: {
            let (sender, receiver) = channel();
            (sender, Mutex::new(receiver))
        },
        over: AtomicU32::new(0),
        is_stopping: AtomicBool::new(false),
        is_ending: AtomicBool::new(false),
        silent: AtomicU32::new(0),
    }));
    let ((ready, is_ready), (go, goes)) = (channel(), channel());
    let sender = std::thread::spawn(move || {
        space.serve_host();
        // Who waits for this, and who says that, has gone only if the process ends.
        let _waits = ready.send(());
        let _all_are_there = goes.recv();
        server.send_all();
    });
    let _holds_the_lock = is_ready.recv();
    hosts.barrier()?;
    let _waits = go.send(());
    std::thread::spawn(|| {
        loop {
            if let Some(taken) = server.segments.take_next() {
                server.move_pages(|segments| segments.taken(taken));
            }
        }
    });
    let receiver = (waiting == Waiting::InMpi).then(|| std::thread::spawn(|| server.receive_all()));
    let code = run();
    if code.is_some() {
        server.post(0, &Head::Over, &[]);
    }
    for thread in [receiver, Some(sender)].into_iter().flatten() {
        // One that panics has said so.
        let _ended = thread.join();
    }
    hosts.barrier()?;
    Ok(code.unwrap_or(0))
}

/// Whether a function finds an object by its key.
fn is_get(function: Function) -> bool {
    matches!(function, Function::GetQueue | Function::GetSet | Function::GetSegment)
}

/// A server that cannot go on ends, and so does what is on other hosts.
fn failed(error: &postrider_client::Error) -> ! {
    eprintln!("postrider ipc: the server of this host ends: {error}");
    std::process::exit(1);
}

impl Server {
    /// Has something done about pages, and sends what comes of it: whatever is done later is sent later, so that no page is taken before it is granted.
    fn move_pages(&'static self, work: impl FnOnce(&Segments) -> Vec<Packet>) {
        let _order = lock(&self.order);
        for (host, pages, content) in work(&self.segments) {
            self.post(host, &Head::Pages(pages), &content);
        }
    }

    /// Sends a packet, from whichever thread has it; where only one may call MPI, that one does.
    fn post(&'static self, host: u32, head: &Head, bytes: &[u8]) {
        let packet = head.packet(bytes);
        let mut outgoing = lock(&self.outgoing);
        match self.waiting {
            Waiting::InMpi => {
                self.send([(host, packet)], &mut outgoing).unwrap_or_else(|error| failed(&error));
            }
            Waiting::Here => {
                outgoing.left.push_back((host, packet));
                drop(outgoing);
                self.space.ring_own();
            }
        }
    }

    /// Sends what processes here have left, and receives if no other thread does, until all is to end.
    fn send_all(&'static self) {
        let (mut seen, mut last, mut naps) = (0, 0, 0);
        let mut room = self.room();
        loop {
            let mut has_done = self.collect(&mut last);
            let is_ending = self.is_ending.load(Acquire);
            let (some, is_over) = self.send_left(is_ending).unwrap_or_else(|error| failed(&error));
            has_done |= some;
            if self.waiting == Waiting::Here {
                has_done |= self.receive_some(&mut room).unwrap_or_else(|error| failed(&error));
            }
            naps = if has_done { 0 } else { naps + 1 };
            if has_done {
                continue;
            }
            if is_over && (self.waiting == Waiting::InMpi || !self.is_heard()) {
                return;
            }
            match self.waiting {
                Waiting::InMpi if is_ending => std::thread::sleep(NAPS[1]),
                Waiting::InMpi => seen = self.space.await_ring(seen, SLEEP),
                Waiting::Here if naps < LOOKS => std::thread::yield_now(),
                Waiting::Here => {
                    let nap = (NAPS[0] * (naps - LOOKS + 1)).min(NAPS[1]);
                    seen = self.space.await_ring(seen, nap);
                }
            }
        }
    }

    /// Sends what threads have left, and in the end the last packets. Whether there was something, and whether all has been sent and taken.
    fn send_left(&'static self, is_ending: bool) -> postrider_client::Result<(bool, bool)> {
        let mut outgoing = lock(&self.outgoing);
        let mut all: Vec<_> = outgoing.left.drain(..).collect();
        let closes = is_ending && !outgoing.is_closed;
        if closes {
            all.extend((0..self.all).map(|host| (host, Head::Last.packet(&[]))));
        }
        let some = !all.is_empty();
        self.send(all, &mut outgoing)?;
        outgoing.is_closed |= closes;
        Ok((some, outgoing.is_closed && outgoing.flying.is_empty()))
    }

    /// Sends packets, unless the last one has been sent, and does not wait until others have taken them.
    fn send(
        &'static self,
        packets: impl IntoIterator<Item = (u32, Vec<u8>)>,
        outgoing: &mut Outgoing,
    ) -> postrider_client::Result<()> {
        for (host, packet) in packets {
            if !outgoing.is_closed {
                outgoing.flying.push(Transfer::send(self.hosts, packet, host as i32, TAG)?);
            }
        }
        let mut left = Vec::new();
        for mut transfer in outgoing.flying.drain(..) {
            if !transfer.is_sent()? {
                left.push(transfer);
            }
        }
        outgoing.flying = left;
        Ok(())
    }

    /// Takes what processes of this host have left; whether there was something.
    fn collect(&'static self, last: &mut u64) -> bool {
        let (left, gone) = self.space.take_left(last);
        let some = !left.is_empty() || !gone.is_empty();
        for person in gone {
            let head = Head::Ended { person };
            (0..self.all).filter(|host| *host != self.own).for_each(|host| self.post(host, &head, &[]));
        }
        left.into_iter().for_each(|left| self.pass(left));
        self.move_pages(Segments::look);
        if self.space.is_to_stop() && !self.is_stopping.swap(true, Relaxed) {
            self.post(0, &Head::Stop, &[]);
        }
        some
    }

    /// Receives what has come, and says whether there was something.
    fn receive_some(&'static self, room: &mut [u8]) -> postrider_client::Result<bool> {
        let mut some = false;
        while let Some(host) = self.hosts.sender(TAG)? {
            let bytes = self.hosts.receive(room, host, TAG)?;
            self.take(host as u32, &room[..bytes]);
            some = true;
        }
        Ok(some)
    }

    /// Passes on what a process here has left.
    fn pass(&'static self, left: Left) {
        match left {
            Left::Request { host, place, number, bytes } => {
                let is_key = matches!(
                    Request::decoded(&bytes),
                    Ok((request, _)) if is_get(request.function)
                );
                if host >= self.all {
                    return self.space.answer(place, number, -i64::from(libc::EINVAL), &[]);
                }
                lock(&self.asked).insert(number, Asked { place, host, by_key: is_key });
                if host == self.own {
                    self.call(self.own, number, self.own, &bytes);
                } else {
                    self.post(host, &Head::Call { number, origin: self.own }, &bytes);
                }
            }
            Left::Cancel(number) => {
                let host = lock(&self.asked).get(&number).map(|asked| asked.host);
                if let Some(host) = host.filter(|host| *host != self.own) {
                    self.post(host, &Head::Cancel { number }, &[]);
                }
            }
        }
    }

    /// Room for any packet.
    fn room(&self) -> Vec<u8> {
        vec![0; (self.space.limits().message_bytes as usize).max(CONTENT_MAX) + 2 * BESIDE]
    }

    /// Receives until all is to end.
    fn receive_all(&'static self) {
        let mut room = self.room();
        while self.is_heard() {
            let received = self.hosts.receive_from_any(&mut room, TAG);
            let (host, bytes) = received.unwrap_or_else(|error| failed(&error));
            self.take(host as u32, &room[..bytes]);
        }
    }

    /// Whether something may come from another server, or this one.
    fn is_heard(&self) -> bool {
        self.silent.load(Acquire) < self.all
    }

    /// Acts on what another host has said. Nonsense is passed over.
    fn take(&'static self, host: u32, packet: &[u8]) {
        let Ok((head, bytes)) = Head::of(packet) else { return };
        match head {
            Head::Call { number, origin } => self.call(host, number, origin, bytes),
            Head::Cancel { number } => self.cancel(host, number),
            Head::Answer { number, result } => self.answered(Some(host), number, result, bytes),
            Head::Ended { person } => self.ended(host, &person),
            Head::Pages(pages) => self.move_pages(|segments| segments.hear(host, pages, bytes)),
            Head::Over if self.own == 0 => self.is_over(),
            Head::Stop if self.own == 0 => self.end_all(),
            Head::End if host == 0 => {
                self.is_ending.store(true, Release);
                self.space.ring_own();
            }
            Head::Last => {
                self.silent.fetch_add(1, Release);
            }
            Head::Over | Head::Stop | Head::End => {}
        }
    }

    /// The answer to a call of a process here.
    fn answered(&'static self, from: Option<u32>, number: u64, result: i64, bytes: &[u8]) {
        let mut all = lock(&self.asked);
        let Some(asked) = all.get(&number).copied() else { return };
        if !asked.by_key && from.is_some_and(|host| host != asked.host) {
            return;
        }
        all.remove(&number);
        drop(all);
        self.space.answer(asked.place, number, result, bytes);
    }

    fn reply(&'static self, origin: u32, number: u64, carried: Carried) {
        let (result, bytes) = carried.unwrap_or_else(|error| (-i64::from(error), Vec::new()));
        match origin == self.own {
            true => self.answered(None, number, result, &bytes),
            false => self.post(origin, &Head::Answer { number, result }, &bytes),
        }
    }

    /// Makes a call, or sends it on to where the object of its key lives.
    fn call(&'static self, sender: u32, number: u64, origin: u32, bytes: &[u8]) {
        if origin >= self.all {
            return;
        }
        let Ok((request, rest)) = Request::decoded(bytes) else {
            return self.reply(origin, number, Err(libc::EINVAL));
        };
        match request.function {
            get if is_get(get) => match self.home_of(sender, origin, &request) {
                Ok(home) if home == self.own => self.make(origin, number, request, rest),
                Ok(home) => self.post(home, &Head::Call { number, origin }, bytes),
                Err(error) => self.reply(origin, number, Err(error)),
            },
            _ if sender != origin => {}
            _ if self.is_here(&request) => self.make(origin, number, request, rest),
            _ => self.reply(origin, number, Err(libc::EINVAL)),
        }
    }

    /// Whether what a call is about is this host's.
    fn is_here(&self, request: &Request) -> bool {
        let identifier = request.identifier;
        let home_of = |kind| {
            i32::try_from(request.numbers[0])
                .map_or(self.all, |command| self.space.home_of_command(kind, identifier, command))
        };
        let home = match request.function {
            Function::Rows => self.own,
            Function::ControlQueue => home_of(Kind::Queue),
            Function::ControlSet => home_of(Kind::Set),
            Function::ControlSegment => home_of(Kind::Segment),
            _ => names::home(identifier, self.all),
        };
        identifier >= 0 && home == self.own
    }

    /// Where a key is to be looked for: here, if the host that keeps it has said so.
    fn home_of(&'static self, sender: u32, origin: u32, request: &Request) -> Result<u32, i32> {
        let key = request.identifier;
        let keeper = names::keeper(key, self.all);
        if key == libc::IPC_PRIVATE || keeper != self.own {
            let is_right = key == libc::IPC_PRIVATE || sender == keeper;
            return if is_right { Ok(self.own) } else { Err(libc::EINVAL) };
        }
        let home = u32::try_from(request.numbers[2]).ok().filter(|home| *home < self.all);
        let flags = request.numbers[0] as i32;
        lock(&self.keys).home(request.function, key, flags, home.unwrap_or(origin))
    }

    /// Makes a call in the name of a process, with a carrier if it has to wait.
    fn make(&'static self, origin: u32, number: u64, request: Request, bytes: &[u8]) {
        let is_of_object = !is_get(request.function) && request.function != Function::Rows;
        // What is of no object leaves nothing behind for which the process needs a place.
        let place = if is_of_object { self.place_of(origin, &request.person) } else { Some(0) };
        let Some(place) = place else {
            return self.reply(origin, number, Err(libc::ENOMEM));
        };
        let actor = Actor { place, pid: request.person.pid, caller: request.caller() };
        let work = || carry_out(self.space, &request, bytes, Patience::AtOnce);
        if let Some(carried) = acting::act(&actor, None, work) {
            if request.function == Function::Attach && carried.is_ok() {
                self.segments.admit(origin, request.identifier);
            }
            return self.reply(origin, number, carried);
        }
        let call = Arc::new(Call::default());
        {
            let mut calls = lock(&self.calls);
            if calls.len() >= CALLS_MAX {
                drop(calls);
                return self.reply(origin, number, Err(libc::ENOMEM));
            }
            calls.insert((origin, number), (request.person.clone(), Arc::clone(&call)));
        }
        let (bytes, waits) = (bytes.to_vec(), Arc::clone(&call));
        self.give(Box::new(Going { number, origin, request, bytes, actor, call }));
        waits.until_settled();
    }

    /// The place of a process of another host.
    fn place_of(&'static self, origin: u32, person: &Person) -> Option<usize> {
        let mut people = lock(&self.people);
        if let Some(place) = people.get(&(origin, person.clone())) {
            return Some(*place);
        }
        if people.len() >= PEOPLE_MAX {
            return None;
        }
        let place = self.space.admit(person)?;
        people.insert((origin, person.clone()), place);
        Some(place)
    }

    /// Gives a call to a carrier that has nothing to do, or to a new one.
    fn give(&'static self, going: Box<Going>) {
        let mut idle = lock(&self.idle);
        if *idle == 0 {
            std::thread::spawn(|| self.carry());
        } else {
            *idle -= 1;
        }
        // The receiver lives as long as the server.
        let _taken = self.work.0.send(going);
    }

    /// A carrier: makes one call after the other.
    fn carry(&'static self) {
        loop {
            let next = lock(&self.work.1).recv();
            let Ok(going) = next else { return };
            let Going { number, origin, request, bytes, actor, call } = *going;
            let carried = acting::act(&actor, Some(&call), || {
                self.space.make_cancellable(&call);
                carry_out(self.space, &request, &bytes, Patience::Waits)
            });
            *lock(&self.idle) += 1;
            lock(&self.calls).remove(&(origin, number));
            self.call_ended.notify_all();
            call.settle();
            self.reply(origin, number, carried.unwrap_or(Err(libc::EAGAIN)));
        }
    }

    fn cancel(&'static self, origin: u32, number: u64) {
        let call = lock(&self.calls).get(&(origin, number)).map(|(_, call)| Arc::clone(call));
        if let Some(call) = call {
            self.space.cancel_call(&call);
        }
    }

    /// A process of another host has ended: its calls do, and what it had to take back is taken back.
    fn ended(&'static self, origin: u32, person: &Person) {
        let Some(place) = lock(&self.people).remove(&(origin, person.clone())) else { return };
        let is_its = |at: &(u32, u64), who: &Person| at.0 == origin && who == person;
        let mut calls = lock(&self.calls);
        for (_, (_, call)) in calls.iter().filter(|(at, (who, _))| is_its(at, who)) {
            self.space.cancel_call(call);
        }
        while calls.iter().any(|(at, (who, _))| is_its(at, who)) {
            calls = self.call_ended.wait(calls).unwrap_or_else(PoisonError::into_inner);
        }
        drop(calls);
        self.space.dismiss(place);
    }

    fn is_over(&'static self) {
        if self.over.fetch_add(1, Relaxed) + 1 == self.all {
            self.end_all();
        }
    }

    fn end_all(&'static self) {
        (0..self.all).for_each(|host| self.post(host, &Head::End, &[]));
    }
}
