//! `cargo xtask demo`: the Mandelbrot set of `examples/`, in C, Fortran, Python and Octave, on 1, 2 and 4 ranks, through both
//! transports.
//!
//! It is section 4.5 of "MPI over Scripting Languages: Usability and Performance Tradeoffs", run by the installed launcher as
//! a user would. All runs have to give the same picture, byte by byte. `demo/` gets the picture as PNG and the table as
//! JSON.
//!
//! Parallel efficiency is the time on one rank, divided by the time on n ranks and by the cores that n ranks can have: a
//! machine with two cores cannot make four ranks faster than two, and that is not the library's fault.

use crate::bench::machine::{self, Machine};
use crate::environment::Environment;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Run the Mandelbrot set in four languages, and compare results and times.
#[derive(clap::Args)]
pub struct Arguments {
    /// Points on a side.
    #[arg(long, default_value_t = 4800)]
    size: usize,
    /// Rank counts.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4])]
    ranks: Vec<usize>,
}

/// The four programs: what a user writes after `postrider run -n N`.
const FRONT_ENDS: &[(&str, &[&str])] = &[
    ("C", &["target/demo/mandelbrot"]),
    ("Fortran", &["target/demo/mandelbrot-fortran"]),
    ("Python", &["python", "examples/python/mandelbrot.py"]),
    ("Octave", &["octave", "examples/octave/mandelbrot.m"]),
];

/// Those that are compiled: by which driver, from what, to what.
const COMPILED: [(&str, &str, &str); 2] = [
    ("cc", "examples/c/mandelbrot.c", "mandelbrot"),
    ("fortran", "examples/fortran/mandelbrot.f90", "mandelbrot-fortran"),
];

const TRANSPORTS: &[&str] = &["shared-memory", "file"];

/// After how many seconds a run is ended.
const TIMEOUT_SECONDS: &str = "300";

/// What rank 0 prints.
#[derive(Deserialize)]
struct Printed {
    ranks: usize,
    seconds: f64,
    checksum: u64,
}

/// One row of the table.
#[derive(Serialize)]
struct Row {
    front_end: &'static str,
    transport: &'static str,
    ranks: usize,
    seconds: f64,
    efficiency: Option<f64>,
    checksum: u64,
    identical: bool,
}

/// What `demo/mandelbrot.json` holds.
#[derive(Serialize)]
struct Table {
    date: String,
    commit: String,
    machine: Machine,
    size: usize,
    efficiency_is: &'static str,
    rows: Vec<Row>,
}

/// Runs all programs, prints the table and fills `demo/`.
pub fn run(arguments: &Arguments) -> Result<()> {
    let demo = Demo::prepare(arguments)?;
    let machine = Machine::here();
    let rows = demo.rows(machine.cores)?;
    demo.draw()?;
    let different = rows.iter().filter(|row| !row.identical).count();
    let table = Table {
        date: machine::date_and_time(),
        commit: machine::commit(workspace::root()),
        machine: Machine { load_at_end: machine::load(), ..machine },
        size: arguments.size,
        efficiency_is: "seconds on 1 rank / (seconds * min(ranks, cores))",
        rows,
    };
    let json = demo.results.join("mandelbrot.json");
    std::fs::write(&json, serde_json::to_string_pretty(&table)? + "\n")?;
    println!(
        "\nEfficiency is relative to the cores that the ranks can have: min(ranks, {}).\n\
         Picture: {}\nTable: {}",
        table.machine.cores,
        demo.picture().display(),
        json.display()
    );
    ensure!(different == 0, "{different} of {} runs gave another picture than the first", table.rows.len());
    println!("All {} runs gave the same picture, byte by byte.", table.rows.len());
    Ok(())
}

/// Everything that the runs need.
struct Demo<'a> {
    arguments: &'a Arguments,
    /// For binaries and pictures in the making.
    work: PathBuf,
    /// `demo/`.
    results: PathBuf,
    environment: Environment,
    path: std::ffi::OsString,
}

impl<'a> Demo<'a> {
    /// Makes the folders and the Python environment, and compiles the programs in C and Fortran.
    fn prepare(arguments: &'a Arguments) -> Result<Self> {
        let root = workspace::root();
        let (work, results) = (root.join("target/demo"), root.join("demo"));
        for folder in [&work, &results] {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let environment = Environment::prepare()?;
        let ours = [workspace::installation().join("bin"), environment.programs()];
        let users = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&users)))?;
        let demo = Self { arguments, work, results, environment, path };
        for (driver, source, program) in COMPILED {
            let mut compiler = demo.command(&workspace::installation().join("bin/postrider"));
            compiler.args([driver, "-O2", "-ffp-contract=off", source, "-o"]);
            workspace::run(compiler.arg(demo.work.join(program)))?;
        }
        Ok(demo)
    }

    /// A command in the root of the repository that finds our programs first.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(workspace::root()).env("PATH", &self.path).stdin(Stdio::null());
        command
    }

    /// Where the first run leaves its picture, for the others to be compared with.
    fn reference(&self) -> PathBuf {
        self.work.join("reference.bytes")
    }

    fn picture(&self) -> PathBuf {
        self.results.join("mandelbrot.png")
    }

    /// All runs, one after the other; each is printed when it is done.
    fn rows(&self, cores: usize) -> Result<Vec<Row>> {
        let runs = FRONT_ENDS.len() * TRANSPORTS.len() * self.arguments.ranks.len();
        let bar = ProgressBar::new(runs as u64)
            .with_style(ProgressStyle::with_template("{spinner} {pos}/{len} {wide_bar} {elapsed} {msg}")?);
        bar.enable_steady_tick(Duration::from_millis(200));
        println!(
            "{:<10} {:<14} {:>5} {:>10} {:>11}  picture",
            "front end", "transport", "ranks", "seconds", "efficiency"
        );
        let mut rows: Vec<Row> = Vec::new();
        for &(front_end, program) in FRONT_ENDS {
            for &transport in TRANSPORTS {
                for &ranks in &self.arguments.ranks {
                    bar.set_message(format!("{front_end}, {transport}, {ranks} ranks"));
                    let (printed, identical) = self.one(program, transport, ranks, rows.is_empty())?;
                    let alone = rows
                        .iter()
                        .find(|row| (row.front_end, row.transport, row.ranks) == (front_end, transport, 1));
                    let alone = if ranks == 1 { Some(printed.seconds) } else { alone.map(|row| row.seconds) };
                    let efficiency = alone.map(|alone| alone / (printed.seconds * ranks.min(cores) as f64));
                    let Printed { seconds, checksum, .. } = printed;
                    let row = Row { front_end, transport, ranks, seconds, efficiency, checksum, identical };
                    bar.suspend(|| println!("{}", row.text()));
                    bar.inc(1);
                    rows.push(row);
                }
            }
        }
        bar.finish_and_clear();
        Ok(rows)
    }

    /// One run: what it printed, and whether its picture is that of the first run.
    fn one(&self, program: &[&str], transport: &str, ranks: usize, first: bool) -> Result<(Printed, bool)> {
        let output = if first { self.reference() } else { self.work.join("picture.bytes") };
        let mut command = self.command(&workspace::installation().join("bin/postrider"));
        command.args(["run", "--timeout", TIMEOUT_SECONDS, "--transport", transport, "-n"]);
        command.arg(ranks.to_string()).args(program);
        command.args(["--size", &self.arguments.size.to_string(), "--output"]).arg(&output);
        let result = command.stderr(Stdio::inherit()).output().with_context(|| format!("{command:?}"))?;
        ensure!(result.status.success(), "{command:?} fails: {}", result.status);
        let text = String::from_utf8_lossy(&result.stdout);
        let printed: Printed =
            serde_json::from_str(text.trim()).with_context(|| format!("{command:?} prints {text:?}"))?;
        ensure!(printed.ranks == ranks, "{command:?} ran on {} ranks", printed.ranks);
        let bytes = std::fs::read(&output).with_context(|| output.display().to_string())?;
        ensure!(bytes.len() == self.arguments.size.pow(2), "{command:?} wrote {} bytes", bytes.len());
        let identical = first || bytes == std::fs::read(self.reference())?;
        std::fs::remove_file(self.work.join("picture.bytes")).ok();
        Ok((printed, identical))
    }

    /// Turns the first picture into a PNG.
    fn draw(&self) -> Result<()> {
        let mut command = self.command(&self.environment.python());
        command.arg("xtask/src/demo/picture.py").arg(self.reference()).arg(self.picture());
        workspace::run(&mut command)
    }
}

impl Row {
    fn text(&self) -> String {
        let efficiency = self.efficiency.map_or("-".into(), |value| format!("{:.0} %", 100.0 * value));
        let verdict = if self.identical { "identical" } else { "DIFFERENT" };
        let Self { front_end, transport, ranks, seconds, .. } = self;
        format!("{front_end:<10} {transport:<14} {ranks:>5} {seconds:>10.2} {efficiency:>11}  {verdict}")
    }
}
