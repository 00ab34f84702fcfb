//! The tests over several hosts, part by part: each says what its beds are like, and what its cases are.

mod anomalies;
mod attacks;
mod basics;
mod headline;
mod ipc;
mod mpi4py;
mod pauses;
mod programs;
mod rootless;
mod slurm;

use super::bed::Options;
use super::runner::{Arguments, Case};
use anyhow::Result;

/// A part of the tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Part {
    /// C, Python and Octave from h0 over h1 to h3, with only port 22 open.
    Headline,
    /// Launching: host lists, environment, exit codes, output.
    Hosts,
    /// The C programs of tests/, each way of transfer.
    Programs,
    /// Programs whose processes are stopped for moments, at random.
    Pauses,
    /// A part of mpi4py's suite, each way of transfer.
    Mpi4py,
    /// Agents and hosts that die, stop, or cannot be reached, and full disks.
    Anomalies,
    /// System V IPC over hosts.
    Ipc,
    /// A bed without the rights of root.
    Rootless,
    /// `srun` without PMI, and the launcher in an allocation of Slurm.
    Slurm,
}

/// What continuous integration runs.
pub const DEFAULT: &[Part] = &[
    Part::Headline,
    Part::Hosts,
    Part::Programs,
    Part::Pauses,
    Part::Mpi4py,
    Part::Anomalies,
    Part::Ipc,
    Part::Rootless,
    Part::Slurm,
];

impl Part {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Headline => "headline",
            Self::Hosts => "hosts",
            Self::Programs => "programs",
            Self::Pauses => "pauses",
            Self::Mpi4py => "mpi4py",
            Self::Anomalies => "anomalies",
            Self::Ipc => "ipc",
            Self::Rootless => "rootless",
            Self::Slurm => "slurm",
        }
    }

    /// Beds, each with its cases.
    pub fn plans(self, arguments: &Arguments) -> Result<Vec<(Options, Vec<Case>)>> {
        match self {
            Self::Headline => headline::plan(arguments).map(|plan| vec![plan]),
            Self::Hosts => Ok(vec![basics::plan(arguments)]),
            Self::Programs => programs::plans(arguments),
            Self::Pauses => pauses::plan(arguments).map(|plan| vec![plan]),
            Self::Mpi4py => mpi4py::plan(arguments).map(|plan| vec![plan]),
            Self::Anomalies => anomalies::plans(arguments),
            Self::Ipc => ipc::plan(arguments).map(|plan| vec![plan]),
            Self::Rootless => rootless::plan(arguments).map(|plan| vec![plan]),
            Self::Slurm => slurm::plan(arguments).map(|plan| vec![plan]),
        }
    }
}
