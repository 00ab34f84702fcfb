//! `docs/BENCHMARKS_HOSTS.md`, written from the results of one session between hosts.

use std::path::Path;

use super::super::record::Run;
use super::super::report::part;
use super::targets;

const METHOD: &str = "\
Written by `cargo xtask bench hosts --report DIR`; edit the program, not this page.

The paper is \"File-based messaging with a local file system\"; its figures 7 to 10 are measured here on one machine. Two hosts are those of a bed
(`tests/hosts`): namespaces with an sshd each, joined by a virtual network, so that a message between them costs what ssh and TCP cost and
no wire. The ways of messages:

| | inside a host | between hosts |
|---|---|---|
| *postrider* | shared memory | one connection of ssh that stays |
| *postrider-file* | local files | files, over the same connection: the paper's local file system, without scp |
| *postrider-scp* | local files | one scp for each message and one for its lock file: the paper's local file system |
| *postrider-central* | files in a directory that all hosts see | the same files |
| *postrider-central-slow* | the same on a slow file system | the paper's central file system |
| *mpich* | shared memory | TCP, with all ports open |
| *floor* | | a bare `ssh host program`, whose two ends a C program holds |

- *latency* is half a round trip, and *bandwidth* is that of a window of up to 64 messages and at most 16 MiB, or one message; four messages where
  each takes long, which are scp and the slow file system. There three messages, or windows, of each size are measured, elsewhere as
  many as the time for each size allows, and the median is shown. MB is 10^6 bytes. Between two hosts *floor* and *postrider* run by turns,
  three times as often as the rest, since the speed of a remote shell is not the same from one minute to the next.
- *broadcast* is the time from the root's call to the end of the last one. Nodes of 32 ranks share this machine: each has an agent
  and directories of its own, and pipes link the agents. 2048 processes so share few cores, which costs time that as many
  nodes would not need. Through the central directories the broadcast is the one of the paper, from the root to everybody (`POSTRIDER_BCAST=flat`); the
  others know the nodes.
- *broadcast-simulated* is not measured: the same schedules run against a clock, with costs that stand below, and a core for each
  process.
- *aggregation* is MPI_Gather at rank 0 of an array that is distributed in equal blocks; size is that of the array, and
  through the central directories each rank sends to the root (`POSTRIDER_GATHER=linear`).
- *startup* is the time from the launcher's start to its end: of a C program that only initialises MPI in nodes of 32, and,
  as startup-true, of `true` on two hosts.
";

/// The part; `directory` holds the pictures.
pub fn markdown(run: &Run, directory: &Path, root: &Path) -> String {
    part(format!("# Between hosts\n\n{METHOD}"), run, targets::targets(run), directory, root)
}
