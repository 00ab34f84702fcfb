//! Windows: the same operations by packets of every transport, and directly where processes share memory.

use std::sync::Arc;

use postrider_abi::{MPI_INT64_T, MPI_PROC_NULL, MPI_SUM};
use postrider_engine::State;
use postrider_engine::datatypes::{CountForm, Datatype};
use postrider_engine::info::Info;
use postrider_engine::objects::Key;
use postrider_engine::one_sided::{Flavor, LockKind, NewWindow, Origin, Target};
use postrider_engine::operations::{Operation, Operator};
use postrider_engine::point_to_point::Buffer;
use postrider_os::memory::{OwnedMemory, UserMemory};

use crate::worlds::{RANKS, Rank, everywhere};

/// Long enough for several packets on every transport.
const CELLS: i64 = 3000;

fn number() -> &'static Arc<Datatype> {
    Datatype::predefined(MPI_INT64_T).expect("it is predefined")
}

/// Every other cell.
fn every_other(count: i64) -> Arc<Datatype> {
    let datatype = Datatype::vector(CountForm::Large, count, 1, 2, number()).expect("a small vector");
    datatype.commit();
    datatype
}

/// Numbers of this process.
struct Cells(OwnedMemory);

impl Cells {
    fn new(value: impl Fn(i64) -> i64) -> Self {
        let mut memory = OwnedMemory::new(8 * CELLS as usize);
        let place = UserMemory::of(&mut memory);
        (0..CELLS).for_each(|cell| place.offset(8 * cell).store(value(cell)));
        Self(memory)
    }

    fn place(&mut self) -> UserMemory {
        UserMemory::of(&mut self.0)
    }

    fn origin(&mut self, first: i64, count: i64) -> Origin {
        let buffer = Buffer::new(self.place().offset(8 * first), count, number());
        Origin { buffer, kind: number().signature().single_kind() }
    }

    fn get(&mut self, cell: i64) -> i64 {
        self.place().offset(8 * cell).load()
    }
}

/// A window, and the numbers in it.
struct Opened<'a> {
    rank: Rank<'a>,
    key: Key,
    cells: Cells,
    flavor: Flavor,
}

impl<'a> Opened<'a> {
    fn new(rank: Rank<'a>, flavor: Flavor) -> Self {
        let mut cells = Cells::new(|_| 0);
        let (base, size, info) = (cells.place(), 8 * CELLS, Info::default());
        let new = NewWindow { communicator: State::WORLD, flavor, base, size, unit: 8, info, alignment: 64 };
        let key = rank.instance.create_window(&new).expect("there is memory");
        Self { rank, key, cells, flavor }
    }

    fn cell(&mut self, cell: i64) -> i64 {
        if self.flavor == Flavor::Create {
            return self.cells.get(cell);
        }
        let mut own = Cells::new(|_| -1);
        let to = own.origin(0, 1).buffer;
        self.rank.instance.lock_window(self.key, self.rank.rank, LockKind::Shared, 0).unwrap();
        let target = target(self.rank.rank, cell, 1, number());
        self.rank.state(|state| state.get(self.key, to, target, false));
        self.rank.instance.unlock_window(self.key, self.rank.rank).unwrap();
        own.get(0)
    }

    fn free(self) {
        self.rank.instance.free_window(self.key).expect("no epoch is open");
    }
}

fn target(rank: i32, displacement: i64, count: i64, datatype: &Arc<Datatype>) -> Target<'_> {
    Target { rank, displacement, count, datatype }
}

fn sum() -> Operation {
    Operation::Predefined(Operator::from_handle(MPI_SUM).expect("it is predefined"))
}

fn with_every_window(program: impl Fn(Opened) + Sync) {
    everywhere(&RANKS, |rank| {
        // Across hosts, and where there is one process, memory of the window's own is not shared.
        program(Opened::new(rank, Flavor::Create));
        program(Opened::new(rank, Flavor::Allocate));
    });
}

#[test]
fn everybody_puts_and_gets_between_fences() {
    with_every_window(|mut window| {
        let (rank, ranks) = (i64::from(window.rank.rank), window.rank.ranks);
        let right = (window.rank.rank + 1) % ranks;
        let left = i64::from((window.rank.rank + ranks - 1) % ranks);
        let (mut out, mut back) = (Cells::new(|cell| 10_000 * rank + cell), Cells::new(|_| -1));
        let instance = window.rank.instance;
        instance.fence(window.key, 0).unwrap();
        let (half, spread) = (out.origin(0, CELLS / 2), every_other(CELLS / 2));
        let to = target(right, 1, 1, &spread);
        window.rank.state(|state| state.put(window.key, half.buffer, to, false));
        let nobody = target(MPI_PROC_NULL, 0, 1, number());
        let one = out.origin(0, 1);
        window.rank.state(|state| state.put(window.key, one.buffer, nobody, false));
        instance.fence(window.key, 0).unwrap();
        let into = back.origin(0, CELLS).buffer;
        let from = target(right, 0, CELLS, number());
        window.rank.state(|state| state.get(window.key, into, from, false));
        instance.fence(window.key, 0).unwrap();
        for cell in 0..CELLS {
            let expected = |rank: i64| if cell % 2 == 1 { 10_000 * rank + cell / 2 } else { 0 };
            assert_eq!(back.get(cell), expected(rank), "what came back");
            if window.flavor == Flavor::Create {
                assert_eq!(window.cell(cell), expected(left), "what was put");
            }
        }
        window.free();
    });
}

#[test]
fn sums_of_all_are_whole() {
    with_every_window(|mut window| {
        let ranks = window.rank.ranks;
        let mut out = Cells::new(|cell| cell + 1);
        let instance = window.rank.instance;
        instance.lock_all(window.key, 0).unwrap();
        for peer in 0..ranks {
            let all = out.origin(0, CELLS);
            let to = target(peer, 0, CELLS, number());
            window.rank.state(|state| state.accumulate(window.key, all, to, &sum(), false));
            let (half, spread) = (out.origin(0, CELLS / 2), every_other(CELLS / 2));
            let to = target(peer, 0, 1, &spread);
            let request = window.rank.state(|state| state.accumulate(window.key, half, to, &sum(), true));
            instance.wait(request).unwrap().completion.into_result().unwrap();
        }
        instance.unlock_all(window.key).unwrap();
        window.rank.meet();
        for cell in [0, 1, 2, 777, CELLS - 2, CELLS - 1] {
            let more = if cell % 2 == 0 { cell / 2 + 1 } else { 0 };
            assert_eq!(window.cell(cell), i64::from(ranks) * (cell + 1 + more));
        }
        window.rank.meet();
        window.free();
    });
}

#[test]
fn exclusive_locks_exclude() {
    with_every_window(|mut window| {
        let instance = window.rank.instance;
        let mut cells = Cells::new(|_| -1);
        for round in 0..3 * window.rank.ranks {
            let peer = (window.rank.rank + round) % window.rank.ranks;
            instance.lock_window(window.key, peer, LockKind::Exclusive, 0).unwrap();
            let (into, from) = (cells.origin(0, 1).buffer, target(peer, 5, 1, number()));
            window.rank.state(|state| state.get(window.key, into, from, false));
            instance.flush_window(window.key, Some(peer)).unwrap();
            let more = cells.get(0) + 1;
            cells.place().store(more);
            let (one, to) = (cells.origin(0, 1), target(peer, 5, 1, number()));
            window.rank.state(|state| state.put(window.key, one.buffer, to, false));
            instance.unlock_window(window.key, peer).unwrap();
        }
        window.rank.meet();
        assert_eq!(window.cell(5), i64::from(3 * window.rank.ranks));
        window.rank.meet();
        window.free();
    });
}
