//! The figures of the papers and of the comparison, and the tasks that each of them consists of.

use clap::ValueEnum;

use super::super::engines::Place;
use super::super::figures::Task;
use super::fronts::{FILES, Front, LARGE, MESSAGES, STARTS, VALUES};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The size for which latency is judged.
pub const SMALL_BYTES: u64 = 16;
/// The size of the broadcast.
pub const BROADCAST_BYTES: u64 = KIB;
/// How many short strings are in a cell: `string 1`, `string 2`, and so on.
const STRINGS: u64 = 100_000;
/// How many characters these are.
pub const STRINGS_BYTES: u64 = 7 * STRINGS + 488_895;
/// Points of the Mandelbrot set on each side.
const WIDTH: u64 = 400;
/// The largest message that is written as text in a session.
const TEXT_BYTES_MAX: u64 = 4 * MIB;

const PMATLAB: &[Front] = &[Front::OctavePmatlab];
const PYTHON: &[Front] = &[Front::PythonValues, Front::PythonArrays];

/// What a session of the front ends can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// Figure 1: messages from 4 KiB to 256 MiB to and fro.
    Bandwidth,
    /// Figure 2: messages of 16 B to and fro.
    Latency,
    /// Figure 3: broadcasts of 1 KiB to 2, 4, 8 and 16 ranks.
    Broadcast,
    /// Figure 5: parallel efficiency of a Mandelbrot set.
    Mandelbrot,
    /// Messages whose sender computes at once.
    SenderComputes,
    /// Many short strings in a cell.
    Strings,
    /// Start to end of programs that do nothing.
    Start,
    /// pMatlab's Stream, FFT, HPL and RandomAccess.
    Pmatlab,
    /// Aggregation of a distributed array over hosts of a bed.
    Agg,
    /// Table 2: what has to be learnt, and what there is.
    Table2,
}

/// How much is measured.
pub struct Scale {
    /// Few sizes, few ranks.
    pub quick: bool,
    /// Time for each size.
    pub budget_ms: u32,
    ranks: Vec<u32>,
}

impl Scale {
    /// The quick session or the full one, on these numbers of ranks where any are given.
    pub fn new(quick: bool, ranks: &[u32]) -> Self {
        let usual: &[u32] = if quick { &[2, 4] } else { &[2, 4, 8, 16] };
        let ranks = if ranks.is_empty() { usual } else { ranks }.to_vec();
        Scale { quick, budget_ms: if quick { 10 } else { 50 }, ranks }
    }

    /// Sizes of figure 1: every fourth power of two.
    fn sizes(&self) -> Vec<u64> {
        let (step, last) = if self.quick { (256, MIB) } else { (4, 256 * MIB) };
        std::iter::successors(Some(4 * KIB), |size| Some(size * step))
            .take_while(|&size| size <= last)
            .collect()
    }

    fn most_ranks(&self) -> u32 {
        self.ranks.iter().copied().max().unwrap_or(2)
    }
}

/// The tasks of the chosen figures (all, when none is chosen), in the order in which they run. Hosts are not among them.
pub fn tasks(figures: &[Figure], scale: &Scale) -> Vec<Task> {
    let is_chosen = |figure: &Figure| figures.is_empty() || figures.contains(figure);
    Figure::value_variants().iter().filter(|f| is_chosen(f)).flat_map(|&f| tasks_of(f, scale)).collect()
}

fn tasks_of(figure: Figure, scale: &Scale) -> Vec<Task> {
    let budget = scale.budget_ms;
    let pair = |name, fronts, sizes: &[u64]| Task::of_fronts(name, fronts, 2, (budget, sizes));
    let on =
        |name, fronts, size: u64| move |&ranks: &u32| Task::of_fronts(name, fronts, ranks, (budget, &[size]));
    match figure {
        Figure::Bandwidth => without_long_texts("latency", &scale.sizes(), budget),
        Figure::Latency => {
            let pair = pair("latency", MESSAGES, &[SMALL_BYTES]);
            let on_disk = Task::of_fronts("latency", FILES, 2, (budget, &[SMALL_BYTES, MIB]));
            vec![pair, on_disk.at(Place::Tmpdir)]
        }
        Figure::Broadcast => scale.ranks.iter().map(on("bcast", MESSAGES, BROADCAST_BYTES)).collect(),
        Figure::Mandelbrot => {
            let width = if scale.quick { 120 } else { WIDTH };
            let ranks = [1, 2, 4, 8].iter().filter(|&&ranks| ranks <= scale.most_ranks());
            ranks.map(on("mandelbrot", MESSAGES, width)).collect()
        }
        Figure::SenderComputes => {
            let sizes: &[u64] = if scale.quick { &[KIB, MIB] } else { &[KIB, MIB, 16 * MIB] };
            without_long_texts("sender_computes", sizes, budget)
        }
        Figure::Strings => {
            let count = if scale.quick { STRINGS / 100 } else { STRINGS };
            strings(budget, count)
        }
        Figure::Start => {
            let start =
                |&ranks: &u32| Task { starts: 1, ..Task::of_fronts("start", STARTS, ranks, (0, &[8])) };
            [2, scale.most_ranks()].iter().map(start).collect()
        }
        Figure::Pmatlab => pmatlab(scale),
        Figure::Agg => Vec::new(),
        Figure::Table2 => vec![Task::of_fronts("coverage", PYTHON, 1, (0, &[8]))],
    }
}

/// Text takes so long that its sizes end earlier.
fn without_long_texts(name: &'static str, sizes: &[u64], budget_ms: u32) -> Vec<Task> {
    let (small, large): (Vec<u64>, Vec<u64>) = sizes.iter().partition(|&&size| size <= TEXT_BYTES_MAX);
    let task = |fronts, sizes: &[u64]| Task::of_fronts(name, fronts, 2, (budget_ms, sizes));
    let mut tasks = vec![task(MESSAGES, &small)];
    if !large.is_empty() {
        tasks.push(task(LARGE, &large));
    }
    tasks
}

/// Octave alone is one process.
fn strings(budget_ms: u32, count: u64) -> Vec<Task> {
    let (alone, others): (&[Front], &[Front]) = (&VALUES[VALUES.len() - 1..], &VALUES[..VALUES.len() - 1]);
    let task = |fronts, ranks| Task::of_fronts("strings", fronts, ranks, (budget_ms, &[count]));
    vec![task(others, 2), task(alone, 1), task(alone, 1).at(Place::Tmpdir)]
}

/// The programs of pMatlab's collection, with their sizes: elements of a vector, points, rows, elements of a table.
fn pmatlab(scale: &Scale) -> Vec<Task> {
    let sizes: [(&str, u64); 4] = match scale.quick {
        true => [("stream", 1 << 14), ("fft_four_step", 1 << 12), ("hpl", 64), ("random_access", 1 << 10)],
        false => [("stream", 1 << 22), ("fft_four_step", 1 << 20), ("hpl", 512), ("random_access", 1 << 16)],
    };
    let ranks = [1, 2, 4].into_iter().filter(|&ranks| ranks <= scale.most_ranks());
    let tasks = ranks.flat_map(|ranks| {
        sizes.map(|(name, size)| Task::of_fronts(name, PMATLAB, ranks, (scale.budget_ms, &[size])))
    });
    tasks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_1_goes_from_4_kib_to_256_mib_and_text_not_so_far() {
        let tasks = tasks(&[Figure::Bandwidth], &Scale::new(false, &[]));
        let sizes: Vec<&str> = tasks.iter().map(|task| task.arguments[1].as_str()).collect();
        assert_eq!(sizes, ["4096,16384,65536,262144,1048576,4194304", "16777216,67108864,268435456"]);
        let engine = super::super::super::engines::Engine::Front(Front::FilesText);
        let runs_text: Vec<bool> = tasks.iter().map(|task| !task.engines(&[engine]).is_empty()).collect();
        assert_eq!(runs_text, [true, false]);
    }

    #[test]
    fn ranks_are_those_that_were_asked_for() {
        let tasks = tasks(&[Figure::Broadcast, Figure::Mandelbrot], &Scale::new(false, &[2, 4]));
        let ranks: Vec<u32> = tasks.iter().map(|task| task.ranks).collect();
        assert_eq!(ranks, [2, 4, 1, 2, 4]);
    }
}
