//! What System V IPC must reach, checked against one session.

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::targets::Target;
use super::ways::Means;

/// Bounds against the kernel: where, what, of how many bytes, and how many times the kernel's time it may take.
const CALLS: [(Place, &str, (u32, u64), f64); 4] = [
    (Place::OneHost, "ping-pong", (2, 8), 0.5),
    (Place::OneCore, "ping-pong", (2, 8), 1.1),
    (Place::OneHost, "ping-pong", (2, 65536), 0.6),
    (Place::OneHost, "semaphore", (1, 0), 0.4),
];
/// How much longer a program may take to start, in us.
const START_US: f64 = 5000.0;
/// The number of atoms.
const ATOMS: u64 = 108;

/// All targets.
pub fn targets(run: &Run) -> Vec<Target> {
    let mut targets: Vec<Target> = CALLS.into_iter().map(|call| beside_kernel(run, call)).collect();
    let start = |means| run.value("start", Engine::Ipc(means), Place::OneHost, (1, 0));
    let bound = start(Means::KernelMessages).map(|time| time + START_US);
    let what = "start of a program: at most 5 ms longer than without the layer";
    targets.push(Target::new(what, bound, start(Means::LayerMessages), "us"));
    let message = run.value("latency", Engine::Postrider, Place::TwoHosts, (2, 8)).map(|time| 1.3 * time);
    let found = run.value("ping-pong", Engine::Ipc(Means::LayerMessages), Place::TwoHosts, (2, 8));
    let what = "8 B from msgsnd to msgrcv between two hosts: at most 1.3 x a message of MPI";
    targets.push(Target::new(what, message, found, "us"));
    for ranks in [4, 8] {
        targets.extend(molecules(run, ranks));
    }
    targets
}

fn beside_kernel(run: &Run, (place, figure, key, times): (Place, &str, (u32, u64), f64)) -> Target {
    let value = |means| run.value(figure, Engine::Ipc(means), place, key);
    let bytes = if key.1 == 0 { String::new() } else { format!(" of {} B", key.1) };
    let what = format!("{figure}{bytes}, {}: at most {times} x the kernel's time", place.name());
    Target::new(
        what,
        value(Means::KernelMessages).map(|time| times * time),
        value(Means::LayerMessages),
        "us",
    )
}

fn molecules(run: &Run, ranks: u32) -> [Target; 3] {
    let value = |figure, engine| run.value(figure, engine, Place::OneHost, (ranks, ATOMS));
    let run_time = |engine| value("md-run", engine);
    let in_messages = |engine| Some(value("md-send", engine)? + value("md-receive", engine)?);
    let layer = Engine::Ipc(Means::LayerMessages);
    let name = format!("molecular dynamics, {ranks} processes");
    let better = [Engine::Mpich, Engine::Openmpi].into_iter().filter_map(run_time).reduce(f64::min);
    [
        Target::new(
            format!("{name}: messages of the layer at most 1.1 x the time of Postrider's MPI"),
            run_time(Engine::Postrider).map(|time| 1.1 * time),
            run_time(layer),
            "ms",
        ),
        Target::new(
            format!("{name}: at most a 20th of MPICH's time in messages"),
            in_messages(Engine::Mpich).map(|time| time / 20.0),
            in_messages(layer),
            "ms",
        ),
        Target::new(
            format!("{name}: Postrider at most 0.7 x the better of MPICH and Open MPI"),
            better.map(|time| 0.7 * time),
            run_time(Engine::Postrider),
            "ms",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::record::Sample;
    use super::super::super::record::tests::session;
    use super::*;

    fn run(values: &[(&str, Engine, u32, u64, f64)]) -> Run {
        let mut run = session(&[]);
        for &(figure, engine, ranks, bytes, value) in values {
            let sample = Sample { value, best: value };
            run.add_value(figure, engine, Place::OneHost, (ranks, bytes), "us", sample);
        }
        run
    }

    #[test]
    fn calls_are_beside_the_kernel() {
        let (kernel, layer) = (Engine::Ipc(Means::KernelMessages), Engine::Ipc(Means::LayerMessages));
        let run = run(&[("ping-pong", kernel, 2, 8, 4.0), ("ping-pong", layer, 2, 8, 3.0)]);
        let verdicts: Vec<String> = targets(&run).iter().map(Target::verdict).collect();
        assert_eq!(verdicts[0], "not reached: 1.50 x bound");
        assert!(verdicts[1..].iter().all(|verdict| verdict == "not measured"));
    }

    #[test]
    fn time_in_messages_is_that_of_sends_and_receives() {
        let (layer, mpich) = (Engine::Ipc(Means::LayerMessages), Engine::Mpich);
        let run = run(&[
            ("md-send", layer, 4, ATOMS, 1.0),
            ("md-receive", layer, 4, ATOMS, 3.0),
            ("md-send", mpich, 4, ATOMS, 10.0),
            ("md-receive", mpich, 4, ATOMS, 70.0),
        ]);
        let [_, messages, _] = molecules(&run, 4);
        assert_eq!(messages.is_reached(), Some(true));
    }
}
