//! The figures, and the tasks that each of them consists of: which program, with which sizes, on how many ranks.
//!
//! A figure brings its floors with it, so that they are measured in the same minutes as the engines.

use clap::ValueEnum;

use super::engines::{Engine, Place};
use super::io::Way;
use super::octave::Front;

/// What the bench can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// One-way time of a message, between two ranks and in pairs.
    Latency,
    /// Bandwidth in one direction.
    Bandwidth,
    /// Bandwidth in both directions at once.
    Bidirectional,
    /// Messages of 8 bytes per second.
    MessageRate,
    /// All collective operations.
    Collectives,
    /// All operations on windows.
    OneSided,
    /// How much of the time of nonblocking operations is hidden behind computation.
    Overlap,
    /// Start to end of a program that does nothing.
    Startup,
    /// Memory of a rank.
    Memory,
    /// The file transport beside its system calls and cp.
    File,
    /// Messages between two Octave processes.
    Octave,
    /// Files; `cargo xtask bench io` has their tasks.
    #[value(skip)]
    Io,
}

impl Figure {
    /// The name on the command line and in the results.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }
}

/// Which program a task starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// One of the MPI programs, under the engine's launcher.
    Mpi(&'static str),
    /// An Octave script, under the engine's launcher.
    Octave(&'static str),
    /// A program about files, under the engine's launcher.
    Io {
        /// Its name.
        name: &'static str,
        /// The ways, beside the engines, on which it says something.
        ways: &'static [Way],
    },
    /// A program without MPI.
    Floor(&'static str),
    /// A program that there is for each of these front ends. Its arguments are the time for each size, and sizes.
    Front {
        /// Its name.
        name: &'static str,
        /// The front ends on which it says something.
        fronts: &'static [Front],
    },
}

/// One program with its arguments, to be run on several engines.
#[derive(Clone, Debug)]
pub struct Task {
    /// The figure that it belongs to.
    pub figure: Figure,
    /// What is started.
    pub program: Program,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it measures, where it goes on after one that fails.
    pub operations: Vec<&'static str>,
    /// Number of ranks.
    pub ranks: u32,
    /// The directory for messages in files.
    pub place: Place,
    /// How often it runs in each repetition.
    pub turns: u32,
    /// How many starts make one sample of the start-up time; 0 where the program itself measures.
    pub starts: u32,
    /// Seconds after which a run is ended.
    pub limit_s: u64,
}

impl Task {
    /// A program on so many ranks.
    pub fn new(figure: Figure, program: Program, ranks: u32, arguments: Vec<String>) -> Self {
        let (place, operations) = (Place::Usual, Vec::new());
        Task { figure, program, arguments, operations, ranks, place, turns: 1, starts: 0, limit_s: 90 }
    }

    /// A program of the front ends: time for each size, sizes.
    pub fn of_fronts(
        name: &'static str,
        fronts: &'static [Front],
        ranks: u32,
        (budget_ms, sizes): (u32, &[u64]),
    ) -> Self {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let arguments = vec![budget_ms.to_string(), sizes.join(",")];
        Task { limit_s: 240, ..Task::new(Figure::Octave, Program::Front { name, fronts }, ranks, arguments) }
    }

    fn in_turns(mut self, turns: u32) -> Self {
        self.turns = turns;
        self
    }

    /// The same with messages in files of this directory.
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// The first program that an engine has to run.
    pub fn hello() -> Self {
        Task { limit_s: 20, ..Task::new(Figure::Startup, Program::Mpi("hello"), 2, Vec::new()) }
    }

    /// What it is called while it runs, and where it fails.
    pub fn name(&self) -> String {
        match self.program {
            Program::Front { name, .. } | Program::Io { name, .. } => name.to_owned(),
            _ => self.figure.name(),
        }
    }

    /// The engines, out of the chosen ones, on which this task says something.
    pub fn engines(&self, chosen: &[Engine]) -> Vec<Engine> {
        let fits = |engine: Engine| match (self.figure, self.program) {
            (_, Program::Floor(_)) => false,
            (_, Program::Front { fronts, .. }) => fronts.iter().any(|&front| engine == Engine::Front(front)),
            (_, Program::Io { ways, .. }) => match engine {
                Engine::Io(way) => ways.contains(&way),
                _ => true,
            },
            (Figure::File, _) => engine == Engine::PostriderFile,
            (Figure::Octave, _) if self.place == Place::Usual => engine == Engine::Postrider,
            (Figure::Octave, _) => engine == Engine::PostriderFile,
            _ => true,
        };
        match self.program {
            Program::Floor(_) => vec![Engine::Floor],
            _ => chosen.iter().copied().filter(|&engine| fits(engine)).collect(),
        }
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// The size of the large message of the file transport and of Octave.
pub const LARGE_BYTES: u64 = 100 * MIB;

/// The collective operations, as `bench/src/collective.c` names them.
pub const COLLECTIVES: [&str; 21] = [
    "barrier",
    "ibarrier",
    "bcast",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "iallreduce",
    "reduce_scatter_block",
    "reduce_scatter",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_alltoall",
];

/// The operations on windows, as `bench/src/one_sided.c` names them.
pub const ONE_SIDED: [&str; 11] = [
    "put",
    "get",
    "put_created",
    "get_created",
    "accumulate",
    "get_accumulate",
    "fetch_and_op",
    "compare_and_swap",
    "lock_put_unlock",
    "put_fence",
    "post_start_complete_wait",
];

/// How much is measured: the full session or the quick one.
pub struct Scale {
    quick: bool,
    ranks: Vec<u32>,
    /// Time for each size, when every rank has a core.
    pub budget_ms: u32,
    turns: u32,
    starts: u32,
}

impl Scale {
    /// The quick session or the full one, on these numbers of ranks where any are given.
    pub fn new(quick: bool, ranks: &[u32]) -> Self {
        let usual: &[u32] = if quick { &[2, 4, 8] } else { &[2, 4, 8, 16] };
        let ranks = if ranks.is_empty() { usual } else { ranks }.to_vec();
        let (budget_ms, turns, starts) = if quick { (15, 1, 3) } else { (50, 3, 7) };
        Scale { quick, ranks, budget_ms, turns, starts }
    }

    /// Powers of two from `first` to `last`; every fourth of them, and the last, in a quick session.
    fn sizes(&self, first: u64, last: u64) -> Vec<u64> {
        let step = if self.quick { 16 } else { 2 };
        let mut sizes: Vec<u64> = std::iter::successors(Some(first), |size| Some(size * step))
            .take_while(|size| *size < last)
            .collect();
        sizes.push(last);
        sizes
    }

    fn bandwidth_sizes(&self) -> Vec<u64> {
        self.sizes(KIB, if self.quick { 64 * MIB } else { 256 * MIB })
    }

    /// In how many turns a program measures short times, and its time for each size in one of them. Two ranks differ most from one moment
    /// to the next, so their time comes in parts. Ranks that share cores are slower and less regular: they get twice the time, at once.
    fn turns(&self, ranks: u32) -> (u32, u32) {
        if ranks > 2 { (1, 2 * self.budget_ms) } else { (self.turns, self.budget_ms / self.turns) }
    }
}

/// The arguments of an MPI program of the bench; what is empty is left out.
pub fn arguments(budget_ms: u32, sizes: &[u64], operation: &str) -> Vec<String> {
    let mut arguments = vec!["--budget-ms".into(), budget_ms.to_string()];
    if !sizes.is_empty() {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        arguments.extend(["--sizes".into(), sizes.join(",")]);
    }
    if !operation.is_empty() {
        arguments.extend(["--operation".into(), operation.into()]);
    }
    arguments
}

/// The tasks of the chosen figures (all, when none is chosen), in the order in which they run.
pub fn tasks(figures: &[Figure], scale: &Scale) -> Vec<Task> {
    let is_chosen = |figure: &Figure| figures.is_empty() || figures.contains(figure);
    Figure::value_variants()
        .iter()
        .filter(|figure| is_chosen(figure))
        .flat_map(|&f| tasks_of(f, scale))
        .collect()
}

fn tasks_of(figure: Figure, scale: &Scale) -> Vec<Task> {
    let pair = |program, sizes: &[u64], operation| {
        vec![Task::new(figure, Program::Mpi(program), 2, arguments(scale.budget_ms, sizes, operation))]
    };
    match figure {
        Figure::Latency => latency(scale),
        Figure::Bandwidth => {
            let mut tasks = copies(figure, scale, &scale.bandwidth_sizes());
            tasks.extend(pair("bandwidth", &scale.bandwidth_sizes(), "one-way"));
            tasks
        }
        Figure::Bidirectional => pair("bandwidth", &scale.bandwidth_sizes(), "both-ways"),
        Figure::MessageRate => pair("bandwidth", &[8], "rate"),
        Figure::Collectives => {
            let mut tasks = futex_pairs(figure, scale);
            tasks.extend(operations(figure, scale, "collective"));
            tasks
        }
        Figure::OneSided => operations(figure, scale, "one_sided"),
        Figure::Overlap => {
            let sizes = scale.sizes(4 * KIB, 64 * MIB);
            let given = arguments(scale.budget_ms, &sizes, "all");
            vec![Task { limit_s: 240, ..Task::new(figure, Program::Mpi("overlap"), 2, given) }]
        }
        Figure::Startup => startup(scale),
        Figure::Memory => {
            let task = |&ranks: &u32| Task::new(figure, Program::Mpi("memory"), ranks, Vec::new());
            scale.ranks.iter().map(task).collect()
        }
        Figure::File => {
            [Place::Tmpfs, Place::Tmpdir].into_iter().flat_map(|place| file(scale, place)).collect()
        }
        Figure::Octave => octave(scale),
        Figure::Io => Vec::new(),
    }
}

fn latency(scale: &Scale) -> Vec<Task> {
    let figure = Figure::Latency;
    let mut sizes = vec![0, 8];
    sizes.extend(scale.sizes(1, 4 * MIB));
    sizes.sort_unstable();
    sizes.dedup();
    let ring = Task::new(figure, Program::Floor("floor_ring"), 2, vec![scale.budget_ms.to_string()]);
    let mut tasks = vec![ring];
    tasks.extend(copies(figure, scale, &scale.sizes(KIB, 4 * MIB)));
    tasks.extend(futex_pairs(figure, scale));
    for &ranks in &scale.ranks {
        let few = if scale.quick { vec![8] } else { vec![8, KIB, 64 * KIB] };
        let sizes = if ranks == 2 { &sizes } else { &few };
        let (turns, budget_ms) = scale.turns(ranks);
        let given = arguments(budget_ms, sizes, "");
        tasks.push(Task::new(figure, Program::Mpi("latency"), ranks, given).in_turns(turns));
    }
    tasks
}

/// The floor of large messages, a copy inside a process and one between processes.
fn copies(figure: Figure, scale: &Scale, sizes: &[u64]) -> Vec<Task> {
    let mut arguments = vec![scale.budget_ms.to_string()];
    arguments.extend(sizes.iter().map(u64::to_string));
    vec![Task::new(figure, Program::Floor("floor_copy"), 2, arguments)]
}

/// The floor of messages between more ranks than cores.
fn futex_pairs(figure: Figure, scale: &Scale) -> Vec<Task> {
    let arguments = |ranks: u32| vec![ranks.to_string(), (2 * scale.budget_ms).to_string()];
    let task = |&ranks: &u32| Task::new(figure, Program::Floor("floor_futex"), ranks, arguments(ranks));
    scale.ranks.iter().map(task).collect()
}

/// All operations of a program, one after the other in one job for each number of ranks: with one job for each there would be a
/// thousand starts in a session. Ranks that share cores make some engines so slow that two sizes have to do.
fn operations(figure: Figure, scale: &Scale, program: &'static str) -> Vec<Task> {
    let task = |&ranks: &u32| {
        let sizes: Vec<u64> = match (ranks, scale.quick) {
            (2, _) => scale.sizes(8, MIB).into_iter().step_by(if scale.quick { 1 } else { 2 }).collect(),
            (_, true) => vec![8],
            (_, false) => vec![8, 16 * KIB],
        };
        let (turns, budget_ms) = scale.turns(ranks);
        let given = arguments(budget_ms * 2 / 5, &sizes, "all");
        Task { limit_s: 120, turns, ..Task::new(figure, Program::Mpi(program), ranks, given) }
    };
    scale.ranks.iter().map(task).collect()
}

fn startup(scale: &Scale) -> Vec<Task> {
    let start = |&ranks: &u32| Task {
        starts: scale.starts,
        limit_s: 20,
        ..Task::new(Figure::Startup, Program::Mpi("hello"), ranks, Vec::new())
    };
    scale.ranks.iter().map(start).collect()
}

fn file(scale: &Scale, place: Place) -> Vec<Task> {
    let sizes = [16, LARGE_BYTES];
    let budget_ms = 4 * scale.budget_ms;
    let directory = place.directory().map(|path| path.display().to_string()).unwrap_or_default();
    let floor = vec![directory, budget_ms.to_string(), sizes[0].to_string(), sizes[1].to_string()];
    vec![
        Task::new(Figure::File, Program::Floor("floor_file"), 2, floor).at(place),
        Task::new(Figure::File, Program::Mpi("latency"), 2, arguments(budget_ms, &sizes, "")).at(place),
    ]
}

fn octave(scale: &Scale) -> Vec<Task> {
    let sizes = format!("16,{LARGE_BYTES}");
    let arguments = ["matlabmpi", &(8 * scale.budget_ms).to_string(), &sizes, "octave"];
    let arguments = arguments.map(str::to_owned).to_vec();
    let task = Task::new(Figure::Octave, Program::Octave("latency.m"), 2, arguments);
    [Place::Usual, Place::Tmpfs, Place::Tmpdir].into_iter().map(|place| task.clone().at(place)).collect()
}
