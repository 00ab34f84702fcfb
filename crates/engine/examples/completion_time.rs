//! Says how long a collective would take on more hosts than there are, by a simulation of its own schedules.
//!
//! `completion_time BCAST node-aware 131072 64 1024 2e-7,1e-7,2e-10 4e-5,5e-6,3e-9 1e-10 [1e-6]` prints seconds, or says what is
//! wrong. The arguments: the collective and its algorithm, both by the names of settings; the number of processes, and how many
//! of them each host has; the bytes; latency, time per message and time per byte inside a host; the same between hosts; the time to
//! copy a byte; and, where one message goes to several processes of a host, the time for each further one. All times are seconds.

use std::process::ExitCode;

use postrider_engine::collectives::cost::{Costs, Family, Way, completion_time};
use postrider_os::hosts::Placement;

fn way(text: &str) -> Option<Way> {
    let numbers: Vec<f64> = text.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [latency, per_message, per_byte] = numbers[..] else { return None };
    Some(Way { latency, per_message, per_byte })
}

fn seconds(arguments: &[String]) -> Option<f64> {
    let (first, link) = arguments.split_at_checked(8)?;
    let [family, algorithm, ranks, ranks_per_host, bytes, inside, between, copying] = first else {
        return None;
    };
    let ranks = ranks.parse().ok().filter(|ranks| *ranks > 0)?;
    let placement = Placement::blocks(ranks, ranks_per_host.parse().ok()?);
    let costs = Costs {
        inside: way(inside)?,
        between: way(between)?,
        per_local_byte: copying.parse().ok()?,
        per_link: match link {
            [] => None,
            [seconds, ..] => Some(seconds.parse().ok()?),
        },
    };
    completion_time(Family::named(family)?, algorithm, &placement, bytes.parse().ok()?, &costs)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match seconds(&arguments) {
        Some(seconds) => {
            println!("{seconds:e}");
            ExitCode::SUCCESS
        }
        None => {
            let families: Vec<&str> = Family::ALL.iter().map(|(name, _)| *name).collect();
            eprintln!(
                "usage: completion_time COLLECTIVE ALGORITHM RANKS RANKS_PER_HOST BYTES INSIDE BETWEEN COPYING [LINK]\n\
                 INSIDE and BETWEEN are LATENCY,PER_MESSAGE,PER_BYTE in seconds; COLLECTIVE is one of: {}",
                families.join(", ")
            );
            ExitCode::FAILURE
        }
    }
}
