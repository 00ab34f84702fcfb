//! The table by which the algorithms of collectives are chosen: for each operation its rows, with steps of size.
//!
//! A row is for a place and for so many ranks at most, and the first one that fits is taken: a host with messages in files is also
//! crowded, or has a core for each rank. Its steps say below how many bytes an algorithm is used; the last one is for all others.
//!
//! The rows of [`Where::Crowded`] come from `cargo xtask bench tune`, which measures each algorithm and prints them, with 4, 8 and 16 ranks
//! on two cores; the others come from counts of messages, rounds and bytes. What is longer than was measured is cut into parts, so
//! that no process has all of the work. `docs/ALGORITHMS.md` and control variables show the table as it stands here.
//!
//! A size is that of the message of a broadcast, of the block of one process in gather, scatter and alltoall, of all blocks together in
//! allgather, and of the whole vector in reductions.

use std::fmt::Write;

use super::select::Situation;
use super::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};

/// Where the processes of a communicator are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// On several hosts, with several on some of them. Such a row counts hosts and not ranks.
    Hosts,
    /// On one host, with messages in files.
    Files,
    /// On one host, with more ranks than cores.
    Crowded,
    /// On one host, with a core for each.
    Cores,
    /// Anywhere; where no process is nearer than another, as the leaders of hosts, there is no other row.
    Elsewhere,
}

impl Where {
    /// The word for it.
    const fn name(self) -> &'static str {
        match self {
            Hosts => "hosts",
            Files => "files",
            Crowded => "crowded",
            Cores => "cores",
            Elsewhere => "elsewhere",
        }
    }
}

/// What is used at a place on so many ranks.
#[derive(Debug)]
pub struct Row<A: 'static> {
    place: Where,
    most: u32,
    steps: &'static [(i64, A)],
}

/// The algorithm for `bytes`, among those that are `possible` for this call; each row has one that always is.
pub fn find<A: Copy>(rows: &[Row<A>], situation: &Situation, bytes: i64, possible: impl Fn(A) -> bool) -> A {
    let fits = |row: &&Row<A>| {
        let number = if row.place == Hosts { situation.hosts } else { situation.size };
        situation.is_at(row.place) && number <= row.most
    };
    let mut last = None;
    for &(end, algorithm) in rows.iter().find(fits).map_or(&[][..], |row| row.steps) {
        if possible(algorithm) {
            last = Some(algorithm);
            if bytes < end {
                break;
            }
        }
    }
    last.unwrap_or_else(|| unreachable!("every table has a row for everywhere"))
}

const fn row<A>(place: Where, most: u32, steps: &'static [(i64, A)]) -> Row<A> {
    Row { place, most, steps }
}

/// Bytes without an end.
const ANY: i64 = i64::MAX;
/// Ranks without an end.
const MANY: u32 = u32::MAX;
const KIB: i64 = 1 << 10;
const MIB: i64 = 1 << 20;

use Where::{Cores, Crowded, Elsewhere, Files, Hosts};

/// `MPI_Barrier`.
pub static BARRIER: &[Row<barrier::Algorithm>] = {
    use barrier::Algorithm::{Dissemination, Flat, NodeAware, Tree};
    &[
        row(Hosts, MANY, &[(ANY, NodeAware)]),
        row(Files, 2, &[(ANY, Dissemination)]),
        row(Files, 64, &[(ANY, Flat)]),
        row(Crowded, 5, &[(ANY, Dissemination)]),
        row(Crowded, 64, &[(ANY, Flat)]),
        row(Crowded, MANY, &[(ANY, Tree)]),
        row(Elsewhere, MANY, &[(ANY, Dissemination)]),
    ]
};

/// `MPI_Bcast`. Where the size of the communicator is no power of two, doubling is a ring.
pub static BROADCAST: &[Row<broadcast::Algorithm>] = {
    use broadcast::Algorithm::{Binomial, NodeAware, ScatterDoubling};
    &[
        row(Hosts, MANY, &[(ANY, NodeAware)]),
        row(Crowded, MANY, &[(ANY, Binomial)]),
        row(Elsewhere, 7, &[(ANY, Binomial)]),
        row(Elsewhere, MANY, &[(512 * KIB, Binomial), (ANY, ScatterDoubling)]),
    ]
};

/// `MPI_Gather`.
pub static GATHER: &[Row<gather::Algorithm>] = {
    use gather::Algorithm::{Binomial, Linear, NodeAware, NodeAwareTree};
    &[
        row(Hosts, 15, &[(32 * KIB, NodeAware), (ANY, Linear)]),
        row(Hosts, MANY, &[(2 * KIB, NodeAwareTree), (32 * KIB, NodeAware), (ANY, Linear)]),
        row(Crowded, MANY, &[(ANY, Linear)]),
        row(Elsewhere, 2, &[(ANY, Linear)]),
        row(Elsewhere, MANY, &[(2 * KIB, Binomial), (ANY, Linear)]),
    ]
};

/// `MPI_Scatter`.
pub static SCATTER: &[Row<scatter::Algorithm>] = {
    use scatter::Algorithm::{Binomial, Linear, NodeAware, NodeAwareTree};
    &[
        row(Hosts, 15, &[(32 * KIB, NodeAware), (ANY, Linear)]),
        row(Hosts, MANY, &[(2 * KIB, NodeAwareTree), (32 * KIB, NodeAware), (ANY, Linear)]),
        row(Crowded, MANY, &[(ANY, Linear)]),
        row(Elsewhere, 2, &[(ANY, Linear)]),
        row(Elsewhere, MANY, &[(2 * KIB, Binomial), (ANY, Linear)]),
    ]
};

/// `MPI_Allgather` and `MPI_Allgatherv`.
pub static ALLGATHER: &[Row<allgather::Algorithm>] = {
    use allgather::Algorithm::{Bruck, Flat, NodeAware, Ring, Tree};
    &[
        row(Hosts, MANY, &[(ANY, NodeAware)]),
        row(Crowded, 2, &[(ANY, Ring)]),
        row(Crowded, 11, &[(MIB, Flat), (ANY, Ring)]),
        row(Crowded, 64, &[(512 * KIB, Flat), (4 * MIB, Tree), (ANY, Ring)]),
        row(Crowded, MANY, &[(64 * KIB, Tree), (ANY, Ring)]),
        row(Elsewhere, 2, &[(ANY, Ring)]),
        row(Elsewhere, MANY, &[(64 * KIB, Bruck), (ANY, Ring)]),
    ]
};

/// `MPI_Alltoall`. `MPI_Alltoallv` and `MPI_Alltoallw` are linear, as a process does not know the others' sizes.
pub static ALLTOALL: &[Row<alltoall::Algorithm>] = {
    use alltoall::Algorithm::{Bruck, Linear, NodeAware, Pairwise};
    &[
        row(Hosts, MANY, &[(2 * KIB, NodeAware), (32 * KIB, Linear), (ANY, Pairwise)]),
        row(Files, 7, &[(32 * KIB, Linear), (ANY, Pairwise)]),
        row(Files, MANY, &[(256, Bruck), (32 * KIB, Linear), (ANY, Pairwise)]),
        row(Crowded, 64, &[(ANY, Linear)]),
        row(Elsewhere, 7, &[(32 * KIB, Linear), (ANY, Pairwise)]),
        row(Elsewhere, MANY, &[(256, Bruck), (32 * KIB, Linear), (ANY, Pairwise)]),
    ]
};

/// `MPI_Reduce`.
pub static REDUCE: &[Row<reduce::Algorithm>] = {
    use reduce::Algorithm::{Binomial, Flat, NodeAware, ReduceScatterGather};
    &[
        row(Hosts, MANY, &[(ANY, NodeAware)]),
        row(Crowded, 2, &[(ANY, Binomial)]),
        row(Crowded, 5, &[(2 * MIB, Flat), (ANY, ReduceScatterGather)]),
        row(
            Crowded,
            11,
            &[(8 * KIB, Flat), (32 * KIB, Binomial), (2 * MIB, Flat), (ANY, ReduceScatterGather)],
        ),
        row(Crowded, 16, &[(2 * MIB, Flat), (ANY, ReduceScatterGather)]),
        row(Crowded, 64, &[(256 * KIB, Flat), (2 * MIB, Binomial), (ANY, ReduceScatterGather)]),
        row(Crowded, MANY, &[(256 * KIB, Binomial), (ANY, ReduceScatterGather)]),
        row(Elsewhere, 2, &[(ANY, Binomial)]),
        row(Elsewhere, MANY, &[(16 * KIB, Binomial), (ANY, ReduceScatterGather)]),
    ]
};

/// `MPI_Allreduce`. Where the size of the communicator is no power of two, recursive halving is a ring.
pub static ALLREDUCE: &[Row<allreduce::Algorithm>] = {
    use allreduce::Algorithm::{Flat, NodeAware, RecursiveDoubling, RecursiveHalving, Tree};
    &[
        row(Hosts, MANY, &[(ANY, NodeAware)]),
        row(Crowded, 2, &[(16 * KIB, RecursiveDoubling), (ANY, RecursiveHalving)]),
        row(Crowded, 16, &[(2 * MIB, Flat), (ANY, RecursiveHalving)]),
        row(Crowded, 64, &[(256 * KIB, Flat), (2 * MIB, Tree), (ANY, RecursiveHalving)]),
        row(Crowded, MANY, &[(256 * KIB, Tree), (ANY, RecursiveHalving)]),
        row(Elsewhere, MANY, &[(16 * KIB, RecursiveDoubling), (ANY, RecursiveHalving)]),
    ]
};

/// `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block`.
pub static REDUCE_SCATTER: &[Row<reduce_scatter::Algorithm>] = {
    use reduce_scatter::Algorithm::{Flat, NodeAware, Pairwise, RecursiveDoubling, Tree};
    &[
        row(Hosts, MANY, &[(ANY, NodeAware)]),
        row(Crowded, 2, &[(ANY, Pairwise)]),
        row(Crowded, 5, &[(128 * KIB, Flat), (ANY, Pairwise)]),
        row(Crowded, 11, &[(4 * MIB, Flat), (ANY, Pairwise)]),
        row(Crowded, 64, &[(2 * MIB, Tree), (ANY, Pairwise)]),
        row(Crowded, MANY, &[(256 * KIB, Tree), (ANY, Pairwise)]),
        row(Elsewhere, 2, &[(ANY, Pairwise)]),
        row(Elsewhere, MANY, &[(16 * KIB, RecursiveDoubling), (ANY, Pairwise)]),
    ]
};

/// `MPI_Scan` and `MPI_Exscan`.
pub static SCAN: &[Row<scan::Algorithm>] = {
    use scan::Algorithm::{Chain, Doubling, NodeAware};
    &[
        row(Hosts, MANY, &[(ANY, NodeAware)]),
        row(Crowded, MANY, &[(ANY, Chain)]),
        row(Elsewhere, 2, &[(ANY, Chain)]),
        row(Elsewhere, MANY, &[(ANY, Doubling)]),
    ]
};

/// The rows of an operation as text.
#[derive(Debug)]
pub struct Rows {
    /// The setting that forces an algorithm.
    pub setting: &'static str,
    /// The functions.
    pub functions: &'static str,
    rows: Vec<TextRow>,
}

#[derive(Debug)]
struct TextRow {
    place: Where,
    most: u32,
    steps: Vec<(i64, &'static str)>,
}

impl Rows {
    /// A line for each row: the place, how many ranks at most, and the algorithms, each with the number of bytes that it ends before.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let most = if row.most == MANY { "any".to_owned() } else { row.most.to_string() };
            let step = |(end, name): &(i64, &str)| match *end {
                ANY => (*name).to_owned(),
                end => format!("{name} {end}"),
            };
            let steps: Vec<String> = row.steps.iter().map(step).collect();
            // Writing to a string does not fail.
            let _ = writeln!(text, "{} {most}: {}", row.place.name(), steps.join(", "));
        }
        text
    }
}

/// The operations in the table.
pub const COUNT: usize = 10;

/// The whole table.
#[must_use]
pub fn all() -> [Rows; COUNT] {
    macro_rules! all {
        ($($setting:literal $functions:literal $rows:ident;)+) => {
            [$(Rows {
                setting: $setting,
                functions: $functions,
                rows: $rows
                    .iter()
                    .map(|row| TextRow {
                        place: row.place,
                        most: row.most,
                        steps: row.steps.iter().map(|(end, algorithm)| (*end, algorithm.name())).collect(),
                    })
                    .collect(),
            },)+]
        };
    }
    all! {
        "POSTRIDER_BARRIER" "MPI_Barrier" BARRIER;
        "POSTRIDER_BCAST" "MPI_Bcast" BROADCAST;
        "POSTRIDER_GATHER" "MPI_Gather" GATHER;
        "POSTRIDER_SCATTER" "MPI_Scatter" SCATTER;
        "POSTRIDER_ALLGATHER" "MPI_Allgather, MPI_Allgatherv" ALLGATHER;
        "POSTRIDER_ALLTOALL" "MPI_Alltoall" ALLTOALL;
        "POSTRIDER_REDUCE" "MPI_Reduce" REDUCE;
        "POSTRIDER_ALLREDUCE" "MPI_Allreduce" ALLREDUCE;
        "POSTRIDER_REDUCE_SCATTER" "MPI_Reduce_scatter, MPI_Reduce_scatter_block" REDUCE_SCATTER;
        "POSTRIDER_SCAN" "MPI_Scan, MPI_Exscan" SCAN;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call finds a row wherever it is made, and an algorithm in it.
    #[test]
    fn the_last_row_is_for_everywhere_and_the_last_step_for_any_size() {
        for rows in all() {
            let last = rows.rows.last().map(|row| (row.place, row.most));
            assert_eq!(last, Some((Elsewhere, MANY)), "{}", rows.setting);
            for row in &rows.rows {
                assert!(row.steps.is_sorted_by(|one, other| one.0 < other.0), "{} {row:?}", rows.setting);
                assert_eq!(row.steps.last().map(|step| step.0), Some(ANY), "{} {row:?}", rows.setting);
            }
            let same_place = |pair: &[TextRow]| pair[0].place != pair[1].place || pair[0].most < pair[1].most;
            assert!(rows.rows.windows(2).all(same_place), "{}: no row hides another", rows.setting);
        }
    }

    #[test]
    fn a_step_that_is_not_possible_is_passed_over() {
        let on = Situation::on_one_level;
        let is_whole = |algorithm| algorithm == reduce::Algorithm::Binomial;
        assert_eq!(find(REDUCE, &on(4), 1 << 30, |_| true), reduce::Algorithm::ReduceScatterGather);
        assert_eq!(find(REDUCE, &on(4), 1 << 30, is_whole), reduce::Algorithm::Binomial);
    }

    /// A number of bytes in the unit that makes it short.
    fn size(bytes: i64) -> String {
        match bytes {
            _ if bytes % MIB == 0 => format!("{} MiB", bytes / MIB),
            _ if bytes % KIB == 0 => format!("{} KiB", bytes / KIB),
            _ => format!("{bytes} B"),
        }
    }

    /// What `docs/ALGORITHMS.md` has to say.
    fn document() -> String {
        let mut text = String::from(HEAD);
        for rows in all() {
            let _ = write!(text, "\n## {}\n\n`{}` forces an algorithm.\n\n", rows.functions, rows.setting);
            text.push_str("| where | at most | algorithms |\n|---|---|---|\n");
            for row in &rows.rows {
                let unit = if row.place == Hosts { "hosts" } else { "ranks" };
                let most = if row.most == MANY { "any".to_owned() } else { format!("{} {unit}", row.most) };
                let step = |&(end, name): &(i64, &str)| match end {
                    ANY => format!("`{name}`"),
                    end => format!("`{name}` below {}", size(end)),
                };
                let steps: Vec<String> = row.steps.iter().map(step).collect();
                let _ = writeln!(text, "| {} | {most} | {} |", row.place.name(), steps.join(", "));
            }
        }
        text
    }

    const HEAD: &str = "\
# Algorithms of collectives

Which algorithm is used where, on how many ranks, and for how many bytes. The first row that fits is taken. Tools read the rows of an
operation as control variables (`MPI_T_cvar_read`), named as its setting with `_TABLE` behind; `POSTRIDER_REPORT=collectives` tells which
algorithms a program has used, and [SETTINGS.md](SETTINGS.md) how to force one.

- *hosts*: the communicator spans several hosts, and has several ranks on some of them. Ranks of a host act together then, and
  their leaders use what stands under *elsewhere*.
- *files*: on one host, with messages in files.
- *crowded*: on one host, with more ranks than cores.
- *cores*: on one host, with a core for each rank.
- *elsewhere*: where there is no other row.

The size is that of the message of a broadcast, of the block of one process in gather, scatter and alltoall, of all blocks together in
allgather, and of the whole vector in reductions. A vector of fewer elements than ranks is not cut into parts: the algorithm of shorter ones
is used. `MPI_Gatherv`, `MPI_Scatterv`, `MPI_Alltoallv` and `MPI_Alltoallw` are linear, as no process knows all sizes; collectives on
inter-communicators have one algorithm each. On one host a broadcast, and the results of other collectives, go along a flat tree
wherever the data can be written once for all receivers and that pays ([0017](design/0017-shelves.md)); `POSTRIDER_SPREADING` forces that.

The rows of a crowded host are measured, by `cargo xtask bench tune` with 4, 8 and 16 ranks on two cores, and the others are counted: messages, rounds and bytes ([0012](design/0012-node-aware-collectives.md)).
To measure a machine of another kind, run it there: it prints the rows of `crates/engine/src/collectives/table.rs`.
";

    #[test]
    fn the_documentation_is_the_table() {
        assert_eq!(
            include_str!("../../../../docs/ALGORITHMS.md"),
            document(),
            "write this to docs/ALGORITHMS.md"
        );
    }
}
