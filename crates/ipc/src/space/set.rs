//! Semaphore sets.
//!
//! What a call will change is written to the set's journal first, as it will be. Its length is stored last, and makes it happen: if the process dies then, whoever
//! takes the lock next does it again from the start, to the same end. Then whoever waits is served, the one that has waited longest first, until
//! nobody can be.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32};
use std::time::Instant;

use super::memory::shared;
use super::process::{key, of_key};
use super::waiting::{Ended, List, list_number};
use super::{Held, Kind, Object, PAGE, Result, Space, registry, system};
use crate::semantics::limits::{OPERATIONS_MAX, SEMAPHORES_MAX};
use crate::semantics::permission::{ALTER, READ};
use crate::semantics::semaphores::{Operation, Outcome, UNDO, evaluate, taken_back};

shared! {
    /// A set; see [`Object`] for how it begins.
    pub struct Set {
        /// What all objects have.
        pub object: Object,
        /// When operations were done.
        pub operated: AtomicI64,
        /// Semaphores.
        pub count: AtomicU32,
        /// Entries of the journal that have to be done.
        pub journal: AtomicU32,
        /// Who waits.
        pub waiting: List,
    }

    /// A semaphore.
    pub struct Semaphore {
        /// Its value.
        pub value: AtomicU32,
        /// Who has changed it last.
        pub pid: AtomicU32,
    }

    /// What is going to happen to a semaphore.
    pub struct Change {
        /// Which.
        pub semaphore: AtomicU32,
        /// The value.
        pub value: AtomicU32,
        /// Who does it.
        pub pid: AtomicU32,
        /// Whose ledger changes, plus one.
        pub process: AtomicU32,
        /// Which entry of it.
        pub entry: AtomicU32,
        /// What it is then.
        pub back: AtomicI32,
    }
}

const JOURNAL_AT: usize = SEMAPHORES_MAX as usize * size_of::<Semaphore>();
/// Bytes of what belongs to a set.
pub const BODY_BYTES: usize = (JOURNAL_AT + OPERATIONS_MAX * size_of::<Change>()).next_multiple_of(PAGE);

/// Who operates.
#[derive(Clone, Copy, Debug)]
struct Operator {
    process: usize,
    pid: u32,
}

impl Space {
    pub(crate) fn set(&self, place: u32) -> &'static Set {
        self.place(Kind::Set, place)
    }

    pub(crate) fn set_list(&self, place: u32) -> &'static List {
        &self.set(place).waiting
    }

    pub(crate) fn hold_set(&self, place: u32) -> Held {
        Held::take(&self.set(place).object.lock, || {
            self.apply(place);
            self.serve(place);
        })
    }

    fn set_body(&self, place: u32) -> usize {
        self.layout.sets + place as usize * BODY_BYTES
    }

    /// A semaphore of a set.
    pub(crate) fn semaphore(&self, place: u32, semaphore: u16) -> &'static Semaphore {
        assert!(u32::from(semaphore) < SEMAPHORES_MAX);
        self.memory.at(self.set_body(place) + semaphore as usize * size_of::<Semaphore>())
    }

    fn change(&self, place: u32, number: usize) -> &'static Change {
        assert!(number < OPERATIONS_MAX);
        self.memory.at(self.set_body(place) + JOURNAL_AT + number * size_of::<Change>())
    }

    pub(crate) fn begin_set(&self, place: u32, count: u32) {
        let set = self.set(place);
        set.operated.store(0, Relaxed);
        set.journal.store(0, Relaxed);
        set.count.store(count, Relaxed);
        for semaphore in 0..count as u16 {
            self.semaphore(place, semaphore).value.store(0, Relaxed);
            self.semaphore(place, semaphore).pid.store(0, Relaxed);
        }
    }

    pub(crate) fn end_set(&self, place: u32) {
        self.finish_all(&self.set(place).waiting, libc::EIDRM);
        self.clear_undo(place, None);
        self.forget(self.set_body(place), BODY_BYTES);
    }

    /// Nothing is to be taken back any more of a semaphore, or of all.
    pub(crate) fn clear_undo(&self, place: u32, semaphore: Option<u16>) {
        let set = self.set(place);
        let identifier = set.object.identifier(place);
        for process in 0..self.processes().len() {
            let ledger = self.undo(process);
            if let Some(semaphore) = semaphore {
                if let Some(entry) = ledger.find(key(identifier, semaphore)) {
                    entry.amount.store(0, Release);
                }
                continue;
            }
            for (key, entry) in ledger.amounts() {
                if of_key(key).0 == identifier {
                    entry.amount.store(0, Release);
                }
            }
        }
    }

    /// `semop` and `semtimedop`, once what was wrong with the arguments alone has been said.
    ///
    /// # Errors
    /// Those of the functions.
    pub fn operate(&self, identifier: i32, operations: &[Operation], until: Option<Instant>) -> Result<()> {
        let process = self.own_process();
        let operator = Operator { process, pid: registry::own_pid() };
        let alters = operations.iter().any(|one| one.change != 0);
        let (place, mut held) = self.find_set(identifier, libc::EINVAL)?;
        let set = self.set(place);
        if operations.iter().any(|one| u32::from(one.semaphore) >= set.count.load(Relaxed)) {
            return Err(libc::EFBIG);
        }
        registry::permit(&set.object, if alters { ALTER } else { READ })?;
        self.prepare_undo(place, operator, operations)?;
        let get = |number: usize| operations[number];
        let mut own = None;
        loop {
            let blocking = match self.attempt(place, operator, operations.len(), get) {
                Outcome::Done => {
                    if alters {
                        self.serve(place);
                    }
                    return Ok(());
                }
                Outcome::WouldWait => return Err(libc::EAGAIN),
                Outcome::OutOfRange => return Err(libc::ERANGE),
                Outcome::Waits(blocking) => blocking,
            };
            if let Some(own) = own {
                return self.wait_for_values(place, own, operations, blocking, until, held);
            }
            // A place may have to be taken from a dead thread, under the lock of another object.
            drop(held);
            own = Some(self.own_waiter().ok_or(libc::ENOMEM)?);
            held = self.find_set(identifier, libc::EIDRM)?.1;
        }
    }

    fn wait_for_values(
        &self,
        place: u32,
        own: u32,
        operations: &[Operation],
        blocking: usize,
        until: Option<Instant>,
        held: Held,
    ) -> Result<()> {
        let (list, waiter) = (self.set_list(place), self.waiter(own));
        self.write_operations(own, operations);
        waiter.form.store(operations.len() as u32, Relaxed);
        waiter.detail.store(blocking as u32, Relaxed);
        self.append(list, list_number(Kind::Set, place, 0), own);
        drop(held);
        let ended = self.wait(own, until);
        if ended != Ended::Done {
            let _held = self.hold_set(place);
            if !self.was_done(list, own) {
                return Err(if ended == Ended::Interrupted { libc::EINTR } else { libc::EAGAIN });
            }
        }
        match waiter.result.load(Relaxed) {
            0 => Ok(()),
            error => Err(error),
        }
    }

    /// Makes entries in the ledger of what is to be taken back, so that whoever does the operations finds them.
    fn prepare_undo(&self, place: u32, operator: Operator, operations: &[Operation]) -> Result<()> {
        let ledger = self.undo(operator.process);
        let identifier = self.set(place).object.identifier(place);
        for one in operations.iter().filter(|one| one.flags & UNDO != 0) {
            let gone = |identifier| !self.is_set(identifier);
            ledger.enter(key(identifier, one.semaphore), gone).ok_or(libc::ENOSPC)?;
        }
        Ok(())
    }

    /// Does operations for a process, if all can be done.
    fn attempt(
        &self,
        place: u32,
        operator: Operator,
        count: usize,
        get: impl Fn(usize) -> Operation,
    ) -> Outcome {
        let mut few = [Operation::default(); 4];
        let many: Vec<Operation>;
        let operations = if count <= few.len() {
            (0..count).for_each(|number| few[number] = get(number));
            &few[..count]
        } else {
            many = (0..count).map(get).collect();
            &many
        };
        let ledger = self.undo(operator.process);
        let identifier = self.set(place).object.identifier(place);
        let planned = |count: &usize, semaphore: u16| {
            let changes = (0..*count).rev().map(|number| self.change(place, number));
            changes.into_iter().find(move |change| change.semaphore.load(Relaxed) == u32::from(semaphore))
        };
        let value = |count: &usize, semaphore: u16| {
            let planned = planned(count, semaphore).map(|change| &change.value);
            planned.unwrap_or(&self.semaphore(place, semaphore).value).load(Relaxed) as i32
        };
        let back = |count: &usize, semaphore: u16| {
            let has_back = |change: &&Change| {
                change.semaphore.load(Relaxed) == u32::from(semaphore) && change.process.load(Relaxed) != 0
            };
            let planned = (0..*count).rev().map(|number| self.change(place, number)).find(has_back);
            planned.map_or_else(
                || {
                    ledger
                        .find(key(identifier, semaphore))
                        .map_or(0, |entry| entry.amount.load(Relaxed) as i32)
                },
                |change| change.back.load(Relaxed),
            )
        };
        let mut length = 0;
        let outcome = evaluate(&mut length, operations, value, back, |length, number, value, back| {
            let change = self.change(place, number);
            let semaphore = operations[number].semaphore;
            change.semaphore.store(u32::from(semaphore), Relaxed);
            change.value.store(value as u32, Relaxed);
            change.pid.store(operator.pid, Relaxed);
            let entry = back.and_then(|_| ledger.find(key(identifier, semaphore)));
            change.process.store(entry.map_or(0, |_| operator.process as u32 + 1), Relaxed);
            change.entry.store(entry.map_or(0, |entry| ledger.number(entry)), Relaxed);
            change.back.store(back.unwrap_or(0), Relaxed);
            *length += 1;
        });
        if outcome == Outcome::Done {
            let set = self.set(place);
            set.journal.store(length as u32, Release);
            self.apply(place);
            set.operated.store(system::now(), Relaxed);
        }
        outcome
    }

    /// Does what the journal says.
    fn apply(&self, place: u32) {
        let journal = &self.set(place).journal;
        for number in 0..journal.load(Acquire) as usize {
            let change = self.change(place, number);
            let semaphore = self.semaphore(place, change.semaphore.load(Relaxed) as u16);
            semaphore.value.store(change.value.load(Relaxed), Release);
            semaphore.pid.store(change.pid.load(Relaxed), Relaxed);
            if let process @ 1.. = change.process.load(Relaxed) {
                let entry = &self.undo(process as usize - 1).entries[change.entry.load(Relaxed) as usize];
                entry.amount.store(i64::from(change.back.load(Relaxed)), Release);
            }
        }
        journal.store(0, Release);
    }

    /// Does for those who wait what can be done now. The lock is held.
    pub(crate) fn serve(&self, place: u32) {
        let list = self.set_list(place);
        'again: while list.first.load(Acquire) != 0 {
            for (own, waiter) in self.waiting(list) {
                let count = waiter.form.load(Relaxed) as usize;
                let process = waiter.process.load(Relaxed) as usize;
                let operator = Operator { process, pid: waiter.pid.load(Relaxed) };
                let get = |number| self.read_operation(own, number);
                match self.attempt(place, operator, count, get) {
                    Outcome::Waits(blocking) => waiter.detail.store(blocking as u32, Relaxed),
                    Outcome::Done => {
                        let alters = (0..count).any(|number| get(number).change != 0);
                        self.finish(list, own, 0);
                        if alters {
                            continue 'again;
                        }
                    }
                    Outcome::WouldWait => self.finish(list, own, libc::EAGAIN),
                    Outcome::OutOfRange => self.finish(list, own, libc::ERANGE),
                }
            }
            break;
        }
    }

    /// How many wait for a semaphore to become 0, or else to become larger. The lock is held.
    pub(crate) fn count_waiting(&self, place: u32, semaphore: u16, for_zero: bool) -> i32 {
        let blocking = |(own, waiter): (u32, &super::Waiter)| {
            self.read_operation(own, waiter.detail.load(Relaxed) as usize)
        };
        let list = self.waiting(self.set_list(place)).map(blocking);
        list.filter(|one| one.semaphore == semaphore && (one.change == 0) == for_zero).count() as i32
    }

    /// Gives a value to a semaphore. The lock is held.
    pub(crate) fn assign(&self, place: u32, semaphore: u16, value: u16) {
        self.store_value(place, semaphore, value);
        self.clear_undo(place, Some(semaphore));
        self.note_assigned(place);
    }

    /// Gives values to all. The lock is held.
    pub(crate) fn assign_all(&self, place: u32, values: &[u16]) {
        for (semaphore, value) in values.iter().enumerate() {
            self.store_value(place, semaphore as u16, *value);
        }
        self.clear_undo(place, None);
        self.note_assigned(place);
    }

    fn store_value(&self, place: u32, semaphore: u16, value: u16) {
        let semaphore = self.semaphore(place, semaphore);
        semaphore.value.store(u32::from(value), Release);
        semaphore.pid.store(registry::own_pid(), Relaxed);
    }

    fn note_assigned(&self, place: u32) {
        self.set(place).object.changed.store(system::now(), Relaxed);
        self.serve(place);
    }

    /// Takes back what a process that has ended had to. The registry is held.
    pub(crate) fn take_back(&self, process: usize, pid: u32) {
        let ledger = self.undo(process);
        let mut amounts: Vec<_> = ledger.amounts().collect();
        amounts.sort_by_key(|(key, _)| *key);
        for of_one_set in amounts.chunk_by(|one, other| of_key(one.0).0 == of_key(other.0).0) {
            let Ok((place, _held)) = self.find_set(of_key(of_one_set[0].0).0, libc::EINVAL) else { continue };
            for chunk in of_one_set.chunks(OPERATIONS_MAX) {
                for (number, (key, entry)) in chunk.iter().enumerate() {
                    let (change, semaphore) = (self.change(place, number), of_key(*key).1);
                    let value = self.semaphore(place, semaphore).value.load(Relaxed) as i32;
                    let value = taken_back(value, entry.amount.load(Relaxed) as i32);
                    change.semaphore.store(u32::from(semaphore), Relaxed);
                    change.value.store(value as u32, Relaxed);
                    change.pid.store(pid, Relaxed);
                    change.process.store(process as u32 + 1, Relaxed);
                    change.entry.store(ledger.number(entry), Relaxed);
                    change.back.store(0, Relaxed);
                }
                self.set(place).journal.store(chunk.len() as u32, Release);
                self.apply(place);
            }
            self.set(place).operated.store(system::now(), Relaxed);
            self.serve(place);
        }
    }
}
