//! An open file of the program: what it does with it, and what of that has still to reach the file.
//!
//! `state` is what calls of the program and the worker look at; nobody makes a system call on a slow file under it, but for the reservation of
//! space. Whoever writes pending pieces holds `turn`, so that they reach the file in the program's order. `turn` is taken before `state`.
//!
//! The offset of the open file is the system's: a call that is deferred moves it on at once. So whoever looks past this layer, another
//! process with the same open file or the C library inside itself, goes on where the program is.

use super::filesystem::{FileSystem, PATIENCE, Speed, speed, time_of_file_system};
use super::pattern::{Expected, Kind, Pattern};
use super::pending::{BLOCK_BYTES, Log};
use super::process::{self, is_forced};
use super::report::FileReport;
use super::system::{self, Identity, Memory};
use std::ops::Range;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A write of so many bytes is deferred without two others before it, where the file system is known to be slow.
const LARGE_BYTES: usize = 256 << 10;
/// What a file must have cost before the layer spends time on it.
const WORTH: Duration = Duration::from_millis(1);
/// How much more space is reserved than a write needs, at most.
const RESERVE_BYTES_MAX: u64 = 8 << 20;
/// How far to read ahead, at most.
const AHEAD_BYTES_MAX: u64 = 16 << 20;
/// A file that was looked at more often, with fewer than two calls deferred each time, is left alone.
const FLUSHES: u64 = 16;

/// Where a call reads or writes.
#[derive(Clone, Copy, Debug)]
pub enum Position {
    /// At the offset of the open file, which moves on.
    Current,
    /// At this place.
    At(i64),
}

/// An open file of the program.
pub struct OpenFile {
    /// The program's descriptor.
    pub descriptor: i32,
    /// Which file it is.
    pub identity: Identity,
    file_system: Arc<FileSystem>,
    /// The layer's own descriptor of the same open file, or -1.
    own: AtomicI32,
    turn: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pattern: Pattern,
    log: Log,
    /// Where the piece begins that is being written.
    in_flight: Option<u64>,
    /// Why calls have failed that have returned.
    error: Option<i32>,
    /// Whether it is known that nobody else in this process has the file.
    is_alone: bool,
    reserved: Range<u64>,
    last_write: Option<Instant>,
    /// Whether the worker will look at it.
    is_watched: bool,
    /// How long plain calls took.
    writes: Calls,
    reads: Calls,
    flushes: u64,
    ahead_until: u64,
    report: FileReport,
}

/// Plain calls of a kind: how many, and what the file system took for them.
#[derive(Default)]
struct Calls {
    count: u64,
    took: Duration,
}

impl Calls {
    fn add(&mut self, took: Duration) {
        self.count += 1;
        self.took += took;
    }

    fn speed(&self) -> Speed {
        speed(self.count, self.took)
    }
}

impl OpenFile {
    /// A file that is open as this descriptor.
    pub fn new(descriptor: i32, identity: Identity, file_system: Arc<FileSystem>) -> Self {
        let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}"));
        let path = path.map(|path| path.display().to_string()).unwrap_or_default();
        let report = FileReport { path, ..FileReport::default() };
        let state = Mutex::new(State { report, ..State::default() });
        Self { descriptor, identity, file_system, own: AtomicI32::new(-1), turn: Mutex::default(), state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The offset of a call, or `None` if it has none.
    fn offset(&self, position: Position) -> Option<u64> {
        match position {
            Position::Current => system::advance(self.descriptor, 0),
            Position::At(offset) => u64::try_from(offset).ok(),
        }
    }

    /// A write of the program. `plain` makes the call itself.
    pub fn write(
        self: &Arc<Self>,
        memory: &Memory,
        position: Position,
        plain: impl FnOnce() -> isize,
    ) -> isize {
        let length = memory.length();
        if process::pending_bytes() + length > process::memory_bytes_max() {
            process::settle();
        }
        let errno = system::errno();
        let mut state = self.state();
        if let Some(error) = state.error.take() {
            return failed(error);
        }
        if !self.defers(&mut state, memory, position) {
            drop(state);
            return self.write_plain(plain);
        }
        process::add_pending(length);
        state.report.deferred += 1;
        state.last_write = Some(Instant::now());
        let is_full = state.log.has_whole();
        let is_new = !std::mem::replace(&mut state.is_watched, true);
        drop(state);
        if is_full {
            self.file_system.full(self);
        }
        if is_new {
            self.file_system.pending(self);
        }
        system::set_errno(errno);
        length as isize
    }

    /// Puts a write into the log, and moves the offset on, if it may be deferred.
    fn defers(self: &Arc<Self>, state: &mut State, memory: &Memory, position: Position) -> bool {
        let length = memory.length();
        // Most calls of a file that is deferred are deferred, too, and move the offset on at once.
        let moved = match position {
            Position::Current if state.is_alone => system::advance(self.descriptor, length as i64),
            _ => None,
        };
        let offset = match moved {
            Some(end) => end.checked_sub(length as u64),
            None => self.offset(position),
        };
        let defers =
            offset.is_some_and(|offset| self.defers_at(state, memory, offset, position, moved.is_some()));
        if moved.is_some() && !defers {
            system::advance(self.descriptor, -(length as i64));
        }
        defers
    }

    /// The same for a call at this offset, which may have been moved on.
    fn defers_at(
        self: &Arc<Self>,
        state: &mut State,
        memory: &Memory,
        offset: u64,
        position: Position,
        is_moved: bool,
    ) -> bool {
        let length = memory.length();
        let Some(end) = offset.checked_add(length as u64) else { return false };
        state.report.calls += 1;
        state.report.bytes += length as u64;
        let expected = state.pattern.observe(Kind::Write, offset, length as u64);
        let is_large = length >= LARGE_BYTES && self.file_system.speed() == Speed::Slow;
        let is_of_kind = is_large || expected.is_some_and(|expected| expected.is_sequential());
        if length == 0 || length > process::memory_bytes_max() || !is_of_kind {
            return false;
        }
        if !self.is_worth_a_worker(state, is_large)
            || !self.is_alone(state)
            || !self.has_space(state, offset..end)
        {
            return false;
        }
        let moves = matches!(position, Position::Current) && !is_moved;
        if moves && !self.move_on(length, end) {
            return false;
        }
        let added = state.log.add(offset, length, process::spare, |places| memory.copy_to(places));
        if moves && !added {
            system::advance(self.descriptor, -(length as i64));
        }
        added
    }

    /// Moves the offset on to `end`, unless another thread was faster.
    fn move_on(&self, length: usize, end: u64) -> bool {
        match system::advance(self.descriptor, length as i64) {
            Some(moved) if moved == end => true,
            Some(_) => {
                system::advance(self.descriptor, -(length as i64));
                false
            }
            None => false,
        }
    }

    /// Whether its file system is slow, as far as that is known.
    pub fn may_be_slow(&self) -> bool {
        is_forced() || self.file_system.speed() != Speed::Fast
    }

    fn is_worth_a_worker(&self, state: &State, is_large: bool) -> bool {
        let is_slow = self.file_system.speed() == Speed::Slow && state.writes.took >= WORTH;
        is_forced() || is_large || is_slow || state.is_alone
    }

    /// Whether nobody else can see what is in the file, as far as this process knows; if somebody can, the file is plain from now on.
    fn is_alone(self: &Arc<Self>, state: &mut State) -> bool {
        if !state.is_alone && state.report.plain.is_none() {
            match process::why_not_alone(self).or_else(|| self.why_no_descriptor()) {
                None => state.is_alone = true,
                Some(reason) => self.is_plain(state, reason),
            }
        }
        state.is_alone
    }

    /// Makes the layer's own descriptor, if there is none, and says why if there is none then.
    fn why_no_descriptor(self: &Arc<Self>) -> Option<&'static str> {
        if self.own.load(Acquire) >= 0 {
            return None;
        }
        if !self.file_system.has_worker() {
            return Some("no thread can be started");
        }
        let Some(own) = system::duplicate(self.descriptor) else { return Some("no descriptor is free") };
        self.own.store(own, Release);
        process::is_active(self, own);
        None
    }

    /// Whether there is space for a range, which is reserved if need be: so a full disk is an error of the call that it is one of.
    fn has_space(&self, state: &mut State, range: Range<u64>) -> bool {
        if state.reserved.start <= range.start && range.end <= state.reserved.end {
            return true;
        }
        let own = self.own.load(Acquire);
        let more = state.report.bytes.clamp(4096, RESERVE_BYTES_MAX);
        let generous = range.start..range.end.saturating_add(more);
        for range in [generous, range] {
            match system::reserve(own, &range) {
                Ok(()) => {
                    state.reserved = range;
                    return true;
                }
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                    self.is_plain(state, "its file system reserves no space");
                    return false;
                }
                Err(_) => {}
            }
        }
        false
    }

    /// Makes a write as the program does, after all that was deferred.
    fn write_plain(&self, plain: impl FnOnce() -> isize) -> isize {
        self.drain(false);
        if let Some(error) = self.take_error() {
            return failed(error);
        }
        let started = Instant::now();
        let written = plain();
        let errno = system::errno();
        let bytes = u64::try_from(written).unwrap_or_default();
        let took = time_of_file_system(started.elapsed(), bytes);
        self.file_system.took(took);
        let mut state = self.state();
        state.writes.add(took);
        if self.file_system.speed() == Speed::Fast && !is_forced() && self.own.load(Acquire) < 0 {
            self.is_plain(&mut state, "calls of its file system are fast");
        }
        drop(state);
        system::set_errno(errno);
        written
    }

    /// A read of the program.
    pub fn read(self: &Arc<Self>, length: usize, position: Position, plain: impl FnOnce() -> isize) -> isize {
        let offset = self.offset(position);
        let end = offset.map_or(u64::MAX, |offset| offset.saturating_add(length as u64));
        if self.state().first_pending().is_some_and(|first| end > first) {
            self.flush();
        }
        let mut state = self.state();
        if let Some(error) = state.error.take() {
            return failed(error);
        }
        if let Some(offset) = offset {
            state.report.calls += 1;
            if let Some(expected) = state.pattern.observe(Kind::Read, offset, length as u64) {
                self.look_ahead(&mut state, expected);
            }
        }
        drop(state);
        let started = Instant::now();
        let read = plain();
        let errno = system::errno();
        let bytes = u64::try_from(read).unwrap_or_default();
        let mut state = self.state();
        state.reads.add(time_of_file_system(started.elapsed(), bytes));
        state.report.bytes += bytes;
        let is_fast = state.reads.speed() == Speed::Fast && state.writes.count == 0;
        if is_fast && !is_forced() && self.own.load(Acquire) < 0 {
            self.is_plain(&mut state, "its calls are fast");
        }
        drop(state);
        system::set_errno(errno);
        read
    }

    /// Has what the program is going to read brought into the system's cache: twice as much as it has read so far. There it is what every
    /// other process sees, so that nothing needs to be forgotten when the file changes.
    fn look_ahead(self: &Arc<Self>, state: &mut State, expected: Expected) {
        let is_slow = state.reads.speed() == Speed::Slow && state.reads.took >= WORTH;
        if !(is_forced() || is_slow) || state.report.plain.is_some() || self.why_no_descriptor().is_some() {
            return;
        }
        let window = (2 * state.report.bytes).clamp(256 << 10, AHEAD_BYTES_MAX);
        let until = expected.next.saturating_add(window);
        let begins = state.ahead_until.max(expected.next);
        if state.ahead_until == u64::MAX || until < begins.saturating_add(window / 4) {
            return;
        }
        self.file_system.ahead(self, expected.ahead(begins, until, BLOCK_BYTES as u64));
        state.ahead_until = until;
    }

    /// Reads a range into the system's cache, unless the program has passed it.
    pub fn read_ahead(&self, range: &Range<u64>, scratch: &mut Vec<u8>) {
        let _turn = self.turn();
        let own = self.own.load(Acquire);
        if own < 0 || self.state().pattern.passed(range.end) {
            return;
        }
        scratch.resize((range.end - range.start) as usize, 0);
        let read = system::read_at(own, range.start, scratch).unwrap_or(0);
        let mut state = self.state();
        state.report.ahead_bytes += read as u64;
        if read == 0 {
            state.ahead_until = u64::MAX;
        }
    }

    /// Writes what is pending; with `whole` what grows no more only.
    pub fn drain(&self, whole: bool) {
        loop {
            let _turn = self.turn();
            let mut state = self.state();
            let Some(piece) = state.log.take(whole) else { return };
            state.in_flight = Some(piece.offset);
            drop(state);
            let written = system::write_at(self.own.load(Acquire), piece.offset, piece.bytes());
            let mut state = self.state();
            state.in_flight = None;
            let mut done = piece.length;
            match written {
                Ok(calls) => state.report.system_calls += calls,
                Err(error) => {
                    state.error = error.raw_os_error().or(Some(libc::EIO));
                    // The plain program would have known, and not written this here.
                    done += state.log.clear();
                }
            }
            process::remove_pending(done);
            drop(state);
            process::give_back(piece.memory);
        }
    }

    /// Writes what is pending since somebody may look. A file at which somebody looks all the time is left alone.
    pub fn flush(&self) {
        self.drain(false);
        let mut state = self.state();
        state.flushes += 1;
        if state.flushes > FLUSHES && state.report.deferred < 2 * state.flushes && !is_forced() {
            self.is_plain(&mut state, "it is looked at as often as it is written");
        }
    }

    /// When the worker has to look again, if it is too early.
    pub fn due(&self) -> Option<Instant> {
        let mut state = self.state();
        let due = state.last_write.map(|last| last + PATIENCE).filter(|due| *due > Instant::now());
        state.is_watched = due.is_some();
        due
    }

    /// Leaves the file alone from now on.
    pub fn step_aside(&self, reason: &'static str) {
        self.drain(false);
        self.is_plain(&mut self.state(), reason);
    }

    /// No call is deferred any more. Errors that are still to be told keep the calls coming.
    fn is_plain(&self, state: &mut State, reason: &'static str) {
        state.report.plain.get_or_insert(reason);
        state.is_alone = false;
        if state.error.is_none() && state.log.bytes() == 0 {
            process::is_plain(self.descriptor);
        }
    }

    /// Whether writes of it are deferred.
    pub fn is_deferring(&self) -> bool {
        self.state().is_alone
    }

    /// Why calls have failed that have returned; it is told once.
    pub fn take_error(&self) -> Option<i32> {
        self.state().error.take()
    }

    /// What the program has closed is written and closed here, too; returns whether that was done now.
    pub fn finish(self: &Arc<Self>) {
        self.drain(false);
        let _turn = self.turn();
        let own = self.own.swap(-1, AcqRel);
        if own < 0 {
            return;
        }
        let closed = system::close(own);
        // Before nobody finds it any more: the process may be about to end, and has to know.
        if let Some(error) = self.take_error().or(closed.err().and_then(|error| error.raw_os_error())) {
            process::lost(&self.report().path, error);
        }
        process::is_inactive(self, own);
        process::is_done(self);
    }

    /// The program has closed it; the worker does the rest.
    pub fn close(self: &Arc<Self>) {
        if self.own.load(Acquire) >= 0 {
            self.file_system.closed(self);
        } else {
            process::is_done(self);
        }
    }

    /// What became of it so far.
    pub fn report(&self) -> FileReport {
        self.state().report.clone()
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The lowest offset that has still to be written.
    fn first_pending(&self) -> Option<u64> {
        self.log.lowest().into_iter().chain(self.in_flight).min()
    }
}

/// What a failed call returns.
fn failed(error: i32) -> isize {
    system::set_errno(error);
    -1
}
