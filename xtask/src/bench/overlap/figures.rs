//! The figures of the paper and of the list, and what each of them runs: which program, where, in which manners.

use clap::ValueEnum;

use super::super::engines::Engine;
use super::ways::{Manner, Site};

/// What a session can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// The exchange of borders.
    #[value(name = "2")]
    Border,
    /// A file that rank 0 reads and distributes, gathers and writes.
    #[value(name = "3-4")]
    Root,
    /// A file of which each rank reads and writes its rows.
    #[value(name = "5-6")]
    Rows,
    /// Small pieces, checkpoints, strided reads, reading beside work.
    Files,
    /// The whole solver, messages and files.
    Solver,
    /// The solver that reads its neighbours' borders from a file.
    Integrity,
}

impl Figure {
    /// The name in the results.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        let name = value.as_ref().map_or("", |value| value.get_name());
        if name.starts_with(char::is_numeric) { format!("figure {name}") } else { name.to_owned() }
    }
}

/// The same work in several manners, which take turns.
#[derive(Clone, Debug)]
pub struct Point {
    /// The figure that it belongs to.
    pub figure: Figure,
    /// Where.
    pub site: Site,
    /// Number of ranks.
    pub ranks: u32,
    /// What the layer works on: messages, files or all.
    pub part: &'static str,
    /// Each manner with the program and its arguments.
    pub runs: Vec<(Manner, Vec<String>)>,
    /// Seconds after which a run is ended.
    pub limit_s: u64,
}

/// How much is measured.
pub struct Scale {
    /// Few sizes, few ranks.
    pub quick: bool,
    /// Time for each size.
    pub budget_ms: u32,
    /// Numbers of ranks.
    pub ranks: Vec<u32>,
}

/// Operations of files.c: name, ranks, bytes of a rank, and of one in the quick session.
const OPERATIONS: [(&str, u32, u64, u64); 7] = [
    ("rows", 1, 32 << 20, 2 << 20),
    ("elements", 1, 128 << 10, 16 << 10),
    ("lines", 1, 16 << 20, 2 << 20),
    ("checkpoints", 1, 64 << 20, 8 << 20),
    ("checkpoint-rows", 1, 64 << 20, 2 << 20),
    ("strided", 1, 16 << 20, 2 << 20),
    ("read-compute", 1, 64 << 20, 4 << 20),
];
/// All manners of the exchange of borders.
const ALL: &[Manner] = &[
    Manner::Plain,
    Manner::ByHand,
    Manner::ByHandLate,
    Manner::Layer,
    Manner::Touch,
    Manner::Last,
    Manner::OneView,
    Manner::TwoViews,
    Manner::PreEmptive,
];
/// Where the layer has to see that there is nothing to gain, and for files.
const FEW: &[Manner] = &[Manner::Plain, Manner::ByHand, Manner::Layer];
/// Where nothing is written by hand.
const TWO: &[Manner] = &[Manner::Plain, Manner::Layer];

impl Scale {
    /// The quick session or the full one, on these numbers of ranks where any are given.
    pub fn new(quick: bool, ranks: &[u32]) -> Self {
        let usual: &[u32] = if quick { &[2] } else { &[2, 4, 9] };
        let ranks = if ranks.is_empty() { usual } else { ranks };
        Scale { quick, budget_ms: if quick { 100 } else { 300 }, ranks: ranks.to_vec() }
    }

    /// The sides of a rank's part from 128 to `last`, each so many times the one before; in the quick session an eighth of the last alone.
    fn sides(&self, times: u64, last: u64) -> Vec<u64> {
        let sides = std::iter::successors(Some(128), |side| Some(times * side));
        if self.quick { vec![last / 8] } else { sides.take_while(|&side| side <= last).collect() }
    }
}

/// What is run for the chosen figures, or for all, with these libraries and manners. Nothing is left where a manner has nothing to be compared
/// with.
pub fn points(figures: &[Figure], scale: &Scale, engines: &[Engine], manners: &[Manner]) -> Vec<Point> {
    let chosen = if figures.is_empty() { Figure::value_variants() } else { figures };
    let mut points: Vec<Point> = chosen.iter().flat_map(|&figure| points_of(figure, scale)).collect();
    points.retain_mut(|point| {
        point.runs.retain(|(manner, _)| manners.is_empty() || manners.contains(manner));
        engines.contains(&point.site.engine()) && !point.runs.is_empty()
    });
    points
}

fn points_of(figure: Figure, scale: &Scale) -> Vec<Point> {
    let each = |sites: &[Site], (times, last): (u64, u64), point: &dyn Fn(Site, u32, u64) -> Point| {
        let mut points = Vec::new();
        for &site in sites {
            for &ranks in &scale.ranks {
                points.extend(scale.sides(times, last).into_iter().map(|side| point(site, ranks, side)));
            }
        }
        points
    };
    let sites = [Site::MpichSlow, Site::PostriderSlow, Site::MpichDisk, Site::PostriderDisk];
    match figure {
        Figure::Border => {
            let sites = [Site::MpichLinks, Site::PostriderLinks, Site::MpichMemory, Site::PostriderMemory];
            each(&sites, (2, 4096), &|site, ranks, side| border(scale, site, ranks, side))
        }
        Figure::Root => each(&sites, (4, 2048), &|site, ranks, side| solver(figure, site, ranks, side)),
        Figure::Rows => each(&sites, (4, 2048), &|site, ranks, side| solver(figure, site, ranks, side)),
        Figure::Solver => each(&sites, (4, 1024), &|site, ranks, side| solver(figure, site, ranks, side)),
        Figure::Integrity => each(&sites, (4, 128), &|site, ranks, side| solver(figure, site, ranks, side)),
        Figure::Files => sites
            .into_iter()
            .flat_map(|site| OPERATIONS.map(|operation| file(scale, site, operation)))
            .collect(),
    }
}

fn words(program: &str, arguments: &[(&str, &str)]) -> Vec<String> {
    let arguments = arguments.iter().flat_map(|&(name, value)| [name, value]);
    std::iter::once(program).chain(arguments).map(str::to_owned).collect()
}

fn border(scale: &Scale, site: Site, ranks: u32, side: u64) -> Point {
    let manners = if site.is_one_host() { FEW } else { ALL };
    let run = |&manner: &Manner| {
        let operations = match manner {
            Manner::ByHand => "border-by-hand,border-before-work-by-hand",
            Manner::ByHandLate => "border-before-work-late",
            _ => "border,border-before-work",
        };
        let (side, budget) = (side.to_string(), scale.budget_ms.to_string());
        let arguments = [("--operation", operations), ("--sizes", &*side), ("--budget-ms", &*budget)];
        (manner, words("border", &arguments))
    };
    let runs = manners.iter().map(run).collect();
    Point { figure: Figure::Border, site, ranks, part: "messages", runs, limit_s: 60 }
}

/// The solver: figures of the record begin with `root`, `rows`, `solver` and `integrity`.
fn solver(figure: Figure, site: Site, ranks: u32, side: u64) -> Point {
    let (label, manners, part, exchange, io, iterations, every) = match figure {
        Figure::Root => ("root", FEW, "files", "sendrecv", "root", "3", "1"),
        Figure::Rows => ("rows", FEW, "files", "sendrecv", "rows", "3", "1"),
        Figure::Integrity => ("integrity", TWO, "all", "file", "rows", "10", "5"),
        _ => ("solver", FEW, "all", "sendrecv", "root", "150", "50"),
    };
    let run = |&manner: &Manner| {
        let by_hand = manner == Manner::ByHand;
        let (exchange, io) = if by_hand { ("persistent", "collective") } else { (exchange, io) };
        let side = side.to_string();
        let arguments = [
            ("--label", label),
            ("--exchange", exchange),
            ("--io", io),
            ("--iterations", iterations),
            ("--every", every),
            ("--directory", site.directory()),
            ("--sizes", &*side),
        ];
        (manner, words("sor", &arguments))
    };
    Point { figure, site, ranks, part, runs: manners.iter().map(run).collect(), limit_s: 240 }
}

fn file(scale: &Scale, site: Site, (name, ranks, full, quick): (&str, u32, u64, u64)) -> Point {
    let bytes = if scale.quick { quick } else { full }.to_string();
    let arguments = [("--operation", name), ("--sizes", &*bytes), ("--directory", site.directory())];
    let runs = TWO.iter().map(|&manner| (manner, words("files", &arguments))).collect();
    Point { figure: Figure::Files, site, ranks, part: "files", runs, limit_s: 120 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_is_beside_the_layer_where_messages_are_slow_and_nowhere_else() {
        let points = points(&[Figure::Border], &Scale::new(false, &[9]), &[Engine::Mpich], &[]);
        let of = |site| points.iter().filter(move |point| point.site == site);
        assert_eq!(of(Site::MpichLinks).count(), 6);
        assert!(of(Site::MpichLinks).all(|point| point.runs.len() == ALL.len()));
        assert!(of(Site::MpichMemory).all(|point| point.runs.len() == FEW.len()));
        assert!(points.iter().all(|point| point.site.engine() == Engine::Mpich));
    }

    #[test]
    fn by_hand_is_another_program() {
        let point = solver(Figure::Rows, Site::MpichSlow, 4, 256);
        let line = |manner| {
            let (_, words) = point.runs.iter().find(|run| run.0 == manner).expect("the manner");
            words.join(" ")
        };
        assert!(line(Manner::Layer).contains("--io rows") && line(Manner::Plain).contains("--io rows"));
        assert!(line(Manner::ByHand).contains("--exchange persistent --io collective"));
    }
}
