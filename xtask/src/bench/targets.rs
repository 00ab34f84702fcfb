//! What Postrider must reach, checked against one session.
//!
//! Every target is an upper bound on a quantity: where a rate has to be high, the time is bounded. So "1.4 x the bound"
//! means the same everywhere.

use super::engines::{Engine, Place};
use super::figures::{COLLECTIVES, LARGE_BYTES, ONE_SIDED};
use super::record::{Cell, Run};
use super::table::{number, size};

/// One bound, with what was found.
pub struct Target {
    /// The bound in words.
    pub what: String,
    /// What was measured, in words; empty when it was not.
    pub found: String,
    /// The measured quantity divided by the bound.
    share: Option<f64>,
}

impl Target {
    /// A bound on a quantity, and what was found, where that was measured.
    pub fn new(what: impl Into<String>, bound: Option<f64>, measured: Option<f64>, unit: &str) -> Self {
        let pair = measured.zip(bound);
        let words = |(measured, bound)| {
            format!("{} {unit}, bound {} {unit}", number(Some(measured)), number(Some(bound)))
        };
        let found = pair.map(words).unwrap_or_default();
        Target { what: what.into(), found, share: pair.map(|(measured, bound)| measured / bound) }
    }

    /// Whether the bound is kept; nothing where it was not measured.
    pub fn is_reached(&self) -> Option<bool> {
        self.share.map(|share| share <= 1.0)
    }

    /// The result in a few words.
    pub fn verdict(&self) -> String {
        match self.share {
            None => "not measured".into(),
            Some(share) if share <= 1.0 => "reached".into(),
            Some(share) => format!("not reached: {} x bound", number(Some(share))),
        }
    }
}

/// All targets, in the order of the list that they come from.
pub fn targets(run: &Run) -> Vec<Target> {
    let mut targets = two_ranks(run);
    for ranks in [4, 8, 16] {
        targets.extend(oversubscribed(run, ranks));
    }
    for place in [Place::Tmpfs, Place::Tmpdir] {
        targets.extend(file(run, place));
    }
    for place in [Place::Usual, Place::Tmpfs, Place::Tmpdir] {
        targets.extend(octave(run, place));
    }
    targets.extend(operations(run));
    let start = |engine| run.value("startup", engine, Place::Usual, (2, 0));
    let bound = start(Engine::Mpich).map(|mpich| 0.5 * mpich);
    let what = "start to end of a hello on 2 ranks: at most half of MPICH's mpiexec";
    targets.push(Target::new(what, bound, start(Engine::Postrider), "ms"));
    targets
}

fn latency(run: &Run, engine: Engine, key: (u32, u64)) -> Option<f64> {
    run.value("latency", engine, Place::Usual, key)
}

/// The better of MPICH and Open MPI.
fn better(run: &Run, figure: &str, key: (u32, u64)) -> Option<f64> {
    [Engine::Mpich, Engine::Openmpi]
        .into_iter()
        .filter_map(|engine| run.value(figure, engine, Place::Usual, key))
        .reduce(f64::min)
}

/// Every operation of the collectives and on windows. A target is about all its sizes: what counts is the worst of them.
fn operations(run: &Run) -> Vec<Target> {
    let mut targets = Vec::new();
    for name in COLLECTIVES.into_iter().chain(ONE_SIDED) {
        let what = format!("{name}, 2 ranks, any size: at least as fast as the better of MPICH and Open MPI");
        targets.push(worst(run, name, &[2], what, |key| better(run, name, key)));
        let what = format!("{name}, 4, 8 and 16 ranks, any size: at least 20 x faster than MPICH");
        let bound = |key| run.value(name, Engine::Mpich, Place::Usual, key).map(|time| time / 20.0);
        targets.push(worst(run, name, &[4, 8, 16], what, bound));
    }
    targets
}

/// Postrider where it is furthest from the bound.
fn worst(
    run: &Run,
    figure: &str,
    ranks: &[u32],
    what: String,
    bound: impl Fn((u32, u64)) -> Option<f64>,
) -> Target {
    let is_ours = |cell: &&Cell| {
        cell.figure == figure && cell.engine == Engine::Postrider && ranks.contains(&cell.ranks)
    };
    let share = |(cell, bound): &(&Cell, f64)| cell.value / bound;
    let with_bounds =
        run.cells.iter().filter(is_ours).filter_map(|cell| Some((cell, bound((cell.ranks, cell.bytes))?)));
    let Some((cell, bound)) = with_bounds.max_by(|one, other| share(one).total_cmp(&share(other))) else {
        return Target::new(what, None, None, "us");
    };
    let mut target = Target::new(what, Some(bound), Some(cell.value), &cell.unit);
    target.found = format!("{} at {} ranks and {}", target.found, cell.ranks, size(cell.bytes));
    target
}

fn two_ranks(run: &Run) -> Vec<Target> {
    let one_byte = latency(run, Engine::Postrider, (2, 1));
    let mut targets = vec![
        Target::new("1 B one-way, shared memory, 2 ranks: at most 0.35 us", Some(0.35), one_byte, "us"),
        Target::new(
            "1 B one-way, shared memory, 2 ranks: at most 0.8 x the better of MPICH and Open MPI",
            better(run, "latency", (2, 1)).map(|time| 0.8 * time),
            one_byte,
            "us",
        ),
    ];
    let mut sizes: Vec<u64> =
        run.cells.iter().filter(|c| c.figure == "latency" && c.ranks == 2).map(|c| c.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for bytes in sizes.into_iter().filter(|&bytes| bytes <= 4 << 20) {
        let what = format!(
            "{} one-way, shared memory, 2 ranks: at least as fast as the better of them",
            size(bytes)
        );
        targets.push(Target::new(
            what,
            better(run, "latency", (2, bytes)),
            latency(run, Engine::Postrider, (2, bytes)),
            "us",
        ));
    }
    targets
}

fn oversubscribed(run: &Run, ranks: u32) -> Vec<Target> {
    let key = (ranks, 8);
    let futex = run.value("floor-futex", Engine::Floor, Place::Usual, key);
    let mut targets = Vec::new();
    for (figure, words) in [("latency", "8 B one-way in pairs"), ("allreduce", "8 B allreduce")] {
        let median = |engine| run.value(figure, engine, Place::Usual, key);
        let what = format!("{words}, {ranks} ranks: at most 3 x the plain futex pairs");
        targets.push(Target::new(what, futex.map(|time| 3.0 * time), median(Engine::Postrider), "us"));
    }
    let median = |engine| run.value("latency", engine, Place::Usual, key);
    let what = format!("8 B one-way in pairs, {ranks} ranks: at least 20 x faster than MPICH");
    targets.push(Target::new(
        what,
        median(Engine::Mpich).map(|time| time / 20.0),
        median(Engine::Postrider),
        "us",
    ));
    targets
}

fn file(run: &Run, place: Place) -> Vec<Target> {
    let ours = |bytes| run.value("latency", Engine::PostriderFile, place, (2, bytes));
    let floor = run.value("floor-file", Engine::Floor, place, (2, 16));
    let copy_mb_s = run.value("floor-cp", Engine::Floor, place, (1, LARGE_BYTES));
    vec![
        Target::new(
            format!("16 B one-way, file transport on {}: at most 1.5 x its system calls", place.name()),
            floor.map(|time| 1.5 * time),
            ours(16),
            "us",
        ),
        Target::new(
            format!("100 MiB one-way, file transport on {}: at most twice the time of cp", place.name()),
            copy_mb_s.map(|speed| 2e-3 * LARGE_BYTES as f64 / speed),
            ours(LARGE_BYTES).map(|time_us| 1e-3 * time_us),
            "ms",
        ),
    ]
}

fn octave(run: &Run, place: Place) -> Vec<Target> {
    let (engine, words) = match place {
        Place::Usual => (Engine::Postrider, "shared memory".to_string()),
        _ => (Engine::PostriderFile, format!("file transport on {}", place.name())),
    };
    let ours = |bytes| run.value("octave", engine, place, (2, bytes));
    vec![
        Target::new(format!("16 B one-way from Octave, {words}: within 60 us"), Some(60.0), ours(16), "us"),
        Target::new(
            format!("100 MiB one-way from Octave, {words}: at 1 GB/s or better"),
            Some(1e-6 * LARGE_BYTES as f64),
            ours(LARGE_BYTES).map(|time_us| 1e-3 * time_us),
            "ms",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::session;
    use super::*;

    #[test]
    fn verdicts_say_by_how_much() {
        let run = session(&[
            ("latency", Engine::Postrider, 2, 1, "us", 0.7),
            ("latency", Engine::Mpich, 2, 1, "us", 0.9),
            ("latency", Engine::Openmpi, 2, 1, "us", 1.1),
        ]);
        let verdicts: Vec<String> = targets(&run).iter().map(Target::verdict).collect();
        assert_eq!(verdicts[..4], ["not reached: 2.00 x bound", "reached", "reached", "not measured"]);
    }
}
