//! What the front ends must reach, checked against one session.

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::table::size;
use super::super::targets::Target;
use super::figures::{SMALL_BYTES, STRINGS_BYTES};
use super::fronts::Front;
use super::hosts::{ARRAY_BYTES, LARGE_ARRAY_BYTES};
use super::tables::time;

/// All targets.
pub fn targets(run: &Run) -> Vec<Target> {
    let mut targets = Vec::new();
    for (front, bound, what) in [
        (Front::OctaveMatlabmpi, 5.0, "values by MatlabMPI's names"),
        (Front::OctaveValues, 5.0, "values by the native package"),
        (Front::OctaveArrays, 3.0, "arrays by the native package"),
        (Front::OctaveMpitb, 3.0, "arrays by MPI-TB's names"),
    ] {
        let found = time(run, "latency", front, (2, SMALL_BYTES));
        targets.push(Target::new(
            format!("16 B from Octave, {what}: within {bound} us"),
            Some(bound),
            found,
            "us",
        ));
        targets.push(large(run, front, what));
    }
    targets.push(small(run, Front::OctaveMatlabmpi, "shared memory", 100.0));
    targets.push(small(run, Front::OctaveMatlabmpiFile, "the same files", 50.0));
    for figure in ["latency", "sender-computes", "bcast"] {
        for front in [Front::OctaveMatlabmpi, Front::OctaveMatlabmpiFile] {
            targets.push(never_slower(run, figure, front));
        }
    }
    let saved =
        run.value("strings-save", Engine::Front(Front::OctaveAlone), Place::Usual, (1, STRINGS_BYTES));
    let found = time(run, "strings", Front::OctaveMatlabmpi, (2, STRINGS_BYTES));
    targets.push(Target::new(
        "10^5 short strings in a cell: as fast as save -binary to memory",
        saved,
        found,
        "ms",
    ));
    let bound = time(run, "startup", Front::OctaveAlone, (16, 0)).map(|time| 1.5 * time);
    let found = time(run, "startup", Front::OctaveMatlabmpi, (16, 0));
    targets.push(Target::new("start of 16 ranks: at most 1.5 x the start of 16 Octaves", bound, found, "ms"));
    for bytes in [ARRAY_BYTES, LARGE_ARRAY_BYTES] {
        targets.push(aggregation(run, bytes));
    }
    targets
}

/// From 1 MiB on at 0.9 x the bandwidth of C: the size at which it is furthest from that.
fn large(run: &Run, front: Front, what: &str) -> Target {
    let what = format!("1 MiB and more from Octave, {what}: at least 0.9 x the bandwidth of C");
    let is_large = |bytes: u64| bytes >= 1 << 20;
    worst(run, "latency", front, what, is_large, |key| Some(time(run, "latency", Front::C, key)? / 0.9))
}

fn small(run: &Run, front: Front, words: &str, times: f64) -> Target {
    let key = (2, SMALL_BYTES);
    let bound = time(run, "latency", Front::FilesBinary, key).map(|time| time / times);
    let what = format!(
        "16 B by MatlabMPI's names through {words}: at least {times} x faster than MatlabMPI's own files"
    );
    Target::new(what, bound, time(run, "latency", front, key), "us")
}

fn never_slower(run: &Run, figure: &str, front: Front) -> Target {
    let what = format!("{figure}, {}: at any size at least as fast as MatlabMPI's own files", front.name());
    worst(run, figure, front, what, |_| true, |key| time(run, figure, Front::FilesBinary, key))
}

/// The front end where it is furthest from the bound.
fn worst(
    run: &Run,
    figure: &str,
    front: Front,
    what: String,
    counts: impl Fn(u64) -> bool,
    bound: impl Fn((u32, u64)) -> Option<f64>,
) -> Target {
    let cells =
        run.cells.iter().filter(|cell| cell.engine == Engine::Front(front) && cell.place == Place::Usual);
    let of_figure = cells.filter(|cell| cell.figure == figure && counts(cell.bytes));
    let with_bounds = of_figure.filter_map(|cell| Some((cell, bound((cell.ranks, cell.bytes))?)));
    let worst = with_bounds.max_by(|(a, p), (b, q)| (a.value / p).total_cmp(&(b.value / q)));
    let Some((cell, bound)) = worst else { return Target::new(what, None, None, "us") };
    let mut target = Target::new(what, Some(bound), Some(cell.value), "us");
    target.found = format!("{} at {} ranks and {}", target.found, cell.ranks, size(cell.bytes));
    target
}

fn aggregation(run: &Run, bytes: u64) -> Target {
    let found = |front| run.value("aggregation", Engine::Front(front), Place::Hosts, (4, bytes));
    let bound = found(Front::C).map(|time| 1.1 * time);
    let what = format!(
        "agg of {} over 4 hosts: at most 1.1 x MPI_Gather in C, which sends each byte once",
        size(bytes)
    );
    Target::new(what, bound, found(Front::OctavePmatlab), "ms")
}

#[cfg(test)]
mod tests {
    use super::super::super::record::tests::session;
    use super::*;

    #[test]
    fn a_target_about_all_sizes_is_about_the_worst() {
        let run = session(&[
            ("latency", Engine::Front(Front::OctaveMatlabmpi), 2, 16, "us", 4.0),
            ("latency", Engine::Front(Front::FilesBinary), 2, 16, "us", 200.0),
            ("latency", Engine::Front(Front::OctaveMatlabmpi), 2, 1 << 20, "us", 300.0),
            ("latency", Engine::Front(Front::FilesBinary), 2, 1 << 20, "us", 200.0),
        ]);
        let target = never_slower(&run, "latency", Front::OctaveMatlabmpi);
        assert_eq!(target.verdict(), "not reached: 1.50 x bound");
        assert!(target.found.ends_with("at 2 ranks and 1 MiB"));
        let small = small(&run, Front::OctaveMatlabmpi, "shared memory", 100.0);
        assert_eq!(small.verdict(), "not reached: 2.00 x bound");
    }
}
