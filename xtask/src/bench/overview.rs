//! The overview of operations: a row for each, a column for each number of ranks and size, and in them how Postrider compares.
//!
//! The tables of the single operations have the times; here one sees at once where it is slow.

use std::collections::BTreeSet;

use super::engines::{Engine, Place};
use super::figures::{COLLECTIVES, ONE_SIDED};
use super::record::Run;
use super::table::{Table, number, size};

/// The overviews of whatever was measured.
pub fn tables(run: &Run) -> Vec<Table> {
    let better = |name: &str, key| {
        let others = [Engine::Mpich, Engine::Openmpi];
        let times = others.into_iter().filter_map(|engine| run.value(name, engine, Place::Usual, key));
        Some(run.value(name, Engine::Postrider, Place::Usual, key)? / times.reduce(f64::min)?)
    };
    let mpich = |name: &str, key| {
        let ours = run.value(name, Engine::Postrider, Place::Usual, key)?;
        Some(run.value(name, Engine::Mpich, Place::Usual, key)? / ours)
    };
    let mut tables = Vec::new();
    for (what, names) in [("collectives", &COLLECTIVES[..]), ("operations on windows", &ONE_SIDED[..])] {
        let title = format!("{what}: time by that of the better of MPICH and Open MPI");
        tables.push(table(run, title, names, &better));
        tables.push(table(run, format!("{what}: how many times as fast as MPICH"), names, &mpich));
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

type Key = (u32, u64);

fn table(run: &Run, title: String, names: &[&str], value: &dyn Fn(&str, Key) -> Option<f64>) -> Table {
    let columns = columns(run, names);
    let mut header = vec!["operation".to_owned()];
    header.extend(columns.iter().map(|&(ranks, bytes)| format!("{ranks} x {}", size(bytes))));
    let row = |name: &&str| {
        let cells: Vec<Option<f64>> =
            columns.iter().map(|&key| value(name, key_of(run, name, key)?)).collect();
        let any = cells.iter().any(Option::is_some);
        any.then(|| std::iter::once((*name).to_owned()).chain(cells.into_iter().map(number)).collect())
    };
    let rows: Vec<Vec<String>> = names.iter().filter_map(row).collect();
    let ratios = vec![None; rows.len()];
    Table { title, header, rows, ratios }
}

/// Ranks and sizes of those operations that have sizes; of the others where there are none.
fn columns(run: &Run, names: &[&str]) -> Vec<Key> {
    let of = |name: &&str| sizes(run, name);
    let most = names.iter().map(of).max_by_key(BTreeSet::len).unwrap_or_default();
    most.into_iter().collect()
}

fn sizes(run: &Run, name: &str) -> BTreeSet<Key> {
    let cells = run.cells.iter().filter(|cell| cell.figure == name && cell.place == Place::Usual);
    cells.map(|cell| (cell.ranks, cell.bytes)).collect()
}

/// What an operation has at a column. One without sizes has its time in the first column of each number of ranks.
fn key_of(run: &Run, name: &str, column: Key) -> Option<Key> {
    let sizes = sizes(run, name);
    if sizes.contains(&column) {
        return Some(column);
    }
    let mut same = sizes.into_iter().filter(|key| key.0 == column.0);
    match (same.next(), same.next()) {
        (Some(only), None) if column.1 == 8 => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::session;
    use super::*;

    #[test]
    fn an_operation_without_sizes_stands_in_the_first_column() {
        let run = session(&[
            ("bcast", Engine::Postrider, 2, 8, "us", 1.0),
            ("bcast", Engine::Postrider, 2, 64, "us", 3.0),
            ("bcast", Engine::Mpich, 2, 8, "us", 2.0),
            ("bcast", Engine::Mpich, 2, 64, "us", 2.0),
            ("barrier", Engine::Postrider, 2, 0, "us", 1.0),
            ("barrier", Engine::Mpich, 2, 0, "us", 4.0),
        ]);
        let tables = tables(&run);
        assert_eq!(tables[0].header, ["operation", "2 x 8 B", "2 x 64 B"]);
        assert_eq!(tables[0].rows, [["barrier", "0.250", "-"], ["bcast", "0.500", "1.50"]]);
        assert_eq!(tables[1].rows, [["barrier", "4.00", "-"], ["bcast", "2.00", "0.667"]]);
    }
}
