//! What a session says in plain words: the lines and the picture with which its page begins.

use std::fmt::Write as _;

use super::engines::{Engine, Place};
use super::figures::{COLLECTIVES, ONE_SIDED};
use super::record::Run;
use super::table::{number, size};

/// The picture that `bench/plot.py` draws for it.
pub const PICTURE: &str = "summary.png";

/// A line for each question that was measured; in each the other engines stand beside ours.
pub fn lines(run: &Run) -> Vec<String> {
    let lines = [
        time(run, "A message of 1 B from core to core", "latency", (2, 1), "us"),
        time(run, "One of 64 KiB", "latency", (2, 64 << 10), "us"),
        time(run, "One of 4 MiB", "latency", (2, 4 << 20), "us"),
        share(run, "Collective operations", &COLLECTIVES, 2),
        share(run, "Operations on windows", &ONE_SIDED, 2),
        time(run, &format!("A barrier of 8 ranks on {} cores", run.machine.cores), "barrier", (8, 0), "us"),
        share(run, "Collective operations", &COLLECTIVES, 8),
        files(run),
        octave(run),
        time(run, "From start to end of a program that does nothing, on 2 ranks", "startup", (2, 0), "ms"),
    ];
    lines.into_iter().flatten().collect()
}

/// The lines as a list.
pub fn markdown(run: &Run) -> String {
    let mut text = String::new();
    for line in lines(run) {
        let _ = writeln!(text, "- {line}");
    }
    text
}

/// How long something takes with each engine.
fn time(run: &Run, what: &str, figure: &str, key: (u32, u64), unit: &str) -> Option<String> {
    let of = |engine| run.value(figure, engine, Place::Usual, key);
    let with = |engine, name| of(engine).map(|time| format!("{} {unit} with {name}", number(Some(time))));
    let others: Vec<String> =
        [with(Engine::Mpich, "MPICH"), with(Engine::Openmpi, "Open MPI")].into_iter().flatten().collect();
    let ours = number(Some(of(Engine::Postrider)?));
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    Some(format!("{what}: {ours} {unit}{others}."))
}

/// In how many operations and sizes Postrider is at least as fast as each other, and where it is furthest behind.
fn share(run: &Run, what: &str, names: &[&str], ranks: u32) -> Option<String> {
    let ours = run.cells.iter().filter(|cell| {
        cell.engine == Engine::Postrider
            && cell.place == Place::Usual
            && cell.ranks == ranks
            && names.contains(&cell.figure.as_str())
    });
    let ratios: Vec<(f64, String)> = ours
        .filter_map(|cell| {
            let other = |engine| run.value(&cell.figure, engine, Place::Usual, (ranks, cell.bytes));
            let better = [Engine::Mpich, Engine::Openmpi].into_iter().filter_map(other).reduce(f64::min)?;
            Some((cell.value / better, format!("{} of {}", cell.figure, size(cell.bytes))))
        })
        .collect();
    let (worst, place) = ratios.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let faster = ratios.iter().filter(|(ratio, _)| *ratio <= 1.0).count();
    let mut text = format!(
        "{what} on {ranks} ranks: in {faster} of {} cases as fast as the better of MPICH and Open MPI, or faster",
        ratios.len()
    );
    if *worst > 1.0 {
        let _ = write!(text, "; furthest behind in {place}, with {} x its time", number(Some(*worst)));
    }
    Some(text + ".")
}

fn files(run: &Run) -> Option<String> {
    let of = |place| run.value("latency", Engine::PostriderFile, place, (2, 16));
    let (tmpfs, tmpdir) = (of(Place::Tmpfs)?, of(Place::Tmpdir)?);
    Some(format!(
        "A message of 16 B as a file: {} us in memory (tmpfs), {} us in the directory for temporary files.",
        number(Some(tmpfs)),
        number(Some(tmpdir))
    ))
}

fn octave(run: &Run) -> Option<String> {
    let time = run.value("octave", Engine::Postrider, Place::Usual, (2, 16))?;
    Some(format!("A message of 16 B from Octave to Octave: {} us.", number(Some(time))))
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::session;
    use super::*;

    #[test]
    fn lines_stand_for_what_was_measured_only() {
        let run = session(&[
            ("latency", Engine::Postrider, 2, 1, "us", 0.2),
            ("latency", Engine::Mpich, 2, 1, "us", 0.3),
            ("bcast", Engine::Postrider, 2, 8, "us", 1.0),
            ("bcast", Engine::Mpich, 2, 8, "us", 2.0),
            ("bcast", Engine::Postrider, 2, 64, "us", 3.0),
            ("bcast", Engine::Openmpi, 2, 64, "us", 2.0),
        ]);
        let expected = [
            "A message of 1 B from core to core: 0.200 us; 0.300 us with MPICH.",
            "Collective operations on 2 ranks: in 1 of 2 cases as fast as the better of MPICH and Open MPI, or faster; \
             furthest behind in bcast of 64 B, with 1.50 x its time.",
        ];
        assert_eq!(lines(&run), expected);
    }
}
