//! What files must reach, checked against one session.

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::table::size;
use super::super::targets::Target;
use super::figures::{PLACES, is_slow};
use super::ways::Way;

/// Quantities of atomic mode and shared pointers.
pub const MODES: [&str; 7] = [
    "atomic-contiguous",
    "atomic-noncontiguous",
    "disjoint-atomic",
    "shared-write",
    "shared-read",
    "ordered-write",
    "ordered-read",
];
/// Those of arrays.
pub const ARRAYS: [&str; 10] = [
    "darray-write-all",
    "darray-read-all",
    "subarray-write-all",
    "subarray-read-all",
    "tiled-read-all",
    "tiled-read",
    "strided-write-all",
    "strided-read-all",
    "pieces-write",
    "pieces-read",
];

type Key = (u32, u64);

/// All targets for which there is something to compare with.
pub fn targets(run: &Run) -> Vec<Target> {
    let mut targets = Vec::new();
    for place in PLACES.into_iter().chain([Place::TmpfsBusy]) {
        targets.extend(never_slower(run, place));
    }
    for place in PLACES {
        for engine in [Engine::Postrider, Engine::Io(Way::OnMpich)] {
            targets.extend(pointers(run, place, engine));
        }
        targets.extend(beside_romio(run, place));
    }
    for engine in [Engine::Postrider, Engine::Io(Way::OnMpich)] {
        targets.extend(locks(run, engine));
    }
    targets
}

/// The better of the others.
pub fn better(run: &Run, figure: &str, place: Place, key: Key) -> Option<f64> {
    let others = [Engine::Mpich, Engine::Openmpi].into_iter();
    others.filter_map(|engine| run.value(figure, engine, place, key)).reduce(f64::min)
}

fn never_slower(run: &Run, place: Place) -> Vec<Target> {
    let target = |figure: &&str| {
        let what =
            format!("{figure}, {}: at any number of ranks no slower than the better of them", place.name());
        worst(run, (figure, Engine::Postrider, place), what, |key| better(run, figure, place, key))
    };
    MODES.iter().chain(&ARRAYS).filter_map(target).collect()
}

/// `figure` at least so many times as fast as ROMIO.
fn times_romio(run: &Run, (figure, engine, place): (&str, Engine, Place), times: f64) -> Option<Target> {
    let fast = if times > 1.0 { format!("{times} x faster than") } else { "as fast as".to_owned() };
    let what = format!("{figure}, {}, {}: at least {fast} ROMIO", place.name(), engine.name());
    let bound = |key| run.value(figure, Engine::Mpich, place, key).map(|time| time / times);
    worst(run, (figure, engine, place), what, bound)
}

fn pointers(run: &Run, place: Place, engine: Engine) -> Vec<Target> {
    let times = |local| if is_slow(place) { 20.0 } else { local };
    let shared = ["shared-write", "shared-read"].map(|figure| (figure, times(5.0)));
    let ordered = ["ordered-write", "ordered-read"].map(|figure| (figure, times(2.0)));
    let all = shared.into_iter().chain(ordered);
    all.filter_map(|(figure, times)| times_romio(run, (figure, engine, place), times)).collect()
}

fn beside_romio(run: &Run, place: Place) -> Vec<Target> {
    let ours = Engine::Postrider;
    let mut targets: Vec<_> =
        times_romio(run, ("atomic-noncontiguous", ours, place), 5.0).into_iter().collect();
    for figure in ARRAYS.into_iter().filter(|figure| figure.ends_with("-all")) {
        let times = if figure.starts_with("strided") { 2.0 } else { 1.0 };
        targets.extend(times_romio(run, (figure, ours, place), times));
    }
    for figure in ["pieces-write", "pieces-read"] {
        targets.extend(times_romio(run, (figure, ours, place), 2.0));
    }
    let plain = |key| run.value("disjoint-plain", ours, place, key).map(|time| 1.05 * time);
    let what = format!("disjoint-atomic, {}: at most 1.05 x the time without atomic mode", place.name());
    targets.extend(worst(run, ("disjoint-atomic", ours, place), what, plain));
    targets
}

/// Where each rank has a core; else the others' waiting counts, too.
fn locks(run: &Run, engine: Engine) -> Option<Target> {
    let (place, key) = (Place::Tmpfs, (2, 8));
    let bound = run.value("lock-fetch-and-op", engine, place, key).map(|time| 1.2 * time);
    let found = run.value("lock-uncontended", engine, place, key)?;
    let what = format!("an uncontended lock, {}: at most 1.2 x one fetch-and-op", engine.name());
    Some(Target::new(what, bound, Some(found), "us"))
}

/// The engine where it is furthest from the bound; nothing where there is no bound.
fn worst(
    run: &Run,
    (figure, engine, place): (&str, Engine, Place),
    what: String,
    bound: impl Fn(Key) -> Option<f64>,
) -> Option<Target> {
    if !run.cells.iter().any(|cell| cell.engine == engine) {
        return None;
    }
    let cells = run.cells.iter().filter(|cell| cell.figure == figure && cell.place == place);
    let with_bounds = cells.filter_map(|cell| {
        let key = (cell.ranks, cell.bytes);
        // No result is the worst.
        let found = run.value(figure, engine, place, key).unwrap_or(f64::INFINITY);
        Some((key, found, bound(key)?))
    });
    let (key, found, bound) = with_bounds.max_by(|(_, a, p), (_, b, q)| (a / p).total_cmp(&(b / q)))?;
    let mut target = Target::new(what, Some(bound), Some(found), "us");
    target.found = format!("{} at {} ranks and {}", target.found, key.0, size(key.1));
    Some(target)
}

#[cfg(test)]
mod tests {
    use super::super::super::record::Sample;
    use super::super::super::record::tests::session;
    use super::*;

    fn run(values: &[(&str, Engine, u32, f64)]) -> Run {
        let mut run = session(&[]);
        for &(figure, engine, ranks, value) in values {
            let sample = Sample { value, best: value };
            run.add_value(figure, engine, Place::Tmpfs, (ranks, 8), "us", sample);
        }
        run
    }

    #[test]
    fn the_worst_number_of_ranks_counts() {
        let run = run(&[
            ("shared-write", Engine::Postrider, 2, 1.0),
            ("shared-write", Engine::Mpich, 2, 10.0),
            ("shared-write", Engine::Postrider, 4, 4.0),
            ("shared-write", Engine::Mpich, 4, 10.0),
            ("shared-write", Engine::Openmpi, 4, 3.0),
        ]);
        let verdicts: Vec<String> = targets(&run).iter().map(Target::verdict).collect();
        assert_eq!(verdicts, ["not reached: 1.33 x bound", "not reached: 2.00 x bound"]);
    }

    #[test]
    fn no_result_is_not_reached_and_no_rival_is_no_target() {
        let run =
            run(&[("darray-read-all", Engine::Openmpi, 2, 1.0), ("tiled-read", Engine::Postrider, 2, 1.0)]);
        let reached: Vec<_> = targets(&run).iter().map(Target::is_reached).collect();
        assert_eq!(reached, [Some(false)]);
    }
}
