//! What follows from the times: table 2 of the paper, bandwidth, how each front end compares with C and with MatlabMPI's own files, and
//! parallel efficiency. Sessions without front ends have none of these tables.

use clap::ValueEnum;

use super::super::engines::{Engine, Place};
use super::super::record::Run;
use super::super::table::{Table, number, size};
use super::figures::{BROADCAST_BYTES, SMALL_BYTES};
use super::fronts::Front;
use super::usability;

type Key = (u32, u64);

/// The tables, those first that say most.
pub fn tables(run: &Run) -> Vec<Table> {
    let mut tables = vec![
        table_2(run),
        table(run, "bandwidth between 2 ranks [MB/s]", "latency", &|front, key| bandwidth(run, front, key)),
        table(run, "messages: how many times as long as in C", "latency", &|front, key| {
            Some(time(run, "latency", front, key)? / time(run, "latency", Front::C, key)?)
        }),
        table(run, "parallel efficiency of the Mandelbrot set [%]", "mandelbrot", &|front, key| {
            efficiency(run, front, key)
        }),
    ];
    for figure in ["latency", "bcast", "sender-computes", "strings"] {
        let title = format!("{figure}: how many times as fast as MatlabMPI's own files (binary)");
        tables.push(table(run, title, figure, &|front, key| {
            Some(time(run, figure, Front::FilesBinary, key)? / time(run, figure, front, key)?)
        }));
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// A quantity of a front end, its files in memory.
pub fn time(run: &Run, figure: &str, front: Front, key: Key) -> Option<f64> {
    run.value(figure, Engine::Front(front), Place::Usual, key)
}

/// MB/s of a message whose one-way time is known; MB is 10^6 bytes, so that it is also bytes by microseconds.
pub fn bandwidth(run: &Run, front: Front, key: Key) -> Option<f64> {
    time(run, "latency", front, key).map(|time_us| key.1 as f64 / time_us)
}

/// The time on one rank by that of all ranks together; cores that are not there do not count, so that 100 % is what the machine has.
fn efficiency(run: &Run, front: Front, (ranks, bytes): Key) -> Option<f64> {
    let cores = f64::from(ranks).min(run.machine.cores as f64);
    let alone = time(run, "mandelbrot", front, (1, bytes))?;
    Some(100.0 * alone / (cores * time(run, "mandelbrot", front, (ranks, bytes))?))
}

/// The front ends that were measured, in their order.
fn fronts(run: &Run) -> Vec<Front> {
    let is_there = |front: &Front| run.cells.iter().any(|cell| cell.engine == Engine::Front(*front));
    Front::value_variants().iter().copied().filter(is_there).collect()
}

/// A column for each front end, and a row for each number of ranks and size of a figure.
fn table(
    run: &Run,
    title: impl Into<String>,
    figure: &str,
    value: &dyn Fn(Front, Key) -> Option<f64>,
) -> Table {
    let fronts = fronts(run);
    let cells = run.cells.iter().filter(|cell| cell.figure == figure && cell.place == Place::Usual);
    let of_fronts = cells.filter(|cell| matches!(cell.engine, Engine::Front(_)));
    let mut keys: Vec<Key> = of_fronts.map(|cell| (cell.ranks, cell.bytes)).collect();
    keys.sort_unstable();
    keys.dedup();
    let columns: Vec<Front> =
        fronts.into_iter().filter(|&front| keys.iter().any(|&key| value(front, key).is_some())).collect();
    let mut header = vec!["ranks".to_owned(), "size".to_owned()];
    header.extend(columns.iter().map(|front| front.name().to_owned()));
    let row = |&key: &Key| {
        let values = columns.iter().map(|&front| number(value(front, key)));
        [key.0.to_string(), size(key.1)].into_iter().chain(values).collect()
    };
    let rows: Vec<Vec<String>> = if columns.is_empty() { Vec::new() } else { keys.iter().map(row).collect() };
    let ratios = vec![None; rows.len()];
    Table { title: title.into(), header, rows, ratios }
}

/// The paper's rows, with numbers; a row for each front end here, and a column for each of them.
fn table_2(run: &Run) -> Table {
    let count = |figure, front| time(run, figure, front, (0, 0));
    let most = |front| {
        let cells =
            run.cells.iter().filter(|cell| cell.engine == Engine::Front(front) && cell.figure == "latency");
        let sizes = cells.filter(|cell| cell.place == Place::Usual).map(|cell| cell.bytes);
        sizes.filter_map(|bytes| bandwidth(run, front, (2, bytes))).reduce(f64::max)
    };
    let start = |front| {
        let cells =
            run.cells.iter().filter(|cell| cell.engine == Engine::Front(front) && cell.figure == "startup");
        cells.max_by_key(|cell| cell.ranks).map(|cell| cell.value)
    };
    let row = |front: Front| {
        let values = [
            count(usability::SETUP, front),
            start(front),
            count(usability::LINES, front),
            count(usability::NAMES, front),
            time(run, "latency", front, (2, SMALL_BYTES)),
            most(front),
            time(run, "bcast", front, (4, BROADCAST_BYTES)),
            count(usability::COVERAGE, front),
        ];
        let values: Vec<String> = values.into_iter().map(number).collect();
        let is_measured = values.iter().any(|value| value != "-");
        is_measured.then(|| std::iter::once(front.name().to_owned()).chain(values).collect::<Vec<String>>())
    };
    let messages = |front: &Front| !matches!(front, Front::OctavePmatlab | Front::OctaveAlone);
    let rows: Vec<Vec<String>> = fronts(run).into_iter().filter(messages).filter_map(row).collect();
    let header = [
        "front end",
        "setup: steps",
        "setup: start of most ranks [ms]",
        "application: lines",
        "learning curve: names",
        "latency [us]",
        "bandwidth [MB/s]",
        "broadcast to 4 [us]",
        "coverage: functions",
    ];
    let ratios = vec![None; rows.len()];
    Table { title: "Table 2 anew".into(), header: header.map(str::to_owned).to_vec(), rows, ratios }
}

#[cfg(test)]
mod tests {
    use super::super::super::record::tests::session;
    use super::*;

    #[test]
    fn bandwidth_and_ratios_follow_from_the_times() {
        let run = session(&[
            ("latency", Engine::Front(Front::C), 2, 4096, "us", 2.0),
            ("latency", Engine::Front(Front::OctaveMatlabmpi), 2, 4096, "us", 4.0),
            ("latency", Engine::Front(Front::FilesBinary), 2, 4096, "us", 400.0),
        ]);
        let found: Vec<_> = tables(&run).into_iter().map(|table| (table.title, table.rows)).collect();
        let row = |words: [&str; 5]| vec![words.map(str::to_owned).to_vec()];
        assert_eq!(found[1].1, row(["2", "4 KiB", "2048", "1024", "10.2"]));
        assert_eq!(found[2].1, row(["2", "4 KiB", "1.00", "2.00", "200"]));
        assert_eq!(found[3].1, row(["2", "4 KiB", "200", "100", "1.00"]));
    }

    #[test]
    fn a_session_of_engines_has_none_of_them() {
        let run = session(&[("latency", Engine::Postrider, 2, 8, "us", 0.5)]);
        assert!(tables(&run).is_empty());
    }
}
