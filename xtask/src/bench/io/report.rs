//! `docs/BENCHMARKS_FILES.md`, about files, written from the results of one session.

use std::fmt::Write as _;
use std::path::Path;

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::report::part;
use super::super::table::number;
use super::figures::PLACES;
use super::simulation::{NETWORKS, answer};
use super::targets::{self, ARRAYS, MODES, better};

const METHOD: &str = "\
## How files are measured

Written by `cargo xtask bench io --report DIR`; edit the program, not this page.

The paper is \"Implementing MPI-IO atomic mode and shared file pointers using MPI one-sided communication\"; its figures 8, 9 and 10 are measured here on
one machine. One binary runs on Postrider, on MPICH with its own I/O, which is ROMIO, and on MPICH with ours; Open MPI's I/O is OMPIO.

| | locks of atomic mode | shared pointer |
|---|---|---|
| *postrider* | what it chooses | as it comes |
| *postrider-hybrid* | the paper's: bytes in a window, a message to wake | the paper's, also for ordered calls |
| *postrider-queue* | a queue whose holder hands the lock over | as it comes |
| *postrider-tree* | a queue in each node, and one of nodes | as it comes |
| *postrider-shared* | shared and exclusive | as it comes |
| *postrider-ranges* | exactly the bytes of each access | as it comes |
| *mpich* | ROMIO: `fcntl` | a hidden file with `fcntl` |
| *openmpi* | OMPIO: `fcntl` | shared memory, or a hidden file |
| *mpich-postrider* | `libpostrider_io.so` on MPICH | the same |

Files are in memory (`/dev/shm`), on the disk (ext4), and on a slow file system, `postrider-slowfs`, at which each request waits and all pass one
queue, with locks and without. Files are opened with `MPI_MODE_UNIQUE_OPEN`: nobody else has them. Every program checks what is in the file, by the system's own calls, and every reader what it has read. In a table
*fails* stands where a program was ended, by the library or since it found an error, *wrong* where contents were not right, and *too slow* where it was given
up after 12 s; the reasons stand above the tables. What fails is not tried again with more ranks.

- A round begins when all ranks are there, and what is shown is the mean of the ranks' own times, as in the paper, and of the rounds the median. Rank 0 has all
  files made and checked, before and after. The slow file system has forgotten what was written before it is read; elsewhere that is still in memory.
- *atomic-contiguous* and *atomic-noncontiguous*: rank 0 writes, all others read the same ints, side by side or every other one, and find all old ones or
  all new ones (figure 8).
- *disjoint-atomic* and *disjoint-plain*: each rank writes blocks of 4 KiB, one of 1 KiB where files are slow, through a view of its own, in atomic mode and without it, in turn.
- *shared* and *ordered*: four records of each rank through the shared pointer, each call for itself (figure 9) or together (figure 10); time of one.
- *darray*: a matrix in blocks of 16 x 16 numbers, dealt out cyclically; *subarray*: boxes of a cube; *tiled*: tiles of a picture that overlap by 16 points;
  *strided* and *pieces*: 64 B of each rank in turn. Names with *all* are collective. The size is that of one rank's part.
- *lock-uncontended* is what atomic mode adds to writing 8 B, when one rank writes and the others wait in a barrier: the difference of *lock-write-atomic* and
  *lock-write-plain*. Beside it *lock-fetch-and-op* of the same engine. *contended*: all ranks write the same 8 B for a while: accesses of all, and those of the rank
  that has the fewest by those of the rank that has the most.
- *simulated-throughput*, *-waiting* and *-longest-waiting* are not measured: ranks in nodes of 32 compute for 10 us on average, want the lock, write 8 B and give it back,
  against a clock. Costs stand below: those of nodes linked by pipes were measured on this machine; those of a fast network are stated. *file-server* grants locks
  one after the other, *file-polling* is asked again after pauses that double up to 1 s; both have the slow file system's times.
";

/// The part; `directory` holds the pictures.
pub fn markdown(run: &Run, directory: &Path, root: &Path) -> String {
    let mut page = String::from("# Files\n\nPostrider's files beside ROMIO and OMPIO:\n\n");
    for place in PLACES.into_iter().chain([Place::TmpfsBusy]) {
        for (words, names) in [("Atomic mode and shared pointers", &MODES[..]), ("Arrays", &ARRAYS[..])] {
            if let Some(line) = share(run, words, names, place) {
                let _ = writeln!(page, "- {line}");
            }
        }
    }
    for line in NETWORKS.into_iter().filter_map(|place| answer(run, place)) {
        let _ = writeln!(page, "- A lock for thousands of ranks, {line}");
    }
    let _ = write!(page, "\n{METHOD}");
    part(page, run, targets::targets(run), directory, root)
}

/// In how many cases Postrider is at least as fast as each other, and in how many they have no result.
fn share(run: &Run, what: &str, names: &[&str], place: Place) -> Option<String> {
    let ours = run.cells.iter().filter(|cell| {
        cell.engine == Engine::Postrider && cell.place == place && names.contains(&cell.figure.as_str())
    });
    let ratios: Vec<Option<f64>> = ours
        .map(|cell| Some(cell.value / better(run, &cell.figure, place, (cell.ranks, cell.bytes))?))
        .collect();
    let mut measured: Vec<f64> = ratios.iter().copied().flatten().collect();
    measured.sort_by(f64::total_cmp);
    let faster = measured.iter().filter(|ratio| **ratio <= 1.0).count();
    let (all, alone) = (ratios.len(), ratios.len() - measured.len());
    let worst = measured.last().copied();
    let mut line = format!("{what}, {}: ", place.name());
    if all == 0 {
        return None;
    }
    if let Some(worst) = worst {
        let cases = measured.len();
        let (best, worst) = (number(measured.first().copied()), number(Some(worst)));
        let _ = write!(
            line,
            "in {faster} of {cases} cases no slower than the better of them; {best} to {worst} x its time"
        );
    }
    if alone > 0 {
        let comma = if worst.is_some() { "; " } else { "" };
        let _ = write!(line, "{comma}in {alone} cases neither of them has a result");
    }
    Some(line + ".")
}
