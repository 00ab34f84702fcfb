//! `docs/BENCHMARKS_OVERLAP.md`, written from the results of one session.

use std::path::Path;

use super::super::record::Run;
use super::super::report::part;
use super::targets;

const METHOD: &str = "\
Written by `cargo xtask bench overlap --report DIR`; edit the program, not this page.

The paper is \"Run-time optimization of sends, receives and file I/O\"; its figures 2 to 6 are measured here on one machine, with its own program,
a solver by successive over-relaxation (`bench/overlap`). Hosts are those of a bed (`tests/hosts`) with a rank on each. Their links
are slow ones, and so is the file system that all of them see. One binary runs on MPICH over TCP and on Postrider over ssh.

| | how calls are carried out |
|---|---|
| *plain* | as they are written: `MPI_Sendrecv`, `read`, `write` |
| *by-hand* | the program is written for it: nonblocking or persistent requests, and `MPI_File_read_all`, `MPI_File_write_all` |
| *by-hand-late* | the same where the program also waits as late as it can |
| *layer* | `libpostrider_overlap.so`, as it chooses |
| *touch*, *last* | always at the first touch, or in the last call of a chain |
| *one-view* | the paper's first method: the pages that data will come to are protected |
| *two-views* | the paper's second: two views of one memory |
| *pre-emptive* | the paper's third: the same, protected before the calls of a chain |

The paper's methods complete at the first touch, and nobody chooses, as in its figures. A manner that does not show that it works is left out.

- *border* (figure 2): four exchanges of rows and columns with four neighbours, and the first touch of what has come; *border-before-work* with 300 us of
  work before the touch, which are not counted, so that nothing is left where all is hidden. Medians of batches; the slowest rank's.
- *root* (figures 3 and 4): rank 0 reads the file and sends the parts (*read*), receives them and writes (*write*, *written*). *rows* (figures 5 and
  6): each rank reads and writes its own rows by a call each; *read-compute* is the paper's figure 5, reading and the first iteration. By hand both
  are collective calls of MPI-IO. As in the paper the layer makes only files asynchronous there. *write* is how long the calls take, *written*
  how long until all ranks have passed a barrier, before which everything is in the file.
- *solver*: 150 iterations with three outputs, messages and files; *-exchange* is a phase of it. *integrity*: the solver that writes its part before
  each half of an iteration, and reads its neighbours' borders from the file, with barriers alone between.
- Every solver computes the same: one whose checksum differs has failed.
- *rows*, *elements*: one rank writes 8 KiB, or 8 B, at a time. *lines*: it prints numbers to a stream, one a line. *checkpoints*: time in the
  calls that write four files by one call each, with 205 ms of work after each, most of which opening them takes; *checkpoint-rows*: the same in rows of 16 KiB. *strided*: 8 KiB of every 24 are read. *read-compute*: rows of 8 KiB with 100 us of work on each, beside *read-compute-bound*, the longer one of
  reading alone and of work alone.
- *n*, the size, is the number of points on a side of a rank's part, and bytes of a rank for the last ones.
";

/// The page; `directory` holds the pictures.
pub fn markdown(run: &Run, directory: &Path, root: &Path) -> String {
    part(format!("# Calls made asynchronous\n\n{METHOD}"), run, targets::targets(run), directory, root)
}
