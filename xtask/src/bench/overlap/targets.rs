//! What the layer must reach, checked against one session.

use clap::ValueEnum;

use super::super::record::Run;
use super::super::table;
use super::super::targets::Target;
use super::tables::{keys, quantities, size, time, unit};
use super::ways::{Manner, Site};

/// How much faster than plain the exchange of borders has to be between two ranks, for sides of so many points.
const BORDERS: [(u64, f64); 2] = [(512, 2.2), (1024, 1.8)];
/// How much faster than plain files have to be on a slow file system.
const FILES: [(&str, &str, f64); 4] = [
    ("rows", "rows of 8 KiB", 12.0),
    ("elements", "single elements", 1000.0),
    ("checkpoint-rows", "time in the calls of checkpoints, by rows", 50.0),
    ("strided", "strided reads", 5.0),
];

type Key = (u32, u64);

/// All targets for which there is something to compare with.
pub fn targets(run: &Run) -> Vec<Target> {
    let mut targets = Vec::new();
    for &site in Site::value_variants() {
        targets.extend(borders(run, site));
        targets.extend(files(run, site));
        targets.extend(never_slower(run, site));
    }
    targets
}

fn borders(run: &Run, site: Site) -> Vec<Target> {
    if !matches!(site, Site::MpichLinks | Site::PostriderLinks) {
        return Vec::new();
    }
    let name = site.name();
    let by_hand = |figure| move |key| time(run, figure, (site, Manner::ByHand), key);
    let what =
        format!("exchange of borders, {name}: at least 0.95 of the speed of that by hand, at every size");
    let mut targets = vec![worst(run, "border", site, what, |key| Some(by_hand("border")(key)? / 0.95))];
    for (side, times) in BORDERS {
        let what = format!("exchange of borders, {name}, 2 ranks, n = {side}: at least {times} x plain");
        let bound = |key| {
            (key == (2, side))
                .then(|| Some(time(run, "border", (site, Manner::Plain), key)? / times))
                .flatten()
        };
        targets.push(worst(run, "border", site, what, bound));
    }
    let what = format!("the same with work before the first touch, {name}: faster than by hand");
    targets.push(worst(run, "border-before-work", site, what, by_hand("border-before-work")));
    targets.into_iter().flatten().collect()
}

fn files(run: &Run, site: Site) -> Vec<Target> {
    if !site.is_slow() {
        return Vec::new();
    }
    let name = site.name();
    let plain = |figure| move |key| time(run, figure, (site, Manner::Plain), key);
    let mut targets: Vec<Option<Target>> = FILES
        .into_iter()
        .map(|(figure, words, times)| {
            let what = format!("{words}, {name}: at least {times} x plain");
            worst(run, figure, site, what, |key| Some(plain(figure)(key)? / times))
        })
        .collect();
    let what = format!("read and compute, {name}: at most 1.1 x the longer of the two");
    targets.push(worst(run, "read-compute", site, what, |key| Some(1.1 * plain("read-compute-bound")(key)?)));
    let what = format!("distributed write, {name}: at least as fast as MPI_File_write_all");
    let by_hand = |key| time(run, "rows-written", (site, Manner::ByHand), key);
    targets.push(worst(run, "rows-written", site, what, by_hand));
    targets.into_iter().flatten().collect()
}

/// No quantity, with the predictor on.
fn never_slower(run: &Run, site: Site) -> Option<Target> {
    let bound = |figure: &str, key| Some(time(run, figure, (site, Manner::Plain), key)? / 0.98);
    let of = |figure: &&str| {
        let what = format!("all quantities, {}: never below 0.98 of plain", site.name());
        let (share, mut target) = worst_share(run, figure, site, what, |key| bound(figure, key))?;
        target.found = format!("{figure}: {}", target.found);
        Some((share, target))
    };
    let all = quantities(run, site);
    let found = all.iter().filter_map(of).max_by(|one, other| one.0.total_cmp(&other.0));
    found.map(|(_, target)| target)
}

fn worst(
    run: &Run,
    figure: &str,
    site: Site,
    what: String,
    bound: impl Fn(Key) -> Option<f64>,
) -> Option<Target> {
    worst_share(run, figure, site, what, bound).map(|(_, target)| target)
}

/// The layer where it is furthest from the bound, and how far; nothing where there is no bound.
fn worst_share(
    run: &Run,
    figure: &str,
    site: Site,
    what: String,
    bound: impl Fn(Key) -> Option<f64>,
) -> Option<(f64, Target)> {
    let with_bounds = keys(run, figure, site).into_iter().filter_map(|key| {
        // No result is the worst.
        let found = time(run, figure, (site, Manner::Layer), key).unwrap_or(f64::INFINITY);
        Some((key, found, bound(key)?))
    });
    let (key, found, bound) = with_bounds.max_by(|(_, a, p), (_, b, q)| (a / p).total_cmp(&(b / q)))?;
    let mut target = Target::new(what, Some(bound), Some(found), unit(run, figure));
    let shown = size(figure, key.1).unwrap_or_else(|| table::size(key.1));
    target.found = format!("{} at {} ranks and {shown}", target.found, key.0);
    Some((found / bound, target))
}

#[cfg(test)]
mod tests {
    use super::super::super::engines::{Engine, Place};
    use super::super::super::record::Sample;
    use super::super::super::record::tests::session;
    use super::*;

    fn run(values: &[(&str, Site, Manner, Key, f64)]) -> Run {
        let mut run = session(&[]);
        for &(figure, site, manner, key, value) in values {
            let (engine, place) = (Engine::Overlap(manner), Place::Overlap(site));
            run.add_value(figure, engine, place, key, "us", Sample { value, best: value });
        }
        run
    }

    fn verdict(run: &Run, words: &str) -> Option<String> {
        targets(run).iter().find(|target| target.what.contains(words)).map(Target::verdict)
    }

    #[test]
    fn a_border_is_judged_by_plain_and_by_hand() {
        let run = run(&[
            ("border", Site::MpichLinks, Manner::Plain, (2, 512), 700.0),
            ("border", Site::MpichLinks, Manner::ByHand, (2, 512), 310.0),
            ("border", Site::MpichLinks, Manner::Layer, (2, 512), 318.0),
        ]);
        assert_eq!(verdict(&run, "0.95 of the speed").as_deref(), Some("reached"));
        assert_eq!(verdict(&run, "at least 2.2 x").as_deref(), Some("reached"));
        assert_eq!(verdict(&run, "at least 1.8 x"), None);
    }

    #[test]
    fn the_slowest_quantity_counts_and_no_result_is_slowest() {
        let site = Site::PostriderDisk;
        let mut values = vec![
            ("rows", site, Manner::Plain, (1, 1 << 20), 98.0),
            ("rows", site, Manner::Layer, (1, 1 << 20), 99.0),
            ("elements", site, Manner::Plain, (1, 1 << 20), 98.0),
            ("elements", site, Manner::Layer, (1, 1 << 20), 200.0),
        ];
        assert_eq!(verdict(&run(&values), "never below").as_deref(), Some("not reached: 2.00 x bound"));
        values.pop();
        assert_ne!(verdict(&run(&values), "never below").as_deref(), Some("reached"));
    }
}
