//! How the calls of a program are carried out, where it runs, and how it is started there.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::super::build::Workshop;
use super::super::engines::Engine;
use crate::build::OVERLAP;
use crate::hosts::bed::{Bed, Firewall, Life, Link, Options};
use crate::hosts::runner::remove_dead;
use crate::hosts::watch::Snapshot;

/// The links between the hosts.
pub const LINK: Link = Link { delay_us: 50, mbit_s: 1000 };
/// What the slow file system is like, as options of postrider-slowfs.
pub const SLOW: &str = "--delay-us 500 --requests-per-second 2000";
/// A directory on the disk that every host sees, and the slow file system.
const DISK: &str = "/shared";
const CENTRAL: &str = "/central";

/// How the calls of a program are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manner {
    /// As they are written.
    Plain,
    /// The program is written for it: nonblocking or persistent requests that are waited for together, and MPI-IO.
    ByHand,
    /// The same where the program waits as late as it can.
    ByHandLate,
    /// By the layer, as it chooses.
    Layer,
    /// By the layer, completed at the first touch.
    Touch,
    /// By the layer, completed in the last call of a chain.
    Last,
    /// The paper's protection of the pages that data will come to.
    OneView,
    /// The paper's two views of one memory.
    TwoViews,
    /// The paper's two views, protected before the calls of a chain.
    PreEmptive,
}

/// A library, and what is slow there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Site {
    /// MPICH over TCP, slow links.
    MpichLinks,
    /// Postrider over ssh, slow links.
    PostriderLinks,
    /// MPICH on one host.
    MpichMemory,
    /// Postrider on one host.
    PostriderMemory,
    /// MPICH, slow links and a slow file system.
    MpichSlow,
    /// Postrider, slow links and a slow file system.
    PostriderSlow,
    /// MPICH, slow links and the disk.
    MpichDisk,
    /// Postrider, slow links and the disk.
    PostriderDisk,
}

impl Manner {
    /// The name on the command line, in the results and in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Manner::Plain => "plain",
            Manner::ByHand => "by-hand",
            Manner::ByHandLate => "by-hand-late",
            Manner::Layer => "layer",
            Manner::Touch => "touch",
            Manner::Last => "last",
            Manner::OneView => "one-view",
            Manner::TwoViews => "two-views",
            Manner::PreEmptive => "pre-emptive",
        }
    }

    /// Whether the layer is there.
    pub fn is_layer(self) -> bool {
        !matches!(self, Manner::Plain | Manner::ByHand | Manner::ByHandLate)
    }

    /// What the layer is told. The paper's ways complete at the first touch, and no predictor chooses.
    fn settings(self) -> &'static [&'static str] {
        match self {
            Manner::Touch => &["POSTRIDER_OVERLAP_METHOD=touch"],
            Manner::Last => &["POSTRIDER_OVERLAP_METHOD=last"],
            Manner::OneView => &["POSTRIDER_OVERLAP_METHOD=touch", "POSTRIDER_OVERLAP_MEMORY=one-view"],
            Manner::TwoViews => &["POSTRIDER_OVERLAP_METHOD=touch", "POSTRIDER_OVERLAP_MEMORY=two-views"],
            Manner::PreEmptive => &["POSTRIDER_OVERLAP_METHOD=touch", "POSTRIDER_OVERLAP_MEMORY=pre-emptive"],
            _ => &[],
        }
    }

    /// Whether what the first program says shows that it runs in this way: calls were made asynchronous where that is not left to the
    /// layer, and its report names the paper's ways to close memory.
    pub fn is_shown_by(self, said: &str) -> bool {
        let count = |line: &str| {
            line.split_once(" calls were made asynchronous").map(|(before, _)| before.to_owned())
        };
        let counts = said.lines().filter_map(count);
        let counts: Vec<u64> = counts.filter_map(|before| before.rsplit(' ').next()?.parse().ok()).collect();
        match self {
            Manner::Layer => !counts.is_empty(),
            Manner::OneView | Manner::TwoViews | Manner::PreEmptive => {
                counts.iter().any(|count| *count > 0) && said.contains(&format!("in memory {}", self.name()))
            }
            _ => counts.iter().any(|count| *count > 0),
        }
    }
}

impl Site {
    /// Words for a table.
    pub fn name(self) -> &'static str {
        match self {
            Site::MpichLinks => "MPICH over TCP, slow links",
            Site::PostriderLinks => "Postrider over ssh, slow links",
            Site::MpichMemory => "MPICH, one host",
            Site::PostriderMemory => "Postrider, one host",
            Site::MpichSlow => "MPICH, slow links and file system",
            Site::PostriderSlow => "Postrider, slow links and file system",
            Site::MpichDisk => "MPICH, slow links, disk",
            Site::PostriderDisk => "Postrider, slow links, disk",
        }
    }

    /// The library.
    pub fn engine(self) -> Engine {
        match self {
            Site::MpichLinks | Site::MpichMemory | Site::MpichSlow | Site::MpichDisk => Engine::Mpich,
            _ => Engine::Postrider,
        }
    }

    /// Whether all ranks share a host.
    pub fn is_one_host(self) -> bool {
        matches!(self, Site::MpichMemory | Site::PostriderMemory)
    }

    /// Whether files are on the slow file system.
    pub fn is_slow(self) -> bool {
        matches!(self, Site::MpichSlow | Site::PostriderSlow)
    }

    /// Where files are.
    pub fn directory(self) -> &'static str {
        if self.is_slow() { CENTRAL } else { DISK }
    }
}

/// The hosts of a session, which end with it.
pub struct Hosts<'a> {
    workshop: &'a Workshop,
    bed: Bed,
    before: Snapshot,
}

impl<'a> Hosts<'a> {
    /// Brings them up.
    pub fn start(workshop: &'a Workshop, count: u32) -> Result<Self> {
        remove_dead()?;
        let options = Options {
            hosts: count as usize,
            firewall: Firewall::No,
            link: Some(LINK),
            slow: Some(SLOW.to_owned()),
            visible: Some(workshop.prefix.clone()),
            ..Options::default()
        };
        let name = format!("bench-{}-overlap", std::process::id());
        let bed =
            Bed::start(&name, options, Life::Scoped).context("a bed is needed: see tests/hosts/README.md")?;
        let before = Snapshot::take(&bed);
        Ok(Hosts { workshop, bed, before })
    }

    /// A program with its arguments, on so many ranks. `part` is what the layer works on: messages, files or all.
    pub fn command(
        &self,
        (site, ranks, manner): (Site, u32, Manner),
        part: &str,
        program: &[String],
        settings: &[&str],
    ) -> Result<Command> {
        let mut words = launcher(self.workshop, site, ranks)?;
        words.push("env".to_owned());
        if manner.is_layer() {
            let library = self.workshop.prefix.join("lib").join(OVERLAP[0]);
            ensure!(library.exists(), "there is no {}: run `cargo xtask build` first", library.display());
            words.push(format!("LD_PRELOAD={}", library.display()));
            words.push(format!("POSTRIDER_OVERLAP={part}"));
            words.extend(manner.settings().iter().chain(settings).map(|&setting| setting.to_owned()));
        }
        let (name, arguments) = program.split_first().context("a program has a name")?;
        words.push(text(&self.workshop.binaries(site.engine()).join(name)));
        words.extend(arguments.iter().cloned());
        self.bed.command(0, Path::new(DISK), &words)
    }

    /// Ends what a program may have left, and removes its files.
    pub fn clear(&self) {
        self.before.clear(&self.bed);
    }
}

/// The launcher up to the program: a rank on each host, or all on one.
fn launcher(workshop: &Workshop, site: Site, ranks: u32) -> Result<Vec<String>> {
    let list = |each: &str| (1..=ranks).map(|host| format!("h{host}{each}")).collect::<Vec<_>>().join(",");
    let at = |folder: &Path, launcher: &str| {
        vec![
            "env".to_owned(),
            format!("LD_LIBRARY_PATH={}", folder.join("lib").display()),
            text(&folder.join("bin").join(launcher)),
        ]
    };
    let mut words;
    if site.engine() == Engine::Mpich {
        words = at(&workshop.environment("mpich", "mpich")?, "mpiexec");
        let (hosts, each) = if site.is_one_host() { ("h1".to_owned(), ranks) } else { (list(""), 1) };
        let (each, ranks) = (each.to_string(), ranks.to_string());
        let options = ["-launcher", "ssh", "-hosts", &hosts, "-ppn", &each, "-n", &ranks];
        words.extend(options.map(str::to_owned));
    } else {
        words = at(&workshop.prefix, "postrider");
        let hosts = if site.is_one_host() { format!("h1:{ranks}") } else { list(":1") };
        words.extend(["run".to_owned(), "--hosts".to_owned(), hosts]);
    }
    Ok(words)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manner_has_to_show_that_it_works() {
        let report = "overlap, rank 0: 120 calls were made asynchronous, in memory huge\n";
        let nothing = "overlap, rank 0: 0 calls were made asynchronous, in memory huge\n";
        assert!(Manner::Touch.is_shown_by(report) && Manner::Layer.is_shown_by(nothing));
        assert!(!Manner::Touch.is_shown_by(nothing) && !Manner::Layer.is_shown_by(""));
        // What the layer does not know it does not do, and its report names another way.
        assert!(!Manner::TwoViews.is_shown_by(report));
        assert!(Manner::TwoViews.is_shown_by(&report.replace("huge", "two-views")));
    }
}
