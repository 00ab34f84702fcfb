//! Tables: one for each quantity, a row for each number of ranks and size, a column for each engine, and the ratio.
//!
//! The ratio is Postrider's time divided by that of the better of MPICH and Open MPI, whether the quantity is a time or
//! a rate: below 1, Postrider is faster (or, for memory, smaller). The table on the terminal and the one in the
//! documentation are the same rows.

use std::io::IsTerminal;

use clap::ValueEnum;

use super::engines::{Engine, Place};
use super::io::Way;
use super::ipc::{self, Means};
use super::octave::{self, Front};
use super::overlap::{self, Manner};
use super::overview;
use super::record::{Cell, Failure, Run};
use super::targets::Target;

/// Everything measured of one quantity.
pub struct Table {
    /// What, in which unit and where.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows, as text.
    pub rows: Vec<Vec<String>>,
    /// The ratio of each row where there is one.
    pub ratios: Vec<Option<f64>>,
}

const ENGINES: [Engine; 8] = [
    Engine::Postrider,
    Engine::PostriderFile,
    Engine::PostriderScp,
    Engine::PostriderCentral,
    Engine::PostriderCentralSlow,
    Engine::Mpich,
    Engine::Openmpi,
    Engine::Floor,
];

/// All columns that a table can have, in their order.
fn columns() -> impl Iterator<Item = Engine> {
    let ways = Way::ALL.into_iter().map(Engine::Io);
    let fronts = Front::value_variants().iter().copied().map(Engine::Front);
    let manners = Manner::value_variants().iter().copied().map(Engine::Overlap);
    let means = Means::value_variants().iter().copied().map(Engine::Ipc);
    means.chain(ENGINES).chain(ways).chain(fronts).chain(manners)
}

/// All tables of a session: the overviews, and the quantities in the order in which they were measured.
pub fn tables(run: &Run) -> Vec<Table> {
    let mut tables = overview::tables(run);
    tables.extend(octave::tables(run));
    tables.extend(overlap::tables(run));
    tables.extend(quantities(run));
    tables
}

fn quantities(run: &Run) -> Vec<Table> {
    let mut quantities: Vec<(&str, Place)> = Vec::new();
    // What has no ranks was counted and not measured, and stands in a table of its own.
    for cell in run.cells.iter().filter(|cell| cell.ranks > 0) {
        if !quantities.contains(&(cell.figure.as_str(), cell.place)) {
            quantities.push((&cell.figure, cell.place));
        }
    }
    quantities.into_iter().map(|(figure, place)| table(run, figure, place)).collect()
}

fn table(run: &Run, figure: &str, place: Place) -> Table {
    let cells: Vec<&Cell> = run.cells.iter().filter(|c| c.figure == figure && c.place == place).collect();
    let failures: Vec<&Failure> =
        run.failures.iter().filter(|f| f.is_of(figure) && f.place == place).collect();
    let has = |engine: &Engine| {
        cells.iter().any(|cell| cell.engine == *engine) || failures.iter().any(|f| f.engine == *engine)
    };
    let columns: Vec<Engine> = columns().filter(has).collect();
    let mut keys: Vec<(u32, u64)> = cells.iter().map(|cell| (cell.ranks, cell.bytes)).collect();
    keys.sort_unstable();
    keys.dedup();
    let ratios: Vec<Option<f64>> = keys.iter().map(|&key| ratio(&cells, key)).collect();
    let has_ratio = ratios.iter().any(Option::is_some);
    let mut header: Vec<String> = vec!["ranks".into(), "size".into()];
    header.extend(columns.iter().map(|engine| engine.name().to_string()));
    if has_ratio {
        header.push("ratio".into());
    }
    let row = |(&(ranks, bytes), ratio): (&(u32, u64), &Option<f64>)| {
        let shown = overlap::size(figure, bytes).filter(|_| matches!(place, Place::Overlap(_)));
        let shown = shown.or_else(|| ipc::size(figure, bytes)).unwrap_or_else(|| size(bytes));
        let mut row = vec![ranks.to_string(), shown];
        row.extend(columns.iter().map(|&engine| {
            match value(&cells, engine, (ranks, bytes)) {
                None => failures
                    .iter()
                    .find(|failure| (failure.engine, failure.ranks) == (engine, ranks))
                    .map_or("-", |failure| failure.word())
                    .to_owned(),
                value => number(value),
            }
        }));
        if has_ratio {
            row.push(number(*ratio));
        }
        row
    };
    let rows = keys.iter().zip(&ratios).map(row).collect();
    let unit = cells.first().map_or("", |cell| cell.unit.as_str());
    let comma = if place.name().is_empty() { "" } else { ", " };
    Table { title: format!("{figure} [{unit}{comma}{}]", place.name()), header, rows, ratios }
}

fn value(cells: &[&Cell], engine: Engine, (ranks, bytes): (u32, u64)) -> Option<f64> {
    let same = |cell: &&&Cell| (cell.engine, cell.ranks, cell.bytes) == (engine, ranks, bytes);
    cells.iter().find(same).map(|cell| cell.value)
}

/// Postrider's time divided by that of the better of the others.
fn ratio(cells: &[&Cell], key: (u32, u64)) -> Option<f64> {
    let first = cells.first().filter(|cell| cell.unit != "%")?;
    let is_rate = first.is_rate();
    let others = [Engine::Mpich, Engine::Openmpi].into_iter().filter_map(|engine| value(cells, engine, key));
    let ours = value(cells, Engine::Postrider, key).or_else(|| value(cells, Engine::PostriderFile, key))?;
    if is_rate {
        others.reduce(f64::max).map(|best| best / ours)
    } else {
        others.reduce(f64::min).map(|best| ours / best)
    }
}

/// Three significant digits, without an exponent.
pub fn number(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value == 0.0 || !value.is_finite() => format!("{value}"),
        Some(value) => {
            let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
            format!("{value:.digits$}")
        }
    }
}

/// A number of bytes in the unit that makes it short.
pub fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes > 0 && bytes.trailing_zeros() >= 30 => format!("{} GiB", bytes >> 30),
        _ if bytes > 0 && bytes.trailing_zeros() >= 20 => format!("{} MiB", bytes >> 20),
        _ if bytes > 0 && bytes.trailing_zeros() >= 10 => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// Prints the tables, the runs without a result, and which targets are reached; in colour on a terminal.
pub fn print(run: &Run, targets: Vec<Target>) {
    let paint = |code: &str, text: &str| {
        if std::io::stdout().is_terminal() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    };
    for table in tables(run) {
        println!("\n{}", paint("1", &table.title));
        println!("{}", aligned(&table.header));
        for (row, ratio) in table.rows.iter().zip(&table.ratios) {
            match ratio {
                Some(ratio) if *ratio <= 1.0 => println!("{}", paint("32", &aligned(row))),
                Some(_) => println!("{}", paint("33", &aligned(row))),
                None => println!("{}", aligned(row)),
            }
        }
    }
    for failure in &run.failures {
        let (engine, place) = (failure.engine.name(), failure.place.name());
        let text =
            format!("{}, {} ranks, {engine} {place}: {}", failure.figure, failure.ranks, failure.reason);
        println!("\n{}", paint("31", &format!("no result: {text}")));
    }
    println!("\n{}", paint("1", "targets"));
    let (measured, others): (Vec<_>, Vec<_>) =
        targets.into_iter().partition(|target| target.is_reached().is_some());
    for target in &measured {
        let code = if target.is_reached() == Some(true) { "32" } else { "33" };
        println!("{}", paint(code, &format!("{:>26}  {}", target.verdict(), target.what)));
    }
    if !others.is_empty() {
        println!("{} more were not measured in this session", others.len());
    }
}

fn aligned(row: &[String]) -> String {
    row.iter().map(|cell| format!(" {cell:>15}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::session;
    use super::*;

    #[test]
    fn the_ratio_is_one_of_times_for_rates_too() {
        let run = session(&[
            ("latency", Engine::Postrider, 2, 8, "us", 0.5),
            ("latency", Engine::Mpich, 2, 8, "us", 2.0),
            ("latency", Engine::Openmpi, 2, 8, "us", 1.0),
            ("bandwidth", Engine::Postrider, 2, 8, "MB/s", 400.0),
            ("bandwidth", Engine::Mpich, 2, 8, "MB/s", 200.0),
        ]);
        let ratios: Vec<_> = tables(&run).into_iter().flat_map(|table| table.ratios).collect();
        assert_eq!(ratios, [Some(0.5), Some(0.5)]);
    }

    #[test]
    fn every_engine_is_found_again_by_its_name() {
        for engine in columns() {
            let name = serde_json::to_string(&engine).expect("a name");
            assert_eq!(name, format!("\"{}\"", engine.name()));
            assert_eq!(serde_json::from_str::<Engine>(&name).expect("an engine"), engine);
        }
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(number(Some(0.123_456)), "0.123");
        assert_eq!(number(Some(12.345)), "12.3");
        assert_eq!(number(Some(12_345.6)), "12346");
        assert_eq!(number(None), "-");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([size(0), size(1024), size(1500), size(100 << 20)], ["0 B", "1 KiB", "1500 B", "100 MiB"]);
    }
}
