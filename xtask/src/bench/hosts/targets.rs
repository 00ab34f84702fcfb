//! What Postrider must reach between hosts, checked against one session.

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::table::size;
use super::super::targets::Target;
use super::figures::{BROADCAST_BYTES, NODE_RANKS, SMALL_BYTES, START};
use super::simulation::SIMULATED;

/// The number of processes for which the paper tells how much faster its broadcast became.
const PAPER_RANKS: u32 = 2048;
/// How much faster.
const PAPER_RATIO: f64 = 34.0;
/// From here on a bandwidth is judged.
const LONG_BYTES: u64 = 1 << 20;

/// All targets.
pub fn targets(run: &Run) -> Vec<Target> {
    let mut targets = pipe(run);
    targets.push(scp(run));
    targets.extend(broadcast(run));
    targets.extend(growth(run));
    let start = run.value(START, Engine::Postrider, Place::Nodes, (PAPER_RANKS, 0));
    let what =
        format!("{PAPER_RANKS} C processes in nodes of {NODE_RANKS} start and finish: within five minutes");
    targets.push(Target::new(what, Some(300.0), start.map(|time_ms| 1e-3 * time_ms), "s"));
    targets
}

/// Over the connection of ssh that stays, beside the bare one.
fn pipe(run: &Run) -> Vec<Target> {
    let between = |figure: &str, engine, bytes| run.value(figure, engine, Place::TwoHosts, (2, bytes));
    let bare = between("floor-pipe", Engine::Floor, 1).map(|time| 1.5 * time);
    let what = "1 B one-way between hosts: at most 1.5 x half the round trip of a bare pipe of ssh";
    let mut targets = vec![Target::new(what, bare, between("latency", Engine::Postrider, 1), "us")];
    let speeds = |bytes| {
        let ours = between("bandwidth", Engine::Postrider, bytes)?;
        Some((ours, between("floor-pipe-bandwidth", Engine::Floor, bytes)?))
    };
    let sizes = (LONG_BYTES.trailing_zeros()..=30).map(|power| 1u64 << power);
    for (bytes, (ours, bare)) in sizes.filter_map(|bytes| Some((bytes, speeds(bytes)?))) {
        // The time of a message is what is bounded.
        let milliseconds = |speed: f64| 1e-3 * bytes as f64 / speed;
        let what = format!(
            "{} between hosts: at least 0.9 x the bandwidth of a bare pipe of ssh, as time of a message",
            size(bytes)
        );
        targets.push(Target::new(what, Some(milliseconds(0.9 * bare)), Some(milliseconds(ours)), "ms"));
    }
    targets
}

fn scp(run: &Run) -> Target {
    let latency = |engine| run.value("latency", engine, Place::TwoHosts, (2, SMALL_BYTES));
    let bound = latency(Engine::PostriderScp).map(|time| time / 1000.0);
    let what = format!("{SMALL_BYTES} B one-way between hosts: at least 1000 x less time than with scp");
    Target::new(what, bound, latency(Engine::Postrider), "us")
}

fn broadcast(run: &Run) -> Vec<Target> {
    let median = |engine| run.value("broadcast", engine, Place::Nodes, (PAPER_RANKS, BROADCAST_BYTES));
    let bound = median(Engine::PostriderCentralSlow).map(|time| time / PAPER_RATIO);
    let target = |(engine, words)| {
        let what = format!(
            "broadcast to {PAPER_RANKS} processes, {words} in the nodes: at least {PAPER_RATIO} x faster than through the slow central directory"
        );
        Target::new(what, bound, median(engine), "us")
    };
    [(Engine::Postrider, "shared memory"), (Engine::PostriderFile, "files")].map(target).into()
}

/// From few nodes to many, the time must not grow by more than the logarithm of their number does.
fn growth(run: &Run) -> Vec<Target> {
    let ways = [(Engine::Postrider, "shared memory"), (Engine::PostriderFile, "files")];
    let kinds =
        [("broadcast", "measured", (64, PAPER_RANKS)), (SIMULATED, "simulated", (PAPER_RANKS, 131_072))];
    let mut targets = Vec::new();
    for (figure, kind, (few, many)) in kinds {
        for (engine, words) in ways {
            let median = |ranks| run.value(figure, engine, Place::Nodes, (ranks, BROADCAST_BYTES));
            let depth = |ranks: u32| f64::from(ranks / NODE_RANKS).log2();
            let (few_nodes, many_nodes) = (few / NODE_RANKS, many / NODE_RANKS);
            let what = format!(
                "broadcast, {words} in the nodes, {kind}: from {few_nodes} to {many_nodes} nodes as their logarithm at most"
            );
            let bound = median(few).map(|time| time * depth(many) / depth(few));
            targets.push(Target::new(what, bound, median(many), "us"));
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::super::super::record::Sample;
    use super::super::super::record::tests::session;
    use super::*;

    fn run(values: &[(&str, Engine, Place, u32, u64, f64)]) -> Run {
        let mut run = session(&[]);
        for &(figure, engine, place, ranks, bytes, value) in values {
            run.add_value(figure, engine, place, (ranks, bytes), "us", Sample { value, best: value });
        }
        run
    }

    fn verdict(run: &Run, words: &str) -> String {
        let targets = targets(run);
        targets.iter().find(|target| target.what.contains(words)).map(Target::verdict).unwrap_or_default()
    }

    #[test]
    fn a_message_is_judged_by_the_bare_pipe() {
        let run = run(&[
            ("floor-pipe", Engine::Floor, Place::TwoHosts, 2, 1, 40.0),
            ("latency", Engine::Postrider, Place::TwoHosts, 2, 1, 50.0),
            ("floor-pipe-bandwidth", Engine::Floor, Place::TwoHosts, 2, 1 << 20, 400.0),
            ("bandwidth", Engine::Postrider, Place::TwoHosts, 2, 1 << 20, 180.0),
        ]);
        assert_eq!(verdict(&run, "1 B one-way"), "reached");
        assert_eq!(verdict(&run, "1 MiB between"), "not reached: 2.00 x bound");
        assert_eq!(verdict(&run, "with scp"), "not measured");
    }

    #[test]
    fn growth_is_judged_by_the_logarithm_of_nodes() {
        let run = run(&[
            ("broadcast", Engine::Postrider, Place::Nodes, 64, 32, 100.0),
            ("broadcast", Engine::Postrider, Place::Nodes, 2048, 32, 500.0),
            ("broadcast", Engine::PostriderCentralSlow, Place::Nodes, 2048, 32, 17_000.0),
        ]);
        assert_eq!(verdict(&run, "shared memory in the nodes, measured"), "reached");
        assert_eq!(verdict(&run, "shared memory in the nodes: at least 34"), "reached");
        assert_eq!(verdict(&run, "shared memory in the nodes, simulated"), "not measured");
    }
}
