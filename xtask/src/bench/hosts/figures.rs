//! The figures of the paper, and the tasks that each of them consists of: which program, which way, where, how many ranks.

use clap::ValueEnum;

use super::super::engines::{Engine, Place};

/// Ranks of a node where nodes share the machine, as in the paper.
pub const NODE_RANKS: u32 = 32;
/// The size of the broadcast.
pub const BROADCAST_BYTES: u64 = 32;
/// The size for which small messages are judged.
pub const SMALL_BYTES: u64 = 16;
/// Figure of the record: start to end of a program that is no MPI program.
pub const START_OF_TRUE: &str = "startup-true";
/// Figure of the record: start to end of a program that does nothing.
pub const START: &str = "startup";

/// How much oftener than the rest the bare pipe is compared.
const PAIRS: u32 = 3;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What a session between hosts can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// Messages inside a host.
    #[value(name = "7")]
    OneHost,
    /// Messages between two hosts.
    #[value(name = "8")]
    TwoHosts,
    /// Broadcasts in nodes of 32.
    #[value(name = "9")]
    Broadcast,
    /// Aggregation of distributed arrays in nodes of 32.
    #[value(name = "10")]
    Aggregation,
    /// Start to end of jobs.
    Start,
    /// The broadcast on more processes than fit, from the costs found in the same session.
    Simulation,
}

impl Figure {
    /// The name in the results.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        let name = value.as_ref().map_or("", |value| value.get_name());
        let is_number = name.parse::<u32>().is_ok();
        if is_number { format!("figure {name}") } else { name.to_owned() }
    }
}

/// What a task starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// One of the MPI programs.
    Mpi(&'static str),
    /// `true`, which knows nothing of MPI.
    True,
    /// The two ends of a bare remote shell.
    Pipe,
}

/// How often a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// As often as the session repeats.
    Usual,
    /// It takes so long that it runs only once.
    Once,
    /// By turns with all others of its kind, and oftener: the bare pipe, and what is judged by it. The speed of a remote shell
    /// is another one every minute on machines that share their cores.
    Paired,
}

/// One run of a program.
#[derive(Clone, Debug)]
pub struct Task {
    /// The figure that it belongs to.
    pub figure: Figure,
    /// What is started.
    pub program: Program,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Which way messages travel.
    pub engine: Engine,
    /// Where.
    pub place: Place,
    /// Number of ranks.
    pub ranks: u32,
    /// A setting of the library.
    pub setting: Option<&'static str>,
    /// The figure of the record, where the time of the whole run is what counts.
    pub start: Option<&'static str>,
    /// How often it runs.
    pub turns: Turns,
    /// Seconds after which it is ended.
    pub limit_s: u64,
}

/// How much is measured.
pub struct Scale {
    /// Few sizes, few ranks.
    pub quick: bool,
    /// Time for each size.
    pub budget_ms: u32,
    /// Numbers of ranks in nodes of 32.
    pub ranks: Vec<u32>,
}

impl Scale {
    /// The quick session or the full one, on these numbers of ranks where any are given.
    pub fn new(quick: bool, ranks: &[u32]) -> Self {
        let usual: Vec<u32> = (1..=if quick { 7 } else { 11 }).map(|power| 1 << power).collect();
        let usual = if quick {
            usual.into_iter().filter(|ranks| [2, 32, 128].contains(ranks)).collect()
        } else {
            usual
        };
        let ranks = if ranks.is_empty() { usual } else { ranks.to_vec() };
        Scale { quick, budget_ms: if quick { 20 } else { 50 }, ranks }
    }

    /// Numbers of bytes from 16 on. Where each message takes long, or the session shall be short, they are further apart.
    fn sizes(&self, slow: bool, first: u64, last: u64) -> Vec<u64> {
        let step = if slow || self.quick { 16 } else { 4 };
        let sizes = std::iter::successors(Some(SMALL_BYTES), |size| Some(size * step));
        sizes.skip_while(|&size| size < first).take_while(|&size| size <= last).collect()
    }
}

impl Task {
    /// How many times it runs in a session that repeats so often.
    pub fn times(&self, repetitions: u32) -> u32 {
        match self.turns {
            Turns::Once => 1,
            Turns::Usual => repetitions,
            Turns::Paired => PAIRS * repetitions,
        }
    }

    /// Whether two tasks differ only in the way, and perhaps in arguments that go with it; or are run by turns all the same.
    pub fn is_beside(&self, other: &Self) -> bool {
        let point = |task: &Self| (task.figure, task.program, task.place, task.ranks);
        let is_paired = |task: &Self| task.turns == Turns::Paired;
        is_paired(self) && is_paired(other)
            || point(self) == point(other) && self.arguments.last() == other.arguments.last()
    }

    fn new(figure: Figure, program: Program, engine: Engine, place: Place, ranks: u32) -> Self {
        Task {
            figure,
            program,
            arguments: Vec::new(),
            engine,
            place,
            ranks,
            setting: None,
            start: None,
            turns: Turns::Usual,
            limit_s: 120,
        }
    }

    fn arguments(mut self, arguments: &[(&str, String)]) -> Self {
        self.arguments =
            arguments.iter().flat_map(|(name, value)| [(*name).to_owned(), value.clone()]).collect();
        self
    }

    /// The first program that each way has to run.
    pub fn hello(engine: Engine) -> Self {
        Task::new(Figure::TwoHosts, Program::Mpi("hello"), engine, Place::TwoHosts, 2)
    }
}

/// The tasks of the chosen figures, or of all, for the ways that work. Ways of one point follow one another.
pub fn tasks(figures: &[Figure], scale: &Scale, ways: &[Engine]) -> Vec<Task> {
    let chosen = if figures.is_empty() { Figure::value_variants() } else { figures };
    chosen.iter().flat_map(|&figure| tasks_of(figure, scale, ways)).collect()
}

fn tasks_of(figure: Figure, scale: &Scale, ways: &[Engine]) -> Vec<Task> {
    match figure {
        // Inside a host nothing is copied to another one.
        Figure::OneHost => {
            let ways: Vec<Engine> = ways.iter().copied().filter(|way| *way != Engine::PostriderScp).collect();
            messages(figure, scale, &ways, Place::OneHost)
        }
        Figure::TwoHosts => {
            let of = |ways: &[Engine]| messages(figure, scale, ways, Place::TwoHosts);
            let (judged, others): (Vec<Engine>, Vec<Engine>) =
                ways.iter().partition(|way| **way == Engine::Postrider);
            let mut tasks = vec![pipe(scale)];
            tasks.extend(of(&judged));
            tasks.iter_mut().for_each(|task| task.turns = Turns::Paired);
            tasks.extend(of(&others));
            tasks
        }
        Figure::Broadcast => scale.ranks.iter().flat_map(|&ranks| broadcast(scale, ways, ranks)).collect(),
        Figure::Aggregation => {
            // Every second number of ranks, from 2 on.
            let ranks = scale.ranks.iter().filter(|ranks| ranks.trailing_zeros() % 2 == 1);
            ranks.flat_map(|&ranks| aggregation(scale, ways, ranks)).collect()
        }
        Figure::Start => starts(scale, ways),
        Figure::Simulation => Vec::new(),
    }
}

/// A message takes so long that each is measured on its own.
fn is_slow(way: Engine) -> bool {
    matches!(way, Engine::PostriderScp | Engine::PostriderCentralSlow)
}

/// How long a run in nodes may take; the slow central directory serves so many processes one after the other.
fn limit_s(way: Engine, ranks: u32) -> u64 {
    if is_slow(way) { 300 + u64::from(ranks) } else { 120 + u64::from(ranks) / 4 }
}

fn list(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn messages(figure: Figure, scale: &Scale, ways: &[Engine], place: Place) -> Vec<Task> {
    let parts: &[(u64, u64)] = if scale.quick { &[(1, MIB)] } else { &[(1, MIB), (2 * MIB, GIB)] };
    let mut tasks = Vec::new();
    for &(first, last) in parts {
        for (program, operation) in [("latency", ""), ("bandwidth", "one-way"), ("bandwidth", "rate")] {
            for &way in ways.iter().filter(|_| operation != "rate" || first == 1) {
                let mut sizes = scale.sizes(is_slow(way), first, last);
                if operation.is_empty() && first == 1 {
                    sizes.insert(0, 1);
                }
                if operation == "rate" {
                    sizes = vec![SMALL_BYTES];
                }
                let (most, window) = if is_slow(way) { (1, 4) } else { (1 << 20, 64) };
                let task = Task::new(figure, Program::Mpi(program), way, place, 2);
                let mut task = task.arguments(&[
                    ("--sizes", list(&sizes)),
                    ("--budget-ms", scale.budget_ms.to_string()),
                    ("--iterations-max", most.to_string()),
                    ("--window", window.to_string()),
                    ("--operation", operation.to_owned()),
                ]);
                if first > 1 || is_slow(way) {
                    task.turns = Turns::Once;
                }
                task.limit_s = if first > 1 { 900 } else { 240 };
                tasks.push(task);
            }
        }
    }
    tasks
}

/// The floor of everything between two hosts.
fn pipe(scale: &Scale) -> Task {
    let last = if scale.quick { MIB } else { GIB };
    let mut sizes = vec![1];
    sizes.extend(scale.sizes(false, 1, last));
    let mut task = Task::new(Figure::TwoHosts, Program::Pipe, Engine::Floor, Place::TwoHosts, 2);
    task.arguments =
        std::iter::once(u64::from(scale.budget_ms)).chain(sizes).map(|n| n.to_string()).collect();
    task.limit_s = 600;
    task
}

/// The paper's broadcast, from the root to each process through the central directory, and the one that knows the nodes.
fn broadcast(scale: &Scale, ways: &[Engine], ranks: u32) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (way, setting) in [
        (Engine::Postrider, None),
        (Engine::PostriderFile, None),
        (Engine::PostriderCentral, Some("POSTRIDER_BCAST=flat")),
        (Engine::PostriderCentralSlow, Some("POSTRIDER_BCAST=flat")),
    ] {
        let iterations = match is_slow(way) {
            true => 1,
            false if setting.is_some() || scale.quick => 3,
            false => 15,
        };
        let task = Task::new(Figure::Broadcast, Program::Mpi("broadcast"), way, Place::Nodes, ranks);
        let mut task = task.arguments(&[
            ("--iterations-max", iterations.to_string()),
            ("--sizes", BROADCAST_BYTES.to_string()),
        ]);
        task.setting = setting;
        if is_slow(way) {
            task.turns = Turns::Once;
        }
        task.limit_s = limit_s(way, ranks);
        tasks.push(task);
    }
    tasks.retain(|task| ways.contains(&task.engine));
    tasks
}

fn aggregation(scale: &Scale, ways: &[Engine], ranks: u32) -> Vec<Task> {
    let mut tasks = Vec::new();
    for &bytes in if scale.quick { &[MIB][..] } else { &[MIB, GIB] } {
        for (way, setting) in [
            (Engine::Postrider, None),
            (Engine::PostriderFile, None),
            (Engine::PostriderCentral, Some("POSTRIDER_GATHER=linear")),
            (Engine::PostriderCentralSlow, Some("POSTRIDER_GATHER=linear")),
        ] {
            let task = Task::new(Figure::Aggregation, Program::Mpi("aggregation"), way, Place::Nodes, ranks);
            let iterations = if is_slow(way) { 1 } else { 3 };
            let mut task = task
                .arguments(&[("--iterations-max", iterations.to_string()), ("--sizes", bytes.to_string())]);
            task.setting = setting;
            if is_slow(way) || bytes > MIB {
                task.turns = Turns::Once;
            }
            task.limit_s = limit_s(way, ranks);
            tasks.push(task);
        }
    }
    tasks.retain(|task| ways.contains(&task.engine));
    tasks
}

/// Jobs that do nothing: one that is no MPI program on two hosts, and one on as many nodes as there are.
fn starts(scale: &Scale, ways: &[Engine]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for way in [Engine::Postrider, Engine::Mpich] {
        let mut task = Task::new(Figure::Start, Program::True, way, Place::TwoHosts, 2);
        task.start = Some(START_OF_TRUE);
        tasks.push(task);
    }
    for way in [Engine::Postrider, Engine::PostriderFile] {
        let most = scale.ranks.iter().copied().max().unwrap_or(NODE_RANKS);
        let mut task = Task::new(Figure::Start, Program::Mpi("hello"), way, Place::Nodes, most);
        task.start = Some(START);
        task.limit_s = 300;
        tasks.push(task);
    }
    tasks.retain(|task| ways.contains(&task.engine));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAYS: [Engine; 3] = [Engine::Postrider, Engine::PostriderScp, Engine::PostriderCentralSlow];

    #[test]
    fn sizes_are_those_of_the_paper() {
        let scale = Scale::new(false, &[]);
        let sizes = scale.sizes(false, 1, GIB);
        assert_eq!((sizes[0], sizes[1], sizes.last()), (16, 64, Some(&GIB)));
        assert_eq!(scale.sizes(true, 2 * MIB, GIB), [16 * MIB, 256 * MIB]);
        assert_eq!(scale.ranks.last(), Some(&2048));
    }

    #[test]
    fn nothing_is_copied_to_another_host_inside_one() {
        let tasks = tasks(&[Figure::OneHost], &Scale::new(true, &[]), &WAYS);
        assert!(tasks.iter().all(|task| task.engine != Engine::PostriderScp && task.place == Place::OneHost));
        assert!(tasks.iter().any(|task| task.engine == Engine::PostriderCentralSlow));
    }

    #[test]
    fn the_central_broadcast_is_the_one_of_the_paper() {
        let tasks = tasks(&[Figure::Broadcast], &Scale::new(false, &[64]), &WAYS);
        let settings: Vec<_> = tasks.iter().map(|task| (task.engine, task.setting)).collect();
        let central = (Engine::PostriderCentralSlow, Some("POSTRIDER_BCAST=flat"));
        assert_eq!(settings, [(Engine::Postrider, None), central]);
    }
}
