//! `docs/BENCHMARKS_OCTAVE.md`, about the front ends, written from the results of one session.

use std::path::Path;

use super::super::record::Run;
use super::super::report::part;
use super::targets;

const METHOD: &str = "\
Written by `cargo xtask bench octave --report DIR`; edit the program, not this page.

The paper is \"MPI over scripting languages\"; its figures 1, 2, 3 and 5 and its table 2 are measured here on one machine, with every front end in
turn. Aggregation is that of \"File-based messaging with a local file system\".

| | messages |
|---|---|
| *c* | the standard ABI |
| *python-values*, *python-arrays* | mpi4py, lowercase and uppercase methods |
| *octave-values*, *octave-arrays* | the native package, values of any kind and numeric arrays |
| *octave-mpitb* | MPI-TB's names: buffers that are changed in place |
| *octave-matlabmpi*, *octave-matlabmpi-file* | MatlabMPI's names, through shared memory and through files |
| *octave-pmatlab* | distributed arrays with pMatlab's interface |
| *files-binary*, *files-text* | MatlabMPI's own protocol, written anew in `bench/octave/files`: a file and a lock for each message. Text is Octave's default format |
| *octave-alone* | no messages: as many Octaves, or one that saves to a file |

What is not in the tables did not run; the reasons stand below.

- All but the last two rows run under `postrider run`; files are in memory (`/dev/shm`) unless the head of a table says otherwise, which is the
  best that can happen to them.
- *latency* is half a round trip of a vector of doubles, and bandwidth its size by that time: ping-pong, as in figure 1 of the paper. MB is
  10^6 bytes. Text ends at 4 MiB.
- *bcast* moves its root on by one rank with every call. MatlabMPI's own waits for all receivers, 0.2 s between looks.
- *mandelbrot* has equal work in equal blocks of columns, and includes their way to rank 0. Efficiency is that on the cores that there are.
- *sender-computes* is the time from before a send to when the receiver, which waits, has the value, while the sender computes without a call.
- *strings* is half a round trip of a cell (in Python a list) with 10^5 short strings; size is that of their characters. *strings-save* is the time of
  `save -binary`, *strings-save-load* that of `save` and `load`.
- *startup* is the time from start to end of a program that does nothing; that of *octave-alone* loads the same functions of the bench.
- *aggregation* collects at rank 0 an array that is distributed over as many hosts of a bed, with a rank on each: MPI_Gather in C, `agg` in Octave.
- Table 2: steps are what a user does once on a machine that has the language, up to the first program; lines and names are those of a
  whole small program, which sends a vector round all ranks (`bench/octave/ring`), without comments; bandwidth is the best of all sizes; functions are
  those of the interface, without constants.
";

/// The part; `directory` holds the pictures.
pub fn markdown(run: &Run, directory: &Path, root: &Path) -> String {
    part(format!("# Octave beside C and Python\n\n{METHOD}"), run, targets::targets(run), directory, root)
}
