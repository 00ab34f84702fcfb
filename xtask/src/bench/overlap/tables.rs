//! How many times as fast as the plain program: a table for each quantity and site, a column for each manner.

use clap::ValueEnum;

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::table::{self, Table, number};
use super::ways::{Manner, Site};

type Key = (u32, u64);

/// Figures of the record that are not compared: a bound, and messages where the layer has nothing to do with them.
const NOT_COMPARED: [&str; 3] = ["read-compute-bound", "root-exchange", "rows-exchange"];
/// Quantities whose size is a number of points on a side.
const OF_POINTS: [&str; 5] = ["border", "root-", "rows-", "solver-", "integrity-"];
/// Times that are nothing, or less where work was subtracted, count as a microsecond: in milliseconds, and in microseconds.
const LEAST: [f64; 2] = [1e-3, 1.0];

/// The size of a quantity: points on a side where it has these.
pub fn size(figure: &str, bytes: u64) -> Option<String> {
    OF_POINTS.iter().any(|begin| figure.starts_with(begin)).then(|| bytes.to_string())
}

/// A time in one manner.
pub fn time(run: &Run, figure: &str, (site, manner): (Site, Manner), key: Key) -> Option<f64> {
    let least = LEAST[usize::from(unit(run, figure) == "us")];
    run.value(figure, Engine::Overlap(manner), Place::Overlap(site), key).map(|time| time.max(least))
}

/// In which unit a quantity is.
pub fn unit<'a>(run: &'a Run, figure: &str) -> &'a str {
    run.cells.iter().find(|cell| cell.figure == figure).map_or("", |cell| &cell.unit)
}

/// How many times as fast as plain.
pub fn times_plain(run: &Run, figure: &str, (site, manner): (Site, Manner), key: Key) -> Option<f64> {
    Some(time(run, figure, (site, Manner::Plain), key)? / time(run, figure, (site, manner), key)?)
}

/// Quantities of a site in the order in which they were measured.
pub fn quantities(run: &Run, site: Site) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in run.cells.iter().filter(|cell| cell.place == Place::Overlap(site)) {
        if !names.contains(&cell.figure.as_str()) && !NOT_COMPARED.contains(&cell.figure.as_str()) {
            names.push(&cell.figure);
        }
    }
    names
}

/// Ranks and sizes of a quantity.
pub fn keys(run: &Run, figure: &str, site: Site) -> Vec<Key> {
    let cells = run.cells.iter().filter(|cell| cell.figure == figure && cell.place == Place::Overlap(site));
    let mut keys: Vec<Key> = cells.map(|cell| (cell.ranks, cell.bytes)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// All tables.
pub fn tables(run: &Run) -> Vec<Table> {
    let sites = Site::value_variants().iter().copied();
    let of = |site| quantities(run, site).into_iter().map(move |figure| table(run, figure, site));
    sites.flat_map(of).filter(|table| table.header.len() > 2).collect()
}

fn table(run: &Run, figure: &str, site: Site) -> Table {
    let keys = keys(run, figure, site);
    let value = |manner, key| times_plain(run, figure, (site, manner), key);
    let all = Manner::value_variants().iter().copied().filter(|manner| *manner != Manner::Plain);
    let manners: Vec<Manner> =
        all.filter(|&manner| keys.iter().any(|&key| value(manner, key).is_some())).collect();
    let mut header = vec!["ranks".to_owned(), "size".to_owned()];
    header.extend(manners.iter().map(|manner| manner.name().to_owned()));
    let row = |&(ranks, bytes): &Key| {
        let shown = size(figure, bytes).unwrap_or_else(|| table::size(bytes));
        let cells = manners.iter().map(|&manner| number(value(manner, (ranks, bytes))));
        [ranks.to_string(), shown].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    let title = format!("{figure}, {}: how many times as fast as plain", site.name());
    let ratios = vec![None; rows.len()];
    Table { title, header, rows, ratios }
}
