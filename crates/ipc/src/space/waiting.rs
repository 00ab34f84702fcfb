//! Threads that wait, and how they are woken.
//!
//! A thread has a place from its first wait until it ends, and holds the lock in it meanwhile, by which others see that it lives. What it waits for is written there
//! before it enters the list of an object, under that object's lock. `state` begins as [`WAITS`]; the thread sets [`SLEEPS`] before it sleeps, and whoever
//! has done what it waits for, under the object's lock, takes it off the list and sets [`DONE`], with `result` before it. Who sleeps is
//! woken once the lock is given back, and so does not wait for that; if the other dies in between, whoever buries him does it.
//!
//! Before a thread sleeps it looks for a while, if no more processes are awake than there are cores for this one. Else it offers its core to them a few times: whoever
//! gets it is often the one that is waited for, and has answered when the core comes back, so that nobody sleeps and nobody is woken.

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use super::acting;
use super::asking::REQUESTS;
use super::lock::Lock;
use super::memory::shared;
use super::system::{self, Slept};
use super::{Kind, Space, process};
use crate::semantics::semaphores::Operation;

/// Threads that wait at the same time.
pub const WAITERS_MAX: usize = 8192;

/// Looks.
const WAITS: u32 = 0;
/// Sleeps.
const SLEEPS: u32 = 1;
/// What it waits for is done.
const DONE: u32 = 2;
/// It waits for another process, and that waits no more.
const CANCELLED: u32 = 3;

/// How long a thread looks before it sleeps.
const LOOKING: Duration = Duration::from_micros(15);
/// How often a thread offers its core before it sleeps.
const OFFERS: u32 = 8;
/// An offer that takes longer has given the core to somebody who computes.
const LOST: Duration = Duration::from_millis(1);
/// How many waits may be without a look.
const PAUSE_MAX: u32 = 255;
/// How long a sleep is if nobody looks after the dead, and if somebody does.
const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(3600);

shared! {
    /// A thread.
    pub struct Waiter {
        /// Held as long as the thread lives.
        pub life: Lock,
        /// Whether the place is taken.
        pub taken: AtomicU32,
        /// The place of its process.
        pub process: AtomicU32,
        /// See the module's head.
        pub state: AtomicU32,
        /// What came of it: an error's number, or 0.
        pub result: AtomicI32,
        /// The next in the list, plus one.
        pub next: AtomicU32,
        /// In which list it is: 0 in none, or the object's kind, place, and which of its lists.
        pub listed: AtomicU32,
        /// Number of the process.
        pub pid: AtomicU32,
        /// Of a receiver: what it wants. Of others: how many operations.
        pub form: AtomicU32,
        /// See [`crate::semantics::messages::Wanted`].
        pub kind: AtomicI64,
        /// Bytes, of a sender's message or of a receiver's room.
        pub bytes: AtomicU64,
        /// The message that a receiver has been given, plus one.
        pub message: AtomicU32,
        /// Whether a receiver takes less than a message; the operation that has to wait.
        pub detail: AtomicU32,
        /// The list in which it was last.
        pub queue: AtomicU32,
        /// Unused.
        pub filler: AtomicU32,
        /// The server's number for the request of this thread, once it has it; see [`super::asking`].
        pub request: AtomicU64,
    }

    /// A list of threads that wait, from the one that has waited longest.
    pub struct List {
        /// The first, plus one.
        pub first: AtomicU32,
    }
}

thread_local! {
    /// The place of this thread, plus one.
    static PLACE: Cell<u32> = const { Cell::new(0) };
    /// Whom this thread has told with a lock held, and will wake.
    static TOLD: RefCell<[Option<&'static AtomicU32>; 16]> = const { RefCell::new([None; 16]) };
    /// How many waits of this thread are still without a look, and how many were after the last look in vain.
    static PAUSE: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// Wakes a thread once the lock is given back that it will want.
fn wake_later(state: &'static AtomicU32) {
    TOLD.with_borrow_mut(|told| match told.iter_mut().find(|one| one.is_none()) {
        Some(free) => *free = Some(state),
        None => system::wake(state),
    });
}

/// A lock has been given back: wakes those who have been told meanwhile.
#[inline]
pub fn wake_told() {
    TOLD.with_borrow_mut(|told| told.iter_mut().map_while(Option::take).for_each(system::wake));
}

/// Looks for a while.
fn look(waiter: &Waiter) -> bool {
    let started = Instant::now();
    while started.elapsed() < LOOKING {
        for _ in 0..32 {
            if waiter.state.load(Acquire) == DONE {
                return true;
            }
            std::hint::spin_loop();
        }
    }
    false
}

/// Offers the core to others for a while.
fn offer(waiter: &Waiter) -> bool {
    for _ in 0..OFFERS {
        let started = Instant::now();
        std::thread::yield_now();
        if waiter.state.load(Acquire) == DONE {
            return true;
        }
        if started.elapsed() > LOST {
            break;
        }
    }
    false
}

/// A child that was forked is another thread.
pub fn forget_place() {
    PLACE.set(0);
}

/// How a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// What was waited for is done.
    Done,
    /// A signal was handled.
    Interrupted,
    /// Time is up.
    TimedOut,
}

/// Which list, as a number that is not 0.
pub fn list_number(kind: Kind, place: u32, which: u32) -> u32 {
    (1 + kind as u32) << 28 | which << 24 | place
}

impl Space {
    pub(super) fn waiter(&self, place: u32) -> &'static Waiter {
        assert!((place as usize) < WAITERS_MAX);
        self.memory.at(self.layout.waiters + place as usize * size_of::<Waiter>())
    }

    fn operation_words(&self, place: u32) -> &'static [AtomicU32] {
        self.memory.all(self.layout.operations + place as usize * super::PAGE, 1024)
    }

    /// Writes down the operations of a thread that waits.
    pub(super) fn write_operations(&self, place: u32, operations: &[Operation]) {
        let words = self.operation_words(place);
        for (number, one) in operations.iter().enumerate() {
            words[2 * number].store(u32::from(one.semaphore) << 16 | u32::from(one.change as u16), Relaxed);
            words[2 * number + 1].store(u32::from(one.flags as u16), Relaxed);
        }
    }

    /// The operation with a number of a thread that waits.
    pub(super) fn read_operation(&self, place: u32, number: usize) -> Operation {
        let words = self.operation_words(place);
        let (first, flags) = (words[2 * number].load(Relaxed), words[2 * number + 1].load(Relaxed));
        Operation { semaphore: (first >> 16) as u16, change: first as u16 as i16, flags: flags as u16 as i16 }
    }

    /// The place of this thread; nothing if there are too many. No lock is held.
    pub(super) fn own_waiter(&self) -> Option<u32> {
        let place = match PLACE.get() {
            0 => self.take_waiter()?,
            place => place - 1,
        };
        let waiter = self.waiter(place);
        waiter.state.store(WAITS, Relaxed);
        waiter.result.store(0, Relaxed);
        waiter.message.store(0, Relaxed);
        waiter.process.store(self.own_process() as u32, Release);
        waiter.pid.store(super::registry::own_pid(), Release);
        Some(place)
    }

    fn take_waiter(&self) -> Option<u32> {
        let free = (0..WAITERS_MAX as u32).find(|place| {
            let waiter = self.waiter(*place);
            if waiter.taken.compare_exchange(0, 1, AcqRel, Acquire).is_ok() {
                waiter.life.make();
                waiter.life.take();
                return true;
            }
            // Nobody may take the dead for living before it is off its list.
            waiter.life.is_orphaned() && {
                self.take_off_dead(*place);
                waiter.life.is_orphaned() && waiter.life.try_take().is_some()
            }
        })?;
        self.header().waiters_used.fetch_max(free + 1, AcqRel);
        PLACE.set(free + 1);
        Some(free)
    }

    /// A place whose thread has died may still be in a list.
    fn take_off_dead(&self, place: u32) {
        if self.host.all > 1 {
            let _held = self.hold_post();
            self.waiter(place).request.store(0, Release);
            if self.waiter(place).listed.load(Acquire) == REQUESTS {
                self.remove(&self.header().requests, place);
            }
        }
        let listed = self.waiter(place).listed.load(Acquire);
        if listed == 0 {
            return;
        }
        let (object, which) = (listed & 0xff_ffff, listed >> 24 & 0xf);
        if listed >> 28 == 1 + Kind::Queue as u32 {
            let _held = self.hold_queue(object);
            self.remove(self.queue_list(object, which), place);
        } else {
            let _held = self.hold_set(object);
            self.remove(self.set_list(object), place);
        }
    }

    /// Enters this thread at the end of a list, with the object's lock held.
    pub(super) fn append(&self, list: &'static List, number: u32, place: u32) {
        let waiter = self.waiter(place);
        waiter.next.store(0, Relaxed);
        waiter.listed.store(number, Release);
        waiter.queue.store(number, Release);
        let mut link = &list.first;
        while link.load(Acquire) != 0 {
            link = &self.waiter(link.load(Acquire) - 1).next;
        }
        link.store(place + 1, Release);
    }

    /// Takes a thread off a list, with the object's lock held.
    pub(super) fn remove(&self, list: &'static List, place: u32) {
        let mut link = &list.first;
        while link.load(Acquire) != 0 {
            let there = link.load(Acquire) - 1;
            if there == place {
                link.store(self.waiter(there).next.load(Acquire), Release);
                break;
            }
            link = &self.waiter(there).next;
        }
        self.waiter(place).listed.store(0, Release);
    }

    /// The threads of a list that live.
    pub(super) fn waiting(&self, list: &'static List) -> impl Iterator<Item = (u32, &'static Waiter)> {
        let mut next = list.first.load(Acquire);
        std::iter::from_fn(move || {
            while next != 0 {
                let place = next - 1;
                let waiter = self.waiter(place);
                next = waiter.next.load(Acquire);
                if !waiter.life.is_orphaned() {
                    return Some((place, waiter));
                }
            }
            None
        })
    }

    /// Tells a thread that what it waits for is done, and takes it off the list. The object's lock is held.
    pub(super) fn finish(&self, list: &'static List, place: u32, result: i32) {
        let waiter = self.waiter(place);
        self.remove(list, place);
        waiter.result.store(result, Relaxed);
        if waiter.state.swap(DONE, AcqRel) == SLEEPS {
            wake_later(&waiter.state);
        }
    }

    /// Wakes all who have been told: somebody has died who may not have come to it.
    pub(super) fn wake_all_told(&self) {
        let used = self.header().waiters_used.load(Acquire);
        let told =
            (0..used).map(|place| self.waiter(place)).filter(|waiter| waiter.state.load(Acquire) == DONE);
        told.for_each(|waiter| system::wake(&waiter.state));
    }

    /// The same for all of a list.
    pub(super) fn finish_all(&self, list: &'static List, result: i32) {
        while let first @ 1.. = list.first.load(Acquire) {
            self.finish(list, first - 1, result);
        }
    }

    /// Waits until this thread has been told, with no lock held.
    pub(super) fn wait(&self, place: u32, until: Option<Instant>) -> Ended {
        if acting::waits() {
            return Ended::Interrupted;
        }
        match self.begin_wait(place) {
            true => self.ended(self.waiter(place)).unwrap_or(Ended::Done),
            false => self.sleep_asleep(place, until),
        }
    }

    /// Looks for a while, and says that this thread sleeps from now on, unless what it waits for is done.
    pub(super) fn begin_wait(&self, place: u32) -> bool {
        let waiter = self.waiter(place);
        self.looks_for_a_while(waiter)
            || waiter.state.compare_exchange(WAITS, SLEEPS, AcqRel, Acquire).is_err()
    }

    fn ended(&self, waiter: &Waiter) -> Option<Ended> {
        match waiter.state.load(Acquire) {
            DONE => Some(Ended::Done),
            CANCELLED => Some(Ended::Interrupted),
            _ => None,
        }
    }

    /// Whether what a thread waits for is done.
    pub(super) fn is_done(&self, place: u32) -> bool {
        self.waiter(place).state.load(Acquire) == DONE
    }

    /// Has a thread that waits for another process wait no more.
    pub(super) fn interrupt(&self, place: u32) {
        let state = &self.waiter(place).state;
        for there in [WAITS, SLEEPS] {
            if state.compare_exchange(there, CANCELLED, SeqCst, Acquire).is_ok() {
                return system::wake(state);
            }
        }
    }

    /// Sleeps, having said so.
    pub(super) fn sleep_asleep(&self, place: u32, until: Option<Instant>) -> Ended {
        let waiter = self.waiter(place);
        let sleeping = &self.one_process(waiter.process.load(Relaxed) as usize).sleeping;
        sleeping.fetch_add(1, SeqCst);
        let ended = self.sleep(waiter, until);
        sleeping.fetch_sub(1, SeqCst);
        ended
    }

    fn sleep(&self, waiter: &Waiter, until: Option<Instant>) -> Ended {
        loop {
            let now = until.map(|_| Instant::now());
            let left = until.zip(now).map_or(LONG, |(until, now)| until.saturating_duration_since(now));
            if left.is_zero() {
                return Ended::TimedOut;
            }
            let most = if self.has_caretaker() { LONG } else { SHORT };
            let slept = system::sleep(&waiter.state, SLEEPS, left.min(most));
            if let Some(ended) = self.ended(waiter) {
                return ended;
            }
            match slept {
                Slept::Interrupted => return Ended::Interrupted,
                Slept::TimedOut if most < left => self.sweep(),
                Slept::TimedOut | Slept::Woken => {}
            }
        }
    }

    /// Looks, or offers its core, and says whether what is waited for is done. After that was in vain there are ever more waits without: others than the processes of the
    /// name space want cores, too.
    fn looks_for_a_while(&self, waiter: &Waiter) -> bool {
        let (left, all) = PAUSE.get();
        if left > 0 {
            PAUSE.set((left - 1, all));
            return false;
        }
        let has_come = if self.has_core_to_spare() { look(waiter) } else { offer(waiter) };
        let pause = if has_come { 0 } else { (2 * all + 1).min(PAUSE_MAX) };
        PAUSE.set((pause, pause));
        has_come
    }

    /// Whether no more processes are awake than there are cores.
    fn has_core_to_spare(&self) -> bool {
        let awake = |process: &&process::Process| {
            process.state.load(Relaxed) == process::TAKEN && process.sleeping.load(Relaxed) == 0
        };
        self.cores > 1
            && self.processes().iter().filter(awake).take(self.cores as usize + 1).count()
                <= self.cores as usize
    }

    /// Whether a wait that has ended otherwise was done nevertheless; else the thread is taken off the list. The object's lock is held.
    pub(super) fn was_done(&self, list: &'static List, place: u32) -> bool {
        let done = self.is_done(place);
        if !done {
            self.remove(list, place);
        }
        done
    }
}
