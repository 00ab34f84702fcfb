//! What the kinds of sessions have in common: where the results go, who draws them, and which page is theirs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::build::Workshop;
use super::machine;
use super::record::Run;
use super::report;
use super::table;
use super::targets::Target;
use crate::workspace;

/// Options of every kind.
#[derive(clap::Args)]
pub struct Output {
    /// Directory for the results (default: one with the date in bench/runs, quick: one in target/bench).
    #[arg(long)]
    out: Option<PathBuf>,
    /// Postrider's installation (default: what `cargo xtask build` has made).
    #[arg(long)]
    prefix: Option<PathBuf>,
    /// Measure nothing: draw the plots of an earlier session and write its page in docs/.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "figure", "ranks", "out", "repetitions"])]
    report: Option<PathBuf>,
}

/// A kind of session.
pub struct Kind {
    /// What the names of its directories end with.
    pub suffix: &'static str,
    /// The program in `bench/` that draws its pictures.
    pub plot: &'static str,
    /// Its page.
    pub page: &'static str,
    /// What that says, from its results and the directories of these and of the project.
    pub markdown: fn(&Run, &Path, &Path) -> String,
    /// What is to be reached.
    pub targets: fn(&Run) -> Vec<Target>,
}

impl Kind {
    /// Measures and reports, or only reports. `measure` gets the directory for what it wants to keep on its way.
    pub fn run(
        &self,
        output: &Output,
        quick: bool,
        measure: impl FnOnce(&Workshop, &Path) -> Result<Run>,
    ) -> Result<()> {
        let root = workspace::root();
        let workshop = Workshop::new(root, workspace::target()?, output.prefix.clone())?;
        if let Some(directory) = &output.report {
            let run = Run::load(directory)?;
            self.draw(&workshop, directory)?;
            return report::write(root, self.page, &(self.markdown)(&run, directory, root));
        }
        let directory = self.results(output, quick, &workshop)?;
        let run = measure(&workshop, &directory)?;
        run.save(&directory)?;
        table::print(&run, (self.targets)(&run));
        self.draw(&workshop, &directory)?;
        eprintln!("bench: results and plots are in {}", directory.display());
        Ok(())
    }

    /// The directory for the results of a session that begins now. It is also the moment to say that the machine is not quiet.
    fn results(&self, output: &Output, quick: bool, workshop: &Workshop) -> Result<PathBuf> {
        let suffix = self.suffix;
        let usual = || match quick {
            true => workshop.work.join(format!("quick{suffix}")),
            false => {
                let name = format!("{}-{}{suffix}", machine::date(), machine::host());
                workshop.root.join("bench/runs").join(name)
            }
        };
        let directory = output.out.clone().unwrap_or_else(usual);
        std::fs::create_dir_all(&directory)?;
        let load = machine::load();
        if load.parse().is_ok_and(|load: f64| load > 0.5) {
            eprintln!(
                "bench: others use this machine now (load {load}); trust the ratios more than the times"
            );
        }
        Ok(directory)
    }

    /// Draws the pictures, one for each figure, beside the results.
    fn draw(&self, workshop: &Workshop, directory: &Path) -> Result<()> {
        let python = workshop.environment("plot", "matplotlib")?.join("bin/python");
        workspace::run(Command::new(python).arg(workshop.root.join("bench").join(self.plot)).arg(directory))
    }
}
