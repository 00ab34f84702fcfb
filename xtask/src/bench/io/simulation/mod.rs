//! Locks on more ranks than a machine has room for: the protocols run against a clock that is moved by costs found in the same session.
//!
//! The paper asks whether its list of waiting ranks does for thousands of them, or a tree is needed. Messages, fetch-and-operations and exclusive epochs are
//! measured inside a node and between two, which share this machine and are linked by pipes. Pipes are slower than what clusters have; so all is
//! simulated twice, and the second time with a network whose costs are stated and not measured.
//!
//! - [`world`]: ranks, clock and costs.
//! - [`protocols`]: the locks.

mod protocols;
mod world;

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::super::Session;
use super::super::engines::{Engine, Place};
use super::super::figures::arguments;
use super::super::process::{self, Outcome};
use super::super::record::{Run, Sample};
use super::ways::Way;
use protocols::{Hybrid, Queues, Server};
use world::{Costs, Found, World};

/// Figures of the record.
pub const THROUGHPUT: &str = "simulated-throughput";
/// From wanting a lock to having it.
pub const WAITING: &str = "simulated-waiting";
/// The longest of these times.
pub const LONGEST: &str = "simulated-longest-waiting";
/// Networks between nodes: pipes, as measured, and a fast one, as stated.
pub const NETWORKS: [Place; 2] = [Place::Nodes, Place::FastNodes];
/// The most ranks: 2 to the power of 14 are 16,384.
pub const POWER_MAX: u32 = 14;

/// The size of what an access writes, and of the words in windows.
const BYTES: u64 = 8;
/// A size from which follows what a byte costs.
const LONG_BYTES: u64 = 16 << 10;
/// How often a node hands the lock on before another may have it.
const BOUND: u32 = 64;
/// What ranks do between two accesses, on average.
const BETWEEN_S: f64 = 10e-6;
/// The fast network: a message, one way; a fetch-and-op; an epoch, which is a lock, a put and an unlock.
const FAST_S: [f64; 3] = [1.5e-6, 2.5e-6, 5e-6];
/// The server: that of the slow file system, in `sites`.
const SERVER_S: (f64, f64) = (250e-6, 500e-6);

/// Measures the costs, and adds what was simulated to the record.
pub fn measure(session: &mut Session) -> Result<()> {
    for (place, hosts) in [(Place::OneHost, "n1:2"), (Place::TwoHosts, "n1:1,n2:1")] {
        let budget_ms = 2 * session.run.budget_ms;
        run_program(session, place, hosts, "latency", arguments(budget_ms, &[BYTES], ""))?;
        let operations = "fetch_and_op,lock_put_unlock,put";
        run_program(
            session,
            place,
            hosts,
            "one_sided",
            arguments(budget_ms, &[BYTES, LONG_BYTES], operations),
        )?;
    }
    let measured = costs(&session.run)?;
    let [message, operation, epoch] = FAST_S;
    let mut fast = measured;
    (fast.message[1], fast.operation[1], fast.epoch[1]) = (message, operation, epoch);
    for (place, costs) in NETWORKS.into_iter().zip([measured, fast]) {
        session.run.notes.push(words(place, &costs));
        simulate(&mut session.run, place, costs);
    }
    Ok(())
}

/// One program on two ranks, on a node or on two.
fn run_program(
    session: &mut Session,
    place: Place,
    hosts: &str,
    name: &str,
    arguments: Vec<String>,
) -> Result<()> {
    let workshop = session.workshop;
    let mut command = Command::new(workshop.prefix.join("bin/postrider"));
    command.env("LD_LIBRARY_PATH", workshop.prefix.join("lib")).env("NODES", workshop.work.join("nodes"));
    command.args(["run", "--hosts", hosts, "--ssh"]).arg(workshop.root.join("bench/src/remote_shell"));
    command.arg(workshop.binaries(Engine::Postrider).join(name)).args(arguments);
    let finished = process::run(&mut command, Duration::from_secs(60), &workshop.work);
    ensure!(finished.outcome == Outcome::Succeeded, "{name} on {hosts}: {}", finished.reason());
    for line in finished.lines() {
        session.run.add(Engine::Postrider, place, &line);
    }
    Ok(())
}

/// What was measured, in seconds.
fn costs(run: &Run) -> Result<Costs> {
    let of = |figure: &str, place: Place, bytes| {
        let time = run.value(figure, Engine::Postrider, place, (2, bytes));
        time.map(|time| 1e-6 * time).with_context(|| format!("{figure} was not measured on {}", place.name()))
    };
    let both = |figure| {
        Ok::<_, anyhow::Error>([of(figure, Place::OneHost, BYTES)?, of(figure, Place::TwoHosts, BYTES)?])
    };
    let longer = of("put", Place::OneHost, LONG_BYTES)? - of("put", Place::OneHost, BYTES)?;
    Ok(Costs {
        message: both("latency")?,
        operation: both("fetch_and_op")?,
        epoch: both("lock_put_unlock")?,
        per_byte: longer.max(0.0) / (LONG_BYTES - BYTES) as f64,
        access: of("lock-write-plain", Place::Tmpfs, BYTES)?,
        between: BETWEEN_S,
        server: SERVER_S,
    })
}

fn words(place: Place, costs: &Costs) -> String {
    let pair = |[inside, between]: [f64; 2]| format!("{:.3} and {:.3} us", 1e6 * inside, 1e6 * between);
    format!(
        "costs of the simulation, {}, inside a node and between nodes: a message {}, a fetch-and-op {}, an exclusive epoch {} and {:.3} us for each 1000 ranks; \
         an access {:.3} us, {:.0} us between two; a request to the file server {:.0} us",
        place.name(),
        pair(costs.message),
        pair(costs.operation),
        pair(costs.epoch),
        1e9 * costs.per_byte,
        1e6 * costs.access,
        1e6 * costs.between,
        1e6 * (2.0 * costs.server.0 + costs.server.1)
    )
}

/// What a lock does with so many ranks; nothing for one that is not simulated.
fn found(way: Engine, ranks: usize, costs: Costs) -> Option<Found> {
    Some(match way {
        Engine::Io(Way::Hybrid) => World::run(&mut Hybrid::new(ranks), ranks, costs),
        Engine::Io(Way::Queue) => World::run(&mut Queues::of_all(ranks), ranks, costs),
        Engine::Io(Way::Tree) => World::run(&mut Queues::tree(ranks, BOUND), ranks, costs),
        Engine::Io(Way::FileServer) => World::run(&mut Server::new(ranks, false), ranks, costs),
        Engine::Io(Way::FilePolling) => World::run(&mut Server::new(ranks, true), ranks, costs),
        _ => return None,
    })
}

fn simulate(run: &mut Run, place: Place, costs: Costs) {
    for way in Way::ALL.into_iter().map(Engine::Io) {
        for ranks in (1..=POWER_MAX).map(|power| 1_u32 << power) {
            // Where clients ask more often than a server can answer, nobody gets on.
            let found = found(way, ranks as usize, costs).filter(|found| found.waiting_s > 0.0);
            let Some(found) = found else { continue };
            let mut add = |figure, value, unit| {
                run.add_value(figure, way, place, (ranks, BYTES), unit, Sample { value, best: value });
            };
            add(THROUGHPUT, 1e-3 * found.per_second, "thousand/s");
            add(WAITING, 1e6 * found.waiting_s, "us");
            add(LONGEST, 1e6 * found.longest_s, "us");
        }
    }
}

/// What follows for the paper's question, from what was simulated.
pub fn answer(run: &Run, place: Place) -> Option<String> {
    let of = |way, ranks| run.value(THROUGHPUT, Engine::Io(way), place, (ranks, BYTES));
    let most = 1 << POWER_MAX;
    let (queue, tree, hybrid) = (of(Way::Queue, most)?, of(Way::Tree, most)?, of(Way::Hybrid, most)?);
    let server = of(Way::FileServer, most)?;
    let powers = || (1..=POWER_MAX).map(|power| 1_u32 << power);
    let behind =
        powers().find(|&ranks| of(Way::Hybrid, ranks) < of(Way::Queue, ranks).map(|queue| queue / 2.0));
    let behind = match behind {
        Some(ranks) => format!(
            "less than half of what the queue does from {ranks} ranks on, and {:.3} of it at {most}",
            hybrid / queue
        ),
        None => format!("at {most} ranks still {:.2} of what the queue does", hybrid / queue),
    };
    Some(format!(
        "{}: the list of bytes does {behind}, since each of its epochs moves a byte for each rank and holds the home; the queue's hand-over is one message at any \
         number of ranks; the tree does {:.1} x what the queue does at {most}, since up to {BOUND} hand-overs in a row stay inside a node; a file server's locks \
         do {:.4} of the queue.",
        place.name(),
        tree / queue,
        server / queue
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs {
        message: [0.1e-6, 1.5e-6],
        operation: [0.1e-6, 2.5e-6],
        epoch: [0.3e-6, 5e-6],
        per_byte: 0.1e-9,
        access: 1e-6,
        between: BETWEEN_S,
        server: SERVER_S,
    };

    fn rate(way: Way, ranks: usize) -> f64 {
        found(Engine::Io(way), ranks, COSTS).expect("it is simulated").per_second
    }

    #[test]
    fn one_at_a_time_and_everybody_has_its_turn() {
        // That there is one at a time is asserted in the world.
        for way in [Way::Hybrid, Way::Queue, Way::Tree, Way::FileServer, Way::FilePolling] {
            for ranks in [2, 3, 7, 33, 200] {
                let found = found(Engine::Io(way), ranks, COSTS).expect("it is simulated");
                assert!(found.per_second > 0.0 && found.per_second <= 1.0 / COSTS.access, "{way:?} {ranks}");
                let is_fair = found.longest_s < 20.0 * found.waiting_s;
                assert!(way == Way::FilePolling || ranks < 7 || is_fair, "{way:?} {ranks}: {found:?}");
            }
        }
    }

    #[test]
    fn a_queue_of_many_costs_a_message_for_each_access() {
        let expected = 1.0 / (COSTS.access + COSTS.message[1]);
        let rate = rate(Way::Queue, 2048);
        assert!((rate / expected - 1.0).abs() < 0.05, "{rate} {expected}");
    }

    #[test]
    fn a_tree_stays_inside_nodes_and_a_list_of_bytes_grows() {
        assert!(rate(Way::Tree, 2048) > 1.5 * rate(Way::Queue, 2048));
        assert!(rate(Way::Hybrid, 4096) < 0.7 * rate(Way::Hybrid, 64));
        assert!(rate(Way::Hybrid, 4096) < rate(Way::Queue, 4096));
    }

    #[test]
    fn a_server_is_asked_twice_for_each_access() {
        let rate = rate(Way::FileServer, 64);
        assert!((rate * 2.0 * SERVER_S.1 - 1.0).abs() < 0.05, "{rate}");
        assert!(self::rate(Way::FilePolling, 64) < rate);
    }
}
