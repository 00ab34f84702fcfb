//! `docs/BENCHMARKS.md`, written from the results of one session, and what all pages of benchmarks have in common.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::record::Run;
use super::summary;
use super::table::{self, Table};
use super::targets::{self, Target};

const METHOD: &str = "\
Other pages: [between hosts](BENCHMARKS_HOSTS.md), [Octave beside C and Python](BENCHMARKS_OCTAVE.md), [files](BENCHMARKS_FILES.md),
[calls made asynchronous](BENCHMARKS_OVERLAP.md), [System V IPC](BENCHMARKS_IPC.md).

Written by `cargo xtask bench --report DIR`; edit the program, not this page.

The programs are the C sources in `bench/src`. One binary against the standard ABI runs on Postrider and on MPICH; the
same sources are compiled a second time for Open MPI, whose ABI is its own. MPICH and Open MPI are the PyPI wheels. For
every task the engines run in turn, as often as the repetitions say; each program adapts its iterations to a time budget
and reports the median of its batches. Over the repetitions the median stands here, and where every rank has a core the best: which two
cores of a virtual machine are near each other changes from second to second, by a factor of three, and falls to one engine or to the other.
*latency*, collectives and operations on windows have three turns of a third of the time in each repetition for that reason, where there are
two ranks. Times of several ranks are those of the slowest.

- *latency* is half a round trip; with more than two ranks, pairs exchange messages at the same time.
- *bandwidth* and *bidirectional* have a window of up to 64 messages and at most 16 MiB, or one message, under way. MB is 10^6
  bytes.
- *bcast*, *gather*, *scatter* and *reduce* move their root on by one rank with every call, and *scan* and *exscan* turn the ranks
  round, so that calls do not overlap. The size is that of the message, of the vector (sums of doubles), or of the block of one rank; the
  heads of columns are ranks x size.
- Operations on windows go from rank 0 to the last rank, with their flush or what else completes them; the window is allocated, or
  created over memory of the program where the name says so. Where it is allocated, they wait for nobody, so that no library is
  slow in them when ranks share cores; only fences, and post, start, complete and wait are.
- *overlap* says how much of the time of a nonblocking operation is hidden behind as much work of the program, in per cent: 100 is all. With *isend*
  and *irecv* the other rank waits in a blocking call; elsewhere both compute.
- *ratio* is Postrider's time divided by that of the better of MPICH and Open MPI, for times and rates alike: below 1,
  Postrider is faster.
- *floors* have no MPI: a word through a shared ring with spinning and a futex (ring), pairs that sleep on a futex at once
  (futex), one copy inside a process (memcpy) and from another process (readv), the system calls of a message in a file (file),
  and cp.
";

/// Writes a page. Each kind of session has one of its own.
pub fn write(root: &Path, page: &str, text: &str) -> Result<()> {
    let path = root.join(page);
    std::fs::write(&path, text.trim_end().to_owned() + "\n")?;
    eprintln!("bench: wrote {}", path.display());
    Ok(())
}

/// The page about one host; `directory` holds the pictures.
pub fn markdown(run: &Run, directory: &Path, root: &Path) -> String {
    let cores = run.machine.cores;
    let mut page =
        format!("# Benchmarks\n\nPostrider beside MPICH and Open MPI, on a machine with {cores} cores:\n\n");
    page.push_str(&summary::markdown(run));
    if directory.join(summary::PICTURE).exists() {
        let _ = writeln!(page, "\n![summary](../{}/{})", shown(directory, root), summary::PICTURE);
    }
    let page = format!("{page}\n## How it is measured\n\n{METHOD}");
    part(page, run, targets::targets(run), directory, root)
}

/// A page that begins like this: its session, targets, pictures and tables.
pub fn part(mut page: String, run: &Run, targets: Vec<Target>, directory: &Path, root: &Path) -> String {
    write_session(&mut page, run);
    write_targets(&mut page, targets);
    write_failures(&mut page, run);
    write_pictures(&mut page, directory, root);
    page.push_str("\n## Tables\n");
    for table in table::tables(run) {
        write_table(&mut page, &table);
    }
    page
}

// Writing to a String cannot fail, so the results of write! are dropped on this page.

/// When and where it was measured.
fn write_session(page: &mut String, run: &Run) {
    let machine = &run.machine;
    let kind = if run.quick { "quick session" } else { "full session" };
    let _ = writeln!(page, "\n## Session\n");
    let _ = writeln!(page, "- {}, {kind}, commit `{}`", run.date, run.commit);
    let _ = writeln!(
        page,
        "- {} cores of {}, {:.0} GiB, Linux {}, temporary files on {}",
        machine.cores, machine.cpu, machine.memory_gib, machine.kernel, machine.tmpdir_file_system
    );
    let _ = writeln!(
        page,
        "- load before the session {}, at its end {}",
        machine.load_at_start, machine.load_at_end
    );
    let _ = writeln!(page, "- {} repetitions, {} ms for each size", run.repetitions, run.budget_ms);
    for note in &run.notes {
        let _ = writeln!(page, "- {note}");
    }
    for (engine, version) in &run.versions {
        let _ = writeln!(page, "- {engine}: {}", version.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

/// The targets with what was found.
fn write_targets(page: &mut String, targets: Vec<Target>) {
    let reached = targets.iter().filter(|target| target.is_reached() == Some(true)).count();
    let _ = writeln!(page, "\n## Targets\n\n{reached} of {} are reached.\n", targets.len());
    let _ = writeln!(page, "| target | found | result |\n|---|---|---|");
    for target in targets {
        let _ = writeln!(page, "| {} | {} | {} |", target.what, target.found, target.verdict());
    }
}

/// What could not be measured, and why.
fn write_failures(page: &mut String, run: &Run) {
    if run.failures.is_empty() {
        return;
    }
    let _ = writeln!(page, "\n## Runs without a result\n");
    for failure in &run.failures {
        let reason: String = failure.reason.chars().take(200).collect();
        let (figure, ranks, engine) = (&failure.figure, failure.ranks, failure.engine.name());
        let _ = writeln!(page, "- {figure}, {ranks} ranks, {engine} {}: {reason}", failure.place.name());
    }
}

/// A directory as seen from the root.
fn shown(directory: &Path, root: &Path) -> String {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.into());
    absolute.strip_prefix(root).unwrap_or(directory).display().to_string()
}

/// The pictures in `directory`, but for that of the summary.
fn write_pictures(page: &mut String, directory: &Path, root: &Path) {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".png") && name != summary::PICTURE)
        .collect();
    names.sort();
    let shown = shown(directory, root);
    let _ = writeln!(page, "\n## Pictures\n");
    for name in names {
        let _ = writeln!(page, "![{}](../{shown}/{name})", name.trim_end_matches(".png"));
    }
}

/// One table.
fn write_table(page: &mut String, table: &Table) {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let _ = writeln!(page, "\n### {}\n\n{}", table.title, line(&table.header));
    let _ = writeln!(page, "|{}", "---:|".repeat(table.header.len()));
    for row in &table.rows {
        let _ = writeln!(page, "{}", line(row));
    }
}
