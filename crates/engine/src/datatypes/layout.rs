//! Where the bytes of a datatype lie: the type map without its types, in a form that copies fast.
//!
//! A [`Layout`] describes the data of one element as a tree whose leaves are dense runs of bytes, in the order of the type
//! map, which is the order of the packed stream. The functions that build it keep it small: neighbouring runs are merged,
//! a repetition without gaps becomes one run, nested repetitions that continue each other become one, and short
//! irregular trees become a flat list. A regular type of any length is a single node, so memory never grows with
//! counts, only with the lengths of the arrays that the program itself passed in.
//!
//! [`Layout::walk`] visits the runs of any part of the packed stream, so a transport can ask for bytes 1,000,000 to
//! 1,016,384 of a message and pays for the part alone.

use std::sync::Arc;

/// Trees with at most this many runs become flat lists.
const FLAT_RUNS_MAX: u64 = 32;

/// The data of one element of a datatype, relative to an origin.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    bytes: u64,
    runs: u64,
    shape: Shape,
}

#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// All bytes, from the origin on.
    Run,
    /// The child at 0, `stride`, 2 `stride`, …
    Repeat { child: Arc<Layout>, count: u64, stride: i64 },
    /// Runs, one after the other.
    Runs(Box<[Run]>),
    /// Subtrees, one after the other.
    Parts(Box<[Part]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// Where it begins in the packed stream.
    start: u64,
    /// Where it begins in memory.
    offset: i64,
    bytes: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// Where it begins in the packed stream.
    start: u64,
    placed: Placed,
}

/// A layout at a distance from the address that the user passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Where the layout's origin lies.
    pub offset: i64,
    /// What lies there.
    pub layout: Arc<Layout>,
}

/// What [`Layout::walk`] finds, in the order of the packed stream.
pub trait Visitor {
    /// `bytes` bytes at `offset`.
    fn run(&mut self, offset: i64, bytes: usize);

    /// `count` runs of `bytes` bytes at `offset`, `offset + stride`, …
    fn runs(&mut self, offset: i64, bytes: usize, count: u64, stride: i64) {
        let mut at = offset;
        for _ in 0..count {
            self.run(at, bytes);
            at = at.wrapping_add(stride);
        }
    }
}

impl Placed {
    /// `bytes` dense bytes at `offset`.
    #[must_use]
    pub fn run(offset: i64, bytes: u64) -> Self {
        Self { offset, layout: Arc::new(Layout { bytes, runs: u64::from(bytes > 0), shape: Shape::Run }) }
    }

    /// The same, `distance` bytes further on.
    #[must_use]
    pub fn shifted(&self, distance: i64) -> Self {
        Self { offset: self.offset.wrapping_add(distance), layout: Arc::clone(&self.layout) }
    }

    /// `count` copies, `stride` bytes apart; the caller has checked that sizes and places fit.
    #[must_use]
    pub fn repeat(&self, count: u64, stride: i64) -> Self {
        let child = &self.layout;
        if count == 0 || child.bytes == 0 {
            return Self::run(0, 0);
        }
        if count == 1 {
            return self.clone();
        }
        let (child, count, stride) = match &child.shape {
            Shape::Run if stride == child.bytes as i64 => {
                return Self::run(self.offset, child.bytes * count);
            }
            Shape::Repeat { child, count: inner, stride: step }
                if step.checked_mul(*inner as i64) == Some(stride) =>
            {
                (child, inner * count, *step)
            }
            _ => (child, count, stride),
        };
        let (bytes, runs) = (child.bytes * count, child.runs.saturating_mul(count));
        let shape = Shape::Repeat { child: Arc::clone(child), count, stride };
        Self { offset: self.offset, layout: Arc::new(Layout { bytes, runs, shape }) }
    }

    /// The parts one after the other; the caller has checked that sizes and places fit.
    #[must_use]
    pub fn sequence(parts: Vec<Self>) -> Self {
        let mut parts: Vec<Self> = parts.into_iter().filter(|part| part.layout.bytes > 0).collect();
        match parts.len() {
            0 => return Self::run(0, 0),
            1 => return parts.remove(0),
            _ => {}
        }
        let runs = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.layout.runs));
        let bytes = parts.iter().map(|part| part.layout.bytes).sum();
        if runs <= FLAT_RUNS_MAX || parts.iter().all(|part| part.layout.shape == Shape::Run) {
            let mut list = Flattened::default();
            for part in &parts {
                part.layout.walk(part.offset, 0, part.layout.bytes, &mut list);
            }
            return list.into_placed();
        }
        let mut start = 0;
        let list = parts.into_iter().map(|placed| {
            let part = Part { start, placed };
            start += part.placed.layout.bytes;
            part
        });
        let shape = Shape::Parts(list.collect());
        Self { offset: 0, layout: Arc::new(Layout { bytes, runs, shape }) }
    }
}

/// Collects runs and merges those that continue each other in memory.
#[derive(Default)]
struct Flattened {
    runs: Vec<Run>,
    bytes: u64,
}

impl Visitor for Flattened {
    fn run(&mut self, offset: i64, bytes: usize) {
        let bytes = bytes as u64;
        match self.runs.last_mut() {
            Some(last) if last.offset.wrapping_add(last.bytes as i64) == offset => last.bytes += bytes,
            _ => self.runs.push(Run { start: self.bytes, offset, bytes }),
        }
        self.bytes += bytes;
    }
}

impl Flattened {
    fn into_placed(self) -> Placed {
        let (runs, bytes) = (self.runs, self.bytes);
        let Some(first) = runs.first() else { return Placed::run(0, 0) };
        let (origin, count) = (first.offset, runs.len() as u64);
        if count == 1 {
            return Placed::run(origin, bytes);
        }
        let (length, stride) = (first.bytes, runs[1].offset.wrapping_sub(origin));
        let regular = runs.iter().all(|run| run.bytes == length)
            && runs.windows(2).all(|pair| pair[1].offset.wrapping_sub(pair[0].offset) == stride);
        if regular {
            return Placed::run(origin, length).repeat(count, stride);
        }
        let shape = Shape::Runs(runs.into());
        Placed { offset: 0, layout: Arc::new(Layout { bytes, runs: count, shape }) }
    }
}

impl Layout {
    /// Bytes of data.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many dense runs there are at most (a run may continue the one before it).
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Whether all data is one dense run.
    #[must_use]
    pub fn is_run(&self) -> bool {
        self.shape == Shape::Run
    }

    /// Visits the bytes `from..to` of the packed stream, with the layout's origin at `origin`.
    pub fn walk<V: Visitor>(&self, origin: i64, from: u64, to: u64, visitor: &mut V) {
        if from >= to {
            return;
        }
        match &self.shape {
            Shape::Run => visitor.run(origin.wrapping_add(from as i64), (to - from) as usize),
            Shape::Repeat { child, count: _, stride } => {
                child.walk_repeated(origin, *stride, from, to, visitor);
            }
            Shape::Runs(runs) => {
                let first = runs.partition_point(|run| run.start <= from) - 1;
                for run in runs[first..].iter().take_while(|run| run.start < to) {
                    let (skip, end) = (from.saturating_sub(run.start), (to - run.start).min(run.bytes));
                    let at = origin.wrapping_add(run.offset).wrapping_add(skip as i64);
                    visitor.run(at, (end - skip) as usize);
                }
            }
            Shape::Parts(parts) => {
                let first = parts.partition_point(|part| part.start <= from) - 1;
                for part in parts[first..].iter().take_while(|part| part.start < to) {
                    let Placed { offset, layout } = &part.placed;
                    let (skip, end) = (from.saturating_sub(part.start), (to - part.start).min(layout.bytes));
                    layout.walk(origin.wrapping_add(*offset), skip, end, visitor);
                }
            }
        }
    }

    /// Visits the bytes `from..to` of the packed stream of as many copies as are needed, `stride` bytes apart.
    pub fn walk_repeated<V: Visitor>(&self, origin: i64, stride: i64, from: u64, to: u64, visitor: &mut V) {
        if from >= to || self.bytes == 0 {
            return;
        }
        let at = |index: u64| origin.wrapping_add(stride.wrapping_mul(index as i64));
        let (first, head) = (from / self.bytes, from % self.bytes);
        let (last, tail) = (to / self.bytes, to % self.bytes);
        if first == last {
            return self.walk(at(first), head, tail, visitor);
        }
        let mut whole = first;
        if head > 0 {
            self.walk(at(first), head, self.bytes, visitor);
            whole += 1;
        }
        self.walk_whole_repeated(at(whole), stride, last - whole, visitor);
        self.walk(at(last), 0, tail, visitor);
    }

    /// Visits all bytes: [`Self::walk`] without looking for the ends.
    fn walk_whole<V: Visitor>(&self, origin: i64, visitor: &mut V) {
        match &self.shape {
            Shape::Run => visitor.run(origin, self.bytes as usize),
            Shape::Repeat { child, count, stride } => {
                child.walk_whole_repeated(origin, *stride, *count, visitor);
            }
            Shape::Runs(runs) => {
                for run in runs {
                    visitor.run(origin.wrapping_add(run.offset), run.bytes as usize);
                }
            }
            Shape::Parts(parts) => {
                for Part { placed: Placed { offset, layout }, .. } in parts {
                    layout.walk_whole(origin.wrapping_add(*offset), visitor);
                }
            }
        }
    }

    /// Visits all bytes of `count` copies.
    fn walk_whole_repeated<V: Visitor>(&self, origin: i64, stride: i64, count: u64, visitor: &mut V) {
        if self.is_run() {
            return visitor.runs(origin, self.bytes as usize, count, stride);
        }
        let mut at = origin;
        for _ in 0..count {
            self.walk_whole(at, visitor);
            at = at.wrapping_add(stride);
        }
    }
}
