//! The tasks: which program, what it measures, where, and on how many ranks.

use clap::ValueEnum;

use super::super::engines::Place;
use super::super::figures::{Figure as Chapter, Program, Task};
use super::sites::Sites;
use super::ways::{LOCKS, NONE, POINTERS, Way};

/// What the session can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// Atomic mode: a writer and readers, and views that do not overlap.
    #[value(name = "8")]
    Eight,
    /// Shared file pointers, each call for itself.
    #[value(name = "9")]
    Nine,
    /// Shared file pointers, all together in the order of the ranks.
    #[value(name = "10")]
    Ten,
    /// Arrays: block-cyclic, boxes, tiles, and many small pieces.
    Arrays,
    /// What a lock costs.
    Locks,
    /// Locks with up to 16,384 ranks; it needs what a write costs, which comes with the locks.
    Simulation,
}

/// The size of a record of figures 9 and 10.
pub const RECORD_BYTES: u64 = 4 << 10;
/// The places in which the lists of ranks are gone through.
pub const PLACES: [Place; 4] = [Place::Tmpfs, Place::Disk, Place::Slow, Place::SlowNoLocks];

/// When a program is given up.
const LIMIT_S: u64 = 12;

/// Operations of the arrays, each with its quantities.
const ARRAYS: [&str; 5] = ["darray", "subarray", "tiled", "strided", "pieces"];

/// Whether each request takes long there.
pub fn is_slow(place: Place) -> bool {
    matches!(place, Place::Slow | Place::SlowNoLocks)
}

/// How much is measured.
pub struct Scale {
    quick: bool,
    ranks: Vec<u32>,
    /// Time for each quantity.
    pub budget_ms: u32,
}

impl Scale {
    /// The quick session or the full one, on these numbers of ranks where any are given.
    pub fn new(quick: bool, ranks: &[u32]) -> Self {
        let usual: &[u32] = if quick { &[2, 4] } else { &[2, 4, 8, 16] };
        let ranks = if ranks.is_empty() { usual } else { ranks }.to_vec();
        Scale { quick, ranks, budget_ms: if quick { 15 } else { 50 } }
    }

    /// Bytes of one rank. Where each request takes long, whoever makes one for each piece would else not come to an end.
    fn sizes(&self, figure: Figure, place: Place) -> Vec<u64> {
        match (figure, is_slow(place)) {
            (Figure::Eight, true) => vec![1 << 10],
            (Figure::Eight, false) => vec![32 << 10],
            (Figure::Nine | Figure::Ten, _) => vec![RECORD_BYTES],
            (Figure::Arrays, true) => vec![16 << 10],
            (Figure::Arrays, false) if self.quick || place == Place::TmpfsBusy => vec![256 << 10],
            (Figure::Arrays, false) => vec![256 << 10, 2 << 20],
            (Figure::Locks | Figure::Simulation, _) => vec![8],
        }
    }
}

/// The program of a figure, what it measures, and with which ways beside the engines.
fn program(figure: Figure) -> (&'static str, &'static [&'static str], &'static [Way]) {
    match figure {
        Figure::Eight => ("io_atomic", &["atomic-contiguous", "atomic-noncontiguous", "disjoint"], LOCKS),
        Figure::Nine => ("io_pointer", &["shared"], POINTERS),
        Figure::Ten => ("io_pointer", &["ordered"], POINTERS),
        Figure::Arrays => ("io_patterns", &ARRAYS, NONE),
        Figure::Locks | Figure::Simulation => ("io_lock", &["lock", "contended"], LOCKS),
    }
}

fn task(figure: Figure, scale: &Scale, sites: &Sites, (place, ranks): (Place, u32)) -> Option<Task> {
    let (name, operations, ways) = program(figure);
    let sizes: Vec<String> = scale.sizes(figure, place).iter().map(u64::to_string).collect();
    let directory = sites.directory(place)?.display().to_string();
    let budget = scale.budget_ms.to_string();
    let arguments = ["--budget-ms", &budget, "--sizes", &sizes.join(","), "--directory", &directory];
    let arguments = arguments.map(str::to_owned).to_vec();
    let task = Task::new(Chapter::Io, Program::Io { name, ways }, ranks, arguments).at(place);
    Some(Task { operations: operations.to_vec(), limit_s: LIMIT_S, ..task })
}

/// The tasks of the chosen figures (all, when none is chosen), in the order in which they run.
pub fn tasks(figures: &[Figure], scale: &Scale, sites: &Sites) -> Vec<Task> {
    let is_chosen = |figure: Figure| figures.is_empty() || figures.contains(&figure);
    let points = |figure: Figure| {
        let mut points = points(figure, scale);
        // The locks have this one, too.
        points.retain(|_| is_chosen(figure) && !(figure == Figure::Simulation && is_chosen(Figure::Locks)));
        points.into_iter().filter_map(move |point| task(figure, scale, sites, point))
    };
    Figure::value_variants().iter().copied().flat_map(points).collect()
}

/// The places and numbers of ranks of a figure.
fn points(figure: Figure, scale: &Scale) -> Vec<(Place, u32)> {
    let places: &[Place] = match figure {
        Figure::Locks => &[Place::Tmpfs, Place::Slow],
        Figure::Simulation => return vec![(Place::Tmpfs, 2)],
        _ => &PLACES,
    };
    let ranks = || scale.ranks.iter().copied();
    let mut points: Vec<_> =
        places.iter().flat_map(|&place| ranks().map(move |ranks| (place, ranks))).collect();
    if figure == Figure::Arrays {
        points.extend(ranks().filter(|ranks| *ranks <= 4).map(|ranks| (Place::TmpfsBusy, ranks)));
    }
    points
}
