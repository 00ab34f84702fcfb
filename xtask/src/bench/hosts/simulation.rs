//! The broadcast on more processes than a machine has room for: the schedules of the library, run against a clock that is
//! moved by costs found in the same session.
//!
//! Each simulated process has a core of its own. A message costs what figures 7 and 8 have found: its sender and its receiver the time
//! that a message takes where many follow one another, its bytes the time that the bandwidth says, and on its way
//! it is for the rest of the one-way time. A receiver in the central directory costs what figure 9 has found for one more of them.

use anyhow::{Context, Result};

use super::super::engines::{Engine, Place};
use super::super::record::{Run, Sample};
use super::super::schedules::{Simulator, Way};
use super::figures::{BROADCAST_BYTES, NODE_RANKS, SMALL_BYTES};

/// Figure of the record.
pub const SIMULATED: &str = "broadcast-simulated";
/// The size at which the bandwidth is taken.
const LONG_BYTES: u64 = 1 << 20;
/// The most processes: 2 to the power of 17 are 131,072.
const POWER_MAX: u32 = 17;

/// Adds what the broadcasts would take to the record; what cannot be simulated, and why, is returned.
pub fn simulate(run: &mut Run, ways: &[Engine]) -> Vec<(Engine, String)> {
    let mut missing = Vec::new();
    for (way, algorithm) in [
        (Engine::Postrider, "node-aware"),
        (Engine::PostriderFile, "node-aware"),
        (Engine::PostriderCentralSlow, "flat"),
    ] {
        if !ways.contains(&way) {
            continue;
        }
        let added = costs(run, way).and_then(|costs| add(run, way, algorithm, &costs));
        if let Err(error) = added {
            missing.push((way, format!("{error:#}")));
        }
    }
    missing
}

/// What messages cost inside a node, and between nodes.
struct Costs {
    inside: Way,
    between: Way,
}

fn costs(run: &Run, way: Engine) -> Result<Costs> {
    let (inside, between) = match way {
        Engine::PostriderCentralSlow => (central(run, way)?, central(run, way)?),
        _ => (measured(run, way, Place::OneHost)?, measured(run, way, Place::TwoHosts)?),
    };
    Ok(Costs { inside, between })
}

/// What a message costs in figure 7 or 8.
fn measured(run: &Run, way: Engine, place: Place) -> Result<Way> {
    let median = |figure: &str, bytes| {
        let words =
            || format!("{figure} of {bytes} B with {} on {} was not measured", way.name(), place.name());
        run.value(figure, way, place, (2, bytes)).with_context(words)
    };
    let one_way = 1e-6 * median("latency", SMALL_BYTES)?;
    let per_message = 1e-6 / median("message-rate", SMALL_BYTES)?;
    let per_byte =
        1e-6 / median("bandwidth", LONG_BYTES).or_else(|_| median("bandwidth", LONG_BYTES / 16))?;
    Ok(Way { latency: (one_way - 2.0 * per_message).max(0.0), per_message, per_byte })
}

/// What one more receiver costs in figure 9. The bytes are too few to count.
fn central(run: &Run, way: Engine) -> Result<Way> {
    let points = run.cells.iter().filter(|cell| cell.figure == "broadcast" && cell.engine == way);
    let mut points: Vec<(f64, f64)> = points.map(|cell| (f64::from(cell.ranks), 1e-6 * cell.value)).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (first, last) = (points.first().context("figure 9 was not measured")?, points.last());
    let last = last.filter(|last| last.0 > first.0).context("figure 9 needs two numbers of ranks")?;
    // Where it grows faster than the number of receivers, the most receivers tell what one costs.
    let per_message = ((last.1 - first.1) / (last.0 - first.0)).clamp(0.0, last.1 / last.0);
    Ok(Way { latency: last.1 - last.0 * per_message, per_message, per_byte: 0.0 })
}

fn add(run: &mut Run, way: Engine, algorithm: &str, costs: &Costs) -> Result<()> {
    let simulator = Simulator::prepare()?;
    let words = |name: &str, way: &Way| {
        let Way { latency, per_message, per_byte } = way;
        let per_mib = 1e6 * per_byte * f64::from(1 << 20);
        format!(
            "{name} {:.3} us on its way, {:.3} us at each end, {per_mib:.1} us for each MiB",
            1e6 * latency,
            1e6 * per_message
        )
    };
    let (inside, between) = (words("inside a node", &costs.inside), words("between nodes", &costs.between));
    run.notes.push(format!("costs of a message in the simulation of {}: {inside}; {between}", way.name()));
    for power in 1..=POWER_MAX {
        let ranks = 1 << power;
        // On one node there is nothing to be aware of.
        let alone = algorithm == "node-aware" && ranks <= NODE_RANKS;
        let algorithm = if alone { "binomial" } else { algorithm };
        let job = (ranks, NODE_RANKS, BROADCAST_BYTES);
        let value = 1e6 * simulator.broadcast(algorithm, job, (&costs.inside, &costs.between))?;
        let sample = Sample { value, best: value };
        run.add_value(SIMULATED, way, Place::Nodes, (ranks, BROADCAST_BYTES), "us", sample);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::record::tests::session;
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let mut run = session(&[]);
        let missing = simulate(&mut run, &[Engine::Postrider]);
        assert_eq!(missing.len(), 1);
        assert!(missing[0].1.contains("was not measured"), "{}", missing[0].1);
    }

    #[test]
    fn a_central_broadcast_grows_by_what_a_receiver_costs() {
        let mut run = session(&[]);
        for (ranks, time_us) in [(64, 65_000.0), (2048, 2_049_000.0)] {
            let sample = Sample { value: time_us, best: time_us };
            let way = Engine::PostriderCentralSlow;
            run.add_value("broadcast", way, Place::Nodes, (ranks, BROADCAST_BYTES), "us", sample);
        }
        assert!(simulate(&mut run, &[Engine::PostriderCentralSlow]).is_empty());
        let time = |ranks| {
            let key = (ranks, BROADCAST_BYTES);
            run.value(SIMULATED, Engine::PostriderCentralSlow, Place::Nodes, key).expect("it was simulated")
        };
        assert!((time(64) / 65e3 - 1.0).abs() < 0.01, "{}", time(64));
        assert!((time(2048) / 2.049e6 - 1.0).abs() < 0.01, "{}", time(2048));
        assert!((time(131_072) / time(65_536) - 2.0).abs() < 0.01);
    }
}
