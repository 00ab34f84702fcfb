//! The tasks: which program, where, on how many processes, and with which means.

use clap::ValueEnum;

use super::super::engines::Engine;
use super::ways::{Means, Site};

/// What a session can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// Single calls, on one host.
    Calls,
    /// Messages between two hosts.
    Between,
    /// Molecular dynamics: tables 1 and 2, and figure 1.
    Molecules,
}

impl Figure {
    /// The name of a failure: what the names of its quantities begin with, where they have something in common.
    pub fn name(self) -> String {
        match self {
            Figure::Calls => "calls",
            Figure::Between => "between",
            Figure::Molecules => "md",
        }
        .to_owned()
    }
}

/// The same work with several means, which take turns.
#[derive(Clone, Debug)]
pub struct Task {
    /// What it belongs to.
    pub figure: Figure,
    /// Where.
    pub site: Site,
    /// Number of processes.
    pub ranks: u32,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// The means.
    pub engines: Vec<Engine>,
    /// Seconds after which a run is ended.
    pub limit_s: u64,
}

impl Task {
    /// The first program, which says the version of the library.
    pub fn hello(engine: Engine) -> Self {
        let (figure, site) = (Figure::Between, Site::OneHost);
        Task { figure, site, ranks: 2, arguments: Vec::new(), engines: vec![engine], limit_s: 60 }
    }

    /// The program with these means.
    pub fn program(&self, engine: Engine) -> &'static str {
        match (self.figure, engine) {
            (Figure::Molecules, Engine::Ipc(means)) if means.is_memory() => "molecules_memory",
            (Figure::Molecules, Engine::Ipc(_)) => "molecules_messages",
            (Figure::Molecules, _) => "molecules_mpi",
            (_, Engine::Ipc(_)) => "ipc",
            _ if self.arguments.is_empty() => "hello",
            _ => "latency",
        }
    }
}

/// How much is measured.
pub struct Scale {
    quick: bool,
    ranks: Vec<u32>,
    /// Time for each size of a message of MPI.
    pub budget_ms: u32,
}

impl Scale {
    /// The quick session or the full one, on these numbers of processes where any are given.
    pub fn new(quick: bool, ranks: &[u32]) -> Self {
        let usual: &[u32] = if quick { &[2, 4] } else { &[2, 4, 8, 16] };
        let ranks = if ranks.is_empty() { usual } else { ranks }.to_vec();
        Scale { quick, ranks, budget_ms: if quick { 50 } else { 300 } }
    }
}

/// All tasks of the chosen parts, with these libraries and means.
pub fn tasks(figures: &[Figure], scale: &Scale, engines: &[Engine], means: &[Means]) -> Vec<Task> {
    let chosen = if figures.is_empty() { Figure::value_variants() } else { figures };
    let mut tasks: Vec<Task> = chosen.iter().flat_map(|&figure| tasks_of(figure, scale)).collect();
    for task in &mut tasks {
        task.engines.retain(|engine| match engine {
            Engine::Ipc(one) => means.is_empty() || means.contains(one),
            other => engines.contains(other),
        });
    }
    tasks.retain(|task| !task.engines.is_empty());
    tasks
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn tasks_of(figure: Figure, scale: &Scale) -> Vec<Task> {
    let budget = scale.budget_ms.to_string();
    let calls = |site| Task {
        figure,
        site,
        ranks: 2,
        arguments: Vec::new(),
        engines: vec![Engine::Ipc(Means::KernelMessages), Engine::Ipc(Means::LayerMessages)],
        limit_s: 60,
    };
    match figure {
        Figure::Calls => vec![calls(Site::OneHost), calls(Site::OneCore)],
        Figure::Between => vec![Task {
            arguments: words(&["--sizes", "8,65536", "--budget-ms", &budget]),
            engines: vec![Engine::Ipc(Means::LayerMessages), Engine::Postrider, Engine::Mpich],
            ..calls(Site::TwoHosts)
        }],
        Figure::Molecules => {
            let sites = [Site::OneHost, Site::TwoHosts, Site::FourHosts];
            let ranks = |site: Site| {
                let whole = move |ranks: &&u32| ranks.is_multiple_of(site.hosts());
                scale.ranks.iter().filter(whole).map(move |&ranks| molecules(scale, site, ranks))
            };
            sites.into_iter().flat_map(ranks).collect()
        }
    }
}

fn molecules(scale: &Scale, site: Site, ranks: u32) -> Task {
    let steps = match (scale.quick, site) {
        (true, _) => "20",
        (false, Site::OneHost) => "300",
        (false, _) => "100",
    };
    let engines = match site {
        Site::TwoHosts | Site::FourHosts => {
            vec![Engine::Ipc(Means::LayerMessages), Engine::Postrider, Engine::Mpich]
        }
        _ => Means::value_variants()
            .iter()
            .map(|&means| Engine::Ipc(means))
            .chain([Engine::Postrider, Engine::Mpich, Engine::Openmpi])
            .collect(),
    };
    let arguments = words(&["--atoms", "108", "--steps", steps]);
    Task { figure: Figure::Molecules, site, ranks, arguments, engines, limit_s: 240 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_shared_out_evenly_among_hosts() {
        let tasks = tasks(&[Figure::Molecules], &Scale::new(false, &[2, 4]), &[Engine::Mpich], &[]);
        let points: Vec<_> = tasks.iter().map(|task| (task.site.hosts(), task.ranks)).collect();
        assert_eq!(points, [(1, 2), (1, 4), (2, 2), (2, 4), (4, 4)]);
    }

    #[test]
    fn a_form_is_another_program() {
        let tasks = tasks(&[Figure::Molecules], &Scale::new(true, &[2]), &[Engine::Mpich], &[]);
        let programs: Vec<_> = tasks[0].engines.iter().map(|&engine| tasks[0].program(engine)).collect();
        let forms =
            ["messages", "messages", "memory", "memory", "mpi"].map(|form| format!("molecules_{form}"));
        assert_eq!(programs, forms);
    }

    #[test]
    fn nothing_is_left_of_a_task_without_its_means() {
        let tasks =
            tasks(&[Figure::Calls, Figure::Between], &Scale::new(true, &[]), &[], &[Means::KernelMessages]);
        assert_eq!(tasks.len(), 2);
        assert!(tasks.iter().all(|task| task.engines == [Engine::Ipc(Means::KernelMessages)]));
    }
}
