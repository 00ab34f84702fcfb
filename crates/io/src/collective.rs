//! Access by all processes of a file together, in two phases.
//!
//! Where the ranges of processes are interleaved, or short while a request to the file system takes long, few processes, the *aggregators*,
//! access the file for all: each of them has a domain of the file, takes a window of it at a time, gets the bytes of all processes for that
//! window, and writes each run of neighbouring bytes by one call; or reads, and hands out. Otherwise each process accesses the file itself.
//!
//! Aggregators do not write the holes between runs back, as other libraries do under a lock of the file system: those
//! bytes are not theirs, and there are no locks here. Where ranges overlap, the highest rank's bytes win.

use std::collections::BTreeMap;
use std::sync::Arc;

use postrider_abi::MPI_ERR_INTERN;
use postrider_client::{Communicator, Parts};
use postrider_os::process::host_name;

use crate::access::Nearness;
use crate::agreement::agree;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::helpers::{self, Brought};
use crate::hints;
use crate::view::{Block, View};

/// Domains begin at multiples of at least this.
pub const ALIGNMENT: i64 = 64 << 10;

/// Ranges that are not interleaved are worth sending to aggregators if processes have fewer bytes than this on average.
const SMALL: i64 = 64 << 10;

/// With fewer than one byte in so many wanted, windows would be mostly empty.
const SPARSE: i64 = 256;

/// The processes of a file, and which of them access it for the others.
#[derive(Debug)]
pub struct Team {
    /// All processes.
    pub communicator: Communicator,
    /// The ranks of the aggregators.
    pub aggregators: Vec<i32>,
    /// How much of its domain an aggregator takes at a time.
    pub window_bytes: i64,
    /// Domains begin at multiples of this.
    pub alignment: i64,
    /// Whether they access it for the others also where nothing is won by that.
    pub always: bool,
    /// Whether a request to the file system takes longer than sending few bytes to somebody else.
    pub joins_small: bool,
    /// What they read together.
    pub reads: Nearness,
}

/// A host with processes of the file.
#[derive(Debug)]
pub struct Host {
    /// Their ranks.
    ranks: Vec<i32>,
    /// How many of them may access it for others.
    aggregators: i64,
}

/// The hosts, and how many aggregators each has by `cb_config_list`. Collective.
///
/// # Errors
/// What MPI returns.
pub fn hosts(communicator: Communicator, configuration: &str) -> Result<Vec<Host>> {
    let mut first = [i64::from(communicator.rank()?)];
    communicator.of_this_host()?.broadcast(&mut first)?;
    let allowed = hints::of_host(configuration, &host_name());
    let mut hosts = BTreeMap::new();
    for (rank, [first, aggregators]) in (0..).zip(communicator.all_gather([first[0], allowed])?) {
        hosts.entry(first).or_insert(Host { ranks: Vec::new(), aggregators }).ranks.push(rank);
    }
    Ok(hosts.into_values().collect())
}

/// The processes that access a file for all: as many of each host as it may have, or as many altogether as are asked for. If those are
/// more than there are hosts, and nothing is said of hosts, others follow, spread over the ranks.
pub fn aggregators(hosts: &[Host], is_configured: bool, processes: i32, wanted: i64) -> Vec<i32> {
    let allowed = |host: &Host| host.aggregators.min(host.ranks.len() as i64) as usize;
    let listed =
        |turn| hosts.iter().filter(move |host| turn < allowed(host)).map(move |host| host.ranks[turn]);
    let turns = hosts.iter().map(allowed).max().unwrap_or(0);
    let mut chosen: Vec<i32> = (0..turns).flat_map(listed).collect();
    if chosen.is_empty() {
        chosen.extend(hosts.iter().map(|host| host.ranks[0]));
    }
    let wanted = if wanted == 0 { chosen.len() } else { wanted.min(processes.into()) as usize };
    chosen.truncate(wanted);
    let spread = (0..wanted).map(|index| (index * processes as usize / wanted) as i32);
    for rank in spread.chain(0..processes).filter(|_| !is_configured) {
        if chosen.len() < wanted && !chosen.contains(&rank) {
            chosen.push(rank);
        }
    }
    chosen
}

/// A range of the file, and where its bytes are in this process's buffer.
#[derive(Clone, Copy, Debug)]
struct Piece {
    range: Block,
    at: i64,
}

/// What one process accesses: its pieces, by their places in the file.
fn pieces(view: &View, at: i64, bytes: i64) -> Vec<Piece> {
    let mut place = 0;
    let each = |range: Block| {
        place += range.bytes;
        Piece { range, at: place - range.bytes }
    };
    let mut pieces: Vec<Piece> = view.ranges(at, bytes).map(each).collect();
    pieces.sort_by_key(|piece| piece.range.offset);
    pieces
}

/// A plan that all processes have made alike.
#[derive(Debug)]
struct Plan {
    start: i64,
    domain_bytes: i64,
    rounds: i64,
    end: i64,
}

/// How the processes access the file together; none if each is to do it alone.
fn plan(team: &Team, pieces: &[Piece]) -> Result<Option<Plan>> {
    let start = pieces.first().map_or(0, |piece| piece.range.offset);
    let end = pieces.iter().map(|piece| piece.range.end()).max().unwrap_or(0);
    let bytes = pieces.iter().map(|piece| piece.range.bytes).sum();
    let mut all = team.communicator.all_gather([start, end, bytes])?;
    all.retain(|[.., bytes]| *bytes > 0);
    all.sort_unstable();
    let (Some(first), Some(end)) = (all.first(), all.iter().map(|[_, end, _]| *end).max()) else {
        return Ok(None);
    };
    if !team.always && !pays(&all, end, team.joins_small) {
        return Ok(None);
    }
    let start = first[0] - first[0] % team.alignment;
    let share = (end - start + team.aggregators.len() as i64 - 1) / team.aggregators.len() as i64;
    let domain_bytes = (share + team.alignment - 1) / team.alignment * team.alignment;
    let rounds = (domain_bytes.min(end - start) + team.window_bytes - 1) / team.window_bytes;
    Ok(Some(Plan { start, domain_bytes, rounds, end }))
}

/// Whether something is won by aggregators: from the start, the end and the number of bytes of each process that has some, by their starts, and the end of all.
fn pays(all: &[[i64; 3]], end: i64, joins_small: bool) -> bool {
    let total: i64 = all.iter().map(|[.., bytes]| bytes).sum();
    let interleaved = all.windows(2).any(|pair| pair[1][0] < pair[0][1]);
    let is_small = joins_small && all.len() > 1 && total / (all.len() as i64) < SMALL;
    let is_sparse = (end - all[0][0]) / SPARSE > total;
    (interleaved || is_small) && !is_sparse
}

impl Plan {
    /// What aggregator `index` does in a round.
    fn window(&self, team: &Team, index: usize, round: i64) -> Block {
        let domain = self.start + index as i64 * self.domain_bytes;
        let limit = (domain + self.domain_bytes).min(self.end);
        let offset = (domain + round * team.window_bytes).min(limit);
        Block { offset, bytes: (offset + team.window_bytes).min(limit) - offset }
    }

    /// The parts of this process's pieces in the window of each rank; those that aggregate nothing have none.
    fn wanted(&self, team: &Team, pieces: &[Piece], ranks: usize, round: i64) -> Vec<Vec<Piece>> {
        let mut wanted = vec![Vec::new(); ranks];
        for (index, &rank) in team.aggregators.iter().enumerate() {
            wanted[rank as usize] = within(pieces, self.window(team, index, round));
        }
        wanted
    }
}

/// The parts of pieces that are in a window.
fn within(pieces: &[Piece], window: Block) -> Vec<Piece> {
    let last = pieces.partition_point(|piece| piece.range.offset < window.end());
    let cut = |piece: &Piece| {
        let offset = piece.range.offset.max(window.offset);
        let bytes = piece.range.end().min(window.end()) - offset;
        let at = piece.at + offset - piece.range.offset;
        (bytes > 0).then_some(Piece { range: Block { offset, bytes }, at })
    };
    pieces[..last].iter().filter_map(cut).collect()
}

/// What an aggregator does with a window, while processes exchange the bytes of another one.
struct Job {
    /// What processes have sent.
    received: Parts,
    /// What they get.
    answers: Parts,
    buffer: Vec<u8>,
    result: Result<()>,
}

impl Default for Job {
    fn default() -> Self {
        Self { received: Parts::default(), answers: Parts::default(), buffer: Vec::new(), result: Ok(()) }
    }
}

impl Job {
    /// Reads what processes ask for; if that fails they get nothing.
    fn read(&mut self, disk: &Disk) {
        self.answers.clear();
        self.result = read_window(disk, &self.received, &mut self.answers, &mut self.buffer);
        if self.result.is_err() {
            self.answers.clear();
            self.received.iter().for_each(|_| self.answers.add(|_| ()));
        }
    }

    /// Begins it, beside this thread if there is another window.
    fn begin(mut self, plan: &Plan, work: impl FnOnce(&mut Self) + Send + 'static) -> Brought<Self> {
        let work = move || {
            work(&mut self);
            self
        };
        helpers::bring(plan.rounds > 1, work)
    }

    /// Waits until it is done; its result is that of all if no other one has failed.
    fn end(going: &Brought<Self>, result: &mut Result<()>) -> Self {
        let mut job = going.recv().unwrap_or_else(|_| Self {
            result: Err(Error::new(MPI_ERR_INTERN, "a thread that accesses the file has gone")),
            ..Self::default()
        });
        let own = std::mem::replace(&mut job.result, Ok(()));
        if result.is_ok() {
            *result = own;
        }
        job
    }
}

/// Writes together. Collective.
///
/// # Errors
/// What the system says, at any process.
pub fn write(team: &Team, disk: &Arc<Disk>, view: &View, at: i64, bytes: &[u8]) -> Result<()> {
    let pieces = pieces(view, at, bytes.len() as i64);
    let Some(plan) = plan(team, &pieces)? else {
        return agree(team.communicator, crate::access::write(disk, view, at, bytes));
    };
    let ranks = team.communicator.size()? as usize;
    let (mut parts, mut result) = (Parts::default(), Ok(()));
    let (mut going, mut spare): (Option<Brought<Job>>, Option<Job>) = (None, None);
    for round in 0..plan.rounds {
        let wanted = plan.wanted(team, &pieces, ranks, round);
        parts.clear();
        for pieces in &wanted {
            parts.add(|part| pack_write(part, pieces, bytes));
        }
        let mut job = spare.take().unwrap_or_default();
        team.communicator.exchange(&parts, &mut job.received)?;
        spare = going.take().map(|going| Job::end(&going, &mut result));
        if result.is_ok() {
            let disk = Arc::clone(disk);
            going = Some(job.begin(&plan, move |job| {
                job.result = write_window(&disk, &job.received, &mut job.buffer);
            }));
        }
    }
    if let Some(going) = going {
        Job::end(&going, &mut result);
    }
    agree(team.communicator, result)
}

/// Reads together, and returns how many bytes there were before the file ended. Collective.
///
/// # Errors
/// What the system says, at any process.
pub fn read(team: &Team, disk: &Arc<Disk>, view: &View, at: i64, bytes: &mut [u8]) -> Result<usize> {
    let pieces = pieces(view, at, bytes.len() as i64);
    let Some(plan) = plan(team, &pieces)? else {
        return agree(team.communicator, crate::access::read(disk, view, at, bytes, team.reads));
    };
    let ranks = team.communicator.size()? as usize;
    let (mut parts, mut answers, mut result) = (Parts::default(), Parts::default(), Ok(()));
    let (mut going, mut spare): (Option<(Brought<Job>, _)>, Option<Job>) = (None, None);
    let mut there: i64 = pieces.iter().map(|piece| piece.range.bytes).sum();
    // In the last round nothing is asked for.
    for round in 0..=plan.rounds {
        let mut next = None;
        if round < plan.rounds {
            let wanted = plan.wanted(team, &pieces, ranks, round);
            parts.clear();
            for pieces in &wanted {
                parts.add(|part| pack_ranges(part, pieces));
            }
            let (mut job, disk) = (spare.take().unwrap_or_default(), Arc::clone(disk));
            team.communicator.exchange(&parts, &mut job.received)?;
            next = Some((job.begin(&plan, move |job| job.read(&disk)), wanted));
        }
        if let Some((going, wanted)) = std::mem::replace(&mut going, next) {
            let job = Job::end(&going, &mut result);
            team.communicator.exchange(&job.answers, &mut answers)?;
            for (pieces, answer) in wanted.iter().zip(answers.iter()) {
                there = there.min(take(pieces, answer, bytes));
            }
            spare = Some(job);
        }
    }
    agree(team.communicator, result)?;
    Ok(there as usize)
}

/// Ranges as bytes: how many, then each.
fn pack_ranges(part: &mut Vec<u8>, pieces: &[Piece]) {
    if pieces.is_empty() {
        return;
    }
    part.extend((pieces.len() as i64).to_le_bytes());
    for piece in pieces {
        part.extend(piece.range.offset.to_le_bytes());
        part.extend(piece.range.bytes.to_le_bytes());
    }
}

fn pack_write(part: &mut Vec<u8>, pieces: &[Piece], bytes: &[u8]) {
    pack_ranges(part, pieces);
    for piece in pieces {
        part.extend_from_slice(&bytes[piece.at as usize..][..piece.range.bytes as usize]);
    }
}

/// The ranges that a process has sent, and what it has sent behind them.
fn unpack(message: &[u8]) -> (Vec<Block>, &[u8]) {
    let mut numbers = message.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
    let count = numbers.next().unwrap_or(0) as usize;
    let range = |_| Some(Block { offset: numbers.next()?, bytes: numbers.next()? });
    let ranges = (0..count).map_while(range).collect();
    (ranges, message.get(8 + 16 * count..).unwrap_or_default())
}

/// A part of the file in memory: the runs that are in it.
struct Window<'b> {
    runs: Vec<Block>,
    first: i64,
    bytes: &'b mut [u8],
}

impl<'b> Window<'b> {
    /// The one that all these ranges are in, joined where at most `gap` is between them; none if there are no ranges. Its bytes are
    /// whatever was in the buffer.
    fn new<'r>(ranges: impl Iterator<Item = &'r Block>, gap: i64, buffer: &'b mut Vec<u8>) -> Option<Self> {
        let runs = runs(ranges, gap);
        let (first, end) = (runs.first()?.offset, runs.last()?.end());
        let span = (end - first) as usize;
        if buffer.len() < span {
            buffer.resize(span, 0);
        }
        Some(Self { runs, first, bytes: &mut buffer[..span] })
    }

    fn place(&self, range: &Block) -> std::ops::Range<usize> {
        (range.offset - self.first) as usize..(range.end() - self.first) as usize
    }
}

/// Writes what processes have sent for a window.
fn write_window(disk: &Disk, received: &Parts, buffer: &mut Vec<u8>) -> Result<()> {
    let messages: Vec<(Vec<Block>, &[u8])> = received.iter().map(unpack).collect();
    let all = messages.iter().flat_map(|(ranges, _)| ranges);
    let Some(window) = Window::new(all, 0, buffer) else { return Ok(()) };
    for (ranges, mut bytes) in messages {
        for range in &ranges {
            let (now, later) = bytes.split_at(range.bytes as usize);
            let place = window.place(range);
            window.bytes[place].copy_from_slice(now);
            bytes = later;
        }
    }
    window.runs.iter().try_for_each(|run| disk.write(&window.bytes[window.place(run)], run.offset))
}

/// The part of a range before the end of the file.
fn before(range: &Block, end: i64) -> Block {
    Block { offset: range.offset, bytes: (end - range.offset).clamp(0, range.bytes) }
}

/// Reads what processes ask for in a window. An answer is the place where the file was found to end, if it was, and the
/// bytes of the ranges before that.
fn read_window(disk: &Disk, asked: &Parts, answers: &mut Parts, buffer: &mut Vec<u8>) -> Result<()> {
    let asked: Vec<Vec<Block>> = asked.iter().map(|message| unpack(message).0).collect();
    let Some(window) = Window::new(asked.iter().flatten(), ALIGNMENT, buffer) else {
        asked.iter().for_each(|_| answers.add(|_| ()));
        return Ok(());
    };
    let mut end = i64::MAX;
    for run in &window.runs {
        let place = window.place(run);
        let there = disk.read(&mut window.bytes[place], run.offset)? as i64;
        if there < run.bytes {
            end = end.min(run.offset + there);
        }
    }
    for ranges in &asked {
        answers.add(|answer| {
            if !ranges.is_empty() {
                answer.extend(end.to_le_bytes());
            }
            for range in ranges {
                answer.extend_from_slice(&window.bytes[window.place(&before(range, end))]);
            }
        });
    }
    Ok(())
}

/// Ranges joined where they overlap or are at most `gap` apart.
fn runs<'r>(ranges: impl Iterator<Item = &'r Block>, gap: i64) -> Vec<Block> {
    let mut ranges: Vec<Block> = ranges.copied().collect();
    ranges.sort_unstable();
    let mut runs: Vec<Block> = Vec::new();
    for range in ranges {
        match runs.last_mut() {
            Some(last) if range.offset <= last.end() + gap => {
                last.bytes = last.bytes.max(range.end() - last.offset);
            }
            _ => runs.push(range),
        }
    }
    runs
}

/// Stores an aggregator's answer, and returns the place in the buffer from which on there is nothing, if it says so.
fn take(pieces: &[Piece], answer: &[u8], bytes: &mut [u8]) -> i64 {
    let mut there = i64::MAX;
    let Some((end, mut left)) = answer.split_first_chunk::<8>() else { return there };
    let end = i64::from_le_bytes(*end);
    for piece in pieces {
        let valid = before(&piece.range, end).bytes;
        let (now, later) = left.split_at(valid as usize);
        left = later;
        bytes[piece.at as usize..][..valid as usize].copy_from_slice(now);
        if valid < piece.range.bytes {
            there = there.min(piece.at + valid);
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(offset: i64, bytes: i64) -> Block {
        Block { offset, bytes }
    }

    #[test]
    fn runs_join_what_touches() {
        let ranges = [block(10, 5), block(0, 4), block(4, 2), block(12, 8), block(30, 1)];
        assert_eq!(runs(ranges.iter(), 0), [block(0, 6), block(10, 10), block(30, 1)]);
        assert_eq!(runs(ranges.iter(), 4), [block(0, 20), block(30, 1)]);
    }

    #[test]
    fn aggregators_are_as_many_as_are_wanted() {
        let hosts = |aggregators| {
            [Host { ranks: vec![0, 1, 2, 3], aggregators }, Host { ranks: vec![4, 5, 6, 7], aggregators }]
        };
        assert_eq!(aggregators(&hosts(1), false, 8, 0), [0, 4]);
        assert_eq!(aggregators(&hosts(1), false, 8, 1), [0]);
        assert_eq!(aggregators(&hosts(1), false, 8, 4), [0, 4, 2, 6]);
        assert_eq!(aggregators(&hosts(2), true, 8, 0), [0, 4, 1, 5]);
        assert_eq!(aggregators(&hosts(2), true, 8, 7), [0, 4, 1, 5]);
        assert_eq!(aggregators(&hosts(i64::MAX), true, 8, 3), [0, 4, 1]);
        assert_eq!(aggregators(&hosts(0), true, 8, 0), [0, 4]);
        assert_eq!(aggregators(&[Host { ranks: vec![0, 1, 2], aggregators: 1 }], false, 3, 9), [0, 1, 2]);
    }

    #[test]
    fn aggregators_pay_for_what_is_interleaved_and_for_what_is_short_where_requests_take_long() {
        let side_by_side = |bytes: i64| [[0, bytes, bytes], [bytes, 2 * bytes, bytes]];
        assert!(!pays(&side_by_side(100), 200, false) && pays(&side_by_side(100), 200, true));
        assert!(!pays(&side_by_side(SMALL), 2 * SMALL, true));
        assert!(!pays(&[[0, 100, 100]], 100, true));
        let interleaved = [[0, 2 * SMALL, SMALL], [100, 2 * SMALL + 100, SMALL]];
        assert!(pays(&interleaved, 2 * SMALL + 100, false));
        assert!(!pays(&[[0, 1 << 40, 1], [1, 1 << 41, 1]], 1 << 41, true));
    }

    #[test]
    fn a_window_cuts_pieces() {
        let pieces = [Piece { range: block(0, 10), at: 0 }, Piece { range: block(20, 10), at: 10 }];
        let cut: Vec<(Block, i64)> =
            within(&pieces, block(5, 20)).iter().map(|piece| (piece.range, piece.at)).collect();
        assert_eq!(cut, [(block(5, 5), 5), (block(20, 5), 10)]);
    }

    #[test]
    fn nothing_is_taken_from_behind_the_end_of_the_file() {
        let pieces = [Piece { range: block(0, 2), at: 2 }, Piece { range: block(4, 2), at: 0 }];
        let answer: Vec<u8> = 5_i64.to_le_bytes().into_iter().chain([1, 2, 3]).collect();
        let mut bytes = [0; 4];
        assert_eq!(take(&pieces, &answer, &mut bytes), 1);
        assert_eq!(bytes, [3, 0, 1, 2]);
    }
}
