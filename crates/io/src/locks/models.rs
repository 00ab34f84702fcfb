//! The locks in a small world of a few processes, in which every order of events is tried, up to a number of preemptions.
//!
//! Each operation on numbers or messages is a step. A process runs until its next step, and then another one may be chosen
//! instead: depth-first, so that all choices are made once. What is looked for: two holders whose accesses conflict, a
//! wake-up that is lost (all wait), and somebody who is overtaken again and again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use postrider_client::Place;

use super::board::{self, Board};
use super::fabric::{Bytes, Fabric, Group};
use super::hybrid::{self, Hybrid};
use super::pieces::Request;
use super::queue::{Member, Queue, SLOTS};
use super::tree::{self, Tree};
use crate::error::Result;
use crate::view::Series;

/// How often a process is stopped that could go on, in one order of events.
const PREEMPTIONS_MAX: usize = 2;
/// Who waits by this channel has its place in the order of those who wait for the lock.
const LOCK: i32 = 1;
/// More orders than this are not tried.
const ORDERS_MAX: usize = 3000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// It computes until its next step.
    Runs,
    /// It is to be chosen.
    Ready,
    /// It waits for a message by a channel.
    Waits(i32),
    Done,
}

#[derive(Debug)]
struct State {
    numbers: BTreeMap<(i32, usize), i64>,
    bytes: BTreeMap<usize, u8>,
    messages: BTreeMap<(usize, i32), VecDeque<i64>>,
    status: Vec<Status>,
    chosen: Option<usize>,
    holders: Vec<(usize, Request)>,
    /// What each process wants next.
    wanted: Vec<Option<Request>>,
    /// Who waits, and how often each other has had since what conflicts with it.
    asked: BTreeMap<usize, BTreeMap<usize, usize>>,
    /// A process has panicked, or all wait: everybody is to panic.
    failed: bool,
}

struct World {
    state: Mutex<State>,
    /// For whoever chooses.
    news: Condvar,
    /// For each process.
    turns: Vec<Condvar>,
    /// So often another process may have the lock while one waits for it that has its place in the order.
    overtaken_max: usize,
}

impl World {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has happened that may be the end.
    fn tell(&self) {
        self.news.notify_all();
        self.turns.iter().for_each(Condvar::notify_all);
    }

    fn wait<'s>(&self, news: &Condvar, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let state = news.wait(state).unwrap_or_else(PoisonError::into_inner);
        assert!(!state.failed, "another process has failed");
        state
    }
}

/// Ends a process, also when it panics.
struct End<'p>(&'p Process);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.world.lock();
        state.status[self.0.rank] = Status::Done;
        state.failed |= std::thread::panicking();
        self.0.world.tell();
    }
}

/// A process of the world.
struct Process {
    world: Arc<World>,
    rank: usize,
    size: usize,
}

impl Process {
    /// Waits until this process is chosen, and runs from then on.
    fn step(&self, status: Status) -> MutexGuard<'_, State> {
        let mut state = self.world.lock();
        state.status[self.rank] = status;
        self.world.news.notify_all();
        while state.chosen != Some(self.rank) {
            state = self.world.wait(&self.world.turns[self.rank], state);
        }
        state.chosen = None;
        state.status[self.rank] = Status::Runs;
        state
    }

    /// What it is about to ask for.
    fn wants(&self, request: &Request) {
        self.world.lock().wanted[self.rank] = Some(request.clone());
    }

    /// What a lock protects.
    fn inside(&self, request: &Request) {
        let mut guard = self.step(Status::Ready);
        let state = &mut *guard;
        let rank = self.rank;
        let conflict =
            state.holders.iter().find(|(_, other)| other.conflicts(request)).map(|(other, _)| *other);
        assert_eq!(conflict, None, "process {rank} has what another one has");
        state.holders.push((rank, request.clone()));
        state.asked.remove(&rank);
        let wanted = &state.wanted;
        let conflicts = |other: usize| wanted[other].as_ref().is_some_and(|wanted| wanted.conflicts(request));
        for (_, overtaken) in state.asked.iter_mut().filter(|(other, _)| conflicts(**other)) {
            let times = overtaken.entry(rank).or_default();
            *times += 1;
            assert!(*times <= self.world.overtaken_max, "process {rank} overtakes another one too often");
        }
        drop(guard);
        self.step(Status::Ready).holders.retain(|(holder, _)| *holder != rank);
    }

    fn number(&self) -> i32 {
        self.rank as i32
    }
}

impl Group for &Process {
    fn rank(&self) -> i32 {
        self.rank as i32
    }

    fn size(&self) -> i32 {
        self.size as i32
    }

    fn wake(&self, rank: i32, channel: i32, number: i64) -> Result<()> {
        let mut state = self.step(Status::Ready);
        state.messages.entry((rank as usize, channel)).or_default().push_back(number);
        Ok(())
    }

    fn wait(&self, channel: i32) -> Result<i64> {
        if channel == LOCK {
            self.world.lock().asked.insert(self.rank, BTreeMap::new());
        }
        let mut state = self.step(Status::Waits(channel));
        let queue = state.messages.get_mut(&(self.rank, channel)).expect("chosen when there is a message");
        Ok(queue.pop_front().expect("chosen when there is a message"))
    }
}

impl Fabric for &Process {
    fn swap(&self, place: Place, number: i64) -> Result<i64> {
        let mut state = self.step(Status::Ready);
        Ok(state.numbers.insert((place.rank, place.index), number).unwrap_or(0))
    }

    fn compare_and_swap(&self, place: Place, expected: i64, new: i64) -> Result<i64> {
        let mut state = self.step(Status::Ready);
        let found = state.numbers.entry((place.rank, place.index)).or_default();
        let before = *found;
        if before == expected {
            *found = new;
        }
        Ok(before)
    }

    fn read(&self, first: Place, into: &mut [i64]) -> Result<()> {
        let state = self.step(Status::Ready);
        for (index, number) in (first.index..).zip(into) {
            *number = state.numbers.get(&(first.rank, index)).copied().unwrap_or(0);
        }
        Ok(())
    }

    fn write(&self, first: Place, from: &[i64]) -> Result<()> {
        let mut state = self.step(Status::Ready);
        state.numbers.extend((first.index..).zip(from).map(|(index, number)| ((first.rank, index), *number)));
        Ok(())
    }
}

impl Bytes for &Process {
    fn access(&self, gets: &mut [(usize, &mut [u8])], puts: &[(usize, &[u8])]) -> Result<()> {
        let mut state = self.step(Status::Ready);
        for (at, into) in gets {
            for (index, byte) in (*at..).zip(into.iter_mut()) {
                *byte = state.bytes.get(&index).copied().unwrap_or(0);
            }
        }
        for (at, from) in puts {
            state.bytes.extend((*at..).zip(from.iter().copied()));
        }
        Ok(())
    }
}

/// The choices of one order of events: which of how many.
type Choices = Vec<(usize, usize)>;

/// Runs one order: the given choices, and then always the first. Returns all choices that there were.
fn run_order(
    (processes, overtaken_max): (usize, usize),
    program: &(impl Fn(&Process) + Sync),
    given: &Choices,
) -> Choices {
    let state = State {
        numbers: BTreeMap::new(),
        bytes: BTreeMap::new(),
        messages: BTreeMap::new(),
        status: vec![Status::Runs; processes],
        chosen: None,
        holders: Vec::new(),
        wanted: vec![None; processes],
        asked: BTreeMap::new(),
        failed: false,
    };
    let turns = (0..processes).map(|_| Condvar::new()).collect();
    let world = Arc::new(World { state: Mutex::new(state), news: Condvar::new(), turns, overtaken_max });
    std::thread::scope(|scope| {
        for rank in 0..processes {
            let process = Process { world: Arc::clone(&world), rank, size: processes };
            scope.spawn(move || {
                let _end = End(&process);
                program(&process);
            });
        }
        choose_all(&world, given)
    })
}

fn choose_all(world: &World, given: &Choices) -> Choices {
    let (mut made, mut last, mut preemptions) = (Choices::new(), 0, 0);
    let mut state = world.lock();
    loop {
        while state.chosen.is_some() || state.status.contains(&Status::Runs) {
            state = world.wait(&world.news, state);
        }
        let can_go = |rank: usize| match state.status[rank] {
            Status::Ready => true,
            Status::Waits(channel) => {
                state.messages.get(&(rank, channel)).is_some_and(|queue| !queue.is_empty())
            }
            Status::Runs | Status::Done => false,
        };
        // The one that has just run comes first, so that the first choice is no preemption.
        let others = (0..state.status.len()).filter(|&rank| rank != last && can_go(rank));
        let mut candidates: Vec<usize> =
            std::iter::once(last).filter(|&rank| can_go(rank)).chain(others).collect();
        if candidates.is_empty() {
            let all_done = state.status.iter().all(|status| *status == Status::Done);
            state.failed = !all_done;
            world.tell();
            assert!(all_done, "all wait: {state:?}");
            return made;
        }
        let goes_on = candidates[0] == last;
        if goes_on && preemptions == PREEMPTIONS_MAX {
            candidates.truncate(1);
        }
        let choice = given.get(made.len()).map_or(0, |(choice, _)| *choice);
        preemptions += usize::from(goes_on && choice > 0);
        made.push((choice, candidates.len()));
        last = candidates[choice];
        state.chosen = Some(last);
        world.turns[last].notify_all();
    }
}

/// Tries all orders of events in which so many processes run a program.
fn try_all(processes: usize, overtaken_max: usize, program: impl Fn(&Process) + Sync) {
    let mut given = Choices::new();
    for _ in 0..ORDERS_MAX {
        given = run_order((processes, overtaken_max), &program, &given);
        while given.pop_if(|(choice, of)| *choice + 1 == *of).is_some() {}
        match given.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return,
        }
    }
}

fn whole() -> Request {
    Request { exclusive: true, pieces: vec![Series::block(0, 100)] }
}

#[test]
fn the_paper_lock_is_a_lock() {
    for processes in [2, 3] {
        try_all(processes, 2, |process| {
            let lock = Hybrid::new(process, LOCK);
            for _ in 0..2 {
                process.wants(&whole());
                lock.acquire().expect("nothing fails here");
                process.inside(&whole());
                lock.release(None).expect("nothing fails here");
            }
        });
    }
    assert_eq!(hybrid::bytes(3), 11);
}

#[test]
fn the_queue_is_a_lock() {
    for processes in [2, 3] {
        try_all(processes, 1, |process| {
            let queue = Queue { tail: Place { rank: 0, index: 0 }, channel: LOCK };
            let mut member = Member { slots: Place { rank: process.number(), index: 1 }, turn: 0 };
            for _ in 0..2 {
                process.wants(&whole());
                queue.acquire(&process, member).expect("nothing fails here");
                process.inside(&whole());
                queue.release(&process, member, 0).expect("nothing fails here");
                member = member.turned();
            }
        });
    }
    assert_eq!(SLOTS, 2);
}

#[test]
fn the_tree_is_a_lock() {
    for processes in [2, 3] {
        try_all(processes, 2, |process| {
            let mut tree = Tree::new(process.number(), process.number() / 2 * 2, 0, LOCK);
            for _ in 0..2 {
                process.wants(&whole());
                tree.acquire(&process).expect("nothing fails here");
                process.inside(&whole());
                tree.release(&process).expect("nothing fails here");
            }
        });
    }
    assert_eq!(tree::NUMBERS, 7);
}

/// Each process accesses parts of the file in turn, some of them shared.
fn on_a_board(processes: usize, requests: impl Fn(i32, i64) -> Option<Request> + Sync) {
    try_all(processes, 2, |process| {
        let mut board = Board::new(process.number(), (0, board::NUMBERS), 0, 0);
        for request in (0..).map_while(|round| requests(process.number(), round)) {
            process.wants(&request);
            board.acquire(&process, &request, || None, LOCK).expect("nothing fails here");
            process.inside(&request);
            board.release(&process, LOCK).expect("nothing fails here");
        }
    });
}

fn block(exclusive: bool, start: i64, bytes: i64) -> Request {
    Request { exclusive, pieces: vec![Series::block(start, bytes)] }
}

#[test]
fn the_board_keeps_those_apart_that_conflict() {
    for processes in [2, 3] {
        on_a_board(processes, |_, round| (round < 2).then(whole));
        on_a_board(processes, |rank, round| {
            (round < 2).then(|| block(true, 10 * (i64::from(rank) + round), 15))
        });
    }
}

#[test]
fn the_board_lets_readers_meet_but_not_starve_a_writer() {
    on_a_board(2, |rank, round| (round < 3).then(|| block((i64::from(rank) + round) % 3 == 0, 0, 10)));
    on_a_board(3, |rank, round| (round < if rank == 0 { 1 } else { 4 }).then(|| block(rank == 0, 0, 10)));
}
