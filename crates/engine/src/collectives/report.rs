//! Which algorithms collectives have used, for whoever asks (`POSTRIDER_REPORT=collectives`).
//!
//! Calls are counted by collective, algorithm, size and hosts of the communicator, and length; process 0 of the job prints its
//! counts when it finalizes. Inter-communicators have one algorithm for each collective and are not counted. Without the
//! setting nothing is stored.

use std::collections::BTreeMap;
use std::fmt::Write;

algorithms! {
    /// What is reported.
    {
        /// The algorithms that collectives have used.
        Collectives = "collectives",
    }
}

/// A call as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Used {
    /// The function.
    pub collective: &'static str,
    /// The algorithm's name in settings.
    pub algorithm: &'static str,
    /// Number of processes of the communicator.
    pub processes: u32,
    /// Number of its hosts.
    pub hosts: u32,
    /// The upper end of the class of lengths.
    up_to: i64,
}

/// The upper ends of the classes of lengths.
const CLASSES: [(i64, &str); 7] = [
    (0, "0"),
    (64, "up to 64 B"),
    (1 << 10, "up to 1 KiB"),
    (16 << 10, "up to 16 KiB"),
    (256 << 10, "up to 256 KiB"),
    (4 << 20, "up to 4 MiB"),
    (i64::MAX, "more"),
];

impl Used {
    /// A call with data of `bytes`.
    pub fn new(
        collective: &'static str,
        algorithm: &'static str,
        (processes, hosts): (u32, u32),
        bytes: i64,
    ) -> Self {
        let up_to = CLASSES.iter().map(|(end, _)| *end).find(|end| bytes <= *end).unwrap_or(i64::MAX);
        Self { collective, algorithm, processes, hosts, up_to }
    }
}

/// The calls of a process.
#[derive(Debug, Default)]
pub(crate) struct Report(BTreeMap<Used, u64>);

impl Report {
    /// Counts a call.
    pub fn count(&mut self, used: Used) {
        *self.0.entry(used).or_default() += 1;
    }

    /// The counts as a table.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{:<26} {:<22} {:>9} {:>6}  {:<14} {:>9}\n",
            "collective", "algorithm", "processes", "hosts", "bytes", "calls"
        );
        for (used, calls) in &self.0 {
            let Used { collective, algorithm, processes, hosts, up_to } = used;
            let class = CLASSES.iter().find(|(end, _)| end == up_to).map_or("", |(_, name)| *name);
            let _ = writeln!(
                text,
                "{collective:<26} {algorithm:<22} {processes:>9} {hosts:>6}  {class:<14} {calls:>9}"
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_kind_are_one_line() {
        let mut report = Report::default();
        for bytes in [3, 64, 65, 1 << 40] {
            report.count(Used::new("MPI_Bcast", "node-aware", (8, 2), bytes));
        }
        report.count(Used::new("MPI_Barrier", "tree", (4, 1), 0));
        let table = report.table();
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[1], ["MPI_Barrier", "tree", "4", "1", "0", "1"]);
        assert_eq!(lines[2], ["MPI_Bcast", "node-aware", "8", "2", "up", "to", "64", "B", "2"]);
        assert_eq!(lines[4], ["MPI_Bcast", "node-aware", "8", "2", "more", "1"]);
    }
}
